"""
Inference: the types of every node of a program, from the types of its arguments alone (2018, section 3, "Strongly typed").

Abstract interpretation over the types of `semantics.type_lattice`. Every graph is judged once per signature: the types of its
captured values and of its arguments. A call depends on the result of its callee's signature, which starts at `never` and
grows until nothing changes: the least fixpoint, so recursion needs no annotation. Known integers and booleans, and the sizes of
arrays, travel through calls, since indices, axes and shapes do; where a graph calls itself again with others, they are forgotten.

What is certain to trap gives no value. When nothing grows any more, arrays that cannot fit together are an error of the program
that is inferred; an index that is certain to lie outside is one if no run of the program returns.

A program whose closures capture closures without end (the backpropagator of a recursion) has no finite type: OutOfFuel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from semantics.columns.types import apply_type
from semantics.errors import AdjudgeError, IllTyped, OutOfFuel, Trap
from semantics.indexing import OUTSIDE
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.scope import order_of_need, scopes
from semantics.type_language import FunctionType, TupleType
from semantics.type_lattice import NEVER, Union, erase, is_below, is_known, join, members, of_constant, unsized

SIGNATURES = 4000
PER_GRAPH = 16  # signatures, on average, that a large program may have for each of its graphs
DEPTH = 40
SIZE = 20_000
LITERAL_VARIANTS = 6
ANCESTORS = 200
RECURSIONS = 50


class Signature(NamedTuple):
    """A graph with the types of what it captured and of its arguments."""

    graph: GraphId
    captured: tuple[Any, ...]
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Inference:
    """
    result  the type of the program's value; `never` if no run returns
    entry   the signature of the entry
    types   for every signature that a run can reach, the type of every node its graph needs
    results the result of every signature
    calls   for every signature, the signatures that each of its applications can call
    """

    result: Any
    entry: Signature
    types: dict[Signature, dict[NodeId, Any]]
    results: dict[Signature, Any]
    calls: dict[Signature, dict[NodeId, tuple[Signature, ...]]]


def infer(program: Program, argument_types: Sequence[Any] | None = None, *, literals: bool = True) -> Inference:
    """
    The types of `program` called with arguments of these types; by default those its parameters declare.

    IllTyped, with the node and the calls that lead to it, if some run could apply something to a value of the wrong kind.
    With `literals` false, known integers and booleans do not travel through calls.
    """
    return _Inferrer(program, literals).run(_entry_types(program, argument_types))


def _entry_types(program: Program, given: Sequence[Any] | None) -> tuple[Any, ...]:
    """The argument types, checked against the declared ones."""
    entry = program.graphs[program.entry]
    declared: list[Any] = []
    for node in entry.parameters:
        found = program.nodes[node]
        assert isinstance(found, Parameter)
        declared.append(found.type)
    if given is None:
        for node, type in zip(entry.parameters, declared, strict=True):
            if type is None:
                raise IllTyped(
                    f"the parameter {program.describe(node)} declares no type",
                    rule="infer",
                    remedy="pass the types of all arguments",
                )
        return tuple(declared)
    if len(given) != len(declared):
        raise IllTyped(f"@{entry.name} takes {len(declared)} arguments, {len(given)} given", rule="infer", location=entry.location)
    for node, wanted, type in zip(entry.parameters, declared, given, strict=True):
        if wanted is not None and not is_below(erase(type), wanted):
            raise IllTyped(
                f"the parameter {program.describe(node)} wants {wanted}, found {type}", rule="infer", location=entry.location
            )
    return tuple(given)


class _Inferrer:
    """The fixpoint: a stack of signatures whose bodies must be judged again, and who depends on whose result."""

    def __init__(self, program: Program, literals: bool) -> None:
        self.program, self.literals = program, literals
        self.free = scopes(program).free
        self.plans: dict[GraphId, tuple[NodeId, ...]] = {}
        self.results: dict[Signature, Any] = {}
        self.types: dict[Signature, dict[NodeId, Any]] = {}
        self.dependents: dict[Signature, dict[Signature, NodeId]] = {}
        self.stopped: dict[Signature, NodeId] = {}
        self.origin: dict[Signature, tuple[Signature, NodeId]] = {}
        self.calls: dict[Signature, dict[NodeId, dict[Signature, None]]] = {}
        self.traps: dict[Signature, dict[NodeId, Trap]] = {}
        self.variants: dict[Signature, int] = {}
        self.skeletons: set[Signature] = set()
        self.todo: list[Signature] = []
        self.queued: set[Signature] = set()

    def run(self, arguments: tuple[Any, ...]) -> Inference:
        entry = Signature(self.program.entry, (), arguments)
        self.demand(entry)
        while self.todo:
            signature = self.todo.pop()
            self.queued.discard(signature)
            grown = join(self.results[signature], self.judge(signature))
            if grown != self.results[signature]:
                self.bounded(grown, signature)
                self.results[signature] = grown
                for dependent, node in self.dependents[signature].items():
                    if self.stopped.get(dependent) != node:
                        self.stopped.pop(dependent, None)
                    self.queue(dependent)
        self.refuse_certain_traps(entry)
        types = {s: {n: erase(t) for n, t in nodes.items()} for s, nodes in self.types.items()}
        results = {s: erase(t) for s, t in self.results.items()}
        calls = {s: {n: tuple(c) for n, c in at.items()} for s, at in self.calls.items()}
        return Inference(results[entry], entry, types, results, calls)

    def queue(self, signature: Signature) -> None:
        if signature not in self.queued:
            self.queued.add(signature)
            self.todo.append(signature)

    def demand(self, signature: Signature) -> Any:
        """The result of a signature as far as it is known; judged for the first time if it is new."""
        if signature not in self.results:
            most = max(SIGNATURES, PER_GRAPH * len(self.free))
            if len(self.results) >= most:
                raise self.endless(signature, f"more than {most} signatures of graphs")
            self.results[signature], self.dependents[signature] = NEVER, {}
            self.queue(signature)
        return self.results[signature]

    def judge(self, signature: Signature) -> Any:
        """
        The type of the output under the present knowledge of all callees. Nothing runs after what never returns: judging stops
        there, and goes on from there if it is only that call whose result has grown.
        """
        graph = self.program.graphs[signature.graph]
        if (stopped := self.stopped.pop(signature, None)) is not None:
            types = self.types[signature]
            del types[stopped]
        else:
            types = dict(zip(graph.parameters, signature.arguments, strict=True))
            types.update(zip(self.free[signature.graph], signature.captured, strict=True))
            self.types[signature], self.calls[signature], self.traps[signature] = types, {}, {}
        for node in self.plan(signature.graph):
            if node in types:
                continue
            match self.program.nodes[node]:
                case Constant(GraphRef(target)):
                    types[node] = FunctionType(target, tuple(types[n] for n in self.free[target]))
                case Constant(value):
                    types[node] = of_constant(value)
                case Apply(_, inputs):
                    try:
                        types[node] = self.application(signature, node, [types[n] for n in inputs])
                    except AdjudgeError as error:
                        raise self.located(error, signature, node) from None
                    if types[node] == NEVER:
                        self.stopped[signature] = node
                        return NEVER
        return types[graph.output]

    def application(self, caller: Signature, node: NodeId, inputs: Sequence[Any]) -> Any:
        """The join over everything that the function can be."""
        function, *arguments = inputs
        result: Any = NEVER
        for member in members(function):
            match member:
                case FunctionType(Primitive() as primitive, _):
                    result = join(result, self.primitive(caller, node, primitive, arguments))
                case FunctionType(graph, captured):
                    result = join(result, self.call(caller, node, graph, captured, arguments))
                case _:
                    raise IllTyped(f"{erase(member)} is not a function", rule="call", remedy="is a name bound to a value here?")
        return result

    def primitive(self, caller: Signature, node: NodeId, primitive: Primitive, arguments: Sequence[Any]) -> Any:
        """The type of its result; never, and why, if every run traps here."""
        try:
            return apply_type(primitive, arguments)
        except Trap as trap:
            self.traps[caller][node] = trap
            return NEVER

    def call(self, caller: Signature, node: NodeId, graph: GraphId, captured: tuple[Any, ...], arguments: Sequence[Any]) -> Any:
        """The present result of the callee; the caller is judged again when it grows."""
        found = self.program.graphs[graph]
        if len(found.parameters) != len(arguments):
            wanted = f"{len(found.parameters)} argument{'s' * (len(found.parameters) != 1)}"
            raise IllTyped(f"@{found.name} takes {wanted}, {len(arguments)} given", rule="call", location=found.location)
        signature = Signature(graph, captured, tuple(arguments))
        if signature not in self.results:
            signature = self.widened(caller, signature)
        if signature not in self.results:
            self.origin[signature] = (caller, node)
            self.nested(signature)
            for t in (*signature.captured, *signature.arguments):
                self.bounded(t, signature)
        result = self.demand(signature)
        self.dependents[signature].setdefault(caller, node)
        self.calls[caller].setdefault(node, {})[signature] = None
        return result

    def widened(self, caller: Signature, wanted: Signature) -> Signature:
        """
        The signature that stands for a new one, the same or one above it, so that there are finitely many.

        In a recursion what differs from the last time round is forgotten: known values and sizes. Elsewhere a graph has at most
        LITERAL_VARIANTS signatures that differ in known values only.
        """
        plain = _each(erase, wanted)
        if wanted != plain and not self.literals:
            wanted = plain
        skeleton = _each(unsized, plain)
        if wanted == skeleton:
            return wanted
        if skeleton in self.skeletons:
            for ancestor in self.ancestors(caller):
                if ancestor.graph == wanted.graph and _each(unsized, _each(erase, ancestor)) == skeleton:
                    captured = tuple(map(join, ancestor.captured, wanted.captured))
                    return Signature(wanted.graph, captured, tuple(map(join, ancestor.arguments, wanted.arguments)))
        self.skeletons.add(skeleton)
        if wanted != plain:
            seen = self.variants.get(plain, 0)
            if seen >= LITERAL_VARIANTS:
                return plain
            self.variants[plain] = seen + 1
        return wanted

    def nested(self, signature: Signature) -> None:
        """OutOfFuel if a graph calls itself with ever other types: sequences that a loop makes longer, closures over closures."""
        if sum(a.graph == signature.graph for a in self.ancestors(signature)) > RECURSIONS:
            raise self.endless(signature, f"a recursion of more than {RECURSIONS} rounds, each of which has other types")

    def ancestors(self, signature: Signature) -> Iterator[Signature]:
        """The signature and those from which it was first reached, at most ANCESTORS of them."""
        for _ in range(ANCESTORS):
            yield signature
            if signature not in self.origin:
                return
            signature = self.origin[signature][0]

    def refuse_certain_traps(self, entry: Signature) -> None:
        """IllTyped for the first application that traps in every run that reaches it: see the docstring of the module."""
        reached, todo = {entry}, [entry]
        for signature in todo:
            for node, trap in self.traps[signature].items():
                if trap.rule != OUTSIDE or self.results[entry] == NEVER:
                    raise self.located(self.certain(trap, signature, node), signature, node)
            for targets in self.calls[signature].values():
                found = [s for s in targets if s not in reached]
                reached.update(found)
                todo.extend(found)

    def certain(self, trap: Trap, signature: Signature, node: NodeId) -> IllTyped:
        """The error for what is certain to trap, with the types of the arguments that are not known values."""
        application = self.program.nodes[node]
        assert isinstance(application, Apply)
        given = [t for n in application.inputs[1:] if not is_known(t := self.types[signature][n])]
        what = f"{trap.what}; given {', '.join(map(str, given))}" if given else trap.what
        return IllTyped(what, rule=trap.rule, remedy=trap.remedy)

    def plan(self, graph: GraphId) -> tuple[NodeId, ...]:
        """The order of evaluation, made once."""
        if graph not in self.plans:
            self.plans[graph] = order_of_need(self.program, graph, self.free)
        return self.plans[graph]

    def bounded(self, t: Any, signature: Signature) -> None:
        """OutOfFuel if a type nests or grows as only an endless one does. One level of nesting at a time, no recursion."""
        level, depth, size = [t], 0, 0
        while level:
            depth, size = depth + 1, size + len(level)
            if depth > DEPTH or size > SIZE:
                raise self.endless(signature, f"types nested more than {DEPTH} deep or with more than {SIZE} parts")
            level = [part for outer in level for part in _parts(outer)]

    def endless(self, signature: Signature, what: str) -> OutOfFuel:
        name = self.program.graphs[signature.graph].name
        return OutOfFuel(
            f"the types at @{name} do not come to an end: {what}",
            rule="infer",
            location=self.program.graphs[signature.graph].location,
            remedy="a recursion that hands on closures over closures, as the backpropagator of a loop does, or ever longer tuples "
            "or lists, has no finite type; run it on the reference machine",
        )

    def located(self, error: AdjudgeError, signature: Signature, node: NodeId) -> AdjudgeError:
        """The error with its node, the calls that lead to it, and its source line: that of the last call if the node has none."""
        if error.node:
            return error
        error.node = self.program.describe(node)
        places = [(signature, node), *(self.origin[s] for s in self.ancestors(signature) if s in self.origin)]
        lines = (getattr(self.program.nodes[n], "location", None) for _, n in places)
        error.location = error.location or next((line for line in lines if line is not None), None)
        if chain := self.chain(signature):
            error.what = f"{error.what}; reached by {chain}"
            error.args = (error.what,)
        return error

    def chain(self, signature: Signature) -> str:
        """The calls from the entry to a signature, with their lines, outermost first; the middle of a long chain is left out."""
        calls: list[str] = []
        while signature in self.origin:
            signature, node = self.origin[signature]
            location = getattr(self.program.nodes[node], "location", None)
            calls.append(self.program.describe(node) + (f" ({location})" if location else ""))
        calls.reverse()
        return ", then ".join(calls if len(calls) <= 6 else [*calls[:3], "…", *calls[-3:]])


def _each(change: Callable[[Any], Any], signature: Signature) -> Signature:
    """The signature with every type changed."""
    return Signature(signature.graph, tuple(map(change, signature.captured)), tuple(map(change, signature.arguments)))


def _parts(t: Any) -> tuple[Any, ...]:
    match t:
        case TupleType(parts) | FunctionType(_, parts) | Union(parts):
            return parts
        case _:
            return ()
