"""
Do the modes agree? One verdict for each mode and order, and for a disagreement the first differing step.

Every answer is compared with one reference: forward mode, or the first oracle or mode that answered. Values are equal in bits.
Derivatives are compared over the reals, so that rounding is no disagreement: as fractions if the program and all that was made of
it are rational, else as enclosures. What is not decided is Unknown and never a fault: at a declared kink, where the derivative is
a convention; where an enclosure straddles a guard; for `erf` and `erfc` against the oracles, because their rule holds a constant
that is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from checkers.agreement.answers import FORWARD, TRACE, Answer, Answers, answers
from checkers.agreement.disagreement import first_difference
from checkers.agreement.question import Question
from checkers.columns.undecided import Undecided
from checkers.properties.agreement import judged, shown
from checkers.trace_reversal import trace
from checkers.verdict import Counterexample, LedgerEntry, OutOfScope, Passed, Refuted, Report, Unknown, Verdict
from semantics.errors import AdjudgeError, Crash, OutOfFuel
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.text import cut
from semantics.values import same
from transforms.modes import MODES

ALL = (*MODES, FORWARD, TRACE)
ROUNDED = frozenset((TABLE["erf"], TABLE["erfc"]))
ORDERS = {1: "first order", 2: "second order"}


@dataclass(frozen=True)
class Judged:
    """The answers to one question, with a verdict on each that is not the reference."""

    found: Answers
    reference: Answer | None
    verdicts: dict[str, Verdict]


def judge(question: Question, modes: Sequence[str] = ALL, *, counted: bool = True, known: frozenset[str] = frozenset()) -> Judged:
    """
    What the modes answer, and whether they agree. An error of the program itself at its arguments is raised.

    counted  also say what the answers cost
    known    modes that disagree at a lower order already: their first differing step is to be looked for there
    """
    found = answers(question, tuple(modes), counted=counted)
    reference = _reference(found)
    verdicts = {a.mode: _verdict(found, reference, a) for a in found.answers if a is not reference}
    if any(isinstance(v, Refuted) for v in verdicts.values()):
        verdicts = _reconsidered(found, verdicts, known)
    return Judged(found, reference, verdicts)


def _reference(found: Answers) -> Answer | None:
    """Forward mode, else the first that answered."""
    answered = sorted((a for a in found.answers if a.answered), key=lambda a: (a.mode != FORWARD, not a.is_oracle))
    return answered[0] if answered else None


def claim_of(found: Answers, answer: Answer) -> str:
    """What is claimed of an answer."""
    return f"{answer.mode} at {ORDERS[found.question.order]}"


def _verdict(found: Answers, reference: Answer | None, answer: Answer) -> Verdict:
    claim = claim_of(found, answer)
    if answer.stage == "refused" and not isinstance(answer.error, Crash):
        return OutOfScope(reason(answer.error), claim)
    if isinstance(answer.error, (OutOfFuel, Undecided)):
        return Unknown(reason(answer.error), claim)
    if answer.error is not None and reference is None:
        return Unknown(reason(answer.error), claim)
    inputs = found.question.inputs
    if found.question.order == 1 and answer.error is None and not same(answer.value, found.value):
        named = {f"argument {i}": x for i, x in enumerate(inputs)}
        return Refuted(Counterexample(named, answer.value, found.value, cause="the value differs in bits"), claim=claim)
    assert reference is not None
    return judged(claim, inputs, lambda: _exact(answer), lambda: reference.exact, what=f"equal to {reference.title}")


def _exact(answer: Answer) -> Any:
    """The exact derivative; the error where there is none."""
    if answer.error is not None:
        raise answer.error
    return answer.exact


def reason(error: AdjudgeError | None) -> str:
    """The text of an error in one line."""
    return f"{type(error).__name__}: {error.what}" if error is not None else ""


def _reconsidered(found: Answers, verdicts: dict[str, Verdict], known: frozenset[str]) -> dict[str, Verdict]:
    """Differences that are conventions are Unknown; the others are given their first differing step."""
    convention = _convention(found)
    result: dict[str, Verdict] = {}
    for mode, verdict in verdicts.items():
        if not isinstance(verdict, Refuted):
            result[mode] = verdict
        elif convention and verdict.counterexample.cause == "":
            result[mode] = Unknown(f"{convention}; {cut(verdict.counterexample.note) or 'the answers differ'}", verdict.claim)
        else:
            result[mode] = _located(found, mode, verdict, known)
    return result


def _convention(found: Answers) -> str:
    """Why a difference need not be a fault; empty if it is one."""
    question = found.question
    if any(p in question.expanded.interned for p in ROUNDED):
        return "the rule of erf holds a rounded constant"
    try:
        entries = trace(question.expanded, question.arguments).entries
    except AdjudgeError as error:
        return reason(error)
    kinks = dict.fromkeys(e.primitive.name for e in entries if _on_boundary(e.primitive, e.arguments))
    return f"the run meets a declared kink or the edge of a domain, of {', '.join(kinks)}" if kinks else ""


def _on_boundary(primitive: Primitive, arguments: Sequence[Any]) -> bool:
    """Whether a line of the trace lies on a kink of its primitive, or outside of its domain."""
    return primitive.on_kink(*arguments) or not primitive.in_domain(*arguments)


def _located(found: Answers, mode: str, verdict: Refuted, known: frozenset[str]) -> Refuted:
    """The refutation with the first differing step; an answer of an oracle, a value and an error have none."""
    answer, counterexample = found.by(mode), verdict.counterexample
    if answer.is_oracle or answer.error is not None or counterexample.cause:
        return verdict
    if mode in known:
        cause = "this mode disagrees at first order already"
    else:
        cause = str(first_difference(found.question, mode, found.reading))
    return replace(verdict, counterexample=replace(counterexample, cause=cause, note=cut(counterexample.note)))


def report(subject: str, question: Question, orders: Sequence[int] = (1, 2), modes: Sequence[str] = ALL) -> Report:
    """The judgment on one program at one point; `details` holds what was judged, by order."""
    by_order: dict[int, Judged] = {}
    known: frozenset[str] = frozenset()
    for order in orders:
        by_order[order] = judge(question.of_order(order), modes, known=known)
        known |= {mode for mode, verdict in by_order[order].verdicts.items() if isinstance(verdict, Refuted)}
    verdicts = tuple(v for found in by_order.values() for v in found.verdicts.values())
    ledger = tuple(
        LedgerEntry(claim_of(found.found, a), a.seconds, reason(a.error))
        for found in by_order.values()
        for a in found.found.answers
    )
    return Report(subject, verdicts, ledger, details={"orders": by_order})


def summary_of(found: Judged, answer: Answer) -> str:
    """What a table says of an answer."""
    verdict = found.verdicts.get(answer.mode)
    match verdict:
        case None:
            return "reference"
        case Passed():
            return "agrees"
        case Refuted():
            return "DISAGREES"
        case OutOfScope(why):
            return f"refused: {why}"
        case Unknown(why):
            return f"not decided: {why}"
        case _:
            return type(verdict).__name__


def plain(value: Any) -> str:
    """A value in a table."""
    return cut(repr(shown(value)))
