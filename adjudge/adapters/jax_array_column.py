"""The column "jax" on whole arrays: movement, indexing, reductions, products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from adjudge.adapters.jax_column import Window, kind, lift, refused, static
from adjudge.adapters.jax_site import dtype_of
from semantics.arrays import FLOATING, promoted
from semantics.structured import Record, Slice
from semantics.tangents import ZERO

Cell = Callable[..., Any]


def getitem(t: Any, i: Any) -> Any:
    """An item of a tuple, or what an index of numbers and slices selects from an array."""
    if isinstance(t, (tuple, Record)):
        items = t.items if isinstance(t, Record) else t
        return items[static(i)]
    x, index = lift(t), i if isinstance(i, tuple) else (i,)
    if all(_is_fixed(part) for part in index):
        return x[tuple(_python_slice(part) for part in index)]
    window = _window(x, index)
    if window is None:
        if _is_rows(i):
            return jnp.take(x, lift(i), axis=0)
        raise refused("getitem", "of this index", "integers and slices of known length")
    starts, sizes, dropped = window
    found = lax.dynamic_slice(x, starts, sizes, allow_negative_indices=False)
    return lax.squeeze(found, dropped) if dropped else found


def put(t: Any, i: Any, v: Any) -> Any:
    """The array with a window replaced, at integers and slices of known length."""
    x = lift(t)
    if _is_rows(i):
        return x.at[lift(i)].set(lift(v, dtype_of(x.aval)))
    window = _window(x, i if isinstance(i, tuple) else (i,))
    if window is None:
        raise refused("put", "at this index", "integers and slices of known length, or an array of integers")
    starts, sizes, dropped = window
    kept = [n for k, n in enumerate(sizes) if k not in dropped]
    value = jnp.broadcast_to(lift(v, dtype_of(x.aval)), kept)
    return lax.dynamic_update_slice(x, value.reshape(sizes), starts, allow_negative_indices=False)


def scatter_add(t: Any, i: Any, v: Any) -> Any:
    """The array with v added at rows, as often as they are named."""
    x = lift(t)
    if not _is_rows(i):
        raise refused("scatter_add", "at this index", "an array of integers")
    return x.at[lift(i)].add(lift(v, dtype_of(x.aval)))


def _is_rows(i: Any) -> bool:
    """Whether an index is an array of integers with axes."""
    return not isinstance(i, (tuple, Slice, Window)) and kind(i) == "i64"


def _is_fixed(part: Any) -> bool:
    parts = (part.start, part.stop, part.step) if isinstance(part, Slice) else (part,)
    return all(p is None or type(p) is int for p in parts)


def _python_slice(part: Any) -> Any:
    return slice(part.start, part.stop, part.step) if isinstance(part, Slice) else part


def _window(x: Any, index: tuple[Any, ...]) -> tuple[list[Any], list[int], tuple[int, ...]] | None:
    """Where a window starts along every axis, its sizes, and the axes that an integer drops; None if the index is no window."""
    starts: list[Any] = []
    sizes: list[int] = []
    dropped: list[int] = []
    for axis, n in enumerate(x.shape):
        part = index[axis] if axis < len(index) else Slice()
        if isinstance(part, Window):
            starts.append(part.start_in(n))
            sizes.append(part.size)
        elif isinstance(part, Slice):
            places = part.indices(n) if _is_fixed(part) else range(0, 0, -1)
            if places.step != 1:
                return None
            starts.append(lift(places.start))
            sizes.append(len(places))
        elif not isinstance(part, bool) and kind(part) == "integer":
            at = lift(part, "i64")
            starts.append(lift(part % n) if type(part) is int else lax.select(lax.lt(at, lift(0)), lax.add(at, lift(n)), at))
            sizes.append(1)
            dropped.append(axis)
        else:
            return None
    return starts, sizes, tuple(dropped)


def numeric(function: Cell) -> Cell:
    """`function` of an array, its other arguments known."""

    def cell(x: Any, *attributes: Any) -> Any:
        return function(lift(x), *map(static, attributes))

    return cell


def reduction(function: Cell, counts: bool = False, floating: bool = False) -> Cell:
    """A reduction (x, axis, keepdims); `counts`: booleans are counted; `floating`: integers become reals."""

    def cell(x: Any, axis: Any, keepdims: Any) -> Any:
        found = lift(x)
        dtype = dtype_of(found.aval)
        if counts and dtype == "bool":
            found = lift(found, "i64")
        if floating and dtype not in FLOATING:
            found = lift(found, "f64")
        return function(found, axis=static(axis), keepdims=static(keepdims))

    return cell


def product(function: Cell) -> Cell:
    """A product of two arrays in the dtype in which they meet."""

    def cell(a: Any, b: Any, *attributes: Any) -> Any:
        dtype = promoted([kind(a), kind(b)], "product")
        return function(lift(a, dtype), lift(b, dtype), *map(static, attributes))

    return cell


def einsum(subscripts: Any, *operands: Any) -> Any:
    """np.einsum"""
    dtype = promoted([kind(x) for x in operands], "einsum")
    return jnp.einsum(subscripts, *(lift(x, dtype) for x in operands))


def joined(function: Cell) -> Cell:
    """concatenate or stack, in the dtype in which the arrays meet."""

    def cell(arrays: Any, axis: Any) -> Any:
        items = arrays.items if isinstance(arrays, Record) else arrays
        dtype = promoted([kind(x) for x in items], "concatenate")
        return function([lift(x, dtype) for x in items], axis=static(axis))

    return cell


def as_array(value: Any, dtype: Any) -> Any:
    """np.array(value, dtype) of nested tuples and lists."""
    items = value.items if isinstance(value, Record) else value
    if isinstance(items, tuple):
        parts = [as_array(v, dtype) for v in items]
        target = dtype or promoted([dtype_of(p.aval) for p in parts], "as_array")
        return jnp.stack([lift(p, target) for p in parts])
    return lift(items, dtype)


def full(shape: Any, value: Any, dtype: Any) -> Any:
    """np.full(shape, value, dtype)"""
    return jnp.broadcast_to(lift(value, static(dtype)), static(shape))


def _arange(numbers: range) -> Any:
    """start, start + step…, made of 0, 1, 2… as XLA makes them."""
    steps = lax.iota(np.int64, len(numbers))
    return steps if numbers.start == 0 and numbers.step == 1 else lift(numbers.start) + steps * lift(numbers.step)


def sum_to(d: Any, x: Any) -> Any:
    """d summed to the shape of x."""
    if d is ZERO:
        return ZERO
    d, shape = lift(d), np.shape(lift(x))
    extra = d.ndim - len(shape)
    axes = (*range(extra), *(extra + k for k, n in enumerate(shape) if n == 1 and d.shape[extra + k] != 1))
    return lax.reshape(jnp.sum(d, axis=axes), shape) if axes else d


ARRAY_CELLS: dict[str, Cell] = {
    "getitem": getitem,
    "put": put,
    "scatter_add": scatter_add,
    "as_array": as_array,
    "full": full,
    "astype": lambda x, dtype: lift(lift(x), static(dtype)),
    "arange": lambda start, stop, step: _arange(range(*static((start, stop, step)))),
    "eye": lambda n, m, k: jnp.eye(static(n), static(m), static(k)),
    "shape": lambda x: tuple(np.shape(lift(x))),
    "ndim": lambda x: len(np.shape(lift(x))),
    "dtype": lambda x: dtype_of(lift(x).aval),
    "array_size": lambda x: int(np.prod(np.shape(lift(x)))),
    "take": lambda x, i, axis: jnp.take(lift(x), lift(i), axis=static(axis)),
    "reshape": numeric(jnp.reshape),
    "transpose": numeric(jnp.transpose),
    "broadcast_to": numeric(jnp.broadcast_to),
    "concatenate": joined(jnp.concatenate),
    "stack": joined(jnp.stack),
    "expand_dims": numeric(jnp.expand_dims),
    "squeeze": numeric(jnp.squeeze),
    "flip": numeric(jnp.flip),
    "roll": numeric(jnp.roll),
    "diag": numeric(jnp.diag),
    "tril": numeric(jnp.tril),
    "triu": numeric(jnp.triu),
    "sum_to": sum_to,
    "reduce_sum": reduction(jnp.sum, counts=True),
    "reduce_prod": reduction(jnp.prod, counts=True),
    "mean": reduction(jnp.mean, floating=True),
    "reduce_max": reduction(jnp.max),
    "reduce_min": reduction(jnp.min),
    "reduce_all": reduction(jnp.all),
    "reduce_any": reduction(jnp.any),
    "norm": reduction(lambda x, axis, keepdims: jnp.sqrt(jnp.sum(x * x, axis=axis, keepdims=keepdims)), floating=True),
    "argmax": numeric(jnp.argmax),
    "argmin": numeric(jnp.argmin),
    "cumsum": numeric(jnp.cumsum),
    "cumprod": numeric(jnp.cumprod),
    "sort": numeric(jnp.sort),
    "dot": product(jnp.dot),
    "matmul": product(jnp.matmul),
    "outer": product(jnp.outer),
    "tensordot": product(jnp.tensordot),
    "einsum": einsum,
    "trace": numeric(jnp.trace),
}
