"""
The state of `shadow_memory`, and how it begins: what is mirrored, in which order, and what has no sensitivity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from immutables import Map

from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import Apply, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.linear import check_linear, tokens, unpacked
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import order_of_need, scopes_from
from semantics.tangents import ZERO
from transforms.agenda import in_turn

MEMORY, ALLOC, LOAD, STORE, LEA = (TABLE[n] for n in ("memory", "alloc", "load", "store", "lea"))
GETITEM, OF_LENGTH = TABLE["getitem"], TABLE["of_length"]
SHADOW_HOME = -1


@dataclass(frozen=True)
class ShadowState:
    """
    At work on the entry of `program`, in the new graph `into`.

    agenda    the items to do, (kind, node), as a linked list or None
    image     n to its copy ▶n          shadow    p to its shadow pointer p̄
    token     s, as it is now           parts     n to the contributions to n̄ so far
    memory    the nodes that are tokens or pointers, which have no sensitivity
    wrt       the parameters whose sensitivities are the result
    """

    program: Program
    agenda: Any
    into: GraphId
    image: Map[NodeId, NodeId]
    shadow: Map[NodeId, NodeId]
    token: NodeId
    parts: Map[NodeId, tuple[NodeId, ...]]
    memory: frozenset[NodeId]
    wrt: int | tuple[int, ...]

    def at(self, kind: str) -> Apply | None:
        """The application of the current item, if it is of that kind."""
        found = self.program.nodes.get(self.agenda[0][1]) if self.agenda[0][0] == kind else None
        return found if isinstance(found, Apply) else None

    def done(self, edit: Edit, **changes: Any) -> ShadowState:
        """The state after the current item."""
        return replace(self, program=edit.program, agenda=self.agenda[1], **changes)

    def copied(self, node: NodeId) -> NodeId:
        """▶n; a constant is itself."""
        return self.image.get(node, node)

    def sensitivity(self, edit: Edit, node: NodeId) -> NodeId:
        """n̄, of which at most one contribution is left."""
        found = self.parts.get(node, ())
        return found[0] if found else edit.constant(ZERO)

    def adding(self, edit: Edit, node: NodeId, part: NodeId) -> Map[NodeId, tuple[NodeId, ...]]:
        """The contributions with one more to n̄, if n can have any."""
        if self.program.owner(node) is None or node in self.memory:
            return self.parts
        return self.parts.set(node, (*self.parts.get(node, ()), part))


def _positions(program: Program, wrt: int | str | tuple[int | str, ...]) -> int | tuple[int, ...]:
    """The positions of the parameters that are named, or are positions already."""
    names = [getattr(program.nodes[p], "name", "") for p in program.graphs[program.entry].parameters]
    found: list[int] = []
    for one in wrt if isinstance(wrt, tuple) else (wrt,):
        known = one in names if isinstance(one, str) else -len(names) <= one < len(names)
        if not known:
            raise Malformed(f"there is no parameter {one}", rule="shadow", remedy=f"one of {', '.join(names)}")
        found.append(names.index(one) if isinstance(one, str) else one)
    return tuple(found) if isinstance(wrt, tuple) else found[0]


def begin(program: Program, wrt: int | str | tuple[int | str, ...] = 0) -> ShadowState:
    """The state in which nothing is mirrored. Malformed unless the program is of first order, and linear."""
    check_linear(program)
    entry = program.graphs[program.entry]
    order = _schedule(program)
    for node in order:
        found = program.nodes[node]
        callee = program.callee(node) if isinstance(found, Apply) else program.constant(node)
        if isinstance(callee, GraphRef) or (isinstance(found, Apply) and not isinstance(callee, Primitive)):
            what = "accumulation in a shadow memory is for programs of first order, without calls"
            raise Malformed(
                what,
                rule="shadow",
                node=program.describe(node),
                location=getattr(found, "location", None),
                remedy="inline it, or use grad",
            )
    edit = Edit(program)
    into = edit.graph(f"∇{entry.name}", entry.location)
    image: Map[NodeId, NodeId] = Map()
    for node in entry.parameters:
        old = program.nodes[node]
        assert isinstance(old, Parameter)
        image = image.set(node, edit.parameter(into, old.name, old.type, old.location))
    token = edit.call(into, MEMORY, edit.constant(SHADOW_HOME))
    ours = [n for n in order if isinstance(program.nodes[n], Apply)]
    items = [("forward", n) for n in ours] + [("seed", entry.output)] + [("backward", n) for n in reversed(ours)]
    items += [("sum", p) for p in entry.parameters] + [("result", entry.output)]
    return ShadowState(
        edit.program, in_turn(items), into, image, Map(), token, Map(), _of_memory(program), _positions(program, wrt)
    )


def _of_memory(program: Program) -> frozenset[NodeId]:
    """The tokens, the pointers, and the pairs of them that alloc gives."""
    found = set(tokens(program))
    for node in program.nodes:
        callee, inputs = program.callee(node), program.inputs(node)
        parts = callee in (GETITEM, OF_LENGTH) and program.callee(unpacked(program, inputs[1])) is ALLOC
        if callee in (ALLOC, LEA) or parts:
            found.add(node)
        if callee in (LOAD, STORE):
            found.add(inputs[2])
    return frozenset(found)


def _schedule(program: Program) -> list[NodeId]:
    """An order of evaluation in which every look at a token comes before the operation that consumes it."""
    order = order_of_need(program, program.entry, scopes_from(program, [program.entry]).free)
    looks: dict[NodeId, list[NodeId]] = {}
    for node in order:
        if program.callee(node) is LOAD:
            looks.setdefault(program.inputs(node)[1], []).append(node)
    placed: dict[NodeId, None] = {}
    opened: set[NodeId] = set()
    todo = [(n, False) for n in reversed(order)]
    while todo:
        node, ready = todo.pop()
        if ready:
            placed[node] = None
            continue
        if node in opened:
            continue
        opened.add(node)
        found = program.nodes[node]
        before = list(found.inputs) if isinstance(found, Apply) else []
        if program.callee(node) in (ALLOC, STORE):
            before += looks.get(program.inputs(node)[1], ())
        todo.append((node, True))
        todo += [(n, False) for n in reversed(before) if n not in opened]
    return list(placed)
