"""
A rule under a condition of the vocabulary, put to the solver: over the reals, or format by format up the ladder.

A word is read as what it says of a floating-point term (`fpIsNaN`, `fpIsZero`…), or of a real or an integer, of which there is one
zero and no infinity. A counterexample that also parts the sides on the machine is a point that testing missed: the search for the
condition goes on with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from checkers.optimizer_audit.rule_conditions import (
    MINUS_INFINITY,
    MINUS_ZERO,
    NAN,
    NEGATIVE,
    PLUS_INFINITY,
    PLUS_ZERO,
    POSITIVE,
    Atom,
    Comparison,
    Word,
    all_hold,
    in_words,
    weakest,
)
from checkers.optimizer_audit.samples import Point
from checkers.smt.equality import equal_over_reals, judge_in_ieee
from checkers.smt.ieee import DOUBLE, HALF, LADDER, TINY, Numeric
from checkers.verdict import OutOfScope, Passed, Proved, Refuted, Unknown, Verdict
from semantics.arrays import Array
from semantics.errors import IllTyped
from semantics.ir import Program

ROUNDS = 8  # of search and proof
OTHERS = ("bitwuzla",)

FLOATING: Mapping[int, Callable[[Any], Any]] = {
    NAN: z3.fpIsNaN,
    MINUS_INFINITY: lambda t: z3.And(z3.fpIsInf(t), z3.fpIsNegative(t)),
    NEGATIVE: lambda t: z3.And(z3.fpIsNegative(t), z3.Not(z3.fpIsZero(t)), z3.Not(z3.fpIsInf(t))),
    MINUS_ZERO: lambda t: z3.And(z3.fpIsZero(t), z3.fpIsNegative(t)),
    PLUS_ZERO: lambda t: z3.And(z3.fpIsZero(t), z3.fpIsPositive(t)),
    POSITIVE: lambda t: z3.And(z3.fpIsPositive(t), z3.Not(z3.fpIsZero(t)), z3.Not(z3.fpIsInf(t))),
    PLUS_INFINITY: lambda t: z3.And(z3.fpIsInf(t), z3.fpIsPositive(t)),
}
EXACT: Mapping[int, Callable[[Any], Any]] = {NEGATIVE: lambda t: t < 0, PLUS_ZERO: lambda t: t == 0, POSITIVE: lambda t: t > 0}


@dataclass(frozen=True)
class Conjunction:
    """Atoms as the hypotheses of a proof: what `Condition` is to the solver, with words that the text of conditions has not."""

    atoms: tuple[Atom, ...]

    def __str__(self) -> str:
        return in_words(self.atoms)

    def conjuncts(self, values: Mapping[str, Any], number: Callable[[float], Any] = lambda c: c) -> list[Any]:
        """Every atom as a term of the solver."""
        terms: list[Any] = []
        for atom in self.atoms:
            match atom:
                case Comparison(_, condition):
                    terms += condition.conjuncts(values, number)
                case Word(variable):
                    value = values[variable]
                    terms += [said_of(atom, v) for v in (value.items if isinstance(value, Array) else (value,))]
        return terms


def said_of(atom: Word, value: Any) -> Any:
    """The word as a term about one number: true of it if it is in none of the classes that the word excludes."""
    term = value.term if isinstance(value, Numeric) else value
    if z3.is_fp(term):
        classes = FLOATING
    elif z3.is_arith(term):
        classes = EXACT
    else:
        raise IllTyped(f"{atom} says nothing of {term}", rule="side condition", remedy="speak of numbers")
    return z3.And(z3.BoolVal(True), *(z3.Not(is_in(term)) for c, is_in in classes.items() if c not in atom.classes))


def proved_under(left: Program, right: Program, condition: Any, *, exact: bool, rlimit: int) -> tuple[Verdict, str]:
    """
    What the solver says of the rule under a condition, and up to where.

    exact  over the reals, integers being themselves, instead of format by format
    Proved in f16 or wider is a proof; in the tiny format alone it is a screen, and the verdict is Unknown with the reason. What z3
    does not decide in f16 is hopeless in f64, where no other solver is then asked.
    """
    if exact:
        found = equal_over_reals(left, right, None, condition, rlimit=rlimit)
        return found, "over the reals" if isinstance(found, Proved) else ""
    proved: list[str] = []
    solvers: set[str] = set()
    hard = False
    for format in LADDER:
        others = () if hard and format == DOUBLE else OTHERS
        judgment = judge_in_ieee(left, right, format, condition, rlimit=rlimit, others=others)
        found = judgment.verdict
        if isinstance(found, Proved):
            asked = {a.solver for a in judgment.answers}
            solvers |= asked
            hard = hard or (format == HALF and bool(asked - {"z3"}))
            proved.append(format.name)
            continue
        reason = _reason(found)
        if isinstance(found, Refuted) or proved in ([], [TINY.name]):
            return found if isinstance(found, Refuted) else Unknown(f"{format.name}: {reason}"), ", ".join(proved)
        return Proved(f"{_named(solvers)} in {', '.join(proved)}; {format.name} not decided: {reason}"), ", ".join(proved)
    return Proved(f"{_named(solvers)} in {', '.join(proved)}"), ", ".join(proved)


def _named(solvers: set[str]) -> str:
    return " and ".join(sorted(solvers)) or "z3"


def _reason(verdict: Verdict) -> str:
    match verdict:
        case Unknown(reason):
            return reason
        case OutOfScope(why):
            return why
        case Passed(_, what):
            return what
        case _:
            return type(verdict).__name__


@dataclass(frozen=True)
class Weakest:
    """The condition that was found, and what the solver says of the rule under it."""

    atoms: tuple[Atom, ...]
    verdict: Verdict
    extent: str


def weakest_proved(
    left: Program,
    right: Program,
    names: Sequence[str],
    failing: Sequence[Point],
    holding: Sequence[Point],
    *,
    atoms: Sequence[Atom],
    given: tuple[Atom, ...] = (),
    differs: Callable[[Point], bool],
    further: Sequence[Point] = (),
    exact: bool,
    rlimit: int,
) -> Weakest | None:
    """
    The weakest conjunction at the points, proved on top of what is `given`. While it fails at one of the `further` points, or the
    solver finds a point that `differs` confirms, a stronger one; None if there is none, or no end of that.
    """
    failing = list(failing)
    for _ in range(ROUNDS):
        chosen = weakest(names, failing, holding, atoms)
        if chosen is None:
            return None
        missed = [p for p in further if all_hold((*given, *chosen), p) and differs(p)]
        if missed:
            failing += missed
            continue
        verdict, extent = proved_under(left, right, Conjunction((*given, *chosen)), exact=exact, rlimit=rlimit)
        claim = f"holds when {in_words(chosen)}"
        if not isinstance(verdict, Refuted):
            shown = Proved(verdict.by, claim) if isinstance(verdict, Proved) else _tested(len(holding), _reason(verdict), claim)
            return Weakest(chosen, shown, extent)
        point = tuple(verdict.counterexample.inputs.values())
        if not _told_apart(differs, point):
            reason = f"a solver's counterexample, {verdict.counterexample.inputs}, does not part the sides on the machine"
            return Weakest(chosen, _tested(len(holding), reason, claim), extent)
        failing.append(point)
    return None


def _tested(points: int, reason: str, claim: str) -> Verdict:
    return Passed(points, f"points; tested, not proved: {reason}", claim)


def _told_apart(differs: Callable[[Point], bool], point: Point) -> bool:
    try:
        return differs(point)
    except (ArithmeticError, TypeError, ValueError):  # the solver's numbers are not always the machine's
        return False
