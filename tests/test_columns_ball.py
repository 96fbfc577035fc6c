"""The ball column: every cell encloses what doubles, fractions and more bits say; decisions are made only when certain."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from checkers.ball_differences import float_error, precision
from checkers.columns.ball import BALL, BALLS, ball_column, balls
from checkers.columns.ball_decisions import lift
from checkers.columns.leaves import at_path, coordinates, map_leaves, path_of
from checkers.columns.undecided import Undecided
from semantics.arrays import Array
from semantics.columns.meaning import MEANING
from semantics.denotation import FRACTIONS
from semantics.errors import IllTyped, Trap
from semantics.primitives.row import Hole
from semantics.primitives.table import ARITHMETIC, COMPARISONS, CONVERSIONS, ELEMENTARY, MACROS, ROWS, TABLE
from semantics.tangents import ZERO, Sparse
from semantics.values import Closure

SCALAR = [p.name for p in (*ARITHMETIC, *ELEMENTARY, *CONVERSIONS, *COMPARISONS) if p.name != "not_"]
RATIONAL = [name for name in SCALAR if not isinstance(FRACTIONS.column.find(TABLE[name]), Hole)]
POOL: tuple[Any, ...] = (0.5, -0.5, 2.0, -3.0, 1.0, -1.0, 0.0, 1e-9, 20.0, 0.75, 2, -3, 0, 5)
# units in the last place that libm promises not to exceed, with a factor of two to spare; the rest is correctly rounded
LIBM = 4.0
TABLE_OF_ONE: Any = {1: 7.0}


def ball(name: str, *arguments: Any) -> Any:
    return BALL[TABLE[name]](*arguments)


def combinations(name: str) -> list[tuple[Any, ...]]:
    source = random.Random(name)
    kinds = TABLE[name].signature
    drawn = [tuple(source.random() < 0.5 if k == "boolean" else source.uniform(-5, 5) for k in kinds) for _ in range(20)]
    return [*itertools.product(*((True, False) if k == "boolean" else POOL for k in kinds)), *drawn]


def distance(name: str, arguments: tuple[Any, ...], found: float, enclosed: arb) -> float:
    """The error in units in the last place: of the result, or of what a primitive is defined to round to or to add up."""
    if name == "logaddexp":  # m + log1p(exp(-d)): each part is near, their sum may cancel
        unit = max(math.ulp(max(map(abs, arguments))), math.ulp(found))
        return float(abs(enclosed - arb(found)).upper()) / unit
    if name == "single":  # 2^29 units of f64 are one of f32, and a rounding errs by half of one
        return float_error(found, enclosed) / 2**28
    return float_error(found, enclosed)


@pytest.mark.parametrize("name", SCALAR)
def test_doubles_are_near_the_ball_and_integers_and_booleans_are_equal(name: str) -> None:
    tried = 0
    for arguments in combinations(name):
        try:
            enclosed = ball(name, *map(lift, arguments))
        except (Undecided, Trap):
            continue
        found = MEANING[TABLE[name]](*arguments)
        tried += 1
        if isinstance(enclosed, arb):
            if name in ("mod", "floordiv"):
                # not continuous: a double quotient may round over a jump; then they differ by a whole turn
                continue
            assert distance(name, arguments, float(found), enclosed) <= LIBM, (arguments, found, enclosed)
        else:
            assert type(found) is type(enclosed)
            assert found == enclosed
    assert tried >= min(8, len(combinations(name)))


@pytest.mark.parametrize("name", RATIONAL)
def test_balls_enclose_the_exact_rational(name: str) -> None:
    for arguments in combinations(name):
        try:
            enclosed = ball(name, *map(lift, arguments))
            exact = FRACTIONS.column[TABLE[name]](*map(FRACTIONS.lift, arguments))
        except (Undecided, Trap):
            continue
        if isinstance(exact, Fraction):
            assert (enclosed * exact.denominator).overlaps(arb(exact.numerator))
        else:
            assert exact == enclosed


@pytest.mark.parametrize("name", [n for n in SCALAR if TABLE[n].result == "real"])
def test_a_ball_of_inputs_holds_the_values_at_its_points(name: str) -> None:
    """Inclusion is what makes an enclosure an enclosure."""
    source, tried = random.Random(name), 0
    for _ in range(60):
        arguments = tuple(source.uniform(0.05, 0.95) * source.choice((1, 1, -1)) for _ in TABLE[name].parameters)
        radius = arb(2) ** -source.randint(4, 40)
        try:
            wide = ball(name, *(arb(x, radius) for x in arguments))
            inside = ball(name, *(arb(x) + radius * source.choice((-1, 0, 1)) / 2 for x in arguments))
        except (Undecided, Trap):
            continue
        tried += 1
        assert wide.overlaps(inside)
        assert inside.lower() >= wide.lower()
        assert inside.upper() <= wide.upper()
    assert tried >= 10 or name in ("acosh",)


@given(st.sampled_from(["lt", "le", "gt", "ge", "eq", "ne"]), st.floats(-2, 2), st.floats(-2, 2), st.integers(1, 60))
def test_a_comparison_is_certain_or_undecided(name: str, x: float, y: float, size: int) -> None:
    radius = arb(2) ** -size
    a, b = arb(x, radius), arb(y, radius)
    corners = {MEANING[TABLE[name]](*map(float, map(Fraction, (u, v)))) for u in _ends(x, size) for v in _ends(y, size)}
    try:
        decided = ball(name, a, b)
    except Undecided:
        # some corner lies on the other side, or the balls touch
        assert len(corners) == 2 or a.overlaps(b)
    else:
        assert corners == {decided}


def _ends(x: float, size: int) -> tuple[Fraction, Fraction]:
    return Fraction(x) - Fraction(1, 2**size), Fraction(x) + Fraction(1, 2**size)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("log", (0.0,)),
        ("log", (-1.0,)),
        ("sqrt", (-1.0,)),
        ("div", (1.0, 0.0)),
        ("acosh", (0.5,)),
        ("pow", (-2.0, 0.5)),
        ("pow", (0.0, -1.0)),
    ],
)
def test_outside_the_domain_traps(name: str, arguments: tuple[float, ...]) -> None:
    with pytest.raises(Trap) as caught:
        ball(name, *map(lift, arguments))
    assert type(caught.value) is Trap
    assert caught.value.rule == name


@pytest.mark.parametrize("name", ["log", "sqrt", "abs", "sign", "floor", "cbrt", "ceil", "to_boolean"])
def test_a_ball_across_zero_is_undecided(name: str) -> None:
    with pytest.raises(Undecided) as caught:
        ball(name, arb(0, 0.125))
    assert caught.value.what
    assert caught.value.remedy


@pytest.mark.parametrize(("name", "x"), [("sqrt", 0.0), ("asin", 1.0), ("acos", -1.0), ("acosh", 1.0), ("cbrt", 0.0)])
def test_a_smooth_reading_refuses_points_with_infinite_derivatives(name: str, x: float) -> None:
    assert float_error(MEANING[TABLE[name]](x), ball(name, lift(x))) <= LIBM
    with pytest.raises(Undecided):
        balls(400, True).column[TABLE[name]](lift(x))


def test_integer_powers_are_defined_across_zero() -> None:
    around = arb(0, 0.5)
    assert ball("pow", around, 2).contains(arb(0.25))
    assert ball("pow", around, 0) == 1
    assert ball("pow", around, arb(3)).contains(arb(-0.125))
    assert ball("pow", lift(-2.0), -1) == -0.5
    assert ball("pow", 2, 10) == 1024
    with pytest.raises(Undecided):
        ball("pow", around, -1)


def test_zero_absorbs_products_and_is_neutral_for_sums() -> None:
    x = lift(1.5)
    assert ball("mul", ZERO, x) is ZERO
    assert ball("div", ZERO, x) is ZERO
    assert ball("add", ZERO, x) == x
    assert ball("gadd", x, ZERO) == x
    assert ball("neg", ZERO) is ZERO


def test_every_cell_works_at_its_own_precision_and_leaves_that_of_the_caller() -> None:
    before = ctx.prec
    third = ball_column(1000)[TABLE["div"]](lift(1.0), lift(3.0))
    assert ctx.prec == before
    with precision(1100):
        assert third.overlaps(arb(1) / 3)
        assert third.rad() < arb(2) ** -900
    with pytest.raises(Trap):
        BALL[TABLE["log"]](lift(-1.0))
    assert ctx.prec == before


def test_the_sum_of_exponentials_is_enclosed_where_exponentials_are_not() -> None:
    assert ball("logaddexp", lift(1e300), lift(-1e300)).overlaps(lift(1e300))
    assert float_error(math.log(2.0), ball("logaddexp", lift(0.0), lift(0.0))) <= LIBM
    around = ball("logaddexp", arb(0, 0.5), arb(0, 0.5))
    assert around.lower() <= math.log(2.0) - 0.5
    assert around.upper() >= math.log(2.0) + 0.5


def test_an_array_of_balls_is_read_element_by_element() -> None:
    array = BALLS.lift(Array("f64", (2,), (1.0, 3.0)))
    third = ball("div", array, lift(3.0))
    assert (third.dtype, third.shape) == ("f64", (2,))
    assert third.items[0].overlaps(arb(1) / 3)
    assert ball("reduce_sum", array, None, False) == 4
    assert ball("to_boolean", BALLS.lift(Array("f64", (1,), (2.0,)))) is True
    with pytest.raises(Undecided):
        ball("reduce_max", Array("f64", (2,), (arb(0, 1), arb(0, 1))), None, False)


def test_nan_is_no_real_and_a_boolean_is_no_number() -> None:
    with pytest.raises(Trap):
        BALLS.lift(math.nan)
    with pytest.raises(IllTyped):
        ball("add", True, lift(1.0))
    assert ball("lt", lift(1.0), BALLS.lift(math.inf)) is True
    assert ball("max", lift(1.0), BALLS.lift(-math.inf)) == 1


def test_every_row_has_a_ball_or_says_why_not() -> None:
    for row in ROWS:
        cell = BALL.find(row)
        assert isinstance(cell, Hole) == (row in MACROS)
        assert not isinstance(cell, Hole) or cell.reason


def test_leaves_are_walked_left_to_right_with_their_paths() -> None:
    value = ((1.0, 2), Closure(3, (4.0,)), None)
    assert coordinates(value) == ((0, 0), (1, 0))
    assert map_leaves(lambda path, leaf: path, value, closures=False) == (((0, 0), (0, 1)), ((1, 0),), (2,))
    assert at_path(value[0], (1,)) == 2
    assert at_path(ZERO, (1, 2)) is ZERO
    assert path_of(value, (0, 0)) == (0, 0)
    assert map_leaves(lambda _, leaf: leaf, Sparse(2, TABLE_OF_ONE)) == (ZERO, 7.0)
    with pytest.raises(IllTyped):
        path_of(value, (0, 1))
