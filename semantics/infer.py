"""
Inference: the types of every node of a program, from the types of its arguments alone (2018, section 3, "Strongly typed").

Abstract interpretation over the types of `semantics.type_lattice`. Every graph is judged once per signature: the types of its
captured values and of its arguments. A call depends on the result of its callee's signature, which starts at `never` and
grows until nothing changes: the least fixpoint, so recursion needs no annotation. Known integers and booleans travel
through calls, up to a few variants per graph, since tuple indices and exponents do.

A program whose closures capture closures without end (the backpropagator of a recursion) has no finite type: OutOfFuel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from semantics.columns.types import apply_type
from semantics.errors import AdjudgeError, IllTyped, OutOfFuel
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.scope import order_of_need, scopes
from semantics.type_language import FunctionType, TupleType
from semantics.type_lattice import NEVER, Union, erase, join, members, of_constant

SIGNATURES = 4000
DEPTH = 40
SIZE = 20_000
LITERAL_VARIANTS = 6


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
        if wanted is not None and erase(type) != wanted:
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
        self.dependents: dict[Signature, dict[Signature, None]] = {}
        self.origin: dict[Signature, tuple[Signature, NodeId]] = {}
        self.calls: dict[Signature, dict[NodeId, dict[Signature, None]]] = {}
        self.variants: dict[Signature, int] = {}
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
                for dependent in self.dependents[signature]:
                    self.queue(dependent)
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
            if len(self.results) >= SIGNATURES:
                raise self.endless(signature, f"more than {SIGNATURES} signatures of graphs")
            self.results[signature], self.dependents[signature] = NEVER, {}
            self.queue(signature)
        return self.results[signature]

    def judge(self, signature: Signature) -> Any:
        """The type of the output under the present knowledge of all callees. Nothing runs after what never returns."""
        graph = self.program.graphs[signature.graph]
        types: dict[NodeId, Any] = dict(zip(graph.parameters, signature.arguments, strict=True))
        types.update(zip(self.free[signature.graph], signature.captured, strict=True))
        self.types[signature], self.calls[signature] = types, {}
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
                        return NEVER
        return types[graph.output]

    def application(self, caller: Signature, node: NodeId, inputs: Sequence[Any]) -> Any:
        """The join over everything that the function can be."""
        function, *arguments = inputs
        result: Any = NEVER
        for member in members(function):
            match member:
                case FunctionType(Primitive() as primitive, _):
                    result = join(result, apply_type(primitive, arguments))
                case FunctionType(graph, captured):
                    result = join(result, self.call(caller, node, graph, captured, arguments))
                case _:
                    raise IllTyped(f"{erase(member)} is not a function", rule="call", remedy="is a name bound to a value here?")
        return result

    def call(self, caller: Signature, node: NodeId, graph: GraphId, captured: tuple[Any, ...], arguments: Sequence[Any]) -> Any:
        """The present result of the callee; the caller is judged again when it grows."""
        found = self.program.graphs[graph]
        if len(found.parameters) != len(arguments):
            wanted = f"{len(found.parameters)} argument{'s' * (len(found.parameters) != 1)}"
            raise IllTyped(f"@{found.name} takes {wanted}, {len(arguments)} given", rule="call", location=found.location)
        signature = Signature(graph, captured, tuple(arguments))
        plain = Signature(graph, tuple(map(erase, captured)), tuple(map(erase, arguments)))
        if signature != plain and signature not in self.results:
            seen = self.variants.get(plain, 0)
            if not self.literals or seen >= LITERAL_VARIANTS:
                signature = plain
            else:
                self.variants[plain] = seen + 1
        if signature not in self.results:
            self.origin[signature] = (caller, node)
            for t in (*signature.captured, *signature.arguments):
                self.bounded(t, signature)
        result = self.demand(signature)
        self.dependents[signature][caller] = None
        self.calls[caller].setdefault(node, {})[signature] = None
        return result

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
            remedy="a recursion that hands on closures over closures, as the backpropagator of a loop does, has no finite type; "
            "run it on the reference machine",
        )

    def located(self, error: AdjudgeError, signature: Signature, node: NodeId) -> AdjudgeError:
        """The error with its node, its source line and the calls that lead to it."""
        if error.node:
            return error
        error.node = self.program.describe(node)
        error.location = error.location or getattr(self.program.nodes[node], "location", None)
        if chain := self.chain(signature):
            error.what = f"{error.what}; reached by {chain}"
            error.args = (error.what,)
        return error

    def chain(self, signature: Signature) -> str:
        """The calls from the entry to a signature, outermost first; the middle of a long chain is left out."""
        calls: list[str] = []
        while signature in self.origin:
            signature, node = self.origin[signature]
            calls.append(self.program.describe(node))
        calls.reverse()
        return ", then ".join(calls if len(calls) <= 6 else [*calls[:3], "…", *calls[-3:]])


def _parts(t: Any) -> tuple[Any, ...]:
    match t:
        case TupleType(parts) | FunctionType(_, parts) | Union(parts):
            return parts
        case _:
            return ()
