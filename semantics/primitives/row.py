"""
A primitive is a row; each interpretation of primitives is a column (DESIGN, section 2).

The row states what is common to all interpretations: name, parameters, signature, domain, kinks (the set where it is not
differentiable) and cost. A column maps names to functions, or to a `Hole` with the reason why there is none. A user's
primitive carries its own cells in `columns`, keyed by the name of the column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from semantics.conditions import Condition
from semantics.errors import AdjudgeError, Crash, IllTyped, Location, OutOfFuel, takes

KINDS = ("real", "number", "integer", "boolean", "tuple", "any")


@dataclass(frozen=True, slots=True, eq=False)
class Primitive:
    """
    A row. A primitive is itself and no other: compared by identity; those of the table are found again by name.

    parameters  names, for messages and conditions; a last name "*" stands for any number of further arguments
    signature   one kind per parameter, and the kind of the result (see KINDS). "real" accepts an integer and reads it as a
                real; "number" is integer or real, and a "number" result is an integer if every "number" argument is one
    domain      where the primitive is defined over the reals; all conditions must hold
    kinks       where it is defined but not differentiable; any condition that holds puts the arguments on a kink
    cost        elementary operations, for the cheap-gradient bound
    """

    name: str
    parameters: tuple[str, ...]
    signature: tuple[str, ...]
    result: str
    domain: tuple[Condition, ...] = ()
    kinks: tuple[Condition, ...] = ()
    cost: int = 1
    columns: Mapping[str, Any] = field(default_factory=dict)
    location: Location | None = None

    def __repr__(self) -> str:
        return self.name

    def __copy__(self) -> Primitive:
        return self

    def __deepcopy__(self, memo: object) -> Primitive:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """One of the table is the table's in another process too; one of a user's own is taken as its parts."""
        from semantics.primitives.table import TABLE

        if TABLE.get(self.name) is self:
            return _of_the_table, (self.name,)
        return Primitive, tuple(getattr(self, f.name) for f in fields(self))

    def takes(self, count: int) -> bool:
        """Whether it can be applied to so many arguments."""
        least = len(self.parameters) - ("*" in self.parameters)
        return count == least or (count > least and "*" in self.parameters)

    def named(self, arguments: Iterable[Any]) -> dict[str, Any]:
        """The arguments by parameter name."""
        return dict(zip(self.parameters, arguments, strict=False))

    def in_domain(self, *arguments: Any) -> bool:
        """Whether the primitive is defined there over the reals."""
        return all(c.holds(self.named(arguments)) for c in self.domain)

    def on_kink(self, *arguments: Any) -> bool:
        """Whether the arguments lie on the declared non-smooth set."""
        return any(c.holds(self.named(arguments)) for c in self.kinks)


def misapplied(primitive: Primitive, given: int, error: TypeError | MemoryError) -> AdjudgeError:
    """What a cell says that Python could not run: the number of arguments is wrong, there is no memory, or we are."""
    if isinstance(error, MemoryError):
        return OutOfFuel(f"{primitive.name}: there is no memory for its result", rule=primitive.name, remedy="smaller arrays")
    if primitive.takes(given):
        return Crash(f"{primitive.name} failed: {error}", rule="primitive")
    return IllTyped(takes(primitive.name, len(primitive.signature), given), rule="primitive")


def _of_the_table(name: str) -> Primitive:
    from semantics.primitives.table import TABLE

    return TABLE[name]


@dataclass(frozen=True, slots=True)
class Hole:
    """A cell that is empty, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Column:
    """One interpretation of all primitives: `cells` by primitive name."""

    name: str
    cells: Mapping[str, Callable[..., Any] | Hole]

    def find(self, primitive: Primitive) -> Callable[..., Any] | Hole:
        """The cell of a primitive: its own if it has one, else the table's; a Hole if neither."""
        own = primitive.columns.get(self.name)
        if own is not None:
            return own  # type: ignore[no-any-return]
        return self.cells.get(primitive.name, Hole(f"{primitive.name} has no {self.name} column"))

    def __getitem__(self, primitive: Primitive) -> Callable[..., Any]:
        """The function in the cell; IllTyped with the reason if it is a hole."""
        cell = self.find(primitive)
        if isinstance(cell, Hole):
            raise IllTyped(
                f"{primitive.name} cannot be read in the column {self.name}: {cell.reason}",
                rule=self.name,
                node=primitive.name,
                location=primitive.location,
            )
        return cell


def row(name: str, parameters: str, signature: str, *, domain: str = "", kinks: str = "", cost: int = 1) -> Primitive:
    """A row from text: `row("div", "x y", "number number -> real", domain="y != 0")`. Conditions are separated by `;`."""
    arguments, _, result = signature.partition("->")
    return Primitive(
        name,
        tuple(parameters.split()),
        tuple(arguments.split()),
        result.strip(),
        tuple(Condition(c.strip()) for c in domain.split(";") if c.strip()),
        tuple(Condition(c.strip()) for c in kinks.split(";") if c.strip()),
        cost,
    )
