"""
Which variables of a function in Numba's form are never negative as indices: those that count the turns of loops, and those that
have been made to count from the beginning.

    for k in range(n): a[k] = …           k, where nothing else is assigned to it
    i = _from_zero(j, a.shape[0])         i, so too

To a negative index Numba adds the size. That a number is none LLVM often finds out, but not where the sizes of arrays come from
several places, as those that a frame of a recursion keeps do; it then gathers eight elements one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numba.core import ir as statements

from backend.cpu.functions import from_zero

STEPS = 9  # from the iterator of a loop to what made it


Given = Mapping[str, Sequence[Any]]


def given(blocks: dict[int, Any]) -> Given:
    """For each variable, what is assigned to it."""
    found: dict[str, list[Any]] = {}
    for block in blocks.values():
        for statement in block.find_insts(statements.Assign):
            found.setdefault(statement.target.name, []).append(statement.value)
    return found


def turns(of: Given) -> frozenset[str]:
    """The variables that are given nothing but such numbers, as `range(n)` gives from 0 on."""
    found = {name for name, values in of.items() if all(_may_be_number(value, of) for value in values)}
    while True:
        fewer = {name for name in found if all(not isinstance(v, statements.Var) or v.name in found for v in of[name])}
        if fewer == found:
            return frozenset(found)
        found = fewer


def in_tuples(of: Given) -> dict[str, tuple[str, ...]]:
    """For each variable that is given one tuple, which the text writes out, the variables in it."""
    built = {name: values[0] for name, values in of.items() if len(values) == 1 and isinstance(values[0], statements.Expr)}
    return {name: tuple(item.name for item in value.items) for name, value in built.items() if value.op == "build_tuple"}


def _may_be_number(value: Any, of: Given) -> bool:
    """Whether it is such a number, or another variable, which may be one."""
    match value:
        case statements.Var():
            return True
        case statements.Expr(op="call"):
            return _calls(value, from_zero, of)
        case statements.Expr(op="pair_first"):
            match of.get(value.value.name, ()):
                case [statements.Expr(op="iternext") as taken]:
                    return _from_zero(taken.value.name, of)
    return False


def _from_zero(name: str, of: Given) -> bool:
    """Whether an iterator is that of `range(n)`."""
    for _ in range(STEPS):
        match of.get(name, ()):
            case [statements.Var(name=other)]:
                name = other
            case [statements.Expr(op="getiter") as made]:
                name = made.value.name
            case [statements.Expr(op="call") as made]:
                return len(made.args) == 1 and _calls(made, range, of)
            case _:
                return False
    return False


def _calls(made: Any, function: Any, of: Given) -> bool:
    """Whether a call is one of a function of the module."""
    return [getattr(called, "value", None) for called in of.get(made.func.name, ())] == [function]
