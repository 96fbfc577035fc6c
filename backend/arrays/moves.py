"""
Moves: an element of the result is an element of the operand, or, of the adjoint of repetition, a sum of such.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.arrays.reductions import axes_of, flag, reduced
from backend.arrays.values import ARRAYS, ONE, Held, Places, Sizes, aligned, uncompiled
from backend.shape import ZERO_VALUE, Items, Nothing, Reg, literal
from backend.status import SIZES
from semantics.type_language import INTEGER


def moved(emit: Any, x: Any, sizes: Sizes, source: Callable[[Sizes], Sizes]) -> Any:
    """The array whose element at indices is that of x at `source` of them, x being in memory."""
    return emit.formula(x.dtype, sizes, lambda emit, at: emit.element(x, source(at)), (x,), cheap=True, along=False)


def repeated(emit: Any, x: Any, sizes: Sizes) -> Any:
    """x repeated to sizes to which it broadcasts."""
    if isinstance(x, Reg):
        return emit.formula("f64", sizes, lambda emit, at: x, cheap=True)
    return x if x.sizes == sizes else moved(emit, x, sizes, lambda at: aligned(at, x.sizes))


def sum_to(emit: Any, d: Any, x: Any) -> Any:
    """The sensitivity of x from that of x broadcast: summed over the axes along which x was repeated."""
    if isinstance(d, Nothing) or isinstance(x, Nothing):
        return ZERO_VALUE
    if isinstance(x, Reg):
        if not isinstance(d, ARRAYS) or not d.sizes:
            return d
        return reduced(emit, "add", d, tuple(range(len(d.sizes))), ())
    if not isinstance(x, ARRAYS):
        return d
    if x.type.dtype != "f64":
        return ZERO_VALUE
    if not isinstance(d, ARRAYS):
        raise uncompiled("a number as the sensitivity of an array")
    extra = len(d.sizes) - len(x.sizes)
    if extra < 0:
        raise uncompiled("a sensitivity with fewer axes than its array")
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
        if isinstance(v, ARRAYS):
            raise uncompiled("the number that an array without axes is")
        return v
    if isinstance(v, ARRAYS):
        emit.common(v.sizes, x.sizes)
    return repeated(emit, v, x.sizes)


def broadcast_to(emit: Any, x: Any, shape: Any) -> Any:
    """np.broadcast_to"""
    sizes = sizes_of(shape)
    for n in sizes:
        if not n.isdigit():
            emit.trap(f"{n} < 0", SIZES)
    if isinstance(x, ARRAYS):
        emit.common(x.sizes, sizes)
    return repeated(emit, x, sizes)


def spread(emit: Any, d: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """d repeated along the axes of x that a sum was over."""
    if isinstance(d, Nothing):
        return ZERO_VALUE
    if isinstance(d, Reg):
        return repeated(emit, d, x.sizes)
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
    if rank == 2:
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
    return Reg(" * ".join(x.sizes), INTEGER) if isinstance(x, ARRAYS) else literal(1)


def sizes_of(shape: Any) -> Sizes:
    """A shape that is given as an integer or a tuple of them."""
    parts = shape.items if isinstance(shape, Items) else (shape,)
    if not all(isinstance(p, Reg) and p.type == INTEGER for p in parts):
        raise uncompiled("a shape that is not integers")
    return tuple(p.text for p in parts)


def reshape(emit: Any, x: Any, shape: Any) -> Any:
    """np.reshape: the same memory."""
    wanted = sizes_of(shape)
    if any(n.startswith("(-") for n in wanted):
        wanted = _filled(emit, x.sizes, wanted)
    elif sorted(wanted) != sorted(x.sizes):
        into, found = (sorted(emit.same(n) for n in sizes if n != ONE) for sizes in (wanted, x.sizes))
        if into != found:
            emit.equal(" * ".join(into) or ONE, " * ".join(found) or ONE)
    return emit.reshaped(x, wanted)


def _filled(emit: Any, sizes: Sizes, wanted: Sizes) -> Sizes:
    """The shape with the one size that is -1 made what it must be."""
    rest = " * ".join(n for n in wanted if not n.startswith("(-")) or ONE
    if sum(n.startswith("(-") for n in wanted) > 1:
        raise uncompiled("a shape with two sizes left open")
    if rest == ONE:
        found = " * ".join(sizes)
    else:
        emit.not_empty(tuple(n for n in wanted if not n.startswith("(-")))
        emit.equal(f"({' * '.join(sizes)}) % ({rest})", "0")
        found = f"({' * '.join(sizes)}) // ({rest})"
    name = emit.variable(INTEGER)
    emit.line(f"{name} = {found}")
    return tuple(name if n.startswith("(-") else n for n in wanted)


def expand_dims(emit: Any, x: Any, axis: Any) -> Any:
    """np.expand_dims: axes of size 1 at the named places of the result."""
    if isinstance(x, Reg):
        if axes_of(axis, 1) != (0,):
            raise uncompiled("a number with several axes")
        dtype = "i64" if x.type == INTEGER else "f64"
        return emit.formula(dtype, (ONE,), lambda emit, at: x, cheap=True)
    count = len(axis.items) if isinstance(axis, Items) else 1
    rank = len(x.sizes) + count
    axes = axes_of(axis, rank)
    rest = iter(x.sizes)
    sizes = tuple(ONE if k in axes else next(rest) for k in range(rank))
    return emit.reshaped(x, sizes)


def squeeze(emit: Any, x: Any, axis: Any) -> Any:
    """np.squeeze: without axes of size 1."""
    rank = len(x.sizes)
    axes = tuple(k for k, n in enumerate(x.sizes) if n == ONE) if isinstance(axis, Nothing) else axes_of(axis, rank)
    for k in axes:
        emit.equal(x.sizes[k], ONE)
    sizes = tuple(n for k, n in enumerate(x.sizes) if k not in axes)
    if not sizes:
        raise uncompiled("an array without axes")

    return emit.reshaped(x, sizes)


def places(emit: Any, x: Any) -> Any:
    """The elements numbered; what is done with the numbers is known before any code is made, or refused."""
    if not isinstance(x, ARRAYS):
        raise uncompiled("places of other than an array")
    return Places(x.sizes)
