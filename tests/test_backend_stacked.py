"""What frames keep is made in the memory of stacks, and given back when it is the last there and nothing reads it again."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from loop_texts import bits, executed

from backend.arrays.keeping import kept_once
from backend.arrays.popped import TAKEN
from backend.arrays.stacked import stacked
from backend.stacks.arrays import SOURCES
from backend.status import FULL_ARRAYS

KEPT = "integers[4 * s1], heap = (heap, _keep(b, reals, heap))"
SUM = "v[k] = float(v[k]) + float(b[k])"
AFTER = "b, m = (v, w)"
TEXT = f"""
def f(a0, a1, reals, integers, heap):
    s1, s2, i, x = (0, 0, 0, 0.0)
    b = _full((a0.shape[0],), -0.0, _f64)
    m = _full((a0.shape[0],), False, _bool)
    while i < 3:
        b[i] = a0[i]
        m[i] = True
        {KEPT}
        integers[4 * s1 + 1], heap = (heap, _keep_flags(m, integers, heap))
        integers[4 * s1 + 2] = b.shape[0]
        if heap > reals.size:
            return (a0, a1, x, heap, {FULL_ARRAYS})
        s1 = s1 + 1
        b = _full((a0.shape[0],), -0.0, _f64)
        m = _full((a0.shape[0],), False, _bool)
        b[i] = a0[i]
        m[i] = True
        i = i + 1
    while i > 0:
        t = s1 - 1
        n = int(integers[4 * t + 2])
        v = reals[integers[4 * t]:integers[4 * t] + n]
        w = integers[integers[4 * t + 1]:integers[4 * t + 1] + (n + 7) // 8].view(_bool)[:n]
        s1 = t
        for k in range(v.shape[0]):
            {SUM}
            w[k] = w[k] | m[k]
        {AFTER}
        i = i - 1
    return (b, m, x, heap, 0)
"""
BEGIN, WORDS = 16, 5  # where arrays begin, and the words of four numbers and their mask
X = np.array([1.5, -0.0, 2.0, -7.25])


def after(text: str) -> str:
    """The text with its arrays in the memory of stacks; nothing is left of what stands for views that were taken off."""
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    stacked(function)
    kept_once(function)
    found = ast.unparse(ast.fix_missing_locations(function))
    assert TAKEN not in found
    return found


def values(text: str, room: int = 64) -> tuple[np.ndarray, ...]:
    """What the function gives; where arrays end in the memory is the last but one."""
    kernel = f"""
def kernel(a0, a1, fuel, one):
    reals = _full(({room},), 0.0, _f64)
    return f(a0, a1, reals, reals.view(_i64), {BEGIN})
"""
    return executed("\n".join([*SOURCES.values(), text, kernel]), X, X)


def agrees(text: str) -> bool:
    return bits(values(after(text))[:3]) == bits(values(text)[:3])


def test_what_is_added_to_what_a_frame_kept_gives_its_memory_back() -> None:
    found = after(TEXT)
    assert "_full(" not in found
    assert "_empty(" not in found
    assert agrees(TEXT)
    assert values(found)[3] == BEGIN + WORDS, "the sum is left"
    assert values(TEXT)[3] == BEGIN + 3 * WORDS


def test_arrays_of_one_size_that_stand_together_ask_once_whether_there_is_room() -> None:
    assert after(TEXT).count("heap + a0.shape[0] + (a0.shape[0] + 7) // 8 > reals.size") == 2


def test_where_there_is_no_room_nothing_is_written() -> None:
    for room in range(BEGIN, BEGIN + 2 * WORDS):
        assert values(after(TEXT), room)[-1] == FULL_ARRAYS


def test_a_loop_that_writes_to_arrays_without_another_name_is_apart() -> None:
    assert "for k in _apart(" in after(TEXT)
    assert "for k in range(" in after(TEXT.replace(SUM, "v[k] = float(v[0]) + float(b[k])"))


OTHERS = {
    "it is read when the frame is on": (KEPT, f"{KEPT}\n        x = x + b[0]"),
    "another cell keeps it": (KEPT, f"{KEPT}\n        integers[12 + s2], heap = (heap, _keep(b, reals, heap))"),
    "it is kept elsewhere": (KEPT, KEPT.replace("s1", "s2")),
    "the frame is not taken off": ("s1 = t", "s1 = s1 - 1"),
    "an argument is kept": ("    b = _full((a0.shape[0],), -0.0, _f64)\n    m", "    b = a1\n    m"),
    "it is given to the caller": ("def f(", "def kernel("),
    "what is full is not said": (str(FULL_ARRAYS), "16"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_near_miss_what_another_may_read_is_made_as_it_was(case: str) -> None:
    text = TEXT.replace(*OTHERS[case])
    assert text != TEXT
    assert after(text).count("_full(") == text.count("_full(")
    assert "_apart(" not in after(text)


READ = {
    "a later statement reads it": f"x = x + b[0]\n        {AFTER}",
    "it has another name": f"c = b\n        {AFTER}\n        x = x + c[1]",
}


@pytest.mark.parametrize("case", READ)
def test_near_miss_what_is_read_again_keeps_its_memory(case: str) -> None:
    text = TEXT.replace(AFTER, READ[case])
    assert "_place(b, reals)\n            if last" not in after(text)
    assert agrees(text)
    assert values(after(text))[3] > BEGIN + WORDS


def test_what_is_not_the_last_keeps_its_memory() -> None:
    """A turn leaves a word behind what it makes."""
    text = TEXT.replace("        i = i + 1", "        heap = heap + 1\n        i = i + 1")
    assert agrees(text)
    assert values(after(text))[3] == BEGIN + 4 * WORDS + 3
