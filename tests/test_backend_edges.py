"""
Edges alone are filled where the rest is written; reads go before the sum that takes the memory of what they read; parts are
computed where they are read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import bits, executed, functions
from test_backend_arrays import types_of
from test_backend_stack_arrays import agrees, compiled, normal

import backend
from adjudge.functions import parse
from backend.arrays import earlier, edges
from backend.arrays.earlier import read_earlier
from backend.arrays.edges import edged
from backend.lowering.first_order import lowered
from backend.status import FULL_AT, LINKED, OK, SIZES
from semantics.machine import Machine
from semantics.type_language import INTEGER, REAL
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

N = "a0.shape[0]"
X, Y = np.array([1.5, -0.0, 2.0, -7.25]), np.array([0.1, 3.0, -2.0, 5.0])


def kernel(*lines: str) -> str:
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines)])


def changed(text: str, change: Callable[[ast.FunctionDef], None]) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    change(function)
    return ast.unparse(ast.fix_missing_locations(function))


# edges

FULL = f"a2_ = _full(({N},), -0.0, _f64)"
WHOLE = (f"a2_ = _empty(({N},), _f64)", f"for k in range({N}):", "    a2_[k] = -0.0")
INNER = (f"for i in range({N} - 1):", "    a2_[1 + i] = a0[i] * a1[i]")
OUTER = (f"for i in range({N} - 1):", "    a2_[i] = a0[i + 1]")
BETWEEN = (f"for i in range({N} - 3):", "    a2_[2 + i] = a0[i]", "    x = a2_[2 + i]")
ALL = (f"for i in range({N}):", "    a2_[i] = a0[i]")
END = "return (a2_, fuel, 0)"


@pytest.mark.parametrize("fill", [(FULL,), WHOLE], ids=["made full", "filled"])
@pytest.mark.parametrize("rest", [INNER, OUTER, BETWEEN, ALL], ids=["the first", "the last", "both ends", "none"])
@pytest.mark.parametrize("size", [0, 1, 2, 4])
def test_what_is_written_is_not_filled(fill: tuple[str, ...], rest: tuple[str, ...], size: int) -> None:
    text = kernel(*fill, *rest, END)
    found = changed(text, edged)
    assert "_full(" not in found
    assert found.count("for ") == 1
    assert bits(executed(found, X[:size], Y[:size])) == bits(executed(text, X[:size], Y[:size]))


NEAR = {
    "read before it is written": (FULL, "x = a2_[0]", *INNER),
    "read by another name": (FULL, "a3_ = a2_", "x = a3_[0]", *INNER),
    "another element is read in a turn": (FULL, INNER[0], "    a2_[1 + i] = a2_[i] + 1.0"),
    "written in a branch": (FULL, INNER[0], "    if a0[i] > 0.0:", "        a2_[1 + i] = a0[i]"),
    "a turn is left": (FULL, INNER[0], "    if a0[i] < 0.0:", "        break", "    a2_[1 + i] = a0[i]"),
    "fewer turns": (FULL, f"for i in range({N} // 2):", "    a2_[1 + i] = a0[i]"),
    "beyond the end": (FULL, f"for i in range({N} - 1):", "    a2_[2 * i // 2] = a0[i]"),
    "another is written, and may be the same": (
        f"a3_ = _empty(({N},), _f64)",
        f"a4_ = _empty(({N},), _f64)",
        "a5_ = a3_",
        "while True:",
        "    a5_ = a4_",
        "    break",
        f"for k in range({N}):",
        "    a3_[k] = -0.0",
        f"for k in range({N}):",
        "    a4_[k] = a0[k]",
        "a2_ = a3_",
    ),
    "added to": (FULL, INNER[0], "    a2_[1 + i] = a2_[1 + i] + a0[i]"),
}


@pytest.mark.parametrize("near", NEAR)
def test_what_may_be_read_is_filled(near: str) -> None:
    text = kernel(*NEAR[near], END)
    assert changed(text, edged) == ast.unparse(ast.parse(text))


ROWS = """
def f(x, y, n: int):
    points = [(x * (i + 1), y, 0.1) for i in range(5)]
    s = 0.0
    for t in range(n):
        for p in points:
            s = s * 0.5 + p[0] * p[0] + p[1] * p[1] + p[2]
    return s
"""


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_of_arrays_that_take_turns_each_is_filled(turns: int) -> None:
    """Two sensitivities may have had one memory; what is written of one was taken for the other's, and kept what it had held."""
    types, point = (REAL, REAL, INTEGER), (0.3, 0.4, turns)
    program = calling(parse_text(ROWS, "f"), "grad", (0, 1), types)
    assert same(backend.compile(program, types, "python")(*point), Machine(expand(program, "ssa")).run(point).value)


def test_a_name_for_certain_is_given_once() -> None:
    made, *filled = WHOLE
    lines = (made, "a3_ = a2_", *filled, f"for i in range({N}):", "    a3_[i] = a0[i]", END)
    assert "-0.0" not in changed(kernel(*lines), edged)
    twice = kernel("a3_ = a0", *lines)
    assert changed(twice, edged) == ast.unparse(ast.parse(twice))


@given(functions())
def test_no_bit_changes_where_edges_alone_are_filled(text: str) -> None:
    found = changed(text, edged)
    assert bits(executed(found, X, Y)) == bits(executed(text, X, Y))
    event("fewer fills" if found != ast.unparse(ast.parse(text)) else "as many")


def test_edges_that_are_left_out_would_be_seen(monkeypatch: Any) -> None:
    monkeypatch.setattr(edges, "_filled", lambda *_: [])
    text = kernel(FULL, *INNER, END)
    assert bits(executed(changed(text, edged), X, Y)) != bits(executed(text, X, Y))


# reads before the sum

SUM = (f"t = _empty(({N},), _f64)", f"for i in range({N}):", "    t[i] = s[i] + a0[i]")
READ = (f"u = _empty(({N},), _f64)", f"for j in range({N} - 1):", "    u[j] = s[1 + j] * 2.0")
USE = (f"for k in range({N} - 1):", "    y = y + u[k]", "    t[k] = t[k] * u[k]")


def carried(*after: str) -> str:
    """A loop that carries a vector, to which each turn adds, and then does something else."""
    turn = [*SUM, *after, "n, s = (n + 1, t)"]
    lines = [f"s = _full(({N},), 0.5, _f64)", "n, y = (0, 0.0)", "while n < 3:", *(f"    {line}" for line in turn), "return (s, y)"]
    return kernel(*lines)


def brought(function: ast.FunctionDef) -> None:
    """What is read of s goes before the sum."""
    loop = next(s for s in function.body if isinstance(s, ast.While))
    nest = next(s for s in loop.body if isinstance(s, ast.For))
    read_earlier(loop.body, nest, ["s"])


def places(text: str) -> tuple[int, int]:
    """Where the sum stands, and the first read after which there is none."""
    return text.index("t[i] = s[i] + a0[i]"), text.rindex("s[1 + j]")


def test_a_read_goes_before_the_sum_with_what_it_needs() -> None:
    text = carried("x = a0[0]", *READ, *USE)
    found = changed(text, brought)
    total, read = places(found)
    assert read < total
    assert found.index("u = _empty") < read
    assert found.index("x = a0[0]") > total  # which it does not need
    assert bits(executed(found, X, Y)) == bits(executed(text, X, Y))


ROOM = ("i9 = n + 0", "if i9 >= 5:", f"    return (s, y, {FULL_AT + 1})", "if i9 != n:", f"    return (s, y, {LINKED})")


def test_a_read_goes_past_tests_of_room_after_which_all_runs_again() -> None:
    text = carried(*ROOM, *READ, *USE)
    found = changed(text, brought)
    total, read = places(found)
    assert read < total < found.index("if i9 >= 5")
    assert bits(executed(found, X, Y)) == bits(executed(text, X, Y))


@pytest.mark.parametrize("last", [1, 3])
def test_tests_before_a_read_go_with_it(last: int) -> None:
    text = carried("i9 = n + 1", f"if i9 > {last}:", f"    return (s, y, {SIZES})", *READ, *USE)
    found = changed(text, brought)
    total, read = places(found)
    assert found.index("i9 = n + 1") < found.index(f"if i9 > {last}") < read < total
    assert bits(executed(found, X, Y)) == bits(executed(text, X, Y))


STAYS = {
    "a test that needs the sum stands between": ("if t[0] > 9.0:", f"    return (s, y, {SIZES})", *READ),
    "the value is given between": ("if n > 1:", f"    return (s, y, {OK})", *READ),
    "the read needs the sum": (READ[0], READ[1], "    u[j] = s[1 + j] * t[j]"),
    "what it needs needs the sum": ("x = t[0]", READ[0], READ[1], "    u[j] = s[1 + j] * x"),
    "it writes to what the sum reads": (READ[1], "    a0[j] = s[1 + j] * 2.0"),
    "it writes to what has another name": (READ[0], "v = u", *READ[1:], "y = y + v[0]"),
    "a test stands between": ("if a0[0] > 9.0:", "    return (s, y)", *READ),
}


@pytest.mark.parametrize("stays", STAYS)
def test_a_read_stays_where_the_order_may_matter(stays: str) -> None:
    text = carried(*STAYS[stays])
    assert changed(text, brought) == ast.unparse(ast.parse(text))


@given(
    st.lists(
        st.sampled_from(
            [
                *STAYS.values(),
                ("if a0[0] > 0.0:", f"    return (s, y, {SIZES})", *READ),
                (*READ, *USE),
                ("v = s", "y = y + v[0]"),
                ("x = t[0]", "y = y + x"),
            ]
        ),
        min_size=1,
        max_size=3,
    )
)
def test_no_bit_changes_where_reads_go_first(parts: list[tuple[str, ...]]) -> None:
    text = carried(*(line for part in parts for line in part))
    found = changed(text, brought)
    assert bits(executed(found, X.copy(), Y)) == bits(executed(text, X.copy(), Y))
    event("earlier" if found != ast.unparse(ast.parse(text)) else "as it was")


def test_an_order_that_matters_would_be_seen(monkeypatch: Any) -> None:
    monkeypatch.setattr(earlier, "_apart", lambda a, b: not a.writes & b.writes)
    text = carried(*STAYS["the read needs the sum"], *USE)
    assert bits(executed(changed(text, brought), X, Y)) != bits(executed(text, X, Y))


# programs


def shifted(x, n: int):  # type: ignore[no-untyped-def]
    y = x * 0.5
    for _ in range(n):
        k = np.concatenate((x[:1], x[1:] * y[:-1]))
        y = y + 0.25 * np.concatenate((x[:1], x[1:] * (y + k)[:-1]))
    return y[-1]


@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_the_gradient_of_what_is_shifted_has_the_references_bits(size: int) -> None:
    given = normal(size)
    types = (*types_of((given,)), INTEGER)
    code, reference = compiled(calling(parse(shifted), "value_and_grad", (0,), types), types)
    for n in (0, 1, 2, 5):
        assert agrees(code, reference, given, n)
    assert "_full(" in code.code.source


def joined(x, y):  # type: ignore[no-untyped-def]
    return np.sum(np.tanh(np.concatenate((x, y))))


def joined_and_shifted(x, y, b):  # type: ignore[no-untyped-def]
    return np.sum(np.tanh(np.concatenate((x, y)) + b))


@pytest.mark.parametrize(("program", "sizes", "divisions"), [(joined, (3, 4), 4), (joined_and_shifted, (3, 4, 7), 2)])
def test_parts_of_what_nothing_else_reads_are_computed_where_they_are_read(program: Any, sizes: Any, divisions: int) -> None:
    """1 / cosh² is two divisions, of each part or of all; cosh, which it reads twice, is computed once, for all."""
    given = tuple(map(normal, sizes))
    types = types_of(given)
    code, reference = compiled(calling(parse(program), "grad", tuple(range(len(sizes))), types), types)
    assert (code.code.source.count("_div("), code.code.source.count("_cosh(")) == (divisions, 1)
    assert agrees(code, reference, *given)
    assert agrees(code, reference, given[0][:0], given[1], *(b[: sizes[1]] for b in given[2:]))


# what is injected into what may be ZERO


def elements(x, n: int):  # type: ignore[no-untyped-def]
    def part(k, depth):  # type: ignore[no-untyped-def]
        if depth == 0:
            return 1.0
        return x[k] * part(k, depth - 1) + x[k + 1] * part(k + 1, depth - 1)

    return part(0, n)


def rows_and_elements(x, n: int):  # type: ignore[no-untyped-def]
    def part(k, depth):  # type: ignore[no-untyped-def]
        if depth == 0:
            return 1.0
        return np.sum(x[k]) * part(k, depth - 1) + x[k + 1, 0] * part(k + 1, depth - 1)

    return part(0, n)


@pytest.mark.parametrize(("program", "shape", "injected"), [(elements, (5,), 4), (rows_and_elements, (5, 2), 2)])
def test_an_element_is_added_alone(program: Any, shape: Any, injected: int) -> None:
    """A row is no element: it is written to an array of its own. Depth first, each step back adds in two places."""
    given = normal(*shape)
    types = (*types_of((given,)), INTEGER)
    derivative = calling(parse(program), "grad", 0, types)
    found = lowered(derivative, types, linked=True).source
    assert found.count("in _alone(1):") == injected
    code, reference = compiled(derivative, types)
    for n in (0, 1, 2, 3):
        assert agrees(code, reference, given, n)
