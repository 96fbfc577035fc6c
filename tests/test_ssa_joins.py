"""What follows a branch is called once: where the rule fires, near misses, and that values and traps are kept."""

from __future__ import annotations

import pytest
from corpus import CASES, Case
from hypothesis import given
from hypothesis import strategies as st
from ssa_programs import modules

from checkers.optimizer_audit import audit
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import run
from semantics.ssa.form import Module
from semantics.text import read
from semantics.values import same
from transforms.parse import parse_text
from transforms.ssa.from_graph import first_order, to_ssa
from transforms.ssa.joins import SYSTEM
from transforms.ssa.to_graph import to_graph


def ways(then: str, otherwise: str, after: str = "%v") -> Program:
    return read(
        f"""
        program @f
        @f(%x: f64):
          %c = gt(%x, 0)
          %s = switch(%c, @then, @otherwise)
          %n = %s()
          return %n
        @then():
          %a = mul(%x, 2.0)
          {then}
          return %t
        @otherwise():
          %b = sin(%x)
          {otherwise}
          return %o
        @after({after}):
          %r = add(%v, %x)
          return %r
        @elsewhere(%e):
          return %e
        """
    )


def test_what_follows_is_called_once_with_the_value_of_the_conditional() -> None:
    joined = SYSTEM.run(ways("%t = @after(%a)", "%o = @after(%b)"))
    after = next(n for n in joined.interned.values() if joined.describe_name(n) == "@after")
    assert len(joined.users(after)) == 1
    assert len(SYSTEM.derive(ways("%t = @after(%a)", "%o = @after(%b)"))) == 1
    assert run(joined, 2.0) == 6.0
    assert run(joined, -1.0) == run(ways("%t = @after(%a)", "%o = @after(%b)"), -1.0)


@pytest.mark.parametrize(
    "program",
    [
        ways("%t = @after(%a)", "%o = @elsewhere(%b)"),  # two that follow
        ways("%t = @after(%a)", "%o = neg(%b)"),  # one way ends elsewhere
        ways("%t = @after(%a, %x)", "%o = @after(%b, %c)", "%v, %w"),  # two arguments differ
        ways("%t = @after(%x)", "%o = @after(%x)"),  # none does: the ways may trap, and must be taken
        ways("%t = @after(%a)", "%p = @after(%b)\n          %o = add(%p, 1.0)"),  # what follows is not at the end
    ],
)
def test_near_misses_are_left(program: Program) -> None:
    assert SYSTEM.run(program) is program


def outcome(program: Program, x: float) -> object:
    """The value, or the kind and text of the error."""
    try:
        return run(program, x, fuel=100_000)
    except AdjudgeError as error:
        return type(error).__name__, error.what


@pytest.mark.parametrize("case", [c for c in CASES if c.file.startswith(("branches", "loops"))], ids=lambda c: c.name)
def test_a_joined_program_is_the_program(case: Case) -> None:
    try:
        program = to_graph(to_ssa(first_order(parse_text(case.text, case.name))))
    except AdjudgeError:
        return  # not of first order: `docs/agreement.md` lists these
    joined = SYSTEM.run(program)
    for point in case.points:
        a, b = outcome(program, float(point)), outcome(joined, float(point))
        assert same(a, b) if not isinstance(a, tuple) else a == b


@given(modules(), st.tuples(*[st.integers(-3, 3)] * 3))
def test_values_and_traps_of_modules_are_kept(module: Module, point: tuple[int, ...]) -> None:
    program = to_graph(module)
    a, b = settled(program, point), settled(SYSTEM.run(program), point)
    assert a == b


def settled(program: Program, point: tuple[int, ...]) -> object:
    """The value, or the kind of the error."""
    try:
        return run(program, *point, fuel=20_000)
    except AdjudgeError as error:
        return type(error).__name__


def test_the_judge_of_passes_finds_no_fault() -> None:
    report = audit(SYSTEM, skip=("translation validation", "order"))
    assert [f for f in report.findings if f.kind == "fault"] == []
