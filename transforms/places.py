"""
Where a rule may look, and where it must look again after a step (DESIGN, section 5: the worklist of the engine).
"""

from __future__ import annotations

from collections.abc import Iterable

from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive

MANY = 64
CONSTANT = "constant"
Shape = Primitive | str | None  # of an operand: the primitive that it applies, CONSTANT, or something else


def places(program: Program) -> list[int]:
    """Where a rule may look: every graph and every node, in order of identifier (they share one numbering)."""
    return sorted((*program.graphs, *program.nodes))


def describe_place(program: Program, place: int) -> str:
    """A place as text."""
    return f"graph @{program.graphs[place].name}" if place in program.graphs else program.describe(place)


def neighbours(program: Program, touched: Iterable[NodeId] | None = None) -> list[int]:
    """
    The nodes that the last step touched (or `touched`), what they use, what uses them, the graphs they are parameters or outputs
    of, and the calls of their graphs.

    The users of a number or a primitive are not looked at, nor are more than MANY users or inputs of anything: what they miss is
    found when the worklist is empty. So a step beside a tuple of n elements costs no more than one beside a pair.
    """
    near: set[int] = set()
    owners: set[GraphId] = set()
    nodes, uses, returns = program.nodes, program.uses, program.returns
    for node in program.touched if touched is None else touched:
        found = nodes.get(node)
        if found is None:
            continue
        near.add(node)
        if isinstance(found, Constant):
            if isinstance(found.value, GraphRef):
                near.add(found.value.graph)
                _add_users(program, node, near)
            continue
        if isinstance(found, Apply) and len(found.inputs) <= MANY:
            near.update(found.inputs)
        if (users := uses.get(node)) is not None and len(users) <= MANY:
            near.update([user for user, _ in users])
        if node in returns:
            near.update(returns[node])
        owners.add(found.graph)
        if isinstance(found, Parameter):
            near.add(found.graph)
    for graph in owners:
        reference = program.reference(graph)
        if reference is not None:
            _add_users(program, reference, near)
    return sorted(near)


def _add_users(program: Program, node: NodeId, near: set[int]) -> None:
    users = program.users(node)
    if len(users) <= MANY:
        near.update([user for user, _ in users])


def shape_of(program: Program, operand: NodeId) -> Shape:
    """What an operand looks like."""
    found = program.nodes[operand]
    if isinstance(found, Apply):
        callee = program.constant(found.inputs[0])
        return callee if isinstance(callee, Primitive) else None
    return CONSTANT if isinstance(found, Constant) else None
