"""
Inference with stacks: what the cells of `stack k` hold is inferred beside it.

The cells of one site have one type, whatever the depth of the stack, so the recursion that pushes and that which pops come to an
end.

An adjoint says ZERO for what no run will read: a condition, a stack, of a path that was not taken. DEMANDING are the arguments that
no run has as ZERO, so that type is left out there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial, reduce
from typing import Any

from backend.lowering.shape import unknown
from backend.recursion.family import Family
from backend.stacks.near_types import MANY, Near, joined_by_graph, unsized, widest, with_zero
from backend.stacks.stack_types import EMPTY, StackType, every_stack, perhaps_empty, stack_of
from semantics.columns.types import apply_type
from semantics.errors import IllTyped, Malformed, Trap
from semantics.indexing import OUTSIDE
from semantics.infer import Inference, Inferrer
from semantics.ir import NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.signatures import Signature, both
from semantics.type_language import BOOLEAN, INTEGER, UNIT, ArrayType, SequenceType, TupleType
from semantics.type_lattice import NEVER, ZERO_TYPE, Literal, Union, distribute, erase, join, members, parts
from semantics.type_memo import once

INDEXED = ("getitem", "put", "inject", "final", "scatter_add", "take")
"""Of these the second argument is an index, of which no part is ZERO either."""
DEMANDING = {
    "switch": (0,),
    "where": (0,),
    "length": (0,),
    "seed": (0,),
    "instantiate": (1,),
    "not_": (0,),
    "and_": (0, 1),
    "or_": (0, 1),
    "result": (0,),
    **dict.fromkeys(INDEXED, (1,)),
}
POWER, NATURAL = TABLE["pow"], (INTEGER, INTEGER)
"""Of these types a power is taken for an integer, which it is unless the exponent is negative: then the code gives up."""
ABSENT, NO_RESULTS = (UNIT, ZERO_TYPE), (INTEGER, BOOLEAN)
"""What says that there is no value, as `best = None` before a loop; and what has no gradient, as `sum` of nothing, which is 0."""
RANK = "lower/rank"
"""Why a program is refused in which an array may have one rank or another, where these are to be known."""
NONE: Mapping[Any, Any] = {}
Cells = Mapping[NodeId, tuple[Any, ...]]


def result_type(cells: Cells, below: Mapping[NodeId, int], primitive: Primitive, arguments: Sequence[Any]) -> Any:
    """
    The type of the value of a primitive. Reading the top of a stack gives what cells hold; that of an empty one, nothing.

    A cell has one type for all runs, so that of several types some go together in no run: those give nothing.
    """
    if primitive.name in ("getitem", "length") and any(isinstance(m, StackType) for m in members(arguments[0])):
        result: Any = NEVER
        for member in members(arguments[0]):
            if isinstance(member, StackType):
                result = join(result, _read(cells, below, primitive, member, arguments[1:]))
            else:
                with suppress(Trap):
                    result = join(result, result_type(cells, below, primitive, [member, *arguments[1:]]))
        return result
    given = [
        without_zero(t, primitive.name in INDEXED) if i in DEMANDING.get(primitive.name, ()) else t for i, t in enumerate(arguments)
    ]
    if NEVER in given:
        return NEVER
    try:
        return apply_type(primitive, given)
    except IllTyped:
        if all(len(members(t)) < 2 for t in given):
            raise
        return distribute(lambda *case: apply_type(primitive, case), given, (IllTyped, Trap))


def _read(cells: Cells, below: Mapping[NodeId, int], primitive: Primitive, stack: StackType, rest: Sequence[Any]) -> Any:
    """The number of fields, or the type of one."""
    found = cells.get(stack.site)
    if found is None:
        return NEVER
    if primitive.name == "length":
        return Literal(INTEGER, len(found))
    index = rest[0]
    if not isinstance(index, Literal) or index.type != INTEGER or not 0 <= index.value < len(found):
        raise IllTyped(f"{index} as the index of a stack", rule="lower", remedy="run it on the reference machine")
    return perhaps_empty(stack) if index.value == below.get(stack.site) else found[index.value]


def joined(types: Iterable[Any]) -> Any:
    """The join of some types."""
    return reduce(join, types, NEVER)


def without_zero(t: Any, parts: bool = False) -> Any:
    """The type but for ZERO, that of the parts of a tuple too if wanted."""
    result: Any = NEVER
    for member in members(t):
        if parts and isinstance(member, TupleType):
            items = tuple(without_zero(item) for item in member.items)
            result = result if NEVER in items else join(result, TupleType(items))
        elif member != ZERO_TYPE:
            result = join(result, member)
    return result


def has_ranks(t: Any) -> bool:
    """Whether a value may be an array of one rank or of another."""
    return isinstance(t, Union) and len({len(m.dims) for m in t.members if isinstance(m, ArrayType)}) > 1


@once
def sequence_in(t: Any) -> SequenceType | None:
    """A type of sequences of unknown length that is part of a type, if there is one."""
    if isinstance(t, SequenceType):
        return t
    return next((found for part in parts(t) if (found := sequence_in(part)) is not None), None)


class StackInference(Inferrer):
    """
    Inference in which the tuples made at some applications are cells of a stack.

    below     these, and which argument is the stack below        cells    the types of what they hold, but for that
    families  those that are cells of a family (`backend.recursion.families`)
    holders   the nodes whose values are stacks of one site: there is no code of its own for a stack that is known to be empty
    readers   the signatures to be judged again when those grow    outdated  those of which that has happened since they were begun
    before    an inference of the program in which a graph may have one signature with ZERO and one without; here it has one. If
              there were MANY, it has one for all sizes
    partial   whether a row that None or ZERO is no argument of (ABSENT) may be given one: there the code gives up
    ranked    whether it ends, Malformed, as soon as an array may have one rank or another
    """

    def __init__(
        self,
        program: Program,
        literals: bool,
        below: Mapping[NodeId, int],
        holders: Mapping[NodeId, NodeId] = NONE,
        families: Mapping[NodeId, Family] = NONE,
        before: Inference | None = None,
        *,
        partial: bool = False,
        ranked: bool = False,
    ) -> None:
        super().__init__(program, literals)
        self.partial, self.ranked = partial, ranked
        self.below, self.holders, self.families = below, holders, families
        self.cells: dict[NodeId, tuple[Any, ...]] = {}
        self.readers: dict[NodeId, dict[Signature, None]] = {
            site: {} for site in (*below, *families)
        }  # in the order in which they came
        self.wide = joined_by_graph(before) if before is not None else {}
        self.forgotten = unsized if before is not None and len(before.types) > MANY else erase
        self.by_graph: dict[int, list[Near]] = {}
        self.outdated: set[Signature] = set()

    def judge(self, signature: Signature) -> Any:
        """As ever, but what has made a cell grow that it read before is judged from the beginning the next time."""
        self.outdated.discard(signature)
        found = super().judge(signature)
        if signature in self.outdated:
            self.stopped.pop(signature, None)
        if self.ranked and any(map(has_ranks, self.types[signature].values())):
            raise Malformed("an array that may have one rank or another", rule=RANK, remedy="run it on the reference machine")
        return found

    def widened(self, caller: Signature, wanted: Signature) -> Signature:
        """
        As ever, but ZERO in place of something else makes few signatures: at most VARIANTS for a graph, one in a program that has
        MANY already, and none where `before` found what else there is; so do sizes (`backend.stacks.near_types`).
        """
        wanted = self.perhaps_empty(wanted)
        if (wide := self.wide.get(wanted.graph)) is not None:
            wanted = both(partial(with_zero, forgotten=self.forgotten), wanted, wide)
        found = super().widened(caller, wanted)
        if found in self.results:
            return found
        others = self.by_graph.setdefault(found.graph, [])
        found = widest(found, others, len(self.results) > MANY)
        if found not in self.results:
            others.append(Near(found))
        return found

    def perhaps_empty(self, wanted: Signature) -> Signature:
        """The signature with `stack | tuple[]` for a stack that is known to be empty, or not to be: else there is code for each."""

        def types(nodes: Sequence[NodeId], found: Sequence[Any]) -> tuple[Any, ...]:
            pairs = zip(nodes, found, strict=True)
            return tuple(every_stack(t, self.holders[n]) if n in self.holders else t for n, t in pairs)

        captured = types(self.free[wanted.graph], wanted.captured)
        return Signature(wanted.graph, captured, types(self.program.graphs[wanted.graph].parameters, wanted.arguments))

    def nested(self, signature: Signature) -> None:
        """
        As ever; and Malformed for a sequence of unknown length that a call is passed, which has no code: of lists with elements of
        two kinds there may be 2ᵏ types of k elements before.
        """
        super().nested(signature)
        for t in (*signature.captured, *signature.arguments):
            if (found := sequence_in(t)) is not None:
                raise unknown(erase(found))

    def primitive(self, caller: Signature, node: NodeId, primitive: Primitive, arguments: Sequence[Any]) -> Any:
        """As ever, but for what makes a cell, and what reads one; and what the code gives up at."""
        if node in self.below:
            return self.pushed(node, list(arguments))
        if node in self.families:
            return self.celled(self.families[node], node, arguments)
        if primitive is POWER and tuple(map(erase, arguments)) == NATURAL and not isinstance(arguments[1], Literal):
            return INTEGER
        try:
            return self.of_row(caller, node, primitive, arguments)
        except IllTyped as error:
            absent = (*ABSENT, *NO_RESULTS) if primitive.name == "seed" else ABSENT
            if not self.partial or not any(m in absent for t in arguments for m in members(erase(t))):
                raise
            given = [joined(m for m in members(t) if erase(m) not in absent) for t in arguments]
            if NEVER not in given:
                return self.of_row(caller, node, primitive, given)
            self.traps[caller][node] = Trap(error.what, rule=OUTSIDE, remedy=error.remedy)
            return NEVER

    def of_row(self, caller: Signature, node: NodeId, primitive: Primitive, arguments: Sequence[Any]) -> Any:
        """The type of the value of a primitive, which may read a cell."""
        stacks = [m for m in members(arguments[0]) if isinstance(m, StackType)] if arguments else []
        if not stacks and primitive.name not in DEMANDING:
            return super().primitive(caller, node, primitive, arguments)
        for stack in stacks:
            self.readers[stack.site][caller] = None
        try:
            return result_type(self.cells, self.below, primitive, arguments)
        except Trap as trap:
            self.traps[caller][node] = trap
            return NEVER

    def pushed(self, site: NodeId, arguments: list[Any]) -> Any:
        """A cell more."""
        below = arguments[self.below[site]]
        stack = StackType(site, below) if below in (EMPTY, ZERO_TYPE) else stack_of(below)
        if stack is None or stack.site != site:
            raise IllTyped(f"{below} below the top of a stack", rule="lower", remedy="run it on the reference machine")
        arguments[self.below[site]] = NEVER
        self.grow(site, arguments)
        return stack

    def celled(self, family: Family, site: NodeId, arguments: Sequence[Any]) -> Any:
        """A cell of a family. What its kind has not, the others have."""
        cell, kind = StackType(family.first, NEVER), family.sites.index(site)
        given = [*arguments, *(NEVER for _ in range(max(family.sizes) - len(arguments)))]
        found = [NEVER if kind in family.absent.get(k, ()) else t for k, t in enumerate(given)]
        self.grow(family.first, found)
        return cell

    def grow(self, site: NodeId, arguments: Sequence[Any]) -> None:
        """What the cells of a site hold; those who read them are told if it is something new."""
        held = self.cells.get(site, (NEVER,) * len(arguments))
        grown = tuple(map(join, held, arguments))
        if grown != held or site not in self.cells:
            self.cells[site] = grown
            for reader in self.readers[site]:
                self.stopped.pop(reader, None)
                self.outdated.add(reader)
                self.queue(reader)
