"""
Types of stacks: `stack k` is a stack that is not empty, whose cells are made at site k; what they hold is inferred beside it.

The cells of one site have one type, whatever the depth of the stack, so the recursion that pushes and that which pops come to an
end. An empty stack is the empty tuple: `stack k | tuple[]` is a stack. The sensitivity of a stack is one too, on top of ZERO:
`stack k | zero`.

An adjoint says ZERO for what no run will read: a condition, a stack, of a path that was not taken. DEMANDING are the arguments that
no run has as ZERO, so that type is left out there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from backend.recursion.family import Family
from semantics.columns.types import apply_type
from semantics.errors import IllTyped, Trap
from semantics.indexing import OUTSIDE
from semantics.infer import Inference, Inferrer
from semantics.ir import NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.signatures import Signature, both
from semantics.type_language import BOOLEAN, INTEGER, UNIT, ArrayType, TupleType
from semantics.type_lattice import NEVER, UNBOUND, ZERO_TYPE, Literal, Union, distribute, erase, is_below, join, members

EMPTY = TupleType(())
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
VARIANTS, MANY = 3, 100
NONE: Mapping[Any, Any] = {}
Cells = Mapping[NodeId, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class StackType:
    """
    A stack that is not empty, of cells made at `site`, on top of the empty tuple or of ZERO; or, on top of NEVER, a cell of the
    family of a site.
    """

    site: NodeId
    bottom: Any = EMPTY

    def __str__(self) -> str:
        return f"stack {self.site}" + " on zero" * (self.bottom == ZERO_TYPE)


def stack_of(type: Any) -> StackType | None:
    """The type without the empty stack, of a type of stacks; None for another type."""
    match type:
        case StackType():
            return type
        case Union((StackType(_, bottom) as stack, found)) | Union((found, StackType(_, bottom) as stack)) if found == bottom:
            return stack
        case _:
            return None


def site_of(type: Any) -> NodeId | None:
    """The site of a type of stacks, empty ones or not; None for another type."""
    found = stack_of(type)
    return found.site if found is not None else None


def perhaps_empty(stack: StackType) -> Any:
    """The type of every stack of a site."""
    return join(stack.bottom, stack)


def _perhaps_empty(t: Any, site: NodeId) -> Any:
    """The type of every stack of a site for that of some of them; other types as they are."""
    return perhaps_empty(StackType(site)) if t in (EMPTY, StackType(site)) else t


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


class StackInference(Inferrer):
    """
    Inference in which the tuples made at some applications are cells of a stack.

    below     these, and which argument is the stack below        cells    the types of what they hold, but for that
    families  those that are cells of a family (`backend.recursion.families`)
    holders   the nodes whose values are stacks of one site: there is no code of its own for a stack that is known to be empty
    readers   the signatures to be judged again when those grow    outdated  those of which that has happened since they were begun
    before    an inference of the program in which a graph may have one signature with ZERO and one without; here it has one
    partial   whether a row that None or ZERO is no argument of (ABSENT) may be given one: there the code gives up
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
    ) -> None:
        super().__init__(program, literals)
        self.partial = partial
        self.below, self.holders, self.families = below, holders, families
        self.cells: dict[NodeId, tuple[Any, ...]] = {}
        self.readers: dict[NodeId, dict[Signature, None]] = {
            site: {} for site in (*below, *families)
        }  # in the order in which they came
        self.wide = _joined(before) if before is not None else {}
        self.by_graph: dict[int, list[Signature]] = {}
        self.outdated: set[Signature] = set()

    def judge(self, signature: Signature) -> Any:
        """As ever, but what has made a cell grow that it read before is judged from the beginning the next time."""
        self.outdated.discard(signature)
        found = super().judge(signature)
        if signature in self.outdated:
            self.stopped.pop(signature, None)
        return found

    def widened(self, caller: Signature, wanted: Signature) -> Signature:
        """
        As ever, but ZERO in place of something else makes few signatures: at most VARIANTS for a graph, one in a program that has
        MANY already, and none where `before` found what else there is. With k values that may be ZERO there would be 2ᵏ.
        """
        wanted = self.perhaps_empty(wanted)
        if (wide := self.wide.get(wanted.graph)) is not None:
            wanted = both(_with_zero, wanted, wide)
        found = super().widened(caller, wanted)
        if found in self.results:
            return found
        others = self.by_graph.setdefault(found.graph, [])
        alike = [other for other in others if _alike(other, found)]
        if alike and (len(alike) >= VARIANTS or len(self.results) > MANY):
            for other in alike:
                found = both(join, found, other)
        if found not in self.results:
            others.append(found)
        return found

    def perhaps_empty(self, wanted: Signature) -> Signature:
        """The signature with `stack | tuple[]` for a stack that is known to be empty, or not to be: else there is code for each."""

        def types(nodes: Sequence[NodeId], found: Sequence[Any]) -> tuple[Any, ...]:
            pairs = zip(nodes, found, strict=True)
            return tuple(_perhaps_empty(t, self.holders[n]) if n in self.holders else t for n, t in pairs)

        captured = types(self.free[wanted.graph], wanted.captured)
        return Signature(wanted.graph, captured, types(self.program.graphs[wanted.graph].parameters, wanted.arguments))

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


def _alike(a: Signature, b: Signature) -> bool:
    """Whether two signatures differ only in what may be ZERO, unbound, an empty stack or another."""
    return all(map(_nearly, (*a.captured, *a.arguments), (*b.captured, *b.arguments)))


def _nearly(t: Any, u: Any) -> bool:
    if t == u or ZERO_TYPE in members(t) or ZERO_TYPE in members(u):
        return True
    return all(m in (EMPTY, UNBOUND) or isinstance(m, StackType) for m in {*members(t)} ^ {*members(u)})


def _joined(inference: Inference) -> dict[int, Signature]:
    """For every graph, its signatures as one."""
    found: dict[int, Signature] = {}
    for signature in inference.types:
        if signature.graph in found:
            signature = both(join, found[signature.graph], signature)
        found[signature.graph] = signature
    return found


def _with_zero(wanted: Any, wide: Any) -> Any:
    """The type `wide`, where that says of `wanted` only that it, or an element, may be ZERO, unbound or a stack; else `wanted`."""
    return wide if _near(erase(wanted), erase(wide)) and is_below(wanted, wide) else wanted


def _near(t: Any, u: Any) -> bool:
    """Whether two types, or those of the parts of two tuples, differ only so."""
    match t, u:
        case TupleType(some), TupleType(others) if len(some) == len(others):
            return all(map(_near, some, others))
        case _:
            return _nearly(_with_holes(t), _with_holes(u))


def _with_holes(t: Any) -> Any:
    """The type, where an array may have elements that are ZERO."""
    found: Any = NEVER
    for member in members(t):
        found = join(found, replace(member, holes=True) if isinstance(member, ArrayType) else member)
    return found
