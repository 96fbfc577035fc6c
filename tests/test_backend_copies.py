"""Loops that first turns make several of: where more go over a range without, types are joined; values have the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from test_backend_arrays import normal, types_of

import backend
from adjudge.values import to_value
from backend.lowering.copies import has_left, is_crowded, ranges
from backend.lowering.flow import loops
from semantics.machine import Machine
from semantics.type_language import REAL
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

SPRINGS = """
def f(h, x):
    ps = [(v, 1.0) for v in x]
    for turn in range(3):
        ps = [(p + h * q, q - h * p) for p, q in ps]
    return sum([p * p for p, q in ps])
"""
NEWTON = """
def f(h, x):
    s = 0.0
    for v in x:
        s = s + h * v * v
    return s
"""


@pytest.fixture(autouse=True)
def unremembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.store.remembered", lambda key, make: make())


def gradient(text: str) -> tuple[backend.Compiled, Machine]:
    types = (REAL, *types_of((normal(5),)))
    program = calling(parse_text(text, "f"), "value_and_grad", (0, 1), types)
    return backend.compile(program, types, "python"), Machine(expand(program, "ssa"))


def test_loops_of_which_there_were_many_go_over_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[bool] = []

    def noted(*given: object) -> bool:
        found.append(is_crowded(*given))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr("backend.lowering.lower.is_crowded", noted)
    code, reference = gradient(SPRINGS)
    assert any(found)
    assert ranges(code.code.alone) >= 3
    assert not has_left(code.code.alone)
    for n in (1, 2, 9):
        x = np.arange(n) - 0.5 * n  # every sum is exact
        assert same(code(*map(to_value, (0.25, x))), reference.run([*map(to_value, (0.25, x))]).value)


UNREACHED = """
def f(h, x, w):
    y = x * 1.0
    for turn in range(3):
        for again in range(2):
            for i in range(x.shape[0]):
                if x[i] > 0.1:
                    y[i] = 0.125 + (y[i] + h)
                y[i] = w[i] * 0.0625
    s = 0.0
    for i in range(x.shape[0]):
        s = s + y[i]
    return s
"""


def test_loops_that_inference_has_left_behind_are_not_counted() -> None:
    """A regression: they were entered nowhere, and looked for without end."""
    types = (REAL, *types_of((normal(5), normal(5))))
    program = calling(parse_text(UNREACHED, "f"), "grad", (0, 1, 2), types)
    code, reference = backend.compile(program, types, "python"), Machine(expand(program, "ssa"))
    given = [*map(to_value, (0.25, np.array([0.5, -1.0]), np.array([1.0, 2.0])))]
    assert same(code(*given), reference.run(given).value)


def test_near_miss_one_loop_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.lowering.lower.goes_further", None)  # nothing is compared
    code, _ = gradient(NEWTON)
    assert ranges(code.code.alone) == 1


LEFT = """
def kernel(a0, reals):
    while True:
        if c < b:
            return (a0, 5)
        a0[c - b] = reals[c]
        {inside}
        c = c - 1
"""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (LEFT.format(inside="pass"), True),
        (LEFT.format(inside="while True: break"), False),
        (LEFT.format(inside="for k in _apart(i7turns): pass"), False),
        (LEFT.format(inside="for k in range(1): pass"), True),
        (LEFT.format(inside="pass").replace("a0[c - b]", "reals[c - b]"), False),
        (LEFT.format(inside="pass").replace("c < b", "c < 0"), False),
    ],
)
def test_what_is_left_is_a_loop_over_cells_that_writes_elements(text: str, left: bool) -> None:
    assert has_left(text) == left


INSIDE = "while i < j: i = i + 1"


def test_a_loop_that_writes_around_loops_is_left_if_that_is_asked() -> None:
    """The writes of the loop inside are its own, and it goes over no cells."""
    assert not has_left(LEFT.format(inside=INSIDE))
    assert has_left(LEFT.format(inside=INSIDE), around=True)
    assert not has_left(LEFT.format(inside=INSIDE).replace("c < b", "c < 0"), around=True)


def test_loops_are_counted_by_where_they_are_entered() -> None:
    nest = {"": ("a",), "a": ("b", "z"), "b": ("c", "a"), "c": ("b",), "z": ()}
    assert sorted(loops("", nest)) == [("a",), ("b",)]
    assert sorted(loops("", nest | {"": ("a", "c")})) == [("a", "c")]
