"""
Hessian-vector products of programs that people write: reverse over reverse is forward over reverse.

The product by J of J, contracted with the direction, must be what dual numbers make of J: equal on fractions for the rational
programs, overlapping enclosures of 400 bits for the others. That the Hessian is symmetric is a second, independent demand.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from checkers import forward_mode
from checkers.array_audit.row_samples_arguments import array
from checkers.columns.leaves import coordinates, map_leaves
from checkers.properties.agreement import Point, differ, point
from semantics.arrays import Array
from semantics.ir import Program
from semantics.type_language import type_of
from transforms.backpropagators import NAMES
from transforms.gradient_programs import calling, gradient_program
from transforms.nested_grad import expand
from transforms.parse import parse_text

HEAD = """
import math
from typing import NamedTuple

import numpy as np
from adjudge import grad, scan

class Leaf(NamedTuple):
    value: float

class Branch(NamedTuple):
    left: Leaf
    right: Leaf
    weight: float

def fold(t):
    if isinstance(t, Leaf):
        return t.value * t.value
    return t.weight * fold(t.left) * fold(t.right) + math.sin(t.weight)

def stable_logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))

def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)

"""


def small(shape: tuple[int, ...], seed: int) -> Array:
    """Values in (-1/2, 1/2), so that exponentials stay moderate."""
    whole = array(shape, seed)
    return whole.with_items(x / 4 for x in whole.items)


PROGRAMS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "matmul": ("def f(a, b):\n    c = a @ b\n    return np.sum(c * c * c)\n", (array((2, 3)), array((3, 2), 1))),
    "matmul_of_stacks": ("def f(a, b):\n    return np.sum((a @ b) ** 2)\n", (array((2, 1, 2)), array((2, 2), 1))),
    "einsum": ("def f(a, b):\n    return np.sum(np.einsum('ij,jk,ik->i', a, b, a) ** 2)\n", (array((2, 2)), array((2, 2), 1))),
    "quadratic_form": (
        "def f(a, x):\n    return x @ np.linalg.solve(a, x)\n",
        (Array("f64", (2, 2), (3.0, 0.5, -0.25, 2.0)), array((2,))),
    ),
    "logsumexp": ("def f(x):\n    return logsumexp(x, None, False) ** 2\n", (small((3,), 0),)),
    "logsumexp_rows": ("def f(x):\n    return np.sum(logsumexp(x, 1, True) * x)\n", (small((2, 3), 0),)),
    "logsumexp_by_hand": ("def f(x):\n    return stable_logsumexp(x) ** 2\n", (small((3,), 0),)),
    "softmax": ("def f(x, w):\n    return np.sum(softmax(x) * w)\n", (small((2, 3), 0), array((3,), 1))),
    "cross_entropy": ("def f(x):\n    return -np.log(softmax(x)[1]) + np.log(softmax(x)[0]) ** 2\n", (small((3,), 2),)),
    "perceptron": (
        "def f(x, w1, b1, w2, b2):\n    h = np.tanh(x @ w1 + b1)\n    y = h @ w2 + b2\n    return np.mean((y - 1.0) ** 2)\n",
        (small((2, 2), 0), small((2, 3), 1), small((3,), 2), small((3, 1), 3), small((1,), 4)),
    ),
    "rnn_loop": (
        "def f(xs, w, u):\n    h = np.zeros(2)\n    for x in xs:\n        h = np.tanh(w @ h + u @ x)\n    return h @ h\n",
        (small((3, 2), 0), small((2, 2), 1), small((2, 2), 2)),
    ),
    "rnn_by_scan": (
        "def f(xs, w, u):\n    def cell(h, x):\n        n = np.tanh(w @ h + u * x)\n        return n, n[0] * n[1]\n"
        "    last, ys = scan(cell, np.zeros(2), xs)\n    return np.sum(ys) + last @ last\n",
        (small((3,), 0), small((2, 2), 1), small((2,), 2)),
    ),
    "tree_of_records": (
        "def f(a, b, c, w):\n    return fold(Branch(Branch(Leaf(a), Leaf(b), w), Leaf(c), a * w))\n",
        (0.5, 1.25, -0.75, 1.5),
    ),
    "loop_with_a_gradient": (
        "def f(x, w):\n    for k in range(2):\n        x -= 0.25 * grad(lambda t: np.sum(t**3 * w))(x)\n    return np.sum(x * w)\n",
        (array((2,)), array((2,), 1)),
    ),
    "cholesky_likelihood": (
        "def f(a, x):\n    s = a @ a.T + np.eye(2)\n    l = np.linalg.cholesky(s)\n    z = np.linalg.solve(l, x)\n"
        "    return 0.5 * z @ z + np.sum(np.log(np.linalg.det(l)))\n",
        (small((2, 2), 0), small((2,), 1)),
    ),
    "tuple_of_reals": ("def f(t, x):\n    return t[0] * t[1] ** 2 * x\n", ((0.5, 1.25), -0.75)),  # of no arrays at all
    "tuple_gone_over": ("def f(t):\n    return sum(x * t[0] for x in t) ** 2\n", ((0.5, 1.25, -0.75),)),
    "tuple_summed": ("def f(t):\n    return sum(t) ** 3\n", ((0.5, 1.25, -0.75),)),
    "tuple_passed_on": ("def norm(t):\n    return t[0] ** 3 - t[1] ** 2\n\ndef f(t):\n    return norm(t) ** 2\n", ((0.5, 1.25),)),
    "log_determinant": ("def f(a):\n    return np.linalg.slogdet(a @ a.T + np.eye(2))[1]\n", (small((2, 2), 0),)),
}


@cache
def program(name: str) -> Program:
    return expand(parse_text(HEAD + PROGRAMS[name][0], "f", names=NAMES))


@cache
def at(name: str) -> Point:
    return point(program(name), PROGRAMS[name][1])


@cache
def product(name: str) -> Program:
    """(x…, v…) ↦ the Hessian times v, by J of J."""
    return expand(calling(program(name), "hvp", types=[type_of(a) for a in PROGRAMS[name][1]]))


def direction(arguments: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    count = iter(range(10**6))
    found: tuple[Any, ...] = map_leaves(lambda _, __: ((7 * next(count) + 3 * seed) % 11 - 4.5) / 4, arguments)
    return found


def times(name: str, v: tuple[Any, ...]) -> tuple[Any, ...]:
    found = at(name).value(product(name), *v)
    return found if len(v) > 1 else (found,)


@pytest.mark.parametrize("name", PROGRAMS)
def test_reverse_over_reverse_is_forward_over_reverse(name: str) -> None:
    arguments = PROGRAMS[name][1]
    which, types = tuple(range(len(arguments))), [type_of(a) for a in arguments]
    v = direction(arguments, 1)
    tangents = tuple(forward_mode.lifted(at(name).reading, d) for d in v)
    first = gradient_program(program(name), which, types)
    wanted = forward_mode.jvp(first, at(name).arguments, tangents, at(name).reading)[1]
    assert differ(times(name, v), wanted) is None


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_hessian_is_symmetric(name: str) -> None:
    """⟨u, H v⟩ = ⟨v, H u⟩"""
    arguments, reading = PROGRAMS[name][1], at(name).reading
    u, v = direction(arguments, 1), direction(arguments, 5)

    def paired(left: tuple[Any, ...], right: tuple[Any, ...]) -> Any:
        total = reading.lift(0.0)
        for path in coordinates(arguments):
            a, b = left, right
            for i in path:
                a, b = a[i], b[i]
            total = total + reading.lift(a) * b
        return total

    assert differ(paired(u, times(name, v)), paired(v, times(name, u))) is None
