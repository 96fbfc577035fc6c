"""
Values of the reference in the machine's buffer, and back.

What the machine has no form for is OPAQUE: strings, labels, integers beyond 64 bits, memories of many cells, and sparse
sensitivities of arrays but its own. Its payload is a place in the host's table, which holds the value. An object is read, and a
value written, once: both stay what they are, so each remembers the other until the objects are moved.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from math import nan as NAN
from typing import Any

from backend.machine import holes, layout
from backend.machine.layout import (
    ARRAY,
    BOOL,
    BOXED,
    CELLS,
    CLOSURE,
    DTYPE,
    ENTRIES,
    GROWN,
    HOLED,
    HP,
    INT,
    LIMIT,
    LISTED,
    MEMORY,
    OLD,
    OPAQUE,
    POINTER,
    PRIM,
    RAW,
    REAL,
    RECORD,
    SHAPE,
    SIZE,
    SLICE,
    SPARSE,
    TUPLE,
    UNIT,
    VALUES,
    ZERO,
    ZERO_BITS,
)
from backend.machine.loader import Code
from backend.machine.objects import built, fits, is_small, number, parts_of, places_of
from backend.machine.patience import AT_ONCE, IN_ARRAY
from semantics.arrays import DTYPES, FLOATING, Array
from semantics.memory import Cells, Memory, Pointer
from semantics.primitives.row import Primitive
from semantics.structured import LIST, Label, Record, Slice
from semantics.tangents import ZERO as ZERO_VALUE
from semantics.tangents import Sparse
from semantics.values import Closure
from transforms.unboxed import source_of

LEAST, MOST = -(1 << 63), (1 << 63) - 1
HOLE = array("d", array("q", [ZERO_BITS]).tobytes())[0]
MANY = 8
"""An object of more values than this is asked whether all of them are reals."""
ALIKE = (TUPLE, RECORD, GROWN)
WITH_PARTS = (tuple, Closure, Record, Slice, Pointer, Sparse)
Payload = tuple[int, Any]


class Full(Exception):
    """The buffer has no room for so many words more; caught by the run, which makes room."""

    def __init__(self, words: int) -> None:
        super().__init__(words)
        self.words = words


class Heap:
    """
    The values in one buffer of one run. `integers` and `doubles` are two views of the same words; `loops(n)` gives compiled loops
    on them (`kernels`), or None where n elements are not worth it. `gone_over` counts the values that have been read and written.
    """

    def __init__(self, code: Code, loops: Callable[[int], Any]) -> None:
        self.code, self.loops = code, loops
        self.table: list[Any] = [LIST]
        self.places: dict[Any, int] = {LIST: layout.LIST_LABEL}
        self.read: dict[int, Any] = {}
        self.written: dict[int, tuple[Any, Payload]] = {}
        self.fixed: tuple[dict[int, Any], dict[int, tuple[Any, Payload]]] = ({}, {})
        self.base: tuple[int, dict[Any, int]] = (0, {})
        self.since: list[tuple[int, int]] = []  # the address and the id of every object that became known since some last moved
        self.holes = holes.Holes()
        self.gone_over = 0

    def use(self, integers: Any, doubles: Any) -> None:
        """From now on, this is the buffer. What is known of objects is forgotten, for they have moved; constants do not move."""
        self.integers, self.doubles = integers, doubles
        self.read, self.written = dict(self.fixed[0]), dict(self.fixed[1])
        self.since.clear()
        self.holes.begin()

    def forget(self, start: int, end: int) -> None:
        """The objects between these addresses have moved, or are no more: there were none when some last moved from there."""
        for p, key in self.since:
            if start <= p < end:
                self.read.pop(p, None)
                if key in self.written and self.written[key][1][1] == p:
                    del self.written[key]
        self.since.clear()

    def keep(self) -> None:
        """What has been written by now are the constants: they stay where they are."""
        self.fixed = dict(self.read), dict(self.written)
        self.base = len(self.table), dict(self.places)

    def begin(self, integers: Any, doubles: Any) -> None:
        """A new run, in this buffer: only the constants are there."""
        self.use(integers, doubles)
        del self.table[self.base[0] :]
        self.places = dict(self.base[1])

    # in

    def write(self, at: int, value: Any) -> None:
        """The value at an address. Full if the heap has no room, and then nothing is written."""
        tag, payload = self.payload(value)
        self.integers[at] = tag
        (self.doubles if tag == REAL else self.integers)[at + 1] = payload

    def payload(self, value: Any) -> Payload:
        """The tag and the payload of a value, its objects made: each after its parts. An explicit stack."""
        flat = self.flat(value)
        if flat is not None:
            return flat
        todo: list[tuple[Any, bool]] = [(value, False)]
        while todo:
            top, ready = todo.pop()
            if self.flat(top) is not None:
                continue
            parts = parts_of(top)
            if not ready and parts:
                todo.append((top, True))
                todo.extend((part, False) for part in parts)
            else:
                tag, p = self.new_object(top, parts)
                self.note(top, tag, p)
        return self.written[id(value)][1]

    def flat(self, value: Any) -> Payload | None:
        """The tag and the payload of what needs no object, or has one; else None."""
        kind = type(value)
        if kind is float:
            return REAL, value if value == value else number(value)  # noqa: PLR0124  a NaN is not itself
        if kind is bool:
            return BOOL, int(value)
        if kind is int and LEAST <= value <= MOST:
            return INT, value
        if value is None:
            return UNIT, 0
        if value is ZERO_VALUE:
            return ZERO, 0
        if kind is Primitive:
            return PRIM, self.code.rows.number(value)
        if (known := self.written.get(id(value))) is not None:
            return known[1]
        if kind in WITH_PARTS or (kind is Array and fits(value)) or (kind in (Memory, Cells) and is_small(value)):
            return None
        place = self.place(value)
        self.written[id(value)] = value, (OPAQUE, place)
        return OPAQUE, place

    def place(self, value: Any) -> int:
        """The place in the table of an opaque value; equal strings and labels share one."""
        key = value if isinstance(value, (str, Label)) else None
        if key is not None and key in self.places:
            return self.places[key]
        self.table.append(value)
        if key is not None:
            self.places[key] = len(self.table) - 1
        return len(self.table) - 1

    def new_object(self, value: Any, parts: tuple[Any, ...]) -> Payload:
        """The object of a tuple, a closure, a record or an array, whose parts have theirs already."""
        if type(value) is Array:
            return ARRAY, self.new_array(value)
        raw: tuple[int, ...]
        match value:
            case Closure(graph):
                tag, raw = CLOSURE, (self.code.graphs[graph],)
            case Record(label):
                tag, raw = RECORD, (self.place(label),)
            case Pointer(home, address):
                tag, raw = POINTER, (home, address)
            case Memory(home):
                tag, raw = MEMORY, (home,)
            case Cells():
                tag, raw = CELLS, ()
            case Slice():
                tag, raw = SLICE, ()
            case Sparse(size):
                tag, raw = SPARSE, (LISTED, ENTRIES, 1, size, size, len(parts))
            case _:
                tag, raw = TUPLE, ()
        self.gone_over += len(parts)
        p = self.room(RAW + len(raw) + 2 * len(parts), len(parts))
        at = p + RAW
        for word in raw:
            self.integers[at] = word
            at += 1
        for part in parts:
            flat = self.flat(part)
            assert flat is not None, "parts are written before the whole"
            self.integers[at] = flat[0]
            (self.doubles if flat[0] == REAL else self.integers)[at + 1] = flat[1]
            at += 2
        return tag, p

    def new_array(self, value: Array) -> int:
        """The object of an array."""
        count = len(value.items)
        p = self.new_head(value.dtype, value.shape, count)
        at = p + SHAPE + len(value.shape)
        source = source_of(value)
        self.gone_over += count // (IN_ARRAY if source is None else AT_ONCE)
        if source is not None:
            self.fill(at, source)
        elif value.dtype in FLOATING:
            self.integers[p + HOLED] = int(any(x is ZERO_VALUE for x in value.items))
            items = (HOLE if x is ZERO_VALUE else x if x == x else NAN for x in value.items)  # noqa: PLR0124  a NaN is not itself
            self.doubles[at : at + count] = array("d", items)
        else:
            self.integers[at : at + count] = array("q", value.items)
        return p

    def fill(self, at: int, source: Any) -> None:
        """The elements that NumPy holds, in the words from `at` on. Every NaN is the one NaN, so none is taken for a ZERO."""
        real = source.dtype.kind == "f"
        words = source.astype(float if real else int, order="C", copy=False)
        if real and (none := words != words).any():  # noqa: PLR0124  a NaN is not itself
            words = words.copy()
            words[none] = NAN
        self.integers[at : at + len(words)] = memoryview(words).cast("B").cast("q")

    def new_head(self, dtype: str, shape: tuple[int, ...], count: int) -> int:
        """A new array whose elements are still to be written."""
        p = self.room(SHAPE + len(shape) + count, 0)
        for k, word in enumerate((DTYPES.index(dtype), 0, len(shape), count, *shape)):
            self.integers[p + DTYPE + k] = word
        return p

    def room(self, words: int, values: int) -> int:
        """The address of a new object of so many words, which ends with so many values. Large arrays are old at once."""
        I = self.integers
        if I[OLD] and words > holes.LARGE and not values:
            if not (p := self.holes.large(I, words)):
                raise Full(words)
        else:
            p = int(I[HP])
            if p + words > I[LIMIT]:
                raise Full(words)
            I[HP] = p + words
        I[p + SIZE], I[p + VALUES] = words, values
        return p

    # out

    def value(self, at: int) -> Any:
        """The value at an address. An explicit stack: values nest as deep as programs like."""
        todo = [at] if self.integers[at] >= BOXED and self.integers[at + 1] not in self.read else []
        while todo:
            top = todo[-1]
            tag, p = self.integers[top], int(self.integers[top + 1])
            if tag < BOXED or p in self.read:
                todo.pop()
                continue
            parts = places_of(self.integers, tag, p)
            if tag in ALIKE and isinstance(parts, range) and len(parts) > MANY and (reals := self.reals(parts)) is not None:
                todo.pop()
                self.gone_over += len(reals) // AT_ONCE
                self.remember(tag, p, reals)
                continue
            missing = [k for k in parts if self.integers[k] >= BOXED and int(self.integers[k + 1]) not in self.read]
            if missing:
                todo.extend(missing)
            else:
                todo.pop()
                self.gone_over += len(parts)
                self.remember(tag, p, tuple(map(self.here, parts)))
        return self.here(at)

    def reals(self, places: range) -> tuple[float, ...] | None:
        """The values at these places, if all are reals, read at once; None if they are not."""
        tags = self.integers[places.start : places.stop : 2].tolist()
        return tuple(self.doubles[places.start + 1 : places.stop : 2].tolist()) if tags.count(REAL) == len(tags) else None

    def here(self, at: int) -> Any:
        """The value at an address whose object, if it has one, has been read."""
        tag, payload = self.integers[at], self.integers[at + 1]
        if tag >= BOXED:
            return self.read[payload]
        match tag:
            case layout.REAL:
                return float(self.doubles[at + 1])
            case layout.INT:
                return int(payload)
            case layout.BOOL:
                return bool(payload)
            case layout.UNIT:
                return None
            case layout.ZERO:
                return ZERO_VALUE
            case layout.PRIM:
                return self.code.rows[int(payload)]
            case _:
                return self.table[payload]

    def remember(self, tag: int, p: int, parts: tuple[Any, ...]) -> None:
        """The object at p as a value, from then on known by its address; and the value by its object."""
        value = built(self, tag, p, parts)
        self.read[p] = value
        self.note(value, int(tag), p)

    def note(self, value: Any, tag: int, p: int) -> None:
        """Where the object of a value is."""
        self.written[id(value)] = value, (tag, p)
        self.since.append((p, id(value)))
