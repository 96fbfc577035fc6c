"""Fast code against exact code: gradients of programs over arrays, from Python, in one process, and how far apart they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.array_gradients import in_turn, types_of
from bench.arrays_by_hand import ARRAY_FAMILIES
from bench.measure import Row, named
from transforms.gradient_programs import calling
from transforms.parse import parse_text

SIZES = {"logsumexp of an array": {"1e3": (10**3,), "1e4": (10**4,), "1e5": (10**5,), "1e6": (10**6,)}}


def rows(only: str = "") -> Iterator[Row]:
    """Every row of this table, or those of the programs whose name has a text in it."""
    from backend import compile as compile_for

    for name, family in named(ARRAY_FAMILIES, only).items():
        for label, sizes in SIZES.get(name, family.sizes).items():
            given = family.given(*sizes)
            types = types_of(given)
            program = calling(parse_text(family.text, "f"), "grad", family.wrt, types)
            exact, fast = (compile_for(program, types, "cpu", fast=f).quick for f in (False, True))
            assert exact is not None
            assert fast is not None
            apart = farthest(exact(*given), fast(*given))
            mine, its = in_turn(fast, exact, given)
            off = f"{mine / its:.3g}, apart by {apart:.1g}"
            yield Row(f"{name}, {label}", f"{1e6 * mine:.3g} µs", f"exact {1e6 * its:.3g} µs", off)


def farthest(exact: Any, fast: Any) -> float:
    """The largest difference in an array, as a part of its largest element."""
    pairs = zip(exact, fast, strict=True) if isinstance(exact, tuple) else [(exact, fast)]
    return max(float(np.max(np.abs(a - b)) / np.max(np.abs(a))) for a, b in pairs)
