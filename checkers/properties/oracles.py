"""J against derivatives that know nothing of it: exact fractions, differences in ball arithmetic, and what they say of kinks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checkers import ball_differences, exact_derivatives, forward_mode, trace_reversal
from checkers.properties.adjoint import all_arguments
from checkers.properties.agreement import is_rational, judged, point
from checkers.properties.evaluation import named
from checkers.verdict import Counterexample, OutOfScope, Passed, Refuted, Verdict
from semantics.columns.meaning import MEANING
from semantics.denotation import FRACTIONS, Reading, denote
from semantics.errors import IllTyped, Trap
from semantics.ir import NodeId, Program
from semantics.primitives.row import Primitive
from semantics.text import read
from transforms.gradient_programs import gradient_program

Gradient = Callable[..., Program]


def exact_gradient(program: Program, arguments: Sequence[Any], gradient: Gradient = gradient_program) -> Verdict:
    """T11: on a rational program the gradient, run on fractions, is the exact gradient by dual numbers. Nothing to tolerate."""
    claim = "T11 exact gradient"
    if not is_rational(program):
        return OutOfScope("the program is not rational", claim)
    wrt = all_arguments(program)
    lifted = exact_derivatives.lifted(arguments)
    return judged(
        claim,
        arguments,
        lambda: denote(gradient(program, wrt), lifted, FRACTIONS),
        lambda: exact_derivatives.gradient(program, arguments),
        what="equal fractions",
    )


def forward_mode_agrees(program: Program, arguments: Sequence[Any], gradient: Gradient = gradient_program) -> Verdict:
    """T10 for unit directions: reverse and forward mode give one gradient."""
    at, wrt = point(program, arguments), all_arguments(program)
    return judged(
        "T10 reverse = forward",
        arguments,
        lambda: at.value(gradient(program, wrt)),
        lambda: forward_mode.gradient(program, at.arguments, at.reading),
    )


def trace_reversal_agrees(program: Program, arguments: Sequence[Any], gradient: Gradient = gradient_program) -> Verdict:
    """T6 for gradients: J and the reversal of the recorded trace give one gradient."""
    at, wrt = point(program, arguments), all_arguments(program)
    return judged(
        "T6 J = trace reversal",
        arguments,
        lambda: at.value(gradient(program, wrt)),
        lambda: trace_reversal.gradient(program, at.arguments, at.reading),
    )


def ball_differences_agree(
    program: Program, arguments: Sequence[Any], i: int = 0, gradient: Gradient = gradient_program
) -> Verdict:
    """T12: the gradient is where a rigorous enclosure of the difference quotient says that it is."""
    return ball_differences.agrees(program, gradient(program, i), arguments, i)


def second_ball_differences_agree(
    program: Program, arguments: Sequence[Any], i: int = 0, j: int = 0, gradient: Gradient = gradient_program
) -> Verdict:
    """T12 at second order."""
    return ball_differences.agrees(program, gradient(gradient(program, i), j), arguments, i, j=j)


def boundaries_met(program: Program, arguments: Sequence[Any]) -> list[tuple[NodeId, Primitive, Sequence[Any]]]:
    """The applications of primitives that the run makes on a declared kink or outside the declared domain."""
    met: list[tuple[NodeId, Primitive, Sequence[Any]]] = []

    def note(_: Program, node: NodeId, primitive: Primitive, values: Sequence[Any], value: Any) -> None:
        if all(isinstance(v, (int, float)) for v in values) and (primitive.on_kink(*values) or not primitive.in_domain(*values)):
            met.append((node, primitive, values))

    denote(program, arguments, Reading(MEANING, observe=note))
    return met


def mismatches_on_boundaries(
    program: Program, arguments: Sequence[Any], i: int = 0, gradient: Gradient = gradient_program
) -> Verdict:
    """T13: J and the difference quotient disagree, or the quotient is not decided, only where the run meets a declared boundary."""
    claim = "T13 mismatches lie on declared boundaries"
    try:
        met = boundaries_met(program, arguments)
        verdict = ball_differences_agree(program, arguments, i, gradient)
    except (Trap, IllTyped) as error:
        return OutOfScope(f"no value: {error.what}", claim)
    match verdict:
        case Refuted(counterexample) if not met:
            return Refuted(counterexample, claim=claim)
        case OutOfScope(why) if not met and why.startswith("boundary"):
            return Refuted(Counterexample(named(arguments), why, "a declared kink on the way"), claim=claim)
        case Passed() | Refuted() | OutOfScope():
            return Passed(1, f"{len(met)} boundaries met", claim)
    return verdict


ZERO_OR_X = """program @f
@f(%x: f64):
  %c = eq(%x, 0.0)
  %t = switch(%c, @zero, @itself)
  %r = %t()
  return %r
@zero():
  return 0.0
@itself():
  return %x
"""


def zero_is_a_boundary(program: Program | None = None, x: float = 0.0) -> Verdict:
    """T14: `if x == 0 then 0 else x` at 0 is judged a *boundary*: neither 0, which J gives, nor 1 is called right."""
    claim = "T14 the boundary at zero"
    verdict = ball_differences_agree(program or read(ZERO_OR_X), (x,))
    match verdict:
        case OutOfScope(why) if why.startswith("boundary"):
            return Passed(1, "judged a boundary", claim)
        case _:
            return Refuted(Counterexample({"x": x}, str(verdict), "boundary"), claim=claim)
