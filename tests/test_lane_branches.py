"""What kernels for lanes ask: cases with near misses, and that what is said not to ask never needs one answer for all samples."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from adjudge.functions import parse
from backend import lowered
from backend.batches.branches import asks
from backend.batches.forms import whole
from backend.batches.kernels import columns_among
from semantics.type_language import INTEGER, REAL
from transforms.gradient_programs import calling


def kernel(*lines: str) -> str:
    helper = "def _sign(x):\n    return 1.0 if x > 0.0 else -1.0\n"
    return helper + "\n".join(["def kernel(a0, a1, reals, integers):", *(f"    {line}" for line in lines), "    return x"])


ASKING = {
    "a branch": ("x = 0.0", "if a0 > 0.0:", "    x = a0"),
    "a choice": ("x = a0 if a0 < 2.0 else a1",),
    "a loop": ("x = a0", "while x < 4.0:", "    x = x * 2.0"),
    "a condition of two": ("x = (a0 > 0.0 and a1 > 0)",),
    "a place in memory": ("i = int(a0 > 0.0)", "x = reals[i]"),
    "memory that was written": ("integers[0] = int(a0 > 0.0)", "x = 1.0 if integers[1] == 0 else 0.0"),
    "a function of the text": ("x = _sign(a0)",),
    "what is assigned later": ("x, y = (1.0, 1.0)", "while a1 > 0:", "    if y > 0.0:", "        a1 = a1 - 1", "    y = a0"),
    "a truth": ("x = bool(a0)",),
    "turns": ("x = 0.0", "for k in range(int(a0 > 1.0)):", "    x = 1.0"),
}
SILENT = {
    "a branch on what all share": ("x = a0", "if a1 > 0:", "    x = a0 * 2.0"),
    "a choice by what all share": ("x = a0 if a1 < 2 else -a0",),
    "another part of a tuple": ("(x, i) = (a0, a1)", "while i > 0:", "    (x, i) = (x * a0, i - 1)"),
    "a comparison": ("x = int(not a0 > 0.0)",),
    "a place that all share": ("reals[a1] = a0", "x = reals[a1] + 1.0"),
    "other memory": ("reals[0] = a0", "integers[0] = a1", "x = a0 if integers[0] == 0 else -a0"),
    "a function of the text, of what all share": ("x = a0 * _sign(a1)",),
}


@pytest.mark.parametrize("name", ASKING)
def test_it_asks(name: str) -> None:
    assert asks(kernel(*ASKING[name]), ["a0"])


@pytest.mark.parametrize("name", SILENT)
def test_it_does_not_ask(name: str) -> None:
    assert not asks(kernel(*SILENT[name]), ["a0"])


@pytest.mark.parametrize(("shared", "asked"), [((False, True), False), ((True, False), True)])
def test_the_gradient_of_a_loop_asks_how_many_turns_there_are(shared: tuple[bool, bool], asked: bool) -> None:
    def power(x, n: int):  # type: ignore[no-untyped-def]
        r = 1.0
        for _ in range(n):
            r = r * x
        return r

    code = lowered(calling(parse(power), "grad", 0, (REAL, INTEGER)), (REAL, INTEGER))
    assert asks(code.alone, columns_among(whole(code), shared)) is asked


class Asked(Exception):
    """Something needed one answer for all samples."""


class Each:
    """A value for each sample, of which nothing is known."""

    def __bool__(self) -> bool:
        raise Asked

    def __index__(self) -> int:
        raise Asked


def _each(self: Any, *other: Any) -> Each:
    return self if isinstance(self, Each) else Each()


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "neg", "lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Each, f"__{_name}__", _each)


class Memory(dict[int, Any]):
    """Places, of which those not written are 1."""

    def __missing__(self, at: int) -> int:
        return 1


@st.composite
def bodies(draw: st.DrawFn) -> list[str]:
    """Assignments, tuples, memory, branches and loops of variables, some of which differ."""
    name = st.sampled_from(["a0", "a1", "x", "y", "i"])
    lines = ["x, y, i = 1.0, 2.0, 1"]
    for _ in range(draw(st.integers(1, 6))):
        a, b, c, d = (draw(name) for _ in range(4))
        match draw(st.sampled_from(["add", "two", "choose", "branch", "write", "read", "loop"])):
            case "add":
                lines.append(f"{a} = {b} + {c}")
            case "two":
                lines.append(f"({a}, {b}) = ({c}, {d})")
            case "choose":
                lines.append(f"{a} = {b} if {c} < 3 else {d}")
            case "branch":
                lines += [f"if {a} < {b}:", f"    {c} = {d}", "else:", f"    {d} = {a}"]
            case "write":
                lines.append(f"integers[0] = {a}")
            case "read":
                lines.append(f"{a} = integers[0]")
            case "loop":
                lines += ["n = 0", "while n < 3:", f"    ({a}, n) = ({b} * {c}, n + 1)"]
    return lines


@given(bodies())
def test_what_does_not_ask_needs_no_answer(lines: list[str]) -> None:
    space: dict[str, Any] = {}
    text = kernel(*lines)
    exec(text, space)
    asked = asks(text, ["a0"])
    event("asks" if asked else "does not ask")
    try:
        space["kernel"](Each(), 2, Memory(), Memory())
    except Asked:
        assert asked
