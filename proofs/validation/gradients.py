"""
The gradient that a user gets, J's and then optimized, against forward mode: for all inputs.

    numbers   J's program by the invariant of its reverse sweep, application by application (`proofs.invariant`); then the optimized
              program is the same function as J's, by sweep or path by path (`same`). Together: the optimized one is right.
    arrays    of known small shape, by entries: the value is one term over symbolic entries, its derivative by each is taken by the
              rules of differential algebra (`proofs.calculus`), and the optimized gradient has these terms as its leaves

Both hold where the gradient is defined, off the boundaries of piecewise primitives and of branches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import z3

from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.paths import explore
from checkers.smt.real import reading
from checkers.smt.sides import Inputs, Mismatch, gave_up, inputs_of, kinds_of, leaves
from checkers.smt.solver import UNSAT
from checkers.smt.terms import real
from checkers.verdict import OutOfScope, Proved, Unknown, Vacuous, Verdict
from proofs.calculus import NotDifferentiable, boundaries, derivative
from proofs.invariant import Gradient, gradient_is_right
from proofs.validation.arguments import of_leaves
from proofs.validation.same import same
from proofs.validation.straight import equal_terms
from proofs.validation.sweep import Sweep
from semantics.arrays import FLOATING
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.tangents import ZERO
from semantics.type_language import REAL, ArrayType
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand
from transforms.pipeline import optimize

CLAIM = "the optimized gradient is that of forward mode"
Transform = Callable[[Program], Program]


def optimized_gradient_is_right(
    program: Program,
    types: Sequence[Any] | None = None,
    *,
    gradient: Gradient = gradient_program,
    optimizer: Transform = optimize,
) -> Judgment:
    """
    Whether the gradient that `gradient` makes, as `optimizer` leaves it, is that of forward mode.

    types  of the arguments, if some are arrays
    """
    if types is not None:
        return by_entries(program, types, gradient=gradient, optimizer=optimizer)
    first = gradient_is_right(program, gradient)
    if not isinstance(first.verdict, Proved):
        return replace(first, name=CLAIM, verdict=replace(first.verdict, claim=CLAIM))
    wrt = tuple(i for i, kind in enumerate(kinds_of(program)) if kind == "real")
    adjoint = gradient(program, wrt)
    second = same(adjoint, optimizer(adjoint))
    verdict: Verdict = second.verdict
    if isinstance(verdict, Proved):
        verdict = Proved(f"{first.verdict.by}; optimized: {verdict.by}")
    return Judgment(
        CLAIM,
        f"{first.method}, {second.method}",
        replace(verdict, claim=CLAIM),
        first.seconds + second.seconds,
        first.answers + second.answers,
    )


def by_entries(
    program: Program, types: Sequence[Any], *, gradient: Gradient = gradient_program, optimizer: Transform = optimize
) -> Judgment:
    """A program of arrays of known shape whose value is one real: every entry of its gradient, on every path."""
    inquiry = Inquiry()
    try:
        verdict = _by_entries(program, tuple(types), gradient, optimizer, inquiry)
    except NotDifferentiable as error:
        verdict = OutOfScope(str(error))
    except AdjudgeError as error:
        verdict = gave_up(error)
    return inquiry.judged(CLAIM, "derivative of entries", replace(verdict, claim=CLAIM))


def _by_entries(program: Program, types: tuple[Any, ...], gradient: Gradient, optimizer: Transform, inquiry: Inquiry) -> Verdict:
    wrt = tuple(i for i, t in enumerate(types) if t in (None, REAL) or (isinstance(t, ArrayType) and t.dtype in FLOATING))
    value = of_leaves(expand(program), types)
    adjoint = optimizer(gradient(program, wrt, types))
    makers = {"integer": z3.Int, "boolean": z3.Bool}
    inputs = inputs_of(value, kinds_of(value), lambda kind, name: makers.get(kind, z3.Real)(name))
    sweep, count = Sweep(), 0
    for source in explore(value, inputs.values, reading):
        if source.trap is not None:
            continue
        if not z3.is_real(source.value):
            return OutOfScope("the value is not one real")
        for target in explore(adjoint, inputs.values, reading, source.all):
            if target.trap is not None:
                if inquiry.ask([*source.all, *target.all]).status != UNSAT:
                    return Unknown(f"the gradient may trap: {target.trap.what}")
                continue
            found, entries = _entries(target.value, inputs, wrt)
            off = [b for c in (source.value, *source.conditions) for b in boundaries(c)]
            for i, (term, entry) in enumerate(zip(found, entries, strict=True)):
                count += 1
                if not _shown(sweep, inquiry, term, derivative(source.value, entry), [*source.all, *target.all, *off]):
                    return Unknown(f"not shown: the sensitivity of {entry}, leaf {i} of the gradient")
    if not count:
        return Vacuous("no input has a value and a gradient of reals")
    return Proved(f"differential algebra of all entries, {count} equations")


def _entries(gradient: Any, inputs: Inputs, wrt: Sequence[int]) -> tuple[list[Any], list[z3.ArithRef]]:
    """The leaves of a gradient, and the variables that they are the sensitivities of."""
    terms: list[Any] = []
    variables: list[z3.ArithRef] = []
    wanted = tuple(inputs.values[i] for i in wrt)
    for leaf in leaves(gradient, wanted):
        if isinstance(leaf, Mismatch):
            raise NotDifferentiable(f"the gradient has another structure than its argument: {leaf.why}")
        terms.append(real(0) if leaf[0] is ZERO else leaf[0])
        variables.append(leaf[1])
    return terms, variables


def _shown(sweep: Sweep, inquiry: Inquiry, left: Any, right: Any, known: Sequence[Any]) -> bool:
    """Whether left = right; what is known is used only where algebra does not do."""
    return equal_terms(sweep, left, right) or inquiry.ask([*known, left != right]).status == UNSAT


__all__ = ["CLAIM", "by_entries", "optimized_gradient_is_right"]
