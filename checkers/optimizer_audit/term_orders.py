"""
Termination of one rule alone: a simplification order in which its left side is greater than its right side, whatever stands for the
metavariables. Every use of the rule then makes the term that a program unfolds to smaller, and there is no endless way down.

    Knuth-Bendix           no metavariable occurs more often on the right, and the right has fewer symbols; or as many, and the
                           greater of the outermost ones is on the left
    lexicographic paths    s > t if an argument of s is t or greater than it; or s > every argument of t and f is before g, or
                           f is g and the arguments are greater from the left

The precedence of the symbols is searched for: a rule has a handful.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

from checkers.optimizer_audit.unification import occurrences, same, sign, symbols
from transforms.patterns.text import Call, Literal, Term, Variable

MOST_SYMBOLS = 6


def decreasing(left: Term, right: Term) -> str:
    """The order in which left > right, for a reader; nothing if none of ours is."""
    found = _decreasing(left, right)
    if found:
        return found
    found = _decreasing(folded(left), folded(right))
    return f"{found}, constants being folded" if found else ""


def folded(term: Term) -> Term:
    """The term as it is when everything made of literals has been folded: one literal. Recursion is bounded by the rule."""
    match term:
        case Variable(_, True):
            return Literal("#")
        case Call(primitive, arguments):
            parts = tuple(folded(a) for a in arguments)
            return Literal("#") if all(isinstance(p, Literal) for p in parts) else Call(primitive, parts)
        case _:
            return term


def _decreasing(left: Term, right: Term) -> str:
    if fewer(left, right):
        return "no metavariable occurs more often on the right, which has fewer symbols (a Knuth-Bendix order)"
    for precedence in precedences(left, right):
        if greater(left, right, precedence):
            shown = " > ".join(p for p in precedence if isinstance(p, str))
            return f"lexicographic path order{f' with {shown}' if ' ' in shown else ''}"
    return ""


def fewer(left: Term, right: Term) -> bool:
    """The Knuth-Bendix order with the weight 1 for every symbol, where the weight decides."""
    here, there = Counter(occurrences(left)), Counter(occurrences(right))
    return all(there[name] <= here[name] for name in there) and _size(left) > _size(right)


def _size(term: Term) -> int:
    return len(symbols(term)) + len(occurrences(term))


def precedences(left: Term, right: Term) -> Iterator[tuple[Any, ...]]:
    """The orders of the primitives, greatest first, with the literals below; none if there are too many to try."""
    found = list(dict.fromkeys((*symbols(left), *symbols(right))))
    names = [s for s in found if isinstance(s, str)]
    if len(names) <= MOST_SYMBOLS:
        for chosen in permutations(names):
            yield (*chosen, *(s for s in found if not isinstance(s, str)))


def greater(s: Term, t: Term, precedence: Sequence[Any]) -> bool:
    """s > t by lexicographic paths. Terms are as deep as a rule is long, so recursion is bounded."""
    match s, t:
        case Variable(), _:
            return False
        case _, Variable(name):
            return name in occurrences(s)
        case Call(f, these), Call(g, those):
            if any(same(a, t) or greater(a, t, precedence) for a in these):
                return True
            if not all(greater(s, b, precedence) for b in those):
                return False
            if f is not g:
                return precedence.index(f.name) < precedence.index(g.name)
            return lexicographic(these, those, precedence)
        case Call(_, these), _:
            return any(same(a, t) or greater(a, t, precedence) for a in these) or _before(s, t, precedence)
        case _:
            return _before(s, t, precedence) and (not isinstance(t, Call) or all(greater(s, b, precedence) for b in t.arguments))


def lexicographic(these: Sequence[Term], those: Sequence[Term], precedence: Sequence[Any]) -> bool:
    """Whether the first arguments that differ are greater on the left."""
    for a, b in zip(these, those, strict=False):
        if not same(a, b):
            return greater(a, b, precedence)
    return len(these) > len(those)


def _before(s: Term, t: Term, precedence: Sequence[Any]) -> bool:
    one, other = (x.primitive.name if isinstance(x, Call) else sign(x) for x in (s, t))
    return one != other and precedence.index(one) < precedence.index(other)
