"""
Backpropagators of rows on arrays: every cotangent has the shape of its argument, or an error says which has not.

    pulled_back    a rule outside the language as a meaning: (x…, out, dout) to one cotangent for every argument
    conforming     a rule in the language, each of its cotangents held against its argument by `conform`, which J goes through
    rule_type      the types of these cotangents
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from semantics.arrays import FLOATING, Array, shown
from semantics.columns.structure import instantiate
from semantics.edit import Edit
from semantics.errors import IllTyped, Location
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO, SparseArray
from semantics.text import read
from semantics.type_language import REAL, ArrayType, TupleType, tangent
from semantics.type_lattice import ZERO_TYPE, erase
from transforms.array_rows import NUMPY_DTYPE, entering, leaving

ON_ARRAYS = "backpropagator on arrays"
"""The column of the rule that J uses where there are arrays."""


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an argument; of a number, no axes."""
    return value.shape if isinstance(value, (Array, SparseArray)) else ()


def is_real(value: Any) -> bool:
    """Whether a cotangent flows to an argument: a real, or an array of reals. Others are attributes."""
    return value.dtype in FLOATING if isinstance(value, (Array, SparseArray)) else isinstance(value, float)


def misshapen(name: str, index: int, found: tuple[int, ...], wanted: tuple[int, ...], location: Location | None) -> IllTyped:
    """The error for a cotangent that has not the shape of its argument."""
    summed = "add up what was broadcast: np.sum(d, axis=…)" if len(found) >= len(wanted) else "np.broadcast_to(d, np.shape(x))"
    return IllTyped(
        f"{name} returned a cotangent of shape {shown(found)} for argument {index}, whose shape is {shown(wanted)}",
        rule="backpropagator",
        location=location,
        remedy=f"a cotangent has the shape of its argument; {summed}",
    )


def cotangent(name: str, index: int, d: Any, x: Any, location: Location | None) -> Any:
    """What a rule of NumPy returned for the argument x as its cotangent: of its shape and dtype; ZERO for an attribute."""
    if not is_real(x):
        return ZERO
    found = np.asarray(d)
    if found.dtype.kind not in "fiu":
        what = f"{name} returned {f'an array of {d.dtype}' if isinstance(d, np.ndarray) else repr(d)} for argument {index}"
        raise IllTyped(what, rule="backpropagator", location=location, remedy="return reals")
    if found.shape != shape_of(x):
        raise misshapen(name, index, found.shape, shape_of(x), location)
    dtype = NUMPY_DTYPE[x.dtype] if isinstance(x, (Array, SparseArray)) else np.float64
    found = leaving(name, found.astype(dtype), location)
    return Array(x.dtype, (), (found,)) if isinstance(x, Array) and not isinstance(found, Array) else found


def pulled_back(
    name: str, function: Callable[..., Any], xs: Sequence[Any], out: Any, dout: Any, location: Location | None
) -> tuple[Any, ...]:
    """The cotangents of all arguments by a rule of NumPy."""
    found = function(*map(entering, xs), entering(out), entering(instantiate(dout, out)))
    if not isinstance(found, tuple) or len(found) != len(xs):
        raise IllTyped(
            f"{name} returned {type(found).__name__}, not a tuple of {len(xs)}",
            rule="backpropagator",
            location=location,
            remedy="return one cotangent per argument: `return (dx,)`",
        )
    return tuple(cotangent(name, i, d, x, location) for i, (d, x) in enumerate(zip(found, xs, strict=True)))


def conforming(rule: Program, name: str, parameters: Sequence[str], location: Location | None) -> Program:
    """The rule, given the sensitivity of a result whole, with each of its cotangents held against its argument."""
    edit = Edit(rule)
    edit.arrays = True
    graph = edit.graph(f"{name}_backpropagator", location)
    *xs, out, dout = [edit.parameter(graph, p) for p in (*parameters, "out", "dout")]
    whole = edit.call(graph, TABLE["instantiate"], dout, out)
    found = edit.apply(graph, edit.reference(rule.entry), *xs, out, whole)
    parts = []
    for i, x in enumerate(xs):
        part = edit.call(graph, TABLE["getitem"], found, edit.constant(i))
        parts.append(edit.call(graph, CONFORM, part, x, dout, edit.constant(i), location=location))
    edit.output(graph, edit.call(graph, TABLE["make_tuple"], *parts))
    edit.set_entry(graph)
    return edit.program


def _conform(d: Any, x: Any, dout: Any, index: Any) -> Any:
    """d itself, of the shape of x, as an array where x is one. ZERO where x is an attribute, or nothing flowed to the result."""
    array = isinstance(x, (Array, SparseArray))
    attribute = isinstance(x, (tuple, int, str)) or x is None or (array and x.dtype not in FLOATING)
    if attribute or d is ZERO or x is ZERO or dout is ZERO:
        return ZERO
    if isinstance(d, tuple) or d is None or shape_of(d) != shape_of(x):
        raise misshapen("the backpropagator", index, shape_of(d), shape_of(x), None)
    return Array(x.dtype, (), (d,)) if array and not isinstance(d, (Array, SparseArray)) else d


def _conform_type(d: Any, x: Any, dout: Any, index: Any) -> Any:
    """The type of d, or of a zero."""
    real = x.dtype in FLOATING if isinstance(x, ArrayType) else erase(x) in _REALS
    if not real or dout == ZERO_TYPE:
        return ZERO_TYPE
    return ArrayType(x.dtype, ()) if isinstance(x, ArrayType) and erase(d) == REAL else d


_REALS = (REAL, ZERO_TYPE)
CONFORM_BACK = """
program @back
@back(%d, %x, %dout, %index, %out, %s):
  %dd = sum_to(%s, %d)
  %r = make_tuple(%dd, ZERO, ZERO, ZERO)
  return %r
"""
CONFORM = Primitive(
    "conform",
    ("d", "x", "dout", "index"),
    ("any",) * 4,
    "any",
    columns={
        **dict.fromkeys(("meaning", "exact", "ball"), _conform),
        "type": _conform_type,
        "program": read("program @conform\n@conform(%d, %x, %dout, %index):\n  return %d\n"),
        "backpropagator": read(CONFORM_BACK),
    },
)


def rule_type(*types: Any) -> Any:
    """The type of what a rule outside the language answers to (x…, out, dout)."""
    *xs, _, dout = types
    return TupleType(tuple(ZERO_TYPE if dout == ZERO_TYPE else _cotangent_type(erase(x)) for x in xs))


def _cotangent_type(x: Any) -> Any:
    return tangent(x) if x == REAL or (isinstance(x, ArrayType) and x.dtype in FLOATING) else ZERO_TYPE
