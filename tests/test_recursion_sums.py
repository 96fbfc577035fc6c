"""What a sum that goes through a recursion begins as: an array of ZEROs where there is an array in the end, else ZERO."""

from __future__ import annotations

import numpy as np
import pytest
from recursive_programs import wanted

import backend
from adjudge.values import to_value
from backend.recursion.program import without_recursion
from bench.by_index import TREE
from semantics.ir import Program
from semantics.type_language import REAL, ArrayType
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text
from transforms.pipeline import optimize

TYPES = (backend.general(ArrayType("f64", (None,))), REAL, REAL)
POINTS = [to_value(0.25 * np.arange(n) - 0.5) for n in (1, 2, 5, 13)]
LEAF = "    if high - low == 1:\n"
WAYS = {
    "a call adds nothing": LEAF + "        if low > 3:\n            return 0.5\n",
    "no call adds anything": LEAF + "        return 0.5\n",
}


def gradient(text: str) -> Program:
    return calling(parse_text(text, "f"), "grad", 0, TYPES)


def begins_as_an_array(program: Program) -> bool:
    looped = without_recursion(optimize(expand(program, "ssa")), sums=True, levels=True)
    return looped is not None and any(getattr(p, "name", "") == "nothing_of" for p in looped.interned)


def agrees(program: Program) -> None:
    compiled = backend.compile(program, TYPES, "python")
    for x in POINTS:
        assert same(compiled(x, 0.6, 0.7), wanted(program, (x, 0.6, 0.7)))


def test_a_sum_that_every_call_adds_to_begins_as_an_array() -> None:
    program = gradient(TREE)
    assert begins_as_an_array(program)
    code = backend.compile(program, TYPES, "python").code.alone
    backwards = code[code.index("def f1__tree(") : code.index("def kernel")]
    assert backwards.count("while True") == 1
    assert backwards.index("_full(") < backwards.index("while True")
    agrees(program)


@pytest.mark.parametrize("way", WAYS)
def test_near_miss_a_sum_that_a_call_may_add_nothing_to_begins_as_zero(way: str) -> None:
    program = gradient(TREE.replace(LEAF, WAYS[way]))
    assert not begins_as_an_array(program)
    agrees(program)


def test_near_miss_an_array_that_calls_do_not_read_before_they_branch() -> None:
    """The tapes of the two ways hold it at different places."""
    program = gradient(TREE.replace(LEAF, "    if low > 3:\n        return x[low]\n" + LEAF))
    assert not begins_as_an_array(program)
    agrees(program)
