"""The tangent column: every partial of every primitive against differences in ball arithmetic, and in doubles."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from flint import arb

from checkers import ball_differences, forward_mode, trace_reversal
from checkers.ball_differences import precision
from checkers.columns.ball import balls
from checkers.columns.partials import HOLES, SMOOTH, TANGENT, Partials, partials
from checkers.columns.undecided import Undecided
from checkers.verdict import OutOfScope, Passed, Refuted
from semantics.denotation import FLOATS, FRACTIONS
from semantics.errors import Trap
from semantics.ir import Program
from semantics.primitives.row import Hole, Primitive
from semantics.primitives.table import COMPARISONS, ROWS, TABLE
from semantics.tangents import ZERO
from semantics.text import read

Point = tuple[float, ...]
EDGES = (0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 1e-5, -1e-5, 1e-300, 1.0 + 2.0**-52, 1.0 - 2.0**-53, -0.75, 20.0, -20.0, 1e10)
REAL = [name for name in SMOOTH if name not in {p.name for p in COMPARISONS} | {"to_boolean", "where"}]


def applied(name: str) -> Program:
    """x... -> name(x...) as a real."""
    arity = len(TABLE[name].parameters)
    parameters = ", ".join(f"%x{i}" for i in range(arity))
    return read(f"program @f\n\n@f({parameters}):\n  %o = {name}({parameters})\n  %r = to_real(%o)\n  return %r\n")


def points(name: str) -> list[Point]:
    """Edge points and random ones of many sizes, where the primitive is defined and has no kink."""
    row, source = TABLE[name], random.Random(name)
    arity = len(row.parameters)
    pool: list[Point] = [(x,) * 1 for x in EDGES] if arity == 1 else [(x, y) for x in EDGES[:12] for y in EDGES[:12]]
    pool += [tuple(source.uniform(-4, 4) for _ in range(arity)) for _ in range(12)]
    pool += [tuple(source.choice((-1, 1)) * 10 ** source.uniform(-8, 2) for _ in range(arity)) for _ in range(12)]
    return [p for p in pool if row.in_domain(*p) and not (row.on_kink(*p) and name not in ("pow", "to_integer"))][:60]


def slope(column: Any, name: str, i: int, arguments: tuple[Any, ...], out: Any) -> Any:
    """The partial; a real zero for ZERO."""
    cell = column[TABLE[name]]
    assert isinstance(cell, Partials)
    found = cell.wanted([k == i for k in range(len(arguments))], (*arguments, out))[i]
    return arb(0) if found is ZERO else found


def judged(name: str, column_of: Callable[..., Any] = partials) -> tuple[int, int, list[str]]:
    """How many partials agreed with a difference quotient, how many were on a boundary, and those that did not agree."""
    agreed, boundary, wrong = 0, 0, []
    for point in points(name):
        for i in range(len(point)):
            try:
                quotient, box, bits = ball_differences._enclose(applied(name), point, ((i,),), 400, ball_differences._whole)
                with precision(bits):
                    reading = balls(bits)
                    arguments = box.all()
                    found = slope(column_of(reading), name, i, arguments, reading.column[TABLE[name]](*arguments))
                    (wrong.append(f"{name} {point} {i}: {found} {quotient}") if not quotient.overlaps(found) else None)
                    agreed += 1
            except (Undecided, Trap):
                boundary += 1
    return agreed, boundary, wrong


@pytest.mark.parametrize("name", REAL)
def test_every_partial_overlaps_the_difference_quotient(name: str) -> None:
    agreed, boundary, wrong = judged(name)
    assert not wrong
    assert agreed >= 10
    assert agreed >= boundary


@pytest.mark.parametrize("name", REAL)
def test_doubles_of_every_partial_lie_in_balls_of_fifty_bits(name: str) -> None:
    """
    At 50 bits every inexact operation widens the ball by 2^-50 or more, while in doubles it errs by 2 ulp, 2^-51, at most;
    so the same formula in doubles stays inside, as long as nothing overflows or is subnormal.
    """
    reading = balls(50)
    tried = 0
    for point in points(name):
        for i in range(len(point)):
            try:
                with precision(50):
                    arguments = tuple(arb(x) for x in point)
                    enclosed = slope(partials(reading), name, i, arguments, reading.column[TABLE[name]](*arguments))
            except (Undecided, Trap):
                continue
            out = FLOATS.column[TABLE[name]](*point)
            found = slope(TANGENT, name, i, point, out)
            value = 0.0 if isinstance(found, arb) else found
            if math.isfinite(value) and enclosed.abs_upper() > 1e-290:
                tried += 1
                assert enclosed.contains(arb(value)), (point, i, value, enclosed)
    assert tried >= 8 or name in ("floordiv", "sign", "floor", "ceil", "to_integer")


PLANTED: list[tuple[str, int, Callable[..., Any]]] = [
    ("sin", 0, lambda n, x, out: n.neg(n.cos(x))),
    ("mul", 1, lambda n, x, y, out: y),
    ("div", 1, lambda n, x, y, out: n.div(out, y)),
    ("tanh", 0, lambda n, x, out: n.sub(n.real(1.0), out)),
    ("acos", 0, lambda n, x, out: n.div(n.real(1.0), n.sqrt(n.sub(n.real(1.0), n.mul(x, x))))),
    ("log2", 0, lambda n, x, out: n.div(n.real(1.0), x)),
    ("atan2", 0, lambda n, y, x, out: n.div(y, n.hypot(x, y))),
    ("erf", 0, lambda n, x, out: n.exp(n.neg(n.mul(x, x)))),
    ("max", 0, lambda n, x, y, out: n.real(1.0)),
    ("pow", 1, lambda n, x, y, out: n.mul(out, n.log(n.add(x, n.real(1e-12))))),
    ("copysign", 0, lambda n, x, y, out: n.copysign(n.real(1.0), y)),
    ("floor", 0, lambda n, x, out: n.real(1.0)),
    ("exp", 0, lambda n, x, out: n.mul(out, n.real(1.0 + 2.0**-40))),
]


@pytest.mark.parametrize(("name", "i", "mistake"), PLANTED)
def test_a_wrong_partial_is_caught(name: str, i: int, mistake: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    planted = tuple(mistake if k == i else p for k, p in enumerate(SMOOTH[name]))
    monkeypatch.setitem(SMOOTH, name, planted)
    assert judged(name)[2]


def test_every_row_has_partials_or_says_why_not() -> None:
    for row in ROWS:
        cell = TANGENT.find(row)
        if isinstance(cell, Hole):
            assert cell.reason
            assert row.name in HOLES
        else:
            assert isinstance(cell, Partials)
            assert len(cell.each) == len(row.parameters)


INF = math.inf
CONVENTIONS: list[tuple[str, Point, tuple[Any, ...]]] = [
    ("abs", (0.0,), (0.0,)),
    ("min", (1.0, 1.0), (1.0, 0.0)),
    ("max", (1.0, 1.0), (1.0, 0.0)),
    ("min", (2.0, 1.0), (0.0, 1.0)),
    ("max", (1.0, 2.0), (0.0, 1.0)),
    ("minimum", (1.0, 1.0), (1.0, 0.0)),
    ("maximum", (1.0, 1.0), (1.0, 0.0)),
    ("minimum", (2.0, 1.0), (0.0, 1.0)),
    ("maximum", (1.0, 2.0), (0.0, 1.0)),
    ("where", (True, 2.0, 3.0), (ZERO, 1.0, ZERO)),
    ("where", (False, 2.0, 3.0), (ZERO, ZERO, 1.0)),
    ("logaddexp", (-INF, 1.0), (0.0, 1.0)),
    ("logaddexp", (INF, 1.0), (1.0, 0.0)),
    ("and_", (True, False), (ZERO, ZERO)),
    ("sqrt", (0.0,), (INF,)),
    ("cbrt", (0.0,), (INF,)),
    ("asin", (1.0,), (INF,)),
    ("acos", (-1.0,), (-INF,)),
    ("acosh", (1.0,), (INF,)),
    ("hypot", (0.0, 0.0), (0.0, 0.0)),
    ("copysign", (0.0, -1.0), (-0.0, ZERO)),
    ("copysign", (-2.0, -1.0), (1.0, ZERO)),
    ("floor", (2.0,), (ZERO,)),
    ("mod", (6.0, 2.0), (1.0, -3.0)),
    ("floordiv", (6.0, 2.0), (ZERO, ZERO)),
    ("sign", (0.0,), (ZERO,)),
    ("pow", (0.0, 0.0), (0.0, 0.0)),
    ("pow", (0.0, 1.0), (1.0, 0.0)),
    ("pow", (0.0, 2.0), (0.0, 0.0)),
    ("pow", (0.0, 0.5), (INF, 0.0)),
    ("lt", (1.0, 1.0), (ZERO, ZERO)),
]


@pytest.mark.parametrize(("name", "point", "expected"), CONVENTIONS)
def test_conventions_at_kinks_are_as_documented(name: str, point: Point, expected: tuple[Any, ...]) -> None:
    found = TANGENT[TABLE[name]](*point, FLOATS.column[TABLE[name]](*point))
    assert found == expected


@pytest.mark.parametrize(("x", "n", "expected"), [(0.0, 0, 0.0), (0.0, 1, 1.0), (0.0, 2, 0.0), (-3.0, 3, 27.0), (-2.0, -1, -0.25)])
def test_an_integer_power_is_smooth_for_every_base(x: float, n: int, expected: float) -> None:
    p = read("program @f\n\n@f(%x, %n):\n  %r = pow(%x, %n)\n  return %r\n")
    assert forward_mode.derivative(p, (x, n)) == expected
    assert trace_reversal.gradient(p, (x, n)) == (expected, None)
    derivative = read("program @f\n\n@f(%x, %n):\n  %m = sub(%n, 1)\n  %p = pow(%x, %m)\n  %r = mul(%n, %p)\n  return %r\n")
    if n:
        assert isinstance(ball_differences.agrees(p, derivative, (x, n)), Passed)


def test_a_user_primitive_brings_its_own_tangent() -> None:
    """A user's cell is a directional derivative (x..., dx...) -> dout."""
    own = Primitive(
        "softplus",
        ("x",),
        ("real",),
        "real",
        columns={"meaning": lambda x: math.log1p(math.exp(x)), "tangent": lambda x, dx: dx / (1.0 + math.exp(-x))},
    )
    p = read("program @f\n\n@f(%x):\n  %a = softplus(%x)\n  %b = mul(%a, %x)\n  return %b\n", {**TABLE, "softplus": own})
    expected = 0.5 / (1.0 + math.exp(-0.5)) + math.log1p(math.exp(0.5))
    assert forward_mode.derivative(p, (0.5,)) == expected
    assert trace_reversal.gradient(p, (0.5,)) == (expected,)


def test_a_user_primitive_with_a_program_is_read_through() -> None:
    body = read("program @sq\n\n@sq(%x, %y):\n  %a = mul(%x, %x)\n  %b = mul(%a, %y)\n  return %b\n")
    own = Primitive("own", ("x", "y"), ("real", "real"), "real", columns={"program": body, "meaning": lambda x, y: x * x * y})
    p = read("program @f\n\n@f(%x):\n  %a = own(%x, 3.0)\n  %b = add(%a, %x)\n  return %b\n", {**TABLE, "own": own})
    assert forward_mode.derivative(p, (2.0,)) == 13.0
    assert trace_reversal.gradient(p, (2.0,)) == (13.0,)
    assert forward_mode.second_derivative(p, (2.0,), 0, 0, FRACTIONS) == 6


def test_a_wrong_derivative_program_is_refuted_and_a_right_one_passes() -> None:
    right = read("program @g\n\n@g(%x):\n  %r = cos(%x)\n  return %r\n")
    assert isinstance(ball_differences.agrees(applied("sin"), right, (0.5,)), Passed)
    verdict = ball_differences.agrees(applied("sin"), applied("sin"), (0.5,))
    assert isinstance(verdict, Refuted)
    assert isinstance(ball_differences.agrees(applied("abs"), applied("sign"), (0.0,)), OutOfScope)
