"""
The optimizer without rounding: what makes a program one of first order before it is differentiated.

A pass that keeps every bit of a value may still change a derivative over the reals: √2, folded, is a double, and the derivative of
what holds it is that of another function. So reals are left to be computed; integers, booleans and the rest are folded.
"""

from __future__ import annotations

from dataclasses import replace

from semantics.ir import Program
from semantics.primitives.row import Primitive
from transforms import fold
from transforms.failures import keeping
from transforms.pipeline import ORDER, Rounds
from transforms.system import rewrite


@rewrite
def fold_discrete(program: Program, place: int) -> Program | None:
    """p(c…)  ⟹  ⟦p⟧(c…), if it does not trap and is a scalar, but no real"""
    after = fold.fold_constants.function(program, place)
    primitive = program.callee(place) if after is not None else None
    if not isinstance(primitive, Primitive):
        return None
    _, value = fold.meaning(primitive, tuple(program.constant(n) for n in program.inputs(place)[1:]))
    return None if isinstance(value, float) else after


_FOLD = keeping(replace(fold.SYSTEM, rules=tuple(fold_discrete if r is fold.fold_constants else r for r in fold.RULES)))
EXACT = Rounds(
    "optimize_exactly",
    tuple(_FOLD if system.name == _FOLD.name else system for system in ORDER),
    "all passes that keep every bit, but for the folding of reals",
)
