"""
Stacks in generated code: an array for the cells of each site, a number for how many there are, and a status when they do not fit.

    s = ()           top, base = s_k - 1, s_k          (a, …, s)      cell s_k is written; top = s_k; s_k grows by one
    len(s) > 0       top >= base                       s[0], s[1]     what cell `top` holds; top - 1, base

Cells are only ever added. So a stack may be shared and read again, and stacks of one site, one after the other, lie side by side.
A cell on top of another is the next one, unless two stacks grow in turn: then the status is LINKED, and the host takes code in
which each cell has the number of the one below (`linked`). When an array is full the status says which, and the host gives it more.

All sites share two views of one piece of memory, as reals and as integers. Which scalar of a cell has which place is decided when
all code is there (`backend.stacks.layout`); until then a place is written ⟦site:cell:scalar⟧.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from backend.arrays.values import Sizes
from backend.lowering.conversion import as_choice, convert, select
from backend.lowering.emit import Emitter, stored
from backend.lowering.shape import Items, Nothing, Reg, Stack, Sum, literal, make, scalars, typed
from backend.recursion.cells import alone, length, make_cell, moved, nothing_of, read_cell
from backend.recursion.family import Family
from backend.stacks.arrays import HEAP, holds_arrays, load_array, save_array, sizes_in, with_sizes
from backend.stacks.cell_types import DEMANDING, INDEXED, result_type
from backend.stacks.memory import MEMORY
from backend.stacks.stack_types import StackType, perhaps_empty, stack_of
from backend.status import FULL_ARRAYS, INDEX, LINKED, STUCK
from semantics.errors import Malformed
from semantics.ir import NodeId
from semantics.primitives.row import Primitive
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, RecordType, TupleType
from semantics.type_lattice import NEVER, UNBOUND, ZERO_TYPE, Union, erase, members

LINK = "link"
WHOLE_STACKS = frozenset({"make_tuple", "make_record", "switch", "where", "J"})


@dataclass(frozen=True)
class Sites:
    """
    The sites of a program: which field of a cell is the stack below, and the types of all fields.

    linked    each cell has the number of the one below
    families  by site, the family of its cells (`backend.recursion.families`)
    """

    below: Mapping[NodeId, int] = field(default_factory=dict)
    cells: Mapping[NodeId, tuple[Any, ...]] = field(default_factory=dict)
    linked: bool = False
    families: Mapping[NodeId, Family] = field(default_factory=dict)

    def __contains__(self, node: NodeId) -> bool:
        return node in self.below or node in self.families

    @property
    def arenas(self) -> tuple[NodeId, ...]:
        """The sites, and the families by their first: what has memory of its own."""
        return *self.below, *dict.fromkeys(family.first for family in self.families.values())


NO_SITES = Sites()


class Stacks(Emitter):
    """Code that pushes and reads. `hidden` is what every function takes beside its arguments and `state`."""

    def __init__(self, sites: Sites) -> None:
        super().__init__()
        self.sites = sites
        self.hidden = (*MEMORY, "one") if sites.arenas else ("one",)
        self.tested: list[Any] = []

    def counters(self) -> dict[str, str]:
        """For every site, how many cells it has; where the next array of a cell begins. With what they are at first."""
        placed = {family.first for family in self.sites.families.values() if family.places}
        found = {f"s{site}": "0" for site in self.sites.arenas if site not in placed}
        return found | {HEAP: "⟦heap⟧"} if holds_arrays(self.sites.cells) else found

    def primitive(self, primitive: Primitive, arguments: list[Any]) -> Any:
        """As ever; what reads a stack, here."""
        for at in DEMANDING.get(primitive.name, ()):
            found = self.demanded(arguments[at])
            if primitive.name in INDEXED and isinstance(found, Items):
                parts = [self.demanded(part) for part in found.items]
                found = None if any(part is None for part in parts) else replace(found, items=tuple(parts))
            if found is None:
                return None
            arguments = [*arguments[:at], found, *arguments[at + 1 :]]
        if primitive.name not in WHOLE_STACKS:
            arguments = [or_zero(a) for a in arguments]
        match primitive.name, arguments:
            case "result", [found]:
                return found
            case (("after" | "answered" | "same_call"), [Stack(), Stack()]):
                return moved(self, primitive, *arguments)
            case "alone", [a, _, i] if not isinstance(a, Sum):
                return alone(self, a, i)
            case "nothing_of", [x] if not isinstance(x, Sum):
                return nothing_of(self, x)
            case "length", [Stack() as stack] if self.site(stack) in self.sites.families:
                return length(self.sites.families[self.site(stack)])
            case "length", [Stack(_, top, base) as stack]:
                size = len(self.cells_of(self.site(stack)))
                if isinstance(stack.type, StackType):
                    return literal(size)
                return self.settled(Reg(f"({size} if {top} >= {base} else 0)", INTEGER))
            case "getitem", [Stack() as stack, Reg(_, _, int() as index)] if self.site(stack) in self.sites.families:
                return read_cell(self, self.sites.families[self.site(stack)], stack, index)
            case "getitem", [Stack() as stack, Reg(_, _, int() as index)]:
                return self.read(stack, index)
            case ("gadd", [Nothing(), _] | [_, Nothing()]) | ("inject", [Items(), *_]):
                return super().primitive(primitive, arguments)
            case name, _ if name not in WHOLE_STACKS and any(isinstance(a, Stack) for a in arguments):
                raise Malformed(f"{name} of a stack is not compiled yet", rule="lower", remedy='run it with target="reference"')
            case _:
                return super().primitive(primitive, arguments)

    def result_type(self, primitive: Primitive, types: list[Any]) -> Any:
        return erase(result_type(self.sites.cells, self.sites.below, primitive, types))

    def demanded(self, value: Any, absent: Any = ZERO_TYPE) -> Any:
        """A value that is not ZERO, or not of another type without values: a trap where it is."""
        if isinstance(value, Nothing) and value.type == absent:
            self.trap("True", STUCK)
            return None
        if not isinstance(value, Sum) or absent not in value.type.members:
            return value
        options = dict(zip(value.type.members, zip(value.tests, value.options, strict=True), strict=True))
        self.trap(options.pop(absent)[0], STUCK)
        (_, found), *others = options.values()
        for test, option in others:
            found = select(test, option, found)
        return self.settled(found)

    def demanded_of(self, value: Any, type: Any) -> Any:
        """A value of which no part is ZERO, or unbound, where the type does not have it there: a trap where it is."""
        for absent in (ZERO_TYPE, UNBOUND):
            value = value if absent in members(type) else self.demanded(value, absent)
        if isinstance(value, Items) and isinstance(type, (TupleType, RecordType)):
            parts = [self.demanded_of(part, of) for part, of in zip(value.items, type.items, strict=True)]
            return None if any(part is None for part in parts) else replace(value, items=tuple(parts))
        return value

    def stack(self, value: Stack) -> StackType:
        stack = stack_of(value.type)
        assert stack is not None, "a stack has the type of one"
        return stack

    def site(self, value: Stack) -> NodeId:
        return self.stack(value).site

    def cells_of(self, site: NodeId) -> tuple[Any, ...]:
        """The types of what cells hold; of a place that no run comes to, nothing."""
        return self.sites.cells.get(site, ())

    def push(self, site: NodeId, arguments: list[Any], call: Any = None) -> Any:
        """A cell more, of a call that it belongs to if there is one. Nothing reads a cell that has not been written."""
        if site in self.sites.families:
            return make_cell(self, self.sites.families[site], site, arguments, call)
        below = arguments[self.sites.below[site]]
        stack = StackType(site, below.type) if isinstance(below, Nothing) else stack_of(typed(below)) or StackType(site)
        below = convert(below, perhaps_empty(stack))
        count = f"s{site}"
        self.fail(f"{count} >= ⟦{site}⟧", f"⟦{site}?⟧")
        top, base = self.variable(INTEGER), self.variable(INTEGER)
        self.line(f"({top}, {base}) = ({below.top}, {below.base})")
        if self.sites.linked:
            self.save(site, count, LINK, Reg(top, INTEGER), INTEGER)
        else:
            self.trap(f"{top} != {count} - 1", LINKED)
        found = self.scalars_of(site, arguments)
        for place, (scalar, type) in enumerate(found):
            self.save(site, count, str(place), scalar, type)
        if any(isinstance(type, ArrayType) for _, type in found):
            self.trap(f"{HEAP} > ⟦{site}!⟧", FULL_ARRAYS)
        self.line(f"{top} = {count}")
        self.line(f"{count} = {count} + 1")
        return Stack(stack, top, base)

    def scalars_of(self, site: NodeId, arguments: list[Any]) -> list[tuple[Reg, Any]]:
        """The scalars of a cell and the types that they have there, in order; the stack below has none."""
        found: list[tuple[Reg, Any]] = []
        for type, argument in zip(self.sites.cells[site], arguments, strict=True):
            if type != NEVER:
                target = make(type, lambda _: "_")
                value = self.contiguous(convert(self.contiguous(argument), type))
                self.shapes |= sizes_in(value)
                given = stored(value, target)
                found += zip(given, (r.type for r in scalars(target)), strict=True)
        return found

    def save(self, site: NodeId, cell: str, place: str, scalar: Reg, type: Any) -> None:
        if isinstance(type, ArrayType):
            return save_array(self, site, cell, place, scalar.text, type)
        memory = "reals" if scalar.type == REAL else "integers"
        text = f"int({scalar.text})" if scalar.type == BOOLEAN else scalar.text
        self.line(f"{memory}[⟦{site}:{cell}:{place}⟧] = {text}")

    def load(self, site: NodeId, cell: str, place: str, type: Any, views: dict[str, Sizes]) -> str:
        """A variable with what a place of a cell holds; of a view, the sizes as well."""
        if isinstance(type, ArrayType):
            return load_array(self, site, cell, place, type, views)
        name, at = self.variable(type), f"⟦{site}:{cell}:{place}⟧"
        text = {REAL: f"float(reals[{at}])", INTEGER: f"int(integers[{at}])", BOOLEAN: f"(integers[{at}] != 0)"}[type]
        self.line(f"{name} = {text}")
        return name

    def read(self, stack: Stack, index: int) -> Any:
        """A field of the cell on top, or the stack below it; a trap if there is none."""
        site = self.site(stack)
        types = self.cells_of(site)
        if not 0 <= index < len(types):
            self.trap("True", INDEX)
            return None
        if stack.type != (whole := self.stack(stack)):
            self.trap(f"{stack.top} < {stack.base}", INDEX)
        if index == self.sites.below[site]:
            top = self.variable(INTEGER)
            under = self.load(site, stack.top, LINK, INTEGER, {}) if self.sites.linked else f"{stack.top} - 1"
            self.line(f"{top} = {under}")
            return Stack(perhaps_empty(whole), top, stack.base)
        first = sum(1 for t in types[:index] if t != NEVER for _ in scalars(make(t, lambda _: "_")))
        places = iter(range(first, first + 1_000_000))
        views: dict[str, Sizes] = {}
        value = make(types[index], lambda type: self.load(site, stack.top, str(next(places)), type, views))
        return with_sizes(value, views)


def or_zero(value: Any) -> Any:
    """The sensitivity of a stack as a choice, where it may be ZERO."""
    if isinstance(value, Stack) and isinstance(value.type, Union) and ZERO_TYPE in value.type.members:
        return as_choice(value)
    return value
