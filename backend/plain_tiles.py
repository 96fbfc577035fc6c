"""Tiles of a product of matrices where a tile is one sum, from the left: what `backend.tiles` is measured by."""

from __future__ import annotations

from typing import Any


def tile(a: Any, b: Any, c: Any, i: int, j: int) -> None:
    """The element i, j of c = a b."""
    strip(a[i], b, c[i], j)


def strip(a: Any, b: Any, c: Any, j: int) -> None:
    """The element j of the vector c = a b."""
    total = -0.0
    for k in range(b.shape[0]):
        total = total + float(a[k]) * float(b[k, j])
    c[j] = total
