"""
A run of the machine: arguments in, the machine and the host by turns, the value out.

    Execution(load(program), target).run(arguments, fuel) -> value

Where the compiled machine is kept, a run is there in two milliseconds. Where it is not, the first steps run on CPython, with the
very source that is compiled; whoever needs more of them goes on in compiled code, in the same buffer. So a short run waits for no
compiler. A buffer that is full is exchanged for one with what can still be reached, larger if that leaves less than half of it: the
run goes on where it was.

    fuel      steps, counted as the reference counts them: OutOfFuel beyond
    memory    words of the buffer: OutOfFuel beyond, which the reference has not
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.machine import holes, interpreter, kernels, layout
from backend.machine.buffers import Words
from backend.machine.heap import Full, Heap
from backend.machine.layout import (
    BODY,
    FEW,
    FP,
    FRAME,
    HEAP,
    HP,
    LIMIT,
    OLD,
    ONE,
    PC,
    RESULT,
    RETURN_FP,
    STACK_END,
    STATE,
    STEPS,
    TOP,
    WANTED,
    WORDS,
)
from backend.machine.loader import Code
from backend.machine.patience import COLD, LOOK, MANY, PATIENCE, pains
from backend.machine.service import place, serve
from backend.machine.young import YOUNG, Young
from semantics.errors import IllTyped, OutOfFuel, wrong_count
from semantics.type_language import type_of
from semantics.type_lattice import is_below

FUEL = 200_000_000
MEMORY = 1 << 28
FEW_ON_CPYTHON, FEW_COMPILED = 1 << 6, 1 << 10
"""Elements of an array that the machine goes over as fast as the host, or faster."""

LARGE = 1 << 15
"""Words in use beyond which they are not copied on CPython."""

AHEAD, MANY_AHEAD, AMPLE = 16, 128, 3 << 23
"""Objects of the size that there was no room for, for which a new buffer has room: in any case, and if they are no more words than
this. Room that is not used costs nothing, and without it what can be reached would be copied at every larger array."""

STACK, SMALLEST = 1 << 14, 1 << 24
"""Words of the stack and of the buffer that a run begins with. Of these the system gives what is used; what is used is not copied
before the buffer is full."""


class Execution:
    """A program on "python" or "cpu", run as often as one likes, one run at a time."""

    def __init__(
        self,
        code: Code,
        target: str = "cpu",
        *,
        memory: int = MEMORY,
        patience: int = PATIENCE,
        stack: int = STACK,
        smallest: int = SMALLEST,
        young: int | None = None,
    ) -> None:
        self.code, self.target, self.memory, self.patience = code, target, memory, patience
        self.stack, self.smallest, self.for_young = stack, min(smallest, memory), young
        self.young = Young()
        self.heap = Heap(code, self.loops)
        self.words = Words(0)
        self.compiled = False
        self.bottom = self.left = self.steps = self.elements = 0
        self.grown: tuple[int, ...] = ()

    def run(self, arguments: Sequence[Any], fuel: int = FUEL) -> Any:
        """The value of the program; `steps` says afterwards how many it took. One of the five errors if it ends in one."""
        self.begin(arguments)
        if not self.compiled and self.ends(min(self.patience, fuel), fuel):
            return self.result()
        return self.resume(fuel)

    def ends(self, patience: int, fuel: int = FUEL) -> bool:
        """Whether the run ends on CPython: within so many steps, or a longer time if compiled code is not there yet."""
        return self.advance(patience, fuel) or (not self.is_ready and self.advance(min(COLD, fuel), fuel))

    @property
    def is_ready(self) -> bool:
        """Whether compiled code can take over without being compiled first."""
        return self.target == "python" or interpreter.is_kept()

    def resume(self, fuel: int = FUEL) -> Any:
        """The value of a run that has begun and has not ended: compiled code takes over."""
        self.take_over()
        self.advance(fuel, fuel)
        return self.result()

    def result(self) -> Any:
        """The value of a run that has ended."""
        self.steps = self.words.integers[STEPS]
        return self.heap.value(RESULT)

    def rest(self) -> None:
        """Nothing of a run that is over is held any longer: its arguments and its value are the caller's."""
        if self.words.count:
            self.heap.begin(self.words.integers, self.words.doubles)

    def take_over(self) -> None:
        """The run is on compiled code from now on, where the target has some."""
        self.compiled = self.target != "python"

    def advance(self, pause: int, fuel: int = FUEL) -> bool:
        """Whether the run ends before so many steps, or fewer that take as long; then its result is there."""
        while pause < fuel:
            I, values, start, steps = self.words.integers, self.heap.gone_over, self.words.integers[HP], self.words.integers[STEPS]
            if (status := self.go_on(min(pause, steps + LOOK))) == layout.DONE:
                return True
            steps, words = I[STEPS] - steps, I[HP] - start + (I[WANTED] if status == layout.FULL else 0)
            if status != layout.PAUSED:
                self.attend(status, fuel)
            elif I[STEPS] >= pause:
                return False
            pause -= pains(self.compiled, status == layout.SERVICE, steps, words, self.heap.gone_over - values)
        while (status := self.go_on(pause)) != layout.DONE:
            self.attend(status, fuel)
        return True

    def begin(self, arguments: Sequence[Any]) -> None:
        """The first state, on compiled code if it is kept. IllTyped if the arguments are not the entry's."""
        self.compiled = self.target != "python" and (self.patience == 0 or interpreter.is_kept())
        self.check(arguments)
        self.start(arguments)

    def attend(self, status: int, fuel: int) -> None:
        """Does what the machine waits for, so that it can go on. OutOfFuel if it has taken all its steps."""
        if status == layout.FULL:
            self.grow(self.words.integers[WANTED])
        elif status == layout.SERVICE:
            self.serve()
        else:
            what = f"the program did not end within {fuel} steps"
            raise OutOfFuel(what, node=place(self.heap), remedy="raise fuel")

    def go_on(self, pause: int) -> int:
        """Lets the machine work until it ends, needs the host, or has taken so many steps."""
        self.words.integers[FEW] = FEW_COMPILED if self.compiled else FEW_ON_CPYTHON
        return self.young.go_on(self.words.integers, pause, self.turn)

    def turn(self, pause: int) -> int:
        """The same, in compiled code or on CPython."""
        if self.compiled:
            return int(interpreter.compiled().run_at(*self.words.place, *self.words.place, *self.code.place, pause))
        return int(interpreter.interpreted().run(self.words.integers, self.words.doubles, self.code.words, pause))

    def loops(self, elements: int) -> Any:
        """Loops over the elements of arrays in this buffer, where they are kept, or worth compiling."""
        self.elements += elements
        if self.target != "cpu" or not (self.patience == 0 or kernels.is_loaded() or self.has_many):
            return None
        return kernels.Loops(self.words.place, kernels.compiled())

    @property
    def has_many(self) -> bool:
        """Whether the loops are there in a millisecond, or so many elements have been gone over as take as long as a compiler."""
        return kernels.is_kept() or self.elements > MANY

    # the buffer

    def check(self, arguments: Sequence[Any]) -> None:
        """IllTyped if the arguments do not fit the parameters that the entry declares."""
        program = self.code.program
        entry = program.graphs[program.entry]
        for node, value in zip(entry.parameters, arguments, strict=False):
            wanted = getattr(program.nodes[node], "type", None)
            if wanted is not None and not is_below(type_of(value), wanted):
                what = f"the parameter {program.describe(node)} wants {wanted}, found {type_of(value)}"
                raise IllTyped(what, rule="enter", location=entry.location)
        if len(arguments) != len(entry.parameters):
            raise wrong_count(entry.name, len(entry.parameters), len(arguments), entry.location)

    def start(self, arguments: Sequence[Any]) -> None:
        """The first frame, in a buffer that has room for the constants and the arguments."""
        if self.words.count == 0:
            self.lay_out(self.smallest)
        while True:
            try:
                self.enter(arguments)
            except Full as full:
                self.lay_out(self.larger(self.words.count, full.words))
            else:
                return

    def lay_out(self, count: int) -> None:
        """
        A new buffer with the constants, an empty stack and an empty heap; larger than asked for where these do not fit. What was
        there before is still there if there can be none.
        """
        entry = self.code.graphs[self.code.program.entry]
        fixed = STATE + 2 * len(self.code.constants)
        stack = max(self.stack, 2 * (FRAME + self.code.words[entry + WORDS]))
        while (heap := self.with_constants(words := self.buffer(count), fixed, stack)) is None:
            count = self.larger(count, fixed + 2 * stack)
        self.words, self.heap = words, heap

    def with_constants(self, words: Words, fixed: int, stack: int) -> Heap | None:
        """The heap of a new buffer, with the constants behind the state and a stack behind their objects; None without room."""
        if fixed + stack >= words.count:
            return None
        I, heap = words.integers, Heap(self.code, self.loops)
        I[HP], I[LIMIT] = fixed, words.count - stack
        heap.use(I, words.doubles)
        try:
            for k, value in enumerate(self.code.constants):
                heap.write(STATE + 2 * k, value)
        except Full:
            return None
        self.bottom = I[HP]
        I[STACK_END] = I[HEAP] = self.bottom + stack
        I[LIMIT] = words.count
        words.doubles[ONE] = 1.0
        heap.keep()
        return heap

    def larger(self, count: int, wanted: int) -> int:
        """Twice as many words and so many more; but no more than there may be, before there are as many as that."""
        return min(2 * count + wanted, self.memory) if count < self.memory else 2 * count + wanted

    def buffer(self, count: int) -> Words:
        """A new buffer; OutOfFuel if the program may not have so much, or the system does not give it."""
        if count > self.memory:
            raise self.refused
        try:
            return Words(count)
        except (OSError, MemoryError):
            raise OutOfFuel(f"the system has no {count} words of memory", rule="machine", remedy="end other programs") from None

    @property
    def refused(self) -> OutOfFuel:
        """The error of a program that may not have as much as it needs."""
        return OutOfFuel(f"the program needs more than {self.memory} words of memory", rule="machine", remedy="raise memory")

    def enter(self, arguments: Sequence[Any]) -> None:
        """A heap without objects and one frame: the entry's, with its arguments. Full if they do not fit."""
        I, entry = self.words.integers, self.code.graphs[self.code.program.entry]
        self.heap.begin(I, self.words.doubles)
        self.young.begin(I, self.for_young if self.for_young is not None else YOUNG if self.compiled else 0)
        I[FP], I[STEPS], self.left, self.grown = self.bottom, 0, 0, ()
        I[FEW] = FEW_ON_CPYTHON
        I[TOP] = self.bottom + self.code.words[entry + WORDS]
        I[PC] = entry + BODY
        I[self.bottom + RETURN_FP] = 0
        for k, value in enumerate(arguments):
            self.heap.write(self.bottom + FRAME + 2 * k, value)
        self.young.open(I)

    def serve(self) -> None:
        """The host does the current instruction, with more room if it needs it."""
        while True:
            try:
                serve(self.heap)
            except Full as full:
                self.grow(full.words)
            else:
                return

    def grow(self, wanted: int) -> None:
        """
        A new buffer with what can be reached, if need be. The stack is larger if it was full, which `wanted` says by being below
        0; the heap if more than half of it was left the last time. For an object there is room for some more of its size.

        So a heap is gone through once for every time that half of it is filled. If it is still too small, the next one is not.
        It is made as large as `memory` allows before it is found too large: OutOfFuel where that is no larger than the last, and
        the same instruction, which needs room several times, finds as much in use as before.
        """
        old = self.words.integers
        if old[OLD] and (self.swept() or self.young.promoted(old, wanted, self.promote)):
            return
        self.young.aside = False
        stack, heap = old[STACK_END] - self.bottom, old[LIMIT] - old[HEAP]
        if wanted < 0:
            stack, wanted = 2 * stack - wanted, 0
            heap = max(old[HP] - old[HEAP], min(heap, self.memory - self.bottom - stack))
        else:
            heap = self.heap_within(self.memory - self.bottom - stack, heap, wanted)
        ahead = max(AHEAD * wanted, min(MANY_AHEAD * wanted, AMPLE))
        new = self.buffer(min(self.bottom + stack + heap + ahead, max(self.memory, self.bottom + stack + heap)))
        J = new.integers
        J[STACK_END] = J[HEAP] = J[HP] = self.bottom + stack
        J[LIMIT] = new.count
        self.left = self.collected(new)
        before, self.grown = self.grown, (J[STEPS], self.left, new.count)
        if before == self.grown:
            raise self.refused
        self.words = new
        self.heap.use(J, new.doubles)

    def promote(self) -> None:
        """Young objects that can be reached are old ones from now on: in a hole with room for all, or behind the others."""
        I, room = self.words.integers, self.heap.holes
        start = room.taken(I, most := I[HP] - I[HEAP])
        end = self.collector("promote", start or I[OLD])
        if start:
            room.given(I, end, start + most)
        self.heap.forget(I[HEAP], I[LIMIT])

    def swept(self) -> bool:
        """Whether it was time: there are no young objects now, and holes where old ones were that cannot be reached."""
        if not self.heap.holes.is_due(self.words.integers):
            return False
        self.promote()
        seen = self.collector("sweep", holes.LARGE)
        self.heap.use(self.words.integers, self.words.doubles)
        self.heap.holes.swept(self.words.integers, seen)
        return True

    def collector(self, name: str, given: int) -> int:
        """What a function of the collector says, on this buffer, in compiled code or on CPython."""
        if self.compiled:
            return int(getattr(interpreter.compiled(), f"{name}_at")(*self.words.place, *self.code.place, given))
        return int(getattr(interpreter.interpreted(), name)(self.words.integers, self.code.words, given))

    def heap_within(self, most: int, heap: int, wanted: int) -> int:
        """
        The words of the next heap: as many as there may be, where more are asked for, if that is more than now, or if an eighth of
        it was free the last time, and room for what is wanted.
        """
        larger = (2 * heap if 2 * self.left > heap else heap) + wanted
        goes_on = heap < most or self.left + max(wanted, most // 8) <= most
        return min(larger, most) if goes_on else larger

    def collected(self, new: Words) -> int:
        """What can be reached, copied to a new buffer: how many words of its heap are in use. On CPython if there is not much."""
        if self.compiled or (self.words.integers[HP] > LARGE and self.target == "cpu" and self.is_ready):
            return int(interpreter.compiled().collect_at(*self.words.place, *self.code.place, *new.place))
        return int(interpreter.interpreted().collect(self.words.integers, self.code.words, new.integers))
