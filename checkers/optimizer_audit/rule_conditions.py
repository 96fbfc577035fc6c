"""
The weakest side condition under which a rule holds, from a vocabulary: found at points here, proved in `condition_proofs`.

A word of the vocabulary is a set of the classes of numbers, and speaks of one variable; a comparison, such as `x != y`, may speak
of several. The conjunction reported excludes every point where the rule fails and as few as possible of the points where it holds;
among those it has the fewest parts, and the weakest words, for the vocabulary goes from weak to strong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import and_
from typing import Any

from checkers.optimizer_audit.samples import Point
from semantics.arrays import Array
from semantics.conditions import Condition
from semantics.errors import AdjudgeError, Malformed

MOST_ATOMS = 3
NAN, MINUS_INFINITY, NEGATIVE, MINUS_ZERO, PLUS_ZERO, POSITIVE, PLUS_INFINITY, NO_NUMBER = range(8)
ALL = frozenset(range(8))

# word: the classes of numbers of which it is true, and how the language of conditions says it, if it can
WORDS: Mapping[str, tuple[frozenset[int], str]] = {
    "not -0.0": (ALL - {MINUS_ZERO}, ""),
    "not +0.0": (ALL - {PLUS_ZERO}, ""),
    "not NaN": (ALL - {NAN}, "{x} == {x}"),
    "not infinite": (ALL - {MINUS_INFINITY, PLUS_INFINITY}, ""),
    "nonzero": (ALL - {MINUS_ZERO, PLUS_ZERO}, "{x} != 0"),
    "without a minus sign": (ALL - {MINUS_INFINITY, NEGATIVE, MINUS_ZERO}, ""),
    "finite": (ALL - {NAN, MINUS_INFINITY, PLUS_INFINITY, NO_NUMBER}, "{x} - {x} == 0"),
    "at least 0": (frozenset({MINUS_ZERO, PLUS_ZERO, POSITIVE, PLUS_INFINITY}), "{x} >= 0"),
    "at most 0": (frozenset({MINUS_INFINITY, NEGATIVE, MINUS_ZERO, PLUS_ZERO}), "{x} <= 0"),
    "positive": (frozenset({POSITIVE, PLUS_INFINITY}), "{x} > 0"),
    "negative": (frozenset({NEGATIVE, MINUS_INFINITY}), "{x} < 0"),
}


def class_of(v: Any) -> int:
    """The class of a number; what is no number is in a class of its own."""
    match v:
        case bool() | tuple():
            return NO_NUMBER
        case float() if math.isnan(v):
            return NAN
        case float() if math.isinf(v):
            return PLUS_INFINITY if v > 0 else MINUS_INFINITY
        case float() | int() if v == 0:
            return MINUS_ZERO if math.copysign(1.0, v) < 0 else PLUS_ZERO
        case float() | int():
            return POSITIVE if v > 0 else NEGATIVE
        case _:
            return NO_NUMBER


@dataclass(frozen=True, slots=True)
class Word:
    """One variable is of a class: `x is nonzero`; an array is if every entry is."""

    variable: str
    index: int
    word: str

    def __str__(self) -> str:
        return f"{self.variable} is {self.word}"

    @property
    def classes(self) -> frozenset[int]:
        return WORDS[self.word][0]

    @property
    def text(self) -> str:
        """The same in the language of conditions, or nothing where it cannot say it."""
        return WORDS[self.word][1].format(x=self.variable)

    def holds(self, point: Point) -> bool:
        value = point[self.index]
        return all(class_of(v) in self.classes for v in (value.items if isinstance(value, Array) else (value,)))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition on several variables: `x != y`."""

    names: tuple[str, ...]
    condition: Condition

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        return self.condition.text

    def holds(self, point: Point) -> bool:
        try:
            return self.condition.holds(dict(zip(self.names, point, strict=True)))
        except (AdjudgeError, ArithmeticError, TypeError, ValueError):
            return False


Atom = Word | Comparison


def vocabulary(names: Sequence[str], said: Iterable[str] | None = None) -> list[Atom]:
    """
    The atoms for variables of these names: every word for every one, and that two of them differ; or what `said` lists.

    said  words of WORDS, and comparisons in the variables. Malformed for anything else.
    """
    chosen = [*WORDS, *(f"{x} != {y}" for x, y in combinations(names, 2))] if said is None else list(said)
    atoms: list[Atom] = []
    for text in chosen:
        if text in WORDS:
            atoms += [Word(x, i, text) for i, x in enumerate(names)]
        else:
            atoms.append(Comparison(tuple(names), _comparison(text, names)))
    return atoms


def _comparison(text: str, names: Sequence[str]) -> Condition:
    """The condition; Malformed, with the words that are known, if it is none about these variables."""
    try:
        condition = Condition(text)
        condition.conjuncts(dict.fromkeys(names, 1.5))
    except AdjudgeError as error:
        remedy = f"a comparison in {', '.join(names)}, or one of {', '.join(WORDS)}"
        raise Malformed(f"{text!r} is no word of a vocabulary: {error.what}", rule="vocabulary", remedy=remedy) from None
    except ArithmeticError:
        return Condition(text)
    return condition


def weakest(
    names: Sequence[str], failing: Sequence[Point], holding: Sequence[Point], atoms: Sequence[Atom] | None = None
) -> tuple[Atom, ...] | None:
    """The conjunction of at most three atoms that excludes all of `failing` and the least of `holding`; None if there is none."""
    atoms = vocabulary(names) if atoms is None else atoms
    fails, keeps = ([_where(a, points) for a in atoms] for points in (failing, holding))
    best: tuple[int, tuple[int, ...]] | None = None
    for size in range(1, MOST_ATOMS + 1):
        for chosen in combinations(range(len(atoms)), size):
            if reduce(and_, (fails[i] for i in chosen)):
                continue
            kept = reduce(and_, (keeps[i] for i in chosen)).bit_count()
            if kept and (best is None or kept > best[0]) and says_something([atoms[i] for i in chosen]):
                best = kept, chosen
    return None if best is None else tuple(atoms[i] for i in best[1])


def says_something(atoms: Sequence[Atom]) -> bool:
    """Whether every variable may still be one of many numbers: that a rule holds at zeros and infinities alone saves nothing."""
    left: dict[int, frozenset[int]] = {}
    for atom in atoms:
        if isinstance(atom, Word):
            left[atom.index] = left.get(atom.index, ALL) & atom.classes
    return all(classes & {NEGATIVE, POSITIVE} for classes in left.values())


def _where(atom: Atom, points: Sequence[Point]) -> int:
    """The points at which the atom holds, as the bits of a number."""
    return sum(1 << i for i, p in enumerate(points) if atom.holds(p))


def all_hold(atoms: Sequence[Atom], point: Point) -> bool:
    """Whether the conjunction holds at a point."""
    return all(a.holds(point) for a in atoms)


def as_text(atoms: Sequence[Atom]) -> str:
    """The conjunction as a condition that a rule can have, or nothing if the language cannot say it."""
    return " and ".join(a.text for a in atoms) if all(a.text for a in atoms) else ""


def in_words(atoms: Sequence[Atom]) -> str:
    """The conjunction for a reader."""
    return " and ".join(str(a) for a in atoms)
