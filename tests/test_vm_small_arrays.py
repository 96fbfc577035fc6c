"""Arrays of few elements, which the machine goes over itself: the reference's bits and errors, without the host where it can."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from vm_runs import agrees, applying, same_value

from backend.machine import Execution, execution, interpreter, load, small_arrays
from backend.machine.execution import FEW_COMPILED
from backend.machine.layout import FEW, ZERO_BITS
from semantics.arrays import Array
from semantics.edit import Edit, empty
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO

BOTH = ("python", "cpu")


def line(*items: Any) -> Array:
    return Array("f64", (len(items),), items)


NUMBERS = (0.0, -0.0, 1.5, -2.0, math.nan, math.inf)
LINE, GAPS, OTHER = line(*NUMBERS), line(1.0, ZERO, 2.0, ZERO, -0.0, math.nan), line(ZERO, ZERO, 4.0, 3.0, 0.5, ZERO)
OTHERS = line(*NUMBERS[::-1])
MATRIX, SQUARE = Array("f64", (2, 3), NUMBERS), Array("f64", (2, 2), (1.0, -1.0, 3.0, 0.25))
HOLED = Array("f64", (2, 3), GAPS.items)
DEEP = Array("f64", (2, 2, 2), (*SQUARE.items, 5.0, 6.0, 7.0, 8.0))
WHOLE, TRUTHS = Array("i64", (2, 2), (1, 2, 3, 4)), Array("bool", (2,), (True, False))
SINGLES, SCALAR, NONE = Array("f32", (2,), (1.0, 2.0)), Array("f64", (), (2.0,)), line()
LARGE = Array("f64", (FEW_COMPILED + 1,), (0.5,) * (FEW_COMPILED + 1))

DONE = [
    *[(name, pair) for name in small_arrays.BY_PAIRS for pair in ((LINE, LINE), (MATRIX, 3), (-0.5, MATRIX), (NONE, NONE))],
    *[(name, (MATRIX,)) for name in ("neg", "exp", "tanh", "cosh", "sqrt", "ndim", "shape")],
    *[("getitem", (x, i)) for x in (MATRIX, HOLED, DEEP, WHOLE) for i in (0, 1, -1, -2)],
    *[("inject", (LINE, i, 2.5)) for i in (0, 5, -1, -6)],
    *[("inject", (x, i, line(1.0, math.nan, ZERO))) for x in (MATRIX, HOLED) for i in (0, 1, -1)],
    ("inject", (DEEP, 1, SQUARE)),
    ("inject", (line(0.5), 0, 2.5)),
    *[("gadd", pair) for pair in ((LINE, GAPS), (GAPS, LINE), (GAPS, OTHER), (GAPS, GAPS), (MATRIX, MATRIX))],
    ("gadd", ((1.0, GAPS, (LINE,)), (2.0, OTHER, (GAPS,)))),
    *[("sum_to", pair) for pair in ((LINE, 1.0), (HOLED, MATRIX), (MATRIX, MATRIX), (1.0, 2.0), (SCALAR, SCALAR))],
    *[("like", pair) for pair in ((LINE, GAPS), (1.0, 2.0))],
    *[("instantiate", pair) for pair in ((LINE, LINE), (HOLED, MATRIX), (ZERO, MATRIX), (ZERO, NONE))],
    *[("put", (x, i, v)) for x in (LINE, GAPS) for i in (0, 3, -1, -6) for v in (-0.0, ZERO)],
    ("put", (line(ZERO, 1.0), 0, 2.0)),
    *[("final", (x, i)) for x in (LINE, SINGLES) for i in (0, -1)],
    *[("keep", (x, c)) for x in (1.0, LINE, ZERO, (1.0, LINE)) for c in (True, False)],
    ("reduce_sum", (MATRIX, None, False)),
    *[("reshape", (x, shape)) for x, shape in ((MATRIX, (3, 2)), (HOLED, (6,)), (WHOLE, (1, 4)), (TRUTHS, (2, 1)), (NONE, (3, 0)))],
    ("reshape", (SCALAR, (1, 1))),
    *[("as_array", (x, None)) for x in (MATRIX, LARGE, WHOLE, TRUTHS)],
    *[("places", (x,)) for x in (MATRIX, HOLED, NONE)],
    *[("expand_dims", (x, i)) for x in (MATRIX, HOLED, WHOLE) for i in (0, 1, 2, -1, -3)],
    *[("swap_last", (x,)) for x in (MATRIX, DEEP, Array("f64", (2, 3, 1), NUMBERS), Array("f64", (2, 0), ()))],
    *[("spread", (-0.0, x, None, False)) for x in (MATRIX, NONE)],
    *[
        ("matmul", pair)
        for pair in ((SQUARE, MATRIX), (MATRIX, line(1.0, -0.0, 3.0)), (line(2.0, math.inf), MATRIX), (LINE, OTHERS))
    ],
    *[("matmul", (Array("f64", (2, 1), (1.0, math.nan)), Array("f64", (1, n), (0.5,) * n))) for n in (0, 2)],
]


@pytest.mark.parametrize(("name", "arguments"), DONE, ids=[f"{name}-{k}" for k, (name, _) in enumerate(DONE)])
def test_the_machine_gives_the_references_bits_and_steps_and_asks_no_host(name: str, arguments: Any, monkeypatch: Any) -> None:
    program = applying(name, len(arguments))
    wanted = run(program, *arguments)
    monkeypatch.setattr(execution, "serve", None)
    for target in BOTH:
        same_value(Execution(load(program), target, patience=0).run(arguments), wanted)


NEAR = [
    *[(name, (x, y)) for name in ("add", "div") for x, y in ((LINE, MATRIX), (WHOLE, SQUARE), (SINGLES, 1.0), (SCALAR, LINE))],
    *[("mul", pair) for pair in ((LINE, True), (GAPS, 2.0), (LARGE, LARGE), (LINE, ZERO), (line(1.0, 2.0), LINE))],
    *[("neg", (x,)) for x in (WHOLE, TRUTHS, GAPS, SCALAR, "s")],
    *[("exp", (x,)) for x in (WHOLE, GAPS, LARGE)],
    *[("getitem", (x, i)) for x in (MATRIX, LINE) for i in (2, -7, (0, 1), (0,))],
    *[("inject", given) for given in ((LINE, 6, 1.0), (LINE, -7, 1.0), (LARGE, 3, 1.0), (LINE, (1,), 2.0), (MATRIX, (0, 1), 2.0))],
    *[("inject", given) for given in ((SINGLES, 1, 2.0), (MATRIX, 2, line(1.0, 2.0, 3.0)))],
    *[("gadd", pair) for pair in ((LINE, MATRIX), (LARGE, LARGE), (SINGLES, SINGLES))],
    *[("sum_to", pair) for pair in ((GAPS, 1.0), (NONE, 1.0), (MATRIX, line(1.0, 2.0, 3.0)), (SINGLES, line(1.0, 2.0)), (LINE, 3))],
    *[("like", pair) for pair in ((1.0, LINE), (line(1.0, 2.0, 3.0), MATRIX), (SINGLES, line(1.0, 2.0)), (ZERO, LINE))],
    *[("instantiate", pair) for pair in ((LINE, MATRIX), (ZERO, WHOLE), (ZERO, LARGE), (SINGLES, line(1.0, 2.0)), (LINE, GAPS))],
    *[("put", given) for given in ((LINE, 6, 1.0), (LINE, 0, 1), (MATRIX, 0, 1.0), (LARGE, 1, 2.0), (LINE, (0,), 1.0))],
    *[("final", (x, i)) for x, i in ((MATRIX, 0), (LINE, (0,)), (1.0, 0))],
    *[("keep", (x, c)) for x, c in ((line(1.0, 2.0), TRUTHS), (LINE, 1))],
    *[("reduce_sum", given) for given in ((MATRIX, 0, False), (MATRIX, None, True), (NONE, None, False), (WHOLE, None, False))],
    *[(name, (x,)) for name in ("ndim", "shape") for x in (1.0, ZERO)],
    *[("reshape", (MATRIX, shape)) for shape in ((-1,), (3, -2), (4,), (), 6, (2, 3.0), (2**40, 2**40), ZERO)],
    *[("reshape", given) for given in ((LARGE, (1, FEW_COMPILED + 1)), (1.0, (1,)), (ZERO, (1,)), (line(1.0), ()))],
    *[
        ("expand_dims", given)
        for given in ((MATRIX, 3), (MATRIX, -4), (MATRIX, (0, 1)), (MATRIX, True), (LARGE, 0), (ZERO, 0), (1.0, 0))
    ],
    *[("as_array", (x, None)) for x in (NONE, HOLED, SINGLES, SCALAR, 1.0, (LINE, LINE), Array("f64", (0, 2), ()))],
    ("as_array", (MATRIX, "i64")),
    *[("places", (x,)) for x in (LARGE, WHOLE, SCALAR, (LINE, 1.0), 2.0)],
    *[("swap_last", (x,)) for x in (LINE, WHOLE, SINGLES, ZERO, 1.0)],
    *[("spread", (1.0, MATRIX, *how)) for how in ((0, False), (None, True), (None, 1), ((0, 1), False))],
    *[("spread", (x, y, None, False)) for x, y in ((1, MATRIX), (LINE, MATRIX), (1.0, WHOLE), (1.0, LARGE), (ZERO, MATRIX))],
    *[
        ("matmul", pair)
        for pair in ((MATRIX, SQUARE), (WHOLE, MATRIX), (WHOLE, WHOLE), (DEEP, DEEP), (SCALAR, MATRIX), (NONE, NONE))
    ],
    *[("matmul", pair) for pair in ((MATRIX, 2.0), (ZERO, MATRIX), (LARGE, LARGE), (line(1.0, ZERO), SQUARE), (TRUTHS, SQUARE))],
]


@pytest.mark.parametrize(("name", "arguments"), NEAR, ids=[f"{name}-{k}" for k, (name, _) in enumerate(NEAR)])
def test_what_the_machine_leaves_to_the_host_ends_as_on_the_reference(name: str, arguments: Any) -> None:
    agrees(applying(name, len(arguments)), arguments, BOTH)


ITEMS = st.lists(st.floats(width=64) | st.just(ZERO), min_size=2, max_size=6)


@given(st.data())
def test_sums_of_the_sensitivities_of_elements_are_those_of_the_reference(data: Any) -> None:
    t = data.draw(ITEMS.map(lambda items: line(*(0.5 for _ in items))))
    names = data.draw(st.lists(st.integers(0, len(t.items) - 1), min_size=1, max_size=4))
    edit = Edit(empty())
    graph = edit.graph("f")
    x, d = edit.parameter(graph, "x"), edit.parameter(graph, "d")
    found = d
    for k, place in enumerate(names):
        part = edit.call(graph, TABLE["inject"], x, edit.constant(place), edit.constant(0.5 + k))
        found = edit.call(graph, TABLE["gadd"], found, part)
    edit.output(graph, edit.call(graph, TABLE["instantiate"], found, x))
    given_first = data.draw(st.just(ZERO) | st.lists(st.floats() | st.just(ZERO), min_size=len(t.items), max_size=len(t.items)))
    event("dense and parts" if given_first is not ZERO else "parts")
    first = ZERO if given_first is ZERO else line(*given_first)
    agrees(edit.program, (t, first), BOTH)


def test_how_many_elements_are_few_is_said_by_who_runs_the_machine() -> None:
    compiled = Execution(load(applying("ndim", 1)), "cpu", patience=0)
    compiled.run((LINE,))
    assert compiled.words.integers[FEW] == FEW_COMPILED
    on_cpython = Execution(load(applying("ndim", 1)), "python")
    on_cpython.run((LINE,))
    assert on_cpython.words.integers[FEW] < FEW_COMPILED


def test_where_there_is_no_room_a_row_is_done_again_in_a_larger_buffer() -> None:
    edit = Edit(empty())
    graph = edit.graph("f")
    value = x = edit.parameter(graph, "x")
    for _ in range(40):
        value = edit.call(graph, TABLE["add"], edit.call(graph, TABLE["neg"], value), x)
    edit.output(graph, value)
    wanted = run(edit.program, LINE)
    tight = Execution(load(edit.program), "cpu", patience=0, stack=1 << 8, smallest=1 << 10)
    begun = tight.words.count
    same_value(tight.run((LINE,)), wanted)
    assert tight.words.count > begun


def test_a_sum_that_forgets_one_of_two_sensitivities_is_found(monkeypatch: Any) -> None:
    program, machine = applying("gadd", 2), interpreter.interpreted()
    agrees(program, (GAPS, OTHER), ("python",))
    monkeypatch.setattr(machine, "add_arrays", lambda *given: machine.copy(given[0], given[2], given[4]))
    with pytest.raises(AssertionError):
        agrees(program, (GAPS, OTHER), ("python",))


def test_a_nan_with_the_bits_that_stand_for_a_zero_is_a_number_and_another_is_left_as_it_is() -> None:
    (bad,) = struct.unpack("d", struct.pack("q", ZERO_BITS))
    for name, operands in (
        ("inject", (LINE, 0, bad)),
        ("put", (GAPS, 0, bad)),
        ("add", (bad, ZERO)),
        ("copysign", (1.0, -math.nan)),
    ):
        agrees(applying(name, len(operands)), operands, BOTH)
