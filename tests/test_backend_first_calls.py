"""A first call: nothing is collected until it has begun, and it runs on compiled code at once where that is kept."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from adjudge.values import to_value
from backend import runnable
from backend.cpu import kept
from backend.machine import interpreter, kernels
from backend.machine.execution import Execution
from backend.machine.layout import STEPS
from backend.machine.loader import load
from backend.machine.patience import MANY, SERVED_COMPILED, pains
from semantics import collector
from semantics.collector import at_rest, at_work, settle
from semantics.errors import IllTyped, Trap
from semantics.text import read
from semantics.type_language import INTEGER, REAL, ArrayType
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.parse import parse, parse_text

CUBE = "program @f\n@f(%x):\n  %y = mul(%x, %x)\n  %z = mul(%y, %x)\n  return %z\n"


def cubes(x: Any) -> Any:
    return np.sum(x * x * x)


def outside(x: Any) -> Any:
    return x[9]


def run_of(elements: int) -> Execution:
    """A run that has gone over so many elements on CPython."""
    execution = Execution(load(read(CUBE)))
    execution.elements = elements
    return execution


def named(n: int) -> Any:
    scales = {"half": 0.5, "twice": 2.0}
    total = 0.0
    for i in range(n):
        total = total * scales["half"] + scales["twice"] * i
    return total


def test_what_the_host_does_counts_as_the_steps_that_take_as_long(monkeypatch: Any) -> None:
    """A first run that asked the host a million times went on for half a minute, where generated code takes seconds."""
    program, served = parse(named), list[int]()
    serve = Execution.serve

    def counted(run: Execution) -> None:
        served.append(1)
        serve(run)

    monkeypatch.setattr(Execution, "serve", counted)
    execution = Execution(load(program), "cpu", patience=0)
    execution.begin((900,))
    execution.take_over()
    pause = 200 * SERVED_COMPILED
    assert not execution.advance(pause)
    assert len(served) <= 200
    assert execution.words.integers[STEPS] < pause
    assert execution.resume() == named(900)
    assert len(served) > 900


def test_the_collector_is_as_it_was_after_a_first_call_and_after_an_error() -> None:
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            aj.compile(aj.grad(cubes))(np.arange(4.0))
            with pytest.raises(Trap):
                aj.compile(outside)(np.arange(4.0))
            assert gc.isenabled() is enabled
        finally:
            gc.enable()


def test_nothing_is_collected_at_rest() -> None:
    seen: list[str] = []
    note = lambda phase, _: seen.append(phase)  # noqa: E731
    gc.callbacks.append(note)
    try:
        with at_rest():
            seen.clear()
            assert len([[k] for k in range(10_000)]) == 10_000
            assert not seen
    finally:
        gc.callbacks.remove(note)


def test_once_in_a_process_what_lives_is_old_and_found_by_a_full_collection(monkeypatch: Any) -> None:
    monkeypatch.setattr(collector, "_SETTLED", [])
    gc.collect()
    with at_rest():
        cycle: Any = Cyclic()
        cycle.itself, held = cycle, weakref.ref(cycle)
        settle()
        assert gc.get_count()[0] < 50
    gc.collect(1)
    assert held() is not None
    del cycle
    gc.collect(1)
    assert held() is not None
    gc.collect()
    assert held() is None
    monkeypatch.setattr(gc, "freeze", None)
    settle()  # does nothing


def test_what_someone_has_frozen_stays_frozen(monkeypatch: Any) -> None:
    monkeypatch.setattr(collector, "_SETTLED", [])
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        settle()
        assert gc.get_freeze_count() == frozen > 0
    finally:
        gc.unfreeze()


class Cyclic:
    itself: Any


def test_the_collector_is_at_work_in_what_is_long_if_it_was_before_it_came_to_rest() -> None:
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            with at_rest(), at_rest():
                with at_work(), at_rest(), at_work():
                    assert gc.isenabled() is enabled
                assert not gc.isenabled()
            with at_work():
                assert gc.isenabled() is enabled
        finally:
            gc.enable()


@pytest.mark.parametrize(("elements", "kept", "wanted"), [(1, True, True), (MANY, False, False), (MANY + 1, False, True)])
def test_when_loops_are_loaded(elements: int, kept: bool, wanted: bool, monkeypatch: Any) -> None:
    monkeypatch.setattr(kernels, "is_kept", lambda: kept)
    assert run_of(elements).has_many is wanted


@pytest.mark.parametrize("kept", [True, False])
def test_a_run_begins_on_compiled_code_where_that_is_kept(kept: bool, monkeypatch: Any) -> None:
    monkeypatch.setattr(interpreter, "is_kept", lambda: kept)
    for target in ("cpu", "python"):
        execution = Execution(load(read(CUBE)), target)
        execution.begin((3.0,))
        assert execution.compiled is (kept and target == "cpu")


def test_the_backend_loads_nothing_that_makes_code_before_it_is_asked_to() -> None:
    text = "import sys, backend; print(*(m for m in sys.modules if m.startswith('backend')))"
    loaded = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.split()
    assert "backend.machine.execution" in loaded
    assert not {
        "backend.columns",
        "backend.lowering.subset",
        "backend.lowering.flow",
        "backend.lowering.lower",
        "backend.arrays.table",
    } & set(loaded)


def test_numba_compiles_code_over_arrays_once_whichever_way_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second call gives the machine's arrays, the third those of NumPy. There was a compilation for each."""
    made: list[Any] = []
    monkeypatch.setattr(kept, "dispatcher", lambda code, of=kept.dispatcher: made.append(of(code)) or made[-1])
    call = aj.compile(aj.grad(cubes))
    for _ in range(4):
        call(np.arange(4.0))
    (entry,) = made
    assert len(entry.signatures) == 1
    assert len(entry.py_func.__globals__["kernel"].signatures) <= 1  # none, where the entry was found in the cache


def halved(x: Any, n: int) -> Any:
    for _ in range(n):
        x = x * 0.5 + 1.0
    return x


def test_a_first_call_of_a_long_program_waits_for_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run without turns takes more steps the longer a program is: of 300 statements, more than a first call was given."""
    monkeypatch.setattr(interpreter, "is_kept", lambda: False)
    lines = "".join(f"  %y{k + 1} = mul(%y{k}, %x)\n" for k in range(3000))
    long = runnable(read(f"program @f\n@f(%x: f64, %y0: f64):\n{lines}  return %y3000\n"))
    assert long(1.0, 2.5) == 2.5
    assert "best" not in vars(long)
    turns = runnable(parse(halved), (REAL, INTEGER))
    assert turns(2.0, 3000) == 2.0
    assert "best" in vars(turns), "it is short, and goes round"


KINDS = (at_rest, at_work)


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 5)), min_size=1, max_size=6), st.booleans())
def test_when_all_threads_have_done_the_collector_is_as_it_was(turns: list[Any], enabled: bool) -> None:
    """Each begins, and ends after so many more have begun."""
    (gc.enable if enabled else gc.disable)()
    try:
        begun = []
        for k, (kind, later) in enumerate(turns):
            begun.append((k + later, kind()))
            begun[-1][1].__enter__()
            for done in [one for one in begun if one[0] == k]:
                done[1].__exit__(None, None, None)
        for _, one in (one for one in begun if one[0] >= len(turns)):
            one.__exit__(None, None, None)
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_who_works_while_another_rests_leaves_the_collector_at_work() -> None:
    rest, work = at_rest(), at_work()
    rest.__enter__()
    work.__enter__()
    rest.__exit__(None, None, None)
    work.__exit__(None, None, None)
    assert gc.isenabled()


def longer(n, x):  # type: ignore[no-untyped-def]
    out = ()
    for k in range(n):
        out = (*out, k * x)
    return sum(out)


def appended(n, x):  # type: ignore[no-untyped-def]
    out = []
    for k in range(n):
        out.append(k * x)
    return sum(out)


@pytest.mark.parametrize(("function", "elements", "ends"), [(longer, 18_000, False), (appended, 18_000, True)])
def test_a_first_call_that_copies_much_waits_for_generated_code_and_not_for_the_machine(
    function: Any, elements: int, ends: bool
) -> None:
    """The machine copies a tuple for each element more: its steps were counted, and not what it copies, so it took long."""
    interpreter.compiled()
    execution = Execution(load(parse(function)))
    execution.begin((elements, 0.5))
    assert execution.advance(50_000_000) is ends
    assert execution.words.integers[STEPS] < 30 * elements
    assert (execution.result() if ends else execution.resume()) == function(elements, 0.5)


COLUMNS = """
import numpy as np
def f(y):
    o = y.copy()
    for j in range(1, y.shape[1]):
        o[:, j] = o[:, j - 1] * 0.5 + o[:, j]
    return np.sum(o ** 2)
"""


def test_a_first_call_for_which_the_host_goes_over_whole_arrays_waits_for_generated_code() -> None:
    """Elements of arrays were not counted, so 4000 columns of 4 took the machine 80 s; code is there in 2."""
    interpreter.compiled()
    types = (ArrayType("f64", (None, None)),)
    tiered = runnable(calling(parse_text(COLUMNS, "f"), "grad", 0, types), types)
    execution = Execution(tiered.machined.code)
    y = np.linspace(-1.0, 1.0, 1600).reshape(4, 400)
    execution.begin((to_value(y),))
    assert not execution.advance(10_000_000)
    assert same(execution.resume(), tiered.best(to_value(y)))


def test_what_takes_longer_than_a_step_counts_as_several() -> None:
    assert pains(True, False, 1_000, 8_000, 0) == 0
    assert pains(True, False, 1_000, 800_000, 0) > 100_000
    assert pains(True, False, 1, 0, 10_000) > 100_000
    assert pains(True, True, 1, 0, 0) == SERVED_COMPILED
    assert pains(False, True, 1, 0, 10_000) < 1_000


def constant(x):  # type: ignore[no-untyped-def]
    return 3


def carried(x):  # type: ignore[no-untyped-def]
    s, t = 0, 0.0
    for v in x:
        t += v
    return s


def none_of_it(x):  # type: ignore[no-untyped-def]
    return x[0] > 0.0


def real(x):  # type: ignore[no-untyped-def]
    return 3.0


def sometimes(x):  # type: ignore[no-untyped-def]
    s = 0
    for v in x:
        if v > 0.0:
            s += v
    return s


@pytest.mark.parametrize("function", [constant, carried, none_of_it])
@pytest.mark.parametrize("wanted", [aj.grad, aj.value_and_grad])
def test_every_call_says_that_a_gradient_is_of_a_real(function: Any, wanted: Any) -> None:
    """A regression: the code of later calls had left out the demand, which nothing needed, and gave zeros."""
    code = aj.compile(wanted(function))
    for _ in range(3):
        with pytest.raises(IllTyped, match="whose result is a real"):
            code(np.ones(2))


def test_near_miss_a_real_that_depends_on_nothing_has_a_gradient_of_zeros() -> None:
    for _ in range(3):
        assert aj.compile(aj.grad(real))(np.ones(2)).tolist() == [0.0, 0.0]
    code = aj.compile(aj.grad(sometimes))
    for _ in range(3):
        assert code(np.ones(2)).tolist() == [1.0, 1.0]
        with pytest.raises(IllTyped, match="whose result is a real"):
            code(-np.ones(2))
