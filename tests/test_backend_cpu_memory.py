"""The memory of stacks under Numba: elements by indices that count from the beginning, and slices that are arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit, types

from backend import toolchain
from backend.cpu.memory import Cells, cells, flags, place


@njit(error_model="numpy")
def moved(memory, words, begin, k):  # type: ignore[no-untyped-def]
    """An element copied by one index, a number by another; what stands there now, and the sum of a slice."""
    held, numbers = cells(memory), cells(words)
    held[begin + k] = held[k]
    held[k] = 2
    numbers[begin] = numbers[k] + 1
    total = 0.0
    for x in held[begin : begin + 2]:
        total += x
    return held[begin + k], numbers[begin], total, held.size


@given(st.lists(st.floats(-1e3, 1e3), min_size=8, max_size=8), st.integers(0, 3), st.integers(0, 3))
def test_cells_are_read_and_written_as_the_array_is(values: list[float], begin: int, k: int) -> None:
    memory, words = np.array(values), np.arange(8)
    wanted, numbers = memory.copy(), words.copy()
    found = moved(memory, words, begin, k)
    wanted[begin + k] = wanted[k]
    wanted[k] = 2
    numbers[begin] = numbers[k] + 1
    assert found == (wanted[begin + k], numbers[begin], 0.0 + wanted[begin] + wanted[begin + 1], 8)
    assert np.array_equal(memory, wanted)
    assert np.array_equal(words, numbers)


@njit(error_model="numpy")
def places(memory, begin, other, words):  # type: ignore[no-untyped-def]
    """Where a part of the memory lies, and what is no part of it, or of another type or order."""
    held = cells(memory)
    part = held[begin : begin + 2]
    return place(part, held), place(other, held), place(words, held), place(memory[begin::2], held)


@given(st.integers(0, 6))
def test_the_place_of_an_array_is_known_if_it_lies_in_the_memory(begin: int) -> None:
    block = np.arange(16.0)
    assert places(block[4:12], begin, block[:4], block[4:12].view(np.int64)) == (begin, -1, -1, -1)
    assert places(block[4:12], begin, block[12:], block[4:12].view(np.int64)) == (begin, -1, -1, -1)


@njit(error_model="numpy")
def of_flags(memory, begin, count):  # type: ignore[no-untyped-def]
    """Where booleans in the memory lie, and those behind the first of them; the first are written."""
    held = cells(memory)
    part = flags(held, begin, count)
    for k in range(count):
        part[k] = k % 2 == 0
    return part, place(part, held), place(part[1:], held)


@given(st.integers(0, 6), st.integers(1, 16))
def test_booleans_lie_eight_to_a_word(begin: int, count: int) -> None:
    memory = np.full(10, -1)
    part, at, inside = of_flags(memory, begin, count)
    assert (at, inside) == (begin, -1)
    assert part.dtype == np.bool_
    assert [*part] == [*memory[begin:].view(np.uint8)[:count]] == [k % 2 == 0 for k in range(count)]
    assert all(byte == 255 for byte in memory[begin:].view(np.uint8)[count:])
    assert all(memory[:begin] == -1)


@given(st.integers(0, 6), st.integers(1, 2))
def test_cpython_knows_the_place_of_an_array_too(begin: int, step: int) -> None:
    block = np.arange(16.0)
    held, words = block[4:12], block[4:12].view(np.int64)
    found = toolchain.bindings("python", "")["_place"]
    assert found(held[begin : begin + 2], held) == found(words[begin:].view(np.bool_)[:3], words) == begin
    outside = (block[:4], block[12:], words[begin:], held[begin::2][:1] if begin == 7 else held[:6:2])
    assert [found(array, held) for array in outside] == [-1] * 4
    assert found(words[begin:].view(np.bool_)[step:], words) == -1, "it begins in the midst of a word"


def test_no_index_of_cells_is_asked_whether_it_is_negative() -> None:
    def first(memory, k):  # type: ignore[no-untyped-def]
        return memory[k]

    compiled = {type: njit(error_model="numpy")(first) for type in (Cells(types.float64), types.Array(types.float64, 1, "C"))}
    asks = []
    for type, function in compiled.items():
        function.compile((type, types.int64))
        (text,) = function.inspect_llvm().values()
        asks.append("icmp slt" in text or "ashr" in text or "lshr" in text)
    assert asks == [False, True]


def test_the_ends_of_a_slice_of_cells_are_not_asked_where_they_lie() -> None:
    """Of an array, an end below zero counts from the other, and one beyond it is it."""

    def second(memory, k):  # type: ignore[no-untyped-def]
        return memory[k : k + 2][1]

    asks = []
    for type in (Cells(types.float64), types.Array(types.float64, 1, "C")):
        compiled = njit(error_model="numpy")(second)
        compiled.compile((type, types.int64))
        (text,) = compiled.inspect_llvm().values()
        asks.append(any(chosen in text for chosen in ("icmp slt", "icmp sgt", "llvm.smin", "llvm.smax", "ashr")))
    assert asks == [False, True]


@pytest.mark.parametrize("of", [types.float64, types.int64])
def test_its_type_is_told_from_that_of_an_array(of: types.Type) -> None:
    assert Cells(of) == Cells(of) != types.Array(of, 1, "C")
