"""
Arguments at which every row is judged that has arrays among its arguments: shapes of every rank, empties and 0-d included, and
every kind of attribute (axes from both ends, several, none; keepdims; negative shifts and diagonals; repeated indices).

A row with a backpropagator and no entry here fails `test_every_array_row_is_judged`.
"""

from __future__ import annotations

from checkers.array_audit.row_samples_algebra import ALGEBRA
from checkers.array_audit.row_samples_arguments import Example
from checkers.array_audit.row_samples_elementwise import WHERE, elementwise
from checkers.array_audit.row_samples_movement import MOVEMENT
from semantics.primitives.table import ELEMENTWISE

EXAMPLES: dict[str, tuple[Example, ...]] = MOVEMENT | ALGEBRA


def array_examples(name: str) -> tuple[Example, ...]:
    """The examples of a row; none if it never has arrays for arguments."""
    if name == "where":
        return WHERE
    return EXAMPLES.get(name, ()) or (tuple(elementwise(name)) if name in ELEMENTWISE else ())
