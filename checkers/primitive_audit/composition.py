"""
Checks 15, 16 and 18: the rule inside programs, its proofs, and the optimizer.

A few programs call the primitive from closures, through captures, in loops of 0, 1 and 3 turns, in a branch, as an argument,
and under a nested grad. Their gradients by J are compared with differences of the programs, in balls on both sides where both
can be read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from checkers.inputs import Point
from checkers.primitive_audit.findings import finding
from checkers.primitive_audit.orders import meets, on_machine, read
from checkers.primitive_audit.programs import in_balls, machine_call
from checkers.primitive_audit.reference import Balls, Enclosure, Numeric, unit
from checkers.primitive_audit.script import asked
from checkers.primitive_audit.subject import Judged, Subject
from checkers.verdict import OutOfScope, Passed, Refuted, Unknown, Verdict
from semantics.errors import AdjudgeError, OutOfFuel
from semantics.ir import Program
from semantics.primitives.table import TABLE
from semantics.text import read as read_text
from semantics.values import same
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand

POINTS = 2

LOOP = """
@t(%x):
  %r = @loop({turns}, %x)
  return %r
@loop(%n, %acc):
  %c = gt(%n, 0)
  %k = switch(%c, @more, @done)
  %v = %k()
  return %v
@more():
  %m = sub(%n, 1)
  %y = @u(%acc)
  %z = mul(%y, 0.125)
  %w = add(%z, %x)
  %v2 = @loop(%m, %w)
  return %v2
@done():
  return %acc
"""

TEMPLATES: dict[str, str] = {
    "fan-out": """
@t(%x):
  %a = @u(%x)
  %b = mul(%a, %x)
  %c = sin(%b)
  %d = add(%c, %a)
  return %d
""",
    "captures": """
@t(%x):
  %s = mul(%x, 1.0)
  %r = @middle(0.5)
  return %r
@middle(%z):
  %h = @leaf()
  %q = mul(%h, %z)
  return %q
@leaf():
  %v = @u(%s)
  %w = mul(%v, %x)
  return %w
""",
    "branch": """
@t(%x):
  %c = gt(%x, 0.0)
  %k = switch(%c, @yes, @no)
  %r = %k()
  return %r
@yes():
  %a = @u(%x)
  return %a
@no():
  %b = @u(%x)
  %d = mul(%b, %x)
  return %d
""",
    "higher order": """
@t(%x):
  %a = @twice(@u, %x)
  return %a
@twice(%f, %y):
  %p = %f(%y)
  %q = %f(%y)
  %r = mul(%p, %q)
  return %r
""",
    "dropped result": """
@t(%x):
  %a = @u(%x)
  %p = make_tuple(%a, %x)
  %r = getitem(%p, 1)
  %s = mul(%r, %r)
  return %s
""",
    "no turns": LOOP.format(turns=0),
    "one turn": LOOP.format(turns=1),
    "three turns": LOOP.format(turns=3),
    "nested grad": """
@t(%x):
  %g = grad(@u, 0)
  %r = %g(%x)
  %s = mul(%r, %x)
  return %s
""",
}


BRIEF = ("fan-out", "captures", "one turn")
"""The templates for every argument but the first, and for black boxes, whose slopes are dear."""


def template(subject: Subject, name: str, i: int) -> Program:
    """The template as a program: argument i is %x, the others are further parameters, which @u captures."""
    held = [f"%held{j}" for j in range(subject.arity) if j != i]
    arguments = ["%at" if j == i else f"%held{j}" for j in range(subject.arity)]
    body = TEMPLATES[name].replace("@t(%x)", f"@t({', '.join(('%x', *held))})")
    slice_ = f"@u(%at):\n  %value = subject({', '.join(arguments)})\n  return %value\n"
    return read_text(f"program @t\n{body}{slice_}", {**TABLE, "subject": subject.row})


def ordinary(subject: Subject, most: int) -> list[Judged]:
    """A few points of ordinary size where the rule by itself is right."""
    points = [p for p in subject.smooth(60, ("sample", "random")) if all(x == 0 or 2.0**-6 <= abs(x) <= 2.0**4 for x in p.xs)]
    right = []
    for point in points[: 4 * most]:
        pulled = subject.pulled(point.xs, point.y, 1.0)
        if all(subject.opinion(point, i, pulled[i]).verdict == "right" for i in range(subject.arity)):
            right.append(point)
    return right[:most]


def reordered(xs: Point, i: int) -> Point:
    """The arguments of a template: the one that varies, then the others."""
    return (xs[i], *xs[:i], *xs[i + 1 :])


def composition(subject: Subject) -> list[Verdict]:
    """15: gradients of programs that call the primitive."""
    claim = "composition"
    judged = 0
    points = ordinary(subject, POINTS)
    for i in range(subject.arity) if points else ():
        for name in TEMPLATES if i == 0 and subject.reference.balls is not None else BRIEF:
            if subject.rule is None and name == "nested grad":
                continue
            program = template(subject, name, i)
            gradient = gradient_program(program, 0)
            for point in points:
                verdict = _composed(subject, claim, name, i, point, program, gradient)
                if isinstance(verdict, Refuted):
                    return [verdict]
                judged += verdict
    return (
        [Passed(judged, f"gradients of {len(TEMPLATES)} programs", claim)] if judged else [Unknown("no reference decides", claim)]
    )


def _composed(subject: Subject, claim: str, name: str, i: int, point: Judged, program: Program, gradient: Program) -> Refuted | int:
    """The fault of one gradient, or how many were right."""
    xs = reordered(point.xs, i)
    balls = subject.reference.balls is not None
    runs = program
    if name == "nested grad":
        if not balls:
            return 0
        runs = expand(program)
    reference: Balls | Numeric = Balls(lambda *v: in_balls(runs, v)) if balls else Numeric(machine_call(runs))
    wanted = reference.slope(xs, unit(subject.arity, 0)).value
    if wanted is None or not wanted.finite:
        return 0
    found = read(gradient, xs) if balls and subject.rule is not None else None
    if found is None:
        value = on_machine(gradient, xs)
        if math.isnan(value):
            return 0
        shown, allowed = Enclosure(value, value), 2.0**-16 * (wanted.size + abs(on_machine(runs, xs)))
    else:
        shown, allowed = found, 64 * subject.budget(point.xs)[0] * (wanted.size + abs(on_machine(runs, xs)))
    allowed += 4 * (wanted.hi - wanted.lo)
    if shown.overlaps(wanted, allowed):
        return 1
    cause = f"the rule is right by itself and wrong in the program '{name}'"
    note = f"with respect to {subject.parameters[i]}; program:\n{program}"
    test, now = meets(shown, wanted, allowed), asked("composed", name, i)
    return finding(subject, claim, point, found=shown.middle, wanted=wanted.middle, cause=cause, note=note, test=test, now=now)


def optimizer(subject: Subject) -> list[Verdict]:
    """18: optimizing a gradient that goes through the rule changes no bit of it."""
    claim = "optimizer"
    try:
        from transforms.pipeline import optimize
    except ImportError:
        return [OutOfScope("there is no optimizer to commute with", claim)]
    judged = 0
    points = ordinary(subject, POINTS)
    for i in range(subject.arity) if points else ():
        for name in ("fan-out", "one turn")[: 2 if i == 0 else 1]:
            gradient = gradient_program(template(subject, name, i), 0)
            try:
                optimized = optimize(gradient)
            except OutOfFuel as error:
                return [Unknown(error.what, claim)]
            optimized = getattr(optimized, "result", optimized)
            for point in points:
                xs = reordered(point.xs, i)
                before, after = on_machine(gradient, xs), on_machine(optimized, xs)
                judged += 1
                if not same(before, after):
                    cause = f"optimizing the gradient of '{name}' changed its bits: a bug of the optimizer, or an impure rule"
                    return [finding(subject, claim, point, found=after, wanted=before, cause=cause)]
    return [Passed(judged, "optimized gradients, bit for bit", claim)] if judged else [Unknown("no ordinary point", claim)]


def proof(subject: Subject) -> list[Verdict]:
    """16: what the solver says of the rule, for all reals."""
    claim = "proof"
    if subject.prover is None:
        return [OutOfScope("no solver is asked about two plain functions: make them a primitive, and ask check", claim)]
    if subject.rule is None:
        return [OutOfScope("a black box has no proof", claim)]
    try:
        return list(subject.prover(subject.row))
    except AdjudgeError as error:
        return [Unknown(error.what, claim)]


CHECKS: Sequence[tuple[str, Callable[[Subject], list[Verdict]]]] = (
    ("composition", composition),
    ("proof", proof),
    ("optimizer", optimizer),
)
