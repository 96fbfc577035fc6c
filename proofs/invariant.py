"""
J against forward mode on one program, for all inputs: the invariant of the reverse sweep, checked node by node on J's own output.

Forward mode gives every application k = p(a₁, …) the tangent t_k = Σⱼ ∂ⱼp · t_aⱼ. J's program calls the backpropagator of p with a
sensitivity d_k and gets contributions c_kj. These are taken from J's program, run on terms (`reverse_sweep`). If for every k

    rule   c_kj = d_k · ∂ⱼp                       so  d_k · t_k = Σⱼ c_kj · t_aⱼ
    sum    d_k = Σ of the contributions to k, and 1 more if k is the result
    end    the gradient by xᵢ is the sum of the contributions to xᵢ, and 1 more if xᵢ is the result

then Σᵢ (∂f/∂xᵢ)·ẋᵢ is the tangent of the result: add up `rule` over all k, and order the right side by where the contributions go.
All equations are local, so their cost is that of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import z3

from checkers.properties.oracles import forward_mode_agrees
from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.paths import Path, explore
from checkers.smt.real import reading
from checkers.smt.sides import gave_up, kinds_of, spread
from checkers.smt.terms import real
from checkers.verdict import OutOfScope, Proved, Refuted, Unknown, Verdict
from proofs.calculus import boundaries, derivative
from proofs.normal_form import equal
from proofs.obligation import identity
from proofs.reverse_sweep import Application, Instrumented, Sweep
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.tangents import ZERO
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand

Gradient = Callable[..., Program]
POINTS = tuple(Fraction(x) for x in (0.5, -0.75, 2, 1.25, -3, 3))
MOST_POINTS = 24


Equation = tuple[str, Any, Any, list[Any]]


def equations(sweep: Sweep, gradient: Sequence[Any], inputs: Sequence[Any]) -> Iterator[Equation]:
    """All local equations of one run, each with what it is about and the hypotheses that it needs besides those of the path."""
    arrived: dict[int, z3.ArithRef] = {x.get_id(): real(0) for x in (*inputs, *(a.name for a in sweep.applications))}
    if z3.is_expr(sweep.result) and sweep.result.get_id() in arrived:
        arrived[sweep.result.get_id()] = real(1)
    passed = {a.name.get_id(): real(0) for a in sweep.applications}
    by_name = {a.name.get_id(): a for a in sweep.applications}
    for answer in sweep.answers:
        application = by_name[answer.of.get_id()]
        passed[answer.of.get_id()] += answer.d
        for i, argument in enumerate(application.arguments):
            if not (z3.is_expr(argument) and argument.get_id() in arrived):
                continue
            slope, off = partial_derivative(application, i)
            term, name = answer.terms[i], answer.names[i]
            yield f"rule of {application.primitive}", real(0) if term is ZERO else term, answer.d * slope, off
            if name is not ZERO:
                arrived[argument.get_id()] += name
    for application in sweep.applications:
        key = application.name.get_id()
        yield f"sum at {application.primitive}", passed[key], arrived[key], []
    for i, (found, x) in enumerate(zip(gradient, inputs, strict=True)):
        yield f"gradient by argument {i}", found, arrived[x.get_id()], []


def partial_derivative(application: Application, i: int) -> tuple[z3.ArithRef, list[Any]]:
    """∂ᵢp at the arguments, and where it may be trusted; an argument given twice is moved in one place only."""
    at = application.arguments
    fresh = [z3.Real(f"at{j}") if z3.is_real(a) and not z3.is_rational_value(a) else a for j, a in enumerate(at)]
    value = reading(_Nothing()).column[application.primitive](*fresh)
    back = [(f, a) for f, a in zip(fresh, at, strict=True) if f is not a]
    slope, off = derivative(value, fresh[i]), boundaries(value)
    return z3.substitute(slope, *back), [z3.substitute(condition, *back) for condition in off]


class _Nothing:
    """A course that decides nothing and needs nothing: the run has already noted what it needs."""

    def decide(self, condition: Any) -> bool:
        raise AssertionError("a primitive of reals decides nothing")

    def need(self, condition: Any) -> None:
        """Nothing is noted."""


def foreign(sweep: Sweep, inputs: Sequence[Any]) -> str | None:
    """A real that went into a primitive and is neither a number, an input nor a result: then contributions may be lost sight of."""
    known = {x.get_id() for x in (*inputs, *(a.name for a in sweep.applications))}
    for application in sweep.applications:
        for a in application.arguments:
            if z3.is_real(a) and a.get_id() not in known and not _fixed(a):
                return f"{application.primitive} was given {a}, which has no name"
    return None


def _fixed(term: z3.ExprRef) -> bool:
    """Whether no real variable is in the term."""
    todo = [term]
    while todo:
        top = todo.pop()
        if z3.is_real(top) and z3.is_const(top) and not z3.is_rational_value(top):
            return False
        todo.extend(top.children())
    return True


def unnamed(sweep: Sweep, term: Any) -> Any:
    """The term with every name replaced by what it stands for; each is replaced once, in what its own arguments stand for."""
    known: dict[int, z3.ExprRef] = {}
    for application in sweep.applications:
        named = [a for a in application.arguments if z3.is_expr(a) and a.get_id() in known]
        known[application.name.get_id()] = z3.substitute(application.value, *((a, known[a.get_id()]) for a in named))
    return known.get(term.get_id(), term) if z3.is_expr(term) else term


def gradient_is_right(program: Program, gradient: Gradient = gradient_program, name: str = "") -> Judgment:
    """
    Whether the gradient that `gradient` makes (by J, or a variant of it) is that of forward mode, on every path and at every input
    where the gradient is defined, off the boundaries of the pieces of piecewise primitives.
    """
    claim = f"gradient of {name or program.graphs[program.entry].name}"
    inquiry = Inquiry()
    try:
        verdict = _judge(program, gradient, inquiry)
    except AdjudgeError as error:
        verdict = gave_up(error)
    if isinstance(verdict, Unknown) and verdict.reason.startswith("not shown"):
        found = replay(program, gradient)
        verdict = verdict if found is None else found
    return inquiry.judged(claim, "invariant", replace(verdict, claim=claim))


def _judge(program: Program, gradient: Gradient, inquiry: Inquiry) -> Verdict:
    kinds = kinds_of(program)
    if strange := [k for k in kinds if k not in ("real", "integer", "boolean")]:
        return OutOfScope(f"a parameter is no number: {strange[0]}")
    makers = {"real": z3.Real, "integer": z3.Int, "boolean": z3.Bool}
    values = [makers[str(k)](f"x{i}") for i, k in enumerate(kinds)]
    wrt = tuple(i for i, k in enumerate(kinds) if k == "real")
    if not wrt:
        return OutOfScope("no parameter is a real")
    inputs = [values[i] for i in wrt]
    adjoint, count = Instrumented(gradient(program, wrt)), 0
    for path, sweep in adjoint.sweeping(values):
        if path.trap is not None:
            continue
        if (why := foreign(sweep, inputs)) is not None:
            return Unknown(why)
        found = path.value if isinstance(path.value, tuple) else (path.value,)
        for what, left, right, off in equations(sweep, found, inputs):
            count += 1
            if not shown(inquiry, left, right, [*path.all, *off]):
                return Unknown(f"not shown: {what}")
        if (wrong := _same_value(program, values, path, sweep, inquiry)) is not None:
            return wrong
    return Proved(f"the invariant of the reverse sweep, {count} local equations")


def shown(inquiry: Inquiry, left: Any, right: Any, known: Sequence[Any]) -> bool:
    """Whether left = right; what is known is used only where algebra does not do, so that the questions stay small."""
    if equal(left, right):
        inquiry.settled([left != right], "normal form")
        return True
    return isinstance(identity(inquiry, left, right, known)[0], Proved)


def _same_value(program: Program, values: Sequence[Any], path: Path, sweep: Sweep, inquiry: Inquiry) -> Verdict | None:
    """None if the sweep starts at the value of the program."""
    result = unnamed(sweep, sweep.result)
    for source in explore(expand(program), values, reading, path.all):
        if source.trap is not None:
            return Unknown("not shown: the program traps where its gradient does not")
        same = z3.is_expr(source.value) and source.value.eq(result)
        if not same and not shown(inquiry, source.value, result, [*path.all, *source.all]):
            return Unknown("not shown: the value")
    return None


def replay(program: Program, gradient: Gradient) -> Verdict | None:
    """A refutation by execution against forward mode, if some point shows one."""
    pools: dict[str, list[Any]] = {"real": [float(p) for p in POINTS], "integer": [2, 0, 1], "boolean": [True, False]}
    for point in spread([pools[str(k)] for k in kinds_of(program)], MOST_POINTS):
        try:
            verdict = forward_mode_agrees(program, point, gradient)
        except AdjudgeError:
            continue
        if isinstance(verdict, Refuted):
            return verdict
    return None
