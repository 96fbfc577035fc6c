"""
A program against the cotangents it is to give: on all its paths, where they are assumed to matter.

Each cotangent must equal the term wanted, by normal form or by z3. One that does not is refuted at a point where rigorous
enclosures of both are apart and the machine, on doubles, is nearer to the program's; so is a program that is undefined there.
Whatever is neither proved nor refuted stays Unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import z3

from checkers.smt.enclosures import apart, holds, nearer
from checkers.smt.inquiry import Inquiry
from checkers.smt.paths import Path, explore
from checkers.smt.solver import SAT, UNSAT
from checkers.smt.terms import real
from checkers.verdict import Counterexample, Proved, Refuted, Unknown, Verdict
from proofs.derivations import REAL
from proofs.normal_form import equal
from proofs.obligation import identity
from semantics.ir import Program
from semantics.tangents import ZERO

FEW, QUICK = 8, 100_000
# A constant in a rule is a double, 2^-53 from the number meant. Eight bits are left for what the rule makes of it: a rule within
# this relative distance of the derivative is no less right than its constants.
ROUNDED = 2.0**-45


@dataclass(frozen=True)
class Wanted:
    """
    What a program is held against.

    program, arguments  what is run on terms             cotangents  the term wanted at each index that matters
    laws                what each cotangent is to be, in words
    count               how many cotangents there are    assumed     where
    inputs              by name, those that a counterexample shows, terms or constants: variables are sampled
    points              where to look for a difference
    execute             the machine's answer on doubles, from the values of `inputs`
    """

    program: Program
    arguments: Sequence[Any]
    cotangents: dict[int, Any]
    laws: Sequence[str]
    count: int
    assumed: list[Any]
    inputs: dict[str, Any]
    points: list[dict[str, Any]]
    execute: Callable[[list[Any]], Any]
    note: str = ""


class Comparison:
    """`verdict` is None if every cotangent is the one wanted. `methods` says how."""

    def __init__(self, inquiry: Inquiry, wanted: Wanted) -> None:
        self.inquiry, self.wanted = inquiry, wanted
        self.methods: set[str] = set()

    def verdict(self) -> Verdict | None:
        wanted = self.wanted
        for path in explore(wanted.program, wanted.arguments, REAL, wanted.assumed):
            if (wrong := self.path(path)) is not None:
                return wrong
        return None

    def path(self, path: Path) -> Verdict | None:
        """One path: defined, one cotangent per argument, each the right one."""
        assumed = self.wanted.assumed
        if path.trap is not None:
            return self.undefined([*assumed, *path.conditions], path.trap.what)
        known = list(assumed)
        for event in path.events:
            if event.kind == "need" and self.inquiry.ask([*known, z3.Not(event.condition)]).status != UNSAT:
                return self.undefined([*known, z3.Not(event.condition)], f"it needs {event.condition}")
            known.append(event.condition)
        if not isinstance(path.value, tuple) or len(path.value) != self.wanted.count:
            shown = f"{len(path.value)} cotangents" if isinstance(path.value, tuple) else repr(path.value)
            return structure(f"the rule returns {shown} for {self.wanted.count} arguments")
        for index, expected in self.wanted.cotangents.items():
            cotangent = real(0) if path.value[index] is ZERO else path.value[index]
            if not z3.is_real(cotangent):
                return structure(f"cotangent {index} is {cotangent!r}, not a real")
            if (wrong := self.cotangent(known, index, cotangent, expected)) is not None:
                return wrong
        return None

    def cotangent(self, known: list[Any], index: int, found: Any, expected: Any) -> Verdict | None:
        """
        One cotangent: by normal form and z3. Where the normal form does not show it, a difference is looked for at a few points
        before z3 is asked, since it is often there, and at all of them before z3 is asked for long.
        """
        points = self.wanted.points
        if not equal(found, expected):
            if (refuted := self.search(points[:FEW], known, index, found, expected)) is not None:
                return refuted
            if self.inquiry.ask([*known, found != expected], rlimit=QUICK).status == UNSAT:
                self.methods.add("z3")
                return None
            if (refuted := self.search(points[FEW:], known, index, found, expected)) is not None:
                return refuted
        verdict, method = identity(self.inquiry, found, expected, known)
        if not isinstance(verdict, Proved):
            refuted = self.of_solver(known, index, found, expected)
            return verdict if refuted is None else refuted
        self.methods.add(method)
        return None

    def of_solver(self, known: list[Any], index: int, found: Any, expected: Any) -> Refuted | None:
        """The refutation at the solver's point, if it survives execution."""
        answer = self.inquiry.ask([*known, found != expected])
        if answer.status != SAT:
            return None
        start = self.wanted.points[0] if self.wanted.points else {}
        return self.search([{**start, **answer.approximate, **answer.model}], known, index, found, expected)

    def search(self, points: Sequence[dict[str, Any]], known: list[Any], index: int, found: Any, expected: Any) -> Refuted | None:
        """A refutation at one of the points that survives execution."""
        for point in points:
            balls = apart(found, expected, point) if holds(known, point) else None
            if balls is None:
                continue
            values = self.values(point)
            ran = self.wanted.execute(values)
            number = (0.0 if ran[index] is ZERO else ran[index]) if isinstance(ran, tuple) else None
            if isinstance(number, float) and nearer(number, *balls):
                shown = dict(zip(self.wanted.inputs, values, strict=True))
                cause = f"cotangent {index} is not {self.wanted.laws[index]}"
                slight = bool(abs(balls[0] - balls[1]) < ROUNDED * abs(balls[1]))
                note = "so near that a constant of the rule may be a rounded one" if slight else self.wanted.note
                found_there = Counterexample(shown, number, float(balls[1].mid()), cause=cause, note=note)
                return Refuted(found_there, kind="accuracy" if slight else "fault")
        return None

    def values(self, point: dict[str, Any]) -> list[Any]:
        """The values of the inputs at a point."""
        return [point.get(str(x), Fraction(0)) if z3.is_expr(x) else x for x in self.wanted.inputs.values()]

    def undefined(self, question: list[Any], why: str) -> Verdict:
        """A program that is not defined somewhere inside the domain: refuted where execution gives no finite number."""
        for point in self.wanted.points:
            if not holds(question, point):
                continue
            values = self.values(point)
            ran = self.wanted.execute(values)
            bad = [v for v in ran if isinstance(v, float) and not abs(v) < float("inf")] if isinstance(ran, tuple) else [ran]
            if bad:
                shown = dict(zip(self.wanted.inputs, values, strict=True))
                found = str(bad[0]) if isinstance(bad[0], Exception) else bad[0]
                return Refuted(Counterexample(shown, found, "a number", cause=f"undefined inside the domain: {why}"))
        return Unknown(f"the rule was not shown to be defined inside the domain: {why}")


def structure(why: str) -> Refuted:
    """A rule that gives no cotangents, or too few, whatever the input."""
    return Refuted(Counterexample({}, why, "one cotangent per argument", cause=why))
