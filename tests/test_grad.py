"""J and reverse over reverse: each rule fires and has a near miss; the shape of the result is that of the papers' figures."""

from __future__ import annotations

import math

import pytest

from semantics.derivation import replay
from semantics.errors import Malformed
from semantics.machine import Machine, run
from semantics.primitives.table import MACROS, TABLE
from semantics.text import read
from semantics.wellformed import check
from transforms import grad, nested_grad
from transforms.gradient_programs import before_j, differentiated, gradient_program, value_and_grad_program
from transforms.nested_grad import expand
from transforms.parse import parse_text

FIGURE_2 = """
import math

def f(x, fv):
    def clos(y):
        a = math.sin(y) * fv
        b = a * y
        return b

    return clos(x)
"""

INNER = """
from adjudge import grad

def f(x):
    return x * grad(lambda y: x + y)(x)
"""


def test_every_rule_of_j_fires_and_is_disabled_where_another_fires() -> None:
    steps = grad.SYSTEM.derive(grad.begin(*before_j(parse_text(FIGURE_2, "f")))).steps
    inner = parse_text(INNER.replace("grad(lambda y: x + y)(x)", "1.0 * x"), "f")
    steps += grad.SYSTEM.derive(grad.begin(*before_j(inner))).steps
    closed = read(
        "program @f\n@f(%x):\n  %j = J(@g)\n  %t = %j(2.0)\n  %v = getitem(%t, 0)\n  return %v\n"
        "@g(%y):\n  %s = add(%y, %x)\n  return %s"
    )
    place = next(n for n in closed.nodes if nested_grad.argument_of_j(closed, n) is not None)
    steps += grad.SYSTEM.derive(grad.begin(closed, place)).steps
    fired = {step.rule for step in steps}
    assert fired == {rule.name for rule in grad.RULES}
    for step in steps:
        enabled = [rule.name for rule in grad.RULES if rule.function(step.before) is not None]
        assert enabled == [step.rule]


def test_every_program_on_the_way_is_well_formed() -> None:
    for step in grad.SYSTEM.derive(grad.begin(*before_j(parse_text(FIGURE_2, "f")))).steps:
        check(step.after.program)


def test_a_recorded_j_replays_and_ends_where_the_unrecorded_one_does() -> None:
    start = grad.begin(*before_j(parse_text(FIGURE_2, "f")))
    derivation = grad.SYSTEM.derive(start)
    assert replay(grad.SYSTEM, start, derivation.to_json()).result.program == derivation.result.program
    assert grad.SYSTEM.run(start) == derivation.result.program


def test_the_sensitivity_of_a_closure_is_the_tuple_of_its_free_variables() -> None:
    """2017, figure 2: ◀clos returns ((∇fv,), ∇y)."""
    program = gradient_program(parse_text(FIGURE_2, "f"))
    backward = next(g for g in program.graphs.values() if g.name == "◀clos")
    assert program.callee(backward.output) is TABLE["make_tuple"]
    own, *parameters = program.inputs(backward.output)[1:]
    assert program.callee(own) is TABLE["make_tuple"]
    assert len(program.inputs(own)) == 2
    assert len(parameters) == 1


def test_the_value_of_j_is_the_value_bit_for_bit() -> None:
    program = parse_text(FIGURE_2, "f")
    value, gradient = run(value_and_grad_program(program), 0.5, 2.0)
    assert value == run(program, 0.5, 2.0)
    assert gradient == run(gradient_program(program), 0.5, 2.0)


def test_perturbations_are_kept_apart() -> None:
    """The derivative of x * D(y -> x + y) is 1, at every x and after one more derivative 0."""
    program = parse_text(INNER, "f")
    assert run(expand(program), 3.0) == 3.0
    assert run(gradient_program(program), 3.0) == 1.0
    assert run(gradient_program(gradient_program(program)), 3.0) == 0.0


def test_the_third_derivative_of_the_sine() -> None:
    program = parse_text("import math\n\ndef f(x):\n    return math.sin(x)\n", "f")
    for derivative in (math.cos, lambda x: -math.sin(x), lambda x: -math.cos(x)):
        program = gradient_program(program)
        assert run(program, 0.7) == derivative(0.7)


REACHED_THROUGH = {
    "a parameter": "def g(h, x):\n    return grad(h)(x)\n\ndef f(x):\n    return g(lambda y: y * y * x, x)\n",
    "a recursion": (
        "def g(h, x, n):\n    if n == 0:\n        return h(x)\n    return grad(h)(x) + g(h, x, n - 1)\n\n"
        "def f(x):\n    return g(lambda y: y * y * x, x, 0) + 1.0 * x * x\n"
    ),
    "a choice": "def f(x):\n    h = (lambda y: y * y * x) if x > 0 else (lambda y: y)\n    return grad(lambda z: h(z))(x)\n",
    "a tuple": "def f(x):\n    t = (lambda y: y, lambda y: y * y * x)\n    return grad(lambda z: t[1](z))(x)\n",
    "a result": "def g(x):\n    return lambda y: y * y * x\n\ndef f(x):\n    return grad(lambda z: g(x)(z))(x)\n",
}


@pytest.mark.parametrize("how", [k for k in REACHED_THROUGH if k != "a recursion"])
def test_a_differentiated_function_is_found_through(how: str) -> None:
    """In each, f(x) = d/dy (y² x) at y = x, which is 2x², and its derivative is 4x."""
    program = parse_text("from adjudge import grad\n\n" + REACHED_THROUGH[how], "f")
    assert run(expand(program), 3.0) == 18.0
    assert run(gradient_program(program), 3.0) == 12.0


def test_a_function_is_differentiated_inside_a_recursion() -> None:
    program = parse_text("from adjudge import grad\n\n" + REACHED_THROUGH["a recursion"], "f")
    assert run(expand(program), 2.0) == 8.0 + 4.0


def test_a_derivative_whose_order_is_computed_by_the_program_is_refused() -> None:
    """f(x, n) needs the n-th derivative: how often J is applied to itself must be known before the run (2017, section 3)."""
    source = (
        "from adjudge import grad\n\ndef f(x, n):\n    if n == 0:\n        return x\n"
        "    return grad(lambda y: y * f(x, n - 1) + y * y * x)(x)\n"
    )
    with pytest.raises(Malformed, match="identified"):
        expand(parse_text(source, "f"))


def test_a_function_that_is_its_own_derivative_is_refused() -> None:
    program = parse_text("from adjudge import grad\n\ndef f(x):\n    return grad(f)(x)\n", "f")
    with pytest.raises(Malformed, match="identified"):
        expand(program)


def test_each_macro_has_a_rule_that_removes_it() -> None:
    sources = {
        "grad": "grad(g)(x)",
        "value_and_grad": "value_and_grad(g)(x)[1]",
        "vjp": "vjp(g, x)[1](1.0)[0]",
        "jvp": "jvp(g, (x,), (1.0,))[1]",
        "jacobian": "jacobian(g)(x)",
        "hessian": "hessian(h)(x)",
        "hvp": "hvp(h)(x, 1.0)",
    }
    assert set(sources) == {m.name for m in MACROS}
    for name, call in sources.items():
        defined = "def g(x):\n    return x * x\n\ndef h(x):\n    return x * x * x / 3.0\n"
        text = f"from adjudge import {name}\n\n{defined}\ndef f(x):\n    return {call}\n"
        assert run(expand(parse_text(text, "f")), 3.0) == 6.0, name


def test_a_name_that_is_no_parameter_is_refused_with_the_names_that_are() -> None:
    program = differentiated(parse_text("def f(x, y):\n    return x * y\n", "f"), "z")
    with pytest.raises(Malformed) as caught:
        expand(program)
    assert "x, y" in caught.value.remedy


@pytest.mark.parametrize("turns", [0, 1, 7])
def test_the_gradient_of_a_loop(turns: int) -> None:
    source = "def f(x, n):\n    r = 1.0\n    for _ in range(n):\n        r = r * x\n    return r\n"
    adjoint = gradient_program(parse_text(source, "f"), types=(None, None))
    assert run(adjoint, 2.0, turns) == turns * 2.0 ** (turns - 1)


def test_a_gradient_costs_a_constant_factor_in_steps() -> None:
    """T20 for one family: the steps of the gradient of n turns are affine in n, so the ratio of increments is exact."""
    source = "def f(x, n):\n    r = 1.0\n    for _ in range(n):\n        r = r * x\n    return r\n"
    machine = Machine(gradient_program(parse_text(source, "f"), types=(None, None)))
    steps = [machine.run((1.0, n)).steps for n in (10, 20, 40)]
    assert steps[2] - steps[1] == 2 * (steps[1] - steps[0])
