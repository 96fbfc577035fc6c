"""
The small-step machine of SSA form: what a module means, one step at a time, by the rules of `rules`.

Exactly one rule is enabled in a state that is not final; two would be an error, and are checked for at every step. The machine
shares no rule with `semantics.machine`, only the columns: the two are compared.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from semantics.columns.kinds import kind
from semantics.columns.meaning import MEANING
from semantics.columns.structure import switch
from semantics.derivation import Derivation, Step, derive
from semantics.errors import AdjudgeError, Crash, IllTyped, OutOfFuel, wrong_count
from semantics.primitives.row import Column, Primitive, misapplied
from semantics.ssa.code import BranchTask, Code, Edge, PrimitiveTask, ReturnTask, compiled, location_of, text_of
from semantics.ssa.form import Module
from semantics.ssa.rules import BY_FORM, RULES, Environment, MachineRule, State, state_of
from semantics.ssa.wellformed import check
from semantics.type_language import type_of
from semantics.type_lattice import is_below

FUEL = 200_000_000
PRINTED = reprlib.Repr()  # of a stack of many turns, the topmost ones
PRINTED.maxlevel = 30
PRINTED.maxtuple = PRINTED.maxstring = PRINTED.maxlong = PRINTED.maxother = sys.maxsize


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Outcome:
    """The value of a run, and how many steps it took."""

    value: Any
    steps: int


class Machine:
    """
    The machine for one module, which must be well formed. A system: see `derivation`.

    column       what primitives mean
    lift, truth  how the column reads constants, and the condition of a branch as a boolean: see `denotation.Reading`
    """

    name = "evaluate ssa"
    rules: Sequence[MachineRule] = RULES

    def __init__(
        self,
        module: Module,
        column: Column = MEANING,
        *,
        lift: Callable[[Any], Any] = _as_it_is,
        truth: Callable[[Any], Any] = _as_it_is,
    ) -> None:
        check(module)
        self.module, self.column, self.lift, self.truth = module, column, lift, truth
        self.cells: dict[Primitive, Callable[..., Any]] = {}
        self.codes: dict[str, Code] = {}

    # states

    def initial(self, arguments: Sequence[Any]) -> State:
        """The state that enters the module with these arguments; IllTyped if they do not fit its parameters."""
        entry = self.module.main
        for parameter, value in zip(entry.parameters, arguments, strict=False):
            if parameter.type is not None and not is_below(type_of(value), parameter.type):
                what = f"the parameter {parameter.name} wants {parameter.type}, found {type_of(value)}"
                raise IllTyped(what, rule="enter", location=entry.location)
        return self.enter(self.module.entry, arguments, None)

    def final(self, state: State) -> bool:
        """Whether the run is over."""
        return state.continuation is None and type(state.task) is ReturnTask

    def value(self, state: State) -> Any:
        """What is returned, in a state that returns: one value, or the tuple of none or several."""
        task = state.code.tasks[state.position]
        assert type(task) is ReturnTask
        if len(task.operands) == 1:
            return state.environment[task.operands[0]]
        return tuple([state.environment[key] for key in task.operands])

    def enabled(self, state: State) -> list[Step[State]]:
        """The steps that the rules allow: one, or none in a final state. Two enabled rules are an error, naming both."""
        found = [(r, after) for r in self.rules if (after := r.function(self, state)) is not None]
        if len(found) > 1:
            raise Crash(f"two rules are enabled at once: {', '.join(r.name for r, _ in found)}", node=self.place(state))
        return [Step(r.name, self.place(state), state, after) for r, after in found]

    def step(self, state: State) -> State | None:
        """The next state, or None in a final one: what `enabled` does, without the record, trying only rules of the right form."""
        after = None
        for function in BY_FORM[type(state[0].tasks[state[1]])]:
            reached = function(self, state)
            if reached is not None:
                if after is not None:
                    raise Crash("two rules are enabled at once", node=self.place(state))
                after = reached
        return after

    def run(self, arguments: Sequence[Any], fuel: int = FUEL) -> Outcome:
        """Runs to the end, unrecorded. OutOfFuel after `fuel` steps."""
        state, steps, step = self.initial(arguments), 0, self.step
        while (after := step(state)) is not None:
            state = after
            steps += 1
            if steps >= fuel:
                raise OutOfFuel(f"the program did not end within {fuel} steps", node=self.place(state), remedy="raise fuel")
        if not self.final(state):
            raise Crash(f"no rule applies after {steps} steps", node=self.place(state))
        return Outcome(self.value(state), steps)

    # parts of the rules

    def enter(self, name: str, arguments: Sequence[Any], continuation: Any) -> State:
        """The first state inside a function: its parameters are bound, and the φ nodes of its entry moved to from #0."""
        code = self.codes.get(name)
        if code is None:
            code = self.codes[name] = compiled(self.module, name, self.lift)
        if len(arguments) != len(code.parameters):
            raise wrong_count(name, len(code.parameters), len(arguments), code.function.location)
        environment = code.constants
        for parameter, value in zip(code.parameters, arguments):  # noqa: B905  the lengths were compared
            environment = environment.set(parameter, value)
        return self.along(code.entry, state_of(code, 0, environment, continuation))

    def along(self, edge: Edge, state: State) -> State:
        """The state at the end of an edge. The operands of all φ nodes are read before a target is written."""
        code, _, environment, continuation = state
        values = [environment[key] for key in edge.operands]
        for target, value in zip(edge.targets, values):  # noqa: B905  made together
            environment = environment.set(target, value)
        return state_of(code, edge.position, environment, continuation)

    def holds(self, task: BranchTask, state: State) -> bool:
        """The condition of a branch; IllTyped if it is no boolean."""
        condition = self.truth(state.environment[task.condition])
        try:
            return condition if type(condition) is bool else switch(condition, True, False)
        except AdjudgeError as error:
            raise self.located(error, state) from None

    def bind(self, environment: Environment, targets: tuple[str, ...], value: Any, state: State) -> Environment:
        """The environment with a value bound to one target, or taken apart by several; IllTyped if it has not as many parts."""
        if len(targets) == 1:
            return environment.set(targets[0], value) if targets[0] != "_" else environment
        if type(value) is not tuple or len(value) != len(targets):
            found = f"{kind(value)} of {len(value)}" if type(value) is tuple else kind(value)
            what = f"a tuple of {len(targets)} wanted, found {found}"
            raise self.located(IllTyped(what, rule="targets"), state)
        for target, part in zip(targets, value):  # noqa: B905  the lengths were compared
            if target != "_":
                environment = environment.set(target, part)
        return environment

    def cell(self, function: Primitive, state: State) -> Callable[..., Any]:
        """The meaning of a primitive in this machine's column, looked up once."""
        try:
            self.cells[function] = self.column[function]
        except AdjudgeError as error:
            raise self.located(error, state) from None
        return self.cells[function]

    def located(self, error: AdjudgeError, state: State) -> AdjudgeError:
        """The error, with its place and source line if it does not know them: the innermost line of the user's that there is."""
        if not error.node:
            waiting: State | None = state
            error.node, inner, place = self.place(state), location_of(state.task), None
            while waiting is not None and (place is None or place.is_ours):
                place, waiting = location_of(waiting.task), waiting.continuation
            error.location = error.location or (inner if place is None or place.is_ours else place)
        return error

    def misapplied(self, error: TypeError | MemoryError, task: PrimitiveTask, state: State) -> AdjudgeError:
        """A primitive refused its arguments, whose number was judged before the run; or there is no memory for its result."""
        if isinstance(error, MemoryError):
            return self.located(misapplied(task.callee, len(task.operands), error), state)
        return self.located(Crash(f"{task.callee} failed: {error}", rule="apply_primitive"), state)

    # printing

    def place(self, state: State) -> str:
        """What comes next, its block and its function."""
        return f"{text_of(state.task)} of {state.code.function.name}"

    def render(self, state: State) -> str:
        """The frame, its environment without constants, and the depth of the continuation."""
        lines = [f"next {self.place(state)}, {depth(state)} waiting"]
        lines += [f"  {n} = {PRINTED.repr(state.environment[n])}" for n in state.code.names if n in state.environment]
        return "\n".join(lines)


def depth(state: State) -> int:
    """The number of frames that wait for a value."""
    count = 0
    while state.continuation is not None:
        state, count = state.continuation, count + 1
    return count


def run(
    module: Module,
    arguments: Sequence[Any],
    column: Column = MEANING,
    fuel: int = FUEL,
    *,
    lift: Callable[[Any], Any] = _as_it_is,
    truth: Callable[[Any], Any] = _as_it_is,
) -> Any:
    """The value of `module` at `arguments`."""
    return Machine(module, column, lift=lift, truth=truth).run(arguments, fuel).value


def evaluate(module: Module, arguments: Sequence[Any], fuel: int = 100_000) -> Derivation[State]:
    """The recorded run of `module` at `arguments`."""
    machine = Machine(module)
    return derive(machine, machine.initial(arguments), fuel=fuel)
