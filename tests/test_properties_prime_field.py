"""T26 and T27 as properties: of programs, and of broken variants of J."""

from __future__ import annotations

import pytest
from mutants.transform import MUTANTS
from test_oracles_programs import PROGRAMS, program

from checkers.properties.prime_field import identical, slopes_add_up
from checkers.verdict import Passed, Refuted
from semantics.text import read

SMOOTH = ("polynomial", "aliased", "captured", "newton", "logistic")


@pytest.mark.parametrize("name", SMOOTH)
def test_slopes_add_up(name: str) -> None:
    assert isinstance(slopes_add_up(program(name), PROGRAMS[name][2][0]), Passed)


@pytest.mark.parametrize("name", ["fan-out overwrites", "second use dropped", "captures forgotten"])
def test_a_fault_in_j_breaks_the_sum_of_slopes(name: str) -> None:
    (mutant,) = [m for m in MUTANTS if m.name == name]
    verdicts = [slopes_add_up(program(n), PROGRAMS[n][2][0], mutant.gradient) for n in SMOOTH]
    assert any(isinstance(v, Refuted) for v in verdicts)


def test_a_program_is_identical_to_itself_expanded() -> None:
    square = read("program @f\n@f(%x, %y):\n  %a = add(%x, %y)\n  %b = mul(%a, %a)\n  return %b")
    longer = read(
        "program @f\n@f(%x, %y):\n  %a = add(%x, %y)\n  %b = mul(%a, %x)\n  %c = mul(%a, %y)\n  %d = add(%b, %c)\n  return %d"
    )
    wrong = read("program @f\n@f(%x, %y):\n  %a = mul(%x, %x)\n  return %a")
    assert isinstance(identical(square, longer), Passed)
    assert isinstance(identical(square, wrong), Refuted)
