"""
Backpropagators of the elementary functions. Read by our parser.

Each is written in the form that keeps its digits: expm1 does not use out + 1, tanh does not use 1 - out**2, asin factors
1 - x**2, atan2 and hypot divide before they multiply.
"""

from math import copysign, cos, cosh, exp, hypot, log, pi, sin, sinh, sqrt


def exp_pullback(x, out, dout):
    return (dout * out,)


def expm1_pullback(x, out, dout):
    return (dout * exp(x),)


def log_pullback(x, out, dout):
    return (dout / x,)


def log1p_pullback(x, out, dout):
    return (dout / (1.0 + x),)


def log2_pullback(x, out, dout):
    return (dout / (x * log(2.0)),)


def log10_pullback(x, out, dout):
    return (dout / (x * log(10.0)),)


def sqrt_pullback(x, out, dout):
    return (dout / (2.0 * out),)


def cbrt_pullback(x, out, dout):
    return (dout / (3.0 * (out * out)),)


def sin_pullback(x, out, dout):
    return (dout * cos(x),)


def cos_pullback(x, out, dout):
    return (-(dout * sin(x)),)


def tan_pullback(x, out, dout):
    return (dout * (1.0 + out * out),)


def asin_pullback(x, out, dout):
    return (dout / sqrt((1.0 - x) * (1.0 + x)),)


def acos_pullback(x, out, dout):
    return (-(dout / sqrt((1.0 - x) * (1.0 + x))),)


def atan_pullback(x, out, dout):
    return (dout / (1.0 + x * x),)


def atan2_pullback(y, x, out, dout):
    r = hypot(x, y)
    return dout * (x / r / r), -(dout * (y / r / r))


def sinh_pullback(x, out, dout):
    return (dout * cosh(x),)


def cosh_pullback(x, out, dout):
    return (dout * sinh(x),)


def tanh_pullback(x, out, dout):
    c = cosh(x)
    return (dout / c / c,)


def asinh_pullback(x, out, dout):
    return (dout / hypot(1.0, x),)


def acosh_pullback(x, out, dout):
    return (dout / (sqrt(x - 1.0) * sqrt(x + 1.0)),)


def atanh_pullback(x, out, dout):
    return (dout / ((1.0 - x) * (1.0 + x)),)


def hypot_pullback(x, y, out, dout):
    """0 at the origin, the centre of its Clarke derivative."""
    return (0.0 if out == 0 else dout * (x / out)), (0.0 if out == 0 else dout * (y / out))


def copysign_pullback(x, y, out, dout):
    return dout * (copysign(1.0, x) * copysign(1.0, y)), ZERO


def logaddexp_pullback(x, y, out, dout):
    """
    To each its share, exp(x - out) = 1 / (1 + exp(y - x)), also where one is infinite; half to each of two equal infinities.

    With e = exp(-|y - x|), which is at most 1, the shares are 1 / (1 + e) and e / (1 + e): the small one keeps its digits.
    """
    d = 0.0 if x == y and x - x != 0 else y - x
    e = exp(-d if d > 0 else d)
    larger, smaller = dout / (1.0 + e), dout * (e / (1.0 + e))
    return (smaller if d > 0 else larger), (larger if d > 0 else smaller)


def erf_pullback(x, out, dout):
    return (dout * (2.0 / sqrt(pi) * exp(-(x * x))),)


def erfc_pullback(x, out, dout):
    return (-(dout * (2.0 / sqrt(pi) * exp(-(x * x)))),)
