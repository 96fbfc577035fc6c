"""
Comparisons and choices as index forms: a comparison is 1 or 0, and `where` a sum of products with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkers.smt import index_form as forms
from checkers.smt.index_factors import Form
from checkers.smt.index_places import Index
from checkers.smt.index_values import Indexed, as_array, common_shape, entry_of
from proofs.arrays.course import Course, Infinite
from semantics.tangents import ZERO

ZERO_FORM = forms.constant(0)


def comparison(course: Course, name: str) -> Callable[..., Any]:
    def entry(a: Form, b: Form) -> Form:
        difference = forms.add(a, forms.scaled(b, -1))
        if name in ("eq", "ne") and not difference.terms:
            return forms.constant(int(name == "eq"))
        if name in ("eq", "ne") and course.nonzero(difference):
            return forms.constant(int(name == "ne"))
        match name:
            case "eq":
                return forms.truth("eq", *sorted((a, b), key=repr))
            case "ne":
                return forms.add(forms.constant(1), forms.scaled(forms.truth("eq", *sorted((a, b), key=repr)), -1))
            case "lt":
                return forms.truth("lt", a, b)
            case "gt":
                return forms.truth("lt", b, a)
            case "le":
                return forms.add(forms.constant(1), forms.scaled(forms.truth("lt", b, a), -1))
            case _:
                return forms.add(forms.constant(1), forms.scaled(forms.truth("lt", a, b), -1))

    def cell(x: Any, y: Any) -> Any:
        if name in ("eq", "ne") and any(isinstance(v, Infinite) for v in (x, y)):
            other = next((v for v in (x, y) if not isinstance(v, Infinite)), None)
            shape = as_array(other).shape
            known = forms.constant(int(name == "ne"))
            return Indexed("bool", shape, lambda _: known) if shape else known
        if x is ZERO or y is ZERO:
            return ZERO
        return pointwise(entry, "bool", x, y)

    return cell


def pointwise(entry: Callable[..., Form], dtype: str, *operands: Any) -> Any:
    """A function of entries, on operands that are broadcast together."""
    arrays = [as_array(x) for x in operands]
    shape = common_shape([a.shape for a in arrays])

    def at(indices: tuple[Index, ...]) -> Form:
        return entry(*(entry_of(a, indices) for a in arrays))

    return Indexed(dtype, shape, at) if shape else at(())


def where(c: Any, x: Any, y: Any) -> Any:
    if x is ZERO and y is ZERO:
        return ZERO
    if isinstance(c, bool):
        return x if c else y
    if isinstance(x, tuple) and isinstance(y, tuple):
        return tuple(where(c, a, b) for a, b in zip(x, y, strict=True))
    found = [ZERO_FORM if v is ZERO else v for v in (x, y)]

    def entry(k: Form, a: Form, b: Form) -> Form:
        if a == b:
            return a
        return forms.add(forms.multiply(k, a), b, forms.scaled(forms.multiply(k, b), -1))

    dtype = next((v.dtype for v in found if isinstance(v, Indexed)), "f64")
    return pointwise(entry, dtype, c, *found)


def one_minus(a: Form) -> Form:
    return forms.add(forms.constant(1), forms.scaled(a, -1))
