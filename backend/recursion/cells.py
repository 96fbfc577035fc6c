"""
Cells of families in generated code (`backend.recursion.families`): a cell is written once, and a value is its number.

    made     cell s_f is written: its kind, if something asks for it, and its fields; s_f grows by one
    read     the field of the cell of this number; a trap where its tuple is shorter; where it says nothing there, the status is
             LINKED, and the host takes code in which all kinds have what they hold

Of a queue of calls a cell is a call and its answer, which is written later; links and what the answer is to have no place: the call
before is the number before. A cell that each call leaves one of has the number of its call (`Family.places`): it is found
without having been written down in the answer, and what the call was passed, and the cell holds too, is read from the queue. As a
call is answered once, no number is taken twice, and room is tested for as it is for any other cell.

A frame is always taken off the end: its link, the cell before, has no place, and reading that sets s_f back. So frames lie where
others were, and where threads share arrays and with them this memory, they meet first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backend.arrays.attributes import as_operand
from backend.arrays.indices import selection
from backend.arrays.neutral import NEUTRAL
from backend.arrays.values import ARRAYS, Sizes, place
from backend.lowering.conversion import convert
from backend.lowering.emit import stored
from backend.lowering.shape import ROOT, ZERO_VALUE, Reg, Stack, literal, make, scalars
from backend.recursion.calls import AFTER, ANSWER, IS, PLACE, RESULT_OF
from backend.recursion.family import Family
from backend.stacks.arrays import HEAP, with_sizes
from backend.stacks.stack_types import StackType
from backend.status import FULL_ARRAYS, INDEX, LINKED, STUCK
from semantics.errors import Malformed
from semantics.ir import NodeId
from semantics.primitives.row import Primitive
from semantics.type_language import BOOLEAN, INTEGER, ArrayType, TupleType
from semantics.type_lattice import NEVER

KIND = "kind"
MEETING = "_meet()"
"""What the threads of a block do before one of them writes where another frame was: all have read that then."""


def make_cell(emit: Any, family: Family, site: NodeId, arguments: list[Any], call: Stack | None = None) -> Stack:
    """The number of a new cell of the kind of a site, which is that of its call where the family has no numbers of its own."""
    first, kind = family.first, family.sites.index(site)
    answers = emit.program.callee(site) is ANSWER
    count = arguments[PLACE].top if answers else f"s{first}" if call is None else call.top
    if not answers:
        emit.fail(f"{count} >= ⟦{first}⟧", f"⟦{first}?⟧")
    if family.frames:
        emit.line(MEETING)
    if family.tells_kinds:
        emit.save(first, count, KIND, literal(kind), INTEGER)
    types = emit.sites.cells[first]
    places = _places(family, types)
    for k, argument in enumerate(arguments):
        if (place := places[k]) is not None and types[k] != NEVER and kind not in family.absent.get(k, ()):
            target = make(types[k], lambda _: "_")
            given = stored(emit.contiguous(convert(argument, types[k])), target)
            if answers and any(isinstance(into.type, ArrayType) for into in scalars(target)):
                raise Malformed("arrays in the answers of calls would all be kept", rule="lower/levels")
            for at, (scalar, into) in enumerate(zip(given, scalars(target), strict=True), place):
                emit.save(first, count, str(at), scalar, into.type)
    if any(isinstance(r.type, ArrayType) for t in types if t != NEVER for r in scalars(make(t, lambda _: "_"))):
        emit.trap(f"{HEAP} > ⟦{first}!⟧", FULL_ARRAYS)
    top = emit.variable(INTEGER)
    emit.line(f"{top} = {count}")
    if not answers and call is None:
        emit.line(f"{count} = {count} + 1")
    return Stack(StackType(first, NEVER), top, ROOT)


def read_cell(emit: Any, family: Family, cell: Stack, index: int) -> Any:
    """A field of a cell."""
    first, types = family.first, emit.sites.cells[family.first]
    if not 0 <= index < len(types):
        emit.trap("True", INDEX)
        return None
    if family.known and index in family.links:
        below = emit.variable(INTEGER)
        if family.frames:
            emit.line(f"s{first} = {cell.top}")
        emit.line(f"{below} = {cell.top} - 1")
        return Stack(StackType(first, NEVER), below, ROOT)
    if not family.known and (kinds := family.absent.get(index)):
        short = frozenset(k for k in kinds if index >= family.sizes[k])
        for status, of in ((INDEX, short), (LINKED, kinds - short)):
            if of:
                _refuse(emit, first, cell.top, of, status)
    if (saying := family.said.get(index)) and types[index] == BOOLEAN:
        name, kind = emit.variable(BOOLEAN), _kind(emit, first, cell.top)
        emit.line(f"{name} = {' or '.join(f'{kind} == {k}' for k in sorted(saying))}")
        return Reg(name, BOOLEAN)
    if (argument := family.given.get(index)) is not None and emit.sites.cells[family.queue][argument] == types[index]:
        family = emit.sites.families[family.queue]
        first, types, index = family.first, emit.sites.cells[family.first], argument
    place = _places(family, types)[index]
    if place is None:
        emit.trap("True", STUCK)
        return None
    count, views = [place], dict[str, Sizes]()
    placed = _before_placed(family, types, index)

    def load(type: Any) -> str:
        count[0] += 1
        if count[0] - 1 == placed:
            return str(cell.top)
        return str(emit.load(first, cell.top, str(count[0] - 1), type, views))

    return with_sizes(make(types[index], load), views)


def _kind(emit: Any, first: NodeId, cell: str) -> str:
    """The kind of a cell."""
    return str(emit.load(first, cell, KIND, INTEGER, {}))


def _refuse(emit: Any, first: NodeId, cell: str, kinds: frozenset[int], status: int) -> None:
    """A trap where a cell is of some kinds; once in a straight line, since a cell stays what it is."""
    if not any(code is emit.code and said == (cell, kinds) for code, said in emit.tested):
        emit.tested.append((emit.code, (cell, kinds)))
        kind = _kind(emit, first, cell)
        emit.trap(" or ".join(f"{kind} == {k}" for k in sorted(kinds)), status)


def _before_placed(family: Family, types: tuple[Any, ...], index: int) -> int | None:
    """The place of the scalar that is the number of a call, in the field that is its result; None where there is none."""
    match types[index]:
        case TupleType(items) if family.placed is not None and index == RESULT_OF:
            if isinstance(held := items[family.placed], StackType) and held.bottom == NEVER:
                before = sum(1 for t in items[: family.placed] for _ in scalars(make(t, lambda _: "_")))
                return (_places(family, types)[index] or 0) + before
    return None


def _places(family: Family, types: tuple[Any, ...]) -> list[int | None]:
    """Of every field the place of its first scalar; none for what is not written."""
    found: list[int | None] = []
    place = 0
    for k, type in enumerate(types):
        written = type != NEVER and not (family.known and k in family.links)
        found.append(place if written else None)
        place += sum(1 for _ in scalars(make(type, lambda _: "_"))) if written else 0
    return found


def moved(emit: Any, primitive: Primitive, a: Stack, b: Stack) -> Stack | Reg:
    """The call after another, the answer to one, or whether two calls are one (`backend.recursion.calls`)."""
    if primitive is IS:
        return Reg(f"({a.top} == {b.top})", BOOLEAN)
    top = emit.variable(INTEGER)
    emit.line(f"{top} = {b.top}" + " + 1" * (primitive is AFTER))
    return replace(a, top=top)


def length(family: Family) -> Reg:
    """The number of fields of a cell; Malformed where that is another for another kind."""
    if len(set(family.sizes)) > 1:
        raise Malformed("the length of one of several tuples is not compiled yet", rule="lower", remedy="use the virtual machine")
    return literal(family.sizes[0])


def alone(emit: Any, a: Any, index: Any) -> Any:
    """A sensitivity; the status is LINKED unless it is ZERO where an index points (`backend.recursion.sums`)."""
    if isinstance(a, ARRAYS):
        a = emit.held(as_operand(emit, a))
        chosen = selection(emit, a.sizes, index)
        emit.trap(f"{a.mask}[{place(chosen.source(emit, ()))}]" if chosen.element and a.mask else "True", LINKED)
    return a


def nothing_of(emit: Any, x: Any) -> Any:
    """The sensitivity of x of which every element is ZERO, in memory."""
    return emit.new(x.dtype, x.sizes, NEUTRAL, "False") if isinstance(x, ARRAYS) else ZERO_VALUE
