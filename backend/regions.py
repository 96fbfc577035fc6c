"""
Regions: the code of everything that one tail call after another can reach, from its entry to its value.

Every jump is the last thing that its path does. One to the head of the innermost loop is `continue`; any other is a note in `_go`
of where it leads, after which the path falls to the end of its loop's body, or breaks; where paths meet, the note is read.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from backend.arrays.creation import constant
from backend.arrays.table import readers
from backend.emit import stored
from backend.flow import Block, Head, flow
from backend.region import Ends, Region
from backend.scheduling import reads_first
from backend.shape import ZERO_VALUE, Fn, Items, Nothing, convert, literal, make, options, plain, scalars, typed
from backend.stacks import NO_SITES, Sites, Stacks
from backend.status import FUEL, STUCK, UNBOUND
from semantics.arrays import Array
from semantics.errors import AdjudgeError, Malformed
from semantics.infer import Inference, Signature
from semantics.ir import Apply, Constant, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.scope import order_of_need, scopes
from semantics.structured import Record, Slice
from semantics.tangents import Zero
from semantics.type_language import INTEGER, UNIT, Scalar
from semantics.type_lattice import NEVER, Literal, of_constant
from semantics.type_lattice import UNBOUND as UNBOUND_TYPE
from semantics.values import Unbound

Emission = Generator[Any, Any, Any]
IRREDUCIBLE = "lower/irreducible"
SMALL = 8  # nodes


class Regions(Stacks):
    """
    Writes regions of one typed program. Functions that a region calls wait in `waiting` to be written. Loops that are entered at
    several places are refused unless there may be `heads`.
    """

    def __init__(
        self, program: Program, inference: Inference, sites: Sites = NO_SITES, fast: bool = False, heads: bool = True
    ) -> None:
        super().__init__(sites)
        self.fast, self.heads = fast, heads
        self.program, self.inference = program, inference
        self.free = scopes(program).free
        self.functions: dict[Signature, str] = {}
        self.waiting: list[Signature] = []
        self.result: Any = NEVER  # the type that the function at hand gives
        self.uses: dict[Signature, int] = {}
        self.recursions = {program.owner(site) for site, family in sites.families.items() if family.known}
        self.plans: dict[int, tuple[NodeId, ...]] = {}

    def tail(self, signature: Signature) -> NodeId | None:
        """The call at the output, if the graph ends in one."""
        output = self.program.graphs[signature.graph].output
        return output if output in self.inference.calls.get(signature, {}) else None

    def successors(self, signature: Signature) -> tuple[Signature, ...]:
        node = self.tail(signature)
        return () if node is None else self.inference.calls[signature][node]

    def region(self, entry: Signature, captured: tuple[Any, ...], arguments: tuple[Any, ...], result: Any, loop: int) -> Emission:
        """The code from `entry` on; its value goes to `result`, or is returned. Answers where its paths end."""
        found = flow(entry, self.successors)
        if found.heads and not self.heads:
            names = " and ".join(f"@{self.program.graphs[s.graph].name}" for s in found.heads)
            raise Malformed(
                f"the tail calls between {names} enter a loop at two places", rule=IRREDUCIBLE, remedy="give the loop one head"
            )
        region = Region(found, result, self.fresh_number(), loop, self.code)
        return (yield self.go(region, entry, captured, arguments, loop))

    def go(self, region: Region, target: Signature, captured: tuple[Any, ...], arguments: tuple[Any, ...], loop: int) -> Emission:
        """A jump: moves, and then either the block itself or a note of where it is."""
        values = tuple(convert(v, t) for v, t in zip((*captured, *arguments), (*target.captured, *target.arguments), strict=True))
        block = region.flow.heads.get(target, target)
        if block in region.flow.headers and block not in region.landing:
            self.store(region, block)
        elif block not in region.storage:
            return (yield self.tree(region, target, tuple(plain(v) for v in values) if _erased(target) else values, loop))
        into = region.storage[block]
        if isinstance(block, Head):
            into, values = (*region.storage[target], *into), (*values, literal(block.entries.index(target)))
        self.move(into, values)
        if block not in region.landing:
            return (yield self.tree(region, block, region.storage[block], loop))
        if block in region.active and loop == region.number[block]:
            self.line("continue")
            return Ends()
        return self.note(region.number[block], region.landing[block], loop)

    def note(self, number: int, landing: int, loop: int) -> Ends:
        self.line(f"_go = {number}")
        if landing == loop:
            return Ends(falls=frozenset([number]))
        self.line("break")
        return Ends(breaks=frozenset([number]))

    def store(self, region: Region, block: Block) -> None:
        """Variables for what the block captures and takes; of a head, for which entry it is, and for what these take."""
        region.number[block] = self.fresh_number()
        types = (INTEGER,) if isinstance(block, Head) else (*block.captured, *block.arguments)
        region.storage[block] = tuple(make(t, self.variable) for t in types)
        for entry in block.entries if isinstance(block, Head) else ():
            self.store(region, entry)

    def tree(self, region: Region, block: Block, values: tuple[Any, ...], loop: int) -> Emission:
        """The block and all it dominates; a header as a loop around them."""
        if block not in region.flow.headers:
            return (yield self.within(region, block, values, loop))
        number = region.number[block]
        region.active.add(block)
        region.landing.setdefault(block, loop)
        outer, self.code = self.code, []
        self.line("fuel = fuel - 1")
        self.trap("fuel < 0", FUEL)
        ends = yield self.within(region, block, values, number)
        if leaving := ends.falls - {number}:
            if number in ends.falls:
                self.line(f"if _go != {number}:")
                self.code.append(["break"])
            else:
                self.line("break")
        body, self.code = self.code, outer
        self.code += ["while True:", body]
        region.active.discard(block)
        return Ends(falls=ends.breaks | leaving)

    def within(self, region: Region, block: Block, values: tuple[Any, ...], loop: int) -> Emission:
        """The straight line of the block, its end, then the merges below it, each where its paths meet."""
        merges = region.flow.below[block]
        env = {} if isinstance(block, Head) else (yield self.straight(block, values))
        if env is None:
            return Ends()
        for merge in merges:
            self.store(region, merge)
            region.landing[merge] = loop
        ends = yield self.enter(region, block, loop) if isinstance(block, Head) else self.end(region, block, env, loop)
        for merge in merges:
            number = region.number[merge]
            if number not in ends.falls:
                continue
            rest = Ends(ends.falls - {number}, ends.breaks)
            if rest.falls:
                outer, self.code = self.code, []
            below = yield self.tree(region, merge, region.storage[merge], loop)
            if rest.falls:
                body, self.code = self.code, outer
                self.code += [f"if _go == {number}:", body]
            ends = rest | below
        return ends

    def enter(self, region: Region, head: Head, loop: int) -> Emission:
        """The entry at which the loop goes on."""
        (which,) = region.storage[head]
        tests = [f"{'elif' if k else 'if'} {which.text} == {k}:" for k in range(len(head.entries) - 1)]
        ends = Ends()
        for test, entry in zip((*tests, "else:"), head.entries, strict=True):
            outer, self.code = self.code, []
            ends |= yield self.tree(region, entry, region.storage[entry], loop)
            body, self.code = self.code, outer
            self.code += [test, body]
        return ends

    def end(self, region: Region, block: Signature, env: dict[NodeId, Any], loop: int) -> Emission:
        """The last thing the block does: a jump, one of several, or its value."""
        node = self.tail(block)
        if node is not None:
            return (yield self.dispatch(region, block, node, env, loop))
        value = env[self.program.graphs[block.graph].output]
        return self.leave(region, value, loop)

    def dispatch(self, region: Region, block: Signature, node: NodeId, env: dict[NodeId, Any], loop: int) -> Emission:
        """A tail call of a known function, or of one of several."""
        function, *arguments = (env[n] for n in self.program.inputs(node))
        ends = Ends()
        for test, option in options(function):
            outer = self.code
            if test:
                self.code = []
            if isinstance(option, Fn) and not isinstance(option.function, Primitive):
                target = self.callee(block, node, option)
                ends |= yield self.go(region, target, option.captured, tuple(arguments), loop)
            else:
                value = self.applied(option, arguments)
                if value is not None:
                    ends |= self.leave(region, convert(value, self.inference.types[block][node]), loop)
            if test:
                body, self.code = self.code, outer
                self.code += [test, body]
        return ends

    def leave(self, region: Region, value: Any, loop: int) -> Ends:
        """The value of the region: returned, or stored where the region leaves its result."""
        if region.result is None:
            value = self.demanded_of(value, self.result)
            if value is None:
                return Ends()
            value = self.given_out(value) if self.left == ("fuel",) else self.contiguous(value)
            texts = [r.text for r in stored(convert(value, self.result), make(self.result, unnamed))]
            self.line(f"return ({', '.join([*texts, *self.left, '0'])},)")
            return Ends()
        value = self.contiguous(convert(value, typed(region.result)))
        self.move((region.result,), (value,))
        if self.code is region.code:
            self.assigned(region.result, value)
        return self.note(region.key, region.home, loop)

    # straight lines

    def straight(self, block: Signature, values: tuple[Any, ...]) -> Emission:
        """Everything that the block evaluates before its end; None if it traps for certain."""
        graph = self.program.graphs[block.graph]
        env: dict[NodeId, Any] = dict(zip((*self.free[block.graph], *graph.parameters), values, strict=True))
        tail = self.tail(block)
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
                    try:
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
        if node in self.sites:
            return self.push(node, arguments)
        if isinstance(function, Fn) and isinstance(function.function, Primitive):
            return self.primitive(function.function, arguments)
        type = self.inference.types[block].get(node, NEVER)
        if isinstance(function, Fn):
            return (yield self.call(self.callee(block, node, function), function.captured, tuple(arguments), type))
        result = None if type == NEVER else make(type, self.variable)
        for test, option in options(function):
            outer, self.code = self.code, []
            value = yield self.application(block, node, option, arguments)
            if value is not None and result is not None:
                self.move((result,), (convert(value, type),))
            body, self.code = self.code, outer
            self.code += [test, body] if test else body
        return result

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
            ends = yield self.region(target, captured, arguments, result, -self.fresh_number())
            assert not ends.breaks, "a region that no loop encloses cannot break"
            return None if type == NEVER else result
        if target not in self.functions:
            self.functions[target] = f"f{len(self.functions)}_{_word(self.program.graphs[target.graph].name)}"
            self.waiting.append(target)
        types = (*target.captured, *target.arguments)
        values = [
            stored(convert(self.contiguous(v), t), make(t, unnamed)) for v, t in zip((*captured, *arguments), types, strict=True)
        ]
        result = None if self.inference.results[target] == NEVER else make(self.inference.results[target], self.variable)
        names = [r.text for r in scalars(result)] if result is not None else []
        status = self.variable(INTEGER)
        texts = [r.text for parts in values for r in parts]
        given = ", ".join([*texts, *self.state, *self.hidden])
        self.line(f"({', '.join([*names, *self.state, status])},) = {self.functions[target]}({given})")
        self.fail(f"{status} != 0", status)
        return result

    def is_small(self, target: Signature) -> bool:
        """Whether a graph is a few primitives, so that its code is no longer than a call."""
        return not self.inference.calls[target] and len(self.plan(target.graph)) <= SMALL

    def callee(self, block: Signature, node: NodeId, function: Fn) -> Signature:
        """The signature at which the block calls a graph here."""
        return next(s for s in self.inference.calls[block][node] if s.graph == function.function)

    def plan(self, graph: int) -> tuple[NodeId, ...]:
        if graph not in self.plans:
            self.plans[graph] = reads_first(self.program, order_of_need(self.program, graph, self.free))
        return self.plans[graph]

    def located(self, error: AdjudgeError, node: NodeId) -> AdjudgeError:
        if not error.node:
            error.node = self.program.describe(node)
            error.location = error.location or getattr(self.program.nodes[node], "location", None)
        return error


def _erased(signature: Signature) -> bool:
    return not any(isinstance(t, Literal) for t in (*signature.captured, *signature.arguments))


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
