"""
Straight lines: what a graph evaluates before its last call, each node once, in the order of need; and calls that give back a value.

A call is a region of its own (`backend.lowering.regions`): inlined where nothing else calls it, or where it is a few primitives,
and else a function. So a straight line asks for regions, and a region for the straight lines of its blocks.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from backend.arrays.creation import constant
from backend.arrays.table import readers
from backend.lowering.conversion import convert
from backend.lowering.emit import stored
from backend.lowering.scheduling import calls_first, reads_first
from backend.lowering.shape import ZERO_VALUE, Fn, Items, Nothing, Reg, literal, make, options, scalars, typed
from backend.stacks.cells import NO_SITES, Sites, Stacks
from backend.status import STUCK, UNBOUND
from semantics.arrays import Array
from semantics.errors import AdjudgeError, IllTyped
from semantics.infer import Inference, Signature
from semantics.ir import Apply, Constant, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.scope import order_of_need, scopes
from semantics.structured import Record, Slice
from semantics.tangents import Zero
from semantics.type_language import INTEGER, UNIT, Scalar
from semantics.type_lattice import NEVER, of_constant
from semantics.type_lattice import UNBOUND as UNBOUND_TYPE
from semantics.values import Unbound

Emission = Generator[Any, Any, Any]
SMALL = 8  # nodes
MANY = 30  # arguments of a call: beyond, CPython makes a list of them first, and Numba follows it through no branch


class Straight(Stacks):
    """
    Writes the straight lines of one typed program. Functions that they call wait in `waiting` to be written. `region` is that of
    `Regions`.
    """

    def __init__(self, program: Program, inference: Inference, sites: Sites = NO_SITES, fast: bool = False) -> None:
        super().__init__(sites)
        self.fast = fast
        self.program, self.inference = program, inference
        self.free = scopes(program).free
        self.functions: dict[Signature, str] = {}
        self.waiting: list[Signature] = []
        self.uses: dict[Signature, int] = {}
        self.calls = {site: call for family in sites.families.values() for site, call in family.places.items()}
        self.recursions = {program.owner(site) for site, family in sites.families.items() if family.known}
        self.plans: dict[int, tuple[NodeId, ...]] = {}

    def tail(self, signature: Signature) -> NodeId | None:
        """The call at the output, if the graph ends in one."""
        output = self.program.graphs[signature.graph].output
        return output if output in self.inference.calls.get(signature, {}) else None

    def straight(self, block: Signature, values: tuple[Any, ...]) -> Emission:
        """Everything that the block evaluates before its end; None if it traps for certain."""
        graph = self.program.graphs[block.graph]
        env: dict[NodeId, Any] = dict(zip((*self.free[block.graph], *graph.parameters), values, strict=True))
        tail, tested = self.tail(block), list[Any]()
        for node in self.plan(block.graph):
            if node in env or node == tail:
                continue
            match self.program.nodes[node]:
                case Constant(GraphRef(target)):
                    env[node] = Fn(target, tuple(env[n] for n in self.free[target]))
                case Constant(value):
                    env[node] = constant(self, value) if isinstance(value, Array) else _constant(value)
                case Apply(_, inputs):
                    function, *arguments = (env[n] for n in inputs)
                    self.tested = tested
                    try:
                        if node in self.sites:
                            value = self.push(node, arguments, env[self.calls[node]] if node in self.calls else None)
                        else:
                            value = yield self.application(block, node, function, arguments)
                    except AdjudgeError as error:
                        raise self.located(error, node) from None
                    type = self.inference.types[block].get(node)
                    if value is None or type is None or type == NEVER:
                        self.trap("True", STUCK)
                        return None
                    env[node] = self.counted(convert(value, type), readers(self.program, node))
        return env

    def application(self, block: Signature, node: NodeId, function: Any, arguments: list[Any]) -> Emission:
        """A primitive, or a call that is not the last thing the block does."""
        type = self.inference.types[block].get(node, NEVER)
        if isinstance(function, Fn) and isinstance(function.function, Primitive):
            return (
                None
                if type == NEVER and self.gives_up(function.function, arguments)
                else self.primitive(function.function, arguments)
            )
        if isinstance(function, Fn):
            return (yield self.call(self.callee(block, node, function), function.captured, tuple(arguments), type))
        result = None if type == NEVER else make(type, self.variable)
        for test, option in options(function):
            with self.under(test):
                value = yield self.application(block, node, option, arguments)
                if value is not None and result is not None:
                    self.move((result,), (convert(value, type),))
        return result

    def gives_up(self, primitive: Primitive, arguments: list[Any]) -> bool:
        """Whether there is None or ZERO in place of an argument, which inference has let pass as what no run needs."""
        try:
            self.result_type(primitive, [typed(a) for a in arguments])
        except AdjudgeError as error:
            return isinstance(error, IllTyped)
        return False

    def applied(self, option: Any, arguments: list[Any]) -> Any:
        if isinstance(option, Fn):
            return self.primitive(option.function, arguments)
        self.trap("True", UNBOUND)
        return None

    def call(self, target: Signature, captured: tuple[Any, ...], arguments: tuple[Any, ...], type: Any) -> Emission:
        """A region of its own: inlined at the only place that calls it, or if it is small; else a function."""
        if (self.uses.get(target, 0) <= 1 or self.is_small(target)) and target.graph not in self.recursions:
            result = (
                make(self.inference.results[target], self.variable) if self.inference.results[target] != NEVER else Nothing(UNIT)
            )
            ends = yield self.region(target, captured, arguments, result, -self.fresh_number())  # type: ignore[attr-defined]
            assert not ends.breaks, "a region that no loop encloses cannot break"
            return None if type == NEVER else result
        if target not in self.functions:
            self.functions[target] = f"f{len(self.functions)}_{_word(self.program.graphs[target.graph].name)}"
            self.waiting.append(target)
        types = (*target.captured, *target.arguments)
        values = [
            stored(self.contiguous(convert(self.contiguous(v), t)), make(t, unnamed))
            for v, t in zip((*captured, *arguments), types, strict=True)
        ]
        result = None if self.inference.results[target] == NEVER else make(self.inference.results[target], self.variable)
        names = [r.text for r in scalars(result)] if result is not None else []
        status = self.variable(INTEGER)
        numbers = [r for parts in values for r in parts]
        many = len(numbers) + len(self.state) + len(self.hidden) > MANY
        texts = [self.chosen_first(r) if many else r.text for r in numbers]
        given = ", ".join([*texts, *self.state, *self.hidden])
        self.line(f"({', '.join([*names, *self.state, status])},) = {self.functions[target]}({given})")
        self.fail(f"{status} != 0", status)
        return result

    def chosen_first(self, number: Reg) -> str:
        """The number, in a variable if it takes a branch to say it: beside that many arguments Numba allows for none."""
        if not any(word in number.text for word in (" if ", " and ", " or ")):
            return number.text
        name = self.variable(number.type)
        self.line(f"{name} = {number.text}")
        return name

    def is_small(self, target: Signature) -> bool:
        """Whether a graph is a few primitives, so that its code is no longer than a call."""
        return not self.inference.calls[target] and len(self.plan(target.graph)) <= SMALL

    def callee(self, block: Signature, node: NodeId, function: Fn) -> Signature:
        """The signature at which the block calls a graph here."""
        return next(s for s in self.inference.calls[block][node] if s.graph == function.function)

    def plan(self, graph: int) -> tuple[NodeId, ...]:
        if graph not in self.plans:
            order = reads_first(self.program, order_of_need(self.program, graph, self.free), self.free)
            self.plans[graph] = calls_first(self.program, order, self.calls)
        return self.plans[graph]

    def located(self, error: AdjudgeError, node: NodeId) -> AdjudgeError:
        if not error.node:
            error.node = self.program.describe(node)
            error.location = error.location or getattr(self.program.nodes[node], "location", None)
        return error


def _constant(value: Any) -> Any:
    match value:
        case bool() | int() | float():
            return literal(value)
        case Primitive():
            return Fn(value)
        case Zero():
            return ZERO_VALUE
        case Unbound():
            return Nothing(UNBOUND_TYPE)
        case tuple():
            return Items(tuple(_constant(v) for v in value))
        case Record(label, items):
            return Items(tuple(_constant(v) for v in items), label)
        case None:
            return Nothing(UNIT)
        case Slice():
            return make(of_constant(value), unnamed)
        case _:
            return Nothing(of_constant(value))


def unnamed(type: Scalar) -> str:
    return "_"


def _word(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
