"""Large arrays that no frame can reach any more give their place to others, and every run is the reference's."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from test_vm_memory import numbers
from vm_runs import same_value
from vm_stress import Moving, as_if_large

from backend.machine import Execution, holes, interpreter, load
from backend.machine.holes import Holes
from backend.machine.layout import FP, FRAME, HEAP, HOLES, LIMIT, OLD, PC, RETURN_FP, SIZE, STATE, STEPS, VALUES
from semantics.machine import run
from semantics.reader import read
from transforms.parse import parse_text

BOTH = ("python", "cpu")
COUNT = 40
"""Elements of an array, which the tests take for a large one."""


def text(turns: int, kept: bool) -> str:
    """A function of an array, in so many lines that make one each; at the end it reads the last, or the first as well."""
    lines = [f"  %x{k + 1} = add(%x{k}, %one)" for k in range(turns)]
    last = f"  %r = add(%x{turns}, %x1)\n  return %r" if kept else f"  return %x{turns}"
    return "program @f\n@f(%x0, %one):\n" + "\n".join(lines) + f"\n{last}\n"


def touched(program: Any, target: str, arguments: Any, young: int = 1 << 10, stack: int = 1 << 9) -> tuple[Execution, int]:
    """An execution that has run with arrays of COUNT elements taken for large, and the words of old objects at its end."""
    with as_if_large(COUNT, 0):
        execution = Execution(load(program), target, patience=0, stack=stack, smallest=1 << 15, young=young)
        same_value(execution.run(arguments), run(program, *arguments))
    words = execution.words.integers
    return execution, words[OLD] - words[LIMIT]


@pytest.mark.parametrize("target", BOTH)
def test_what_a_line_has_read_last_gives_its_place_to_what_the_next_lines_make(target: str) -> None:
    arguments = numbers(COUNT), 1.0
    for turns in (20, 100):
        execution, words = touched(read(text(turns, kept=False)), target, arguments)
        assert execution.heap.holes.last > 0
        assert words <= 12 * (COUNT + 8)
    _, without = touched(read(text(100, kept=False)), target, arguments, young=0)
    assert without < 0  # where there are no young objects, OLD is 0: nothing is looked for


@pytest.mark.parametrize("target", BOTH)
def test_what_is_read_again_later_stays(target: str) -> None:
    arguments = numbers(COUNT), 1.0
    execution, _ = touched(read(text(100, kept=True)), target, arguments)
    assert execution.heap.holes.last > 0


WAITING = """
def f(x, n: int):
    if n == 0:
        return x
    y = x + 1.0
    return f(y * 2.0, n - 1) + y
"""


@pytest.mark.parametrize("target", BOTH)
def test_what_a_frame_that_waits_will_read_stays(target: str) -> None:
    execution, _ = touched(parse_text(WAITING, "f"), target, (numbers(COUNT), 20))
    assert execution.heap.holes.last > 0


AHEAD = """
def f(x, n: int):
    z = ((((((x + 1.0) * 2.0) - 1.0) * 2.0) - 1.0) * 2.0) - 1.0
    return z + g(n)

def g(n: int):
    return 0.0 if n == 0 else g(n - 1) + 1.0
"""


def test_a_new_buffer_with_a_larger_stack_has_no_holes() -> None:
    execution, words = touched(parse_text(AHEAD, "f"), "python", (numbers(COUNT), 60), stack=1 << 7)
    assert words < 0  # the last buffer has no young objects
    assert execution.heap.holes.found == []


def test_holes_that_lie_side_by_side_are_one_and_the_last_is_no_hole() -> None:
    """Of five old objects of 10 words the frame has the third: two of room before it, and the old ones end behind it."""
    words, code = [0] * 200, [1, 0, 5, *(0, 5, 1, 3), *(2, 5, 1, 5)]
    words[HEAP], words[LIMIT], words[OLD], words[STATE - 1] = 30, 40, 90, -1
    for p in range(40, 90, 10):
        words[p + SIZE] = 10
    put = interpreter.interpreted()
    frame(words, 3, [(10, 60), (10, 80)])
    assert put.sweep(words, code, 15) > 0
    assert words[OLD] == 70
    assert (words[HOLES], words[40 + SIZE], words[40 + VALUES]) == (40, 20, 0)
    assert words[60 + SIZE] == 10
    frame(words, 3, [(10, 60), (10, 80)])
    put.sweep(words, code, 20)
    assert words[HOLES] == 0  # of no more words than are large


def frame(words: list[int], pc: int, values: list[tuple[int, int]]) -> None:
    """The one frame, behind the state, which goes on at pc."""
    words[PC], words[FP] = pc, STATE
    words[STATE : STATE + FRAME] = [0, 0, 0]
    for k, value in enumerate(values):
        words[STATE + FRAME + 2 * k : STATE + FRAME + 2 * k + 2] = value


def test_room_is_taken_where_it_fits_best_and_what_is_left_is_room_again(monkeypatch: Any) -> None:
    monkeypatch.setattr(holes, "LARGE", 10)
    words = [0] * 1000
    room = Holes()
    for start, end in ((100, 200), (300, 340), (500, 510)):
        room.given(words, start, end)
    assert room.found == [(40, 300), (100, 100)]  # ten words are no room for a large object
    assert (words[500 + SIZE], words[300 + SIZE]) == (10, 40)
    assert room.taken(words, 30) == 300
    assert words[330 + SIZE] == 10
    assert room.taken(words, 41) == 100
    assert room.found == [(59, 141)]
    assert room.taken(words, 60) == 0
    assert room.taken(words, 59) == 141
    assert room.found == []


def test_nothing_is_looked_for_twice_in_a_step_or_without_room_to_do_so(monkeypatch: Any) -> None:
    monkeypatch.setattr(holes, "OFTEN", 100)
    words = [0] * 1000
    words[HEAP], words[LIMIT], words[OLD], words[STEPS] = 100, 200, 300, 7
    room = Holes()
    room.made = 101
    assert room.is_due(words)
    for end in (950, 780):  # 100 young ones may become old; 580 words may be 145 objects that have values
        assert not room.is_due([*words[:OLD], end, *words[OLD + 1 :]])
    room.swept(words, 10)
    room.made = 101
    assert not room.is_due(words)
    words[STEPS] = 8
    assert room.is_due(words)
    room.made = 100
    assert not room.is_due(words)


def faults(machine: ModuleType) -> dict[str, dict[str, Any]]:
    """By what is wrong, the functions of the machine that are."""
    drop, mark, mark_all, moved = machine.drop, machine.mark, machine.mark_all, machine.moved

    def next_instruction_is_forgotten(words: Any, C: Any, pc: int, fp: int, end: int) -> int:
        return int(drop(words, C, pc + 3 + C[pc + 2] if C[pc] > 3 else pc, fp, end))

    def values_of_objects_are_forgotten(words: Any, start: int, end: int, top: int) -> int:
        mark(words, start, end, top)
        return top

    def waiting_frames_are_forgotten(words: Any, C: Any) -> int:
        at = words[FP] + RETURN_FP
        below, words[at] = words[at], 0
        try:
            return int(mark_all(words, C))
        finally:
            words[at] = below

    def only_the_first_is_moved(words: Any, new: Any, p: int) -> int:
        return int(moved(words, new, p)) if p % 2 else p

    return {
        "operands": {"drop": next_instruction_is_forgotten},
        "parts": {"mark": values_of_objects_are_forgotten},
        "frames": {"mark_all": waiting_frames_are_forgotten},
        "moved": {"moved": only_the_first_is_moved},
    }


HOLDING = """
def f(x, n: int):
    y = x + 1.0
    pair = (y, (y * 2.0, n))
    z = y if n == 0 else f(y * 3.0, n - 1)
    return (pair[0] + z) + pair[1][0]
"""


def stressed() -> int:
    """How often room was looked for in a run with the memory written over; AssertionError, or another error, if it went wrong."""
    program, arguments = parse_text(HOLDING, "f"), (numbers(COUNT), 12)
    with as_if_large(COUNT, 0):
        moving = Moving(program, "python", [None, 20, None], young=900, stack=1 << 9, smallest=1 << 15)
        same_value(moving.run(arguments), run(program, *arguments))
    return moving.sweeps


def test_the_stress_looks_for_room() -> None:
    assert stressed() > 5


@pytest.mark.parametrize("fault", ["operands", "parts", "frames", "moved"])
def test_the_stress_finds_what_is_wrong_with_the_collector(monkeypatch: Any, fault: str) -> None:
    machine = interpreter.interpreted()
    for name, function in faults(machine)[fault].items():
        monkeypatch.setattr(machine, name, function)
    with pytest.raises(Exception):  # noqa: B017, PT011  whatever a wrong address leads to
        stressed()
