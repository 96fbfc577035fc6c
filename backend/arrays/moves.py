"""
Moves: an element of the result is an element of the operand, or, of the adjoint of repetition, a sum of such.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.arrays.attributes import as_operand, axes_of, dtype_of, flag, is_unit, not_negative, sizes_of
from backend.arrays.elementwise import as_element
from backend.arrays.reductions import reduced
from backend.arrays.values import ARRAYS, ONE, Held, Moved, Numbered, Sizes, aligned, product, uncompiled
from backend.lowering.shape import ZERO_VALUE, Items, Nothing, Reg, Sum, literal
from backend.status import SIZES
from semantics.type_language import INTEGER, REAL


def moved(emit: Any, x: Any, sizes: Sizes, source: Callable[[Sizes], Sizes]) -> Any:
    """The array whose element at indices is that of x at `source` of them, x being in memory."""
    return emit.formula(
        x.dtype, sizes, lambda emit, at: emit.element(x, source(at)), (x,), cheap=True, along=False, holes=x.type.holes
    )


def repeated(emit: Any, x: Any, sizes: Sizes) -> Any:
    """x repeated to sizes to which it broadcasts."""
    if isinstance(x, Reg):
        return emit.formula(dtype_of(x.type), sizes, lambda emit, at: x, cheap=True)
    return x if x.sizes == sizes else moved(emit, x, sizes, lambda at: aligned(at, x.sizes))


def sum_to(emit: Any, d: Any, x: Any) -> Any:
    """The sensitivity of x from that of x broadcast: summed over the axes along which x was repeated."""
    if isinstance(d, Nothing) or isinstance(x, Nothing) or (isinstance(x, Reg) and x.type != REAL):
        return ZERO_VALUE
    if isinstance(x, Reg):
        if not isinstance(d, ARRAYS):
            return d
        if not d.sizes:
            return emit.without(as_operand(emit, d), ())
        return reduced(emit, "add", d, tuple(range(len(d.sizes))), ())
    if not isinstance(x, ARRAYS):
        return d
    if x.type.dtype not in ("f64", "f32"):
        return ZERO_VALUE
    d = d if isinstance(d, ARRAYS) and d.sizes == x.sizes and x.dtype == "f64" else as_operand(emit, d)
    if d.dtype != x.type.dtype:
        d = astype(emit, d, x.type.dtype)
    extra = len(d.sizes) - len(x.sizes)
    if extra < 0:  # what was written into a place that lacks leading axes of size 1
        for n in x.sizes[:-extra]:
            emit.equal(n, ONE)
        return emit.reshaped(sum_to(emit, d, emit.reshaped(x, x.sizes[-extra:])), x.sizes)
    axes = [*range(extra)]
    for k, n in enumerate(x.sizes):
        if n == ONE and d.sizes[k + extra] != ONE:
            axes.append(k + extra)
        elif n != ONE:
            emit.equal(n, d.sizes[k + extra])
    layout = tuple(None if k in axes else k for k in range(extra, len(d.sizes)))
    return reduced(emit, "add", d, tuple(axes), layout) if axes else d


def like(emit: Any, v: Any, x: Any) -> Any:
    """v repeated to the shape of x."""
    if isinstance(v, Nothing) or isinstance(x, Nothing):
        return ZERO_VALUE
    if isinstance(x, Reg):
        return emit.without(v, ()) if isinstance(v, ARRAYS) and not v.sizes else v
    if not isinstance(x, ARRAYS):
        return v
    v = as_operand(emit, v)
    extra = max(0, len(v.sizes) - len(x.sizes))
    for n in v.sizes[:extra]:
        emit.equal(n, ONE)
    v = emit.reshaped(v, v.sizes[extra:]) if extra else v
    emit.common(v.sizes, x.sizes)
    found = repeated(emit, v, x.sizes)
    return astype(emit, found, x.type.dtype) if x.type.dtype in ("f64", "f32") and found.dtype != x.type.dtype else found


def astype(emit: Any, x: Any, dtype: str) -> Any:
    """The array in another dtype of reals."""
    return emit.formula(dtype, x.sizes, lambda emit, at: as_element(emit, emit.at(x, at), dtype), (x,), holes=x.type.holes)


def broadcast_to(emit: Any, x: Any, shape: Any) -> Any:
    """np.broadcast_to"""
    sizes, x = not_negative(emit, sizes_of(shape)), as_operand(emit, x)
    emit.common(x.sizes, sizes)
    return repeated(emit, x, sizes)


def spread(emit: Any, d: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """d repeated along the axes of x that a sum was over."""
    if isinstance(d, Nothing):
        return ZERO_VALUE
    x = as_operand(emit, x)
    if isinstance(d, (Reg, Sum)) or not d.sizes:
        return repeated(emit, as_operand(emit, d), x.sizes)
    d = as_operand(emit, d)
    axes = axes_of(axis, len(x.sizes))
    if flag(keepdims):
        return repeated(emit, d, x.sizes)
    kept = [k for k in range(len(x.sizes)) if k not in axes]
    for k, n in zip(kept, d.sizes, strict=True):
        emit.equal(x.sizes[k], n)
    return moved(emit, d, x.sizes, lambda at: aligned(tuple(at[k] for k in kept), d.sizes))


def transpose(emit: Any, x: Any, axes: Any) -> Any:
    """np.transpose: of a matrix in memory, another way to read it."""
    rank = len(x.sizes)
    if isinstance(axes, Items):
        order = tuple(p.value % rank for p in axes.items if isinstance(p, Reg) and type(p.value) is int)
    elif isinstance(axes, Nothing):
        order = tuple(reversed(range(rank)))
    else:
        raise uncompiled("a transpose whose axes are not known before it runs")
    if len(order) != rank:
        raise uncompiled("a transpose whose axes are not known before it runs")
    if order == tuple(range(rank)):
        return x
    sizes = tuple(x.sizes[k] for k in order)
    if isinstance(x, Numbered):
        where = {x.leaf: lambda at: tuple(at[k] for k in order)}
        return Moved(sizes, where, [x], lambda of: _transposed(emit, of[0], order))
    return _transposed(emit, x, order)


def _transposed(emit: Any, x: Any, order: tuple[int, ...]) -> Any:
    """The array with its axes in another order."""
    rank, sizes = len(order), tuple(x.sizes[k] for k in order)
    if rank == 2 and not x.type.holes and not isinstance(x, Numbered):
        array = emit.held(x)
        name = array.name.removesuffix(".T") if array.name.endswith(".T") else f"{array.name}.T"
        return Held(array.dtype, name, sizes)
    return moved(emit, x, sizes, lambda at: tuple(at[order.index(k)] for k in range(rank)))


def swap_last(emit: Any, x: Any) -> Any:
    """The last two axes exchanged."""
    rank = len(x.sizes)
    order = (*range(rank - 2), rank - 1, rank - 2)
    return transpose(emit, x, Items(tuple(literal(k) for k in order)))


def shape(emit: Any, x: Any) -> Any:
    """The sizes, as integers; the known ones are known."""
    if isinstance(x, Nothing):
        raise uncompiled("the shape of ZERO")
    if not isinstance(x, ARRAYS):
        return Items(())
    return Items(tuple(literal(int(n)) if n.isdigit() else Reg(n, INTEGER) for n in x.sizes))


def ndim(emit: Any, x: Any) -> Any:
    """The number of axes is known."""
    return literal(len(x.sizes) if isinstance(x, ARRAYS) else 0)


def array_size(emit: Any, x: Any) -> Any:
    """The number of elements."""
    if not isinstance(x, ARRAYS):
        return literal(1)
    return emit.integer(product(x.sizes))


def reshape(emit: Any, x: Any, shape: Any) -> Any:
    """np.reshape: the same memory."""
    wanted = sizes_of(shape)
    if any(n.startswith("(-") for n in wanted):
        wanted = _filled(emit, x.sizes, wanted)
    elif sorted(wanted) != sorted(x.sizes):
        into, found = (sorted(emit.same(n) for n in sizes if n != ONE) for sizes in (wanted, x.sizes))
        if into != found:
            wanted = not_negative(emit, wanted)
            emit.equal(product(wanted), product(found))
    return emit.reshaped(x, wanted)


def _filled(emit: Any, sizes: Sizes, wanted: Sizes) -> Sizes:
    """The shape with the one size that is -1 made what it must be."""
    if sum(n.startswith("(-") for n in wanted) > 1:
        raise uncompiled("a shape with two sizes left open")
    others = tuple(n for n in wanted if not n.startswith("(-"))
    not_negative(emit, others)
    rest = product(others)
    found = product(sizes)
    if rest != ONE:
        emit.not_empty(others)
        emit.equal(f"({found}) % ({rest})", "0")
        found = f"({found}) // ({rest})"
    name = emit.variable(INTEGER)
    emit.line(f"{name} = {found}")
    emit.cut |= {name for n in sizes if emit.same(n) in emit.cut}
    return tuple(name if n.startswith("(-") else n for n in wanted)


def expand_dims(emit: Any, x: Any, axis: Any) -> Any:
    """np.expand_dims: axes of size 1 at the named places of the result."""
    x = as_operand(emit, x)
    count = len(axis.items) if isinstance(axis, Items) else 1
    rank = len(x.sizes) + count
    axes = axes_of(axis, rank)
    rest = iter(x.sizes)
    sizes = tuple(ONE if k in axes else next(rest) for k in range(rank))
    return emit.reshaped(x, sizes)


def squeeze(emit: Any, x: Any, axis: Any) -> Any:
    """np.squeeze: without axes of size 1."""
    rank = len(x.sizes)
    if is_unit(axis) and any(not n.isdigit() for n in x.sizes):
        for n in x.sizes:  # the code is for sizes that are not 1, as everywhere
            if not n.isdigit():
                emit.trap(f"{n} == 1", SIZES)
    axes = tuple(k for k, n in enumerate(x.sizes) if n == ONE) if is_unit(axis) else axes_of(axis, rank)
    for k in axes:
        emit.equal(x.sizes[k], ONE)
    sizes = tuple(n for k, n in enumerate(x.sizes) if k not in axes)

    return emit.reshaped(x, sizes)


CELLS: dict[str, Callable[..., Any]] = {
    "sum_to": sum_to,
    "like": like,
    "broadcast_to": broadcast_to,
    "spread": spread,
    "transpose": transpose,
    "swap_last": swap_last,
    "shape": shape,
    "ndim": ndim,
    "array_size": array_size,
    "reshape": reshape,
    "expand_dims": expand_dims,
    "squeeze": squeeze,
}
