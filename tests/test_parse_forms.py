"""
Every form of the language, against CPython: the same source, run by both, gives the same value bit for bit.
"""

# ruff: noqa: E501 (one program to a line)
from __future__ import annotations

import math
from typing import Any

import pytest

from semantics.errors import AdjudgeError, Trap
from semantics.machine import run
from semantics.values import same
from semantics.wellformed import check
from transforms.parse import parse_text

REALS = ((0.0,), (-0.0,), (1.5,), (-2.25,), (1e300,), (math.inf,))
WHOLES = ((0,), (1,), (7,), (-5,), (10**30,))
SMALL = ((0,), (1,), (2,), (5,), (9,))
PAIRS = ((1.5, 2.5), (-0.5, 3.0), (2.0, 2.0), (3.0, -4.0))

FORMS: dict[str, tuple[str, tuple[tuple[Any, ...], ...]]] = {
    "arithmetic on reals": ("def f(x, y): return (x + y) * (x - y) / y + x // y - x % y", PAIRS),
    "arithmetic on integers": ("def f(n): return (n + 3) * (n - 2) // 7 - n % 5 + (n * n) ** 2", WHOLES),
    "integers and reals mixed": ("def f(n): return n * 0.5 + n / 4 - 2.0 ** n", SMALL),
    "signs": ("def f(x): return (-x, +x, --x, -1, -0.0, -+-2.5)", REALS),
    "huge integers": ("def f(n): return n * 123456789012345678901234567890 - 2 ** 200", WHOLES),
    "booleans and None": ("def f(x): return (True, False, None, not x, not not x)", REALS),
    "comparisons": ("def f(x, y): return (x < y, x <= y, x > y, x >= y, x == y, x != y)", PAIRS),
    "chained comparison": ("def f(x, y): return (0 < x < y, 0 < x < y < 3 < 4, x == x == y, 1 < 2 < 3)", PAIRS),
    "and, or": ("def f(x, y): return (x and y, x or y, x and 0, 0 or x, x > 1 and y > 1, x > 1 or y, 0 or 0.0 or x)", PAIRS),
    "short circuit": ("def f(n): return n == 0 or 10 // n > 2 and 7 // n < 7", SMALL),
    "conditional expression": ("def f(x): return (1 if x > 0 else 2 if x < 0 else 3) + (x if x else 4.0)", REALS),
    "lazy conditional expression": ("def f(n): return 0 if n == 0 else 1 // n", SMALL),
    "truth of numbers": ("def f(n):\n if n: return 1\n return 2", SMALL),
    "truth of tuples": ("def f(n):\n t = () if n else (n,)\n return 1 if t else 2", SMALL),
    "tuples": ("def f(x): return (x, (x, ()), 1)[1][0] + (x,)[-1]", REALS),
    "computed index": ("def f(n):\n t = (10, 20, 30)\n return t[n % 3] + t[-1 - n % 3]", WHOLES),
    "unpacking": ("def f(x, y):\n a, (b, c), [d] = x, (y, x * y), (1,)\n return a - b * c + d", PAIRS),
    "swap": ("def f(x, y):\n x, y = y, x\n return x - y", PAIRS),
    "several targets": ("def f(x):\n a = b, c = x, 2\n a2 = b2 = c\n return (a, b, c, a2, b2)", REALS),
    "annotated assignment": ("def f(x):\n y: float = x * 2\n z: int\n return y", REALS),
    "augmented assignment": ("def f(x):\n y = x\n y += 2; y *= x; y -= 1; y /= 4\n return (x, y)", REALS),
    "augmented on integers": ("def f(n):\n n += 7; n //= 2; n **= 2; n %= 11\n return n", WHOLES),
    "if": ("def f(x):\n y = 1\n if x > 1: y = x * 2\n return y + x", REALS),
    "if, else": ("def f(x):\n if x > 1:\n  y = x\n  z = 1\n else:\n  z = 2\n  y = -x\n return y * z", REALS),
    "elif": ("def f(x):\n if x > 1: y = 1\n elif x > 0: y = 2\n elif x == 0: y = 3\n else: y = 4\n return y + x", REALS),
    "early return": ("def f(x):\n if x > 1: return 1\n if x < 0:\n  x = -x\n else: return x\n return x + 1", REALS),
    "returns in all branches": ("def f(x):\n if x > 1: return 1\n else: return 2", REALS),
    "branches that fall off": ("def f(x):\n if x > 1: return 1", REALS),
    "return None": ("def f(x):\n return", REALS),
    "pass and docstring": ('def f(x):\n "doc"\n pass\n ...\n x * 2\n return x', REALS),
    "dead code": ("def f(x):\n return x\n x = 2\n while x: x -= 1\n return g", ((1.0,),)),
    "while": ("def f(n):\n i = s = 0\n while i < n:\n  t = i * i\n  s += t\n  i += 1\n return (s, i)", SMALL),
    "while, break, else": ("def f(n):\n i = 0\n while i < n:\n  if i == 5: break\n  i += 1\n else: i = -1\n return i", SMALL),
    "while, continue": ("def f(n):\n s = 0\n while n > 0:\n  n -= 1\n  if n % 2: continue\n  s += n\n return s", SMALL),
    "while True": ("def f(n):\n k = 0\n while True:\n  k += 1\n  if k * k > n: break\n return k", SMALL),
    "while True, return": ("def f(n):\n while 1:\n  n += 1\n  if n % 7 == 0: return n", SMALL),
    "while with and": ("def f(n):\n i = 0\n while i < n and i != 3: i += 1\n return i", SMALL),
    "for": ("def f(n):\n s = 0\n for i in range(n): s += i * i\n return s", SMALL),
    "for from, to": ("def f(n):\n s = 0\n for i in range(2, n): s = s * 3 + i\n return s", SMALL),
    "for with step": ("def f(n):\n s = 0\n for i in range(n, -n, -3): s = s * 3 + i\n return s", SMALL),
    "for with dynamic step": ("def f(n):\n s = 0\n for i in range(1, 20, n + 1): s = s * 3 + i\n return s", SMALL),
    "for keeps its last value": ("def f(n):\n i = -1\n for i in range(n): pass\n return i", SMALL),
    "for, target reassigned": ("def f(n):\n s = 0\n for i in range(n):\n  i = i * 2\n  s += i\n return (s, n)", SMALL),
    "for, break, continue, else": (
        "def f(n):\n s = 0\n for i in range(n):\n  if i == 3: continue\n  if i == 7: break\n  s += i\n else: s = -s\n return s",
        SMALL,
    ),
    "for over a tuple": ("def f(x, y):\n s = 0.0\n for z in (x, y, x * y): s = s * 2 + z\n return s", PAIRS),
    "for over pairs": ("def f(x, y):\n s = 0.0\n for a, (b,) in ((x, (y,)), (y, (x,))): s += a * b + a\n return s", PAIRS),
    "nested loops": (
        "def f(n):\n s = 0\n for i in range(n):\n  for j in range(i):\n   if j == 3: break\n   s += i * j\n  else: s += 100\n return s",
        SMALL,
    ),
    "return from a nested loop": (
        "def f(n):\n for i in range(n):\n  k = 0\n  while True:\n   k += i\n   if k > 9: return (i, k)\n   if k <= i: break\n return None",
        SMALL,
    ),
    "break in both branches": (
        "def f(n):\n s = 0\n while s < n:\n  s += 1\n  if s > 2:\n   s += 10\n   break\n  else:\n   s += 1\n return s",
        SMALL,
    ),
    "else of a loop breaks the outer": (
        "def f(n):\n s = 0\n while True:\n  s += 1\n  for i in range(s):\n   if i > n: break\n  else:\n   if s > 5: break\n return s",
        ((9,), (12,)),
    ),
    "variable of one branch used in it": ("def f(x):\n if x > 0:\n  y = x\n if x > 0: return y\n return 0", REALS),
    "math": (
        "from math import *\ndef f(x, y): return (sin(x), cos(x), exp(y), sqrt(x * x), atan2(x, y), hypot(x, y), log(x * x), log(y * y, 3))",
        PAIRS,
    ),
    "more math": (
        "import math as m\ndef f(x, y): return (m.fabs(x), m.pow(x, 3), m.floor(y), m.ceil(y), m.trunc(y), m.pi, m.degrees(x), m.radians(y))",
        PAIRS,
    ),
    "classification": ("import math\ndef f(x): return (math.isnan(x - x), math.isinf(x), math.isfinite(x), -math.inf)", REALS),
    "math on integers": ("import math\ndef f(n): return (math.fabs(n), math.floor(n), math.pow(n, 2), math.sqrt(n * n))", SMALL),
    "builtins": (
        "def f(x, y): return (abs(x), min(x, y), max(x, y, 0), int(x), bool(y), float(3), pow(x, 2), divmod(x, y))",
        PAIRS,
    ),
    "min and max on ties": ("def f(x): return (min(x, 0.0), max(x, 0.0), min(0.0, x), max(0.0, x, -0.0))", REALS),
    "length": ("def f(x): return len((x, x)) + len(())", REALS),
    "special floats": ("def f(x): return (float('inf'), float('-inf'), float(' 1e3 '), x * 1e-320)", REALS),
    "global numbers": ("A = 2\nB = -A * 1.5\nC: float = B + 1\nD = (A, B)\ndef f(x): return x * A + B - C + D[1]", REALS),
    "global functions": ("def g(x): return h(x) + 1\ndef h(x): return x * 2\ndef f(x): return g(h(x))", REALS),
    "global lambda": ("g = lambda x, k=2: x * k\ndef f(x): return g(x) + g(x, 3) + g(k=x, x=1)", REALS),
    "redefinition": ("def g(x): return 1\ndef g(x): return 2\nN = 1\nN = 5\ndef f(x): return g(x) * N", REALS),
    "keywords and defaults": (
        "K = 3\ndef g(a, /, b, c=2, *, d, e=K): return a + 10 * b + 100 * c + 1000 * d + e\n"
        "def f(x): return (g(x, b=1, d=2), g(1, x, 4, d=K, e=0), g(1, d=x, b=2))",
        REALS,
    ),
    "function as default": (
        "import math\ndef g(x, h=math.sin): return h(x)\ndef f(x): return g(x) + g(x, math.cos)",
        ((1.5,), (-2.0,)),
    ),
    "recursion": ("def f(n): return 1 if n < 1 else n * f(n - 1)", SMALL),
    "mutual recursion": (
        "def even(n): return True if n == 0 else odd(n - 1)\ndef odd(n): return False if n == 0 else even(n - 1)\ndef f(n): return even(n)",
        SMALL,
    ),
    "nested recursion": ("def f(n):\n def g(k): return 0 if k == 0 else n + g(k - 1)\n return g(n)", SMALL),
    "nested mutual recursion": (
        "def f(n):\n def a(k): return 0 if k == 0 else 1 + b(k - 1)\n m = n * 2\n"
        " def b(k): return m if k == 0 else 2 * a(k - 1)\n return a(n) + b(n)",
        SMALL,
    ),
    "nested functions and lambdas": (
        "def f(x):\n def g(y): return lambda z: x + y * z\n h = lambda z: g(2)(z) - x\n return h(3) * g(1)(x)",
        REALS,
    ),
    "functions as values": (
        "import math\ndef twice(g): return lambda x: g(g(x))\ndef f(x): return twice(twice(lambda y: y * 0.5))(x) + twice(abs)(x)",
        REALS,
    ),
    "functions in tuples": (
        "import math\ndef f(x):\n t = (abs, lambda y: y + 1, math.fabs)\n return t[0](x) + t[1](x) - t[2](x)",
        REALS,
    ),
    "function chosen by a branch": (
        "def f(x):\n if x > 0:\n  def g(y): return y + x\n else:\n  def g(y): return y - x\n return g(1)",
        REALS,
    ),
    "capture by default": (
        "def f(x):\n s = 0\n for i in range(4):\n  g = lambda y, i=i: y * i\n  s += g(x) + g(x, 1)\n return s",
        REALS,
    ),
    "default evaluated once": ("def f(x):\n k = x\n def g(y, k=k * 2): return y * k\n k = 100\n return g(1) + g(1, 1) + k", REALS),
    "function with defaults as a value": (
        "def ap(h, x): return h(x)\ndef f(x):\n def g(y, k=x): return y * k\n return ap(g, 2) + g(2, k=3)",
        REALS,
    ),
    "function in a loop": ("def f(n):\n s = 0\n for i in range(n):\n  def g(y): return y * n\n  s += g(i)\n return s", SMALL),
    "capture of what a turn assigns": (
        "def f(n):\n s = 0\n for i in range(n):\n  t = i * 2\n  g = lambda y: y + t\n  def h(y): return g(y) * i\n  s = h(s) + g(1)\n return s",
        SMALL,
    ),
    "capture in a turn, passed on": (
        "def ap(g, y): return g(y)\ndef f(n):\n s = 0\n while s < n:\n  t = s + 1\n  g = lambda y: y + t\n  two = lambda k: lambda y: k(k(y))\n  r = two(g)\n  s = s + ap(r, 1)\n return s",
        SMALL,
    ),
    "call of a function of this turn": (
        "def f(n):\n s = 1\n for i in range(n):\n  def g(y):\n   z = y + i\n   return z\n  s = g(s)\n return s",
        SMALL,
    ),
    "capture through a call": ("def f(x):\n a = x * 2\n def g(y): return y + a\n def h(z): return g(z) * 2\n return h(1)", REALS),
    "shadowing": ("def f(x):\n def g(x):\n  x = x + 1\n  return x\n def abs(y): return y * 3\n return g(x) + abs(-x)", REALS),
    "church numerals": ("def f(x):\n two = lambda g: lambda y: g(g(y))\n return two(two)(lambda y: y + x)(0.0)", REALS),
    "closures returned": ("def make(a):\n def add(b): return a + b\n return add\ndef f(x): return make(x)(2) + make(3)(x)", REALS),
    "unicode names": ("def f(θ):\n Δy = θ * 2\n return Δy + θ", REALS),
}


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    """The value, or the class of what CPython raises."""
    try:
        return function(*arguments)
    except (ArithmeticError, ValueError, IndexError, NameError) as error:
        return type(error)


@pytest.mark.parametrize("form", FORMS)
def test_the_program_has_the_value_of_cpython(form: str) -> None:
    source, points = FORMS[form]
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    program = parse_text(source, "f", names={})
    check(program)
    compared = 0
    for point in points:
        wanted = outcome(namespace["f"], point)
        if isinstance(wanted, type):
            continue
        found = run(program, *point)
        assert same(found, wanted), f"{form} at {point}: {found!r}, not {wanted!r}\n{program}"
        compared += 1
    assert compared > 0


TRAPS = {
    "integer division": ("def f(n): return 1 // n", 0),
    "integer modulo": ("def f(n): return 1 % n", 0),
    "index": ("def f(n): return (1, 2)[n]", 2),
    "unpacking": ("def f(n):\n a, b = (n,)\n return a", 1),
    "step 0": ("def f(n):\n s = 0\n for i in range(0, 3, n): s += i\n return s", 0),
    "unbound after a branch": ("def f(n):\n if n > 0: y = 1\n return y + 1", 0),
    "unbound in a loop": ("def f(n):\n for i in range(n): y = i\n return y * 2", 0),
    "unbound before assignment": ("def f(n):\n z = y + n\n y = 1\n return z", 0),
    "unbound loop variable": ("def f(n):\n for i in range(n): pass\n return i + 1", 0),
    "unbound in a nested function": ("def f(n):\n if n: k = 1\n def g(): return k + 1\n return g()", 0),
    "unbound in a test": ("def f(n):\n if n: k = 1\n if k: return 1\n return 2", 0),
}


@pytest.mark.parametrize("case", TRAPS)
def test_where_cpython_raises_the_program_traps(case: str) -> None:
    source, argument = TRAPS[case]
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    assert isinstance(outcome(namespace["f"], (argument,)), type)
    with pytest.raises(Trap) as raised:
        run(parse_text(source, "f", names={}), argument)
    assert raised.value.location is not None


def test_an_arity_that_only_the_run_can_see_is_an_error_of_the_language() -> None:
    program = parse_text("def ap(g): return g(1, 2)\ndef f(x): return ap(lambda y: y)", "f")
    with pytest.raises(AdjudgeError, match="takes 1 argument"):
        run(program, 1.0)


def test_a_function_that_is_passed_takes_its_required_arguments_and_no_others() -> None:
    applied = "def ap(g, x): return g(x)\ndef d(x, y=3.0): return x * y\ndef e(y=3.0): return y\n"
    assert run(parse_text(applied + "def f(x): return ap(d, x)", "f"), 2.0) == 6.0
    assert run(parse_text(applied + "def f(x): return ap(lambda y: e(y), x)", "f"), 2.0) == 2.0
    with pytest.raises(AdjudgeError, match="@e takes 0 arguments, 1 given") as raised:
        run(parse_text(applied + "def f(x): return ap(e, x)", "f"), 2.0)
    assert "wrap it" in raised.value.remedy


def test_a_loop_of_100000_turns_runs() -> None:
    program = parse_text("def f(x):\n while x < 100000.0: x += 1.0\n return x", "f")
    assert run(program, 0.0) == 100000.0


def test_recursion_of_depth_10000_runs() -> None:
    assert run(parse_text("def f(n): return 0 if n == 0 else 1 + f(n - 1)", "f"), 10_000) == 10_000


def test_long_functions_and_deep_expressions_parse() -> None:
    lines = [f"    y{i} = x + {i}\n    x = y{i} * 0.5\n" for i in range(1000)]
    source = "def f(x):\n" + "".join(lines) + "    return x\n"
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    assert run(parse_text(source, "f"), 1.0) == namespace["f"](1.0)
    assert run(parse_text("def f(x):\n    return " + "+".join(["x"] * 900), "f"), 1.0) == 900.0
    branches = "".join(f"    elif x < {i}: x = x - {i}\n" for i in range(1, 200))
    source = f"def f(x):\n    if x < 0: x = 1.0\n{branches}    return x\n"
    exec(source, namespace)
    assert run(parse_text(source, "f"), 150.5) == namespace["f"](150.5)
