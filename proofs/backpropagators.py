"""
Every scalar backpropagator is right over the reals, inside its domain and off its kinks.

The program of the rule itself is run on terms, at symbolic x and dout with out = p(x), on all its paths; each cotangent must be
dout times the partial derivative of p. That derivative does not come from a rule: it is the slope of `proofs.slopes` at h = 0 for
algebraic primitives (the slope equation is part of the obligation), else the differential algebra of `proofs.calculus` on the
definition of p. At the kinks of abs, min and max the rule must give a subgradient: f(y) ≥ f(x) + s·(y - x).

A rule that differs is refuted at a point where rigorous enclosures of both values are apart and the machine, on doubles, is nearer
to the rule's enclosure. Also refuted is a rule undefined inside the domain. Whatever is neither stays Unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any

import z3

from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.paths import Path, explore
from checkers.smt.paths import Run as Straight
from checkers.smt.real import reading
from checkers.smt.real_equality import POOL
from checkers.smt.replay import Undecided, apart, ball, enclose, floats, holds
from checkers.smt.sides import spread
from checkers.smt.solver import SAT, UNSAT
from checkers.smt.terms import real
from checkers.verdict import Counterexample, OutOfScope, Proved, Refuted, Unknown, Verdict
from proofs.calculus import NotDifferentiable, boundaries, derivative, divisors, pieces
from proofs.cases import EXPONENTS, Case, cases
from proofs.obligation import Obligation, identity
from proofs.slopes import h
from semantics.columns.meaning import MEANING
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.tangents import ZERO
from transforms.backpropagators import backpropagator

MOST_POINTS = 120
CONVEX, CONCAVE = ("max", "maximum"), ("min", "minimum")
SMALL_POINTS = (*POOL, Fraction(1, 4), Fraction(-1, 3), Fraction(4, 3))
AXIOMS: dict[str, tuple[str, ...]] = {
    "tan": ("tangent",),
    "asin": ("asin_inverse",),
    "acos": ("acos_inverse",),
    "atan": ("atan_inverse",),
    "atan2": ("polar",),
    "erf": ("erf_integral",),
    "erfc": ("erf_integral",),
    "pow": ("real_power",),
    **dict.fromkeys(("sinh", "cosh", "tanh"), ("hyperbolic",)),
    **dict.fromkeys(("asinh", "acosh", "atanh"), ("inverse_hyperbolic",)),
    **dict.fromkeys(("expm1", "log1p"), ("shifted",)),
    **dict.fromkeys(("log2", "log10"), ("logarithm_bases",)),
    **dict.fromkeys(("sqrt", "cbrt", "hypot"), ("roots",)),
    **dict.fromkeys(("floordiv", "mod", "floor", "ceil"), ("pieces",)),
}


class _Judge:
    """One rule against one primitive."""

    def __init__(self, primitive: Primitive, rule: Program) -> None:
        self.primitive, self.rule, self.inquiry = primitive, rule, Inquiry()
        self.methods: set[str] = set()
        self.off_boundaries = self.partial = False
        self.dout = z3.Real("dout")

    def value(self, arguments: Sequence[Any]) -> tuple[Any, list[Any]]:
        """p(arguments) as a term, and what it needs in order to be defined; of a user's primitive, by its forward program."""
        program = self.primitive.columns.get("program")
        if isinstance(program, Program) and self.primitive.columns.get("z3_real") is None:
            return self.read(program, arguments)
        course = Straight()
        column = reading(course, pi=True).column
        return column[self.primitive](*arguments), [e.condition for e in course.events]

    def read(self, program: Program, arguments: Sequence[Any]) -> tuple[Any, list[Any]]:
        """The value of a loop-free program as one term, its paths joined by their conditions."""
        out, needs = None, []
        for path in reversed(explore(program, list(arguments), partial(reading, pi=True))):
            taken = z3.And(True, True, *path.conditions)
            if path.trap is not None:
                needs.append(z3.Not(taken))
                continue
            needs += [z3.Implies(taken, e.condition) for e in path.events if e.kind == "need"]
            out = path.value if out is None else z3.If(taken, path.value, out)
        return out, needs

    def case(self, case: Case) -> Verdict | None:
        """None if every cotangent is right."""
        out, needs = self.value(case.arguments)
        if any(self.inquiry.ask([*case.assumed, z3.Not(need)]).status != UNSAT for need in needs):
            self.partial = True
        assumed = [*case.assumed, *needs]
        if case.slopes is not None or not z3.is_real(out):
            return self.piece(case, out, assumed)
        off = boundaries(out)
        self.off_boundaries = self.off_boundaries or bool(off)
        for where, piece in pieces(out):
            if (wrong := self.piece(case, piece, [*assumed, *off, *where])) is not None:
                return wrong
        return None

    def piece(self, case: Case, out: Any, assumed: list[Any]) -> Verdict | None:
        """`case` on one piece of a piecewise primitive; a piece where nothing lies is right."""
        if assumed and not any(holds(assumed, p) for p in self.points(case)) and self.inquiry.ask(assumed).status != SAT:
            empty = self.inquiry.ask(assumed).status == UNSAT and assumed[: len(case.assumed)] != assumed
            return None if empty else Unknown("the domain was not shown to have an inner point")
        wanted: dict[int, Any] = {}
        for index in case.moving:
            found = self.derivative(case, index, out, assumed)
            if isinstance(found, (Unknown, Refuted)):
                return found
            wanted[index] = found
            if any(self.inquiry.ask([*assumed, d == 0]).status != UNSAT for d in reversed(divisors(found))):
                self.partial = True
        paths = explore(self.rule, [*case.arguments, out, self.dout], partial(reading, pi=True), assumed)
        for path in paths:
            if (wrong := self.path(case, path, assumed, wanted)) is not None:
                return wrong
        return None

    def derivative(self, case: Case, index: int, out: Any, assumed: list[Any]) -> Any:
        """∂p/∂x_index as a term, or why there is none. A slope witness is proved to be one."""
        if z3.is_int(out):
            self.methods.add("pieces")
            return real(0)
        if case.slopes is None:
            self.methods.add("differential algebra")
            try:
                return derivative(out, case.arguments[index])
            except NotDifferentiable as error:
                return Unknown(str(error))
        slope = case.slopes[index]
        moved = tuple(x + h if i == index else x for i, x in enumerate(case.arguments))
        after, needs = self.value(moved)
        near = [*assumed, *needs, *slope.near(case.arguments, h)]
        if near and self.inquiry.ask(near).status != SAT:
            return Unknown(f"the hypotheses of the slope of argument {index} were not shown satisfiable")
        verdict, _ = identity(self.inquiry, after - out, h * slope.witness(case.arguments, h), near)
        if not isinstance(verdict, Proved):
            return Unknown(f"the slope of argument {index} was not shown: {verdict}")
        self.methods.add("slope")
        return slope.witness(case.arguments, real(0))

    def path(self, case: Case, path: Path, assumed: list[Any], wanted: dict[int, Any]) -> Verdict | None:
        """One path of the rule: defined, one cotangent per argument, each the right one."""
        if path.trap is not None:
            return self.undefined(case, [*assumed, *path.conditions], path.trap.what)
        known = list(assumed)
        for event in path.events:
            if event.kind == "need" and self.inquiry.ask([*known, z3.Not(event.condition)]).status != UNSAT:
                return self.undefined(case, [*known, z3.Not(event.condition)], f"it needs {event.condition}")
            known.append(event.condition)
        if not isinstance(path.value, tuple) or len(path.value) != len(case.arguments):
            shown = f"{len(path.value)} cotangents" if isinstance(path.value, tuple) else repr(path.value)
            return self.structure(f"the rule returns {shown} for {len(case.arguments)} arguments")
        for index, partial_derivative in wanted.items():
            cotangent = path.value[index]
            if cotangent is ZERO:
                cotangent = real(0)
            if not z3.is_real(cotangent):
                return self.structure(f"cotangent {index} is {cotangent!r}, not a real")
            expected = self.dout * partial_derivative
            verdict, method = identity(self.inquiry, cotangent, expected, known)
            if not isinstance(verdict, Proved):
                refuted = self.search(case, known, index, cotangent, expected)
                return verdict if refuted is None else refuted
            self.methods.add(method)
        return None

    # refutation

    def points(self, case: Case) -> list[dict[str, Any]]:
        """Where to look: rational points for the moving arguments, and a few values of dout."""
        names = [str(x) for x in case.arguments if z3.is_expr(x)]
        grid = spread([SMALL_POINTS] * len(names), MOST_POINTS)
        cotangents = (Fraction(1), Fraction(-2), Fraction(1, 2))
        return [{**dict(zip(names, p, strict=True)), "dout": cotangents[k % 3]} for k, p in enumerate(grid)]

    def search(self, case: Case, known: list[Any], index: int, cotangent: Any, expected: Any) -> Verdict | None:
        """A refutation that survives execution, if the points show one; a solver's point is tried too."""
        tried = self.points(case)
        answer = self.inquiry.ask([*known, cotangent != expected])
        if answer.status == SAT:
            tried.append({**tried[0], **answer.approximate, **answer.model})
        for point in tried:
            if not holds(known, point):
                continue
            balls = apart(cotangent, expected, point)
            if balls is None:
                continue
            inputs = [point[str(x)] if z3.is_expr(x) else x for x in case.arguments]
            ran = self.execute(inputs, point["dout"])
            if isinstance(ran, tuple) and isinstance(ran[index], float):
                here = ball(Fraction(ran[index])) if ran[index] == ran[index] and abs(ran[index]) != float("inf") else None
                if here is not None and abs(here - balls[0]) < abs(here - balls[1]):
                    shown = dict(zip([*self.primitive.parameters, "dout"], [*inputs, point["dout"]], strict=True))
                    cause = f"cotangent {index} is not dout times the partial derivative"
                    return Refuted(Counterexample(shown, ran[index], float(balls[1].mid()), cause=cause, note=case.label))
        return None

    def execute(self, inputs: Sequence[Any], dout: Fraction) -> Any:
        """What the machine answers for the rule on doubles."""
        doubles = [float(x) if isinstance(x, Fraction) else x for x in inputs]
        try:
            out = MEANING[self.primitive](*doubles)
        except AdjudgeError as error:
            return error
        return floats(self.rule, [*doubles, out, float(dout)])

    def undefined(self, case: Case, question: list[Any], why: str) -> Verdict:
        """A rule that is not defined somewhere inside the domain: refuted where execution gives no finite number."""
        for point in self.points(case):
            if holds(question, point):
                inputs = [point[str(x)] if z3.is_expr(x) else x for x in case.arguments]
                ran = self.execute(inputs, point["dout"])
                bad = [v for v in ran if isinstance(v, float) and not abs(v) < float("inf")] if isinstance(ran, tuple) else [ran]
                if bad:
                    shown = dict(zip([*self.primitive.parameters, "dout"], [*inputs, point["dout"]], strict=True))
                    found = str(bad[0]) if isinstance(bad[0], Exception) else bad[0]
                    return Refuted(Counterexample(shown, found, "a number", cause=f"undefined inside the domain: {why}"))
        return Unknown(f"the rule was not shown to be defined inside the domain: {why}")

    def structure(self, why: str) -> Verdict:
        return Refuted(Counterexample({}, why, "one cotangent per argument", cause=why))

    # kinks

    def kink(self) -> Verdict | None:
        """At a kink of a convex function (abs, max; of a concave one its negative) the cotangents at dout = 1 are a subgradient."""
        name = self.primitive.name
        if name not in ("abs", *CONVEX, *CONCAVE):
            return None
        x = z3.Real("x")
        arguments = [real(0)] if name == "abs" else [x, x]
        out, _ = self.value(arguments)
        paths = explore(self.rule, [*arguments, out, real(1)], partial(reading, pi=True))
        for path in paths:
            slopes = [real(0) if s is ZERO else s for s in path.value]
            elsewhere = [z3.Real(f"y{i}") for i in range(len(arguments))]
            there, _ = self.value(elsewhere)
            linear = out
            for s, y, at in zip(slopes, elsewhere, arguments, strict=True):
                linear = linear + s * (y - at)
            sides = there <= linear if name in CONCAVE else there >= linear
            answer = self.inquiry.ask([*path.all, z3.Not(sides)])
            if answer.status == SAT:
                return self.refute_kink(path, slopes, sides)
            if answer.status != UNSAT:
                return Unknown(answer.reason)
        self.methods.add("subgradient at kinks")
        return None

    def refute_kink(self, path: Path, slopes: Sequence[Any], sides: Any) -> Verdict:
        """The subgradient inequality fails; the machine's cotangents at the kink are the evidence."""
        count = len(slopes)
        for values in spread([SMALL_POINTS] * (count + 1), 400):
            point = {"x": values[0], **{f"y{i}": v for i, v in enumerate(values[1:])}}
            with suppress(Undecided):
                if holds(path.all, point) and not enclose(sides, point):
                    at = Fraction(0) if count == 1 else values[0]
                    ran = self.execute([at] * count, Fraction(1))
                    shown = dict(zip(self.primitive.parameters, [float(at)] * count, strict=True)) | {"dout": 1.0}
                    cause = "at a kink the cotangents are no subgradient"
                    return Refuted(Counterexample(shown, ran, "a subgradient", cause=cause), kind="convention")
        return Unknown("the subgradient inequality fails, but no point shows it")

    def verdict(self) -> Verdict:
        found = cases(self.primitive)
        if not found:
            return OutOfScope(f"{self.primitive.name} is not a function of reals")
        for case in found:
            if (wrong := self.case(case)) is not None:
                return wrong
        if (wrong := self.kink()) is not None:
            return wrong
        everywhere = not self.primitive.kinks or "subgradient at kinks" in self.methods
        where = "everywhere in its domain" if everywhere else "off its kinks"
        if self.partial:
            where = "where the formula of its derivative is defined"
        elif self.off_boundaries and everywhere:
            where = "off the boundaries of its pieces"
        if self.primitive.name == "pow":
            where = f"at integer exponents {min(EXPONENTS)}…{max(EXPONENTS)}, and at real ones for a positive base"
        return Proved(f"{', '.join(sorted(self.methods))}; {where}")


def judge(primitive: Primitive, rule: Program | None = None) -> Judgment:
    """Whether `rule` (the primitive's own, if not given) is the backpropagator of `primitive` over the reals."""
    name = f"backpropagator of {primitive.name}"
    try:
        judging = _Judge(primitive, rule if rule is not None else backpropagator(primitive))
    except AdjudgeError as error:
        return Judgment(name, "none", OutOfScope(error.what, name))
    try:
        verdict = judging.verdict()
    except AdjudgeError as error:
        verdict = Unknown(error.what) if type(error).__name__ in ("OutOfFuel", "Crash") else OutOfScope(error.what)
    except z3.Z3Exception as error:
        verdict = Unknown(f"the z3_real column of {primitive.name} cannot be read: {error}")
    method = ", ".join(sorted(judging.methods)) or "execution"
    return judging.inquiry.judged(name, method, _with_claim(verdict, name))


def _with_claim(verdict: Verdict, claim: str) -> Verdict:
    from dataclasses import replace

    return replace(verdict, claim=claim)


def obligations(primitives: Iterable[Primitive]) -> list[Obligation]:
    """One obligation per primitive that is a function of reals."""
    return [
        Obligation(f"backpropagator of {p.name}", p.name, partial(judge, p), AXIOMS.get(p.name, ("slope",)))
        for p in primitives
        if cases(p)
    ]
