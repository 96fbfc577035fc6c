"""
The types of the rows of memory: the part of the column "type" that speaks of tokens, pointers and sensitivities of memories.

    alloc    one more cell, and the pointer to it; the cell is one of `rest` where the number of cells is not known
    load     what the cell holds, or what any cell holds that the pointer may point to
    store    another content of the cell that an exact pointer points to; else each of those cells may hold it now, too

What traps whatever the values are, such as a pointer of another memory, has the type `never`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.columns.record_types import wrong
from semantics.memory_types import CellsType, MemoryType, PointerType
from semantics.type_language import INTEGER, ArrayType, TupleType
from semantics.type_lattice import NEVER, ZERO_TYPE, Literal, cells_type, distribute, erase, held, join, members, paired

Rule = Callable[..., Any]


def memory(home: Any) -> Any:
    """A memory without cells; its name is a constant of the program."""
    if not isinstance(home, Literal) or home.type != INTEGER:
        raise wrong("memory", "an integer as its name, known before running", home)
    return MemoryType(home.value, ())


def alloc(m: Any, v: Any) -> Any:
    """The memory with one more cell, and the pointer to it."""
    if not isinstance(m, MemoryType):
        raise wrong("alloc", "a memory", m)
    pointer = PointerType(m.home, len(m.items), m.rest is None)
    if m.rest is None:
        return TupleType((MemoryType(m.home, (*m.items, v)), pointer))
    return TupleType((MemoryType(m.home, m.items, join(m.rest, v)), pointer))


def _checked(name: str, m: Any, p: Any) -> bool:
    """Whether the pointer can be one of this memory."""
    if not isinstance(m, MemoryType):
        raise wrong(name, "a memory", m)
    if not isinstance(p, PointerType):
        raise wrong(name, "a pointer", p)
    return p.home == m.home and (p.low < len(m.items) or m.rest is not None)


def _held(m: MemoryType | CellsType, p: PointerType) -> Any:
    """What the cell holds that p points to, without its path; never of a memory that has no such cell."""
    if isinstance(m, CellsType):
        rest = held(m, len(m.items))
    else:
        rest = NEVER if m.rest is None else m.rest
    if p.exact:
        return m.items[p.low] if p.low < len(m.items) else rest
    for item in m.items[p.low :]:
        rest = join(rest, item)
    return rest


def memory_rules(getitem: Rule, put: Rule, inject: Rule) -> dict[str, Rule]:
    """The rules, from those of indexing, writing and the adjoint of indexing."""

    def inside(content: Any, path: tuple[Any, ...]) -> list[Any]:
        """The content, and the part of it at each index of the path but the last."""
        found = [content]
        for index in path:
            found.append(distribute(getitem, (found[-1], index)))
        return found

    def written(content: Any, path: tuple[Any, ...], v: Any) -> Any:
        """The content with v where the path leads; of a zero, which has no parts, nothing is written."""
        for part, index in zip(reversed(inside(content, path[:-1])), reversed(path), strict=False):
            v = distribute(put, (part, index, v))
        return v

    def changed(m: Any, p: PointerType, change: Rule) -> tuple[tuple[Any, ...], Any]:
        """The cells after a change of the one that p points to: of it alone, or perhaps of each that it may be."""
        if p.exact and p.low < len(m.items):
            return (*m.items[: p.low], change(m.items[p.low]), *m.items[p.low + 1 :]), m.rest
        items = tuple(join(t, change(t)) if k >= p.low and not p.exact else t for k, t in enumerate(m.items))
        return items, None if m.rest is None else join(m.rest, change(m.rest))

    def load(m: Any, p: Any) -> Any:
        """What p points to."""
        return inside(_held(m, p), p.path)[-1] if _checked("load", m, p) else NEVER

    def store(m: Any, p: Any, v: Any) -> Any:
        """The memory in which p points to v."""
        if not _checked("store", m, p):
            return NEVER
        return MemoryType(m.home, *changed(m, p, lambda content: written(content, p.path, v)))

    def cell(d: Any, p: Any) -> Any:
        """The sensitivity of what p points to."""
        return ZERO_TYPE if d == ZERO_TYPE else inside(_held(_cells("cell", d, p), p), p.path)[-1]

    def cell_alone(m: Any, p: Any, d: Any) -> Any:
        """The sensitivity of a memory, or of a sensitivity of one, of which only what p points to has one."""
        if ZERO_TYPE in (m, d):
            return ZERO_TYPE
        content = join(_held(m, p), NEVER if isinstance(m, MemoryType) and p.exact and p.low < len(m.items) else ZERO_TYPE)
        for part, index in zip(reversed(inside(content, p.path[:-1])), reversed(p.path), strict=False):
            d = distribute(inject, (part, index, d))
        if NEVER in (content, d):
            return NEVER
        zeros = (ZERO_TYPE,) * p.low
        alone = cells_type((*zeros, d)) if p.exact else cells_type(zeros, d)
        return join(alone, ZERO_TYPE) if ZERO_TYPE in members(content) else alone

    def cell_cleared(d: Any, p: Any) -> Any:
        """The sensitivity of a memory without that of what p points to."""
        if d == ZERO_TYPE:
            return d
        found = _cells("cell_cleared", d, p)
        items, rest = changed(found, p, lambda content: written(content, p.path, ZERO_TYPE))
        return cells_type(items, NEVER if rest is None else rest)

    return {rule.__name__: rule for rule in (load, store, cell, cell_alone, cell_cleared)}


def _cells(name: str, d: Any, p: Any) -> CellsType:
    if not isinstance(d, CellsType):
        raise wrong(name, "the sensitivity of a memory", d)
    if not isinstance(p, PointerType):
        raise wrong(name, "a pointer", p)
    return d


def lea(p: Any, i: Any) -> Any:
    """The pointer to element i of what p points to."""
    if not isinstance(p, PointerType):
        raise wrong("lea", "a pointer", p)
    if erase(i) != INTEGER and not (isinstance(i, TupleType) and all(erase(k) == INTEGER for k in i.items)):
        raise wrong("lea", "an integer index, or a tuple of them", i)
    return PointerType(p.home, p.low, p.exact, (*p.path, i))


def apart(v: Any) -> Any:
    """An array with axes traps: it may be a view of one that is changed."""
    return NEVER if isinstance(v, ArrayType) and v.dims != () else v


def gadd(a: CellsType, b: CellsType, add: Rule) -> CellsType:
    """The sum of two sensitivities of one memory, cell by cell."""
    size = max(len(a.items), len(b.items))
    return cells_type([add(x, y) for x, y in paired(a, b)], add(held(a, size), held(b, size)))


CELLS: dict[str, Rule] = {"memory": memory, "alloc": alloc, "lea": lea, "apart": apart}
