"""Sums that begin with an integer: a real from the start where there is a turn, and the reference's integer where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from array_program_claims import DIFFERENTIATED, TYPES, holds, judged, written
from claims import costly
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
import backend
from adjudge.values import to_value
from backend.lists.gathering import gathered
from backend.lists.promotion import promoted
from backend.lowering import starts
from backend.lowering.first_order import lowered
from backend.lowering.starts import with_reals
from semantics.machine import Machine
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.parse import parse_text


def taken(body: str) -> bool:
    """Whether its sums begin with a real."""
    program = gathered(promoted(parse_text(written(body), "f")), TYPES)
    return with_reals(program, TYPES) is not program


TAKEN = {
    "a sum": "s = 0\nfor v in x:\n    s += v * e\nreturn s",
    "a difference or a sum": "s = 0\nfor v in x:\n    if v > 0.0:\n        s += v\n    else:\n        s -= e\nreturn s",
    "a product": "s = 1\nfor v in x:\n    s = s * v\nreturn s",
    "the built-in one": "return sum([v * e for v in x])",
    "two": "return sum([v * e for v in x]) + sum(v for v in y)",
    "asked beside reals": "s = 0\nfor v in x:\n    if s < e:\n        s = s + v\n    else:\n        s = s * 0.5\nreturn s",
    "a recurrence": "s = 0\nfor v in x:\n    s = np.tanh(s * e + v)\nreturn s",
    "a sum in each turn": "t = 0.0\nfor i in range(n):\n    s = 0\n    for v in x:\n        s += v\n    t = t * 0.5 + s\nreturn t",
}


@pytest.mark.parametrize("kind", ["value", "gradient"])
@pytest.mark.parametrize("name", TAKEN)
def test_such_a_sum_begins_with_a_real(name: str, kind: str) -> None:
    assert taken(TAKEN[name])
    assert judged(written(TAKEN[name]), kind)["value"]


NEAR = {
    "a turn may leave it": "s = 0\nfor v in x:\n    if v > 0.0:\n        s = s + v\nreturn s",
    "the loop may be left": "s = 0\nfor v in x:\n    if v > 0.5:\n        break\n    s = s + v\nreturn s",
    "it is an integer": "s = 0\nfor v in x:\n    s = s + n\nreturn s * e",
    "it is shared out": "s = 7\nt = 0.0\nfor v in x:\n    t = t + s // 2\n    s = s + v\nreturn t + s",
    "it is one of two": "s = 0\nfor v in x:\n    s = max(s, v) + e\nreturn s",
    "it is kept": "s = 0\na = []\nfor v in x:\n    a.append(s)\n    s = s + v\nreturn sum(a, s)",
    "it is beside what may be an integer": "s = 0\nfor v in x:\n    s = s + (1 if v > 0.0 else v)\nreturn s",
    "it is no integer that a real is": f"s = {(1 << 53) + 1}\nfor v in x:\n    s = s - v\nreturn s",
    "it begins with a real": "s = 0.0\nfor v in x:\n    s = s + v\nreturn s",
}


@pytest.mark.parametrize("name", NEAR)
def test_near_miss_another_stays_as_it_is(name: str) -> None:
    assert not taken(NEAR[name])
    judged(written(NEAR[name]), "value")


def test_a_number_that_is_no_real_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backend.store.remembered", lambda key, make: make())
    monkeypatch.setattr(starts, "_are_reals", lambda *_: True)
    with pytest.raises(AssertionError):
        judged(written("s = 0\nfor v in x:\n    s = s + n\nreturn s"), "value")


@pytest.mark.parametrize("name", TAKEN)
def test_a_sum_of_nothing_is_the_references_number(name: str) -> None:
    program = parse_text(written(TAKEN[name]), "f")
    code = backend.compile(program, TYPES, "python")
    for size in (0, 2, 0):
        given_ = tuple(map(to_value, (np.ones(size), np.ones(0), np.ones((size, size)), 0.5, 1)))
        found, wanted = code(*given_), Machine(program).run(given_).value
        assert type(found) is type(wanted)
        assert same(found, wanted)


def test_batches_and_the_quick_way_give_it_too() -> None:
    def total(x):  # type: ignore[no-untyped-def]
        s = 0
        for v in x:
            s += v * 2.0
        return s

    code = aj.compile(total)
    for _ in range(3):
        found = [code(np.ones(size)) for size in (0, 3, 0)]
        assert [*map(type, found)] == [int, float, int]
        assert found == [0, 6.0, 0]
    assert aj.vmap(total)(np.ones((2, 3))).tolist() == [6.0, 6.0]


def test_the_gradient_of_a_sum_of_a_list_has_one_loop_for_each() -> None:
    """A regression: a sum that might be an integer had a derivative that might be ZERO, 14 times as slow."""
    text = written("a = []\nfor v in x:\n    a.append(v * e)\nreturn sum(a)")
    code = lowered(calling(parse_text(text, "f"), "value_and_grad", DIFFERENTIATED, TYPES), TYPES)
    assert code.summing
    assert (
        code.alone.count("while True") + code.alone.count("turns):") == 5
    )  # two of them turn back, and one is the first turn of the list


LINES = ("s += v", "s -= v * e", "s = s * v", "s = np.tanh(s + v)", "t += s", "s += n", "s = e - s", "s = v if s < e else s * e")
HEADS = ("", "", "if v > 0.0:", "if s > 0.5:", "for w in y:")
AFTER = ("s", "s * e", "s + t", "s - 1", "s / 2", "t * s", "max(s, t)", "s * np.sum(x)")


@st.composite
def sums(draw: st.DrawFn) -> str:
    """A loop that begins some numbers with integers, and what is made of them."""
    lines = [f"s, t = {draw(st.sampled_from(('0', '1', '-2', '0.0')))}, {draw(st.sampled_from(('0', '0.0', '1')))}"]
    lines.append(f"for v in {draw(st.sampled_from(('x', 'y', 'x[:n]', 'x * e', '[u * e for u in x if u > 0.0]')))}:")
    for _ in range(draw(st.integers(1, 3))):
        head, line = draw(st.sampled_from(HEADS)), draw(st.sampled_from(LINES))
        lines += [f"    {head}", f"        {line}"] if head else [f"    {line}"]
    return written("\n".join([*lines, f"return {draw(st.sampled_from(AFTER))}"]))


@costly(2)
@given(sums())
def test_a_value_is_the_references_in_every_bit(text: str) -> None:
    holds(text, "value")


@costly(4)
@given(sums())
def test_a_gradient_is_that_of_j_or_of_the_adjoint_in_every_bit(text: str) -> None:
    holds(text, "gradient")
