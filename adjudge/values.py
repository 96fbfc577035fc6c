"""The boundary: what a user may pass in, and how it looks to the machine; IllTyped with the argument's name for all else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semantics.errors import IllTyped, Trap
from semantics.machine import Machine
from semantics.tangents import ZERO, Sparse, dense
from semantics.values import Closure, Unbound


def is_function(value: Any) -> bool:
    """Whether an argument is a function: it is parsed and linked in, not passed."""
    return callable(value) and not isinstance(value, type)


def to_value(value: Any, name: str = "an argument") -> Any:
    """
    A Python value as a value of the language: f64, i64, bool, unit, and tuples of those; NumPy scalars of those types too.

    An explicit stack, since tuples may nest deeper than Python's.
    """
    built: list[Any] = []
    todo: list[tuple[Any, int]] = [(value, -1)]
    while todo:
        top, gather = todo.pop()
        if gather >= 0:
            items = tuple(built[len(built) - gather :])
            del built[len(built) - gather :]
            built.append(items)
        elif isinstance(top, tuple):
            todo.append((None, len(top)))
            todo.extend((item, -1) for item in reversed(top))
        else:
            built.append(_atom(top, name))
    return built[0]


def _atom(value: Any, name: str) -> Any:
    match value:
        case bool() | int() | float() | None:
            return float(value) if isinstance(value, np.float64) else value
        case np.bool_():
            return bool(value)
        case np.integer():
            return int(value)
        case np.ndarray() if value.ndim == 0:
            return _atom(value[()], name)
        case np.ndarray():
            remedy = "pass its elements, or a tuple of them; arrays are not in the language yet"
        case list():
            remedy = "pass a tuple"
        case complex():
            remedy = "pass its real and imaginary parts; the language has real numbers"
        case np.floating():
            remedy = "convert it: float(x); the reference computes in f64"
        case _:
            remedy = "a float, an int, a bool, None, or a tuple of those"
    raise IllTyped(f"{name} is of type {type(value).__name__}, which the language does not have", rule="enter", remedy=remedy)


def to_python(value: Any, machine: Machine) -> Any:
    """A value of the language as a Python value; a closure becomes a function that runs it on the machine it came from."""
    match value:
        case Closure():
            return _callable(value, machine)
        case Sparse():
            return to_python(dense(value), machine)
        case tuple() if any(isinstance(v, (tuple, Closure, Sparse, Unbound)) for v in value):
            return tuple(to_python(v, machine) for v in value)
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
    if isinstance(value, (bool, int)) or value is None:
        kind = {bool: "boolean", int: "integer"}.get(type(value), "unit")
        shown = f"{float(value)}" if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53 else "a float"
        raise IllTyped(
            f"the derivative with respect to {name} was asked for, which is the {kind} {value!r}",
            rule="grad",
            remedy=f"pass {shown}, or differentiate by another argument (wrt=…)",
        )


def conforms(d: Any, out: Any) -> bool:
    """Whether `d` has the structure of a sensitivity of `out`."""
    if isinstance(out, tuple):
        return isinstance(d, tuple) and len(d) == len(out) and all(conforms(a, b) for a, b in zip(d, out, strict=True))
    if isinstance(out, float):
        return isinstance(d, float)
    return d is None
