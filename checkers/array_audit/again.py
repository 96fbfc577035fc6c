"""
What the script of a finding computes again where one call of the rule does not show the failure: a derivative of the rule itself,
or the gradient of a program that calls it.

A script holds a forward function, a pullback, the arguments x and the cotangent dout of the finding, and calls one of these. They
read the two functions as the judge does, and answer one number for each coordinate of x; NaN where what is asked comes to no end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from checkers.array_audit.build import of_functions
from checkers.array_audit.case import Arguments, Case, Vector, flat, leaves
from checkers.array_audit.composition import gradients
from checkers.array_audit.machine_arrays import inside
from checkers.array_audit.orders import hessian
from checkers.array_audit.programs import Placed, placed, with_reals
from checkers.array_audit.templates import NESTED, TEMPLATES, template
from checkers.array_audit.trial import Trial
from semantics.errors import AdjudgeError

Function: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, slots=True, eq=False)
class Again:
    """Two functions at the arguments of a finding, with the weights over the outputs that its cotangent is."""

    trial: Trial
    case: Case
    weights: Vector

    def at(self, entered: bool) -> Placed:
        return placed(self.trial, self.case, entered)

    def gradient(self, at: Placed, text: str, *directions: Any) -> Vector:
        """The gradient by J of a program that calls the primitive."""
        program = template(at, text, "%c" if directions else "")
        try:
            return gradients(program, at, [with_reals(inside(self.case.value), self.weights), *directions])
        except (AdjudgeError, ArithmeticError):
            return np.full(self.case.size, np.nan)


def judged_at(
    forward: Function,
    pullback: Function,
    x: Arguments,
    dout: Any,
    *,
    fixed: Sequence[int] = (),
    spread: bool = True,
    framework: str = "",
) -> Again:
    """The two functions as the judge reads them; of a framework, as the black boxes that they are."""
    references = () if framework else None
    trial = of_functions(
        forward, pullback, [x], examples=1, fixed=tuple(fixed), spread=spread, references=references, framework=framework
    )
    case = Case(x, forward(*x), fixed=trial.fixed)
    return Again(trial, case, flat([leaf for _, leaf in leaves((dout,))]))


def second(forward: Function, pullback: Function, x: Arguments, dout: Any, v: Sequence[float], **how: Any) -> Vector:
    """The derivative along v of what the rule answers to dout: J goes through the rule itself, in balls where they decide."""
    again = judged_at(forward, pullback, x, dout, **how)
    found = hessian(again.at(entered=True), inside(again.case.value), again.weights, np.array(v, dtype=np.float64))
    return np.full(again.case.size, np.nan) if isinstance(found, str) else found.along.middle


def composed(forward: Function, pullback: Function, x: Arguments, dout: Any, name: str, **how: Any) -> Vector:
    """The gradient of a program of `composition` that calls the primitive, weighed by dout, on the machine."""
    again = judged_at(forward, pullback, x, dout, **how)
    return again.gradient(again.at(entered=False), TEMPLATES[name].text)


def nested(forward: Function, pullback: Function, x: Arguments, dout: Any, c: Sequence[float], **how: Any) -> Vector:
    """The gradient of c · the gradient by the first argument that varies, which the program itself takes."""
    again = judged_at(forward, pullback, x, dout, **how)
    at = again.at(entered=True)
    position = at.varying[0]
    direction = with_reals(at.arguments[position], np.array(c, dtype=np.float64))
    return again.gradient(at, NESTED.replace("{position}", str(position)), direction)
