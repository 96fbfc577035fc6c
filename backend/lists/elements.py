"""What the elements of a list are that an array can hold: numbers of one kind, or arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType

BEGIN = {"f64": 0.0, "i64": 0, "bool": False}
"""An element of each dtype, which the turns write over."""
NUMBERS = {REAL: "f64", INTEGER: "i64", BOOLEAN: "bool"}


class Elements(NamedTuple):
    """
    What a list holds: the dtype, None for each axis, and 1 for one that is known to have this size; nothing of a number. What has
    the size 1 in some runs only, as far as is known, would be repeated in code for these, and must not.
    """

    dtype: str
    axes: tuple[int | None, ...]

    @property
    def begin(self) -> Any:
        """What an array has where nothing is written yet."""
        return BEGIN[self.dtype]


def kind(type: Any) -> Elements | None:
    """What an element of this type makes the list hold; None for what no array holds."""
    if isinstance(type, ArrayType):
        known = tuple(1 if size == 1 else None for size in type.dims)
        return Elements(type.dtype, known) if type.dtype in BEGIN and not type.holes else None
    return Elements(NUMBERS[type], ()) if type in NUMBERS else None
