"""
Balls by the program: the forward function as our language reads it, denoted in the column of balls over arrays.

The program is a row applied to its parameters, or what the parser made of the user's function. It is the strongest of the ways to
compute with balls: everything in it has a cell, so nothing is rounded anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import arb, ctx

from checkers.array_audit.case import Case
from checkers.array_audit.references.quotients import BallQuotients
from checkers.array_audit.references.structural import Attempts
from checkers.columns.ball import balls
from checkers.columns.ball_decisions import lift
from checkers.primitive_audit.programs import calling
from semantics.arrays import FLOATING, Array
from semantics.denotation import denote
from semantics.errors import IllTyped
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.structured import LIST, Record
from semantics.tangents import ZERO
from transforms.parse.numpy_names import of_numpy

FUEL = 100_000


def program_balls(program: Program | Primitive) -> BallQuotients:
    """Differences of a program, or of a row, in the column of balls."""
    called = calling(program) if isinstance(program, Primitive) else program
    attempts = Attempts()

    def evaluate(case: Case, coordinates: Sequence[arb]) -> list[arb] | None:
        vector = np.empty(len(coordinates), dtype=object)
        vector[:] = coordinates

        def compute() -> list[arb]:
            arguments = [to_balls(a, b) for a, b in zip(case.arguments, case.at(vector), strict=True)]
            value = denote(called, arguments, balls(ctx.prec), FUEL)
            return reals(value, case)

        found: list[arb] | None = attempts(case, compute)
        return found

    return BallQuotients(evaluate, "differences in ball arithmetic", attempts)


def to_balls(given: Any, moved: Any) -> Any:
    """An argument as the column reads it: `moved` has balls in its leaves, `given` the dtypes."""
    if isinstance(moved, np.ndarray) and moved.dtype == object:
        return Array("f32" if given.dtype == np.float32 else "f64", moved.shape, tuple(moved.ravel().tolist()))
    if isinstance(moved, (tuple, list)):
        parts = tuple(to_balls(a, b) for a, b in zip(given, moved, strict=True))
        return Record(LIST, parts) if isinstance(moved, list) else parts
    if isinstance(moved, (np.ndarray, np.generic)):
        return lift(of_numpy(moved))
    return moved if isinstance(moved, arb) else lift(moved)


def reals(value: Any, case: Case) -> list[arb]:
    """The reals of a value, in the order of the case's leaves. IllTyped if there are more or fewer."""
    found: list[arb] = []
    todo = [value]
    while todo:
        top = todo.pop()
        if isinstance(top, Array):
            found.extend(_ball(x) for x in top.items if top.dtype in FLOATING)
        elif isinstance(top, (tuple, Record)):
            todo.extend(reversed(top if isinstance(top, tuple) else top.items))
        elif isinstance(top, (arb, float)) or top is ZERO:
            found.append(_ball(top))
    if len(found) != case.outputs:
        raise IllTyped(f"the program's value has {len(found)} reals, the function's {case.outputs}", rule="references")
    return found


def _ball(x: Any) -> arb:
    return arb(0) if x is ZERO else x if isinstance(x, arb) else arb(x)
