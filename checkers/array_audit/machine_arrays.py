"""
Programs of the language as functions of NumPy: arrays in and out, run on the machine.

What the language says symbolically is spelled out at the boundary: where nothing flows, a cotangent is 0, in the shape and dtype
of its argument, and sparse ones are dense.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from checkers.array_audit.case import Arguments
from semantics.arrays import Array
from semantics.edit import Edit, empty
from semantics.ir import Program
from semantics.machine import Machine
from semantics.primitives.row import Primitive
from semantics.structured import LIST, Record
from semantics.tangents import ZERO, Sparse, SparseArray, dense
from transforms.array_rows import to_numpy
from transforms.parse.numpy_names import of_numpy

FUEL = 1_000_000


def inside(value: Any) -> Any:
    """A value of NumPy or Python as one of the language; what is neither array, number nor tuple stays what it is."""
    if isinstance(value, tuple):
        return tuple(map(inside, value))
    if isinstance(value, list):
        return Record(LIST, tuple(map(inside, value)))
    if isinstance(value, (np.ndarray, np.generic)):
        found = of_numpy(value)
        return value if found is None else found
    return value


def outside(value: Any) -> Any:
    """A value of the language as one of NumPy or Python."""
    if isinstance(value, (Sparse, SparseArray)):
        value = dense(value)
    if isinstance(value, Array):
        return to_numpy(value)
    if isinstance(value, tuple):
        return tuple(map(outside, value))
    if isinstance(value, Record) and value.label == LIST:
        return list(map(outside, value.items))
    return 0.0 if value is ZERO else value


def like(cotangent: Any, argument: Any) -> Any:
    """A cotangent in the language as one of NumPy in the structure of its argument; what is wrong with it stays wrong."""
    if isinstance(argument, (tuple, list)) and (cotangent is ZERO or isinstance(cotangent, (tuple, Sparse, Record))):
        parts: Any = dense(cotangent) if isinstance(cotangent, Sparse) else cotangent
        items = (ZERO,) * len(argument) if parts is ZERO else parts.items if isinstance(parts, Record) else parts
        if len(items) == len(argument):
            return type(argument)(like(part, item) for part, item in zip(items, argument, strict=True))
    if cotangent is ZERO and isinstance(argument, np.ndarray):
        return np.zeros(argument.shape, argument.dtype if argument.dtype.kind == "f" else np.float64)
    return outside(cotangent)


def applied(row: Primitive, arity: int) -> Program:
    """The program @f(x…): return row(x…), which speaks of arrays."""
    edit = Edit(empty())
    edit.arrays = True
    graph = edit.graph(f"the_{row.name}")
    plain = len(row.parameters) == arity and "*" not in row.parameters
    names = row.parameters if plain else [f"x{i}" for i in range(arity)]
    edit.output(graph, edit.call(graph, row, *(edit.parameter(graph, name) for name in names)))
    edit.set_entry(graph)
    return edit.program


def forward_of(program: Program) -> Callable[..., Any]:
    """The program as a function of NumPy."""
    machine = Machine(program)
    return lambda *arguments: outside(machine.run([inside(a) for a in arguments], FUEL).value)


def pull_of(rule: Program) -> Callable[[Arguments, Any, Any], Any]:
    """A backpropagator (x…, y, dy) -> (dx, …) of the language as a pull of a trial."""
    machine = Machine(rule)

    def pull(arguments: Arguments, value: Any, cotangent: Any) -> Any:
        found = machine.run([inside(a) for a in (*arguments, value, cotangent)], FUEL).value
        if not isinstance(found, tuple) or len(found) != len(arguments):
            return outside(found)
        return tuple(like(d, x) for d, x in zip(found, arguments, strict=True))

    return pull
