"""
Total differentials of functions of several arguments: what makes one cotangent per argument a derivative at all.

    slopes     p(x + h) - p(x) = Σ_i h_i·φ_i(x, h) when every argument moves at once: φ_i is the slope of argument i where the later
               arguments have moved already. Each φ_i is continuous in all of h, so p is differentiable in the sense of Fréchet
    algebra    d/ds p(x + s·v) = Σ_i v_i·∂p/∂x_i for every direction v: the partial derivatives are continuous terms, so the
               differential that they make up is the total one

Both are equations between terms; the partial derivatives are those that the backpropagators are held against.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import z3

from checkers.smt.enclosures import holds
from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.solver import SAT
from checkers.smt.terms import real
from checkers.verdict import Proved, Unknown, Verdict
from proofs.backpropagators import axioms
from proofs.calculus import derivative
from proofs.cases import cases
from proofs.derivations import SMALL_STEP, Derivation, Setting, points_of
from proofs.obligation import Obligation, identity
from semantics.primitives.row import Primitive

s = z3.Real("s")


def of_slopes(derivation: Derivation, setting: Setting) -> Verdict:
    """All arguments move at once; the slopes of the table, one argument after another."""
    case, slopes = setting.case, setting.case.slopes
    assert slopes is not None
    steps = [z3.Real(f"h_{x}") for x in case.arguments]
    moved = tuple(x + step for x, step in zip(case.arguments, steps, strict=True))
    after, needs = derivation.value(moved)
    total, near = real(0), [*setting.assumed, *needs]
    for i, (slope, step) in enumerate(zip(slopes, steps, strict=True)):
        at = (*case.arguments[: i + 1], *moved[i + 1 :])
        total = total + step * slope.witness(at, step)
        near += slope.near(at, step)
        if i:
            near += derivation.value(at)[1]
    apart = {str(step): SMALL_STEP for step in steps}
    if near and not any(holds(near, p | apart) for p in points_of(case)) and derivation.inquiry.ask(near).status != SAT:
        return Unknown("the hypotheses of the slopes were not shown satisfiable")
    return identity(derivation.inquiry, after - setting.out, total, near)[0]


def of_algebra(derivation: Derivation, setting: Setting) -> Verdict:
    """Along every line through the point."""
    case = setting.case
    moving = [case.arguments[i] for i in case.moving]
    directions = [z3.Real(f"v_{x}") for x in moving]
    line = z3.substitute(setting.out, *((x, x + s * v) for x, v in zip(moving, directions, strict=True)))
    along = z3.substitute(derivative(line, s), (s, real(0)))
    total = real(0)
    for v, i in zip(directions, case.moving, strict=True):
        total = total + v * setting.first[i]
    return identity(derivation.inquiry, along, total, setting.assumed)[0]


def judge(primitive: Primitive) -> Judgment:
    """Whether the partial derivatives of a primitive make up its total differential."""
    name, inquiry = f"total differential of {primitive.name}", Inquiry()
    derivation = Derivation(primitive, inquiry)
    verdict: Verdict = Unknown("nothing was judged")
    method = "none"
    for setting in derivation.settings():
        if not isinstance(setting, Setting):
            verdict = setting
        elif len(setting.case.moving) == 1:
            continue
        elif setting.case.slopes is not None:
            verdict, method = of_slopes(derivation, setting), "slopes"
        else:
            verdict, method = of_algebra(derivation, setting), "differential algebra"
        if not isinstance(verdict, Proved):
            break
    if isinstance(verdict, Proved):
        scope = "for all steps at once" if method == "slopes" else "along every line"
        verdict = Proved(f"{scope}; by {method}, {verdict.by}")
    return inquiry.judged(name, method, replace(verdict, claim=name))


def of_several(primitive: Primitive) -> bool:
    """Whether a primitive is a function of several reals."""
    return any(len(case.moving) > 1 for case in cases(primitive))


def obligations(primitives: Iterable[Primitive]) -> list[Obligation]:
    """One obligation per primitive of several real arguments."""
    return [
        Obligation(f"total differential of {p.name}", p.name, partial(judge, p), axioms(p)) for p in primitives if of_several(p)
    ]
