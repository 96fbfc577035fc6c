"""Two arrays that are always assigned together have the same sizes, and what is assigned otherwise may not have."""

from __future__ import annotations

import ast

import pytest

from backend.arrays.in_place import blocks, updated
from backend.arrays.paired import Pairs

COPY = "for k in range(x.shape[0]):\n            c[k] = m[k]"
TEXT = f"""
def kernel(a0, a1, fuel, one):
    x, m, i = (_full((4,), 1.0, _f64), _full((4,), False, _bool), 0)
    while i < 3:
        y = _empty((x.shape[0],), _f64)
        for k in range(x.shape[0]):
            y[k] = x[k]
        c = _empty((x.shape[0],), _bool)
        {COPY}
        c[i] = True
        if i == 1:
            z = _full((i + 2,), 0.0, _f64)
            d = _full((i + 2,), True, _bool)
        else:
            z, d = (y, c)
        x = z
        m = d
        i = i + 1
    return (x, m, 0)
"""


def in_text(text: str) -> ast.FunctionDef:
    found = ast.parse(text).body[0]
    assert isinstance(found, ast.FunctionDef)
    return found


def text_of(function: ast.FunctionDef) -> str:
    return ast.unparse(ast.fix_missing_locations(function))


def paired(text: str) -> bool:
    function = in_text(text)
    (at,) = (s for block in blocks(function) for s in block if ast.unparse(s).startswith("for k in") and "c[k]" in ast.unparse(s))
    return Pairs(function).hold("x", "m", at)


def test_a_mask_has_the_sizes_of_its_array_and_is_updated_in_place() -> None:
    assert paired(TEXT)
    function = updated(in_text(TEXT))
    assert "c = m\n" in text_of(function)


HANDED_ON = """
def kernel(a0, a1, fuel, one):
    x, n, i = (_full((4,), 1.0, _f64), 0, 0)
    while i < 3:
        y = _empty((x.shape[0],), _f64)
        for k in range(x.shape[0]):
            y[k] = x[k]
        y[i] = 2.0
        old, x = (x, y)
        n = n + old.shape[0]
        i = i + 1
    return (x, n, 0)
"""


def test_what_takes_an_array_reads_none_of_it_unless_it_is_read_itself() -> None:
    assert "y = x\n" in text_of(updated(in_text(HANDED_ON)))
    for read in ("a1[i] = old[0]", "last = old\n        a1[i] = last[1]"):
        near = HANDED_ON.replace("        i = i + 1", f"        {read}\n        i = i + 1")
        assert "y = x\n" not in text_of(updated(in_text(near)))


NEAR = {
    "made of another size": ("_full((i + 2,), True, _bool)", "_full((i + 3,), True, _bool)"),
    "the size has changed between": ("d = _full", "i = i + 1\n            d = _full"),
    "another is assigned": ("m = d", "m = a1"),
    "one is not assigned": ("        m = d\n", ""),
    "an exit stands between": ("        m = d", "        if i > 7:\n            return (x, m, 0)\n        m = d"),
    "they are assigned in two blocks": ("        m = d", "        if i < 9:\n            m = d"),
    "what is assigned has changed": ("        m = d", "        d = a1\n        m = d"),
    "one grows by what the other has": (
        "x = z\n        m = d",
        "x = _full((x.shape[0] + 1,), 0.0, _f64)\n        m = _full((x.shape[0] + 1,), True, _bool)",
    ),
    "of what is handed on one is older": (
        "x = z\n        m = d",
        "z = _full((i + 2,), 0.0, _f64)\n        x = z\n        m = d\n        d = _full((i + 2,), True, _bool)",
    ),
    "a size in memory has changed between": (
        "x = z\n        m = d",
        "x = _full((integers[i],), 0.0, _f64)\n        reals[i] = 1.0\n        m = _full((integers[i],), True, _bool)",
    ),
    "a loop counts by the name": ("        m = d", "        m = d\n        for m in range(3):\n            pass"),
    "it is asked between": (f"        {COPY}\n        c[i] = True\n", "        c[i] = True\n"),
}


@pytest.mark.parametrize("case", NEAR)
def test_near_miss_arrays_that_may_differ_are_not_paired(case: str) -> None:
    text = TEXT.replace(*NEAR[case])
    if case == "it is asked between":
        text = text.replace("        m = d", f"        {COPY}\n        m = d")
    assert text != TEXT
    assert not paired(text)
    assert "c = m\n" not in text_of(updated(in_text(text)))
