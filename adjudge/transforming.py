"""
`transform(f, "grad", "inline", …)`: named transforms in sequence, as one derivation whose states are programs.

    grad, value_and_grad, hessian     J and what calls it, one mirrored node at a time
    nested_grad                       macros inside the program, reverse over reverse
    shadow                            the gradient of a first-order program with memory, in a shadow memory
    inline, cse, dce, fold, …         one pass to its fixpoint
    optimize                          all passes, round by round, to their joint fixpoint
"""

from __future__ import annotations

from typing import Any

from adjudge.functions import Derivative, parse
from semantics.derivation import Derivation, Step
from semantics.errors import Malformed
from semantics.ir import Program
from transforms import nested_grad
from transforms.grad import SYSTEM as GRAD
from transforms.gradient_programs import Wrt, before_j
from transforms.pipeline import PASSES, derive_pipeline
from transforms.shadow_memory import SYSTEM as SHADOW
from transforms.shadow_memory import begin as begin_shadow

NAMES = ("grad", "nested_grad", "shadow", *PASSES)


def transform(f: Any, *names: str, wrt: Wrt = 0, fuel: int = 1_000_000) -> Derivation[Program]:
    """
    The derivation of `names` applied to f one after the other; `.result` is the program at the end.

    Malformed for a name that is none; OutOfFuel if a transform does not end within `fuel` steps.
    """
    program = parse(f)
    start, steps = program, []
    if isinstance(f, Derivative) and names[:1] != ("nested_grad",):
        names = ("nested_grad", *names)
    for name in names:
        derivation = derive_one(program, name, wrt, fuel)
        steps += derivation.steps
        program = derivation.result
    return Derivation(" ".join(names) or "nothing", start, tuple(steps), str)


def derive_one(program: Program, name: str, wrt: Wrt = 0, fuel: int = 1_000_000) -> Derivation[Program]:
    """The derivation of one transform."""
    if name == "grad":
        inner = nested_grad.expand(program)
        derivation = GRAD.derive(before_j(inner, wrt), fuel=fuel)
        opening = Step("macro_call", f"grad(@{program.graphs[program.entry].name}, {wrt!r})", program, derivation.start.program)
        mirrored = tuple(Step(s.rule, s.place, s.before.program, s.after.program) for s in derivation.steps)
        return Derivation(name, program, (opening, *mirrored), str)
    if name == "nested_grad":
        return nested_grad.SYSTEM.derive(program, fuel=fuel)
    if name == "shadow":
        mirrored_in = SHADOW.derive(begin_shadow(program, wrt), fuel=fuel)
        steps = [Step(s.rule, s.place, s.before.program, s.after.program) for s in mirrored_in.steps]
        last = Step("enter", "the new graph", steps[-1].after, SHADOW.result(mirrored_in.result))
        return Derivation(name, program, (*steps, last), str)
    if name in PASSES:
        return derive_pipeline(program, (name,), checked=False)
    raise Malformed(f"{name!r} is not a transform", remedy=f"one of {', '.join(NAMES)}")
