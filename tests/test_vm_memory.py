"""How much memory a run of the virtual machine may have: what is refused is refused at once, and hurts no later run."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from vm_runs import applying, outcome, same_value

from backend.machine import Execution, buffers, deferred, holes, load
from backend.machine.layout import HEAP, STACK_END, ZERO_BITS
from backend.tiers import Machined
from semantics.arrays import Array
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError, OutOfFuel
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from transforms.parse import parse_text
from transforms.unboxed import source_of, unboxed

BOTH = ("python", "cpu")
MANY = 100


def numbers(count: int, start: int = 0) -> Array:
    return Array("f64", (count,), tuple(map(float, range(start, start + count))))


def times_constant(count: int) -> Program:
    """A number times an array of so many elements."""
    edit = Edit(empty())
    graph = edit.graph("f")
    edit.output(graph, edit.call(graph, TABLE["mul"], edit.parameter(graph, "x"), edit.constant(numbers(count))))
    return edit.program


def is_refused(execution: Execution, arguments: Any) -> bool:
    found = outcome(execution.run, arguments)
    return isinstance(found, OutOfFuel) and found.rule == "machine"


@pytest.mark.parametrize("target", BOTH)
def test_constants_that_do_not_fit_are_refused_every_time_and_fit_when_there_may_be_more(target: str) -> None:
    program = times_constant(5000)
    execution = Execution(load(program), target, patience=0, memory=3000, stack=64)
    assert is_refused(execution, (2.0,))
    assert is_refused(execution, (2.0,))  # it ran on a buffer without them
    execution.memory = 1 << 16
    same_value(execution.run((2.0,)), run(program, 2.0))


@pytest.mark.parametrize("target", BOTH)
def test_an_instruction_of_several_objects_is_refused_where_each_has_room_alone(target: str) -> None:
    program = applying("gadd", 2)
    a, b = numbers(1000), numbers(1000, 1)
    arguments = ((a, b, a), (b, a, b))
    wanted = run(program, *arguments)
    refused = []
    for memory in range(3000, 6000, 250):  # some found room for one sum after another, for ever
        execution = Execution(load(program), target, patience=0, memory=memory, stack=64, smallest=2500)
        refused.append(is_refused(execution, arguments))
        if not refused[-1]:
            same_value(execution.run(arguments), wanted)
    assert refused == [True] * sum(refused) + [False] * (len(refused) - sum(refused))
    assert 0 < sum(refused) < len(refused)


@pytest.mark.parametrize("target", BOTH)
def test_arguments_and_constants_may_have_all_that_there_may_be(target: str) -> None:
    program, x = times_constant(600), numbers(600)
    for smallest in (100, 800, 1300):  # twice as many words are more than there may be
        execution = Execution(load(program), target, patience=0, memory=2200, stack=64, smallest=smallest)
        same_value(execution.run((x,)), run(program, x))


def test_a_stack_takes_the_place_of_a_heap_that_is_not_used() -> None:
    program = parse_text("def f(n: int):\n return 0.0 if n == 0 else 1.0 + f(n - 1)", "f")
    for memory in (1 << 12, 1 << 13):
        execution = Execution(load(program), "python", patience=0, memory=memory, stack=64, smallest=memory)
        same_value(execution.run((120,)), 120.0)
        words = execution.words.integers
        assert len(words) <= memory
        assert words[STACK_END] == words[HEAP] > 1200


def test_what_the_system_has_not_is_refused_and_the_next_run_is_right(monkeypatch: Any) -> None:
    program, x = applying("mul", 2), numbers(3000)
    execution = Execution(load(program), "python", patience=0, stack=64, smallest=4000)
    same_value(execution.run((2.0, 3.0)), 6.0)

    def nothing(words: int) -> Any:
        raise OSError(12, "Cannot allocate memory")

    with monkeypatch.context() as patched:
        patched.setattr(buffers, "memory_of", nothing)
        assert is_refused(execution, (x, 2.0))
        same_value(execution.run((2.0, 3.0)), 6.0)
    same_value(execution.run((x, 2.0)), run(program, x, 2.0))


def test_an_array_that_is_written_out_late_is_old_at_once() -> None:
    """So no object that is old by then leads to a young one."""
    assert deferred.LEAST >= holes.LARGE


@pytest.mark.parametrize("name", ["mul", "matmul"])
def test_arguments_and_value_are_not_held_when_a_run_is_over(name: str) -> None:
    machined = Machined(applying(name, 2))
    given = np.arange(3000.0)
    value = outcome(machined, unboxed("f64", (3000,), given), 2.0)
    assert isinstance(value, AdjudgeError) == (name == "matmul")
    held = [weakref.ref(given), *([] if isinstance(value, AdjudgeError) else [weakref.ref(source_of(value))])]
    assert all(one() is not None for one in held)
    assert machined.idle
    del given, value
    gc.collect()
    assert all(one() is None for one in held)


@pytest.mark.parametrize("target", BOTH)
def test_elements_that_numpy_holds_are_read_where_they_are_and_left_as_they_are(target: str) -> None:
    """Elements side by side or not, and a NaN whose bits would say that nothing is there."""
    given = np.arange(2.0 * MANY)
    given.view(np.int64)[4] = ZERO_BITS
    before = given.tobytes()
    for held in (given[:MANY], given[::2]):
        array = unboxed("f64", (MANY,), held)
        found = Execution(load(applying("neg", 1)), target, patience=0).run((array,))
        same_value(found, Array("f64", (MANY,), tuple((-held).tolist())))
    assert given.tobytes() == before
