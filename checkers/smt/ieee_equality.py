"""
Equality in a format, bit for bit: the same value at every input of the format that satisfies the hypotheses. There is one NaN, and
zeros are told apart.

Before the solver is asked, both programs are run on the awkward numbers of the format. A solver's counterexample is run on the
reference, rounded to the format (in f64 on the machine), before it is believed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import z3

from checkers.smt.ieee import DOUBLE, SINGLE, TINY, Format, Ieee, Numeric
from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.paths import Path, explore
from checkers.smt.replay import floats, rounded, run_in
from checkers.smt.sides import BUG, Kind, Mismatch, as_condition, claimed, differ, gave_up, inputs_of, kinds_of, leaves, spread
from checkers.smt.solver import RLIMIT, SAT, UNSAT
from checkers.smt.terms import Course
from checkers.verdict import Counterexample, OutOfScope, Passed, Proved, Refuted, Unknown, Vacuous, Verdict
from semantics.conditions import Condition
from semantics.denotation import Reading
from semantics.errors import AdjudgeError, IllTyped, Malformed, Trap
from semantics.ir import Program
from semantics.tangents import ZERO
from semantics.type_language import ArrayType
from semantics.values import same

MOST_FLOAT_POINTS = 700
SMALL = 11  # up to so many bits of significand a query runs unguarded


def pool_of(format: Format) -> tuple[float, ...]:
    """The awkward numbers of a format: zeros, infinities, NaN, the ends of its range, and some between."""
    bias = (1 << (format.ebits - 1)) - 1
    largest = math.ldexp(2.0 - math.ldexp(1.0, 1 - format.sbits), bias)
    normal, least = math.ldexp(1.0, 1 - bias), math.ldexp(1.0, 2 - bias - format.sbits)
    plain = [1.0, -1.0, 0.5, 3.0, -1.5, 2.0, 1.0 / 3.0, -0.1, 7.0, 0.7]
    near = [rounded(x, format.ebits, format.sbits) for x in plain]
    next_to_one = 1.0 + math.ldexp(1.0, 1 - format.sbits)
    return (
        0.0,
        -0.0,
        *near,
        math.inf,
        -math.inf,
        math.nan,
        largest,
        -largest,
        normal,
        least,
        -least,
        3 * least,
        next_to_one,
        largest / 2,
    )


class _Format:
    """One question in a format: the same structure as `_Reals`, without domains, since every operation is total."""

    def __init__(
        self, a: Program, b: Program, format: Format, *, kinds: Sequence[Kind], hypotheses: Condition | None, inquiry: Inquiry
    ) -> None:
        self.a, self.b, self.format, self.condition, self.inquiry = a, b, format, hypotheses, inquiry
        arrays = [kind for kind in kinds if isinstance(kind, ArrayType)]
        if "integer" in kinds or any(kind.dtype == "i64" for kind in arrays):
            raise Trap("integers are mathematical and have no format", rule="z3_ieee")
        if any(kind.dtype == "f32" for kind in arrays) and format.sbits > SINGLE.sbits:
            raise Trap(f"an f32 parameter takes few of the values of {format.name}", rule="z3_ieee")
        self.inputs = inputs_of(a, kinds, lambda kind, name: z3.Bool(name) if kind == "boolean" else z3.FP(name, format.sort))
        self.executed = 0
        run = Ieee(format)
        self.hypotheses: list[z3.BoolRef] = []
        if hypotheses is not None:
            named = zip(self.inputs.names, self.inputs.values, strict=True)
            values = {n: Numeric(run, v) if z3.is_fp(v) else v for n, v in named}
            self.hypotheses = hypotheses.conjuncts(values)

    def reading(self, course: Course) -> Reading:
        return Ieee(self.format, course).reading()

    def verdict(self) -> Verdict:
        satisfied = False
        pools = [(True, False) if k == "boolean" else pool_of(self.format) for k in self.inputs.flat]
        for point in spread(pools, MOST_FLOAT_POINTS):
            if self.assumed_at(point):
                satisfied = True
                found = self.replay(point, "executed")
                if isinstance(found, Refuted):
                    return found
        if not satisfied:
            status = self.inquiry.ask(self.hypotheses, pure=False).status
            if status != SAT:
                return (
                    Vacuous("no input satisfies the hypotheses")
                    if status == UNSAT
                    else Unknown("the hypotheses were not shown satisfiable")
                )
        for source in explore(self.a, self.inputs.values, self.reading, self.hypotheses):
            assumed = [*self.hypotheses, *source.conditions]
            for target in explore(self.b, self.inputs.values, self.reading, assumed):
                differs = self.pair([*assumed, *target.conditions], source, target)
                if differs is not None:
                    return differs
        screen = ", a screen for the wider formats" if self.format == TINY else ""
        solvers = " and ".join(sorted({a.solver for a in self.inquiry.answers} or {"z3"}))
        return Proved(f"{solvers} in {self.format.name}{screen}")

    def assumed_at(self, point: Sequence[Any]) -> bool:
        """Whether the hypotheses hold at the point, in the arithmetic of the format."""
        if not self.hypotheses:
            return True
        values = [z3.FPVal(x, self.format.sort) if isinstance(x, float) else z3.BoolVal(x) for x in point]
        swap = list(zip(self.inputs.variables, values, strict=True))
        return all(z3.is_true(z3.simplify(z3.substitute(h, *swap))) for h in self.hypotheses)

    def pair(self, assumed: list[z3.BoolRef], source: Path, target: Path) -> Verdict | None:
        if source.trap is not None or target.trap is not None:
            return None if source.trap is not None and target.trap is not None else self.settle(assumed, "one side traps")
        for leaf in leaves(source.value, target.value):
            if isinstance(leaf, Mismatch):
                return self.settle(assumed, leaf.why)
            x, y = (z3.FPVal(0.0, self.format.sort) if v is ZERO else v for v in leaf)
            difference = differ(x, y)
            if difference is False or (z3.is_expr(x) and z3.is_expr(y) and x.eq(y)):
                continue
            found = self.settle(assumed if difference is True else [*assumed, difference], "")
            if found is not None:
                return found
        return None

    def settle(self, question: list[z3.BoolRef], why: str) -> Verdict | None:
        answer = self.inquiry.ask(question or [z3.BoolVal(True)], pure=False)
        if answer.status == UNSAT:
            return None
        if answer.status != SAT:
            return Unknown(answer.reason)
        kinds = zip(self.inputs.variables, self.inputs.flat, strict=True)
        point = tuple(answer.model.get(str(v), False if k == "boolean" else 0.0) for v, k in kinds)
        return self.replay(point, why)

    def replay(self, point: Sequence[Any], why: str) -> Verdict:
        """Refuted if the reference, rounded to the format, tells the sides apart; in f64 it is the machine that runs."""
        arguments = self.inputs.rebuild(point)
        if self.format == DOUBLE:
            wanted, found = floats(self.a, arguments), floats(self.b, arguments)
        else:
            wanted, found = (_attempt(p, arguments, self.format) for p in (self.a, self.b))
        if isinstance(wanted, IllTyped):
            return Unknown("the left side is ill typed there")
        self.executed += 1
        outcomes = [type(v) if isinstance(v, Exception) else spelled_out(v) for v in (wanted, found)]
        if same(*outcomes):
            return Unknown(BUG)
        note = f"in {self.format.name}" + ("" if self.format == DOUBLE else ", every operation rounded to it")
        shown_found, shown_wanted = (str(v) if isinstance(v, Exception) else v for v in (found, wanted))
        inputs, cause = self.inputs.named(point), why if why != "executed" else ""
        return Refuted(Counterexample(inputs, shown_found, shown_wanted, cause=cause, note=note))


def spelled_out(value: Any) -> Any:
    """ZERO at the top of a value as the number 0.0, which is what it becomes at the boundary."""
    return 0.0 if value is ZERO else value


def _attempt(program: Program, point: Sequence[Any], format: Format) -> Any:
    try:
        return run_in(program, point, format.ebits, format.sbits)
    except AdjudgeError as error:
        return error


def judge_in_ieee(
    a: Program,
    b: Program,
    format: Format = DOUBLE,
    hypotheses: Condition | str | None = None,
    *,
    kinds: Sequence[Kind] | None = None,
    rlimit: int = RLIMIT,
    others: tuple[str, ...] = ("bitwuzla",),
    first: str = "",
    name: str = "",
) -> Judgment:
    """`equal_in_ieee` with its evidence; `others` are asked where z3 does not know, `first` before it."""
    name = name or f"bit-equal in {format.name}"
    inquiry = Inquiry(rlimit, guarded=format.sbits > SMALL, others=others, first=first)
    question: _Format | None = None
    try:
        question = _Format(a, b, format, kinds=kinds or kinds_of(a), hypotheses=as_condition(hypotheses), inquiry=inquiry)
        verdict = question.verdict()
    except Malformed:
        raise
    except AdjudgeError as error:
        verdict = gave_up(error)
        if question is not None and isinstance(verdict, OutOfScope) and question.executed:
            verdict = Passed(question.executed, f"awkward inputs in {format.name}; no proof: {error.what}")
    except TypeError as error:
        verdict = OutOfScope(f"the condition cannot be read in {format.name}: {error}")
    solvers = sorted({a.solver for a in inquiry.answers})
    return inquiry.judged(name, " and ".join(solvers) or "execution", claimed(verdict, name))


def equal_in_ieee(
    a: Program, b: Program, format: Format = DOUBLE, hypotheses: Condition | str | None = None, *, rlimit: int = RLIMIT
) -> Verdict:
    """Whether the programs have the same bits (one NaN) at every input of the format that satisfies the hypotheses."""
    return judge_in_ieee(a, b, format, hypotheses, rlimit=rlimit).verdict
