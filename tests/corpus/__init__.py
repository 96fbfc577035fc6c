"""
Small programs over every construct, each with its first and second derivative in closed form.

`CASES` names them all. The expressions are Python in x; with `rational` they are exact on fractions, else they use the
functions of `balls`, and are enclosures. `value` is there for programs that CPython cannot run. Program files are read as
text, never imported.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import arb, ctx

FOLDER = Path(__file__).parent
BITS = 400


@dataclass(frozen=True, slots=True)
class Case:
    """A program, its first and second derivative, and the points (as fractions of a power of two) where they are compared."""

    file: str
    name: str
    first: str
    second: str
    points: tuple[Fraction, ...]
    rational: bool = True
    value: str = ""

    @property
    def text(self) -> str:
        """The source of this one function."""
        return sources(self.file)[self.name]

    def python(self) -> Callable[[float], float]:
        """The function that CPython makes of it."""
        namespace: dict[str, Any] = {"math": math}
        exec(compile(self.text, f"{self.file}.py", "exec"), namespace)
        function: Callable[[float], float] = namespace[self.name]
        return function

    def exact(self, expression: str, x: Fraction) -> Any:
        """The closed form at x: a fraction, or a ball if the program is not rational."""
        if self.rational:
            return Fraction(eval(expression, {"x": x, "Q": Fraction}))
        return arb(eval(expression, {"x": ball(x), **balls()}))


@functools.cache
def sources(file: str) -> dict[str, str]:
    """The functions of a corpus file, by name, as text."""
    text = (FOLDER / f"{file}.py").read_text()
    found = [d for d in ast.parse(text).body if isinstance(d, ast.FunctionDef)]
    return {d.name: (ast.get_source_segment(text, d) or "") + "\n" for d in found}


def ball(x: Fraction) -> arb:
    """An enclosure of a fraction at 400 bits."""
    ctx.prec = BITS
    return arb(x.numerator) / x.denominator


def balls() -> dict[str, Any]:
    """The functions that a closed form may use, on enclosures."""
    names = ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "atan")
    return {n: (lambda x, n=n: getattr(arb(x), n)()) for n in names}


def at(*points: float) -> tuple[Fraction, ...]:
    """Points from doubles, exactly."""
    return tuple(Fraction(p) for p in points)


USUAL = at(1.5, -0.5, 3.0, 0.25)
SIGNS = at(1.5, -0.5, -2.0, 0.25)


def _rational(file: str, *rows: tuple[Any, ...]) -> tuple[Case, ...]:
    return tuple(Case(file, name, first, second, *(rest or (USUAL,))) for name, first, second, *rest in rows)


def _smooth(file: str, *rows: tuple[Any, ...]) -> tuple[Case, ...]:
    return tuple(Case(file, name, first, second, *(rest or (SIGNS,)), rational=False) for name, first, second, *rest in rows)


CASES: tuple[Case, ...] = (
    *_rational(
        "straight",
        ("square", "2*x", "2", at(1.5, -0.5, 0.0)),
        ("cube_minus", "3*x**2 - 2", "6*x"),
        ("polynomial", "6*x**2 - 6*x + Q(1, 2)", "12*x - 6"),
        ("reciprocal", "-1/x**2", "2/x**3"),
        ("quotient", "1 - 10/(x - 3)**2", "20/(x - 3)**3", at(1.5, -0.5, 4.0)),
        ("negative_power", "-2/x**3", "6/x**4"),
        ("fanned_out", "24*x**2 + 1", "48*x"),
        ("shadowed", "4*x", "4"),
        ("augmented", "(x + 1)/2", "Q(1, 2)"),
        ("constant", "0", "0"),
        ("linear", "5", "0"),
        ("dead_code", "3", "0"),
        ("integers_mixed", "12*x", "12"),
    ),
    *_smooth(
        "straight",
        ("sine", "cos(x)", "-sin(x)"),
        ("chain", "cos(exp(x)/2)*exp(x)/2", "cos(exp(x)/2)*exp(x)/2 - sin(exp(x)/2)*(exp(x)/2)**2"),
        ("logarithm", "2*x/(x**2 + 1)", "(2 - 2*x**2)/(x**2 + 1)**2"),
        ("root", "x/sqrt(1 + x**2)", "1/(sqrt(1 + x**2)*(1 + x**2))"),
        ("logistic", "exp(-x)/(1 + exp(-x))**2", "exp(-x)/(1 + exp(-x))**2*(1 - 2/(1 + exp(-x)))"),
        ("gaussian", "-x*exp(-x**2/2)", "(x**2 - 1)*exp(-x**2/2)"),
        ("hyperbolic", "1 - tanh(x)**2", "-2*tanh(x)*(1 - tanh(x)**2)"),
        ("arctangent", "1/(1 + x**2)", "-2*x/(1 + x**2)**2"),
        ("tangent_of", "(1 + tan(x/2)**2)/2", "tan(x/2)*(1 + tan(x/2)**2)/2"),
        (
            "self_power",
            "exp(x/2*log(x**2 + 1))*(log(x**2 + 1)/2 + x**2/(x**2 + 1))",
            "exp(x/2*log(x**2 + 1))*((log(x**2 + 1)/2 + x**2/(x**2 + 1))**2 + x/(x**2 + 1) + 2*x/(x**2 + 1)**2)",
        ),
    ),
    *_rational(
        "branches",
        ("absolute", "-1 if x < 0 else 1", "0", SIGNS),
        ("three_ways", "2*x if x < -1 else 3*x**2 if x < 1 else 2", "2 if x < -1 else 6*x if x < 1 else 0", SIGNS),
        ("conditional_expression", "2*x if x > 0 else -2", "2 if x > 0 else 0", SIGNS),
        ("nested_branches", "4*x**3 if x > 1 else 3*x**2 if x > 0 else 2*x", "12*x**2 if x > 1 else 6*x if x > 0 else 2", SIGNS),
        ("code_after_return", "2*x", "2"),
        ("early_return", "2*x if x**2 > 4 else 3*x**2", "2 if x**2 > 4 else 6*x"),
        ("both", "2*x if 0 < x < 2 else 1", "2 if 0 < x < 2 else 0"),
        ("either", "3*x**2 if x < -1 or x >= 1 else 5", "6*x if x < -1 or x >= 1 else 0", SIGNS),
        ("chained", "2*x if -1 < x <= 1 else 3", "2 if -1 < x <= 1 else 0", SIGNS),
        ("assigned_on_one_path", "2*x + 1 if x > 0 else 2", "2 if x > 0 else 0", SIGNS),
        ("guarded_division", "1", "0"),
        ("short_circuit", "2*x if 0 < x < 4 else 1", "2 if 0 < x < 4 else 0", at(1.5, -0.5, 5.0)),
    ),
    *_smooth("branches", ("piecewise_smooth", "exp(x) if x < 0 else cos(x)", "exp(x) if x < 0 else -sin(x)")),
    *_rational(
        "loops",
        ("power_by_loop", "4*x**3", "12*x**2"),
        ("zero_trips", "2*x", "2"),
        ("one_trip", "2*x", "2"),
        ("swapped", "6*x**2 + 2*x", "12*x + 2"),
        ("fibonacci", "80*x", "80"),
        ("doubling_until", "(32 if x == 3 else 128)*x", "32 if x == 3 else 128", at(3.0, 1.5)),
        ("with_break", "3*x**2", "6*x"),
        ("with_continue", "12*x", "12"),
        ("return_from_loop", "4*x**3", "12*x**2"),
        ("stepped", "12*x + 4", "12"),
        ("over_a_tuple", "1 + 2*x + 3*x**2", "2 + 6*x"),
        ("nested_loops", "10*x + 1", "10"),
        ("carried_tuple", "1 + 6*x + 6*x**2", "6 + 12*x"),
        ("break_in_inner", "6*x**5", "30*x**4"),
        ("loop_with_branch", "12*x", "12"),
        ("series_of_exp", "1 + x + x**2/2 + x**3/6", "1 + x + x**2/2"),
        ("while_true", "3*x**2", "6*x"),
    ),
    *_smooth("loops", ("sine_twice", "cos(sin(x))*cos(x)", "-sin(sin(x))*cos(x)**2 - cos(sin(x))*sin(x)")),
    *_rational(
        "closures",
        ("captured", "3 + 2*x", "2"),
        ("captured_through_a_call", "4*x", "4"),
        ("captured_through_two_calls", "4*x**3 + 6*x**2 + 2*x", "12*x**2 + 12*x + 2"),
        ("aliased_arguments", "2*x + 1", "2"),
        ("curried", "3", "0"),
        ("twice", "3*x**2", "6*x"),
        ("composed", "8*x", "8"),
        ("church_three", "3*x**2", "6*x"),
        ("church_product", "5*x**4", "20*x**3"),
        ("functions_in_a_tuple", "2*x + 2", "2"),
        ("chosen_function", "2*x if x > 0 else 3*x**2", "2 if x > 0 else 6*x", SIGNS),
        ("defaults", "6 + 4*x", "4"),
        ("keywords", "x", "1"),
        ("recursive_power", "5*x**4", "20*x**3"),
        ("recursion_through_a_closure", "4*x**3", "12*x**2"),
        ("mutual_recursion", "4*x + 1", "4"),
        ("tree_recursion", "1 + 6*x + 3*x**2", "6 + 6*x"),
        ("knot_by_self_application", "3*x**2", "6*x"),
        ("continuation_passing", "3*x**2 + 1", "6*x"),
        ("accumulated_closure", "3*x**2", "6*x"),
        ("closure_made_in_a_loop", "6*x", "6"),
        ("unused_function", "2*x", "2"),
    ),
    *_smooth("closures", ("loop_over_functions", "sin(x) + x*cos(x)", "2*cos(x) - x*sin(x)")),
    *_rational(
        "tuples",
        ("packed", "3*x**2", "6*x"),
        ("unpacked", "6*x**2", "12*x"),
        ("nested_tuple", "4 + 3*x**2", "6*x"),
        ("returned_tuple", "3*x**2 + 2*x", "6*x + 2"),
        ("tuple_argument", "2*x", "2"),
        ("exchanged", "1 - 2*x", "-2"),
        ("unused_element", "2*x", "2"),
        ("tuple_of_a_branch", "4 if x > 0 else 2*x", "0 if x > 0 else 2", SIGNS),
        ("sum_of_elements", "3 + 2*x", "2"),
    ),
    *(
        Case("derivatives", name, first, second, points, rational, value)
        for name, value, first, second, points, rational in (
            ("perturbation_confusion", "x", "1", "0", USUAL, True),
            ("perturbation_confusion_of_products", "x**2", "2*x", "2", USUAL, True),
            ("nested_three_deep", "24*x", "24", "0", USUAL, True),
            ("second_derivative", "12*x**2", "24*x", "24", USUAL, True),
            ("grad_in_a_loop", "27*x**4", "108*x**3", "324*x**2", USUAL, True),
            ("grad_of_a_loop", "4*x**3", "12*x**2", "24*x", USUAL, True),
            ("grad_of_a_recursion", "3*x**2", "6*x", "6", USUAL, True),
            ("grad_passed_a_function", "2*x**2", "4*x", "4", USUAL, True),
            ("grad_under_a_branch", "2*x if x > 1 else 3*x**2", "2 if x > 1 else 6*x", "0 if x > 1 else 6", SIGNS, True),
            ("newton_step", "x/2 + 1/x", "Q(1, 2) - 1/x**2", "2/x**3", USUAL, True),
            ("grad_of_a_captured_closure", "4*x**2", "8*x", "8", USUAL, True),
            ("derivative_of_sine", "cos(x)", "-sin(x)", "-cos(x)", SIGNS, False),
            ("third_derivative_of_sine", "-cos(x)", "sin(x)", "cos(x)", SIGNS, False),
        )
    ),
)
