"""
The families of programs over numbers, tuples and functions whose gradients are measured (`checkers.costs`): at least one for
every construct.

To measure another one, add one entry to SCALAR_FAMILIES; those over arrays and records are in `checkers.array_cost_families`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from semantics.ir import Program
from transforms.parse import parse_text


@dataclass(frozen=True, slots=True)
class Family:
    """
    Programs that grow with n.

    source     the text of a module that defines f, or such a text for every size
    arguments  what f is called with, for a size; the gradient is with respect to the first
    """

    name: str
    source: str | Callable[[int], str]
    arguments: Callable[[int], tuple[Any, ...]] = lambda n: (0.75, n)

    def program(self, n: int) -> Program:
        """The program of size n."""
        return parse_text(self.source if isinstance(self.source, str) else self.source(n), "f")


def lines(line: str, first: str = "y = x") -> Callable[[int], str]:
    """A function of n lines, or groups of lines; `#` in one stands for its number."""
    return lambda n: "\n    ".join(("def f(x, n):", first, *(line.replace("#", str(i)) for i in range(n)), "return y"))


def with_tuple(body: str) -> Callable[[int], str]:
    """A function that makes a tuple t of n elements."""
    return lambda n: f"def f(x, n):\n    t = ({', '.join(f'x * {i}.5' for i in range(n))})\n{body}"


BRANCHES = """
def f(x, n):
    y = x
    for i in range(n):
        if i % 2 == 0:
            y = y * x
        else:
            y = y + x
    return y
"""

WHILE = """
def f(x, n):
    y = x
    while n > 0:
        y = math.sin(y) * x
        n = n - 1
    return y
"""

FOR = """
def f(x, n):
    y = x
    for i in range(n):
        y = y * x + 0.5
    return y
"""

NESTED_LOOPS = """
def f(x, n):
    y = x
    for i in range(n):
        for j in range(3):
            y = y * x
    return y
"""

RECURSION = """
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)

def f(x, n):
    return power(x, n)
"""

TAIL_RECURSION = """
def power(y, x, n):
    return y if n == 0 else power(y * x, x, n - 1)

def f(x, n):
    return power(x, x, n)
"""

CLOSURES = """
def f(x, n):
    y = x
    for i in range(n):
        z = y * 0.5
        g = lambda a: a * x + z
        y = g(g(0.5))
    return y
"""

CHAIN = """
def f(x, n):
    def chain(m, k):
        return k(x) if m <= 0 else chain(m - 1, lambda y: k(y * x))
    return chain(n, lambda y: y)
"""

HIGHER_ORDER = """
def iterate(g, y, n):
    while n > 0:
        y = g(y)
        n = n - 1
    return y

def f(x, n):
    return iterate(lambda y: math.sin(y) * x, x, n)
"""

PROJECTIONS = """
    y = 0.0
    for i in range(n):
        y = y + t[i]
    return y
"""

OF_AN_ARGUMENT = """
def f(x, n):
    y = 0.0
    for i in range(n):
        y = y + x[i] * x[0]
    return y
"""

ROTATED = """
def f(x, n):
    t = (x, 1.0, 2.0)
    for i in range(n):
        t = (t[1], t[2] * x, t[0])
    return t[0]
"""

NESTED_TUPLES = """
def f(x, n):
    t = (x, (1.0, x))
    for i in range(n):
        t = (t[1][0], (t[0] * x, t[1][1]))
    return t[0] + t[1][1]
"""

APPENDS_AND_POPS = """
def f(x, n):
    xs = []
    for i in range(n):
        xs.append(x * i)
    s = 0.0
    for i in range(n):
        s = s + xs.pop() * x
    return s
"""

LIST_ELEMENTS = """
def f(x, n):
    xs = [x] * 16
    for i in range(n):
        xs[i % 16] += xs[(i + 1) % 16] * x
    return xs[0]
"""

ACCUMULATOR = """
def f(x, n):
    total = [0.0]
    def add(v):
        total[0] += v * x
    for i in range(n):
        add(x)
    return total[0]
"""

SCALAR_FAMILIES: tuple[Family, ...] = (
    Family("straight_line", lines("y = math.sin(y) * x + #.0")),
    Family("multiplications", lines("y = y * x")),
    Family("fan_out", lines("y = y + x * #.0", "y = 0.0")),
    Family("if_else", lines("if y > #.0:\n        y = y * x\n    else:\n        y = y + x")),
    Family("branch_in_a_loop", BRANCHES),
    Family("while_loop", WHILE),
    Family("for_loop", FOR),
    Family("nested_loops", NESTED_LOOPS),
    Family("recursion", RECURSION),
    Family("tail_recursion", TAIL_RECURSION),
    Family("closures_in_a_loop", CLOSURES),
    Family("chain_of_closures", CHAIN),
    Family("higher_order", HIGHER_ORDER),
    Family("wide_tuple", with_tuple("    return t[0] + t[-1]\n")),
    Family("projections_in_a_loop", with_tuple(PROJECTIONS)),
    Family("projections_of_an_argument", OF_AN_ARGUMENT, lambda n: (tuple(0.5 + i for i in range(n)), n)),
    Family("rotated_tuple", ROTATED),
    Family("nested_tuples", NESTED_TUPLES),
    Family("appends_and_pops", APPENDS_AND_POPS),
    Family("elements_of_a_list", LIST_ELEMENTS),
    Family("accumulator_cell", ACCUMULATOR),
)
