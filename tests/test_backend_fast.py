"""Fast code: sums in any order, within a bound that is derived; whatever else is another answer is found."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from test_backend_arrays import CASES, normal, types_of

import adjudge as aj
import backend
from adjudge.cli.crosscheck import compare
from adjudge.functions import parse
from adjudge.values import to_value
from backend import toolchain
from backend.arrays.tightening import tightened
from backend.crosscheck import crosscheck, inside, judge
from backend.fast import exponential, products
from backend.fast.bounds import EXP, bounds, gamma
from backend.running_error import Ambiguous, Bounded
from backend.status import ORDER, SIZES
from semantics.columns.elementary import ELEMENTARY
from semantics.errors import Malformed
from semantics.ir import Program
from semantics.machine import Machine
from semantics.type_language import type_of
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand


def total(x):  # type: ignore[no-untyped-def]
    return np.sum(x)


def rows(x):  # type: ignore[no-untyped-def]
    return np.sum(x * x, axis=1)


def product(a, b):  # type: ignore[no-untyped-def]
    return a @ b


def elementwise(x):  # type: ignore[no-untyped-def]
    return np.sin(x) * x + np.tanh(x)


def expanded(function: Any, *arguments: Any) -> tuple[Program, tuple[Any, ...]]:
    return expand(parse(function)), tuple(map(to_value, arguments))


def fast(function: Any, *arguments: Any) -> Any:
    """The value by fast code."""
    values = tuple(map(to_value, arguments))
    (found,) = backend.compile(parse(function), types_of(arguments), "cpu", fast=True).map([values])
    return found


def reference(function: Any, *arguments: Any) -> Any:
    program, values = expanded(function, *arguments)
    return Machine(program).run(values).value


# the bound


@given(st.lists(st.floats(-1e10, 1e10), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_a_sum_in_any_order_and_with_any_parentheses_is_within_the_bound(terms: list[float], source: Any) -> None:
    found = bounds(*expanded(total, np.array(terms)))
    left = list(terms)
    while len(left) > 1:
        a, b = (left.pop(source.randrange(len(left))) for _ in range(2))
        left.append(a + b)
    event("bit-equal" if same(found.value, left[0]) else "another order, another result")
    assert same(found.value, reference(total, np.array(terms)))
    assert abs(left[0] - found.value) <= found.bound
    assert found.bound <= 3 * gamma(len(terms)) * math.fsum(map(abs, terms))


@given(st.lists(st.tuples(st.floats(-1e5, 1e5), st.floats(-1e5, 1e5)), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_an_inner_product_with_products_rounded_or_not_is_within_the_bound(pairs: list[Any], source: Any) -> None:
    a, b = (np.array([p[i] for p in pairs]) for i in (0, 1))
    found = bounds(*expanded(product, a, b))
    result = 0.0
    for x, y in source.sample(pairs, len(pairs)):
        result = float(Fraction(x) * Fraction(y) + Fraction(result)) if source.random() < 0.5 else x * y + result
    assert same(found.value, reference(product, a, b))
    assert abs(result - found.value) <= found.bound


def test_a_bound_grows_with_the_terms_and_not_with_what_is_not_summed() -> None:
    wide, narrow = bounds(*expanded(rows, normal(2, 64))), bounds(*expanded(rows, normal(64, 2)))
    assert max(v.bound for v in wide.items) > 8 * max(v.bound for v in narrow.items)
    assert {v.bound for v in bounds(*expanded(rows, normal(5, 1))).items} == {0.0}
    assert {v.bound for v in bounds(*expanded(elementwise, normal(7))).items} == {0.0}


def test_a_sum_that_may_overflow_is_ambiguous_and_one_of_infinities_is_not() -> None:
    with pytest.raises(Ambiguous, match="overflow"):
        bounds(*expanded(total, np.array([1e308, -1e308, 1e308, 1e308])))
    with pytest.raises(Ambiguous, match="overflow"):
        bounds(*expanded(total, np.array([1e308, 1e308, -1e308])))
    found = bounds(*expanded(total, np.array([math.inf, 1.0])))
    assert (found.value, found.bound) == (math.inf, 0.0)


def contracted(a, b):  # type: ignore[no-untyped-def]
    return np.tensordot(a, b, axes=1)


def summed(a, b):  # type: ignore[no-untyped-def]
    return np.einsum("i,i->", a, b)


@pytest.mark.parametrize("function", [contracted, summed, product])
def test_a_product_that_overflows_in_a_sum_that_may_not_is_ambiguous(function: Any) -> None:
    """Not rounded it is a number: the sum was called a mismatch where products are rounded with what they are added to."""
    given_ = np.array([-1.7e308, 1e160]), np.array([1.0, 1.9e148])
    with pytest.raises(Ambiguous, match="overflow"):
        bounds(*expanded(function, *given_))
    program, values = expanded(function, *given_)
    (judged,) = crosscheck(program, types_of(given_), [values], lambda *a: Machine(program).run(a).value, ["cpu"], "fast")
    assert not judged.mismatches
    found = bounds(*expanded(function, np.array([math.inf, 1.0]), np.array([2.0, 1.0])))
    assert (found.value, found.bound) == (math.inf, 0.0)


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("columns", [1, 2, 9, 17])
def test_a_product_with_a_matrix_that_is_not_finite_is_the_references(rows: int, columns: int) -> None:
    """Two terms that overflow are infinities of opposite signs; the second, not rounded, was a number, so the sum was infinite."""
    a, b = np.full((rows, 2), 1e200), np.repeat([[1e200], [-1e200]], columns, axis=1)
    for left in (a, a[0]):
        assert np.isnan(aj.run(product, left, b)).all()
        assert same(fast(product, left, b), reference(product, left, b))


# the exponential


@given(st.lists(st.floats(-760, 720) | st.floats(), min_size=1, max_size=30))
def test_the_exponential_is_within_its_ulps_and_has_the_special_values_of_the_reference(points: list[float]) -> None:
    for x in (*points, math.inf, -math.inf, math.nan, 0.0, -0.0, 709.78, 709.79, -745.1, -745.2, -708.4):
        found, wanted = exponential.exp(x), ELEMENTARY["exp"](x)
        if math.isfinite(wanted) and wanted > 0.0:
            assert abs(found - wanted) <= exponential.ULPS * math.ulp(wanted)
        else:
            assert same(found, wanted)
    assert exponential.ULPS == EXP


@given(st.floats(-30, 30))
def test_its_error_is_that_of_the_derivation(x: float) -> None:
    """Against the series, whose terms are fractions, summed until what is left is below 2^-70 of the value."""
    exact, term, k = Fraction(1), Fraction(1), 1
    while term and (k < 2 * abs(x) or abs(term) > abs(exact) / 2**75):
        term = term * Fraction(x) / k
        term = Fraction(round(term * 2**140), 2**140)
        exact, k = exact + term, k + 1
    error = abs(Fraction(float(exponential.exp(x))) - exact)
    event(f"half ulps: {math.ceil(2 * error / Fraction(math.ulp(float(exact))))}")
    assert error <= 4 * Fraction(math.ulp(float(exact)))


def test_a_sum_of_exponentials_is_within_the_bound() -> None:
    function, arguments, _ = CASES["logsumexp"]
    found = bounds(*expanded(function, *arguments))
    assert found.bound > 0.0
    assert inside(found, fast(function, *arguments))
    assert inside(Bounded(math.exp(1.0), EXP * math.ulp(math.exp(1.0))), exponential.exp(1.0))
    assert not inside(bounds(*expanded(np_exp, 1.0)), math.exp(1.0) * (1.0 + 2.0**-48))


def np_exp(x):  # type: ignore[no-untyped-def]
    return np.exp(x)


# fast code


def layer(w, x, y):  # type: ignore[no-untyped-def]
    return np.sum((np.tanh(x @ w) - y) ** 2)


LAYER = (layer, (normal(6, 3), normal(5, 6), normal(5, 3)), (0, 1))


@pytest.mark.parametrize("case", [CASES["logistic"], LAYER])
def test_programs_and_gradients_are_within_the_bound(case: Any) -> None:
    function, arguments, wrt = case
    program = expand(calling(parse(function), "grad", wrt, types_of(arguments)))
    values = tuple(map(to_value, arguments))
    (found,) = backend.crosscheck(program, types_of(arguments), [values], lambda *a: Machine(program).run(a).value, ["cpu"], "fast")
    assert (found.mismatches, found.ambiguous, found.bitwise + found.within) == ((), 0, 1)


SPECIAL = (0.0, -0.0, 1.0, -1.0, 1e308, -1e308, math.inf, -math.inf, math.nan, 1e-320, 3.5)


@given(st.lists(st.sampled_from(SPECIAL) | st.floats(), min_size=1, max_size=24))
def test_nan_infinity_and_signed_zero_are_the_references(terms: list[float]) -> None:
    x = np.array(terms)
    ones, both = np.ones(len(x)), np.stack([x, x[::-1]])
    for function, arguments in ((total, (x,)), (product, (x, ones)), (product, (np.stack([x, x]), ones)), (rows, (both,))):
        found, wanted = FAST[function, len(arguments[0].shape)](*arguments), reference(function, *arguments)
        found, wanted = np.atleast_1d(found), np.atleast_1d(_numbers(wanted))
        finite = np.isfinite(found) & np.isfinite(wanted)
        zero = finite & (found == 0.0) & (wanted == 0.0)
        event(f"zeros: {zero.any()}, finite: {finite.all()}")
        assert (np.signbit(found) == np.signbit(wanted))[zero].all()
        assert (np.isnan(found) == np.isnan(wanted))[~np.isfinite(found)].all()
        assert (found == wanted)[np.isinf(found)].all()
        kept = np.isfinite(terms).all() and not np.isfinite(wanted).all()  # a partial sum of the reference overflows
        assert np.isfinite(wanted)[np.isfinite(found)].all() or kept


def _numbers(value: Any) -> Any:
    return np.array(value.items) if hasattr(value, "items") else value


class _Compiled(dict[Any, Any]):
    def __missing__(self, key: Any) -> Any:
        return self.setdefault(key, aj.compile(key[0], mode="fast"))


FAST = _Compiled()


def test_a_program_without_sums_is_the_same_code() -> None:
    types = types_of((normal(3),))
    assert backend.lowered(parse(elementwise), types, fast=True).source == backend.lowered(parse(elementwise), types).source
    assert "_any_term" in backend.lowered(parse(total), types, fast=True).source
    assert "_any" not in backend.lowered(parse(total), types).source
    assert aj.compile(total, "python", "fast")(normal(30)) == aj.run(total, normal(30))


def alone(program: Program, *types: Any, fast: bool = True) -> str:
    return backend.lowered(program, types, fast=fast).alone


def test_the_test_of_a_total_that_nothing_needs_goes() -> None:
    def loss(x):  # type: ignore[no-untyped-def]
        return np.sum(np.exp(x)) * 2.0 + np.sum(np.exp(x[1:]) @ x[:-1])

    (of,) = types_of((normal(3),))
    assert f"{ORDER})" in alone(parse(total), of).replace(",)", ")")
    assert "_any_term" in alone(parse(loss), of)
    assert "_any_term" not in alone(calling(parse(loss), "grad", 0, (of,)), of)


def test_of_many_totals_there_is_one_test_after_their_loop() -> None:
    text = alone(parse(rows), *types_of((normal(3, 2),)))
    (guard,) = [line for line in text.split("\n") if str(ORDER) in line.split("return")[-1] and "return" in line]
    assert len(guard) - len(guard.lstrip()) == 8  # in a test, in the function
    text = KERNEL.format("a0[k, j]", "1.0", ORDER)
    assert "_any_term(x9" in tightened(text)
    assert "_any_term" not in tightened(text.replace("c[i] * 2.0", "2.0"))


KERNEL = """
def kernel(a0, a1, fuel, one):
    c = _empty((a0.shape[0],), _f64)
    x9 = 0.0
    for k in range(a0.shape[0]):
        x = -0.0
        for j in range(a0.shape[1]):
            x = _any_term(x, {0})
        x9 = _any_term(x9, x - x)
        c[k] = x
    if not x9 == 0.0:
        return (0.0, fuel, {2})
    e = _empty((a0.shape[0],), _f64)
    for i in range(a0.shape[0]):
        e[i] = c[i] * 2.0
    return (e, {1}, fuel, 0)
"""


def test_what_cannot_return_goes_before_a_test_of_totals_and_not_before_another() -> None:
    late, early, trap = (tightened(KERNEL.format("a0[k, j]", "1.0", status)) for status in (ORDER, SIZES, 1))
    assert late.index("* 2.0") < late.index("return")
    assert all(text.index("* 2.0") > text.index("return") for text in (early, trap))
    text = KERNEL.format("a0[k, j]", "1.0", ORDER)
    returns = tightened(text.replace("e[i] =", "if c[i] > 3.0:\n            return (0.0, fuel, 2)\n        e[i] ="))
    assert returns.index(f", {ORDER})") < returns.index("* 2.0")


@pytest.mark.parametrize(
    ("step", "beside"),
    [("_any_term(x8, a0[k, j])", True), ("x8 + a0[k, j]", False), ("_any_term(x8, x8)", False), ("_any_term(x7, a0[k, j])", False)],
)
def test_a_sum_in_any_order_is_carried_through_inner_loops(step: str, beside: bool) -> None:
    text = KERNEL.format("a0[k, j]", "x8", ORDER).replace("    x9 = 0.0", "    x9 = 0.0\n    x7 = 0.5\n    x8 = 0.0", 1)
    text = text.replace("            x =", f"            x8 = {step}\n            x =").replace(
        "c[k] = x", "c[k] = x\n        x7 = x7 * 0.5"
    )
    assert ("_l in range(" in tightened(text)) == beside


# planted bugs: a term left out is found, another order is not one


SHORTER = {
    "the last term": lambda text: text.replace("range(a.shape[0])", "range(a.shape[0] - 1)", 1),
    "a factor": lambda text: text.replace("float(a[k]), float(b[k])", "float(a[k]), float(b[0])", 1),
}
ANOTHER = {"from the right": lambda text: text.replace("range(a.shape[0])", "range(a.shape[0] - 1, -1, -1)", 1)}


@pytest.mark.parametrize("name", [*SHORTER, *ANOTHER])
def test_a_wrong_rewrite_is_flagged_and_another_order_is_not(name: str) -> None:
    text = {**SHORTER, **ANOTHER}[name](products.SOURCES["_fast_vector_vector"])
    assert text != products.SOURCES["_fast_vector_vector"]
    names = toolchain.python_bindings() | {"_any_product": lambda t, x, y: t + x * y}
    exec(text, names)  # a text of this package, changed
    a, b = normal(50), normal(50)[::-1]
    program, values = expanded(product, a, b)
    found = judge(program, "cpu", values, reference(product, a, b), names["_fast_vector_vector"](a, b), "fast")
    assert found == "mismatch" if name in SHORTER else found in ("within", "bitwise")


def test_in_the_mode_exact_any_other_bit_is_a_mismatch() -> None:
    program, values = expanded(total, np.array([0.1, 0.2, 0.3]))
    assert judge(program, "cpu", values, 0.6000000000000001, 0.6, "exact") == "mismatch"
    assert judge(program, "cpu", values, 0.6000000000000001, 0.6, "fast") == "within"
    assert judge(program, "python", values, 0.6000000000000001, 0.6, "fast") == "mismatch"
    assert not inside(Bounded(0.0, 0.0), -0.0)


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(Malformed, match="'quick' is not a mode"):
        aj.compile(total, mode="quick")


def test_crosscheck_has_the_mode_on_the_command_line(adjudge: Any) -> None:
    program, values = expanded(total, normal(300))
    cpu, python = compare(program, [type_of(values[0])], [values], quick=True, mode="fast")[1::-1]
    assert (cpu.target, cpu.within, cpu.mismatches) == ("cpu", 1, ())
    assert (python.target, python.bitwise) == ("python", 1)
    assert adjudge("crosscheck", "examples/figure_1.py:f", "--mode", "quick")[0] == 2


def test_exact_and_fast_code_of_the_same_text_are_not_confused() -> None:
    points = np.linspace(-30.0, 30.0, 200)
    exact, quick = (aj.compile(np_exp, mode=mode)(points) for mode in ("exact", "fast"))
    assert exact.tobytes() == aj.run(np_exp, points).tobytes()
    assert quick.tolist() == [float(exponential.exp(x)) for x in points]
    assert quick.tobytes() != exact.tobytes()
