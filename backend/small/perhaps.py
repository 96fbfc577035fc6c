"""
A sensitivity that is a number or ZERO, as a condition says when the program runs: what `np.where` sends back to an argument.

    Perhaps(x, c)    x where c is True; ZERO elsewhere, and x is -0.0 there

So x + y is the sum for every number y, whatever c is: adding -0.0 changes no bit. Products and quotients choose -0.0 again, since
ZERO absorbs also what is not finite. Rows that are not among TAKEN do not get one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backend.small.terms import Record, Term, refused
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO

TAKEN = frozenset((
    "add", "sub", "mul", "div", "neg", "where", "gadd", "keep", "sum_to", "like", "spread", "instantiate", "inject", "returned",
    "gathered", "J", "switch", "getitem", "field", "make_tuple", "make_record", "as_array", "reshape", "transpose",
    "broadcast_to", "expand_dims", "squeeze", "stack", "concatenate", "flip", "roll", "diag", "reduce_sum", "dot", "matmul",
    "outer", "tensordot", "einsum", "unsum", "trace", "swap_last", "shape", "dtype", "ndim", "length", "of_length", "unlabelled",
    "places", "grouped", "cumsum", "tril",
    "triu",
))  # fmt: skip
"""Rows that treat it as they treat a number or ZERO, whichever it is."""


@dataclass(frozen=True, eq=False, slots=True)
class Perhaps:
    """A number where a condition holds, else ZERO."""

    value: Any
    there: Term

    def __add__(self, other: Any) -> Any:
        return added(self.there.record, self, other)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return kept(self.there.record, TABLE["neg"], (self,))


def chosen(record: Record, condition: Any, x: Any, y: Any) -> Any:
    """x where a condition holds, else y; each a number, or perhaps one."""
    if isinstance(condition, bool):
        return x if condition else y
    if x is y:
        return x
    if not any(z is ZERO or isinstance(z, Perhaps) for z in (x, y)):
        return record.apply(TABLE["where"], condition, x, y)
    (a, here), (b, there) = _parts(x), _parts(y)
    known = chosen(record, condition, here, there)
    if isinstance(known, bool):  # both are there, or neither
        return chosen(record, condition, a, b) if known else ZERO
    return Perhaps(chosen(record, condition, a, b) if a is not b else a, known)


def _parts(x: Any) -> tuple[Any, Any]:
    """The number, and whether it is there."""
    if isinstance(x, Perhaps):
        return x.value, x.there
    return (-0.0, False) if x is ZERO else (x, True)


def added(record: Record, x: Any, y: Any) -> Any:
    """The sum; of two that are perhaps ZERO it is there where one of them is."""
    if x is ZERO or y is ZERO:
        return y if x is ZERO else x
    (a, here), (b, there) = _parts(x), _parts(y)
    total = record.apply(TABLE["add"], a, b)
    either = isinstance(here, Term) and isinstance(there, Term)
    return Perhaps(total, record.apply(TABLE["or_"], here, there)) if either else total


def kept(record: Record, primitive: Any, arguments: Sequence[Any]) -> Any:
    """What a row makes of numbers, of which some are perhaps ZERO: of ZERO it makes ZERO."""
    parts = [_parts(a) for a in arguments]
    conditions = [there for _, there in parts if isinstance(there, Term)]
    known = conditions[0]
    for condition in conditions[1:]:
        known = known if condition is known else record.apply(TABLE["and_"], known, condition)
    found = record.apply(primitive, *(value for value, _ in parts))
    return Perhaps(record.apply(TABLE["where"], known, found, -0.0), known)


def perhaps(record: Record, primitive: Any, arguments: Sequence[Any]) -> Any:
    """A row of numbers at arguments of which one is perhaps ZERO."""
    match primitive.name, arguments:
        case "add", (x, y):
            return added(record, x, y)
        case "sub", (x, Perhaps(y, c)) if not isinstance(x, Perhaps):
            return -Perhaps(y, c) if x is ZERO else chosen(record, c, record.apply(primitive, x, y), x)
        case "mul", (x, y):
            return ZERO if x is ZERO or y is ZERO else kept(record, primitive, arguments)
        case "neg", _:
            return kept(record, primitive, arguments)
        case "div", (x, y) if not isinstance(y, Perhaps) and y is not ZERO:
            return kept(record, primitive, arguments)
        case "where", (c, x, y) if not isinstance(c, Perhaps):
            return chosen(record, c, x, y)
        case _:
            raise refused(f"{primitive.name} of what is perhaps ZERO")
