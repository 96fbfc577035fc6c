"""
Programs that read arrays by index: a Brusselator on a line, and a recursion over the leaves of a tree; each by hand, and for JAX.

The Brusselator is u' = 1 + u²v - 4.4u + 0.1 u_xx, v' = 3.4u - u²v + 0.1 v_xx, with Euler's steps of 0.01 and fixed ends. The tree
combines two halves to tanh(p left + q right + 0.1), down to single leaves.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bench.arrays_by_hand import ArrayFamily, normal

LINE = """
import numpy as np
def f(u, v, turns: int):
    for t in range(turns):
        a = np.copy(u)
        b = np.copy(v)
        for i in range(1, u.shape[0] - 1):
            r = u[i] * u[i] * v[i]
            a[i] = u[i] + 0.01 * (1.0 + r - 4.4 * u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1]))
            b[i] = v[i] + 0.01 * (3.4 * u[i] - r + 0.1 * (v[i - 1] - 2.0 * v[i] + v[i + 1]))
        u = a
        v = b
    return np.sum(u * v)
"""


def line(u, v, turns):  # type: ignore[no-untyped-def]
    """The states of every turn are kept; going back, each place gives to itself and its neighbours."""
    n = u.size
    us, vs = np.empty((turns + 1, n)), np.empty((turns + 1, n))
    us[0], vs[0] = u, v
    for t in range(turns):
        u, v, a, b = us[t], vs[t], us[t + 1], vs[t + 1]
        a[0], b[0], a[n - 1], b[n - 1] = u[0], v[0], u[n - 1], v[n - 1]
        for i in range(1, n - 1):
            r = u[i] * u[i] * v[i]
            a[i] = u[i] + 0.01 * (1.0 + r - 4.4 * u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1]))
            b[i] = v[i] + 0.01 * (3.4 * u[i] - r + 0.1 * (v[i - 1] - 2.0 * v[i] + v[i + 1]))
    da, db = vs[turns].copy(), us[turns].copy()
    du, dv = np.empty(n), np.empty(n)
    for t in range(turns - 1, -1, -1):
        u, v = us[t], vs[t]
        for i in range(n):
            du[i], dv[i] = da[i], db[i]
        for i in range(1, n - 1):
            dr = 0.01 * (da[i] - db[i])
            du[i] += 0.01 * (-4.6 * da[i] + 3.4 * db[i]) + 2.0 * dr * u[i] * v[i]
            dv[i] += -0.002 * db[i] + dr * u[i] * u[i]
            du[i - 1] += 0.001 * da[i]
            du[i + 1] += 0.001 * da[i]
            dv[i - 1] += 0.001 * db[i]
            dv[i + 1] += 0.001 * db[i]
        du, dv, da, db = da, db, du, dv
    return da, db


def line_jax(jax: Any, u: Any, v: Any, turns: int) -> Any:
    def turn(state: Any, _: Any) -> Any:
        u, v = state
        r = u[1:-1] * u[1:-1] * v[1:-1]
        a = 0.01 * (1.0 + r - 4.4 * u[1:-1] + 0.1 * (u[:-2] - 2.0 * u[1:-1] + u[2:]))
        b = 0.01 * (3.4 * u[1:-1] - r + 0.1 * (v[:-2] - 2.0 * v[1:-1] + v[2:]))
        return (u.at[1:-1].add(a), v.at[1:-1].add(b)), None

    u, v = jax.lax.scan(turn, (u, v), None, length=turns)[0]
    return jax.numpy.sum(u * v)


TREE = """
import numpy as np

def tree(x, p, q, low, high):
    if high - low == 1:
        return x[low]
    middle = (low + high) // 2
    return np.tanh(p * tree(x, p, q, low, middle) + q * tree(x, p, q, middle, high) + 0.1)

def f(x, p, q):
    return tree(x, p, q, 0, x.shape[0])
"""


def tree(x, p, q):  # type: ignore[no-untyped-def]
    """A complete tree is its levels: node i has the children 2i and 2i + 1, and 1 is the root."""
    n = x.size
    value, d = np.empty(2 * n), np.empty(2 * n)
    value[n:] = x
    for i in range(n - 1, 0, -1):
        value[i] = math.tanh(p * value[2 * i] + q * value[2 * i + 1] + 0.1)
    d[1] = 1.0
    for i in range(1, n):
        dz = d[i] * (1.0 - value[i] * value[i])
        d[2 * i], d[2 * i + 1] = dz * p, dz * q
    return d[n:]


def tree_jax(jax: Any, x: Any, p: Any, q: Any) -> Any:
    while x.size > 1:
        x = jax.numpy.tanh(p * x[0::2] + q * x[1::2] + 0.1)
    return x[0]


def _line(n: int, turns: int) -> tuple[Any, ...]:
    return (1.0 + 0.1 * normal(n), 3.0 + 0.1 * normal(n), turns)


FAMILIES = {
    "Brusselator by index": ArrayFamily(
        LINE,
        line,
        _line,
        (0, 1),
        {"16 places, 4 turns": (16, 4), "128 places, 16 turns": (128, 16)},
        line_jax,
        without={"autograd": "it has no assignment to an element"},
    ),
    "recursive tree": ArrayFamily(
        TREE, tree, lambda n: (normal(n), 0.6, 0.7), 0, {"16 leaves": (16,), "1024 leaves": (1024,)}, tree_jax
    ),
}
