"""
Programs unfolded into terms, so that two of them can be laid side by side.

    t ::= n | c | p(t…) | t(t…) | @g | λₖ t | ↑k

A term is hash-consed: equal terms have one number. A node that both programs share is *cut*: it stands for itself, and what it is
made of is no matter here. Everything else is unfolded, and a call of a graph that is to disappear becomes its body (β). A function
that is not shared becomes a λ; inside its own λₖ it points back to it with ↑k, so that recursions in two copies are equal too.

`Side.strict` keeps what the evaluation of a term certainly meets: of this a step may not make more that can trap.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from semantics.columns.meaning import MEANING
from semantics.errors import AdjudgeError, OutOfFuel
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.scope import scopes
from semantics.values import atom

Term = int
Key = tuple[Any, ...]
MOST_TERMS, MOST_CALLS = 4000, 100
MAKE_TUPLE, GETITEM, SWITCH = TABLE["make_tuple"], TABLE["getitem"], TABLE["switch"]
UNFOLDED = frozenset((*MACROS, MAKE_TUPLE, TABLE["inject"], SWITCH))


@dataclass
class Terms:
    """The table of all terms of one comparison, of which there may be `most`. `value` has what constants stand for."""

    most: int = MOST_TERMS
    keys: list[Key] = field(default_factory=list)
    numbers: dict[Key, Term] = field(default_factory=dict)
    value: dict[Term, Any] = field(default_factory=dict)

    def __call__(self, *key: Any) -> Term:
        """The number of a term; OutOfFuel if there are too many."""
        if key not in self.numbers:
            if len(self.keys) > self.most:
                raise OutOfFuel(f"more than {self.most} terms", rule="unfolding")
            self.numbers[key] = len(self.keys)
            self.keys.append(key)
        return self.numbers[key]

    def constant(self, value: Any) -> Term:
        """The term of a constant."""
        number = self("constant", atom(value))
        self.value[number] = value
        return number

    def below(self, root: Term) -> set[Term]:
        """The term and all that it is made of."""
        found: set[Term] = set()
        todo = [root]
        while todo:
            term = todo.pop()
            if term not in found:
                found.add(term)
                todo.extend(self.parts(term))
        return found

    def parts(self, term: Term) -> tuple[Term, ...]:
        """The terms that a term is directly made of."""
        match self.keys[term]:
            case ("apply", _, *arguments):
                return tuple(arguments)
            case ("call", function, *arguments):
                return (function, *(a if isinstance(a, int) else a[1] for a in arguments))
            case ("lambda", _, _, body):
                return (body,)
        return ()


@dataclass
class Activation:
    """A graph whose parameters stand for terms: what it owns is known here, the rest further out. `level` counts the λs around."""

    graph: GraphId
    known: dict[NodeId, Term]
    outer: Activation | None
    level: int

    def around(self, owner: GraphId | None) -> Activation | None:
        """The activation of `owner`, this one or one around it."""
        found: Activation | None = self
        while found is not None and found.graph != owner:
            found = found.outer
        return found


Unfolding = Generator[Any, Term, Term]


@dataclass
class Side:
    """
    One of the two programs, being unfolded.

    cut    whether a node stands for itself         open   whether the call at a node becomes the body of what is called
    fixed  the functions that stand for themselves, each with the parameters that both programs have
    given  nodes of known value: conditions, in a graph that runs only where they hold
    """

    terms: Terms
    program: Program
    name: str
    cut: Callable[[NodeId], bool]
    open: Callable[[NodeId], bool]
    fixed: dict[GraphId, tuple[NodeId, ...]]
    given: dict[NodeId, bool] = field(default_factory=dict)
    known: dict[NodeId, Term] = field(default_factory=dict)
    origin: dict[Term, NodeId] = field(default_factory=dict)
    closures: dict[Term, tuple[GraphId, Activation | None]] = field(default_factory=dict)
    strict: set[Term] = field(default_factory=set)
    lazy: set[Term] = field(default_factory=set)
    entered: list[tuple[GraphId, Activation | None]] = field(default_factory=list)
    opened: int = 0

    def unfold(self, node: NodeId) -> Term:
        """The term of a node; OutOfFuel if it is too large."""
        stack: list[Unfolding] = [self._value(node, None)]
        answer: Term = -1
        while stack:
            try:
                stack.append(stack[-1].send(answer) if answer >= 0 else next(stack[-1]))
                answer = -1
            except StopIteration as end:
                stack.pop()
                answer = end.value
        return answer

    def _value(self, node: NodeId, here: Activation | None) -> Unfolding:
        match self.program.nodes[node]:
            case Constant(GraphRef(graph)):
                return (yield self._function(graph, here))
            case Constant(value):
                return self.terms.constant(value)
            case found:
                home = here.around(found.graph) if here is not None else None
                known = self.known if home is None else home.known
                if node not in known:
                    if home is None and node in self.given:
                        known[node] = self.terms.constant(self.given[node])
                    elif home is None and (self.cut(node) or isinstance(found, Parameter)):
                        known[node] = self.terms("node", node) if self.cut(node) else self.terms("private", self.name, node)
                    else:
                        assert isinstance(found, Apply)
                        known[node] = yield self._application(node, found, home)
                    self.origin.setdefault(known[node], node)
                return known[node]

    def _application(self, node: NodeId, found: Apply, home: Activation | None) -> Unfolding:
        named = self.program.constant(found.inputs[0])
        if isinstance(named, GraphRef) and self.open(node) and self._opens(named.graph, len(found.inputs) - 1):
            given: list[Term] = []
            for target in found.inputs[1:]:
                given.append((yield self._value(target, home)))
            return (yield self._opened(named.graph, self._captured(named.graph, home), given, home))
        inputs: list[Term] = []
        for target in found.inputs:
            inputs.append((yield self._value(target, home)))
        function, *arguments = inputs
        primitive = self.terms.value.get(function)
        if isinstance(primitive, Primitive):
            return self._met(self._primitive(primitive, arguments), home)
        if function in self.closures and self.open(node):
            graph, captured = self.closures[function]
            if len(self.program.graphs[graph].parameters) == len(arguments):
                return (yield self._opened(graph, captured, arguments, home))
        return self._met(self._call(function, arguments), home)

    def _opens(self, graph: GraphId, count: int) -> bool:
        """Whether a call of the graph by name becomes its body: it takes so many arguments, and we are not inside its λ already."""
        return len(self.program.graphs[graph].parameters) == count and all(graph != g for g, _ in self.entered)

    def _opened(self, graph: GraphId, captured: Activation | None, arguments: list[Term], home: Activation | None) -> Unfolding:
        """The body of a function that is called (β). Named functions are opened as they are: no λ is made of them first."""
        self.opened += 1
        if self.opened > self.terms.most * MOST_CALLS // MOST_TERMS:
            raise OutOfFuel(f"{self.opened} calls to open", rule="unfolding")
        level = max(a.level if a is not None else 0 for a in (captured, home))
        parameters = self.program.graphs[graph].parameters
        body = Activation(graph, dict(zip(parameters, arguments, strict=True)), captured, level)
        return (yield self._value(self.program.graphs[graph].output, body))

    def _captured(self, graph: GraphId, here: Activation | None) -> Activation | None:
        """The innermost activation that a function captures something of."""
        owners = {self.program.owner(n) for n in scopes(self.program).free.get(graph, ())}
        while here is not None and here.graph not in owners:
            here = here.outer
        return here

    def _met(self, term: Term, home: Activation | None) -> Term:
        """Notes that the evaluation meets the term: certainly, or if a λ is called."""
        (self.strict if home is None or home.level == 0 else self.lazy).add(term)
        return term

    def _call(self, function: Term, arguments: list[Term]) -> Term:
        """A call. Arguments of a function that both programs have are known by its parameters: one may have lost some."""
        match self.terms.keys[function]:
            case ("graph", graph) if len(self.program.graphs[graph].parameters) == len(arguments):
                common = self.fixed[graph]
                named = zip(self.program.graphs[graph].parameters, arguments, strict=True)
                return self.terms("call", function, *((p, a) for p, a in named if p in common))
        return self.terms("call", function, *arguments)

    def _primitive(self, primitive: Primitive, arguments: list[Term]) -> Term:
        """p(t…), or what it is known to be: an element of a tuple made in place, a branch chosen, a constant."""
        values = [self.terms.value.get(a) for a in arguments]
        if primitive is GETITEM and len(arguments) == 2 and type(values[1]) is int:
            match self.terms.keys[arguments[0]]:
                case ("apply", p, *items) if p is MAKE_TUPLE and -len(items) <= values[1] < len(items):
                    return int(items[values[1]])
        if primitive is SWITCH and len(arguments) == 3 and type(values[0]) is bool:
            return arguments[1] if values[0] else arguments[2]
        if primitive not in UNFOLDED and arguments and all(type(v) in (int, float, bool) for v in values):
            try:
                value = MEANING[primitive](*values)
            except (AdjudgeError, ArithmeticError, TypeError, ValueError):
                value = None
            if type(value) in (int, float, bool):
                return self.terms.constant(value)
        return self.terms("apply", primitive, *arguments)

    def _function(self, graph: GraphId, here: Activation | None) -> Unfolding:
        """The function itself where both programs have it and nothing that it captures is being replaced; else a λ."""
        here = self._captured(graph, here)
        if graph in self.fixed and here is None:
            found = self.terms("graph", graph)
            self.closures.setdefault(found, (graph, None))
            return found
        position = next((i for i, (g, a) in enumerate(self.entered) if g == graph and a is here), None)
        if position is not None:
            return self.terms("back", position)
        position = len(self.entered)
        self.entered.append((graph, here))
        level = 1 + (here.level if here is not None else 0)
        parameters = self.program.graphs[graph].parameters
        bound = {p: self.terms("bound", level, i) for i, p in enumerate(parameters)}
        body = yield self._value(self.program.graphs[graph].output, Activation(graph, bound, here, level))
        self.entered.pop()
        found = self.terms("lambda", position, len(parameters), body)
        self.closures.setdefault(found, (graph, here))
        return found
