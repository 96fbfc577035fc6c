"""The scalar rows that NumPy has and Python has not: maximum, minimum, where, logaddexp, single, and_, or_, in every column."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import backend
from backend import running_error
from backend.running_error import Bounded, bounds
from checkers import forward_mode
from checkers.columns import ball
from checkers.columns.modular import Oracle, P, Residue, modular
from semantics.columns import exact
from semantics.columns.meaning import MEANING
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.text import read
from semantics.values import same
from transforms.backpropagators import backpropagator
from transforms.gradient_programs import gradient_program

INF, NAN = math.inf, math.nan
AWKWARD = (0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 1e300, -1e300, 1e-320, 0.1, -7.7, 3.5e38, 2.0**-150)


def applied(name: str, parameters: str = "%x: f64, %y: f64", arguments: str = "%x, %y") -> Program:
    return read(f"program @f\n@f({parameters}):\n  %r = {name}({arguments})\n  return %r")


def meaning(name: str, *arguments: Any) -> Any:
    return MEANING[TABLE[name]](*arguments)


def pulled(name: str, *arguments: Any) -> Any:
    return run(backpropagator(TABLE[name]), *arguments)


@pytest.mark.parametrize("name", ["maximum", "minimum", "logaddexp"])
def test_two_reals_give_the_bits_that_numpy_gives(name: str) -> None:
    """logaddexp is the same formula on the same C library; a zero of maximum may have either sign, as NumPy says."""
    for x, y in itertools.product(AWKWARD, repeat=2):
        with np.errstate(all="ignore"):
            wanted = float(getattr(np, name)(x, y))
        found = meaning(name, x, y)
        assert same(found, wanted) or (name != "logaddexp" and found == wanted == 0.0), (x, y)


@given(st.floats())
def test_single_is_the_rounding_to_f32(x: float) -> None:
    with np.errstate(all="ignore"):
        assert same(meaning("single", x), float(np.float32(x)))


def test_where_gives_the_value_in_the_type_in_which_both_meet_and_evaluates_both() -> None:
    assert same(meaning("where", True, 1, 2.0), 1.0)
    assert same(meaning("where", False, True, 2), 2)
    assert same(meaning("where", True, True, 2), 1)
    assert same(meaning("where", True, True, 2.0), 1.0)
    assert meaning("where", True, True, False) is True
    assert meaning("where", False, ZERO, 2.0) == 2.0
    assert meaning("where", True, ZERO, 2.0) is ZERO


# compiled


EVERYTHING = read("""
program @f
@f(%x: f64, %y: f64):
  %a = logaddexp(%x, %y)
  %b = single(%x)
  %c = maximum(%x, %y)
  %d = minimum(%x, %y)
  %l = lt(%x, %y)
  %g = gt(%x, 0.5)
  %m = and_(%l, %g)
  %n = or_(%l, %g)
  %w = where(%m, %x, %y)
  %r = make_tuple(%a, %b, %c, %d, %m, %n, %w)
  return %r
""")
COMPILED = {target: backend.compile(EVERYTHING, None, target) for target in ("python", "cpu")}


@pytest.mark.parametrize("target", list(COMPILED))
def test_compiled_code_has_the_references_bits(target: str) -> None:
    for x, y in itertools.product(AWKWARD, repeat=2):
        assert same(COMPILED[target](x, y), run(EVERYTHING, x, y)), (x, y)


@given(st.floats(), st.floats())
def test_compiled_code_has_the_references_bits_on_any_reals(x: float, y: float) -> None:
    assert same(COMPILED["cpu"](x, y), run(EVERYTHING, x, y))


def test_a_choice_with_nothing_on_one_side_stays_a_choice() -> None:
    """where(c, d, ZERO) is ZERO where c is false, also times infinity; compiled too."""
    program = read("""
program @f
@f(%c: bool, %d: f64):
  %w = where(%c, %d, ZERO)
  %p = mul(%w, inf)
  %r = instantiate(%p, %d)
  return %r
""")
    compiled = backend.compile(program)
    for c in (True, False):
        assert same(compiled(c, 0.5), run(program, c, 0.5))
    assert run(program, False, 0.5) == 0.0


def test_extremes_and_choices_of_integers_stay_integers() -> None:
    for name in ("maximum", "minimum"):
        program = applied(name, "%x: i64, %y: i64")
        assert backend.compile(program)(3, -4) == run(program, 3, -4) == meaning(name, 3, -4)


def test_the_running_error_bounds_two_ways_to_compute_a_sum_of_exponentials() -> None:
    """The bound at exact inputs covers the distance to the true value: 400 bits tell."""
    from checkers.ball_differences import enclosure

    program = applied("logaddexp")
    for x, y in ((0.0, 0.0), (-0.6931471805599453, -0.6931471805599452), (-0.5, -1.0), (30.0, -2.0), (700.0, 700.5)):
        found = bounds(program, (x, y))
        assert isinstance(found, Bounded)
        assert same(found.value, meaning("logaddexp", x, y))
        error = abs(enclosure(program, (x, y)) - found.value).upper()
        assert float(error) <= found.bound


# derivatives


def test_a_sum_of_exponentials_shares_its_sensitivity_also_among_infinities() -> None:
    rows = (((INF, 0.0), (1.0, 0.0)), ((0.0, -INF), (1.0, 0.0)), ((INF, INF), (0.5, 0.5)), ((-INF, -INF), (0.5, 0.5)))
    rows += (((-INF, INF), (0.0, 1.0)), ((1e300, -1e300), (1.0, 0.0)), ((2.0, 2.0), (0.5, 0.5)))
    for (x, y), shares in rows:
        assert pulled("logaddexp", x, y, meaning("logaddexp", x, y), 1.0) == shares
    assert all(map(math.isnan, pulled("logaddexp", NAN, 1.0, NAN, 1.0)))


def test_the_second_derivative_of_a_sum_of_exponentials_is_right_where_both_are_equal() -> None:
    """The branch for two equal infinities must not be the one that finite ties take: its difference is constant."""
    program = applied("logaddexp")
    for x, y in ((1.0, 1.0), (0.25, -0.5), (0.0, -0.0)):
        share = 1.0 / (1.0 + math.exp(y - x))
        found = run(gradient_program(gradient_program(program)), x, y)
        # four roundings of numbers below 1
        assert abs(found - share * (1.0 - share)) <= 4 * 2.0**-53
        assert abs(found - forward_mode.second_derivative(program, (x, y))) <= 8 * 2.0**-53


@pytest.mark.parametrize(("name", "better"), [("maximum", 3.0), ("minimum", 1.0)])
def test_an_extreme_sends_its_sensitivity_to_what_it_returns_and_on_a_tie_to_the_first(name: str, better: float) -> None:
    other = 4.0 - better
    assert pulled(name, better, other, better, 5.0) == (5.0, 0.0)
    assert pulled(name, other, better, better, 5.0) == (0.0, 5.0)
    assert pulled(name, 2.0, 2.0, 2.0, 5.0) == (5.0, 0.0)


def test_what_is_not_chosen_gets_nothing() -> None:
    assert pulled("where", True, 1.0, 2.0, 1.0, 5.0) == (ZERO, 5.0, ZERO)
    assert pulled("where", False, 1.0, 2.0, 2.0, 5.0) == (ZERO, ZERO, 5.0)
    assert pulled("and_", True, False, False, ZERO) == (ZERO, ZERO)
    assert pulled("or_", True, False, True, ZERO) == (ZERO, ZERO)
    assert pulled("single", 0.1, meaning("single", 0.1), 5.0) == (5.0,)


def test_modulo_a_prime_an_extreme_is_one_of_its_arguments_and_a_sum_of_exponentials_any_function() -> None:
    oracle = Oracle(3)
    column = modular(oracle).column
    x, y = Residue(5), Residue(7)
    assert {column[TABLE[n]](x, y).value for n in ("maximum", "minimum")} == {5, 7}
    assert column[TABLE["where"]](True, x, y) is x
    assert column[TABLE["single"]](x) is x
    asked = oracle.asked
    assert column[TABLE["logaddexp"]](x, y) == column[TABLE["logaddexp"]](x, y)
    assert oracle.asked == asked + 2


RESIDUES = modular(Oracle(3)).column


@pytest.mark.parametrize(
    ("cell", "half", "kind"),
    [
        (lambda name: exact.CELLS[name], Fraction(1, 2), Fraction),
        (lambda name: ball.BALL[TABLE[name]], arb(0.5), arb),
        (lambda name: RESIDUES[TABLE[name]], Residue(pow(2, -1, P)), Residue),
        (lambda name: running_error.CELLS[name], running_error.lift(0.5), Bounded),
    ],
)
def test_in_every_column_a_mixture_is_a_real_and_the_sign_of_an_integer_an_integer(cell: Any, half: Any, kind: type) -> None:
    for name in ("maximum", "minimum"):
        assert {type(cell(name)(x, y)) for x, y in ((1, half), (half, 1), (-1, half), (half, -1))} == {kind}
        assert {type(cell(name)(x, y)) for x, y in ((1, 2), (2, 1))} == {int}
    assert {type(cell("where")(c, x, y)) for c in (True, False) for x, y in ((1, half), (half, 1))} == {kind}
    assert type(cell("where")(True, 1, 2)) is int
    assert [cell("sign")(n) for n in (-3, 0, 5)] == [-1, 0, 1]
    assert type(cell("sign")(-3)) is int
    assert type(cell("sign")(half)) is kind
