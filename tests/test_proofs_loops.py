"""Recursion and loops by induction on J's output: every obligation is proved, and bugs in J are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import z3
from mutants.transform import CONTROLS, MUTANTS, Variant

from checkers.verdict import OutOfScope, Proved, Refuted, Unknown, Vacuous
from proofs import loops, recursion
from proofs.induction import Opened, unknown_function
from proofs.loops import CLOSED_FORMS, LOOPS, judge_closed_form, judge_duality
from proofs.recursion import EXAMPLES, Recursive, judge
from semantics.errors import Malformed
from semantics.text import read
from transforms.gradient_programs import gradient_program

# bugs that do not show in these programs, or not inside a function that calls itself
ELSEWHERE = ("ZERO at the boundary", "argument off by one", "perturbation confusion", "captures read from the end")
CAUGHT = [m for m in MUTANTS if m.name not in (*ELSEWHERE, "seed 2.0", "wrong element of a tuple")]
SHORT = ("recursion that is not in tail position", "recursion under a closure", "mutual recursion")


@pytest.mark.parametrize("obligation", [*recursion.OBLIGATIONS, *loops.OBLIGATIONS], ids=lambda o: o.name)
def test_every_induction_is_proved(obligation: Any) -> None:
    judgment = obligation.judge()
    assert isinstance(judgment.verdict, Proved), judgment.verdict
    assert judgment.name == obligation.name


@pytest.mark.parametrize("mutant", CAUGHT, ids=str)
def test_a_bug_in_j_breaks_an_induction(mutant: Variant) -> None:
    names = iter((*SHORT, *EXAMPLES))
    found = next(v for n in names if not isinstance(v := judge(n, EXAMPLES[n], mutant.gradient).verdict, Proved))
    assert isinstance(found, (Refuted, Unknown, OutOfScope)), found


@pytest.mark.parametrize("name", ["fan-out overwrites", "free variables get nothing", "backward pass not reversed"])
def test_a_bug_in_j_breaks_duality_and_closed_forms(name: str) -> None:
    (mutant,) = [m for m in MUTANTS if m.name == name]
    loop = LOOPS["a while loop that carries three values"]
    assert not isinstance(judge_duality("duality", loop, mutant.gradient).verdict, Proved)
    assert not isinstance(judge_closed_form("pow", CLOSED_FORMS["pow by a loop"], mutant.gradient).verdict, Proved)


@pytest.mark.parametrize("control", CONTROLS[1:3], ids=str)
def test_variants_that_are_right_are_proved(control: Variant) -> None:
    for name in SHORT:
        assert isinstance(judge(name, EXAMPLES[name], control.gradient).verdict, Proved)


def test_a_wrong_closed_form_is_refuted() -> None:
    """The derivative of xⁿ without the factor n."""
    right = CLOSED_FORMS["pow by a loop"]
    wrong = replace(right, back=lambda c, a, d: (right.back(c, a, d)[0] / z3.ToReal(a[1]), right.back(c, a, d)[1]))
    assert not isinstance(judge_closed_form("pow", wrong).verdict, Proved)


def test_hypotheses_that_nothing_satisfies_prove_nothing() -> None:
    vacuous = replace(CLOSED_FORMS["pow by a loop"], facts=lambda c, a: [a[1] > 0, a[1] < 0])
    assert isinstance(judge_closed_form("pow", vacuous).verdict, Unknown)


def test_an_induction_without_a_step_is_vacuous() -> None:
    straight = Recursive("def f(x, n: int):\n return f(x, n) if n != n else x\n", "f", (), ((1.0, 1),))
    assert isinstance(judge("straight", straight).verdict, Vacuous)


def test_a_gradient_of_another_function_is_refuted() -> None:
    example = EXAMPLES["recursion that is not in tail position"]
    other = replace(example, text=example.text.replace("* k(x, x)", "+ k(x, x)"))
    assert isinstance(judge("other", example, lambda _: gradient_program(other.program())).verdict, Refuted)


def test_a_function_that_is_used_as_a_value_cannot_be_opened() -> None:
    program = read("program @f\n@f(%x):\n  %t = switch(True, @g, @f)\n  %r = %t(%x)\n  return %r\n@g(%y):\n  return %y")
    with pytest.raises(Malformed, match="used as a value"):
        Opened(program, "f")


def test_the_hypothesis_of_an_unknown_function_is_the_adjoint_of_its_derivative() -> None:
    x, n, d = z3.Real("x"), z3.Int("n"), z3.Real("d")
    hypothesis, partials = unknown_function("rec", 1, ("x",))
    value, back = hypothesis({"x": x}, (n,))
    slope = partials["u_rec_0"](x, z3.ToReal(n))[0]
    assert z3.simplify(back(d)[0]["x"]).eq(z3.simplify(d * slope))
    assert value.decl().name() == "u_rec_0"
