"""Functions that users write, in our language and without a z3 column: proved at first and second order by the same machinery."""

from __future__ import annotations

import pytest

from checkers.verdict import Proved, Refuted
from proofs import backpropagators, derived, second_order, totals
from proofs.trusted import TRUSTED
from semantics.primitives.row import Primitive

FUNCTIONS = derived.primitives()


@pytest.mark.parametrize("primitive", FUNCTIONS, ids=lambda p: p.name)
def test_a_function_of_users_is_proved_at_first_order(primitive: Primitive) -> None:
    verdict = backpropagators.judge(primitive).verdict
    assert isinstance(verdict, Proved), verdict


@pytest.mark.parametrize("primitive", FUNCTIONS, ids=lambda p: p.name)
def test_a_function_of_users_is_proved_at_second_order(primitive: Primitive) -> None:
    verdict = second_order.judge(primitive).verdict
    assert isinstance(verdict, Proved), verdict


@pytest.mark.parametrize("primitive", [p for p in FUNCTIONS if totals.of_several(p)], ids=lambda p: p.name)
def test_a_function_of_several_arguments_has_a_total_differential(primitive: Primitive) -> None:
    assert isinstance(totals.judge(primitive).verdict, Proved)


def test_their_obligations_use_only_axioms_that_exist() -> None:
    used = {axiom for o in backpropagators.obligations(FUNCTIONS) for axiom in o.uses}
    assert used <= {axiom.name for axiom in TRUSTED}
    assert {"exp_slope", "erf_integral", "hyperbolic", "roots", "log_inverse"} <= used


def test_another_functions_rule_is_refuted() -> None:
    """The rule of tanh-gelu for erf-gelu: the two functions differ by less than 0.001, and their derivatives differ."""
    verdict = backpropagators.judge(derived.primitive(derived.gelu, derived.gelu_tanh_pullback)).verdict
    assert isinstance(verdict, Refuted)
