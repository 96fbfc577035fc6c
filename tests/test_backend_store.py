"""What was lowered is remembered by the text of the program, and by nothing that leaves out what decides it."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import backend
from backend import store
from backend.lowering.first_order import Lowered
from semantics.edit import Edit, empty
from semantics.ir import Program
from semantics.primitives.row import Primitive, row
from semantics.text import read
from semantics.type_language import INTEGER, REAL

DOUBLE = "program @f\n@f(%x):\n  %y = add(%x, %x)\n  return %y\n"


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: Any) -> Path:
    monkeypatch.setattr(store, "folder", lambda: tmp_path)
    return tmp_path


def test_the_same_program_is_lowered_once(monkeypatch: Any) -> None:
    first = backend.lowered(read(DOUBLE), (REAL,))
    monkeypatch.setattr("backend.lowering.lower.lower", None)
    assert backend.lowered(read(DOUBLE.replace("%y", "%other")), (REAL,)) == first


def test_other_types_another_mode_and_another_program_are_lowered_anew() -> None:
    read_as = backend.lowered(read(DOUBLE), (REAL,)).arguments, backend.lowered(read(DOUBLE), (INTEGER,)).arguments
    assert read_as == ((REAL,), (INTEGER,))
    assert "_mul" in backend.lowered(read(DOUBLE.replace("add", "mul")), (REAL,)).source


def test_a_file_that_is_no_memory_is_made_again(empty_folder: Path) -> None:
    first = backend.lowered(read(DOUBLE), (REAL,))
    [file] = empty_folder.glob("l_*.pickle")
    file.write_bytes(b"half of it")
    assert backend.lowered(read(DOUBLE), (REAL,)) == first
    assert isinstance(pickle.loads(file.read_bytes()), Lowered)


def test_a_change_of_the_code_that_lowers_is_noticed(monkeypatch: Any) -> None:
    made: list[int] = []
    for _ in range(2):
        store.remembered("key", lambda: made.append(1) or len(made))  # type: ignore[func-returns-value]
    assert len(made) == 1
    monkeypatch.setattr(store, "_code", lambda: "another version")
    store.remembered("key", lambda: made.append(1) or len(made))  # type: ignore[func-returns-value]
    assert len(made) == 2


def test_a_users_primitive_is_not_told_by_its_name(empty_folder: Path) -> None:
    texts = [backend.lowered(of(primitive(text)), (REAL,)).source for text in ("{0} + 1.0", "{0} + 2.0")]
    assert texts[0] != texts[1]
    assert not list(empty_folder.glob("l_*"))


def primitive(numba: str) -> Primitive:
    """A primitive called `shifted`, of a real, with generated source of its own."""
    shifted = row("shifted", "x", "real -> real")
    return replace(shifted, columns={"meaning": lambda x: x + 1.0, "numba": numba})


def of(shifted: Primitive) -> Program:
    edit = Edit(empty())
    graph = edit.graph("f")
    edit.output(graph, edit.call(graph, shifted, edit.parameter(graph, "x", REAL)))
    return edit.program
