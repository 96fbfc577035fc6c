"""
Many runs of one program: one thread per sample, each with its own buffer, on CUDA or Numba's simulator of it.

A launch takes every thread as far as it comes without the host. Then the host serves those that wait for it, makes room for those
whose buffer is full, and launches them again; so a batch does whatever a single run does, and a thread that ends in an error ends
alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from backend.machine import interpreter, layout
from backend.machine.execution import FUEL, MEMORY, Execution
from backend.machine.layout import RESULT
from backend.machine.loader import Code
from semantics.errors import AdjudgeError

BLOCK = 64
STACK, SMALLEST = 1 << 9, 1 << 12
"""Words of the stack and of the buffer that a thread begins with: a batch has many of them."""

BATCH = """
def batch(I, F, C, starts, status, limit):
    t = cuda.grid(1)
    if t < status.size:
        status[t] = run(I[starts[t] : starts[t + 1]], F[starts[t] : starts[t + 1]], C, limit)
"""


def source() -> str:
    """The machine, and a kernel that runs it in every thread."""
    return interpreter.made().text + BATCH


def ptx(cc: tuple[int, int]) -> str:
    """The PTX of the kernel for a compute capability: the same for every program."""
    from backend.cuda import numba_cuda

    return numba_cuda.ptx(source(), numba_cuda.machine_signature(), cc)


class Threads:
    """A program on "cuda", or on a simulator of it."""

    def __init__(self, code: Code, target: str, *, memory: int = MEMORY) -> None:
        self.code, self.target, self.memory = code, target, memory

    @cached_property
    def kernel(self) -> Any:
        """The kernel on this target."""
        from backend.cuda import numba_cuda

        return numba_cuda.kernel(source(), self.target)

    def map(self, samples: Iterable[Sequence[Any]], fuel: int = FUEL) -> list[Any]:
        """The value of every sample, or the error that it ends in."""
        outcomes: list[Any] = []
        running: dict[int, Execution] = {}
        for number, sample in enumerate(samples):
            run = Execution(self.code, "python", memory=self.memory, stack=STACK, smallest=SMALLEST)
            outcomes.append(None)
            try:
                run.begin(sample)
                running[number] = run
            except AdjudgeError as error:
                outcomes[number] = error
        while running:
            statuses = self.launch(list(running.values()), fuel)
            for (number, run), status in zip(list(running.items()), statuses, strict=True):
                try:
                    if status == layout.DONE:
                        outcomes[number] = run.heap.value(RESULT)
                    else:
                        run.attend(status, fuel)
                        continue
                except AdjudgeError as error:
                    outcomes[number] = error
                del running[number]
        return outcomes

    def launch(self, runs: Sequence[Execution], fuel: int) -> list[int]:
        """Goes on with all these runs, in one launch; what each of them ends with."""
        import numpy

        starts = numpy.cumsum([0, *(run.words.count for run in runs)])
        integers = numpy.concatenate([run.words.array for run in runs])
        words, status = self.code.array, numpy.zeros(len(runs), numpy.int64)
        shape = (len(runs) + BLOCK - 1) // BLOCK, min(BLOCK, len(runs))
        given: tuple[Any, ...] = (integers, integers.view(numpy.float64), words, starts, status)
        if self.target != "cuda":
            self.kernel[shape](*(memoryview(a) for a in given[:4]), status, fuel)
        else:
            from backend.cuda import numba_cuda

            on_device = numba_cuda.on_device(integers)
            self.kernel[shape](on_device, on_device.view(numpy.float64), words, starts, status, fuel)
            integers = on_device.copy_to_host()
        for run, start, end in zip(runs, starts, starts[1:], strict=False):
            run.words.array[:] = integers[start:end]
        return [int(s) for s in status]
