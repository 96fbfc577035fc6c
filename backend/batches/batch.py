"""
Batches: a program at many samples in one call.

A column has one value for each sample, along its first axis; what is shared is given once. On the CPU a kernel goes over
stretches of samples, in threads, each with stacks of its own; CPython runs the same text. On CUDA there is a thread for each
sample. What has no generated code runs sample by sample on the virtual machine.

The threads are Python's, and machine code lets go of its lock. With those of a parallel loop every call would wait until all of
them have had a processor, which on a machine with other work may take longer than the batch.

    status   FULL before a sample has run and while its stacks need more memory; the kernel runs those, so a second launch, with
             more memory or other code, goes over what is left
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any

import numpy as np

from backend import toolchain
from backend.batches.forms import LARGEST, Form, columns_of, flat, held_for, whole
from backend.batches.kernels import WIDE, Kernels, pieces_of
from backend.batches.stacked import beyond, over_type, stacked
from backend.boundary import flatten_arguments, unflatten
from backend.run import Compiled, on_target
from backend.stacks.memory import LIMIT
from backend.status import FULL, LINKED, MEMORY_LIMIT, OK, SIZES, error, is_full, raised_by
from backend.tiers import Tiered, is_beyond, runnable, tell_of_faults
from semantics.array_evidence import holds_arrays
from semantics.errors import AdjudgeError, Crash, OutOfFuel
from semantics.ir import Program
from semantics.type_language import UNIT, ArrayType, RecordType, TupleType
from semantics.type_lattice import Union

FEW = 1024  # samples for which no other thread is woken
SHAPES = 8  # sizes of the arrays of one batch for which there is code of their own


@dataclass(frozen=True)
class Column:
    """A scalar or an array of the arguments: of every sample, along the first axis, or one for all, if `shared`."""

    value: Any
    shared: bool = False


@dataclass(frozen=True)
class Outcome:
    """A value of the structure of the result, its leaves columns; and the error of each sample that has none, in its order."""

    value: Any
    failures: dict[int, AdjudgeError]


class Batch:
    """
    A program at many samples; `shared` says which scalars and arrays of its arguments are one for all.

    `run(columns, count, sample)` gives the outcome; `sample(k)` are the arguments of one, as values of the program. The options are
    those of `compile`.
    """

    def __init__(
        self, program: Program, types: Sequence[Any], shared: Sequence[bool], target: str, threads: int = 0, **options: Any
    ) -> None:
        self.tiered, self.types = runnable(program, types, target, **options), types
        self.smalls: dict[Any, tuple[Compiled, Form] | None] = {}
        self.over_arrays = program.arrays or any(map(holds_arrays, types))
        self.latest: tuple[Compiled, Form] | None = None
        self.shared, self.target, self.count = tuple(shared), target, threads or toolchain.workers(target)
        self.kernels: dict[Any, Kernels] = {}

    def run(self, columns: Sequence[Column] | None, count: int, sample: Callable[[int], Sequence[Any]]) -> Outcome:
        """
        The outcome of all samples. Where a kernel raises, or what they share is no column, they run one by one: each has a result
        or an error.
        """
        self.latest = found = None if columns is None else self.small(columns) or self.as_it_stands()
        if columns is not None and found is not None:
            try:
                return self.at_once(*found, columns, count, sample)
            except (Crash, OutOfFuel, MemoryError) as raised:
                tell_of_faults([raised])
        return of_outcomes(self.tiered.map(sample(k) for k in range(count)))

    def small(self, columns: Sequence[Column]) -> tuple[Compiled, Form] | None:
        """The code of numbers that the program is where arrays have these sizes, if it is taken apart (`backend.small`)."""
        if not self.over_arrays:
            return None
        shapes = tuple(np.shape(c.value)[0 if c.shared else 1 :] for c in columns)
        if any(prod(shape) > LARGEST for shape in shapes) or (shapes not in self.smalls and len(self.smalls) == SHAPES):
            return None
        if shapes not in self.smalls:
            self.smalls[shapes] = compiled_apart(self.tiered, [*sized(self.types, iter(shapes))])
        return self.smalls[shapes]

    def as_it_stands(self) -> tuple[Compiled, Form] | None:
        """The code of the program, if there is a kernel of it."""
        compiled = self.tiered.best
        return (compiled, whole(compiled.code)) if isinstance(compiled, Compiled) and _is_batched(compiled) else None

    def at_once(
        self, compiled: Compiled, form: Form, columns: Sequence[Column], count: int, sample: Callable[[int], Sequence[Any]]
    ) -> Outcome:
        """The same by kernels, which have room for all results."""
        given = [c.value if c.shared else _plain(c.value) for c in columns]
        first = _shapes(compiled, form, given, self.shared, count)
        status = np.full(count, FULL, np.int64 if compiled.threaded else np.int8)
        held = held_for(form, count, first)
        results = columns_of(form, held)
        launch = self.threads if compiled.threaded else self.workers
        launch(compiled, form, given, held, status)
        if (failed := status != OK).any():
            for column in results:
                column[failed] = np.nan if column.dtype.kind == "f" else 0
        return self.outcome(compiled, form.result_type, results, status, sample)

    def outcome(self, compiled: Compiled, type: Any, results: list[Any], status: Any, sample: Callable[[int], Any]) -> Outcome:
        """What the columns and statuses say; the machine runs the samples that generated code was not made for."""
        failures = {int(k): error(int(status[k]), compiled.budget, compiled.code.ahead) for k in np.flatnonzero(status)}
        again = {k: self.again(sample(k)) for k, e in failures.items() if is_beyond(e)}
        plain = not is_chosen(type) and all(
            _stores(results, k, v, type) for k, v in again.items() if not isinstance(v, AdjudgeError)
        )
        if plain:
            failures = {k: again.get(k, e) for k, e in failures.items()}
            failures = {k: e for k, e in failures.items() if isinstance(e, AdjudgeError)}
            return Outcome(over_type(type, iter(results)), failures)
        rows = [unflatten([r[k] for r in results], type) if k not in failures else failures[k] for k in range(status.size)]
        return of_outcomes([again.get(k, row) for k, row in enumerate(rows)])

    def again(self, arguments: Sequence[Any]) -> Any:
        """The value of one sample on the machine, or its error."""
        return self.tiered.machined.map([arguments])[0]

    # launches

    def workers(self, compiled: Compiled, form: Form, given: Sequence[Any], held: Sequence[Any], status: Any) -> None:
        """A kernel over all samples, in several threads; in this one, if they are few."""
        threads = max(1, min(self.count, status.size // FEW))
        while True:
            kernel, pieces = self.kernel(compiled, form, (*given, *held, status), status.size, threads)
            try:
                go_over(lambda first, last, own: kernel(first, last, *given, *held, status, *own), status.size, pieces)  # noqa: B023
            except Exception as raised:
                raise raised_by(raised) from raised
            if (linked := status == LINKED).any():
                status[linked] = FULL if compiled.replace() else SIZES
            elif not self.grown(compiled, status):
                return

    def grown(self, compiled: Compiled, status: Any) -> bool:
        """Whether samples are left to run, in more memory; where there is no more, they end."""
        full = is_full(status)
        if not full.any():
            return False
        more = compiled.memory.grow({*map(int, np.unique(status[full]))})
        status[full] = FULL if more else MEMORY_LIMIT
        return more

    def kernel(self, compiled: Compiled, form: Form, given: Sequence[Any], samples: int, threads: int) -> tuple[Any, list[Any]]:
        """
        The kernel for so many samples, and the memory that each of the threads gives it; `given` is what it is called with besides.
        """
        if (kernels := self.kernels.get(key := form.layout(compiled.code))) is None:
            kernels = self.kernels[key] = Kernels(replace(form, code=compiled.code), self.shared, self.target)
        while (found := kernels.launch(compiled.memory, samples, threads)) is None:
            kernels.prepare((0, 0, *given, *pieces_of(compiled.memory, 1, 1)[0]))
        return found

    def threads(self, compiled: Compiled, form: Form, given: Sequence[Any], held: Sequence[Any], status: Any) -> None:
        """Launches of a thread for each sample, as many at a time as there is memory for their stacks."""
        columns = flat(form, form.arguments, given, self.shared)
        whole = [np.full(status.size, v) if np.ndim(v) == 0 else np.ascontiguousarray(v) for v in columns]
        places = flat(form, form.results, columns_of(form, held), [False] * len(form.results))
        results, done = [np.empty(p.shape, p.dtype) for p in places], 0
        while done < status.size:
            room = LIMIT // 4 // max(1, compiled.memory.size) if compiled.code.stacks else status.size
            part = slice(done, done + max(1, room))
            compiled.launch_columns([w[part] for w in whole], [r[part] for r in results], status[part])
            if (status[part] == LINKED).any():
                if compiled.replace():
                    status[part] = FULL
                else:
                    status[part][(status[part] == LINKED) | is_full(status[part])] = SIZES
                    done = part.stop
            elif not self.grown(compiled, status[part]):
                done = part.stop
        for place, result in zip(places, results, strict=True):
            place[:] = result


def compiled_apart(tiered: Tiered, types: Sequence[Any]) -> tuple[Compiled, Form] | None:
    """The program at arguments of these types in code of numbers; None where it is not taken apart."""
    from backend.small.form import taken_apart

    form = taken_apart(tiered.program, types, tiered.options.get("mode", "J"))
    try:
        return None if form is None else (on_target(form.code, tiered.target), form)
    except AdjudgeError:
        return None


def sized(types: Iterable[Any], shapes: Iterator[tuple[int, ...]]) -> Iterator[Any]:
    """The types whose numbers and arrays, in order, have these sizes. Recursion is bounded by nesting."""
    for type in types:
        match type:
            case TupleType(items) | RecordType(_, items):
                yield replace(type, items=tuple(sized(items, shapes)))
            case ArrayType():
                yield replace(type, dims=next(shapes, type.dims))
            case _:
                if type != UNIT:
                    next(shapes, ())
                yield type


def of_outcomes(outcomes: Sequence[Any]) -> Outcome:
    """The outcomes of all samples, put together; None, where none has a value. One with an integer beyond 64 bits fails alone."""
    found = [v if isinstance(v, AdjudgeError) else beyond(v) for v in outcomes]
    failures = {k: error for k, error in enumerate(found) if error is not None}
    return Outcome(stacked([None if k in failures else v for k, v in enumerate(outcomes)], failures), failures)


def go_over(kernel: Callable[[int, int, Any], Any], size: int, pieces: Sequence[Any]) -> None:
    """
    kernel(first, last, piece) over stretches of so many samples, each by the next of the threads that has nothing to do, with a
    piece of its own. This thread is one of them; one that has not begun when all is done is not waited for, and holds nothing.
    """
    step = max(FEW, size // (8 * len(pieces)) // WIDE * WIDE) if len(pieces) > 1 else max(1, size)
    stretches, left = iter(range(0, size, step)), [kernel]

    def work(piece: Any) -> None:
        for first in stretches:
            left[0](first, min(first + step, size), piece)

    others = [_threads(os.getpid(), len(pieces)).submit(work, piece) for piece in pieces[1:]]
    work(pieces[0])
    for other in others:
        if not other.cancel():
            other.result()
    left.clear()


@cache
def _threads(process: int, count: int) -> ThreadPoolExecutor:
    """Threads of this process: a fork has none."""
    return ThreadPoolExecutor(count - 1, "batch")


def _is_batched(compiled: Compiled) -> bool:
    """Whether there is a kernel: threads have none for arrays, and an array without axes is no element of a column."""
    arrays = [t for t in (*compiled.code.arguments, *compiled.code.results) if isinstance(t, ArrayType)]
    return all(t.dims for t in arrays) and not (compiled.threaded and compiled.code.arrays)  # type: ignore[attr-defined]


def _plain(column: Any) -> Any:
    """The column as kernels take it."""
    return column if column.flags.carray else np.array(column, order="C")


def _shapes(compiled: Compiled, form: Form, given: list[Any], shared: Sequence[bool], count: int) -> list[tuple[int, ...]]:
    """The shape of every scalar or array of the result: that of the first sample which has one; of none, no elements."""
    types = compiled.code.results
    if form.apart or not any(isinstance(t, ArrayType) for t in types):
        return [()] * len(form.results)
    for k in range(count):
        row = compiled.one([v if s else _at(v, k) for v, s in zip(given, shared, strict=True)])
        if row[-1] == OK:
            return [r.shape if isinstance(t, ArrayType) else () for r, t in zip(row, types, strict=False)]
    return [(0,) * len(t.dims) if isinstance(t, ArrayType) else () for t in types]


def _at(column: Any, k: int) -> Any:
    """What the column has for a sample: an array, or a number as CPython has it, which generated code takes."""
    return column[k] if column.ndim > 1 else column[k].item()


def is_chosen(type: Any) -> bool:
    """Whether values of the type may differ in structure from sample to sample; recursion is bounded by its nesting."""
    return isinstance(type, Union) or any(map(is_chosen, getattr(type, "items", ())))


def _stores(results: list[Any], k: int, value: Any, type: Any) -> bool:
    """Whether a value is one of the type, and of the shapes, of the columns; it is then written there."""
    try:
        row = flatten_arguments([value], [type])
    except AdjudgeError:
        return False
    if any(getattr(v, "shape", ()) != r.shape[1:] for v, r in zip(row, results, strict=True)):
        return False
    for r, v in zip(results, row, strict=True):
        r[k] = v
    return True
