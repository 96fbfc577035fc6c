"""
Mutation in programs: what changes in Python changes here, and where it cannot, the error says so (FEATURES M4, Z4).

Values are CPython's, bit for bit; first and second derivatives by J are those of forward mode, exactly, on fractions. The programs
that are refused stand in `refused/mutation.py`; here are their near misses, the errors' texts, and generated programs.
"""

# ruff: noqa: E501 (one program to a line)

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutation_programs import MUTATIONS

from checkers import forward_mode, trace_reversal
from checkers.properties.agreement import differ
from semantics.denotation import FRACTIONS, denote
from semantics.errors import Malformed, Trap
from semantics.ir import Program
from semantics.linear import check_linear
from semantics.machine import run
from semantics.values import same
from semantics.wellformed import check
from transforms.gradient_programs import gradient_program
from transforms.parse import SYSTEM, initial_text, parse_text
from transforms.pipeline import OPTIMIZE

POINTS = (1.5, -0.5, 3.0)
FORM = pytest.mark.parametrize("form", MUTATIONS)


@cache
def program(text: str) -> Program:
    return parse_text(text, "f", names={})


def python(text: str) -> Any:
    """What CPython makes of a text."""
    names: dict[str, Any] = {}
    exec(compile(text, "mutation", "exec"), names)
    return names["f"]


@cache
def gradient(text: str, order: int = 1) -> Program:
    return gradient_program(program(text) if order == 1 else gradient(text, order - 1))


@FORM
def test_the_value_is_cpythons(form: str) -> None:
    for x in POINTS:
        assert same(run(program(MUTATIONS[form]), x), float(python(MUTATIONS[form])(x)))


@FORM
def test_derivatives_are_those_of_forward_mode_and_of_the_trace(form: str) -> None:
    text = MUTATIONS[form]
    for x in map(Fraction, POINTS[:2]):
        first = denote(gradient(text), (x,), FRACTIONS)
        assert differ(first, forward_mode.gradient(program(text), (x,), FRACTIONS)[0]) is None
        assert differ(first, trace_reversal.gradient(program(text), (x,), FRACTIONS)[0]) is None
    second = denote(gradient(text, 2), (x,), FRACTIONS)
    assert differ(second, forward_mode.second_derivative(program(text), (x,), carrier=FRACTIONS)) is None


@FORM
def test_programs_are_wellformed_and_linear_and_recorded_runs_agree(form: str) -> None:
    check(program(MUTATIONS[form]))
    check_linear(program(MUTATIONS[form]))
    assert str(SYSTEM.derive(initial_text(MUTATIONS[form], "f", names={})).result.program) == str(program(MUTATIONS[form]))


@pytest.mark.parametrize("form", ["stack", "swap", "effects in arguments", "array, elements kept"])
def test_the_optimized_gradient_is_the_gradient(form: str) -> None:
    better = OPTIMIZE.run(gradient(MUTATIONS[form]))
    for x in POINTS:
        assert same(run(better, x), run(gradient(MUTATIONS[form]), x))


def test_the_third_derivative_is_that_of_forward_mode_on_the_second() -> None:
    text, x = MUTATIONS["accumulator cell"], Fraction(3, 2)
    third = denote(gradient(text, 3), (x,), FRACTIONS)
    assert differ(third, forward_mode.gradient(gradient(text, 2), (x,), FRACTIONS)[0]) is None


# near misses: what is refused in refused/mutation.py, changed so that Python shows nothing elsewhere

ALLOWED: dict[str, str] = {
    "the other name is not used after the change": "import numpy as np\ndef f(x):\n a = np.zeros(3)\n b = a\n s = b[0]\n a[0] = x\n return a[0] + s",
    "the slice is not used after the change": "import numpy as np\ndef f(x):\n a = np.array([x, x])\n b = a[1:]\n s = b[0]\n a[1] = 2.0\n return a[1] * s",
    "the slice is copied": "import numpy as np\ndef f(x):\n a = np.array([x, x])\n b = a[1:].copy()\n a[1] = 2.0\n return a[1] * b[0]",
    "the tuple holds a copy": "import numpy as np\ndef f(x):\n a = np.array([x, x])\n t = (a.copy(), x)\n a[0] = 2.0\n return t[0][0] * a[0]",
    "a row is written into a row, which copies it": "import numpy as np\ndef f(x):\n a = np.array([[x, 1.0], [2.0, x]])\n for k in range(2):\n  t = a[k].copy()\n  a[k] = a[1]\n  a[1] = t * x\n return a[0, 0] * a[1, 1]",
    "the array of the turn before is kept while this one's is changed": "import numpy as np\ndef f(x):\n u = np.array([x, x])\n for _ in range(2):\n  v = np.zeros(2)\n  for i in range(2):\n   v[i] = 2.0 if u[1] > 1.0 else 3.0\n  u = v\n return u[0] * x",
    "the array is changed before it is kept": "import numpy as np\ndef f(x):\n a = np.array([x, x])\n a[0] = 2.0\n t = (a, x)\n return t[0][0] * x",
    "the loop goes over a copy": "import numpy as np\ndef f(x):\n a = np.array([x, x])\n s = 0.0\n for v in a.copy():\n  a[1] = v + 1.0\n  s += v\n return s * a[1]",
    "the list is copied when it is kept": "def f(x):\n xs = [x]\n t = (list(xs), x)\n xs.append(2.0)\n return len(t[0]) * x",
    "the list is kept after its last change": "def f(x):\n xs = [x]\n xs.append(2.0)\n t = (xs, x)\n return len(t[0]) * x",
    "the list is given away and not used again": "def f(x):\n rows = []\n for i in range(3):\n  row = [x]\n  row.append(x * i)\n  rows.append(row)\n return rows[1][1] * len(rows)",
    "enumerate goes over a copy": "def f(x):\n xs = [x, x]\n for i, v in enumerate(list(xs)):\n  xs[i] = v + 1.0\n return xs[0] * xs[1]",
    "the row is taken, changed and put back": "def f(x):\n rows = [[x], [x]]\n row = list(rows[0])\n row[0] = 2.0 * x\n rows[0] = row\n return rows[0][0] * rows[1][0]",
    "the lambda reads what is not changed later": "def f(x):\n xs = [x]\n xs[0] = 2.0 * x\n g = lambda v: xs[0] * v\n return g(x)",
    "the comprehension reads what changes": "def f(x):\n xs = [x, x]\n xs.append(2.0)\n ys = [v * xs[2] for v in xs]\n return ys[0]",
    "append on a line of its own": "def f(x):\n xs = []\n xs.append(x)\n y = xs[0]\n return len(xs) * y",
    "a new list instead of repetition in place": "def f(x):\n xs = [x]\n xs.append(x)\n xs = xs + xs\n return xs[3] * len(xs)",
    "a record that has a method of lists": "from typing import NamedTuple\nclass S(NamedTuple):\n items: tuple\n def pop(self): return S(self.items[1:])\ndef f(x):\n s = S((2.0, x))\n s = s.pop()\n xs = [x]\n xs.append(xs.pop() * 2.0)\n return s.items[0] * xs[0]",
    "a list that nothing changes": "def f(x):\n xs = [x, 2.0]\n t = (xs, x)\n return t[0][0] * xs[1]",
}


@pytest.mark.parametrize("name", ALLOWED)
def test_a_near_miss_has_cpythons_value(name: str) -> None:
    for x in POINTS:
        assert same(run(program(ALLOWED[name]), x), float(python(ALLOWED[name])(x)))


def test_the_error_names_what_holds_the_list_and_what_to_write() -> None:
    with pytest.raises(Malformed) as raised:
        parse_text("def f(x):\n    xs = [x]\n    t = (xs, x)\n    xs.append(2.0)\n    return len(t[0])\n", "f", "model.py")
    assert str(raised.value) == (
        "Malformed: t may hold xs as it is before this change, and would change with it\n"
        "  rule alias\n"
        "  model.py:4\n"
        "    xs.append(2.0)\n"
        "    ^\n"
        "  try: give it a copy: list(xs)"
    )


def test_a_lambda_that_reads_a_changing_list_is_told_what_to_write() -> None:
    with pytest.raises(Malformed, match="reads a list, and a list is changed after this point") as raised:
        parse_text("def f(x):\n xs = [x]\n g = lambda v: xs[0] * v\n xs[0] = 2.0\n return g(x)", "f", "model.py")
    assert "ys=list(xs)" in raised.value.remedy
    assert "memory'" not in str(raised.value)


# what only a run can tell: whether x[i] is a number, or a view


KEPT = "import numpy as np\ndef f(x):\n a = np.array([[0.0, 1.0], [2.0, 3.0]])\n row = a[0]\n a[0] = x\n return row[1]"
HELD = "def f(x):\n y = x\n y += 1.0\n return x * y"


def test_a_row_kept_while_the_array_changes_traps() -> None:
    with pytest.raises(Trap, match="a part of an array is kept"):
        run(program(KEPT), 1.5)
    assert run(program(KEPT.replace("a[0]\n", "a[0].copy()\n")), 1.5) == 1.0


def test_an_array_augmented_under_two_names_traps_where_a_number_does_not() -> None:
    from semantics.arrays import Array

    assert run(program(HELD), 1.5) == 1.5 * 2.5
    with pytest.raises(Trap, match="a part of an array is kept"):
        run(program(HELD), Array("f64", (2,), (1.0, 2.0)))


# generated programs


REALS = st.sampled_from(["x", "0.5", "2.0", "xs[0]", "xs[-1] * x", "ys[1] + s", "s * 0.5", "len(ys) * x"])
PLACES = st.sampled_from(["0", "1", "-1", "len(xs) - 2"])
SIMPLE = st.one_of(
    st.builds("xs.append({0})".format, REALS),
    st.builds("ys.append({0})".format, REALS),
    st.builds("xs[{0}] = {1}".format, PLACES, REALS),
    st.builds("ys[{0}] += {1}".format, PLACES.filter(lambda p: "len" not in p), REALS),
    st.builds("s += xs.pop() * {0} if len(xs) > 3 else {0}".format, REALS),
    st.builds("s = s * 0.5 + bump({0}) * 0.5".format, REALS),
    st.builds("xs[0], xs[1] = {0}, xs[0]".format, REALS),
    st.builds("xs.insert({0}, {1})".format, PLACES, REALS),
    st.sampled_from(
        ["ys = xs", "xs = list(ys)", "xs.reverse()", "xs, ys = ys, xs", "ys = xs + [s, x]", "s += sum(ys) * 0.25", "ys = xs[:2]"]
    ),
)
BLOCKS = st.one_of(
    SIMPLE,
    st.builds("if {0} > 1.0:\n    {1}\nelse:\n    {2}".format, REALS, SIMPLE, SIMPLE),
    st.builds("for i in range(2):\n    {0}\n    {1}".format, SIMPLE, SIMPLE),
    st.builds(
        "for v in xs:\n    s += v * 0.5\n    if len(xs) < 6:\n        {0}".format,
        SIMPLE.filter(lambda s: "ys" not in s and "bump" not in s),
    ),
)


@st.composite
def mutating(draw: st.DrawFn) -> str:
    """A function of x with two lists, a number, and a nested function that changes one of them."""
    lines = ["xs = [x, 1.0, x * x]", "ys = [2.0, x]", "s = x", "def bump(v):", "    zs[0] += v", "    return zs[0]"]
    for block in draw(st.lists(BLOCKS, min_size=1, max_size=6)):
        lines += block.split("\n")
    body = ["zs = [x]", *lines, "return s + xs[0] * ys[1] + zs[0] + len(xs)"]
    return "def f(x):\n" + "".join(f"    {line}\n" for line in body)


@given(mutating(), st.sampled_from(POINTS))
def test_generated_programs_have_cpythons_value_and_forward_modes_derivative(text: str, x: float) -> None:
    found = parse_text(text, "f", names={})
    check_linear(found)
    assert same(run(found, x), float(python(text)(x)))
    at = (Fraction(x),)
    assert differ(denote(gradient_program(found), at, FRACTIONS), forward_mode.gradient(found, at, FRACTIONS)[0]) is None
