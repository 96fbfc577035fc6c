"""
The cells of memory whose every use is seen: allocated in a graph, and read and written there by their own pointer (figure 4).

A cell is *local* if its pointer goes nowhere but into `load`, `store` and one `lea` of the graph that allocates it. No other
pointer leads to it, so what it holds is what was stored through this one. A local cell is *known* if moreover its token only goes
from store to store and alloc to alloc in that graph, between any two of its uses: then what it holds is known before the program
runs. Where a pointer comes from outside, or is passed on, chosen or kept, its cell is not local.

Of a local cell that `lea` goes into, the parts are told apart: every value stored in it whole must be a tuple made in the graph, of
one length; if it is to be known, the indices are written out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from immutables import Map

from semantics.ir import GraphId, NodeId, Program
from semantics.linear import unpacked
from semantics.primitives.table import TABLE
from semantics.scope import Scopes, order_of_need
from semantics.structured import Label
from transforms.pullback.state import Structure

ALLOC, LOAD, STORE, LEA = (TABLE[n] for n in ("alloc", "load", "store", "lea"))
GETITEM, OF_LENGTH, MAKE_TUPLE, MAKE_RECORD = (TABLE[n] for n in ("getitem", "of_length", "make_tuple", "make_record"))


@dataclass(frozen=True, slots=True)
class Cell:
    """
    A local cell.

    alloc   the application that makes it                 parts   how many parts its content has, if they are told apart; else None
    known   whether what it holds is known beforehand
    """

    alloc: NodeId
    parts: int | None
    known: bool


@dataclass(frozen=True, slots=True)
class Cells:
    """
    What is known of the memory of a program.

    local     the pointers to local cells, and the pairs that alloc gives, with their cells
    contents  a token, and an alloc that makes a known cell, to what the cell holds there; one whole value as a single element
    shadow    p to p_S*, the pointer to the pullback of what p holds, where there is one in the program
    """

    local: Map[NodeId, Cell] = Map()
    contents: Map[NodeId, Map[NodeId, Structure]] = Map()
    shadow: Map[NodeId, NodeId] = Map()


def cells_of(program: Program, found: Scopes, in_memory: bool) -> Cells:
    """The local cells of the graphs found: all of them, to be treated as if none were known, or only those that are known."""
    local: dict[NodeId, Cell] = {}
    contents: dict[NodeId, Map[NodeId, Structure]] = {}
    for graph in found.free:
        order = [n for n in order_of_need(program, graph, found.free) if program.owner(n) == graph]
        for pointers, cell in _made_in(program, graph, order):
            if in_memory or cell.known:
                local.update(dict.fromkeys(pointers, replace(cell, known=not in_memory)))
        if not in_memory:
            _fill(program, order, local, contents)
    return Cells(Map(local), Map(contents))


def _made_in(program: Program, graph: GraphId, order: list[NodeId]) -> Iterator[tuple[dict[NodeId, None], Cell]]:
    """The local cells that a graph makes, with all that leads to them."""
    chains = _chains(program, order)
    for node in order:
        made = program.callee(node) is ALLOC and len(program.inputs(node)) == 3
        pointers = _pointers(program, graph, node) if made else None
        cell = _cell(program, node, pointers, chains) if pointers is not None else None
        if pointers is not None and cell is not None:
            yield pointers, cell


def _fill(program: Program, order: list[NodeId], local: dict[NodeId, Cell], contents: dict[NodeId, Map[NodeId, Structure]]) -> None:
    """What the known cells of a graph hold at each of its tokens, in the order of need."""
    for node in order:
        callee, inputs = program.callee(node), program.inputs(node)
        if callee is ALLOC and len(inputs) == 3:
            contents[node] = contents.get(inputs[1], Map())
            if node in local:
                contents[node] = contents[node].set(node, _held(program, local[node], inputs[2]))
        elif callee is GETITEM and program.callee(pair := unpacked(program, inputs[1])) is ALLOC:
            contents[node] = contents.get(pair, Map())
        elif callee is STORE and len(inputs) == 4:
            contents[node] = contents.get(inputs[1], Map())
            if (cell := local.get(inputs[2])) is not None:
                contents[node] = contents[node].set(cell.alloc, _changed(program, contents[node], cell, inputs[2], inputs[3]))


def _held(program: Program, cell: Cell, value: NodeId) -> Structure:
    """What a cell holds when a value is stored in it whole."""
    made = structure_of(program, value) if cell.parts is not None else None
    return made or Structure((value,))


def _changed(program: Program, before: Map[NodeId, Structure], cell: Cell, pointer: NodeId, value: NodeId) -> Structure:
    """What a cell holds when a value is stored through a pointer to it, or to a part of it."""
    if program.callee(pointer) is not LEA:
        return _held(program, cell, value)
    elements, label = before[cell.alloc]
    place = program.constant(program.inputs(pointer)[2]) % len(elements)
    return Structure((*elements[:place], value, *elements[place + 1 :]), label)


def _chains(program: Program, order: list[NodeId]) -> dict[NodeId, NodeId]:
    """The tokens of a graph, each with the first token from which it comes by stores and allocs alone."""
    chains: dict[NodeId, NodeId] = {}
    for node in order:
        before = node
        if program.callee(node) is STORE and len(program.inputs(node)) == 4:
            before = program.inputs(node)[1]
        elif program.callee(node) is GETITEM and program.callee(pair := unpacked(program, program.inputs(node)[1])) is ALLOC:
            before = program.inputs(pair)[1]
        chains[node] = chains.get(before, before)
    return chains


def _pointers(program: Program, graph: GraphId, alloc: NodeId) -> dict[NodeId, None] | None:
    """The pair of an alloc, its pointer and what lea makes of that, if nothing else is done with them; else None."""
    kinds: dict[NodeId, str] = {alloc: "pair"}
    todo = [alloc]
    while todo:
        node = todo.pop()
        if program.returns.get(node):
            return None
        for user, index in program.users(node):
            kind = _use(program, user, index, kinds[node])
            if kind is None or program.owner(user) != graph:
                return None
            if kind and user not in kinds:
                kinds[user] = kind
                todo.append(user)
    return dict.fromkeys(n for n, kind in kinds.items() if kind != "token")


def _use(program: Program, user: NodeId, index: int, kind: str) -> str | None:
    """What a use of the pair, of the pointer, or of a pointer to a part makes of it; "" for nothing, None if it lets it escape."""
    callee, inputs = program.callee(user), program.inputs(user)
    if kind == "pair" and index == 1:
        if callee is OF_LENGTH:
            return "pair"
        place = program.constant(inputs[2]) if callee is GETITEM and len(inputs) == 3 else None
        return {0: "", 1: "pointer"}.get(place) if type(place) is int else None
    if kind in ("pointer", "part") and callee in (LOAD, STORE) and index == 2:
        return "" if len(inputs) == len(callee.signature) + 1 else None
    return "part" if kind == "pointer" and callee is LEA and index == 1 and len(inputs) == 3 else None


def _cell(program: Program, alloc: NodeId, pointers: dict[NodeId, None], chains: dict[NodeId, NodeId]) -> Cell | None:
    """The local cell with these pointers; None where lea goes into what is no tuple made in the graph."""
    uses = [(user, p) for p in pointers for user, _ in program.users(p) if program.callee(user) in (LOAD, STORE)]
    tokens = [program.inputs(alloc)[1], *(program.inputs(user)[1] for user, _ in uses)]
    known = len({chains.get(token, token) for token in tokens}) == 1
    indices = [program.constant(program.inputs(p)[2]) for p in pointers if program.callee(p) is LEA]
    if not indices:
        return Cell(alloc, None, known)
    whole = [program.inputs(u)[3] for u, p in uses if program.callee(u) is STORE and program.callee(p) is not LEA]
    size = _common_size(program, [program.inputs(alloc)[2], *whole])
    if size is None:
        return None
    return Cell(alloc, size, known and all(type(k) is int and -size <= k < size for k in indices))


def _common_size(program: Program, values: list[NodeId]) -> int | None:
    """How many elements each of these tuples is made of; None if they differ, or one is no tuple made here."""
    made = [structure_of(program, value) for value in values]
    sizes = {len(structure.elements) if structure is not None else None for structure in made}
    return sizes.pop() if len(sizes) == 1 else None


def structure_of(program: Program, node: NodeId) -> Structure | None:
    """What a tuple or record that is made at `node` is made of; None for other nodes."""
    inputs = program.inputs(node)
    if program.callee(node) is MAKE_TUPLE:
        return Structure(inputs[1:])
    label = program.constant(inputs[1]) if program.callee(node) is MAKE_RECORD and len(inputs) > 1 else None
    return Structure(inputs[2:], label) if isinstance(label, Label) else None
