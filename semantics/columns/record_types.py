"""
The types of records, lists, dictionaries and slices: the part of the column "type" that speaks of labels.

A label and the name of a field are always known, so a field has the type of its item. What traps whatever the values are has the
type `never`. Of a sequence of unknown length every item has the one type. Each function takes the place of the tuple's rule where a
record, a sequence or a slice is among the arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.columns.kinds import NO_AXES
from semantics.errors import IllTyped
from semantics.structured import Label, Slice
from semantics.type_language import BOOLEAN, INTEGER, UNIT, ArrayType, FunctionType, RecordType, SequenceType, TupleType
from semantics.type_lattice import ELLIPSIS_TYPE, LABEL, NEVER, TEXT, UNBOUND, ZERO_TYPE, Literal, SliceType, Union, erase, join


def wrong(name: str, wanted: str, found: Any, remedy: str = "") -> IllTyped:
    """The error for an argument of the wrong type."""
    return IllTyped(f"{name} wants {wanted}, found {erase(found)}", rule=name, remedy=remedy)


def items_of(t: Any) -> tuple[Any, ...] | None:
    """The types of the items of a tuple or a record; None for other types."""
    return t.items if isinstance(t, (TupleType, RecordType)) else None


def any_item(t: Any) -> Any:
    """The type of an item of a tuple, a record or a sequence, of which nobody knows where; None for other types."""
    if isinstance(t, SequenceType):
        return t.item
    if (items := items_of(t)) is None:
        return None
    result: Any = NEVER
    for item in items:
        result = join(result, item)
    return result


def _label(t: Any) -> Label:
    if not isinstance(t, Literal) or t.type != LABEL:
        raise wrong("make_record", "a label", t)
    return t.value  # type: ignore[no-any-return]


def _place(r: Any, name: Any) -> int | None:
    """The place of a field in a record; None if it has no such field."""
    if not isinstance(name, Literal) or name.type != TEXT:
        raise wrong("field", "the name of a field", name)
    if not isinstance(r, RecordType):
        raise wrong(f"attribute {name.value}", "a record", r)
    return r.label.index(name.value)


def make_record(label: Any, *items: Any) -> Any:
    """The record of the label, with these items."""
    return RecordType(_label(label), items)


def field(r: Any, name: Any) -> Any:
    """The type of the item; no value comes of a field that is not there."""
    place = _place(r, name)
    return NEVER if place is None else r.items[place]


def field_index(r: Any, name: Any) -> Any:
    """The place is known."""
    place = _place(r, name)
    return NEVER if place is None else Literal(INTEGER, place)


def with_field(r: Any, name: Any, value: Any) -> Any:
    """The record with another type in one place; a dictionary may get a new key."""
    place = _place(r, name)
    if place is not None:
        return RecordType(r.label, (*r.items[:place], value, *r.items[place + 1 :]))
    if r.label.kind != "dict":
        return NEVER
    return RecordType(Label("dict", "", (*r.label.fields, name.value)), (*r.items, value))


def has_field(r: Any, name: Any) -> Any:
    """Whether the record has it is known."""
    return Literal(BOOLEAN, _place(r, name) is not None)


def cleared(d: Any, i: Any) -> Any:
    """Zero in one place; where that is not known, zero may be in any."""
    if isinstance(d, SequenceType):
        return SequenceType(None, join(d.item, ZERO_TYPE))
    items = items_of(d)
    if d == ZERO_TYPE or items is None:
        return d
    if isinstance(i, Literal):
        return TupleType((*items[: i.value], ZERO_TYPE, *items[i.value + 1 :]))
    return TupleType(tuple(join(item, ZERO_TYPE) for item in items))


def _dictionary(name: str, d: Any) -> RecordType:
    if not isinstance(d, RecordType) or d.label.kind != "dict":
        raise wrong(name, "a dictionary", d)
    return d


def keys_of(d: Any) -> Any:
    """The keys are known."""
    return TupleType(tuple(Literal(TEXT, key) for key in _dictionary("keys", d).label.fields))


def values_of(d: Any) -> Any:
    """The values, in the order of the keys."""
    return TupleType(_dictionary("values", d).items)


def iterated(t: Any) -> Any:
    """The keys of a dictionary; anything else itself."""
    return keys_of(t) if isinstance(t, RecordType) and t.label.kind == "dict" else t


def place_in(t: Any, i: Any) -> Any:
    """The place of a key of a dictionary is known; any other index is its own."""
    if not isinstance(i, Literal) or i.type != TEXT or not isinstance(t, RecordType) or t.label.kind != "dict":
        return i
    place = t.label.index(i.value)
    return NEVER if place is None else Literal(INTEGER, place)


def of_class(x: Any, label: Any) -> Any:
    """x itself if it is of the class; no other value comes through."""
    return x if isinstance(x, RecordType) and x.label == _label(label) else NEVER


def make_slice(*parts: Any) -> Any:
    """A slice of integers and None; with step 0, none."""
    for part in parts:
        if erase(part) not in (INTEGER, UNIT):
            raise wrong("slice", "integers", part)
    return NEVER if parts[2] == Literal(INTEGER, 0) else SliceType(parts)


def known_slice(t: SliceType) -> Slice | None:
    """The slice itself, if every part of it is known."""
    if not all(isinstance(p, Literal) or p == UNIT for p in t.items):
        return None
    return Slice(*(p.value if isinstance(p, Literal) else None for p in t.items))


def getitem(t: Any, i: Any) -> Any:
    """An element of a tuple, a list or a NamedTuple, or the part that a slice selects; of a slice not known, of no known length."""
    if isinstance(t, SequenceType):
        return _of_sequence(t, i)
    items = items_of(t)
    if items is None:
        raise wrong("getitem", "a tuple, a list or an array", t, NO_AXES if i == ELLIPSIS_TYPE else "")
    if isinstance(t, RecordType) and t.label.kind == "dict":
        if not isinstance(i, Literal) or i.type != TEXT:
            raise wrong("getitem", "a key of a dictionary", i)
        place = place_in(t, i)
        return NEVER if place == NEVER else items[place.value]
    if isinstance(t, RecordType) and t.label.kind == "dataclass":
        raise wrong("getitem", "a tuple, a list or an array", t, "take a field by its name")
    if isinstance(i, SliceType):
        is_list = isinstance(t, RecordType) and t.label.kind == "list"
        if (found := known_slice(i)) is None:
            return SequenceType(t.label if is_list else None, any_item(t))
        part = tuple(items[k] for k in found.indices(len(items)))
        return RecordType(t.label, part) if is_list else TupleType(part)
    if erase(i) != INTEGER:
        raise wrong("getitem", "an integer index", i)
    if isinstance(i, Literal):
        return items[i.value] if -len(items) <= i.value < len(items) else NEVER
    return any_item(t)


def _of_sequence(t: SequenceType, i: Any) -> Any:
    """An item, or a part that is as unknown as the whole."""
    if isinstance(i, SliceType):
        return t
    if erase(i) != INTEGER:
        raise wrong("getitem", "an integer index", i)
    return t.item


def length(t: RecordType | SequenceType) -> Any:
    """The number of items; a dataclass has none."""
    if isinstance(t, SequenceType):
        return INTEGER
    if t.label.kind == "dataclass":
        raise wrong("length", "a tuple, a list or an array", t)
    return Literal(INTEGER, len(t.items))


def of_length(t: RecordType | SequenceType, n: Any) -> Any:
    """The record itself, if it has that many items; a sequence then has as many as are known."""
    if isinstance(t, SequenceType):
        return like(t, (t.item,) * n.value) if isinstance(n, Literal) else t
    size = length(t).value
    return NEVER if isinstance(n, Literal) and n.value != size else t


def sequence(name: str, t: Any) -> tuple[Any, ...]:
    """The items of a tuple, a list or a NamedTuple."""
    found = items_of(t)
    if found is None or (isinstance(t, RecordType) and t.label.kind in ("dict", "dataclass")):
        raise wrong(name, "a tuple or a list", t)
    return found


def like(t: Any, items: tuple[Any, ...]) -> Any:
    """A list of these items if t is one, else a tuple."""
    label = list_label(t)
    return TupleType(items) if label is None else RecordType(label, items)


def list_label(t: Any) -> Label | None:
    """The label of a list; None for what is none."""
    return t.label if isinstance(t, SequenceType) or (isinstance(t, RecordType) and t.label.kind == "list") else None


def concat(s: Any, t: Any) -> Any:
    """The items of both; of unknown length if one is."""
    if isinstance(s, SequenceType) or isinstance(t, SequenceType):
        for part in (s, t):
            if not isinstance(part, SequenceType):
                sequence("concat", part)
        return SequenceType(list_label(s), join(any_item(s), any_item(t)))
    return like(s, (*sequence("concat", s), *sequence("concat", t)))


def append(s: Any, x: Any) -> Any:
    """The items, and one more."""
    if isinstance(s, SequenceType):
        return SequenceType(s.label, join(s.item, x))
    return like(s, (*sequence("append", s), x))


def put(t: Any, i: Any, v: Any) -> Any:
    """The tuple or list with another element in one place."""
    if erase(i) != INTEGER:
        raise wrong("put", "an integer index", i)
    if isinstance(t, SequenceType):
        return SequenceType(t.label, join(t.item, v))
    items = sequence("put", t)
    again = t.label if isinstance(t, RecordType) else None
    if isinstance(i, Literal):
        if not -len(items) <= i.value < len(items):
            return NEVER
        place = i.value % len(items)
        changed = (*items[:place], v, *items[place + 1 :])
    else:
        changed = tuple(join(item, v) for item in items)
    return TupleType(changed) if again is None else RecordType(again, changed)


def inject(t: Any, i: Any, d: Any) -> Any:
    """A tuple of zeros but for the place, or for the places of a slice."""
    items = items_of(t)
    if items is None and not isinstance(t, SequenceType):
        raise wrong("inject", "a tuple", t)
    i = place_in(t, i)
    if i == NEVER:
        return NEVER
    if isinstance(i, SliceType) and (given := any_item(d)) is None:
        raise wrong("inject", "the sensitivities of a part", d)
    if not isinstance(i, SliceType) and erase(i) != INTEGER:
        raise wrong("inject", "an integer index", i)
    if items is None:
        return SequenceType(None, join(given if isinstance(i, SliceType) else d, ZERO_TYPE))
    size = len(items)
    if isinstance(i, SliceType):
        parts = items_of(d)
        if (found := known_slice(i)) is None or parts is None:
            return TupleType((join(given, ZERO_TYPE),) * size)
        at = dict(zip(found.indices(size), parts, strict=False))
        return TupleType(tuple(at.get(k, ZERO_TYPE) for k in range(size)))
    if isinstance(i, Literal) and size:
        return TupleType(tuple(d if k == i.value % size else ZERO_TYPE for k in range(size)))
    return TupleType((join(d, ZERO_TYPE),) * size)


def unlabelled(t: Any) -> Any:
    """The type with every record in it made a tuple."""
    match t:
        case TupleType(items) | RecordType(_, items):
            return TupleType(tuple(unlabelled(i) for i in items))
        case SequenceType(_, item):
            return SequenceType(None, unlabelled(item))
        case Union(of):
            result: Any = NEVER
            for member in of:
                result = join(result, unlabelled(member))
            return result
        case _:
            return t


PYTHON_NAMES = {"f64": ("float",), "i64": ("int",), "bool": ("bool", "int"), "unit": ("NoneType",)}


def is_instance(x: Any, kinds: Any) -> Any:
    """Decided by the type: Python's names of it are known, and so is the label of a record."""
    if isinstance(kinds, TupleType):
        decided = [is_instance(x, each) for each in kinds.items]
        return Literal(BOOLEAN, any(t.value for t in decided)) if BOOLEAN not in decided else BOOLEAN
    if x == UNBOUND or not isinstance(kinds, Literal):
        return BOOLEAN
    if isinstance(kinds.value, Label):
        return Literal(BOOLEAN, isinstance(x, RecordType) and x.label == kinds.value)
    names: tuple[str, ...]
    match x:
        case RecordType(label):
            names = {"list": ("list",), "dict": ("dict",), "namedtuple": ("tuple",)}.get(label.kind, ())
        case TupleType():
            names = ("tuple",)
        case SequenceType(label):
            names = ("tuple",) if label is None else ("list",)
        case FunctionType():
            names = ()
        case ArrayType(dims=(_, *_)):
            names = ("ndarray",)
        case _:
            names = PYTHON_NAMES.get(str(erase(x)), ()) if x != ZERO_TYPE else ("float",)
    return Literal(BOOLEAN, not set(names).isdisjoint(kinds.value.split("|")))


CELLS: dict[str, Callable[..., Any]] = {
    "make_record": make_record,
    "field": field,
    "field_index": field_index,
    "has_field": has_field,
    "with_field": with_field,
    "cleared": cleared,
    "keys_of": keys_of,
    "values_of": values_of,
    "iterated": iterated,
    "place_in": place_in,
    "of_class": of_class,
    "make_slice": make_slice,
    "unlabelled": unlabelled,
    "is_instance": is_instance,
}
