"""
Which derivative is compiled, where a program asks for one.

The backpropagators of a loop that J makes are closures over closures without end, which no first-order code has. The SSA adjoint
of the same function runs its blocks in reverse, with what the turns leave on stacks (Zygote, section 3.1), and is of first order
(`transforms.ssa_adjoint`). So a program with a recursion is expanded by the mode `ssa`; where that is or would be refused, without
its loops over tuples of known length (`transforms.known_lengths`); and by J if that is refused too. One without a recursion is
expanded by J.
All are sums of the same products; where a value is used several times in a turn, the order of a sum may differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from semantics.errors import AdjudgeError
from semantics.ir import GraphId, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.scope import scopes
from transforms.directed import closure, components
from transforms.nested_grad import ENDLESS as ENDLESS_DERIVATIVES
from transforms.nested_grad import expand, holds_macros

T = TypeVar("T")
ENDLESS, RECURSION, LONG = "lower/endless", "lower/recursion", "lower/long"
HOPELESS = (ENDLESS, RECURSION, LONG)
"""The rules of refusals that no other way of writing the same program avoids."""
SEQUENCE = "lower/sequence"
"""That of a sequence of unknown length, which may be found before a recursion is."""

GATHERING = TABLE["append"], TABLE["concat"]
DERIVED = (*MACROS, TABLE["J"])
"""What asks for a derivative: a macro, or J, which a Jacobian's stands for where its rows are arrays already."""
REVERSE = tuple(row for row in DERIVED if row.name != "jvp")


def first_that_fits(program: Program, mode: str, lower: Callable[[Program], T], types: Sequence[Any] | None = None) -> T:
    """
    What `lower` makes of the first expansion that it does not refuse; its first refusal, if it refuses every one. The types are
    those of the arguments, where they are not declared. Derivatives without end are refused as such, whatever came before.
    """
    refusal: AdjudgeError | None = None
    for way, expansion in _ways(program, mode, types):
        try:
            return lower(expand(way, expansion))
        except AdjudgeError as error:
            if error.rule == ENDLESS_DERIVATIVES:
                raise
            refusal = refusal or error
            if error.rule in HOPELESS:
                break
    assert refusal is not None, "there is at least one mode"
    raise refusal


def _ways(program: Program, mode: str, types: Sequence[Any] | None) -> Iterator[tuple[Program, str]]:
    """
    What is expanded, and how. Where a loop in a loop gathers what it makes in a sequence, the adjoint of the outer one is refused,
    since its stack would have sequences of every length; so loops of known length are unrolled at once, if the types are given.
    """
    if mode == "J" and holds_macros(program) and (loops := _loops(program)):
        derived = any(_applied(program, row) for row in DERIVED)
        early = derived and types is not None and _gathers(program, loops)
        unrolled = _unrolled(program, types) if early else None
        if unrolled is not None:
            yield unrolled, "ssa"
        yield program, "ssa"
        if derived and not early and (unrolled := _unrolled(program, types)) is not None:
            yield unrolled, "ssa"
    yield program, mode


def _unrolled(program: Program, types: Sequence[Any] | None) -> Program | None:
    """The program without loops of known length; None if it has none, or needs memory: types of lists in cells take minutes."""
    from backend.lowering.subset import (
        refuse_memory,  # with the columns of tier A, which no first call waits for, nor for the optimizer
    )
    from transforms.known_lengths import unrolled

    try:
        refuse_memory(program, types)
    except AdjudgeError:
        return None
    return without if (without := unrolled(program, types)) is not program else None


def _loops(program: Program) -> dict[GraphId, int]:
    """The graphs that lead back to themselves, with a number that those which lead to one another share."""
    references = scopes(program).references
    component = components({g: list(found) for g, found in references.items()})
    count = Counter(component.values())
    return {g: k for g, k in component.items() if count[k] > 1 or g in references[g]}


def _gathers(program: Program, loops: Mapping[GraphId, int]) -> bool:
    """Whether a loop that makes a sequence longer is led to by another, which is differentiated in reverse."""
    references = scopes(program).references
    callers: dict[GraphId, list[GraphId]] = {}
    for graph, found in references.items():
        for callee in found:
            callers.setdefault(callee, []).append(graph)
    longer = (node for row in GATHERING for node in _applied(program, row))
    inner = {loops[owner] for node in longer if (owner := program.owner(node)) in loops}  # type: ignore[index]
    above = closure(callers, (g for h, loop in loops.items() if loop in inner for g in callers[h] if loops.get(g) != loop))
    functions = (program.constant(program.inputs(node)[1]) for row in REVERSE for node in _applied(program, row))
    below = closure(references, (f.graph for f in functions if isinstance(f, GraphRef)))
    return any(g in above and g in below for g in loops)


def _applied(program: Program, row: Primitive) -> list[NodeId]:
    """The applications of a primitive."""
    return [u.user for u in program.users(program.interned[row]) if u.index == 0] if row in program.interned else []
