"""
Equations on whole arrays: movement, slices, reductions, contraction.

Each rule is named by the primitive of `jax.lax` that it reads. A result without axes is a scalar of the IR.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

from adjudge.adapters.jax_elementwise import Rule, convert
from adjudge.adapters.jax_site import Known, Operand, Site
from semantics.ir import NodeId


def reshape(site: Site) -> NodeId:
    """the same elements in the same order"""
    if site.equation.params.get("dimensions") is not None:
        raise site.refuse("with an order of dimensions", "transpose first")
    (x,) = site.operands
    return site("reshape", x, Known(site.result_shape)) if site.result_shape else site.scalar(x, site.shape(), site.dtype())


def squeeze(site: Site) -> NodeId:
    """without axes of size 1"""
    (x,) = site.operands
    if not site.result_shape:
        return site.scalar(x, site.shape(), site.dtype())
    return site("squeeze", x, Known(_whole(site.parameter("dimensions"))))


def broadcast_in_dim(site: Site) -> NodeId:
    """axis k of x becomes axis dims[k], and all is repeated to the shape"""
    x, shape, dims = site.operands[0], site.result_shape, _whole(site.parameter("broadcast_dimensions"))
    if site.shape() == shape:
        return x
    middle = [1] * len(shape)
    for size, axis in zip(site.shape(), dims, strict=True):
        middle[axis] = size
    if site.shape() and tuple(middle) != site.shape():
        x = site("reshape", x, Known(tuple(middle)))
    return x if tuple(middle) == shape and site.shape() else site("broadcast_to", x, Known(shape))


def transpose(site: Site) -> NodeId:
    """axis k of the result is axis permutation[k] of x"""
    return site("transpose", *site.operands, Known(_whole(site.parameter("permutation")))) if site.shape() else site.operands[0]


def rev(site: Site) -> NodeId:
    """backwards along some axes"""
    return site("flip", *site.operands, Known(_whole(site.parameter("dimensions"))))


def concatenate(site: Site) -> NodeId:
    """one after the other along an axis"""
    return site("concatenate", site.tuple(site.operands), Known(int(site.parameter("dimension"))))


def stack(site: Site) -> NodeId:
    """a new axis that numbers the operands"""
    return site("stack", site.tuple(site.operands), Known(int(site.parameter("axis"))))


def iota(site: Site) -> NodeId:
    """0, 1, 2… along one axis"""
    shape, axis = site.result_shape, int(site.parameter("dimension"))
    numbers = site("arange", Known(0), Known(shape[axis]), Known(1))
    if len(shape) > 1:
        row = tuple(n if k == axis else 1 for k, n in enumerate(shape))
        numbers = site("broadcast_to", site("reshape", numbers, Known(row)), Known(shape))
    return convert(site, numbers, "i64", site.result_dtype, True)


def empty(site: Site) -> NodeId:
    """numbers that nobody has written; zeros, since no result may hang on them"""
    zero = Known({"f64": 0.0, "f32": 0.0, "i64": 0, "bool": False}[site.result_dtype])
    if not site.result_shape and site.result_dtype != "f32":
        return site.node(zero)
    return site("full", Known(site.result_shape), zero, Known(site.result_dtype))


def slices(site: Site, starts: Sequence[Operand], stops: Sequence[Operand], steps: Sequence[int | None]) -> NodeId:
    """The index that selects start : stop : step along every axis."""
    return site.tuple([site("make_slice", a, b, Known(s)) for a, b, s in zip(starts, stops, steps, strict=True)])


def _known(numbers: Sequence[Any]) -> list[Operand]:
    return [Known(int(n)) for n in numbers]


def slice_(site: Site) -> NodeId:
    """x[start:limit:stride, …]"""
    starts, limits, strides = (site.parameter(n) for n in ("start_indices", "limit_indices", "strides"))
    steps = [int(s) for s in strides] if strides is not None else [None] * len(starts)
    return site("getitem", *site.operands, slices(site, _known(starts), _known(limits), steps))


def _window(site: Site, starts: Sequence[NodeId], sizes: Sequence[int]) -> NodeId:
    """The index of a window of `sizes` at `starts`, moved inside the array as XLA does."""
    inside = [
        site("minimum", site("maximum", start, Known(0)), Known(n - size))
        for start, n, size in zip(starts, site.shape(), sizes, strict=True)
    ]
    ends = [site("add", start, Known(size)) for start, size in zip(inside, sizes, strict=True)]
    return slices(site, inside, ends, [None] * len(sizes))


def dynamic_slice(site: Site) -> NodeId:
    """the window of these sizes at start…, moved inside"""
    x, *starts = site.operands
    return site("getitem", x, _window(site, starts, _whole(site.parameter("slice_sizes")))) if starts else x


def dynamic_update_slice(site: Site) -> NodeId:
    """x with a window at start…, moved inside, replaced"""
    x, window, *starts = site.operands
    return site("put", x, _window(site, starts, site.shape(1)), window) if starts else window


def pad(site: Site) -> NodeId:
    """x in a larger array of one value, with gaps between its elements; a negative margin cuts"""
    x, value = site.operands
    margins = [tuple(map(int, m)) for m in site.parameter("padding_config")]
    starts = [max(0, -low) for low, _, _ in margins]
    stops = [n - max(0, -high) for n, (_, high, _) in zip(site.shape(), margins, strict=True)]
    if any(gap and (low < 0 or high < 0) for low, high, gap in margins):
        raise site.refuse("with gaps and a negative margin", "slice first")
    if starts != [0] * len(starts) or stops != list(site.shape()):
        x = site("getitem", x, slices(site, _known(starts), _known(stops), [None] * len(stops)))
    frame = site("full", Known(site.result_shape), value, Known(site.dtype()))
    firsts = [max(0, low) for low, _, _ in margins]
    steps = [gap + 1 for _, _, gap in margins]
    sizes = [b - a for a, b in zip(starts, stops, strict=True)]
    ends = [first + max(0, n - 1) * step + min(n, 1) for first, n, step in zip(firsts, sizes, steps, strict=True)]
    return site("put", frame, slices(site, _known(firsts), _known(ends), steps), x)


def gather(site: Site) -> NodeId:
    """x[…, indices, …] along one axis; an index outside the array traps"""
    x, indices = site.operands
    dims, sizes, shape = site.parameter("dimension_numbers"), _whole(site.parameter("slice_sizes")), site.shape()
    axes = _whole(dims.collapsed_slice_dims)
    batch = len(site.shape(1)) - 1
    if len(axes) == 1:
        (axis,) = axes
        plain = (*range(axis), *range(axis + batch, len(shape) - 1 + batch))
        full = all(n == m for k, (n, m) in enumerate(zip(sizes, shape, strict=True)) if k != axis)
        if _whole(dims.start_index_map) == axes and full and _whole(dims.offset_dims) == plain and not dims.operand_batching_dims:
            index = site("reshape", indices, Known(site.shape(1)[:-1]))
            return site("take", x, index, Known(axis))
    raise site.refuse("of more than one axis at once", "index one axis at a time, as jnp.take does, or slice")


def _scattering(name: str) -> Rule:
    def rule(site: Site) -> NodeId:
        x, indices, updates = site.operands
        dims = site.parameter("dimension_numbers")
        first = (_whole(dims.inserted_window_dims), _whole(dims.scatter_dims_to_operand_dims)) == ((0,), (0,))
        batch = len(site.shape(1)) - 1
        windows = tuple(range(batch, batch + len(site.shape()) - 1))
        if not first or dims.operand_batching_dims or _whole(dims.update_window_dims) != windows:
            raise site.refuse("along another axis than the first", "update rows: x.at[i].set(v)")
        index = site("reshape", indices, Known(site.shape(1)[:-1]))
        return site(name, x, index if batch else site("getitem", index, Known(())), updates)

    rule.__doc__ = f"{name} at rows of x; an index outside the array traps"
    return rule


def _reduction(name: str) -> Rule:
    def rule(site: Site) -> NodeId:
        axes = _whole(site.parameter("axes"))
        return site(name, *site.operands, Known(axes), Known(False)) if axes else site.operands[0]

    rule.__doc__ = f"{name} over some axes"
    return rule


def _place(name: str) -> Rule:
    def rule(site: Site) -> NodeId:
        (axis,) = _whole(site.parameter("axes"))
        return site(name, *site.operands, Known(axis))

    rule.__doc__ = f"{name} along an axis"
    return rule


def _running(name: str) -> Rule:
    def rule(site: Site) -> NodeId:
        (x,), axis = site.operands, Known(int(site.parameter("axis")))
        if not site.parameter("reverse"):
            return site(name, x, axis)
        return site("flip", site(name, site("flip", x, axis), axis), axis)

    rule.__doc__ = f"{name} along an axis, from either end"
    return rule


def sort(site: Site) -> NodeId:
    """the elements in order along an axis"""
    if len(site.operands) != 1:
        raise site.refuse("of several operands at once", "sort one array, or use jnp.argsort's result with jnp.take")
    return site("sort", *site.operands, Known(int(site.parameter("dimension"))))


def dot_general(site: Site) -> NodeId:
    """sums of products over paired axes, for every pair of batch axes; the axes left follow, those of x first"""
    x, y = site.operands
    (left, right), (left_batch, right_batch) = site.parameter("dimension_numbers")
    letters = iter(string.ascii_letters)
    own = [next(letters) for _ in site.shape(0)]
    other = [next(letters) for _ in site.shape(1)]
    for i, j in zip((*left_batch, *left), (*right_batch, *right), strict=True):
        other[j] = own[i]
    result = [own[i] for i in left_batch]
    result += [c for i, c in enumerate(own) if i not in (*left, *left_batch)]
    result += [c for j, c in enumerate(other) if j not in (*right, *right_batch)]
    product = site("einsum", Known(f"{''.join(own)},{''.join(other)}->{''.join(result)}"), x, y)
    return convert(site, product, site.dtype(), site.result_dtype, bool(site.result_shape))


def _whole(numbers: Sequence[Any]) -> tuple[int, ...]:
    """NumPy's integers as Python's."""
    return tuple(int(n) for n in numbers)


RULES: Mapping[str, Rule] = {
    "reshape": reshape,
    "squeeze": squeeze,
    "broadcast_in_dim": broadcast_in_dim,
    "transpose": transpose,
    "rev": rev,
    "concatenate": concatenate,
    "stack": stack,
    "iota": iota,
    "empty2": empty,
    "slice": slice_,
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
    "pad": pad,
    "gather": gather,
    "scatter": _scattering("put"),
    "scatter-add": _scattering("scatter_add"),
    **{
        name: _reduction(row)
        for name, row in {
            "reduce_sum": "reduce_sum",
            "reduce_prod": "reduce_prod",
            "reduce_max": "reduce_max",
            "reduce_min": "reduce_min",
            "reduce_and": "reduce_all",
            "reduce_or": "reduce_any",
        }.items()
    },
    "argmax": _place("argmax"),
    "argmin": _place("argmin"),
    "cumsum": _running("cumsum"),
    "cumprod": _running("cumprod"),
    "sort": sort,
    "dot_general": dot_general,
}
