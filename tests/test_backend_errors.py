"""The running error bound, and that the cross-check would notice a wrong target."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from backend_programs import PROGRAMS, samples
from hypothesis import assume, event, example, given
from hypothesis import strategies as st

from backend.columns import ULP
from backend.crosscheck import inside, judge
from backend.running_error import CELLS as BOUNDED
from backend.running_error import Ambiguous, Bounded, bounds
from semantics.columns.meaning import CELLS
from semantics.denotation import Reading, denote
from semantics.errors import Trap
from semantics.machine import run
from semantics.primitives.row import Column, Hole
from semantics.primitives.table import TABLE
from semantics.text import read
from semantics.values import same


def reals(value: Any) -> list[Any]:
    return [r for v in value for r in reals(v)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "elementary"])
def test_without_elementary_functions_the_bound_is_zero_and_the_value_the_references(name: str) -> None:
    program = read(PROGRAMS[name])
    for arguments in samples(name)[::9]:
        try:
            wanted = run(program, *arguments)
        except Trap:
            continue
        found = bounds(program, arguments)
        assert inside(found, wanted)
        assert all(r.bound == 0 for r in reals(found) if isinstance(r, Bounded))


def perturbed(signs: st.DrawFn | Any) -> Column:
    """A target whose elementary functions err by as much as their bound allows, to either side."""

    def cell(name: str) -> Any:
        found = ULP.find(TABLE[name])
        if isinstance(found, Hole):
            return CELLS[name]
        ulps = found()

        def wrong(*arguments: Any) -> Any:
            value = CELLS[name](*arguments)
            if type(value) is float and math.isfinite(value):
                return value + signs() * math.floor(ulps) * math.ulp(value) * 0.5
            return value

        return wrong

    return Column("perturbed", {name: cell(name) for name in CELLS})


SMOOTH = """program @f
@f(%x: f64, %y: f64):
  %a = exp(%x)
  %b = sin(%a)
  %c = mul(%b, %y)
  %d = sub(%c, %a)
  %e = div(%d, %b)
  %g = tanh(%e)
  %h = atan2(%g, %x)
  %i = cosh(%h)
  %j = log(%i)
  %k = add(%j, %e)
  %l = sqrt(%a)
  %m = pow(%l, %y)
  %n = make_tuple(%k, %m, %h, %e)
  return %n
"""


@given(st.floats(-3, 3), st.floats(-3, 3), st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=12, max_size=12))
def test_a_target_within_the_bounds_of_its_functions_is_within_the_running_error(x: float, y: float, signs: list[float]) -> None:
    program = read(SMOOTH)
    left = iter([*signs, *[1.0] * 99])
    found = denote(program, [x, y], Reading(perturbed(lambda: next(left))))
    try:
        bounded = bounds(program, (x, y))
    except Ambiguous:
        event("ambiguous")
        return
    event("bitwise" if same(found, run(program, x, y)) else "within")
    assert inside(bounded, found)


def test_the_crosscheck_notices_a_result_beyond_the_bound() -> None:
    program = read("program @f\n@f(%x: f64):\n  %a = exp(%x)\n  return %a\n")
    wanted = run(program, 1.0)
    near = math.nextafter(wanted, math.inf)
    far = wanted + 8 * math.ulp(wanted)
    assert judge(program, "cuda", (1.0,), wanted, wanted) == "bitwise"
    assert judge(program, "cuda", (1.0,), wanted, near) == "within"
    assert judge(program, "cuda", (1.0,), wanted, far) == "mismatch"
    assert judge(program, "cpu", (1.0,), wanted, near) == "mismatch"
    exact = read("program @f\n@f(%x: f64):\n  %a = mul(%x, %x)\n  return %a\n")
    assert judge(exact, "cuda", (1.1,), run(exact, 1.1), math.nextafter(run(exact, 1.1), 9.0)) == "mismatch"


def test_a_branch_on_digits_that_the_bound_leaves_open_is_ambiguous() -> None:
    text = """program @f
@f(%x: f64):
  %a = exp(%x)
  %c = lt(%a, BORDER)
  %r = switch(%c, 1.0, 2.0)
  return %r
"""
    border = repr(math.exp(1.0))
    program = read(text.replace("BORDER", border))
    assert judge(program, "cuda", (1.0,), 2.0, 1.0) == "ambiguous"
    assert judge(read(text.replace("BORDER", "2.0")), "cuda", (1.0,), 2.0, 1.0) == "mismatch"


def test_a_trap_is_matched_by_a_trap_and_an_overflow_is_counted_apart() -> None:
    program = read("program @f\n@f(%m: i64, %n: i64):\n  %a = floordiv(%m, %n)\n  return %a\n")
    trap, overflow = Trap("integer division by zero"), Trap("integer overflow in 64 bits")
    assert judge(program, "cpu", (1, 0), trap, Trap("integer division by zero")) == "bitwise"
    assert judge(program, "cpu", (1, 0), 5, overflow) == "overflowed"
    assert judge(program, "cpu", (1, 0), 5, trap) == "mismatch"
    assert judge(program, "cpu", (1, 0), trap, 5) == "mismatch"


@given(st.floats(-8, 8), st.floats(0, 0.5), st.integers(-4, 6), st.floats(-1, 1))
@example(-0.0, 0.0, -1, 0.0)
@example(-0.0, 0.5, -1, 0.0)
def test_a_whole_power_of_any_base_is_within_its_bound(x: float, e: float, n: int, at: float) -> None:
    found = BOUNDED["pow"](Bounded(x, e), float(n))
    nearby = x + at * e if e else x  # which may be -0.0, and -0.0 + 0.0 is not
    assume(abs(Fraction(nearby) - Fraction(x)) <= Fraction(e))
    event(f"bounded: {math.isfinite(found.bound)}")
    assert not abs(CELLS["pow"](nearby, float(n)) - found.value) > found.bound
