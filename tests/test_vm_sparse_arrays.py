"""Sensitivities of large arrays of which a part has one: sums in place that leave what was there before, without the host."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from vm_runs import agrees, applying, same_value
from vm_stress import as_if_large

from backend.machine import Execution, deferred, execution, load
from semantics.arrays import Array
from semantics.edit import Edit, empty
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO

BOTH = ("python", "cpu")
ROWS, WIDTH = 3, 400  # more elements than the machine writes out, and rows of which three are as many as it
MATRIX = Array("f64", (ROWS, WIDTH), tuple(0.5 * k for k in range(ROWS * WIDTH)))
VECTOR = Array("f64", (ROWS * WIDTH,), MATRIX.items)
GAPS = Array("f64", VECTOR.shape, tuple(ZERO if k % 3 else x for k, x in enumerate(VECTOR.items)))
ROW = Array(
    "f64", (WIDTH,), tuple(ZERO if k % 7 == 0 else -0.0 if k % 5 == 0 else math.nan if k == 9 else 1.0 / k for k in range(WIDTH))
)
OTHER = Array("f64", (WIDTH,), tuple(0.1 * k for k in range(WIDTH)))
NARROW = 40
FEW = 16
SMALL = Array("f64", (ROWS, NARROW), MATRIX.items[: ROWS * NARROW])
LINE, LINE_GAPS = (Array("f64", (ROWS * NARROW,), x.items[: ROWS * NARROW]) for x in (VECTOR, GAPS))
PARTS = tuple(Array("f64", (NARROW,), x.items[:NARROW]) for x in (ROW, OTHER))
"""The same, but smaller by far: for a machine that writes out FEW elements at most."""

PLACES = (0, 1, 7, ROWS * NARROW - 1, -1, -7)

Step = tuple[str, int, int]


def of_steps(steps: Sequence[Step], part: Any) -> Program:
    """
    A function of an array, a first sensitivity of it and two of its parts. Each step makes a value, by what it says of places or of
    the values before; the result is all that there is in the end, so that what has been changed is looked at too.
    """
    edit = Edit(empty())
    graph = edit.graph("f")
    x, first, *parts = (edit.parameter(graph, name) for name in ("x", "first", "p", "q"))

    def call(name: str, *operands: Any) -> Any:
        return edit.call(graph, TABLE[name], *operands)

    def at(b: int) -> Any:
        return edit.constant(part(b))

    found = [first]
    for name, a, b in steps:
        if name == "part":
            found.append(call("inject", x, at(b), parts[a % 2]))
        elif name == "gadd":
            found.append(call("gadd", found[a % len(found)], found[b % len(found)]))
        else:
            found.append(call("put", found[a % len(found)], at(b), edit.constant(ZERO if b % 2 else 2.5)))
    looked = [call("getitem", d, at(k)) for k in (0, 1) for d in found] + [call("instantiate", d, x) for d in found]
    edit.output(graph, call("make_tuple", *found, *looked))
    return edit.program


def steps(*names: str) -> Any:
    return st.lists(st.tuples(st.sampled_from(names), st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=14)


@given(steps("part", "gadd", "gadd"), st.sampled_from([ZERO, SMALL]))
def test_sums_of_rows_are_those_of_the_reference_whatever_is_added_to_what_before(made: list[Step], first: Any) -> None:
    program = of_steps([("part", 0, 0), ("part", 1, 1), *made], lambda k: k % ROWS - (ROWS if k > 2 * ROWS else 0))
    event("dense" if first is SMALL else "parts")
    start = SMALL if first is SMALL else Array("f64", SMALL.shape, (ZERO, *SMALL.items[1:]))
    with as_if_large(deferred.LEAST, FEW):
        agrees(program, (SMALL, start, *PARTS), BOTH)


@given(steps("part", "gadd", "gadd", "put"), st.sampled_from([LINE, LINE_GAPS]))
def test_elements_are_added_put_and_read_as_on_the_reference(made: list[Step], first: Array) -> None:
    program = of_steps([("part", 0, 0), *made], lambda k: PLACES[k % len(PLACES)])
    event(", ".join(sorted({name for name, _, _ in made})))
    with as_if_large(deferred.LEAST, FEW):
        agrees(program, (LINE, first, 3.5, -0.0), BOTH)


ROUND = [step for k in range(12) for step in (("part", k, k), ("gadd", 0 if k == 0 else 2 * k, 2 * k + 1))]


def test_an_old_sum_is_what_it_was_after_all_that_was_made_of_it() -> None:
    program = of_steps(ROUND, lambda k: k % ROWS)
    arguments = (MATRIX, Array("f64", MATRIX.shape, (ZERO, *MATRIX.items[1:])), ROW, OTHER)
    agrees(program, arguments, BOTH)


def test_a_sum_over_rows_needs_no_host(monkeypatch: Any) -> None:
    edit = Edit(empty())
    graph = edit.graph("f")
    x, row = edit.parameter(graph, "x"), edit.parameter(graph, "row")
    found = edit.call(graph, TABLE["inject"], x, edit.constant(-1), row)
    for k in range(12):
        part = edit.call(graph, TABLE["inject"], x, edit.constant(k % ROWS), row)
        found = edit.call(graph, TABLE["gadd"], *((found, part) if k % 2 else (part, found)))
    read = edit.call(graph, TABLE["getitem"], found, edit.constant(1))
    whole = edit.call(graph, TABLE["instantiate"], edit.call(graph, TABLE["sum_to"], found, x), x)
    edit.output(graph, edit.call(graph, TABLE["make_tuple"], read, whole))
    wanted = run(edit.program, MATRIX, ROW)
    monkeypatch.setattr(execution, "serve", None)
    for target in BOTH:
        same_value(Execution(load(edit.program), target, patience=0).run((MATRIX, ROW)), wanted)


@pytest.mark.parametrize("smallest", [1 << 13, 1 << 14, 1 << 15])
def test_sums_survive_the_collector_wherever_it_comes(smallest: int) -> None:
    program = of_steps(ROUND, lambda k: k % ROWS)
    arguments = (MATRIX, MATRIX, ROW, OTHER)
    for target in BOTH:
        tight = Execution(load(program), target, patience=0, stack=1 << 9, smallest=smallest)
        same_value(tight.run(arguments), run(program, *arguments))
        assert tight.words.count > smallest


def test_the_sum_of_tuples_is_done_again_where_there_was_no_room_for_a_later_part() -> None:
    edit = Edit(empty())
    graph = edit.graph("f")
    x, first, row = (edit.parameter(graph, name) for name in ("x", "first", "row"))
    call = lambda name, *given: edit.call(graph, TABLE[name], *given)  # noqa: E731
    part = call("inject", x, edit.constant(1), row)
    held = call("make_tuple", call("gadd", first, part), x, x)
    for _ in range(8):
        held = call("gadd", held, call("make_tuple", part, x, x))
    edit.output(graph, held)
    arguments = (MATRIX, Array("f64", MATRIX.shape, (ZERO, *MATRIX.items[1:])), OTHER)
    wanted = run(edit.program, *arguments)
    for smallest in range(6000, 12_000, 613):
        same_value(Execution(load(edit.program), "cpu", patience=0, stack=1 << 9, smallest=smallest).run(arguments), wanted)


NEAR = [
    *[("gadd", pair) for pair in ((GAPS, 1.0), (GAPS, MATRIX), (GAPS, (1.0,)))],
    *[("inject", given) for given in ((VECTOR, ROWS * WIDTH, 1.0), (MATRIX, 1, 2.0), (MATRIX, (1, 2), 2.0), (VECTOR, 0, ROW))],
    *[("inject", given) for given in ((VECTOR, True, 1.0), (VECTOR, 3, 1))],
]


@pytest.mark.parametrize(("name", "arguments"), NEAR, ids=[f"{name}-{k}" for k, (name, _) in enumerate(NEAR)])
def test_what_has_no_place_or_another_shape_ends_as_on_the_reference(name: str, arguments: Any) -> None:
    agrees(applying(name, len(arguments)), arguments, BOTH)
