"""When the machine is compiled, the backpropagators of the table are made and kept, so that no first gradient makes one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend import store
from backend.cpu import native
from backend.machine import interpreter, rules
from semantics.primitives.table import TABLE
from transforms import backpropagators
from transforms.adjoint_primitives import pullback_of
from transforms.remembering import remembering
from transforms.ssa_adjoint import pullbacks

ROWS = ("mul", "tanh", "matmul", "getitem", "reduce_sum", "where", "pow")
pytestmark = pytest.mark.usefixtures("own_store")


def forget() -> None:
    """What this process remembers of backpropagators is made or read again."""
    backpropagators._of_table.cache_clear()
    pullbacks.rule.cache_clear()
    pullbacks.pullback_function.cache_clear()


def made_for(names: tuple[str, ...]) -> list[str]:
    """What had to be made for the backpropagators of some rows, since it was not kept."""
    forget()
    made: list[str] = []

    def memory(key: str, make: Callable[[], Any]) -> Any:
        return store.remembered(key, lambda: made.append(key) or make())

    with remembering(memory):
        for name in names:
            for arrays in (False, True):
                pullback_of(TABLE[name], len(TABLE[name].parameters), arrays)
                pullbacks.pullback_function(TABLE[name], len(TABLE[name].parameters), None, arrays)
    return made


def test_the_backpropagators_are_kept_when_the_machine_is_compiled_and_not_when_it_is_there(
    own_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert made_for(("sin",)), "nothing is kept yet"
    there = [True, False]
    monkeypatch.setattr(native, "is_kept", lambda *_: there[0])
    monkeypatch.setattr(native, "functions", lambda *_: {"run_at": len})
    before = len(list(own_store.iterdir()))
    assert interpreter.compiled.__wrapped__() == SimpleNamespace(run_at=len)
    kept = [file for file in own_store.iterdir() if file.name.startswith("l_")]
    assert len(kept) <= before + 1, "the text of the machine alone"
    there.pop(0)
    forget()
    interpreter.compiled.__wrapped__()
    assert made_for(ROWS) == []


def test_a_row_without_a_backpropagator_is_passed_over(own_store: Path) -> None:
    before = set(own_store.iterdir())
    rules._keep(TABLE["grad"], False)
    assert set(own_store.iterdir()) == before
