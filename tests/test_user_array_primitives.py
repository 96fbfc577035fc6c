"""Primitives of users on arrays: signatures, runs, derivatives of both orders, inference, and what is refused with its place."""
# ruff: noqa: PLW0108  (a lambda around a library function is a subject of its own: it can be parsed)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from semantics.array_signatures import Measure, bind, read
from semantics.array_signatures import type_of_result as result
from semantics.errors import IllTyped, Malformed, Trap
from semantics.type_language import parse_type

X = np.array([1.0, -2.0, 3.0])
A, B = np.arange(6.0).reshape(2, 3), np.array([[1.0, 0.5], [2.0, -1.0], [0.0, 4.0]])


@aj.primitive
def softplus(x):
    return np.logaddexp(0.0, x)


@softplus.backpropagator
def _(x, out, dout):
    return (dout * (1.0 / (1.0 + np.exp(-x))),)


@aj.primitive(signature="f64[m, n] f64[n, k] -> f64[m, k]")
def product(a, b):
    return np.matmul(a, b)


@product.backpropagator
def _(a, b, out, dout):
    return np.matmul(dout, b.T), np.matmul(a.T, dout)


@aj.primitive(signature="f64[n] i64 -> f64[n]")
def rolled(x, k):
    return np.roll(x, k)


@rolled.backpropagator
def _(x, k, out, dout):
    return np.roll(dout, -k).view(), None


@aj.primitive(signature="f64[...] -> f64[]")
def total(x):
    return np.sum(x)


@total.backpropagator
def _(x, out, dout):
    return (dout,)


def squares(x):
    return np.sum(softplus(x) ** 2)


def logistic(x):
    return 1.0 / (1.0 + np.exp(-x))


@given(st.sampled_from([(), (3,), (2, 3), (0,), (2, 0)]), st.sampled_from([np.float64, np.float32]), st.integers(0, 99))
def test_it_is_called_on_arrays_as_its_function_is(shape, dtype, seed):
    x = np.random.default_rng(seed).normal(size=shape).astype(dtype)
    found = softplus(x)
    assert (np.shape(found), np.asarray(found).dtype) == (shape, x.dtype)
    assert np.array_equal(found, np.logaddexp(dtype(0.0), x))
    assert type(softplus(0.5)) is float


@given(st.sampled_from([(3,), (2, 3), (0,)]), st.integers(0, 99))
def test_its_gradient_goes_through_its_rule(shape, seed):
    """Eight operations of at most 2 ulp each, none of which cancels."""
    x = np.random.default_rng(seed).normal(size=shape)
    wanted = 2.0 * np.logaddexp(0.0, x) * logistic(x)
    assert (np.abs(aj.grad(squares)(x) - wanted) <= 32 * 2.0**-53 * np.abs(wanted)).all()
    assert aj.grad(squares)(x.astype(np.float32)).dtype == np.float32


def test_a_rule_in_the_language_has_second_derivatives():
    v = np.array([1.0, 0.0, -1.0])
    s = logistic(X)
    wanted = v * 2.0 * (s * s + np.logaddexp(0.0, X) * s * (1.0 - s))
    # some twenty roundings, none of which cancels: every term is positive
    assert np.abs(aj.hvp(squares)(X, v) - wanted).max() <= 32 * 2.0**-53 * np.abs(wanted).max()


def test_an_array_without_axes_is_differentiated_as_one():
    x, one = np.array(1.5), np.array(1.0)
    assert aj.grad(squares)(x) == aj.grad(squares)(1.5)
    assert np.shape(aj.grad(squares)(x)) == ()
    assert aj.hvp(squares)(x, one) == aj.hvp(squares)(1.5, 1.0)
    assert aj.hvp(squares)(np.zeros(0), np.zeros(0)).shape == (0,)


def test_it_runs_in_all_ways_in():
    d = np.ones((2, 2))
    value, pullback = aj.vjp(product, A, B)
    assert np.array_equal(value, A @ B)
    assert np.array_equal(aj.run(product, A, B), A @ B)
    assert all(map(np.array_equal, pullback(d), (d @ B.T, A.T @ d)))
    assert np.array_equal(aj.jacobian(softplus)(X) != 0, np.eye(3) != 0)
    assert np.array_equal(aj.grad(lambda a, b: np.sum(product(a, b)), wrt=1)(A, B), A.T @ d)


def test_an_attribute_has_no_cotangent():
    value, pullback = aj.vjp(rolled, X, 1)
    dx, dk = pullback(X)
    assert np.array_equal(value, np.roll(X, 1))
    assert np.array_equal(dx, np.roll(X, -1))
    assert dk is None


def test_an_opaque_rule_has_first_derivatives_only():
    def f(x):
        return np.sum(rolled(x, 1) * X)

    assert np.array_equal(aj.grad(f)(X), np.roll(X, -1))
    with pytest.raises(IllTyped, match="only first derivatives"):
        aj.hvp(f)(X, X)


def test_no_warning_of_numpy_comes_out(recwarn):
    assert np.array_equal(aj.primitive(lambda x: np.log(x).copy(), name="log_")(np.array([0.0, 1.0])), [-np.inf, 0.0])
    assert not recwarn.list


def test_inference_reads_the_signature():
    assert str(aj.infer(product, "f64[2, 3]", "f64[3, ?]").result) == "f64[2, ?]"
    assert str(aj.infer(aj.grad(lambda a, b: np.sum(product(a, b))), "f64[2, 3]", "f64[3, 4]").result) == "f64[2, 3]"
    assert str(aj.infer(lambda x: rolled(x, 1), "f64[5]").result) == "f64[5]"
    assert str(aj.infer(softplus, "f32[4]").result) == "f32[4]"
    with pytest.raises(IllTyped, match=r"wants f64\[n, k\] for b, with n = 3, found f64\[4, 3\]"):
        aj.infer(product, "f64[2, 3]", "f64[4, 3]")


def test_inference_goes_through_a_rule_outside_the_language():
    assert str(aj.infer(aj.grad(lambda x: np.sum(rolled(x, 1))), "f64[5]").result) == "f64[5]"


@pytest.mark.parametrize("mode", ["ssa", "pullback", "cached"])
def test_other_reverse_modes_use_the_same_rule(mode):
    assert np.array_equal(aj.grad(squares, mode=mode)(X), aj.grad(squares)(X))


def test_what_no_signature_says_of_an_opaque_function_inference_asks_for():
    opaque = aj.primitive(lambda x: np.asarray(x).view(), name="opaque")
    with pytest.raises(IllTyped) as caught:
        aj.infer(opaque, "f64[3]")
    assert "signature=" in caught.value.remedy


def test_the_optimizer_keeps_it_and_shares_it():
    def f(x):
        return np.sum(softplus(x)) + np.sum(softplus(x))

    program = aj.transform(f, "cse", "dce").result
    called = [n for n in program.nodes if program.callee(n) is softplus.row]
    assert len(called) == 1
    assert aj.run(program, X) == 2.0 * np.sum(softplus(X))


def test_the_virtual_machine_leaves_it_to_its_author():
    compiled = aj.compile(lambda x: softplus(x) + 1.0)
    assert compiled(2.0) == aj.run(lambda x: softplus(x) + 1.0, 2.0)


# what is refused


def misshapen(signature, rule):
    p = aj.primitive(lambda x: np.sum(x), name="p", signature=signature)
    p.backpropagator(rule)
    return aj.grad(lambda x: p(2.0 * x))


@pytest.mark.parametrize("signature", ["f64[n] -> f64", None], ids=["signature", "none"])
@pytest.mark.parametrize(
    "rule",
    [
        lambda x, out, dout: (np.ones((2, *np.shape(x))).copy() * dout,),
        lambda x, out, dout: (float(np.real(dout)),),
        lambda x, out, dout: (np.ones(2).view() * dout,),
    ],
    ids=["not reduced", "a number", "another size"],
)
def test_an_opaque_rule_with_a_wrong_shape_is_refused_where_it_is_called(signature, rule):
    with pytest.raises(IllTyped) as caught:
        misshapen(signature, rule)(X)
    assert "whose shape is (3,)" in caught.value.what
    assert caught.value.remedy.startswith("a cotangent has the shape of its argument")
    assert "test_user_array_primitives.py" in str(caught.value.location)


@pytest.mark.parametrize("rule", [lambda x, out, dout: (dout,), lambda x, out, dout: (dout * np.ones((2, 3)),)])
def test_so_is_one_in_the_language(rule):
    with pytest.raises(IllTyped) as caught:
        misshapen("f64[n] -> f64", rule)(X)
    assert "whose shape is (3,)" in caught.value.what
    assert "conform" in caught.value.node
    assert "test_user_array_primitives.py" in str(caught.value.location)


def test_a_near_miss_is_not_refused():
    assert np.array_equal(misshapen("f64[n] -> f64", lambda x, out, dout: (dout * np.ones(3),))(X), np.full(3, 2.0))
    assert np.array_equal(misshapen("f64[n] -> f64", lambda x, out, dout: (np.full(3, dout).view(),))(X), np.full(3, 2.0))


@pytest.mark.parametrize(
    "call",
    [
        lambda: product(A, A),
        lambda: product(A, 1.0),
        lambda: product(A.astype(np.float32), B),
        lambda: product(A),
        lambda: rolled(X, 1.5),
        lambda: softplus(np.array([1, 2])),
        lambda: softplus(np.array([1.0 + 2.0j])),
        lambda: softplus("x"),
        lambda: aj.primitive(lambda x: x, name="p", signature="f64[n] -> f64")(X),
        lambda: aj.primitive(lambda x: [x], name="p")(X),
        lambda: aj.primitive(lambda x: x > 0, name="p")(X),
        lambda: aj.primitive(lambda x: x, name="p", signature="real -> real")(X),
        lambda: aj.primitive(lambda x: x, name="p", signature="f64[n] -> f64[n] f64")(X),
    ],
)
def test_values_that_do_not_fit_are_ill_typed(call):
    with pytest.raises(IllTyped) as caught:
        call()
    assert caught.value.what


def test_what_the_function_raises_is_a_trap_that_names_it():
    with pytest.raises(Trap, match="p raised LinAlgError"):
        aj.primitive(lambda x: np.linalg.inv(x).view(), name="p")(np.zeros((2, 2)))
    with pytest.raises(Trap, match="p raised ZeroDivisionError"):
        aj.primitive(lambda x: x * (1 / np.asarray(0).item()), name="p")(X)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("f64[m, n]", Malformed),
        ("f64[m] -> f64[n]", Malformed),
        ("f64[m] -> f64[...]", Malformed),
        ("f64[m] ->", Malformed),
        ("f64[m] -> any", Malformed),
        ("f64[m-1] -> f64", Malformed),
        ("c128[m] -> f64", IllTyped),
        ("f64 f64 -> f64", IllTyped),
    ],
)
def test_signatures_that_say_nothing_are_refused(text, error):
    with pytest.raises(error) as caught:
        aj.primitive(lambda x: x, name="p", signature=text)
    assert caught.value.remedy


@given(st.lists(st.sampled_from(["f64[...]", "f64[..., n]", "f64[m, n]", "i64", "any", "f32[3]", "bool"]), min_size=1, max_size=4))
def test_a_signature_prints_as_it_is_read(parts):
    text = f"{' '.join(parts)} -> f64[2] i64"
    assert str(read(text)) == text


@given(st.lists(st.integers(0, 3), max_size=2), st.integers(0, 3))
def test_leading_axes_are_broadcast_and_letters_bound(lead, n):
    signature = read("f64[..., n] f64[n] f64[...] -> f64[..., n]")
    found = bind("p", signature, "xyz", [Measure("f64", (*lead, n)), Measure("f64", (n,)), Measure("f64", (1, *lead))])
    assert found.dims(signature.results[0]) == (1, *lead, n)


def test_types_of_results():
    matrix = read("f64[m, n] f64[..., n] -> f64[m] f64[...] f64")
    assert str(result("p", matrix, "xy", [parse_type("f64[2, ?]"), parse_type("f64[4, 3]")])) == "tuple[f64[2], f64[4], f64]"


def test_several_results_are_a_tuple():
    p = aj.primitive(lambda x: (np.sum(x).copy(), x[::2].copy()), name="p", signature="f64[3] -> f64 f64[2]")
    p.backpropagator(lambda x, out, dout: (np.full(3, dout[0]) + np.array([dout[1][0], 0.0, dout[1][1]]).view(),))
    assert p(X)[0] == 2.0
    assert np.array_equal(aj.grad(lambda x: p(x)[0] * np.sum(p(x)[1]))(X), np.array([6.0, 4.0, 6.0]))
    assert np.array_equal(aj.grad(lambda x: np.sum(p(x)[1]))(X), np.array([1.0, 0.0, 1.0]))


def test_the_arrays_of_a_function_are_its_own():
    """A function that writes into what it is given changes nobody's value."""

    def overwrite(x):
        x[...] = 0.0
        return x

    x = X.copy()
    assert np.array_equal(aj.primitive(overwrite)(x), np.zeros(3))
    assert np.array_equal(x, X)
