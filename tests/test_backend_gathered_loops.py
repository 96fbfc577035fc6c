"""Loops that gather, scatter and update rows, drawn: generated code has the bits of the reference, also where it adds at places."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from array_program_claims import DIFFERENTIATED, TYPES, holds, judged
from claims import costly
from hypothesis import given
from hypothesis import strategies as st

from backend.arrays import touched
from backend.lowering.first_order import lowered
from transforms.gradient_programs import calling
from transforms.parse import parse_text

PLACES = ("[i1 % len(x), 0]", "np.array([0, i1, 0]) % len(x)", "r", "r[i1:]", "[i1, -1]", "r[:2]", "[i1]")
LINES = (
    "t = t + np.sum(o[K] * e)",
    "t = t + np.sum(np.take(o, K))",
    "o[K] = o[K] * 0.5",
    "o[K] *= o[K]",
    "o[K] += y[0] * t",
    "o[i1] += np.sum(o[K])",
    "p[K] = np.tanh(p[K] * 2.0)",
    "p[K] += o",
    "t = t - np.max(p[K])",
    "p[i1] = p[i1] / (2.0 + np.sum(p[i1]))",
    "p[i1] *= p[i1, 0]",
    "p[i1, 1:] = p[i1, :-1] * e",
    "p[i1] = np.tanh(p[i1 - 1] + p[i1])",
    "o[i1] = o[i1:i1 + 2] @ y[:2]",
    "o[:2] += o[i1] * y[:2]",
    "o[K] = np.sort(o[K])",
    "o[K] += x[K]",
    "o[o > 0.5] *= 0.5",
    "t = t + np.sum(p[K, 0])",
    "p[K, 0] += y[0]",
    "p[:, i1] *= o",
    "v = o[K] * 1.0",
    "t = t + v @ v",
    "v = np.tanh(v * e)",
)
HEADS = ("if t > 1.0:", "if o[i1] > 0.0:", "for i2 in range(2):", "for i2 in range(n):")
OVER = ("range(n)", "range(len(x))", "range(1, len(x))")


@st.composite
def loops(draw: st.DrawFn) -> str:
    """A program of `array_program_claims`, which gives a number."""
    lines = ["o, p, v, t = x.copy(), n2.copy(), y, 0.5", "r = np.argsort(x)", f"for i1 in {draw(st.sampled_from(OVER))}:"]
    for _ in range(draw(st.integers(1, 4))):
        line = draw(st.sampled_from(LINES)).replace("K", draw(st.sampled_from(PLACES)))
        if draw(st.booleans()) and draw(st.booleans()):
            lines.append(f"    {draw(st.sampled_from(HEADS))}")
            line = f"    {line}"
        lines.append(f"    {line}")
    if draw(st.integers(0, 5)) == 0:
        lines += ["    if t > 3.0:", "        break"]
    body = "\n".join(f"    {line}" for line in [*lines, "return t + np.sum(o * o) + np.sum(p * n2) + np.sum(v)"])
    return f"import numpy as np\ndef f(x, y, n2, e: float, n: int):\n{body}\n"


@costly(2)
@given(loops())
def test_a_value_is_the_references_in_every_bit(text: str) -> None:
    holds(text, "value")


@costly(4)
@given(loops())
def test_a_gradient_is_that_of_j_or_of_the_adjoint_in_every_bit(text: str) -> None:
    holds(text, "gradient")


TWICE = """
import numpy as np
def f(x, y, n2, e: float, n: int):
    t = 0.5
    for i in range(len(x)):
        t = t * e + np.sum(x[np.array([0, i, 0]) % len(x)] * t)
    return t
"""


def test_what_is_left_from_one_turn_to_the_next_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """An element that is gathered twice has a sum of its own, which is ZERO again when the next turn begins."""
    code = lowered(calling(parse_text(TWICE, "f"), "value_and_grad", DIFFERENTIATED, TYPES), TYPES).alone
    assert "at in range(" in code
    assert judged(TWICE, "gradient")["value"]

    def left(total: ast.For, places: Any, arrays: Any) -> ast.stmt:
        found = ast.unparse(ast.fix_missing_locations(choice(total, places, arrays)))
        return ast.parse(found.replace("= -0.0", "= 0.5")).body[0]

    choice = touched._choice
    monkeypatch.setattr(touched, "_choice", left)
    monkeypatch.setattr("backend.store.remembered", lambda key, make: make())
    with pytest.raises(AssertionError):
        judged(TWICE, "gradient")
