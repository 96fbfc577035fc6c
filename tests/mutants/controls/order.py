"""Right rules that are hard to judge, of order: sorting, quantiles, pools, clips, interpolation, with ties."""
# ruff: noqa: PLW0108

from __future__ import annotations

import math

import numpy as np

from mutants.array_rules import Control, array, unbroadcast
from mutants.controls.samples import MATRIX, POSITIVE, VECTOR


def sort_rows_rule(x, y, d):
    out = np.empty_like(x)
    np.put_along_axis(out, np.argsort(x, axis=-1, kind="stable"), d, axis=-1)
    return (out,)


def ordered_by(v, keys):
    return v[np.argsort(keys, kind="stable")]


def ordered_by_rule(v, keys, y, d):
    out = np.empty_like(v)
    out[np.argsort(keys, kind="stable")] = d
    return out, None


def median_rule(x, y, d):
    out = np.zeros_like(x)
    order = np.argsort(x, kind="stable")
    out[order[(x.size - 1) // 2]] += d / 2
    out[order[x.size // 2]] += d / 2
    return (out,)


def quantile(x):
    return np.quantile(x, 0.3)


def quantile_rule(x, y, d):
    out = np.zeros_like(x)
    order = np.argsort(x, kind="stable")
    at = 0.3 * (x.size - 1)
    low = math.floor(at)
    out[order[low]] += d * (1.0 - (at - low))
    out[order[min(low + 1, x.size - 1)]] += d * (at - low)
    return (out,)


def pooled(x):
    return np.max(x.reshape(-1, 2), axis=1)


def pooled_rule(x, y, d):
    out = np.zeros((x.size // 2, 2), dtype=x.dtype)
    out[np.arange(x.size // 2), np.argmax(x.reshape(-1, 2), axis=1)] = d
    return (out.reshape(x.shape),)


def clip_rule(x, lo, hi, y, d):
    low, high = x < lo, x > hi
    return d * ~(low | high), unbroadcast(d * low, lo), unbroadcast(d * high, hi)


def larger_rule(x, z, y, d):
    half = (x > z) + 0.5 * (x == z)
    return unbroadcast(d * half, x), unbroadcast(d * (1.0 - half), z)


def interpolate(x, values):
    return np.interp(x, np.arange(values.size), values)


def interpolate_rule(x, values, y, d):
    last = values.size - 1
    at = np.clip(np.floor(x), 0, max(last - 1, 0)).astype(int)
    right = np.minimum(at + 1, last)
    w = np.clip(x - at, 0.0, 1.0)
    out = np.zeros_like(values)
    np.add.at(out, at, d * (1.0 - w))
    np.add.at(out, right, d * w)
    return d * (values[right] - values[at]) * ((x >= 0) & (x <= last)), out


ORDER = (
    Control("sort rows", lambda x: np.sort(x, axis=-1), sort_rows_rule, [(MATRIX,), (VECTOR,)]),
    Control("ordered by keys", ordered_by, ordered_by_rule, [(VECTOR, np.array([2, 0, 1])), (VECTOR, np.array([1, 1, 0]))], (1,)),
    Control("median", lambda x: np.median(x), median_rule, [(VECTOR,), (array(0.5, 2.0, -1.0, 4.0),)], (), lambda x: x.size > 0),
    Control("quantile", quantile, quantile_rule, [(VECTOR,), (array(0.5, 2.0, -1.0, 4.0),)], (), lambda x: x.size > 0),
    Control("max pool", pooled, pooled_rule, [(array(0.5, -1.0, 3.0, 2.0),), (array(1.0, 1.0, 0.0, 0.0),)]),
    Control(
        "clip to arrays",
        lambda x, lo, hi: np.minimum(np.maximum(x, lo), hi),
        clip_rule,
        [(VECTOR, array(-1.0), array(1.0)), (VECTOR, array(0.0, -2.0, 1.0), array(1.0, -1.5, 4.0))],
        (),
        lambda x, lo, hi: bool((lo < hi).all()) and np.shape(lo + hi + x) == np.shape(x),
    ),
    Control("larger of two", lambda x, z: np.maximum(x, z), larger_rule, [(VECTOR, POSITIVE), (MATRIX, VECTOR)]),
    Control(
        "interpolation",
        interpolate,
        interpolate_rule,
        [(array(0.5, 1.75), VECTOR), (array(-1.0, 5.0, 1.25), VECTOR)],
        (),
        lambda x, values: values.size > 0,
    ),
)
