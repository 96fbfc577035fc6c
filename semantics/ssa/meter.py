"""
How much a run keeps alive at once.

The memory of a run at a step is what its live names lead to, in the frame that runs and in those that wait: the number of numbers,
booleans, texts and pointers that they hold, in whatever structure, as often as they hold them. ZERO, None and primitives hold
nothing; a structure that several names or several others hold counts once. A closure is a structure: it holds what it captures,
so that runs of the graph machine are measured by the same count (`checkers.agreement.meters`).

`peak_live` steps through a run and keeps that number up to date: every structure has a count of those that hold it. So a step
costs what it binds and what dies at it, and a stack of a million turns no more than its top. By it the policies of the adjoint are
compared (Zygote, section 3.1: "the values could be re-computed").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from semantics.arrays import Array
from semantics.columns.meaning import MEANING
from semantics.errors import OutOfFuel
from semantics.memory import Cells, Memory, contents
from semantics.primitives.row import Column, Primitive
from semantics.ssa.code import CallTask, PrimitiveTask, ReturnTask
from semantics.ssa.form import Module
from semantics.ssa.liveness import Deaths, deaths
from semantics.ssa.machine import FUEL, Machine
from semantics.ssa.rules import State
from semantics.structured import Record
from semantics.tangents import Sparse, SparseArray, Zero
from semantics.values import Closure

STRUCTURES = (tuple, Record, Closure, Array, Sparse, SparseArray, Memory, Cells)
EMPTY = (Zero, Primitive, type(None))


def parts(value: Any) -> tuple[int, Iterable[Any]]:
    """How many scalars a structure holds itself, and what else it holds."""
    match value:
        case Array(_, _, items):
            return len(items), ()
        case SparseArray(_, _, entries):
            return len(entries), ()
        case tuple():
            held: Iterable[Any] = value
        case Record(_, items) | Closure(_, items):
            held = items
        case Sparse(_, entries):
            held = entries.values()
        case _:
            held = contents(value).values()
    structures = [part for part in held if isinstance(part, STRUCTURES)]
    return sum(1 for part in held if not isinstance(part, EMPTY)) - len(structures), structures


@dataclass(slots=True)
class Store:
    """What is held: `held` maps the identity of a structure to itself and the number of those that hold it."""

    scalars: int = 0
    held: dict[int, tuple[Any, int]] = field(default_factory=dict)

    def hold(self, value: Any) -> None:
        """One more holder. What a structure holds is held when the structure is held for the first time."""
        todo = [value]
        while todo:
            top = todo.pop()
            if isinstance(top, STRUCTURES):
                found = self.held.get(id(top))
                self.held[id(top)] = (top, 1 if found is None else found[1] + 1)
                if found is None:
                    scalars, structures = parts(top)
                    self.scalars += scalars
                    todo.extend(structures)
            elif not isinstance(top, EMPTY):
                self.scalars += 1

    def drop(self, value: Any) -> None:
        """One holder less. What a structure holds is dropped with its last holder."""
        todo = [value]
        while todo:
            top = todo.pop()
            if isinstance(top, STRUCTURES):
                structure, count = self.held.pop(id(top))
                if count > 1:
                    self.held[id(top)] = (structure, count - 1)
                else:
                    scalars, structures = parts(top)
                    self.scalars -= scalars
                    todo.extend(structures)
            elif not isinstance(top, EMPTY):
                self.scalars -= 1


class Peak(NamedTuple):
    """What a run came to: its value, its steps, and the largest number of scalars that were alive at once."""

    value: Any
    steps: int
    live: int


class Meter:
    """The live names of every frame of a run, innermost last, with their values; what they hold is in the store."""

    def __init__(self, module: Module) -> None:
        self.module, self.store = module, Store()
        self.frames: list[dict[str, Any]] = []
        self.known: dict[str, Deaths] = {}

    def deaths(self, state: State) -> Deaths:
        """Where the names of the function that runs die; found once for each function."""
        name = state.code.function.name
        if name not in self.known:
            self.known[name] = deaths(self.module[name])
        return self.known[name]

    def bind(self, targets: Iterable[str], state: State) -> None:
        """Gives names of the innermost frame the values that they have in a state. What changes hands is never let go."""
        frame = self.frames[-1]
        values = {target: state.environment[target] for target in targets if target != "_"}
        for value in values.values():
            self.store.hold(value)
        for target in values.keys() & frame.keys():
            self.store.drop(frame[target])
        frame.update(values)

    def kill(self, names: Iterable[str]) -> None:
        """Gives up names of the innermost frame."""
        for name in names:
            if name in self.frames[-1]:
                self.store.drop(self.frames[-1].pop(name))

    def enter(self, state: State) -> None:
        """A frame for the function that a state has just entered."""
        self.frames.append({})
        self.bind(state.code.parameters, state)
        self.bind(state.code.entry.targets, state)
        self.kill(self.deaths(state).entering)

    def leave(self, depth: int) -> None:
        """Gives up the frame at a depth, counted from the innermost."""
        frame = self.frames.pop(-1 - depth)
        for value in frame.values():
            self.store.drop(value)

    def follow(self, before: State, after: State) -> None:
        """Brings the frames from a state to the next."""
        task, dying = before.task, self.deaths(before)
        if isinstance(task, CallTask):
            self.enter(after)
            if task.last:
                self.leave(1)
            else:
                inner = self.frames.pop()
                self.kill(dying.at[before.position])
                self.frames.append(inner)
        elif isinstance(task, PrimitiveTask):
            self.bind(task.targets, after)
            self.kill(dying.at[before.position])
        elif isinstance(task, ReturnTask):
            waiting = before.continuation
            inner = self.frames.pop()
            self.bind(waiting.task.targets, after)
            self.frames.append(inner)
            self.leave(0)
            self.kill(self.deaths(waiting).at[waiting.position])
        else:
            target = after.task.block
            self.bind((phi.target for phi in target.phis), after)
            self.kill(dying.along[task.block.label, target.label])


def _as_it_is(value: Any) -> Any:
    return value


def peak_live(
    module: Module,
    arguments: Sequence[Any],
    column: Column = MEANING,
    fuel: int = FUEL,
    *,
    lift: Callable[[Any], Any] = _as_it_is,
    truth: Callable[[Any], Any] = _as_it_is,
) -> Peak:
    """The run of `module` at `arguments`, with the largest number of scalars that were alive between two of its steps."""
    machine, meter = Machine(module, column, lift=lift, truth=truth), Meter(module)
    state, steps = machine.initial(arguments), 0
    meter.enter(state)
    peak = meter.store.scalars
    while (after := machine.step(state)) is not None:
        meter.follow(state, after)
        peak = max(peak, meter.store.scalars)
        state = after
        steps += 1
        if steps >= fuel:
            raise OutOfFuel(f"the program did not end within {fuel} steps", node=machine.place(state), remedy="raise fuel")
    return Peak(machine.value(state), steps, peak)
