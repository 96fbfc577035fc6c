"""
The structural primitives: tuples, switch, and the algebra of sensitivities. They read alike over every carrier of numbers,
so every column that runs programs takes its structural cells from here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.errors import IllTyped, Trap
from semantics.primitives.row import Hole, Primitive
from semantics.primitives.table import MACROS
from semantics.tangents import ZERO, Sparse, Zero, gadd, inject
from semantics.values import Closure, Unbound


def switch(condition: Any, consequent: Any, alternative: Any) -> Any:
    """The consequent if the condition is True, the alternative if it is False. Both are values already."""
    if condition is True:
        return consequent
    if condition is False:
        return alternative
    raise wrong("switch", "a boolean", condition, "write the comparison out: `if x != 0:`")


def make_tuple(*items: Any) -> tuple[Any, ...]:
    """The tuple of its arguments."""
    return items


def getitem(t: Any, i: Any) -> Any:
    """Element i of t, counted from the end if i is negative; the same of a sensitivity of t."""
    if t is ZERO:
        return ZERO
    if not isinstance(t, (tuple, Sparse)):
        raise wrong("getitem", "a tuple", t)
    if type(i) is not int:
        raise wrong("getitem", "an integer index", i)
    size = t.size if isinstance(t, Sparse) else len(t)
    if not -size <= i < size:
        raise Trap(f"index {i} is outside a tuple of {size}", rule="getitem", remedy=f"an index from {-size} to {size - 1}")
    return t[i]


def length(t: Any) -> int:
    """The number of elements of a tuple."""
    if not isinstance(t, tuple):
        raise wrong("length", "a tuple", t)
    return len(t)


def of_length(t: Any, n: int) -> Any:
    """t itself, if it has n elements: what unpacking into n names demands."""
    if not isinstance(t, tuple):
        raise wrong("unpacking", "a tuple", t)
    if len(t) != n:
        raise Trap(f"cannot unpack a tuple of {len(t)} into {n} names", rule="of_length")
    return t


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
        elif isinstance(primal, (tuple, Closure)):
            parts = primal if isinstance(primal, tuple) else primal.captured
            todo.append((None, None, len(parts)))
            todo.extend((getitem(sensitivity, i), parts[i], -1) for i in reversed(range(len(parts))))
        elif primal is None or isinstance(primal, (bool, int, str, Primitive, Unbound, Zero)):
            built.append(None)
        else:
            built.append(zero(primal) if sensitivity is ZERO else sensitivity)
    return built[0]


def identity_on_data(x: Any) -> Any:
    """J of a value that holds no function is the value; J of a function has been expanded before anything runs."""
    todo = [x]
    while todo:
        top = todo.pop()
        if isinstance(top, tuple):
            todo.extend(top)
        elif isinstance(top, (Closure, Primitive)):
            raise IllTyped(
                f"grad meets the function {top!r} that it could not identify before running",
                rule="J",
                remedy="name the function or pass it to a known one, so that J can be applied before running (2017, section 3)",
            )
    return x


def wrong(name: str, wanted: str, found: Any, remedy: str = "") -> IllTyped | Trap:
    """The error for an argument of the wrong kind; an unbound variable traps, as it does in Python."""
    if isinstance(found, Unbound):
        return Trap(
            f"the local variable {found.name} is used before it is assigned",
            rule=name,
            remedy=f"assign {found.name} on every path",
        )
    return IllTyped(f"{name} wants {wanted}, found {kind(found)} {found!r}", rule=name, remedy=remedy)


def kind(value: Any) -> str:
    """The kind of a value, as messages say it."""
    match value:
        case bool():
            return "the boolean"
        case int():
            return "the integer"
        case float():
            return "the real"
        case tuple():
            return "the tuple"
        case None:
            return "unit"
        case Closure() | Primitive():
            return "the function"
        case _:
            return "the value"


EXPANDED: dict[str, Hole] = {m.name: Hole("it is expanded by nested_grad before anything runs") for m in MACROS}

CELLS: dict[str, Callable[..., Any]] = {
    "switch": switch,
    "make_tuple": make_tuple,
    "getitem": getitem,
    "length": length,
    "of_length": of_length,
    "range_length": range_length,
    "gadd": gadd,
    "inject": inject,
    "J": identity_on_data,
}
