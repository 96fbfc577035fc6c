"""
A primitive of arrays that somebody wrote: its backpropagator for all sizes, from its definition.

The signature that it declares, "f64[m, n] f64[n] -> f64[m]", says for which arguments: letters are sizes that are symbols, `...` is
no axis, one, or two. The definition and the rule are programs of rows and are read as index forms, like those of the table. What
cannot be read is out of scope or unknown, with the reason; a wrong rule is refuted at small sizes by execution. A derivative may be
written in any way that is the same over the reals: 1 - tanh² as well as 1/cosh².
"""

from __future__ import annotations

from dataclasses import replace

from checkers.smt.inquiry import Judgment
from checkers.verdict import OutOfScope, Proved, Refuted
from proofs.arrays.adjoints import judge as judge_at
from proofs.arrays.instances import A, Example, Number
from proofs.arrays.replay import refutation
from semantics.array_signatures import COLUMN, ArraySignature, Spec, read
from semantics.ir import Program
from semantics.primitives.row import Primitive
from transforms.python_rows import is_opaque

LEADING = ((), ("a",), ("b", "a"))
"""The axes that `...` may stand for."""


def signature(primitive: Primitive) -> ArraySignature | None:
    """The signature that a primitive declares, if arrays are among its arguments."""
    text = primitive.columns.get(COLUMN)
    found = read(text) if isinstance(text, str) else None
    return found if found is not None and any(spec.kind == "array" for spec in found.arguments) else None


def examples(declared: ArraySignature) -> list[Example] | str:
    """The kinds of arguments that a signature admits, or why it has none here."""
    if len(declared.results) > 1:
        return "it has several results"
    if any(not spec.dtype.startswith("f") for spec in declared.arguments):
        return "an argument is not of reals"
    leading = LEADING if any(spec.leading for spec in declared.arguments) else LEADING[:1]
    return [tuple(argument(spec, axes) for spec in declared.arguments) for axes in leading]


def argument(spec: Spec, leading: tuple[str, ...]) -> A | Number:
    """One argument, with these axes in front if any may be there."""
    shape = (*(leading if spec.leading else ()), *spec.dims)
    return A(shape) if shape else Number()


def judge(primitive: Primitive) -> Judgment:
    """Whether the backpropagator of a primitive of arrays is the adjoint of the derivative of its definition."""
    name, declared = f"backpropagator of {primitive.name}, all shapes", signature(primitive)
    program, rule = (primitive.columns.get(column) for column in ("program", "backpropagator"))
    kinds = examples(declared) if declared is not None else "it declares no arrays"
    for what, column in (("it", program), ("its backpropagator", rule)):
        if not isinstance(column, Program) or is_opaque(column):
            kinds = f"{what} is not a program in the language that the proofs can read"
    if isinstance(kinds, str) or not isinstance(rule, Program):
        why = f"{primitive.name} is judged by execution alone (adjudge.check): {kinds}"
        return Judgment(name, "none", OutOfScope(why, name))
    found = judge_at(primitive, kinds, rule)
    if not isinstance(found.verdict, Proved):
        found = judge_at(primitive, kinds, rule, reals=True)
    if not isinstance(found.verdict, Proved) and (counterexample := refutation(primitive, kinds, rule)) is not None:
        return replace(found, name=name, method="executed", verdict=Refuted(counterexample, claim=name))
    return replace(found, name=name, verdict=replace(found.verdict, claim=name))
