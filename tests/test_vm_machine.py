"""The virtual machine part by part: numbers, calls, memory, errors, the hand-over from CPython, threads, and what the host does."""

from __future__ import annotations

import math
from typing import Any

import pytest
from backend_programs import PROGRAMS, samples
from hypothesis import given
from hypothesis import strategies as st
from vm_runs import agrees, applying, outcome, same_outcome, same_value

from backend import Machined, runnable, toolchain
from backend.machine import Execution, Threads, interpreter, load
from backend.machine import execution as execution_module
from backend.machine.opcodes import numeric
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError, IllTyped, Malformed, OutOfFuel, Trap
from semantics.machine import run
from semantics.primitives.row import row
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.text import read
from semantics.values import Unbound, same
from transforms.parse import parse_text

BOTH = ("python", "cpu")


SPECIAL = (0.0, -0.0, 1.0, -1.5, 1e308, 5e-324, math.inf, -math.inf, math.nan, 2.0**53, -8.0, 0.5)
WHOLE = (0, 1, -1, 2, -3, 2**53 + 1, 2**62, -(2**62), 2**63 - 1, -(2**63), 2**63, 3**80)
ANYTHING = (*SPECIAL[:4], *WHOLE[:4], True, False, None, "s", (1.0, 2), ())
NUMERIC = {p.name: len(p.signature) for p in numeric()} | {"lt": 2, "le": 2, "gt": 2, "ge": 2, "eq": 2, "ne": 2}


@pytest.mark.parametrize("name", NUMERIC)
def test_every_numeric_opcode_is_the_meaning_on_every_pair_of_kinds_and_special_values(name: str) -> None:
    program, count = applying(name, NUMERIC[name]), NUMERIC[name]
    values = (*SPECIAL, *WHOLE, True, None)
    rows = [(x,) for x in values] if count == 1 else [(x, y) for x in values for y in values]
    rows = [(x, y, 3) for x, y in rows[::7]] if count == 3 else rows
    execution = Execution(load(program), "cpu", patience=0)
    for arguments in rows:
        same_outcome(outcome(execution.run, arguments), outcome(run, program, *arguments))


@pytest.mark.parametrize("name", ["getitem", "gadd", "append", "concat", "of_length", "instantiate", "place_in"])
def test_a_structural_opcode_takes_what_the_meaning_takes_and_refuses_the_rest(name: str) -> None:
    program = applying(name, 2)
    for x in ANYTHING:
        for y in ANYTHING:
            if name == "gadd" and not (type(x) is type(y) and type(x) in (float, tuple)):
                continue
            try:
                run(program, x, y)
            except AdjudgeError:
                pass
            except (TypeError, AttributeError):
                continue  # no sensitivities: the meaning says nothing of these
            agrees(program, (x, y), ("cpu",))


def test_a_part_of_a_small_tuple_and_of_a_large_one_have_the_same_sensitivity_as_on_the_reference() -> None:
    inject, total = applying("inject", 3), applying("sum_to", 2)
    for size in (1, 2, 8, 9, 20):
        for index in (0, -1, size - 1):
            for part in (1.5, ZERO, (1.0, 2.0)):
                agrees(inject, ((0.5,) * size, index, part), BOTH)
    for pair in ((1.0, 2.0), (1.0, 3), (ZERO, 1.0), (1.0, True), (2.0, None)):
        agrees(total, pair, BOTH)


@pytest.mark.parametrize("last", [2.5, math.nan, -0.0, 7, True, None, ZERO, 3**80, "s", (1.0,), (*SPECIAL,)], ids=repr)
@pytest.mark.parametrize("target", BOTH)
def test_a_long_tuple_comes_back_as_it_is_be_all_of_it_reals_or_not(target: str, last: Any) -> None:
    program = applying("append", 2)
    for long in ((), SPECIAL, SPECIAL[:8], SPECIAL[:7], (*SPECIAL, SPECIAL), (1, *SPECIAL)):
        agrees(program, (long, last), (target,))


def test_an_integer_goes_on_beyond_64_bits_and_comes_back() -> None:
    program = read("program @f\n@f(%m, %n):\n  %a = mul(%m, %m)\n  %b = mul(%a, %a)\n  %c = floordiv(%b, %a)\n  return %c")
    agrees(program, (3_037_000_500, 0), BOTH)
    agrees(program, (7, 0), BOTH)


POWER = """program @f
@f(%x: f64, %n: i64):
  %c = eq(%n, 0)
  %t = switch(%c, @one, @more)
  %r = %t()
  return %r
@one():
  return 1.0
@more():
  %m = sub(%n, 1)
  %p = @f(%x, %m)
  %q = mul(%x, %p)
  return %q
"""


def test_a_deep_recursion_grows_the_stack_and_a_long_one_is_handed_over_to_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    program = read(POWER)
    agrees(program, (1.0001, 20_000), BOTH, fuel=1_000_000)
    monkeypatch.setattr(interpreter, "is_kept", lambda: False)
    monkeypatch.setattr(execution_module, "COLD", 1000)
    execution = Execution(load(program), "cpu", patience=100)
    same_value(execution.run((1.0001, 5000)), run(program, 1.0001, 5000))
    assert execution.compiled


def test_fuel_and_memory_end_a_run_that_does_not() -> None:
    program = read(POWER)
    found = agrees(program, (1.0, -1), BOTH, fuel=5000)
    assert isinstance(found, OutOfFuel)
    with pytest.raises(OutOfFuel, match="words of memory"):
        Execution(load(program), "cpu", memory=1 << 20).run((1.0, -1))


def test_exactly_the_steps_of_the_reference_are_enough() -> None:
    program = read(POWER)
    wanted = agrees(program, (2.0, 10), BOTH)
    assert not isinstance(wanted, AdjudgeError)
    for fuel in (wanted.steps, wanted.steps + 1):
        agrees(program, (2.0, 10), BOTH, fuel=fuel)


LISTS = """program @f
@f(%n: i64):
  %r = @loop(0, ())
  return %r
@loop(%i, %t):
  %c = lt(%i, %n)
  %s = switch(%c, @body, @done)
  %q = %s()
  return %q
@body():
  %j = add(%i, 1)
  %k = make_tuple(%i, 0.5)
  %u = make_tuple(%k, %t)
  %v = @loop(%j, %u)
  return %v
@done():
  %l = length(%t)
  return %l
"""


def test_what_nothing_reaches_is_collected_and_the_rest_survives() -> None:
    program = read(LISTS)
    execution = Execution(load(program), "cpu", patience=0, stack=256, smallest=2048)
    assert execution.run((0,)) == 0
    assert execution.run((500,)) == 2
    first = execution.words.count
    assert first < 2**15


def test_a_closure_a_primitive_and_a_wrong_call_are_as_on_the_reference() -> None:
    chosen = "program @f\n@f(%g, %x):\n  %r = %g(%x)\n  return %r"
    program = read(chosen)
    for function in (TABLE["neg"], TABLE["add"], 3.0, None):
        agrees(program, (function, 2.0), BOTH)
    agrees(program, (TABLE["neg"],), BOTH)
    made = read("program @f\n@f(%x):\n  return @g\n@g(%y):\n  %z = mul(%x, %y)\n  return %z")
    agrees(made, (2.0,), BOTH)


def test_a_primitive_of_the_users_is_left_to_its_author() -> None:
    def meaning(x: float) -> float:
        return 2.0 * x

    double = row("double", "x", "real -> real")
    object.__setattr__(double, "columns", {"meaning": meaning})
    edit = Edit(empty())
    graph = edit.graph("f")
    edit.output(graph, edit.call(graph, double, edit.parameter(graph, "x")))
    agrees(edit.program, (1.5,), BOTH)


@pytest.mark.parametrize("name", sorted(PROGRAMS)[::3])
def test_threads_end_one_by_one_as_single_runs_do(name: str) -> None:
    program = read(PROGRAMS[name])
    if reason := toolchain.missing("cuda-simulator"):
        pytest.skip(reason)
    given_ = samples(name)[:8]
    for arguments, found in zip(given_, Threads(load(program), "cuda-simulator").map(given_), strict=True):
        same_outcome(found, outcome(run, program, *arguments))


def test_the_opcodes_are_one_table_and_the_source_has_no_plain_product_of_reals() -> None:
    found = interpreter.made()
    assert sorted(found.number.values()) == list(range(4, found.end))
    text = found.text
    assert "_mul(ax, ay)" in text or "_mul(x, y)" in text
    assert "return x * y" not in text


@given(st.lists(st.tuples(st.floats(), st.integers(-3, 12)), min_size=1, max_size=6))
def test_a_tiered_program_answers_alike_on_every_call(points: list[tuple[float, int]]) -> None:
    program = read(PROGRAMS["loop"])
    tiered = runnable(program)
    for x, n in points:
        assert same(tiered(x, n), run(program, x, n))


def test_a_program_may_be_called_while_it_runs() -> None:
    nested: list[Any] = []

    def meaning(x: float) -> float:
        return machined(x - 1.0) + 1.0 if x > 0.0 else nested.append(x) or 0.0

    again = row("again", "x", "real -> real")
    object.__setattr__(again, "columns", {"meaning": meaning})
    edit = Edit(empty())
    graph = edit.graph("f")
    edit.output(graph, edit.call(graph, again, edit.parameter(graph, "x")))
    machined = Machined(edit.program)
    assert machined(3.0) == 3.0
    assert nested == [0.0]
    assert len(machined.idle) == 4


def test_an_overflow_of_generated_code_is_run_again_on_the_machine() -> None:
    program = read("program @f\n@f(%m: i64):\n  %a = mul(%m, %m)\n  return %a")
    tiered = runnable(program, None, "cpu")
    assert [tiered(2**40) for _ in range(3)] == [2**80] * 3
    assert tiered.map([(3,), (2**40,)]) == [9, 2**80]
    assert not isinstance(tiered.best, Machined)


def test_what_is_refused_says_why() -> None:
    with pytest.raises(Malformed, match="is not there"):
        runnable(read(POWER), None, "tpu")
    refused = runnable(read("program @f\n@f(%x: f64):\n  %m = memory(0)\n  %a = alloc(%m, %x)\n  %k = getitem(%a, 0)\n  return %k"))
    assert isinstance(refused.best, Machined)
    assert "memory is not compiled yet" in refused.refusal.what
    with pytest.raises(IllTyped, match="wants f64"):
        refused(1)


def test_an_unbound_variable_traps_on_the_machine() -> None:
    program = applying("add", 2)
    assert isinstance(agrees(program, (1.0, Unbound("x")), BOTH), Trap)


PAIRS = "def f(n: int):\n t = (0.0, ())\n while n > 0:\n  t = (1.0, t)\n  n = n - 1\n return t[0]"


def test_a_heap_takes_all_the_memory_that_there_may_be_before_it_is_too_small() -> None:
    code = load(parse_text(PAIRS, "f"))
    free = Execution(code, "cpu", smallest=4096)
    assert free.run((5000,)) == 1.0
    assert Execution(code, "cpu", smallest=4096, memory=free.words.count * 7 // 8).run((5000,)) == 1.0
    with pytest.raises(OutOfFuel, match="words of memory"):
        Execution(code, "cpu", smallest=4096, memory=free.words.count // 2).run((5000,))
