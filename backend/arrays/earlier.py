"""
Reads of an array that a sum takes the place of, before the sum: then nothing reads it again, and the sum may have its memory.

    t = _empty(sizes of s, …)                        t = _empty(sizes of s, …)
    for k in range(…): t[k] = s[k] + d[k]            u = _empty(…)
    u = _empty(…)                               →    for k in range(…): u[k] = s[1 + k] * y
    for k in range(…): u[k] = s[1 + k] * y           for k in range(…): t[k] = s[k] + d[k]
    s = t                                            s = t

What goes before the sum is each loop that reads the old array, with what stands between that it needs. It is so where none of that
needs the sum, and where all that changes places writes to new arrays alone, which have no other names yet; so two statements need
each other only if one writes what the other mentions. A test that ends the function with a status goes first as well, since what
comes after it may rely on it, and no jump is passed. Tests of whether stacks have room stay behind: the host answers them with more
memory and runs all again, and no read of an array relies on them. Where a read would be left, nothing is gained, and all stays.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass

from backend.arrays.walking import names_in, walk
from backend.status import FULL, FULL_ARRAYS, FULL_AT, LINKED, OK

Block = list[ast.stmt]
NUMBER = re.compile(r"_\w+|[xibk]\d\w*")
"""The names of numbers and of what generated code is given by name; others may be arrays."""

ROOM = (FULL, LINKED, FULL_ARRAYS)
"""Statuses that say that stacks have no room, or are laid out otherwise than the code needs."""


@dataclass(frozen=True)
class Uses:
    """The names that a statement mentions, those that it writes or of which it writes elements, and the latter."""

    mentions: frozenset[str]
    writes: frozenset[str]
    stores: frozenset[str]


def read_earlier(block: Block, nest: ast.stmt, olds: Collection[str]) -> None:
    """The block in which no loop after a nest reads the arrays that its sums take the place of, if that may be."""
    at = block.index(nest)
    later = {k for k in range(at + 1, len(block)) if _reads(block[k], olds)}
    if not later:
        return
    found = {k: _uses(block[k]) for k in range(at, max(later) + 1)}
    moved = later
    for k in range(max(later), at, -1):
        if any(m > k and (_is_test(block[k]) or not _apart(found[k], found[m])) for m in moved):
            moved = moved | {k}
    if not all(_apart(found[at], found[k]) for k in moved):
        return
    if {name for its in found.values() if its is not None for name in its.stores} <= _fresh(block[: max(later) + 1]):
        block[at:] = [block[k] for k in sorted(moved)] + [s for k, s in enumerate(block) if k >= at and k not in moved]


def _reads(statement: ast.stmt, names: Collection[str]) -> bool:
    """Whether a statement reads elements of arrays."""
    return any(isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id in names for n in walk(statement))


def _apart(a: Uses | None, b: Uses | None) -> bool:
    """Whether the order of two statements does not matter; it does if one of them is more than loops and assignments."""
    return a is not None and b is not None and not (a.writes & b.mentions or b.writes & a.mentions)


def _uses(statement: ast.stmt) -> Uses | None:
    """What a test, or a statement of loops, choices and assignments uses; None for another, and for one that hands an array on."""
    mentions, writes, stores = set[str](), set[str](), set[str]()
    if _status(statement) is not None:
        return Uses(frozenset(names_in(statement)), frozenset(), frozenset())
    for node in walk(statement):
        match node:
            case ast.stmt() if not isinstance(node, ast.For | ast.If | ast.Assign | ast.Pass):
                return None
            case ast.Slice():
                return None
            case ast.Call(_, arguments) if any(isinstance(a, ast.Name) and not NUMBER.fullmatch(a.id) for a in arguments):
                return None
            case ast.Assign([ast.Name()], ast.Name(name)) if not NUMBER.fullmatch(name):
                return None
            case ast.Subscript(ast.Name(name), _, ast.Store()):
                stores.add(name)
            case ast.Name(name, context):
                mentions.add(name)
                if isinstance(context, ast.Store):
                    writes.add(name)
    return Uses(frozenset(mentions), frozenset(writes | stores), frozenset(stores))


def _is_test(statement: ast.stmt) -> bool:
    """Whether what comes after a statement may rely on it: it ends the function, but not for want of room."""
    status = _status(statement)
    return status is not None and status not in ROOM and status < FULL_AT


def _status(statement: ast.stmt) -> int | None:
    """The status with which a test ends the function; none of one that gives its value."""
    match statement:
        case ast.If(_, [ast.Return(ast.Tuple([*_, ast.Constant(int(status))]))], []) if status != OK:
            return status
    return None


def _fresh(block: Block) -> set[str]:
    """The arrays that are made in a block and of which it mentions nothing but elements and sizes."""
    made = [s.targets[0].id for s in block if isinstance(s, ast.Assign) and _is_new(s) and isinstance(s.targets[0], ast.Name)]
    mentioned: dict[str, int] = {}
    parts: dict[str, int] = {}
    for statement in block:
        for node in walk(statement):
            match node:
                case ast.Subscript(ast.Name(name)) | ast.Attribute(ast.Name(name), "shape"):
                    parts[name] = parts.get(name, 0) + 1
                case ast.Name(name):
                    mentioned[name] = mentioned.get(name, 0) + 1
    return {name for name in made if made.count(name) == 1 and mentioned[name] == parts.get(name, 0) + 1}


def _is_new(statement: ast.Assign) -> bool:
    match statement.value:
        case ast.Call(ast.Name("_empty" | "_full")):
            return True
        case _:
            return False
