"""
Programs that make lists, and Jacobians, which are lists of rows; each by hand, and for JAX.

A list is appended to by a recurrence, filled by index, made of what a test lets pass, of pairs, or of arrays that are stacked. By
hand each is an array, which is as large as there are turns. The Jacobians are of the residual of a nonlinear equation on a line, on
arrays and by index, and of all states of a recurrence: by hand what is not 0 is written, by formula.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bench.arrays_by_hand import ArrayFamily, normal

APPENDED = """
def f(a, xs):
    out = []
    s = 0.0
    for x in xs:
        s = a * s + x
        out.append(s)
    total = 0.0
    for y in out:
        total = total + y * y
    return total
"""


def appended(a, xs):  # type: ignore[no-untyped-def]
    n = xs.size
    out, dxs = np.empty(n), np.empty(n)
    s = 0.0
    for i in range(n):
        s = out[i] = a * s + xs[i]
    da, ds = 0.0, 0.0
    for i in range(n - 1, 0, -1):
        ds = dxs[i] = a * ds + 2.0 * out[i]
        da += ds * out[i - 1]
    dxs[0] = a * ds + 2.0 * out[0]
    return np.array([da]), dxs


def appended_jax(jax: Any, a: Any, xs: Any) -> Any:
    def turn(s: Any, x: Any) -> Any:
        return a * s + x, a * s + x

    out = jax.lax.scan(turn, 0.0, xs)[1]
    return jax.numpy.sum(out * out)


FILLED = """
def f(a, xs):
    n = len(xs)
    best = [0.0] * n
    best[0] = xs[0]
    for i in range(1, n):
        best[i] = a * best[i - 1] + xs[i] * xs[i]
    total = 0.0
    for y in best:
        total = total + y * y
    return total
"""


def filled(a, xs):  # type: ignore[no-untyped-def]
    n = xs.size
    best, dxs = np.empty(n), np.empty(n)
    best[0] = xs[0]
    for i in range(1, n):
        best[i] = a * best[i - 1] + xs[i] * xs[i]
    da, d = 0.0, 0.0
    for i in range(n - 1, 0, -1):
        d = a * d + 2.0 * best[i]
        dxs[i] = 2.0 * d * xs[i]
        da += d * best[i - 1]
    dxs[0] = a * d + 2.0 * best[0]
    return np.array([da]), dxs


def filled_jax(jax: Any, a: Any, xs: Any) -> Any:
    def turn(s: Any, x: Any) -> Any:
        return a * s + x * x, a * s + x * x

    out = jax.lax.scan(turn, xs[0], xs[1:])[1]
    return xs[0] * xs[0] + jax.numpy.sum(out * out)


SOME = """
def f(a, xs):
    kept = []
    for x in xs:
        if x > 0.5:
            kept.append(a * x)
    total = 0.0
    for y in kept:
        total = 0.5 * total + y * y
    return total
"""


def some(a, xs):  # type: ignore[no-untyped-def]
    """What has passed is kept with its place."""
    n, count = xs.size, 0
    kept, place = np.empty(n), np.empty(n, np.int64)
    for i in range(n):
        if xs[i] > 0.5:
            kept[count], place[count] = a * xs[i], i
            count += 1
    da, d = 0.0, 1.0
    dxs = np.zeros(n)
    for k in range(count - 1, -1, -1):
        dy = 2.0 * d * kept[k]
        dxs[place[k]] = a * dy
        da += dy * xs[place[k]]
        d *= 0.5
    return np.array([da]), dxs


def some_jax(jax: Any, a: Any, xs: Any) -> Any:
    def turn(total: Any, x: Any) -> Any:
        return jax.numpy.where(x > 0.5, 0.5 * total + (a * x) ** 2, total), None

    return jax.lax.scan(turn, 0.0, xs)[0]


PAIRS = """
def f(h, xs):
    points = [(x, 1.0) for x in xs]
    for turn in range(4):
        points = [(x + h * v, v - h * x * x) for x, v in points]
    total = 0.0
    for x, v in points:
        total = total + x * v
    return total
"""


def pairs(h, xs):  # type: ignore[no-untyped-def]
    """Every point goes its way, and back, alone."""
    n, dh = xs.size, 0.0
    dxs, x, v = np.empty(n), np.empty(5), np.empty(5)
    for i in range(n):
        x[0], v[0] = xs[i], 1.0
        for t in range(4):
            x[t + 1] = x[t] + h * v[t]
            v[t + 1] = v[t] - h * x[t] * x[t]
        dx, dv = v[4], x[4]
        for t in range(3, -1, -1):
            dh += dx * v[t] - dv * x[t] * x[t]
            dx, dv = dx - 2.0 * h * dv * x[t], dv + h * dx
        dxs[i] = dx
    return np.array([dh]), dxs


def pairs_jax(jax: Any, h: Any, xs: Any) -> Any:
    x, v = xs, jax.numpy.ones_like(xs)
    for _ in range(4):
        x, v = x + h * v, v - h * x * x
    return jax.numpy.sum(x * v)


ROWS = """
import numpy as np
def f(w, xs):
    h = np.zeros_like(xs[0])
    rows = []
    for x in xs:
        h = np.tanh(w * h + x)
        rows.append(h)
    states = np.stack(rows)
    return np.sum(states * states)
"""


def rows(w, xs):  # type: ignore[no-untyped-def]
    """With 1 - tanh² as the derivative; the rule of ours is 1/cosh², which is right for large arguments too, and slower."""
    n, d = xs.shape
    states, dw, dxs = np.empty((n + 1, d)), np.zeros(d), np.empty((n, d))
    states[0] = 0.0
    for i in range(n):
        for k in range(d):
            states[i + 1, k] = math.tanh(w[k] * states[i, k] + xs[i, k])
    dh = np.zeros(d)
    for i in range(n - 1, -1, -1):
        for k in range(d):
            y = states[i + 1, k]
            dz = (dh[k] + 2.0 * y) * (1.0 - y * y)
            dxs[i, k] = dz
            dw[k] += dz * states[i, k]
            dh[k] = dz * w[k]
    return dw, dxs


def rows_jax(jax: Any, w: Any, xs: Any) -> Any:
    def turn(h: Any, x: Any) -> Any:
        h = jax.numpy.tanh(w * h + x)
        return h, h

    states = jax.lax.scan(turn, jax.numpy.zeros_like(w), xs)[1]
    return jax.numpy.sum(states * states)


LINE = """
import numpy as np
from adjudge import jacobian
def f(u):
    inside = np.concatenate((np.zeros(1), u, np.zeros(1)))
    return inside[:-2] - 2.0 * u + inside[2:] + 0.01 * np.exp(u)
def slope(u):
    return jacobian(f)(u)
"""
LINE_BY_INDEX = """
import numpy as np
from adjudge import jacobian
def f(u):
    n = len(u)
    r = np.zeros_like(u)
    for i in range(n):
        left = u[i - 1] if i > 0 else 0.0
        right = u[i + 1] if i < n - 1 else 0.0
        r[i] = left - 2.0 * u[i] + right + 0.01 * np.exp(u[i])
    return r
def slope(u):
    return jacobian(f)(u)
"""


def line(u):  # type: ignore[no-untyped-def]
    n = u.size
    slope = np.zeros((n, n))
    for i in range(n):
        slope[i, i] = 0.01 * math.exp(u[i]) - 2.0
        if i > 0:
            slope[i, i - 1] = 1.0
        if i < n - 1:
            slope[i, i + 1] = 1.0
    return slope


def line_jax(jax: Any, u: Any) -> Any:
    inside = jax.numpy.pad(u, 1)
    return inside[:-2] - 2.0 * u + inside[2:] + 0.01 * jax.numpy.exp(u)


STATES = """
import numpy as np
from adjudge import jacobian
def f(x):
    states = []
    h = 0.0
    for k in range(len(x)):
        h = np.tanh(0.9 * h + x[k])
        states.append(h)
    return np.array(states)
def slope(x):
    return jacobian(f)(x)
"""


def states(x):  # type: ignore[no-untyped-def]
    """The row of a state is that of the one before, scaled, with its own derivative at the end."""
    n, h = x.size, 0.0
    slope = np.zeros((n, n))
    for i in range(n):
        h = math.tanh(0.9 * h + x[i])
        own = 1.0 - h * h
        for k in range(i):
            slope[i, k] = 0.9 * own * slope[i - 1, k]
        slope[i, i] = own
    return slope


def states_jax(jax: Any, x: Any) -> Any:
    def turn(h: Any, x: Any) -> Any:
        h = jax.numpy.tanh(0.9 * h + x)
        return h, h

    return jax.lax.scan(turn, 0.0, x)[1]


def _recurrence(n: int) -> tuple[Any, ...]:
    return (0.9, normal(n))


def _vector(n: int) -> tuple[Any, ...]:
    return (normal(n),)


def _jacobian(text: str, hand: Any, jax: Any, **without: str) -> ArrayFamily:
    return ArrayFamily(text, hand, _vector, 0, {"32": (32,)}, jax, "slope", without=without)


NO_PLACES = "it has no assignment to an element"
FAMILIES = {
    "list that is appended to": ArrayFamily(APPENDED, appended, _recurrence, (0, 1), {"16": (16,), "1000": (1000,)}, appended_jax),
    "list that is filled": ArrayFamily(FILLED, filled, _recurrence, (0, 1), {"1000": (1000,)}, filled_jax),
    "list of some": ArrayFamily(SOME, some, _recurrence, (0, 1), {"1000": (1000,)}, some_jax),
    "list of pairs": ArrayFamily(PAIRS, pairs, lambda n: (0.1, normal(n)), (0, 1), {"1000": (1000,)}, pairs_jax),
    "list of arrays": ArrayFamily(ROWS, rows, lambda n, d: (normal(d), normal(n, d)), (0, 1), {"100 of 8": (100, 8)}, rows_jax),
    "Jacobian on arrays": _jacobian(LINE, line, line_jax),
    "Jacobian by index": _jacobian(LINE_BY_INDEX, line, line_jax, autograd=NO_PLACES),
    "Jacobian of a list": _jacobian(STATES, states, states_jax, torch="it makes no array of a list of numbers"),
}
