"""
The structural primitives of sequences: elements and parts of tuples, lists and arrays, lengths, and what makes longer ones of them.
"""

from __future__ import annotations

from typing import Any

from semantics.arrays import Array
from semantics.columns.kinds import NO_AXES, wrong
from semantics.errors import Trap
from semantics.indexing import element_place, is_element, selected
from semantics.structured import ELLIPSIS, Record, Slice
from semantics.tangents import ZERO, Sparse, SparseArray


def getitem(t: Any, i: Any) -> Any:
    """Element or part i of t, counted from the end if i is negative; the same of a sensitivity of t."""
    if t is ZERO:
        return ZERO
    if isinstance(t, (Array, SparseArray)):
        return _of_array(t, i)
    if isinstance(t, Record):
        if t.label.kind == "dict":
            if type(i) is not str:
                raise wrong("getitem", "a key of a dictionary", i, _known_keys(t))
            return t.items[place_in(t, i)]
        if t.label.kind == "dataclass":
            raise wrong("getitem", "a tuple, a list or an array", t, "take a field by its name")
        found = getitem(t.items, i)
        return Record(t.label, found) if isinstance(i, Slice) and t.label.kind == "list" else found
    if not isinstance(t, (tuple, Sparse)):
        raise wrong("getitem", "a tuple, a list or an array", t, NO_AXES if i is ELLIPSIS else "")
    size = t.size if isinstance(t, Sparse) else len(t)
    if isinstance(i, Slice):
        return t.part(i.indices(size)) if isinstance(t, Sparse) else tuple(t[k] for k in i.indices(size))
    if type(i) is not int:
        raise wrong("getitem", "an integer index", i)
    if not -size <= i < size:
        raise Trap(f"index {i} is outside a tuple of {size}", rule="getitem", remedy=f"an index from {-size} to {size - 1}")
    return t[i]


def place_in(t: Any, i: Any) -> Any:
    """Where t[i] is among the items of t: at the place of the key i of a dictionary, else at i itself."""
    if type(i) is not str or not isinstance(t, Record) or t.label.kind != "dict":
        return i
    place = t.label.index(i)
    if place is None:
        raise Trap(f"the dictionary has not the key {i!r}", rule="getitem", remedy=_known_keys(t))
    return place


def _known_keys(d: Record) -> str:
    return f"one of {', '.join(map(repr, d.label.fields))}" if d.label.fields else "it has none"


def keys_of(d: Any) -> tuple[str, ...]:
    """The keys of a dictionary, in order."""
    return _dictionary("keys", d).label.fields


def values_of(d: Any) -> tuple[Any, ...]:
    """The values of a dictionary, in the order of its keys."""
    return _dictionary("values", d).items


def _dictionary(name: str, d: Any) -> Record:
    if not isinstance(d, Record) or d.label.kind != "dict":
        raise wrong(name, "a dictionary", d)
    return d


def iterated(t: Any) -> Any:
    """What `for x in t` goes over: the keys of a dictionary, and anything else itself."""
    return t.label.fields if isinstance(t, Record) and t.label.kind == "dict" else t


def _of_array(t: Array | SparseArray, i: Any) -> Any:
    """One element is a scalar (an f32 one an array without axes); a part is an array."""
    if is_element(t.shape, i):
        item = t[element_place(t.shape, i)]
        return Array("f32", (), (item,)) if t.dtype == "f32" and item is not ZERO else item
    shape, places = selected(t.shape, i)
    return Array(t.dtype, shape, tuple(t[p] for p in places))


def length(t: Any) -> int:
    """The number of elements of a tuple, a list or a dictionary; of an array, of its first axis."""
    if isinstance(t, Array):
        if not t.shape:
            raise Trap("len of an array without axes", rule="length", remedy="np.size(x)")
        return t.shape[0]
    if isinstance(t, Record) and t.label.kind != "dataclass":
        return len(t.items)
    if not isinstance(t, tuple):
        raise wrong("length", "a tuple, a list or an array", t)
    return len(t)


def make_slice(start: Any, stop: Any, step: Any) -> Slice:
    """What stands in t[start:stop:step]; None where nothing stands."""
    for x in (start, stop, step):
        if x is not None and type(x) is not int:
            raise wrong("slice", "integers", x)
    if step == 0:
        raise Trap("a slice with step 0", rule="make_slice", remedy="a step that is not 0")
    return Slice(start, stop, step)


def of_length(t: Any, n: int) -> Any:
    """t itself, if it has n elements: what unpacking into n names demands."""
    if not isinstance(t, (tuple, Record, Array)):
        raise wrong("unpacking", "a tuple", t)
    if length(t) != n:
        raise Trap(f"cannot unpack a tuple of {length(t)} into {n} names", rule="of_length")
    return t


def concat(s: Any, t: Any) -> Any:
    """The elements of s and then those of t: a list if s is one, else a tuple."""
    return _like(s, (*_elements("concat", s), *_elements("concat", t)))


def append(s: Any, x: Any) -> Any:
    """The tuple or list with one more element."""
    return _like(s, (*_elements("append", s), x))


def _elements(name: str, s: Any) -> tuple[Any, ...]:
    if isinstance(s, tuple):
        return s
    if isinstance(s, Record) and s.label.kind in ("list", "namedtuple"):
        return s.items
    raise wrong(name, "a tuple or a list", s, "of an array, write the elements out: [x for x in t]" if isinstance(s, Array) else "")


def _like(s: Any, items: tuple[Any, ...]) -> Any:
    return Record(s.label, items) if isinstance(s, Record) and s.label.kind == "list" else items


def range_length(start: Any, stop: Any, step: Any) -> int:
    """The number of elements of range(start, stop, step)."""
    for x in (start, stop, step):
        if type(x) is not int:
            raise wrong("range", "integers", x, "round explicitly: int(x)")
    if step == 0:
        raise Trap("range with step 0", rule="range_length")
    distance = stop - start if step > 0 else start - stop
    turns: int = -(-distance // abs(step))
    return max(0, turns)
