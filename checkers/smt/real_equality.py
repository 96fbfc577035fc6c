"""
Equality over the reals: where the first program is defined and the hypotheses hold, the second is defined and has the same value.

Every path of the first is compared with every path of the second that it can meet. Before the solver is asked about a pair, both
sides are enclosed at a pool of awkward points; a difference found there, and confirmed by execution, needs no solver. A solver's
counterexample is run on fractions, or on balls and on the machine, before it is believed: if the run does not confirm it the
verdict is Unknown, never Refuted and never Proved. Hypotheses that nothing satisfies make the verdict Vacuous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import z3

from checkers.smt.enclosures import apart, holds, nearer
from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.paths import Path, explore
from checkers.smt.real import reading
from checkers.smt.replay import exact, floats
from checkers.smt.sides import BUG, Kind, Mismatch, as_condition, claimed, differ, gave_up, inputs_of, kinds_of, leaves, spread
from checkers.smt.solver import RLIMIT, SAT, UNSAT, Answer
from checkers.smt.terms import Course, real
from checkers.verdict import Counterexample, OutOfScope, Proved, Refuted, Unknown, Vacuous, Verdict
from semantics.conditions import Condition
from semantics.denotation import Reading
from semantics.errors import AdjudgeError, IllTyped, Malformed, Trap
from semantics.ir import Program
from semantics.tangents import ZERO

POOL = tuple(Fraction(x) for x in (0.5, -0.75, 2, -2, 0, 1, -1, 3, 1.25, -3.5, 0.125, 0.0009765625))
INTEGERS = (0, 1, 2, -1, 3, -2, 5)
MOST_POINTS = 96
INCOMPLETE = "the solver's counterexample does not survive execution: the facts it has about functions are incomplete"
# True of two terms only if they are equal wherever both are defined.
SameTerms = Callable[[Any, Any], bool]


class _Reals:
    """One question over the reals: inputs, hypotheses, paths of both sides, and the search for a difference."""

    def __init__(
        self,
        a: Program,
        b: Program,
        *,
        kinds: Sequence[Kind],
        hypotheses: Condition | None,
        inquiry: Inquiry,
        equal: SameTerms | None,
        pi: bool,
    ) -> None:
        self.a, self.b, self.inquiry, self.equal, self.pi = a, b, inquiry, equal, pi
        makers = {"integer": z3.Int, "boolean": z3.Bool}
        self.inputs = inputs_of(a, kinds, lambda kind, name: makers.get(kind, z3.Real)(name))
        self.variables = tuple(map(str, self.inputs.variables))
        self.hypotheses: list[z3.BoolRef] = []
        if hypotheses is not None:
            values = dict(zip(self.inputs.names, self.inputs.values, strict=True))
            self.hypotheses = [c if z3.is_bool(c) else z3.BoolVal(c) for c in hypotheses.conjuncts(values, real)]
        self.methods: set[str] = set()

    def reading(self, course: Course) -> Reading:
        return reading(course, pi=self.pi)

    def verdict(self) -> Verdict:
        sources = [p for p in explore(self.a, self.inputs.values, self.reading, self.hypotheses) if p.trap is None]
        points = list(self.points())
        if not any(self.reachable(p, points) for p in sources):
            status = {self.inquiry.ask([*self.hypotheses, *p.all]).status for p in sources}
            if SAT not in status:
                why = "no input satisfies the hypotheses and lies in the domain of the left side"
                return Vacuous(why) if status <= {UNSAT} else Unknown("the hypotheses were not shown satisfiable")
        for source in sources:
            assumed = [*self.hypotheses, *source.all]
            near = [p for p in points if holds(assumed, self.environment(p))]
            try:
                targets = explore(self.b, self.inputs.values, self.reading, assumed)
            except IllTyped:
                return self.ill_typed(near)
            for target in targets:
                found = self.pair(assumed, source, target, near)
                if found is not None:
                    return found
        return Proved(" and ".join(sorted(self.methods)) or "identical terms")

    def ill_typed(self, near: Sequence[Sequence[Any]]) -> Verdict:
        """The right side cannot be read: refuted where the machine runs the left side and finds the right one ill typed."""
        for point in near:
            wanted, found = (floats(p, self.inputs.rebuild(point)) for p in (self.a, self.b))
            if isinstance(found, IllTyped) and not isinstance(wanted, Exception):
                return self.refuted(point, found.what, wanted, "the right side is ill typed")
        raise IllTyped("the right side cannot be read over the reals", rule="z3_real")

    def environment(self, point: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self.variables, point, strict=True))

    def points(self) -> Iterable[tuple[Any, ...]]:
        """Awkward rational points, spread over all inputs."""
        pools = [{"integer": INTEGERS, "boolean": (True, False)}.get(kind, POOL) for kind in self.inputs.flat]
        return spread(pools, MOST_POINTS)

    def reachable(self, path: Path, points: Sequence[Sequence[Any]]) -> bool:
        conditions = [*self.hypotheses, *path.all]
        return any(holds(conditions, self.environment(p)) for p in points)

    def pair(self, assumed: list[z3.BoolRef], source: Path, target: Path, near: Sequence[Sequence[Any]]) -> Verdict | None:
        """One path of each side: None if they agree wherever both are taken."""
        together = [*assumed, *target.conditions]
        here = [p for p in near if holds(target.conditions, self.environment(p))]
        if target.trap is not None:
            return self.settle([together], source, target, here, f"the right side traps: {target.trap.what}")
        known = list(assumed)
        for event in target.events:
            if event.kind == "need":
                found = self.settle([[*known, z3.Not(event.condition)]], source, target, near, "the right side is undefined")
                if found is not None:
                    return found
            known.append(event.condition)
        for leaf in leaves(source.value, target.value):
            if isinstance(leaf, Mismatch):
                return self.settle([together], source, target, here, leaf.why)
            found = self.leaf(together, leaf, source, target, here)
            if found is not None:
                return found
        return None

    def leaf(
        self, together: list[z3.BoolRef], leaf: tuple[Any, Any], source: Path, target: Path, here: Sequence[Sequence[Any]]
    ) -> Verdict | None:
        difference = differ(*leaf)
        if isinstance(difference, bool):
            return self.settle([together], source, target, here, "two constants differ") if difference else None
        x, y = (real(0) if v is ZERO else v for v in leaf)
        if all(z3.is_expr(v) for v in (x, y)):
            if x.eq(y):
                self.methods.add("identical terms")
                return None
            if self.equal is not None and z3.is_arith(x) and self.equal(x, y):
                self.methods.add("normal form")
                self.inquiry.settled([*together, x != y], "normal form")
                return None
            for point in here:
                if apart(x, y, self.environment(point)) is not None:
                    found = self.replay(point, source, target)
                    if isinstance(found, Refuted):
                        return found
        return self.settle([[*together, difference]], source, target, here, "")

    def settle(
        self, questions: Sequence[list[z3.BoolRef]], source: Path, target: Path, here: Sequence[Sequence[Any]], why: str
    ) -> Verdict | None:
        """None if no question can be met; else a confirmed refutation, or Unknown."""
        for question in questions:
            for point in here:
                if holds(question, self.environment(point)) and isinstance(
                    found := self.replay(point, source, target, why), Refuted
                ):
                    return found
            answer = self.inquiry.ask(question)
            if answer.status == UNSAT:
                self.methods.add("z3" if answer.solver == "z3" else answer.solver)
                continue
            if answer.status == SAT:
                confirmed = self.replay(self.point(answer), source, target, why)
                spurious = isinstance(confirmed, Unknown) and confirmed.reason == BUG and "u_" in answer.smt2
                return Unknown(INCOMPLETE) if spurious else confirmed
            return Unknown(answer.reason)
        return None

    def point(self, answer: Answer) -> tuple[Any, ...]:
        """The inputs of a model; one that is irrational is replaced by a rational nearby."""
        default = {"integer": 0, "boolean": False}
        known: Mapping[str, Any] = answer.approximate | answer.model
        return tuple(
            known.get(str(v), default.get(kind, Fraction(0)))
            for v, kind in zip(self.inputs.variables, self.inputs.flat, strict=True)
        )

    def replay(self, point: Sequence[Any], source: Path, target: Path, why: str = "") -> Verdict:
        """Refuted if execution confirms that the sides differ at the point."""
        if not holds(self.hypotheses, self.environment(point)):
            return Unknown(BUG)
        arguments = self.inputs.rebuild(point)
        wanted, found = exact(self.a, arguments), exact(self.b, arguments)
        if not isinstance(wanted, AdjudgeError) and isinstance(found, Trap):
            return self.refuted(point, found.what, wanted, why)
        if not isinstance(wanted, AdjudgeError) and not isinstance(found, AdjudgeError):
            return self.refuted(point, found, wanted, why) if self.exactly_differ(wanted, found) else Unknown(BUG)
        on_machine = floats(self.a, arguments), floats(self.b, arguments)
        if any(isinstance(v, Exception) for v in on_machine) or target.trap is not None:
            return Unknown(BUG)
        if not holds([*source.all, *target.conditions], self.environment(point)):
            return Unknown("the counterexample is irrational, and its neighbour lies on another path")
        pairs = list(leaves(source.value, target.value))
        numbers = list(leaves(*on_machine))
        for terms, doubles in zip(pairs, numbers, strict=False):
            if isinstance(terms, Mismatch) or isinstance(doubles, Mismatch):
                return self.refuted(point, on_machine[1], on_machine[0], why)
            left, right = (real(0) if t is ZERO else t for t in terms)
            if not (z3.is_arith(left) and z3.is_arith(right)):
                continue
            balls = apart(left, right, self.environment(point))
            if balls is not None and all(isinstance(d, float) for d in doubles):
                if nearer(doubles[0], *balls) and nearer(doubles[1], *reversed(balls)):
                    return self.refuted(point, on_machine[1], on_machine[0], why)
                return Unknown(BUG)
        return Unknown(INCOMPLETE)

    def exactly_differ(self, wanted: Any, found: Any) -> bool:
        """Whether two values over fractions differ, a ZERO being as good as zeros."""
        return any(isinstance(p, Mismatch) or bool(differ_exactly(*p)) for p in leaves(wanted, found))

    def refuted(self, point: Sequence[Any], found: Any, wanted: Any, why: str) -> Refuted:
        return Refuted(Counterexample(self.inputs.named(point), found, wanted, cause=why, note="over the reals"))


def differ_exactly(x: Any, y: Any) -> bool:
    """Whether two scalars over fractions differ."""
    return bool((0 if x is ZERO else x) != (0 if y is ZERO else y))


def judge_over_reals(
    a: Program,
    b: Program,
    kinds: Sequence[Kind] | None = None,
    hypotheses: Condition | str | None = None,
    *,
    equal: SameTerms | None = None,
    rlimit: int = RLIMIT,
    pi: bool = False,
    name: str = "equal over the reals",
) -> Judgment:
    """`equal_over_reals` with its evidence. `equal` may decide equality of two terms before the solver is asked."""
    inquiry = Inquiry(rlimit)
    try:
        question = _Reals(
            a, b, kinds=kinds or kinds_of(a), hypotheses=as_condition(hypotheses), inquiry=inquiry, equal=equal, pi=pi
        )
        verdict = question.verdict()
        method = " and ".join(sorted(question.methods)) or "execution"
    except Malformed:
        raise
    except AdjudgeError as error:
        verdict, method = gave_up(error), "none"
    except TypeError as error:
        verdict, method = OutOfScope(f"the condition cannot be read over the reals: {error}"), "none"
    return inquiry.judged(name, method, claimed(verdict, name))


def equal_over_reals(
    a: Program, b: Program, kinds: Sequence[Kind] | None = None, hypotheses: Condition | str | None = None, *, rlimit: int = RLIMIT
) -> Verdict:
    """Whether b refines a over the reals: defined with the same value wherever a is defined and the hypotheses hold."""
    return judge_over_reals(a, b, kinds, hypotheses, rlimit=rlimit).verdict
