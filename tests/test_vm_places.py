"""Rows of arrays that choose, number and send back, on the machine's loops: the reference's bits, and its errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vm_runs import agrees, outcome, same_outcome, same_value

from adjudge.values import as_held, to_value
from backend.machine import Execution, load, service
from backend.machine.execution import FEW_COMPILED
from backend.machine.layout import COMPARISONS
from semantics.arrays import Array
from semantics.edit import Edit, empty
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from transforms.array_rows import to_numpy
from transforms.unboxed import source_of


def applying(name: str, count: int) -> Program:
    """A primitive of untyped parameters."""
    edit = Edit(empty())
    graph = edit.graph("f")
    edit.output(graph, edit.call(graph, TABLE[name], *(edit.parameter(graph, f"x{k}") for k in range(count))))
    return edit.program


NUMBERS = (0.0, -0.0, 1.5, -2.0, math.nan, math.inf, 3.0, 3.0, -math.inf, 0.5, 7.0, 2.0)
MATRIX = Array("f64", (3, 4), NUMBERS)
HOLED = Array("f64", (3, 4), tuple(ZERO if k % 3 == 0 else x for k, x in enumerate(NUMBERS)))
OTHER = Array("f64", (3, 4), tuple(ZERO if k % 2 == 0 else x for k, x in enumerate(NUMBERS)))
PLACES = Array("i64", (2, 3), (1, 0, 12, 5, 5, 0))
LINE, GAPS = Array("f64", (12,), NUMBERS), Array("f64", (12,), HOLED.items)
SMALL = Array("f64", (2, 3), (1.0, 2.0, 3.0, math.nan, ZERO, 4.0))
TRUTHS = Array("bool", (3, 4), tuple(k % 5 < 2 for k in range(12)))
REVERSED = Array("f64", (12,), NUMBERS[::-1])
WIDE = Array("f64", (FEW_COMPILED + 1,), (0.5, *(float(k) for k in range(FEW_COMPILED))))
WIDE_GAPS = Array("f64", WIDE.shape, (ZERO, math.nan, ZERO, *WIDE.items[3:]))
TALL, TALL_GAPS = (Array("f64", (2, FEW_COMPILED + 1), (*x.items, *MATRIX.items, *x.items[12:])) for x in (WIDE, WIDE_GAPS))
TALL_PLACES = Array("i64", TALL.shape, tuple(range(2 * (FEW_COMPILED + 1))))

DONE = [
    *[
        ("mul", given)
        for given in ((HOLED, OTHER), (HOLED, MATRIX), (HOLED, -2.0), (-0.0, HOLED), (WIDE_GAPS, WIDE), (3.0, WIDE_GAPS))
    ],
    *[("neg", (x,)) for x in (HOLED, OTHER, WIDE_GAPS, TALL_GAPS)],
    *[
        (name, (MATRIX, axis, keep))
        for name in ("reduce_max", "reduce_min")
        for axis in (None, 0, 1, (1, 0))
        for keep in (True, False)
    ],
    *[(name, (MATRIX, axis)) for name in ("argmax", "argmin") for axis in (0, 1, -1)],
    *[("grouped", (MATRIX, axis)) for axis in (None, 0, (0, 1))],
    ("expand_dims", (MATRIX, (0, 2))),
    ("expand_dims", (PLACES, 1)),
    ("take_along", (MATRIX, Array("i64", (3, 2), (0, -1, 3, 2, 1, 1)), 1)),
    ("take_along", (MATRIX, Array("i64", (1, 4), (0, -1, 2, 1)), 0)),
    *[("put", (LINE, index, value)) for index in (0, 11, -1, -12) for value in (-0.0, math.nan, ZERO)],
    *[("getitem", (x, index)) for x in (TALL, TALL_GAPS, TALL_PLACES) for index in (0, 1, -1, -2)],
    ("put", (GAPS, 3, 2.0)),
    ("put", (Array("f64", (2,), (ZERO, 1.0)), 0, 2.0)),
    ("places", (MATRIX,)),
    ("gathered", (MATRIX, PLACES, MATRIX)),
    ("gathered", (HOLED, PLACES, MATRIX)),
    ("returned", (SMALL, PLACES, MATRIX)),
    ("gadd", (HOLED, OTHER)),
    ("gadd", (HOLED, MATRIX)),
    ("sum_to", (HOLED, MATRIX)),
    *[("sum_to", (x, 1.0)) for x in (HOLED, Array("f64", (2,), (ZERO, ZERO)), WIDE, Array("f64", (2,), (-0.0, ZERO)))],
    *[("where", (TRUTHS, a, b)) for a, b in ((MATRIX, OTHER), (HOLED, -0.0), (math.nan, MATRIX), (ZERO, MATRIX), (MATRIX, ZERO))],
    *[(name, pair) for name in COMPARISONS for pair in ((LINE, REVERSED), (MATRIX, 2.0), (math.nan, MATRIX), (3.0, MATRIX))],
    *[("instantiate", (d, WIDE)) for d in (ZERO, WIDE, WIDE_GAPS)],
    *[(name, (ZERO, MATRIX)) for name in ("mul", "div")],
    ("mul", (PLACES, ZERO)),
]


@pytest.mark.parametrize(("name", "arguments"), DONE, ids=[f"{name}-{k}" for k, (name, _) in enumerate(DONE)])
def test_a_loop_gives_the_references_bits_and_the_host_is_not_asked(name: str, arguments: Any, monkeypatch: Any) -> None:
    program = applying(name, len(arguments))
    wanted = run(program, *arguments)
    monkeypatch.setattr(service, "applied", None)
    same_value(Execution(load(program), "cpu", patience=0).run(arguments), wanted)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("take_along", (MATRIX, Array("i64", (3, 1), (0, 4, 0)), 1)),
        ("take_along", (MATRIX, Array("i64", (2, 1), (0, 0)), 1)),
        *[("put", (LINE, index, 1.0)) for index in (12, -13, True, 1.0, (3,))],
        *[("put", (LINE, 3, value)) for value in (2, True, None, LINE)],
        *[("getitem", (TALL, index)) for index in (2, -3, True, (1, 0))],
        ("put", (MATRIX, 1, 2.0)),
        ("put", (MATRIX, (1, 2), 2.0)),
        ("put", (PLACES, 1, 2.0)),
        ("put", (Array("f32", (2,), (1.0, 2.0)), 1, 1e-50)),
        ("gathered", (MATRIX, Array("i64", (1,), (13,)), MATRIX)),
        ("returned", (MATRIX, PLACES, MATRIX)),
        ("reduce_max", (Array("f64", (0,), ()), 0, False)),
        ("argmax", (MATRIX, 2)),
        *[
            ("where", (TRUTHS, *pair))
            for pair in ((1.0, 2.0), (LINE, 2.0), (MATRIX, 1), (PLACES, 1.0), (ZERO, ZERO), (MATRIX, None))
        ],
        ("where", (Array("bool", (4,), (True, False, True, True)), MATRIX, 0.0)),
        ("where", (MATRIX, MATRIX, MATRIX)),
        *[
            ("lt", pair)
            for pair in ((MATRIX, 1), (MATRIX, Array("f64", (4,), NUMBERS[:4])), (HOLED, 1.0), (PLACES, 1.0), (LINE, MATRIX))
        ],
        *[("lt", pair) for pair in ((TRUTHS, TRUTHS), (MATRIX, ZERO), (MATRIX, "s"))],
        *[("instantiate", pair) for pair in ((WIDE, LINE), (LINE, WIDE), (ZERO, WIDE_GAPS), (1.0, WIDE))],
        ("sum_to", (Array("f64", (0,), ()), 1.0)),
        *[("div", pair) for pair in ((MATRIX, ZERO), (ZERO, ZERO))],
        ("argmax", (Array("i64", (3,), (1, 5, 2)), 0)),
        ("reduce_max", (Array("bool", (2,), (True, False)), 0, False)),
    ],
)
def test_what_a_loop_does_not_take_the_reference_answers(name: str, arguments: Any) -> None:
    agrees(applying(name, len(arguments)), arguments, ("cpu",))


@given(st.lists(st.floats(), min_size=65, max_size=80), st.sampled_from(["f64", "f32", "i64", "bool"]))
def test_an_array_that_numpy_holds_is_the_array_of_its_elements(numbers: list[float], dtype: str) -> None:
    kinds = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "bool": np.bool_}
    with np.errstate(all="ignore"):
        given = np.nan_to_num(np.array(numbers), nan=math.nan if dtype[0] == "f" else 0.0, posinf=1e9, neginf=-1e9)
        given = (given if dtype[0] == "f" else np.clip(given, -1e9, 1e9)).astype(kinds[dtype])
    held, plain = to_value(given, "x", as_held), to_value(given)
    assert source_of(held) is not None
    assert source_of(plain) is None
    same_value(held, plain)
    assert np.array_equal(to_numpy(held), given, equal_nan=dtype[0] == "f")
    program = applying("mul", 2)
    same_outcome(outcome(Execution(load(program), "python").run, (held, 2)), outcome(run, program, plain, 2))


def test_the_elements_of_an_array_are_a_copy() -> None:
    given = np.ones(100)
    held = to_value(given, "x", as_held)
    given[:] = 2.0
    assert held.items[0] == 1.0
    to_numpy(held)[:] = 3.0
    assert held.items == (1.0,) * 100
