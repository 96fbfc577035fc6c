"""
Programs with recursion that is no loop: the text of f, the points, and the arguments that it is differentiated by. What generated
ones are written with, and what the reference gives.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from semantics.ir import Program
from semantics.machine import run
from transforms.nested_grad import expand

RECURSIVE: dict[str, tuple[str, tuple[tuple[Any, ...], ...], Any]] = {
    "fib": (
        """
def f(n: int):
    if n < 2:
        return n
    return f(n - 1) + f(n - 2)
""",
        ((0,), (9,)),
        None,
    ),
    "ackermann": (
        """
def f(m: int, n: int):
    if m == 0:
        return n + 1
    if n == 0:
        return f(m - 1, 1)
    return f(m - 1, f(m, n - 1))
""",
        ((0, 0), (2, 3)),
        None,
    ),
    "power": (
        """
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)
def f(x: float, n: int):
    return power(x, n)
""",
        ((1.5, 0), (1.5, 5)),
        0,
    ),
    "two calls": (
        """
import math
def g(x, y, n):
    if n == 0:
        return x * y
    a = g(x + y, y, n - 1)
    b = g(x, a, n - 1)
    return math.tanh(a * b + x)
def f(x: float, y: float, n: int):
    return g(x, y, n) * x
""",
        ((0.3, 0.4, 0), (0.3, 0.4, 3)),
        (0, 1),
    ),
    "one call among several": (
        """
import math
def f(x: float, n: int):
    if n <= 1:
        return x
    h = f(x, n // 2)
    if n % 2 == 0:
        return h * h
    return math.sin(h * h) * x
""",
        ((1.3, 1), (0.3, 13)),
        0,
    ),
    "each the other": (
        """
def even(x, n):
    if n == 0:
        return x
    return x * odd(x, n - 1) + 1.0
def odd(x, n):
    if n == 0:
        return 2.0 * x
    return x + even(x, n - 1) * even(x, n - 2) if n > 1 else x * x
def f(x: float, n: int):
    return even(x, n) + odd(x, n)
""",
        ((0.3, 0), (0.3, 5)),
        0,
    ),
    "in a loop of its own": (
        """
def g(x, n):
    if n == 0:
        return x
    s = 0.0
    for i in range(n):
        s = s * x + g(x * 0.5, i)
    return s
def f(x: float, n: int):
    return g(x, n)
""",
        ((0.3, 0), (0.3, 4)),
        0,
    ),
    "in some turns of a loop": (
        """
def f(x: float, n: int):
    r = x
    while n > 0:
        n = n - 1
        if n % 2 == 0:
            r = r * x + f(x, n // 2)
        r = r + x
    return r
""",
        ((0.3, 0), (0.3, 6)),
        0,
    ),
    "called in a loop": (
        """
def g(x, n):
    if n <= 0:
        return x
    return g(x, n - 1) * x + g(x * x, n - 2)
def f(x: float, n: int):
    s = 0.0
    for i in range(n):
        s = s * x + g(x + s, i)
    return s
""",
        ((0.3, 0), (0.3, 4)),
        0,
    ),
    "tuples": (
        """
def g(x, n):
    if n == 0:
        return (x, 1.0)
    a, b = g(x, n - 1)
    c, d = g(a * 0.5, n - 1)
    return (a * d, b + c)
def f(x: float, n: int):
    a, b = g(x, n)
    return a * b
""",
        ((0.3, 0), (0.3, 3)),
        0,
    ),
}
BISECTION = """
import numpy as np
def f(x):
    n = x.shape[0]
    if n == 1:
        return x[0]
    m = n // 2
    return np.tanh(f(x[:m]) + 0.5 * f(x[m:]))
"""
"""Over arrays: each call has two of its own."""


def wanted(program: Program, arguments: tuple[Any, ...]) -> Any:
    """What the reference gives, a derivative being the SSA adjoint's."""
    return run(expand(program, "ssa"), *arguments)


@st.composite
def expressions(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    a, b = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    return draw(st.sampled_from([a, f"{a} * {b}", f"{a} - {b}", f"math.sin({a})", f"({a} + {b}) * 0.5", f"math.tanh({a}) + {b}"]))
