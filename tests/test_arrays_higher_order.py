"""`array_map`, `array_reduce` and `scan`: one text, which CPython runs and the machine runs; derivatives to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjudge as aj
from adjudge.values import to_value
from checkers import forward_mode
from checkers.array_audit.row_samples_arguments import array
from checkers.properties.agreement import differ, point
from semantics.errors import IllTyped, Malformed, Trap
from semantics.machine import run
from semantics.type_language import type_of
from semantics.values import same
from transforms.gradient_programs import calling, gradient_program
from transforms.nested_grad import expand
from transforms.parse import parse, parse_text

HEAD = "import math\nimport numpy as np\nimport adjudge as aj\nfrom adjudge import array_map, array_reduce, scan\n\n"
V = np.array([0.5, -1.25, 2.0])
M = np.array([[0.5, -1.25, 2.0], [1.5, 3.0, -0.75]])
Call = tuple[str, tuple[Any, ...]]

VALUES: tuple[Call, ...] = (
    ("array_map(lambda t: t * t, a)", (V,)),
    ("aj.array_map(lambda t: t * t, a)", (M,)),
    ("array_map(lambda t: t * t, a)", (np.array(3.0),)),
    ("array_map(lambda t: t * t, a)", (np.zeros((0, 2)),)),
    ("array_map(lambda t: t > 0.0, a)", (V,)),
    ("array_map(lambda t: t + 1, a)", (np.array([[1, 2], [3, 4]]),)),
    ("array_map(lambda t: t * t, a)", (V.astype(np.float32),)),
    ("array_map(lambda t: np.stack([t, t * t]), a)", (M,)),
    ("array_map(lambda s, t: s * t + s, a, b)", (M, V)),
    ("array_map(lambda s, t: s * t + s, a, b)", (M, np.array([[2.0], [3.0]]))),
    ("array_map(lambda r, s, t: r * s + t, a, b, b)", (V, V)),
    ("array_map(lambda t: a[0] * t, b)", (V, M)),
    ("array_reduce(lambda c, t: c * t + 1.0, b, a)", (V, 2.0)),
    ("array_reduce(lambda c, t: c * t + 1.0, b, a)", (np.zeros(0), 2.0)),
    ("array_reduce(lambda c, t: c @ t, a, b)", (np.eye(2), np.stack([M[:, :2], M[:, 1:]]))),
    ("array_reduce(lambda c, t: c + t, 0.0, a)", (M[:, 0],)),
    ("scan(lambda c, t: (c * t, c + t), b, a)", (V, 2.0)),
    ("scan(lambda c, t: (c * t, c + t), b, a)", (np.zeros(0), 2.0)),
    ("scan(lambda c, t: (c + t, np.sum(c)), b, a)", (M, V)),
    ("scan(lambda c, t: ((c[1], c[0] + t), c[0] * t), (b, 0.0), a)", (V, 2.0)),
)


def program(text: str, count: int) -> Any:
    return expand(parse_text(f"{HEAD}def f({', '.join('ab'[:count])}):\n    return {text}\n", "f"))


@pytest.mark.parametrize(("text", "arguments"), VALUES, ids=[t for t, _ in VALUES])
def test_the_machine_and_cpython_give_the_same_bits(text: str, arguments: tuple[Any, ...]) -> None:
    names = {"np": np, "aj": aj, "array_map": aj.array_map, "array_reduce": aj.array_reduce, "scan": aj.scan}
    wanted = eval(text, names | dict(zip("ab", arguments, strict=False)))
    assert same(run(program(text, len(arguments)), *map(to_value, arguments)), to_value(wanted))


def test_map_is_elementwise_arithmetic_and_reduce_is_the_sum() -> None:
    assert same(to_value(aj.array_map(lambda t: t * t, M)), to_value(M * M))
    assert aj.array_reduce(lambda c, t: c + t, 0.0, V) == float(np.sum(V))
    carry, partial = aj.scan(lambda c, t: (c + t, c + t), 0.0, V)
    assert carry == partial[-1]
    assert same(to_value(partial), to_value(np.cumsum(V)))


def test_a_live_program_names_them_too() -> None:
    def f(x: Any) -> Any:
        return aj.array_reduce(lambda c, t: c + t, 0.0, aj.array_map(lambda t: t * t, x))

    assert run(parse(f), to_value(V)) == f(V)
    assert same(to_value(aj.grad(f)(V)), to_value(2.0 * V))


GRADIENTS: tuple[Call, ...] = (
    ("np.sum(array_map(lambda t: t * t * t, a))", (array((2, 2)),)),
    ("np.sum(array_map(lambda s, t: s * s * t, a, b))", (array((2, 2)), array((2,), 1))),
    ("np.sum(array_map(lambda t: b[0] * t * b[1], a))", (array((3,)), array((2,), 1))),
    ("np.sum(array_map(lambda t: np.stack([t, t * t]), a) ** 2)", (array((2,)),)),
    ("array_reduce(lambda c, t: c * t + b, b, a)", (array((3,)), 1.5)),
    ("array_reduce(lambda c, t: c / t + b, b, a)", (array((0,)), 1.5)),
    ("np.trace(array_reduce(lambda c, t: c @ t, b, a))", (array((2, 2, 2)), array((2, 2), 1))),
    ("np.sum(scan(lambda c, t: (c * t, c * c + t), b, a)[1])", (array((3,)), 1.5)),
    ("scan(lambda c, t: (c * t + b, c), b, a)[0]", (array((3,)), 1.5)),
    ("np.sum(scan(lambda c, t: (np.tanh(c + t), c * t), b, a)[1])", (array((3, 2)), array((2,), 1))),
    ("np.sum(array_map(lambda t: aj.grad(lambda u: u * u * t)(t), a))", (array((2,)),)),
    ("array_reduce(lambda c, t: math.exp(c * t), b, a)", (array((2,)), 0.5)),
)


@pytest.mark.parametrize(("text", "arguments"), GRADIENTS, ids=[t for t, _ in GRADIENTS])
def test_first_and_second_derivatives_are_those_of_forward_mode(text: str, arguments: tuple[Any, ...]) -> None:
    """J against dual numbers; J of J, along a direction, against dual numbers through J."""
    f = program(text, len(arguments))
    which, types = tuple(range(len(arguments))), [type_of(a) for a in arguments]
    at = point(f, arguments)
    first = gradient_program(f, which, types)
    assert differ(at.value(first), forward_mode.gradient(f, at.arguments, at.reading)) is None
    along = tuple(1.25 if isinstance(a, float) else a.with_items(0.5 - k for k in range(len(a.items))) for a in arguments)
    found = at.value(expand(calling(f, "hvp", types=types)), *along)
    direction = tuple(forward_mode.lifted(at.reading, d) for d in along)
    wanted = forward_mode.jvp(first, at.arguments, direction, at.reading)[1]
    assert differ(found if len(arguments) > 1 else (found,), wanted) is None


def test_what_they_refuse() -> None:
    with pytest.raises(ValueError, match="more than 3 arrays"):
        aj.array_map(lambda p, q, r, s: p, V, V, V, V)
    with pytest.raises(Trap, match="more than 3 arrays"):
        run(program("array_map(lambda p, q, r, s: p, a, a, a, a)", 1), to_value(V))
    with pytest.raises(Trap, match="does not broadcast"):
        run(program("array_map(lambda s, t: s + t, a, b)", 2), to_value(V), to_value(M))
    with pytest.raises(Trap, match="len of an array without axes"):
        run(program("array_reduce(lambda c, t: c, 0.0, a)", 1), to_value(np.array(1.0)))
    with pytest.raises(IllTyped, match="takes 2 arguments, 1 given"):
        run(program("array_map(lambda s, t: s, a)", 1), to_value(V))
    with pytest.raises(Malformed, match=r"adjudge\.array_filter is not for use inside programs") as caught:
        program("aj.array_filter(lambda t: t, a)", 1)
    assert "array_map" in caught.value.remedy
