"""
Where one equation of a jaxpr is read: its operands as nodes, their shapes and dtypes, and the graph that is being written.

    site("add", x, y)                 a new application of the row `add` in this graph
    site("reshape", x, Known((3,)))   with an attribute, which becomes a constant

Numbers without axes are scalars of the IR, but for f32, which is an array without axes there. Integers of 32 bits are read as
integers, which are mathematical: where JAX wraps around, the machine does not, or traps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semantics.arrays import Array
from semantics.edit import Edit
from semantics.errors import Location, Malformed
from semantics.ir import GraphId, NodeId
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType

DTYPES = {"float64": "f64", "float32": "f32", "int64": "i64", "int32": "i64", "bool": "bool"}
SCALARS = {"f64": REAL, "i64": INTEGER, "bool": BOOLEAN}
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """A value known when the equation is read: an attribute, or a number of the rule."""

    value: Any


Operand = NodeId | Known


@dataclass(frozen=True, slots=True)
class Site:
    """
    One equation about to be read into `graph`. `operands` are the nodes of its inputs.

    graph_of    the graph of a jaxpr inside the equation (a branch, a body), read later
    """

    edit: Edit
    graph: GraphId
    equation: Any
    operands: tuple[NodeId, ...]
    graph_of: Callable[[Any], GraphId]

    def __call__(self, name: str, *operands: Operand) -> NodeId:
        return self.edit.call(self.graph, TABLE[name], *map(self.node, operands), location=location_of(self.equation))

    def apply(self, function: NodeId, *operands: Operand) -> NodeId:
        """A call of a graph, or of what a switch chose."""
        return self.edit.apply(self.graph, function, *map(self.node, operands), location=location_of(self.equation))

    def node(self, operand: Operand) -> NodeId:
        """The node of an operand; of a known value, its constant."""
        return self.edit.constant(operand.value) if isinstance(operand, Known) else operand

    def tuple(self, operands: Sequence[Operand]) -> NodeId:
        """make_tuple of the operands."""
        return self("make_tuple", *operands)

    def parameter(self, name: str) -> Any:
        """A parameter of the equation."""
        return self.equation.params[name]

    def shape(self, index: int = 0) -> Shape:
        """The shape of an operand."""
        return tuple(map(int, self.equation.invars[index].aval.shape))

    def dtype(self, index: int = 0) -> str:
        """The dtype of an operand, by our name."""
        return dtype_of(self.equation.invars[index].aval, self.equation)

    @property
    def result_shape(self) -> Shape:
        """The shape of the first result."""
        return tuple(map(int, self.equation.outvars[0].aval.shape))

    @property
    def result_dtype(self) -> str:
        """The dtype of the first result, by our name."""
        return dtype_of(self.equation.outvars[0].aval, self.equation)

    def number(self, x: float, index: int = 0) -> Known:
        """The number x in the dtype of an operand, as elementwise arithmetic wants it: a scalar takes the dtype it meets."""
        return Known(float(x) if self.dtype(index) in ("f64", "f32") else int(x))

    def scalar(self, node: NodeId, shape: Shape, dtype: str) -> NodeId:
        """The one element of an array whose axes all have size 1, as the IR has numbers without axes."""
        if not shape and dtype == "f32":
            return node
        return self("getitem", node, Known((0,) * len(shape))) if shape else self("reduce_sum", node, Known(None), Known(False))

    def parts(self, node: NodeId, count: int) -> list[NodeId]:
        """The results of a call: itself if it is one, else the items of the tuple."""
        return [node] if count == 1 else [self("getitem", node, Known(k)) for k in range(count)]

    def refuse(self, what: str, remedy: str = "") -> Malformed:
        """The refusal of this equation, by name, with its line of source."""
        return refuse(self.equation, what, remedy)


def refuse(equation: Any, what: str, remedy: str = "") -> Malformed:
    """The refusal of an equation, with the line of source that made it."""
    name = equation.primitive.name
    return Malformed(
        f"the jaxpr has {name}, {what}",
        rule="jaxpr",
        node=name,
        location=location_of(equation),
        remedy=remedy or "write it with primitives that are read (adjudge.adapters.jax_reader.RULES), or leave it out",
    )


def location_of(equation: Any) -> Location | None:
    """The line of the user's source that an equation came from, if JAX knows it."""
    from jax.extend import source_info_util

    found = re.match(r"(.+?):(\d+)(?::(\d+).*?)? \(", source_info_util.summarize(equation.source_info))
    return Location(found[1], int(found[2]), int(found[3] or 1) - 1) if found else None


def dtype_of(aval: Any, equation: Any = None) -> str:
    """Our name of a dtype; refused if we have none."""
    name = str(getattr(aval, "dtype", type(aval).__name__))
    if name in DTYPES:
        return DTYPES[name]
    what, remedy = f"a value of {name}, which the language does not have", "float64, float32, int64, int32 or bool"
    raise (
        refuse(equation, what, remedy) if equation is not None else Malformed(f"the jaxpr has {what}", rule="jaxpr", remedy=remedy)
    )


def type_of_aval(aval: Any) -> Any:
    """The type of a value with this abstract value."""
    dtype, shape = dtype_of(aval), tuple(map(int, aval.shape))
    return SCALARS[dtype] if not shape and dtype in SCALARS else ArrayType(dtype, shape)


def value_of(constant: Any) -> Any:
    """A constant of a jaxpr as a value of the language."""
    array = np.asarray(constant)
    dtype = dtype_of(array)
    kind = {"f64": float, "f32": float, "i64": int, "bool": bool}[dtype]
    items = tuple(kind(x) for x in array.reshape(-1).tolist())
    return items[0] if not array.shape and dtype in SCALARS else Array(dtype, array.shape, items)
