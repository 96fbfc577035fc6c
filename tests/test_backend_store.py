"""What was lowered is remembered by the text of the program, and by nothing that leaves out what decides it."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import backend
from backend import store, toolchain
from backend.cpu import native
from backend.cpu.summed import SummedFile
from backend.lowering.first_order import Lowered
from semantics.arrays import Array
from semantics.edit import Edit, empty
from semantics.ir import Program
from semantics.primitives.row import Primitive, row
from semantics.text import read
from semantics.type_language import INTEGER, REAL
from semantics.values import same

BACKEND = store.ROOT / "backend"
COMPILES = re.compile(r"^\s*(from|import) (numba|llvmlite)\b", re.MULTILINE)
OF_LLVM_TEXT = {"ways_in/entrance.py"}
"""They import LLVM, and what they compile is text that has all that decides it: by that it is kept."""
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


@pytest.mark.parametrize(
    "left", [b"", b"\x7fELF", b"half of it", None], ids=["nothing", "a beginning", "something else", "all but one"]
)
def test_a_file_that_was_kept_is_found_only_whole(empty_folder: Path, left: bytes | None) -> None:
    """An object file that was none ended the process, in LLVM."""
    file = empty_folder / "t_1.o"
    store.keep(file, b"what was made")
    assert store.kept(file) == b"what was made"
    file.write_bytes(file.read_bytes()[:-1] if left is None else left)
    with pytest.raises(OSError, match="not what was written"):
        store.kept(file)


def test_an_object_file_that_is_none_is_made_again(empty_folder: Path) -> None:
    text = f'target triple = "{native.llvm().get_process_triple()}"\ndefine i64 @one() {{\n  ret i64 1\n}}\n'
    for _ in range(2):
        assert native.of_text(text, ["one"], {})["one"]
        (file,) = empty_folder.glob("t_*.o")
        file.write_bytes(b"\x7fELF and no more")


def test_a_source_that_is_cut_off_is_written_again(empty_folder: Path) -> None:
    def one() -> int:
        found: int = store.load("def one(): return 1\n", "python", {}).one()
        return found

    assert one() == 1
    (file,) = empty_folder.glob("k_*.py")
    file.write_bytes(b"def ")
    assert one() == 1


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [b"", b"4 and more"], ids=["nothing", "something else"])
def test_what_numba_keeps_is_made_again_where_it_is_damaged(empty_folder: Path, kind: str, left: bytes) -> None:
    """It raised what `pickle` raises, at each call."""
    program = read(DOUBLE.replace("f(%x)", "f(%x: f64[?])"))
    for _ in range(2):
        code = backend.compile(program, target="cpu")
        assert same(code.call(Array("f64", (2,), (0.5, 1.5))), Array("f64", (2,), (1.0, 3.0)))
        for file in (empty_folder / "__pycache__").glob(f"*.{kind}"):
            file.write_bytes(left)
    assert list((empty_folder / "__pycache__").glob(f"*.{kind}"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0.0, 1.0, exclude_max=True), st.integers(0, 255), st.sampled_from(["changed", "cut off"]), st.booleans())
def test_a_file_of_numbas_is_found_as_it_was_written_or_not_at_all(place: float, bits: int, how: str, index: bool) -> None:
    """Of some files that one bit was wrong in, LLVM ended the process, in each run: nothing looked at them first."""
    with TemporaryDirectory() as folder:
        file = SummedFile(folder, "f", "stamp")
        file.save("key", {"code": b"BC" * 50})
        assert SummedFile(folder, "f", "stamp").load("key") == {"code": b"BC" * 50}
        assert SummedFile(folder, "f", "another").load("key") is None
        (damaged,) = Path(folder).glob("*.nbi" if index else "*.nbc")
        content = bytearray(damaged.read_bytes())
        at = int(place * len(content))
        content[at] ^= bits
        damaged.write_bytes(content if how == "changed" else content[:at])
        whole = how == "changed" and bits == 0
        assert file.load("key") == ({"code": b"BC" * 50} if whole else None)
        file.save("key", "anew")
        assert file.load("key") == "anew"


def test_all_that_numba_keeps_is_so() -> None:
    bound = toolchain.cpu_bindings("")
    for name in ("_device", "_entry", "_batch"):
        assert type(bound[name](lambda x: x)._cache._cache_file) is SummedFile


def test_a_full_disk_keeps_nothing_and_ends_nothing(empty_folder: Path, monkeypatch: Any) -> None:
    replace_file = os.replace

    def full(here: str, there: Path) -> None:
        if there.parent == empty_folder:
            raise OSError(28, "No space left on device")
        replace_file(here, there)

    monkeypatch.setattr(os, "replace", full)
    assert store.remembered("a key", lambda: 7) == 7
    assert store.load("def one(): return 1\n", "python", {}).one() == 1
    assert not list(empty_folder.iterdir())


def test_a_change_of_the_code_that_lowers_is_noticed(monkeypatch: Any) -> None:
    made: list[int] = []
    for _ in range(2):
        store.remembered("key", lambda: made.append(1) or len(made))  # type: ignore[func-returns-value]
    assert len(made) == 1
    monkeypatch.setattr(store, "sources", lambda: "another version")
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


# compiled code


def copied(to: Path) -> Path:
    """The backend's sources in another place."""
    shutil.copytree(BACKEND, to, ignore=shutil.ignore_patterns("__pycache__"))
    return to


@pytest.mark.parametrize("name", ["exact/alone.py", "exact/trial.py", "cpu/functions.py", "batches/lanes.py", "toolchain.py"])
def test_what_compiles_is_told_by_what_is_in_its_sources(name: str, tmp_path: Path) -> None:
    source = copied(tmp_path / "elsewhere") / name
    before = store.contents(tmp_path / "elsewhere")
    assert before == store.contents(BACKEND), "wherever it is"
    os.utime(source, (1, 1))
    assert store.contents(tmp_path / "elsewhere") == before, "whenever it was written"
    source.write_text(source.read_text() + "\n")
    assert store.contents(tmp_path / "elsewhere") != before


def test_a_source_that_is_there_no_more_or_has_another_name_is_a_change(tmp_path: Path) -> None:
    source = copied(tmp_path / "elsewhere") / "exact" / "alone.py"
    source.rename(source.with_name("single.py"))
    renamed = store.contents(tmp_path / "elsewhere")
    source.with_name("single.py").unlink()
    assert len({store.contents(BACKEND), renamed, store.contents(tmp_path / "elsewhere")}) == 3


def test_what_writes_sources_has_no_say_in_what_they_are_compiled_to(tmp_path: Path) -> None:
    source = copied(tmp_path / "elsewhere") / "lowering" / "emit.py"
    source.write_text("")
    assert store.contents(tmp_path / "elsewhere") == store.contents(BACKEND)


def test_every_module_that_compiles_is_among_these() -> None:
    compiles = {str(f.relative_to(BACKEND)) for f in BACKEND.rglob("*.py") if COMPILES.search(f.read_text())}
    named = {str(f.relative_to(BACKEND)) for name in store.COMPILER for f in store._sources(BACKEND / name)}
    assert compiles - named == OF_LLVM_TEXT
    assert all((BACKEND / name).exists() for name in store.COMPILER)


def test_compiled_code_is_kept_by_what_compiles_it(empty_folder: Path, monkeypatch: Any) -> None:
    """Code of the CPU anew with other sources; of CPython, which compiles nothing, as it was."""
    source = "def f(x):\n    return x\n"
    names: dict[str, set[str]] = {"cpu": set(), "python": set(), "native": set()}
    for sources in ("these", "others"):
        monkeypatch.setattr(store, "compiler", lambda sources=sources: sources)
        for target in ("cpu", "python"):
            names[target].add(store.load(source, target, {}).__name__)
        names["native"].add(native.key(source, {"f": "d:d"}))
    assert {target: len(found) for target, found in names.items()} == {"cpu": 2, "python": 1, "native": 2}


def test_sources_are_read_once_for_all_processes(monkeypatch: Any) -> None:
    found: Callable[[], str] = store.compiler.__wrapped__  # type: ignore[attr-defined]
    first = found()
    assert first == store.contents(BACKEND)
    monkeypatch.setattr(store, "contents", lambda backend: "read anew")
    assert found() == first
    monkeypatch.setattr(store, "sources", lambda: "another version")
    assert found() == "read anew"


def test_another_python_lowers_anew(monkeypatch: Any) -> None:
    found: Callable[[], str] = store.sources.__wrapped__  # type: ignore[attr-defined]
    first = found()
    assert found() == first
    monkeypatch.setattr(sys.implementation, "cache_tag", "cpython-399")
    assert found() != first
