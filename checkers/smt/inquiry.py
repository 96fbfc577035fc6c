"""
What a judgment by solver is made of: the questions it asked, what they cost, and the verdict.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import z3

from checkers.smt.purify import Purifier, pi_facts
from checkers.smt.smtlib import script
from checkers.smt.solver import RLIMIT, SAT, UNKNOWN, UNSAT, Answer, second_opinion, solve
from checkers.verdict import Verdict

TIE_WALL = 20.0  # seconds for another solver, and for z3 where it is the second opinion
SECOND_RLIMIT = 1_000_000  # what z3 may spend on a second opinion
FLOATS, WORDS = "QF_FP", "QF_BV"


@dataclass(frozen=True)
class Judgment:
    """
    A verdict with its evidence.

    method   how it was reached: "normal form", "z3", "executed", …
    answers  what the solver said, with the text of every question; empty if none was asked
    """

    name: str
    method: str
    verdict: Verdict
    seconds: float = 0.0
    answers: tuple[Answer, ...] = ()

    @property
    def rlimit(self) -> int:
        """The solver resources used, which repeat from run to run."""
        return sum(a.rlimit for a in self.answers)

    @property
    def smt2(self) -> str:
        """Every question as SMT-LIB, one script after another, each with the answer it had."""
        return "\n".join(f"; {self.name}, question {i}: {a.status}\n{a.smt2}(reset)" for i, a in enumerate(self.answers, 1))


@dataclass
class Inquiry:
    """
    Asks the solver and remembers. `first` is asked before z3, if it is installed: z3 is then the second opinion, and where the two
    contradict each other nothing is known. `others` are asked too where z3 does not know.
    """

    rlimit: int = RLIMIT
    guarded: bool = False
    others: tuple[str, ...] = ()
    first: str = ""
    answers: list[Answer] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    def ask(self, assertions: Sequence[z3.ExprRef], *, pure: bool = True, rlimit: int | None = None, logic: str = FLOATS) -> Answer:
        """
        The answer to whether the assertions can hold together; with `pure` they are over the reals and purified first, without it
        they are of the `logic`.
        """
        text = question(assertions, pure, logic)
        before = second_opinion(text, self.first, wall=TIE_WALL) if self.first else Answer(UNKNOWN)
        budget = rlimit or self.rlimit
        if before.status == UNSAT:
            answer = solve(text, rlimit=min(budget, SECOND_RLIMIT), guarded=self.guarded, wall=TIE_WALL)
        else:
            answer = solve(text, rlimit=budget, guarded=self.guarded)
        if {before.status, answer.status} == {SAT, UNSAT}:
            said = f"{self.first} says {before.status}, z3 {answer.status}: one of them is wrong"
            answer = replace(answer, status=UNKNOWN, reason=said)
        elif answer.status == UNKNOWN and before.status == UNSAT:
            answer = before
        for other in self.others:
            if answer.status == UNKNOWN and other != self.first:
                opinion = second_opinion(text, other, wall=TIE_WALL)
                if opinion.status == UNSAT:
                    answer = opinion
        self.answers.append(answer)
        return answer

    def settled(self, assertions: Sequence[z3.ExprRef], by: str) -> Answer:
        """
        A question over the reals that was answered without a solver: the assertions cannot hold together, `by` some other method.

        It is kept as evidence, for another solver to answer; this one is asked nothing.
        """
        answer = Answer(UNSAT, smt2=question(assertions), solver=by)
        self.answers.append(answer)
        return answer

    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def judged(self, name: str, method: str, verdict: Verdict) -> Judgment:
        """The judgment, with everything asked so far as its evidence."""
        return Judgment(name, method, verdict, self.seconds(), tuple(self.answers))


def question(assertions: Sequence[z3.ExprRef], pure: bool = True, logic: str = FLOATS) -> str:
    """The script that asks whether the assertions can hold together; with `pure` they are over the reals and purified."""
    if not pure:  # of words z3 makes operations of its own when it simplifies
        return script([z3.simplify(a) for a in assertions] if logic == FLOATS else assertions, logic)
    return script(Purifier().question([*assertions, *pi_facts(assertions)]), "ALL")


def recheck(judgment: Judgment, solver: str, *, wall: float = 5.0) -> list[Answer]:
    """Another solver's answers to the same questions. It may abstain; a decided answer that differs is one of the `conflicts`."""
    return [second_opinion(a.smt2, solver, wall=wall) for a in judgment.answers if a.smt2]


def conflicts(judgment: Judgment, opinions: Sequence[Answer]) -> list[Answer]:
    """The opinions that contradict what the judgment rests on."""
    asked = [a for a in judgment.answers if a.smt2]
    decided = (SAT, UNSAT)
    return [o for a, o in zip(asked, opinions, strict=True) if a.status in decided and o.status in decided and a.status != o.status]
