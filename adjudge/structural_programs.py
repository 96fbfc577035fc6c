"""
Programs that judge the primitives of structure: tuples, lists, records, dictionaries, cells, branches, closures.

Such a primitive moves reals about and computes none, so that there is no Jacobian to compare. It is judged where it stands: in a
program of reals, in the gradient of the program, and in the gradient of that. All first and second derivatives of the program
are compared with differences in ball arithmetic, which run the program only and know no rule.
"""

from __future__ import annotations

from functools import cache, partial

from checkers import ball_differences
from checkers.verdict import Verdict
from semantics.ir import Constant, Program
from semantics.primitives.row import Primitive
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand
from transforms.parse import parse_text

POINT = (1.25, 0.75)
"""Where the programs are smooth, and every one of their derivatives is far from 0."""

SOURCES: dict[str, str] = {
    "tuples": """
def f(x, y):
    a, *rest = (x, y, x * y)
    s = 0.0
    for v in (a, *rest, a)[1:]:
        s = s + v * v * x
    return s * rest[-1] + len(rest)
""",
    "lists": """
def f(x, y):
    s = []
    for i in range(3):
        s.append(x * x * i + y)
    s[1] = s[0] * y
    t = 0.0
    for v in s:
        t += v * x
    return t
""",
    "records": """
from dataclasses import dataclass

@dataclass
class Pair:
    a: float
    b: float

    def product(self):
        return self.a * self.b

@dataclass
class Single:
    a: float

    def product(self):
        return self.a

def f(x, y):
    p = Pair(x * y, y)
    p.a = p.a * x
    total = 0.0
    for q in (p, Single(x * y)):
        total += q.product() * q.product()
        if isinstance(q, Pair):
            total += q.b
    return total
""",
    "dictionaries": """
def cubes(d):
    s = 0.0
    for v in d.values():
        s += v * v * v
    for k in d.keys():
        s += d[k]
    return s

def f(x, y):
    d = {"a": x, "b": x * y}
    d["a"] = d["b"] * y
    d["c"] = x
    s = cubes(d)
    for k, v in d.items():
        s += d[k] * v * y
    return s
""",
    "cells": """
import numpy as np

def f(x, y):
    s = [x, y, x * y]
    other = s
    for i in range(2):
        other[i] *= s[i + 1]
    a = np.array([x, y])
    b = a[0]
    a[0] = b * s[0]
    return s[0] * a[0] + b * s[1]
""",
    "branches": """
def f(x, y):
    if x < 0.0 and y < 0.0:
        raise ValueError("negative")
    z = x if x > y and not y > 3.0 or x == y else y
    while z < 4.0:
        z = z * x + 1.0
    return z * y * y if bool(len((x, y))) else z
""",
    "closures": """
def f(x, y):
    def scaled(g):
        return lambda z: g(z) * x * x

    h = scaled(lambda z: z * z * y)
    return h(y) + scaled(h)(x)
""",
    "second derivatives": """
from adjudge import hessian, hvp

def square(z):
    return z * z

def f(x, y):
    return hessian(square)(x) * x * x * y + hvp(square)(x, y) * y * y * x
""",
    "ranges": """
import numpy as np

def f(x, y):
    chosen = np.logical_or(np.arange(3) == 0, np.logical_and(np.arange(3) > 1, np.arange(3) < 5))
    return np.sum(np.where(chosen, np.arange(3) * x * x * y, x)) + np.sum(np.eye(2) * y * y * x)
""",
    "derivatives": """
from dataclasses import dataclass
from adjudge import grad, jacobian, jvp, value_and_grad, vjp

@dataclass
class Pair:
    a: float
    b: float

def product(p):
    return p.a * p.a * p.b

def cube(z):
    return z * z * z

def f(x, y):
    slope = grad(product)(Pair(x, y))
    value, first = value_and_grad(cube)(x)
    pulled = vjp(cube, y)[1](x)[0]
    pushed = jvp(cube, (x,), (y,))[1]
    return slope.a * slope.b + value * first + pulled + pushed * jacobian(cube)(y)
""",
}
"""A program for each kind of structure; functions of two reals. Between them they use every primitive of structure."""


@cache
def programs(name: str) -> tuple[Program, ...]:
    """A program as written, without operators, its gradient by both arguments, and the gradient of that by the first."""
    written = parse_text(SOURCES[name], "f")
    program = expand(written)
    first = gradient_program(program, (0, 1))
    return written, program, first, gradient_program(gradient_program(program))


def primitives(program: Program) -> frozenset[str]:
    """The names of the primitives that a program uses."""
    constants = (n.value for n in program.nodes.values() if isinstance(n, Constant))
    return frozenset(value.name for value in constants if isinstance(value, Primitive))


@cache
def using(primitive: str) -> tuple[str, ...]:
    """The names of the programs in which, or in whose derivatives, a primitive occurs."""
    return tuple(name for name in SOURCES if any(primitive in primitives(p) for p in programs(name)))


@cache
def verdicts(name: str) -> tuple[Verdict, ...]:
    """On both first and all four second derivatives of a program."""
    _, program, first, _ = programs(name)
    judged = [ball_differences.agrees(program, first, POINT, i, select=partial(_part, i)) for i in range(2)]
    for i in range(2):
        again = gradient_program(gradient_program(program, i), (0, 1))
        judged += [ball_differences.agrees(program, again, POINT, i, select=partial(_part, j), j=j) for j in range(2)]
    return tuple(judged)


def _part(i: int, value: tuple[object, ...]) -> object:
    return value[i]
