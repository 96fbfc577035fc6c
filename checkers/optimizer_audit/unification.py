"""
Terms with metavariables: positions, substitution, unification, matching.

A term is what a side of a rule is (`transforms.patterns.rule`). A metavariable marked `#` stands for literals only. Literals are
told apart bit for bit, so 0.0, -0.0 and 0 are three.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from semantics.values import atom
from transforms.patterns.text import Call, Literal, Term, Variable

Substitution = dict[str, Term]
Path = tuple[int, ...]


def positions(term: Term) -> Iterator[tuple[Path, Call]]:
    """Every part that is no metavariable and no literal, with the way to it, outermost first."""
    todo: list[tuple[Path, Term]] = [((), term)]
    while todo:
        path, found = todo.pop()
        if isinstance(found, Call):
            yield path, found
            todo.extend(((*path, i), a) for i, a in reversed(list(enumerate(found.arguments))))


def occurrences(term: Term) -> list[str]:
    """The names of the metavariables, once for each place where they stand."""
    found: list[str] = []
    todo = [term]
    while todo:
        part = todo.pop()
        if isinstance(part, Variable):
            found.append(part.name)
        elif isinstance(part, Call):
            todo.extend(reversed(part.arguments))
    return found


def symbols(term: Term) -> list[Any]:
    """The primitives, by name, and the literals, once for each place where they stand."""
    found: list[Any] = []
    todo = [term]
    while todo:
        match part := todo.pop():
            case Call(primitive, arguments):
                found.append(primitive.name)
                todo.extend(reversed(arguments))
            case Variable():
                pass
            case _:
                found.append(sign(part))
    return found


def sign(term: Term) -> Any:
    """What tells a literal from others."""
    return ("literal", atom(term.value)) if isinstance(term, Literal) else ("term", term)


def renamed(term: Term, suffix: str) -> Term:
    """The term with the suffix at every metavariable."""
    return substituted(term, dict.fromkeys(occurrences(term)), suffix)


def substituted(term: Term, found: Mapping[str, Term | None], suffix: str = "") -> Term:
    """
    The term with what is found in place of metavariables, all the way down; None gives the suffix to a name.

    Terms are as deep as a rule is long, so recursion is bounded.
    """
    match term:
        case Variable(name, literal) if name in found:
            value = found[name]
            return Variable(name + suffix, literal) if value is None else substituted(value, found, suffix)
        case Call(primitive, arguments):
            return Call(primitive, tuple(substituted(a, found, suffix) for a in arguments))
        case _:
            return term


def unify(a: Term, b: Term) -> Substitution | None:
    """The most general substitution that makes the terms one; None if there is none. It is applied all the way down."""
    found: Substitution = {}
    todo = [(a, b)]
    while todo:
        x, y = (_resolved(t, found) for t in todo.pop())
        if isinstance(y, Variable) and (not isinstance(x, Variable) or x.literal):
            x, y = y, x
        match x, y:
            case Variable(one), Variable(other) if one == other:
                continue
            case Variable(name, literal), _:
                if (literal and isinstance(y, Call)) or name in occurrences(substituted(y, found)):
                    return None
                found[name] = y
            case Call(p, these), Call(q, those) if p is q and len(these) == len(those):
                todo.extend(zip(these, those, strict=True))
            case Call(), _:
                return None
            case _, Call():
                return None
            case _ if sign(x) != sign(y):
                return None
    return found


def _resolved(term: Term, found: Substitution) -> Term:
    while isinstance(term, Variable) and term.name in found:
        term = found[term.name]
    return term


def match(pattern: Term, term: Term) -> Substitution | None:
    """What the metavariables of the pattern stand for if the term is an instance of it; None if it is none."""
    found: Substitution = {}
    todo = [(pattern, term)]
    while todo:
        p, t = todo.pop()
        match p, t:
            case Variable(name, literal), _:
                plain = isinstance(t, Literal) or (isinstance(t, Variable) and t.literal)
                if (literal and not plain) or not same(found.setdefault(name, t), t):
                    return None
            case Call(f, these), Call(g, those) if f is g and len(these) == len(those):
                todo.extend(zip(these, those, strict=True))
            case (Call(), _) | (_, Call()) | (_, Variable()):
                return None
            case _ if sign(p) != sign(t):
                return None
    return found


def same(a: Term, b: Term) -> bool:
    """Whether two terms are one, literal by literal."""
    todo = [(a, b)]
    while todo:
        x, y = todo.pop()
        match x, y:
            case Call(f, these), Call(g, those) if f is g and len(these) == len(those):
                todo.extend(zip(these, those, strict=True))
            case Variable(one), Variable(other) if one == other:
                continue
            case (Call() | Variable(), _) | (_, Call() | Variable()):
                return False
            case _ if sign(x) != sign(y):
                return False
    return True


def instance_of(pattern: tuple[Term, Term], rule: tuple[Term, Term]) -> Substitution | None:
    """How the left and the right of a rule are an instance of those of another."""
    found = match(pattern[0], rule[0])
    return found if found is not None and same(substituted_once(pattern[1], found), rule[1]) else None


def substituted_once(term: Term, found: Mapping[str, Term]) -> Term:
    """The term with what is found in place of metavariables, which are not looked into: their names may be the same."""
    match term:
        case Variable(name) if name in found:
            return found[name]
        case Call(primitive, arguments):
            return Call(primitive, tuple(substituted_once(a, found) for a in arguments))
        case _:
            return term
