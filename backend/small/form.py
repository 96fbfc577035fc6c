"""
Programs over small arrays in generated code of numbers.

    taken_apart(program, types) -> Form | None

The sizes of all arrays are in the types. What is taken apart is the program as it is compiled elsewhere: its derivatives
expanded in the same way, and optimized. So each number is computed from the same numbers by the same operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from backend import classes, store
from backend.batches.forms import LARGEST, OF_ELEMENTS, Form, numbers_of
from backend.lowering.expansion import first_that_fits
from backend.lowering.first_order import declared, key_of, lowered, optimized
from backend.small.column import column, judged, known_type
from backend.small.programs import Writer, demand_needed, walked
from backend.small.terms import NUMBERS, Block, Record, Term, refused
from semantics.arrays import Array, size_of
from semantics.denotation import Reading, denote
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.shapes import known
from semantics.structured import Record as Labelled
from semantics.type_language import UNIT, ArrayType, RecordType, TupleType
from semantics.type_lattice import erase

CALLS = 10_000
"""Calls of graphs in one run, at most."""


def taken_apart(program: Program, types: Sequence[Any], mode: str = "J") -> Form | None:
    """The program at arguments of these types; None where it is not taken apart. Remembered by its text."""

    def made() -> Form | None:
        try:
            return first_that_fits(program, mode, lambda expanded: _of_first(expanded, types), types)
        except AdjudgeError:
            return None

    try:
        [*_leaves(TupleType(tuple(types)))]
    except AdjudgeError:
        return None
    if (key := key_of(program, types, mode, True, False)) is None:
        return None
    found = store.remembered(f"small {key}", lambda: _typed(made(), {}))
    return _typed(found, classes.known(program, types))


def _of_first(program: Program, types: Sequence[Any]) -> Form | None:
    """Of the first expansion alone: where it is refused, the program is compiled as it stands, which may do with it."""
    try:
        better = optimized(declared(program, types))
        return form_of(program if better is None else better, types)
    except AdjudgeError:
        return None


def form_of(program: Program, types: Sequence[Any]) -> Form:
    """The form of a program without derivatives; IllTyped where it is not taken apart, or its numbers have no generated code."""
    record = Record()
    arguments = [*_leaves(TupleType(tuple(types)))]
    elements = [record.argument(t) for leaf in arguments for t in numbers_of(leaf)]
    reading = Reading(column(record), truth=record.truth, observe=judged)
    given = _value(TupleType(tuple(types)), iter(elements))
    root = record.explored(lambda: denote(program, given, reading, CALLS))
    result = _flattened(root)
    demand_needed(root)
    written = Writer(elements, program.graphs[program.entry].name).program(root)
    code = lowered(written, [e.type for e in elements], optimize=False)
    return Form(code, tuple(arguments), tuple(_leaves(result)), tuple(types), result)


def _leaves(type: Any) -> Iterator[Any]:
    """The numbers and arrays of a type, in order. Recursion is bounded by its nesting."""
    match type:
        case TupleType(items) | RecordType(_, items):
            for item in items:
                yield from _leaves(item)
        case ArrayType(dtype, dims, holes):
            if holes or not dims or None in dims or dtype not in OF_ELEMENTS or not 0 < size_of(known(dims)) <= LARGEST:
                raise refused(f"there is no number for each element of {type}")
            yield type
        case _:
            if type not in (*NUMBERS, UNIT):
                raise refused(f"{type} is not made of numbers")
            yield from () if type == UNIT else (type,)


def _value(type: Any, elements: Iterator[Term]) -> Any:
    """The value of a type whose numbers are terms."""
    match type:
        case TupleType(items):
            return tuple([_value(item, elements) for item in items])
        case RecordType(label, items):
            return Labelled(label, tuple([_value(item, elements) for item in items]))
        case ArrayType(dtype, dims):
            return Array(dtype, known(dims), tuple(next(elements) for _ in range(size_of(known(dims)))))
        case _:
            return None if type == UNIT else next(elements)


def _flattened(root: Block) -> Any:
    """The type of the value, which is one on all ways; each value becomes the tuple of its numbers."""
    types = set()
    for block in walked(root):
        if block.value is not None:
            (value,) = block.value
            types.add(erase(known_type(value)))
            block.value = tuple(_numbers(value))
    if len(types) != 1:
        raise refused("its result is of several types, or of none")
    return types.pop()


def _numbers(value: Any) -> Iterator[Any]:
    """The numbers of a value, in order."""
    match value:
        case tuple():
            for item in value:
                yield from _numbers(item)
        case Labelled(_, items) | Array(_, _, items):
            for item in items:
                yield from _numbers(item)
        case _:
            yield from () if value is None else (value,)


def _typed(form: Form | None, known: classes.Classes) -> Form | None:
    """The form, whose records are of these classes."""
    if form is None:
        return None
    of = tuple(classes.of_classes(t, known) for t in form.argument_types)
    return replace(form, argument_types=of, result_type=classes.of_classes(form.result_type, known))
