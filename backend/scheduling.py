"""
The order in which the nodes of a graph are computed: an element is read before the array is updated there.

    b = put(a, i, v); x = getitem(a, i)        →        x = getitem(a, i); b = put(a, i, v)

Order of need may leave the read for later, as in the adjoint of an assignment to an element; the update would then be made to a
copy of `a`, which is of its whole size. Both fail where there is no such element, so the read may be first.
"""

from __future__ import annotations

from collections.abc import Sequence

from semantics.ir import NodeId, Program
from semantics.primitives.table import TABLE

GETITEM, PUT = TABLE["getitem"], TABLE["put"]


def reads_first(program: Program, plan: Sequence[NodeId]) -> tuple[NodeId, ...]:
    """The nodes of a plan, each after what it needs, and reads of an element before the update of it."""
    reads = {program.inputs(node)[1:]: node for node in plan if program.callee(node) is GETITEM}
    found: dict[NodeId, None] = {}
    for node in plan:
        if program.callee(node) is PUT and (read := reads.get(program.inputs(node)[1:3])) is not None:
            found |= dict.fromkeys((program.inputs(read)[0], read))
        found[node] = None
    return tuple(found)
