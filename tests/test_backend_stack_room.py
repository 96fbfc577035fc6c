"""Each stack has room of its own: what is full gets more, and no other does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
import backend
from backend.lowering.first_order import Lowered
from backend.run import BUDGET, on_target
from backend.stacks import memory as stack_memory
from backend.stacks.memory import CELLS, GROWTH, LIMIT, SOON, Memory, rooms
from backend.status import FULL, FULL_ARRAYS, FULL_AT, TOLD_APART, full_of, is_full
from semantics.errors import OutOfFuel
from semantics.type_language import INTEGER, REAL
from transforms.gradient_programs import calling
from transforms.parse import parse

TURNS = 40


def nested(x, n: int):  # type: ignore[no-untyped-def]
    """n turns, each of n turns more: a stack of n cells and one of n²."""
    r = x
    for i in range(n):
        s = r * x
        for _ in range(n):
            s = s * (x + i)
        r = s / (1.0 + r * r)
    return r


PROGRAM = calling(parse(nested), "value_and_grad", (0,), (REAL, INTEGER))
CODE = backend.lowered(PROGRAM, (REAL, INTEGER))


def code(widths: Sequence[int], heap: bool = False) -> Lowered:
    return Lowered("", (), (), (), REAL, stacks=True, widths=tuple(widths), heap=heap)


def on(target: str, source: Lowered = CODE) -> Any:
    found = on_target(source, target, BUDGET, lambda: found)
    return found


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_the_stack_of_the_inner_loop_alone_is_made_larger(target: str) -> None:
    compiled = on(target)
    wanted = on("python")(0.5, 3)
    assert compiled(0.5, 3) == wanted
    assert {*compiled.memory.cells} == {CELLS}
    assert compiled(0.5, TURNS) == on("python")(0.5, TURNS)
    cells = compiled.memory.cells
    assert sum(n >= TURNS * TURNS for n in cells) == 1
    assert sum(n == CELLS for n in cells) == len(cells) - 1 > 0
    assert compiled(0.5, 3) == wanted


def test_samples_of_a_batch_share_no_room_and_find_theirs() -> None:
    xs = np.linspace(0.1, 0.9, 70)
    f = aj.grad(nested)
    found = aj.vmap(f, (0, None))(xs, TURNS)
    one = aj.compile(f)
    assert found.tolist() == [one(float(x), TURNS) for x in xs]


def test_a_status_that_names_another_stack_is_out_of_memory_and_no_wrong_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted bug: the code asks for more of each other stack."""
    said = re.compile(r"(?<=fuel, )\d+(?=,\))")
    named = sorted({int(s) for s in said.findall(CODE.alone) if int(s) >= FULL_AT})
    assert named == [full_of(k) for k in range(len(CODE.widths))]
    other = {str(s): str(t) for s, t in zip(named, [*named[1:], named[0]], strict=True)}
    wrong = said.sub(lambda found: other.get(found[0], found[0]), CODE.alone)
    assert wrong != CODE.alone
    monkeypatch.setattr(stack_memory, "LIMIT", 1 << 16)
    assert on("python")(0.5, TURNS)
    with pytest.raises(OutOfFuel, match="do not fit"):
        on("python", replace(CODE, alone=wrong))(0.5, TURNS)


@given(st.lists(st.integers(1, 9), max_size=5), st.data())
def test_rooms_lie_one_after_the_other_and_each_has_its_cells(widths: list[int], data: st.DataObject) -> None:
    cells = data.draw(st.lists(st.integers(1, 100), min_size=len(widths), max_size=len(widths)))
    table = rooms(widths, cells)
    if not widths:
        assert table == (0,)
        return
    assert list(table[::2]) == cells
    begins, ends = [0, *table[1:-1:2]], table[1::2]
    sizes = [width * n for width, n in zip(widths, cells, strict=True)]
    assert [end - begin for begin, end in zip(begins, ends, strict=True)] == sizes


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.sets(st.integers(0, 4)), st.booleans())
def test_what_is_full_grows_and_nothing_else_does(widths: list[int], full: set[int], arrays: bool) -> None:
    memory = Memory(code(widths, heap=True), BUDGET)
    full = {k for k in full if k < len(widths)}
    before, words = memory.cells, memory.words
    assert memory.grow({full_of(k) for k in full} | ({FULL_ARRAYS} if arrays else set()))
    assert memory.cells == tuple(GROWTH[0] * n if k in full else n for k, n in enumerate(before))
    assert memory.words == (GROWTH[0] * words if arrays else words)
    assert memory.capacity == rooms(widths, memory.cells)
    assert memory.block.size == stack_memory.HEADER + len(memory.capacity) + memory.size


def test_a_stack_that_cannot_be_made_so_much_larger_grows_by_less_and_then_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_memory, "LIMIT", 4 * CELLS)
    memory = Memory(code((1, 1)), BUDGET)
    assert [memory.grow({full_of(1)}) for _ in range(4)] == [True, True, False, False]
    assert memory.cells == (CELLS, 3 * CELLS)


def test_a_large_stack_is_made_twice_as_large() -> None:
    memory = Memory(code((1,)), BUDGET)
    while memory.cells[0] < SOON:
        assert memory.grow({full_of(0)})
    (before,) = memory.cells
    assert memory.grow({full_of(0)})
    assert memory.cells == (2 * before,)
    assert memory.size <= LIMIT


def test_beyond_so_many_stacks_all_are_made_larger() -> None:
    memory = Memory(code((1,) * (TOLD_APART + 2)), BUDGET)
    assert full_of(TOLD_APART) == FULL
    assert memory.grow({full_of(TOLD_APART)})
    assert {*memory.cells} == {GROWTH[0] * CELLS}


def test_every_status_of_memory_is_told_from_the_others() -> None:
    stacks = [full_of(k) for k in range(TOLD_APART)]
    assert len({*stacks}) == TOLD_APART
    assert max(stacks) < 128, "batches have a byte for each"
    assert is_full(np.array([*stacks, FULL, FULL_ARRAYS])).all()
    assert not is_full(np.array([k for k in range(FULL_AT) if k not in (FULL, FULL_ARRAYS)])).any()
