"""
A step of a pass as local obligations: what has changed, cut at what has not (NOTES of translation validation: "witness").

Before and after a step most nodes are the same, since an edit keeps identifiers. The *relation* kept is that every node and every
graph which both programs have means the same in both. Its obligations are the nodes and outputs that the step gave other inputs:
for each, the term before equals the term after, both cut at related nodes. Unchanged nodes keep the relation by congruence, and so
do calls, and loops: by induction on the run of the program before. So a step is proved without a look at the rest of the program.

The induction needs an order: the union of both programs' links must have no cycle through a changed node. And what the program
after evaluates it must not trap where the one before had a value: a node may be cut only where the one before evaluated it too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from checkers.optimizer_audit.unfolding import MOST_TERMS, Side, Term, Terms
from semantics.errors import OutOfFuel
from semantics.ir import Apply, GraphId, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import scopes
from transforms.surgery import only_called

ROUNDS = 5
# What has a value wherever its arguments are what they must be.
TOTAL = frozenset(
    TABLE[name]
    for name in (
        "add",
        "sub",
        "mul",
        "neg",
        "abs",
        "min",
        "max",
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
        "make_tuple",
        "not_",
        "switch",
    )
    if name in TABLE
)


@dataclass(frozen=True)
class Pair:
    """
    Two nodes, one of each program, that must have one value wherever `graph` runs.

    user  the node whose input they are, if they are one: where they differ, it may have the same value all the same
    """

    graph: GraphId
    before: NodeId
    after: NodeId
    user: NodeId | None = None


@dataclass
class Local:
    """
    One pair, unfolded: the two terms, the sides they come from, and the terms that the program after meets but does not use.

    `dropped` must be total, or met before as well.
    """

    terms: Terms
    left: Side
    right: Side
    before: Term
    after: Term

    @property
    def same(self) -> bool:
        """Whether the terms are one, and nothing else that may trap is met."""
        return self.before == self.after and self.harmless

    @property
    def harmless(self) -> bool:
        """Whether what the program after meets, and its value is not made of, cannot trap or was met before."""
        used = self.terms.below(self.after)
        met = self.left.strict | self.left.lazy
        extra = [t for t in self.right.strict if t not in self.left.strict and t not in used]
        extra += [t for t in self.right.lazy if t not in met and t not in used]
        return all(self._total(t) for t in extra)

    def _total(self, term: Term) -> bool:
        match self.terms.keys[term]:
            case ("apply", primitive, *_):
                return primitive in TOTAL
        return False


@dataclass
class StepRelation:
    """What two programs share, and what the step changed. `most` is the number of terms that one unfolding may have."""

    before: Program
    after: Program
    most: int = MOST_TERMS
    fixed: dict[GraphId, tuple[NodeId, ...]] = field(default_factory=dict)
    why: str = ""

    def __post_init__(self) -> None:
        self.needed, self.needed_after = scopes(self.before).needed, scopes(self.after).needed
        for graph, new in self.after.graphs.items():
            old = self.before.graphs.get(graph)
            if old is None:
                continue
            common = tuple(p for p in old.parameters if p in new.parameters)
            called = only_called(self.before, graph) is not None and only_called(self.after, graph) is not None
            # a function that lost parameters, is never a value, and is told its arguments by name, is still the same function
            if old.parameters == new.parameters or (called and graph != self.before.entry and set(new.parameters) <= set(common)):
                self.fixed[graph] = common
        self._loosen()
        if self.before.entry != self.after.entry or self.before.entry not in self.fixed:
            self.why = "the entry is another graph"

    def _loosen(self) -> None:
        """A function that captures something of one that is not fixed is not fixed either: what it captures is being replaced."""
        free = [(g, {p.owner(n) for n in nodes}) for p in (self.before, self.after) for g, nodes in scopes(p).free.items() if nodes]
        loose = [g for g, owners in free if g in self.fixed and not owners <= self.fixed.keys()]
        while loose:
            for graph in loose:
                self.fixed.pop(graph, None)
            loose = [g for g, owners in free if g in self.fixed and not owners <= self.fixed.keys()]

    def shared(self, node: NodeId) -> bool:
        """Whether the node is in both programs, of one graph, and evaluated by that graph before the step."""
        old, new = self.before.nodes.get(node), self.after.nodes.get(node)
        if old is None or new is None:
            return False
        owner = self.before.owner(node)
        if owner is None or owner != self.after.owner(node) or owner not in self.fixed:
            return False
        return node in self.needed.get(owner, ()) or node in self.before.graphs[owner].parameters

    def pairs(self) -> Iterator[Pair]:
        """What the step has to keep: differing inputs of nodes that it changed, and changed outputs."""
        if self.why:
            return
        for graph, needed in self.needed_after.items():
            if graph not in self.fixed:
                continue
            old, new = self.before.graphs[graph].output, self.after.graphs[graph].output
            if old != new:
                yield Pair(graph, old, new)
            for node in sorted(needed):
                was, now = self.before.nodes.get(node), self.after.nodes[node]
                if was is not now and isinstance(now, Apply) and now.graph == graph and self.shared(node):
                    assert isinstance(was, Apply)
                    yield from self._inputs(node, was, now)

    def _inputs(self, node: NodeId, was: Apply, now: Apply) -> Iterator[Pair]:
        different = [i for i, (a, b) in enumerate(zip(was.inputs, now.inputs, strict=False)) if a != b]
        if len(was.inputs) != len(now.inputs) or different != different[:1] or 0 in different:
            yield Pair(now.graph, node, node)
        elif different:
            yield Pair(now.graph, was.inputs[different[0]], now.inputs[different[0]], node)

    def ordered(self) -> bool:
        """Whether the links of both programs together have no cycle that starts at a link that the step took away."""
        gone = [
            (node, target)
            for node, was in self.before.nodes.items()
            if isinstance(was, Apply) and self.after.nodes.get(node) not in (None, was) and self.shared(node)
            for target in was.inputs
            if target not in self.after.inputs(node)
        ]
        heads = {node for node, _ in gone}
        todo, seen = [target for _, target in gone], set[NodeId]()
        while todo:
            node = todo.pop()
            if node in heads:
                return self._acyclic()
            if node not in seen:
                seen.add(node)
                todo.extend(self._below(node))
        return True

    def _below(self, node: NodeId) -> list[NodeId]:
        found = [p.inputs(node) for p in (self.before, self.after) if node in p.nodes]
        return [n for inputs in found for n in inputs]

    def _acyclic(self) -> bool:
        """Whether the union of the links has no cycle at all."""
        done: dict[NodeId, bool] = {}
        for root in self.after.nodes:
            todo = [(root, False)]
            while todo:
                node, ready = todo.pop()
                if ready:
                    done[node] = True
                elif node not in done:
                    done[node] = False
                    todo.append((node, True))
                    for below in self._below(node):
                        if done.get(below) is False:
                            return False
                        todo.append((below, False))
        return True

    def unfoldings(self, pair: Pair) -> Iterator[Local]:
        """The pair, cut ever lower: after each round the nodes that only one side reached are unfolded on both."""
        given = conditions(self.before, pair.graph)
        for calls in ("none", "gone", "all"):
            opened = {pair.before, pair.after} if pair.before == pair.after else set[NodeId]()
            for _ in range(ROUNDS):
                try:
                    local = self._local(pair, opened, given, calls)
                except OutOfFuel:
                    break
                yield local
                more = self._frontier(local)
                if not more:
                    break
                opened = opened | more

    def whole(self, pair: Pair) -> Local:
        """The pair, cut nowhere but at parameters: what common subexpressions have become, in a long row of them."""
        opened = {n for p in (self.before, self.after) for n, found in p.nodes.items() if isinstance(found, Apply)}
        return self._local(pair, opened, conditions(self.before, pair.graph), "gone")

    def _local(self, pair: Pair, opened: set[NodeId], given: dict[NodeId, bool], calls: str) -> Local:
        """Both terms, with the calls opened that are not cut: none, those that are gone after the step, or all."""
        terms = Terms(self.most)

        def cut(node: NodeId) -> bool:
            return node not in opened and self.shared(node)

        def gone(node: NodeId) -> bool:
            found = self.after.inputs(node) if node in self.after.nodes else ()
            return calls == "all" or (calls == "gone" and found[:1] != self.before.inputs(node)[:1])

        left = Side(terms, self.before, "before", cut, gone, self.fixed, given)
        right = Side(terms, self.after, "after", cut, lambda _: calls == "all", self.fixed, given)
        return Local(terms, left, right, left.unfold(pair.before), right.unfold(pair.after))

    def _frontier(self, local: Local) -> set[NodeId]:
        """The cut nodes that one side has and the other has not; where there is none, those of both."""
        sides = [
            {k[1] for t in local.terms.below(root) if (k := local.terms.keys[t])[0] == "node"}
            for root in (local.before, local.after)
        ]
        leaves = {n for n in (sides[0] ^ sides[1]) or (sides[0] | sides[1]) if self._unfolds(n)}
        return {n for n in leaves if not any(n in self._cone(m) for m in leaves - {n})} or leaves

    def _unfolds(self, node: NodeId) -> bool:
        return isinstance(self.before.nodes.get(node), Apply) and isinstance(self.after.nodes.get(node), Apply)

    def _cone(self, node: NodeId, most: int = 60) -> set[NodeId]:
        """Some of the nodes below."""
        found, todo = set[NodeId](), list(self.before.inputs(node))
        while todo and len(found) < most:
            below = todo.pop()
            if below not in found:
                found.add(below)
                todo.extend(self.before.inputs(below))
        return found


def conditions(program: Program, graph: GraphId, most: int = 20) -> dict[NodeId, bool]:
    """What is known where `graph` runs: it is a branch of a switch and used nowhere else, and so may be the graph around."""
    known: dict[NodeId, bool] = {}
    for _ in range(most):
        reference = program.reference(graph)
        uses = list(program.users(reference)) if reference is not None else []
        if (
            reference is None
            or len(uses) != 1
            or program.returns.get(reference)
            or graph == program.entry
            or uses[0].index not in (2, 3)
        ):
            break
        switch = uses[0].user
        callee = program.callee(switch)
        if not isinstance(callee, Primitive) or callee is not TABLE["switch"] or len(program.inputs(switch)) != 4:
            break
        test = program.inputs(switch)[1]
        if program.owner(test) is not None:
            known.setdefault(test, uses[0].index == 2)
        owner = program.owner(switch)
        assert owner is not None
        graph = owner
    return known
