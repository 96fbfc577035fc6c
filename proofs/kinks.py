"""
Backpropagators at kinks: there the cotangents at dout = 1 must be a subgradient, in the sense that the function has one.

    abs, max     convex: f(y) ≥ f(x) + s·(y - x) for all y, at every kink x
    min          concave: the same with ≤
    a kink x = c of a function of one real in two pieces that meet there: s lies between the derivatives of the two (Clarke)

Where a function jumps, or a derivative has no limit at the kink (sqrt at 0), nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import z3

from checkers.smt.enclosures import Undecided, enclose, holds
from checkers.smt.paths import Path, explore
from checkers.smt.sides import spread
from checkers.smt.solver import SAT, UNSAT
from checkers.smt.terms import real
from checkers.verdict import Counterexample, Refuted, Unknown, Verdict
from proofs.calculus import boundaries, divisors
from proofs.derivations import REAL, SMALL_POINTS, SMALL_STEP, Derivation, Setting
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.tangents import ZERO

CONVEX, CONCAVE = ("abs", "max", "maximum"), ("min", "minimum")
METHOD = "subgradient at kinks"


def judge_kinks(derivation: Derivation, rule: Program, execute: Callable[[list[Any]], Any]) -> Verdict | None:
    """None if the cotangents are subgradients at every kink, or if nothing is claimed there. `METHOD` is noted if something is."""
    name = derivation.primitive.name
    if name not in (*CONVEX, *CONCAVE):
        return judge_pieces(derivation, rule, execute)
    x = z3.Real("x")
    arguments = [real(0)] if len(derivation.primitive.parameters) == 1 else [x, x]
    out, _ = derivation.value(arguments)
    for path in explore(rule, [*arguments, out, real(1)], REAL):
        slopes = [real(0) if s is ZERO else s for s in path.value]
        elsewhere = [z3.Real(f"y{i}") for i in range(len(arguments))]
        there, _ = derivation.value(elsewhere)
        linear = out
        for s, y, at in zip(slopes, elsewhere, arguments, strict=True):
            linear = linear + s * (y - at)
        sides = there <= linear if name in CONCAVE else there >= linear
        answer = derivation.inquiry.ask([*path.all, z3.Not(sides)])
        if answer.status == SAT:
            return _refuted(derivation, path, sides, execute)
        if answer.status != UNSAT:
            return Unknown(answer.reason)
    derivation.methods.add(METHOD)
    return None


def _refuted(derivation: Derivation, path: Path, sides: Any, execute: Callable[[list[Any]], Any]) -> Verdict:
    """The subgradient inequality fails; the machine's cotangents at the kink are the evidence."""
    parameters: Sequence[str] = derivation.primitive.parameters
    for values in spread([SMALL_POINTS] * (len(parameters) + 1), 400):
        point = {"x": values[0], **{f"y{i}": v for i, v in enumerate(values[1:])}}
        with suppress(Undecided):
            if holds(path.all, point) and not enclose(sides, point):
                at = Fraction(0) if len(parameters) == 1 else values[0]
                ran = execute([*[at] * len(parameters), Fraction(1)])
                shown = dict.fromkeys(parameters, float(at)) | {"dout": 1.0}
                cause = "at a kink the cotangents are no subgradient"
                return Refuted(Counterexample(shown, ran, "a subgradient", cause=cause), kind="convention")
    return Unknown("the subgradient inequality fails, but no point shows it")


def judge_pieces(derivation: Derivation, rule: Program, execute: Callable[[list[Any]], Any]) -> Verdict | None:
    """The kinks x = c of a function of one real, each between two pieces; `METHOD` is noted if all of them are."""
    places = [place_of(kink.text, derivation.primitive) for kink in derivation.primitive.kinks]
    found = [None if c is None else sides(derivation, c) for c in places]
    for c, meeting in zip(places, found, strict=True):
        if c is None or meeting is None:
            continue
        value, (left, right) = meeting
        for path in explore(rule, [real(c), value, real(1)], REAL):
            s = real(0) if path.value[0] is ZERO else path.value[0]
            between = z3.Or(z3.And(left <= s, s <= right), z3.And(right <= s, s <= left))
            answer = derivation.inquiry.ask([*path.all, z3.Not(between)])
            if answer.status == SAT:
                shown = {derivation.primitive.parameters[0]: float(c), "dout": 1.0}
                cause = "at a kink the cotangent is not between the derivatives of the two pieces"
                ran = execute([c, Fraction(1)])
                return Refuted(Counterexample(shown, ran, f"from {left} to {right}", cause=cause), kind="convention")
            if answer.status != UNSAT:
                return Unknown(answer.reason)
    if found and all(meeting is not None for meeting in found):
        derivation.methods.add(METHOD)
    return None


def place_of(kink: str, primitive: Primitive) -> Fraction | None:
    """The number c of a kink `x == c` of a function of one real."""
    name, equals, number = kink.partition("==")
    if not equals or len(primitive.parameters) != 1 or name.strip() != primitive.parameters[0]:
        return None
    with suppress(ValueError):
        return Fraction(number.replace(" ", ""))
    return None


def sides(derivation: Derivation, c: Fraction) -> tuple[Any, tuple[Any, Any]] | None:
    """The value at c and the derivatives from the left and the right, where two pieces meet there without a jump."""
    met: list[tuple[Any, Any]] = []
    for step in (-(SMALL_STEP**2), SMALL_STEP**2):
        for setting in derivation.settings():
            if not isinstance(setting, Setting) or setting.case.slopes is not None or not setting.first or boundaries(setting.out):
                return None
            x = setting.case.arguments[0]
            if holds(setting.assumed, {str(x): c + step}):
                at_c = [z3.simplify(z3.substitute(t, (x, real(c)))) for t in (setting.out, setting.first[0])]
                if all(derivation.inquiry.ask([d == 0]).status == UNSAT for t in at_c for d in divisors(t)):
                    met.append((at_c[0], at_c[1]))
    if len(met) != 2 or derivation.inquiry.ask([met[0][0] != met[1][0]]).status != UNSAT:
        return None
    return met[0][0], (met[0][1], met[1][1])
