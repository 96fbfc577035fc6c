"""The rows of arrays that generated code has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.arrays import (
    contractions,
    creation,
    elementwise,
    indexed,
    indices,
    injected,
    joining,
    linear,
    lines,
    moves,
    places,
    products,
    reductions,
    structures,
)
from semantics.ir import GraphRef, NodeId, Program, Use

CELLS: dict[str, Callable[..., Any]] = {
    **creation.CELLS,
    **indexed.CELLS,
    **moves.CELLS,
    **joining.CELLS,
    **reductions.CELLS,
    **lines.CELLS,
    **contractions.CELLS,
    **linear.CELLS,
    **structures.CELLS,
    **places.CELLS,
    "outer": products.outer,
    "keep": indexed.keep,
}
"""Rows that only arrays have."""

OF_ANYTHING = frozenset(
    {
        *("as_array", "full", "arange", "linspace", "eye", "dtype", "concatenate", "stack", "einsum", "einsum_adjoint", "final"),
        *("sum_to", "like", "shape", "ndim", "array_size", "spread", "places", "grouped", "take_along", "returned", "gathered"),
        *("inner", "scale", "keep", "take", "astype", "unsum", "tensordot_subscripts"),
    }
)
"""Those whose first argument may be something else than an array or a number."""

OVER: dict[str, Callable[..., Any]] = {
    "where": elementwise.where,
    "gadd": injected.gadd,
    "instantiate": elementwise.instantiate,
}
"""Structural rows, where an argument is an array."""

OF_FIRST = indexed.OVER
"""Structural rows, where the first argument is an array."""

SOURCES = {**products.SOURCES, **lines.SOURCES, **linear.SOURCES, **indices.SOURCES}
"""The helpers of these rows."""

SHAPE_ONLY = {
    "sum_to": 2,
    "like": 2,
    "spread": 2,
    "instantiate": 2,
    "inject": 1,
    "returned": 3,
    "places": 1,
    "shape": 1,
    "ndim": 1,
    "array_size": 1,
    "length": 1,
    "seed": 1,
    "nothing_of": 1,
}
"""The inputs, counted with the function, of which only the shape matters."""


def readers(program: Program, node: NodeId) -> int:
    """How many read the elements of an array."""
    return sum(_reads(program, use) for use in program.users(node))


def _reads(program: Program, use: Use) -> bool:
    """Whether elements are read: not where only the shape matters, nor where a known graph takes what it makes no use of."""
    match program.callee(use.user):
        case GraphRef(graph) if 0 < use.index <= len(parameters := program.graphs[graph].parameters):
            parameter = parameters[use.index - 1]
            return bool(program.users(parameter)) or program.graphs[graph].output == parameter
        case callee:
            return SHAPE_ONLY.get(getattr(callee, "name", "")) != use.index
