"""Work that another process does: it is begun once, is waited for by those who want it, and is nobody's trouble if it fails."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import adjudge as aj
from backend import beside, store
from backend.machine import ahead, interpreter

WORK = """
import os, sys, time
from pathlib import Path
from backend import beside

def done(text):
    with Path(__file__).with_name("done").open("a") as file:
        file.write(f"{text} {os.getpriority(os.PRIO_PROCESS, 0)} {beside.is_going_on('work')}\\n")

def held(seconds):
    time.sleep(float(seconds))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of what is kept, for this process and those that it begins, beside a module with work."""
    kept = tmp_path / store.NAME
    kept.mkdir()
    (tmp_path / "work_of_a_test.py").write_text(WORK)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr(store, "folder", lambda: kept)
    monkeypatch.setattr(beside, "_BEGUN", [])
    monkeypatch.delenv("ADJUDGE_WAIT")
    return tmp_path


def done(folder: Path) -> list[list[str]]:
    """What the work has written, when all processes that were begun have ended."""
    for begun in beside._BEGUN:
        begun.wait(60)
    return [line.split() for line in (folder / "done").read_text().splitlines()] if (folder / "done").exists() else []


def test_work_is_begun_once_and_gives_way_to_others(folder: Path) -> None:
    assert beside.begin("work", "work_of_a_test:done", "a text")
    assert not beside.begin("work", "work_of_a_test:done", "another")
    ((*text, priority, going),) = done(folder)
    assert text == ["a", "text"]
    assert int(priority) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + beside.PRIORITY) or int(priority) == beside.PRIORITY
    assert going == "False"  # by nobody else, for whom it would wait


def test_other_work_is_begun_while_there_are_processors_for_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert [beside.begin(f"work {k}", "work_of_a_test:held", "0.5") for k in range(3)] == [True, True, False]
    beside.wait("work 0")
    beside._BEGUN[0].wait(60)
    assert beside.begin("work 3", "work_of_a_test:done", "")


def test_work_that_came_to_nothing_is_begun_again_after_an_hour(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert beside.begin("work", "work_of_a_test:there_is_no_such")
    assert done(folder) == []
    assert not beside.is_going_on("work")
    assert not beside.begin("work", "work_of_a_test:done", "")
    monkeypatch.setattr(time, "time", lambda now=time.time: now() + beside.AGAIN)
    assert beside.begin("work", "work_of_a_test:done", "")
    assert len(done(folder)) == 1


def test_what_lies_where_a_program_is_started_does_not_get_in_the_way(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "pickle.py").write_text("raise SystemExit")
    monkeypatch.chdir(folder / "elsewhere")
    assert beside.begin("work", "work_of_a_test:done", "")
    assert len(done(folder)) == 1


def test_none_is_begun_where_it_is_not_wanted_or_would_be_lost(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as wanted:
        wanted.setenv("ADJUDGE_WAIT", "1")
        assert not beside.begin("work", "work_of_a_test:done", "")
    with monkeypatch.context() as lost:
        lost.setattr(store, "folder", lambda: folder)
        assert not beside.begin("work", "work_of_a_test:done", "")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(beside, "fcntl", None)
        assert not beside.begin("work", "work_of_a_test:done", "")
        assert not beside.is_going_on("work")
    with monkeypatch.context() as without:
        without.setattr(sys, "executable", "/there/is/no/such")
        assert not beside.begin("work", "work_of_a_test:done", "")
    assert done(folder) == []


def test_it_is_waited_for_and_no_longer_than_it_lasts(folder: Path) -> None:
    beside.wait("work")
    assert beside.begin("work", "work_of_a_test:held", "60")
    assert beside.is_going_on("work")
    beside.wait("work", 0.1)
    assert beside.is_going_on("work")
    beside._BEGUN[0].send_signal(signal.SIGKILL)
    beside.wait("work")
    assert not beside.is_going_on("work")


def cube(x: float) -> float:
    return x * x * x


@pytest.mark.parametrize("target", ["cpu", "python"])
@pytest.mark.parametrize("kept", [False, True])
def test_a_first_call_has_the_machine_compiled_where_it_is_not_kept(
    kept: bool, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = list[Any]()
    monkeypatch.setattr(beside, "begin", lambda *what: begun.append(what))
    if kept:
        interpreter.compiled()
    monkeypatch.setattr(interpreter, "is_kept", lambda: kept)
    assert aj.compile(aj.grad(cube), target=target)(2.0) == 12.0
    assert begun == ([(interpreter.work(), "backend.machine.ahead:compiled")] if target == "cpu" and not kept else [])


def test_ahead_is_the_machine_with_its_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()
    monkeypatch.setattr(interpreter, "compiled", lambda: asked.append("machine"))
    monkeypatch.setattr(ahead.kernels, "compiled", lambda: asked.append("loops"))
    ahead.compiled()
    assert asked == ["machine", "loops"]


def test_who_needs_the_machine_waits_for_who_compiles_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited, compiled = list[str](), list[str]()
    monkeypatch.setattr(beside, "wait", lambda name: waited.append(name) or True)
    monkeypatch.setattr(interpreter.native, "functions", lambda *_: compiled.append("here") or {})
    monkeypatch.setattr("backend.machine.rules.keep", lambda: None)
    interpreter.compiled.__wrapped__()
    assert waited == [interpreter.work()]
    assert compiled == ["here"]
