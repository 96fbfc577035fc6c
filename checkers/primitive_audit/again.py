"""
What the script of a finding computes again where one call of the rule does not show the failure: a derivative of the rule itself,
or the gradient of a program that calls it.

A script holds a forward function, a pullback and the arguments of the finding, and calls one of these. They read the two functions
as the judge does, and answer a double: by balls where those decide, else by the machine; NaN where what is asked comes to no end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from checkers.inputs import Point
from checkers.primitive_audit.build import of_functions
from checkers.primitive_audit.composition import reordered, template
from checkers.primitive_audit.orders import on_machine, read
from checkers.primitive_audit.programs import calling
from semantics.ir import Program
from transforms.gradient_programs import gradient_program

Function: TypeAlias = Callable[..., Any]


def second(forward: Function, pullback: Function, x: Point, i: int, j: int) -> float:
    """The derivative by argument j of the gradient by argument i: J goes through the rule itself."""
    subject = of_functions(forward, pullback, [x], seed=0, examples=1)
    return value(gradient_program(gradient_program(calling(subject.row), i), j), x)


def composed(forward: Function, pullback: Function, x: Point, name: str, i: int) -> float:
    """The gradient by argument i of a program of `composition` that calls the primitive."""
    subject = of_functions(forward, pullback, [x], seed=0, examples=1)
    return value(gradient_program(template(subject, name, i), 0), reordered(x, i))


def value(program: Program, x: Point) -> float:
    """The value of a program of reals."""
    found = read(program, x)
    return on_machine(program, x) if found is None else found.middle
