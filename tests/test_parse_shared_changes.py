"""
What is changed in place while something else holds it: the value is CPython's, or there is an error. Never another value.

Fields of records, results of their operators, and elements that are changed by `+=` and not read again were not looked at: of
`y = p.x; y[0] = 5.0` the record kept its old array, and the gradient was that of another program.
"""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from adjudge.values import to_value
from semantics.errors import Malformed, Trap
from semantics.machine import Machine
from semantics.values import same
from transforms.parse import parse_text

RECORDS = """
from typing import NamedTuple
import numpy as np
class P(NamedTuple):
    x: np.ndarray
    n: float
    def __sub__(self, other):
        return P(self.x, self.n)
    def __mul__(self, other):
        return P(self.x * other, self.n)
    def __neg__(self):
        return P(self.x, -self.n)
    def me(self):
        return self
def bumped(x):
    x += 1.0
    return np.sum(x)
class Q(NamedTuple):
    p: P
    v: np.ndarray
"""
exec(RECORDS, SPACE := {})
P, Q = SPACE["P"], SPACE["Q"]


def given_values() -> tuple[Any, ...]:
    """A matrix, a vector, a record of records, and a list of arrays."""
    a, v = np.arange(9.0).reshape(3, 3), np.array([0.5, -1.0, 2.0])
    return a, v, Q(P(np.array([1.0, 2.0, 3.0]), 0.25), np.array([4.0, 5.0, 6.0])), [np.ones(3), np.zeros(3) + 2.0]


def compared(body: str) -> str:
    """
    What became of a function of a, v, q, xs with this body: "error", or "value" if that is CPython's, if CPython has one. Another
    value is an AssertionError.
    """
    text = RECORDS + "def f(a, v, q, xs):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    space: dict[str, Any] = {}
    exec(text, space)
    a, v, q, xs = given_values()
    inside = space["Q"](space["P"](q.p.x, q.p.n), q.v)
    try:
        wanted = space["f"](*copy.deepcopy((a, v, inside, xs)))
    except (ValueError, IndexError):
        return "CPython fails"
    try:
        program = parse_text(text, "f")
        found = Machine(program).run(tuple(map(to_value, (a, v, q, xs)))).value
    except (Malformed, Trap):
        return "error"
    assert same(found, float(wanted)), (body, found, wanted)
    return "value"


CHANGES = {
    "a field": "y = q.v\ny[0] = 5.0\nreturn q.v[0]",
    "a field of a field": "y = q.p.x\ny[0] = 5.0\nreturn q.p.x[0]",
    "a field of what an operator gives": "r = q.p - 1.0\ny = r.x\ny[0] = 5.0\nreturn q.p.x[0]",
    "a field of what a sign gives": "r = -q.p\ny = r.x\ny[0] = 5.0\nreturn q.p.x[0]",
    "a field of what a method gives": "y = q.p.me().x\ny[0] = 5.0\nreturn q.p.x[0]",
    "a field of a record that is made here": "r = P(v * 1.0, 0.0)\ny = r.x\ny[0] = 5.0\nreturn r.x[0]",
    "a field, all of it": "y = q.v\ny += 1.0\nreturn q.v[0]",
    "a field, all of it, read again": "y = q.v\ny += 1.0\nreturn q.v[0] + y[0]",
    "a row": "y = a[0]\ny += 1.0\nreturn a[0, 0]",
    "a row, element by element": "y = a[0]\ny[0] = 1.0\nreturn a[0, 0]",
    "a row of a loop": "for y in a:\n    y += 1.0\nreturn a[0, 0]",
    "an element of a list": "y = xs[0]\ny += 1.0\nreturn xs[0][0]",
    "an element that is unpacked": "y, z = xs\ny += 1.0\nreturn xs[0][0]",
    "an element beside a number": "y, z = xs[0], 1.0\ny += 1.0\nreturn xs[0][0] + z",
    "a row, twice": "y = a[0]\ny += 1.0\ny += 1.0\nreturn a[0, 0]",
    "a row, and then an element of it": "y = a[0]\ny += 1.0\ny[1] = 7.0\nreturn a[0, 0]",
    "an argument, in another function": "y = v * 1.0\ns = bumped(y)\nreturn s + y[0]",
    "one of two rows": "y = a[0] if v[0] > 0.0 else a[1]\ny += 1.0\nreturn a[0, 0]",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_python_shows_elsewhere_is_an_error(name: str) -> None:
    assert compared(CHANGES[name]) == "error"


NEAR = {
    "a copy of a field": "y = q.v.copy()\ny[0] = 5.0\nreturn q.v[0] + y[0]",
    "a field that is a number": "y = q.p.n\ny += 1.0\nreturn q.p.n + y",
    "a number that nothing reads again": "y = v[0]\ny += 1.0\nreturn v[0]",
    "numbers of a loop": "s = 0.0\nfor y in v:\n    y *= 2.0\n    s += y\nreturn s + v[0]",
    "what a field is computed to": "y = q.v * 2.0\ny[0] = 5.0\nreturn q.v[0] + y[0]",
    "a product that is no list": "y = v * 0.5\ny += a[0]\ny[1] = 3.0\nreturn y[0] + y[1] + v[0]",
    "an array whose record is gone": "r = P(v * 1.0, 0.0)\ny = r.x\ny[0] = 5.0\nreturn y[0] + v[0]",
    "a number that is an argument": "def half(x):\n    x *= 0.5\n    return np.sin(x) + x\nreturn half(v[0]) + v[0]",
    "sizes": "n = v.size\nn += 1\nm = a.shape[0]\nm += n\nreturn float(m + v.size)",
}


@pytest.mark.parametrize("name", NEAR)
def test_a_near_miss_has_cpythons_value(name: str) -> None:
    assert compared(NEAR[name]) == "value"


PLACES = (
    "a[0]",
    "a[1]",
    "q.v",
    "q.p.x",
    "r.x",
    "xs[0]",
    "xs[-1]",
    "v",
    "w",
    "y",
    "a.T[0]",
    "a[:, 1]",
    "v[1:]",
    "v.copy()",
    "w * 0.5",
    "w + y",
)
MADE = ("q.p - 1.0", "q.p * 2.0", "-q.p", "q.p.me()", "P(w * 1.0, 0.5)", "P(w, 0.5)", "r")
LINES = st.one_of(
    st.builds("{} = {}".format, st.sampled_from("wyz"), st.sampled_from(PLACES)),
    st.builds("{}[{}] = 7.0".format, st.sampled_from("wyz"), st.sampled_from("01")),
    st.builds("{0} += 1.0\ns += np.sum({0})".format, st.sampled_from("wyzn")),
    st.builds("n = {}".format, st.sampled_from(("q.p.n", "v[0]", "w[1]", "n", "r.n", "a[0, 1]"))),
    st.builds("r = {}".format, st.sampled_from(MADE)),
    st.builds("for y in {}:\n    y += 1.0\n    s += y[0]".format, st.sampled_from(("a", "xs", "a.T"))),
)
READ = (
    "a[0, 0]",
    "a[1, 1]",
    "v[0]",
    "v[-1]",
    "q.v[0]",
    "q.p.x[0]",
    "xs[0][0]",
    "w[0]",
    "y[0]",
    "z[1]",
    "n",
    "r.x[0]",
    "r.n",
    "np.sum(a)",
)


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """Some changes, the value of each needed, and a sum of what is read afterwards."""
    lines = draw(st.lists(LINES, min_size=1, max_size=7))
    reads = draw(st.lists(st.sampled_from(READ), min_size=1, max_size=4))
    return "\n".join(
        ["w = v * 1.0", "y = v * 2.0", "z = v * 3.0", "r = q.p", "n = 0.5", "s = 0.0", *lines, f"return s + {' + '.join(reads)}"]
    )


@given(bodies())
def test_the_value_is_cpythons_or_there_is_an_error(body: str) -> None:
    event(compared(body))


def test_many_drawn_bodies_have_a_value() -> None:
    """Of some that are the same each time."""
    told: Counter[str] = Counter()

    @settings(max_examples=60, derandomize=True, database=None, deadline=None)
    @given(bodies())
    def counted(body: str) -> None:
        told[compared(body)] += 1

    counted()
    assert told["value"] > 10
    assert told["error"] > 10
