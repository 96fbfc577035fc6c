"""
Primitives with backpropagators, right and wrong, for `adjudge check examples/primitives.py`.

softplus, relu and gauss are right. softplus_wrong has its sign turned; expm1_bad is right over the reals and loses its digits in
doubles; larger counts a tie twice; power fails at 0. What the judge should say of each stands beside it.
"""

import math

import adjudge as aj


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


@aj.primitive
def softplus(x):
    """log(1 + exp(x)), without overflow. Right."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@softplus.backpropagator
def _(x, out, dout):
    return (dout * sigmoid(x),)


@aj.primitive(kinks="x == 0")
def relu(x):
    """Right; its slope at 0 is recorded as a convention."""
    return x if x > 0 else 0.0


@relu.backpropagator
def _(x, out, dout):
    return (dout if x > 0 else 0.0,)


@aj.primitive
def gauss(x):
    """exp(-x**2). Right."""
    return math.exp(-(x * x))


@gauss.backpropagator
def _(x, out, dout):
    return (-2.0 * x * out * dout,)


@aj.primitive
def softplus_wrong(x):
    """A fault: wrong sign."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@softplus_wrong.backpropagator
def _(x, out, dout):
    return (-dout * sigmoid(x),)


@aj.primitive
def expm1_bad(x):
    """An accuracy finding: out + 1 cancels for negative x."""
    return math.expm1(x)


@expm1_bad.backpropagator
def _(x, out, dout):
    return (dout * (out + 1.0),)


@aj.primitive(kinks="x == y")
def larger(x, y):
    """A fault at ties only: each of two equal arguments gets the whole cotangent."""
    return max(x, y)


@larger.backpropagator
def _(x, y, out, dout):
    return (dout if x == out else 0.0), (dout if y == out else 0.0)


@aj.primitive(domain="x >= 0")
def power(x, n):
    """A fault at x = 0, n = 0: 0 * 0**-1."""
    return x**n


@power.backpropagator
def _(x, n, out, dout):
    return dout * n * x ** (n - 1.0), (dout * out * math.log(x) if x > 0 else 0.0)
