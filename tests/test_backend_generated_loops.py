"""Gradients of generated loops over arrays, with branches, loops in loops and updates by index: the reference's bits."""

from __future__ import annotations

import pytest
from claims import costly
from hypothesis import event, given
from hypothesis import strategies as st
from test_backend_arrays import normal, types_of
from test_backend_stack_arrays import agrees, compiled

from backend.lowering import regions
from backend.lowering.flow import Flow, flow
from semantics.type_language import INTEGER
from transforms.gradient_programs import calling
from transforms.parse import parse_text

UPDATES = (
    *("h = h * w", "h = h + c", "c = np.tanh(c - h)", "c = h", "h = m @ h", "s = s + np.sum(h)", "h = h * s"),
    *("c = h / (2.0 + c * c)", "m = m * 0.5 + np.outer(h, w)", "s = s * np.mean(c)", "h = np.sin(m @ c)", "h = x"),
    *("c = np.exp(-h * h)", "s = s * 0.25 + i", "c = np.where(h > c, h, c * 0.5)", "c = np.maximum(h, c)", "h = np.zeros(3)"),
    *("s = s + h[0] * c[2]", "k[i] = s * w[i]", "k[2 - i] = k[i] * h[i]", "k[1] += c[i]", "h = h * k", "c = k + m[i]"),
)


@st.composite
def blocks(draw: st.DrawFn, depth: int = 1) -> list[str]:
    """Lines of a turn: updates, branches and loops."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(("update", "update", "if", "for"))) if depth else "update"
        if kind == "update":
            lines.append(draw(st.sampled_from(UPDATES)))
            continue
        head = "for i in range(n - 1):" if kind == "for" else draw(st.sampled_from(("if s > 0.0:", "if np.sum(h) > s:")))
        lines += [head, *(f"    {line}" for line in draw(blocks(depth - 1)))]
        if kind == "if" and draw(st.booleans()):
            lines += ["else:", *(f"    {line}" for line in draw(blocks(depth - 1)))]
    return lines


def judged(lines: list[str], n: int) -> tuple[bool, bool]:
    """Whether value and gradient of a loop of these lines have the bits of the reference, and whether its cells have arrays."""
    body = "\n".join(f"        {line}" for line in lines)
    text = (
        "import numpy as np\n\ndef f(x, w, m, n: int):\n    h = x\n    c = w\n    k = np.ones(3)\n    s = 0.5\n    i = 1\n"
        f"    for i in range(n):\n{body}\n    return np.sum(h * c * k) + s\n"
    )
    arrays = (normal(3), normal(3) + 0.5, normal(3, 3))
    types = (*types_of(arrays), INTEGER)
    code, reference = compiled(calling(parse_text(text, "f"), "value_and_grad", (0, 1, 2), types), types)
    return agrees(code, reference, *arrays, n), code.code.heap


@costly(20)
@given(blocks(), st.integers(0, 3))
def test_the_gradient_of_a_generated_loop_is_the_references_in_every_bit(lines: list[str], n: int) -> None:
    same, arrays = judged(lines, n)
    event(f"arrays in cells: {arrays}")
    assert same


def test_booleans_in_cells_of_which_the_sizes_alone_are_read() -> None:
    """Their view is cut twice, out of memory and to so many booleans: the second cut has the size."""
    lines = ["c = np.where(h > c, h, c * 0.5)", "h = h * w", "if s > 0.0:", "    c = k + m[i]"]
    assert judged(lines, 2)[0]


def test_a_matrix_or_a_vector_of_which_one_alone_can_be_transposed() -> None:
    """Of two branches the cells have what either needs, so the factor of a product is a matrix or not; the vector is for no run."""
    lines = ["if s > 0.0:", "    c = k + m[i]", "    s = s + np.sum(h)", "    c = k + m[i]"]
    lines += ["else:", "    h = h * w", "    h = m @ h", "    h = h * w", "c = np.tanh(c - h)", "h = h * w"]
    assert judged(lines, 2)[0]


def test_a_loop_that_is_entered_at_two_places_however_it_is_inferred(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrunk from a generated program: of both inferences its adjoint has such a loop."""
    found: list[Flow] = []
    monkeypatch.setattr("backend.store.remembered", lambda key, make: make())
    monkeypatch.setattr(regions, "flow", lambda *given: found.append(flow(*given)) or found[-1])
    lines = ["if s > 0.0:", "    h = h * k", "for i in range(n - 1):", "    s = s * 0.25 + i", "    h = m @ h"]
    assert judged(lines, 3)[0]
    assert len([f for f in found if f.heads]) == 2, "it is refused once, and then has a head"
