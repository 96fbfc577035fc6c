"""Views of views: an element of one is an element of what it is cut from, whatever the places are computed from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from test_backend_arrays import types_of
from test_backend_stack_arrays import agrees, compiled
from vm_runs import same_outcome

from adjudge.values import to_value
from backend import runnable
from semantics.machine import Machine
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

X = np.arange(1.0, 21.0).reshape(4, 5)
ROWS = ("np.arange(9)", "(np.arange(1, 8) * 0.5)", "x[1]", "x[:, 0]", "np.linspace(0.0, 2.0, 6)")
MATRICES = ("x", "(x * 2.0)", "np.eye(4)", "np.eye(4, k=1)", "np.arange(12).reshape(4, 3)")
OF_ROWS = ("{}[::-1]", "{}[1:]", "{}[::2]", "{}[-2::-1]", "np.flip({})", "np.roll({}, 1)")
OF_MATRICES = (*OF_ROWS, "{}[:, ::-1]", "{}[:, 1:]", "{}[1:, ::2]", "({}).T", "np.tril({})", "np.triu({}, 1)")


@st.composite
def views(draw: st.DrawFn) -> str:
    """A row or a matrix, which is cut, turned or moved some times."""
    begun, steps = draw(st.sampled_from(((ROWS, OF_ROWS), (MATRICES, OF_MATRICES))))
    text = draw(st.sampled_from(begun))
    for step in draw(st.lists(st.sampled_from(steps), min_size=1, max_size=4)):
        text = step.format(text)
    return text


def has_the_references_bits(view: str) -> bool:
    types = types_of((X,))
    code, reference = compiled(parse_text(f"import numpy as np\n\ndef f(x):\n    return {view}\n", "f"), types)
    return agrees(code, reference, X)


@given(views())
def test_a_view_of_views_has_the_bits_of_the_reference(view: str) -> None:
    event(f"steps back: {view.count('::-1')}")
    assert has_the_references_bits(view)


@pytest.mark.parametrize(
    "view", ["np.abs(x)[-2, ::-1][::-1] * 0.5", "np.arange(9)[::2][1:]", "np.eye(4)[::-1]", "np.flip(x[0])[1:] * 2.0"]
)
def test_a_sum_is_multiplied_or_taken_away_as_a_whole(view: str) -> None:
    """Shrunk, the first: the place in a slice was a sum without parentheses, of which the next slice multiplied the last term."""
    assert has_the_references_bits(view)


SINGLE = {"x[:, :1] * x": X, "x[-1:] + x": X, "x[:, None, 1:2] * x": X, "x[0:1] @ x.T": X, "x[:, -2:-1] * x[:, :1]": X}
OTHERS = {
    "x[-1:0] * 1.0": (X, 0),
    "x[:, -1:1] * 1.0": (X, 0),
    "x[1:3] * 1.0": (X, 0),
    "x[:1:-1] * 1.0": (X, 0),
    "x[:, 1:2] * 1.0": (X[:, :1], 1),
    "x[:1] * 1.0": (X[:0], 1),
}
"""And how many samples are left to the machine: those of arrays too short for a slice of one place."""


@pytest.mark.parametrize("view", SINGLE)
def test_a_slice_of_one_place_has_the_size_one_so_it_broadcasts(view: str) -> None:
    assert tiers_agree(view, SINGLE[view]) == 0


@pytest.mark.parametrize("view", OTHERS)
def test_another_slice_and_one_of_an_array_too_short_for_it_are_not_taken_for_one(view: str) -> None:
    """Shrunk, the first: from -1 to 0 is nothing, not the last place."""
    x, again = OTHERS[view]
    assert tiers_agree(view, x) == again


def tiers_agree(view: str, x: np.ndarray) -> int:
    """Asserts that code of value and gradient has the bits of the reference; how often the machine ran what code does not."""
    program = parse_text(f"import numpy as np\n\ndef f(x):\n    z = {view}\n    return np.sum(np.tanh(z) * z)\n", "f")
    types, again = types_of((x,)), set()
    for asked in (program, calling(program, "grad", 0, types)):
        tiered, value = runnable(asked, types, "python"), to_value(x)
        same_outcome(tiered.map([(value,)])[0], Machine(expand(asked)).run([value]).value)
        assert tiered.refusal is None
        again.add(tiered.again)
    (times,) = again
    return times
