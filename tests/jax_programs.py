"""One function of JAX for each primitive that is read, with arguments at which it is neither symmetric nor trivial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from adjudge.adapters.jax_examples import EXAMPLES, M, N, Q, V, X

Y = np.float64(-2.25)
I = np.array([3, -2, 0])  # noqa: E741
B = np.array([True, False, True])
WHERE = np.array([2, 0, 2])


@jax.custom_vjp
def doubled(x: Any) -> Any:
    return x * 2.0


doubled.defvjp(lambda x: (doubled(x), None), lambda _, d: (d * 2.0,))


@jax.custom_jvp
def tripled(x: Any) -> Any:
    return x * 3.0


tripled.defjvps(lambda t, _, x: t * 3.0)


def with_gaps(v: Any) -> Any:
    return lax.pad(v, 9.0, ((1, 2, 1),))


Case = tuple[Callable[..., Any], tuple[Any, ...]]

UNARY = (
    *(lax.neg, lax.abs, lax.exp, lax.expm1, lax.log, lax.log1p, lax.sqrt, lax.cbrt, lax.sin, lax.cos, lax.tan, lax.asin, lax.acos),
    *(lax.atan, lax.sinh, lax.cosh, lax.tanh, lax.asinh, lax.atanh, lax.erf, lax.erfc, lax.square, lax.exp2, lax.rsqrt),
    *(lax.logistic, lax.floor, lax.ceil, lax.is_finite, lax.sign, lax.stop_gradient, lax.optimization_barrier, jnp.copy),
    *(jax.device_put, doubled, tripled, jax.checkpoint(lax.sin), jax.jit(lax.neg)),
)  # fmt: skip
BINARY = (lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, lax.atan2, lax.lt, lax.le, lax.gt, lax.ge, lax.eq, lax.ne)

ELEMENTWISE: tuple[Case, ...] = (
    *((f, (X,)) for f in UNARY),
    *((f, (X, Y)) for f in BINARY),
    (lax.acosh, (-Y,)),
    (lax.pow, (X, Y)),
    (jax.grad(lambda x: x * x), (X,)),  # add_any
    (jax.grad(lambda x: lax.cond(x < 1.0, lambda t: t * t, lambda t: t / 3.0, x)), (X,)),  # empty2
    (lax.div, (I, np.int64(-2))),
    (lax.rem, (I, np.int64(-2))),
    (lax.sign, (I,)),
    (lambda x: lax.integer_pow(x, 3), (X,)),
    (lambda x: lax.integer_pow(x, -2), (X,)),
    (lambda v: lax.round(v * 0.9), (V,)),
    (lambda v: lax.round(v * 0.9, lax.RoundingMethod.TO_NEAREST_EVEN), (V,)),
    (lambda v: lax.clamp(-1.0, v, 1.0), (V,)),
    (lambda b, v: lax.select_n(b, v, -2.0 * v), (B, V)),
    (lambda i, v: lax.select_n(i.astype(np.int32), v, -2.0 * v, v + 1.0), (WHERE, V)),
    (lambda b: (b & ~b[::-1], b | b[::-1], b ^ b[::-1]), (B,)),
    (lambda v: lax.reduce_precision(v * 0.1, 8, 23), (V,)),
    (lambda v: (v.astype(np.float32), v.astype(np.int64), v.astype(bool)), (V,)),
    (lambda x, n: (x.astype(np.float32), x.astype(np.int64), x.astype(bool), n.astype(np.float64), n.astype(bool)), (X, N)),
    (lambda x: ((x > 0).astype(np.int64), (x > 0).astype(np.float64), x.astype(np.float32).astype(np.float64)), (X,)),
)

ARRAYS: tuple[Case, ...] = (
    (lambda m: (m.reshape(3, 2), lax.reshape(m[:1, :1], ()), lax.squeeze(m[:1], (0,)), m[1, 2], m[:, None]), (M,)),
    (lambda v: (lax.broadcast_in_dim(v, (2, 3), (1,)), lax.broadcast_in_dim(v, (3, 2), (0,)), jnp.full((2,), v[0])), (V,)),
    (lambda m, v: (m.T, v[::-1], jnp.concatenate([v, m[0]]), jnp.stack([v, -v], 1), jnp.pad(m, 1)), (M, V)),
    (with_gaps, (V,)),
    (lambda v: (lax.pad(v, 9.0, ((-1, 1, 0),)), v[1:3], v[::2]), (V,)),
    (lambda: (lax.iota(np.float64, 3), lax.broadcasted_iota(np.int64, (2, 3), 1)), ()),
    (lambda m, n: (lax.dynamic_slice(m, (n - 3, n - 2), (1, 2)), lax.dynamic_slice(m, (n, n), (1, 2))), (M, N)),
    (lambda m, n: lax.dynamic_update_slice(m, m[:1, :2] * 9.0, (n, n - 2)), (M, N)),
    (lambda m: (jnp.take(m, WHERE, axis=1), m[np.array([1, 0])]), (M,)),
    (lambda v: (v.at[WHERE].add(2.0), v.at[np.array([1, 0])].set(9.0)), (V,)),
    (lambda m: (m.sum(0), m.sum(), m.prod(1), m.max(0), m.min(1), (m > 0).all(0), (m > 1).any(1)), (M,)),
    (lambda m: (jnp.argmax(m, 1), jnp.argmin(m, 0), jnp.cumsum(m, 1), jnp.cumprod(m, 0), lax.cumsum(m, 1, reverse=True)), (M,)),
    (lambda m, v: (jnp.sort(m, 1), m @ v, v @ v, jnp.einsum("ij,kj->ik", m, m), lax.batch_matmul(m[None], m.T[None])), (M, V)),
    (lambda q: (q @ q.T, q.T @ q), (Q,)),
)

CASES: tuple[Case, ...] = (*ELEMENTWISE, *ARRAYS, *EXAMPLES)


def primitives_in(closed: Any) -> set[str]:
    """The names of all primitives in a jaxpr, and in those inside it."""
    found: set[str] = set()
    todo = [closed.jaxpr]
    while todo:
        for equation in todo.pop().eqns:
            found.add(equation.primitive.name)
            for value in equation.params.values():
                for part in value if isinstance(value, (tuple, list)) else (value,):
                    if hasattr(part, "eqns") or hasattr(part, "jaxpr"):
                        todo.append(getattr(part, "jaxpr", part))
    return found
