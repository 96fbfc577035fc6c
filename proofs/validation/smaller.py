"""
A counterexample over the rationals made small before it is shown, and run again.

A point modulo a prime, or a solver's, has digits that say nothing. Two different rational functions differ almost everywhere, so
there is nearly always a point of halves and small whole numbers where they do: points are tried from the simplest on, then every
argument on its own is made as simple as the difference allows. Only what execution over fractions confirms is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from checkers.smt.real_equality import differ_exactly
from checkers.smt.replay import exact, floats
from checkers.smt.sides import Inputs, Kind, Mismatch, as_condition, inputs_of, leaves, spread
from checkers.verdict import Counterexample, Refuted
from semantics.conditions import Condition
from semantics.errors import AdjudgeError, Trap
from semantics.ir import Program

SIMPLE = tuple(Fraction(x) for x in (1, 2, 0, -1, 3, 0.5, -2, -0.5, 1.5, 5, -3, 0.25))
POOLS: dict[str, tuple[Any, ...]] = {"real": SIMPLE, "integer": (1, 2, 0, 3, -1, 5, -2), "boolean": (True, False)}
MOST_POINTS = 200
MOST_VARIABLES = 60
MOST_STEPS = 100_000
FIRST = 3
"""Where the left side has no fraction for a value at so many points, no more are tried."""
Difference = tuple[Any, Any]


def made_small(left: Program, right: Program, kinds: Sequence[Kind], condition: Condition | str | None, found: Refuted) -> Refuted:
    """The refutation at a small point, or as it was if no small one is found."""
    smaller = difference_at_points(left, right, kinds, condition, MOST_POINTS)
    return found if smaller is None else smaller


def difference_at_points(
    left: Program, right: Program, kinds: Sequence[Kind], condition: Condition | str | None, most: int, fuel: int = MOST_STEPS
) -> Refuted | None:
    """A refutation at the simplest point where execution over fractions shows a difference, if one of `most` points does."""
    inputs = inputs_of(left, kinds, lambda kind, name: (kind, name))
    known = as_condition(condition)

    def at(point: Sequence[Any]) -> Difference | None:
        return difference(left, right, inputs, known, point, fuel)

    if len(inputs.flat) > MOST_VARIABLES:
        return None
    points = list(spread([POOLS[kind] for kind in inputs.flat], most))
    if all(_irrational(exact(left, inputs.rebuild(p), fuel)) for p in points[:FIRST]):
        return None
    point = next((p for p in points if at(p) is not None), None)
    if point is None:
        return None
    point = simplest(point, inputs, at)
    wanted, value = at(point)  # type: ignore[misc]
    doubles = [floats(p, inputs.rebuild(point)) for p in (left, right)]
    note = f"over the reals; in doubles {_said(doubles[1])} against {_said(doubles[0])}"
    trapped = isinstance(value, Trap)
    cause, shown = ("the right side is undefined", value.what) if trapped else ("", value)
    return Refuted(Counterexample(inputs.named(point), shown, wanted, cause, note=note))


def simplest(point: Sequence[Any], inputs: Inputs, at: Any) -> tuple[Any, ...]:
    """The point with each argument in turn as early in its pool as the difference allows."""
    current = list(point)
    for i, kind in enumerate(inputs.flat):
        for value in POOLS[kind]:
            if value == current[i]:
                break
            if at([*current[:i], value, *current[i + 1 :]]) is not None:
                current[i] = value
                break
    return tuple(current)


def difference(
    left: Program, right: Program, inputs: Inputs, condition: Condition | None, point: Sequence[Any], fuel: int = MOST_STEPS
) -> Difference | None:
    """The values of both over fractions, where the left has one and the right has another or traps; short enough to show."""
    arguments = inputs.rebuild(point)
    if condition is not None and not condition.holds(inputs.named(point)):
        return None
    wanted = exact(left, arguments, fuel)
    if isinstance(wanted, AdjudgeError):
        return None
    found = exact(right, arguments, fuel)
    if isinstance(found, Trap):
        return (wanted, found) if _printed(wanted) else None
    if isinstance(found, AdjudgeError):
        return None
    apart = any(isinstance(p, Mismatch) or differ_exactly(*p) for p in leaves(wanted, found))
    return (wanted, found) if apart and _printed(wanted) and _printed(found) else None


def _printed(value: Any) -> bool:
    """Whether Python prints a value: it refuses a whole number of more than 4,300 digits."""
    try:
        return bool(repr(value))
    except ValueError:
        return False


def _irrational(value: Any) -> bool:
    """Whether fractions do not reach the value; a trap is an answer."""
    return isinstance(value, AdjudgeError) and not isinstance(value, Trap)


def _said(value: Any) -> str:
    return value.what if isinstance(value, AdjudgeError) else f"{value}"
