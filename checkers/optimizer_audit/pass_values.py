"""Does a pass keep what programs compute? On the machine bit for bit, or over the reals, as its domain says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from checkers.optimizer_audit.outcomes import Open, Result, Runner, Stopped, Value, agree, over_the_reals, same_bits
from checkers.optimizer_audit.samples import Point, edge_samples, numbers_in, types_of
from semantics.ir import Parameter, Program
from semantics.type_language import type_of
from semantics.values import Closure, same

POINTS, REAL_POINTS = 14, 10


@dataclass(frozen=True)
class Difference:
    """A point at which a program and what became of it part."""

    point: Point
    before: Result
    after: Result


def points_for(program: Program, domain: str, seed: int, more: int = 0) -> Sequence[Point]:
    """Points of the edge pool; finite ones for a pass over the reals."""
    bits = domain != "REAL"
    count = (POINTS if bits else REAL_POINTS) + more
    wide = edge_samples(types_of(program), numbers_in(program), seed=seed, most=4 * count, finite=not bits)
    step = max(1, len(wide) // count)
    return wide[::step] if len(wide) > count else wide


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
    tried = 0
    for point in points:
        if isinstance(a := over_the_reals(before, point), Value):
            b = over_the_reals(after, point)
            tried += 1
            if isinstance(b, Stopped) or (isinstance(b, Value) and not agree(a.value, b.value)):
                return Difference(point, a, b), tried
        x, y = left(point), right(point)
        if isinstance(x, Value) and isinstance(y, Value) and not isinstance(x.value, Closure) and type_name(x) != type_name(y):
            return Difference(point, x, y), tried
    return None, tried


def type_name(result: Value) -> str:
    """The type of a value on the machine as text; functions are alike, since a pass may rename them."""
    return "function" if isinstance(result.value, Closure) else str(type_of(result.value))


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


def undecided(result: Result) -> bool:
    """Whether nothing is known."""
    return isinstance(result, Open)


__all__ = ["Difference", "compare", "points_for", "raised", "same", "signature", "type_name", "undecided"]
