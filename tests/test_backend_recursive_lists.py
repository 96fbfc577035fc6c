"""Recursions that take lists apart and give lists, as merge sort does: generated code with their gradients, in every bit."""

from __future__ import annotations

import pytest
from code_claims import LENGTHS, column, gradient, has_code, written
from test_backend_gathering import COLUMN

import backend
from backend.lists.gathering import gathered
from backend.lists.promotion import promoted
from backend.lowering.expansion import RECURSION
from backend.lowering.first_order import declared, optimized
from backend.lowering.lower import _lower, lower
from semantics.errors import IllTyped, Malformed
from semantics.ir import Program
from transforms.nested_grad import expand

SORT = (
    "def merge(a, b):\n out = []\n i = 0\n j = 0\n while i < len(a) and j < len(b):\n  if a[i] <= b[j]:\n   out.append(a[i])\n"
    "   i += 1\n  else:\n   out.append(b[j])\n   j += 1\n {}\n"
    "def sort(a):\n if len(a) < 2: return a\n m = len(a) // 2\n return merge(sort(a[:m]), sort(a[m:]))\n"
    "b = sort({})\nreturn {}"
)
NUMBERS = "[x for x in xs]", "sum([k * v * v for k, v in enumerate(b)], 0.0)"
SORTS = {
    "what is left is appended": SORT.format(
        "while i < len(a):\n  out.append(a[i])\n  i += 1\n while j < len(b):\n  out.append(b[j])\n  j += 1\n return out", *NUMBERS
    ),
    "what is left is joined": SORT.format("return [*out, *a[i:], *b[j:]]", *NUMBERS),
    "arrays": SORT.format("return np.concatenate([np.array(out), a[i:], b[j:]])", "xs", "np.sum(b * b * np.arange(len(b)))"),
}
JOINED = SORTS["what is left is joined"]
SAMPLES = [column(n) for n in LENGTHS]


@pytest.mark.parametrize("name", SORTS)
@pytest.mark.parametrize("derived", [False, True], ids=["value", "gradient"])
def test_merge_sort_has_code(name: str, derived: bool) -> None:
    subject = written(SORTS[name])
    has_code(gradient(subject, COLUMN) if derived else subject, COLUMN, SAMPLES)


def test_so_it_has_where_numba_compiles_it() -> None:
    has_code(gradient(written(SORTS["arrays"]), COLUMN), COLUMN, SAMPLES[1:], "cpu")


def expanded(body: str) -> Program:
    """The gradient as `backend.lowered` first has it lowered."""
    arrays = gathered(promoted(gradient(written(body), COLUMN)), COLUMN)
    found = optimized(declared(expand(arrays, "ssa"), COLUMN))
    assert found is not None
    return found


def test_a_recursion_that_is_found_where_code_may_give_up_is_made_a_loop() -> None:
    """A regression: of an array, or of ZERO, no parts can be joined, and that was told in place of the recursion."""
    subject = expanded(SORTS["arrays"])
    with pytest.raises(Malformed, match="general recursion") as caught:
        _lower(subject, COLUMN, linked=False, fast=False)
    assert caught.value.rule == RECURSION
    assert lower(subject, COLUMN).stacks


def test_near_miss_what_is_no_recursion_is_told_as_it_was_first() -> None:
    subject = expanded("s = 0.0\nfor x in xs: s = s + x\nreturn xs * s")
    with pytest.raises(IllTyped, match="whose result is a real"):
        _lower(subject, COLUMN, linked=False, fast=False)
    listed = JOINED.replace(NUMBERS[1], "np.array([k * v for k, v in enumerate(b)])")
    with pytest.raises(IllTyped, match="whose result is a real"):
        backend.compile(gradient(written(listed), COLUMN), COLUMN, "python")
