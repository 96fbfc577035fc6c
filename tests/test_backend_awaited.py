"""
Code of a large program: another process makes it, calls wait for it for a while, and then the machine answers until it is there.

Every call has the same value, whoever answers; what the other process cannot do is done here.
"""

from __future__ import annotations

import io
import pickle
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjudge as aj
from adjudge.values import to_value
from backend import awaited, beside, tiers
from backend.lowering import first_order
from backend.machine import interpreter
from backend.run import Compiled
from backend.tiers import Machined, Tiered, runnable
from semantics.errors import Trap
from semantics.type_language import INTEGER, REAL, ArrayType, type_of
from transforms.gradient_programs import calling
from transforms.parse import parse, parse_text

LOOP = """
def f(x, n: int):
    s = 0.0
    for i in range(n):
        s = 0.5 * s + x * x + {salt}
    return s
"""
REFUSED = """
def f(n: int, x):
    def tree(k, y):
        return y if k == 0 else (tree(k - 1, y * 0.5), tree(k - 1, y + {salt}))
    def total(t):
        return t * t if isinstance(t, float) else total(t[0]) + 2.0 * total(t[1])
    return total(tree(n, x))
"""
TWICE = """
def g(x, i):
    if i <= 0:
        return x[0] * {salt}
    return x[i] * g(x, i - 1) + g(x, i - 2)
def f(x):
    return g(x, x.shape[0] - 1)
"""


class Pair(NamedTuple):
    a: float
    b: float


def energy(p: Pair) -> Any:
    return p.a * p.a + p.b * 3.0


@pytest.fixture(autouse=True)
def beside_ourselves(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every program is large, no call waits, and the compiled machine is there."""
    interpreter.compiled()
    monkeypatch.delenv("ADJUDGE_WAIT")
    monkeypatch.setattr(tiers, "LARGE", 0)
    monkeypatch.setattr(awaited, "PATIENCE", 0.0)
    monkeypatch.setattr(beside, "_are_many", lambda: False)
    yield
    for begun in beside._BEGUN:
        begun.wait(120)


def new(text: str) -> Any:
    """The program of the text, which nobody has compiled before."""
    return parse_text(text.replace("{salt}", f"1.{time.time_ns()}"), "f")


def ended(tiered: Tiered) -> None:
    """Waits until the code has been made."""
    assert tiered.awaited is not None
    assert beside._BEGUN
    assert tiered.awaited.name is not None
    beside.wait(tiered.awaited.name, 120)


def test_the_machine_answers_until_the_code_is_there() -> None:
    tiered = runnable(calling(new(LOOP), "grad", 0, (REAL, INTEGER)), (REAL, INTEGER))
    first, second = tiered(0.5, 6), tiered(0.5, 6)
    assert "best" not in vars(tiered)
    ended(tiered)
    assert first_order.is_lowered(tiered.program, tiered.types)
    assert first == second == tiered(0.5, 6)
    assert isinstance(tiered.best, Compiled)


def test_a_call_waits_for_code_that_is_soon_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaited, "PATIENCE", 120.0)
    tiered = runnable(calling(new(LOOP), "grad", 0, (REAL, INTEGER)), (REAL, INTEGER))
    assert tiered(0.5, 6) == tiered(0.5, 6)
    assert isinstance(tiered.best, Compiled)


def test_that_there_is_no_code_is_found_there_and_kept() -> None:
    program, types = calling(new(REFUSED), "grad", 1, (INTEGER, REAL)), (INTEGER, REAL)
    tiered = runnable(program, types)
    values = [tiered(2, 0.5), tiered(2, 0.5)]
    ended(tiered)
    values.append(tiered(2, 0.5))
    assert len(set(values)) == 1
    assert isinstance(tiered.best, Machined)
    again = runnable(program, types)
    assert [again(2, 0.5), again(2, 0.5)] == values[:2]
    assert str(again.refusal) == str(tiered.refusal)
    assert "getitem" in str(again.refusal)


def test_other_code_that_the_arguments_need_is_made_there_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """That elements are given more than once only a run shows; when it is over, nothing is left to lower here."""
    types, x = (ArrayType("f64", (None,)),), to_value(np.array([0.5, 0.7, -0.3, 0.9, 0.2, 0.4]))
    tiered = runnable(calling(new(TWICE), "grad", 0, types), types)
    first, _ = tiered(x), tiered(x)
    ended(tiered)

    def lowers(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr("backend.lowering.lower.lower", lowers)
    assert np.array_equal(np.asarray(tiered(x)), np.asarray(first))
    assert isinstance(tiered.best, Compiled)
    assert tiered.best.code == first_order.lowered(tiered.program, types, linked=True)
    assert tiered.best.code != first_order.lowered(tiered.program, types)


def test_no_class_of_a_record_is_needed_there() -> None:
    gradient = aj.compile(aj.grad(energy))
    found = [gradient(Pair(1.0, 2.0)) for _ in range(2)]
    for begun in beside._BEGUN:
        begun.wait(120)
    found.append(gradient(Pair(1.0, 2.0)))
    assert found == [Pair(2.0, 3.0)] * 3
    assert all(type(g) is Pair for g in found)


def test_no_class_is_pickled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pair, "__module__", "nowhere")
    file = io.BytesIO()
    awaited.Classless(file).dump((parse(energy), (type_of(to_value(Pair(1.0, 2.0))),)))
    assert pickle.loads(file.getvalue())[0].canonical == parse(energy).canonical


def test_a_long_call_is_not_made_to_its_end() -> None:
    program, types = calling(new(LOOP), "grad", 0, (REAL, INTEGER)), (REAL, INTEGER)
    made = awaited.Awaited(program, types, {}, (0.5, 10**12))
    assert made.name is not None
    beside.wait(made.name, 60.0)
    assert made.is_over()
    assert first_order.is_lowered(program, types)


def test_a_process_that_dies_leaves_the_work_to_us(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = beside.begin
    monkeypatch.setattr(beside, "begin", lambda name, task, *_: begin(name, task, "too", "few", "or", "many"))
    tiered = runnable(calling(new(LOOP), "grad", 0, (REAL, INTEGER)), (REAL, INTEGER))
    first, _ = tiered(0.5, 6), tiered(0.5, 6)
    ended(tiered)
    assert tiered(0.5, 6) == first
    assert isinstance(tiered.best, Compiled)


def test_nobody_is_asked_where_it_would_be_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    @aj.primitive
    def twice(x: float) -> float:
        return 2.0 * x

    @twice.backpropagator
    def _(x: float, out: float, dout: float) -> tuple[float]:
        return (2.0 * dout,)

    def of_ours(x: float) -> float:
        return twice(x) * x

    begun = list[Any]()
    monkeypatch.setattr(beside, "begin", lambda *what: begun.append(what) or True)
    programs = [(parse(of_ours), "cpu", False), (new(LOOP), "python", False), (new(LOOP), "cpu", True)]
    for program, target, fast in programs:
        given = (0.5,) if target == "cpu" and not fast else (0.5, 3)
        types = tuple(map(type_of, given))
        tiered = runnable(calling(program, "grad", 0, types), types, target, fast=fast)
        assert tiered(*given) == tiered(*given)
        assert "best" in vars(tiered) or tiered.options["fast"]
    monkeypatch.setattr(tiers, "LARGE", 10_000)
    small = runnable(calling(new(LOOP), "grad", 0, (REAL, INTEGER)), (REAL, INTEGER))
    assert small(0.5, 3) == small(0.5, 3)
    monkeypatch.setattr(tiers, "LARGE", 0)
    monkeypatch.setattr(interpreter, "is_kept", lambda: False)
    unready = runnable(calling(new(LOOP), "grad", 0, (REAL, INTEGER)), (REAL, INTEGER))
    assert unready(0.5, 3) == unready(0.5, 3)
    assert [what for what in begun if "awaited" in what[1]] == []


def test_a_long_run_on_the_machine_is_left_when_the_code_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "SOON", 1000)
    looks = list[bool]()
    monkeypatch.setattr(awaited.Awaited, "is_over", lambda _: looks.append(True) or len(looks) > 3)
    tiered = runnable(calling(new(LOOP), "grad", 0, (REAL, INTEGER)), (REAL, INTEGER))
    assert tiered(0.5, 3000) == tiered(0.5, 3000)
    assert len(looks) == 4
    assert isinstance(tiered.best, Compiled)


def test_an_error_is_the_machines_meanwhile_and_the_same_afterwards() -> None:
    text = "def f(x, n: int):\n    s = x * {salt}\n    for i in range(n):\n        s = s + x / (3 // (i - 1))\n    return s\n"
    tiered = runnable(calling(new(text), "grad", 0, (REAL, INTEGER)), (REAL, INTEGER))
    assert tiered(0.5, 1)
    said = list[str]()
    for _ in range(2):
        with pytest.raises(Trap) as raised:
            tiered(0.5, 3)
        said.append(str(raised.value))
        ended(tiered)
    assert said[0] == said[1]
    assert isinstance(tiered.best, Compiled)
