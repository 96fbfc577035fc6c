"""
Which derivative is compiled, where a program asks for one.

The backpropagators of a loop that J makes are closures over closures without end, which no first-order code has. The SSA adjoint
of the same function runs its blocks in reverse, with what the turns leave on stacks (Zygote, section 3.1), and is of first order
(`transforms.ssa_adjoint`). So a program with a recursion is expanded by the mode `ssa`; where that is refused, without its loops
over tuples of known length (`transforms.known_lengths`); and by J if that is refused too. One without a recursion is expanded by J.
All are sums of the same products; where a value is used several times in a turn, the order of a sum may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from backend.flow import components
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.primitives.table import MACROS
from semantics.scope import scopes
from transforms.nested_grad import expand, holds_macros

T = TypeVar("T")
ENDLESS, RECURSION = "lower/endless", "lower/recursion"
HOPELESS = (ENDLESS, RECURSION)
"""The rules of refusals that no other way of writing the same program avoids."""


def first_that_fits(program: Program, mode: str, lower: Callable[[Program], T], types: Sequence[Any] | None = None) -> T:
    """
    What `lower` makes of the first expansion that it does not refuse; its first refusal, if it refuses every one. The types are
    those of the arguments, where they are not declared.
    """
    refusal: AdjudgeError | None = None
    for way, expansion in _ways(program, mode, types):
        try:
            return lower(expand(way, expansion))
        except AdjudgeError as error:
            refusal = refusal or error
            if error.rule in HOPELESS:
                break
    assert refusal is not None, "there is at least one mode"
    raise refusal


def _ways(program: Program, mode: str, types: Sequence[Any] | None) -> Iterator[tuple[Program, str]]:
    """What is expanded, and how."""
    if mode == "J" and holds_macros(program) and _is_recursive(program):
        yield program, "ssa"
        if any(program.users(program.interned[m]) for m in MACROS if m in program.interned):
            from transforms.known_lengths import unrolled  # with the optimizer, which no first call waits for

            if (without := unrolled(program, types)) is not program:
                yield without, "ssa"
    yield program, mode


def _is_recursive(program: Program) -> bool:
    """Whether a graph leads back to itself."""
    references = scopes(program).references
    component = components({g: list(found) for g, found in references.items()})
    return len(set(component.values())) < len(component) or any(g in found for g, found in references.items())
