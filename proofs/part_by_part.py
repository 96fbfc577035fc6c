"""
Whether a program's pullback is right, entry by entry, at arguments whose reals are symbols.

A program (x…, w) -> (value, cotangents of x…) is run on terms. For every real x in the arguments, of whatever structure,

    entry of the cotangent of x    =    Σk w[k] · ∂value[k]/∂x

where the derivatives are those of `proofs.calculus`. The normal form decides, and z3 is asked about all of them together. Where one
differs, the machine runs the program on doubles: only what it finds wrong too is refuted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import z3

from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.paths import explore
from checkers.smt.real import reading
from checkers.smt.solver import UNSAT
from checkers.smt.terms import real
from checkers.verdict import Counterexample, Proved, Refuted, Unknown, Vacuous, Verdict
from proofs.calculus import derivative
from proofs.normal_form import equal
from proofs.parts import WrongStructureError, entries, mapped, reals
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import run
from semantics.tangents import ZERO

Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Instance:
    """A program (x…, w) -> (value, cotangents) with arguments for it, and with w, a sensitivity of its value."""

    program: Program
    arguments: Arguments
    w: Any

    @property
    def shown(self) -> dict[str, Any]:
        return {f"x{k}": a for k, a in enumerate(self.arguments)} | {"sensitivity": self.w}


@dataclass(frozen=True)
class Entry:
    """What one entry of the cotangents must be, on a path with these conditions."""

    number: int
    found: Any
    wanted: Any
    assumed: tuple[Any, ...]


def compared(instance: Instance) -> Iterator[Entry]:
    """Every entry of every cotangent. WrongStructureError if a cotangent is not one of its argument."""
    names = reals(instance.arguments)
    assert len({str(x) for x in names}) == len(names), "a real may stand in one place only"
    for path in explore(instance.program, [*instance.arguments, instance.w], reading):
        if path.trap is not None:
            raise path.trap
        value, back = path.value
        pairs = [(w, y) for w, y in zip(entries(instance.w, value), reals(value), strict=True) if w is not ZERO and z3.is_expr(y)]
        for k, (x, found) in enumerate(zip(names, entries(back, instance.arguments), strict=True)):
            flows = [w * derivative(y, x) for w, y in pairs]
            yield Entry(k, found if z3.is_expr(found) else real(0), sum(flows[1:], flows[0]) if flows else real(0), tuple(path.all))


def judge(name: str, instances: Iterable[Instance], scope: str) -> Judgment:
    """Whether every entry at every instance is what it must be."""
    inquiry, questions, count, places = Inquiry(), [], 0, 0
    try:
        for instance in instances:
            places += 1
            for entry in compared(instance):
                count += 1
                if not equal(entry.found, entry.wanted):
                    return inquiry.judged(name, "executed", wrong(instance, entry, name))
                if not entry.found.eq(entry.wanted):
                    questions.append(z3.And(True, *entry.assumed, entry.found != entry.wanted))
    except WrongStructureError as error:
        shown = Counterexample(instance.shown, str(error), "a cotangent of the structure of its argument")
        return inquiry.judged(name, "terms", Refuted(shown, claim=name))
    except AdjudgeError as error:
        return inquiry.judged(name, "terms", Unknown(error.what, name))
    if not places:
        return inquiry.judged(name, "terms", Vacuous("no arguments", name))
    if questions and inquiry.ask([z3.Or(False, False, *questions)]).status != UNSAT:
        return inquiry.judged(name, "z3", Unknown("the normal form and z3 do not agree", name))
    by = "normal form and z3" if questions else "normal form"
    return inquiry.judged(name, by, Proved(f"{by}, {count} entries at {places} kinds of arguments; {scope}", name))


def wrong(instance: Instance, entry: Entry, name: str) -> Verdict:
    """Refuted, if the machine finds on doubles what the terms say; else Unknown."""
    names = sorted({str(x) for x in (*reals(instance.arguments), *reals(instance.w))})
    values = [(z3.Real(x), real(Fraction(2 * k + 3, 2))) for k, x in enumerate(names)]

    def number(term: Any) -> Any:
        found = z3.simplify(z3.substitute(term, *values))
        return float(Fraction(found.numerator_as_long(), found.denominator_as_long())) if z3.is_rational_value(found) else None

    at = Instance(instance.program, mapped(number, instance.arguments), mapped(number, instance.w))
    wanted = number(entry.wanted)
    try:
        _, back = run(at.program, *at.arguments, at.w)
        found = entries(back, at.arguments)[entry.number]
    except (AdjudgeError, WrongStructureError) as error:
        return Unknown(f"the terms differ, and the machine answers: {getattr(error, 'what', error)}", name)
    if wanted is None or found == wanted:
        return Unknown("the terms differ, and the machine does not", name)
    return Refuted(Counterexample(at.shown, found, wanted, cause="not the adjoint of the derivative"), claim=name)
