"""
Wrong backpropagators, and right ones that differ from ours in formula or in convention at a kink.

Each is a forward function and a rule, as their author would write them; `made` turns the pair into a primitive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import copysign, cos, exp, expm1, hypot, log, log1p, sin, sqrt, tan
from typing import Any

from adjudge.primitives import UserPrimitive, primitive


@dataclass(frozen=True)
class Case:
    """A primitive with its rule; `wrong` says what is wrong with it, and is empty for a control."""

    name: str
    forward: Callable[..., float]
    rule: Callable[..., Any]
    wrong: str = ""
    row: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    def made(self) -> UserPrimitive:
        """The primitive."""
        found: UserPrimitive = primitive(name=self.name, **self.row)(self.forward)
        found.backpropagator(self.rule)
        return found


def square(x):
    return x * x


def cube(x):
    return x * x * x


def weighted(x, y):
    return x * x * y


def larger(x, y):
    return y if y > x else x


def sine(x):
    return sin(x)


def tangent(x):
    return tan(x)


def magnitude(x):
    return abs(x)


def root(x):
    return sqrt(x)


def distance(x, y):
    return hypot(x, y)


def elu(x):
    return x if x > 0 else expm1(x)


def reciprocal(x):
    return 1.0 / x


def ratio(x, y):
    return x / y


def rectified(x):
    return x if x > 0 else 0.0


def half_square(x):
    return 0.5 * (x * x)


def power(x, y):
    return x**y


def rectified_square(x):
    return x * x if x > 0 else 0.0


def softened(x):
    return log1p(exp(x))


# wrong


def power_fixed_at_exponent_0(x, y, out, dout):
    return (0.0 if y == 0 else dout * (y * x ** (y - 1))), (dout * (out * log(x)) if x > 0 else 0.0)


def product_fixed_on_ties(x, y, out, dout):
    return (dout * x * x if x == y else 2.0 * dout * x * y) * (2.0 if x == y else 1.0), dout * x * x


def logistic_by_abs(x, out, dout):
    e = exp(-abs(x))
    return (dout / (1.0 + e) if x >= 0 else dout * (e / (1.0 + e)),)


def missing_factor(x, out, dout):
    return (dout * x,)


def wrong_sign(x, out, dout):
    return (-(dout * cos(x)),)


def divides_by_x(x, out, dout):
    return (3.0 * dout * out / x,)


def exchanged(x, y, out, dout):
    return dout * x * x, 2.0 * dout * x * y


def both_on_ties(x, y, out, dout):
    return (dout if x >= y else 0.0), (dout if y >= x else 0.0)


def clipped(x, out, dout):
    d = 1.0 if dout > 1.0 else (-1.0 if dout < -1.0 else dout)
    return (2.0 * d * x,)


def quadratic_in_d(x, out, dout):
    return (2.0 * dout * abs(dout) * x,)


def biased(x, out, dout):
    return (2.0 * dout * x + 1e-7,)


def positive_part(x, out, dout):
    return ((dout if dout > 0 else 0.0) * cos(x),)


def overflows_unchosen(x, out, dout):
    chosen = 1.0 if x > 0 else 0.0
    return (dout * (chosen + (1.0 - chosen) * exp(x)),)


def one_argument_forgotten(x, y, out, dout):
    return dout / y, 0.0


def wrong_value_used(x, out, dout):
    return (dout * (1.0 + x * x),)


def slope_outside(x, out, dout):
    return (2.0 if x == 0 else dout * copysign(1.0, x),)


def nan_at_the_origin(x, y, out, dout):
    return dout * (x / out), dout * (y / out)


# right


def twice(x, out, dout):
    return (2.0 * x * dout,)


def sum_of_two(x, out, dout):
    return (dout * x + dout * x,)


def three_squares(x, out, dout):
    return (3.0 * (x * x) * dout,)


def by_both(x, y, out, dout):
    return 2.0 * (x * y) * dout, x * x * dout


def first_on_ties(x, y, out, dout):
    return (0.0 if y > x else dout), (dout if y > x else 0.0)


def second_on_ties(x, y, out, dout):
    return (dout if x > y else 0.0), (0.0 if x > y else dout)


def half_on_ties(x, y, out, dout):
    wx = 0.5 if x == y else (1.0 if x > y else 0.0)
    return dout * wx, dout * (1.0 - wx)


def by_cosine(x, out, dout):
    return (cos(x) * dout,)


def by_its_value(x, out, dout):
    return (dout + dout * out * out,)


def zero_at_zero(x, out, dout):
    return (0.0 if x == 0 else dout * copysign(1.0, x),)


def one_at_zero(x, out, dout):
    return (dout if x >= 0 else -dout,)


def half_over_root(x, out, dout):
    return (0.5 * dout / out,)


def zero_at_the_origin(x, y, out, dout):
    return (0.0 if out == 0 else dout * (x / out)), (0.0 if out == 0 else dout * (y / out))


def guarded(x, out, dout):
    return (dout if x > 0 else dout * exp(x),)


def by_out_squared(x, out, dout):
    return (-(dout * out * out),)


def by_quotient(x, y, out, dout):
    return dout / y, -(dout * x / (y * y))


def step(x, out, dout):
    return (dout if x > 0 else 0.0,)


def power_at_exponent_0(x, y, out, dout):
    dx = (0.0 if x == 0 else dout * (y * out / x)) if y == 0 else dout * (y * x ** (y - 1))
    return dx, (dout * (out * log(x)) if x > 0 else 0.0)


def ramp(x, out, dout):
    return (2.0 * x * dout if x > 0 else 0.0,)


def logistic_by_pieces(x, out, dout):
    e = exp(-x if x > 0 else x)
    return (dout / (1.0 + e) if x > 0 else dout * (e / (1.0 + e)),)


def cube_by_pieces(x, out, dout):
    return (3.0 * x * x * dout if x > 0 else (3.0 * (x * x)) * dout,)


TIES = {"kinks": "x == y"}
AT_ZERO = {"kinks": "x == 0"}
ORIGIN = {"kinks": "x == 0 and y == 0"}
NOT_ZERO = {"domain": "x != 0"}
POSITIVE = {"domain": "x >= 0", "kinks": "x == 0"}

MUTANTS: tuple[Case, ...] = (
    Case("square_missing_factor", square, missing_factor, "the factor 2"),
    Case("sine_wrong_sign", sine, wrong_sign, "the sign"),
    Case("cube_divides_by_x", cube, divides_by_x, "NaN at 0"),
    Case("weighted_exchanged", weighted, exchanged, "cotangents of x and y exchanged"),
    Case("larger_both_on_ties", larger, both_on_ties, "counts a tie twice", TIES),
    Case("square_clipped", square, clipped, "clips its cotangent"),
    Case("square_quadratic", square, quadratic_in_d, "not linear in the cotangent"),
    Case("square_biased", square, biased, "a bias of 1e-7"),
    Case("sine_positive_part", sine, positive_part, "drops negative cotangents"),
    Case("elu_overflows", elu, overflows_unchosen, "inf * 0 on the branch not taken", AT_ZERO),
    Case("ratio_forgets_y", ratio, one_argument_forgotten, "no cotangent of y", {"domain": "y != 0"}),
    Case("tangent_of_x", tangent, wrong_value_used, "x where the value belongs"),
    Case("magnitude_slope", magnitude, slope_outside, "slope 2 at the kink of |x|", AT_ZERO),
    Case("power_fixed", power, power_fixed_at_exponent_0, "holds 0 fixed at exponent 0: no mixed derivative", POSITIVE),
    Case("weighted_fixed", weighted, product_fixed_on_ties, "x*y is x*x on ties only: wrong at second order", {}),
    Case("softened_abs", softened, logistic_by_abs, "the kink of |x| at 0, where J takes 0 for its derivative"),
    Case("distance_nan", distance, nan_at_the_origin, "NaN at the origin", ORIGIN),
)

CONTROLS: tuple[Case, ...] = (
    Case("square_twice", square, twice),
    Case("square_sum", square, sum_of_two),
    Case("cube_squares", cube, three_squares),
    Case("weighted_both", weighted, by_both),
    Case("larger_first", larger, first_on_ties, "", TIES),
    Case("larger_second", larger, second_on_ties, "", TIES),
    Case("larger_half", larger, half_on_ties, "", TIES),
    Case("sine_cosine", sine, by_cosine),
    Case("tangent_value", tangent, by_its_value),
    Case("magnitude_zero", magnitude, zero_at_zero, "", AT_ZERO),
    Case("magnitude_one", magnitude, one_at_zero, "", AT_ZERO),
    Case("root_half", root, half_over_root, "", {"domain": "x >= 0", "kinks": "x == 0"}),
    Case("distance_zero", distance, zero_at_the_origin, "", ORIGIN),
    Case("elu_guarded", elu, guarded, "", AT_ZERO),
    Case("reciprocal_out", reciprocal, by_out_squared, "", NOT_ZERO),
    Case("power_branches", power, power_at_exponent_0, "", POSITIVE),
    Case("softened_pieces", softened, logistic_by_pieces, "", {"domain": "x < 700"}),
    Case("ramp", rectified_square, ramp),
    Case("cube_pieces", cube, cube_by_pieces),
    Case("rectified_step", rectified, step, "", AT_ZERO),
)
