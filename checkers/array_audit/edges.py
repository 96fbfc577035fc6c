"""
Arguments with numbers at the edge: zeros of either sign, tiny and huge ones, saturating ones, constants of the domain and of the
source, infinities; and random ones.

Each generator gives (note, arguments) made from bases, which are applications that have a value. Whether the new ones have one,
the pool finds out.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from checkers.array_audit.case import Arguments, Case, Vector, flat, leaves, named
from checkers.array_audit.trial import Trial
from checkers.inputs import around, code_numbers, condition_numbers, edge_numbers, moderate, program_numbers, random_number

TRIED = 48
"""So many numbers are tried on a leaf, one evaluation of the function each; fewer where there are more than three leaves."""
SATURATED, PLACES = 800.0, 4
"""exp of it overflows, of its opposite it is 0, in doubles and in floats; at so many places of a leaf."""
LEAVES = 24
"""So many leaves are looked at; of a function of more, the first."""


def constants(trial: Trial) -> tuple[float, ...]:
    """The numbers in the row's conditions, in the programs and in the Python functions: thresholds are likely among them."""
    conditions = (*trial.row.domain, *trial.row.kinks) if trial.row is not None else ()
    found = (*condition_numbers(conditions), *program_numbers(trial.program), *program_numbers(trial.rule))
    found += (*code_numbers(trial.forward_source), *code_numbers(trial.pull_source))
    return tuple(dict.fromkeys(x for x in found if abs(x) < 2.0**100))


def spans(case: Case) -> list[range]:
    """The coordinates of each leaf."""
    found, start = [], 0
    for _, leaf in leaves(case.arguments, case.fixed):
        found.append(range(start, start + np.size(leaf)))
        start += np.size(leaf)
    return [span for span in found if span]


def with_coordinates(case: Case, coordinates: Sequence[float] | Vector) -> Arguments:
    """The arguments with these reals, rounded to the dtype that is there."""
    with np.errstate(all="ignore"):
        return case.at(np.asarray(coordinates, dtype=np.float64))


def randoms(bases: Sequence[Case], source: random.Random) -> Iterator[tuple[str, Arguments]]:
    """Without end: near a base, of mixed scale, all of one scale, of the signs of the base and of other sizes."""
    while True:
        base = source.choice(bases)
        at = base.coordinates
        scale = 2.0 ** source.randint(-12, 6)
        match source.randrange(4):
            case 0:
                yield f"near {base.note or 'a sample'}", with_coordinates(base, around(tuple(at), source))
            case 1:
                yield "mixed scales", with_coordinates(base, [random_number(source) for _ in at])
            case 2:
                yield f"scale {scale}", with_coordinates(base, [source.uniform(-2, 2) * scale for _ in at])
            case _:
                yield "signs of a sample", with_coordinates(base, [x * 2.0 ** source.uniform(-3, 3) for x in at])


def zeros(trial: Trial, bases: Sequence[Case], source: random.Random) -> Iterator[tuple[str, Arguments]]:
    """One element 0, then two, then all, for each leaf; one -0.0; all of everything."""
    for base, span in _wide(bases, source):
        name = _leaf(trial, base, span)
        for count in (1, 2, len(span)):
            if count <= len(span):
                yield f"{count} of {len(span)} zero in {name}", _put(base, source.sample(list(span), count), lambda _: 0.0)
        yield f"a -0.0 in {name}", _put(base, [source.choice(span)], lambda _: -0.0)
    for base in bases[:2]:
        yield "all zero", with_coordinates(base, np.zeros(base.size))


def zeros_elsewhere(trial: Trial, bases: Sequence[Case], source: random.Random) -> Iterator[tuple[str, Arguments]]:
    """One element 0 in each base beyond those that `zeros` takes: with other attributes a zero is another matter, as in x**0."""
    taken = [base for base, _ in _wide(bases, source)]
    for base in (b for b in bases if not any(b is t for t in taken)):
        for span in spans(base)[:LEAVES]:
            yield f"a zero in {_leaf(trial, base, span)}", _put(base, [source.choice(span)], lambda _: 0.0)


def saturating(trial: Trial, bases: Sequence[Case], source: random.Random) -> Iterator[tuple[str, Arguments]]:
    """One element SATURATED, the rest as they are, in several places of each leaf: also in one that a mask hides."""
    wide = [(base, source.sample(list(span), min(len(span), PLACES))) for base, span in _wide(bases, source)]
    for x in (SATURATED, -SATURATED):
        for turn in range(PLACES):
            for base, places in wide:
                if turn < len(places):
                    k = places[turn]
                    yield f"{named(base, trial.parameters, k)} = {x}", _put(base, [k], lambda _, x=x: x)  # type: ignore[misc]


def orders(trial: Trial, bases: Sequence[Case], source: random.Random) -> Iterator[tuple[str, Arguments]]:
    """Every leaf sorted; and the other way round."""
    for base in bases[:3]:
        at = base.coordinates
        for note, step in (("sorted", 1), ("sorted downwards", -1)):
            parts = [np.sort(at[span.start : span.stop])[::step] for span in spans(base)]
            yield note, with_coordinates(base, flat(parts))


def repeats(trial: Trial, bases: Sequence[Case], source: random.Random) -> Iterator[tuple[str, Arguments]]:
    """The last row of each matrix is its first, all else as it is: the matrix is singular, of the highest rank that can be."""
    for base, span in _wide(bases, source):
        leaf = np.array(_leaf_at(base, span))
        if leaf.ndim > 1 and leaf.shape[-2] > 1:
            leaf[..., -1, :] = leaf[..., 0, :]
            rows = iter(np.ravel(leaf))
            yield f"a row of {_leaf(trial, base, span)} twice", _put(base, span, lambda _, rows=rows: float(next(rows)))  # type: ignore[misc]


def infinities(trial: Trial, bases: Sequence[Case], source: random.Random) -> Iterator[tuple[str, Arguments]]:
    """One element infinite, of either sign: a mask, where the value stays finite."""
    for base, span in _wide(bases, source):
        for x in (-math.inf, math.inf):
            k = source.choice(span)
            yield f"{named(base, trial.parameters, k)} = {x}", _put(base, [k], lambda _, x=x: x)  # type: ignore[misc]


def edges(trial: Trial, bases: Sequence[Case], source: random.Random) -> Iterator[tuple[str, Arguments]]:
    """
    Numbers of the edge pool: first one that is taken in each place of a leaf, then one of them in one place.

    Which numbers a leaf takes is tried first: alone, with all else as in the base. Half of the packs have moderate numbers only:
    where an argument is about to overflow, nobody can say much about the others.
    """
    extra = constants(trial)
    singles: list[tuple[str, Arguments]] = []
    packed: list[tuple[str, Arguments]] = []
    wide = list(_wide(bases, source))
    tried = min(TRIED, 3 * TRIED // max(1, len(wide)))
    pool = edge_numbers(extra)
    first = pool[: min(4 * len(extra), tried // 2)]
    rest = [x for x in pool if x not in first]
    for base, span in wide:
        taken = []
        for x in (*first, *source.sample(rest, min(len(rest), tried - len(first)))):
            k = source.choice(span)
            arguments = _put(base, [k], lambda _, x=x: x)  # type: ignore[misc]
            if trial.case(arguments) is not None:
                taken.append(x)
                singles.append((f"{named(base, trial.parameters, k)} = {x!r}", arguments))
        if taken and len(span) > 1:
            for numbers in (taken, [x for x in taken if moderate((x,))] or taken) * 2:
                drawn = _without_repeats(numbers, source)
                packed.append((f"edge numbers in {_leaf(trial, base, span)}", _put(base, span, lambda _, drawn=drawn: next(drawn))))  # type: ignore[misc]
    source.shuffle(singles)
    while singles or packed:
        yield from (queue.pop() for queue in (packed, singles) if queue)


def _without_repeats(numbers: Sequence[float], source: random.Random) -> Iterator[float]:
    """The numbers in random order, again and again."""
    while True:
        yield from source.sample(numbers, len(numbers))


def _wide(bases: Sequence[Case], source: random.Random) -> Iterator[tuple[Case, range]]:
    """Each argument's leaf once, in the base where it has most elements."""
    best: dict[int, tuple[Case, range]] = {}
    for base in bases:
        for k, span in enumerate(spans(base)[:LEAVES]):
            if k not in best or len(span) > len(best[k][1]):
                best[k] = (base, span)
    yield from best.values()


def _put(base: Case, places: Sequence[int] | range, number: Callable[[int], float]) -> Arguments:
    at = np.array(base.coordinates)
    for k in places:
        at[k] = number(k)
    return with_coordinates(base, at)


def _leaf(trial: Trial, base: Case, span: range) -> str:
    """The leaf as users write it, without the index of its first element."""
    name = named(base, trial.parameters, span.start)
    return name.rpartition("[")[0] if np.ndim(_leaf_at(base, span)) else name


def _leaf_at(base: Case, span: range) -> Any:
    start = 0
    for _, leaf in leaves(base.arguments, base.fixed):
        if start == span.start and np.size(leaf):
            return leaf
        start += np.size(leaf)
    raise IndexError(span.start)
