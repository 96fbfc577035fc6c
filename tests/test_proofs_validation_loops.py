"""Loops of two functions: those over a range of any length, and those that no method decides, which end soon all the same."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import adjudge as aj
from adjudge.cli import app
from adjudge.proving import judged
from checkers.smt import paths
from checkers.smt.real import reading
from checkers.smt.replay import exact
from checkers.smt.smtlib import script
from checkers.smt.solver import UNKNOWN, UNSAT, Answer, solve
from checkers.verdict import Proved, Refuted, Unknown
from proofs.validation.lockstep import METHOD
from proofs.validation.straight import Straight
from semantics.denotation import denote
from semantics.edit import applying
from semantics.errors import IllTyped, OutOfFuel, Trap
from semantics.primitives.table import TABLE
from transforms.parse import parse_text

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "same.py"
START, STOP, STEP, TURN = z3.Ints("start stop step turn")
SMALL = st.integers(-9, 9)


# the number of turns of a range


def turns(*bounds: Any) -> Any:
    """range_length, as the reals read it."""
    return denote(applying(TABLE["range_length"]), bounds, reading(Straight()))


@pytest.mark.parametrize("step", [1, -1, 2, -3])
def test_a_range_makes_the_turns_that_stay_inside_it(step: int) -> None:
    """k < range_length(a, b, s) ⟺ element k, a + k s, has not reached b: for all whole numbers."""
    element = START + TURN * step
    inside = element < STOP if step > 0 else element > STOP
    differs = z3.And(TURN >= 0, (turns(START, STOP, step) > TURN) != inside)
    assert solve(script([differs])).status == UNSAT
    assert solve(script([turns(START, STOP, step) < 0])).status == UNSAT


@given(SMALL, SMALL, SMALL.filter(bool))
def test_a_range_has_the_length_that_python_counts(start: int, stop: int, step: int) -> None:
    known = ((START, z3.IntVal(start)), (STOP, z3.IntVal(stop)), (STEP, z3.IntVal(step)))
    for bounds in ((START, STOP, STEP), (START, STOP, step), (START, stop, step), (start, stop, STEP)):
        assert z3.simplify(z3.substitute(turns(*bounds), *known)).as_long() == len(range(start, stop, step))
    assert turns(start, stop, step) == len(range(start, stop, step))


def test_a_range_has_a_step_and_whole_bounds() -> None:
    with pytest.raises(Trap):
        turns(START, STOP, 0)
    with pytest.raises(IllTyped, match="integers"):
        turns(START, z3.Real("x"), 1)


def over_range(x, n: int):  # type: ignore[no-untyped-def]
    r = 1.0
    for i in range(n):
        r = r * x + i
    return r


def downwards(x, n: int):  # type: ignore[no-untyped-def]
    r = 1.0
    for i in range(n, 0, -1):
        r = i + x * r
    return r


def counted(x, n: int):  # type: ignore[no-untyped-def]
    r = 1.0
    i = 0
    while i < n:
        r = x * r + i
        i = i + 1
    return r


def one_more(x, n: int):  # type: ignore[no-untyped-def]
    r = 1.0
    for i in range(n + 1):
        r = r * x + i
    return r


def swapped(x, n: int):  # type: ignore[no-untyped-def]
    r = 1.0
    for i in range(n):
        r = x * r + i
    return r


def test_loops_over_a_range_are_proved_for_every_length() -> None:
    found = aj.equal(over_range, swapped)
    assert isinstance(found, Proved)
    assert "induction" in found.by
    along = aj.equal(over_range, counted, invariant=lambda a, b: a["i"] == b["i"] and a["i"] >= 0 and a["r"] == b["r"])
    assert isinstance(along, Proved)


@pytest.mark.parametrize("wrong", [one_more, downwards])
def test_loops_over_other_ranges_are_refuted(wrong: Any) -> None:
    assert isinstance(aj.equal(over_range, wrong), Refuted)


def test_the_command_proves_a_loop_over_a_range_by_an_invariant() -> None:
    names = [f"{EXAMPLES}:{name}" for name in ("power_over_range", "doubled_over_range", "doubled")]
    found = CliRunner().invoke(app, ["prove", "--same", *names[:2], "--invariant", names[2]])
    assert (found.exit_code, "induction" in found.output) == (0, True), found.output
    found = CliRunner().invoke(app, ["prove", "--same", names[0], names[0], "--invariant", names[2]])
    assert (found.exit_code, "unknown: base" in found.output) == (3, True), found.output


# loops that no method decides


def halved(x):  # type: ignore[no-untyped-def]
    while x > 1.0:
        x = x * 0.5
    return x


def risky(x):  # type: ignore[no-untyped-def]
    while x > 1.0:
        x = x * 0.5 / (x - 4.0) * (x - 4.0)
    return x


def root(x, a):  # type: ignore[no-untyped-def]
    while x * x - a > 0.001:
        x = 0.5 * (x + a / x)
    return x


def root_of_one_quotient(x, a):  # type: ignore[no-untyped-def]
    while x * x - a > 0.001:
        x = (x * x + a) / (2.0 * x)
    return x


def root_of_two_quotients(x, a):  # type: ignore[no-untyped-def]
    while x * x - a > 0.001:
        x = (x * x + a) / (2.0 * x) * (x - a) / (x - a)
    return x


def root_beside_it(x, a):  # type: ignore[no-untyped-def]
    while x * x - a > 0.001:
        x = (x * x + a) / (2.0 * x) + 0.001 / (x * x + a * a + 1.0)
    return x


FEW_QUESTIONS = 20
"""Of z3, whose cost grows with every turn that is unrolled: an induction asks about one turn."""


def test_an_induction_comes_before_the_search_of_paths() -> None:
    """The terms of Newton's method have twice the degree after every turn; before, forty turns were read first."""
    for f, g in ((root, root_of_one_quotient), (risky, halved)):
        found = judged(f, g)
        assert isinstance(found.verdict, Proved), found.verdict
        assert (found.method, len(found.answers) < FEW_QUESTIONS) == (METHOD, True)


@pytest.mark.parametrize(("f", "g"), [(halved, risky), (root, root_of_two_quotients)])
def test_what_no_method_decides_ends_with_the_reasons(f: Any, g: Any) -> None:
    """The right side divides by what may be 0; its paths, its digits and its questions grow with every turn."""
    found = aj.equal(f, g)
    assert isinstance(found, Unknown)
    assert "more than 40 decisions" in found.reason
    assert "a turn of the right loop may be undefined" in found.reason


def test_a_difference_is_shown_at_a_point_where_its_digits_can_be_printed() -> None:
    """Fractions of Newton's method have twice the digits after every turn, and Python prints no more than 4,300."""
    found = aj.equal(root, root_beside_it)
    assert isinstance(found, Refuted)
    assert "in doubles" in str(found.counterexample)


def test_the_solver_is_not_asked_again_on_a_path_that_it_cannot_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(text: str, *, rlimit: int) -> Answer:
        asked.append(text)
        return Answer(UNKNOWN, "it gives up")

    monkeypatch.setattr(paths, "solve", ask)
    program = parse_text("def f(x, y):\n    return x > 0.0 and y > x and x > 0.0 and y > 1.0 and y > 2.0\n", "f")
    found = paths.explore(program, [z3.Real("x"), z3.Real("y")], reading)
    assert (len(asked), len(found)) == (paths.MOST_UNJUDGED, 4)  # what was decided before is not decided twice


def test_a_fraction_has_a_budget_of_digits() -> None:
    squares = parse_text("def f(x):\n    while x > 1.0:\n        x = x * x\n    return x\n", "f")
    assert isinstance(exact(squares, [Fraction(3, 2)]), OutOfFuel)
    assert exact(squares, [Fraction(1, 2)]) == Fraction(1, 2)
    power = parse_text("def f(x, n: int):\n    return x**n\n", "f")
    assert isinstance(exact(power, [Fraction(3), 10**12]), OutOfFuel)
    assert exact(power, [Fraction(-1), 10**12]) == 1
