"""
Systems whose state says what comes next: exactly one rule is enabled until it is final. Their states have agendas
(`transforms.agenda`); systems that look for a place to rewrite are in `transforms.system`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from semantics.collector import at_rest
from semantics.derivation import Derivation, Step, derive, law_of
from semantics.errors import AdjudgeError, Crash, OutOfFuel
from transforms.system import FUEL

S = TypeVar("S")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class AgendaRule(Generic[S]):
    """A rule of an AgendaSystem: from a state to the next one, or None where it does not apply."""

    name: str
    law: str
    function: Callable[[S], S | None]


def agenda_rule(function: Callable[[S], S | None]) -> AgendaRule[S]:
    """Makes a function a rule; its docstring is its law."""
    return AgendaRule(function.__name__, law_of(function), function)


@dataclass(frozen=True)
class AgendaSystem(Generic[S, R]):
    """
    A deterministic transform. `ended(state)` says when it is over, `at(state)` names the place of the next step,
    `shown(state)` prints a state, `result(state)` takes the program (R) out of a final one. `kind(state)`, if there is one, is what
    most rules look at first: where they are many, those that have applied to a state of this kind before are tried first.
    """

    name: str
    rules: tuple[AgendaRule[S], ...]
    ended: Callable[[S], bool]
    at: Callable[[S], str]
    shown: Callable[[S], str]
    result: Callable[[S], R]
    doc: str = ""
    argument: str = ""
    domain: str = "BITS"
    input: str = "IR"
    output: str = "IR"
    kind: Callable[[S], Hashable] | None = None

    def enabled(self, state: S) -> list[Step[S]]:
        """The one step that the rules allow, or none in a final state; two enabled rules are an error, naming both."""
        if self.ended(state):
            return []
        found = [(r, after) for r in self.rules if (after := r.function(state)) is not None]
        if len(found) > 1:
            raise Crash(f"{self.name}: two rules are enabled at once: {', '.join(r.name for r, _ in found)}", node=self.at(state))
        return [Step(r.name, self.at(state), state, after) for r, after in found]

    def final(self, state: S) -> bool:
        return self.ended(state)

    def render(self, state: S) -> str:
        return self.shown(state)

    def derive(self, state: S, *, fuel: int = FUEL) -> Derivation[S]:
        """The recorded run."""
        return derive(self, state, fuel=fuel)

    @at_rest()
    def run(self, state: S, *, fuel: int = FUEL) -> R:
        """The unrecorded run: the same rules, the one that applies, no record."""
        steps = 0
        while not self.ended(state):
            after = self._after(state)
            if after is None:
                raise Crash(f"{self.name} is stuck", node=self.at(state))
            state = after
            steps += 1
            if steps > fuel:
                raise OutOfFuel(f"{self.name} did not end within {fuel} steps", remedy="raise fuel")
        return self.result(state)

    def _after(self, state: S) -> S | None:
        """The next state. No two rules are enabled at once, so their order decides nothing but what is said of a wrong program."""
        likely: list[Callable[[S], S | None]] = []
        if self.kind is not None:
            likely = self._likely.setdefault(self.kind(state), likely)
            try:
                for rule in likely:
                    if (after := rule(state)) is not None:
                        return after
            except AdjudgeError:  # raised again below, unless a rule before this one applies
                pass
        for rule in self._functions:
            if (after := rule(state)) is not None:
                likely += [rule] * (rule not in likely)
                return after
        return None

    @cached_property
    def _functions(self) -> tuple[Callable[[S], S | None], ...]:
        return tuple(rule.function for rule in self.rules)

    @cached_property
    def _likely(self) -> dict[Hashable, list[Callable[[S], S | None]]]:
        """By the kind of a state, the rules that have applied to one."""
        return {}
