"""
Which signatures of a graph are near enough to be one: those that differ only in what may be ZERO, in stacks, or in sizes.

With k values that may be ZERO there would be 2ᵏ signatures of a graph, and so there would be with k arrays that are known to be
of one size where a loop begins, and of another once they have grown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from backend.stacks.stack_types import EMPTY, StackType
from semantics.infer import Inference
from semantics.signatures import Signature, both, each
from semantics.type_language import ArrayType, TupleType
from semantics.type_lattice import NEVER, UNBOUND, ZERO_TYPE, Union, erase, is_below, join, members, over_parts
from semantics.type_memo import once

VARIANTS, MANY = 3, 100
"""Signatures of a graph that differ in ZERO, and of a program, beyond which they may be fewer."""
SIZES, ALL = 4, 16
"""Signatures of a graph that differ in sizes alone, and in sizes and known values."""


@dataclass(frozen=True)
class Near:
    """A signature, and what is compared of it, made where it first is, since types may be long."""

    signature: Signature

    @cached_property
    def unsized(self) -> Signature:
        """The signature with the sizes of arrays forgotten."""
        return each(unsized, self.signature)

    @cached_property
    def rough(self) -> Signature:
        """The signature with sizes and known values forgotten."""
        return each(_rough, self.signature)


def widest(found: Signature, others: Sequence[Near], crowded: bool) -> Signature:
    """The signature, or its join with those `others` of its graph that are like it, if there are too many of these."""
    alike = [other.signature for other in others if _alike(other.signature, found)]
    if alike and (len(alike) >= VARIANTS or crowded):
        found = _joined(found, alike)
    if len(others) < SIZES:
        return found
    own = Near(found)
    sized = [other.signature for other in others if _alike(other.unsized, own.unsized)]
    if len(sized) < SIZES and len(others) >= ALL:
        sized = [other.signature for other in others if _alike(other.rough, own.rough)]
        return _joined(found, sized) if len(sized) >= ALL else found
    return _joined(found, sized) if len(sized) >= SIZES else found


def _joined(found: Signature, others: Iterable[Signature]) -> Signature:
    for other in others:
        found = both(join, found, other)
    return found


def _alike(a: Signature, b: Signature) -> bool:
    """Whether two signatures differ only in what may be ZERO, unbound, an empty stack or another."""
    return all(map(_nearly, (*a.captured, *a.arguments), (*b.captured, *b.arguments)))


def _nearly(t: Any, u: Any) -> bool:
    if t == u or ZERO_TYPE in members(t) or ZERO_TYPE in members(u):
        return True
    return all(m in (EMPTY, UNBOUND) or isinstance(m, StackType) for m in {*members(t)} ^ {*members(u)})


def joined_by_graph(inference: Inference) -> dict[int, Signature]:
    """For every graph, its signatures as one."""
    found: dict[int, Signature] = {}
    for signature in inference.types:
        if signature.graph in found:
            signature = both(join, found[signature.graph], signature)
        found[signature.graph] = signature
    return found


def with_zero(wanted: Any, wide: Any, forgotten: Callable[[Any], Any]) -> Any:
    """
    The type `wide`, where that says of `wanted` only that it, or an element, may be ZERO, unbound or a stack, or what is
    `forgotten`; else `wanted`.
    """
    return wide if _near(forgotten(erase(wanted)), forgotten(erase(wide))) and is_below(wanted, wide) else wanted


def _near(t: Any, u: Any) -> bool:
    """Whether two types, or those of the parts of two tuples, differ only so."""
    match t, u:
        case TupleType(some), TupleType(others) if len(some) == len(others):
            return all(map(_near, some, others))
        case _:
            return _nearly(_with_holes(t), _with_holes(u))


@once
def _rough(t: Any) -> Any:
    """The type with sizes and known values forgotten."""
    return unsized(erase(t))


@once
def unsized(t: Any) -> Any:
    """The type with the sizes of arrays forgotten, but for ones, by which it is known what is repeated."""
    match t:
        case ArrayType(_, dims):
            return replace(t, dims=tuple(n if n == 1 else None for n in dims))
        case Union(of):
            return Union(tuple(map(unsized, of)))
        case _:
            return over_parts(t, unsized)


def _with_holes(t: Any) -> Any:
    """The type, where an array may have elements that are ZERO."""
    found: Any = NEVER
    for member in members(t):
        found = join(found, replace(member, holes=True) if isinstance(member, ArrayType) else member)
    return found
