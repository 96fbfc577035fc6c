"""
Lists of tuples of known and unknown length, gone over in loops in loops: values and gradients have the reference's bits.

Of a list of known length sensitivities are arrays of that size, of which several take turns in the same memory. All numbers are
multiples of 2^-40 below 2^12, so every sum is exact, in whatever order generated code adds.
"""

from __future__ import annotations

import functools

from hypothesis import event, given
from hypothesis import strategies as st

import backend
from semantics.errors import AdjudgeError
from semantics.machine import Machine
from semantics.type_language import INTEGER, REAL
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

TYPES = (REAL, REAL, INTEGER)
POINTS = ((0.5, -0.75, 2), (0.25, 1.5, 0), (0.5, 0.25, 1))
SIZES = ("5", "3", "n + 3", "n")
PARTS = ("x", "y", "0.5", "x * (i + 1)", "y * x", "x + i")


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A list of tuples, one, two or three loops around each other, and a sum of products of parts of the tuples."""
    parts = draw(st.lists(st.sampled_from(PARTS), min_size=1, max_size=3))
    depth, written = draw(st.integers(0, 2)), draw(st.booleans())
    names = [f"p[{k}]" for k in range(len(parts))]
    factors = st.lists(st.sampled_from([*names, "x", "y"]), min_size=1, max_size=2).map(" * ".join)
    terms = " + ".join(draw(st.lists(factors, min_size=1, max_size=3)))
    lines = [f"ps = [({', '.join(parts)},) for i in range({draw(st.sampled_from(SIZES))})]", "s = 0.0"]
    lines += [f"{'    ' * k}for t{k} in range({draw(st.sampled_from(('n', '2')))}):" for k in range(depth)]
    inside = "    " * depth
    lines.append(f"{inside}for p in ps:")
    lines.append(f"{inside}    s = s * 0.5 + {terms}")
    if written and depth:
        lines.append(f"{inside}ps = [({', '.join(['p[0] * 0.5', *names[1:]])},) for p in ps]")
    return "def f(x, y, n: int):\n    " + "\n    ".join([*lines, "return s"]) + "\n"


@given(programs(), st.booleans())
def test_what_is_drawn_has_the_references_bits(text: str, derived: bool) -> None:
    program = parse_text(text, "f")
    program = calling(program, "grad", (0, 1), TYPES) if derived else program
    try:
        code = backend.compile(program, TYPES, "python")
    except AdjudgeError as refusal:
        event(f"refused: {refusal.rule}")
        return
    reference = functools.partial(Machine(expand(program, "ssa")).run)
    for point in POINTS:
        try:
            found = code(*point)
        except AdjudgeError as left:
            event(f"left to the machine: {left.rule}")
            continue
        wanted = reference(point).value
        assert same(found, wanted)
