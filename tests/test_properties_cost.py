"""T20: the gradient costs a constant times the program, with one constant for loops, recursion, chains of closures and tuples."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from claims import judged, refuted

from checkers.properties import cost
from semantics.ir import Program
from semantics.text import read
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text

X = (0.75,)


def python(text: str) -> Callable[[int], Program]:
    """The family of a text in Python with N for the size."""
    return lambda n: parse_text(f"import math\ndef f(x):\n{text.replace('N', str(n))}", "f")


LOOP = python("    y = x\n    for i in range(N):\n        y = y * x + 0.5\n    return y\n")
SINES = python("    y = x\n    i = 0\n    while i < N:\n        y = math.sin(y) * x\n        i = i + 1\n    return y\n")
RECURSION = python(
    "    def r(n, y):\n        if n <= 0:\n            return y\n        return r(n - 1, y * 0.5) * x\n    return r(N, x)\n"
)
TAIL = python("    def r(n, y):\n        return y if n <= 0 else r(n - 1, y * x)\n    return r(N, x)\n")
TUPLES = python("    t = (x, 1.0, 2.0)\n    for i in range(N):\n        t = (t[1], t[2] * x, t[0])\n    return t[0] + t[1]\n")
READ_ONLY = python(
    f"    t = ({', '.join(f'x * {i}.0' for i in range(32))})\n"
    "    y = 0.0\n    for i in range(N):\n        y = y + t[i % 32]\n    return y\n"
)
CLOSURES = python(
    "    def chain(n, k):\n        return k(x) if n <= 0 else chain(n - 1, lambda y: k(y * x))\n    return chain(N, lambda y: y)\n"
)
CAPTURED = python(
    "    a = x * x\n    def g(y):\n        return y * a\n    y = x\n    for i in range(N):\n        y = g(g(y))\n    return y\n"
)
BRANCHES = python(
    "    y = x\n"
    "    for i in range(N):\n"
    "        if i % 2 == 0:\n"
    "            y = y * x\n"
    "        else:\n"
    "            y = y + x\n"
    "    return y\n"
)
NESTED = python("    y = x\n    for i in range(N):\n        for j in range(3):\n            y = y * x\n    return y\n")


def straight(n: int) -> Program:
    """n multiplications in a row."""
    return parse_text(
        "def f(x):\n    y0 = x\n" + "".join(f"    y{i + 1} = y{i} * x\n" for i in range(n)) + f"    return y{n}\n", "f"
    )


FAMILIES = {
    "straight": straight,
    "loop": LOOP,
    "sines": SINES,
    "recursion": RECURSION,
    "tail recursion": TAIL,
    "tuples": TUPLES,
    "reads of a large tuple": READ_ONLY,
    "chain of closures": CLOSURES,
    "captured": CAPTURED,
    "branches": BRANCHES,
    "nested loops": NESTED,
}
FAMILY = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


@FAMILY
def test_t20_one_constant_bounds_the_steps_of_every_family(family: Callable[[int], Program]) -> None:
    judged(cost.cheap_gradient(family, X))


@FAMILY
def test_t20_one_constant_bounds_the_live_values_of_every_family(family: Callable[[int], Program]) -> None:
    judged(cost.cheap_memory(family, X))


@FAMILY
def test_t20_the_cost_is_linear_the_slope_does_not_grow_with_the_size(family: Callable[[int], Program]) -> None:
    """The slope between 10 and 40 and between 40 and 160 differ by less than a step of the gradient for one of the program."""
    assert abs(cost.slope(family, X, (40, 160)) - cost.slope(family, X, (10, 40))) < 1.0


# planted bugs


def test_a_gradient_that_costs_the_square_is_found() -> None:
    quadratic = python("    y = x\n    for i in range(N):\n        for j in range(i):\n            y = y * x\n    return y\n")
    sizes = {id(p): n for n in (10, 40) for p in [LOOP(n)]}
    assert len(sizes) == 2

    def squared(program: Program) -> Program:
        return gradient_program(quadratic(40 if "40" in str(program) else 10))

    refuted(cost.cheap_gradient(LOOP, X, (10, 40), gradient=squared))


def test_a_gradient_that_keeps_the_square_is_found() -> None:
    def hoarding(n: int) -> Program:
        lines = "".join(f"    t{i + 1} = ({', '.join(f'x + {i * n + j}.0' for j in range(n))},)\n" for i in range(n))
        return parse_text(f"def f(x):\n{lines}    s = ({', '.join(f't{i + 1}' for i in range(n))})\n    return s[0][0]\n", "f")

    def wrong(program: Program) -> Program:
        return hoarding(40 if "15" in str(program) else 5)

    refuted(cost.cheap_memory(LOOP, X, (5, 15), factor=2.0, gradient=wrong))


def test_live_values_count_shared_ones_once_and_forget_the_dead() -> None:
    shared = read(
        "program @f\n@f(%x: f64):\n  %a = make_tuple(%x, %x)\n  %b = make_tuple(%a, %a)\n  %c = getitem(%b, 0)\n  return %c"
    )
    assert cost.peak_of_live_values(shared, X) <= 4
    assert cost.peak_of_live_values(LOOP(40), X) == cost.peak_of_live_values(LOOP(10), X)
