"""
The order in which the nodes of a graph are computed: an element is read before the array is updated there, and a call is known
before a cell is made that has its number.

    b = put(a, i, v); x = getitem(a, i)        →        x = getitem(a, i); b = put(a, i, v)

Order of need may leave the read for later, as in the adjoint of an assignment to an element; the update would then be made to a
copy of `a`, which is of its whole size. Both fail where there is no such element, so the read may be first. An element that is an
array is read where it is used; so where an adjoint makes it ZERO, which cannot fail then, it does that when it must.

Nothing in a cell says of which call it is (`backend.recursion.families`), so nothing that it needs may have asked for the call.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from semantics.ir import GraphId, GraphRef, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.tangents import Zero

GETITEM, PUT = TABLE["getitem"], TABLE["put"]


def reads_first(program: Program, plan: Sequence[NodeId], free: Mapping[GraphId, Collection[NodeId]]) -> tuple[NodeId, ...]:
    """
    The nodes of a plan, each after what it needs, and reads of an element before the update of it. `free` has what graphs capture.
    """
    reads = {program.inputs(node)[1:]: node for node in plan if program.callee(node) is GETITEM}
    found: dict[NodeId, None] = {}
    late: dict[NodeId, None] = {}
    for node in plan:
        reference = program.constant(node) if late else None
        needed = free[reference.graph] if isinstance(reference, GraphRef) else program.inputs(node)
        for put in [p for p in late if p in needed]:
            found[put] = None
            del late[put]
        if program.callee(node) is PUT and (read := reads.get(program.inputs(node)[1:3])) is not None:
            found |= dict.fromkeys((program.inputs(read)[0], read))
            if isinstance(program.constant(program.inputs(node)[3]), Zero):
                late[node] = None
                continue
        found[node] = None
    return (*found, *late)


def calls_first(program: Program, plan: Sequence[NodeId], calls: Mapping[NodeId, NodeId]) -> tuple[NodeId, ...]:
    """The nodes of a plan, each after what it needs, and after its call if it has one."""
    found: dict[NodeId, None] = {}
    for node in plan:
        if (call := calls.get(node)) is not None and call not in found:
            needed = {call}
            for other in reversed(plan):
                if other in needed:
                    needed.update(program.inputs(other))
            found |= dict.fromkeys(n for n in plan if n in needed)
        found[node] = None
    return tuple(found)
