"""
The meaning of every primitive on doubles and integers. The machine, the folder and every checker call it; nobody restates it.

Numbers are computed in `arithmetic` and `elementary`; here are conversions, comparisons and booleans, and the table of all cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from semantics.arrays import Array
from semantics.columns import arithmetic, elementary
from semantics.columns.arithmetic import check, real
from semantics.columns.arrays import with_arrays
from semantics.columns.kinds import NO_BITS
from semantics.columns.structure import CELLS as STRUCTURE
from semantics.columns.structure import EXPANDED, instantiate, wrong
from semantics.errors import Trap
from semantics.primitives.row import Column, Hole
from semantics.structured import Record
from semantics.tangents import ZERO


def _to_whole(name: str, function: Callable[[float], int]) -> Callable[[Any], int]:
    def cell(a: Any) -> int:
        check(name, a)
        if type(a) is int:
            return a
        x = real(name, a)
        if not math.isfinite(x):
            raise Trap(f"{x} has no integer part", rule=name, remedy="test math.isfinite first")
        return function(x)

    return cell


def to_boolean(a: Any) -> bool:
    """Python's truth of a number, a boolean or a tuple."""
    if isinstance(a, (bool, int, float, tuple)):
        return bool(a)
    if isinstance(a, Array) and len(a.items) == 1:
        return bool(a.items[0])
    if isinstance(a, Array):
        raise Trap(f"the truth of an array of {len(a.items)} elements", rule="bool", remedy="np.all(x) or np.any(x)")
    if isinstance(a, Record) and a.label.kind in ("list", "dict"):
        return bool(a.items)
    raise wrong("bool", "a number, a boolean or a tuple", a)


def _comparison(name: str, compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def cell(a: Any, b: Any) -> bool:
        if type(a) is float and type(b) is float:
            return compare(a, b)
        if not (name in ("eq", "ne") and isinstance(a, bool) and isinstance(b, bool)):
            check(name, a, b)
        return compare(*(0.0 if x is ZERO else x for x in (a, b)))

    return cell


def not_(a: Any) -> bool:
    """The other boolean."""
    if not isinstance(a, bool):
        raise wrong("not", "a boolean", a)
    return not a


def logical(name: str, decide: Callable[[bool, bool], bool]) -> Callable[[Any, Any], bool]:
    """A cell on two booleans."""

    def cell(a: Any, b: Any) -> bool:
        for x in (a, b):
            if not isinstance(x, bool):
                raise wrong(name, "booleans", x, NO_BITS)
        return decide(a, b)

    return cell


def seed(out: Any) -> float:
    """The sensitivity of the result of a differentiated function to itself, 1.0; the result must be a real."""
    if isinstance(out, Array) and out.shape == () and out.dtype in ("f64", "f32"):
        return 1.0
    if type(out) is not float:
        raise wrong(
            "grad", "a function whose result is a real", out, "make it one number, as np.sum does; or ask for vjp, jvp or jacobian"
        )
    return 1.0


CELLS: dict[str, Callable[..., Any] | Hole] = {
    **EXPANDED,
    **STRUCTURE,
    **elementary.ELEMENTARY,
    "add": arithmetic.add,
    "sub": arithmetic.sub,
    "mul": arithmetic.mul,
    "div": arithmetic.div,
    "floordiv": arithmetic.floordiv,
    "mod": arithmetic.mod,
    "pow": arithmetic.power,
    "neg": arithmetic.neg,
    "abs": arithmetic.absolute,
    "min": arithmetic.minimum,
    "max": arithmetic.maximum,
    "sign": arithmetic.sign,
    "atan2": elementary.atan2,
    "hypot": elementary.hypot,
    "copysign": elementary.copysign,
    "maximum": arithmetic.np_maximum,
    "minimum": arithmetic.np_minimum,
    "where": arithmetic.where,
    "logaddexp": elementary.logaddexp,
    "single": arithmetic.to_single,
    "and_": logical("logical_and", lambda a, b: a and b),
    "or_": logical("logical_or", lambda a, b: a or b),
    "to_real": lambda a: real("float", a),
    "to_integer": _to_whole("int", math.trunc),
    "to_boolean": to_boolean,
    "floor": _to_whole("floor", math.floor),
    "ceil": _to_whole("ceil", math.ceil),
    "lt": _comparison("lt", lambda a, b: a < b),
    "le": _comparison("le", lambda a, b: a <= b),
    "gt": _comparison("gt", lambda a, b: a > b),
    "ge": _comparison("ge", lambda a, b: a >= b),
    "eq": _comparison("eq", lambda a, b: a == b),
    "ne": _comparison("ne", lambda a, b: a != b),
    "not_": not_,
    "instantiate": instantiate,
    "seed": seed,
}

MEANING = Column("meaning", with_arrays(CELLS))
