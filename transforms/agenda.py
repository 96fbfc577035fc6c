"""
Agendas: what a transform has still to do, as a linked list (head, rest) or None, so that all states of a run share it.

Every item has a kind, and for every kind there is one rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Generic, NamedTuple, Self, TypeVar

from semantics.derivation import law_of
from semantics.ir import GraphId, NodeId, Program
from transforms.agenda_system import AgendaRule

I = TypeVar("I")  # noqa: E741


class Item(NamedTuple):
    """What is done next: a kind, the primal graph, and the primal node if there is one."""

    kind: str
    graph: GraphId
    node: NodeId = -1

    def at(self, program: Program) -> str:
        """Where that is."""
        return f"{self.kind} {program.describe(self.node) if self.node in program.nodes else '@' + program.graphs[self.graph].name}"


D = TypeVar("D")


def changed(state: D, **changes: Any) -> D:
    """
    The state with other values in some fields: what `dataclasses.replace` makes of a frozen dataclass without slots, whose fields
    are all that it has, in a tenth of the time.
    """
    new = object.__new__(type(state))
    fields = vars(new)
    fields.update(vars(state))
    count = len(fields)
    fields.update(changes)
    assert len(fields) == count, "a state has no such field"
    return new


@dataclass(frozen=True, kw_only=True)
class AtWork(Generic[I]):
    """A state with an agenda."""

    agenda: Any

    @property
    def ended(self) -> bool:
        return self.agenda is None

    @property
    def item(self) -> I:
        """What is done next."""
        return self.agenda[0]  # type: ignore[no-any-return]

    def then(self, **changes: Any) -> Self:
        """The state after the current item."""
        return changed(self, agenda=self.agenda[1], **changes)


S = TypeVar("S", bound=AtWork[Any])


def rule_of(*kinds: str) -> Callable[[Callable[[S], S]], AgendaRule[S]]:
    """Makes a function the rule for items of these kinds; its docstring is its law."""

    def make(function: Callable[[S], S]) -> AgendaRule[S]:
        @wraps(function)
        def applied(state: S) -> S | None:
            return function(state) if state.item.kind in kinds else None

        return AgendaRule(function.__name__, law_of(function), applied)

    return make


def in_turn(items: Iterable[Any], agenda: Any = None) -> Any:
    """The items as an agenda, before those of another."""
    for item in reversed(tuple(items)):
        agenda = item, agenda
    return agenda


def linked(cell: Any) -> list[Any]:
    """The items of a linked list, the newest first."""
    found: list[Any] = []
    while cell is not None:
        found.append(cell[0])
        cell = cell[1]
    return found
