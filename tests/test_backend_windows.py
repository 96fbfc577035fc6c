"""Elements that several turns add to, carried from turn to turn: the same bits, and LLVM computes several turns at once."""

from __future__ import annotations

import ast
from functools import partial

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import executed, stays, through
from test_backend_arrays import normal, types_of
from test_backend_begun import SPECIAL
from test_backend_stack_arrays import agrees, compiled

from backend.arrays import windows
from backend.arrays.windows import windowed
from semantics.type_language import INTEGER
from transforms.gradient_programs import calling
from transforms.parse import parse_text

N = "a0.shape[0]"
with_windows = partial(through, windowed)
agree = partial(stays, windowed)
USUAL = (("a3_", 2, "x11"), ("a3_", 1, "x12"), ("a3_", 0, "x11"), ("a3_", 1, "x13"))
Sums = tuple[tuple[str, int, str], ...]


def popping(
    sums: Sums = USUAL, turns: str = f"{N} - 2", turn: str = "pass", step: str = "i1 - 1", first: str = "a2_", index: str = ""
) -> str:
    """A loop down that adds to elements of two arrays, as code has it after updates are in place."""
    lines = []
    for k, (array, above, term) in enumerate(sums):
        lines += [f"i{k + 30} = {index or f'i1 - i2 + {above}'}", "for k in range(1):"]
        lines += [f"    x{k + 50} = float({array}[i{k + 30}]) + {term}", f"    {array}[i{k + 30}] = x{k + 50}"]
    added = "\n            ".join(lines)
    return f"""
def kernel(a0, a1, fuel, one):
    a2_ = _empty(({N},), _f64)
    a5_ = _empty(({N},), _f64)
    for k in range({N}):
        a2_[k] = a1[k] * 2.0
        a5_[k] = a0[k] - 1.0
    x14 = 0.0
    i1, i2, a3_, a4_ = (3 + {turns} - 1, 3, {first}, a5_)
    while True:
        fuel = fuel - 1
        if fuel < 0:
            return (a0, a0, fuel, 4)
        b1 = i1 >= i2
        if b1:
            if i1 < i2:
                return (a0, a0, fuel, 5)
            i6 = i1 - i2 + 1
            if i6 < -{N} or i6 >= {N}:
                return (a0, a0, fuel, 16)
            x11 = float(a0[i6]) * 0.5
            x12 = -x11
            x13 = x11 * float(a1[i6])
            {turn}
            {added}
            i7 = {step}
            i1, a3_, a4_ = (i7, a3_, a4_)
            continue
        else:
            a8_ = a3_
            break
    return (a8_, a4_, x14, fuel, 0)"""


def test_elements_are_carried() -> None:
    found = with_windows(popping())
    before, _, loop = found.partition("while True:")
    turn, _, after = loop.partition("else:")
    assert "xa3_2 = float(a3_[i1 - i2 + 2])" in before
    assert f"if i1 >= i2 and i1 - i2 + 1 >= {N}:" in before
    assert "xa3_1new = xa3_1 + x12 + x13" in turn
    assert turn.count("float(a3_[") == turn.count("a3_[i1 - i2 + 2] = ") == 1
    assert f"i6 >= {N}" not in turn
    assert turn.index("if b1:") < turn.index("fuel - 1")
    assert "a3_[i1 - i2 + 1] = xa3_1" in after


@st.composite
def sums(draw: st.DrawFn) -> Sums:
    """What a turn adds to one array, or to two."""
    one = st.tuples(st.sampled_from(("a3_", "a3_", "a4_")), st.integers(0, 3), st.sampled_from(("x11", "x12", "x13")))
    return tuple(draw(st.lists(one, min_size=2, max_size=8)))


@given(sums(), st.lists(st.sampled_from(SPECIAL), min_size=1, max_size=9), st.sampled_from((f"max(0, {N} - 3)", f"({N} > 3)", "0")))
def test_every_element_has_what_it_had(drawn: Sums, numbers: list[float], turns: str) -> None:
    text = popping(drawn, turns)
    event("carried" if "new = " in with_windows(text) else "not carried")
    assert agree(text, numbers)


def test_an_index_outside_is_told_before_the_loop() -> None:
    numbers = [0.5, 1.0, -2.0, 3.0]
    ends = [executed(made(popping(turns=N)), np.array(numbers), np.array(numbers))[-1] for made in (str, with_windows)]
    assert ends == [16, 16]


@pytest.mark.parametrize("fuel", [0, 2, 5, 100])
def test_as_much_fuel_is_taken(fuel: int) -> None:
    text = popping().replace("    x14 = 0.0", f"    fuel = {fuel}")
    text = text.replace("x14, ", "")
    assert executed(with_windows(text), *[np.arange(6.0)] * 2)[-2:] == executed(text, *[np.arange(6.0)] * 2)[-2:]


NEAR = {
    "one element in a turn": popping((("a3_", 1, "x11"), ("a3_", 1, "x12"))),
    "too many to carry": popping((("a3_", 0, "x11"), ("a3_", windows.WIDEST + 1, "x12")), turns="0"),
    "an element that is read besides": popping(turn="x14 = float(a3_[i6])"),
    "an element that is set besides": popping(turn="a3_[i6] = 0.0"),
    "another name for the array": popping(turn="x14 = float(a2_[i6])"),
    "a sum that is needed besides": popping(turn="x14 = x51 if i1 < i2 else 0.0"),
    "turns that go down by two": popping(step="i1 - 2"),
    "an index that may be negative": popping((("a3_", 1, "x11"), ("a3_", -1, "x12"))),
    "an index that no turn has": popping(index="i2 - 3 + 1"),
    "a loop inside": popping(turn=f"for k in range({N}): x14 = x14 + float(a0[k])"),
    "a sum that is made sometimes": popping().replace("for k in range(1):", "if x11 > 0.0:"),
    "a number that changes later": popping(turn="x12 = x11"),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_every_turn_reads_and_writes(near: str) -> None:
    assert with_windows(NEAR[near]) == ast.unparse(ast.parse(NEAR[near]))


SMOOTH = """
import numpy as np
def f(u, turns: int):
    for t in range(turns):
        v = np.copy(u)
        for i in range(1, u.shape[0] - 1):
            v[i] = u[i] * u[i] + 0.25 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u = v
    return np.sum(u)
"""


def test_the_gradient_of_a_stencil_is_the_references_in_every_bit() -> None:
    types = (*types_of((normal(5),)), INTEGER)
    code, reference = compiled(calling(parse_text(SMOOTH, "f"), "value_and_grad", 0, types), types)
    assert "new = xa" in code.code.alone
    for n in (1, 2, 3, 4, 20):
        assert agrees(code, reference, normal(n), 2)
    assert agrees(code, reference, np.array([np.inf, -0.0, 1.0, np.nan, 2.0, 0.5]), 1)
