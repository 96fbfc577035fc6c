"""
Which numbers of a loop may be computed later than its turns, together (`backend.lowering.strips`).

A *group* is in one block of a loop: assignments, and writes to cells of reals. In it are the elementary functions that LLVM
computes in vectors, all that depends on them, and what they alone need. All of it is arithmetic of reals, which does not fail. What
a group reads is the same for all turns, or is a number that stays what it is until the group ends.

A place in the memory of stacks is `begin + row * room + cell` or `begin + width * cell + at` (`backend.stacks.layout`), of the
first stack without `begin`. Those that differ in the cell alone are a column, and two columns have nothing in common.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from backend.arrays.effects import assigned
from backend.arrays.walking import walk
from backend.lowering.strip_cells import Cell, followed

IN_VECTORS = frozenset({"_exp", "_tanh", "_cosh"})
TOTAL = IN_VECTORS | {"_mul", "_div", "_sin", "_cos", "_tan", "_log", "_sqrt", "_sinh", "_atan", "float"}
"""What is called in late arithmetic: functions of reals that give a number whatever they are given."""
MEMORY = frozenset({"reals", "integers"})
Column = tuple[str, int, int, int]
"""Where it begins, and by how many rooms after that; how wide its cells are, and where in them it is."""
BEGIN, ROOM = re.compile(r"end\d+"), re.compile(r"room\d+")
MOST = 4
"""Groups of one function: more would be too much code."""


@dataclass(frozen=True)
class Write:
    """A late number that is written to a cell of a column; `at` says which cell that is (`backend.lowering.strip_cells`)."""

    statement: ast.Assign
    index: ast.expr
    column: Column
    cell: str
    value: ast.expr
    at: Cell | None

    def after(self, other: Write) -> int | None:
        """How many places it is after another, where that is the same in all turns."""
        if self.at is None or other.at is None or self.at[0] != other.at[0] or self.column[:3] != other.column[:3]:
            return None
        return self.column[2] * (self.at[1] - other.at[1]) + self.column[3] - other.column[3]


@dataclass(frozen=True)
class Group:
    """
    loop     around the block                           late      assignments, in order
    end      the statement at which all of it is known  stores    where numbers of it are written
    reals, integers   what a turn gives to it           shared    what is the same for all turns
    places   of each store, that of which the place is kept, and how many places it is after that
    """

    loop: ast.While
    end: ast.stmt
    late: tuple[ast.Assign, ...]
    stores: tuple[Write, ...]
    reals: tuple[str, ...]
    integers: tuple[str, ...]
    shared: tuple[str, ...]

    @property
    def places(self) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for j, store in enumerate(self.stores):
            near = ((k, store.after(self.stores[k])) for k in self.kept(found))
            found.append(next(((k, by) for k, by in near if by is not None), (j, 0)))
        return found

    @staticmethod
    def kept(places: Iterable[tuple[int, int]]) -> list[int]:
        """The stores of which the place is kept."""
        return [*dict.fromkeys(k for k, _ in places)]


def groups(function: ast.FunctionDef) -> list[Group]:
    """The groups of a function."""
    times, reads = assigned(function), Counter(read_in(function))
    found = (_group(block, loop, times, reads) for block, loop in _blocks(function.body, None) if loop is not None)
    return [group for group in found if group is not None][:MOST]


def read_in(node: ast.AST) -> Iterator[str]:
    """The names that are read."""
    return (n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


def is_failure(statement: ast.stmt) -> bool:
    """Whether a statement only returns a status that is not OK, with which nobody reads the memory."""
    match statement:
        case ast.Return(ast.Tuple([*_, ast.Constant(status)])):
            return bool(status != 0)
        case _:
            return False


def column(index: ast.expr) -> tuple[Column, str] | None:
    """The column of a place in the memory, and its cell; None where that is not seen."""
    if isinstance(index, ast.Slice):
        return None
    begin, row, width, at, cells = "", 0, 1, 0, []
    for term in _terms(index):
        match term:
            case ast.Constant(int(k)):
                at += k
            case ast.Name(name) if BEGIN.fullmatch(name):
                begin += name
            case ast.BinOp(ast.Constant(int(k)), ast.Mult(), ast.Name(name)) if ROOM.fullmatch(name):
                row += k
            case ast.BinOp(ast.Constant(int(k)), ast.Mult(), cell):
                width = k
                cells.append(ast.unparse(cell))
            case _:
                cells.append(ast.unparse(term))
    if len(cells) != 1:
        return None
    if width > 1:
        return (begin, row, width, at), cells[0]
    return (begin, row, 1, 0), f"{cells[0]} + {at}" if at else cells[0]


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(a, ast.Add(), b):
            yield from _terms(a)
            yield from _terms(b)
        case _:
            yield node


def _blocks(block: list[ast.stmt], loop: ast.While | None) -> Iterator[tuple[list[ast.stmt], ast.While | None]]:
    """Every block, with the loop of turns innermost around it; not those in loops over elements."""
    yield block, loop
    for statement in block:
        match statement:
            case ast.While(test, body):
                yield from _blocks(body, statement if isinstance(test, ast.Constant) else None)
            case ast.If(_, then, otherwise):
                yield from _blocks(then, loop)
                yield from _blocks(otherwise, loop)


def _group(block: list[ast.stmt], loop: ast.While, times: Counter[str], reads: Counter[str]) -> Group | None:
    """The group of a block, if it has one."""
    late, stores = _forward(block, times)
    if not stores:
        return None
    its = {id(s) for s in (*late, *(w.statement for w in stores))}
    last = max(k for k, s in enumerate(block) if id(s) in its)
    turn, behind, first = assigned(loop), True, last
    used = Counter(n for s in (*late, *(w.value for w in stores)) for n in _arguments(s))
    for k, statement in reversed([*enumerate(block[:last])]):
        match statement:
            case _ if id(statement) in its:
                first = k
            case ast.Assign([ast.Name(x)], value) if times[x] == 1 and _is_total(value) and reads[x] == used[x] > 0:
                if behind or not any(turn[y] for y in _arguments(value)):  # what is the same in all turns may come from before
                    its.add(id(statement))
                    used.update(_arguments(value))
                    first = k if behind else first
            case _:
                behind = behind and is_plain(statement)
    writes = {id(w.statement) for w in stores}
    late = [s for s in block if isinstance(s, ast.Assign) and id(s) in its - writes]
    made = {t.id for s in late for t in s.targets if isinstance(t, ast.Name)}
    if any(reads[x] != used[x] for x in made):
        return None
    between = [s for s in block[first : last + 1] if id(s) not in its]
    given = sorted(used.keys() - made)
    if not all(map(is_plain, between)) or not _are_apart(block[: last + 1], stores):
        return None
    own = [x for x in given if turn[x]]
    moved = {x for s in between for x in assigned(s) if times[x] > 1}
    if moved & {*own} or any(x[0] not in "xi" for x in own):
        return None
    reals, integers = (tuple(x for x in own if x[0] == kind) for kind in "xi")
    return Group(loop, block[last], tuple(late), tuple(stores), reals, integers, tuple(x for x in given if not turn[x]))


def _forward(block: list[ast.stmt], times: Counter[str]) -> tuple[list[ast.Assign], list[Write]]:
    """The elementary functions of a block and what depends on them; no writes where something else does."""
    late: list[ast.Assign] = []
    stores: list[Write] = []
    made: set[str] = set()
    for s, at in followed(block):
        match s:
            case ast.Assign([ast.Name(x)], value) if _is_total(value) and (_calls(value) or made & {*read_in(value)}):
                if times[x] > 1:
                    return [], []
                late.append(s)
                made.add(x)
            case ast.Assign([ast.Subscript(ast.Name("reals"), index)], value) if made & {*read_in(value)}:
                if made & {*read_in(index)} or not _is_total(value) or (found := column(index)) is None:
                    return [], []
                stores.append(Write(s, index, *found, value, at(found[1])))
            case _ if made & {*read_in(s)}:
                return [], []
    return late, stores


def _are_apart(block: list[ast.stmt], stores: list[Write]) -> bool:
    """Whether no other statement after a write, up to the end of the group, accesses its column: nothing waits there yet."""
    writes, written = {id(w.statement): w for w in stores}, set[Column]()
    for s in block:
        if (write := writes.get(id(s))) is not None:
            written.add(write.column)
        elif any(found is None or found[0] in written for found in elements(s)) and written:
            return False
    return True


def elements(node: ast.AST) -> list[tuple[Column, str] | None]:
    """The columns and cells of the memory that a statement or an expression accesses; None for what is not known."""
    sized = {id(n.value) for n in walk(node) if isinstance(n, ast.Attribute)}
    named = sum(isinstance(n, ast.Name) and n.id in MEMORY and id(n) not in sized for n in walk(node))
    found = [
        column(n.slice)
        for n in walk(node)
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id in MEMORY
    ]
    return [*found, *[None] * (named - len(found))]


def is_plain(statement: ast.stmt) -> bool:
    """Whether a statement goes on to the next, or fails."""
    match statement:
        case ast.Assign():
            return True
        case ast.If(_, [end], []):
            return is_failure(end)
        case _:
            return False


def _calls(value: ast.expr) -> bool:
    return any(name in IN_VECTORS for name in read_in(value))


def _is_total(value: ast.expr) -> bool:
    """Whether it is arithmetic of reals that are there."""
    match value:
        case ast.Name() | ast.Constant(float()):
            return True
        case ast.Call(ast.Name(name), arguments, []):
            return name in TOTAL and all(map(_is_total, arguments))
        case ast.BinOp(a, ast.Add() | ast.Sub(), b):
            return _is_total(a) and _is_total(b)
        case ast.UnaryOp(ast.USub(), a):
            return _is_total(a)
        case _:
            return False


def _arguments(node: ast.AST) -> Iterable[str]:
    """The names of numbers in arithmetic."""
    called = {id(n.func) for n in walk(node) if isinstance(n, ast.Call)}
    return [n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in called]
