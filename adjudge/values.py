"""The boundary: what a user may pass in, and how it looks to the machine; IllTyped with the argument's name for all else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semantics.arrays import FLOATING, Array
from semantics.columns.structure import parts_of
from semantics.errors import IllTyped, Trap
from semantics.machine import Machine
from semantics.structured import LIST, Label, Record
from semantics.tangents import ZERO, Sparse, SparseArray, dense
from semantics.text import cut
from semantics.type_language import type_of
from semantics.values import Closure, Unbound
from transforms.array_rows import NUMPY_DTYPE, to_numpy
from transforms.parse.classes import is_record_class, label_of, live_class
from transforms.parse.names import Refused
from transforms.parse.numpy_names import of_numpy


def is_function(value: Any) -> bool:
    """Whether an argument is a function: it is parsed and linked in, not passed."""
    return callable(value) and not isinstance(value, type) and not is_record_class(type(value))


def to_value(value: Any, name: str = "an argument", atom: Callable[[Any, str], Any] | None = None) -> Any:
    """
    A Python value as a value of the language: f64, i64, bool, unit, arrays; tuples, lists, dictionaries with strings as keys,
    NamedTuples and dataclasses of those; NumPy scalars too.

    An explicit stack, since values may nest deeper than Python's. `atom`, if given, says what the parts without parts become.
    """
    atom = _atom if atom is None else atom
    built: list[Any] = []
    todo: list[tuple[Any, int]] = [(value, -1)]
    while todo:
        top, gather = todo.pop()
        if gather >= 0:
            items = tuple(built[len(built) - gather :])
            del built[len(built) - gather :]
            built.append(items if top is None else Record(top, items))
        elif (found := _structure(top, name)) is not None:
            label, parts = found
            todo.append((label, len(parts)))
            todo.extend((item, -1) for item in reversed(parts))
        else:
            built.append(atom(top, name))
    return built[0]


def _structure(value: Any, name: str) -> tuple[Label | None, tuple[Any, ...]] | None:
    """The label and the parts of a structured value, no label for a tuple; None for other values."""
    if is_record_class(type(value)):
        found = live_class(type(value))  # type: ignore[arg-type]
        if isinstance(found, Refused):
            raise IllTyped(f"{name}: {found.what}", rule="enter", remedy=found.remedy)
        label = label_of(type(value))
        return label, tuple(getattr(value, field) for field in label.fields)
    if isinstance(value, Record):
        return value.label, value.items
    if isinstance(value, tuple):
        return None, value
    if isinstance(value, list):
        return LIST, tuple(value)
    if isinstance(value, dict):
        if not all(type(key) is str for key in value):
            raise IllTyped(f"{name} is a dictionary with a key that is no string", rule="enter", remedy='use strings: {"a": x}')
        return Label("dict", "", tuple(value)), tuple(value.values())
    return None


def as_held(value: Any, name: str) -> Any:
    """What `to_value` makes of a part; the elements of an array stay as NumPy holds them until somebody asks for one."""
    array = of_numpy(value, lazily=True) if type(value) is np.ndarray else None
    return _atom(value, name) if array is None else array


def _atom(value: Any, name: str) -> Any:
    match value:
        case Array():
            return value
        case bool() | None:
            return value
        case int() | float():
            return int(value) if isinstance(value, int) else float(value)
        case np.bool_():
            return bool(value)
        case np.integer():
            return int(value)
        case np.ndarray() if type(value) is not np.ndarray:
            remedy = "pass np.asarray(x), if a plain array means the same"
        case np.ndarray() | np.float32() if (array := of_numpy(value)) is not None:  # type: ignore[misc]
            return array
        case np.ndarray():
            remedy = _CONVERSIONS.get(value.dtype.kind, "make it an array of numbers")
            raise IllTyped(
                f"{name} is an array of {value.dtype}, which the language does not have",
                rule="enter",
                remedy=f"{remedy}; the dtypes are float64, float32, int64 and bool",
            )
        case complex():
            remedy = "pass its real and imaginary parts; the language has real numbers"
        case np.floating():
            remedy = "convert it: float(x); the reference computes in f64"
        case _ if is_function(value):
            raise IllTyped(
                f"{name} holds a function", rule="enter", remedy="give it as an argument of its own, or wrap it: lambda x: f(g, x)"
            )
        case _:
            remedy = "a float, an int, a bool, None, an array, or a tuple, list, dictionary, NamedTuple or dataclass of those"
    raise IllTyped(f"{name} is of type {type(value).__name__}, which the language does not have", rule="enter", remedy=remedy)


_CONVERSIONS = {
    "f": "convert it: x.astype(np.float64)",
    "i": "convert it: x.astype(np.int64)",
    "u": "convert it: x.astype(np.int64)",
    "c": "pass its real and imaginary parts",
    "O": "make it an array of numbers, with rows of one length",
}


def to_python(value: Any, machine: Machine | Callable[[], Machine] | None) -> Any:
    """
    A value of the language as a Python value; a closure becomes a function that runs it on the machine that it came from, if any.

    A record becomes an instance of its class; of a class of which only the text was read, it stays a `Record`. An explicit stack.
    """
    built: list[Any] = []
    todo: list[tuple[Any, int]] = [(value, -1)]
    while todo:
        top, gather = todo.pop()
        if gather >= 0:
            items = tuple(built[len(built) - gather :])
            del built[len(built) - gather :]
            built.append(_instance(top.label, items) if isinstance(top, Record) else items)
            continue
        top = dense(top) if isinstance(top, Sparse) else top
        if isinstance(top, (tuple, Record)):
            parts = parts_of(top)
            todo.append((top, len(parts)))
            todo.extend((part, -1) for part in reversed(parts))
        else:
            built.append(_leaf(top, machine))
    return built[0]


def _instance(label: Label, items: tuple[Any, ...]) -> Any:
    """The list, the dictionary, or the instance of a class."""
    match label.kind:
        case "list":
            return list(items)
        case "dict":
            return dict(zip(label.fields, items, strict=True))
        case _ if label.python is None:
            return Record(label, items)
        case _:
            return label.python(**dict(zip(label.fields, items, strict=True)))


def _leaf(value: Any, machine: Machine | Callable[[], Machine] | None) -> Any:
    match value:
        case Closure() if machine is not None:
            return _callable(value, machine if isinstance(machine, Machine) else machine())
        case Array() | SparseArray():
            return to_numpy(dense(value))
        case Unbound(name):
            raise Trap(
                f"the local variable {name} is returned before it is assigned", rule="leave", remedy=f"assign {name} on every path"
            )
        case _ if value is ZERO:
            return 0.0
        case _:
            return value


def _callable(closure: Closure, machine: Machine) -> Callable[..., Any]:
    def function(*arguments: Any) -> Any:
        return to_python(machine.call(closure, [to_value(a) for a in arguments]), machine)

    function.__name__ = closure.name or "closure"
    return function


def differentiable(value: Any, name: str) -> None:
    """IllTyped unless `value` holds reals to differentiate by."""
    value = to_value(value, name, as_held)
    if isinstance(value, Array) and value.dtype not in FLOATING:
        raise IllTyped(
            f"the derivative with respect to {name} was asked for, which is an array of {NUMPY_DTYPE[value.dtype].__name__}",
            rule="grad",
            remedy=f"pass {name}.astype(float), or differentiate by another argument (wrt=…)",
        )
    if isinstance(value, (bool, int)) or value is None:
        kind = {bool: "boolean", int: "integer"}.get(type(value), "unit")
        shown = f"{float(value)}" if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53 else "a float"
        raise IllTyped(
            f"the derivative with respect to {name} was asked for, which is the {kind} {value!r}",
            rule="grad",
            remedy=f"pass {shown}, or differentiate by another argument (wrt=…)",
        )


def demand(d: Any, out: Any, what: str, rule: str) -> None:
    """IllTyped unless `d` has the structure of a sensitivity, or a tangent, of `out`."""
    if not conforms(d, out):
        raise IllTyped(
            f"{what} of {cut(str(type_of(out)))} cannot be {cut(str(type_of(d)))}",
            rule=rule,
            remedy="the same structure, shapes and dtypes, with None for integers and booleans",
        )


def conforms(d: Any, out: Any) -> bool:
    """Whether `d` has the structure of a sensitivity of `out`."""
    todo = [(d, out)]
    while todo:
        given, wanted = todo.pop()
        match wanted:
            case tuple() | Record():
                if type(given) is not type(wanted) or getattr(given, "label", None) != getattr(wanted, "label", None):
                    return False
                parts, of = parts_of(given), parts_of(wanted)
                if len(parts) != len(of):
                    return False
                todo.extend(zip(parts, of, strict=True))
            case Array(dtype, shape):
                fits = isinstance(given, Array) and given.shape == shape and given.dtype == dtype
                if not (fits if dtype in FLOATING else given is None):
                    return False
            case float():
                if not isinstance(given, float):
                    return False
            case _ if given is not None:
                return False
    return True
