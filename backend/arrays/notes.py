"""
Sets of names along paths that leave a note in `_go` of where they lead (`backend.lowering.regions`): one set for each note, and one
for any other.

    _go = 4          the path is noted, and breaks
    break
    …
    if _go != 4:     where paths meet, the note is read: what held of the path with this note holds where the test leads it,
        break        and nowhere else

A set is the bits of an integer.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import reduce
from operator import and_, or_

Noted = dict[int, int]
OTHER = -1  # the note of all paths that left another one, or none


def alike(bits: int) -> Noted:
    """The same set, whatever the note."""
    return {OTHER: bits}


def of(state: Noted, note: int) -> int:
    """The set of the paths with a note."""
    return state.get(note, state[OTHER])


def either(a: Noted, b: Noted) -> Noted:
    """What is in one of the two."""
    return _joined(a, b, or_)


def both(a: Noted, b: Noted) -> Noted:
    """What is in both."""
    return _joined(a, b, and_)


def _joined(a: Noted, b: Noted, join: Callable[[int, int], int]) -> Noted:
    if len(a) == len(b) == 1:
        return {OTHER: join(a[OTHER], b[OTHER])}
    return {note: join(of(a, note), of(b, note)) for note in a.keys() | b.keys()}


def any_of(state: Noted) -> int:
    """What is in the set of some note."""
    return reduce(or_, state.values())


def all_of(state: Noted) -> int:
    """What is in the sets of all notes."""
    return reduce(and_, state.values())


def left(statement: ast.stmt) -> int | None:
    """The note that a statement leaves."""
    match statement:
        case ast.Assign([ast.Name("_go")], ast.Constant(int(note))):
            return note
        case _:
            return None


def read(test: ast.expr) -> tuple[int, bool] | None:
    """The note that a test asks for, and whether it asks that it be this one; None of another test."""
    match test:
        case ast.Compare(ast.Name("_go"), [(ast.Eq() | ast.NotEq()) as asks], [ast.Constant(int(note))]):
            return note, isinstance(asks, ast.Eq)
        case _:
            return None
