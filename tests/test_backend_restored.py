"""Elements of masks that a turn makes False and then True again: left as they are, and what asks them is told."""

from __future__ import annotations

import ast
from functools import partial

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import bits, executed, through
from test_backend_arrays import normal, types_of
from test_backend_stack_arrays import agrees, compiled

from backend.arrays.restored import restored
from semantics.type_language import REAL
from transforms.gradient_programs import calling
from transforms.parse import parse_text

N = "a0.shape[0]"
without = partial(through, restored)
TAKE = "m1_[i6] = False"
GIVE = "if not m1_[i6]: m1_[i6] = True"
STEPS = (TAKE, GIVE, "m1_[i6] = True", "x14 = 1.0 if m1_[i6] else 2.0", "m2_ = m1_", "a3_[i6] = 0.5", "m1_[0] = False")


def taking(*steps: str) -> str:
    """A loop down whose turns do something to their own element of a mask."""
    turn = "\n            ".join(steps)
    return f"""
def kernel(a0, a1, fuel, one):
    a3_ = _full(({N},), 1.5, _f64)
    m0_ = _full(({N},), True, _bool)
    x14 = 0.0
    i1, i2, m1_ = ({N} - 1, 0, m0_)
    while True:
        b1 = i1 >= i2
        if b1:
            if i1 < i2:
                return (a0, m0_, x14, fuel, 5)
            i6 = i1 - i2 + 0
            {turn}
            i7 = i1 - 1
            i1, m1_ = (i7, m1_)
            continue
        else:
            break
    return (a3_, m1_, x14, fuel, 0)"""


def test_it_is_not_made_false() -> None:
    found = without(taking(TAKE, "a3_[i6] = 0.5", GIVE))
    assert "False" not in found
    assert "if not" not in found
    assert "m1_[i6] = True" in found


@given(st.lists(st.sampled_from(STEPS), min_size=1, max_size=6), st.integers(1, 4))
def test_every_element_is_what_it_was(steps: list[str], n: int) -> None:
    text = taking(*steps)
    event("left" if without(text) != ast.unparse(ast.parse(text)) else "as it was")
    x = np.arange(float(n))
    assert bits(executed(without(text), x, x)) == bits(executed(text, x, x))


NEAR = {
    "it is asked in between": (TAKE, "x14 = 1.0 if m1_[i6] else 2.0", GIVE),
    "another is made True": (TAKE, "if not m1_[0]: m1_[0] = True"),
    "it is made True sometimes": (TAKE, "if x14 > 0.0:\n                if not m1_[i6]: m1_[i6] = True"),
    "it is made False sometimes": ("if x14 > 0.0: m1_[i6] = False", GIVE),
    "it is asked, and made True all the same": (TAKE, "x14 = 1.0 if m1_[i6] else 2.0", "m1_[i6] = True"),
    "it is made True before": (GIVE, TAKE),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_it_is(near: str) -> None:
    assert without(taking(*NEAR[near])) == ast.unparse(ast.parse(taking(*NEAR[near])))


LOGISTIC = """
import numpy as np
def f(h, x):
    y = x * 1.0
    for turn in range(3):
        for i in range(len(x)):
            y[i] = y[i] + h * (1.0 - y[i]) * y[i]
    s = 0.0
    for i in range(len(x)):
        s = s + y[i]
    return s
"""


def test_the_gradient_of_elements_that_change_in_place_asks_no_mask_and_has_the_references_bits() -> None:
    types = (REAL, *types_of((normal(5),)))
    code, reference = compiled(calling(parse_text(LOGISTIC, "f"), "value_and_grad", (0, 1), types), types)
    assert "_bool" not in code.code.alone
    assert code.code.alone.count("k in _apart(i") == 2
    for n in (1, 2, 9):
        assert agrees(code, reference, 0.3, normal(n))
    assert agrees(code, reference, 0.5, np.array([-0.0, 1.0, np.nan, np.inf]))
