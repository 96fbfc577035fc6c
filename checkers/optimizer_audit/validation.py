"""
Translation validation, step by step: every step of a recorded run is an obligation of its own (`obligations`).

    proved     for all inputs: the terms are one, or the solver says so over the reals, or in doubles or singles
    screened   in a tiny format only, which is no theorem for the wider ones
    tested     at points, on the whole program: what the obligations do not decide

A whole run is as good as its worst step. A step that the solver refutes, and that execution confirms, is a fault with that step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from checkers.optimizer_audit.obligations import TOTAL, Local, Pair, StepRelation
from checkers.optimizer_audit.pass_values import compare, points_for
from checkers.optimizer_audit.term_equality import OPEN, PROVED, REFUTED, SCREENED, Decision, Solver
from checkers.optimizer_audit.unfolding import MOST_TERMS
from checkers.verdict import Counterexample, Passed, Proved, Refuted, Unknown, Vacuous, Verdict
from semantics.derivation import Step
from semantics.errors import AdjudgeError, OutOfFuel
from semantics.infer import infer
from semantics.ir import Apply, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.scope import scopes
from semantics.type_language import REAL
from semantics.type_lattice import erase

TESTED, SAME = "tested", "equal terms"
CLAIM = "translation validation"
ATTEMPTS = 3  # questions to the solver about one pair
FACTOR = 8  # terms for each node of the program, where many steps are unfolded at once


def loop_free(program: Program) -> bool:
    """Whether no graph can reach itself."""
    found = scopes(program)
    below = {g: set(targets) for g, targets in found.references.items()}
    todo = [(g, t) for g, targets in below.items() for t in targets]
    while todo:
        graph, target = todo.pop()
        if graph == target:
            return False
        for further in found.references.get(target, ()):
            if further not in below[graph]:
                below[graph].add(further)
                todo.append((graph, further))
    return all(g not in targets for g, targets in below.items())


@dataclass(frozen=True)
class Judged:
    """What became of one step: "proved", "screened", "tested", "refuted" or "open", by which method, or why not."""

    status: str
    how: str
    counterexample: Counterexample | None = None


@dataclass
class Validator:
    """Judges steps in one domain. Questions to the solver are shared by all steps, types by the steps of one run."""

    domain: str
    seed: int = 0
    solver: Solver = field(init=False)
    types: dict[NodeId, Any] = field(default_factory=dict)
    inferred: Program | None = None

    def __post_init__(self) -> None:
        self.solver = Solver(self.domain)

    def run(self, steps: Sequence[Step[Program]]) -> list[Judged]:
        """The judgments on the steps of one run."""
        self.types = {}
        return [self.step(s.before, s.after) for s in steps]

    def step(self, before: Program, after: Program) -> Judged:
        """One step: proved or screened by its obligations, else tested on the whole program."""
        relation = StepRelation(before, after)
        if relation.why or not relation.ordered():
            return self._tested(before, after, relation.why or "the links of both programs make a cycle")
        found: list[Judged] = []
        covered: set[NodeId] = set()
        known: dict[Pair, tuple[Judged, Local | None]] = {}
        for pair in relation.pairs():
            alone = replace(pair, user=None)
            if alone not in known:
                known[alone] = self._pair(relation, alone)
            judged, local = known[alone]
            if judged.status in (OPEN, REFUTED) and pair.user is not None:
                whole, used = self._pair(relation, Pair(pair.graph, pair.user, pair.user))
                judged, local = (whole, used) if whole.status in (PROVED, SCREENED) else (judged, local)
            if judged.status in (OPEN, REFUTED):
                return self._doubted(before, after, judged)
            found.append(judged)
            covered |= _covered(local, pair, by_solver=judged.how != SAME) if local is not None else set()
        if (loose := _unjustified(relation, covered)) is not None:
            return self._tested(before, after, f"{after.describe(loose)} may trap where it was not evaluated before")
        worst = next((j for j in found if j.status == SCREENED), None)
        return worst or next((j for j in found if j.how != SAME), Judged(PROVED, SAME))

    def _pair(self, relation: StepRelation, pair: Pair) -> tuple[Judged, Local | None]:
        local: Local | None = None
        refuted: Decision | None = None
        why, asked = "its parts are too large", 0
        for local in relation.unfoldings(pair):
            if local.same:
                return Judged(PROVED, SAME), local
            if asked < ATTEMPTS and local.harmless:
                decision = self.solver.decide(local, lambda side, node: self._type(relation, side, node))
                asked += decision.status != OPEN
                if decision.status in (PROVED, SCREENED):
                    return Judged(decision.status, f"z3, {decision.where}"), local
                refuted = decision if decision.status == REFUTED else refuted
                why = decision.where
        if refuted is not None:
            return Judged(REFUTED, refuted.where, refuted.counterexample), local
        return Judged(OPEN, why), local

    def _type(self, relation: StepRelation, side: str, node: NodeId) -> Any:
        """The type of a node; of a new one, that of the program after the step."""
        if side == "before" and node in self.types:
            return self.types[node]
        program = relation.before if side == "before" else relation.after
        if self.inferred is not program:
            self.inferred = program
            self.types |= types_of_nodes(program)
        return self.types.get(node)

    def _doubted(self, before: Program, after: Program, judged: Judged) -> Judged:
        """An obligation that fails may hold in its surroundings: the whole program has the last word."""
        why = judged.how if judged.status == OPEN else f"alone it fails, {judged.how}"
        if judged.counterexample is not None:
            point = tuple(judged.counterexample.inputs.values())
            if len(point) == len(before.graphs[before.entry].parameters) and self._differs(before, after, [point]) is not None:
                return Judged(REFUTED, why, self._differs(before, after, [point]))
        return self._tested(before, after, why)

    def _tested(self, before: Program, after: Program, why: str) -> Judged:
        """At points, in the domain; "open" where the program has no value at any."""
        found, tried = compare(before, after, points_for(before, self.domain, self.seed)[:8], self.domain)
        if found is not None:
            return Judged(REFUTED, why, self._differs(before, after, [found.point]))
        return Judged(TESTED if tried else OPEN, why)

    def _differs(self, before: Program, after: Program, points: Sequence[Any]) -> Counterexample | None:
        from checkers.optimizer_audit.outcomes import said
        from checkers.optimizer_audit.samples import names_of

        try:
            found, _ = compare(before, after, points, self.domain)
        except (AdjudgeError, ArithmeticError, TypeError, ValueError):
            return None
        if found is None:
            return None
        return Counterexample(dict(zip(names_of(before), found.point, strict=True)), said(found.after), said(found.before))


def by_terms(before: Program, after: Program) -> Judged:
    """Any number of steps at once, by equal terms alone: "proved", or "open" with the reason. Nothing is run or asked."""
    relation = StepRelation(before, after, most=MOST_TERMS + FACTOR * len(before.nodes))
    if relation.why or not relation.ordered():
        return Judged(OPEN, relation.why or "the links of both programs make a cycle")
    known: dict[Pair, Local | None] = {}
    fuel = 3 * relation.most
    covered: set[NodeId] = set()
    for pair in relation.pairs():
        places = [replace(pair, user=None), *([Pair(pair.graph, pair.user, pair.user)] if pair.user is not None else [])]
        for place in places:
            if place not in known:
                known[place], fuel = _one_term(relation, place, fuel)
            if (local := known[place]) is not None:
                covered |= _covered(local, pair, by_solver=False)
                break
        else:
            return Judged(OPEN, f"the terms at {before.describe(pair.before)} are not one")
    if (loose := _unjustified(relation, covered)) is not None:
        return Judged(OPEN, f"{after.describe(loose)} may trap where it was not evaluated before")
    return Judged(PROVED, SAME)


def _one_term(relation: StepRelation, pair: Pair, fuel: int) -> tuple[Local | None, int]:
    """The unfolding of a pair that makes both sides one term, if it is found with so many terms; and what is left of them."""
    for local in relation.unfoldings(pair):
        fuel -= len(local.terms.keys)
        if local.same:
            return local, fuel
        if fuel < 0:
            return None, fuel
    try:
        local = relation.whole(pair)
    except OutOfFuel:
        return None, fuel
    return local if local.same else None, fuel - len(local.terms.keys)


def _covered(local: Local, pair: Pair, *, by_solver: bool) -> set[NodeId]:
    """The new nodes of the graph of the pair that cannot trap: their terms were met before, or the solver has seen to it."""
    safe = local.left.strict | (local.terms.below(local.after) & local.right.strict if by_solver else set())
    return {n for n, t in local.right.known.items() if local.right.program.owner(n) == pair.graph and t in safe}


def _unjustified(relation: StepRelation, covered: set[NodeId]) -> NodeId | None:
    """A new node of a function that both programs have, which may trap, and which nothing says was evaluated before."""
    for graph, needed in relation.needed_after.items():
        if graph not in relation.fixed:
            continue
        for node in sorted(needed):
            if relation.after.owner(node) != graph or relation.shared(node) or node in covered:
                continue
            callee = relation.after.callee(node)
            if isinstance(relation.after.nodes[node], Apply) and not (isinstance(callee, Primitive) and callee in TOTAL):
                return node
    return None


def types_of_nodes(program: Program) -> dict[NodeId, Any]:
    """The type of every node that has one type whenever it is evaluated; parameters that declare none are reals."""
    parameters = [program.nodes[n] for n in program.graphs[program.entry].parameters]
    try:
        found = infer(program, [p.type or REAL for p in parameters if isinstance(p, Parameter)])
    except AdjudgeError:
        return {}
    types: dict[NodeId, set[Any]] = {}
    for nodes in found.types.values():
        for node, type in nodes.items():
            types.setdefault(node, set()).add(erase(type))
    return {node: next(iter(several)) for node, several in types.items() if len(several) == 1}


@dataclass
class Tally:
    """The judgments on all steps of all runs."""

    statuses: Counter[str] = field(default_factory=Counter)
    methods: Counter[str] = field(default_factory=Counter)
    doubts: dict[str, str] = field(default_factory=dict)
    runs: int = 0

    def add(self, steps: Sequence[Step[Program]], judged: Sequence[Judged]) -> None:
        """Counts one run."""
        self.runs += 1
        for step, found in zip(steps, judged, strict=True):
            self.statuses[found.status] += 1
            if found.status == PROVED:
                self.methods[found.how] += 1
            else:
                self.doubts.setdefault(step.rule, found.how)

    def __str__(self) -> str:
        total = self.statuses.total()
        said = [f"{self.statuses[PROVED]} of {total} steps of {self.runs} runs proved"]
        said += [f"{n} by {how}" for how, n in self.methods.most_common(4)]
        said += [f"{self.statuses[s]} {s}" for s in (SCREENED, TESTED, OPEN) if self.statuses[s]]
        said += [f"not proved: {rule}: {why}" for rule, why in list(self.doubts.items())[:3]]
        return "; ".join(said)

    def verdict(self) -> Verdict:
        """The meet: proved only if every step is."""
        total = self.statuses.total()
        if not total:
            return Vacuous("no run has a step", CLAIM)
        if self.statuses[OPEN]:
            return Unknown(str(self), CLAIM)
        return Proved(str(self), CLAIM) if self.statuses[PROVED] == total else Passed(total, str(self), CLAIM)


def blamed(step: Step[Program], number: int, counterexample: Counterexample) -> Refuted:
    """A step that is wrong."""
    note = f"step {number}, rule {step.rule} at {step.place}\nbefore:\n{step.before}\nafter:\n{step.after}"
    shown = Counterexample(
        counterexample.inputs, counterexample.found, counterexample.wanted, f"rule {step.rule}", counterexample.script, note
    )
    return Refuted(shown, "fault", CLAIM)


def validated(runs: Sequence[Sequence[Step[Program]]], domain: str, seed: int = 0) -> tuple[list[Verdict], Tally]:
    """The verdict on recorded runs, and its tally."""
    validator, tally = Validator(domain, seed), Tally()
    for steps in runs:
        judged = validator.run(steps)
        tally.add(steps, judged)
        for number, (step, found) in enumerate(zip(steps, judged, strict=True), 1):
            if found.status == REFUTED and found.counterexample is not None:
                return [blamed(step, number, found.counterexample), tally.verdict()], tally
    return [tally.verdict()], tally
