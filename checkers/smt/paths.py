"""
All paths of a program whose loops have a known number of turns: the denotation, run again for each sequence of decisions.

A run follows a prefix of decisions; where the prefix ends, a condition that both ways can meet the path so far is decided True and
the other way is kept for later. Ways that the solver shows to be impossible are dropped; one that it cannot judge is kept, which
costs time and never soundness. What follows on such a path is harder still, so after a few of these the solver is not asked on it
again: its resource limit does not bound what it spends on polynomials whose degree grows from turn to turn. The paths found cover
all inputs that satisfy the assumption.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from checkers.smt.purify import Purifier
from checkers.smt.smtlib import script
from checkers.smt.solver import UNKNOWN, UNSAT, solve
from checkers.smt.terms import Course
from semantics.denotation import Reading, denote
from semantics.errors import OutOfFuel, Trap
from semantics.ir import Program

MOST_PATHS = 128
MOST_DECISIONS = 40
FEASIBILITY_RLIMIT = 100_000
MOST_UNJUDGED = 2


@dataclass(frozen=True)
class Event:
    """Something a run met, in order: a decided condition ("branch"), or one it needs in order to be defined ("need")."""

    kind: str
    condition: z3.BoolRef


@dataclass(frozen=True)
class Path:
    """
    One way through: what it met, in order, and its value. `trap` is the error of a path that traps; then `value` is None.

    The order matters: a condition of definedness may be assumed only by what comes after it.
    """

    events: tuple[Event, ...]
    value: Any
    trap: Trap | None = None

    @property
    def conditions(self) -> list[z3.BoolRef]:
        """The decided conditions."""
        return [e.condition for e in self.events if e.kind == "branch"]

    @property
    def domain(self) -> list[z3.BoolRef]:
        """The conditions of definedness."""
        return [e.condition for e in self.events if e.kind == "need"]

    @property
    def all(self) -> list[z3.BoolRef]:
        """All conditions, in order."""
        return [e.condition for e in self.events]


class Run:
    """The course of one run: the decisions of the prefix, then new ones; `open` are the prefixes left for later runs."""

    def __init__(self, prefix: tuple[bool, ...] = (), assumed: Sequence[z3.BoolRef] = ()) -> None:
        self.prefix, self.assumed = prefix, assumed
        self.taken: list[bool] = []
        self.events: list[Event] = []
        self.open: list[tuple[bool, ...]] = []
        self.unjudged = 0

    def need(self, condition: Any) -> None:
        """Notes a condition of definedness; a plainly false one traps."""
        condition = z3.BoolVal(condition) if isinstance(condition, bool) else z3.simplify(condition)
        if z3.is_false(condition):
            raise Trap("undefined over the reals", rule="z3_real")
        if not z3.is_true(condition):
            self.events.append(Event("need", condition))

    def decide(self, condition: Any) -> bool:
        """Which way this run goes; the way not taken is left open if it is possible."""
        condition = z3.simplify(condition)
        if z3.is_true(condition) or z3.is_false(condition):
            return bool(z3.is_true(condition))
        if len(self.taken) >= MOST_DECISIONS:
            raise OutOfFuel(f"a path with more than {MOST_DECISIONS} decisions", rule="paths", remedy="bound the loop")
        if len(self.taken) < len(self.prefix):
            choice = self.prefix[len(self.taken)]
        elif self.possible(condition):
            choice = True
            if self.possible(z3.Not(condition)):
                self.open.append((*self.taken, False))
        else:
            choice = False
        self.taken.append(choice)
        self.events.append(Event("branch", condition if choice else z3.Not(condition)))
        return choice

    def possible(self, condition: z3.BoolRef) -> bool:
        """Whether the path so far may meet the condition, as far as that is seen."""
        opposite = (z3.Not(condition), *(condition.children() if z3.is_not(condition) else ()))
        if any(e.condition.eq(c) for e in self.events for c in opposite):
            return False
        if self.unjudged >= MOST_UNJUDGED:
            return True
        question = Purifier().question([*self.assumed, *(e.condition for e in self.events), condition])
        status = solve(script(question), rlimit=FEASIBILITY_RLIMIT).status
        self.unjudged += status == UNKNOWN
        return status != UNSAT


def explore(
    program: Program, arguments: Sequence[Any], reading: Callable[[Course], Reading], assumed: Sequence[z3.BoolRef] = ()
) -> list[Path]:
    """
    The paths of `program` at symbolic `arguments` under the assumptions. OutOfFuel if there are too many.

    `reading(course)` makes the reading of one run.
    """
    found: list[Path] = []
    todo: list[tuple[bool, ...]] = [()]
    while todo:
        run = Run(todo.pop(), assumed)
        try:
            value, trap = denote(program, arguments, reading(run), fuel=100_000), None
        except Trap as error:
            value, trap = None, error
        found.append(Path(tuple(run.events), value, trap))
        todo.extend(run.open)
        if len(found) + len(todo) > MOST_PATHS:
            raise OutOfFuel(f"the program has more than {MOST_PATHS} paths", rule="paths", remedy="split it, or add a hypothesis")
    return found
