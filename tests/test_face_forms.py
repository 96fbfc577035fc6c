"""The public API on forms that users write: arrays without axes, float of float32, copies, products with a Hessian, lambdas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjudge as aj
from semantics.errors import IllTyped, Malformed
from transforms.parse import parse_text

TARGETS = ("reference", "python", "cpu", "cuda-sequential")
MODES = ("J", "ssa", "pullback")


def same(a: Any, b: Any) -> bool:
    """Whether two results are alike in type, dtype, shape and bits."""
    if isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    return type(a) is type(b) and repr(a) == repr(b)


def on_all_targets(f: Any, *arguments: Any) -> list[Any]:
    """What every target gives, at a first call and at a second one, which has generated code."""
    compiled = [aj.compile(f, target) for target in TARGETS]
    return [g(*arguments) for g in compiled for _ in range(2)]


# arrays without axes


def itself(x):
    return x


def of_either_sign(x):
    return x if x > 0.0 else -x


def in_a_dictionary(x):
    return {"a": x}["a"]


def the_greatest(x):
    return np.max(x)


def flattened(x):
    return np.sum(np.ravel(x))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("f", [itself, of_either_sign, in_a_dictionary, the_greatest, flattened])
def test_the_gradient_by_an_array_without_axes_is_one(f: Any, dtype: str) -> None:
    """`instantiate` met the seed, a number, where the array is the result; generated code had no index to write in the brackets."""
    x = np.array(2.0, dtype=dtype)
    found = [aj.grad(f, mode=mode)(x) for mode in MODES] + on_all_targets(aj.grad(f), x)
    assert all(same(g, np.array(1.0, dtype=dtype)) for g in found), found


def test_a_tuple_is_no_sensitivity_of_an_array_without_axes() -> None:
    _, pullback = aj.vjp(itself, np.array(2.0))
    with pytest.raises(IllTyped):
        pullback((1.0,))


# float of float32


def mean(x):
    return float(np.sum(x)) / len(x)


def squares(x):
    total = 0.0
    for k in range(len(x)):
        total = total + float(x[k]) * float(x[k])
    return total


@pytest.mark.parametrize("f", [mean, squares])
def test_float_of_a_float32_is_a_double_as_in_cpython(f: Any) -> None:
    x = np.array([0.1, 2.5, -3.7], dtype=np.float32)
    assert all(same(v, f(x)) for v in on_all_targets(f, x))


def test_the_gradient_of_float_has_the_dtype_of_the_argument() -> None:
    x = np.array([0.1, 2.5, -3.7], dtype=np.float32)
    found = [aj.grad(squares, mode=mode)(x) for mode in MODES] + on_all_targets(aj.grad(squares), x)
    assert all(same(g, 2 * x) for g in found), found


def test_what_is_no_float_keeps_float32() -> None:
    x = np.array([0.1, 2.5], dtype=np.float32)
    assert all(v.dtype == np.float32 for v in on_all_targets(lambda x: np.sum(x) * 2.0, x))


# copies


def changed(d, x):
    e = d.copy()
    e["a"] = x
    return e["a"] * d["a"]


def copied(xs):
    return xs.copy()


def test_the_copy_of_a_dictionary_is_a_dictionary_of_its_own() -> None:
    d = {"a": 2.0, "b": 1.0}
    assert on_all_targets(changed, d, 3.0) == [6.0] * 8
    assert [aj.grad(changed, (0, 1), mode=mode)(d, 3.0) for mode in MODES] == [({"a": 3.0, "b": 0.0}, 2.0)] * 3


@pytest.mark.parametrize("value", [[1.0, 2.0], {"a": 1.0, "b": [2.0]}])
def test_a_copy_has_the_type_of_what_is_copied(value: Any) -> None:
    """A list became an array, a dictionary too."""
    assert all(type(v) is type(value) and v == value for v in on_all_targets(copied, value))


def test_the_copy_of_an_array_is_the_array() -> None:
    x = np.array([[1.0, 2.0]])[:, ::-1]
    assert all(same(v, x.copy()) for v in on_all_targets(copied, x))


@pytest.mark.parametrize("name", ["item", "tolist", "get", "update"])
def test_a_method_that_the_language_has_not_is_refused_with_what_to_write(name: str) -> None:
    with pytest.raises(Malformed, match=f"the method {name} is not in the language") as raised:
        parse_text(f"def f(x):\n    return x.{name}()", "f", names={})
    assert raised.value.remedy.startswith("write ")


def test_an_attribute_that_nothing_has_is_said_to_be_none_of_arrays_and_records() -> None:
    with pytest.raises(Malformed, match=r"neither arrays nor classes of records .* have an attribute foo"):
        parse_text("def f(x):\n    return x.foo", "f", names={})


# products with a Hessian


def form(x, y):
    return np.sum(np.sin(x) * y) ** 2


def test_hvp_is_compiled_and_differentiated_as_it_is_called() -> None:
    """`compile` bound the arguments to the parameters of f, which are half as many."""
    x, y, v, w = np.arange(3.0), np.ones(3), np.array([1.0, -2.0, 0.5]), np.array([0.25, 3.0, -1.0])
    wanted = aj.hvp(form)(x, y, v, w)
    found = on_all_targets(aj.hvp(form), x, y, v, w)
    assert all(same(a, b) for f in found for a, b in zip(f, wanted, strict=True))


def test_the_derivative_of_a_product_with_the_hessian() -> None:
    assert on_all_targets(aj.grad(aj.hvp(lambda x: x**3 * 2.0)), 2.0, 1.0) == [12.0] * 8


@pytest.mark.parametrize("directions", [(), (1.0,), (np.ones(4), np.ones(3)), (np.ones(3), 1.0)])
def test_directions_that_are_not_those_of_the_arguments_are_refused(directions: Any) -> None:
    x, y = np.arange(3.0), np.ones(3)
    for f in (aj.hvp(form), aj.compile(aj.hvp(form))):
        with pytest.raises(IllTyped) as raised:
            f(x, y, *directions)
        assert raised.value.rule in ("hvp", "enter")


def test_an_argument_that_has_a_default_needs_a_direction_too() -> None:
    with pytest.raises(IllTyped, match="as many directions"):
        aj.hvp(lambda x, y=2.0: x * x * y)(1.0, 1.0)
    assert aj.hvp(lambda x, y=2.0: x * x * y)(1.0, 2.0, 1.0, 0.0) == (4.0, 2.0)


# where a lambda stands


def test_each_lambda_of_one_line_is_told_from_the_others() -> None:
    """The body of a conditional expression is the place of no instruction."""
    fs = [lambda x: x * 2.0, lambda x: x if x > 1.0 else 1.0, lambda x: sum(map(lambda x: x + 1.0, (x,))), lambda x: 0.5]  # noqa: C417
    assert [aj.run(f, 3.0) for f in fs] == [f(3.0) for f in fs]
    inner = [lambda y: lambda x: x * y, lambda y: lambda x: x if x > y else y]
    assert [aj.run(f(5.0), 3.0) for f in inner] == [15.0, 5.0]
