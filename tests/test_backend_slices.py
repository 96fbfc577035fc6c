"""Slices that leave out or take a few elements, what is joined and cut again, and sensitivities of which some elements are ZERO."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np
import pytest
from code_claims import has_code
from hypothesis import event, given
from hypothesis import strategies as st
from test_backend_arrays import types_of
from test_backend_stack_arrays import agrees, compiled

import adjudge as aj
from adjudge.functions import parse
from backend.arrays.eager import eager
from backend.arrays.values import is_size, less, plus
from semantics.type_language import INTEGER
from transforms.gradient_programs import calling
from transforms.parse.system import parse_text

BOUNDS = st.one_of(st.none(), st.integers(-3, 5))


def value_and_gradient(function: Any, *given: Any) -> tuple[Any, Any]:
    """The code, and the reference."""
    arrays = tuple(a for a in given if isinstance(a, np.ndarray))
    types = (*types_of(arrays), *(INTEGER,) * (len(given) - len(arrays)))
    program = calling(parse(function), "value_and_grad", tuple(range(len(arrays))), types)
    return compiled(program, types)


@given(BOUNDS, BOUNDS, st.sampled_from([None, 1]), st.integers(0, 7))
def test_theorem_a_slice_selects_what_it_selects_in_the_reference(start: Any, stop: Any, step: Any, n: int) -> None:
    cut = f"{'' if start is None else start}:{'' if stop is None else stop}" + (f":{step}" if step else "")
    program = parse_text(f"import numpy as np\ndef f(x):\n    return x[{cut}] * 2.0\n", "f")
    x = np.arange(float(n))
    run = aj.compile(program, target="python")
    for _ in range(2):  # on the machine, then in code, which has the machine run what it was not made for
        assert np.array_equal(run(x), x[start:stop:step] * 2.0)
    event("empty" if not x[start:stop:step].size else "some")


def of_slices(x):  # type: ignore[no-untyped-def]
    return x[:1] * x[-1:], x[1:-1], x[1:][:-2], x[3:2], x[-2:-3], x[2:4]


def test_sizes_of_few_are_known() -> None:
    x = np.arange(6.0)
    code, reference = compiled(parse(of_slices), types_of((x,)))
    assert "_bound(" not in code.code.source
    assert "_empty((1,)" in code.code.source
    assert "(a0.shape[0] - 3)" in code.code.source
    assert agrees(code, reference, x)


@pytest.mark.parametrize("cut", ["x[5:]", "x[:-5]", "x[-1:3]", "x[::2]", "x[k:]", "x[3:-2]"])
def test_near_miss_other_bounds_are_computed(cut: str) -> None:
    program = parse_text(f"import numpy as np\ndef f(x, k: int):\n    return {cut} * 2.0\n", "f")
    x = np.arange(9.0)
    code, reference = compiled(program, (*types_of((x,)), INTEGER))
    assert "_steps(" in code.code.source
    assert agrees(code, reference, x, 2)


def shortest(d):  # type: ignore[no-untyped-def]
    for k in range(d.shape[0]):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1])
    return d


def test_a_slice_from_k_to_one_above_has_one_element_and_broadcasts() -> None:
    """Its size was that of the rows, so every call went to the machine."""
    d = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0))) ** 2
    code, reference = compiled(parse(shortest), types_of((d,)))
    assert "_bound(" not in code.code.source
    assert agrees(code, reference, d)
    assert np.array_equal(aj.compile(shortest)(d), shortest(d))


@pytest.mark.parametrize("bounds", ["k:k + 1", "k - 1:k", "k:k + 2", "k + 1:k"])
@pytest.mark.parametrize("k", [-3, -1, 0, 1, 2, 3])
def test_where_it_selects_another_number_of_elements_it_has_those(bounds: str, k: int) -> None:
    program = parse_text(f"import numpy as np\ndef f(x, k):\n    return x[{bounds}] * x\n", "f")
    run, x = aj.compile(program, target="python"), np.array([2.0])
    for _ in range(2):
        found, wanted = run(x, k), eval(f"x[{bounds}] * x", {"x": x, "k": k})
        assert found.shape == wanted.shape
        assert np.array_equal(found, wanted)


def test_of_a_size_numbers_are_taken_and_given_back() -> None:
    assert less("n", 0) == plus("(n - 2)", "2") == "n"
    assert less("7", 2) == "5"
    assert less("(a0.shape[1] - 1)", 2) == plus("1", "(a0.shape[1] - 4)") == "(a0.shape[1] - 3)"
    assert plus("3", "(n - 2)") == "3 + (n - 2)"
    assert less("n * m", 1) == "(n * m - 1)"
    assert plus("1", "(n * m - 1)") == "1 + (n * m - 1)"
    assert all(map(is_size, ("4", "n", "a0.shape[0]", "(n - 1)")))
    assert not any(map(is_size, ("n + m", "(n * m - 1)", "3 + (n - 2)")))


def steps(x, s: int):  # type: ignore[no-untyped-def]
    """A turn keeps several arrays of one element less."""
    y = np.zeros(x.shape[0])
    for _ in range(s):
        k = np.concatenate((x[:1], x[1:] * y[:-1]))
        y = y + 0.5 * np.concatenate((x[:1] * k[:1], x[1:] * (y[:-1] + 0.25 * k[:-1])))
    return y[-1]


def test_arrays_of_one_element_less_are_kept_one_behind_the_other() -> None:
    """Regression: of two sizes n - 1 the place behind both was 2 * n - 1 words on, so they overlapped what came next."""
    x = np.array([0.5, -1.25, 2.0, 0.125, 3.0])
    code, reference = value_and_gradient(steps, x, 4)
    assert "_bound(" not in code.code.alone
    assert re.search(r"\d \* \(\w+ - 1\)", code.code.alone)
    assert all(agrees(code, reference, x, n) for n in range(6))


JOINED = {
    "behind one another": "np.concatenate((x, y * x, x[:2]))",
    "of rows": "np.concatenate((m, m * 2.0), axis=1)",
    "stacked": "np.stack((x, y, x * y))",
    "stacked in columns": "np.stack((x, y, x * y), axis=-1)",
    "of integers and reals": "np.concatenate((x, np.arange(2), y))",
    "of a list": "np.concatenate([x, y])",
    "of other shapes flattened": "np.concatenate((m, x), axis=None)",
    "turned": "np.transpose(np.expand_dims(m, 2) * x, (2, 0, 1))",
    "rolled": "np.roll(x * y, 2)",
    "rolled in two axes": "np.roll(m, (1, -1), axis=(0, 1))",
}


def joined(how: str) -> Any:
    text = f"def f(x, y, m):\n    t = {how}\n    return np.sum(t * t * np.cos(t)) + t.ravel()[1] * x[0]\n"
    return parse_text(f"import numpy as np\n{text}", "f")


@pytest.mark.parametrize("how", JOINED)
def test_what_is_moved_as_a_whole_is_read_where_it_went(how: str) -> None:
    x, y, m = np.array([0.5, -2.0, 0.25]), np.array([1.5, 3.0, -1.0]), np.arange(6.0).reshape(2, 3) - 2.5
    types = types_of((x, y, m))
    code, reference = compiled(calling(joined(JOINED[how]), "value_and_grad", (0, 1, 2), types), types)
    assert agrees(code, reference, x, y, m)
    assert ("> 0:" in code.code.source) == (how == "of other shapes flattened")


@pytest.mark.parametrize("how", ["behind one another", "stacked", "turned", "rolled"])
def test_second_derivatives_are_those_of_one_of_the_references_modes(how: str) -> None:
    """The rows of a Hessian are made by a loop, whose pullbacks are those of the mode `ssa`."""
    x, y, m = np.array([0.5, -2.0, 0.25]), np.array([1.5, 3.0, -1.0]), np.arange(6.0).reshape(2, 3) - 2.5
    types = types_of((x, y, m))
    has_code(calling(joined(JOINED[how]), "hessian", 0, types), types, [(x, y, m)])


def infinite(x, w):  # type: ignore[no-untyped-def]
    """Of y all elements but one are ZERO: what they are scaled by does not matter, be it infinite."""
    y = -(x * w) / w
    z = np.concatenate((y[1:], y[:1])) * w
    return z[0] + x[0]


def test_zero_scaled_by_infinity_is_zero() -> None:
    x, w = np.array([0.5, 2.0, -1.0]), np.array([np.inf, -3.0, np.nan])
    code, reference = value_and_gradient(infinite, x, w)
    assert " if " in code.code.source
    assert "else -0.0" in code.code.source
    assert agrees(code, reference, x, w)


def scaled_twice(x):  # type: ignore[no-untyped-def]
    y = x * 2.0 * x
    return y[1]


def test_a_number_that_may_be_zero_is_chosen_once() -> None:
    x = np.array([0.5, 2.0, -1.0])
    code, reference = value_and_gradient(scaled_twice, x)
    assert agrees(code, reference, x)


EAGER = """
def kernel(m, s, c, n):
    for k in range(n):
        {}
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("b1 = a1[k] or a2[k]", "b1 = a1[k] | a2[k]"),
        ("b1 = a1[k] or b2 or a3[k]", "b1 = a1[k] | b2 | a3[k]"),
        ("b1 = a1[k] and a2[k]", "b1 = a1[k] & a2[k]"),
        ("b1 = 0 <= k and a2[k]", None),
        ("b1 = i1 or a2[k]", None),
        ("x1 = a1[k] or a2[k]", None),
        ("if a1[k] or a2[k]: b1 = True", None),
    ],
)
def test_masks_are_joined_without_asking(line: str, found: str | None) -> None:
    function = ast.parse(EAGER.format(line)).body[0]
    assert isinstance(function, ast.FunctionDef)
    eager(function)
    assert ast.unparse(function) == ast.unparse(ast.parse(EAGER.format(found or line)))


def written_over(u):  # type: ignore[no-untyped-def]
    for _ in range(3):
        v = u.copy()
        v[1:] = u[:-1] * u[1:]
        u = v
    return np.sum(u)


def test_what_a_cell_keeps_gets_a_mask_where_another_turn_has_zero_in_it() -> None:
    """Of second derivatives of a slice that a loop writes no code was made: a cell was to be written without its mask."""
    u = np.array([1.5, -0.5, 0.25, 2.0])
    program = calling(parse(written_over), "hvp", 0, types_of((u,)))
    code, reference = compiled(program, types_of((u, u)))
    assert agrees(code, reference, u, np.array([1.0, 0.0, -0.0, 0.5]))
