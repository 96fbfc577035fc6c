"""
The cells of the array rows, for any column: `array_cells(e)` makes them of the scalar cells in `e`.

`with_arrays(cells)` completes a column: its scalar cells become elementwise, and the array rows are added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from semantics.columns.arrays import (
    algebra,
    creation,
    einstein,
    indexed,
    inner_product,
    linear,
    memory,
    movement,
    places,
    reductions,
    sorting,
)
from semantics.columns.arrays.elements import Elements
from semantics.primitives.row import Hole, Primitive
from semantics.primitives.table import ELEMENTWISE, TABLE

ARRAY_CELLS: dict[str, Callable[..., Any]] = {
    **creation.CELLS,
    **indexed.CELLS,
    **movement.CELLS,
    **places.CELLS,
    **reductions.CELLS,
    **sorting.CELLS,
    **algebra.CELLS,
    **einstein.CELLS,
    **linear.CELLS,
    **inner_product.CELLS,
    **memory.CELLS,
}

__all__ = ["ARRAY_CELLS", "Elements", "array_cell", "array_cells", "with_arrays"]


def array_cell(primitive: Primitive, e: Elements) -> Callable[..., Any] | None:
    """The cell of an array row over the elements `e`; None for other rows."""
    cell = ARRAY_CELLS.get(primitive.name)
    return partial(cell, e) if cell is not None and TABLE.get(primitive.name) is primitive else None


def array_cells(e: Elements) -> dict[str, Callable[..., Any]]:
    """All cells of array rows over the elements `e`."""
    return {name: partial(cell, e) for name, cell in ARRAY_CELLS.items()}


def with_arrays(cells: Mapping[str, Callable[..., Any] | Hole], truth: Callable[[Any], Any] = bool) -> dict[str, Any]:
    """
    The cells of a column of numbers, completed by arrays. A cell that is there already stays as it is.

    truth   decides a condition of the column: where a maximum is, what comes first in a sorted array
    """
    from semantics.columns.elementwise import lifted

    def find(primitive: Primitive) -> Any:
        cell = cells.get(primitive.name, Hole("it has no cell"))
        if isinstance(cell, Hole):
            return _refusing(primitive.name, cell)
        return cell

    e = Elements(find, truth)
    return {**array_cells(e), **lifted(cells, e, TABLE, ELEMENTWISE)}


def _refusing(name: str, hole: Hole) -> Callable[..., Any]:
    """A cell that says why there is none."""
    from semantics.errors import IllTyped

    def refuse(*_: Any) -> Any:
        raise IllTyped(f"an array operation needs {name}, which this column lacks: {hole.reason}", rule=name)

    return refuse
