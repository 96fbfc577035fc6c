"""What the three reverse modes share: the constant 5, one size after optimization, one entrance."""

from __future__ import annotations

import pytest
from corpus import CASES, Case

import adjudge as aj
from checkers.agreement import applications
from semantics.errors import Malformed
from semantics.ir import Constant
from transforms.gradient_programs import gradient_program
from transforms.modes import MODES
from transforms.parse import parse_text
from transforms.pipeline import optimize

STRAIGHT = [case for case in CASES if case.file.startswith("straight")]
THREE = ("J", "ssa", "pullback")


def size(case: Case, mode: str) -> int:
    return applications(optimize(gradient_program(parse_text(case.text, case.name), mode=mode)))


@pytest.mark.parametrize("mode", [m for m in MODES if m != "pullback-shadow"])
def test_the_derivative_of_5x_plus_3_is_the_constant_5(mode: str) -> None:
    """Zygote, section 4.2: `ret i64 5`."""
    program = optimize(gradient_program(parse_text("def f(x):\n    return 5.0 * x + 3.0\n", "f"), mode=mode))
    assert program.nodes[program.graphs[program.entry].output] == Constant(5.0)


@pytest.mark.parametrize("case", STRAIGHT, ids=lambda case: case.name)
def test_straight_line_gradients_have_one_size_after_optimization(case: Case) -> None:
    """Within 10 %."""
    sizes = {mode: size(case, mode) for mode in THREE}
    assert max(sizes.values()) <= 1.1 * min(sizes.values()), sizes


def test_the_straight_line_corpus_is_there() -> None:
    assert len(STRAIGHT) > 20


def cube(x: float) -> float:
    return x * x * x


@pytest.mark.parametrize("mode", MODES)
def test_every_derivative_takes_a_mode(mode: str) -> None:
    assert aj.grad(cube, mode=mode)(2.0) == 12.0
    assert aj.value_and_grad(cube, mode=mode)(2.0) == (8.0, 12.0)
    assert aj.jacobian(cube, mode=mode)(2.0) == 12.0
    assert aj.vjp(cube, 2.0, mode=mode)[1](1.0) == (12.0,)


@pytest.mark.parametrize("mode", [m for m in MODES if m != "pullback-shadow"])
def test_every_mode_takes_its_own_output(mode: str) -> None:
    """The shadow memory is for programs without calls, and says so (`docs/reverse-modes.md`)."""
    assert aj.hessian(cube, mode=mode)(2.0) == 12.0
    assert aj.hvp(cube, mode=mode)(2.0, 1.0) == 12.0
    assert aj.jvp(cube, (2.0,), (1.0,), mode=mode) == (8.0, 12.0)
    assert aj.grad(aj.grad(cube, mode=mode))(2.0) == 12.0


def test_a_mode_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(Malformed, match="no reverse mode is called") as refused:
        aj.grad(cube, mode="tape")
    assert "ssa" in str(refused.value)
