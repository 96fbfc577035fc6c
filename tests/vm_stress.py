"""
Runs of the virtual machine in which everything moves as often as it can: what tests of its memory share.

Before a step the heap is made to end so many words behind what is there. So an instruction, or the host in its place, finds no room
after one of its objects or another; then all objects are copied to a new buffer, or the young ones behind the old, and where they
were is written over, and so is room that a large object may take. After that, what is said of the memory (`backend.machine.layout`)
is looked at.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from math import prod
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st
from vm_runs import outcome, same_outcome, same_value

from backend.machine import Execution, deferred, execution, holes, load
from backend.machine.layout import (
    ARRAY,
    BOXED,
    BUFFER,
    CELLS,
    CHANGED,
    CHANGES,
    CLOSURE,
    COUNT,
    DEFERRED,
    DTYPE,
    ENTRIES,
    FP,
    FRAME,
    GROWN,
    HEAP,
    HOLED,
    HP,
    LIMIT,
    LISTED,
    MEMORY,
    OLD,
    PAUSED,
    PC,
    POINTER,
    RANK,
    RAW,
    RECORD,
    RETURN_FP,
    RETURN_OUT,
    SHAPE,
    SIZE,
    SLICE,
    SPARSE,
    STEPS,
    SUM,
    TUPLE,
    VALUES,
)
from semantics.errors import AdjudgeError, OutOfFuel
from semantics.ir import Program
from semantics.machine import Machine

OVER = 7
"""A word that is written over where objects were: no address of an object, no size of an array."""

FUEL = 3_000

RAWS = {
    TUPLE: (0, 2),
    CLOSURE: (1,),
    RECORD: (1,),
    SLICE: (0,),
    MEMORY: (1,),
    POINTER: (2,),
    CELLS: (0, 2),
    GROWN: (2,),
    BUFFER: (1,),
    CHANGES: (0,),
}
"""How many words an object of these tags may have before its values."""


class Moving(Execution):
    """An execution whose heap ends, before each step, `rooms` words behind what is there; where it is None, where it ends."""

    def __init__(self, program: Program, target: str, rooms: Sequence[int | None], **given: Any) -> None:
        super().__init__(load(program), target, patience=0, **given)
        self.rooms, self.before, self.moves, self.sweeps = cycle(rooms), -1, 0, 0

    def go_on(self, pause: int) -> int:
        status = PAUSED
        while status == PAUSED:
            words = self.words.integers
            room = next(self.rooms) if words[STEPS] != self.before and not self.young.aside else None
            self.before = words[STEPS]
            if room is not None:
                words[LIMIT] = min(words[LIMIT], words[HP] + room)
            status = super().go_on(min(pause, words[STEPS] + 1))
            if words[STEPS] >= pause:
                break
            self.reopen()
        return status

    def reopen(self) -> None:
        """The heap ends where it did."""
        words = self.words.integers
        words[LIMIT] = words[HEAP] + self.young.size if words[OLD] else len(words)

    def serve(self) -> None:
        room = next(self.rooms)
        words = self.words.integers
        if room is not None:
            words[LIMIT] = min(words[LIMIT], words[HP] + room)
        super().serve()
        self.reopen()

    def grow(self, wanted: int) -> None:
        self.reopen()
        before, size = self.words, self.young.size
        used = max(before.integers[HP], before.integers[OLD])
        super().grow(wanted)
        self.moves += 1
        words = self.words.integers
        where = before.integers[:used] if before is not self.words else words[words[HEAP] : words[HEAP] + size]
        where[:] = memoryview(array("q", [OVER]) * len(where))
        if self.heap.holes.last == words[STEPS]:
            self.sweeps += 1
        for count, hole in self.heap.holes.found:
            assert words[hole + SIZE] == count
            words[hole + VALUES : hole + count] = memoryview(array("q", [OVER]) * (count - VALUES))
        whole(words, self.code.words, self.bottom, size if before is self.words else 0)


def whole(words: Any, code: Any, bottom: int, size: int) -> None:
    """Asserts what holds of a buffer whose young objects, of `size` words, or whose others have been moved just now."""
    end = words[HP] if size == 0 or not words[OLD] else words[OLD]
    assert words[HP] in (words[HEAP], end)
    starts, at = set(), words[HEAP] + size
    while at < end:  # one behind the other
        starts.add(at)
        assert 0 < words[at + SIZE] <= end - at
        at += words[at + SIZE]
    assert at == end
    assert words[CHANGED] == 0
    seen: set[tuple[int, int]] = set()
    todo = [x for start, stop in frames(words, code) for x in range(start, stop, 2)]
    while todo:
        x = todo.pop()
        tag, p = words[x], words[x + 1]
        if tag >= BOXED and (tag, p) not in seen:
            assert p in starts or p < bottom, f"an object of tag {tag} at {p}"
            consistent(words, tag, p)
            seen.add((tag, p))
            stop = p + words[p + SIZE]
            todo.extend(range(stop - 2 * words[p + VALUES], stop, 2))


def frames(words: Any, code: Any) -> Iterator[tuple[int, int]]:
    """Where the values of each frame begin and end."""
    fp, end = words[FP], words[FP] + code[words[PC] + 1]
    while fp != 0:
        yield fp + FRAME, end
        end, fp = words[fp + RETURN_OUT], words[fp + RETURN_FP]


def consistent(words: Any, tag: int, p: int) -> None:
    """Asserts that the words of an object are as many as its kind has."""
    size, values = words[p + SIZE], words[p + VALUES]
    if tag in RAWS:
        assert size - RAW - 2 * values in RAWS[tag]
        assert tag != BUFFER or words[p + RAW] <= values
        assert tag != GROWN or words[p + RAW] <= words[words[p + RAW + 3] + RAW]
        return
    if tag == SPARSE and words[p + DTYPE] == LISTED:
        assert (size, words[p + RANK], words[p + SHAPE]) == (SHAPE + 2 + 2 * values, 1, words[p + COUNT])
        assert words[p + HOLED] in ((ENTRIES, SUM) if values == 2 else (ENTRIES,))
        return
    rank = words[p + RANK]
    assert words[p + COUNT] == prod(words[p + SHAPE : p + SHAPE + rank])
    if tag == ARRAY:
        assert (size, values) == (SHAPE + rank + words[p + COUNT], 0)
    elif tag == DEFERRED:
        assert (size, values) == (SHAPE + 3 * rank + 1 + 2 * 3, 3)
    else:
        assert tag == SPARSE
        assert values == 2 or size >= SHAPE + rank + 2 + 2 * words[p + SHAPE + rank + 1]


@contextmanager
def as_if_large(least: int, few: int) -> Iterator[None]:
    """
    As if arrays of so many elements were large: they are not written out, and old where there are young ones; what is not needed of
    them is looked for after a few. Those of at most so few the machine goes over itself.
    """
    with (
        patch.object(deferred, "LEAST", least),
        patch.object(holes, "LARGE", min(least, holes.LARGE)),
        patch.object(holes, "OFTEN", min(4 * least, holes.OFTEN)),
        patch.object(holes, "PAINS", 0 if least < holes.LARGE else holes.PAINS),
        patch.object(execution, "FEW_COMPILED", few),
        patch.object(execution, "FEW_ON_CPYTHON", few),
    ):
        yield


ROOMS = st.lists(st.one_of(st.integers(0, 30), st.none()), min_size=3, max_size=12)
"""How many words there are behind what is there, in turn."""


def moves_as_it_likes(program: Program, arguments: Sequence[Any], target: str, rooms: Sequence[int | None], **given: Any) -> Moving:
    """Asserts that a run ends as on the reference whatever moves in it, and the next in the same buffer too; the execution."""
    wanted = outcome(Machine(program).run, arguments, FUEL)
    moving = Moving(program, target, rooms, **given)
    for _ in range(2):
        found = outcome(moving.run, arguments, FUEL)
        if isinstance(wanted, AdjudgeError):
            assert isinstance(found, AdjudgeError)
            assert told(found) == told(wanted)
        else:
            same_value(found, wanted.value)
            assert moving.steps == wanted.steps
    return moving


def told(error: AdjudgeError) -> tuple[Any, ...]:
    """What an error says but for values that it shows: the sensitivity of a part is written out here and not there."""
    return type(error), error.rule, error.node, error.location, error.remedy


def is_refused_or_right(program: Program, arguments: Sequence[Any], target: str, memory: int) -> bool:
    """
    Asserts that a run that may have so many words is refused, or ends as on the reference; and that it ends so where it may have
    enough, after all that. Whether it was refused.
    """
    wanted = outcome(Machine(program).run, arguments, FUEL)
    value = wanted if isinstance(wanted, AdjudgeError) else wanted.value
    tight = Execution(load(program), target, patience=0, stack=64, smallest=64, memory=memory)
    refused = False
    for _ in range(2):
        found = outcome(tight.run, arguments, FUEL)
        refused = isinstance(found, OutOfFuel) and found.rule == "machine"
        if not refused:
            same_outcome(found, value)
    tight.memory = 1 << 22
    same_outcome(outcome(tight.run, arguments, FUEL), value)
    return refused
