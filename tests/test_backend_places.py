"""Sensitivities that go back to the numbers of which an array was made: one element each, and no test whether it came."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_backend_arrays import types_of
from test_backend_stack_arrays import agrees, compiled

from adjudge.functions import parse
from semantics.type_language import INTEGER, REAL
from transforms.gradient_programs import calling
from transforms.parse.system import parse_text


def oscillator(u, w, n: int):  # type: ignore[no-untyped-def]
    for _ in range(n):
        u = u + 0.1 * np.array([u[1], -w * u[0]])
    return np.sum(u * u)


def matrix(x, y):  # type: ignore[no-untyped-def]
    m = np.array([[x, y], [x * y, 2.0]])
    return np.sum(m @ m)


def rows(x, y):  # type: ignore[no-untyped-def]
    return np.sum(np.array([x * y, y, x]) ** 2)


def from_the_second(x):  # type: ignore[no-untyped-def]
    return np.sum(np.array([0.0, x, x * x])[1:] ** 2)


def test_each_number_gets_its_element_and_nothing_asks_whether_it_came() -> None:
    u = np.array([0.3, -0.2])
    program = calling(parse(oscillator), "value_and_grad", (0, 1), (*types_of((u,)), REAL, INTEGER))
    code, reference = compiled(program, (*types_of((u,)), REAL, INTEGER))
    assert "_bool" not in code.code.source
    assert all(agrees(code, reference, u, 2.0, n) for n in range(4))


@pytest.mark.parametrize("function", [matrix, from_the_second])
def test_so_it_is_with_rows_of_numbers_and_where_some_elements_have_no_sensitivity(function: Any) -> None:
    xs = (0.7, -1.3)[: function.__code__.co_argcount]
    program = calling(parse(function), "value_and_grad", tuple(range(len(xs))), (REAL,) * len(xs))
    code, reference = compiled(program, (REAL,) * len(xs))
    assert agrees(code, reference, *xs)


def test_near_miss_rows_that_are_arrays_get_theirs_by_number() -> None:
    x, y = np.array([0.5, 2.0]), np.array([-1.0, 0.25])
    program = calling(parse(rows), "value_and_grad", (0, 1), types_of((x, y)))
    code, reference = compiled(program, types_of((x, y)))
    assert "> 0:" in code.code.source
    assert agrees(code, reference, x, y)


NUMBERS = ("x", "y", "x * y", "sin(x)", "1.0", "2", "x + y", "-0.0 * x")


@given(st.integers(1, 3), st.integers(1, 3), st.data())
def test_theorem_the_way_back_to_the_numbers_of_an_array_is_the_references(rows: int, columns: int, data: st.DataObject) -> None:
    drawn = [[data.draw(st.sampled_from(NUMBERS)) for _ in range(columns)] for _ in range(rows)]
    text = "[" + ", ".join("[" + ", ".join(row) + "]" for row in drawn) + "]" if rows > 1 else "[" + ", ".join(drawn[0]) + "]"
    part = data.draw(st.sampled_from(("", "[0]", "[::-1]", ".T")))
    lines = ("import numpy as np", "from math import sin", "def f(x, y):", f"    m = np.array({text})")
    source = "\n".join((*lines, f"    return x + np.sum(m{part} * m{part})", ""))
    program = calling(parse_text(source, "f"), "value_and_grad", (0, 1), (REAL, REAL))
    code, reference = compiled(program, (REAL, REAL))
    assert agrees(code, reference, 0.7, -1.3)


def one_of_two(a, b, n: int):  # type: ignore[no-untyped-def]
    s = 0.0
    for _ in range(n):
        if np.sum(b) > 0.2:
            v = a
        else:
            v = np.array([a[0], b[1], a[2] * b[0]])
        s = s + np.sum(a * v)
        b = b - 0.5
    return s


def test_rows_that_a_turn_may_not_have_had_are_a_path_that_no_run_takes() -> None:
    """Shrunk. A turn leaves the rows or nothing, and of nothing there are no numbers of places."""
    a = np.array([[0.5, 2.0], [1.0, -1.0], [0.25, 3.0]])
    program = calling(parse(one_of_two), "value_and_grad", (0, 1), (*types_of((a, a)), INTEGER))
    code, reference = compiled(program, (*types_of((a, a)), INTEGER))
    assert all(agrees(code, reference, a, b, 4) for b in (a - 1.0, -a))
