"""Sensitivities that begin as arrays of ZEROs, their numbers -0.0, and what that leaves constant: no bit changes."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from claims import costly
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import bits, executed
from numba import njit
from test_backend_arrays import types_of
from test_backend_stack_arrays import agrees, compiled

from backend.arrays import begun as beginning
from backend.arrays import constants as folding
from backend.arrays.begun import begun
from backend.arrays.constants import constants
from semantics.type_language import INTEGER
from transforms.gradient_programs import calling
from transforms.parse import parse_text

SPECIAL = (-0.0, 0.0, 1.0, -1.5, 0.1, float("inf"), float("nan"))
TERMS = ("u[i]", "u[i - 1]", "u[i + 1]", "v[i]", "v[i - 1] * u[i]", "u[i] * u[i]", "0.5 * v[i + 1]", "w[i]", "w[0]")
HEADS = ("for i in range(1, n - 1):", "for i in range(0, n - 1):", "for i in range(n - 2, 0, -1):", "for i in range(1, n - 1, 2):")


@st.composite
def stencils(draw: st.DrawFn) -> str:
    """Turns that compute two lines from two, by index; some elements are left, some assigned twice."""
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        to, at = draw(st.sampled_from("ab")), draw(st.sampled_from(("i", "i", "i - 1", "-i")))
        terms = " + ".join(draw(st.lists(st.sampled_from(TERMS), min_size=1, max_size=3)))
        line = f"{to}[{at}] = {draw(st.sampled_from(('', f'{to}[i] + ')))}{terms}"
        lines.append(line)
    made = draw(st.sampled_from(("np.copy(u)", "np.zeros(n)", "0.5 * v")))
    body = "".join(f"            {line}\n" for line in lines)
    return (
        "import numpy as np\ndef f(u, v, w, turns: int):\n    n = u.shape[0]\n    for t in range(turns):\n"
        f"        a = {made}\n        b = np.copy(v)\n        {draw(st.sampled_from(HEADS))}\n{body}"
        "        u = a\n        v = b\n    return np.sum(u * v)\n"
    )


@costly(20)
@given(stencils(), st.integers(0, 2), st.lists(st.sampled_from(SPECIAL), min_size=12, max_size=12))
def test_the_gradient_of_a_generated_stencil_is_the_references_in_every_bit(text: str, turns: int, numbers: list[float]) -> None:
    arrays = tuple(np.array(numbers[k : k + 4]) for k in (0, 4, 8))
    types = (*types_of(arrays), INTEGER)
    code, reference = compiled(calling(parse_text(text, "f"), "grad", (0, 1, 2), types), types)
    event("begun" if "_full((a0.shape[0],), -0.0, _f64), _full(" in code.code.alone else "not begun")
    assert agrees(code, reference, *arrays, turns)


LEAST = """
import numpy as np
def f(x, w):
    s = 0.0
    for i in range(2):
        s += x[i] * w[i]
    return s
"""


def of_negative_zero() -> bool:
    """Whether the gradient -0.0 of an element, and 0.0 of one that was never read, are the reference's."""
    arrays = (np.ones(3), np.array([-0.0, 1.0, 5.0]))
    code, reference = compiled(calling(parse_text(LEAST, "f"), "grad", (0, 1), types_of(arrays)), types_of(arrays))
    return agrees(code, reference, *arrays)


def test_what_is_added_to_zero_keeps_its_sign() -> None:
    assert of_negative_zero()


def test_numbers_of_zeros_that_are_not_neutral_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from backend.arrays import indexed, injected

    monkeypatch.setattr("backend.store.remembered", lambda key, make: make())
    monkeypatch.setattr(injected, "NEUTRAL", "0.0")
    monkeypatch.setattr(indexed, "NEUTRAL", "0.0")
    assert not of_negative_zero()


SIZE = "a0.shape[0]"


def loop(size: str = SIZE, other: str = "", again: str = "", first: str = "0 if False else 1") -> str:
    """A loop that adds to a sensitivity, ZERO at first, as code has it; `other` is done in each turn, `again` after it."""
    return f"""
def kernel(a0, a1, fuel, one):
    i1, a2_, a3_, i4 = ({first}, _empty((0,), _f64), _empty((0,), _bool), 0)
    while True:
        if i4 < fuel - 98:
            if i1 == 0:
                a2_[i4] = float(a2_[i4]) + a1[i4]
                a3_[i4] = True
                i5, a6_, a7_ = (0 if True else 1, a2_, a3_)
            else:
                a8_ = _full(({size},), -0.0, _f64)
                a9_ = _full(({size},), False, _bool)
                a8_[i4] = a1[i4]
                a9_[i4] = True
                i5, a6_, a7_ = (0 if True else 1, a8_, a9_)
            {other or "pass"}
            i1, a2_, a3_, i4 = (i5, a6_, a7_, i4 + 1)
            continue
        else:
            break
    {again or "pass"}
    x = -0.0
    if i1 == 0:
        for k in range({SIZE}):
            if a3_[k]:
                x = x + a2_[k]
    return (x,)
"""


def tight(text: str) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    if begun(function):
        constants(function)
    return ast.unparse(ast.fix_missing_locations(function))


def test_a_sensitivity_begins_as_an_array_and_is_no_choice_any_more() -> None:
    found = tight(loop())
    assert f"_full(({SIZE},), -0.0, _f64), _full(({SIZE},), False, _bool)" in found
    assert "i1 ==" not in found
    assert "a8_" not in found


NEAR = {
    "arrays of two sizes": loop(other="a6_ = _empty((a1.shape[0] + 1,), _f64)"),
    "a size that is not an argument's": loop(size="i4 + 2"),
    "an array of something else": loop(other="a6_ = a1[:]"),
    "no choice": loop(first="1"),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_it_begins_as_it_did(near: str) -> None:
    assert tight(NEAR[near]) == ast.unparse(ast.parse(NEAR[near]))


@given(st.lists(st.sampled_from(SPECIAL), min_size=2, max_size=2))
def test_what_is_computed_is_the_same(numbers: list[float]) -> None:
    x = np.array(numbers)
    assert bits(executed(tight(loop()), x, x)) == bits(executed(loop(), x, x))


@st.composite
def branching(draw: st.DrawFn) -> str:
    """Code that sets few numbers to few values, in branches and loops that ask about them."""
    count = 0

    def block(depth: int) -> list[str]:
        nonlocal count
        lines = []
        for _ in range(draw(st.integers(1, 3))):
            name, other = draw(st.sampled_from("pqr")), draw(st.sampled_from("pqr"))
            test = draw(
                st.sampled_from(
                    (f"{other} == 0", f"{other} != 1", f"not {other} == 1", f"{other} < _MAX", f"a0[0] > {draw(st.integers(0, 1))}")
                )
            )
            kind = draw(st.sampled_from(("set", "if", "loop", "sum"))) if depth else draw(st.sampled_from(("set", "sum")))
            if kind == "set":
                value = draw(st.sampled_from(("0", "0", "1", other, f"0 if {test} else 1", f"{other} + 1", "True", "_MAX")))
                lines.append(f"{name}, q = ({value}, r)" if draw(st.booleans()) else f"{name} = {value}")
            elif kind == "sum":
                lines.append(f"x = x * 3.0 + {name}")
            elif kind == "if":
                lines += [f"if {test}:", *(f"    {s}" for s in block(depth - 1)), "else:", *(f"    {s}" for s in block(depth - 1))]
            else:
                count += 1
                lines += [f"for k{count} in range(2):", *(f"    {s}" for s in block(depth - 1))]
        return lines

    lines = ["x = 0.0", "p, q = (0, 0)", "r = 0 if True else 1", *block(3), "return (x, p, q, r)"]
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines)])


def folded(text: str) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    constants(function)
    return ast.unparse(ast.fix_missing_locations(function))


@given(branching(), st.integers(0, 2))
def test_constants_written_out_change_nothing(text: str, first: int) -> None:
    x = np.array([float(first)])
    assert bits(executed(folded(text), x, x)) == bits(executed(text, x, x))
    event(f"branches fewer: {folded(text).count('if ') < text.count('if ')}")


def test_a_name_of_the_module_may_be_any_number() -> None:
    """It was taken for one that is never assigned, so the first place of the least integer stayed 0."""
    lines = ["i, p = (_MAX, 0)", "for k in range(3):", "    if int(a0[k]) < i:", "        i, p = (int(a0[k]), k)", "return (p,)"]
    text = "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines)])
    assert folded(text) == ast.unparse(ast.parse(text))
    assert executed(folded(text), np.array([5, 3, 1]), None) == (2,)


def test_a_number_that_a_loop_changes_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a fold that took the first value for good would be seen."""
    lines = ["p = 0", "x = 0.0", "for k in range(2):", "    if p == 0:", "        x = x + 1.0", "    p = 1", "return (x,)"]
    text = "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines)])
    assert executed(folded(text), None, None) == (1.0,)
    monkeypatch.setattr(folding, "_joined", lambda a, b: b if a is folding.UNREACHED else a)
    assert executed(folded(text), None, None) == (2.0,)


def test_an_array_of_another_size_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    shape: Any = ast.parse("(1,)", mode="eval").body
    monkeypatch.setattr(beginning, "_known", lambda name, sources: ({name}, shape))
    with pytest.raises(IndexError):
        executed(tight(loop()), np.ones(2), np.ones(2))


HEADED = """
def kernel(n, fuel):
    q = 0
    if q == 1:
        m = n
        h = 0
    else:
        h = 1
    x = 0
    while True:
        if h == 0:
            if m < 1:
                break
            x = x + m
            m = m - 1
        else:
            m = n + 1
            h = 0
    return x
"""
"""A loop with a head, which is told that it is entered at its second entry alone."""


def test_where_a_branch_left_out_was_the_first_to_assign_the_branch_taken_first_is_written_first() -> None:
    """Numba refuses what is read above all that assigns it, and raised so at the first call of the code."""
    found = folded(HEADED)
    assert "h != 0" in found
    for text in (found, HEADED):
        space: dict[str, Any] = {}
        exec(text, space)
        assert (njit(space["kernel"])(3, 1), space["kernel"](3, 1)) == (10, 10)


@pytest.mark.parametrize("before", ["m = 0", "m = n"])
def test_near_miss_what_is_assigned_above_stays_in_its_order(before: str) -> None:
    found = folded(HEADED.replace("x = 0", f"x = 0\n    {before}"))
    assert "h == 0" in found
