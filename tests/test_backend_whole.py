"""Masks that are True everywhere, told from loops that take each element once and give it to another: no bit changes."""

from __future__ import annotations

import ast

import numpy as np
import pytest
from claims import costly
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import bits, executed
from test_backend_arrays import types_of
from test_backend_begun import SPECIAL
from test_backend_stack_arrays import agrees, compiled

from backend.arrays import whole as wholes
from backend.arrays.takes import Turn
from backend.arrays.whole import whole
from semantics.type_language import INTEGER
from transforms.gradient_programs import calling
from transforms.parse import parse_text

N = "a0.shape[0]"


def loop(
    first: str = "True",
    index: str = "i6 - i7 + 1",
    base: str = "if i6 < i7:\n                    return (a1, 5)",
    step: str = "i6 - 1",
    asked: str = "a5_[i8]",
    gives: str = "a9_[i8] = True",
    again: str = "pass",
    after: str = "a5_[k2] or a9_[k2]",
) -> str:
    """The way back of two turns of `a[i] = u[i] - 2.0 * u[i + 1]`: a4_ with the mask a5_ is taken from, a8_ with a9_ added to."""
    return f"""
def kernel(a0, a1, fuel, one):
    a2_ = _empty(({N},), _f64)
    a3_ = _empty(({N},), _bool)
    for k1 in range({N}):
        a2_[k1] = a0[k1]
        a3_[k1] = {first}
    i1, a14_, a15_ = (2, a2_, a3_)
    while True:
        if i1 > 0:
            i6, i7, a4_, a5_, a8_, a9_ = ({N} - 3, 0, a14_, a15_, _full(({N},), -0.0, _f64), _full(({N},), False, _bool))
            while True:
                if i6 >= i7:
                    {base.replace("    " * 4, "    " * 5 + "    ")}
                    i8 = {index}
                    b1 = {asked}
                    x1 = a4_[i8]
                    a5_[i8] = False
                    a4_[i8] = -0.0
                    {again}
                    if b1:
                        a8_[i8 + 1] = a8_[i8 + 1] + -2.0 * x1
                        a9_[i8 + 1] = True
                        a8_[i8] = a8_[i8] + x1
                        {gives}
                    i9 = {step}
                    a4_, a5_, a8_, a9_, i6 = (a4_, a5_, a8_, a9_, i9)
                    continue
                else:
                    a10_ = _empty(({N},), _f64)
                    a11_ = _empty(({N},), _bool)
                    for k2 in range({N}):
                        a10_[k2] = a4_[k2] + a8_[k2]
                        b2 = {after}
                        a11_[k2] = b2
                    i1, a14_, a15_ = (i1 - 1, a10_, a11_)
                    break
        else:
            break
    a16_ = _empty(({N},), _f64)
    for k3 in range({N}):
        if a15_[k3]:
            x2 = a14_[k3]
        else:
            x2 = 0.0
        a16_[k3] = x2
    return (a16_,)
"""


def without(text: str) -> str | None:
    """The text without tests of masks that are whole."""
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    found = whole(function)
    return None if found is None else ast.unparse(ast.fix_missing_locations(found))


def agree(text: str, numbers: list[float]) -> bool:
    x = np.array(numbers)
    return bits(executed(without(text) or text, x, x)) == bits(executed(text, x, x))


@given(st.lists(st.sampled_from(SPECIAL), min_size=2, max_size=6))
def test_what_takes_an_element_and_gives_it_on_asks_no_mask(numbers: list[float]) -> None:
    found = without(loop())
    assert found is not None
    assert "if b1" not in found
    assert "a15_[k3]" not in found
    assert "a5_[k2] or" not in found
    assert agree(loop(), numbers)


NEAR = {
    "an element that is ZERO at first": loop(first="k1 > 1"),
    "an index of every turn": loop(index="1"),
    "an index that may be negative": loop(index="i6 - i7 + -1"),
    "a counter that nothing bounds": loop(base="pass"),
    "a counter that stays": loop(step="i6 - (1 if i6 == 1 else 2)"),
    "a mask that gets another element": loop(gives="a9_[i8 + 2 if i8 + 2 < a0.shape[0] else 0] = True"),
    "a mask that sometimes gets it": loop(gives="if x1 > 0.0:\n                            a9_[i8] = True"),
    "a mask that loses another as well": loop(again="a5_[0] = False"),
    "a mask whose other half loses": loop(again="a9_[i8 + 1] = False"),
    "masks that must both be True": loop(after="a5_[k2] and a9_[k2]"),
    "another element of the other mask": loop(after="a5_[k2] or a9_[0]"),
    "a mask that is also called with": loop(again="_row(a5_, a5_)"),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_the_masks_are_asked(near: str) -> None:
    assert without(NEAR[near]) is None


def test_a_mask_is_whole_in_the_first_turns_alone() -> None:
    """What is read after it was taken is not there."""
    assert without(loop(again="b1 = a5_[i8]")) is None


AGAIN = "if {}:\n                        a5_[i8 - 1] = True"


@pytest.mark.parametrize(
    ("read", "told"), [("a5_[i8 - 1]", True), ("a5_[i8 + 1]", False), ("a5_[i8 - 2]", False), ("a5_[i8]", False), ("a5_[1]", False)]
)
def test_an_element_that_a_later_turn_takes_is_there(read: str, told: bool) -> None:
    """The one before is, the one behind has been taken; two before the first there is none, and what is taken is gone."""
    text = loop(again=AGAIN.format(read))
    found = without(text)
    assert found is not None
    assert (f"if {read}:" not in found) == told
    assert "if b1" not in found
    for n in range(2, 6):
        assert agree(text, [1.5, -0.0, -2.0, float("inf"), 3.0][:n])


@pytest.mark.parametrize(("size", "told"), [("0", True), ("1", False)])
def test_a_mask_without_elements_is_whole(size: str, told: bool) -> None:
    choice = f"    if a0.shape[0] > 3:\n        a17_ = _empty(({size},), _bool)\n    else:\n        a17_ = a15_\n"
    made = f"    a16_ = _empty(({N},), _f64)\n"
    found = without(loop().replace(made, choice + made).replace("if a15_[k3]", "if a17_[0]"))
    assert found is not None
    assert ("if a17_[0]" not in found) == told


@pytest.mark.parametrize(
    ("planted", "near"),
    [
        ("_gets", "a mask that gets another element"),
        ("_gets", "a mask that sometimes gets it"),
        ("is_own", "an index of every turn"),
        ("_is_whole", "an element that is ZERO at first"),
    ],
)
def test_a_pass_that_does_not_look_is_seen(planted: str, near: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if planted == "is_own":
        monkeypatch.setattr(Turn, "is_own", lambda turn, at: True)
    elif planted == "_gets":
        monkeypatch.setattr(wholes, "_gets", lambda mask, at, turn: {e.kind for e in turn.events[mask]} <= {"True", "read"})
    else:
        monkeypatch.setattr(wholes._Facts, "_is_whole", lambda facts, value: True)
    assert not agree(NEAR[near], [-1.0, 0.0, -0.0, -2.0, 3.0])


TERMS = ("u[i]", "u[i] * v[i]", "u[i - 1] * v[i]", "u[i + 1]", "u[i] * u[i]")


@st.composite
def smoothings(draw: st.DrawFn) -> str:
    """Turns that compute a line from its places and those beside, of which some give nothing back to their own place."""
    terms = draw(st.lists(st.sampled_from(TERMS), min_size=1, max_size=3))
    head = draw(st.sampled_from(("range(1, n - 1)", "range(n - 2, 0, -1)", "range(0, n - 1)")))
    more = draw(st.sampled_from(("", "", "            a[i - 1] = a[i] * v[i]\n")))
    return (
        "import numpy as np\ndef f(u, v, turns: int):\n    n = u.shape[0]\n    for t in range(turns):\n        a = np.copy(u)\n"
        f"        for i in {head}:\n            a[i] = {' - '.join(terms)}\n{more}        u = a\n    return np.sum(u * v)\n"
    )


@costly(20)
@given(smoothings(), st.integers(0, 2), st.lists(st.sampled_from(SPECIAL), min_size=8, max_size=8))
def test_the_gradient_of_a_smoothing_is_the_references_in_every_bit(text: str, turns: int, numbers: list[float]) -> None:
    arrays = (np.array(numbers[:4]), np.array(numbers[4:]))
    types = (*types_of(arrays), INTEGER)
    code, reference = compiled(calling(parse_text(text, "f"), "grad", 0, types), types)
    event(f"masks: {'some' if '_bool' in code.code.alone else 'none'}")
    assert agrees(code, reference, *arrays, turns)


SMOOTHED = """
import numpy as np
def f(u, v, turns: int):
    for t in range(turns):
        a = np.copy(u)
        for i in range(1, u.shape[0] - 1):
            a[i] = {}u[i - 1] * v[i] - u[i + 1]
        u = a
    return np.sum(u * v)
"""


@pytest.mark.parametrize(("term", "masks"), [("u[i] * v[i] + ", False), ("", True)])
def test_a_turn_that_gives_back_to_its_own_place_leaves_no_masks(term: str, masks: bool) -> None:
    """One that gives to its neighbours alone leaves places ZERO that a mask tells of."""
    arrays = (np.array([1.0, -0.0, float("inf"), 2.0, -1.0]), np.array([-0.0, 0.0, 1.5, -1.0, 1.0]))
    types = (*types_of(arrays), INTEGER)
    code, reference = compiled(calling(parse_text(SMOOTHED.format(term), "f"), "grad", (0, 1), types), types)
    loops = code.code.alone.split("def kernel")[1].split("while True:")
    assert ("[i" in loops[-1] and "= True" in loops[-1]) == masks
    for turns in (0, 1, 2, 5):
        assert agrees(code, reference, *arrays, turns)
