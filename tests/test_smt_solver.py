"""The solver behind one door: answers repeat, budgets hold, text is canonical, and a second solver reads the same text."""

from __future__ import annotations

import math
import mmap
import struct
from fractions import Fraction

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from checkers.smt.ieee import DOUBLE, HALF, TINY
from checkers.smt.replay import rounded
from checkers.smt.smtlib import RESERVED, script, variable_name
from checkers.smt.solver import SAT, UNKNOWN, UNSAT, address_space, decode, second_opinion, solve

x, y = z3.Reals("x y")


def associativity(format: object) -> str:
    a, b, c = z3.FPs("a b c", format)
    left = z3.fpAdd(z3.RNE(), z3.fpAdd(z3.RNE(), a, b), c)
    return script([left != z3.fpAdd(z3.RNE(), a, z3.fpAdd(z3.RNE(), b, c))], "QF_FP")


def test_a_model_comes_back_as_python_numbers() -> None:
    n = z3.Int("n")
    answer = solve(script([3 * x == 1, n == -4, z3.Bool("b")]))
    assert answer.status == SAT
    assert answer.model == {"x": Fraction(1, 3), "n": -4, "b": True}


def test_an_irrational_model_is_kept_apart() -> None:
    answer = solve(script([x * x == 2, x > 0]))
    assert "x" not in answer.model
    assert abs(answer.approximate["x"] ** 2 - 2) < Fraction(1, 10**15)  # 20 digits of sqrt 2, so 2·sqrt 2·10^-20 in the square


def test_verdict_and_cost_repeat_and_do_not_depend_on_terms_made_before() -> None:
    first = solve(associativity(HALF.sort))
    for _ in range(50):
        z3.simplify(x * y + z3.Real("unrelated"))
    again = solve(associativity(HALF.sort), guarded=True)
    assert (first.status, first.rlimit, first.model) == (again.status, again.rlimit, again.model)


def test_a_resource_limit_gives_unknown_with_a_reason() -> None:
    answer = solve(associativity(DOUBLE.sort), rlimit=1000)
    assert answer.status == UNKNOWN
    assert "resource" in answer.reason or "canceled" in answer.reason


def test_a_killed_query_says_that_it_was_killed() -> None:
    a, b = z3.FPs("a b", DOUBLE.sort)
    hard = script([z3.fpMul(z3.RNE(), a, b) != z3.fpMul(z3.RNE(), b, a), z3.fpDiv(z3.RNE(), a, b) != a], "QF_FP")
    answer = solve(hard, rlimit=2**31, guarded=True, wall=0.01)
    assert (answer.status, answer.reason) == (UNKNOWN, "killed after 0.01 s")


def test_text_that_is_not_smtlib_is_unknown_and_never_an_exception() -> None:
    assert solve("(assert (= x").status == UNKNOWN


def test_the_same_question_gives_the_same_text() -> None:
    shared = (x + y) * (x - y)
    text = script([shared * shared == 2, shared > 0])
    z3.simplify(y * y * y + 1)
    rebuilt = (x + y) * (x - y)
    assert script([rebuilt * rebuilt == 2, rebuilt > 0]) == text
    assert "define-fun t!0" in text


def test_shared_terms_keep_the_text_linear() -> None:
    term = x
    for _ in range(60):
        term = term * term + 1
    assert len(script([term > 0])) < 60 * 120


def test_a_lone_argument_is_printed_without_its_operator() -> None:
    text = script([z3.And([x > 0])])
    assert "and" not in text
    assert solve(text).status == SAT


@pytest.mark.parametrize("name", [*sorted(RESERVED)[:5], "exp", "sin", "x y", "đ", "1x", ""])
def test_every_variable_name_is_accepted(name: str) -> None:
    assert solve(script([z3.Real(variable_name(name)) > 0])).status == SAT


@pytest.mark.parametrize("solver", ["cvc5", "bitwuzla"])
def test_a_second_solver_agrees_or_abstains(solver: str) -> None:
    for assertions, status in (([x * x < 0], UNSAT), ([x * x == 4], SAT)):
        opinion = second_opinion(script(assertions), solver)
        assert opinion.status in (status, UNKNOWN)
    opinion = second_opinion(associativity(TINY.sort), solver)
    assert opinion.status in (SAT, UNKNOWN)


@given(st.floats(allow_nan=False))
def test_rounding_to_f32_is_what_struct_does(value: float) -> None:
    try:
        wanted = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        wanted = math.copysign(math.inf, value)
    assert math.copysign(1.0, rounded(value, 8, 24)) == math.copysign(1.0, wanted)
    assert rounded(value, 8, 24) == wanted


@given(st.integers(0, 2**16 - 1))
def test_decoding_f16_is_what_struct_does(pattern: int) -> None:
    wanted = struct.unpack("e", pattern.to_bytes(2, "little"))[0]
    found = decode(pattern, 5, 11)
    assert math.isnan(found) if math.isnan(wanted) else (found == wanted and math.copysign(1, found) == math.copysign(1, wanted))


@given(st.integers(0, 2**7 - 1))
def test_every_tiny_number_rounds_to_itself(pattern: int) -> None:
    value = decode(pattern, 3, 4)
    assert math.isnan(value) or rounded(value, 3, 4) == value


def test_a_process_that_has_reserved_much_memory_may_still_ask() -> None:
    """Libraries reserve address space that they never use; the cap of a child is on what it takes beyond that."""
    text = "(declare-const x (_ FloatingPoint 8 24))\n(assert (not (= (fp.neg (fp.neg x)) x)))\n(check-sat)\n"
    reserved = mmap.mmap(-1, 32 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0)
    try:
        assert address_space() > 32 << 30
        assert solve(text, guarded=True, memory_mb=500).status == UNSAT
    finally:
        reserved.close()
