"""
The derivatives of `proofs.calculus`, derived from the trusted axioms by Carathéodory slopes.

f is differentiable at x with derivative φ(x, 0) if f(x + h) - f(x) = h·φ(x, h) near h = 0 with φ continuous at h = 0. Each lemma
states that equation for its function, where slopes of exp, sin and cos at 0 (e1, s1, c1, with limits 1, 1, 0) are variables.
For an inverse function the slope of the function it inverts is divided by; the axiom `inverse` says that this is sound.
"""

from __future__ import annotations

from collections.abc import Iterable

import z3

from checkers.smt.terms import uninterpreted
from proofs.calculus import DERIVATIVES
from proofs.obligation import Claim, Obligation, lemma

x, y, h, d = z3.Reals("x y h d")


def _sqrt(a: z3.ArithRef) -> z3.ArithRef:
    return uninterpreted("u_sqrt", a)


def exponential() -> Iterable[Claim]:
    """exp(x + h) - exp x = h·(exp x·e1), with exp h = 1 + h·e1"""
    at_x, e1 = z3.Reals("exp_x e1")
    yield at_x * (1 + h * e1) - at_x, h * (at_x * e1), []


def logarithm() -> Iterable[Claim]:
    """With u = log x, v = log(x + h): exp v - exp u = h, and exp v = exp u·(1 + (v - u)·e1), so (v - u)·(x·e1) = h."""
    u, v, e1 = z3.Reals("log_x log_xh e1")
    after = x * (1 + (v - u) * e1)
    yield (v - u) * (x * e1), h, [x > 0, after == x + h]


def circular() -> Iterable[Claim]:
    """sin(x + h) - sin x = h·(sin x·c1 + cos x·s1), and the same of cos, with sin h = h·s1 and cos h = 1 + h·c1"""
    s, c, s1, c1 = z3.Reals("sin_x cos_x s1 c1")
    sine_h, cosine_h = h * s1, 1 + h * c1
    yield s * cosine_h + c * sine_h - s, h * (s * c1 + c * s1), []
    yield c * cosine_h - s * sine_h - c, h * (c * c1 - s * s1), []


def roots() -> Iterable[Claim]:
    """sqrt and cbrt: the slope is 1 / (t + s) and 1 / (t² + t·s + s²), with s and t the roots at x and x + h"""
    s, t = z3.Reals("s t")
    yield (t - s) * (t + s), h, [s * s == x, t * t == x + h, s > 0, t > 0]
    yield (t - s) * (t * t + t * s + s * s), h, [s * s * s == x, t * t * t == x + h]
    yield DERIVATIVES["u_sqrt"](x)[0] * (2 * _sqrt(x)), z3.RealVal(1), [x > 0]
    cbrt = uninterpreted("u_cbrt", x)
    yield DERIVATIVES["u_cbrt"](x)[0] * (3 * cbrt * cbrt), z3.RealVal(1), [x > 0]
    yield DERIVATIVES["u_cbrt"](x)[0] * (3 * cbrt * cbrt), z3.RealVal(1), [x < 0]


def inverse_circular() -> Iterable[Claim]:
    """sin(asin x) = x, cos(acos x) = x, tan(atan x) = x, differentiated: d·cos = 1, -d·sin = 1, d·(1 + tan²) = 1"""
    s, c = z3.Reals("sin_y cos_y")
    circle = s * s + c * c == 1
    inside = [x > -1, x < 1]
    yield DERIVATIVES["u_asin"](x)[0], d, [*inside, s == x, circle, c > 0, d * c == 1]
    yield DERIVATIVES["u_acos"](x)[0], d, [*inside, c == x, circle, s > 0, -d * s == 1]
    # tan = sin / cos has the derivative (cos·cos + sin·sin) / cos²
    yield DERIVATIVES["u_atan"](x)[0], d, [circle, c > 0, s == x * c, d * (c * c + s * s) == c * c]


def angle() -> Iterable[Claim]:
    """x = r·cos θ and y = r·sin θ, differentiated by y and by x: the four equations give both partial derivatives of θ"""
    r, s, c, r_, t_ = z3.Reals("r sin_t cos_t dr dt")
    point = [r > 0, s * s + c * c == 1, x == r * c, y == r * s]
    by_y, by_x = DERIVATIVES["u_atan2"](y, x)
    yield by_y, t_, [*point, r_ * c - r * s * t_ == 0, r_ * s + r * c * t_ == 1]
    yield by_x, t_, [*point, r_ * c - r * s * t_ == 1, r_ * s + r * c * t_ == 0]


LEMMAS: tuple[Obligation, ...] = (
    lemma("exp' = exp", ("exp_sum", "exp_slope"), exponential),
    lemma("log' = 1/x", ("log_inverse", "exp_sum", "exp_slope", "inverse"), logarithm),
    lemma("sin' = cos, cos' = -sin", ("sin_sum", "cos_sum", "sin_slope", "cos_slope"), circular),
    lemma("sqrt' = 1/(2 sqrt), cbrt' = 1/(3 cbrt²)", ("roots", "slope"), roots),
    lemma("asin', acos', atan'", ("asin_inverse", "acos_inverse", "atan_inverse", "circle", "inverse"), inverse_circular),
    lemma("atan2'", ("polar", "circle", "inverse"), angle),
)
