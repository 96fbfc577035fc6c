"""
The types of stacks: `stack k` is a stack that is not empty, whose cells are made at site k.

An empty stack is the empty tuple: `stack k | tuple[]` is a stack. The sensitivity of a stack is one too, on top of ZERO:
`stack k | zero`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semantics.ir import NodeId
from semantics.type_language import TupleType
from semantics.type_lattice import ZERO_TYPE, Union, join
from semantics.type_memo import Plain

EMPTY = TupleType(())


@dataclass(frozen=True, slots=True)
class StackType(Plain):
    """
    A stack that is not empty, of cells made at `site`, on top of the empty tuple or of ZERO; or, on top of NEVER, a cell of the
    family of a site.
    """

    site: NodeId
    bottom: Any = EMPTY

    def __str__(self) -> str:
        return f"stack {self.site}" + " on zero" * (self.bottom == ZERO_TYPE)


def stack_of(type: Any) -> StackType | None:
    """The type without the empty stack, of a type of stacks; None for another type."""
    match type:
        case StackType():
            return type
        case Union((StackType(_, bottom) as stack, found)) | Union((found, StackType(_, bottom) as stack)) if found == bottom:
            return stack
        case _:
            return None


def site_of(type: Any) -> NodeId | None:
    """The site of a type of stacks, empty ones or not; None for another type."""
    found = stack_of(type)
    return found.site if found is not None else None


def perhaps_empty(stack: StackType) -> Any:
    """The type of every stack of a site."""
    return join(stack.bottom, stack)


def every_stack(t: Any, site: NodeId) -> Any:
    """The type of every stack of a site for that of some of them; other types as they are."""
    return perhaps_empty(StackType(site)) if t in (EMPTY, StackType(site)) else t
