"""
Backpropagators of elementwise primitives where they are read on arrays, in place of those for numbers.

On arrays both sides of a condition are evaluated, element by element; so what stands on the side that is not taken must have a
value there too. What is constant is ZERO, not 0.0: where `dout` is ZERO, a sensitivity made of constants would have the shape of no
operand. Read by our parser.
"""

from math import log


def pow_pullback(x, y, out, dout):
    """d/dx is 0 for exponent 0, whatever x, and y out / x there, if x is not 0; d/dy is 0 for a base that is not positive."""
    still = ZERO if x == 0 else dout * (y * out / (1.0 if x == 0 else x))
    dx = still if y == 0 else dout * (y * x ** ((1 if y == 0 else y) - 1))
    dy = dout * (out * log(x if x > 0 else 1.0)) if x > 0 else ZERO
    return dx, dy


def hypot_pullback(x, y, out, dout):
    """(0, 0) at the origin."""
    r = 1.0 if out == 0 else out
    return dout * (x / r), dout * (y / r)
