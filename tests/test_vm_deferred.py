"""Products that may only be summed, and arrays in another shape, not written out before somebody reads them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from held_programs import is_large, type_made
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from test_corpus_types import calls
from vm_runs import agrees, applying, outcome, same_value
from vm_stress import as_if_large

from adjudge.functions import Derivative
from backend.machine import Execution, deferred, execution, load
from backend.machine.layout import HEAP, HP, OLD
from semantics.arrays import Array
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.type_language import type_of
from semantics.type_lattice import of_constant

CALLS = {name: (make, tuple(values())) for name, (make, values) in calls().items()}
SPECIAL = (1.5, -0.0, math.inf, -2.0, math.nan, 0.0, -math.inf, 1e308, 5e-324, 3.0, 0.1, -7.0)
LARGEST = 300
"""Elements of an array that a step may make: eight steps that broadcast would make any number of them."""
SHAPES = ((2, 3), (3,), (2, 1), (1, 3), (2, 1, 3), (2, 2, 3), (), (4, 3))


@pytest.fixture(autouse=True)
def all_are_deferred(monkeypatch: Any) -> None:
    """As if every array were large."""
    monkeypatch.setattr(deferred, "LEAST", 1)
    monkeypatch.setattr(execution, "FEW_COMPILED", 0)


def array(shape: tuple[int, ...], start: int) -> Array:
    count = math.prod(shape)
    return Array("f64", shape, tuple(SPECIAL[(start + 5 * k) % len(SPECIAL)] for k in range(count)))


def of_steps(steps: list[tuple[str, int, int, int]], operands: list[Any]) -> Program:
    """A function of arrays: each step makes a value of those before, unless it is large, and all of them are the result."""
    edit = Edit(empty())
    graph = edit.graph("f")
    found = [edit.parameter(graph, f"x{k}") for k in range(len(operands))]
    types = [type_of(x) for x in operands]

    for name, a, b, c in steps:
        i, j = a % len(found), b % len(found)
        how: dict[str, tuple[Any, ...]] = {
            "reshape": (((3, 2), (6,), (2, 3), (2, -1), (12,))[c % 5],),
            "broadcast_to": (SHAPES[c % len(SHAPES)],),
            "expand_dims": (c % 3,),
            "reduce_sum": ((None, 0, 1, (0, 1), (0, 2), -1, ())[c % 7], c % 4 == 0),
            "spread": ((None, 0, 1, (0, 1))[c % 4], c % 2 == 0),
            "getitem": (0,),
            "shape": (),
            "neg": (),
        }
        at = (i,) if name in how and name != "spread" else (i, j)
        constants = how.get(name, ())
        made = type_made(name, *(types[k] for k in at), *map(of_constant, constants))
        if not is_large(made, LARGEST):
            found.append(edit.call(graph, TABLE[name], *(found[k] for k in at), *map(edit.constant, constants)))
            types.append(made)
    edit.output(graph, edit.call(graph, TABLE["make_tuple"], *found[len(operands) :]))
    return edit.program


NAMES = ("mul", "mul", "mul", "reshape", "broadcast_to", "expand_dims", "spread", "reduce_sum", "sum_to", "sum_to")
OTHERS = ("add", "neg", "shape", "getitem", "matmul", "gadd", "instantiate")
STEPS = st.lists(st.tuples(st.sampled_from(NAMES + OTHERS), *[st.integers(0, 30)] * 3), min_size=1, max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS, st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
def test_rows_on_what_is_not_written_out_are_the_references(steps: list[Any], shapes: list[tuple[int, ...]]) -> None:
    arguments = [array(shape, k) if shape else SPECIAL[k] for k, shape in enumerate(shapes)]
    wanted = agrees(of_steps(steps, arguments), arguments, ("cpu",))
    event("an error" if isinstance(wanted, AdjudgeError) else "a value")


@pytest.mark.parametrize("name", sorted(CALLS)[::3])
def test_a_gradient_of_the_corpus_is_the_same(name: str) -> None:
    make, arguments = CALLS[name]
    gradient = outcome(lambda: Derivative(make(), "grad", 0).program(tuple(map(type_of, arguments))))
    if isinstance(gradient, AdjudgeError):
        pytest.skip(f"it has no gradient by its first argument: {gradient.what}")
    agrees(gradient, arguments, ("cpu",))


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (0, 2), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("shapes", [((4, 3, 5), (4, 3, 5)), ((4, 1, 5), (3, 1)), ((3, 5), (4, 3, 1)), ((4, 3, 5), ())])
def test_a_sum_of_products_goes_from_the_left_along_any_axes(axis: Any, shapes: tuple[tuple[int, ...], ...]) -> None:
    arguments = [Array("f64", s, tuple(1.0 / (k + 3 + j) for k in range(math.prod(s)))) if s else 0.1 for j, s in enumerate(shapes)]
    edit = Edit(empty())
    graph = edit.graph("f")
    product = edit.call(graph, TABLE["mul"], *(edit.parameter(graph, name) for name in "xy"))
    edit.output(graph, edit.call(graph, TABLE["reduce_sum"], product, edit.constant(axis), edit.constant(False)))
    agrees(edit.program, arguments, ("cpu",))


@pytest.mark.parametrize("keepdims", [False, True])
def test_a_sum_over_no_axis_is_the_product(keepdims: bool) -> None:
    edit = Edit(empty())
    graph = edit.graph("f")
    x = edit.parameter(graph, "x")
    product = edit.call(graph, TABLE["mul"], x, x)
    edit.output(graph, edit.call(graph, TABLE["reduce_sum"], product, edit.constant(()), edit.constant(keepdims)))
    assert not isinstance(agrees(edit.program, [array((2, 3), 0)], ("cpu",)), AdjudgeError)


def squares(sums: int) -> Program:
    """x times itself, summed so many times."""
    edit = Edit(empty())
    graph = edit.graph("f")
    x = edit.parameter(graph, "x")
    product = edit.call(graph, TABLE["mul"], x, x)
    found = [edit.call(graph, TABLE["reduce_sum"], product, edit.constant(k % 2), edit.constant(False)) for k in range(sums)]
    edit.output(graph, edit.call(graph, TABLE["make_tuple"], *found))
    return edit.program


def test_a_product_takes_memory_when_it_is_summed_for_the_second_time() -> None:
    x = array((40, 50), 3)
    needed = []
    for sums in (1, 2, 3):
        execution = Execution(load(squares(sums)), "cpu", patience=0, young=0)
        same_value(execution.run((x,)), run(squares(sums), x))
        words = execution.words.integers
        needed.append(words[HP] - words[HEAP])
    assert needed[0] < 2000 + 200
    assert needed[1] > 4000
    assert needed[2] < needed[1] + 200


def test_a_product_survives_the_collectors_and_is_then_written_out_once() -> None:
    x = array((40, 50), 1)
    program = squares(6)
    wanted = run(program, x)
    for young in (0, 1 << 11):
        execution = Execution(load(program), "cpu", patience=0, stack=1 << 9, smallest=5 << 10, young=young)
        same_value(execution.run((x,)), wanted)
        assert execution.words.integers[OLD] == 0 or young


def test_a_product_that_is_both_operands_is_written_out_once() -> None:
    wanted = agrees(of_steps([("mul", 0, 0, 0), ("mul", 1, 1, 0)], [array((2, 3), 0)]), [array((2, 3), 0)], ("cpu",))
    assert not isinstance(wanted, AdjudgeError)


def test_what_may_want_more_memory_than_there_is_is_written_out_at_once(monkeypatch: Any) -> None:
    monkeypatch.setattr(deferred, "MOST", 1999)
    x = array((40, 50), 3)
    execution = Execution(load(squares(1)), "cpu", patience=0, young=0)
    same_value(execution.run((x,)), run(squares(1), x))
    assert execution.words.integers[HP] - execution.words.integers[HEAP] > 4000


def test_a_product_of_arrays_without_axes_is_a_number() -> None:
    """It was an array where arrays of one element are large, which only tests say."""
    point = Array("f64", (), (2.5,))
    with as_if_large(1, 0):
        agrees(applying("mul", 2), (point, point), ("python", "cpu"))
        agrees(applying("mul", 2), (Array("f64", (1,), (2.5,)), point), ("python", "cpu"))
