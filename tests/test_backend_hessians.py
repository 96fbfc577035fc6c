"""Hessians by arrays, which are lists of rows of a gradient: generated code where the gradient has some, in every bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from code_claims import column, has_code, written
from test_backend_gathering import COLUMN, LEFT, program

import adjudge as aj
import backend
from adjudge.values import to_value
from backend.lists.gathering import gathered
from backend.lists.promotion import promoted
from backend.lowering.expansion import _ways
from semantics.errors import AdjudgeError, IllTyped
from semantics.ir import Program
from semantics.machine import Machine
from semantics.type_language import REAL
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.known_lengths import unrolled
from transforms.nested_grad import expand
from transforms.parse import parse_text

SECOND = {
    "no loop": "return np.dot(xs, np.sin(xs)) ** 2",
    "a loop by index": "s = 0.0\nfor i in range(len(xs)): s = s + np.sin(xs[i]) * xs[i]\nreturn s",
    "a loop over elements": "p = 1.0\nfor x in xs: p = p * x\nreturn p",
    "the function of Rosenbrock": (
        "s = 0.0\nfor i in range(len(xs) - 1): s = s + 100.0 * (xs[i + 1] - xs[i] ** 2) ** 2 + (1.0 - xs[i]) ** 2\nreturn s"
    ),
    "a branch in each turn": (
        "s = 0.0\nfor i in range(len(xs)):\n if xs[i] > 0.0: s = s + xs[i] ** 3\n else: s = s - xs[i] ** 2\nreturn s"
    ),
    "a turn that is left out": "s = 0.0\nfor x in xs:\n if x < 0.0: continue\n s = s + x * x * x\nreturn s",
    "a loop that is left": "s = 0.0\nfor x in xs:\n if s > 1.0: break\n s = s + x * x * x\nreturn s",
    "a function that returns from a loop": ("s = 0.0\nfor x in xs:\n if x > 0.9: return s * x\n s = s + x * x * x\nreturn s"),
    "a loop in a loop": ("s = 0.0\nfor i in range(len(xs)):\n for j in range(i): s = s + (xs[i] - xs[j]) ** 2 * xs[j]\nreturn s"),
    "an array that is updated": (
        "y = np.zeros(len(xs) + 1)\nfor i in range(len(xs)): y[i + 1] = y[i] * xs[i] + xs[i]\nreturn y[-1]"
    ),
    "elimination": (
        "n = len(xs)\nc = np.zeros(n)\nd = np.zeros(n)\nc[0] = 0.5\nd[0] = xs[0]\nfor i in range(1, n):\n"
        " m = 2.0 + xs[i] - c[i - 1]\n c[i] = 1.0 / m\n d[i] = (xs[i] - d[i - 1]) / m\nreturn np.sum(d * d)"
    ),
    "an array that turns change whole": ("y = xs\nfor k in range(4): y = y * (1.0 + 0.1 * np.dot(y, xs))\nreturn np.sum(y)"),
    "a recurrence": "h = 0.0\nfor x in xs: h = math.tanh(0.5 * h + x)\nreturn h",
    "a list": "a = []\nfor x in xs: a.append(x * x)\nreturn sum([u * u for u in a], 0.0)",
    "a list that some turns make longer": "a = []\nfor x in xs:\n if x > 0.0: a.append(x * x * x)\nreturn sum(a, 0.0)",
    # Where a list may be empty its sum is the integer 0, of which there is no gradient; so there was no type for the rows.
    "a sum that begins with an integer": "return sum([x ** 3 for x in xs])",
    "a stack": (
        "a = [xs[0]]\ni = 0\nwhile i < len(xs):\n if xs[i] > 0.0 or len(a) < 2: a.append(xs[i])\n"
        " else: a.append(a.pop() * a.pop() + xs[i])\n i = i + 1\nreturn a[-1]"
    ),
    "a sparse product": (
        "n = len(xs)\nrows = [k % n for k in range(2 * n)]\ncolumns = [(3 * k + 1) % n for k in range(2 * n)]\ny = [0.0] * n\n"
        "for r, c in zip(rows, columns): y[r] = y[r] + xs[c] * xs[r]\nreturn sum([u * u for u in y], 0.0)"
    ),
}
SAMPLES = [column(n) for n in (0, 1, 2, 3, 5)]


def hessian(body: str) -> Program:
    return calling(written(body), "hessian", 0, COLUMN)


@pytest.mark.parametrize("name", SECOND)
def test_a_hessian_by_an_array_has_code(name: str) -> None:
    has_code(hessian(SECOND[name]), COLUMN, SAMPLES)


@pytest.mark.parametrize("name", ["the function of Rosenbrock", "an array that is updated"])
def test_so_it_has_where_numba_compiles_it(name: str) -> None:
    has_code(hessian(SECOND[name]), COLUMN, SAMPLES[1:], "cpu")


def misfit(w, b):  # type: ignore[no-untyped-def]
    s = 0.0
    for i in range(len(w)):
        s = s + (w[i] * b[0] - b[i]) ** 2 * w[0]
    return s


@pytest.mark.parametrize(
    "derivative", [aj.hessian(misfit, wrt=("w", "b")), aj.jacobian(aj.grad(misfit)), aj.hessian(misfit, wrt="b")]
)
def test_so_it_has_by_several_arrays_and_however_it_is_asked_for(derivative: Any) -> None:
    w, b = np.array([0.5, -1.0, 2.0]), np.array([1.5, 0.25, -0.5])
    code = aj.compile(derivative, target="python")
    assert all(same(to_value(code(w, b)), to_value(derivative(w, b))) for _ in range(2))
    subject = calling(aj.parse(derivative.f), derivative.macro, derivative.wrt, types := (*COLUMN, *COLUMN))
    has_code(subject, types, [(w, b), (w[:1], b[:1])])


NEWTON = (
    "def g(ys):\n s = 0.0\n for y in ys: s = s + math.exp(y) + y * y\n return s\n"
    "for k in range(3): xs = xs - np.linalg.solve(aj.hessian(g)(xs), aj.grad(g)(xs))\nreturn xs"
)


def test_so_it_has_inside_a_program() -> None:
    text = "import math\nimport adjudge as aj\nimport numpy as np\ndef f(xs):\n " + NEWTON.replace("\n", "\n ")
    has_code(parse_text(text, "f"), COLUMN, SAMPLES)


@pytest.mark.parametrize("name", LEFT)
def test_near_miss_where_a_list_stays_one_the_hessian_is_refused(name: str) -> None:
    with pytest.raises(AdjudgeError):
        backend.compile(calling(program(LEFT[name]), "hessian", 0, COLUMN), COLUMN, "python")


def test_near_miss_a_hessian_by_a_number_has_no_rows() -> None:
    subject = calling(parse_text("def f(x):\n p = 1.0\n for k in range(3): p = p * x\n return p", "f"), "hessian", 0, (REAL,))
    assert gathered(subject, (REAL,)) is subject


def test_near_miss_of_what_is_an_integer_in_every_run_there_is_no_gradient() -> None:
    with pytest.raises(IllTyped, match="whose result is a real"):
        backend.compile(hessian("return sum([1 for x in xs])"), COLUMN, "python")


# Loops over what is of known length are unrolled where the rows are arrays already, as they are elsewhere

PAIRS = {
    "a step of two numbers": (
        "y = [xs[0], xs[0] * 2.0]\nfor x in xs: y = [a - 0.1 * b * x for a, b in zip(y, [y[0] * y[0] - y[1], y[1] + y[0]])]\n"
        "return y[0]"
    ),
    "the same for all": "y = [xs[0], xs[0] * xs[0]]\nfor x in xs: y = [a * x - 0.1 for a in y]\nreturn y[0] * y[1]",
}


@pytest.mark.parametrize("name", PAIRS)
def test_loops_over_pairs_are_unrolled_for_a_hessian(name: str) -> None:
    """A regression: J(f) was no derivative to what chooses, so the first was refused, and the second was long."""
    subject = hessian(PAIRS[name])
    rows = gathered(promoted(subject), COLUMN)
    reference = expand(unrolled(rows, COLUMN), "ssa")
    code = backend.compile(subject, COLUMN, "python")
    for sample in SAMPLES[1:]:
        given = to_value(*sample)
        assert same(code(given), Machine(reference).run((given,)).value)
    assert len(code.code.alone.splitlines()) < 2200


def test_near_miss_where_no_turn_makes_a_list_the_program_is_tried_as_it_is() -> None:
    for body, early in ((PAIRS["the same for all"], True), (SECOND["a recurrence"], False)):
        rows = gathered(promoted(hessian(body)), COLUMN)
        first, _ = next(_ways(rows, "J", COLUMN))
        assert (first is not rows) is early
