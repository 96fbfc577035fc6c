"""The adjoint programs of the other modes: every obligation is proved; a sum that loses a term is not."""

from __future__ import annotations

from typing import Any

import pytest

from checkers.verdict import OutOfScope, Proved
from proofs.modes import OBLIGATIONS, TAPED, header, judge_tape, judge_turns
from proofs.recursion import EXAMPLES, judge
from proofs.structural import construct, judge_j
from semantics.edit import Edit
from semantics.ir import Program
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from transforms.gradient_programs import gradient_program

LONG = "ssa-recompute", "ssa-mixed", "cached"


@pytest.mark.parametrize("obligation", [o for o in OBLIGATIONS if o.subject not in LONG], ids=lambda o: o.name)
def test_every_obligation_of_a_mode_is_proved(obligation: Any) -> None:
    judgment = obligation.judge()
    assert isinstance(judgment.verdict, Proved), judgment.verdict
    assert judgment.name == obligation.name


def keeping_first(program: Program) -> Program:
    """The planted bug: of every sum of sensitivities the second term is lost."""
    edit = Edit(program)
    for node in sorted(program.nodes):
        if program.callee(node) is TABLE["gadd"]:
            function, first, _ = program.inputs(node)
            edit.set_inputs(node, (function, first, edit.constant(ZERO)))
    return edit.program


@pytest.mark.parametrize("mode", ["ssa", "ssa-recompute", "ssa-mixed", "pullback", "cached"])
@pytest.mark.parametrize("name", ["fan-out", "closure as a value", "loop of three turns", "recursion of three calls"])
def test_a_sum_that_loses_a_term_is_not_proved(mode: str, name: str) -> None:
    wrong = keeping_first(gradient_program(construct(name), mode=mode))
    assert not isinstance(judge_j(name, construct(name), gradient=wrong).verdict, Proved)


@pytest.mark.parametrize("name", TAPED)
def test_a_turn_back_that_loses_a_term_is_not_proved(name: str) -> None:
    verdict = judge_tape("turn", TAPED[name], lambda p: keeping_first(gradient_program(p, mode="ssa"))).verdict
    assert not isinstance(verdict, (Proved, OutOfScope)), verdict


def test_an_induction_over_local_pullbacks_sees_a_lost_term() -> None:
    example = EXAMPLES["recursion that is not in tail position"]
    assert not isinstance(judge("lost", example, lambda p: keeping_first(gradient_program(p, mode="pullback"))).verdict, Proved)


def test_code_without_a_loop_has_no_header() -> None:
    assert header(gradient_program(construct("chain rule"), mode="ssa"), "▶f") == ""
    assert isinstance(judge_turns("0 turns", 0, "ssa").verdict, Proved)
