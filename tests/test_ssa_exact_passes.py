"""What makes a program one of first order before it is differentiated must not round: a folded real has another derivative."""

from __future__ import annotations

from checkers.agreement import judge, question
from checkers.verdict import Passed
from semantics.ir import Program
from semantics.machine import run
from semantics.text import read
from transforms.parse import parse_text
from transforms.pipeline import optimize
from transforms.ssa.exact_passes import EXACT, fold_discrete

WHOLE = "program @f\n@f(%x: f64):\n  %n = add(2, 3)\n  %b = lt(%n, 4)\n  %y = pow(%x, %n)\n  return %y"
REAL = "program @f\n@f(%x: f64):\n  %r = sqrt(2.0)\n  %y = mul(%x, %r)\n  return %y"

PASSED_ON = """
import numpy as np

def f(x):
    g = lambda h, y: h(h(y))
    return np.sum(g(lambda y: y * y / np.sqrt(2.0), x))
"""


def named(program: Program, name: str) -> int:
    (node,) = [n for n in program.nodes if getattr(program.callee(n), "name", "") == name]
    return node


def test_an_integer_is_folded() -> None:
    program = read(WHOLE)
    after = fold_discrete.function(program, named(program, "add"))
    assert after is not None
    assert "pow(%x, 5)" in str(after)


def test_a_real_is_not_folded() -> None:
    program = read(REAL)
    assert fold_discrete.function(program, named(program, "sqrt")) is None
    assert fold_discrete.function(program, named(program, "mul")) is None
    assert "sqrt(2.0)" in str(EXACT.run(program))
    assert "sqrt" not in str(optimize(program))


def test_the_value_is_kept_bit_for_bit() -> None:
    for text in (WHOLE, REAL):
        assert run(EXACT.run(read(text)), 1.1) == run(read(text), 1.1)


def test_the_derivative_of_a_program_that_had_to_be_opened_is_exact() -> None:
    """With √2 folded this was a disagreement in the 17th digit, at the order at which the adjoint is opened again."""
    for order in (1, 2):
        found = judge(question(parse_text(PASSED_ON, "f"), (1.5,), order=order), ("ssa", "forward"), counted=False)
        assert isinstance(found.verdicts["ssa"], Passed)
