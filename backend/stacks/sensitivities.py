"""
Sensitivities of tuples, as tuples: sums of `inject` become `make_tuple`, so that the sensitivity of a stack is a stack.

    gadd(inject(s, 0, a), inject(s, 1, b))  ⟹  make_tuple(a, b)

The adjoint of a read of s is a tuple like s that is ZERO elsewhere. The loop that is the adjoint of one that pops reads the top and
the rest in each turn, and so makes (a, b) of the sensitivity b of the rest: it pushes. So does the adjoint of a recursion over a
tree of tuples, whose sensitivity is a tree. How many elements s has, the flow of tuples says (`backend.stacks.sites`). A sum of
ZEROs becomes a tuple of ZEROs, which is the same to all that read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from backend.recursion.families import held, recursive
from backend.stacks.sites import EMPTY, MAKE_TUPLE, ZEROED, Flows, sites_of
from semantics.edit import Edit
from semantics.ir import NodeId, Program
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO

GADD, INJECT = TABLE["gadd"], TABLE["inject"]


@dataclass(frozen=True)
class Parts:
    """The sensitivity of a tuple with so many elements: what was injected, by element."""

    size: int
    found: Mapping[int, NodeId]


def with_tuples(program: Program) -> Program:
    """
    The program in which a sum of what was injected into a cell of a stack is a tuple; into any tuple, where some are trees, since
    the sensitivity of a tree is one too, and what is followed of it grows with each that is made a tuple.
    """
    while program.interned.get(INJECT) is not None:
        flows = Flows(program)
        below = sites_of(program, flows)
        made = {n for n in program.nodes if program.callee(n) is MAKE_TUPLE}
        trees = bool(recursive(held(program, flows, made)) - below.keys())
        made = made if trees else set(below)
        program, before = _with_tuples(program, flows, made), program
        if not trees or program is before:
            break
    return program


def _with_tuples(program: Program, flows: Flows, made: Set[NodeId]) -> Program:
    """The same, where the tuples that are made at these places are injected into."""
    edit, parts = Edit(program), {}
    for node, size in _injected(program, flows, made):
        *_, index, d = program.inputs(node)
        parts[node] = Parts(size, {program.constant(index) % size: d})
    if not parts:
        return program
    todo = sorted(parts)
    while todo:
        for use in sorted(program.users(todo.pop())):
            inputs = program.inputs(use.user)[1:]
            if program.callee(use.user) is GADD and use.user not in parts and all(n in parts for n in inputs):
                a, b = (parts[n] for n in inputs)
                if a.size == b.size:
                    parts[use.user] = _sum(edit, program, use.user, a, b)
                    todo.append(use.user)
    for node, of in parts.items():
        graph = program.owner(node)
        zero = edit.constant(ZERO)
        edit.replace(node, edit.call(graph, MAKE_TUPLE, *(of.found.get(k, zero) for k in range(of.size))))  # type: ignore[arg-type]
    return edit.program


def _injected(program: Program, flows: Flows, sites: Set[NodeId]) -> Iterator[tuple[NodeId, int]]:
    """The applications of inject to cells of stacks, with the number of elements of these."""
    for node in sorted(program.nodes):
        if program.callee(node) is INJECT and program.users(node):
            _, s, index, _ = program.inputs(node)
            cells = flows.reaching.get(s, set()) - {EMPTY, ZEROED}
            sizes = {len(program.inputs(cell)) - 1 if cell in sites else 0 for cell in cells}
            if len(sizes) == 1 and sizes != {0} and type(program.constant(index)) is int:
                yield node, sizes.pop()


def _sum(edit: Edit, program: Program, place: NodeId, a: Parts, b: Parts) -> Parts:
    """Element by element; what only one of them has is that."""
    both = {k: edit.call(program.owner(place), GADD, a.found[k], b.found[k]) for k in a.found if k in b.found}  # type: ignore[arg-type]
    return Parts(a.size, {**a.found, **b.found, **both})
