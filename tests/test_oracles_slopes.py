"""Slopes and identities in a prime field: J's structure without calculus (T26), identity of programs (T27)."""

from __future__ import annotations

from typing import Any

import pytest
from test_oracles_programs import PROGRAMS, program

from checkers.columns.modular import MODULAR, Oracle, P, Residue, modular, residue
from checkers.slopes import identical_mod_p, slope_identity, with_slopes
from checkers.verdict import Passed, Refuted, Unknown, Vacuous, Verdict
from semantics.denotation import denote
from semantics.edit import Edit
from semantics.errors import Trap
from semantics.ir import Program
from semantics.primitives.row import Hole
from semantics.primitives.table import MACROS, ROWS, TABLE
from semantics.text import read
from semantics.type_language import parse_type
from transforms.gradient_programs import gradient_program

# loops that wait for a real to become small never end in a field, and rounding has no meaning there
OUT_OF_REACH = ("while", "modulo")


def line(body: str, parameters: str = "%x") -> Program:
    """A program of one graph from its equations; the last one is the result."""
    equations = [e.strip() for e in body.split(";")]
    last = equations[-1].split("=")[0].strip()
    return read("\n".join(["program @f", "", f"@f({parameters}):", *(f"  {e}" for e in equations), f"  return {last}"]))


def typed(value: Any) -> Any:
    return {float: parse_type("f64"), int: parse_type("i64")}.get(type(value))


def judged(name: str, point: tuple[Any, ...], break_it: Any = lambda p: p) -> Verdict:
    """T26 for one program; `break_it` damages its J-program first."""
    sloped = with_slopes(program(name))
    wrt = tuple(i for i, v in enumerate(point) if not isinstance(v, int))
    adjoint = break_it(gradient_program(sloped, wrt=wrt, types=[typed(v) for v in point]))

    def all_of(cotangents: Any) -> tuple[Any, ...]:
        return tuple(cotangents[wrt.index(i)] if i in wrt else None for i in range(len(point)))

    return slope_identity(sloped, adjoint, template=point, select=all_of)


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in OUT_OF_REACH])
def test_j_with_slopes_gives_differences_exactly(name: str) -> None:
    for point in PROGRAMS[name][2]:
        assert isinstance(judged(name, point), Passed)


@pytest.mark.parametrize("name", OUT_OF_REACH)
def test_what_a_field_cannot_run_is_vacuous(name: str) -> None:
    assert isinstance(judged(name, PROGRAMS[name][2][0]), Vacuous)


def overwrites(p: Program) -> Program:
    """The bug of aliased parameters: a second contribution replaces the first instead of being added."""
    edit = Edit(p)
    for node in sorted(p.nodes):
        if p.callee(node) is TABLE["gadd"]:
            edit.replace(node, p.inputs(node)[2])
    return edit.program


@pytest.mark.parametrize("name", ["polynomial", "aliased", "captured", "loop", "tree", "newton", "logistic"])
def test_overwriting_instead_of_adding_is_caught(name: str) -> None:
    assert isinstance(judged(name, PROGRAMS[name][2][0], overwrites), Refuted)


def test_the_gradient_of_another_program_is_caught() -> None:
    other = gradient_program(with_slopes(program("polynomial")), wrt=(0, 1))
    assert isinstance(judged("captured", (1.0, 1.0), lambda _: other), Refuted)


IDENTITIES = [
    (
        "%a = add(%x, %y); %b = mul(%a, %a)",
        "%a = mul(%x, %x); %b = mul(%x, %y); %c = mul(%y, %y); %d = mul(2.0, %b); %e = add(%a, %d); %f = add(%e, %c)",
    ),
    ("%a = div(%x, %y)", "%a = div(1.0, %y); %b = mul(%x, %a)"),
    ("%a = pow(%x, 3)", "%a = mul(%x, %x); %b = mul(%a, %x)"),
    ("%a = pow(%x, 2.0)", "%a = mul(%x, %x)"),
    ("%a = add(%x, %y); %b = exp(%a)", "%a = add(%y, %x); %b = exp(%a)"),
    ("%a = max(%x, %y)", "%a = max(%y, %x)"),
    ("%c = lt(%x, %y); %a = switch(%c, %x, %y)", "%c = gt(%y, %x); %a = switch(%c, %x, %y)"),
    ("%a = neg(%x); %b = abs(%a)", "%a = abs(%x)"),
]


@pytest.mark.parametrize(("left", "right"), IDENTITIES)
def test_identities_pass(left: str, right: str) -> None:
    assert isinstance(identical_mod_p(line(left, "%x, %y"), line(right, "%x, %y")), Passed)


def test_different_rational_functions_are_refuted_with_exact_values() -> None:
    verdict = identical_mod_p(line("%a = mul(%x, %x)"), line("%a = mul(%x, %x); %b = add(%a, 1e-30)"))
    assert isinstance(verdict, Refuted)
    assert verdict.counterexample.found > verdict.counterexample.wanted


def test_a_law_of_a_transcendental_is_unknown_here() -> None:
    """exp(x + y) = exp(x) exp(y) holds, but not for every function in the place of exp."""
    left, right = line("%a = add(%x, %y); %b = exp(%a)", "%x, %y"), line("%a = exp(%x); %b = exp(%y); %c = mul(%a, %b)", "%x, %y")
    assert isinstance(identical_mod_p(left, right), Unknown)


def test_nothing_is_claimed_outside_the_domain() -> None:
    nowhere = line("%a = sub(%x, %x); %b = div(1.0, %a)")
    assert isinstance(identical_mod_p(nowhere, nowhere), Vacuous)


def test_integers_stay_integers_in_the_template() -> None:
    assert isinstance(identical_mod_p(program("recursion"), line("%a = pow(%x, %n)", "%x, %n"), template=(0.0, 7)), Passed)


def test_an_oracle_answers_alike_and_is_counted() -> None:
    oracle = Oracle(3)
    assert oracle("exp", Residue(5)) == oracle("exp", Residue(5))
    assert oracle("exp", Residue(5)) != oracle("exp", Residue(6))
    assert oracle("exp", Residue(5)) != Oracle(4)("exp", Residue(5))
    assert oracle.asked == 5
    assert denote(line("%a = mul(%x, 0.5)"), (Residue(8),), modular(oracle)) == residue(4)
    assert oracle.asked == 5


def test_rounding_and_infinities_have_no_residue() -> None:
    with pytest.raises(Trap):
        MODULAR[TABLE["floor"]](Residue(3))
    with pytest.raises(Trap):
        modular(Oracle()).lift(float("inf"))
    assert residue(-1).value == P - 1


def test_every_row_has_a_residue_or_says_why_not() -> None:
    for row in ROWS:
        cell = MODULAR.find(row)
        assert isinstance(cell, Hole) == (row in MACROS)
