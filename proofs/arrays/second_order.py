"""
Second derivatives of rows on arrays, for all shapes: J applied to their backpropagators.

With c(x…, w) = rule(x…, p(x…), w), J gives the pullback of c at u…, one u for each cotangent. It must be

    by x_j    D_j (Σ_i <w, D_i p u_i>)          by w    Σ_i D_i p u_i

The derivatives on the right are those of the row's own index form, taken twice; neither a rule on arrays nor J has a part in them.
A linear row has no second derivative: by x nothing flows, and by w the row's own image of u, so the adjoint of the adjoint is the
row. An elementwise row is differentiated by rules on numbers, which are judged over the reals by themselves; what is proved here is
that J of the rule on arrays is the second derivative of the numbers at every element. Comparisons are as at first order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checkers.smt import index_form as forms
from checkers.smt.index_factors import Form, NotReachedError
from checkers.smt.index_places import Dim
from checkers.smt.index_values import Indexed, Need, array, as_array
from checkers.smt.inquiry import Judgment
from proofs.arrays.adjoints import (
    APART,
    asked,
    compared,
    contradicted,
    cotangent_of,
    entry,
    indices,
    met,
    parts_at,
    rule_of,
    shown,
    slopes_of,
    value_of,
)
from proofs.arrays.course import Course
from proofs.arrays.instances import A, Example, Number, parameters, symbolic
from proofs.arrays.kernel import SLOPES, Slope, derivative, kernel, ranges, settled
from proofs.arrays.reading import read
from semantics.edit import Edit, empty
from semantics.ir import Program
from semantics.primitives.row import Hole, Primitive
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.tangents import ZERO
from transforms.backpropagators import find
from transforms.clone import link
from transforms.nested_grad import expand


def pullback_of_cotangents(row: Primitive, rule: Program, arity: int) -> Program:
    """(x…, w, u…) -> the sensitivities of x… and w, where u… are those of the cotangents that the rule gives."""
    edit = Edit(empty())
    edit.arrays = True
    cotangents = edit.graph("cotangents")
    *xs, w = [edit.parameter(cotangents, name) for name in (*(f"x{k}" for k in range(arity)), "w")]
    defined = row.columns.get("program")
    function = edit.reference(link(edit, defined)) if isinstance(defined, Program) else edit.constant(row)
    out = edit.apply(cotangents, function, *xs)
    edit.output(cotangents, edit.apply(cotangents, edit.reference(link(edit, rule)), *xs, out, w))
    entry = edit.graph("second")
    at = [edit.parameter(entry, name) for name in (*(f"x{k}" for k in range(arity)), "w")]
    seeds = [edit.parameter(entry, f"u{k}") for k in range(arity)]
    pair = edit.call(entry, TABLE["vjp"], edit.reference(cotangents), *at)
    pullback = edit.call(entry, TABLE["getitem"], pair, edit.constant(1))
    edit.output(entry, edit.apply(entry, pullback, edit.call(entry, TABLE["make_tuple"], *seeds)))
    edit.set_entry(entry)
    return expand(edit.program)


def seed(argument: Any, name: str) -> Any:
    """A sensitivity of a cotangent, of the structure of the argument: u. ZERO of what has no cotangent."""
    if isinstance(argument, tuple) and any(True for _ in parameters(argument, name)):
        return tuple(seed(a, f"{name}.{k}") for k, a in enumerate(argument))
    real = isinstance(argument, Number) or (isinstance(argument, A) and argument.dtype == "f64")
    return symbolic(argument, name) if real else ZERO


def questions(row: Primitive, example: Example, rule: Program) -> Iterator[list[Any]]:
    """What must be contradictory for J of the rule to be the second derivative. NotReachedError where none is known."""
    arguments = [symbolic(a, f"x{k}") for k, a in enumerate(example)]
    us = [seed(a, f"u{k}") for k, a in enumerate(example)]
    courses = [Course(apart=APART.get(row.name, frozenset())) for _ in range(2)]
    out = as_array(value := value_of(row, arguments, courses[0]))
    w = cotangent_of(value)
    back = read(pullback_of_cotangents(row, rule, len(example)), [*arguments, w, *us], courses[1])
    if not isinstance(back, tuple) or len(back) != len(arguments) + 1:
        raise NotReachedError("what the pullback returns is not written out")
    moved = Moved(row, example, out)
    for k, argument in enumerate(example):
        for name, _, path in parameters(argument, f"x{k}"):
            x, found = parts_at(path, arguments[k], back[k])
            yield from moved.by_argument(name, x, found)
    yield from moved.by_cotangent(back[-1])
    known = courses[0].needs | moved.needs()
    if not all(met(need, known, courses[1]) for need in courses[1].needs):
        raise NotReachedError("the pullback may be undefined where the row is not")


def slopes_of_numbers(noted: set[Need]) -> dict[str, Slope]:
    """The derivatives of all elementwise rows by their rules on numbers: those of a row, and those of what these are made of."""
    return {name: slopes_of(name, noted) for name in ELEMENTWISE if not isinstance(find(TABLE[name]), Hole)}


class Moved:
    """The derivative of a row along each u, and what is compared with J of its rule: kernels K(p, q, r) of w, v and u."""

    def __init__(self, row: Primitive, example: Example, out: Indexed) -> None:
        self.out, self.p = out, indices("p", out)
        self.noted: set[Need] = set()
        self.slopes: Mapping[str, Slope] = SLOPES | slopes_of_numbers(self.noted) if row.name in ELEMENTWISE else SLOPES
        self.shapes = {
            f"u{name[1:]}": a.shape if isinstance(a, A) else ()
            for k, argument in enumerate(example)
            for name, a, _ in parameters(argument, f"x{k}")
        }
        self.along = {u: derivative(out.at(self.p), {f"x{u[1:]}": u}, self.slopes) for u in self.shapes}

    def needs(self) -> set[Need]:
        """What the derivatives on numbers have needed so far, at every element."""
        course = Course()
        for need in self.noted:
            course.need(need.what, need.arguments, self.p, self.out.shape)
        return course.needs

    def by_argument(self, name: str, x: Indexed, found: Any) -> Iterator[list[Any]]:
        """D <w, D p u> v = <found, v> for v at one argument."""
        q = indices("q", x)
        w, v = array("w", "f64", self.out.shape).at(self.p), array("v", "f64", x.shape)
        pulled = forms.constant(0) if found is ZERO else forms.multiply(entry(as_array(found), x, q), v.at(q))
        sides = {u: forms.multiply(derivative(d, {name: "v"}, self.slopes), w) for u, d in self.along.items()}
        yield from self.compared(sides, pulled, {"p": "w", "q": "v"}, ranges("p", self.out.shape) | ranges("q", x.shape))

    def by_cotangent(self, found: Any) -> Iterator[list[Any]]:
        """<v, D p u> = <found, v> for v at w."""
        v = array("v", "f64", self.out.shape).at(self.p)
        pulled = forms.constant(0) if found is ZERO else forms.multiply(entry(as_array(found), self.out, self.p), v)
        sides = {u: forms.multiply(d, v) for u, d in self.along.items()}
        yield from self.compared(sides, pulled, {"p": "v"}, ranges("p", self.out.shape))

    def compared(self, sides: dict[str, Form], pulled: Form, arrays: dict[str, str], sizes: dict[str, Dim]) -> Iterator[list[Any]]:
        """The questions for each u alone: what is pulled back is a sum of what is linear in one of them."""
        shares = {u: parts_of(pulled, u) for u in sides}
        if sum(len(share.terms) for share in shares.values()) != len(pulled.terms):
            raise NotReachedError("it is not seen to be linear")
        for u, side in sides.items():
            here = {**sizes, **ranges("r", self.shapes[u])}
            one, other = (settled(kernel(f, {**arrays, "r": u}, here)) for f in (side, shares[u]))
            yield from compared(one, other, here)


def parts_of(form: Form, name: str) -> Form:
    """The products in which an entry of an array is a factor."""
    return Form(tuple((m, c) for m, c in form.terms if any(f.kind == "entry" and f.name == name for f in m.factors)))


def claim(row: Primitive) -> str:
    """The name of what is claimed."""
    return f"second order of {row.name} on arrays, all shapes"


def judge(row: Primitive, examples: Sequence[Example], rule: Program | None = None) -> Judgment:
    """Whether J of a rule, the shipped one if none is given, is the second derivative at every kind of arguments."""
    given = f", given the backpropagators on numbers of {row.name} and of what it applies" if row.name in ELEMENTWISE else ""
    found = {shown(e): asked(questions(row, e, rule or rule_of(row, len(e)))) for e in examples}
    return contradicted(claim(row), found, given)
