"""Programs that combine movement, reductions and sorting: J against oracles that share neither rules nor order with it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from claims import judged

from checkers import ball_differences, forward_mode, trace_reversal
from semantics.arrays import Array
from semantics.denotation import FRACTIONS, denote
from semantics.type_language import type_of
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand
from transforms.parse import parse_text

ALONG_A_LINE = (
    *("np.prod(x)", "np.sum(np.cumprod(x) * w)", "np.sum(np.prod(np.reshape(x, (2, 2)), 0) * w[:2])", "np.sum(np.sort(x * x) * x)"),
    *("np.max(x * x * x) * np.min(x)", "np.mean(x * x) * np.mean(x)", "np.prod(np.concatenate([x, x[1:] * x[:3]]))"),
    *(
        "np.prod(np.stack([x, x * x], 1)[1:])",
        "np.prod(np.take(x * x, np.array([0, 1, 1])))",
        "np.sum(np.roll(x, 1) * x * np.flip(x))",
    ),
    *("np.sum(np.diag(x) @ np.diag(x) @ x)", "np.prod(np.cumsum(x))", "np.prod(written(x))"),
)
THIRD = ALONG_A_LINE[:2]  # of which J is applied three times


@pytest.mark.parametrize("body", ALONG_A_LINE)
def test_derivatives_along_a_line_are_exact(body: str) -> None:
    """J, J of J and J of that; trace reversal; forward mode twice, and over J. On fractions, at a point with zeros and off it."""
    source = (
        "import numpy as np\nfrom adjudge import grad\n\n"
        "def written(x):\n    y = x * x\n    y[1] = x[0]\n    return y\n\n"
        "def h(t):\n    w = np.array([1.0, -2.0, 3.0, 0.5])\n"
        f"    x = np.array([0.0, 0.0, 1.5, -2.0]) + t * np.array([1.0, 2.0, -0.5, 0.25])\n    return {body}\n\n"
        "def first(t):\n    return grad(h)(t)\n\ndef second(t):\n    return grad(grad(h))(t)\n"
    )
    h, first, second = (expand(parse_text(source, name)) for name in ("h", "first", "second"))
    for t in (Fraction(1, 3), Fraction(0)):
        assert denote(first, [t], FRACTIONS) == trace_reversal.gradient(h, (t,), FRACTIONS)[0]
        assert denote(second, [t], FRACTIONS) == forward_mode.second_derivative(h, (t,), 0, 0, FRACTIONS)
        if body in THIRD:
            assert denote(gradient_program(second), [t], FRACTIONS) == forward_mode.second_derivative(first, (t,), 0, 0, FRACTIONS)


@pytest.mark.parametrize(
    "body", ["np.sum(softmax(x) * np.arange(3))", "np.linalg.norm(x) * np.linalg.norm(x * x)", "np.log(np.sum(np.exp(np.sort(x))))"]
)
def test_ball_differences_enclose_the_gradient_and_its_derivative(body: str) -> None:
    source = (
        "import numpy as np\nfrom adjudge import grad\n\n"
        "def softmax(x):\n    e = np.exp(x - np.max(x))\n    return e / np.sum(e)\n\n"
        f"def f(x):\n    return {body}\n\ndef g(x):\n    return grad(f)(x)[1]\n"
    )
    f, g = (expand(parse_text(source, name)) for name in ("f", "g"))
    x = Array("f64", (3,), (0.3, -1.25, 0.75))
    for k in range(3):
        for program in (f, g):
            derivative = gradient_program(program, types=[type_of(x)])
            judged(ball_differences.agrees(program, derivative, (x,), (0, k), lambda value, k=k: value.items[k]))
