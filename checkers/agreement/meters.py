"""
What a mode costs: machine steps, the peak of live values, and the size of its program.

The *live values* of a state are the scalars (reals, integers, booleans, pointers) that the rest of the run can still reach: from
the nodes of the environment that a later task of the frame uses, and likewise in every frame that waits. A scalar in an
environment, in a closure, a tuple, a record, an array or a memory counts once for each place it is kept in; a structure that
several places share counts once. A sparse sensitivity counts its entries. Literals of the program are no values of a run.

The count is kept up to date by reference counting, as nodes are bound and as their last use passes, so that a run costs no more
than what it builds; each version of a memory costs its cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from semantics.arrays import Array
from semantics.columns.meaning import MEANING
from semantics.errors import OutOfFuel
from semantics.ir import Apply, NodeId, Program
from semantics.machine import FUEL, Code, Machine, State
from semantics.memory import Cells, Memory, Pointer
from semantics.primitives.row import Column, Primitive
from semantics.scope import scopes
from semantics.structured import Record
from semantics.tangents import Sparse, SparseArray
from semantics.values import Closure


def applications(program: Program) -> int:
    """The applications that the entry reaches: the size of a program."""
    needed = scopes(program).needed
    return sum(isinstance(program.nodes[n], Apply) and program.owner(n) == g for g, nodes in needed.items() for n in nodes)


@dataclass(frozen=True, slots=True)
class Metered:
    """The value of a run, its steps, and the peak of its live values."""

    value: Any
    steps: int
    live: int


@dataclass(slots=True)
class Census:
    """The scalars that are held, structures shared. A structure is held as long as anything that is held contains it."""

    count: int = 0
    kept: dict[int, list[Any]] = field(default_factory=dict)

    def hold(self, value: Any) -> None:
        """One more place keeps `value`."""
        todo = [value]
        while todo:
            top = todo.pop()
            scalars, parts = _contents(top)
            if parts is None:
                self.count += scalars
            elif (entry := self.kept.get(id(top))) is not None:
                entry[1] += 1
            else:
                self.kept[id(top)] = [top, 1]
                self.count += scalars
                todo.extend(parts)

    def release(self, value: Any) -> None:
        """One place fewer keeps `value`."""
        todo = [value]
        while todo:
            top = todo.pop()
            scalars, parts = _contents(top)
            if parts is None:
                self.count -= scalars
                continue
            entry = self.kept[id(top)]
            entry[1] -= 1
            if not entry[1]:
                del self.kept[id(top)]
                self.count -= scalars
                todo.extend(parts)


def _contents(value: Any) -> tuple[int, Sequence[Any] | None]:
    """The scalars that stand directly in a value, and its other parts; None for the parts of what is no structure."""
    match value:
        case float() | int() | Pointer():
            return 1, None
        case tuple():
            return 0, value
        case Closure(_, captured):
            return 0, captured
        case Record(_, items):
            return 0, items
        case Array(_, _, items):
            return len(items), ()
        case Sparse() | SparseArray() | Cells():
            return len(value.entries), ()
        case Memory():
            return 0, tuple(value.cells.values())
        case _:
            return 0, None


@dataclass(slots=True)
class _Frame:
    """The live nodes of one activation, and the code that says when each dies."""

    deaths: tuple[tuple[NodeId, ...], ...]
    bound: dict[NodeId, Any]


class LiveMachine:
    """A machine that counts what is live after every step."""

    def __init__(self, program: Program, column: Column = MEANING) -> None:
        self.machine, self.census = Machine(program, column), Census()
        self.deaths: dict[int, tuple[tuple[NodeId, ...], ...]] = {}

    def run(self, arguments: Sequence[Any], fuel: int = FUEL) -> Metered:
        """The run at these arguments, metered. OutOfFuel after `fuel` steps."""
        state, steps = self.machine.initial(arguments), 0
        frames = [self._entered(state)]
        peak = self.census.count
        while (after := self.machine.step(state)) is not None:
            self._follow(frames, state, after)
            peak = max(peak, self.census.count)
            state, steps = after, steps + 1
            if steps >= fuel:
                raise OutOfFuel(
                    f"the program did not end within {fuel} steps", node=self.machine.place(state), remedy="raise --fuel"
                )
        return Metered(self.machine.value(state), steps, peak)

    def _follow(self, frames: list[_Frame], before: State, after: State) -> None:
        """What one step binds and what it lets go, by the rule that took it."""
        task = before.task
        if task.ends:
            left, waiting = frames.pop(), before.continuation
            self._bind(frames[-1], waiting.task.node, after.environment[waiting.task.node], waiting.position)
            self._leave(left)  # after the result is bound: a structure that is let go and held again would be walked twice
        elif task.closes >= 0 or type(before.environment[task.function]) is Primitive:
            self._bind(frames[-1], task.node, after.environment[task.node], before.position)
        elif task.last:
            entered = self._entered(after)
            self._leave(frames.pop())
            frames.append(entered)
        else:
            entered = self._entered(after)
            self._die(frames[-1], before.position)
            frames.append(entered)

    def _entered(self, state: State) -> _Frame:
        """The frame of a graph that has just been entered: its parameters and captured values, those that are used."""
        deaths = self._deaths(state.code)
        dead = set(deaths[-1])
        names = (*state.code.parameters, *state.code.captured)
        frame = _Frame(deaths, {n: state.environment[n] for n in names if n not in dead})
        for value in frame.bound.values():
            self.census.hold(value)
        return frame

    def _bind(self, frame: _Frame, node: NodeId, value: Any, position: int) -> None:
        if node not in frame.bound:
            frame.bound[node] = value
            self.census.hold(value)
        self._die(frame, position)

    def _die(self, frame: _Frame, position: int) -> None:
        for node in frame.deaths[position]:
            if node in frame.bound:
                self.census.release(frame.bound.pop(node))

    def _leave(self, frame: _Frame) -> None:
        for value in frame.bound.values():
            self.census.release(value)

    def _deaths(self, code: Code) -> tuple[tuple[NodeId, ...], ...]:
        """For each task the nodes whose last use it is; at the end, those that are never used."""
        if code.graph not in self.deaths:
            last = {node: position for position, node in _uses(code)}
            found: list[list[NodeId]] = [[] for _ in range(len(code.tasks) + 1)]
            for node, position in last.items():
                found[position].append(node)
            found[-1] = [n for n in (*code.parameters, *code.captured) if n not in last]
            self.deaths[code.graph] = tuple(map(tuple, found))
        return self.deaths[code.graph]


def _uses(code: Code) -> Iterator[tuple[int, NodeId]]:
    """Every use of a node by a task, in order. Constants are never bound, so their uses do no harm."""
    for position, task in enumerate(code.tasks):
        if task.ends:
            yield position, code.output
        else:
            yield from ((position, node) for node in (*task.arguments, *(() if task.closes >= 0 else (task.function,))))


def metered(program: Program, arguments: Sequence[Any], fuel: int = FUEL) -> Metered:
    """The value of `program` at `arguments`, with its steps and the peak of its live values."""
    return LiveMachine(program).run(arguments, fuel)
