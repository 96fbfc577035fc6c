"""
Functions on which a pass over jaxprs is judged before generated programs: every primitive that is read, and the shapes that passes
get wrong. No function is symmetric in its arguments, so what is exchanged shows; one matrix is square, where a wrong axis fits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

V = np.array([0.75, -1.25, 2.5])
M = np.array([[0.75, -1.25, 2.5], [-0.5, 1.5, 3.0]])
Q = np.array([[0.75, -1.25], [2.5, -0.5]])
X = np.float64(0.75)
N = np.int64(3)


def zeros(x: Any) -> Any:
    """Rules that are sound but for NaN, infinities and signed zeros."""
    return x * 0.0 + (x - x) + (x + 0.0) / 1.0 - 0.0 * x


def without_inputs(x: Any) -> Any:
    """Equations that have no inputs and are needed all the same."""
    return jnp.sum(lax.iota(np.float64, 3) * x) + jnp.full((), 2.0) * x


def unused(x: Any, v: Any) -> Any:
    """Results that nothing needs, and a parameter that nothing reads."""
    jnp.exp(x)
    jnp.sum(v)
    return x * 3.0


def effects_of_branches(x: Any) -> Any:
    return lax.cond(x < 1.0, lambda t: 3.0 * t, lambda t: t - 10.0, x)


def cases(x: Any, n: Any) -> Any:
    return lax.switch(n % 3, [lambda t: t, lambda t: 2.0 * t, lambda t: -t], x)


def counted(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, c: c * 0.5 + x, x)


def until(x: Any) -> Any:
    return lax.while_loop(lambda s: s[1] < 4, lambda s: (s[1] * x - s[0], s[1] + 1), (x, 0))[0]


def never(x: Any) -> Any:
    """A loop that makes no turn."""
    return lax.while_loop(lambda s: s < -(x * x) - 1.0, lambda s: s * 2.0, x)


def running(x: Any, v: Any) -> Any:
    last, seen = lax.scan(lambda c, a: (c * a + x, c - a), x, v)
    return last + jnp.sum(seen * v)


def backwards(v: Any) -> Any:
    return jnp.sum(lax.scan(lambda c, a: (c - a, c * a), 0.5, v, reverse=True)[1] * v)


def sums(m: Any) -> Any:
    return jnp.sum(m, axis=0), jnp.sum(m, axis=1), jnp.sum(m)


def square(q: Any) -> Any:
    return jnp.sum(q, axis=0) - jnp.cumsum(q, axis=1)[:, 1], jnp.max(q, axis=1), q.T @ q - q, jnp.flip(q, 1), jnp.sort(q, 0)


def extremes(m: Any) -> Any:
    return jnp.max(m, axis=0), jnp.min(m, axis=1), jnp.prod(m, axis=1), jnp.argmax(m, axis=1), jnp.argmin(m, axis=0)


def products(m: Any, v: Any) -> Any:
    return m @ v, v @ v, jnp.einsum("ij,kj->ik", m, m), jnp.outer(v, v[:2])


def moves(m: Any, v: Any) -> Any:
    return m.T, m.reshape(3, 2), jnp.stack([v, 2.0 * v], axis=1), jnp.concatenate([v, m[1]]), v[::-1], m[:, 1:3], jnp.pad(v, (1, 2))


def indexed(m: Any, v: Any, n: Any) -> Any:
    return v[n - 1], lax.dynamic_slice(m, (0, n - 2), (2, 2)), lax.dynamic_update_slice(v, v[:1] * 2.0, (n - 2,)), m[1, 2]


def subtracted(x: Any, v: Any) -> Any:
    return jnp.sum((v - x) / (v - 2.0 * x - 7.0)) - x


def chosen(v: Any, x: Any) -> Any:
    return jnp.sum(jnp.where(v > x, v * v, -v)) + jnp.sum(jnp.clip(v, -1.0, 1.0)) + lax.max(x, 0.5) - lax.min(x, 0.25)


def elementary(x: Any) -> Any:
    return jnp.sin(x) + jnp.cos(2.0 * x) * jnp.exp(-x) + jnp.tanh(x) - jnp.sqrt(x * x + 1.0) + jnp.log(x * x + 2.0)


def rounded(x: Any, n: Any) -> Any:
    return jnp.floor(x) - jnp.ceil(2.0 * x) + jnp.sign(x) * n + lax.div(n, np.int64(2)) - lax.rem(n, np.int64(2)), lax.rem(x, 0.5)


def narrow(v: Any) -> Any:
    single = v.astype(np.float32)
    return jnp.sum(single * np.float32(0.1)), single.astype(np.float64) + 0.1, (v > 0).astype(np.int64)


@jax.jit
def inner(x: Any, y: Any) -> Any:
    return x * y - y


def called(x: Any, v: Any) -> Any:
    return inner(x, 2.0) - inner(2.0, x) + jax.nn.relu(x) + jnp.sum(jax.nn.softmax(v) * v)


EXAMPLES: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (zeros, (X,)),
    (without_inputs, (X,)),
    (unused, (X, V)),
    (effects_of_branches, (X,)),
    (cases, (X, N)),
    (counted, (X,)),
    (until, (X,)),
    (never, (X,)),
    (running, (X, V)),
    (backwards, (V,)),
    (sums, (M,)),
    (square, (Q,)),
    (extremes, (M,)),
    (products, (M, V)),
    (moves, (M, V)),
    (indexed, (M, V, N)),
    (subtracted, (X, V)),
    (chosen, (V, X)),
    (elementary, (X,)),
    (rounded, (X, N)),
    (narrow, (V,)),
    (called, (X, V)),
)
