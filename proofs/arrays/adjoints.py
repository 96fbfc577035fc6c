"""
The backpropagators of rows on arrays, for all shapes: <w, D f v> = <rule(w), v> for all w and v.

    D f     the row read as an index form and differentiated (`proofs.arrays.kernel`)
    rule    the backpropagator that is shipped, read on the same symbols

Sizes are symbols, ranks and attributes are those of `proofs.arrays.kinds`. At each argument the two kernels must be one. An
elementwise row is differentiated by its rule on numbers, which is judged over the reals by itself: what is proved here is that
the rule on arrays is that rule at every element, adjoint to broadcasting. Where a row or its rule compares reals, the claim is made
away from ties, and for every outcome of the comparisons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import z3

from checkers.smt import index_form as forms
from checkers.smt.index_factors import Form, NotReachedError
from checkers.smt.index_places import Dim, Index
from checkers.smt.index_reading import implied_needs
from checkers.smt.index_values import Indexed, Need, array, as_array, number
from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.solver import UNSAT
from checkers.verdict import Proved, Unknown, Vacuous, Verdict
from proofs.arrays.course import Course, positive
from proofs.arrays.instances import A, Example, parameters, symbolic
from proofs.arrays.kernel import (
    SLOPES,
    Comparison,
    Slope,
    derivative,
    kernel,
    possible,
    ranges,
    settled,
)
from proofs.arrays.reading import column, read
from proofs.arrays.scalars import without_equal
from proofs.arrays.truths import MOST_TRUTHS, decided, outcomes, truths
from proofs.obligation import applied
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.tangents import ZERO
from semantics.text import read as read_text
from transforms.backpropagators import backpropagator
from transforms.backpropagators.einsums import einsum_pullback
from transforms.elementwise_pullback import broadcast_pullback, if_converted

APART = {"norm": frozenset({"sqrt"}), **dict.fromkeys(("hypot", "atan2", "asinh"), frozenset({"hypot"}))}
"""Rows whose claim is made where these functions are not 0: where they have a derivative; hypot(1, x) is at least 1."""

USES: dict[str, tuple[str, ...]] = {
    "logsumexp": ("slope", "exp_sum", "exp_slope", "log_inverse", "inverse"),
    "norm": ("slope", "roots"),
    "slogdet": ("slope", "log_inverse", "exp_sum", "exp_slope", "inverse"),
    "cholesky": ("slope", "roots"),
}
"""The axioms of functions that rows on arrays are made of; an elementwise row rests on what its rule on numbers rests on."""


def rule_of(row: Primitive, arity: int) -> Program:
    """The backpropagator that J links in where there are arrays."""
    if row.name == "einsum":
        return read_text(einsum_pullback(arity))
    return broadcast_pullback(row.name) if row.name in ELEMENTWISE else backpropagator(row)


def slopes_of(name: str, noted: set[Need] | None = None) -> Slope:
    """The derivatives of an elementwise row: what its rule on numbers makes of a sensitivity of 1. What it needs is noted."""

    def slopes(*arguments: Form) -> tuple[Form, ...]:
        course = Course(apart=APART.get(name, frozenset()))
        out = column(course)[name](*arguments)
        found = read(if_converted(backpropagator(TABLE[name])), [*arguments, out, forms.constant(1)], course)
        if noted is not None:
            noted.update(course.needs)
        return tuple(forms.constant(0) if d is ZERO else d for d in found)

    return slopes


def questions(row: Primitive, example: Example, rule: Program, reals: bool = False) -> Iterator[list[Any]]:
    """
    What must be contradictory for the rule to be the adjoint at one kind of arguments. NotReachedError where none is known.

    With `reals`, what the kernels are made of is compared as reals first (`scalars`).
    """
    arguments = [symbolic(a, f"x{k}") for k, a in enumerate(example)]
    courses = [Course(apart=APART.get(row.name, frozenset())) for _ in range(2)]
    out = value_of(row, arguments, courses[0])
    w = cotangent_of(out)
    back = read(rule, [*arguments, out, w], courses[1])
    if not isinstance(back, tuple) or len(back) != len(arguments):
        raise NotReachedError("what the rule returns is not written out")
    known = set(courses[0].needs)
    if row.name in ELEMENTWISE:  # the rule on numbers is judged with what it needs
        scalar = Course(apart=courses[0].apart)
        read(if_converted(backpropagator(row)), [*arguments, out, w], scalar)
        known |= scalar.needs
    if not all(met(need, known, courses[1]) for need in courses[1].needs):
        raise NotReachedError("the rule may be undefined where the row is not")
    slopes = {**SLOPES, **{name: slopes_of(name) for name in elementwise_in(row)}}
    for k, argument in enumerate(example):
        for name, _, path in parameters(argument, f"x{k}"):
            x, found = parts_at(path, arguments[k], back[k])
            yield from partial(as_array(out), x, name, found, slopes, reals)


def elementwise_in(row: Primitive) -> set[str]:
    """The elementwise rows of one or more reals that a row is, or that its definition applies, beyond those with a slope above."""
    defined = row.columns.get("program")
    names = applied(defined) if isinstance(defined, Program) else {row.name}
    return {name for name in names if name in ELEMENTWISE and (name == row.name or name not in SLOPES)}


def parts_at(path: Sequence[int], x: Any, found: Any) -> tuple[Indexed, Any]:
    """A part of an argument that is a tuple, and what of a cotangent is its own."""
    for step in path:
        if found is not ZERO and (not isinstance(found, tuple) or len(found) != len(x)):
            raise NotReachedError("the cotangent is not seen to have the structure of its argument")
        x, found = x[step], found[step] if isinstance(found, tuple) else found
    return as_array(x), found


def value_of(row: Primitive, arguments: Sequence[Any], course: Course) -> Any:
    """The row at symbolic arguments, by its definition if it has one."""
    defined = row.columns.get("program")
    return read(defined, arguments, course) if isinstance(defined, Program) else column(course)[row.name](*arguments)


def cotangent_of(out: Any) -> Any:
    """A sensitivity of a value: w."""
    return array("w", "f64", out.shape) if isinstance(out, Indexed) else number("w")


def met(need: Need, known: Iterable[Need], course: Course) -> bool:
    """
    Whether what a rule needs follows from what is known, or from the hypotheses, however comparisons turn out.

    Sizes are at least 1, so what is known for all indices of an axis that it does not speak of is known.
    """
    known = [replace(n, idle=frozenset()) for n in known]
    chosen = sorted({t for form in need.arguments for t in truths(form)}, key=repr)
    if len(chosen) > MOST_TRUTHS:
        raise NotReachedError("too many comparisons")
    for values in outcomes(chosen):
        arguments = tuple(decided(form, values) for form in need.arguments) if values else need.arguments
        holding = {(t.name, t.parts): v for t, v in values.items()}
        if need.what == "nonzero" and all(course.nonzero(a) or _apart(a, holding) for a in arguments):
            continue
        if need.what == "sqrt" and positive(arguments[0]):
            continue
        if need.what == "log" and (positive(arguments[0]) or holding.get(("lt", (forms.constant(0), arguments[0]))) == 1):
            continue
        if need.what == "pow" and _whole(arguments[1]) and any(n.what == "pow" and n.arguments[0] == arguments[0] for n in known):
            continue
        if need.what == "nonzero" and all(_divides(a, need, known) for a in arguments):
            continue
        if not implied_needs(replace(need, arguments=arguments), known):
            return False
    return True


def _divides(a: Form, need: Need, known: Iterable[Need]) -> bool:
    """Whether a form is a product of factors of forms that are known not to be 0."""
    others = [n for n in known if n.what == "nonzero" and n.sizes == need.sizes]
    products = [n.arguments[0].terms[0][0] for n in others if len(n.arguments[0].terms) == 1]
    factors = {f for m in products if not m.bound for f in m.factors}
    return len(a.terms) == 1 and not a.terms[0][0].bound and factors.issuperset(a.terms[0][0].factors)


def _whole(exponent: Form) -> bool:
    """Whether an exponent is the number 0: the power is defined wherever another of the same base is."""
    return not exponent.terms


def _apart(a: Form, holding: dict[Any, int]) -> bool:
    """Whether a comparison with 0 has found a form to be another number."""
    return holding.get(("eq", tuple(sorted((a, forms.constant(0)), key=repr)))) == 0


def partial(out: Indexed, x: Indexed, name: str, found: Any, slopes: Any, reals: bool) -> Iterator[list[Any]]:
    """The questions for one argument: the kernel of D f against that of the cotangent."""
    p, q = indices("p", out), indices("q", x)
    pulled = forms.constant(0) if found is ZERO else entry(as_array(found), x, q)
    v, w = array("v", "f64", x.shape), array("w", "f64", out.shape)
    sizes = ranges("p", out.shape) | ranges("q", x.shape)
    arrays = {"p": "w", "q": "v"}
    left = kernel(forms.multiply(derivative(out.at(p), {name: "v"}, slopes), w.at(p)), arrays, sizes)
    right = kernel(forms.multiply(pulled, v.at(q)), arrays, sizes)
    yield from compared(settled(left), settled(right), sizes, reals)


def compared(left: Form, right: Form, sizes: Mapping[str, Dim], reals: bool = False) -> Iterator[list[Any]]:
    """The questions whether two kernels differ, for every outcome of the comparisons in what they do not have in common."""
    common = {*left.terms} & {*right.terms}
    left, right = (Form(tuple(t for t in side.terms if t not in common)) for side in (left, right))
    unknown = sorted(truths(left) | truths(right), key=repr)
    if len(unknown) > MOST_TRUTHS:
        raise NotReachedError("too many comparisons")
    for values in outcomes(unknown):
        one, other = (settled(decided(side, values)) for side in (left, right)) if values else (left, right)
        yield from Comparison(sizes).questions(*(without_equal(one, other, sizes) if reals else (one, other)))


def indices(letter: str, a: Indexed) -> tuple[Index, ...]:
    return tuple(0 if n == 1 else f"{letter}{k}" for k, n in enumerate(a.shape))


def entry(found: Indexed, x: Indexed, q: tuple[Index, ...]) -> Form:
    """The cotangent at q, which must have the shape of its argument."""
    if found.shape != x.shape:
        raise NotReachedError("the cotangent is not seen to have the shape of its argument")
    return found.at(q)


def asked(questions: Iterator[list[Any]]) -> list[z3.BoolRef] | str:
    """Statements none of which may hold; or why there is none."""
    try:
        found = list(questions)
        if not all(possible(facts) for *facts, _ in found):
            return "the sizes were not shown to be possible"
        return [z3.And(True, *q) for q in found]
    except NotReachedError as error:
        return str(error)
    except AdjudgeError as error:
        return error.what


def shown(example: Example) -> str:
    """Arguments as a reader wants them."""
    return ", ".join(f"({shown(a)})" if isinstance(a, tuple) and any(isinstance(b, A) for b in a) else str(a) for a in example)


def judge(row: Primitive, examples: Sequence[Example], rule: Program | None = None, reals: bool = False) -> Judgment:
    """The adjoint identity at every kind of arguments."""
    name = f"{row.name} on arrays: adjoint, all shapes"
    found = {shown(e): asked(questions(row, e, rule or rule_of(row, len(e)), reals)) for e in examples}
    return contradicted(name, found, ", entries compared as reals" if reals else "")


def contradicted(name: str, found: Mapping[str, list[z3.BoolRef] | str], given: str = "") -> Judgment:
    """The claim that none of the statements can hold that were found at each kind of arguments; `given` is what it rests on."""
    inquiry = Inquiry()
    failed = [f"{kind}: {why}" for kind, why in found.items() if isinstance(why, str)]
    open_ = {kind: statements for kind, statements in found.items() if statements and not isinstance(statements, str)}
    every = [q for statements in open_.values() for q in statements]
    if every and not failed and inquiry.ask([z3.Or(False, False, *every)]).status != UNSAT:
        for kind, statements in open_.items():
            if inquiry.ask([z3.Or(False, False, *statements)]).status != UNSAT:
                failed.append(f"{kind}: the kernels may differ")
                break
    if not found:
        verdict: Verdict = Vacuous("no kind of arguments", name)
    elif failed:
        verdict = Unknown(f"not shown at {failed[0]}", name)
    else:
        verdict = Proved(f"index forms, {len(found)} kinds of arguments, sizes of at least 1{given}", name)
    return inquiry.judged(name, "index forms and z3" if inquiry.answers else "index forms", verdict)
