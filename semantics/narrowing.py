"""
Inference in which a branch knows what its test has found: occurrence typing (Tobin-Hochstadt and Felleisen, 2008).

    switch(is_instance(x, K), @f, @g)      in @f, x is what of its type is K; in @g, what is not
    switch(not_(c), @f, @g)                as switch(c, @g, @f)
    switch(a and b, @f, @g)                in @f, both; of `a or b`, in @g, neither

So `1.0 if z is None else z * x` is well typed where z may be None. The front end makes `a and b` a call of switch(a, @b, @a), of
which @a gives back what was tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from semantics.columns.types import apply_type
from semantics.infer import Inference, Inferrer, entry_types
from semantics.ir import GraphRef, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.signatures import Signature
from semantics.type_language import BOOLEAN, FunctionType
from semantics.type_lattice import NEVER, Literal, join, members, of_constant

SWITCH, IS_INSTANCE, NOT, TO_BOOLEAN = (TABLE[name] for name in ("switch", "is_instance", "not_", "to_boolean"))
Fact = tuple[NodeId, Any, bool]
"""A node, the type of what it was asked for, and whether it is that."""


def infer(program: Program, argument_types: Sequence[Any] | None = None) -> Inference:
    """The types of a program, as `semantics.infer.infer` has them, but for what tests say in their branches."""
    return Narrowing(program, literals=True).run(entry_types(program, argument_types))


class Narrowing(Inferrer):
    """The inference, which hands to a branch of a test what it captures as it is there."""

    def application(self, caller: Signature, node: NodeId, inputs: Sequence[Any]) -> Any:
        if self.program.callee(node) is SWITCH and len(inputs) == 4:
            _, condition, *_ = self.program.inputs(node)
            function, tested, *arms = inputs
            known = (facts(self.program, condition, holds) for holds in (True, False))
            inputs = [function, tested, *map(self.narrowed, arms, known)]
        return super().application(caller, node, inputs)

    def narrowed(self, arm: Any, known: Iterator[Fact]) -> Any:
        """A branch, with the types of what it captures under what is known there."""
        if not isinstance(arm, FunctionType) or not isinstance(arm.function, int):
            return arm
        captured, free = list(arm.captured), list(self.free[arm.function])
        for node, kind, is_one in known:
            if node in free:
                at = free.index(node)
                captured[at] = _restricted(captured[at], kind, is_one)
        return replace(arm, captured=tuple(captured))


def facts(program: Program, condition: NodeId, holds: bool) -> Iterator[Fact]:
    """What is known of nodes where a condition holds, or does not."""
    match program.callee(condition), program.inputs(condition):
        case row, (_, inner) if row is TO_BOOLEAN:
            yield from facts(program, inner, holds)
        case row, (_, inner) if row is NOT:
            yield from facts(program, inner, not holds)
        case row, (_, node, kind) if row is IS_INSTANCE and program.constant(kind) is not None:
            yield node, of_constant(program.constant(kind)), holds
        case _, (chosen,) if program.callee(chosen) is SWITCH and len(program.inputs(chosen)) == 4:
            yield from _of_both(program, chosen, holds)


def _of_both(program: Program, chosen: NodeId, holds: bool) -> Iterator[Fact]:
    """What is known where `a and b` holds, or `a or b` does not."""
    _, first, *arms = program.inputs(chosen)
    outputs = [program.graphs[ref.graph].output if isinstance(ref := program.constant(arm), GraphRef) else None for arm in arms]
    second, other = outputs if holds else outputs[::-1]
    if second is not None and other is not None and other in _same(program, first):
        yield from facts(program, first, holds)
        yield from facts(program, second, holds)


def _same(program: Program, node: NodeId) -> Iterator[NodeId]:
    """The nodes that are true when this one is: it may be asked whether it is, of which Python gives back what was asked."""
    yield node
    if program.callee(node) is TO_BOOLEAN:
        yield program.inputs(node)[1]


def _restricted(type: Any, kind: Any, is_one: bool) -> Any:
    """What of a type is of a kind, or is not; the type where that is nothing, as then the branch is not taken."""
    found: Any = NEVER
    for member in members(type):
        if apply_type(IS_INSTANCE, (member, kind)) in (BOOLEAN, Literal(BOOLEAN, is_one)):
            found = join(found, member)
    return type if found == NEVER else found
