"""The checkers by name, as the suite of mutants calls them: each answers with the refutations that it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from checkers.optimizer_audit.trigger_shapes import SHAPES, apart
from checkers.properties.adjoint import perturbations_kept_apart, tangent_types
from checkers.properties.oracles import ball_differences_agree, exact_gradient, forward_mode_agrees, trace_reversal_agrees
from checkers.verdict import Refuted, Verdict
from semantics.errors import AdjudgeError
from semantics.ir import Parameter, Program
from semantics.text import read
from semantics.type_language import INTEGER

MORE = {
    "two captures, two factors": """
        @f(%x: f64, %y: f64):
          %a = sin(%x)
          %b = mul(%y, %a)
          %r = @g(%y)
          %s = sub(%r, %b)
          return %s

        @g(%z: f64):
          %p = mul(%a, %z)
          %q = div(%b, 3.0)
          %u = sub(%p, %q)
          return %u""",
    "unused argument": """
        @f(%x: f64, %y: f64):
          %r = tanh(%y)
          return %r""",
    "chain of one variable": """
        @f(%x: f64):
          %a = mul(%x, %x)
          %b = mul(%a, %x)
          %c = sin(%b)
          %r = mul(%c, %a)
          return %r""",
}


@cache
def programs() -> tuple[tuple[str, Program, tuple[Any, ...]], ...]:
    """Programs with every construct that J mirrors, each with a point."""
    texts = {**{k: v for k, v in SHAPES.items() if k not in ("zeros side by side", "one and one")}, **MORE}
    found = []
    for name, text in texts.items():
        program = read("program @f\n" + apart(text))
        nodes = [program.nodes[n] for n in program.graphs[program.entry].parameters]
        kinds = [p.type for p in nodes if isinstance(p, Parameter)]
        reals = iter((0.75, -1.25, 2.0))
        found.append((name, program, tuple(3 if k == INTEGER else next(reals) for k in kinds)))
    zero_trips = [(f"{name}, no turn", p, tuple(0 if type(v) is int else v for v in at)) for name, p, at in found if 3 in at]
    return (*found, *(z for z in zero_trips if "trap" not in z[0]))


Gradient = Callable[..., Program]

JUDGES: dict[str, Callable[[Program, tuple[Any, ...], Gradient], Verdict]] = {
    "forward mode": forward_mode_agrees,
    "exact gradient": exact_gradient,
    "trace reversal": trace_reversal_agrees,
    "ball differences": lambda p, at, gradient: ball_differences_agree(p, at, 0, gradient),
    "tangent types": tangent_types,
    "perturbations kept apart": perturbations_kept_apart,
}


def refutations(judge: str, gradient: Gradient, among: Sequence[Any] | None = None) -> Iterator[tuple[str, str]]:
    """Every program (of all, or of some) on which this judge refutes the gradient, or it is an error of ours."""
    for name, program, at in programs() if among is None else among:
        if any(type(v) is int for v in at) and judge in ("ball differences", "perturbations kept apart"):
            continue
        try:
            verdict = JUDGES[judge](program, at, gradient)
        except AdjudgeError as error:
            yield name, f"{type(error).__name__}: {error.what}"
            continue
        if isinstance(verdict, Refuted):
            yield name, str(verdict.counterexample)
