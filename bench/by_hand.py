"""
Programs with their gradients written by hand, the way one writes them for Numba, and once more for JAX.

    text      the program, as Python that adjudge reads, with an entry `f` whose last argument is the number of turns, if it has any
    hand      its gradient by the first argument, for Numba: what a turn leaves is in an array, and nothing else is
    jax       the value, for `jax.grad`; the other libraries run `text` itself, with their own functions for those of `math`
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Family:
    """One program; `arguments` but for the number of turns, and the numbers of turns to measure, none for a straight line."""

    text: str
    hand: Callable[..., Any]
    jax: Callable[..., Any]
    arguments: tuple[float, ...]
    turns: tuple[int, ...] = ()


SINCOS = """
import math
def f(x):
    return math.sin(math.cos(x))
"""


def sincos(x):  # type: ignore[no-untyped-def]
    return -math.cos(math.cos(x)) * math.sin(x)


def sincos_jax(jax: Any, x: Any) -> Any:
    return jax.numpy.sin(jax.numpy.cos(x))


POW = """
def f(x, n: int):
    r = 1.0
    for i in range(n):
        r = r * x
    return r
"""


def power(x, n):  # type: ignore[no-untyped-def]
    tape = np.empty(n)
    r = 1.0
    for i in range(n):
        tape[i] = r
        r = r * x
    dr, dx = 1.0, 0.0
    for i in range(n - 1, -1, -1):
        dx += dr * tape[i]
        dr = dr * x
    return dx


def power_jax(jax: Any, x: Any, n: int) -> Any:
    return jax.lax.scan(lambda r, _: (r * x, None), 1.0, None, length=n)[0]


LOGSUMEXP = """
import math
def f(x, n: int):
    s = 0.0
    for i in range(n):
        s = s + math.exp(x * math.sin(i * 1.0))
    return math.log(s)
"""


def logsumexp(x, n):  # type: ignore[no-untyped-def]
    """Nothing need be kept: s alone says how much each term weighs."""
    s, ds = 0.0, 0.0
    for i in range(n):
        a = math.sin(i * 1.0)
        e = math.exp(x * a)
        s += e
        ds += e * a
    return ds / s


def logsumexp_jax(jax: Any, x: Any, n: int) -> Any:
    return jax.numpy.log(jax.numpy.sum(jax.numpy.exp(x * jax.numpy.sin(jax.numpy.arange(n) * 1.0))))


LOGISTIC = """
import math
def f(w, b, n: int):
    loss = 0.0
    for i in range(n):
        t = math.sin(i * 1.0)
        loss = loss + math.log1p(math.exp(-(w * t + b)))
    return loss
"""


def logistic(w, b, n):  # type: ignore[no-untyped-def]
    dw = 0.0
    for i in range(n):
        t = math.sin(i * 1.0)
        e = math.exp(-(w * t + b))
        dw -= t * e / (1.0 + e)
    return dw


def logistic_jax(jax: Any, w: Any, b: Any, n: int) -> Any:
    t = jax.numpy.sin(jax.numpy.arange(n) * 1.0)
    return jax.numpy.sum(jax.numpy.log1p(jax.numpy.exp(-(w * t + b))))


RNN = """
import math
def f(w, u, b, n: int):
    h = 0.0
    loss = 0.0
    for i in range(n):
        h = math.tanh(w * h + u * 0.7 + b)
        e = h - 0.5
        loss = loss + e * e
    return loss
"""


def rnn(w, u, b, n):  # type: ignore[no-untyped-def]
    """With 1 - tanh² as the derivative; the rule of ours is 1/cosh², which is right for large arguments too, and slower."""
    states = np.empty(n + 1)
    h = states[0] = 0.0
    for i in range(n):
        h = states[i + 1] = math.tanh(w * h + u * 0.7 + b)
    dh, dw = 0.0, 0.0
    for i in range(n, 0, -1):
        h = states[i]
        dh += 2.0 * (h - 0.5)
        da = dh * (1.0 - h * h)
        dw += da * states[i - 1]
        dh = da * w
    return dw


def rnn_jax(jax: Any, w: Any, u: Any, b: Any, n: int) -> Any:
    def turn(state: Any, _: Any) -> Any:
        h = jax.numpy.tanh(w * state[0] + u * 0.7 + b)
        return (h, state[1] + (h - 0.5) ** 2), None

    return jax.lax.scan(turn, (0.0, 0.0), None, length=n)[0][1]


STENCIL = """
def f(x, n: int):
    u = x
    v = 1.0
    for i in range(n):
        for j in range(4):
            a = u * u * v
            u = u + 0.01 * (1.0 + a - 4.4 * u)
            v = v + 0.01 * (3.4 * u - a)
    return u + v
"""


def stencil(x, n):  # type: ignore[no-untyped-def]
    us, vs = np.empty(4 * n), np.empty(4 * n)
    u, v = x, 1.0
    for k in range(4 * n):
        us[k], vs[k] = u, v
        a = u * u * v
        u = u + 0.01 * (1.0 + a - 4.4 * u)
        v = v + 0.01 * (3.4 * u - a)
    du, dv = 1.0, 1.0
    for k in range(4 * n - 1, -1, -1):
        du += 0.01 * 3.4 * dv
        da = 0.01 * (du - dv)
        u, v = us[k], vs[k]
        dv += da * u * u
        du = du * (1.0 - 0.01 * 4.4) + 2.0 * da * u * v
    return du


def stencil_jax(jax: Any, x: Any, n: int) -> Any:
    def turn(state: Any, _: Any) -> Any:
        u, v = state
        a = u * u * v
        u = u + 0.01 * (1.0 + a - 4.4 * u)
        return (u, v + 0.01 * (3.4 * u - a)), None

    u, v = jax.lax.scan(turn, (x, 1.0), None, length=4 * n)[0]
    return u + v


FAMILIES = {
    "sincos": Family(SINCOS, sincos, sincos_jax, (0.7,)),
    "pow": Family(POW, power, power_jax, (1.001,), (3, 16, 1000)),
    "logsumexp": Family(LOGSUMEXP, logsumexp, logsumexp_jax, (0.3,), (16, 1000)),
    "logistic regression": Family(LOGISTIC, logistic, logistic_jax, (0.5, 0.1), (16, 1000)),
    "RNN": Family(RNN, rnn, rnn_jax, (0.5, 0.3, 0.1), (16, 1000)),
    "Brusselator": Family(STENCIL, stencil, stencil_jax, (1.2,), (4, 250)),
}
