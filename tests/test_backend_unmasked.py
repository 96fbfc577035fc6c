"""Sensitivities by rows of a matrix: written where they are given out, without a mask, and bit for bit the reference's."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import bits, executed
from test_backend_arrays import types_of
from test_backend_stack_arrays import agrees, compiled, normal

from adjudge.functions import parse
from backend.arrays import unmasked as module
from backend.arrays.contraction import contracted
from backend.arrays.unmasked import unmasked
from semantics.type_language import ArrayType
from transforms.gradient_programs import calling
from transforms.parse import parse_text

SIZES = "(a0.shape[0], a1.shape[0])"
WRITES = "for k in range(a1.shape[0]):\n    v[2, k] = a0[2] + a1[k]\n    t[2, k] = True"


def kernel(writes: str = WRITES, sizes: str = SIZES, after: str = "x = 0.0") -> str:
    """Numbers and a mask of these sizes, elements that are written to both, and the array that is made of them."""
    lines = f"""
v = _full({SIZES}, -0.0, _f64)
t = _full({sizes}, False, _bool)
{writes}
r = _empty({SIZES}, _f64)
for i in range(a0.shape[0]):
    for j in range(a1.shape[0]):
        if t[i, j]:
            y = float(v[i, j])
        else:
            y = 0.0
        r[i, j] = y
{after}
return (r, x)"""
    return "def kernel(a0, a1, fuel, one):" + lines.replace("\n", "\n    ")


def given_out(text: str) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    unmasked(function)
    return ast.unparse(ast.fix_missing_locations(function))


def test_rows_are_written_to_the_result_and_the_others_are_filled() -> None:
    found = given_out(kernel())
    assert "v" not in {n.id for n in ast.walk(ast.parse(found)) if isinstance(n, ast.Name)}
    assert "r[2, k] = a0[2] + a1[k]" in found
    assert "_full(" not in found
    assert "_bool" not in found
    assert found.count(" = 0.0") == 3 + 1, "two rows before it, those after it, and x"


OTHERWISE = {
    "an element by itself": "v[1, 1] = a0[1]\nt[1, 1] = True",
    "in some turns": "for k in range(a1.shape[0]):\n    if a1[k] > 1.0:\n        v[2, k] = a1[k]\n        t[2, k] = True",
    "along the other axis": "for k in range(a0.shape[0]):\n    v[k, 1] = a0[k]\n    t[k, 1] = True",
    "until a turn that ends it": WRITES.replace("    v", "    if k == 1:\n        break\n    v"),
    "far off": WRITES.replace("[2", "[100").replace("for k in range(a1.shape[0])", "for k in range(0)"),
}


@pytest.mark.parametrize("writes", OTHERWISE)
def test_what_is_no_row_or_not_whole_goes_into_an_array_of_zeros(writes: str) -> None:
    found = given_out(kernel(OTHERWISE[writes]))
    assert f"r = _full({SIZES}, 0.0, _f64)" in found
    assert "_bool" not in found


NEAR = {
    "a number is read again": {"after": "x = v[0, 0]"},
    "a mask is read again": {"after": "x = 1.0 if t[0, 0] else 0.0"},
    "a number is written alone": {"writes": WRITES + "\nv[0, 0] = 2.0"},
    "a mask is written alone": {"writes": WRITES + "\nt[0, 0] = True"},
    "another element is marked": {"writes": WRITES.replace("t[2", "t[1")},
    "an element is unmarked": {"writes": WRITES.replace("True", "False")},
    "other sizes": {"sizes": "(a0.shape[0], 4)"},
}


@pytest.mark.parametrize("near", NEAR)
def test_where_more_is_asked_of_the_mask_it_stays(near: str) -> None:
    text = kernel(**NEAR[near])
    assert given_out(text) == ast.unparse(ast.parse(text))


ALL = [*OTHERWISE.values(), WRITES, *(change["writes"] for change in NEAR.values() if "writes" in change)]


@given(st.lists(st.sampled_from(ALL), max_size=3), st.lists(st.sampled_from([0.0, -0.0, 1.5, np.nan]), min_size=7, max_size=7))
def test_no_bit_changes(writes: list[str], numbers: list[float]) -> None:
    text = kernel("\n".join(writes))
    x, y = np.array(numbers[:3]), np.array(numbers[3:])
    found = given_out(text)
    assert bits(executed(found, x, y)) == bits(executed(text, x, y))
    event("without a mask" if "_bool" not in found else "with")


def test_a_planted_bug_is_seen(monkeypatch: Any) -> None:
    """A row that is written in some turns alone is not whole."""
    monkeypatch.setattr(module, "_rows", lambda *given: {2})
    text = kernel(OTHERWISE["in some turns"])
    x, y = np.ones(3), np.zeros(4)
    assert bits(executed(given_out(text), x, y)) != bits(executed(text, x, y))


# numbers that both branches of a choice write

CHOICE = "if a1[k] > 1.0:\n        v[k] = a1[k]\n    else:\n        v[k] = 2.0"
HALF = "if a1[k] > 1.0:\n        v[k] = a1[k]\n    else:\n        x = 2.0"
ELSEWHERE = "if a1[k] > 1.0:\n        v[k] = a1[k]\n    elif a0[0] > 1.0:\n        v[k] = 2.0\n    else:\n        x = 2.0"


@pytest.mark.parametrize("choice", [CHOICE, HALF, ELSEWHERE])
def test_an_array_that_both_branches_write_first_is_a_number(choice: str) -> None:
    loop = f"v = _empty((a1.shape[0],), _f64)\nx = 0.0\nfor k in range(a1.shape[0]):\n    {choice}\n    x = x + v[k]\nreturn (x,)"
    text = "def kernel(a0, a1, fuel, one):\n    " + loop.replace("\n", "\n    ")
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    contracted(function)
    found = ast.unparse(ast.fix_missing_locations(function))
    assert ("_empty(" in found) is (choice != CHOICE)
    x, y = np.array([0.5]), np.array([0.5, 1.5, 2.5])
    assert bits(executed(found, x, y)) == bits(executed(text, x, y))


# programs


def by_rows(w, x):  # type: ignore[no-untyped-def]
    return np.sum(np.where(x > 0.0, x, 2.0) * w[0] + w[1] * w[3] * x)


def by_rows_in_part(w, x):  # type: ignore[no-untyped-def]
    return np.sum(np.where(x > 0.0, w[0] * x, w[3]) + w[1] * w[3])


def by_columns(w, x):  # type: ignore[no-untyped-def]
    return np.sum(np.where(x > 0.0, w[:, 0] * x, w[:, 2]))


def by_elements(w, x):  # type: ignore[no-untyped-def]
    return w[0, 1] * w[2, 3] + np.sum(x) * w[4, 0]


@pytest.mark.parametrize("program", [by_rows, by_rows_in_part, by_columns, by_elements])
def test_gradients_by_parts_have_the_references_bits(program: Any) -> None:
    arrays = (normal(5, 5), np.array([0.5, -0.0, 2.0, -1.0, np.nan]))
    code, reference = compiled(calling(parse(program), "grad", (0, 1), types_of(arrays)), types_of(arrays))
    assert agrees(code, reference, *arrays)
    assert (program in (by_rows, by_elements)) is ("_bool" not in code.code.alone)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4, unique=True), st.integers(4, 7), st.integers(0, 3))
def test_whichever_rows_are_read(rows: list[int], many: int, size: int) -> None:
    text = f"import numpy as np\ndef f(w):\n    return np.sum({' * '.join(f'w[{r}]' for r in rows)})"
    types = (ArrayType("f64", (None, None)),)
    code, reference = compiled(calling(parse_text(text, "f"), "grad", 0, types), types)
    assert "_bool" not in code.code.alone
    if max(rows) < many and size:
        assert agrees(code, reference, normal(many, size))
        event("rows that nothing reads" if len(rows) < many else "all")
