"""What the passes over SSA code make grows as the code does, and they go over it as often whatever its size: counted, not timed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from ssa_adjoints import gradient
from test_ssa_first_turns import programs, value

from semantics.ssa.form import Function, Module
from semantics.ssa.text import read
from semantics.ssa.wellformed import check
from transforms.first_turns import exits
from transforms.first_turns.exits import with_first_turns
from transforms.parse import parse_text
from transforms.ssa import peeling
from transforms.ssa.from_graph import to_ssa
from transforms.ssa.single_assignment import single_assignment
from transforms.ssa.threading import forward_threaded

READ_ON_ONE_WAY = """function f(c, x):
block #1:
    y ← add(x, 1)
    goto #3 if c
block #2:
    y ← add(y, x)
    goto #4
block #3:
    {}
block #4:
    {}
    return {}"""


def phis(function: Function) -> int:
    return sum(len(block.phis) for block in function.blocks)


def left_often(n: int) -> Module:
    """The gradient of a loop with n breaks."""
    turns = "".join(f"        y = y * x + {k}.5\n        if y > {k + 1}00.0:\n            break\n" for k in range(n))
    text = f"def f(x, y):\n    i = 0\n    while i < 10:\n{turns}        i = i + 1\n    return y\n"
    return forward_threaded(gradient(to_ssa(parse_text(text, "f"))))


@pytest.mark.parametrize(
    ("third", "last", "result", "placed"),
    [
        ("z ← mul(y, y)", "y ← mul(x, x)", "y", 0),  # written before it is read
        ("z ← mul(y, y)", "w ← mul(x, x)", "w", 0),  # read on the ways to the join, and not after it
        ("z ← mul(y, y)", "w ← mul(x, y)", "w", 1),
        ("z ← mul(y, y)", "w ← mul(x, x)", "y", 1),  # by the jump alone
    ],
)
def test_a_phi_node_stands_only_where_what_meets_is_read(third: str, last: str, result: str, placed: int) -> None:
    function = single_assignment(read(READ_ON_ONE_WAY.format(third, last, result)).main)
    check(Module((function,), "f"))
    assert phis(function) == placed


@pytest.mark.parametrize("n", [3, 12])
def test_what_is_assigned_once_has_no_new_phi_node(n: int) -> None:
    """Of 12 breaks, 838 stood where there were 171; of 40, 15,000 where there were 1,100, nine times over."""
    for function in left_often(n).functions:
        assert phis(single_assignment(function)) == phis(function)


@given(programs())
def test_nor_has_what_generated_loops_assign_once(text: str) -> None:
    for function in forward_threaded(gradient(to_ssa(parse_text(text, "f")))).functions:
        assert phis(single_assignment(function)) == phis(function)


@pytest.mark.parametrize("n", [12, 24])
def test_questions_behind_one_another_are_answered_in_as_many_rounds(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """There was a round for each, and 40 breaks took minutes."""
    rounds: list[Function] = []
    joining = peeling.joining

    def counted(function: Function, here: Any) -> Any:
        rounds.append(function)
        return joining(function, here)

    monkeypatch.setattr(peeling, "joining", counted)
    monkeypatch.setattr(exits, "BLOCKS", 10**6)
    before = left_often(n)
    after = with_first_turns(before)
    assert after != before
    assert len(rounds) <= 5
    check(after)
    for point in ((2, 1), (1, 0), (3, -50), (0, 4000)):
        assert value(before, point) == value(after, point)
