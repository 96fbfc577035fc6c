"""
The rules by which the machine of SSA form moves (see `machine`).

A state is a frame (a function, the position in its code, the environment) over a continuation of frames. Control goes through the
instructions of a block in order, and along an edge to the next block, on which all φ nodes of that block read before any is
written. A call whose result is returned at once replaces its frame, so a loop of calls runs in constant continuation space.

    ρ  environment    t  target    a  operand    e  edge: a block and the moves of its φ nodes    f  function    κ  continuation

    apply_primitive   ρ, t… ← p(a…) ; κ            →  ρ[t… ↦ ⟦p⟧(ρ a…)] ; κ
    call_function     ρ, t… ← @f(a…) ; κ           →  ρ', enter f ; (ρ, t…) κ     where ρ' = [x… ↦ ρ a…]
    tail_call         ρ, t ← @f(a…), return t ; κ  →  ρ', enter f ; κ
    jump              ρ, goto e ; κ                →  ρ[t… ↦ ρ a…], e ; κ         where e moves a… to t…
    branch_then       ρ, goto e if a else e' ; κ   →  ρ, goto e ; κ               where ρ a is True
    branch_otherwise  ρ, goto e if a else e' ; κ   →  ρ, goto e' ; κ              where ρ a is False
    return_to_caller  ρ, return a ; (ρ', t…) κ     →  ρ'[t… ↦ ρ a] ; κ

The left sides exclude each other. In a state that returns where nobody waits, none applies: it is final.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from immutables import Map

from semantics.derivation import law_of
from semantics.errors import AdjudgeError
from semantics.ssa.code import BranchTask, CallTask, Code, GotoTask, Key, PrimitiveTask, ReturnTask, Task

if TYPE_CHECKING:
    from semantics.ssa.machine import Machine

Environment = Map[Key, Any]


class State(NamedTuple):
    """Where the machine is. `continuation` is the caller's state, waiting for the result of its current call, or None."""

    code: Code
    position: int
    environment: Environment
    continuation: Any

    @property
    def task(self) -> Task:
        return self.code.tasks[self.position]


def state_of(code: Code, position: int, environment: Environment, continuation: Any) -> State:
    """`State(…)` without the detour through the keyword constructor of named tuples: the machine makes one per step."""
    return tuple.__new__(State, (code, position, environment, continuation))


@dataclass(frozen=True, slots=True)
class MachineRule:
    """A rule: its name, its law, and the function from a state to the next one, or None where it does not apply."""

    name: str
    law: str
    function: Callable[[Machine, State], State | None]


def rule(function: Callable[[Machine, State], State | None]) -> MachineRule:
    """Makes a function a rule of the machine; its docstring is its law."""
    return MachineRule(function.__name__, law_of(function), function)


@rule
def apply_primitive(machine: Machine, state: State) -> State | None:
    """ρ, t… ← p(a…) ; κ  →  ρ[t… ↦ ⟦p⟧(ρ a…)] ; κ"""
    code, position, environment, continuation = state
    task = code.tasks[position]
    if type(task) is not PrimitiveTask:
        return None
    cell = machine.cells.get(task.callee) or machine.cell(task.callee, state)
    try:
        value = cell(*[environment[key] for key in task.operands])
    except AdjudgeError as error:
        raise machine.located(error, state) from None
    except (TypeError, MemoryError) as error:
        raise machine.misapplied(error, task, state) from None
    return state_of(code, position + 1, machine.bind(environment, task.targets, value, state), continuation)


@rule
def call_function(machine: Machine, state: State) -> State | None:
    """ρ, t… ← @f(a…) ; κ  →  ρ', enter f ; (ρ, t…) κ        where ρ' = [x… ↦ ρ a…]"""
    task = state.code.tasks[state.position]
    if type(task) is not CallTask or task.last:
        return None
    return machine.enter(task.callee, [state.environment[key] for key in task.operands], state)


@rule
def tail_call(machine: Machine, state: State) -> State | None:
    """ρ, t ← @f(a…), return t ; κ  →  ρ', enter f ; κ        where ρ' = [x… ↦ ρ a…]"""
    task = state.code.tasks[state.position]
    if type(task) is not CallTask or not task.last:
        return None
    return machine.enter(task.callee, [state.environment[key] for key in task.operands], state.continuation)


@rule
def jump(machine: Machine, state: State) -> State | None:
    """ρ, goto e ; κ  →  ρ[t… ↦ ρ a…], e ; κ        where e moves a… to t…"""
    task = state.code.tasks[state.position]
    return machine.along(task.edge, state) if type(task) is GotoTask else None


@rule
def branch_then(machine: Machine, state: State) -> State | None:
    """ρ, goto e if a else e' ; κ  →  ρ, goto e ; κ        where ρ a is True"""
    task = state.code.tasks[state.position]
    if type(task) is not BranchTask or not machine.holds(task, state):
        return None
    return machine.along(task.then, state)


@rule
def branch_otherwise(machine: Machine, state: State) -> State | None:
    """ρ, goto e if a else e' ; κ  →  ρ, goto e' ; κ        where ρ a is False"""
    task = state.code.tasks[state.position]
    if type(task) is not BranchTask or machine.holds(task, state):
        return None
    return machine.along(task.otherwise, state)


@rule
def return_to_caller(machine: Machine, state: State) -> State | None:
    """ρ, return a ; (ρ', t…) κ  →  ρ'[t… ↦ ρ a] ; κ"""
    waiting = state.continuation
    if type(state.code.tasks[state.position]) is not ReturnTask or waiting is None:
        return None
    code, position, environment, continuation = waiting
    targets = code.tasks[position].targets
    return state_of(code, position + 1, machine.bind(environment, targets, machine.value(state), waiting), continuation)


RULES: tuple[MachineRule, ...] = (
    apply_primitive,
    call_function,
    tail_call,
    jump,
    branch_then,
    branch_otherwise,
    return_to_caller,
)

# the rules that can apply, by the form of the task: the others need not be tried (`enabled` tries them all)
BY_FORM: dict[type, tuple[Callable[[Machine, State], State | None], ...]] = {
    PrimitiveTask: (apply_primitive.function,),
    CallTask: (call_function.function, tail_call.function),
    GotoTask: (jump.function,),
    BranchTask: (branch_then.function, branch_otherwise.function),
    ReturnTask: (return_to_caller.function,),
}
