"""
Typed after every step: the types of a program are inferred before and after, and its result keeps its type.

A rewrite may make a type more precise. One that makes a typed program ill typed, or gives its result another type, is wrong, and
the step is named. Where inference gives up on the program itself nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checkers.optimizer_audit.reduction import text_of
from checkers.verdict import Counterexample, Passed, Refuted, Vacuous, Verdict
from semantics.derivation import Step
from semantics.errors import AdjudgeError, IllTyped, OutOfFuel
from semantics.infer import infer
from semantics.ir import Parameter, Program
from semantics.type_language import REAL, FunctionType, Scalar
from semantics.type_lattice import NEVER, ZERO_TYPE, erase, is_below, join, members, over_parts
from semantics.wellformed import problems

CLAIM = "typed after every step"
MOST_NODES = 30_000  # of all programs whose types are inferred
FUNCTION = Scalar("function")


def result_type(program: Program) -> Any:
    """The type of the value; parameters that declare none are reals, and functions are all alike: a pass may rename them."""
    parameters = [program.nodes[n] for n in program.graphs[program.entry].parameters]
    return _without_names(erase(infer(program, [p.type or REAL for p in parameters if isinstance(p, Parameter)]).result))


def _without_names(type: Any) -> Any:
    return FUNCTION if isinstance(type, FunctionType) else over_parts(type, _without_names)


def typed(runs: Sequence[Sequence[Step[Program]]]) -> Verdict:
    """Every step of every run, as far as MOST_NODES go; of the rest the last step only."""
    judged, budget = 0, MOST_NODES
    for steps in runs:
        if not steps or next(iter(problems(steps[-1].after)), None) is not None:
            continue
        budget -= sum(len(step.after.nodes) for step in steps)
        try:
            wanted = result_type(steps[0].before)
        except AdjudgeError:
            continue
        for number, step in list(enumerate(steps, 1)) if budget > 0 else [(len(steps), steps[-1])]:
            why = differs(step.after, wanted)
            if why is not None:
                return _refuted(step, number, why, wanted)
            judged += 1
    why = "the types of no program could be inferred" if runs else "no program is changed"
    return Passed(judged, "steps", CLAIM) if judged else Vacuous(why, CLAIM)


def differs(after: Program, wanted: Any) -> str | None:
    """What is wrong with the type of the program after a step, or None."""
    try:
        found = result_type(after)
    except OutOfFuel:
        return None
    except IllTyped as error:
        return f"ill typed: {error.what}"
    except AdjudgeError:
        return None
    if is_below(found, wanted) or NEVER in (found, wanted) or _may_meet(found, wanted):
        return None
    return f"of type {found}"


def _may_meet(found: Any, wanted: Any) -> bool:
    """Whether some value may have both types: inference may lose precision, and a ZERO is as good as a number."""
    kinds = {m for t in (found, wanted) for m in members(t)}
    return ZERO_TYPE in kinds or any(is_below(m, wanted) for m in members(found)) or join(found, wanted) == found


def _refuted(step: Step[Program], number: int, why: str, wanted: Any) -> Refuted:
    note = f"step {number}, rule {step.rule} at {step.place}\nbefore:\n{text_of(step.before)}\nafter:\n{text_of(step.after)}"
    shown = Counterexample({"program": text_of(step.before)}, why, f"of type {wanted}", f"rule {step.rule}", note=note)
    return Refuted(shown, "fault", CLAIM)
