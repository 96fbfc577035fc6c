"""Derivatives of derivatives: Hessians, and that what J makes is a program that J accepts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checkers import forward_mode
from checkers.properties.adjoint import all_arguments
from checkers.properties.agreement import judged, point
from checkers.verdict import Counterexample, Passed, Refuted, Verdict
from semantics.errors import AdjudgeError
from semantics.ir import Apply, GraphRef, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.scope import scopes
from semantics.wellformed import check
from transforms.gradient_programs import differentiated, gradient_program
from transforms.nested_grad import expand

Gradient = Callable[..., Program]
J = TABLE["J"]


def hessian_program(program: Program) -> Program:
    """The Hessian by the macro `hessian`, expanded."""
    return expand(differentiated(program, all_arguments(program), "hessian"))


def hessian_symmetric(
    program: Program, arguments: Sequence[Any], hessian: Callable[[Program], Program] = hessian_program
) -> Verdict:
    """T18: the Hessian is symmetric."""
    at = point(program, arguments)

    def transposed() -> Any:
        rows = at.value(hessian(program))
        return tuple(zip(*rows, strict=True))

    return judged("T18 the Hessian is symmetric", arguments, lambda: at.value(hessian(program)), transposed)


def hessian_is_forward_over_reverse(
    program: Program, arguments: Sequence[Any], i: int = 0, j: int = 0, gradient: Gradient = gradient_program
) -> Verdict:
    """T18, second part: reverse over reverse = forward over reverse = forward over forward."""
    at = point(program, arguments)
    claim = "T18 reverse over reverse"
    first = judged(
        f"{claim} = forward over forward",
        arguments,
        lambda: at.value(gradient(gradient(program, i), j)),
        lambda: forward_mode.second_derivative(program, at.arguments, i, j, at.reading),
    )
    if not isinstance(first, Passed):
        return first
    return judged(
        f"{claim} = forward over reverse",
        arguments,
        lambda: at.value(gradient(gradient(program, i), j)),
        lambda: forward_mode.derivative(gradient(program, i), at.arguments, j, at.reading),
        what="three ways to the second derivative",
    )


def closed_under_j(program: Program, order: int = 3, gradient: Gradient = gradient_program) -> Verdict:
    """T19: J's image is in J's domain: each further gradient is a well-formed program without macros."""
    claim = "T19 J's image is in its domain"
    found = program
    for k in range(1, order + 1):
        try:
            found = gradient(found, 0)
            check(found)
        except AdjudgeError as error:
            return Refuted(Counterexample({}, str(error), f"a gradient of order {k}"), claim=claim)
        if _unexpanded(found):
            return Refuted(Counterexample({}, "a macro is left", f"a gradient of order {k}"), claim=claim)
    return Passed(order, "orders", claim)


def _unexpanded(program: Program) -> bool:
    """Whether the entry reaches an application of a macro, or of J to a function."""
    for graph, nodes in scopes(program).needed.items():
        for node in nodes:
            if program.owner(node) == graph and isinstance(a := program.nodes[node], Apply):
                callee = program.callee(node)
                if callee in MACROS or (callee is J and isinstance(program.constant(a.inputs[1]), (GraphRef, Primitive))):
                    return True
    return False


def third_derivative(program: Program, arguments: Sequence[Any], gradient: Gradient = gradient_program) -> Verdict:
    """T19, second part: the third derivative by J is forward mode over the second."""
    at = point(program, arguments)
    second = gradient(gradient(program, 0), 0)
    return judged(
        "T19 third derivative",
        arguments,
        lambda: at.value(gradient(second, 0)),
        lambda: forward_mode.derivative(second, at.arguments, 0, at.reading),
    )
