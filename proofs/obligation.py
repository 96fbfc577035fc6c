"""
What is to be proved, and how it is discharged: the normal form first, the solver second, and a counterexample executed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import z3

from checkers.smt.inquiry import Inquiry, Judgment, conflicts, recheck
from checkers.smt.solver import SAT, UNSAT
from checkers.verdict import Proved, Unknown, Verdict
from proofs.normal_form import equal
from semantics.ir import Apply, Program
from semantics.primitives.row import Primitive

Claim: TypeAlias = tuple[z3.ArithRef, z3.ArithRef, list[z3.BoolRef]]


@dataclass(frozen=True)
class Obligation:
    """
    One claim. `judge()` discharges it; `uses` names trusted axioms it rests on, beside those that its questions show
    (`proofs.foundations`). `mentions` are the primitives that it reads by their definitions, where `subject` is none itself.
    """

    name: str
    subject: str
    judge: Callable[[], Judgment]
    uses: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()


def applied(program: Program) -> set[str]:
    """The names of the primitives that a program applies."""
    callees = (program.callee(n) for n, found in program.nodes.items() if isinstance(found, Apply))
    return {callee.name for callee in callees if isinstance(callee, Primitive)}


def identity(
    inquiry: Inquiry, left: z3.ArithRef, right: z3.ArithRef, hypotheses: Sequence[z3.BoolRef] = (), *, both: bool = True
) -> tuple[Verdict, str]:
    """
    left = right under the hypotheses: by normal form, and by z3 as a second opinion (which may abstain, not disagree).

    The verdict is Proved or Unknown; a refutation is for the caller, who can execute one.
    """
    by_algebra = equal(left, right)
    if by_algebra and not both:
        inquiry.settled([*hypotheses, left != right], "normal form")
        return Proved("normal form"), "normal form"
    answer = inquiry.ask([*hypotheses, left != right], rlimit=2_000_000 if by_algebra else None)
    if by_algebra and answer.status == SAT:
        return Unknown("the normal form and z3 disagree: a bug in one of them"), "conflict"
    if by_algebra:
        by = "normal form and z3" if answer.status == UNSAT else "normal form"
        return Proved(by), by
    if answer.status == UNSAT:
        return Proved("z3"), "z3"
    return Unknown(answer.reason if answer.status != SAT else "z3 has a counterexample that was not confirmed"), "z3"


def lemma(name: str, uses: tuple[str, ...], claims: Callable[[], Iterable[Claim]]) -> Obligation:
    """An obligation made of equations left = right under hypotheses that can be met; all of them must hold."""

    def judge() -> Judgment:
        inquiry = Inquiry()
        methods: set[str] = set()
        for left, right, hypotheses in claims():
            if hypotheses and (found := inquiry.ask(hypotheses)).status != SAT:
                return inquiry.judged(name, "z3", Unknown(f"the hypotheses were not shown satisfiable: {found.status}", name))
            verdict, method = identity(inquiry, left, right, hypotheses)
            methods.add(method)
            if not isinstance(verdict, Proved):
                return inquiry.judged(name, method, verdict)
        by = " and ".join(sorted(methods))
        return inquiry.judged(name, by, Proved(by, name))

    return Obligation(name, "lemma", judge, uses)


def discharge(obligation: Obligation, second: str = "") -> Judgment:
    """
    The obligation, judged. With `second` ("cvc5" or "bitwuzla") each question is also put to that solver, and a contradiction
    makes the verdict Unknown.
    """
    started = time.perf_counter()
    judgment = obligation.judge()
    if second and (wrong := conflicts(judgment, recheck(judgment, second))):
        verdict = Unknown(f"{second} contradicts z3 on {len(wrong)} questions", obligation.name)
        return Judgment(obligation.name, "conflict", verdict, time.perf_counter() - started, judgment.answers)
    return judgment
