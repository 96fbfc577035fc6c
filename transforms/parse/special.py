"""
Where a class of records gives an operator or a call a meaning: the questions that the rules of operators and calls ask.
"""

from __future__ import annotations

from semantics.ir import GraphRef, NodeId
from semantics.primitives.row import Primitive
from transforms.parse.items import Emit, top
from transforms.parse.state import ParseState, Value

OPERATORS = {
    **{"add": ("__add__", "__radd__"), "sub": ("__sub__", "__rsub__"), "mul": ("__mul__", "__rmul__")},
    **{"div": ("__truediv__", "__rtruediv__"), "floordiv": ("__floordiv__", "__rfloordiv__"), "mod": ("__mod__", "__rmod__")},
    **{"pow": ("__pow__", "__rpow__"), "matmul": ("__matmul__", "__rmatmul__"), "neg": ("__neg__", "")},
}


def has_meaning(state: ParseState, item: Emit) -> bool:
    """Whether a class that the program can name defines the operator, and an operand may be a record."""
    wanted = OPERATORS.get(item.primitive, ())
    if not any(name in cls.kinds for cls in state.world for name in wanted if name):
        return False
    operands = state.operands
    for _ in range(item.count):
        assert operands is not None
        operand, operands = operands
        value = state.program.constant(operand.node) if isinstance(operand, Value) else None
        if not isinstance(value, (int, float)):
            return True
    return False


def operator_of(state: ParseState) -> Emit | None:
    """The operator on top of the agenda, if it may be one of records."""
    item = top(state)
    return item if isinstance(item, Emit) and has_meaning(state, item) else None


def may_be_record(state: ParseState, function: NodeId) -> bool:
    """Whether a value that is called may be a record: it is no known function, and a class of the world can be called."""
    known = isinstance(state.program.constant(function), (GraphRef, Primitive))
    return not known and any("__call__" in cls.kinds for cls in state.world)
