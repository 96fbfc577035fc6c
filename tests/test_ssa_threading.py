"""Ways past a question whose answer is known: none is asked, no value is changed, and no loop gets another entrance."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from ssa_programs import modules
from test_ssa_normal import assert_means_the_same, each, has_normal_form, outcome

from semantics.ssa.dominance import loops
from semantics.ssa.form import Instruction, Literal, Module
from semantics.ssa.text import read
from semantics.ssa.wellformed import check
from semantics.tangents import ZERO
from semantics.type_language import REAL
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text
from transforms.ssa import threading
from transforms.ssa.from_graph import to_ssa
from transforms.ssa.normal import normal
from transforms.ssa.threading import EQ, threaded

LEFT_TWICE = """function f(x, n):
block #1:
    %1 ← φ(#0 → x, #4 → %5)
    %2 ← gt(%1, 100)
    goto #5 if %2
block #2:
    %3 ← mul(%1, 2)
    %4 ← gt(%3, n)
    goto #6 if %4
block #4:
    %5 ← add(%3, 1)
    goto #1
block #5:
    return %1
block #6:
    goto #5"""
ASKED = """function f(x):
block #1:
    %1 ← gt(x, 0)
    goto #3 if %1
block #2:
    goto #4
block #3:
    goto #4
block #4:
    %2 ← φ(#2 → {}, #3 → 1)
    %3 ← eq(%2, 0)
    goto #6 if %3
block #5:
    return 5
block #6:
    return 6"""


def questions(module: Module) -> list[Instruction]:
    """The instructions that ask whether something is an integer."""
    code = (i for f in module.functions for b in f.blocks for i in b.instructions)
    return [i for i in code if i.callee is EQ and any(isinstance(o, Literal) for o in i.operands)]


@pytest.mark.parametrize(("arm", "left"), [("0", 0), ("x", 1)])
def test_a_known_answer_is_not_asked_for_and_another_is(arm: str, left: int) -> None:
    module = read(ASKED.format(arm))
    after = each(module, threaded)
    check(after)
    assert len(questions(after)) == left
    for x in (-1, 0, 1):
        assert outcome(module, (x,), 100) == outcome(after, (x,), 100)


@given(modules(), st.tuples(*[st.integers(-3, 3)] * 3))
def test_threading_keeps_the_meaning_and_the_entrances_of_loops(module: Module, arguments: tuple[Any, ...]) -> None:
    if has_normal_form(module):
        module = each(module, normal)
    after = each(module, threaded)
    event(f"threaded: {len(questions(after)) < len(questions(module))}")
    assert_means_the_same(module, after, arguments)
    if not any(loop.irreducible for f in module.functions for loop in loops(f).by_header.values()):
        assert not any(loop.irreducible for f in after.functions for loop in loops(f).by_header.values())


def test_an_answer_turned_round_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    module = read(ASKED.format("0"))
    with monkeypatch.context() as patch:
        patch.setattr(threading, "_holds", lambda a, b: a != b)
        after = each(module, threaded)
    assert outcome(module, (1,), 100) != outcome(after, (1,), 100)


BREAKING = """
def f(a: float):
    x = a
    while x < 100.0:
        y = x * a
        if y > 50.0:
            break
        z = y + a
        if z > 40.0:
            x = z * a
            break
        x = z
    return x * a
"""


def test_no_turn_of_a_loop_that_is_left_in_several_places_begins_with_what_may_be_zero() -> None:
    adjoint = expand(calling(parse_text(BREAKING, "f"), "grad", 0, (REAL,)), "ssa")
    (head,) = (g for g, graph in adjoint.graphs.items() if graph.name == "▶f.block_1")
    turns = [adjoint.inputs(use.user) for use in adjoint.users(adjoint.reference(head) or 0)]
    assert len(turns) == 2
    assert all(adjoint.constant(n) is not ZERO for inputs in turns for n in inputs)


def test_all_ways_out_of_a_loop_are_found_without_a_question() -> None:
    module = each(read(LEFT_TWICE), normal)
    assert len(questions(module)) == 2
    assert not questions(each(module, threaded))


def left_often(n: int) -> Module:
    """The same, of a loop with n breaks, whose ways out meet two by two."""
    turns = "".join(f"        x = x * y + {k}.5\n        if x > {k + 1}00.0:\n            break\n" for k in range(n))
    text = f"def f(x, y):\n    i = 0\n    while i < 10:\n{turns}        i = i + 1\n    return x\n"
    return each(to_ssa(parse_text(text, "f")), normal)


@pytest.mark.parametrize("n", [2, 5, 9])
def test_ways_that_meet_in_many_places_are_told_apart(n: int) -> None:
    """A regression: what a copy led to through an empty block was not seen, nor what was asked behind two joins."""
    module = left_often(n)
    after = each(module, threaded)
    check(after)
    assert len(questions(module)) == n + 1
    assert not questions(after)
    for x, y in ((0.5, 2.0), (3.0, 1.5), (7.0, 30.0), (0.0, 0.0)):
        assert outcome(module, (x, y), 1000) == outcome(after, (x, y), 1000)


def test_ways_are_told_apart_in_as_many_rounds_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    joining, rounds = threading.joining, []

    def counted(*given: Any) -> Any:
        rounds.append(given)
        return joining(*given)

    monkeypatch.setattr(threading, "joining", counted)
    counts = []
    for n in (4, 8, 16):
        rounds.clear()
        each(left_often(n), threaded)
        counts.append(len(rounds))
    assert counts[2] <= counts[0] + 4  # the ways meet in a tree
