"""
Layouts: the same values, laid out otherwise in memory. A rule must not care.

    Fortran order       column-major, where there are two axes
    strided             every second element of a larger array
    reversed strides    a view that runs backwards along every axis
    transposed view     axes in another order than in memory, of a part of a larger array
    read-only           plain, but not to be written to

The elements of the larger arrays that are in no view are NaN, so that a rule that reads past its argument is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from checkers.array_audit.case import Arguments, replaced
from checkers.array_audit.shapes import arrays_in

Layout = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]


def plain(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Row-major, owned, writable."""
    return np.array(array, order="C", copy=True, subok=False)


def fortran(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Column-major."""
    return np.array(array, order="F", copy=True)


def strided(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Every second element, along every axis, of an array of twice the size."""
    if not array.ndim:
        return plain(array)
    whole = _blank(tuple(2 * n for n in array.shape), array.dtype)
    view = whole[tuple(slice(None, None, 2) for _ in array.shape)]
    view[...] = array
    return view


def backwards(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A view that runs backwards along every axis."""
    if not array.ndim:
        return plain(array)
    turned = tuple(slice(None, None, -1) for _ in array.shape)
    return plain(array[turned])[turned]


def transposed(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The inner part of a larger array, its axes reversed."""
    if not array.ndim:
        return plain(array)
    whole = _blank(tuple(n + 2 for n in array.shape[::-1]), array.dtype)
    view = whole[tuple(slice(1, n + 1) for n in array.shape[::-1])].transpose()
    view[...] = array
    return view


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Plain, but not to be written to."""
    found = plain(array)
    found.flags.writeable = False
    return found


def _blank(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    return np.full(shape, np.nan if dtype.kind == "f" else 0, dtype)


LAYOUTS: Mapping[str, Layout] = {
    "Fortran order": fortran,
    "strided": strided,
    "reversed strides": backwards,
    "transposed view": transposed,
    "read-only": read_only,
}


def laid_out(arguments: Arguments, layout: Layout) -> Arguments:
    """The arguments with every array in this layout."""
    return replaced(arguments, {path: layout(array) for path, array in arrays_in(arguments)})


def layout_of(note: str) -> Layout | None:
    """The layout that a note names."""
    return next((layout for name, layout in LAYOUTS.items() if note.startswith(name)), None)


def layouts(arguments: Arguments) -> Iterator[tuple[str, Arguments]]:
    """The arguments in every layout in which one of their arrays differs from a plain one, and its name."""
    arrays = [array for _, array in arrays_in(arguments)]
    if not arrays:
        return
    for name, layout in LAYOUTS.items():
        differs = any(layout(array).strides != plain(array).strides for array in arrays if array.size > 1)
        if differs or name == "read-only":
            yield name, laid_out(arguments, layout)
