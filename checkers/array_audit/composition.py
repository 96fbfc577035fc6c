"""
Check 15 on arrays: the rule inside programs.

Let s(x) = Σ w p(x) with |s| at most 1. A few programs make one real t of s: with fan-out, closures that capture x through calls, a
branch, s as an argument, results that are dropped, loops of 0, 1 and 3 turns, and a recursion that is no loop. Each knows its own
derivative t'(s), worked out by hand; so the gradient of t by J, run on the machine, is t'(s) Σ w ∂p with ∂p from the reference. One
more takes the gradient of s inside, where the rule is a program: its gradient is ∇²s c.

A rule that keeps something between calls, or writes into its arguments, is right by itself and wrong here.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from checkers.array_audit.bounds import Reals
from checkers.array_audit.case import Case, Vector, named
from checkers.array_audit.findings import finding
from checkers.array_audit.machine_arrays import inside
from checkers.array_audit.opinion import entries
from checkers.array_audit.orders import DOUBT, seconds
from checkers.array_audit.programs import NO_REALS, Placed, never_real, ordinary, placed, reals_of, signs, with_reals
from checkers.array_audit.trial import Trial
from checkers.verdict import OutOfScope, Passed, Refuted, Unknown, Verdict
from semantics.edit import Edit
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import Machine
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.text import read
from transforms.gradient_programs import gradient_program

CASES = 3
FUEL = 1_000_000
SLACK = 64
"""Roundings of a template's own arithmetic, at most: the longest has some twenty operations, each of at most 3 ulp."""

LOOP = """
  %s = @u({xs})
  %r = @loop({turns}, %s)
  return %r
@loop(%n, %acc):
  %c = gt(%n, 0)
  %k = switch(%c, @more, @done)
  %v = %k()
  return %v
@more():
  %m = sub(%n, 1)
  %a = sin(%acc)
  %b = mul(%a, 0.5)
  %y = @u({xs})
  %z = add(%b, %y)
  %v2 = @loop(%m, %z)
  return %v2
@done():
  return %acc
"""


@dataclass(frozen=True, slots=True)
class Template:
    """The body of @t, in which @u is s, and what it computes: the derivative of its value by s."""

    text: str
    slope: Callable[[float], float]


def _looped(turns: int) -> Callable[[float], float]:
    """The derivative of acc ← sin(acc)/2 + s, from acc = s."""

    def slope(s: float) -> float:
        acc, d = s, 1.0
        for _ in range(turns):
            acc, d = 0.5 * math.sin(acc) + s, 0.5 * math.cos(acc) * d + 1.0
        return d

    return slope


TEMPLATES: dict[str, Template] = {
    "fan-out": Template(
        "  %a = @u({xs})\n  %b = mul(%a, %a)\n  %c = sin(%b)\n  %d = add(%c, %a)\n  return %d\n",
        lambda s: 2 * s * math.cos(s * s) + 1,
    ),
    "captures": Template(
        """  %r = @middle(0.5)
  return %r
@middle(%z):
  %h = @leaf()
  %q = mul(%h, %z)
  return %q
@leaf():
  %v = @u({xs})
  %p = mul(%v, %v)
  return %p
""",
        lambda s: s,
    ),
    "branch": Template(
        """  %a = @u({xs})
  %c = gt(%a, 0.0)
  %k = switch(%c, @yes, @no)
  %r = %k()
  return %r
@yes():
  %v = @u({xs})
  %p = sin(%v)
  return %p
@no():
  %v2 = @u({xs})
  %p2 = mul(%v2, %a)
  return %p2
""",
        lambda s: math.cos(s) if s > 0 else 2 * s,
    ),
    "higher order": Template(
        """  %a = @twice(@u)
  return %a
@twice(%f):
  %p = %f({xs})
  %q = %f({xs})
  %r = mul(%p, %q)
  return %r
""",
        lambda s: 2 * s,
    ),
    "dropped result": Template(
        "  %a = @u({xs})\n  %b = @u({xs})\n  %c = sin(%b)\n  %p = make_tuple(%a, %c)\n  %r = getitem(%p, 1)\n  return %r\n",
        math.cos,
    ),
    "recursion": Template(
        """  %r = @fall(2)
  return %r
@fall(%n):
  %c = gt(%n, 0)
  %k = switch(%c, @deeper, @bottom)
  %v = %k()
  return %v
@deeper():
  %m = sub(%n, 1)
  %a = @fall(%m)
  %b = sin(%a)
  %y = @u({xs})
  %z = mul(%b, %y)
  return %z
@bottom():
  %v2 = @u({xs})
  return %v2
""",
        lambda s: _fallen(s, 2),
    ),
    "no turns": Template(LOOP.replace("{turns}", "0"), _looped(0)),
    "one turn": Template(LOOP.replace("{turns}", "1"), _looped(1)),
    "three turns": Template(LOOP.replace("{turns}", "3"), _looped(3)),
}


def _fallen(s: float, turns: int) -> float:
    """The derivative of r ← s sin(r), from r = s."""
    r, d = s, 1.0
    for _ in range(turns):
        r, d = s * math.sin(r), math.sin(r) + s * math.cos(r) * d
    return d


NESTED = """  %g = grad(@u, {position})
  %d = %g({xs})
  %r = inner(%d, %c)
  return %r
"""


def template(at: Placed, text: str, extra: str = "") -> Program:
    """@t(x…, w): the text, with @u(x…) = inner(subject(x…), w) + 0, a real even where nothing flows."""
    xs, own = (", ".join(f"%{p}{k}" for k in range(len(at.arguments))) for p in ("x", "y"))
    body = text.replace("{xs}", xs)
    head = f"program @t\n@t({', '.join(p for p in (xs, '%w', extra) if p)}):\n"
    s = f"@u({own}):\n  %value = subject({own})\n  %weighed = inner(%value, %w)\n  %real = add(%weighed, 0.0)\n  return %real\n"
    edit = Edit(read(f"{head}{body}{s}", {**TABLE, "subject": at.row}))
    edit.arrays = True
    return edit.program


def weights(case: Case, source: random.Random) -> Vector:
    """Random powers of two of both signs, so small that |s| is at most 1."""
    w = signs(case.outputs, source)
    total = float(np.abs(w) @ np.abs(Case((case.value,), None).coordinates))
    return w if total <= 1 else w * 2.0 ** -math.ceil(math.log2(total))


def composition(trial: Trial) -> list[Verdict]:
    """15: gradients of programs that call the primitive."""
    claim = "composition"
    if never_real(trial):
        return [OutOfScope(NO_REALS, claim)]
    source = random.Random(trial.seed + 15)
    judged, why = 0, "no ordinary case"
    for case in ordinary(trial, CASES):
        at, w = placed(trial, case), weights(case, source)
        for name, shape in TEMPLATES.items():
            verdict = _composed(trial, claim, case, at, w, name, shape)
            if isinstance(verdict, Refuted):
                return [verdict]
            judged, why = (judged + 1, why) if verdict == "" else (judged, verdict)
        if trial.rule is not None:
            inner = _nested(trial, claim, case, placed(trial, case, entered=True), w, source)
            if isinstance(inner, Refuted):
                return [inner]
            judged += inner
    return [Passed(judged, f"gradients of {len(TEMPLATES)} programs", claim)] if judged else [Unknown(why, claim)]


def gradients(program: Program, at: Placed, extra: Sequence[Any]) -> Vector:
    """The gradient by J on the machine, over the coordinates of the case."""
    found = Machine(gradient_program(program, at.varying)).run([*at.arguments, *extra], FUEL).value
    parts = [reals_of(d, at.arguments[i]) for d, i in zip(found, at.varying, strict=True)]
    return np.array([0.0 if r is ZERO else float(r) for part in parts for r in part])


def _composed(trial: Trial, claim: str, case: Case, at: Placed, w: Vector, name: str, shape: Template) -> Refuted | str:
    """The fault of one gradient; "" if it is right; or why nothing is known of it."""
    program = template(at, shape.text)
    value = inside(case.value)
    try:
        found = gradients(program, at, [with_reals(value, w)])
    except (AdjudgeError, ArithmeticError) as error:
        return _stopped(trial, claim, case, at, name, program, error)
    s = float(np.asarray(w @ Case((case.value,), None).coordinates))
    if abs(s) < DOUBT and name == "branch":
        return ""
    opinions, slope = entries(trial, case), shape.slope(s)
    wanted, allowed = slope * (w @ opinions.wanted.middle), _allowed(trial, opinions, w, slope)
    wrong = ~(np.abs(found - wanted) <= allowed)
    if not wrong.any():
        return ""
    k = int(np.flatnonzero(wrong)[0])
    cause = f"the rule is right by itself and wrong in the program '{name}': it keeps something between calls, or writes"
    note = f"with respect to {named(case, trial.parameters, k)}, allowed {allowed[k]:.3g}; program:\n{program}"
    return finding(trial, claim, case, found=float(found[k]), wanted=float(wanted[k]), cause=cause, note=note)


def _allowed(trial: Trial, opinions: Any, w: Vector, slope: float) -> Reals:
    """
    The allowance of every entry and the width of its bounds, carried through the sum and the factor t'; the roundings of the
    template, SLACK of them, and of the sum over the outputs, in the arithmetic of the rule; and what the roundings of s, at most 1,
    do to t', whose own derivative is at most 8 in every template.
    """
    widths = np.nan_to_num(opinions.wanted.hi - opinions.wanted.lo) + opinions.allowed
    terms = np.abs(w) @ np.abs(opinions.found)
    roundings = (SLACK + w.size + trial.operations) * trial.unit
    return np.asarray(2 * max(1.0, abs(slope)) * (np.abs(w) @ widths) + (4 * abs(slope) + 8) * roundings * terms)


def _stopped(trial: Trial, claim: str, case: Case, at: Placed, name: str, program: Program, error: Exception) -> Refuted | str:
    """A program that runs and whose gradient stops is a fault of the rule, which answers where it is asked by itself."""
    said = f"{type(error).__name__}: {error}".splitlines()[0]
    try:
        Machine(program).run([*at.arguments, with_reals(inside(case.value), np.zeros(case.outputs))], FUEL)
    except (AdjudgeError, ArithmeticError):
        return f"the program '{name}' does not run: {said}"
    cause = f"the rule answers by itself and stops in the program '{name}'"
    return finding(trial, claim, case, found=said, wanted="a gradient", cause=cause, note=f"program:\n{program}")


def _nested(trial: Trial, claim: str, case: Case, at: Placed, w: Vector, source: random.Random) -> Refuted | int:
    """A gradient inside the program: the fault of its gradient, or how many were right."""
    position = at.varying[0]
    size = len(reals_of(ZERO, at.arguments[position]))
    c = np.zeros(case.size)
    c[:size] = signs(size, source)
    wanted = seconds(trial, case, w, c)
    program = template(at, NESTED.replace("{position}", str(position)), "%c")
    try:
        found = gradients(program, at, [with_reals(inside(case.value), w), with_reals(at.arguments[position], c[:size])])
    except (AdjudgeError, ArithmeticError):
        return 0
    steep = np.abs(w) @ np.nan_to_num(trial.reference(case).size)
    allowed = DOUBT * (np.nan_to_num(wanted.size) + steep) + 4 * np.nan_to_num(wanted.hi - wanted.lo)
    # a rule may overflow at second order where its first is right: that is no fault, and `second order` reads it in balls
    wrong = wanted.known & np.isfinite(found) & ~(wanted.distance(found) <= allowed)
    if not wrong.any():
        return int(wanted.known.any())
    k = int(np.flatnonzero(wrong)[0])
    cause = "the rule is right by itself and wrong where the program itself takes a gradient"
    note = f"with respect to {named(case, trial.parameters, k)}, allowed {allowed[k]:.3g}; program:\n{program}"
    return finding(trial, claim, case, found=float(found[k]), wanted=float(wanted.middle[k]), cause=cause, note=note)


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (("composition", composition),)
