"""
What a run costs: the machine's steps, each weighted by what it does (DESIGN, section 6, T20).

    close       1, and 1 for each captured value
    primitive   the cost of its row, for every element that it creates or touches, and at least once
    others      1

Elements are counted as an implementation that copies whole structures and shares whatever it can would: a tuple, a record or an
array that is made costs its length, one that is handed on costs nothing; a primitive that computes on arrays reads them all; a sum
of two sparse sensitivities costs the entries of the smaller; a persistent memory costs one cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semantics.arrays import Array
from semantics.columns.meaning import MEANING
from semantics.ir import Program
from semantics.machine import Machine, State
from semantics.memory import Cells
from semantics.primitives.row import Column, Primitive
from semantics.structured import Record
from semantics.tangents import Sparse, SparseArray, Zero

HANDS_ON = frozenset(
    (
        *("switch", "make_tuple", "make_record", "getitem", "field", "length", "of_length", "of_class", "inject", "shape"),
        *("values_of", "keys_of", "iterated", "place_in"),
    )
)
STRUCTURES = (tuple, Array, Record)
SPARSE = (Sparse, SparseArray, Cells)


def work(program: Program, arguments: Sequence[Any], column: Column = MEANING) -> int:
    """The work of the run of `program` at `arguments`, in which primitives mean what `column` says."""
    machine = Machine(program, column)
    state, total = machine.initial(arguments), 0
    while (after := machine.step(state)) is not None:
        total += _work_of_step(state, after)
        state = after
    return total


def _work_of_step(before: State, after: State) -> int:
    task = before.task
    if task.closes >= 0:
        return 1 + len(task.arguments)
    function = None if task.ends else before.environment[task.function]
    if not isinstance(function, Primitive):
        return 1
    values = [before.environment[n] for n in task.arguments]
    return function.cost * max(1, touched(function, values, after.environment[task.node]))


def touched(primitive: Primitive, arguments: Sequence[Any], value: Any) -> int:
    """How many elements the application creates, or reads in order to compute."""
    if primitive.name == "gadd":
        return _added(*arguments)
    if primitive.name in ("instantiate", "J"):
        return _parts(value)
    made = 0 if any(value is a for a in arguments) else size(value)
    if primitive.name == "getitem" and not isinstance(arguments[0], Array) and type(arguments[1]) is int:
        made = 0
    read = 0 if primitive.name in HANDS_ON else sum(size(a) for a in arguments if isinstance(a, Array))
    return made + read


def size(value: Any) -> int:
    """The number of elements of a structure, or of entries that are not ZERO; 0 for anything else. One level deep."""
    match value:
        case tuple():
            return len(value)
        case Array(_, _, items) | Record(_, items):
            return len(items)
        case Sparse() | SparseArray() | Cells():
            return len(value.entries)
        case _:
            return 0


def _parts(root: Any) -> int:
    """The number of elements of a structure, at all depths."""
    count, todo = 0, [root]
    while todo:
        value = todo.pop()
        count += size(value)
        if isinstance(value, tuple):
            todo.extend(value)
        elif isinstance(value, Record):
            todo.extend(value.items)
    return count


def _added(a: Any, b: Any) -> int:
    """The elements that a sum of sensitivities visits: none below a ZERO, the fewer entries of two sparse ones, else all."""
    count, todo = 0, [(a, b)]
    while todo:
        left, right = todo.pop()
        if isinstance(left, Zero) or isinstance(right, Zero):
            continue
        if isinstance(left, SPARSE) and isinstance(right, SPARSE):
            small, big = sorted((left.entries, right.entries), key=len)
            count += len(small)
            todo.extend((small[i], big[i]) for i in small if i in big)
        elif isinstance(left, (*STRUCTURES, *SPARSE)) and isinstance(right, (*STRUCTURES, *SPARSE)):
            x, y = _elements(left), _elements(right)
            count += max(len(x), len(y))
            todo.extend(zip(x, y, strict=False))
    return count


def _elements(value: Any) -> tuple[Any, ...]:
    """All elements of a structure, ZERO for those that a sparse one leaves out."""
    match value:
        case tuple():
            return value
        case Array(_, _, items) | Record(_, items):
            return items
        case Sparse():
            return tuple(value[i] for i in range(value.size))
        case _:
            return tuple(value.entries.values())
