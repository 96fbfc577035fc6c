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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from semantics.columns.types import apply_type
from semantics.errors import AdjudgeError, IllTyped, Trap, takes, wrong_count
from semantics.indexing import OUTSIDE
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.scope import order_of_need, scopes
from semantics.signatures import Line, Signature, both, certain, each, endless, located
from semantics.type_language import FunctionType
from semantics.type_lattice import NEVER, erase, is_below, join, members, of_constant, parts
from semantics.type_memo import remembering
from semantics.type_widening import extent, lengthless, lengths_joined, unsized

__all__ = ["Inference", "Signature", "infer"]

SIGNATURES = 4000
PER_GRAPH = 16  # signatures, on average, that a large program may have for each of its graphs
DEPTH = 40
SIZE = 20_000
LITERAL_VARIANTS = 6
RECURSIONS = 50
ROUNDS = 4  # of a recursion, each with longer tuples or lists, before their lengths are forgotten


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
    return Inferrer(program, literals).run(entry_types(program, argument_types))


def entry_types(program: Program, given: Sequence[Any] | None) -> tuple[Any, ...]:
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
        raise IllTyped(takes(f"@{entry.name}", len(declared), len(given)), rule="infer", location=entry.location)
    for node, wanted, type in zip(entry.parameters, declared, given, strict=True):
        if wanted is not None and not is_below(erase(type), wanted):
            raise IllTyped(
                f"the parameter {program.describe(node)} wants {wanted}, found {type}", rule="infer", location=entry.location
            )
    return tuple(given)


class Inferrer:
    """
    The fixpoint: a stack of signatures whose bodies must be judged again, and who depends on whose result. It follows `turns` of
    the recursions that have other known values, or other lengths, in each.
    """

    def __init__(self, program: Program, literals: bool, turns: tuple[int, int] = (LITERAL_VARIANTS, ROUNDS)) -> None:
        self.turns = turns
        self.program, self.literals = program, literals
        self.free = scopes(program).free
        self.plans: dict[GraphId, tuple[NodeId, ...]] = {}
        self.results: dict[Signature, Any] = {}
        self.types: dict[Signature, dict[NodeId, Any]] = {}
        self.dependents: dict[Signature, dict[Signature, NodeId]] = {}
        self.stopped: dict[Signature, NodeId] = {}
        self.origin: dict[Signature, tuple[Signature, NodeId]] = {}
        self.lines: dict[Signature, Line] = {}
        self.calls: dict[Signature, dict[NodeId, dict[Signature, None]]] = {}
        self.traps: dict[Signature, dict[NodeId, Trap]] = {}
        self.variants: dict[Signature, int] = {}
        self.first: dict[GraphId, Signature] = {}
        self.skeletons: set[Signature] = set()
        self.todo: list[Signature] = []
        self.queued: set[Signature] = set()

    @remembering()
    def run(self, arguments: tuple[Any, ...]) -> Inference:
        entry = Signature(self.program.entry, (), arguments)
        self.lines[entry] = Line().longer(entry)
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
                raise endless(self.program, signature, f"more than {most} signatures of graphs")
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
                        raise located(error, self.program, self.origin, signature, node) from None
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
            raise wrong_count(found.name, len(found.parameters), len(arguments), found.location)
        signature = Signature(graph, captured, tuple(arguments))
        if signature not in self.results:
            signature = self.widened(caller, signature)
        if signature not in self.results:
            self.origin[signature] = (caller, node)
            self.lines[signature] = self.lines[caller].longer(signature)
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
        plain = each(erase, wanted)
        if wanted != plain and not self.literals:
            wanted = plain
        if (above := self.recurring(caller, wanted, each(unsized, plain))) is not None:
            return above
        if wanted != plain:
            seen = self.variants.get(plain, 0)
            if seen >= self.turns[0]:
                return plain
            self.variants[plain] = seen + 1
        return wanted

    def recurring(self, caller: Signature, wanted: Signature, skeleton: Signature) -> Signature | None:
        """
        What a recursion that has come to `wanted` goes on with; None where it is none, or has no reason to forget anything.

        The join with the last signature that differs in known values and sizes only. Else, after some that differ in lengths and
        if these do not get less, the join with the last of those, the lengths forgotten.
        """
        first = self.first.setdefault(wanted.graph, wanted)
        if first is wanted:
            return None
        rough = each(lengthless, skeleton)
        if rough not in self.skeletons and rough != each(lengthless, each(erase, first)):
            self.skeletons.add(rough)
            return None
        others: list[Signature] = []
        for ancestor in self.lines[caller].of(wanted.graph):
            found = each(unsized, each(erase, ancestor))
            if found == skeleton:
                return both(join, ancestor, wanted)
            if each(lengthless, found) == rough:
                others.append(ancestor)
        if len(others) < self.turns[1] or _extent(wanted) < _extent(others[0]):
            return None
        return both(lengths_joined, others[0], wanted)

    def nested(self, signature: Signature) -> None:
        """OutOfFuel if a graph calls itself with ever other types: sequences that a loop makes longer, closures over closures."""
        if sum(1 for _ in self.lines[signature].of(signature.graph)) > RECURSIONS:
            raise endless(self.program, signature, f"a recursion of more than {RECURSIONS} rounds, each of which has other types")

    def refuse_certain_traps(self, entry: Signature) -> None:
        """IllTyped for the first application that traps in every run that reaches it: see the docstring of the module."""
        reached, todo = {entry}, [entry]
        for signature in todo:
            for node, trap in self.traps[signature].items():
                if trap.rule != OUTSIDE or self.results[entry] == NEVER:
                    error = certain(trap, self.program, self.types[signature], node)
                    raise located(error, self.program, self.origin, signature, node)
            for targets in self.calls[signature].values():
                found = [s for s in targets if s not in reached]
                reached.update(found)
                todo.extend(found)

    def plan(self, graph: GraphId) -> tuple[NodeId, ...]:
        """The order of evaluation, made once."""
        if graph not in self.plans:
            self.plans[graph] = order_of_need(self.program, graph, self.free)
        return self.plans[graph]

    def bounded(self, t: Any, signature: Signature) -> None:
        """OutOfFuel if a type nests or grows as only an endless one does. One level of nesting at a time, no recursion."""
        level, depth, size = {id(t): (t, 1)}, 0, 0
        while level:
            depth, size = depth + 1, size + sum(times for _, times in level.values())
            if depth > DEPTH or size > SIZE:
                raise endless(self.program, signature, f"types nested more than {DEPTH} deep or with more than {SIZE} parts")
            below: dict[int, tuple[Any, int]] = {}
            for outer, times in level.values():
                for part in parts(outer):
                    below[id(part)] = part, below.get(id(part), (part, 0))[1] + times
            level = below


def _extent(signature: Signature) -> int:
    return sum(map(extent, (*signature.captured, *signature.arguments)))
