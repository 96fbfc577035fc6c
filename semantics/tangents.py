"""
Sensitivities (cotangents) and the commutative monoid they form.

The sensitivity of a real is a real; of a tuple, a tuple of sensitivities; of a closure, the ordered tuple of the
sensitivities of its free variables (2017, section 3; 2018, section 3.2); of an integer, a boolean or a primitive, nothing.
Two representations keep the cost of the adjoint within a constant factor of the primal:

    ZERO                    the sensitivity of anything that nothing depends on; neutral for addition, absorbing products
    Sparse(n, m)            a tuple of n sensitivities, ZERO but at the indices in m; what `t[i]` sends back to a tuple `t`
    SparseArray(d, s, m)    likewise an array of dtype d and shape s, ZERO but at the places in m
    Cells(m)                the sensitivity of a memory, ZERO but at the addresses in m

All vanish at the boundary, where `instantiate` gives the dense value. ZERO is not the number 0.0: 0.0 * inf is NaN,
ZERO * inf is ZERO, because there is no path along which a derivative could flow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from immutables import Map

from semantics.arrays import Array, single, size_of
from semantics.errors import IllTyped
from semantics.indexing import element_place, is_element, selected
from semantics.memory import Cells
from semantics.structured import Record


class Zero:
    """The symbolic zero: `x + ZERO` is x, `x * ZERO` is ZERO. There is one, `ZERO`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ZERO"

    def __reduce__(self) -> str:
        return "ZERO"

    def __neg__(self) -> Zero:
        return self

    def __add__(self, other: Any) -> Any:
        return other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return -other

    def __rsub__(self, other: Any) -> Any:
        return other

    def __mul__(self, other: Any) -> Zero:
        return self

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Zero:
        return self


ZERO = Zero()


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """A tuple of `size` sensitivities, all ZERO but those in `entries` (index -> sensitivity)."""

    size: int
    entries: Map[int, Any]

    def __repr__(self) -> str:
        inside = ", ".join(f"{i}: {self.entries[i]!r}" for i in sorted(self.entries))
        return f"Sparse({self.size}, {{{inside}}})"

    def __getitem__(self, index: int) -> Any:
        return self.entries.get(index % self.size, ZERO)

    def part(self, places: range) -> Sparse:
        """The sensitivities at these places. What ends early costs the places left out, anything else at most those taken."""
        if places.start == 0 and places.step == 1:
            entries = self.entries
            for place in range(len(places), self.size):
                entries = entries.delete(place) if place in entries else entries
            return Sparse(len(places), entries)
        return Sparse(len(places), Map({k: self.entries[i] for k, i in enumerate(places) if i in self.entries}))


@dataclass(frozen=True, slots=True, eq=False)
class SparseArray:
    """An array of sensitivities, all ZERO but those in `entries` (place in row-major order -> sensitivity)."""

    dtype: str
    shape: tuple[int, ...]
    entries: Map[int, Any]

    def __repr__(self) -> str:
        inside = ", ".join(f"{i}: {self.entries[i]!r}" for i in sorted(self.entries))
        return f"SparseArray({self.dtype}, {self.shape}, {{{inside}}})"

    def __getitem__(self, place: int) -> Any:
        return self.entries.get(place, ZERO)


def inject(t: Any, index: Any, sensitivity: Any) -> Any:
    """
    The sensitivity of `t` of which only `t[index]` has one: the adjoint of indexing, for tuples, records and arrays.

    `t` may itself be a sensitivity (at second order); of ZERO, which has no elements, nothing can depend.
    """
    if sensitivity is ZERO or t is ZERO:
        return ZERO
    if isinstance(t, (Array, SparseArray)):
        return _inject_array(t, index, sensitivity)
    size = t.size if isinstance(t, Sparse) else len(t.items if isinstance(t, Record) else t)
    if type(index) is str:
        index = t.label.index(index)
    if type(index) is not int:
        places = index.indices(size)
        if isinstance(sensitivity, Sparse) and len(places) == sensitivity.size:
            whole = places.start == 0 and places.step == 1
            entries = sensitivity.entries
            return Sparse(size, entries if whole else Map({places[k]: entries[k] for k in entries}))
        parts = dense(sensitivity)
        parts = parts.items if isinstance(parts, Record) else parts
        return Sparse(size, Map(zip(places, as_many(parts, len(places)), strict=True)))
    return Sparse(size, Map({index % size: sensitivity}))


SPARSE = 4  # a part of an array is small if it is at most one element in so many


def _inject_array(t: Array | SparseArray, index: Any, sensitivity: Any) -> Any:
    """A small part, as a row of a matrix, stays sparse; a large one is written out. Repeated places are added."""
    if is_element(t.shape, index):
        value = as_many(sensitivity.items, 1)[0] if isinstance(sensitivity, Array) else sensitivity
        return SparseArray(t.dtype, t.shape, Map({element_place(t.shape, index): value}))
    places = selected(t.shape, index).places
    parts = dense(sensitivity)
    parts = as_many(parts.items, len(places)) if isinstance(parts, Array) else (parts,) * len(places)
    add = _add_singles if t.dtype == "f32" else gadd
    entries: dict[int, Any] = {}
    for place, part in zip(places, parts, strict=True):
        entries[place] = add(entries.get(place, ZERO), part)
    size = size_of(t.shape)
    if SPARSE * len(places) <= size:
        return SparseArray(t.dtype, t.shape, Map(entries))
    return Array(t.dtype, t.shape, tuple(entries.get(place, ZERO) for place in range(size)))


def as_many(parts: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """The sensitivities of a part, if it has so many elements; else IllTyped."""
    if len(parts) != count:
        raise IllTyped(f"inject: {len(parts)} sensitivities for a part of {count}", rule="inject", remedy="one for each element")
    return parts


def dense(sensitivity: Any) -> Any:
    """The same sensitivity as a plain tuple or array, one level deep."""
    if isinstance(sensitivity, Sparse):
        return tuple(sensitivity[i] for i in range(sensitivity.size))
    if isinstance(sensitivity, SparseArray):
        return Array(sensitivity.dtype, sensitivity.shape, tuple(map(sensitivity.__getitem__, range(size_of(sensitivity.shape)))))
    return sensitivity


STRUCTURED = (tuple, Sparse, Array, SparseArray, Record, Cells)


def gadd(a: Any, b: Any) -> Any:
    """
    The sum of two sensitivities of one value (fan-out). ZERO is neutral, tuples add element by element.

    Two sparse sums merge in time of the smaller. An explicit stack: tuples may nest deeper than Python's.
    """
    if a is ZERO:
        return b
    if b is ZERO:
        return a
    if isinstance(a, STRUCTURED) or isinstance(b, STRUCTURED):
        return _add_structures(a, b)
    return a + b


def _add_arrays(a: Array | SparseArray, b: Array | SparseArray) -> Array | SparseArray:
    """Place by place; two sparse ones merge in time of the smaller. An f32 sum is rounded, where its elements are doubles."""
    if a.shape != b.shape:
        raise IllTyped(
            f"gadd wants arrays of one shape, found {a.shape} and {b.shape}",
            rule="gadd",
            remedy="a backpropagator returned a cotangent of the wrong shape",
        )
    add = _add_singles if a.dtype == "f32" else gadd
    if isinstance(a, SparseArray) and isinstance(b, SparseArray):
        big, small = (a, b) if len(a.entries) >= len(b.entries) else (b, a)
        sums = {i: add(a[i], b[i]) for i in small.entries}
        return SparseArray(a.dtype, a.shape, big.entries.update(sums))
    x, y = dense(a), dense(b)
    return Array(a.dtype, a.shape, tuple(map(add, x.items, y.items)))


def _opened(a: Any, b: Any) -> Any:
    """
    A dense `a` with every element as an entry, if `b` is sparse and small; else `a`.

    So of the sums of one dense and many small sensitivities, as a loop over `x[i]` makes them, only the first visits every element.
    """
    if not isinstance(b, (Sparse, SparseArray)):
        return a
    if isinstance(a, Array) and isinstance(b, SparseArray) and SPARSE * len(b.entries) <= len(a.items):
        return SparseArray(a.dtype, a.shape, Map(enumerate(a.items)))
    if isinstance(a, tuple) and isinstance(b, Sparse) and SPARSE * len(b.entries) <= len(a):
        return Sparse(len(a), Map(enumerate(a)))
    return a


def _add_singles(a: Any, b: Any) -> Any:
    total = gadd(a, b)
    return single(total) if type(total) is float else total


def _add_structures(a: Any, b: Any) -> Any:
    """Post-order over the pairs of elements; `built` holds the finished sums. A record counts as the tuple of its items."""
    built: list[Any] = []
    todo: list[tuple[str, Any, Any]] = [("add", a, b)]
    while todo:
        task, left, right = todo.pop()
        if task == "add":
            left, right = _opened(left, right), _opened(right, left)
        if task == "tuple":
            items = tuple(built[len(built) - left :])
            del built[len(built) - left :]
            built.append(items)
        elif task == "sparse":
            base, touched = left, right
            sums = built[len(built) - len(touched) :]
            del built[len(built) - len(touched) :]
            entries = base.entries.update(dict(zip(touched, sums, strict=True)))
            built.append(Cells(entries) if isinstance(base, Cells) else Sparse(base.size, entries))
        elif left is ZERO or right is ZERO:
            built.append(right if left is ZERO else left)
        elif isinstance(left, (Array, SparseArray)) and isinstance(right, (Array, SparseArray)):
            built.append(_add_arrays(left, right))
        elif isinstance(left, Record) or isinstance(right, Record):
            a, b = (x.items if isinstance(x, Record) else x for x in (left, right))
            todo.append(("add", a, b))
        elif isinstance(left, (Sparse, Cells)) and type(left) is type(right):
            _same_size(left, right)
            big, small = (left, right) if len(left.entries) >= len(right.entries) else (right, left)
            touched = tuple(small.entries)
            todo.append(("sparse", big, touched))
            todo.extend(("add", left.entries.get(i, ZERO), right.entries.get(i, ZERO)) for i in reversed(touched))
        elif isinstance(left, (tuple, Sparse)) and isinstance(right, (tuple, Sparse)):
            _same_size(left, right)
            pairs = list(zip(dense(left), dense(right), strict=True))
            todo.append(("tuple", len(pairs), None))
            todo.extend(("add", x, y) for x, y in reversed(pairs))
        elif isinstance(left, STRUCTURED) or isinstance(right, STRUCTURED):
            raise IllTyped(
                f"gadd wants two sensitivities of one value, found {left!r} and {right!r}",
                rule="gadd",
                remedy="a backpropagator returned a cotangent of the wrong structure",
            )
        else:
            built.append(left + right)
    return built[0]


def _same_size(a: Any, b: Any) -> None:
    if isinstance(a, Cells):
        return
    size_a, size_b = (x.size if isinstance(x, Sparse) else len(x) for x in (a, b))
    if size_a != size_b:
        raise IllTyped(
            f"gadd wants tuples of one length, found {size_a} and {size_b}",
            rule="gadd",
            remedy="a backpropagator returned a cotangent of the wrong length",
        )
