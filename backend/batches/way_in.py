"""
The quick way into a batch: columns and numbers, as NumPy and Python have them, straight into a kernel.

It is there for programs of numbers on the CPU, and those over small arrays that are taken apart (`backend.small`), once a call has
gone the long way and the kernel is compiled. Numba tests the dtypes and axes of columns anyway, and has been told to compile for no
others; what it refuses goes the long way, and so does a batch in which a sample fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from time import thread_time
from typing import Any

import numpy as np

from backend.batches.batch import FEW, Batch, go_over, is_chosen
from backend.batches.forms import Form, columns_of, holders, rooms
from backend.batches.kernels import WIDE, Kernels
from backend.batches.stacked import over_type
from backend.boundary import PYTHON
from backend.run import Compiled
from backend.status import FULL
from backend.ways_in import c_objects
from backend.ways_in.entrance import of_batch
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, TupleType

OFTEN = 8
"""Calls of less than WIDE samples after which they have a way of their own, which takes some 0.05 s to make."""

OF_COLUMNS: dict[Any, str] = {REAL: "f64", INTEGER: "i64", BOOLEAN: "bool"}
WORTH = 5e-4
"""Seconds of one thread, from which on others are woken: that costs some 50 µs, and where others run too, they may come late."""


def way_in(
    batch: Batch, types: Sequence[Any], finish: Callable[[Any], Any], otherwise: Callable[..., Any], pair: bool = False
) -> Any:
    """
    The batch as a function of columns and numbers, which calls `otherwise` for what it does not take. `finish` makes a value of
    Python's of one of the language; with `pair`, the failures go along, of which there are none. None where there is no quick way.
    """
    if batch.target != "cpu" or batch.latest is None or batch.latest[0].code.arrays:
        return None
    compiled, form = batch.latest
    if len(types) != len(form.arguments) or form.argument_types != form.arguments or is_chosen(form.result_type):
        return None
    pairs = [*zip(form.arguments, batch.shared, strict=True)]
    kinds = [PYTHON[t] if shared and not isinstance(t, ArrayType) else np.ndarray for t, shared in pairs]
    rows = [(k, 0 if shared else 1, t.dims) for k, (t, shared) in enumerate(pairs) if isinstance(t, ArrayType)]
    columns = [k for k, shared in enumerate(batch.shared) if not shared]
    chosen = itemgetter(*columns, *columns[:1])  # a tuple, of one column too
    value, cost, direct = _value(form, finish), WORTH / FEW, c_objects.is_known(arrays=True)
    shapes, layout = rooms(form), form.layout(compiled.code)
    short, quickest = 0, None

    def call(*arguments: Any, **named: Any) -> Any:
        return (quickest or at_length)(*arguments, **named)

    def at_length(*arguments: Any, **named: Any) -> Any:
        nonlocal cost, short, quickest
        kernels: Kernels | None = batch.kernels.get(layout)
        if [*map(type, arguments)] != kinds or kernels is None or named:
            return otherwise(*arguments, **named)
        try:
            counts = [*map(len, chosen(arguments))]
            count = counts[0]
            if count == 0 or counts.count(count) != len(counts) or any(arguments[k].shape[a:] != dims for k, a, dims in rows):
                return otherwise(*arguments)
            held = [np.empty((*before, count, *behind), dtype) for before, behind, dtype in shapes]
            status = np.empty(count, np.int8)
            status.fill(FULL)
            long = cost * count >= WORTH
            if (found := kernels.launch(compiled.memory, count, batch.count if long else 1, alone=direct and not long)) is None:
                return otherwise(*arguments)
            kernel, pieces = found
            if long or count >= FEW:
                given = (*arguments, *held, status)
                cost = _spent(kernel if long else kernels.way(kernel), given, count, pieces) / count
                failed = status.any()
            else:
                (failed,) = kernels.way(kernel)(0, count, *arguments, *held, status, *pieces[0])
                short += count < WIDE
                if short == OFTEN:
                    short, quickest = short + 1, _of_short(compiled, form, batch.shared, kernel, at_length)
        except Exception:  # an array without axes, or of another dtype; what the kernel raises, the long way tells of
            return otherwise(*arguments)
        if failed:
            return otherwise(*arguments)
        return (value(held), {}) if pair else value(held)

    return at_length if pair else call


def _of_short(compiled: Compiled, form: Form, shared: Sequence[bool], kernel: Any, otherwise: Callable[..., Any]) -> Any:
    """The way from columns to columns, where results are reals and arrays of reals, and no stacks are needed; else None."""
    type, alone = form.result_type, form.results == (form.result_type,)
    flat = alone or (isinstance(type, TupleType) and type.items == form.results)
    if form.code.stacks or not flat or any(t != REAL and getattr(t, "dtype", "") != "f64" for t in form.results):
        return None
    takes = [t if own else _column(t) for t, own in zip(form.arguments, shared, strict=True)]
    return of_batch(kernel, takes, shared, form.results, alone, compiled.memory.budget, otherwise)


def _column(type: Any) -> ArrayType:
    """The type of the column of a number, or of an array whose sizes are known."""
    return ArrayType(type.dtype, (None, *type.dims)) if isinstance(type, ArrayType) else ArrayType(OF_COLUMNS[type], (None,))


def _spent(kernel: Callable[..., Any], given: Sequence[Any], count: int, pieces: Sequence[Any]) -> float:
    """The seconds that threads have gone over so many samples, all together."""
    spent = []

    def stretch(first: int, last: int, own: Any) -> None:
        begun = thread_time()
        kernel(first, last, *given, *own)
        spent.append(thread_time() - begun)

    go_over(stretch, count, pieces)
    return sum(spent)


def _value(form: Form, finish: Callable[[Any], Any]) -> Callable[[list[Any]], Any]:
    """What is given, from the arrays that hold the results: the columns of numbers of one dtype are its rows, in their order."""
    type = form.result_type
    if (built := _built(type)) is None:
        return lambda held: finish(over_type(type, iter(columns_of(form, held))))
    if len(holders(form)) > 1 or isinstance(form.results[0], ArrayType):
        return lambda held: built(iter(columns_of(form, held)))
    if isinstance(type, TupleType) and type.items == form.results:
        return lambda held: tuple(held[0])
    return lambda held: built(iter(held[0]))


def _built(type: Any) -> Callable[[Iterator[Any]], Any] | None:
    """Numbers and tuples of a type from columns; None if there is something else in it. Recursion is bounded by its nesting."""
    if type in PYTHON or isinstance(type, ArrayType):
        return next
    parts = [*map(_built, type.items)] if isinstance(type, TupleType) else [None]
    return None if None in parts else lambda columns: tuple([part(columns) for part in parts if part])
