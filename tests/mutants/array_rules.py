"""
Backpropagators of arrays, right and wrong, as their authors would write them in NumPy.

A `Bug` is a forward function, a right rule, and a wrong one that some public system shipped or might have; `caught_by` names the checks
of which one must find it. The right rules are controls: stressful numerically, and sound.
"""
# ruff: noqa: PLW0108, E501

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Samples = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Control:
    """A function with a right rule, and where it is used. fixed: positions of attributes."""

    name: str
    forward: Callable[..., Any]
    right: Callable[..., Any]
    samples: Samples
    fixed: tuple[int, ...] = ()
    domain: Callable[..., bool] | None = None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Bug:
    """A function with a right rule and a wrong one."""

    name: str
    control: Control
    wrong: Callable[..., Any]
    caught_by: tuple[str, ...]
    kind: str = "fault"

    def __str__(self) -> str:
        return self.name


def array(*elements: Any) -> np.ndarray[Any, Any]:
    return np.array(elements, dtype=np.float64)


VECTOR = array(0.5, -1.25, 3.0)
POSITIVE = array(0.5, 1.25, 3.0)
MATRIX = array([0.5, -1.0, 2.0], [3.0, 0.25, -0.75])
WEIGHTS = array([1.0, -0.5], [0.25, 2.0], [-3.0, 1.5])


def unbroadcast(d, x):
    """The cotangent of x in a value to which x was broadcast."""
    d = np.sum(d, axis=tuple(range(np.ndim(d) - np.ndim(x))))
    return np.sum(d, axis=tuple(i for i in range(np.ndim(x)) if np.shape(x)[i] == 1 and np.shape(d)[i] != 1), keepdims=True)


def sigmoid(x):
    """By pieces: J of one with exp(-|x|) takes 0 for the derivative of |x| at 0, and loses the second derivative there."""
    e = np.exp(np.where(x >= 0, -x, x))
    return np.where(x >= 0, 1.0, e) / (1.0 + e)


# elementwise


def softplus(x):
    return np.logaddexp(0.0, x)


def softplus_rule(x, y, d):
    return (d * sigmoid(x),)


def elu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0.0)))


def elu_rule(x, y, d):
    return (d * np.where(x > 0, 1.0, np.exp(np.minimum(x, 0.0))),)


def clip(x):
    return np.minimum(np.maximum(x, -1.0), 1.0)


def logaddexp_rule(x, z, y, d):
    return d * sigmoid(x - z), d * sigmoid(z - x)


def add(x, z):
    return x + z


def add_rule(x, z, y, d):
    return unbroadcast(d, x), unbroadcast(d, z)


def multiply(x, z):
    return x * z


def multiply_rule(x, z, y, d):
    return unbroadcast(d * z, x), unbroadcast(d * x, z)


def hypot_rule(x, z, y, d):
    safe = np.where(y == 0, 1.0, y)
    return d * (x / safe), d * (z / safe)


# reductions and scans


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def softmax_rule(x, y, d):
    return (y * (d - np.sum(d * y, axis=-1, keepdims=True)),)


def logsumexp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def logsumexp_rule(x, y, d):
    return (d * np.exp(x - y),)


def log_softmax(x):
    z = x - np.max(x)
    return z - np.log(np.sum(np.exp(z)))


def log_softmax_rule(x, y, d):
    return (d - np.exp(y) * np.sum(d),)


def var(x):
    return np.mean((x - np.mean(x)) ** 2)


def var_rule(x, y, d):
    return (d * 2.0 * (x - np.mean(x)) / x.size,)


def norm(x):
    return np.sqrt(np.sum(x * x))


def norm_rule(x, y, d):
    return (d * (x / (y if y != 0 else 1.0)),)


def cumprod_rule(x, y, d):
    """Each output by each input: the product of the others, without a division."""
    grads = np.zeros_like(x)
    for i in range(x.size):
        for j in range(i, x.size):
            grads[i] += d[j] * np.prod(np.delete(x[: j + 1], i))
    return (grads,)


def cumsum_rule(x, y, d):
    return (np.cumsum(d[::-1])[::-1],)


def prod_rule(x, y, d):
    return (d * np.array([np.prod(np.delete(x, i)) for i in range(x.size)], dtype=x.dtype),)


def total(x):
    return np.sum(x, axis=0)


def total_rule(x, y, d):
    return (np.broadcast_to(d, x.shape).copy(),)


def mean_rows(x):
    return np.mean(x, axis=1)


def mean_rows_rule(x, y, d):
    return (np.repeat(d[:, np.newaxis], x.shape[1], axis=1) / x.shape[1],)


def largest_rule(x, y, d):
    best = np.zeros(x.shape, dtype=x.dtype)
    if x.size:
        best[np.argmax(x)] = 1.0
    return (d * best,)


def sort_rule(x, y, d):
    out = np.empty_like(x)
    out[np.argsort(x, kind="stable")] = d
    return (out,)


# linear algebra and movement


def matmul(a, b):
    return a @ b


def matmul_rule(a, b, y, d):
    return d @ b.T, a.T @ d


def outer(x, z):
    return x[:, np.newaxis] * z


def outer_rule(x, z, y, d):
    return d @ z, x @ d


def transpose(a):
    return np.transpose(a)


def take(x, i):
    return x[i]


def take_rule(x, i, y, d):
    out = np.zeros_like(x)
    np.add.at(out, i, d)
    return out, None


def scatter_set(x, v):
    """x with its first elements replaced by v."""
    out = x + 0.0
    out[: v.size] = v
    return out


def scatter_set_rule(x, v, y, d):
    dx = d.copy()
    dx[: v.size] = 0.0
    return dx, d[: v.size].copy()


def layer_norm(x):
    centred = x - np.mean(x)
    return centred / np.sqrt(np.mean(centred * centred) + 1e-3)


def layer_norm_rule(x, y, d):
    scale = 1.0 / np.sqrt(np.mean((x - np.mean(x)) ** 2) + 1e-3)
    return (scale * (d - np.mean(d) - y * np.mean(d * y)),)


def blend(a, b, w):
    return a + w * (b - a)


def blend_rule(a, b, w, y, d):
    return d * (1.0 - w), d * w, d * (b - a)


def distance(x, z):
    return np.sqrt(np.sum((x - z) ** 2))


def distance_rule(x, z, y, d):
    slope = d * ((x - z) / y) if y != 0 else np.zeros_like(x)
    return slope, -slope


def concatenate(x, z):
    return np.concatenate([x, z])


def concatenate_rule(x, z, y, d):
    return d[: x.size].copy(), d[x.size :].copy()


def difference(x):
    return x[1:] - x[:-1]


def difference_rule(x, y, d):
    out = np.zeros_like(x)
    out[1:] += d
    out[:-1] -= d
    return (out,)


def triangle(a):
    return np.tril(a)


def masked_sum(x, keep):
    return np.sum(np.where(keep, x, 0.0))


CONTROLS = {
    control.name: control
    for control in (
        Control("softplus", softplus, softplus_rule, [(VECTOR,), (MATRIX,)]),
        Control("exp", lambda x: np.exp(x), lambda x, y, d: (d * y,), [(VECTOR,), (np.array(0.5),)]),
        Control("expm1", lambda x: np.expm1(x), lambda x, y, d: (d * np.exp(x),), [(VECTOR,)]),
        Control("log1p", lambda x: np.log1p(x), lambda x, y, d: (d / (1.0 + x),), [(POSITIVE,)]),
        Control("tanh", lambda x: np.tanh(x), lambda x, y, d: (d / np.cosh(x) ** 2,), [(VECTOR,)]),
        Control("sigmoid", sigmoid, lambda x, y, d: (d * (y * sigmoid(-x)),), [(VECTOR,), (MATRIX,)]),
        Control("elu", elu, elu_rule, [(VECTOR,)]),
        Control("square", lambda x: x * x, lambda x, y, d: (2.0 * d * x,), [(VECTOR,), (MATRIX,)]),
        Control("clip", clip, lambda x, y, d: (d * ((x > -1.0) & (x < 1.0)),), [(VECTOR,), (MATRIX,)]),
        Control("absolute", lambda x: np.abs(x), lambda x, y, d: (d * np.sign(x),), [(VECTOR,)]),
        Control("reciprocal", lambda x: 1.0 / x, lambda x, y, d: (-d * y * y,), [(POSITIVE,)]),
        Control("square root", lambda x: np.sqrt(x), lambda x, y, d: (d * 0.5 / y,), [(POSITIVE,)]),
        Control("logaddexp", lambda x, z: np.logaddexp(x, z), logaddexp_rule, [(VECTOR, POSITIVE)]),
        Control("hypot", lambda x, z: np.hypot(x, z), hypot_rule, [(VECTOR, POSITIVE)]),
        Control("add", add, add_rule, [(MATRIX, VECTOR), (VECTOR, VECTOR)]),
        Control("multiply", multiply, multiply_rule, [(MATRIX, VECTOR), (MATRIX, MATRIX)]),
        Control("softmax", softmax, softmax_rule, [(VECTOR,), (MATRIX,)]),
        Control("logsumexp", logsumexp, logsumexp_rule, [(VECTOR,)]),
        Control("log_softmax", log_softmax, log_softmax_rule, [(VECTOR,)]),
        Control("var", var, var_rule, [(VECTOR,), (MATRIX,)]),
        Control("norm", norm, norm_rule, [(VECTOR,)]),
        Control("cumprod", lambda x: np.cumprod(x), cumprod_rule, [(VECTOR,), (array(2.0, 0.0, 3.0),)]),
        Control("cumsum", lambda x: np.cumsum(x), cumsum_rule, [(VECTOR,)]),
        Control("product", lambda x: np.prod(x), prod_rule, [(VECTOR,), (array(2.0, 0.0, 3.0),)]),
        Control("sum over rows", total, total_rule, [(MATRIX,)]),
        Control("mean of rows", mean_rows, mean_rows_rule, [(MATRIX,)]),
        Control("maximum of all", lambda x: np.max(x), largest_rule, [(VECTOR,)]),
        Control("sort", lambda x: np.sort(x), sort_rule, [(VECTOR,)]),
        Control("matmul", matmul, matmul_rule, [(MATRIX, WEIGHTS)]),
        Control("outer", outer, outer_rule, [(VECTOR, array(1.0, 2.0))]),
        Control("transpose", transpose, lambda a, y, d: (np.transpose(d).copy(),), [(MATRIX,), (MATRIX[:, :2].copy(),)]),
        Control("take", take, take_rule, [(VECTOR, np.array([2, 0, 2])), (VECTOR, np.array([-1, 1]))]),
        Control("scatter-set", scatter_set, scatter_set_rule, [(VECTOR, array(7.0, 8.0))]),
        Control("layer_norm", layer_norm, layer_norm_rule, [(VECTOR,)]),
        Control("blend", blend, blend_rule, [(VECTOR, POSITIVE, array(0.25, 0.5, 2.0))]),
        Control("distance", distance, distance_rule, [(VECTOR, POSITIVE)]),
        Control("concatenate", concatenate, concatenate_rule, [(VECTOR, array(1.0, 2.0))]),
        Control("differences", difference, difference_rule, [(VECTOR,)]),
        Control("lower triangle", triangle, lambda a, y, d: (np.tril(d),), [(MATRIX,), (WEIGHTS,)]),
        Control(
            "masked sum",
            masked_sum,
            lambda x, keep, y, d: (np.where(keep, d, 0.0), None),
            [(VECTOR, np.array([True, False, True]))],
        ),
        Control("dot", lambda x, z: np.dot(x, z), lambda x, z, y, d: (d * z, d * x), [(VECTOR, POSITIVE)]),
        Control("identity", lambda x: x + 0.0, lambda x, y, d: (d,), [(VECTOR,), (MATRIX,)]),
    )
}


# wrong rules


def add_unreduced(x, z, y, d):
    return d, d


def add_first_slice(x, z, y, d):
    return unbroadcast(d, x), d if np.shape(d) == np.shape(z) else d[0] if np.ndim(d) > np.ndim(z) else unbroadcast(d, z)


def add_mean(x, z, y, d):
    return unbroadcast(d, x), d if np.shape(d) == np.shape(z) else np.mean(d, axis=0)


def wrong_shape(x, z, y, d):
    return unbroadcast(d, x), np.ravel(d)[: np.size(z)].reshape(np.shape(z)[::-1]) if np.ndim(z) else d


def take_overwritten(x, i, y, d):
    out = np.zeros_like(x)
    out[i] = d
    return out, None


def cumprod_divided(x, y, d):
    return (np.cumsum((d * y)[::-1])[::-1] / x,)


def mutates_cotangent(x, y, d):
    d *= 2.0 * x
    return (d + 0.0,)


def mutates_argument(x, y, d):
    kept = 2.0 * x * d
    x += 1.0
    return (kept,)


class Stale:
    """Remembers the first argument of each shape, and uses it ever after."""

    def __init__(self) -> None:
        self.seen: dict[Any, Any] = {}

    def __call__(self, x, y, d):
        return (2.0 * self.seen.setdefault(np.shape(x), np.array(x)) * d,)


class OneBuffer:
    """Answers in a buffer that it keeps."""

    def __init__(self) -> None:
        self.buffers: dict[Any, Any] = {}

    def __call__(self, x, y, d):
        buffer = self.buffers.setdefault(np.shape(x), np.empty(np.shape(x)))
        buffer[...] = 2.0 * x * d
        return (buffer,)


def alias(x, z, y, d):
    """Adds in place into one buffer if both arguments are one."""
    return (2.0 * d * z, d * x) if x is z else (d * z, d * x)


BUGS = tuple(
    Bug(name, CONTROLS[control], wrong, caught_by, kind)
    for name, control, wrong, caught_by, kind in (
        # cotangent handling
        ("d * |d|", "square", lambda x, y, d: (2.0 * x * d * np.abs(d),), ("algebra",), "fault"),
        ("clipped cotangent", "square", lambda x, y, d: (2.0 * x * np.clip(d, -1.0, 1.0),), ("algebra",), "fault"),
        ("negative cotangents dropped", "square", lambda x, y, d: (2.0 * x * np.maximum(d, 0.0),), ("algebra",), "fault"),
        ("a bias of 1e-7", "square", lambda x, y, d: (2.0 * x * d + 1e-7,), ("zero",), "fault"),
        (
            "only the largest cotangent",
            "square",
            lambda x, y, d: (2.0 * x * d * (np.abs(d) == np.max(np.abs(d), initial=0.0)),),
            ("algebra",),
            "fault",
        ),
        ("cotangent ignored", "square", lambda x, y, d: (2.0 * x,), ("zero", "algebra"), "fault"),
        ("mutated cotangent", "square", mutates_cotangent, ("purity",), "fault"),
        ("mutated argument", "square", mutates_argument, ("purity",), "fault"),
        ("stale argument", "square", Stale(), ("jacobian", "replay"), "fault"),
        ("one buffer", "square", OneBuffer(), ("replay",), "fault"),
        # entries
        ("wrong sign", "softplus", lambda x, y, d: (-d * sigmoid(x),), ("jacobian",), "fault"),
        ("factor 1 + 1e-6", "matmul", lambda a, b, y, d: (d @ b.T, (1 + 1e-6) * (a.T @ d)), ("jacobian",), "fault"),
        (
            "factor 1/n missing",
            "mean of rows",
            lambda x, y, d: (np.repeat(d[:, np.newaxis], x.shape[1], axis=1),),
            ("jacobian",),
            "fault",
        ),
        ("blend swapped", "blend", lambda a, b, w, y, d: (d * w, d * (1.0 - w), d * (b - a)), ("jacobian",), "fault"),
        ("softmax without its sum", "softmax", lambda x, y, d: (d * y * (1.0 - y),), ("jacobian",), "fault"),
        ("var without its factor", "var", lambda x, y, d: (d * (x - np.mean(x)) / x.size,), ("jacobian",), "fault"),
        (
            "layer_norm without a term",
            "layer_norm",
            lambda x, y, d: (d / np.sqrt(np.mean((x - np.mean(x)) ** 2) + 1e-3),),
            ("jacobian",),
            "fault",
        ),
        (
            "transposed weights",
            "outer",
            lambda x, z, y, d: ((d.T @ x)[: x.size] if z.size >= x.size else d @ z, x @ d),
            ("shapes", "jacobian"),
            "fault",
        ),
        ("sort by the rank", "sort", lambda x, y, d: (d[np.argsort(x, kind="stable")],), ("jacobian", "edges"), "fault"),
        (
            "off by one",
            "cumsum",
            lambda x, y, d: (np.concatenate([np.cumsum(d[::-1])[::-1][1:], np.zeros(min(1, d.size))]),),
            ("jacobian",),
            "fault",
        ),
        ("reversed", "concatenate", lambda x, z, y, d: (d[: x.size][::-1].copy(), d[x.size :].copy()), ("jacobian",), "fault"),
        (
            "scatter-set feeds the overwritten",
            "scatter-set",
            lambda x, v, y, d: (d.copy(), d[: v.size].copy()),
            ("jacobian",),
            "fault",
        ),
        (
            "one end of a difference",
            "differences",
            lambda x, y, d: (np.concatenate([np.zeros(min(1, x.size)), d]),),
            ("jacobian",),
            "fault",
        ),
        ("upper triangle", "lower triangle", lambda a, y, d: (np.tril(d, 1),), ("jacobian",), "fault"),
        # edges
        ("cumprod by division", "cumprod", cumprod_divided, ("jacobian", "edges"), "fault"),
        ("product by division", "product", lambda x, y, d: (d * y / x,), ("jacobian", "edges"), "fault"),
        (
            "elu overflows in the other branch",
            "elu",
            lambda x, y, d: (d * np.where(x > 0, 1.0, 0.0) + d * (x <= 0) * np.exp(x),),
            ("jacobian", "edges"),
            "fault",
        ),
        (
            "hypot at large arguments",
            "hypot",
            lambda x, z, y, d: (d * x / np.sqrt(x * x + z * z), d * z / np.sqrt(x * x + z * z)),
            ("accuracy", "edges"),
            "accuracy",
        ),
        ("expm1 by its value", "expm1", lambda x, y, d: (d * (y + 1.0),), ("accuracy",), "accuracy"),
        ("sigmoid by 1 - y", "sigmoid", lambda x, y, d: (d * y * (1.0 - y),), ("accuracy",), "accuracy"),
        ("tanh by 1 - y*y", "tanh", lambda x, y, d: (d * (1.0 - y * y),), ("accuracy",), "accuracy"),
        # shapes
        ("unreduced broadcast", "add", add_unreduced, ("structure",), "fault"),
        ("first slice of a broadcast", "add", add_first_slice, ("jacobian", "shapes"), "fault"),
        ("mean of a broadcast", "add", add_mean, ("jacobian", "shapes"), "fault"),
        ("unbroadcast to the wrong shape", "multiply", wrong_shape, ("structure", "jacobian"), "fault"),
        ("repeated indices overwritten", "take", take_overwritten, ("jacobian", "shapes"), "fault"),
        ("single precision", "square", lambda x, y, d: ((2.0 * x * d).astype(np.float32),), ("structure",), "fault"),
        ("a list", "square", lambda x, y, d: ([list(np.ravel(2.0 * x * d))],), ("structure",), "fault"),
        ("integers", "square", lambda x, y, d: (np.zeros(np.shape(x), dtype=np.int64),), ("structure", "jacobian"), "fault"),
        ("raises on empty", "square", lambda x, y, d: (2.0 * x * d * (np.max(x) * 0.0 + 1.0),), ("structure",), "fault"),
        (
            "elements in memory order",
            "square",
            lambda x, y, d: (2.0 * x * np.reshape(np.ravel(d, order="K"), np.shape(x)),),
            ("shapes",),
            "fault",
        ),
        ("two arguments that are one", "multiply", alias, ("aliasing",), "fault"),
        (
            "wrong for square matrices",
            "transpose",
            lambda a, y, d: ((d if a.shape[0] == a.shape[1] else d.T) + 0.0,),
            ("shapes", "jacobian"),
            "fault",
        ),
    )
)
