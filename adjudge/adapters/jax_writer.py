"""
From a program to a jaxpr: the program is run on tracers, and JAX writes down what it does.

    switch(c, @a, @b)(x…)            lax.cond where c is not known
    @loop(s): switch(c, @step, @done)()   lax.while_loop, if every way from @step ends in a call of @loop and none from @done does
    f(x…)                            traced through; recursion that is no loop is refused

The calls that a graph makes run on a small trampoline; only branches and loops nest in Python, as they do in JAX itself.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
from jax import lax

from adjudge.adapters.jax_array_column import ARRAY_CELLS
from adjudge.adapters.jax_column import CELLS, Window, is_number, lift, refused
from semantics.errors import AdjudgeError, Malformed
from semantics.ir import NOT_CONSTANT, Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import evaluation_order, scopes
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, TupleType
from semantics.values import Closure
from transforms.array_rows import NUMPY_DTYPE
from transforms.known_dtypes import with_known_dtypes

COLUMN: dict[str, Callable[..., Any]] = {**CELLS, **ARRAY_CELLS}
SCALARS = {REAL: "f64", INTEGER: "i64", BOOLEAN: "bool"}

NO_LOOP = "write it as a while or for loop with one way out"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two functions, by a condition that is known when the jaxpr runs."""

    condition: Any
    consequent: Any
    alternative: Any


@dataclass(frozen=True, slots=True)
class Again:
    """The state with which a loop goes on."""

    state: tuple[Any, ...]


class Call(NamedTuple):
    """A request to the trampoline."""

    function: Any
    arguments: list[Any]


Run = Generator[Call, Any, Any]
Loops = tuple[GraphId, ...]


class Writer:
    """A program, run on tracers."""

    def __init__(self, program: Program) -> None:
        self.program = program
        found = scopes(program)
        self.free, self.references = found.free, found.references
        self._reach: dict[tuple[GraphId, Loops], frozenset[GraphId]] = {}

    def run(self, function: Any, arguments: Sequence[Any], loops: Loops = ()) -> Any:
        """The value of a function; in the body of loops, the innermost last, Again where it calls the innermost."""
        stack: list[Run] = [self.apply(Call(function, list(arguments)), loops)]
        value: Any = None
        while stack:
            try:
                request = stack[-1].send(value)
            except StopIteration as end:
                stack.pop()
                value = end.value
                continue
            stack.append(self.apply(request, loops))
            value = None
        return value

    def apply(self, call: Call, loops: Loops) -> Run:
        """What a call does: a graph is run, a primitive is looked up, a choice becomes a cond."""
        match call.function:
            case Closure(graph=graph) if graph in loops:
                if graph != loops[-1]:
                    raise refused(
                        f"@{self.program.graphs[graph].name}", "goes on from inside another loop", "one way out of a loop"
                    )
                return Again(tuple(call.arguments))
            case Closure(graph=graph) as closure if graph in self.reach(graph, loops):
                return self.loop(closure, call.arguments, loops)
            case Closure(graph=graph, captured=captured):
                env = dict(zip(self.program.graphs[graph].parameters, call.arguments, strict=True))
                env.update(zip(self.free[graph], captured, strict=True))
                return (yield from self.nodes(graph, env, evaluation_order(self.program, graph), self.program.graphs[graph].output))
            case Choice(condition, first, second):
                return self.branch(condition, first, second, call.arguments, loops)
            case Primitive(name=name):
                if name not in COLUMN:
                    raise refused(name, "has no counterpart in jaxprs")
                return COLUMN[name](*call.arguments)
            case other:
                raise refused("a call", f"of {other!r}")

    def nodes(self, graph: GraphId, env: dict[NodeId, Any], order: Iterable[NodeId], output: NodeId) -> Run:
        """The nodes of a graph in order, and what `output` is then."""
        for node in order:
            if node in env:
                continue
            match self.program.nodes[node]:
                case Constant(GraphRef(target)):
                    env[node] = Closure(target, tuple(env[n] for n in self.free[target]), self.program.graphs[target].name)
                case Constant(value):
                    env[node] = value
                case Apply(_, inputs):
                    function, *arguments = (env[n] for n in inputs)
                    try:
                        env[node] = self.special(node, env, function, arguments)
                        if env[node] is NOT_CONSTANT:
                            env[node] = yield Call(function, arguments)
                        if isinstance(env[node], Again) and node != output:
                            raise refused(f"@{self.program.graphs[graph].name}", "calls itself, and is no loop", NO_LOOP)
                    except AdjudgeError as error:
                        error.node = error.node if error.location else self.program.describe(node)
                        error.location = error.location or getattr(self.program.nodes[node], "location", None)
                        raise
        return env[output]

    def special(self, node: NodeId, env: dict[NodeId, Any], function: Any, arguments: list[Any]) -> Any:
        """A switch, whose branches may be functions, and a slice of known size; NOT_CONSTANT for other applications."""
        if function is TABLE["switch"]:
            return self.switch(*arguments)
        if function is TABLE["make_slice"] and hasattr(arguments[0], "aval") and arguments[2] in (None, 1):
            start, stop = self.program.inputs(node)[1:3]
            size = self.operand(stop, "add", start)
            if type(size) is int:
                return self.window(env, start, size)
        return NOT_CONSTANT

    def operand(self, node: NodeId, name: str, first: NodeId | None = None) -> Any:
        """The constant c if `node` is name(first, c), else NOT_CONSTANT."""
        inputs = self.program.inputs(node)
        fits = self.program.callee(node) is TABLE[name] and len(inputs) == 3 and first in (None, inputs[1])
        return self.program.constant(inputs[2]) if fits else NOT_CONSTANT

    def window(self, env: dict[NodeId, Any], start: NodeId, size: int) -> Window:
        """The slice start : start + size; of min(max(s, 0), n), which is how a window of XLA is read, by s and n."""
        last = self.operand(start, "minimum")
        if type(last) is int:
            bounded = self.program.inputs(start)[1]
            if self.operand(bounded, "maximum") == 0 and (free := self.program.inputs(bounded)[1]) in env:
                return Window(lift(env[free]), size, last, env[start])
        return Window(env[start], size)

    def switch(self, condition: Any, first: Any, second: Any) -> Any:
        """The value chosen: now if the condition is known, else by a select, or later."""
        if isinstance(condition, bool):
            return first if condition else second
        if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
            return tuple(self.switch(condition, a, b) for a, b in zip(first, second, strict=True))
        if is_number(first) and is_number(second):
            a, b = lift(first), lift(second)
            if (a.shape, a.dtype) != (b.shape, b.dtype):
                raise refused("switch", "between values of two types", "make both real, or both integers")
            return lax.select_n(condition, b, a)
        return Choice(condition, first, second)

    def branch(self, condition: Any, first: Any, second: Any, arguments: list[Any], loops: Loops) -> Any:
        """lax.cond on the calls of both."""
        structures: list[Any] = []

        def called(function: Any) -> Callable[[], list[Any]]:
            def branch() -> list[Any]:
                leaves, structure = flatten(self.run(function, arguments, loops))
                structures.append(structure)
                return leaves

            return branch

        try:
            leaves = lax.cond(condition, called(first), called(second))
        except TypeError as error:
            raise refused(
                "switch", "between functions whose results are of two types", "make both real, or both integers"
            ) from error
        if any(s != structures[0] for s in structures):
            raise refused("switch", "between results of two structures", "a loop that is left in the middle is not written")
        return unflatten(structures[0], leaves)

    def loop(self, head: Closure, arguments: list[Any], loops: Loops) -> Any:
        """lax.while_loop of a graph whose last act is to choose between going on and leaving."""
        graph = self.program.graphs[head.graph]
        chosen = self.program.inputs(graph.output)
        choice = self.program.inputs(chosen[0]) if len(chosen) == 1 and self.program.callee(chosen[0]) is TABLE["switch"] else ()
        targets = [getattr(self.program.constant(n), "graph", None) for n in choice[2:]]
        returns = [t is not None and head.graph in (t, *self.reach(t, loops)) for t in targets]
        if sorted(returns) != [False, True]:
            raise refused(f"@{graph.name}", "calls itself, and is no loop", NO_LOOP)
        leaves, structure = flatten(tuple(arguments))
        step, done = (choice[2 + returns.index(r)] for r in (True, False))

        def at(state: Any, node: NodeId) -> Any:
            env: dict[NodeId, Any] = dict(zip(graph.parameters, unflatten(structure, state), strict=True))
            env.update(zip(self.free[head.graph], head.captured, strict=True))
            return self._drive(self.nodes(head.graph, env, self.before(head.graph, node), node), loops)

        def test(state: Any) -> Any:
            condition = at(state, choice[1])
            return condition if returns[0] else lax.bitwise_not(lift(condition))

        def body(state: Any) -> list[Any]:
            found = self.run(at(state, step), [], (*loops, head.graph))
            after, new = flatten(found.state if isinstance(found, Again) else ())
            if new != structure:
                raise refused(f"@{graph.name}", "is left in the middle, or changes the structure of its state", "one way out")
            return [lift(x) for x in after]

        try:
            final = lax.while_loop(test, body, leaves)
        except TypeError as error:
            raise refused(f"@{graph.name}", "changes the type of its state", "start it with reals, or with integers") from error
        return self.run(at(final, done), [], loops)

    def _drive(self, nodes: Run, loops: Loops) -> Any:
        """The value of some nodes, and of the calls among them."""
        value: Any = None
        while True:
            try:
                request = nodes.send(value)
            except StopIteration as end:
                return end.value
            value = self.run(request.function, request.arguments, loops)

    def before(self, graph: GraphId, node: NodeId) -> list[NodeId]:
        """What `node` needs of its graph, in order of evaluation."""
        needed, todo = set(), [node]
        while todo:
            top = todo.pop()
            if top in needed:
                continue
            needed.add(top)
            todo.extend(self.program.inputs(top))
            target = self.program.constant(top)
            todo.extend(self.free[target.graph] if isinstance(target, GraphRef) else ())
        return [n for n in evaluation_order(self.program, graph) if n in needed]

    def reach(self, graph: GraphId, without: Loops = ()) -> frozenset[GraphId]:
        """The graphs that a run of this one may come to, not by way of those in `without`; itself only if it may call itself."""
        key = graph, without
        if key not in self._reach:
            found: set[GraphId] = set()
            todo = [t for t in self.references[graph] if t not in without]
            while todo:
                top = todo.pop()
                if top not in found:
                    found.add(top)
                    todo.extend(t for t in self.references[top] if t not in without)
            self._reach[key] = frozenset(found)
        return self._reach[key]


def flatten(value: Any) -> tuple[list[Any], Any]:
    """The numbers in a value, and its structure: None for a number, a tuple for a tuple. Structures nest as types do."""
    if isinstance(value, tuple):
        parts = [flatten(v) for v in value]
        return [leaf for leaves, _ in parts for leaf in leaves], tuple(s for _, s in parts)
    if isinstance(value, Again):
        leaves, structure = flatten(value.state)
        return leaves, ("again", structure)
    if not is_number(value):
        raise refused("a jaxpr", f"cannot hold {value!r}", "results and states of loops are numbers, arrays and tuples of them")
    return [lift(value)], None


def unflatten(structure: Any, leaves: Iterable[Any]) -> Any:
    """The value of a structure with these numbers."""
    rest = iter(leaves)

    def build(s: Any) -> Any:
        if s is None:
            return next(rest)
        if s[:1] == ("again",):
            return Again(build(s[1]))
        return tuple(build(part) for part in s)

    return build(structure)


@dataclass(frozen=True)
class Written:
    """A ClosedJaxpr, and the structure of the result of the program that it was made of."""

    closed: Any
    structure: Any


def write_jaxpr(program: Program) -> Written:
    """
    The jaxpr of a program whose parameters have declared types: numbers, arrays of known shapes, and tuples of them.

    Malformed at what jaxprs cannot say: recursion, functions as results, shapes that are not known when it is traced.
    """
    program = with_known_dtypes(program)
    types = [_declared(program, node) for node in program.graphs[program.entry].parameters]
    shapes: list[Any] = []
    structures = [_structure(t, shapes) for t in types]
    found: list[Any] = []

    def function(*leaves: Any) -> list[Any]:
        rest = iter(leaves)
        arguments = [unflatten(s, rest) for s in structures]
        results, structure = flatten(Writer(program).run(Closure(program.entry, ()), arguments))
        found.append(structure)
        return results

    try:
        closed = jax.make_jaxpr(function)(*shapes)
    except RecursionError:
        raise refused("the program", "nests its branches too deeply for JAX") from None
    except (TypeError, ValueError, IndexError, NotImplementedError) as error:
        raise refused("the program", f"cannot be traced by JAX: {str(error).splitlines()[0]}") from error
    return Written(closed, found[-1])


def _declared(program: Program, node: NodeId) -> Any:
    found = program.nodes[node]
    assert isinstance(found, Parameter)
    return REAL if found.type is None else found.type


def _structure(type: Any, shapes: list[Any]) -> Any:
    """The structure of a type; the shapes of its numbers are appended to `shapes`."""
    match type:
        case TupleType(items):
            return tuple(_structure(t, shapes) for t in items)
        case ArrayType(dtype, dims) if None not in dims:
            shapes.append(jax.ShapeDtypeStruct(dims, NUMPY_DTYPE[dtype]))
        case _ if type in SCALARS:
            shapes.append(jax.ShapeDtypeStruct((), NUMPY_DTYPE[SCALARS[type]]))
        case _:
            raise Malformed(f"a jaxpr takes no {type}", rule="jaxpr", remedy="numbers, arrays of known shapes, and tuples of them")
    return None
