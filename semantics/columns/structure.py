"""
The structural primitives: tuples, switch, and the algebra of sensitivities. They read alike over every carrier of numbers,
so every column that runs programs takes its structural cells from here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from immutables import Map

from semantics.arrays import FLOATING, Array
from semantics.columns.kinds import kind, wrong
from semantics.columns.sequences import (
    append,
    concat,
    getitem,
    iterated,
    keys_of,
    length,
    make_slice,
    of_length,
    place_in,
    range_length,
    values_of,
)
from semantics.errors import IllTyped, Trap
from semantics.memory import Cells, Memory, Pointer, ordered
from semantics.primitives.row import Hole, Primitive
from semantics.primitives.table import MACROS
from semantics.structured import Ellipsis_, Label, Record, Slice
from semantics.tangents import ZERO, Sparse, SparseArray, Zero, dense, gadd, inject
from semantics.values import Closure, Unbound

__all__ = ["CELLS", "EXPANDED", "getitem", "instantiate", "wrong"]


def switch(condition: Any, consequent: Any, alternative: Any) -> Any:
    """The consequent if the condition is True, the alternative if it is False. Both are values already."""
    if condition is True:
        return consequent
    if condition is False:
        return alternative
    several = isinstance(condition, Array)
    raise wrong("switch", "a boolean", condition, "np.all(x) or np.any(x)" if several else "write the comparison out: `if x != 0:`")


def make_tuple(*items: Any) -> tuple[Any, ...]:
    """The tuple of its arguments."""
    return items


def make_record(label: Any, *items: Any) -> Record:
    """The record of a class, the list, or the dictionary that the label says."""
    if not isinstance(label, Label):
        raise wrong("make_record", "a label", label)
    return Record(label, items)


def field_index(r: Any, name: Any) -> int:
    """The place of a field, or of a key."""
    if not isinstance(r, Record):
        raise wrong(f"attribute {name}", "a record", r)
    found = r.label.index(name)
    if found is None:
        known = ", ".join(r.label.fields)
        what = f"the key {name!r}" if r.label.kind == "dict" else f"the field {name}"
        raise Trap(f"{r.label} has not {what}", rule="field", remedy=f"one of {known}" if known else "it has none")
    return found


def field(r: Any, name: Any) -> Any:
    """r.name, or r["name"] of a dictionary; of a complete sensitivity of it likewise."""
    place = field_index(r, name)
    return r.items[place]


def with_field(r: Any, name: Any, value: Any) -> Record:
    """The record with another value in one field; a dictionary may get a new key."""
    if isinstance(r, Record) and r.label.kind == "dict" and r.label.index(name) is None:
        return Record(Label("dict", "", (*r.label.fields, name)), (*r.items, value))
    k = field_index(r, name)
    return Record(r.label, (*r.items[:k], value, *r.items[k + 1 :]))


def has_field(r: Any, name: Any) -> bool:
    """Whether the record has the field, or the dictionary the key."""
    if not isinstance(r, Record):
        raise wrong("has_field", "a record", r)
    return r.label.index(name) is not None


def cleared(d: Any, i: int) -> Any:
    """The sensitivity of a tuple without what it says of element i: ZERO there. Its own adjoint."""
    if d is ZERO:
        return ZERO
    if isinstance(d, Sparse):
        return Sparse(d.size, d.entries.delete(i)) if i in d.entries else d
    items = d.items if isinstance(d, Record) else d
    return (*items[:i], ZERO, *items[i + 1 :])


def of_class(x: Any, label: Any) -> Any:
    """x itself, if it is of the class: what calling one of its methods demands."""
    if isinstance(x, Unbound):
        raise wrong("method", "a record", x)
    if not isinstance(x, Record) or x.label != label:
        raise Trap(f"{kind(x)} {x!r} is no {label}", rule="of_class", remedy=f"pass a {label}")
    return x


def unlabelled(d: Any) -> Any:
    """The sensitivity with every record in it made a tuple: labels come back at the boundary. An explicit stack."""
    built: list[Any] = []
    todo: list[tuple[Any, int]] = [(d, -1)]
    while todo:
        top, gather = todo.pop()
        if gather >= 0:
            items = tuple(built[len(built) - gather :])
            del built[len(built) - gather :]
            built.append(items)
        elif isinstance(top, (tuple, Record)):
            parts = parts_of(top)
            todo.append((None, len(parts)))
            todo.extend((part, -1) for part in reversed(parts))
        else:
            built.append(top)
    return built[0]


def is_instance(x: Any, kinds: str | Label | tuple[str | Label, ...]) -> bool:
    """
    Whether x is of a class, or of one of the kinds, Python's names of them joined by `|`; or any of several of these.

    A boolean is an integer, as in Python.
    """
    if isinstance(x, Unbound):
        raise wrong("isinstance", "a value", x)
    if isinstance(kinds, tuple):
        return any(is_instance(x, each) for each in kinds)
    if isinstance(kinds, Label):
        return isinstance(x, Record) and x.label == kinds
    return not kinds_of(x).isdisjoint(kinds.split("|"))


def kinds_of(x: Any) -> frozenset[str]:
    """Python's names of what a value is. What is nothing else is a number of the column that runs: a float."""
    match x:
        case bool():
            return frozenset(("bool", "int"))
        case int():
            return frozenset(("int",))
        case None:
            return frozenset(("NoneType",))
        case tuple():
            return frozenset(("tuple",))
        case Record(label):
            return frozenset({"list": ("list",), "dict": ("dict",), "namedtuple": ("tuple",)}.get(label.kind, ()))
        case Array(shape=(_, *_)):
            return frozenset(("ndarray",))
        case Array() | Closure() | Primitive() | Slice() | Ellipsis_() | str():
            return frozenset()
        case _:
            return frozenset(("float",))


def fail(message: Any) -> Any:
    """Traps with the message: what `raise` and a failed `assert` mean."""
    raise Trap(str(message), rule="fail")


def instantiate(d: Any, x: Any, zero: Callable[[Any], Any] = lambda x: 0.0) -> Any:
    """
    The sensitivity d of x as a plain value of x's structure: ZERO becomes zeros, Sparse a tuple, integers and booleans unit.

    `zero` makes the zero of a number. An explicit stack, since tuples nest as deep as programs like.
    """
    built: list[Any] = []
    todo: list[tuple[Any, Any, int]] = [(d, x, -1)]
    while todo:
        sensitivity, primal, gather = todo.pop()
        if gather >= 0:
            items = tuple(built[len(built) - gather :])
            del built[len(built) - gather :]
            built.append(items)
            if isinstance(primal, Record):
                built.append(Record(primal.label, built.pop()))
            elif isinstance(primal, (Memory, Cells)):
                built.append(Cells(Map(zip((address for address, _ in ordered(primal)), built.pop(), strict=True))))
        elif isinstance(primal, (Memory, Cells)):
            parts = parts_of(primal)
            entries = sensitivity.entries if isinstance(sensitivity, Cells) else Map()
            todo.append((None, primal, len(parts)))
            todo.extend((entries.get(a, ZERO), content, -1) for a, content in reversed(list(ordered(primal))))
        elif isinstance(primal, (tuple, Closure, Record, Sparse)):
            parts = parts_of(primal)
            given = sensitivity.items if isinstance(sensitivity, Record) else sensitivity
            todo.append((None, primal, len(parts)))
            todo.extend((getitem(given, i), parts[i], -1) for i in reversed(range(len(parts))))
        elif isinstance(primal, (Array, SparseArray)):
            built.append(_instantiate_array(sensitivity, primal, zero))
        elif primal is None or isinstance(primal, (bool, int, str, Primitive, Unbound, Zero, Slice, Ellipsis_, Label, Pointer)):
            built.append(None)
        elif isinstance(sensitivity, (Array, SparseArray)):
            raise wrong("instantiate", "the sensitivity of a scalar, which was broadcast and not added up", sensitivity)
        else:
            built.append(zero(primal) if sensitivity is ZERO else sensitivity)
    return built[0]


def parts_of(value: tuple[Any, ...] | Closure | Record | Sparse | Memory | Cells) -> tuple[Any, ...]:
    """The parts of a structured value, in order; a sensitivity is one when a derivative is differentiated."""
    if isinstance(value, Sparse):
        return tuple(dense(value))
    if isinstance(value, Closure):
        return value.captured
    if isinstance(value, (Memory, Cells)):
        return tuple(content for _, content in ordered(value))
    return value.items if isinstance(value, Record) else value


STRUCTURED = (Zero, Array, SparseArray, Sparse, tuple, Record, Closure)
"""Sensitivities that are no numbers."""


def _instantiate_array(d: Any, x: Array | SparseArray, zero: Callable[[Any], Any]) -> Array | None:
    """
    The sensitivity of an array, every ZERO in it made a zero of the column; unit for integers and booleans. Of an array without
    axes it may be a number: the seed is, where the array is the result.
    """
    if x.dtype not in FLOATING:
        return None
    whole = dense(d) if x.shape or isinstance(d, STRUCTURED) else Array(x.dtype, (), (d,))
    if whole is not ZERO and (not isinstance(whole, Array) or whole.shape != x.shape):
        raise wrong("instantiate", f"the sensitivity of an array of shape {x.shape}", whole)
    given = whole.items if isinstance(whole, Array) else (ZERO,) * len(dense(x).items)
    primals = dense(x).items
    return Array(x.dtype, x.shape, tuple(zero(p) if g is ZERO else g for g, p in zip(given, primals, strict=True)))


def identity_on_data(x: Any) -> Any:
    """J of a value that holds no function is the value; J of a function has been expanded before anything runs."""
    todo = [x]
    while todo:
        top = todo.pop()
        if isinstance(top, (tuple, Record, Memory)):
            todo.extend(parts_of(top))
        elif isinstance(top, (Closure, Primitive)):
            raise IllTyped(
                f"grad meets the function {top!r} that it could not identify before running",
                rule="J",
                remedy="name the function or pass it to a known one, so that J can be applied before running (2017, section 3)",
            )
    return x


EXPANDED: dict[str, Hole] = {m.name: Hole("it is expanded by nested_grad before anything runs") for m in MACROS}

CELLS: dict[str, Callable[..., Any]] = {
    "switch": switch,
    "make_tuple": make_tuple,
    "getitem": getitem,
    "length": length,
    "of_length": of_length,
    "concat": concat,
    "append": append,
    "is_instance": is_instance,
    "fail": fail,
    "range_length": range_length,
    "make_slice": make_slice,
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
    "unlabelled": unlabelled,
    "gadd": gadd,
    "inject": inject,
    "J": identity_on_data,
}
