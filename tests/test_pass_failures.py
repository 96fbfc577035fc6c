"""A pass that drops a failure is refuted; ours, and one that drops what nothing meets, are not."""

from __future__ import annotations

import pytest

import adjudge as aj
from checkers.optimizer_audit.outcomes import Runner, Stopped, Value
from checkers.optimizer_audit.pass_failures import POINTS, dropped, failing
from checkers.optimizer_audit.subjects import as_pass
from semantics.edit import Edit
from semantics.ir import Program
from semantics.primitives.table import TABLE
from transforms.pipeline import PASSES

FAIL, GETITEM, MAKE_TUPLE, MUL = (TABLE[name] for name in ("fail", "getitem", "make_tuple", "mul"))


def applied(program: Program, row: object) -> list[int]:
    """The applications of a primitive."""
    return [u.user for u in sorted(program.users(program.interned[row])) if u.index == 0] if row in program.interned else []


def forgiving(program: Program) -> Program:
    """fail(m)  ⟹  0.0"""
    edit = Edit(program)
    for node in applied(program, FAIL):
        edit.replace(node, edit.constant(0.0))
    return edit.program


def absorbing(program: Program) -> Program:
    """0.0 * y  ⟹  0.0, whatever y is"""
    edit = Edit(program)
    for node in applied(program, MUL):
        if program.constant(program.inputs(node)[1]) == 0.0:
            edit.replace(node, edit.constant(0.0))
    return edit.program


def taking(program: Program) -> Program:
    """(x, y)[0]  ⟹  x, whatever y is"""
    edit = Edit(program)
    for node in applied(program, GETITEM):
        made, index = program.inputs(node)[1:]
        if program.callee(made) is MAKE_TUPLE and program.constant(index) == 0:
            edit.replace(node, program.inputs(made)[1])
    return edit.program


@pytest.mark.parametrize("planted", [forgiving, absorbing, taking])
def test_a_pass_that_drops_a_failure_is_found(planted: object) -> None:
    found = dropped(as_pass(planted, None))
    assert found is not None
    assert "Trap" in str(found.wanted)


def test_the_report_on_it_is_refuted() -> None:
    report = aj.audit(forgiving)
    assert [v.kind for v in report.findings if v.claim == "values are kept bit for bit"] == ["fault"]


@pytest.mark.parametrize("name", PASSES)
def test_no_pass_of_ours_drops_a_failure(name: str) -> None:
    subject = as_pass(PASSES[name], None)
    fired = subject.fired.copy()
    assert dropped(subject) is None
    assert subject.fired == fired


def test_every_program_stops_somewhere_and_some_have_values_elsewhere() -> None:
    ends = [[type(Runner(t.program)(p)) for p in POINTS] for t in failing()]
    assert all(Stopped in found for found in ends)
    assert sum(Value in found for found in ends) >= 4
