"""
Lowering: a typed program to first-order code, as one Python source that every target reads.

Each signature of a graph is a block. A tail call is a jump, its arguments moved in parallel; a call in any other place opens a
region, inlined where it is the only one, else a function of its own. Loops and merges become `while` and `if` (`backend.flow`);
every jump is the last thing its path does, so a jump that does not continue the innermost loop is a note in `_go` of where
it leads, read where the paths meet.

Captured values are arguments like others, so a closure needs no memory. What is refused, with its reason: general
recursion, closures without end, irreducible jumps, and functions or zeros at the boundary.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.columns import NUMBA, Template
from backend.flow import Flow, flow
from backend.prelude import closure
from backend.shape import DEFAULTS, Fn, Items, Nothing, Reg, Sum, convert, default, literal, make, plain, scalars, typed
from backend.status import FUEL, STUCK, UNBOUND
from backend.structure import STRUCTURAL, WHOLE, ZERO_VALUE, with_zero
from semantics.columns.types import NEVER, TEXT, ZERO_TYPE, Literal, Union, apply_type, erase
from semantics.columns.types import UNBOUND as UNBOUND_TYPE
from semantics.errors import AdjudgeError, IllTyped, Malformed, OutOfFuel
from semantics.infer import Inference, Signature, infer
from semantics.ir import Apply, Constant, GraphRef, NodeId, Program
from semantics.primitives.row import Hole, Primitive
from semantics.primitives.table import TABLE
from semantics.scope import order_of_need, scopes
from semantics.tangents import Zero
from semantics.type_language import BOOLEAN, INTEGER, REAL, UNIT, FunctionType, Scalar, TupleType
from semantics.values import Unbound

LINES = 40_000
NESTING = 80
VERSION = 1

Code = list[Any]  # lines, and lists of lines one level deeper
Emission = Generator[Any, Any, Any]


@dataclass(frozen=True)
class Lowered:
    """The generated source; the scalar types that `kernel` takes (before fuel and one) and gives (before fuel and status)."""

    source: str
    arguments: tuple[Scalar, ...]
    results: tuple[Scalar, ...]
    argument_types: tuple[Any, ...]
    result_type: Any


@dataclass(eq=False)
class Region:
    """A region under construction. It leaves its value in `result`, or returns it if that is None."""

    flow: Flow
    result: Any
    key: int
    home: int
    storage: dict[Signature, tuple[Any, ...]] = field(default_factory=dict)
    number: dict[Signature, int] = field(default_factory=dict)
    landing: dict[Signature, int] = field(default_factory=dict)
    active: set[Signature] = field(default_factory=set)


@dataclass(frozen=True)
class Ends:
    """Where the paths of some code go: `falls` reach its end with a note in `_go`, `breaks` leave the innermost loop with one."""

    falls: frozenset[int] = frozenset()
    breaks: frozenset[int] = frozenset()

    def __or__(self, other: Ends) -> Ends:
        return Ends(self.falls | other.falls, self.breaks | other.breaks)


def lower(program: Program, argument_types: Sequence[Any] | None = None) -> Lowered:
    """The source of `program` at these argument types; Malformed or IllTyped with the reason where there is none."""
    try:
        return _Lowering(program, infer(program, argument_types, literals=False)).run()
    except (IllTyped, Malformed, OutOfFuel):
        try:
            return _Lowering(program, infer(program, argument_types)).run()
        except OutOfFuel as error:
            raise Malformed(f"not closure-free after optimization: {error.what}", rule="lower", remedy=error.remedy) from None


class _Lowering:
    def __init__(self, program: Program, inference: Inference) -> None:
        self.program, self.inference = program, inference
        self.free = scopes(program).free
        self.code: Code = []
        self.count, self.lines = 0, 0
        self.helpers: set[str] = set()
        self.functions: dict[Signature, str] = {}
        self.waiting: list[Signature] = []
        self.returns: Any = None
        self.sites: dict[Signature, int] = {}
        self.plans: dict[int, tuple[NodeId, ...]] = {}
        self.place: NodeId | None = None

    def run(self) -> Lowered:
        entry, result = self.inference.entry, self.inference.result
        if result == NEVER:
            raise IllTyped("no run of the program returns", rule="lower", remedy="every path traps or loops for ever")
        for type in (*entry.arguments, result):
            _at_boundary(type)
        self.recursion()
        parts = [self.function(entry, "kernel")]
        while self.waiting:
            signature = self.waiting.pop()
            parts.append(self.function(signature, self.functions[signature]))
        parts.reverse()
        source = "\n\n\n".join(f"@_device\n{text}" for text in (*closure(self.helpers), *parts)) + "\n"
        arguments = tuple(r.type for t in entry.arguments for r in scalars(make(t, _unnamed)))
        results = tuple(r.type for r in scalars(make(result, _unnamed)))
        return Lowered(source, arguments, results, tuple(map(erase, entry.arguments)), result)

    # judgments before any code

    def tail(self, signature: Signature) -> NodeId | None:
        """The call at the output, if the graph ends in one."""
        output = self.program.graphs[signature.graph].output
        return output if output in self.inference.calls.get(signature, {}) else None

    def successors(self, signature: Signature) -> tuple[Signature, ...]:
        node = self.tail(signature)
        return () if node is None else self.inference.calls[signature][node]

    def recursion(self) -> None:
        """Malformed if a call that is not in tail position can lead back to its caller. Also counts the places of such calls."""
        calls = self.inference.calls
        component = _components({s: [t for at in calls[s].values() for t in at] for s in calls})
        for caller, at in calls.items():
            for node, callees in at.items():
                if node == self.tail(caller):
                    continue
                for callee in callees:
                    self.sites[callee] = self.sites.get(callee, 0) + 1
                    if component[callee] == component[caller]:
                        raise Malformed(
                            f"general recursion: @{self.program.graphs[caller.graph].name} calls itself through "
                            f"@{self.program.graphs[callee.graph].name}, and not as the last thing that it does",
                            rule="lower",
                            node=self.program.describe(node),
                            location=getattr(self.program.nodes[node], "location", None),
                            remedy="write it as a loop with an accumulator, or run it on the reference machine",
                        )

    # functions and regions

    def function(self, signature: Signature, name: str) -> str:
        """The text of one function."""
        self.code = body = ["_go = 0"]
        result = self.inference.results[signature]
        self.returns = () if result == NEVER else tuple(r.text for r in scalars(default(result)))
        parameters: list[str] = []

        def parameter(type: Scalar) -> str:
            parameters.append(f"a{len(parameters)}")
            return parameters[-1]

        captured = tuple(make(t, parameter) for t in signature.captured)
        arguments = tuple(make(t, parameter) for t in signature.arguments)
        _trampoline(self.region(signature, captured, arguments, None, 0))
        text = _text(body)
        if "_go ==" not in text and "_go !=" not in text:
            text = "\n".join(line for line in text.split("\n") if not line.strip().startswith("_go ="))
        return f"def {name}({', '.join([*parameters, 'fuel', 'one'])}):\n{text}"

    def region(self, entry: Signature, captured: tuple[Any, ...], arguments: tuple[Any, ...], result: Any, loop: int) -> Emission:
        """The code from `entry` on; its value goes to `result`, or is returned. Answers where its paths end."""
        found = flow(entry, self.successors)
        if found.irreducible is not None:
            names = " and ".join(f"@{self.program.graphs[s.graph].name}" for s in found.irreducible)
            raise Malformed(
                f"the tail calls between {names} enter a loop at two places", rule="lower", remedy="give the loop one head"
            )
        region = Region(found, result, self.fresh_number(), loop)
        return (yield self.go(region, entry, captured, arguments, loop))

    def go(self, region: Region, target: Signature, captured: tuple[Any, ...], arguments: tuple[Any, ...], loop: int) -> Emission:
        """A jump: moves, and then either the block itself or a note of where it is."""
        values = tuple(convert(v, t) for v, t in zip((*captured, *arguments), (*target.captured, *target.arguments), strict=True))
        if target in region.active:
            self.move(region.storage[target], values)
            if loop == region.number[target]:
                self.line("continue")
                return Ends()
            return self.note(region.number[target], region.landing[target], loop)
        if target in region.landing:
            self.move(region.storage[target], values)
            return self.note(region.number[target], region.landing[target], loop)
        if target in region.flow.headers:
            self.store(region, target)
            self.move(region.storage[target], values)
            return (yield self.tree(region, target, region.storage[target], loop))
        return (yield self.tree(region, target, tuple(plain(v) for v in values) if _erased(target) else values, loop))

    def note(self, number: int, landing: int, loop: int) -> Ends:
        self.line(f"_go = {number}")
        if landing == loop:
            return Ends(falls=frozenset([number]))
        self.line("break")
        return Ends(breaks=frozenset([number]))

    def store(self, region: Region, block: Signature) -> None:
        """Variables for what the block captures and takes."""
        region.number[block] = self.fresh_number()
        region.storage[block] = tuple(make(t, self.variable) for t in (*block.captured, *block.arguments))

    def tree(self, region: Region, block: Signature, values: tuple[Any, ...], loop: int) -> Emission:
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

    def within(self, region: Region, block: Signature, values: tuple[Any, ...], loop: int) -> Emission:
        """The straight line of the block, its end, then the merges below it, each where its paths meet."""
        merges = region.flow.below[block]
        env = yield self.straight(block, values)
        if env is None:
            return Ends()
        for merge in merges:
            self.store(region, merge)
            region.landing[merge] = loop
        ends = yield self.end(region, block, env, loop)
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
        for test, option in _options(function):
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
            type = self.inference.results[region.flow.order[0]]
            texts = [r.text for r in _stored(convert(value, type), make(type, _unnamed))]
            self.line(f"return ({', '.join([*texts, 'fuel', '0'])},)")
            return Ends()
        self.move((region.result,), (convert(value, typed(region.result)),))
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
                    env[node] = _constant(value)
                case Apply(_, inputs):
                    self.place = node
                    function, *arguments = (env[n] for n in inputs)
                    try:
                        value = yield self.application(block, node, function, arguments)
                    except AdjudgeError as error:
                        raise self.located(error, node) from None
                    type = self.inference.types[block].get(node)
                    if value is None or type is None or type == NEVER:
                        self.trap("True", STUCK)
                        return None
                    env[node] = convert(value, type)
        return env

    def application(self, block: Signature, node: NodeId, function: Any, arguments: list[Any]) -> Emission:
        """A primitive, or a call that is not the last thing the block does."""
        if isinstance(function, Fn) and isinstance(function.function, Primitive):
            return self.primitive(function.function, arguments)
        type = self.inference.types[block].get(node, NEVER)
        if isinstance(function, Fn):
            return (yield self.call(self.callee(block, node, function), function.captured, tuple(arguments), type))
        result = None if type == NEVER else make(type, self.variable)
        for test, option in _options(function):
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
        """A region of its own: inlined at the only place that calls it, else a function."""
        if self.sites.get(target, 0) <= 1:
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
        values = [_stored(convert(v, t), make(t, _unnamed)) for v, t in zip((*captured, *arguments), types, strict=True)]
        result = None if self.inference.results[target] == NEVER else make(self.inference.results[target], self.variable)
        names = [r.text for r in scalars(result)] if result is not None else []
        status = self.variable(INTEGER)
        texts = [r.text for parts in values for r in parts]
        self.line(f"({', '.join([*names, 'fuel', status])},) = {self.functions[target]}({', '.join([*texts, 'fuel', 'one'])})")
        self.fail(f"{status} != 0", status)
        return result

    def callee(self, block: Signature, node: NodeId, function: Fn) -> Signature:
        """The signature at which the block calls a graph here."""
        return next(s for s in self.inference.calls[block][node] if s.graph == function.function)

    # primitives

    def primitive(self, primitive: Primitive, arguments: list[Any]) -> Any:
        """The value of a primitive; over a choice, each of its options in a branch."""
        at = next((i for i, a in enumerate(arguments) if isinstance(a, Sum)), None)
        if at is not None and primitive.name not in WHOLE and not (primitive.name == "switch" and at > 0):
            return self.by_cases(primitive, arguments, at)
        if any(isinstance(a, Nothing) and a.type == UNBOUND_TYPE for a in arguments) and primitive.name not in (*WHOLE, "switch"):
            self.trap("True", UNBOUND)
            return None
        if primitive.name == "to_boolean" and isinstance(arguments[0], Items):
            return literal(bool(arguments[0].items))
        if TABLE.get(primitive.name) is primitive and primitive.name in STRUCTURAL:
            return STRUCTURAL[primitive.name](self, *arguments)
        return self.scalar(primitive, arguments)

    def by_cases(self, primitive: Primitive, arguments: list[Any], at: int) -> Any:
        """One branch for every option of an argument."""
        type = erase(apply_type(primitive, [typed(a) for a in arguments]))
        result = None if type == NEVER else make(type, self.variable)
        for test, option in _options(arguments[at]):
            outer, self.code = self.code, []
            value = self.primitive(primitive, [*arguments[:at], option, *arguments[at + 1 :]])
            if value is not None and result is not None:
                self.move((result,), (convert(value, type),))
            body, self.code = self.code, outer
            self.code += [test, body] if test else body
        return result

    def scalar(self, primitive: Primitive, arguments: list[Any]) -> Any:
        """A template filled in and assigned."""
        if any(isinstance(a, Nothing) and a.type == ZERO_TYPE for a in arguments):
            known = with_zero(primitive.name, arguments)
            if known is not None:
                return known
            if primitive.name == "sub":
                return self.primitive(TABLE["neg"], [arguments[1]])
            arguments = [Reg("0.0", REAL) if isinstance(a, Nothing) else a for a in arguments]
        if not all(isinstance(a, Reg) for a in arguments):
            raise IllTyped(f"{primitive.name} wants scalars, found {', '.join(str(typed(a)) for a in arguments)}", rule="lower")
        types = [typed(a) for a in arguments]
        cell = NUMBA.find(primitive)
        if isinstance(cell, Hole):
            raise IllTyped(
                f"{primitive.name} has no generated source: {cell.reason}", rule="lower", remedy='give it a "numba" column'
            )
        template = Template(cell, REAL, real=True) if isinstance(cell, str) else cell(*types)
        if isinstance(template, str):
            template = Template(template, erase(apply_type(primitive, types)))
        texts = [f"float({a.text})" if template.real and a.type == INTEGER else a.text for a in arguments]
        self.helpers.update(template.helpers)
        for condition, status in template.checks:
            self.trap(condition.format(*texts), status)
        result = self.variable(template.type)
        if template.fallible:
            status_name = self.variable(INTEGER)
            self.line(f"({result}, {status_name}) = {template.text.format(*texts)}")
            self.fail(f"{status_name} != 0", status_name)
        elif template.text == "{0}":
            return Reg(texts[0], template.type)
        else:
            self.line(f"{result} = {template.text.format(*texts)}")
        return Reg(result, template.type)

    # lines

    def move(self, targets: tuple[Any, ...], values: tuple[Any, ...]) -> None:
        """The parallel move: every source is read before any target is written."""
        to = [r.text for t in targets for r in scalars(t)]
        source = [r.text for v, t in zip(values, targets, strict=True) for r in _stored(v, t)]
        pairs = [(t, s) for t, s in zip(to, source, strict=True) if t != s]
        if len(pairs) == 1:
            self.line(f"{pairs[0][0]} = {pairs[0][1]}")
        elif pairs:
            self.line(f"({', '.join(t for t, _ in pairs)}) = ({', '.join(s for _, s in pairs)})")

    def trap(self, condition: str, status: int) -> None:
        """Ends the function with a status if the condition holds."""
        self.fail(condition, str(status))

    def fail(self, condition: str, status: str) -> None:
        returned = f"return ({', '.join([*self.returns, 'fuel', status])},)"
        if condition == "True":
            self.line(returned)
        else:
            self.line(f"if {condition}:")
            self.code.append([returned])

    def line(self, text: str) -> None:
        self.lines += 1
        if self.lines > LINES:
            raise Malformed(
                f"the program needs more than {LINES} lines of code", rule="lower", remedy="run it on the reference machine"
            )
        self.code.append(text)

    def fresh_number(self) -> int:
        self.count += 1
        return self.count

    def variable(self, type: Scalar) -> str:
        return f"{ {REAL: 'x', INTEGER: 'i', BOOLEAN: 'b'}[type] }{self.fresh_number()}"

    def plan(self, graph: int) -> tuple[NodeId, ...]:
        if graph not in self.plans:
            self.plans[graph] = order_of_need(self.program, graph, self.free)
        return self.plans[graph]

    def located(self, error: AdjudgeError, node: NodeId) -> AdjudgeError:
        if not error.node:
            error.node = self.program.describe(node)
            error.location = error.location or getattr(self.program.nodes[node], "location", None)
        return error


def _options(value: Any) -> list[tuple[str, Any]]:
    """The options of a value as an if-chain: the line that opens each, empty if there is one only."""
    if not isinstance(value, Sum):
        return [("", value)]
    live = [(t, o) for t, o in zip(value.tests, value.options, strict=True) if t != "False"]
    if len(live) == 1:
        return [("", live[0][1])]
    lines = [f"if {live[0][0]}:", *(f"elif {t}:" for t, _ in live[1:-1]), "else:"]
    return [(line, option) for line, (_, option) in zip(lines, live, strict=True)]


def _stored(value: Any, target: Any) -> list[Reg]:
    """The scalars of a value in the layout of its target; known ones are written out."""
    match value, target:
        case Reg(text, type, _), Reg(_, _, None):
            return [Reg(text, type)]
        case Items(parts) | Fn(_, parts), Items(into) | Fn(_, into):
            return [r for p, t in zip(parts, into, strict=True) for r in _stored(p, t)]
        case Sum(), Sum():
            number = next(iter(scalars(value)))
            return [number, *(r for p, t in zip(value.options, target.options, strict=True) for r in _stored(p, t))]
        case _:
            return []


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
        case None:
            return Nothing(UNIT)
        case _:
            return Nothing(TEXT)


def _at_boundary(type: Any) -> None:
    """IllTyped unless values of the type can cross the boundary of compiled code."""
    match type:
        case TupleType(parts) | Union(parts):
            for part in parts:
                _at_boundary(part)
        case FunctionType():
            raise IllTyped(
                f"a function, {type}, at the boundary of compiled code", rule="lower", remedy="call it inside the program"
            )
        case _ if type not in DEFAULTS and type != UNIT:
            raise IllTyped(f"{type} at the boundary of compiled code", rule="lower", remedy="numbers, booleans and tuples of them")


def _unnamed(type: Scalar) -> str:
    return "_"


def _word(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in name)


def _text(code: Code) -> str:
    """The lines with their indentation; Malformed where Python could not read it."""
    lines: list[str] = []
    todo: list[tuple[Any, int]] = [(code, 1)]
    while todo:
        item, depth = todo.pop()
        if isinstance(item, str):
            lines.append("    " * depth + item)
            continue
        if depth > NESTING:
            raise Malformed(f"the code nests more than {NESTING} deep", rule="lower", remedy="run it on the reference machine")
        todo += [(part, depth + isinstance(part, list)) for part in reversed(item or ["pass"])]
    return "\n".join(lines)


def _components(edges: dict[Any, list[Any]]) -> dict[Any, int]:
    """The strongly connected component of every node (Tarjan, with an explicit stack)."""
    index: dict[Any, int] = {}
    low: dict[Any, int] = {}
    component: dict[Any, int] = {}
    path: list[Any] = []
    for root, first in edges.items():
        if root in index:
            continue
        todo = [(root, iter(first))]
        index[root] = low[root] = len(index)
        path.append(root)
        while todo:
            node, rest = todo[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    path.append(target)
                    todo.append((target, iter(edges[target])))
                    break
                if target not in component:
                    low[node] = min(low[node], index[target])
            else:
                todo.pop()
                if todo:
                    low[todo[-1][0]] = min(low[todo[-1][0]], low[node])
                if low[node] == index[node]:
                    while True:
                        member = path.pop()
                        component[member] = index[node]
                        if member == node:
                            break
    return component


def _trampoline(first: Emission) -> Any:
    """Runs generators that yield the generators they depend on."""
    frames = [first]
    value: Any = None
    error: BaseException | None = None
    while frames:
        try:
            request = frames[-1].throw(error) if error is not None else frames[-1].send(value)
        except StopIteration as end:
            frames.pop()
            value, error = end.value, None
        except AdjudgeError as raised:
            frames.pop()
            value, error = None, raised
        else:
            value, error = None, None
            frames.append(request)
    if error is not None:
        raise error
    return value
