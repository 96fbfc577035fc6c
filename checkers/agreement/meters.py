"""
What a mode costs: machine steps, the peak of live values, and the size of its program.

The *live values* of a state are the scalars that the rest of the run can still reach: from the nodes of the environment that a
later task of the frame uses, and likewise in every frame that waits. What counts, and how often, is for `semantics.ssa.meter` to
say, so that the counts of both machines mean the same. Literals of the program are no values of a run.

Nodes are held as they are bound and dropped as their last use passes, so that a run costs no more than what it builds; each version
of a memory costs its cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from semantics.columns.meaning import MEANING
from semantics.errors import OutOfFuel
from semantics.ir import Apply, NodeId, Program
from semantics.machine import FUEL, Code, Machine, State
from semantics.primitives.row import Column, Primitive
from semantics.scope import scopes
from semantics.ssa.meter import Store


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
class _Frame:
    """The live nodes of one activation, and the code that says when each dies."""

    deaths: tuple[tuple[NodeId, ...], ...]
    bound: dict[NodeId, Any]


class LiveMachine:
    """A machine that counts what is live after every step."""

    def __init__(self, program: Program, column: Column = MEANING) -> None:
        self.machine, self.store = Machine(program, column), Store()
        self.deaths: dict[int, tuple[tuple[NodeId, ...], ...]] = {}

    def run(self, arguments: Sequence[Any], fuel: int = FUEL) -> Metered:
        """The run at these arguments, metered. OutOfFuel after `fuel` steps."""
        state, steps = self.machine.initial(arguments), 0
        frames = [self._entered(state)]
        peak = self.store.scalars
        while (after := self.machine.step(state)) is not None:
            self._follow(frames, state, after)
            peak = max(peak, self.store.scalars)
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
            self.store.hold(value)
        return frame

    def _bind(self, frame: _Frame, node: NodeId, value: Any, position: int) -> None:
        if node not in frame.bound:
            frame.bound[node] = value
            self.store.hold(value)
        self._die(frame, position)

    def _die(self, frame: _Frame, position: int) -> None:
        for node in frame.deaths[position]:
            if node in frame.bound:
                self.store.drop(frame.bound.pop(node))

    def _leave(self, frame: _Frame) -> None:
        for value in frame.bound.values():
            self.store.drop(value)

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
