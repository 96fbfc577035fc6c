"""What loops add to: in place where nothing reads the old sum again, and by the parts that have something to add."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import bits, executed, sums
from test_backend_arrays import types_of
from test_backend_stack_arrays import agrees, compiled, normal

from adjudge.functions import parse
from backend.arrays import accumulating
from backend.arrays.accumulating import accumulated
from semantics.type_language import INTEGER
from transforms.gradient_programs import calling

N = "a0.shape[0]"
X, Y = np.array([1.5, -0.0, 2.0]), np.array([0.5, -4.0, 0.0])
SUM = "t[i, j] = s[i, j] + a0[i] * a1[j]"


def loop(what: str = SUM, after: str = "pass", begin: str = "s0") -> str:
    """A loop that carries a matrix s, to which each turn adds; what it begins with may be given out too."""
    made = [
        f"s0 = _empty(({N}, {N}), _f64)",
        f"for p in range({N}):",
        f"    for q in range({N}):",
        "        s0[p, q] = a0[p] - a1[q]",
    ]
    turn = [f"t = _empty(({N}, {N}), _f64)", f"for i in range({N}):", f"    for j in range({N}):", f"        {what}", after]
    lines = [*made, "x = 0.0", f"s = {begin}", "m = 0", "while m < 3:", *(f"    {line}" for line in [*turn, "m, s = (m + 1, t)"])]
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in [*lines, "return (s, x, s0)"])])


def in_place(text: str) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    return ast.unparse(ast.fix_missing_locations(accumulated(function, lambda name, axis: N)))


def test_a_sum_that_a_loop_carries_has_the_memory_of_the_old_one() -> None:
    found = in_place(loop())
    assert "t = s\n" in found
    assert "t[i, j] = t[i, j] + a0[i] * a1[j]" in found
    assert found.count("_empty(") == 2  # what the loop begins with is given out, so it is copied, once


def masked(what: str = "t[i] = x", last: str = "tm[i] = m[i] | (a1[i] > 0.0)", after: str = "pass") -> str:
    """A loop that carries a vector and its mask, and adds to both in one nest."""
    made = [f"s = _full(({N},), -0.0, _f64)", f"m = _full(({N},), False, _bool)", "y = 0.0", "n = 0"]
    turn = [f"t = _empty(({N},), _f64)", f"tm = _empty(({N},), _bool)", f"for i in range({N}):", "    x = s[i] + a0[i]"]
    turn += [f"    {what}", f"    {last}", after, "n, s, m = (n + 1, t, tm)"]
    lines = [*made, "while n < 3:", *(f"    {line}" for line in turn), "return (s, m, y)"]
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines)])


def test_a_mask_is_joined_in_place_beside_its_sum() -> None:
    found = in_place(masked())
    assert "t = s\n" in found
    assert "tm = m\n" in found
    assert bits(executed(found, X, Y)) == bits(executed(masked(), X, Y))


@pytest.mark.parametrize(
    ("text", "sum", "mask"),
    [
        (masked(last="y = y + s[i]; tm[i] = m[i] | True"), False, True),
        (masked("t[i] = x if m[i] else -0.0", "tm[i] = not m[i]"), True, True),
        (masked("tm[i] = not m[i]", "t[i] = x if m[i] else -0.0"), True, False),
        (masked("for j in range(2):\n                t[i] = s[i] + a0[j]"), False, True),
        (masked(after="y = y + s[0]"), True, True),
        (masked(after="y = y + s[0] * t[1]"), False, True),
    ],
    ids=["read after the sum", "both", "asked after it", "written several times", "read after the nest", "read beside the sum"],
)
def test_each_is_so_where_nothing_reads_the_old_one_after_it(text: str, sum: bool, mask: bool) -> None:
    found = in_place(text)
    assert ("t = s\n" in found, "tm = m\n" in found) == (sum, mask)
    assert bits(executed(found, X, Y)) == bits(executed(text, X, Y))


NEAR = {
    "the old one is read again, beside the sum": (SUM, "x = x + s[0, 1] * t[0, 0]"),
    "another element is read": ("t[i, j] = s[j, i] + a0[i]", "pass"),
    "its own sum is read": ("t[i, j] = s[i, j] + (t[i, j - 1] if j > 0 else 0.0)", "pass"),
    "the old one has another name": (SUM, "r = s; x = x + r[0, 0]"),
}


@pytest.mark.parametrize("near", NEAR)
def test_where_the_old_sum_is_still_needed_there_is_another(near: str) -> None:
    text = loop(*NEAR[near])
    assert in_place(text) == ast.unparse(ast.parse(text))


FIRST = ["t = _empty((N,), _f64)", "for k in range(N):", "    t[k] = s[k] + a0[k]", "u = _empty((N,), _f64)", "for j in range(N):"]
RENAMED = [*FIRST, "    u[j] = float(t[j])", "u[i] = 3.0", "x = x + s[0] * u[0]", "(s, i) = (u, i + 1)"]
TWO = [*FIRST, "    u[j] = s[j] + a1[j]", "(q, r, s) = (t, t, u)", "i = i + 1"]


@pytest.mark.parametrize("turn", [RENAMED, TWO], ids=["a sum whose name has become another's", "two sums with one array"])
def test_a_sum_that_is_not_made_in_place_reads_what_it_read(turn: list[str]) -> None:
    """A regression: of the first it read a name that was none any more, of the second what the other sum had written over."""
    made = ["r = _full((N,), 2.0, _f64)", "q, s = (r, r)", "x = 0.0", "i = 0", "while i < 3:"]
    lines = [*made, *(f"    {line}" for line in turn), "return (s, r, q, x)"]
    text = "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines)]).replace("N", N)
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    found = ast.unparse(ast.fix_missing_locations(accumulated(function, lambda name, axis: N, 2)))
    assert bits(executed(found, X, Y)) == bits(executed(text, X, Y))
    assert found[found.index("while") :].count("_empty(") == 1


@given(sums())
def test_of_several_sums_and_updates_no_bit_changes(text: str) -> None:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    found = ast.unparse(ast.fix_missing_locations(accumulated(function, lambda name, axis: N, 8)))
    assert bits(executed(found, X, Y)) == bits(executed(text, X, Y))
    event(f"{min(text.count('_empty(') - found.count('_empty('), 3)} arrays less, of 3 or more")


WHATS = [SUM, *(what for what, _ in NEAR.values()), "t[i, j] = a0[j]", "t[i, j] = s[i, j] * s[i, j] - s[0, j]"]
AFTERS = [*{after for _, after in NEAR.values()}, "x = x + s[0, 1]", "x = x + t[1, 0]", "t[0, 0] = x"]


@given(st.sampled_from(WHATS), st.sampled_from(AFTERS), st.lists(st.floats(-4.0, 4.0), min_size=4, max_size=4))
def test_no_bit_changes(what: str, after: str, numbers: list[float]) -> None:
    text = loop(what, after)
    x, y = np.array(numbers[:2]), np.array(numbers[2:])
    assert bits(executed(in_place(text), x, y)) == bits(executed(text, x.copy(), y.copy()))
    event("in place" if "t = s\n" in in_place(text) else "another")


def test_a_planted_bug_is_seen(monkeypatch: Any) -> None:
    """An element that is read at another place would be one that has been written over."""
    monkeypatch.setattr(accumulating, "_pairs", lambda nest, *_: [("t", "s")] if "s[j, i]" in ast.unparse(nest) else [])
    text, x, y = loop("t[i, j] = s[j, i] + a0[i]"), np.array([1.5, 2.0]), np.array([0.5, 4.0])
    assert bits(executed(in_place(text), x, y)) != bits(executed(text, x, y))


# programs


def rows(w, h, n: int):  # type: ignore[no-untyped-def]
    for _ in range(n):
        h = np.tanh(h * w[0] + w[2]) * w[1]
    return np.sum(h)


def same_rows(w, h, n: int):  # type: ignore[no-untyped-def]
    for _ in range(n):
        h = h * w[0] + np.sum(w[0:2], axis=0) - w[0] * w[-1]
    return np.sum(h)


def columns(w, h, n: int):  # type: ignore[no-untyped-def]
    for _ in range(n):
        h = np.tanh(np.expand_dims(w[0] * h, 1) @ np.expand_dims(h, 0) @ w[1])
    return np.sum(h)


@pytest.mark.parametrize("program", [rows, same_rows, columns])
def test_gradients_by_parts_have_the_references_bits(program: Any) -> None:
    arrays = (normal(3, 4), np.array([0.5, -0.0, 2.0, -1.0]))
    types = (*types_of(arrays), INTEGER)
    code, reference = compiled(calling(parse(program), "value_and_grad", (0, 1), types), types)
    for n in (0, 1, 3):
        assert agrees(code, reference, *arrays, n)


def test_rows_by_number_are_added_without_a_matrix_for_each() -> None:
    types = (*types_of((normal(3, 4), normal(4))), INTEGER)
    text = compiled(calling(parse(rows), "grad", 0, types), types)[0].code.alone
    turns = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.While)]
    assert not any("_full(" in ast.unparse(turn) for turn in turns)


def test_a_column_times_a_row_has_the_bits_of_the_product() -> None:
    def product(a, b):  # type: ignore[no-untyped-def]
        return np.expand_dims(a, 1) @ np.expand_dims(b, 0)

    given = (np.array([0.0, -0.0, 1.5, np.inf]), np.array([-0.0, 3.0, np.nan]))
    code, reference = compiled(parse(product), types_of(given))
    assert "_matrix_matrix" not in code.code.source
    assert agrees(code, reference, *given)
