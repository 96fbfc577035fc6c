"""
Memory for programs, and boxes and stacks made of it (Zygote, section 3.2).

    memory, alloc, load, store, lea     the rows, as functions that CPython can call too
    box(m, v), get(m, b), put(m, b, v)  a mutable cell; each but `get` gives the next memory
    stack(m), push, pop, is_empty       a box that holds a list of cons cells, (top, rest) or None

and Zygote's pullbacks, for adjoint programs written by hand. The adjoint object of a box is a box in a memory of adjoints:

    y = GET(B)      SET(B̄, GET(B̄) + ȳ)                     get_pullback(m̄, b̄, ȳ)
    SET(B, x)       x̄ = GET(B̄); SET(B̄, 0); x̄               put_pullback(m̄, b̄)

They are written in the language. Programs that name them have their text parsed with their own.
"""

from __future__ import annotations

from typing import Any

from semantics.columns.meaning import MEANING
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE


class MemoryOperation:
    """A row of memory, which is what programs hold. Calling it is what it means on Python's numbers."""

    __slots__ = ("row",)

    def __init__(self, row: Primitive) -> None:
        self.row = row

    def __call__(self, *arguments: Any) -> Any:
        return MEANING[self.row](*arguments)


memory, alloc, load, store, lea = (MemoryOperation(TABLE[name]) for name in ("memory", "alloc", "load", "store", "lea"))


def box(m: Any, v: Any) -> Any:
    """The next memory, and a box that holds v."""
    return alloc(m, v)


def get(m: Any, b: Any) -> Any:
    """What the box holds."""
    return load(m, b)


def put(m: Any, b: Any, v: Any) -> Any:
    """The memory in which the box holds v."""
    return store(m, b, v)


def get_pullback(adjoints: Any, b: Any, d: Any) -> Any:
    """The adjoint of y = get(m, b), where y has the sensitivity d."""
    return store(adjoints, b, load(adjoints, b) + d)


def put_pullback(adjoints: Any, b: Any) -> Any:
    """The adjoint of put(m, b, v): the next memory of adjoints, and the sensitivity of v. On what it overwrote nothing depends."""
    d = load(adjoints, b)
    return store(adjoints, b, 0.0), d


def stack(m: Any) -> Any:
    """The next memory, and an empty stack."""
    return alloc(m, None)


def push(m: Any, s: Any, v: Any) -> Any:
    """The memory in which v is on top of the stack."""
    return store(m, s, (v, load(m, s)))


def pop(m: Any, s: Any) -> Any:
    """The memory in which the top is taken off, and the top. An empty stack traps."""
    top, rest = load(m, s)
    return store(m, s, rest), top


def is_empty(m: Any, s: Any) -> Any:
    """Whether nothing is on the stack."""
    return load(m, s) is None


OPERATIONS = ("memory", "alloc", "load", "store", "lea")
FUNCTIONS = ("box", "get", "put", "get_pullback", "put_pullback", "stack", "push", "pop", "is_empty")
