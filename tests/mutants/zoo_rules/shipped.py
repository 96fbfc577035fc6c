"""Wrong backpropagators of arrays that public systems shipped: the lines of `ZOO.md`, first section, but for its last."""

from __future__ import annotations

from typing import Any

import numpy as np

from mutants import array_rules
from mutants.array_rules import unbroadcast
from mutants.controls import powers
from mutants.zoo_rules.twins import EDGES, ENTRIES, front_rule, pairwise_rule, strided_rule, written_rule


def overwritten_counts(x, i, v, y, d):
    dx, _, _ = written_rule(x, i, v, y, d)
    return dx, None, d[i]


def slices_the_operand(x, w, y, d):
    dx, _ = strided_rule(x, w, y, d)
    even = np.resize(x[::2], d.size + w.size)
    return dx, np.stack([np.dot(d, even[j : j + d.size]) for j in range(w.size)])


def window_of_the_operand(x, y, d):
    out = np.zeros_like(x)
    out[:-2] += d
    out[2:] += np.pad(d[: x.size - 4], (0, d.size - d[: x.size - 4].size))
    return (out,)


def silent_cumprod(x, y, d):
    return (np.where(x == 0, 0.0, np.cumsum((d * y)[::-1])[::-1] / np.where(x == 0, 1.0, x)),)


# reference, name, name of the right twin, rule, checks that may catch it, kind
SHIPPED: tuple[tuple[str, str, str, Any, tuple[str, ...], str], ...] = (
    (
        "jax#12409, jax#14397, jax#17995",
        "n * x**(n - 1)",
        "exponent",
        lambda x, n, y, d: (d * (n * x ** (n - 1.0)), None),
        ("edges", "jacobian", "shapes"),
        "fault",
    ),
    (
        "jax#12409, jax#14397, jax#17995",
        "p * x**(p - 1)",
        "float exponent",
        lambda x, p, y, d: (d * p * x ** (p - 1.0), powers.power_rule(x, p, y, d)[1]),
        EDGES,
        "fault",
    ),
    (
        "Enzyme#2855",
        "0 * log 0",
        "float exponent",
        lambda x, p, y, d: (powers.power_rule(x, p, y, d)[0], d * y * np.log(x)),
        EDGES,
        "fault",
    ),
    (
        "tf#3862, tf#119430, Theano#5197, pytensor#1911, burn#3864",
        "cumprod by division, NaN",
        "running product",
        array_rules.cumprod_divided,
        EDGES,
        "fault",
    ),
    (
        "tf#3862, tf#119430, Theano#5197, pytensor#1911, burn#3864",
        "cumprod by division, silently 0",
        "running product",
        silent_cumprod,
        EDGES,
        "fault",
    ),
    (
        "tf#3862, tf#119430, Theano#5197, pytensor#1911, burn#3864",
        "product by division, silently 0",
        "whole product",
        lambda x, y, d: (np.where(x == 0, 0.0, d * y / np.where(x == 0, 1.0, x)),),
        EDGES,
        "fault",
    ),
    ("jax#21723, Zygote#1307", "norm at 0", "norm", lambda x, y, d: (d * (x / y),), EDGES, "fault"),
    (
        "jax#21723, Zygote#1307",
        "norms of rows at 0",
        "norms, ordinary",
        lambda x, y, d: ((d / y)[..., np.newaxis] * x,),
        EDGES,
        "fault",
    ),
    ("jax#21723, Zygote#1307", "x / |x|", "absolute", lambda x, y, d: (d * (x / np.abs(x)),), EDGES, "fault"),
    ("jax#21723, Zygote#1307", "distance 0", "distance", lambda x, z, y, d: (d * ((x - z) / y), d * ((z - x) / y)), EDGES, "fault"),
    (
        "jax#21723, Zygote#1307",
        "repeated points",
        "pairwise distances",
        lambda p, y, d: pairwise_rule(p, y, d, lambda y: y),
        EDGES,
        "fault",
    ),
    (
        "autograd#138, dfdx#111",
        "ties of the largest count each",
        "maximum of all",
        lambda x, y, d: (d * (x == y),),
        ("kinks",),
        "fault",
    ),
    (
        "autograd#138, dfdx#111",
        "ties of two arguments count twice",
        "larger of two",
        lambda x, z, y, d: (unbroadcast(d * (x >= z), x), unbroadcast(d * (z >= x), z)),
        ("kinks",),
        "fault",
    ),
    (
        "tf#56961, pytorch#146299",
        "scatter-set feeds the overwritten source",
        "scatter-set",
        lambda x, v, y, d: (d.copy(), d[: v.size].copy()),
        ENTRIES,
        "fault",
    ),
    ("tf#56961, pytorch#146299", "repeated indices feed every source", "write", overwritten_counts, ENTRIES, "fault"),
    ("tvm#2465, nd4j#2424", "broadcast add not reduced", "add", array_rules.add_unreduced, ("structure",), "fault"),
    (
        "tvm#2465, nd4j#2424",
        "broadcast product not reduced",
        "multiply",
        lambda x, z, y, d: (d * z, d * x),
        ("structure",),
        "fault",
    ),
    ("Theano#1585", "unbroadcast to another shape", "multiply", array_rules.wrong_shape, ("structure", "jacobian"), "fault"),
    (
        "Zygote#1598",
        "a zero slope times an infinite one",
        "root, then square",
        lambda x, y, d: (2.0 * np.sqrt(x) * d * (0.5 / np.sqrt(x)),),
        EDGES,
        "fault",
    ),
    ("ChainRules#87", "inverse, wrong sign", "inverse", lambda a, y, d: (y.T @ d @ y.T,), ENTRIES, "fault"),
    ("ChainRules#87", "inverse, not transposed", "inverse", lambda a, y, d: (-y @ d @ y,), ENTRIES, "fault"),
    (
        "ChainRules#87",
        "asec, right for positive x",
        "asec",
        lambda x, y, d: (d / (x * np.sqrt((x - 1.0) * (x + 1.0))),),
        EDGES,
        "fault",
    ),
    (
        "ChainRules#87",
        "acsc, wrong sign",
        "acsc",
        lambda x, y, d: (d / (np.abs(x) * np.sqrt((x - 1.0) * (x + 1.0))),),
        ENTRIES,
        "fault",
    ),
    ("ChainRules#87", "acsc, wrong constant", "acsc", lambda x, y, d: (-d / (np.abs(x) * np.sqrt(x * x + 1.0)),), ENTRIES, "fault"),
    ("jax#6223, jax dcded6a", "strides slice the operand", "strided convolution", slices_the_operand, ENTRIES, "fault"),
    ("jax#6223, jax dcded6a", "a dilated window slices the operand", "dilated window", window_of_the_operand, ENTRIES, "fault"),
    (
        "jax#1538, jax b0805a8",
        "elu, 0 * inf",
        "elu",
        lambda x, y, d: (d * np.where(x > 0, 1.0, 0.0) + d * (x <= 0) * np.exp(x),),
        EDGES,
        "fault",
    ),
    (
        "jax#1538, jax b0805a8",
        "celu, 0 * inf from 88 on",
        "celu at float32",
        lambda x, y, d: (d * (x > 0) + d * (x <= 0) * np.exp(x),),
        EDGES,
        "fault",
    ),
    (
        "jax#25791",
        "a masked element overflows",
        "logsumexp where",
        lambda x, keep, y, d: (d * keep * np.exp(x - y), None),
        EDGES,
        "fault",
    ),
    (
        "pytorch#59615",
        "arguments of a blend exchanged",
        "blend",
        lambda a, b, w, y, d: (d * w, d * (1.0 - w), d * (b - a)),
        ENTRIES,
        "fault",
    ),
    (
        "pytensor#266, pytensor cdae903",
        "a broadcast source is not reduced",
        "write the front",
        lambda x, v, y, d: (front_rule(x, v, y, d)[0], d[:2].copy()),
        ("structure",),
        "fault",
    ),
    (
        "pytensor#266, pytensor cdae903",
        "a zero gradient of integers",
        "floor of a half",
        lambda x, y, d: (np.zeros(x.shape, dtype=np.int64),),
        ("structure",),
        "fault",
    ),
)
