"""
The values of a rule's two sides, compared at points: bit for bit on the machine, and over the reals.

Over the reals a rule refines: wherever the left side is defined, the right side is defined and equal. A right side that is
undefined where the left is not adds a pole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from checkers.optimizer_audit.outcomes import Runner, Stopped, Value, agree, over_the_reals, said, same_bits, type_name
from checkers.optimizer_audit.samples import Point, edge_samples, names_of, numbers_in, shrink, types_of
from checkers.optimizer_audit.scripts import script_of
from checkers.verdict import Counterexample, Passed, Refuted, Vacuous, Verdict
from semantics.arrays import Array
from semantics.conditions import Condition
from semantics.errors import Trap
from semantics.ir import Program
from semantics.type_language import SCALARS
from semantics.values import same

BIT_POINTS, REAL_POINTS = 400, 80


class Rule(Protocol):
    """What a rule is to the judge: two programs in the same parameters, a side condition, and the domain it declares."""

    @property
    def name(self) -> str: ...
    @property
    def left(self) -> Program: ...
    @property
    def right(self) -> Program: ...
    @property
    def condition(self) -> Condition | str | None: ...
    @property
    def domain(self) -> str: ...


def types_in(rule: Rule) -> tuple[Any, ...]:
    """The types of the variables; "number" and "any" for those that may be of several."""
    declared = getattr(rule, "variables", None)
    if not declared:
        return types_of(rule.left)
    return tuple(SCALARS.get(t, t) if isinstance(t, str) else t for t in declared.values())


def allowed(rule: Rule) -> Callable[[Point], bool]:
    """Whether a point satisfies the side condition of the rule."""
    condition, names = rule.condition, names_of(rule.left)
    if isinstance(condition, str):
        condition = Condition(condition) if condition.strip() else None
    if condition is None:
        return lambda point: True
    known = condition

    def holds(point: Point) -> bool:
        try:
            return known.holds(dict(zip(names, point, strict=True)))
        except (ArithmeticError, ValueError, TypeError, Trap):
            return False

    return holds


def points_of(rule: Rule, seed: int, *, finite: bool = False, most: int = BIT_POINTS) -> list[Point]:
    """The points at which the rule is tried: its edge pool, as far as the side condition allows."""
    holds = allowed(rule)
    wide = edge_samples(types_in(rule), numbers_in(rule.left, rule.right), seed=seed, most=most, finite=finite)
    return [p for p in wide if holds(p)]


class Sides:
    """Both sides of a rule, ready to run."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.left, self.right = Runner(rule.left), Runner(rule.right)
        self.names = names_of(rule.left)
        self.allowed = allowed(rule)

    def bits_differ(self, point: Point) -> bool:
        """Whether the machine tells the sides apart at a point of the condition where the left side has a value."""
        if not self.allowed(point):
            return False
        a = self.left(point)
        return isinstance(a, Value) and not same_bits(a, self.right(point))

    def types_differ(self, point: Point) -> bool:
        """Whether both sides have values, of different types."""
        if not self.allowed(point):
            return False
        a, b = self.left(point), self.right(point)
        return isinstance(a, Value) and isinstance(b, Value) and type_name(a.value) != type_name(b.value)

    def reals_differ(self, point: Point) -> bool:
        """Whether the left side has a value over the reals that the right side certainly has not."""
        if not self.allowed(point) or not all(_plain(v) for v in point):
            return False
        a, b = over_the_reals(self.rule.left, point), over_the_reals(self.rule.right, point)
        return isinstance(a, Value) and (isinstance(b, Stopped) or (isinstance(b, Value) and not agree(a.value, b.value)))

    def named(self, point: Point) -> dict[str, Any]:
        return dict(zip(self.names, point, strict=True))

    def counterexample(self, point: Point, cause: str, note: str = "") -> Counterexample:
        """Both values on the machine at a point."""
        return Counterexample(self.named(point), said(self.right(point)), said(self.left(point)), cause, self.script(point), note)

    def script(self, point: Point) -> str:
        """A program that shows the difference alone."""
        return script_of(self.rule.left, self.rule.right, point)


def _plain(value: Any) -> bool:
    """Whether a value stands for a real: neither infinite nor NaN, and not so large that fractions crawl."""
    if isinstance(value, Array):
        return all(map(_plain, value.items))
    return type(value) is not float or abs(value) < 2.0**300


def equal_bits(rule: Rule, seed: int, kind: str, most: int = BIT_POINTS) -> Verdict:
    """Both sides on the machine over the edge pool. A difference is of `kind`; the smallest one found is reported."""
    claim = "equal in IEEE-754, bit for bit"
    sides, points = Sides(rule), points_of(rule, seed, most=most)
    tried = [p for p in points if isinstance(sides.left(p), Value)]
    bad = next((p for p in tried if sides.bits_differ(p)), None)
    if bad is not None:
        bad = shrink(bad, sides.bits_differ)
        return Refuted(sides.counterexample(bad, suspected(sides, bad), f"seed {seed}"), kind, claim)
    if not tried:
        return Vacuous("no point of the edge pool satisfies the side condition and has a value on the left", claim)
    return Passed(len(tried), "points of the edge pool, both sides on the machine", claim)


def bits_refuted(rule: Rule, points: Iterable[Point], kind: str, claim: str) -> Refuted | None:
    """The refutation at the first of these points at which the machine tells the sides apart, if it does at one."""
    sides = Sides(rule)
    bad = next((p for p in points if sides.bits_differ(p)), None)
    if bad is None:
        return None
    bad = shrink(bad, sides.bits_differ)
    return Refuted(sides.counterexample(bad, suspected(sides, bad)), kind, claim)


def suspected(sides: Sides, point: Point) -> str:
    """What kind of difference it is."""
    a, b = sides.left(point), sides.right(point)
    if not isinstance(a, Value):
        return ""
    if not isinstance(b, Value):
        return "the right side stops where the left has a value"
    x, y = a.value, b.value
    if isinstance(x, Array) and isinstance(y, Array) and (x.dtype, x.shape) == (y.dtype, y.shape):
        x, y = next(((u, v) for u, v in zip(x.items, y.items, strict=True) if not same(u, v)), (x, y))
    if type(x) is not type(y) or (isinstance(x, Array) and type_name(x) != type_name(y)):
        return f"the left side is {_article(x)}, the right side {_article(y)}"
    if isinstance(x, float) and isinstance(y, float):
        if math.isnan(x):
            return "the rule hides a NaN"
        if math.isnan(y):
            return "the rule makes a NaN"
        if x == y:
            return "the sign of a zero"
        if math.isinf(x) or math.isinf(y):
            return "one side overflows or divides by zero"
    return "the values differ"


def _article(x: Any) -> str:
    return f"{'an' if type_name(x)[0] in 'if' else 'a'} {type_name(x)}"


def equal_reals(rule: Rule, seed: int, kind: str, most: int = REAL_POINTS) -> Verdict:
    """Both sides over the reals at finite points: fractions where the rule is rational, disjoint enclosures elsewhere."""
    claim = "equal over the reals, at points"
    sides = Sides(rule)
    points = [p for p in points_of(rule, seed, finite=True, most=most) if all(_plain(v) for v in p)]
    tried = 0
    for point in points:
        if not isinstance(over_the_reals(rule.left, point), Value):
            continue
        tried += 1
        if sides.reals_differ(point):
            bad = shrink(point, sides.reals_differ)
            a, b = over_the_reals(rule.left, bad), over_the_reals(rule.right, bad)
            cause = "the right side adds a pole: it is undefined where the left side is not" if isinstance(b, Stopped) else ""
            return Refuted(Counterexample(sides.named(bad), said(b), said(a), cause, note="exact values"), kind, claim)
    if not tried:
        return Vacuous("the left side is defined at no point of the pool that satisfies the side condition", claim)
    return Passed(tried, "points, exact or enclosed values", claim)


def equal_types(rule: Rule, seed: int, most: int = REAL_POINTS) -> Verdict:
    """A rule that keeps meaning keeps types: an integer 0 is not the real 0.0."""
    claim = "the type of the value is kept"
    sides, points = Sides(rule), points_of(rule, seed, finite=True, most=most)
    bad = next((p for p in points if sides.types_differ(p)), None)
    if bad is not None:
        bad = shrink(bad, sides.types_differ)
        return Refuted(sides.counterexample(bad, suspected(sides, bad)), "fault", claim)
    return Passed(len(points), "points", claim)


def removed_singularities(rule: Rule, seed: int) -> Sequence[Point]:
    """Points where the right side is defined over the reals and the left is not: allowed, and worth a note."""
    points = [p for p in points_of(rule, seed, finite=True, most=REAL_POINTS) if all(_plain(v) for v in p)]
    undefined = (p for p in points if isinstance(over_the_reals(rule.left, p), Stopped))
    return [p for p in undefined if isinstance(over_the_reals(rule.right, p), Value)][:3]
