"""What `backend.cpu.tiles` and `backend.cpu.turn_sums` compute, one sum after the other, from the left."""

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


def add_row(inner: int, count: int, a: Any, ia: Any, b: Any, ib: Any, ic: Any, c: Any) -> None:
    """c[s] + Σ a[k] b[k, s] in place of c[s], for so many k and turns."""
    a, b, c = (of[tuple(slice(None) if i is None else i for i in at)] for of, at in ((a, ia), (b, ib), (c, ic)))
    for s in range(count):
        for k in range(inner):
            c[s] = c[s] + float(a[k]) * b[k, s]


def add_outer(rows: int, columns: int, count: int, p: Any, ip: Any, q: Any, iq: Any, ic: Any, c: Any) -> None:
    """c[i, j] + Σ p[i, s] q[j, s] in place of c[i, j], for so many rows, columns and turns."""
    p, q, c = p[ip], q[iq], c[ic]
    for i in range(rows):
        for j in range(columns):
            for s in range(count):
                c[i, j] = c[i, j] + p[i, s] * q[j, s]


ALL = (tile, strip, add_row, add_outer)
