"""
Rows that are known by an equation, not by a formula: their backpropagators for all sizes (`implicit`, `recurrences`).

The value is a symbol of which nothing is known but its equation. The equation is differentiated, and a chain of equations between
bilinear forms leads from <w, D f v> to what the rule answers; index forms and z3 prove each for all sizes. That the value moves
continuously, so that its equation may be differentiated, belongs to the axiom `slope`: for inv, B' - B = -B' (A' - A) B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from checkers.smt.inquiry import Judgment
from checkers.verdict import Proved, Refuted
from proofs.arrays.adjoints import asked, contradicted, shown
from proofs.arrays.bilinear import Question
from proofs.arrays.implicit import of_cholesky, of_inv, of_solve
from proofs.arrays.instances import A, Example
from proofs.arrays.kinds import SHAPES, axes
from proofs.arrays.recurrences import of_cumprod, of_recurrence, of_reduce_prod
from proofs.arrays.replay import refutation
from proofs.obligation import Obligation
from semantics.arrays import Array
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from transforms.backpropagators import backpropagator

SQUARE, BATCH = ("n", "n"), ("b", "n", "n")
KINDS: dict[str, list[tuple[Example, Callable[[Program], Iterator[Question]]]]] = {
    "inv": [((A(s),), partial(of_inv, s)) for s in (SQUARE, BATCH)],
    "solve": [
        ((A(a), A(b)), partial(of_solve, a, b, x))
        for a, b, x in (
            (SQUARE, ("n",), ("n",)),
            (SQUARE, ("n", "m"), ("n", "m")),
            (BATCH, ("b", "n", "m"), ("b", "n", "m")),
            (SQUARE, ("b", "n", "m"), ("b", "n", "m")),
            (BATCH, ("n", "m"), ("b", "n", "m")),
            (BATCH, ("n",), ("b", "n")),
        )
    ],
    "cholesky": [((A(s),), partial(of_cholesky, s)) for s in (SQUARE, BATCH)],
    "recurrence": [
        ((A(s), A(s), axis, back), partial(of_recurrence, s, axis, back))
        for s in SHAPES
        for axis in range(len(s))
        for back in (False, True)
    ],
    "cumprod": [((A(s), axis), partial(of_cumprod, s, axis)) for s in SHAPES for axis in (*range(len(s)), -1, None)],
    "reduce_prod": [
        *(
            (((A(s), axis, keep), partial(of_reduce_prod, s, axis, keep)))
            for s in SHAPES[:2]
            for axis in axes(len(s))
            for keep in (False, True)
        ),
        *((((A(SHAPES[2]), axis, False), partial(of_reduce_prod, SHAPES[2], axis, False))) for axis in (0, 1, -1, (0, 2))),
    ],
}
DEFINED: dict[str, list[Example]] = {"cholesky": [(Array("f64", (2, 2), (4.0, 1.0, 1.0, 3.0)),)]}
"""Arguments to execute a wrong rule at, for a row that has no value at most."""


def judge(row: Primitive, rule: Program | None = None) -> Judgment:
    """The adjoint identity of a rule, the shipped one if none is given, at every kind of arguments and for all sizes."""
    name, shipped = f"{row.name} by its equation: adjoint, all shapes", rule or backpropagator(row)
    found = contradicted(name, {shown(example): asked(questions(shipped)) for example, questions in KINDS[row.name]})
    if isinstance(found.verdict, Proved):
        return found
    counterexample = refutation(row, [*DEFINED.get(row.name, ()), *(example for example, _ in KINDS[row.name])], shipped)
    return found if counterexample is None else replace(found, method="executed", verdict=Refuted(counterexample, claim=name))


OBLIGATIONS: tuple[Obligation, ...] = tuple(
    Obligation(f"{name} by its equation: adjoint, all shapes", name, partial(judge, TABLE[name]), ("slope",)) for name in KINDS
)
