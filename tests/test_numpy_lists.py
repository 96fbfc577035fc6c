"""A list that the text shows to be one is np.array of it where NumPy takes an array: the same values and gradients in every bit."""

from __future__ import annotations

import numpy as np
import pytest

import adjudge as aj
from adjudge.values import to_value
from semantics.errors import IllTyped
from semantics.values import same
from transforms.parse import parse_text

X = np.array([0.5, -1.25, 2.0])
SAME = {
    "a comprehension": "np.mean(⟨[x * x for x in xs]⟩)",
    "displays": "np.sum(⟨[xs[0], xs[1]]⟩) * np.max(⟨(xs[2], 0.5)⟩)",
    "two lists": "np.dot(⟨[x for x in xs]⟩, ⟨[x * x for x in xs]⟩)",
    "elements": "np.sum(np.exp(⟨[x for x in xs]⟩))",
    "lists in a list": "np.sum(⟨[[x * y for y in xs] for x in xs]⟩, axis=0)[1]",
    "arrays in a list": "np.std(⟨[xs, xs * xs]⟩, axis=0)[1]",
    "a sum of lists": "np.sum(⟨[0.5] * 2 + [x for x in xs]⟩)",
    "a norm": "np.linalg.norm(⟨[x for x in xs]⟩)",
    "a choice": "np.sum(np.where(⟨[x > 0.0 for x in xs]⟩, xs, 0.0))",
}
"""Programs with marks around each list: without them, or with np.array there."""

NAMED = {
    "of a value": "a = [x * x for x in xs]\n    return np.mean({})",
    "of one that is appended to": "a = []\n    for x in xs:\n        a.append(x * x)\n    return np.mean({})",
    "of the module": "return np.dot({}, xs)",
}


def program(body: str) -> str:
    return f"import numpy as np\na = (0.5, 0.25, 2.0)\ndef f(xs):\n    {body}\n"


def agree(text: str, other: str) -> None:
    """Asserts that value and gradient of both are the same bits, by the reference and in generated code, and the value NumPy's."""
    names: dict[str, object] = {}
    exec(text, names)  # a text of this file
    first, second = (parse_text(t, "f") for t in (text, other))
    value = aj.run(second, X)
    assert value == pytest.approx(names["f"](X), rel=2.0**-48)  # type: ignore[operator]
    assert same(to_value(aj.run(first, X)), to_value(value))
    slope = to_value(aj.grad(second)(X))
    assert same(to_value(aj.grad(first)(X)), slope)
    compiled = aj.compile(aj.grad(first), target="python")
    for _ in range(2):
        assert same(to_value(compiled(X)), slope)


@pytest.mark.parametrize("name", SAME)
def test_a_list_where_numpy_takes_an_array_is_the_array_of_it(name: str) -> None:
    marked = program(f"return {SAME[name]}")
    agree(marked.replace("⟨", "").replace("⟩", ""), marked.replace("⟨", "np.array(").replace("⟩", ")"))


@pytest.mark.parametrize("name", NAMED)
def test_so_is_the_name_of_a_list(name: str) -> None:
    agree(program(NAMED[name].format("a")), program(NAMED[name].format("np.array(a)")))


def test_an_array_gets_no_other_array() -> None:
    for text in ("np.sum(xs * xs)", "np.dot(xs, xs + 1.0)", "np.stack([xs, xs])[0, 0]", "np.sum(np.zeros((2, 3)))"):
        assert "as_array" not in str(parse_text(program(f"return {text}"), "f"))
    assert str(parse_text(program("return np.array([xs[0], xs[1]])[0]"), "f")).count("as_array") == 1


def test_what_the_text_does_not_show_to_be_a_list_is_refused_with_what_to_write() -> None:
    text = program("def g(t):\n        return np.sum(t)\n    return g([x for x in xs])")
    with pytest.raises(IllTyped) as told:
        aj.run(parse_text(text, "f"), X)
    assert "np.array" in told.value.remedy
