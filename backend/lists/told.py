"""The types of a program as they are told for code whose traps send the sample to the machine: what is certain to fail has none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from semantics.columns.types import apply_type
from semantics.errors import AdjudgeError, IllTyped, Trap
from semantics.infer import LITERAL_VARIANTS, ROUNDS, Inference, Inferrer
from semantics.ir import NodeId, Program
from semantics.primitives.row import Primitive
from semantics.signatures import Signature, endless
from semantics.type_lattice import NEVER, distribute
from transforms.known_lengths import typed


class Typing(Inferrer):
    """Inference where what is certain to fail has no value: a list is empty in some run, and no other run fails there."""

    most, each = 500, 12
    """Signatures, and more for each graph: lists in lists of every length up to some have many, and are inferred without."""

    def demand(self, signature: Signature) -> Any:
        most = self.most + self.each * len(self.program.graphs)
        if len(self.results) > most and signature not in self.results:
            raise endless(self.program, signature, f"more than {most} signatures of graphs")
        return super().demand(signature)

    def primitive(self, caller: Signature, node: NodeId, primitive: Primitive, arguments: Sequence[Any]) -> Any:
        with suppress(IllTyped):
            return super().primitive(caller, node, primitive, arguments)
        with suppress(IllTyped, Trap):
            return distribute(lambda *case: apply_type(primitive, case), arguments, (IllTyped, Trap))
        return NEVER

    def refuse_certain_traps(self, entry: Signature) -> None:
        """None is: whoever compiles the program finds them."""


def told_types(program: Program, types: Sequence[Any] | None) -> Inference | None:
    """The types of the program, a stub in the place of each derivative that is not expanded; None if they cannot be told."""
    for turns in ((LITERAL_VARIANTS, ROUNDS), (1, 1)):
        with suppress(AdjudgeError):
            return typed(program, types, Typing, turns)[1]
    return None
