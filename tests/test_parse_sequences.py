"""
Sequences in programs: lists, dictionaries, comprehensions, iterators and what consumes them, slices, starred targets.

Each program has CPython's value, bit for bit; its first and second derivatives by J are those of forward mode, exactly, on fractions.
"""

# ruff: noqa: E501 (one program to a line)
from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from checkers import forward_mode, trace_reversal
from checkers.properties.agreement import differ
from semantics.denotation import FRACTIONS, denote
from semantics.errors import Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.structured import LIST, Label, Record
from semantics.values import same
from semantics.wellformed import check
from transforms.gradient_programs import gradient_program
from transforms.parse import SYSTEM, initial_text, parse, parse_text

POINTS = (1.5, -0.5, 3.0)

# every f is rational in x, and CPython's own sum of its numbers is exact, so that no version of it rounds differently
PROGRAMS: dict[str, str] = {
    "list": "def f(x):\n t = [x, x * x, 2.0]\n return t[0] * t[1] + t[-1] * len(t)",
    "list in a loop": "def f(x):\n s = 0.0\n for y in [x, 2.0, x * x]: s = s * y + y\n return s",
    "list unpacked": "def f(x):\n a, [b, c] = [x, [x * x, 3.0]]\n return a * b + c * b",
    "list of lists": "def f(x): return [[x], [x, x * x]][1][1] * x",
    "comprehension": "def f(x):\n t = [x * k for k in range(4)]\n return t[3] * t[2]",
    "comprehension with conditions": "def f(x): return sum([x * x * k for k in range(6) if k % 2 if k > 1])",
    "comprehension over two": "def f(x): return sum([a * b + j for j in range(3) for a, b in ((x, j), (x * x, 2.0))])",
    "comprehension in a comprehension": "def f(x): return sum([sum([x * i + j for j in range(i)]) for i in range(4)])",
    "comprehension hides its variable": "def f(x):\n k = x\n t = [k * 2.0 for k in (k, k * k)]\n return t[0] * t[1] + k",
    "comprehension captures": "def f(x):\n y = x * x\n t = [y * k for k in range(3)]\n y = 2.0\n return t[2] * y",
    "comprehension in a loop": "def f(x):\n for i in range(3): x = sum([x * k for k in range(i + 1)]) + 1.0\n return x",
    "comprehension of functions": "def f(x):\n t = [lambda y, k=k: y * k * x for k in range(1, 4)]\n return t[0](x) + t[2](2.0)",
    "length known when it runs": "def f(x):\n n = 3 if x > 0.0 else 2\n return sum([x * k for k in range(n)]) + x",
    "generator in sum": "def f(x): return sum(y * y for y in (x, 2.0 * x, 1.0))",
    "generator in sum, start": "def f(x): return sum((y * x for y in (x, 2.0)), x) + sum((x, x), start=1.0)",
    "sum of a tuple": "def f(x): return sum((x, x * x, 2.0)) + sum(()) + sum([x], x)",
    "any, all": "def f(x): return x * x if any(y > 1.0 for y in (x, 0.5)) and all((x, 1, True)) else 3.0 * x",
    "any stops": "def f(x): return x * x if any(1 // k > 0 for k in (1, 0)) else x",
    "all stops": "def f(x): return x * x if all([k > 0 for k in (1, -1)]) or not all(1 // k > 5 for k in (1, 0)) else x",
    "min, max of a sequence": "def f(x): return min((x, x * x, 7.0)) * max([x, 2.0 - x]) + max(y * x for y in (x, 4.0, 1.0))",
    "tuple, list": "def f(x):\n t = tuple(x * k for k in range(3))\n u = list(t)\n v = tuple(u)\n return t[1] * u[2] + len(v) + len(tuple()) + len(list())",
    "tuple of a range": "def f(x):\n t = tuple(range(2, 9, 3))\n return x * t[1] * t[2] + len(list(range(4)))",
    "zip": "def f(x):\n s = 0.0\n for a, b in zip((x, x * x), (2.0, x, 5.0)): s += a * b\n return s",
    "zip of three": "def f(x): return sum(a * b * c for a, b, c in zip((x, 1.0, x), [x, x], range(1, 9)))",
    "enumerate": "def f(x):\n s = 0.0\n for i, y in enumerate([x, x * x]): s += i * y + y\n return s",
    "enumerate from": "def f(x): return sum(i * y for i, y in enumerate((x, x * x), 3)) + sum(i * y for i, y in enumerate([x], start=2))",
    "reversed": "def f(x):\n s = 0.0\n for y in reversed((x, 2.0, 3.0 * x)): s = s * x + y\n for i in reversed(range(3)): s = s * 2.0 + i\n return s",
    "map": "def f(x): return sum(map(lambda y: y * y * x, (x, 2.0))) + sum(map(lambda a, b: a * b, (x, x), [2.0, x, 1.0]))",
    "map over a library function": "def f(x): return sum(map(abs, (x, -2.0 * x)))",
    "filter": "def f(x):\n s = 0.0\n for y in filter(lambda k: k > 0.0, (x, -x, 2.0, 0.0)): s = s * 2.0 + y\n return s",
    "filter of truth": "def f(x): return sum(filter(None, (x, 0.0, 2.0)))",
    "filter with break, else": "def f(x):\n s = y = x\n for y in filter(lambda k: k != 2.0, (2.0, x, 2.0, 9.0, x * x)):\n  if y == 9.0: break\n  s *= y\n else: s = 7.0\n return s + y",
    "filter in a comprehension": "def f(x): return sum([y * y for y in filter(lambda k: k > -1.0, [x, -4.0]) if y < 9.0])",
    "iterators in iterators": "def f(x): return sum(i * a * b for i, (a, b) in enumerate(zip(reversed((x, 2.0)), map(lambda y: y + x, (1.0, x)))))",
    "iterators unpacked": "def f(x):\n a, b = map(lambda y: y * x, (x, 2.0))\n (c, d), e = zip((a, b), (x, 3.0))\n return a * b + d * e[0] + c",
    "iterators spread": "def f(x):\n t = (*map(lambda y: y * x, (x, 2.0)), *(k * x for k in range(3)), 1.0)\n return t[0] + t[4] * t[1] + len(t)",
    "spread displays": "def f(x):\n t = (x, 2.0)\n u = (*t, x, *[x * x, 1.0], *t)\n v = [0.0, *u, *t]\n return u[3] * u[0] + v[-2] * len(v) + len((*t,))",
    "spread in a loop": "def f(x):\n t = ()\n for k in range(3): t = (*t, x * k, 1.0)\n return t[2] * t[4] + len(t)",
    "slices": "def f(x):\n t = (x, 2.0 * x, x * x, 1.0, 5.0)\n return sum(t[1:3]) * t[::-1][4] + sum(t[:-2]) + t[::2][1] + len(t[10:]) + t[-3:][0]",
    "slices of lists": "def f(x):\n t = [x, 2.0 * x, x * x, 1.0]\n i = 1\n return sum(t[i:]) * sum(t[:i + 1]) + t[i:-1][1] + sum(t[:])",
    "starred targets": "def f(x):\n a, *b = (x, x * x, 3.0)\n *c, d = b\n e, *g, h = a, d\n return a * b[0] + c[0] * d + e * h + len(g)",
    "starred in a loop": "def f(x):\n s = 0.0\n for a, *b in ((x, 1.0), (2.0, x, x)): s += a * sum(b)\n return s + sum(sum(r) for k, *r in [(1.0, x, x)])",
    "in": "def f(x): return (x if x in (1.5, 3.0) else 2.0 * x) * (x if x not in [3.0] else 4.0) + (1.0 if 2 in range(5) else x)",
    "in a generator": "def f(x): return x * x if 3.0 in (y * 2.0 for y in (x, 1.0)) else x",
    "dictionary": 'def f(x):\n d = {"a": x, "b": x * x}\n return d["a"] * d["b"] + len(d)',
    "dictionary, keys": 'def f(x):\n d = {"a": x, "b": 3.0}\n return sum(d[k] if False else 1.0 for k in d) * x if "a" in d and "c" not in d else 0.0',
    "dictionary, items": 'def f(x):\n d = {"a": x, "b": x * x}\n s = 1.0\n for k, v in d.items(): s = s * v + 1.0\n for v in d.values(): s += v\n return s + len(tuple(d.keys()))',
    "dictionary, key of a parameter": 'def g(d): return d["a"] * 2.0 if "a" in d else 3.0 if "b" not in d else 5.0\ndef f(x): return g({"a": x}) * g({"c": x}) + g({"b": x})',
    "dictionary of a parameter, values": 'def g(d): return sum(d.values()) + max(d.values()) * len(d)\ndef f(x): return g({"a": x, "b": x * x}) * g({"k": x})',
    "dictionary of a parameter, items": 'def g(d):\n s = 1.0\n for k, v in d.items(): s = s * v + (2.0 if k == "a" else v)\n return s\ndef f(x): return g({"a": x, "b": 3.0}) + g({"b": x})',
    "dictionary of a parameter, keys": 'def g(d, x): return sum(d[k] * x for k in d if k != "b") + len([k for k in d.keys()]) + len((*d, 1))\ndef f(x): return g({"a": x, "b": 3.0, "c": x * x}, x)',
    "dictionary of a parameter, unpacked": 'def g(d):\n a, b = d.values()\n return a * b * b\ndef f(x): return g({"u": x, "v": x * x})',
    "dictionary of a parameter, tested": 'def g(d, e): return sum(v for k, v in d.items() if k in e or k in ("a", "c") or "z" in ("a", k))\ndef f(x): return g({"a": x, "b": 3.0, "d": x * x}, {"d": 1}) * x',
    "dictionary of a parameter, by keys": 'def g(d, t):\n s = 0.0\n for k in ("b", "a"): s = s * t + d[k] * d[k]\n return s\ndef f(x): return g({"a": x, "b": x * x}, x) + len(list({"a": x})) + len(tuple(reversed([x])))',
    "dictionary that a branch made": 'def f(x):\n d = {"a": x} if x > 0 else {"b": x * x}\n return sum(d.values()) * sum(3.0 if k == "a" else x for k in d)',
    "reduce": "import functools\ndef f(x): return functools.reduce(lambda a, b: a * b + 1.0, (x, x * x, 2.0), x) * functools.reduce(lambda a, b: a * b, [x, 3.0])",
    "reduce of iterators": "from functools import reduce\ndef f(x): return reduce(lambda a, k: a + x * k, range(4), 0.0) * reduce(lambda a, b: a * b, (x + k for k in range(2))) + reduce(max, map(lambda y: y * x, (x, 2.0)))",
    "dictionary passed on": 'def g(d): return d["k"] * d["k"]\ndef f(x): return g({"k": x, "l": 1.0}) + g({"k": 2.0, "m": x})',
    "isinstance": "def g(y): return y[0] if isinstance(y, (tuple, list)) else y * 3.0 if isinstance(y, float) else 4.0\ndef f(x): return g((x, 1.0)) * g(x) + g([x]) + g(2) + (x if isinstance(True, int) else 0.0)",
    "builtins hidden by other names": "def any(t): return 7.0\ndef f(x):\n sum = lambda t: t[0] * x\n def g(zip, tuple): return zip(tuple) * 2.0\n return sum((x, 1.0)) + any((x,)) + g(lambda t: t * x, 3.0)",
    "None": "def g(y): return 2.0 if y is None else y * y\ndef f(x): return g(None) * g(x) + (x if x is not None else 0.0)",
}


@cache
def program_of(source: str) -> Program:
    return parse_text(source, "f", names={})


def ours(value: Any) -> Any:
    """A value of CPython as the language has it."""
    match value:
        case list():
            return Record(LIST, tuple(map(ours, value)))
        case dict():
            return Record(Label("dict", "", tuple(value)), tuple(map(ours, value.values())))
        case tuple():
            return tuple(map(ours, value))
    return value


def cpython(source: str) -> Any:
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    return namespace["f"]


def agrees_with_cpython(source: str) -> None:
    """The value, bit for bit."""
    program = program_of(source)
    check(program)
    for x in POINTS:
        wanted, found = cpython(source)(x), run(program, x)
        assert same(found, ours(wanted)), f"{found!r}, not {wanted!r}\n{program}"


def derivatives_agree(source: str) -> None:
    """J against forward mode and the reversed trace, and J of J against forward mode over itself, on fractions."""
    program = program_of(source)
    first = gradient_program(program)
    second = gradient_program(first)
    for x in map(Fraction, POINTS[:2]):
        found = denote(first, (x,), FRACTIONS)
        assert differ(found, forward_mode.derivative(program, (x,), 0, FRACTIONS)) is None
        assert differ(found, trace_reversal.gradient(program, (x,), FRACTIONS)[0]) is None
        wanted = forward_mode.second_derivative(program, (x,), 0, 0, FRACTIONS)
        assert differ(denote(second, (x,), FRACTIONS), wanted) is None


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_has_the_value_of_cpython(name: str) -> None:
    agrees_with_cpython(PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_and_second_derivatives_are_those_of_forward_mode(name: str) -> None:
    derivatives_agree(PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_is_parsed_by_one_rule_at_a_time(name: str) -> None:
    derivation = SYSTEM.derive(initial_text(PROGRAMS[name], "f", names={}))
    assert str(derivation.result.program) == str(program_of(PROGRAMS[name]))


def test_every_state_can_be_shown_and_says_what_is_gone_over() -> None:
    derivation = SYSTEM.derive(initial_text(PROGRAMS["iterators in iterators"], "f", names={}))
    shown = [SYSTEM.render(step.after) for step in derivation.steps]
    assert any("σ (walk of " in text for text in shown)
    assert any("κ walked line 1: enumerate(zip(reversed(" in text for text in shown)


def test_an_error_inside_a_comprehension_is_at_its_line() -> None:
    program = parse_text("def f(n):\n    t = [\n        n // k\n        for k in (1, 0)\n    ]\n    return sum(t)", "f", "model.py")
    with pytest.raises(Trap) as raised:
        run(program, 3)
    assert str(raised.value.location) == "model.py:3"


SCALE = 2.0


def test_a_live_function_is_read_as_its_text_is() -> None:
    def inner(x: float) -> float:
        return sum([x * k * SCALE for k in range(3)]) + max(y * y for y in (x, SCALE))

    assert same(run(parse(inner), 1.5), inner(1.5))
