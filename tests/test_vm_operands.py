"""Every row of the table on operands of any kind, which the machine, a loop over elements or the reference's meaning may take."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from vm_runs import agrees, applying
from vm_stress import as_if_large

from semantics.arrays import Array
from semantics.errors import AdjudgeError
from semantics.primitives.table import TABLE
from semantics.structured import LIST, Record
from semantics.tangents import ZERO

BOTH = ("python", "cpu")
MADE = ("inject", "make_record", "is_instance", "unsum", "cell", "cell_alone", "cell_cleared")
"""Rows that only transforms write, whose meaning trusts that their operands fit each other."""

NAMES = sorted(set(TABLE) - set(MADE))
SIX = (1.0, -0.0, 3.0, -4.5, 0.25, 6.0)
MATRIX, LINE, NONE = Array("f64", (2, 3), SIX), Array("f64", (3,), SIX[3:]), Array("f64", (0, 3), ())
VALUES: tuple[Any, ...] = (
    *(MATRIX, LINE, NONE, Array("f64", (2, 0), ()), Array("f64", (), (2.0,)), Array("f64", (1, 3), SIX[:3])),
    *(Array("f32", (2, 3), SIX), Array("i64", (2, 3), (1, 2, 3, 3, 2, 1)), Array("bool", (2, 3), (True, False) * 3)),
    *(Array("f64", (2, 3), (ZERO, *SIX[1:])), 1.0, -0.0, 2, -1, True, False, None, ZERO, "a"),
    *((), (0,), (0, 1), (1.0, MATRIX), Record(LIST, (1.0, 2.0)), Record(LIST, (MATRIX,))),
)
SIZES = ((2, 0), (4, 2), (7, 1 << 10))
"""From how many elements on an array is large, and how many are few."""


def operands(name: str) -> Any:
    """As many values as a row takes; two of those that take any number."""
    count = 2 if "*" in TABLE[name].parameters else len(TABLE[name].signature)
    return st.tuples(st.just(name), st.tuples(*[st.sampled_from(VALUES)] * count))


@given(st.sampled_from(NAMES).flatmap(operands), st.sampled_from(SIZES))
def test_a_row_of_any_operands_ends_as_on_the_reference(applied: tuple[str, tuple[Any, ...]], sizes: tuple[int, int]) -> None:
    name, given_to = applied
    with as_if_large(*sizes):
        wanted = agrees(applying(name, len(given_to)), given_to, BOTH)
    event("an error" if isinstance(wanted, AdjudgeError) else "a value")


@pytest.mark.parametrize("keepdims", [1, None, ZERO, MATRIX])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_max", "reduce_min"])
def test_keepdims_is_a_boolean_for_loops_too(name: str, keepdims: Any) -> None:
    for x in (MATRIX, NONE):
        with as_if_large(2, 0):
            wanted = agrees(applying(name, 3), (x, 0, keepdims), BOTH)
        assert isinstance(wanted, AdjudgeError) == (keepdims is not ZERO)
