"""Results of the same sizes as rows of one block: when, when not, and that nobody can tell from the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import bits, executed

import adjudge as aj
from backend.arrays.one_block import in_one_block, spread
from semantics.errors import AdjudgeError

X, Y = np.array([1.5, -0.0, 2.0, -7.25]), np.array([0.1, 3.0, -2.0, 5.0])
NAMES = "abcde"


def kernel(*lines: str) -> str:
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines)])


def made(names: str = NAMES) -> list[str]:
    return [f"{name} = _empty((a0.shape[0],), _f64)" for name in names]


def filled(names: str = NAMES) -> list[str]:
    return ["for k in range(a0.shape[0]):", *(f"    {name}[k] = a0[k] * {n}.0 + a1[k]" for n, name in enumerate(names))]


END = "return (a, b, c, d, e, fuel, 0)"


def rows_of(text: str, results: int = 5) -> tuple[int, ...]:
    """Which results are rows, once they have been seen to be what they were."""
    source, rows = in_one_block(text, results)
    wanted = executed(text, X.copy(), Y.copy())
    values = executed(source, X.copy(), Y.copy())
    *left, fuel, status = values
    assert (fuel, status) == (100, 0)
    assert bits(spread((*left, status), rows)) == bits((*wanted[:-2], wanted[-1])), source
    return rows


def test_results_of_the_same_sizes_are_rows() -> None:
    assert rows_of(kernel(*made(), *filled(), END)) == (0, 1, 2, 3, 4)


def test_the_others_stay_where_they_are() -> None:
    mixed = "return (c, one, a, a0.shape[0], d, b, fuel, 0)"
    assert rows_of(kernel(*made("abcd"), *filled("abcd"), mixed), 6) == (2, 5, 0, 4)


def test_a_failure_gives_a_block_of_nothing() -> None:
    text = kernel("if a0.shape[0] != a1.shape[0]:", "    return (a0, a0, a0, a0, a0, fuel, 16)", *made(), *filled(), END)
    assert rows_of(text) == (0, 1, 2, 3, 4)
    source, _ = in_one_block(text, 5)
    block, _, status = executed(source, X, Y[:2])
    assert (block.shape, status) == ((5, 0), 16)


@pytest.mark.parametrize(
    "lines",
    [
        (*made("abc"), *filled("abc"), "return (a, b, c, one, one, fuel, 0)"),
        (*made("abc"), *filled("abc"), "d = _empty((2,), _f64)", "e = _empty((2,), _f64)", "d[:] = e[:] = 1.0", END),
        (*made("abc"), "d = _empty((a0.shape[0],), _i64)", *filled("abc"), "d[:] = 1", "e = one", END),
        (*made("abcd"), *filled("abcd"), "e = a", END),
        (*made("abcd"), *filled("abcd"), "e = a[1:]", END),
        (*made("abcd"), *filled("abcd"), "e = _reshape(a, (2, 2))", END),
        (*made("abcd"), *filled("abcd"), "return (a, b, c, d, d, fuel, 0)"),
        (*made("abcd"), *filled("abcd"), "d = a0", "e = one", END),
        ("n = 4", *made("abc"), "d = _empty((n,), _f64)", "e = _empty((n,), _f64)", *filled("abcde"), "n = 2", END),
        ("for t in range(2):", *(f"    {line}" for line in [*made(), *filled()]), END),
        (*made(), *filled(), "if fuel > 0:", f"    {END}", END),
        (*made(), *filled(), "left = 0", "return (a, b, c, d, e, fuel, left)"),
    ],
    ids=[
        "three alike",
        "other sizes",
        "another dtype",
        "two names",
        "a part",
        "a view",
        "given out twice",
        "an argument",
        "sizes that change",
        "in a loop",
        "given out in two places",
        "an unknown status",
    ],
)
def test_nothing_else_is_a_row(lines: tuple[str, ...]) -> None:
    assert rows_of(kernel(*lines)) == ()


@given(st.lists(st.sampled_from([*NAMES, "one", "a0"]), min_size=1, max_size=8), st.permutations(NAMES))
def test_no_value_changes(results: list[str], order: list[str]) -> None:
    text = kernel(*made("".join(order)), *filled(), f"return ({', '.join(results)}, fuel, 0)")
    rows = rows_of(text, len(results))
    assert rows == () or len(rows) >= 4
    assert all(results.count(results[k]) == 1 for k in rows)
    event(f"{len(rows)} rows")


def parts(x: Any, y: Any, z: float) -> Any:
    return x * y + z, x - y, z * 2.0, np.sqrt(x), y / (x + z), x * x


def test_compiled_results_are_those_of_the_reference_and_each_for_itself() -> None:
    """A row is written to although nothing in the code reads it; a store that seemed to be for nobody would be left out."""
    compiled = aj.compile(parts, target="cpu")
    x, y = np.linspace(0.5, 9.0, 13), np.linspace(-3.0, 4.0, 13)
    wanted = aj.compile(parts, target="reference")(x, y, 0.25)
    for _ in range(3):  # by the machine, by generated code that is made then, and by its quick way in
        found = compiled(x, y, 0.25)
        assert bits(found) == bits(wanted)
    found[0][:] = 7.0
    assert bits(found[1:]) == bits(wanted[1:])
    assert found[0].base is found[1].base
    assert all(a.flags.c_contiguous and a.flags.writeable for a in (*found[:2], *found[3:]))
    assert [part.shape for part in compiled(x[:0], y[:0], 0.25)[:2]] == [(0,), (0,)]
    with pytest.raises(AdjudgeError):
        compiled(x, y[:2], 0.25)
    assert bits(compiled(x, y, 0.25)) == bits(wanted)
