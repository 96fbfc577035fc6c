"""
A function of the suite: what is compiled, how it is called, and how JSON comes in and goes out.

Reading and writing are no part of what is timed. What an input lacks, or has of another kind, is Malformed with the name of the
field.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import adjudge as aj
from semantics.errors import Malformed

Input = Mapping[str, Any]


def once(compiled: Callable[..., Any], *arguments: Any) -> Any:
    """The program, called."""
    return compiled(*arguments)


def plain(value: Any) -> Any:
    """A result of a program as JSON has it: arrays and tuples are lists."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(v) for v in value] if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class Function:
    """
    program   what is compiled: a function of the language, or a derivative of one
    read      the arguments, from the input of a message
    call      how the compiled program is called with them
    write     the output of the reply, from what the call gives
    compile   what makes a callable of the program: by default it takes what the program takes, with `aj.vmap` columns of it
    """

    program: Any
    read: Callable[[Input], tuple[Any, ...]]
    call: Callable[..., Any] = once
    write: Callable[..., Any] = plain
    compile: Callable[..., Callable[..., Any]] = aj.compile


def field(given: Input, name: str) -> Any:
    """What the input has under a name."""
    if not isinstance(given, Mapping) or name not in given:
        raise Malformed(f"the input has no field {name!r}", remedy="see the protocol of the module")
    return given[name]


def real(given: Input, name: str) -> float:
    """A field that is a number."""
    found = field(given, name)
    if type(found) not in (int, float) or not math.isfinite(found):
        raise Malformed(f"the field {name!r} is not a number")
    return float(found)


MOST = 10**8
"""The largest size that is read: what is of such a size fills the memory of a machine."""


def whole(given: Input, name: str, least: int = 0) -> int:
    """A field that is an integer from `least` to MOST."""
    found = field(given, name)
    if type(found) is not int or not least <= found <= MOST:
        raise Malformed(f"the field {name!r} is not an integer from {least} to {MOST}")
    return found


def array(given: Input, name: str, *shape: int | None, dtype: str = "float64") -> Any:
    """A field that is an array: of these sizes, None being any. An empty list is an array of any number of axes."""
    found = field(given, name)
    try:
        made = np.array(found, dtype if _entries(found) <= _KINDS[dtype] else None)
    except OverflowError:
        raise Malformed(f"the field {name!r} has an integer that is too large for {dtype}") from None
    except ValueError:
        raise Malformed(f"the field {name!r} is not an array of numbers: its rows differ in length") from None
    empty = [n or 0 for n in shape]
    if made.size == 0 == math.prod(empty) and made.ndim < len(shape):
        made = made.reshape(empty)
    fits = made.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, made.shape, strict=True))
    if made.dtype != dtype or not fits:
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise Malformed(f"the field {name!r} is not an array of numbers of shape ({wanted})")
    return made


_KINDS: dict[str, set[type]] = {"float64": {float, int}, "int64": {int}}


def _entries(value: Any) -> set[type]:
    """The types of what is in nested lists."""
    kinds: set[type] = set()
    left = [value]
    while left:
        found = left.pop()
        if isinstance(found, list):
            left.extend(found)
        else:
            kinds.add(type(found))
    return kinds
