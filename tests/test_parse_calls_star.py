"""
Calls with `*` and keywords, `:=`, annotations, `else` of loops, `raise` and `assert`.

As for sequences: CPython's value bit for bit, and both derivatives exactly those of forward mode on fractions.
"""

# ruff: noqa: E501 (one program to a line)
from __future__ import annotations

from typing import Any

import pytest
from test_parse_sequences import agrees_with_cpython, derivatives_agree, program_of

import adjudge as aj
from semantics.errors import Malformed, Trap
from semantics.machine import run
from transforms.parse import SYSTEM, initial_text, parse, parse_text

PROGRAMS: dict[str, str] = {
    "rest parameter": "def g(a, *r): return a * len(r) + sum(r)\ndef f(x): return g(x) + g(x, 2.0) * g(1.0, x, x * x)",
    "rest and keywords": "def g(a, *r, k=3.0, m): return (a + sum(r)) * k + m\ndef f(x): return g(x, x, m=1.0) + g(x, k=x, m=x) + g(1.0, 2.0, x, m=2.0, k=4.0)",
    "rest handed through": "def h(a, b): return a * b + a\ndef g(*r): return h(*r) + k(*r)\ndef k(*s): return s[0] * len(s)\ndef f(x): return g(x, x * x) + g(2.0, x)",
    "rest handed on with more": "def h(a, *r): return a * r[0] + r[-1]\ndef g(*r): return h(2.0, *r, 5.0)\ndef f(x): return g(x, x * x) + g(x)",
    "rest of a lambda": "def f(x):\n g = lambda *r: sum(r) * len(r)\n return g(x, 2.0) + g(x * x)",
    "spread of a display": "def g(a, b, c=1.0): return a * b + c\ndef f(x): return g(*(x, 2.0)) + g(*[x, x, x]) + g(1.0, *(x,))",
    "spread of a known tuple": "def g(a, b, c=1.0): return a * b + c\ndef f(x):\n t = (x, x * x)\n return g(*t) + g(*t, x) + g(2.0, *(3.0, x))",
    "spread of a parameter": "def g(a, b): return a * b + a\ndef h(t, x): return g(*t) + g(x, *t[1:])\ndef f(x): return h((x, x * x), 2.0) + h([x, 3.0], x)",
    "two spreads": "def g(a, b, c): return a * b + c\ndef h(s, t): return g(*s, *t)\ndef f(x): return h((x,), (2.0, x)) + h((x, x), (1.0,))",
    "spread and keywords": "def g(a, b, c): return a * b + c\ndef h(t, x): return g(*t, c=x)\ndef f(x): return h((x, 2.0), x * x)",
    "spread to a primitive": "def h(t): return divmod(*t)[1] * divmod(*t)[0]\ndef f(x): return h((x * x, 4.0)) + abs(*(x,)) + max(*(x, 1.0))",
    "spread to a value": "def ap(g, x): return g(*(x, 2.0))\ndef f(x): return ap(lambda a, b: a * b + a, x)",
    "spread of an iterator": "def g(a, b): return a * b + a\ndef f(x): return g(*map(lambda y: y * y, (x, 2.0))) + g(*(y for y in (x, 3.0)))",
    "keywords of a dictionary": 'def g(a, b=2.0, *, c=1.0): return a * b + c\ndef f(x): return g(**{"a": x}) + g(x, **{"c": x, "b": x})',
    "positional-only": "def g(a, b, /, c, *, d=2.0): return a * b + c * d\ndef f(x): return g(x, 2.0, x) + g(x, x, c=1.0, d=x)",
    "defaults through nested functions": "def f(x):\n def g(a, k=x * 2.0):\n  h = lambda b, *, m=a, n=k: b * m + n\n  return h(x) + h(1.0, n=a)\n return g(x) + g(2.0, k=1.0) + g(k=x, a=x)",
    "walrus": "def f(x): return (y := x * x) + y * (z := y + 1.0) + z",
    "walrus in a test": "def f(x):\n if (y := x * x) > 2.0: return y * x\n return y + (y := 3.0) * y",
    "walrus in a while": "def f(x):\n n = 0.0\n while (y := x * 0.5) > 1.0 or y < -9.0:\n  x = y\n  n += y\n return n + y * x",
    "walrus in and, or": "def f(x):\n a = b = 1.0\n t = (x > 1.0 and (a := x * 2.0) > 5.0) or (b := x * x) > 2.0\n return a * b + (x if t else 2.0)",
    "walrus in a conditional": "def f(x):\n b = x\n y = (a := x * x) if x > 0.0 else (b := x + 1.0) if x > -1.0 else 0.0\n a = y if x < 0.0 else a\n return y * b + a",
    "walrus in a chain": "def f(x):\n z = x\n if 0.0 < x < (y := x + 1.0) < (z := 4.0 * x): return y * z\n return z * x",
    "walrus in a loop's iterable": "def f(x):\n s = 0.0\n for y in (t := (x, 2.0 * x)): s += y * t[0]\n return s",
    "walrus in a loop": "def f(x):\n s = y = 0.0\n for i in range(4):\n  if i % 2 and (y := x * i) > 1.0: continue\n  s += (w := y + x) * w\n return s + y",
    "walrus in a lambda": "def f(x): return (lambda a: (b := a * a) + b)(x)",
    "walrus in a call": "def g(a, b): return a * b\ndef f(x): return g(y := x + 1.0, y * y)",
    "walrus in a return of a nested function": "def f(x):\n def g(a):\n  return (x2 := a * x) * x2\n return g(2.0) + g(x)",
    "annotations": "def g(a: float, *r: int, k: 'float' = 2.0) -> float: return a * k\ndef f(x: float) -> 'tuple[float, ...]':\n y: float = x\n z: int\n z = x * y\n return g(z, k=x)",
    "else of for": "def f(x):\n s = x\n for i in range(3):\n  for j in range(i):\n   s *= x\n   if s > 9.0: break\n  else:\n   s += 1.0\n   continue\n  s = s * 0.5\n else: s -= x\n return s",
    "else of while": "def f(x):\n s, n = x, 0\n while n < 5:\n  n += 1\n  s = s * x + 1.0\n  if s > 20.0: break\n else:\n  s = s + x\n  return s * 2.0\n return s",
    "return in else": "def g(t):\n for y in t:\n  if y > 2.0: return y * y\n else: return t[0]\n return 0.0\ndef f(x): return g((x, 2.0 * x)) + g((x,))",
    "assert": "def f(x):\n assert x != 7.0\n assert isinstance(x, float), 'a number'\n y = x * x\n assert y >= 0.0, 'a square is not negative'\n return y * x",
    "raise": "def f(x):\n if x > 100.0: raise ValueError('too large')\n elif x < -100.0:\n  raise OverflowError\n for i in range(3):\n  if x == i * 50.0: raise RuntimeError() from None\n  x = x * 0.5\n return x * x",
    "raise in a helper": "def g(y):\n if y < -9.0: raise ValueError('no')\n return y * y\ndef f(x): return g(x) + g(2.0)",
}


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


# what traps, with its message and its line

TRAPS: dict[str, tuple[str, float, str, int]] = {
    "raise with a message": (
        "def f(x):\n    if x > 1.0:\n        raise ValueError('x is too large')\n    return x\n",
        2.0,
        "ValueError: x is too large",
        3,
    ),
    "raise of a class": ("def f(x):\n    raise ArithmeticError\n", 2.0, "ArithmeticError", 2),
    "raise of a class of the module": ("class Bad(Exception): pass\ndef f(x):\n    raise Bad('no')\n", 2.0, "Bad: no", 3),
    "raise after a loop": (
        "def f(x):\n    for i in range(3):\n        x = x + 1.0\n    raise ValueError('end')\n",
        2.0,
        "ValueError: end",
        4,
    ),
    "assert with a message": (
        "def f(x):\n    assert x < 1.0, 'x must be small'\n    return x\n",
        2.0,
        "AssertionError: x must be small",
        2,
    ),
    "assert alone": ("def f(x):\n    y = x\n    assert y < 1.0\n    return x\n", 2.0, "AssertionError", 3),
    "too few to unpack": ("def f(x):\n    a, b, *c = (x,)\n    return a\n", 2.0, "cannot unpack a tuple of 1 into 2 names", 2),
    "too few for a function": (
        "def g(a, b): return a\ndef h(t): return g(*t)\ndef f(x): return h((x,))\n",
        2.0,
        "cannot unpack a tuple of 1 into 2 names",
        2,
    ),
    "max of nothing": (
        "def f(x):\n    return max(y for y in (x,) if y < 0.0)\n",
        2.0,
        "ValueError: max() arg is an empty sequence",
        2,
    ),
    "min of nothing": ("def f(x):\n    t = ()\n    return min(t)\n", 2.0, "ValueError: min() arg is an empty sequence", 3),
    "a walrus that was passed over": (
        "def f(x):\n    t = x < 0.0 and (y := x) > 0.0\n    return y + 1.0\n",
        2.0,
        "the local variable y is used before it is assigned",
        3,
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_where_cpython_raises_the_program_traps_with_the_message_and_the_line(name: str) -> None:
    source, x, what, line = TRAPS[name]
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    with pytest.raises((Exception,)):  # of any class, the module's own included
        namespace["f"](x)
    with pytest.raises(Trap) as raised:
        run(parse_text(source, "f", names={}), x)
    assert raised.value.what == what
    assert raised.value.location is not None
    assert raised.value.location.line == line


def test_a_raise_that_nothing_needs_does_not_happen_and_an_assertion_costs_one_test() -> None:
    text = "def f(x):\n    assert x > 0.0, 'positive'\n    return x * 2.0\n"
    program = parse_text(text, "f")
    assert str(program).count("switch(") == 1
    assert str(program).count("fail(") == 1
    assert run(program, 3.0) == 6.0


def takes_the_rest(*t: float) -> float:
    return t[0]


def passes_on(x: float) -> float:
    return takes_the_rest(x, 2.0) + takes_the_rest(*(x,))


def test_a_live_function_with_a_rest_parameter_is_found_and_the_entry_has_none() -> None:
    assert run(parse(passes_on), 3.0) == passes_on(3.0)
    with pytest.raises(Malformed, match="called inside a program"):
        parse(takes_the_rest)


def guarded(x: float) -> float:
    assert x > 0.0, "positive"
    if x > 50.0:
        raise ValueError("too large")
    return x * x


def test_a_compiled_program_traps_where_it_raises() -> None:
    compiled = aj.compile(guarded, target="cpu")
    assert compiled(3.0) == guarded(3.0)
    for x, words in ((-1.0, "AssertionError: positive"), (60.0, "ValueError: too large")):
        with pytest.raises(Trap, match=words):
            compiled(x)
