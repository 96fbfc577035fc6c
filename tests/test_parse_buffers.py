"""
Buffers that change places: where arrays are changed in place, and swapped, the value is CPython's, or there is an error.

A loop that swaps two names was refused, since either may be either array; that they are never the same one was not known.
"""

from __future__ import annotations

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
from transforms.parse import alias_objects, parse_text

BEGIN = "import numpy as np\ndef both(x, y):\n    return y, x\ndef f(v, n: int):\n    s = 0.0\n"


def compared(body: str) -> str:
    """What became of a function with this body: "error", or "value" if that is CPython's. Another value is an AssertionError."""
    text = BEGIN + "".join(f"    {line}\n" for line in body.splitlines())
    space: dict[str, Any] = {}
    exec(text, space)
    v = np.array([0.5, -1.0, 2.0])
    try:
        wanted = [space["f"](v.copy(), n) for n in range(4)]
    except UnboundLocalError:
        return "CPython fails"
    try:
        program = parse_text(text, "f")
        found = [Machine(program).run((to_value(v), n)).value for n in range(4)]
    except (Malformed, Trap):
        return "error"
    assert all(same(x, float(y)) for x, y in zip(found, wanted, strict=True)), (body, found, wanted)
    return "value"


def looped(*lines: str, end: str = "a[0] + 2.0 * b[1] + c[2]", first: str = "pass", last: str = "pass") -> str:
    """Three buffers and a loop."""
    made = [
        "a = v.copy()",
        "b = np.zeros_like(v)",
        "c = np.ones(3)",
        first,
        "for k in range(n):",
        *(f"    {line}" for line in lines),
    ]
    return "\n".join([*made, last, f"return s + {end}"])


VALUES = {
    "by slices": looped("b[1:] = 0.5 * a[:-1]", "a, b = b, a"),
    "by elements": looped("for i in range(3):", "    b[i] = 0.5 * a[i - 1]", "a, b = b, a"),
    "by a third name": looped("b[1] = a[0] + 1.0", "t = a", "a = b", "b = t"),
    "three in a ring": looped("c[0] += a[1] - b[2]", "a, b, c = b, c, a"),
    "all of it": looped("b += 0.5 * a", "a, b = b, a"),
    "in some turns": looped("b[0] += a[0] * 2.0", "if k % 2 == 0:", "    a, b = b, a"),
    "in one of two ways": looped("if a[0] > 0.0:", "    a, b = b, a", "else:", "    b, c = c, b", "b[0] -= a[1]"),
    "with another in its place": looped("b[0] += a[0]", "a, b = b, a", "b = a.copy()"),
    "in a loop in a loop": looped("for j in range(2):", "    b[j] += a[j]", "    a, b = b, a", "a, c = c, a", "c[0] = a[1]"),
    "where the loop may end": looped("b[0] += a[0]", "a, b = b, a", "if b[0] > 3.0:", "    break", "b[1] -= 1.0"),
}


@pytest.mark.parametrize("name", VALUES)
def test_buffers_that_change_places_have_cpythons_value(name: str) -> None:
    assert compared(VALUES[name]) == "value"


ERRORS = {
    "by a tuple in a tuple, which tells nothing": looped("b[0] += a[0]", "a, (b, t) = b, (a, 1.0)", "s += t"),
    "one is the other": looped("a = b", "b[0] += 1.0", "s += a[0]"),
    "one may be the other": looped("b[0] += 1.0", "if k == 1:", "    a = b", "else:", "    a, b = b, a"),
    "both are a third": looped("b[0] += 1.0", "a, b = c, c"),
    "a part of one": looped("b[0] += 1.0", "a, b = b, a", "if k == 1:", "    a = b[:]"),
    "one by a call": looped("b[0] += 1.0", "a, b = both(a, b)"),
    "one in a list": looped("b[0] += 1.0", "l = [a]", "a, b = b, a", "b[0] += 1.0", "s += l[0][0]"),
    "one that was before the loop": looped("b[0] += 1.0", "a, b = b, a", first="c = b"),
    "both are a third after the loop": looped("b[0] += 1.0", "a, b = b, a", last="a, b = c, c\nb[0] += 1.0", end="a[0] + b[1]"),
    "one is the other after the loop": looped("b[0] += 1.0", "a, b = b, a", last="a = b\nb[0] += 1.0"),
    "one in another's place": looped("a, b, c = b, a, b", "c[0] += 1.0", "s += a[0]"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_where_they_may_be_one_there_is_an_error(name: str) -> None:
    assert compared(ERRORS[name]) == "error"


@pytest.mark.parametrize("name", ["both are a third after the loop", "one is the other after the loop"])
def test_names_that_stayed_apart_whatever_they_are_given_would_be_seen(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(alias_objects.Store, "moved", lambda self, likes: set(self.apart))
    with pytest.raises(AssertionError):
        compared(ERRORS[name])


MOVES = (
    "a, b = b, a",
    "a, b = b, a",
    "b, c = c, b",
    "a, b, c = b, c, a",
    "a, c, b = b, a, c",
    "t = a\na = b\nb = t",
    "t = b\nb = c\nc = t",
    "a, t = b, a",
    "a = b",
    "c, b = b, b",
    "a = b.copy()",
    "c = np.zeros(3)",
    "b = a * 0.5",
    "a, s = b * 0.5, s + 1.0",
    "a, b = both(a, b)",
    "t = a[:]",
    "t = c",
    "c = (a if s > 1.0 else b)",
    "b = t",
)
CHANGES = ("{0}[0] += 1.0", "{0}[1:] = 0.5 * {1}[:-1]", "{0} += {1} * 0.5", "{0}[k % 3] = {1}[0]", "{0}[:] = {1}", "s += {0}[1]")
NAMES = st.sampled_from("aabbct")


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """A loop, with choices and a loop inside, over lines that move arrays and lines that change them."""

    def block(depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(draw(st.integers(1, 3))):
            kind = draw(st.sampled_from(("move", "change", "change", "if", "loop") if depth else ("move", "change")))
            if kind == "move":
                lines += draw(st.sampled_from(MOVES)).splitlines()
            elif kind == "change":
                lines.append(draw(st.sampled_from(CHANGES)).format(draw(NAMES), draw(NAMES)))
            else:
                head = (
                    f"if {draw(st.sampled_from(('k == 1', 's > 0.5', 'a[0] > b[0]')))}:" if kind == "if" else "for k in range(2):"
                )
                ends = [["break"], ["continue"], [], [], []]
                lines += [head, *(f"    {line}" for line in block(depth - 1) + draw(st.sampled_from(ends)))]
                if kind == "if" and draw(st.booleans()):
                    lines += ["else:", *(f"    {line}" for line in block(depth - 1))]
        return lines

    return looped(*block(2), *block(0), first=draw(st.sampled_from(("t = v * 2.0", "t = v + a", "t = v.copy()", "t = a"))))


@given(bodies())
def test_the_value_is_cpythons_or_there_is_an_error(body: str) -> None:
    event(compared(body))


def test_many_drawn_bodies_have_a_value() -> None:
    """Of some that are the same each time."""
    told: Counter[str] = Counter()

    @settings(max_examples=80, derandomize=True, database=None, deadline=None)
    @given(bodies())
    def counted(body: str) -> None:
        told[compared(body)] += 1

    counted()
    assert told["value"] > 15
    assert told["error"] > 15
