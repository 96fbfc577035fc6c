"""
Gradients of what is no real. `seed` refuses them, but an optimizer leaves it out where nothing is left that needs it:

    grad(f)(x), f(x) = 3        the derivative is 0 whatever the result is; in the reference it is an error

So types are asked where no seed is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from backend.lists.told import told_types
from semantics.columns.types import apply_type
from semantics.ir import GraphRef, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN, INTEGER
from semantics.type_lattice import erase, members

SEED = TABLE["seed"]
GRADIENTS = tuple(TABLE[name] for name in ("grad", "value_and_grad"))
WHOLE = {int: INTEGER, bool: BOOLEAN}


def has_seeds(program: Program) -> bool:
    """Whether a result is demanded to be a real."""
    return SEED in program.interned and any(use.index == 0 for use in program.users(program.interned[SEED]))


def refuse_whole_numbers(program: Program, types: Sequence[Any] | None) -> None:
    """IllTyped if a function whose gradient the program asks for gives integers or booleans alone."""
    outputs = [*_differentiated(program)]
    inference = told_types(program, types) if outputs else None
    for output in outputs:
        found = {WHOLE[kind]} if (kind := type(program.constant(output))) in WHOLE else set()
        for nodes in inference.types.values() if inference is not None else ():
            found |= {erase(type) for type in members(nodes[output])} if output in nodes else set()
        if found and found <= {*WHOLE.values()}:
            apply_type(SEED, [found.pop()])


def _differentiated(program: Program) -> Iterator[NodeId]:
    """The results of functions whose gradients are asked for."""
    for row in GRADIENTS:
        for use in program.users(program.interned[row]) if row in program.interned else ():
            function = program.constant(program.inputs(use.user)[1]) if use.index == 0 else None
            if isinstance(function, GraphRef):
                yield program.graphs[function.graph].output
