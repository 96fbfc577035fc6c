"""
Places: how a sensitivity finds the way back through rows that move elements about.

    places(x)             x with its elements numbered 1, 2, …, in order; 0 stands for nowhere
    gathered(v, p, x)     the array whose elements are those of v, a sensitivity of x, at the places p
    returned(d, p, x)     its adjoint: the sensitivity of x to which every element of d has gone back, those of one place added up

A row that only moves elements moves numbers just as well. So the backpropagator of a row `move` is
`returned(dout, move(places(x)), x)`, whatever its attributes are, and `gathered` and `returned` are each other's adjoints at every
order. x may be a tuple or list of arrays, tuples and scalars: its elements are numbered through, which is how `concatenate`,
`stack` and `np.array` give every part its own in one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from semantics.arrays import FLOATING, Array, normal_axis, positions, size_of, strides_of
from semantics.columns.arrays.elements import Elements, absorbs, as_array, scalar_dtype
from semantics.columns.kinds import wrong
from semantics.columns.sequences import getitem
from semantics.errors import Trap
from semantics.structured import Record
from semantics.tangents import ZERO, Sparse, SparseArray, dense


def leaves(x: Any) -> Iterator[Any]:
    """The arrays and scalars in a value, in order; those that are ZERO too. An explicit stack: lists may be nested deeply."""
    todo = [x]
    while todo:
        top = todo.pop()
        if isinstance(top, Sparse):
            top = dense(top)
        if isinstance(top, (tuple, Record)):
            todo.extend(reversed(top.items if isinstance(top, Record) else top))
        else:
            yield top


def rebuilt(x: Any, parts: Iterator[Any], records: bool) -> Any:
    """The structure of x with other leaves, taken in order; a record stays one only if `records`."""
    built: list[Any] = []
    todo: list[tuple[Any, int]] = [(x, -1)]
    while todo:
        top, count = todo.pop()
        if count >= 0:
            items = tuple(built[len(built) - count :])
            del built[len(built) - count :]
            built.append(Record(top.label, items) if isinstance(top, Record) and records else items)
            continue
        if isinstance(top, Sparse):
            top = dense(top)
        if isinstance(top, (tuple, Record)):
            inside = top.items if isinstance(top, Record) else top
            todo.append((top, len(inside)))
            todo.extend((part, -1) for part in reversed(inside))
        else:
            built.append(next(parts))
    return built[0]


def extent(leaf: Any) -> int:
    """The number of elements of a leaf: one for a scalar; none for ZERO."""
    return 0 if leaf is ZERO else size_of(leaf.shape) if isinstance(leaf, (Array, SparseArray)) else 1


def places(e: Elements, x: Any) -> Any:
    """x with its elements numbered from 1, in order."""
    if x is ZERO:
        return ZERO

    def numbered() -> Iterator[Any]:
        following = 1
        for leaf in leaves(x):
            count = extent(leaf)
            numbers = tuple(range(following, following + count))
            if isinstance(leaf, (Array, SparseArray)):
                yield Array("i64", leaf.shape, numbers)
            elif leaf is ZERO or scalar_dtype(leaf) is not None:
                yield numbers[0] if numbers else ZERO
            else:
                raise wrong("places", "arrays and numbers", leaf)
            following += count

    return rebuilt(x, numbered(), True)


def gathered(e: Elements, v: Any, p: Any, x: Any) -> Any:
    """The elements of v, a sensitivity of x, at the places p; ZERO where the place is 0, and where v has none."""
    if v is ZERO or p is ZERO or x is ZERO:
        return ZERO
    items = [ZERO, *_elements(v, x)]
    where = _inside("gathered", p, len(items))
    floating = [d for leaf in leaves(x) if (d := _dtype(leaf)) in FLOATING]
    dtype = "f32" if floating and set(floating) == {"f32"} else "f64"
    return Array(dtype, where.shape, tuple(items[k] for k in where.items))


def _inside(name: str, p: Any, count: int) -> Array:
    """The array of places, if all are below `count`."""
    where = as_array(name, p)
    if where.items and where.dtype != "i64":
        raise wrong(name, "an array of places", p)
    if any(not 0 <= k < count for k in where.items):
        raise Trap(f"{name}: a place beyond the {count - 1} there are", rule=name, remedy="places(x), moved about")
    return where


def _elements(v: Any, x: Any) -> Iterator[Any]:
    """The elements of v in the order of those of x, whose structure it has but for parts that are ZERO."""
    todo = [(v, x)]
    while todo:
        part, like = todo.pop()
        if isinstance(like, Sparse):
            like = dense(like)
        if isinstance(like, (tuple, Record)):
            inside = like.items if isinstance(like, Record) else like
            given = part.items if isinstance(part, Record) else part
            todo.extend((getitem(given, i), inside[i]) for i in reversed(range(len(inside))))
        elif part is ZERO or _dtype(like) not in FLOATING:
            yield from (ZERO,) * extent(like)
        else:
            yield from as_array("gathered", part).items


def _dtype(leaf: Any) -> str | None:
    return leaf.dtype if isinstance(leaf, (Array, SparseArray)) else scalar_dtype(leaf)


def returned(e: Elements, d: Any, p: Any, x: Any) -> Any:
    """The sensitivity of x to which element k of d went back to place p[k]; those of one place are added from the left."""
    if d is ZERO or p is ZERO or x is ZERO:
        return ZERO
    found = list(leaves(x))
    dtypes = [_dtype(leaf) for leaf in found]
    owner = [dtype for leaf, dtype in zip(found, dtypes, strict=True) for _ in range(extent(leaf))]
    items: list[Any] = [ZERO] * (len(owner) + 1)
    given, where = as_array("returned", d).items, _inside("returned", p, len(items)).items
    if len(given) != len(where):
        raise Trap(f"{len(given)} sensitivities for {len(where)} places", rule="returned", remedy="one for each place")
    for value, place in zip(given, where, strict=True):
        if value is not ZERO and place and owner[place - 1] in FLOATING:
            dtype, old = str(owner[place - 1]), items[place]
            items[place] = e.coerce(value, dtype, "returned") if old is ZERO else e.rounded(e.add(old, value), dtype)

    def parts() -> Iterator[Any]:
        start = 1
        for leaf, dtype in zip(found, dtypes, strict=True):
            own = tuple(items[start : start + extent(leaf)])
            start += len(own)
            if dtype not in FLOATING or leaf is ZERO:
                yield ZERO
            else:
                yield Array(dtype, leaf.shape, own) if isinstance(leaf, (Array, SparseArray)) else own[0]

    return rebuilt(x, parts(), False)


def keep(e: Elements, d: Any, c: Any) -> Any:
    """d where c is True, ZERO where it is False; of any structure where c is one boolean. Its own adjoint."""
    if d is ZERO or c is ZERO or c is False:
        return ZERO
    if c is True:
        return d
    if not isinstance(c, Array) or c.dtype != "bool":
        raise wrong("keep", "booleans", c)
    array = as_array("keep", d)
    if len(array.items) != len(c.items):
        raise wrong("keep", f"as many elements as {c} has", d)
    return array.with_items(x if chosen else ZERO for x, chosen in zip(array.items, c.items, strict=True))


def take_along(e: Elements, x: Any, indices: Any, axis: Any) -> Array:
    """np.take_along_axis(x, indices, axis): the elements of each line at the indices; of all elements if axis is None."""
    array, index = as_array("take_along", x), as_array("take_along", indices)
    if index.dtype != "i64":
        raise wrong("take_along", "an array of integers", indices)
    if axis is None:
        array = Array(array.dtype, (len(array.items),), array.items)
    along = normal_axis(0 if axis is None else axis, len(array.shape), "take_along")
    n = array.shape[along]
    off = [(a, b) for k, (a, b) in enumerate(zip(array.shape, index.shape, strict=False)) if k != along]
    if len(index.shape) != len(array.shape) or any(a != b for a, b in off):
        raise Trap(
            f"take_along: the shapes {array.shape} and {index.shape} differ off axis {along}",
            rule="take_along",
            remedy="equal sizes",
        )
    strides = strides_of(array.shape)
    own = [0 if k == along else s for k, s in enumerate(strides)]
    for i in index.items:
        if not -n <= i < n:
            raise Trap(f"index {i} is outside an axis of {n}", rule="take_along", remedy=f"an index from {-n} to {n - 1}")
    bases = positions(index.shape, own)
    items = tuple(array.items[base + i % n * strides[along]] for base, i in zip(bases, index.items, strict=True))
    return Array(array.dtype, index.shape, items)


CELLS: dict[str, Callable[..., Any]] = {
    "places": places,
    "gathered": gathered,
    "returned": returned,
    "keep": keep,
    "take_along": absorbs(take_along),
}
