"""
The part of the column "type" that speaks of arrays: one rule for each array row, and elementwise mathematics.

A rule computes sizes by `semantics.shapes`, as the cells do that run. What is certain to trap raises Trap; `semantics.infer`
decides what becomes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.columns.array_types import algebra, creation, indexed, movement, places, reductions, sensitivities
from semantics.columns.array_types.elementwise import elementwise

ARRAY_RULES: dict[str, Callable[..., Any]] = {
    **creation.CELLS,
    **indexed.CELLS,
    **movement.CELLS,
    **reductions.CELLS,
    **algebra.CELLS,
    **sensitivities.CELLS,
    **places.CELLS,
}

__all__ = ["ARRAY_RULES", "elementwise"]
