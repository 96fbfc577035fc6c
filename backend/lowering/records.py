"""
Records, lists, dictionaries and slices while code is generated: `Items` with a label, and no code.

Inference knows every label and every length, so what a record is has been settled before anything runs; what has no known length,
such as the part that an unknown slice selects, is refused. What traps on the reference, a field that is not there or a method of
another class, is a trap here, with a status in place of the text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from backend.lowering.conversion import select
from backend.lowering.shape import ZERO_VALUE, Cut, Emitter, Items, Nothing, Reg, literal, typed, unknown
from backend.status import CLASS, FIELD, INDEX, ZERO_STEP
from semantics.columns import record_types
from semantics.columns.record_types import known_slice
from semantics.primitives.table import TABLE
from semantics.structured import Label
from semantics.type_lattice import TEXT, Literal


def _name(value: Any) -> Any:
    """The text or the label that a value without code is."""
    return value.type.value


def _like(t: Items, items: tuple[Any, ...]) -> Items:
    """A list of these items if t is one, else a tuple."""
    return Items(items, t.label if t.label is not None and t.label.kind == "list" else None)


def make_record(emit: Emitter, label: Any, *items: Any) -> Any:
    """The items, and the label."""
    return Items(items, _name(label))


def _index(r: Items, name: Any) -> int | None:
    """The place of a field; None if it is not there."""
    assert r.label is not None, "inference lets no tuple come here"
    return r.label.index(_name(name))


def field_index(emit: Emitter, r: Any, name: Any) -> Any:
    """Known now; a trap if there is no such field."""
    place = _index(r, name)
    if place is None:
        emit.trap("True", FIELD)
        return None
    return literal(place)


def field(emit: Emitter, r: Any, name: Any) -> Any:
    """The item at its place."""
    place = field_index(emit, r, name)
    return None if place is None else r.items[place.value]


def has_field(emit: Emitter, r: Any, name: Any) -> Any:
    """Known now."""
    return literal(_index(r, name) is not None)


def with_field(emit: Emitter, r: Any, name: Any, value: Any) -> Any:
    """The items but for one; a dictionary may get a new key."""
    if _index(r, name) is None and r.label.kind == "dict":
        return Items((*r.items, value), Label("dict", "", (*r.label.fields, _name(name))))
    place = field_index(emit, r, name)
    return None if place is None else replace(r, items=_but(r.items, place.value, value))


def _but(items: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*items[:place], value, *items[place + 1 :])


def put(emit: Emitter, t: Any, i: Any, v: Any) -> Any:
    """The items but for one; of an index known only when it runs, a choice in every place, after a test of the bounds."""
    if isinstance(t, Nothing):
        return ZERO_VALUE
    size = len(t.items)
    if i.value is None:
        emit.trap(f"{i.text} < {-size} or {i.text} >= {size}", INDEX)
        tests = (f"({i.text} == {k} or {i.text} == {k - size})" for k in range(size))
        return replace(t, items=tuple(select(test, v, item) for test, item in zip(tests, t.items, strict=True)))
    if not -size <= i.value < size:
        emit.trap("True", INDEX)
        return None
    return replace(t, items=_but(t.items, i.value % size, v))


def cleared(emit: Emitter, d: Any, i: Any) -> Any:
    """A tuple with zero in one place."""
    if not isinstance(d, Items):
        return d
    if i.value is not None:
        return Items(_but(d.items, i.value, ZERO_VALUE))
    return Items(tuple(select(f"{i.text} == {k}", ZERO_VALUE, item) for k, item in enumerate(d.items)))


def keys_of(emit: Emitter, d: Any) -> Any:
    """The keys, which need no code."""
    return Items(tuple(Nothing(Literal(TEXT, key)) for key in d.label.fields))


def values_of(emit: Emitter, d: Any) -> Any:
    """The items without the label."""
    return Items(d.items)


def _is_dictionary(t: Any) -> bool:
    return isinstance(t, Items) and t.label is not None and t.label.kind == "dict"


def iterated(emit: Emitter, t: Any) -> Any:
    """The keys of a dictionary; anything else itself."""
    return keys_of(emit, t) if _is_dictionary(t) else t


def place_in(emit: Emitter, t: Any, i: Any) -> Any:
    """The place of a key of a dictionary, known now; any other index is its own."""
    return field_index(emit, t, i) if _is_dictionary(t) and not isinstance(i, Reg) else i


def of_class(emit: Emitter, x: Any, label: Any) -> Any:
    """x itself; of another class it traps."""
    if isinstance(x, Items) and x.label == _name(label):
        return x
    emit.trap("True", CLASS)
    return None


def is_instance(emit: Emitter, x: Any, kinds: Any) -> Any:
    """Known now, by the type."""
    return literal(record_types.is_instance(typed(x), typed(kinds)).value)


def unlabelled(emit: Emitter, d: Any) -> Any:
    """The items without their labels, and the items of those likewise."""
    if not isinstance(d, Items):
        return d
    return Items(tuple(emit.primitive(TABLE["unlabelled"], [item]) for item in d.items))


def make_slice(emit: Emitter, *parts: Any) -> Any:
    """The three parts; what those that are not known select from a sequence is refused."""
    step = parts[2]
    if isinstance(step, Reg):
        emit.trap(f"{step.text} == 0" if step.value is None else str(step.value == 0), ZERO_STEP)
    return Cut(parts)


def selected(i: Cut, size: int) -> range:
    """The places that a slice selects of so many items; Malformed if it is not known."""
    if (found := known_slice(typed(i))) is None:
        raise unknown(typed(i))
    return found.indices(size)


def part(t: Items, i: Cut) -> Items:
    """The items that a slice selects."""
    return _like(t, tuple(t.items[k] for k in selected(i, len(t.items))))


def concat(emit: Emitter, s: Any, t: Any) -> Any:
    """The items of both."""
    return _like(s, (*s.items, *t.items))


def append(emit: Emitter, s: Any, x: Any) -> Any:
    """The items and one more."""
    return _like(s, (*s.items, x))


CELLS: dict[str, Callable[..., Any]] = {
    "make_record": make_record,
    "field_index": field_index,
    "field": field,
    "has_field": has_field,
    "with_field": with_field,
    "put": put,
    "cleared": cleared,
    "keys_of": keys_of,
    "values_of": values_of,
    "iterated": iterated,
    "place_in": place_in,
    "of_class": of_class,
    "is_instance": is_instance,
    "unlabelled": unlabelled,
    "make_slice": make_slice,
    "concat": concat,
    "append": append,
}
