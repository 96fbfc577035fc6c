"""Identities of arrays of fixed shape, proved over the reals and in formats; counterexamples are arrays that run."""

from __future__ import annotations

import pytest

from checkers.smt import HALF, TINY, equal_in_ieee, equal_over_reals
from checkers.verdict import OutOfScope, Passed, Proved, Refuted, Unknown
from semantics.arrays import Array
from semantics.ir import Program
from semantics.machine import run
from semantics.text import read
from semantics.values import same
from transforms.gradient_programs import gradient_program


def program(parameters: str, *lines: str) -> Program:
    """A program as text; its last line is what it returns."""
    *equations, result = lines
    body = "\n".join(f"  {e}" for e in equations)
    return read(f"program @f\n@f({parameters}):\n{body}\n  return {result}")


MATRICES = "%a: f64[2, 3], %b: f64[3, 2]"
PAIR = "%x: f64[2, 2], %y: f64[2, 2]"

PROVED: dict[str, tuple[str, list[str], list[str]]] = {
    "the transpose of a product": (
        MATRICES,
        ["%p = matmul(%a, %b)", "%r = transpose(%p, None)", "%r"],
        ["%s = transpose(%b, None)", "%t = transpose(%a, None)", "%r = matmul(%s, %t)", "%r"],
    ),
    "the sum of a sum": (
        PAIR,
        ["%z = add(%x, %y)", "%r = reduce_sum(%z, None, False)", "%r"],
        ["%s = reduce_sum(%x, None, False)", "%t = reduce_sum(%y, None, False)", "%r = add(%s, %t)", "%r"],
    ),
    "a product distributes over broadcasting": (
        "%x: f64[2, 2], %c: f64, %v: f64[2]",
        ["%z = add(%x, %v)", "%r = mul(%c, %z)", "%r"],
        ["%s = mul(%c, %x)", "%t = mul(%v, %c)", "%r = add(%s, %t)", "%r"],
    ),
    "the largest of all is the largest of the rows": (
        "%x: f64[2, 2]",
        ["%r = reduce_max(%x, None, False)", "%r"],
        ["%m = reduce_max(%x, 1, False)", "%r = reduce_max(%m, None, False)", "%r"],
    ),
    "a choice element by element": (
        "%c: bool[2], %x: f64[2], %y: f64[2]",
        ["%r = where(%c, %x, %y)", "%r"],
        ["%n = not_(%c)", "%r = where(%n, %y, %x)", "%r"],
    ),
    "the sum of exponentials": (
        "%x: f64[2], %y: f64[2]",
        ["%r = logaddexp(%x, %y)", "%r"],
        ["%r = logaddexp(%y, %x)", "%r"],
    ),
    "integers": (
        "%n: i64[2]",
        ["%r = reduce_sum(%n, None, False)", "%r"],
        ["%i = getitem(%n, 0)", "%j = getitem(%n, -1)", "%r = add(%j, %i)", "%r"],
    ),
}


@pytest.mark.parametrize("name", PROVED)
def test_an_identity_of_arrays_is_proved_over_the_reals(name: str) -> None:
    parameters, left, right = PROVED[name]
    verdict = equal_over_reals(program(parameters, *left), program(parameters, *right))
    assert isinstance(verdict, Proved), verdict


def test_the_gradient_of_a_sum_of_squares_is_twice_its_argument() -> None:
    squares = program("%x: f64[2, 2]", "%z = mul(%x, %x)", "%r = reduce_sum(%z, None, False)", "%r")
    twice = program("%x: f64[2, 2]", "%r = mul(2.0, %x)", "%r")
    assert isinstance(equal_over_reals(gradient_program(squares), twice), Proved)
    thrice = program("%x: f64[2, 2]", "%r = mul(3.0, %x)", "%r")
    assert isinstance(equal_over_reals(gradient_program(squares), thrice), Refuted)


def test_a_false_identity_is_refuted_by_arrays_that_tell_the_sides_apart() -> None:
    left = program(PAIR, "%z = mul(%x, %y)", "%r = reduce_sum(%z, None, False)", "%r")
    right = program(PAIR, "%s = reduce_sum(%x, None, False)", "%t = reduce_sum(%y, None, False)", "%r = mul(%s, %t)", "%r")
    verdict = equal_over_reals(left, right)
    assert isinstance(verdict, Refuted)
    inputs = verdict.counterexample.inputs
    assert all(isinstance(v, Array) and v.shape == (2, 2) for v in inputs.values())
    doubles = [v.with_items(map(float, v.items)) for v in inputs.values()]
    # the points tried first are small fractions with a power of two below: both sides are exact on doubles
    assert run(left, *doubles) != run(right, *doubles)


def test_arrays_of_different_shape_or_dtype_are_never_equal() -> None:
    kept = program("%x: f64[2]", "%r = reduce_sum(%x, None, True)", "%r")
    dropped = program("%x: f64[2]", "%r = reduce_sum(%x, None, False)", "%r")
    assert isinstance(equal_over_reals(kept, dropped), Refuted)
    narrow = program("%x: f64[2]", '%r = astype(%x, "f32")', "%r")
    assert isinstance(equal_over_reals(narrow, program("%x: f64[2]", "%x")), Refuted)


def test_in_a_format_addition_of_arrays_commutes_and_sums_do_not_split() -> None:
    for format in (TINY, HALF):
        verdict = equal_in_ieee(program(PAIR, "%r = add(%x, %y)", "%r"), program(PAIR, "%r = add(%y, %x)", "%r"), format)
        assert isinstance(verdict, Proved), verdict
    _, left, right = PROVED["the sum of a sum"]
    sums = "%x: f64[2], %y: f64[2]"
    verdict = equal_in_ieee(program(sums, *left), program(sums, *right), TINY)
    assert isinstance(verdict, Refuted)
    assert all(isinstance(v, Array) for v in verdict.counterexample.inputs.values())


def test_the_replay_in_a_format_rounds_inside_a_sum() -> None:
    """The sum of an array and the sum written out are the same in every format; rounding only the result would tell them apart."""
    whole = program("%x: f64[3]", "%r = reduce_sum(%x, None, False)", "%r")
    parts = [f"%p{i} = getitem(%x, {i})" for i in range(3)]
    written = program("%x: f64[3]", *parts, "%s = add(%p0, %p1)", "%r = add(%s, %p2)", "%r")
    assert isinstance(equal_in_ieee(whole, written, TINY), Proved)


def test_numpys_maximum_is_a_nan_where_an_argument_is_and_pythons_is_not() -> None:
    ours = program("%x: f64, %y: f64", "%r = maximum(%x, %y)", "%r")
    python = program("%x: f64, %y: f64", "%r = max(%x, %y)", "%r")
    verdict = equal_in_ieee(ours, python, TINY)
    assert isinstance(verdict, Refuted)
    assert isinstance(equal_in_ieee(ours, python, TINY, "y == y"), Proved)
    assert isinstance(equal_over_reals(ours, python), Proved)


def test_a_rounding_to_f32_is_none_over_the_reals_and_none_in_a_format_that_is_narrower() -> None:
    rounded, plain = program("%x: f64", "%r = single(%x)", "%r"), program("%x: f64", "%x")
    assert isinstance(equal_over_reals(rounded, plain), Proved)
    assert isinstance(equal_in_ieee(rounded, plain, HALF), Proved)
    verdict = equal_in_ieee(rounded, plain)
    assert isinstance(verdict, Refuted)
    (x,) = verdict.counterexample.inputs.values()
    assert not same(run(rounded, x), x)


def test_what_has_no_known_shape_is_out_of_scope() -> None:
    verdict = equal_over_reals(program("%x: f64[?]", "%x"), program("%x: f64[?]", "%x"))
    assert isinstance(verdict, OutOfScope)
    assert "known shape" in verdict.why
    assert isinstance(equal_in_ieee(program("%x: f32[2]", "%x"), program("%x: f32[2]", "%x")), OutOfScope)
    assert isinstance(equal_in_ieee(program("%x: f32[2]", "%x"), program("%x: f32[2]", "%x"), HALF), Proved)


def test_an_order_that_depends_on_values_is_explored_path_by_path() -> None:
    """any of an array of conditions: the paths of its truth cover all inputs."""
    left = program("%x: f64[3]", "%c = gt(%x, 0.0)", "%r = reduce_any(%c, None, False)", "%r")
    right = program("%x: f64[3]", "%m = reduce_max(%x, None, False)", "%r = gt(%m, 0.0)", "%r")
    verdict = equal_over_reals(left, right)
    assert isinstance(verdict, Proved), verdict
    assert not isinstance(verdict, (Unknown, Passed))
