"""
What structural primitives say of a value that they cannot take.
"""

from __future__ import annotations

from typing import Any

from semantics.arrays import Array
from semantics.errors import IllTyped, Trap
from semantics.memory import Memory, Pointer
from semantics.primitives.row import Primitive
from semantics.structured import Record
from semantics.text import cut
from semantics.values import Closure, Unbound

NO_AXES = "write `not b` for one boolean, -n - 1 for an integer; x[...] and ~x are of arrays"
JOINS = "[*xs, *ys] joins two lists, (*s, *t) two tuples; np.array(xs) makes an array of one, which is added to numbers"
NO_BITS = "compare first: n != 0; bits of an integer are n // 2**k % 2"


def wrong(name: str, wanted: str, found: Any, remedy: str = "") -> IllTyped | Trap:
    """The error for an argument of the wrong kind; an unbound variable traps, as it does in Python."""
    if isinstance(found, Unbound):
        return Trap(
            f"the local variable {found.name} is used before it is assigned",
            rule=name,
            remedy=f"assign {found.name} on every path",
        )
    return IllTyped(f"{name} wants {wanted}, found {kind(found)} {cut(repr(found))}", rule=name, remedy=remedy)


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
        case Array():
            return "the"  # its own text says that it is an array
        case Record(label):
            return f"the {label}"
        case Memory():
            return "the memory"
        case Pointer():
            return "the pointer"
        case None:
            return "unit"
        case Closure() | Primitive():
            return "the function"
        case _:
            return "the value"
