"""
Triggers over arrays, records, lists and memory, as Python; and generated programs of that kind, as functions of one number.

Reals are the parameters, and the data are made of them: so a NaN, an infinity or a zero of either sign gets into every element,
and what is duplicated, negative or out of the way is written into the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from checkers.optimizer_audit.samples import star_points, types_of
from checkers.optimizer_audit.trigger_shapes import Trigger, shapes
from semantics.arrays import Array
from semantics.edit import Edit
from semantics.errors import AdjudgeError
from semantics.ir import NodeId, Parameter, Program
from semantics.primitives.table import TABLE
from semantics.type_language import REAL
from transforms.parse import parse_text

HEADER = "import numpy as np\nfrom typing import NamedTuple\n\n\nclass Pair(NamedTuple):\n    a: float\n    b: float\n\n\n"

SOURCES: dict[str, str] = {
    "gather with duplicate and negative indices": """
def f(x, y):
    a = np.array([x, y, x * y])
    b = a[np.array([0, 0, -1, 2, -3])]
    return np.sum(b * np.array([1.0, 2.0, 3.0, 4.0, 5.0]))""",
    "scatter_add with duplicate indices": """
def f(x, y):
    a = np.zeros(3)
    np.add.at(a, np.array([0, 0, -1]), np.array([x, y, x]))
    return a[0] - 2.0 * a[2]""",
    "set and increment at one index": """
def f(x, y):
    a = np.array([x, y])
    a[0] = y
    a[0] += x
    a[-2] += y
    return a[0] - a[1]""",
    "a column incremented": """
def f(x, y):
    a = np.array([[x, y], [y, x]])
    a[:, 0] += 1.0
    a[-1, :] *= y
    return np.sum(a[-1]) + a[0, -1]""",
    "an element of a copy written": """
def f(x, y):
    a = np.array([x, y])
    b = a.copy()
    b[0] = b[1]
    b[1] += x
    return a[0] * b[1] - b[0] * a[1]""",
    "axes that broadcast": """
def f(x, y):
    a = np.array([x, y])
    b = np.reshape(a, (2, 1)) * a
    return np.sum(b[0] - b[:, 1]) + np.max(b)""",
    "sum of nothing": """
def f(x, y):
    a = np.array([x, y])
    return np.sum(a[2:]) + np.prod(a[:0]) * y""",
    "chosen elementwise": """
def f(x, y):
    a = np.array([x, y])
    b = np.where(a > 0.0, a, -a)
    return np.sum(b) + np.minimum(x, y) * np.maximum(x, y)""",
    "records": """
def f(x, y):
    p = Pair(x, y)
    q = p._replace(a=y)
    r = q._replace(b=p.a)
    return p.a * q.a - q.b / r.b + r.a""",
    "a list by two names": """
def f(x, y):
    a = [x, y]
    b = a
    b.append(x * y)
    b[-1] = b[0]
    a[0] = y
    return b[2] - a[1] * b[0]""",
    "a list written in a loop": """
def f(x: float, n: int):
    a = [x, 1.0, 2.0]
    for i in range(n % 4):
        a[i % 3] = a[(i + 1) % 3] * x + a[-1]
    return a[0] - a[1] + a[2]""",
    "odd integers": """
def f(n: int, m: int):
    s = 0
    for i in range(-3, 3):
        s += (n * i) // 2 - (n + i) % 3
    if m != 0:
        s += n // m * m + n % m
    return s""",
    "a loop of no turn": """
def f(x: float, n: int):
    s = x
    for i in range(n - n):
        s = s * 0.0
    for i in range(3, 0):
        s = x / (i - i)
    return s""",
    "overflow that cancels": """
def f(x, y):
    big = x * 1e308 * 10.0
    return big / 1e308 + (big - big) * 0.0 + y""",
    "a branch that never runs": """
def f(x, y):
    if x != x and x == x:
        return x / 0.0 * y
    if y < y:
        y = x * x * x
    return x - y""",
    "one node under two names": """
def f(x, y):
    a = x * y
    b = a
    c = b - a
    a = a + 1.0
    return (a, b, c, (a, b)[-1], (b, a)[-2])""",
}


def sourced() -> Iterator[Trigger]:
    """The programs of SOURCES; parameters without a type are reals."""
    for name, text in SOURCES.items():
        yield Trigger(name, declared(parse_text(HEADER + text + "\n", "f")))


def declared(program: Program) -> Program:
    """The program with the entry's parameters typed: real where none is declared."""
    edit = Edit(program)
    for node in program.graphs[program.entry].parameters:
        old = edit.nodes[node]
        assert isinstance(old, Parameter)
        if old.type is None:
            edit.nodes = edit.nodes.set(node, Parameter(old.graph, old.name, REAL, old.location))
    return edit.program


@cache
def unreachable() -> tuple[Program, ...]:
    """The shapes and sources with a branch changed that their run at an ordinary point does not take."""
    from checkers.generators import unreachable_mutants

    found: list[Program] = []
    for trigger in (*shapes(), *sourced()):
        try:
            mutants = unreachable_mutants(trigger.program, star_points(types_of(trigger.program))[0])
            found += [mutant for _, mutant in islice(mutants, 2)]
        except AdjudgeError:
            continue
    return tuple(found)


@cache
def generated_wholes(seed: int, count: int) -> tuple[Program, ...]:
    """Generated programs over arrays, records, lists and memory, as functions of one real; the same for the same seed."""
    from checkers.generators import Whole, wholes

    found: list[Program] = []

    @seeded(seed)
    @settings(max_examples=count, database=None, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    @given(wholes())
    def collect(whole: Whole) -> None:
        try:
            found.append(scaled(whole.program(), whole.arguments))
        except AdjudgeError:
            return

    collect()
    return tuple(found)


def scaled(program: Program, arguments: tuple[Any, ...]) -> Program:
    """s ↦ f(s · a…) for the real arrays and numbers among the arguments; the others as they are."""
    edit = Edit(program)
    graph = edit.graph("scaled")
    s = edit.parameter(graph, "s", REAL)

    def given_as(value: Any) -> NodeId:
        constant = edit.constant(value)
        if type(value) is float or (isinstance(value, Array) and value.dtype == "f64"):
            return edit.call(graph, TABLE["mul"], constant, s)
        return constant

    edit.output(graph, edit.apply(graph, edit.reference(program.entry), *(given_as(a) for a in arguments)))
    edit.set_entry(graph)
    return edit.program
