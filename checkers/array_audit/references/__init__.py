"""
References by strength: what the derivatives of a function should be, known without looking at a backpropagator.

    exact rationals                                       the function on jets of rationals: nothing is estimated
    differences in ball arithmetic                        its program in the column of balls: rigorous but for the truncation
    differences in ball arithmetic on arrays of objects   the function itself on balls
    differences at sixty digits on arrays of objects      where balls decide no comparison
    the complex step                                      where the function is verified to be holomorphic
    Richardson differences in long double                 any function of doubles or singles, with its own bound

None imports a rule of differentiation. What one does not know of a case, the next is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkers.array_audit.bounds import Reference
from checkers.array_audit.references.by_objects import DigitQuotients, ExactJets, ball_objects
from checkers.array_audit.references.complex_step import ComplexStep
from checkers.array_audit.references.program_balls import program_balls
from checkers.array_audit.references.quotients import BallQuotients
from checkers.array_audit.references.richardson import Richardson
from semantics.errors import IllTyped
from semantics.ir import Program
from semantics.primitives.row import Primitive

__all__ = [
    "BallQuotients",
    "ComplexStep",
    "DigitQuotients",
    "ExactJets",
    "Richardson",
    "ball_objects",
    "program_balls",
    "references_for",
]

DOUBLE = 2.0**-53


def references_for(
    *,
    program: Program | None = None,
    row: Primitive | None = None,
    forward: Callable[..., Any] | None = None,
    unit: float = DOUBLE,
    objects: bool = True,
) -> tuple[Reference, ...]:
    """
    The references that a function offers, strongest first.

    program  the function as a program of ours       forward  the function on NumPy arrays, as the user wrote it
    row      a row that is the function              objects  whether forward may be run on arrays of other numbers than doubles

    `objects` is False of a function of another framework, which takes doubles only. IllTyped if nothing is given.
    """
    if program is None and row is None and forward is None:
        raise IllTyped("there is no function to refer to", rule="references", remedy="give a program, a row, or a forward function")
    found: list[Reference] = []
    own = forward is not None and objects
    if own:
        found.append(ExactJets(forward))  # type: ignore[arg-type]
    if program is not None or row is not None:
        found.append(program_balls(program if program is not None else row))  # type: ignore[arg-type]
    if own:
        found += [ball_objects(forward), DigitQuotients(forward)]  # type: ignore[arg-type]
    if forward is not None:
        richardson = Richardson(forward, unit)
        found += [ComplexStep(forward, richardson), richardson] if own else [richardson]
    return tuple(found)
