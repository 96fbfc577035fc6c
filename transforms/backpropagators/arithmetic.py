"""
Backpropagators of arithmetic. Read by our parser; the conventions at kinks are those of the docstrings.

Source: 2018, section 3.2. The values at kinks lie in the Clarke derivative; `x ** 0` and `0 ** y` follow jax#12409.
"""

from math import copysign, log


def add_pullback(x, y, out, dout):
    return dout, dout


def sub_pullback(x, y, out, dout):
    return dout, -dout


def mul_pullback(x, y, out, dout):
    return dout * y, dout * x


def div_pullback(x, y, out, dout):
    return dout / y, -(dout * (out / y))


def mod_pullback(x, y, out, dout):
    """x mod y is x - y * floor(x / y), and the floor is constant between its jumps."""
    return dout, -(dout * (x // y))


def pow_pullback(x, y, out, dout):
    """
    d/dx is 0 for exponent 0, whatever x; d/dy is 0 for a base that is not positive.

    At exponent 0 it is the same formula, divided by x last: y out / x, whose 1/x cannot overflow, and whose derivatives are right.
    Only at x = 0 nothing is said of the neighbourhood, where there is none.
    """
    if y == 0:
        dx = 0.0 if x == 0 else dout * (y * out / x)
    else:
        dx = dout * (y * x ** (y - 1))
    dy = dout * (out * log(x)) if x > 0 else 0.0
    return dx, dy


def neg_pullback(x, out, dout):
    return (-dout,)


def abs_pullback(x, out, dout):
    """0 at 0."""
    return (0.0 if x == 0 else dout * copysign(1.0, x),)


def min_pullback(x, y, out, dout):
    """On a tie all goes to x, which is what min returns."""
    return (0.0 if y < x else dout), (dout if y < x else 0.0)


def max_pullback(x, y, out, dout):
    """On a tie all goes to x, which is what max returns."""
    return (0.0 if y > x else dout), (dout if y > x else 0.0)


def minimum_pullback(x, y, out, dout):
    """As min."""
    return (0.0 if y < x else dout), (dout if y < x else 0.0)


def maximum_pullback(x, y, out, dout):
    """As max."""
    return (0.0 if y > x else dout), (dout if y > x else 0.0)
