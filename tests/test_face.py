"""The public API: what section 9 of the design promises, as a user would type it."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import adjudge as aj
from semantics.errors import IllTyped, Malformed, OutOfFuel, Trap


def product(x, y):
    return x**3 * y**4


def branchy(x, n: int = 3):
    if n > 2:
        return x * n
    return x


def apply(f, x):
    return f(x)


def square(x):
    return x * x


def swap_sum(t):
    a, b = t
    return a * b + a


def pair(x, y):
    return x * y, x + y


def forever(x):
    while x > 0.0:
        x = x + 1.0
    return x


def test_run_gives_what_cpython_gives():
    assert aj.run(product, 2.0, 3.0) == product(2.0, 3.0)


def test_grad_by_position_by_name_and_by_a_tuple():
    assert aj.grad(product)(2.0, 3.0) == 3 * 4 * 81
    assert aj.grad(product, wrt="y")(2.0, 3.0) == 8 * 4 * 27
    assert aj.grad(product, wrt=("y", 0))(2.0, 3.0) == (8 * 4 * 27, 3 * 4 * 81)


def test_value_and_grad_come_together():
    assert aj.value_and_grad(product)(2.0, 3.0) == (648.0, 972.0)


def test_derivatives_compose():
    assert aj.grad(aj.grad(product))(2.0, 3.0) == 6 * 2 * 81
    assert aj.grad(aj.grad(aj.grad(product)))(2.0, 3.0) == 6 * 81


def test_keywords_and_defaults_are_those_of_the_function():
    assert aj.grad(branchy)(2.0) == 3.0
    assert aj.grad(branchy)(2.0, n=1) == 1.0
    with pytest.raises(IllTyped, match="branchy"):
        aj.grad(branchy)(2.0, m=1)


def test_a_function_may_be_an_argument():
    assert aj.run(apply, square, 3.0) == 9.0
    assert aj.grad(apply, wrt=1)(square, 3.0) == 6.0
    assert aj.grad(apply, wrt="f")(square, 3.0) == ()


def test_the_cotangent_of_a_tuple_is_a_tuple():
    assert aj.grad(swap_sum)((2.0, 3.0)) == (4.0, 2.0)


def test_vjp_gives_the_sensitivities_of_all_arguments():
    out, pullback = aj.vjp(pair, 2.0, 3.0)
    assert out == (6.0, 5.0)
    assert pullback((1.0, 0.0)) == (3.0, 2.0)
    assert pullback((0.0, 1.0)) == (1.0, 1.0)
    with pytest.raises(IllTyped, match="sensitivity"):
        pullback(1.0)


def test_jvp_gives_the_directional_derivative():
    assert aj.jvp(pair, (2.0, 3.0), (1.0, 10.0)) == ((6.0, 5.0), (23.0, 11.0))


def test_jacobian_has_a_row_per_result():
    assert aj.jacobian(pair, wrt=(0, 1))(2.0, 3.0) == ((3.0, 2.0), (1.0, 1.0))
    assert aj.jacobian(square)(3.0) == 6.0


def test_hessian_and_hvp_agree():
    rows = aj.hessian(product, wrt=(0, 1))(2.0, 3.0)
    assert rows == ((6 * 2 * 81.0, 3 * 4 * 4 * 27.0), (3 * 4 * 4 * 27.0, 8 * 12 * 9.0))
    along = aj.hvp(product)(2.0, 3.0, 1.0, 0.0)
    assert along == (rows[0][0], rows[1][0])


def test_the_directions_of_a_program_have_no_names_and_need_none():
    """An IndexError came out, since a program has no parameter for a direction."""
    direct = aj.compile(aj.hvp(aj.parse(product)), target="python")
    assert direct(2.0, 3.0, 1.0, 0.0) == aj.hvp(product)(2.0, 3.0, 1.0, 0.0)
    with pytest.raises(IllTyped, match="direction"):
        direct(2.0, 3.0, 1.0, "no number")


def test_an_integer_has_no_derivative_and_the_error_says_so():
    with pytest.raises(IllTyped, match="integer 2") as caught:
        aj.grad(product)(2, 3.0)
    assert "2.0" in caught.value.remedy
    with pytest.raises(IllTyped, match="boolean"):
        aj.grad(product)(True, 3.0)


def test_the_result_must_be_a_real():
    with pytest.raises(IllTyped, match="real"):
        aj.grad(pair)(2.0, 3.0)


@pytest.mark.parametrize("bad", [1j, "x", {1.0}, np.ones(3, dtype=complex), {1: 2.0}, object()])
def test_a_value_outside_the_language_is_refused_by_name(bad):
    with pytest.raises(IllTyped, match=r"^IllTyped: x "):
        aj.run(square, bad)


def test_numpy_scalars_are_numbers():
    assert aj.run(square, np.float64(3.0)) == 9.0
    assert type(aj.run(square, np.int64(3))) is int


@pytest.mark.parametrize("wrt", [2, -3, "z", (), 1.5, (0, "z")])
def test_a_wrong_wrt_is_refused(wrt):
    with pytest.raises((Malformed, IllTyped)):
        aj.grad(product, wrt=wrt)(2.0, 3.0)


def test_what_is_no_function_is_refused():
    with pytest.raises(IllTyped, match="wants a function"):
        aj.grad(3.0)
    with pytest.raises(Malformed):
        aj.parse(3.0)
    with pytest.raises(Malformed, match="target"):
        aj.compile(square, target="tpu")


def test_fuel_bounds_every_run():
    with pytest.raises(OutOfFuel):
        aj.run(forever, 1.0, fuel=1000)


def test_an_integer_division_by_zero_traps_with_its_line():
    def f(n):
        return 1 // n

    with pytest.raises(Trap) as caught:
        aj.run(f, 0)
    assert caught.value.location is not None
    assert "1 // n" in caught.value.location.text


def test_a_variable_that_no_path_assigned_does_not_leave():
    def f(x):
        if x > 0.0:
            y = x
        return y

    assert aj.run(f, 1.0) == 1.0
    with pytest.raises(Trap, match="y"):
        aj.run(f, -1.0)


def test_a_trace_prints_and_replays():
    derivation = aj.trace(square, 3.0)
    assert derivation.coverage()["primitive"] == 1
    assert "mul" in str(derivation)


def test_read_is_the_inverse_of_printing():
    program = aj.parse(product)
    assert aj.read(str(program)) == program


def test_the_gradient_of_figure_1_is_what_one_writes_by_hand():
    """3 * x**2 * y**4: two powers and two products."""
    program = aj.transform(product, "grad", "optimize").result
    assert len(program.graphs) == 1
    applications = [n for n in program.nodes if program.apply(n) is not None]
    assert sorted(program.callee(n).name for n in applications) == ["mul", "mul", "pow", "pow"]


def test_transform_accepts_derivatives_and_programs():
    once = aj.transform(aj.grad(product), "optimize").result
    assert aj.run(once, 2.0, 3.0) == 972.0
    assert aj.run(aj.transform(once, "cse", "dce").result, 2.0, 3.0) == 972.0
    with pytest.raises(Malformed, match="not a transform"):
        aj.transform(product, "optimise")


@pytest.mark.parametrize("target", ["reference", "python", "cpu"])
def test_compiled_derivatives_are_bit_equal_to_the_reference(target):
    compiled = aj.compile(aj.grad(product, wrt=(0, 1)), target=target)
    assert compiled(1.7, -0.3) == aj.grad(product, wrt=(0, 1))(1.7, -0.3)
    assert aj.grad(product, target=target)(1.7, -0.3) == aj.grad(product)(1.7, -0.3)


def test_a_primitive_of_the_user_is_run_and_differentiated():
    @aj.primitive
    def cube(x):
        return x * x * x

    @cube.backpropagator
    def _(x, out, dout):
        return (dout * 3.0 * x * x,)

    def f(x):
        return cube(x) + math.sin(x)

    assert aj.run(f, 2.0) == 8.0 + math.sin(2.0)
    assert aj.grad(f)(2.0) == 12.0 + math.cos(2.0)
    assert aj.grad(aj.grad(cube))(2.0) == 12.0


def test_partial_functions_without_source_are_refused_not_guessed():
    with pytest.raises(Malformed):
        aj.run(functools.partial(product, 2.0), 3.0)
