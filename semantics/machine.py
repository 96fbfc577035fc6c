"""
The small-step machine: what a program means, one step at a time.

A state is a frame (the code of a graph, the position of the next node, the environment) over a continuation of frames.
Evaluation is driven by need from the output node (`order_of_need`): a node that nothing needs is never evaluated, one that
is needed is evaluated once. A call at the output replaces its frame, so a loop runs in constant continuation space. Nothing
recurs on Python's stack.

    ρ  environment    n  node    v  value    g  graph    κ  continuation

    close       ρ, @g ; κ                →  ρ[@g ↦ ⟨g, ρ(FV g)⟩] ; κ
    primitive   ρ, n = p(a…) ; κ         →  ρ[n ↦ ⟦p⟧(ρ a…)] ; κ
    call        ρ, n = f(a…) ; κ         →  ρ', enter g ; (ρ, n) κ       where ρ f = ⟨g, c⟩ and n is not the output
    tail_call   ρ, n = f(a…) ; κ         →  ρ', enter g ; κ              where n is the output
    give_back   ρ, end ; (ρ', n) κ       →  ρ'[n ↦ ρ(output)] ; κ

Exactly one rule is enabled in a state that is not final; two would be an error, and are checked for at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from immutables import Map

from semantics.columns.meaning import MEANING
from semantics.derivation import Derivation, Step, derive, law_of
from semantics.errors import AdjudgeError, Crash, IllTyped, OutOfFuel, wrong_count
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Program
from semantics.primitives.row import Column, Primitive, misapplied
from semantics.scope import evaluation_order, scopes
from semantics.type_language import type_of
from semantics.type_lattice import is_below
from semantics.values import Closure

FUEL = 200_000_000


class Task(NamedTuple):
    """
    One node to evaluate. `closes` is the graph to close over, or -1; `last` says that the node is the output.

    `rules` are those whose left side can have the form of this task: the others need not be tried (`enabled` tries them all).
    """

    node: NodeId
    closes: GraphId
    function: NodeId
    arguments: tuple[NodeId, ...]
    last: bool
    ends: bool
    rules: tuple[Any, ...]


class Code(NamedTuple):
    """A graph, ready to run: its tasks in the order of need, and the environment of its plain constants."""

    graph: GraphId
    parameters: tuple[NodeId, ...]
    captured: tuple[NodeId, ...]
    constants: Map[NodeId, Any]
    tasks: tuple[Task, ...]
    output: NodeId


class State(NamedTuple):
    """Where the machine is. `continuation` is the caller's state, waiting for the value of its current node, or None."""

    code: Code
    position: int
    environment: Map[NodeId, Any]
    continuation: Any

    @property
    def task(self) -> Task:
        return self.code.tasks[self.position]


def _state(code: Code, position: int, environment: Map[NodeId, Any], continuation: Any) -> State:
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
def close(machine: Machine, state: State) -> State | None:
    """ρ, @g ; κ  →  ρ[@g ↦ ⟨g, ρ(FV g)⟩] ; κ"""
    code, position, environment, continuation = state
    task = code.tasks[position]
    if task.closes < 0:
        return None
    captured = tuple([environment[n] for n in task.arguments])
    closure = Closure(task.closes, captured, machine.program.graphs[task.closes].name)
    return _state(code, position + 1, environment.set(task.node, closure), continuation)


@rule
def primitive(machine: Machine, state: State) -> State | None:
    """ρ, n = p(a…) ; κ  →  ρ[n ↦ ⟦p⟧(ρ a…)] ; κ"""
    code, position, environment, continuation = state
    task = code.tasks[position]
    if task.closes >= 0 or task.ends:
        return None
    function = environment[task.function]
    if type(function) is not Primitive:
        return None
    cell = machine.cells.get(function) or machine.cell(function)
    try:
        value = cell(*[environment[n] for n in task.arguments])
    except AdjudgeError as error:
        raise machine.located(error, task.node, continuation) from None
    except (TypeError, MemoryError) as error:
        raise machine.located(misapplied(function, len(task.arguments), error), task.node) from None
    return _state(code, position + 1, environment.set(task.node, value), continuation)


@rule
def call(machine: Machine, state: State) -> State | None:
    """ρ, n = f(a…) ; κ  →  ρ', enter g ; (ρ, n) κ        where ρ f = ⟨g, c⟩ and n is not the output"""
    task = state.code.tasks[state.position]
    if task.last or task.ends or task.closes >= 0:
        return None
    function = state.environment[task.function]
    if type(function) is Primitive:
        return None
    return machine.enter(function, [state.environment[n] for n in task.arguments], state, task.node)


@rule
def tail_call(machine: Machine, state: State) -> State | None:
    """ρ, n = f(a…) ; κ  →  ρ', enter g ; κ        where ρ f = ⟨g, c⟩ and n is the output"""
    task = state.code.tasks[state.position]
    if not task.last:
        return None
    function = state.environment[task.function]
    if type(function) is Primitive:
        return None
    return machine.enter(function, [state.environment[n] for n in task.arguments], state.continuation, task.node)


@rule
def give_back(machine: Machine, state: State) -> State | None:
    """ρ, end ; (ρ', n) κ  →  ρ'[n ↦ ρ(output)] ; κ"""
    code, position, environment, continuation = state
    if not code.tasks[position].ends or continuation is None:
        return None
    waiting, at, outer, rest = continuation
    return _state(waiting, at + 1, outer.set(waiting.tasks[at].node, environment[code.output]), rest)


RULES: tuple[MachineRule, ...] = (primitive, close, call, tail_call, give_back)

# the rules that can apply, by the form of the task
_CLOSES, _ENDS, _APPLIES_PRIMITIVE = (close.function,), (give_back.function,), (primitive.function,)
_APPLIES, _LAST = (primitive.function, call.function), (primitive.function, tail_call.function)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The value of a run, and how many steps it took."""

    value: Any
    steps: int


class Machine:
    """The machine for one program and one column (the meaning, unless another is asked for). A system: see `derivation`."""

    name = "evaluate"
    rules: Sequence[MachineRule] = RULES

    def __init__(self, program: Program, column: Column = MEANING) -> None:
        self.program, self.column = program, column
        self.cells: dict[Primitive, Callable[..., Any]] = {}
        self.codes: dict[GraphId, Code] = {}

    # states

    def initial(self, arguments: Sequence[Any]) -> State:
        """The state that enters the program with these arguments; IllTyped if they do not fit its parameters."""
        entry = self.program.graphs[self.program.entry]
        for node, value in zip(entry.parameters, arguments, strict=False):
            wanted = getattr(self.program.nodes[node], "type", None)
            if wanted is not None and not is_below(type_of(value), wanted):
                raise IllTyped(
                    f"the parameter {self.program.describe(node)} wants {wanted}, found {type_of(value)}",
                    rule="enter",
                    location=entry.location,
                )
        return self.enter(Closure(self.program.entry, (), entry.name), arguments, None, None)

    def final(self, state: State) -> bool:
        """Whether the run is over."""
        return state.continuation is None and state.task.ends

    def value(self, state: State) -> Any:
        """The result, in a final state."""
        return state.environment[state.code.output]

    def enabled(self, state: State) -> list[Step[State]]:
        """The steps that the rules allow: one, or none in a final state. Two enabled rules are an error, naming both."""
        found = [(r, after) for r in RULES if (after := r.function(self, state)) is not None]
        if len(found) > 1:
            raise Crash(f"two rules are enabled at once: {', '.join(r.name for r, _ in found)}", node=self.place(state))
        return [Step(r.name, self.place(state), state, after) for r, after in found]

    def step(self, state: State) -> State | None:
        """The next state, or None in a final one: what `enabled` does, without the record, trying only rules of the right form."""
        after = None
        for function in state[0].tasks[state[1]].rules:
            reached = function(self, state)
            if reached is not None:
                if after is not None:
                    raise Crash("two rules are enabled at once", node=self.place(state))
                after = reached
        return after

    def run(self, arguments: Sequence[Any], fuel: int = FUEL) -> Outcome:
        """Runs to the end, unrecorded. OutOfFuel after `fuel` steps."""
        return self._finish(self.initial(arguments), fuel)

    def _finish(self, state: State, fuel: int) -> Outcome:
        steps, step = 0, self.step
        while (after := step(state)) is not None:
            state = after
            steps += 1
            if steps >= fuel:
                raise OutOfFuel(f"the program did not end within {fuel} steps", node=self.place(state), remedy="raise fuel")
        if not self.final(state):
            raise Crash(f"no rule applies after {steps} steps", node=self.place(state))
        return Outcome(self.value(state), steps)

    def call(self, function: Any, arguments: Sequence[Any], fuel: int = FUEL) -> Any:
        """The value of a closure of this program, such as a backpropagator that an earlier run returned."""
        return self._finish(self.enter(function, arguments, None, None), fuel).value

    # parts of the rules

    def enter(self, function: Any, arguments: Sequence[Any], continuation: Any, at: NodeId | None) -> State:
        """The first state inside `function`. A primitive at the entry is not a closure: IllTyped, as is any other value."""
        if type(function) is not Closure:
            error = IllTyped(f"{function!r} is not a function", rule="call", remedy="is a name bound to a value here?")
            raise self.located(error, at, continuation)
        code = self.codes.get(function.graph) or self.compile(function.graph)
        if len(arguments) != len(code.parameters):
            graph = self.program.graphs[code.graph]
            raise self.located(wrong_count(graph.name, len(code.parameters), len(arguments), graph.location), at)
        environment = code.constants
        for node, value in zip(code.parameters, arguments):  # noqa: B905  the lengths were compared
            environment = environment.set(node, value)
        for node, value in zip(code.captured, function.captured):  # noqa: B905  a closure captures just these
            environment = environment.set(node, value)
        return _state(code, 0, environment, continuation)

    def compile(self, graph: GraphId) -> Code:
        """The tasks of a graph, made once."""
        free = scopes(self.program).free
        found = self.program.graphs[graph]
        constants: dict[NodeId, Any] = {}
        tasks: list[Task] = []
        for node in evaluation_order(self.program, graph):
            match self.program.nodes[node]:
                case Constant(GraphRef(target)):
                    tasks.append(Task(node, target, node, free[target], False, False, _CLOSES))
                case Constant(value):
                    constants[node] = value
                case Apply(owner, inputs) if owner == graph:
                    last = node == found.output
                    applied = (
                        _APPLIES_PRIMITIVE if type(self.program.constant(inputs[0])) is Primitive else _LAST if last else _APPLIES
                    )
                    tasks.append(Task(node, -1, inputs[0], inputs[1:], last, False, applied))
        tasks.append(Task(found.output, -1, -1, (), False, True, _ENDS))
        code = Code(graph, found.parameters, free[graph], Map(constants), tuple(tasks), found.output)
        self.codes[graph] = code
        return code

    def cell(self, function: Primitive) -> Callable[..., Any]:
        """The meaning of a primitive in this machine's column, looked up once."""
        self.cells[function] = self.column[function]
        return self.cells[function]

    def located(self, error: AdjudgeError, node: NodeId | None, waiting: Any = None) -> AdjudgeError:
        """The error, with its node and source line if it does not know them: the innermost line of the user's that there is."""
        if node is not None and not error.node:
            error.node, place = self.program.describe(node), getattr(self.program.nodes[node], "location", None)
            inner = place
            while (place is None or place.is_ours) and waiting is not None:
                place, waiting = getattr(self.program.nodes[waiting.task.node], "location", None), waiting.continuation
            error.location = error.location or (inner if place is None or place.is_ours else place)
        return error

    # printing

    def place(self, state: State) -> str:
        """The node that is evaluated next."""
        if state.task.ends:
            return f"the end of @{self.program.graphs[state.code.graph].name}"
        return self.program.describe(state.task.node)

    def render(self, state: State) -> str:
        """The frame, its environment without plain constants, and the depth of the continuation."""
        graph = self.program.graphs[state.code.graph]
        known = [(n, v) for n, v in sorted(state.environment.items()) if n not in state.code.constants]
        lines = [f"in @{graph.name}, next {self.place(state)}, {depth(state)} waiting"]
        lines += [f"  {self.program.describe_name(n)} = {v!r}" for n, v in known]
        return "\n".join(lines)


def depth(state: State) -> int:
    """The number of frames that wait for a value."""
    count = 0
    while state.continuation is not None:
        state, count = state.continuation, count + 1
    return count


def run(program: Program, *arguments: Any, fuel: int = FUEL, column: Column = MEANING) -> Any:
    """The value of `program` at `arguments`."""
    return Machine(program, column).run(arguments, fuel).value


def evaluate(program: Program, *arguments: Any, fuel: int = 100_000) -> Derivation[State]:
    """The recorded run of `program` at `arguments`."""
    machine = Machine(program)
    return derive(machine, machine.initial(arguments), fuel=fuel)
