"""Does a pass keep what programs compute? On the machine bit for bit, or over the reals, as its domain says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from checkers.optimizer_audit.outcomes import (
    Result,
    Runner,
    Stopped,
    Value,
    agree,
    over_the_reals,
    rounded_constants,
    same_bits,
    type_name,
)
from checkers.optimizer_audit.samples import Point, edge_samples, numbers_in, star_points, types_of
from semantics.ir import Parameter, Program

POINTS, REAL_POINTS = 10, 6


@dataclass(frozen=True)
class Difference:
    """A point at which a program and what became of it part."""

    point: Point
    before: Result
    after: Result


def points_for(program: Program, domain: str, seed: int) -> Sequence[Point]:
    """Points for one program, finite ones for a pass over the reals: special values one at a time, then a part of the edge pool."""
    types, finite = types_of(program), domain == "REAL"
    if not types:
        return ((),)
    count = REAL_POINTS if finite else POINTS
    wide = edge_samples(types, numbers_in(program), seed=seed, most=4 * count, finite=finite)
    return (*star_points(types, finite=finite), *wide[:: max(1, len(wide) // count)])


def compare(before: Program, after: Program, points: Sequence[Point], domain: str) -> tuple[Difference | None, int]:
    """The first difference, and how many points with a value were compared. What stops or runs out of fuel before is left out."""
    if domain == "REAL":
        return _over_the_reals(before, after, points)
    left, right = Runner(before), Runner(after)
    tried = 0
    for point in points:
        a = left(point)
        if not isinstance(a, Value):
            continue
        tried += 1
        if not same_bits(a, b := right(point)):
            return Difference(point, a, b), tried
    return None, tried


def _over_the_reals(before: Program, after: Program, points: Sequence[Point]) -> tuple[Difference | None, int]:
    left, right = Runner(before), Runner(after)
    tried, constants = 0, rounded_constants(before, after)
    for point in points:
        if isinstance(a := over_the_reals(before, point), Value):
            b = over_the_reals(after, point, constants)
            tried += 1
            if isinstance(b, Stopped) or (isinstance(b, Value) and not agree(a.value, b.value)):
                return Difference(point, a, b), tried
        x, y = left(point), right(point)
        if isinstance(x, Value) and isinstance(y, Value) and type_name(x.value) != type_name(y.value):
            return Difference(point, x, y), tried
    return None, tried


def signature(program: Program) -> tuple[Any, ...]:
    """The declared types of the entry's parameters."""
    found = (program.nodes[n] for n in program.graphs[program.entry].parameters)
    return tuple(str(p.type) for p in found if isinstance(p, Parameter))


def raised(before: Program, after: Program, points: Sequence[Point]) -> tuple[Point, int, int] | None:
    """A point where the result takes more machine steps than the program it came from."""
    left, right = Runner(before), Runner(after)
    for point in points:
        a, b = left(point), right(point)
        if isinstance(a, Value) and isinstance(b, Value) and b.steps > a.steps:
            return point, a.steps, b.steps
    return None


__all__ = ["Difference", "compare", "points_for", "raised", "signature"]
