"""
Whether a rewrite of integers is safe in words of a width, where an operation whose result does not fit traps.

It is if at every input at which the left side does not trap the right side does not either, and has the same value. Wider words are
read as integers within a range first, where a polynomial identity is one, and as bit-vectors if that does not decide; the narrowest
are always read as bit-vectors, so that each reading checks the other. A counterexample is run on Python's integers, with a test
after each operation, before it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import z3

from checkers.smt.inquiry import WORDS, Inquiry, Judgment
from checkers.smt.sides import BUG, Inputs, Kind, claimed, gave_up, inputs_of
from checkers.smt.solver import RLIMIT, SAT, UNSAT
from checkers.smt.words import Ranged, Words
from checkers.verdict import Counterexample, Proved, Refuted, Unknown, Vacuous, Verdict
from semantics.columns.arrays import with_arrays
from semantics.columns.meaning import CELLS as NUMBERS
from semantics.columns.meaning import MEANING
from semantics.conditions import Condition
from semantics.denotation import Reading, denote
from semantics.errors import AdjudgeError, Trap
from semantics.ir import Program
from semantics.primitives.row import Column, Hole
from semantics.values import same

UNGUARDED = 16  # up to this width a question runs in this process
EVER = 8  # up to this width words are read as bit-vectors first
QUICK = 400_000  # what z3 may spend on a question about integers


@cache
def checked(width: int) -> Reading:
    """The reference meaning, where an integer that does not fit traps."""

    def cell(function: Callable[..., Any] | Hole) -> Callable[..., Any] | Hole:
        if isinstance(function, Hole):
            return function

        def tested(*arguments: Any) -> Any:
            value = function(*arguments)
            if type(value) is int and not -(1 << width - 1) <= value < 1 << width - 1:
                raise Trap(f"{value} does not fit into {width} bits", rule="overflow")
            return value

        return tested

    return Reading(Column(MEANING.name, with_arrays({name: cell(function) for name, function in NUMBERS.items()})))


def judge_in_words(
    a: Program,
    b: Program,
    width: int,
    condition: Condition | None = None,
    *,
    kinds: Sequence[Kind],
    rlimit: int = RLIMIT,
    name: str = "",
) -> Judgment:
    """Whether `b` may stand for `a` in words of a width: it traps nowhere else, and has the same value where neither traps."""
    name = name or f"equal in {width} bits"
    inquiry = Inquiry(rlimit, guarded=width > UNGUARDED, first="bitwuzla" if width > UNGUARDED else "")
    try:
        verdict = _verdict(a, b, width, condition, kinds, inquiry)
    except AdjudgeError as error:
        verdict = gave_up(error)
    return inquiry.judged(name, " and ".join(sorted({x.solver for x in inquiry.answers})) or "none", claimed(verdict, name))


@dataclass(frozen=True)
class Asked:
    """What a rewrite is about in one reading: what is assumed, and the statement that the right side differs or traps."""

    inputs: Inputs
    assumed: list[Any]
    differs: Any


def asked(a: Program, b: Program, condition: Condition | None, kinds: Sequence[Kind], left: Words, right: Words) -> Asked:
    """Both sides read; `left` and `right` are readings of one kind."""
    inputs = inputs_of(a, kinds, lambda kind, n: z3.Bool(n) if kind == "boolean" else left.variable(n))
    named = dict(zip(inputs.names, inputs.values, strict=True))
    assumed = [] if condition is None else condition.conjuncts(named)
    wanted = denote(a, inputs.values, left.reading)
    found = denote(b, inputs.values, right.reading)
    differs = z3.Or(_differ(right, wanted, found), *(z3.Not(need) for need in right.needs))
    return Asked(inputs, [*assumed, *left.needs], differs)


def proved_in_integers(
    a: Program, b: Program, width: int, condition: Condition | None, kinds: Sequence[Kind], inquiry: Inquiry
) -> bool:
    """Whether the rewrite is seen to be safe as one of integers within a range. If not, nothing is said."""
    try:
        question = asked(a, b, condition, kinds, Ranged(width), Ranged(width))
    except AdjudgeError:
        return False
    if inquiry.ask(question.assumed or [z3.BoolVal(True)]).status != SAT:
        return False
    return inquiry.ask([*question.assumed, question.differs]).status == UNSAT


def _verdict(a: Program, b: Program, width: int, condition: Condition | None, kinds: Sequence[Kind], inquiry: Inquiry) -> Verdict:
    if width > EVER:
        first = Inquiry(min(QUICK, inquiry.rlimit))
        if proved_in_integers(a, b, width, condition, kinds, first):
            inquiry.answers.extend(first.answers)
            return Proved(f"z3 in integers within {width} bits")
    question = asked(a, b, condition, kinds, Words(width), Words(width))
    inputs, assumed = question.inputs, question.assumed
    if (status := inquiry.ask(assumed or [z3.BoolVal(True)], pure=False, logic=WORDS).status) != SAT:
        return Vacuous("the left side traps everywhere") if status == UNSAT else Unknown("no input was found at which it applies")
    answer = inquiry.ask([*assumed, question.differs], pure=False, logic=WORDS)
    if answer.status == UNSAT:
        return Proved(f"{' and '.join(sorted({x.solver for x in inquiry.answers}))} in {width} bits")
    if answer.status != SAT:
        return Unknown(answer.reason)
    default = {str(v): (False if k == "boolean" else 0) for v, k in zip(inputs.variables, inputs.flat, strict=True)}
    point = [answer.model.get(v, value) for v, value in default.items()]
    return _replayed(a, b, width, inputs, point)


def _differ(run: Words, wanted: Any, found: Any) -> Any:
    """Whether two values, words or conditions, are different."""
    if any(isinstance(x, bool) or z3.is_bool(x) for x in (wanted, found)):
        x, y = (z3.BoolVal(v) if isinstance(v, bool) else v for v in (wanted, found))
        return x != y if z3.is_bool(x) and z3.is_bool(y) else z3.BoolVal(True)
    return run.word("the left side", wanted) != run.word("the right side", found)


def _replayed(a: Program, b: Program, width: int, inputs: Any, point: Sequence[Any]) -> Verdict:
    """Refuted if Python's integers, tested after each operation, tell the sides apart."""
    outcomes: list[Any] = []
    for program in (a, b):
        try:
            outcomes.append(denote(program, inputs.rebuild(point), checked(width)))
        except AdjudgeError as error:
            outcomes.append(error)
    wanted, found = outcomes
    if isinstance(wanted, Exception) or (not isinstance(found, Exception) and same(wanted, found)):
        return Unknown(BUG)
    shown = str(found) if isinstance(found, Exception) else found
    return Refuted(Counterexample(inputs.named(point), shown, wanted, note=f"in words of {width} bits"))
