"""
What kind of derivative a row of the table has, and so by what it is judged: the denominators of "so many per cent proved".
"""

from __future__ import annotations

from proofs.cases import cases
from semantics.primitives.array_rows import ARRAYS
from semantics.primitives.row import Hole, Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.tangents import ZERO
from transforms.backpropagators import find

SCALAR, ARRAY, STRUCTURE, NONE = "scalar", "array", "structure", "no derivative"


def kind_of(primitive: Primitive) -> str:
    """
    What kind of derivative a row of the table has.

        SCALAR      a function of reals: judged by `proofs.backpropagators`
        ARRAY       of arrays: judged by `proofs.arrays`
        STRUCTURE   of tuples, records, sensitivities and memory: judged by `proofs.structure_rows`
        NONE        nothing flows back: its result is discrete or only a shape, its backpropagator is ZERO, or it is a macro
    """
    if cases(primitive):
        return SCALAR
    if primitive in MACROS or constant(primitive):
        return NONE
    return ARRAY if primitive in ARRAYS else STRUCTURE


def constant(primitive: Primitive) -> bool:
    """Whether the backpropagator is ZERO for every argument, as its program says outright."""
    rule = find(primitive)
    if isinstance(rule, Hole):
        return False
    output = rule.graphs[rule.entry].output
    parts = rule.inputs(output)
    return bool(parts) and rule.callee(output) is TABLE["make_tuple"] and all(rule.constant(x) is ZERO for x in parts[1:])
