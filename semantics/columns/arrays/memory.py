"""
Memory in any column: contents are values of the column, whatever they are.

`alloc`, `load`, `store`, `lea` are those of MimIrADe, section 3.3.1. `cell`, `cell_alone` and `cell_cleared` are Zygote's pullbacks
of boxes (section 3.2) taken apart: get adds to a cell of the sensitivity, set takes the cell out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from immutables import Map

from semantics.arrays import Array
from semantics.columns.arrays.elements import Elements
from semantics.columns.arrays.indexed import put
from semantics.columns.structure import getitem, wrong
from semantics.errors import Trap
from semantics.memory import Cells, Memory, Pointer, contents
from semantics.tangents import ZERO, inject


def memory(e: Elements, home: Any) -> Memory:
    """A memory without cells. `home` is its name: pointers of memories with different names are told apart."""
    if type(home) is not int:
        raise wrong("memory", "an integer as its name", home)
    return Memory(home, 0, Map())


def alloc(e: Elements, m: Any, v: Any) -> tuple[Memory, Pointer]:
    """The memory with one more cell, which holds v, and the pointer to it."""
    if not isinstance(m, Memory):
        raise wrong("alloc", "a memory", m)
    return Memory(m.home, m.next + 1, m.cells.set(m.next, v)), Pointer(m.home, m.next)


def load(e: Elements, m: Any, p: Any) -> Any:
    """What p points to."""
    content = _content("load", m, p)
    for index in p.path:
        content = getitem(content, index)
    return content


def store(e: Elements, m: Any, p: Any, v: Any) -> Memory:
    """The memory in which p points to v."""
    content = _content("store", m, p)
    return Memory(m.home, m.next, m.cells.set(p.address, _written(e, content, p.path, v)))


def lea(e: Elements, p: Any, i: Any) -> Pointer:
    """The pointer to element i of the tuple, list, record or array that p points to. Whether there is one, load and store tell."""
    if not isinstance(p, Pointer):
        raise wrong("lea", "a pointer", p)
    if type(i) is not int and not (isinstance(i, tuple) and all(type(k) is int for k in i)):
        raise wrong("lea", "an integer index, or a tuple of them", i)
    return Pointer(p.home, p.address, (*p.path, i))


def apart(e: Elements, v: Any) -> Any:
    """v, unless it is an array: then Python's would be a view, and would change with the array that it is a part of."""
    if isinstance(v, Array) and v.shape != ():
        what = "a part of an array is kept while the array is changed in place, which Python would show in the part"
        raise Trap(what, rule="apart", remedy="keep a copy of the part: .copy()")
    return v


def cell(e: Elements, d: Any, p: Any) -> Any:
    """The sensitivity, in that of a memory, of what p points to."""
    if d is ZERO:
        return ZERO
    found = d.entries.get(p.address, ZERO)
    for index in p.path:
        found = getitem(found, index)
    return found


def cell_alone(e: Elements, m: Any, p: Any, d: Any) -> Any:
    """The sensitivity of the memory m of which only what p points to has one: the adjoint of looking. m may be a sensitivity."""
    if d is ZERO or m is ZERO:
        return ZERO
    whole = [contents(m).get(p.address, ZERO)]
    for index in p.path[:-1]:
        whole.append(getitem(whole[-1], index))
    for part, index in zip(reversed(whole), reversed(p.path), strict=False):
        d = inject(part, index, d)
    return Cells(Map({p.address: d})) if d is not ZERO and whole[0] is not ZERO else ZERO


def cell_cleared(e: Elements, d: Any, p: Any) -> Any:
    """The sensitivity d of a memory without that of what p points to: on what was overwritten nothing depends."""
    if d is ZERO or p.address not in d.entries:
        return d
    if not p.path:
        return Cells(d.entries.delete(p.address))
    return Cells(d.entries.set(p.address, _written(e, d.entries[p.address], p.path, ZERO)))


def _content(name: str, m: Any, p: Any) -> Any:
    """The content of the cell that p is in."""
    if not isinstance(m, Memory):
        raise wrong(name, "a memory", m)
    if not isinstance(p, Pointer):
        raise wrong(name, "a pointer", p)
    if p.home != m.home:
        raise Trap("a pointer of another memory", rule=name, remedy="use it with the memory that it was allocated in")
    if p.address not in m.cells:
        raise Trap(f"the pointer {p!r} dangles: this memory has {m.next} cells", rule=name, remedy="go on from the latest token")
    return m.cells[p.address]


def _written(e: Elements, content: Any, path: tuple[Any, ...], v: Any) -> Any:
    """The content with v where the path leads; of a ZERO, which has no parts, nothing is written."""
    whole = [content]
    for index in path[:-1]:
        whole.append(getitem(whole[-1], index))
    for part, index in zip(reversed(whole), reversed(path), strict=False):
        v = ZERO if part is ZERO and v is ZERO else put(e, part, index, v)
    return v


CELLS: dict[str, Callable[..., Any]] = {
    "memory": memory,
    "alloc": alloc,
    "load": load,
    "store": store,
    "lea": lea,
    "apart": apart,
    "cell": cell,
    "cell_alone": cell_alone,
    "cell_cleared": cell_cleared,
}
