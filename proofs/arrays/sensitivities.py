"""
The cells that only backpropagators have, as index forms: broadcasting and its adjoint, elements put back, ZERO, einsum's way back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checkers.smt import index_form as forms
from checkers.smt import index_movement as movement
from checkers.smt import index_return as back
from checkers.smt import index_selection as selection
from checkers.smt.index_cells import cells, contracted
from checkers.smt.index_factors import Form, NotReachedError
from checkers.smt.index_movement import Integers, Places, shape_of
from checkers.smt.index_places import Index, plus
from checkers.smt.index_values import Indexed, SizeOf, as_array, as_form
from proofs.arrays.choices import ZERO_FORM, pointwise
from proofs.arrays.course import Course, Infinite
from semantics.arrays import FLOATING, normal_axes
from semantics.columns.arrays.einstein import Subscripts, explicit
from semantics.structured import Slice
from semantics.tangents import ZERO


def add(course: Course, x: Any, y: Any) -> Any:
    if x is ZERO or y is ZERO:
        return y if x is ZERO else x
    if isinstance(x, tuple):
        return tuple(add(course, a, b) for a, b in zip(x, y, strict=True))
    return cells(course)["add"](x, y)


def sum_to(course: Course, d: Any, x: Any) -> Any:
    """The axes that broadcasting made are added up: those in front, and those that have size 1 in x."""
    if isinstance(x, tuple):
        return d
    if x is None or isinstance(x, (int, str, Integers, Places, SizeOf)):
        return ZERO
    whole, target = as_array(d), as_array(x)
    if target.dtype not in FLOATING:
        return ZERO
    extra = len(whole.shape) - len(target.shape)
    if extra < 0:
        raise NotReachedError("a cotangent with fewer axes than its argument")
    summed = cells(course)["reduce_sum"]
    if extra:
        whole = as_array(summed(whole, tuple(range(extra)), False))
    narrow = tuple(k for k, (n, m) in enumerate(zip(whole.shape, target.shape, strict=True)) if n != m)
    if any(target.shape[k] != 1 for k in narrow):
        raise NotReachedError("a cotangent of another shape")
    found = as_array(summed(whole, narrow, True)) if narrow else whole
    return found if isinstance(x, Indexed) else found.at(())


def like(v: Any, x: Any) -> Any:
    return movement.broadcast_to(v, sizes(x.shape)) if isinstance(x, Indexed) else as_form(v)


def shape(x: Any) -> Any:
    """The sizes of an array, one of indices or of places too."""
    return sizes(shape_of(x))


def sizes(shape: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(n if isinstance(n, int) else SizeOf(n) for n in shape)


def spread(d: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """The adjoint of a sum along axes: repeated where these were."""
    shape = shape_of(x)
    axes = normal_axes(axis, len(shape), "spread")
    whole = as_array(d) if not isinstance(d, (Places, Integers)) else d
    if axes and not keepdims:
        whole = movement.expand_dims(whole, axes)
    return movement.broadcast_to(whole, sizes(shape))


def neg(course: Course, x: Any) -> Any:
    return Infinite(not x.positive) if isinstance(x, Infinite) else cells(course)["neg"](x)


def getitem(course: Course, t: Any, i: Any) -> Any:
    if t is ZERO:
        return ZERO
    if isinstance(t, tuple) and isinstance(i, Slice):
        return t[slice(i.start, i.stop, i.step)]
    return cells(course)["getitem"](t, i)


def inject(course: Course, t: Any, i: Any, d: Any) -> Any:
    """A sensitivity of t with d at i and ZERO elsewhere; of a part of a tuple, with the elements of d there."""
    if isinstance(t, tuple) and isinstance(i, Slice):
        there = range(len(t))[slice(i.start, i.stop, i.step)]
        return tuple((ZERO if d is ZERO else d[there.index(k)]) if k in there else ZERO for k in range(len(t)))
    if isinstance(t, tuple):
        return tuple(d if k == i % len(t) else ZERO for k in range(len(t)))
    found = selection.getitem(back.places(t), i)
    return back.returned(course, d, found, t)


def put(course: Course, t: Any, i: Any, v: Any) -> Any:
    return ZERO if t is ZERO and v is ZERO else selection.put(course, t, i, v)


def keep(d: Any, c: Any) -> Any:
    return d if c is True else ZERO


def final(t: Any, i: Any) -> Any:
    _, _, distinct = selection.selected(shape_of(t), i)
    if not distinct:
        raise NotReachedError("indices that may be repeated: the last value stays")
    return True


def inner(course: Course, a: Any, b: Any) -> Any:
    if isinstance(a, tuple):
        return forms.add(*(as_form(inner(course, x, y)) for x, y in zip(a, b, strict=True)))
    if a is ZERO or b is ZERO:
        return ZERO_FORM
    x, y = as_array(a), as_array(b)
    if x.shape != y.shape:
        raise NotReachedError("an inner product of two shapes")
    letters = "abcdefgh"[: len(x.shape)]
    return as_form(contracted(course, [x, y], [letters, letters], ""))


def instantiate(d: Any, _: Any) -> Any:
    """ZERO stays: it is the real 0, of any shape."""
    return d


def scale(c: Any, t: Any) -> Any:
    if isinstance(t, tuple):
        return tuple(scale(c, part) for part in t)
    return t if t is ZERO else pointwise(forms.multiply, "f64", c, t)


def gadd(course: Course, a: Any, b: Any) -> Any:
    return add(course, a, b)


def einsum_adjoint(subscripts: Any, k: Any, operands: Any) -> Any:
    whole = explicit(subscripts, [as_array(x).shape for x in operands])
    others = (whole.output, *(own for i, own in enumerate(whole.inputs) if i != k))
    own = whole.inputs[k]
    kept = "".join(c for c in dict.fromkeys(own) if c in "".join(others))
    return str(Subscripts(others, kept)), str(Subscripts((own,), kept))


def unsum(subscripts: Any, d: Any, x: Any) -> Indexed:
    """d put on the diagonals, and repeated along the letters that it lacks."""
    given, target = as_array(d), as_array(x)
    own, _, letters = str(subscripts).partition("->")
    sizes: dict[str, Any] = {}
    for letter, n in (*zip(own, target.shape, strict=True), *zip(letters, given.shape, strict=True)):
        sizes[letter] = n if sizes.get(letter, 1) == 1 else sizes[letter]

    def at(indices: tuple[Index, ...]) -> Form:
        names: dict[str, Index] = {}
        form = forms.constant(1)
        for letter, i in zip(own, indices, strict=True):
            if letter in names:
                form = forms.multiply(form, forms.holds("eq", plus(i, names[letter], -1)))
            names.setdefault(letter, i)
        return forms.multiply(form, given.at(tuple(0 if n == 1 else names[c] for c, n in zip(letters, given.shape, strict=True))))

    return Indexed(given.dtype, tuple(sizes[c] for c in own), at)
