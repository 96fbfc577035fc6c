"""A program without recursion, by way of SSA form and back (`backend.recursion.loops`)."""

from __future__ import annotations

from backend.recursion import groups
from semantics.errors import IllTyped, Malformed
from semantics.ir import Program
from transforms.ssa.from_graph import first_order, to_ssa
from transforms.ssa.to_graph import to_graph


def without_recursion(program: Program, *, sums: bool = False, levels: bool = False) -> Program | None:
    """The same program with loops for its recursions; None where it has none, or is not of first order."""
    try:
        module = to_ssa(first_order(program))
    except (Malformed, IllTyped):
        return None
    return (
        to_graph(groups.without_recursion(module, sums=sums, levels=levels, arrays=program.arrays))
        if groups.groups(module)
        else None
    )
