"""J case by case, the monoid of sensitivities; and that planted bugs in each are seen."""

from __future__ import annotations

import re
from typing import Any

import pytest

from checkers.verdict import Proved, Refuted, Unknown
from proofs.structural import OBLIGATIONS, PRIMITIVES, construct, judge_j, judge_monoid
from semantics.ir import Program
from semantics.tangents import ZERO, Sparse, gadd
from semantics.text import read
from transforms.gradient_programs import gradient_program


@pytest.mark.parametrize("obligation", OBLIGATIONS, ids=lambda o: o.name)
def test_every_structural_obligation_is_discharged(obligation: Any) -> None:
    verdict = obligation.judge().verdict
    assert isinstance(verdict, Proved), verdict


def _forgets_the_second(a: Any, b: Any) -> Any:
    return a if isinstance(a, tuple) else gadd(a, b)


def _zero_absorbs(a: Any, b: Any) -> Any:
    return ZERO if a is ZERO or b is ZERO else gadd(a, b)


def _sparse_overwrites(a: Any, b: Any) -> Any:
    if isinstance(a, Sparse) and isinstance(b, Sparse):
        return Sparse(a.size, a.entries.update(b.entries))
    return gadd(a, b)


@pytest.mark.parametrize("wrong", [_forgets_the_second, _zero_absorbs, _sparse_overwrites])
def test_a_sum_that_loses_a_contribution_breaks_a_law(wrong: Any) -> None:
    assert isinstance(judge_monoid(wrong).verdict, Refuted)


@pytest.mark.parametrize("name", ["fan-out", "closure as a value", "loop of three turns", "recursion of three calls"])
def test_a_gradient_that_drops_a_contribution_is_not_proved(name: str) -> None:
    """The planted bug of fan-out: the sum is overwritten by its first term."""
    broken = _keeping_first(str(gradient_program(construct(name))))
    verdict = judge_j(name, construct(name), gradient=broken).verdict
    assert isinstance(verdict, (Refuted, Unknown)), verdict


def _keeping_first(text: str) -> Program:
    broken, count = re.subn(r"gadd\((%?[^,()]+), (%?[^,()]+)\)", r"gadd(\1, ZERO)", text)
    assert count > 0
    broken = re.sub(r"  ; (dead|unreachable)", "", broken)
    return read(broken, PRIMITIVES)
