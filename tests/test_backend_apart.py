"""Loops whose turns are apart: marked where each turn has its own part of all that is written, nowhere else, and told to LLVM."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from loop_texts import functions
from numba import njit, typeof

from backend import store, toolchain
from backend.arrays import apart
from backend.arrays.tightening import tightened
from backend.cpu.compiler import Usual

X, Y = np.array([1.5, -0.0, 2.0, -7.25]), np.array([0.1, 3.0, -2.0, 5.0])


class Watched(np.ndarray[Any, Any]):
    """An array that notes the address of each element that is read or written."""

    def __getitem__(self, index: Any) -> Any:
        TURNS.note(self, index, False)
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        TURNS.note(self, index, True)
        super().__setitem__(index, value)


class Turns:
    """Of one loop that is marked: in which turns an address is written, and in which it is accessed."""

    def __init__(self) -> None:
        self.turn: int | None = None
        self.written: dict[int, set[int]] = {}
        self.accessed: dict[int, set[int]] = {}
        self.marked = 0

    def note(self, array: Any, index: Any, writes: bool) -> None:
        if self.turn is None:
            return
        places = index if isinstance(index, tuple) else (index,)
        offset = sum((i % n) * step for i, n, step in zip(places, array.shape, array.strides, strict=True))
        address = array.__array_interface__["data"][0] + offset
        self.accessed.setdefault(address, set()).add(self.turn)
        if writes:
            self.written.setdefault(address, set()).add(self.turn)

    def through(self, n: int) -> Iterator[int]:
        """The turns of a loop, which are then compared."""
        self.marked += 1
        self.written, self.accessed = {}, {}
        for k in range(n):
            self.turn = k
            yield k
        self.turn = None
        for address in self.written:
            assert len(self.accessed[address]) == 1, "a turn accesses what another writes"


TURNS = Turns()


def watched(text: str) -> tuple[Any, ...]:
    """The text run by CPython, each turn of each loop that is marked watched."""
    TURNS.__init__()  # type: ignore[misc]
    names: dict[str, Any] = {
        **toolchain.bindings("python", ""),
        "_apart": TURNS.through,
        "_empty": lambda shape, dtype: np.zeros(shape, dtype).view(Watched),
        "_full": lambda shape, value, dtype: np.full(shape, value, dtype).view(Watched),
    }
    exec(text, names)  # a text of the tests
    found: tuple[Any, ...] = names["kernel"](X.copy().view(Watched), Y.copy().view(Watched), 100, 1.0)
    return found


@given(functions())
def test_what_a_turn_of_a_marked_loop_writes_no_other_accesses(text: str) -> None:
    watched(tightened(text))
    event(f"{TURNS.marked} loops")


def kernel(*lines: str) -> str:
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines)])


NEW = "b = _empty((a0.shape[0],), _f64)"
MATRIX = "b = _full((a0.shape[0], a0.shape[0]), 0.0, _f64)"
GIVEN = "return (b, fuel, 0)"
APART = {
    "a row": (NEW, "for k in range(a0.shape[0]):", "    b[k] = a0[k] + a1[0]", GIVEN),
    "elements further on": (
        NEW,
        "b[0] = 1.0",
        "for k in range(a0.shape[0] - 1):",
        "    b[1 + k] = a0[k] + a1[1 + k]",
        "    b[1 + k] = b[1 + k] + 1.0",
        GIVEN,
    ),
    "a sum beside": (
        NEW,
        "s = 0.0",
        "for k in range(a0.shape[0]):",
        "    b[k] = a0[k]",
        "    s = s + b[k]",
        "return (b, s, fuel, 0)",
    ),
    "rows of a matrix": (MATRIX, "for k in range(a0.shape[0]):", "    b[0, k] = a0[k]", "    b[1, k] = b[0, k] + 1.0", GIVEN),
    "the inner of two": (
        MATRIX,
        "for i in range(a0.shape[0]):",
        "    for k in range(a0.shape[0]):",
        "        b[i, k] = b[i, k] + a0[i]",
        GIVEN,
    ),
}
TOGETHER = {
    "another's element": (NEW, "for k in range(a0.shape[0]):", "    b[k] = a0[k]", "    b[0] = b[k] + 1.0", GIVEN),
    "the one before": (NEW, "b[0] = 1.0", "for k in range(a0.shape[0] - 1):", "    b[k + 1] = b[k] + a0[k]", GIVEN),
    "elements of two turns": (NEW, "b[0] = 0.0", "for k in range(a0.shape[0] - 1):", "    b[k] = b[1 + k]", GIVEN),
    "an element of all turns": (NEW, "i = 1", "for k in range(a0.shape[0]):", "    b[1 + i] = a0[k]", GIVEN),
    "another's by another name": (
        NEW,
        "c = _reshape(b, (a0.shape[0],))",
        "for k in range(a0.shape[0]):",
        "    b[k] = a0[k] + c[a0.shape[0] - 1 - k]",
        GIVEN,
    ),
    "another axis": (MATRIX, "for k in range(a0.shape[0]):", "    b[0, k] = a0[k]", "    b[k, 1] = 2.0", GIVEN),
    "sums alone": ("s = 0.0", "for k in range(a0.shape[0]):", "    s = s + a0[k]", "return (s, fuel, 0)"),
}


@pytest.mark.parametrize("lines", APART.values(), ids=APART)
def test_a_loop_is_marked_where_each_turn_has_its_own_part(lines: tuple[str, ...]) -> None:
    text = tightened(kernel(*lines))
    assert text.count("_apart(") == 1, text
    watched(text)


@pytest.mark.parametrize("lines", TOGETHER.values(), ids=TOGETHER)
def test_a_loop_is_not_marked_where_turns_meet(lines: tuple[str, ...]) -> None:
    assert "_apart(" not in tightened(kernel(*lines))


@pytest.mark.parametrize("name", ["another's element", "the one before", "another's by another name", "another axis"])
def test_a_mark_on_every_loop_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_has_own", lambda *_: True)
    with pytest.raises(AssertionError, match="what another writes"):
        watched(tightened(kernel(*TOGETHER[name])))


def gathering(mark: str) -> str:
    """A loop that reads at places which it reads too: LLVM cannot ask whether these are among those written, so must be told."""
    lines = ["x = a0[at[k]]", *["x = x * a1[k] + 0.5"] * 8, "b[k] = x"]
    kernel = "\n".join(
        ["@_bare", "def kernel(a0, a1, at, b):", f"    for k in {mark}(b.shape[0]):", *(f"        {x}" for x in lines)]
    )
    return kernel + "\n\n@_device\ndef entry(a0, a1, at, b):\n    kernel(a0, a1, at, b)\n"


def optimized(entry: Any, *given: Any) -> str:
    """LLVM's text of an entry, with what it calls: parts of code are optimized there alone."""
    compiled = njit(error_model="numpy", pipeline_class=Usual)(entry.py_func)
    compiled.compile(tuple(map(typeof, given)))
    return "".join(compiled.inspect_llvm().values())


def test_llvm_is_told_and_makes_vectors() -> None:
    x, y, at = np.linspace(-2.0, 2.0, 21), np.linspace(1.0, 3.0, 21), np.arange(21)[::-1].copy()
    found = {}
    for mark in ("_apart", "range"):
        text = gathering(mark)
        module = store.load(text, "cpu", toolchain.bindings("cpu", text))
        module.entry(x, y, at, b := np.empty(21))
        found[mark] = "vector.body" in optimized(module.entry, x, y, at, b), b.tobytes()
    assert [found["_apart"][0], found["range"][0]] == [True, False]
    assert found["_apart"][1] == found["range"][1]


def elementary(mark: str, *lines: str) -> tuple[bytes, float, str]:
    """What a loop with cosh leaves in 24 numbers, what it gives, and LLVM's text of it."""
    body = "\n".join(f"        {line}" for line in ("b[k] = _cosh(b[k])", *lines))
    kernel = f"@_bare\ndef kernel(b):\n    s = 0.0\n    for k in {mark}(b.shape[0] & -8):\n{body}\n    return s"
    text = f"{kernel}\n\n\n@_device\ndef entry(b):\n    return kernel(b)\n"
    module = store.load(text, "cpu", toolchain.bindings("cpu", text, vectors=toolchain.in_loops(text)))
    b = np.linspace(-2.0, 2.0, 24)
    total = module.entry(b)
    return b.tobytes(), total, optimized(module.entry, b)


def test_a_loop_over_a_strip_is_in_vectors_whatever_they_cost() -> None:
    wanted = [math.cosh(x) for x in np.linspace(-2.0, 2.0, 24)]
    found, _, text = elementary("_strip_of")
    assert found == np.array(wanted).tobytes()
    assert "vector.body" in text


def test_a_loop_that_has_a_sum_is_not_told_so_since_the_order_would_be_free() -> None:
    _, total, _ = elementary("_apart", "s = s + b[k]")
    assert total == functools.reduce(operator.add, (math.cosh(x) for x in np.linspace(-2.0, 2.0, 24)), 0.0)
