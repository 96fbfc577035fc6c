"""The rows of arrays that generated code has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.arrays import elementwise, moves, places, products, reductions
from semantics.ir import NodeId, Program

CELLS: dict[str, Callable[..., Any]] = {
    "reduce_sum": reductions.reduction("add"),
    "reduce_prod": reductions.reduction("mul"),
    "reduce_max": reductions.reduction("maximum"),
    "reduce_min": reductions.reduction("minimum"),
    "mean": reductions.mean,
    "argmax": reductions.argmax,
    "argmin": reductions.argmin,
    "matmul": products.matmul,
    "dot": products.dot,
    "outer": products.outer,
    "sum_to": moves.sum_to,
    "like": moves.like,
    "broadcast_to": moves.broadcast_to,
    "spread": moves.spread,
    "transpose": moves.transpose,
    "swap_last": moves.swap_last,
    "shape": moves.shape,
    "ndim": moves.ndim,
    "array_size": moves.array_size,
    "reshape": moves.reshape,
    "expand_dims": moves.expand_dims,
    "squeeze": moves.squeeze,
    "places": moves.places,
    "grouped": places.grouped,
    "take_along": places.take_along,
    "returned": places.returned,
}
"""Rows that only arrays have."""

OF_ANYTHING = frozenset({"sum_to", "like", "shape", "ndim", "array_size", "expand_dims", "broadcast_to", "spread", "returned"})
"""Those whose first argument may be a number."""

OVER: dict[str, Callable[..., Any]] = {
    "where": elementwise.where,
    "gadd": elementwise.gadd,
    "instantiate": elementwise.instantiate,
}
"""Structural rows, where an argument is an array."""


SHAPE_ONLY = {
    "sum_to": 2,
    "like": 2,
    "spread": 2,
    "instantiate": 2,
    "returned": 3,
    "places": 1,
    "shape": 1,
    "ndim": 1,
    "array_size": 1,
    "seed": 1,
}
"""The inputs, counted with the function, of which only the shape matters."""


def readers(program: Program, node: NodeId) -> int:
    """How many read the elements of an array."""
    return sum(SHAPE_ONLY.get(getattr(program.callee(use.user), "name", "")) != use.index for use in program.users(node))
