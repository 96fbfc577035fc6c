"""
The passes under the SSA adjoint: single assignment, zeros, and the form that is inverted. Each keeps what a module computes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from ssa_adjoints import BREAKS
from ssa_programs import BRANCH, IRREDUCIBLE, POW, modules

from semantics.errors import AdjudgeError, Malformed, OutOfFuel
from semantics.ssa.dominance import loops
from semantics.ssa.form import Function, Goto, Literal, Module, Name, Return
from semantics.ssa.machine import run
from semantics.ssa.text import read
from semantics.ssa.wellformed import check
from semantics.tangents import ZERO
from semantics.values import same
from transforms.ssa.normal import exits, normal
from transforms.ssa.single_assignment import single_assignment
from transforms.ssa.zeros import without_zeros

FUEL = 400
ARGUMENTS = st.tuples(*[st.integers(-3, 3)] * 3)


def outcome(module: Module, arguments: tuple[Any, ...], fuel: int) -> Any:
    """The value, or the kind of error."""
    try:
        return run(module, arguments, fuel=fuel)
    except AdjudgeError as error:
        return type(error).__name__


def each(module: Module, function: Callable[[Function], Function]) -> Module:
    return replace(module, functions=tuple(map(function, module.functions)))


def assert_means_the_same(before: Module, after: Module, arguments: tuple[Any, ...]) -> None:
    check(after)
    wanted = outcome(before, arguments, FUEL)
    if wanted == OutOfFuel.__name__:
        event("does not end soon")
        return
    found = outcome(after, arguments, 10 * FUEL)
    if isinstance(wanted, str):
        event("traps, where code that is not needed is dropped")
    else:
        assert same(found, wanted)


@given(modules(), ARGUMENTS)
def test_single_assignment_keeps_the_meaning(module: Module, arguments: tuple[Any, ...]) -> None:
    assert_means_the_same(module, each(module, single_assignment), arguments)


@given(modules(), ARGUMENTS)
def test_without_zeros_keeps_the_meaning(module: Module, arguments: tuple[Any, ...]) -> None:
    assert_means_the_same(module, each(module, without_zeros), arguments)


@given(modules(), ARGUMENTS)
def test_the_normal_form_keeps_the_meaning(module: Module, arguments: tuple[Any, ...]) -> None:
    if not has_normal_form(module):
        event("has none")
        return
    after = each(module, normal)
    event("has a normal form")
    assert_means_the_same(module, after, arguments)
    for function in after.functions:
        assert_is_normal(function)


def has_normal_form(module: Module) -> bool:
    """Whether every function returns in one block and has no loop that is entered in several places; in what can be reached."""
    for function in each(module, single_assignment).functions:
        returns = [b for b in function.blocks if isinstance(b.jump, Return)]
        if len(returns) != 1 or any(loop.irreducible for loop in loops(function).by_header.values()):
            return False
    return True


def assert_is_normal(function: Function) -> None:
    found = loops(function)
    assert [len(b.jump.operands) for b in function.blocks if isinstance(b.jump, Return)] == [1]
    assert all(len(sources) <= 2 for sources in function.predecessors.values())
    for header, loop in found.by_header.items():
        [latch] = loop.latches
        assert isinstance(function.by_label[latch].jump, Goto)
        assert len(list(exits(found.body(header), function))) <= 1


@pytest.mark.parametrize("n", range(7))
def test_a_loop_with_breaks_has_one_exit(n: int) -> None:
    module = read(BREAKS)
    after = each(module, normal)
    assert_is_normal(after.main)
    assert_means_the_same(module, after, (3.0, n))


def test_what_is_normal_stays_as_it_is() -> None:
    for source in (POW, BRANCH):
        assert normal(read(source).main) == read(source).main


def test_an_irreducible_loop_has_no_normal_form() -> None:
    with pytest.raises(Malformed) as error:
        normal(read(IRREDUCIBLE).main)
    assert error.value.rule == "irreducible"


ASSIGNED_TWICE = """function f(c, x):
block #1:
    y ← add(x, 1)
    goto #3 if c
block #2:
    y ← add(y, x)
block #3:
    return y, z"""


def test_two_assignments_meet_in_a_phi_node_and_what_none_reaches_is_zero() -> None:
    function = single_assignment(read(ASSIGNED_TWICE).main)
    check(Module((function,), "f"))
    [phi] = function.blocks[-1].phis
    assert [arm for _, arm in phi.arms] == [Name("%1"), Name("%2")]
    assert function.blocks[-1].jump == Return((Name(phi.target), Literal(ZERO)))


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("%1 ← gadd(ZERO, x)", "x"),
        ("%1 ← gadd(x, ZERO)", "x"),
        ("%1 ← gadd(ZERO, ZERO)", "ZERO"),
        ("%1 ← gadd(x, 0)", "%1"),
        ("%2 ← gadd(ZERO, x)\n    %1 ← gadd(%2, ZERO)", "x"),
    ],
)
def test_sums_with_zero_are_folded_and_no_others(code: str, wanted: str) -> None:
    function = without_zeros(read(f"function f(x):\nblock #1:\n    {code}\n    return %1").main)
    assert str(Module((function,), "f")).endswith(f"return {wanted}")


def test_two_phi_nodes_that_exclude_each_other_are_one() -> None:
    source = """function f(c, x, y):
block #1:
    goto #3 if c
block #2:
    goto #3
block #3:
    %1 ← φ(#1 → x, #2 → ZERO)
    %2 ← φ(#1 → ZERO, #2 → y)
    %3 ← gadd(%1, %2)
    return %3"""
    [phi] = without_zeros(read(source).main).blocks[-1].phis
    assert [arm for _, arm in phi.arms] == [Name("x"), Name("y")]
    [first, second] = without_zeros(read(source.replace("#2 → ZERO", "#2 → c")).main).blocks[-1].phis
    assert first.target != second.target


def test_a_gradient_that_lives_in_one_turn_is_not_carried() -> None:
    """The φ node of the header and that of the join wait for each other; both are ZERO all the same."""
    source = """function f(c, n):
block #1:
    %1 ← φ(#0 → ZERO, #4 → %3)
    %2 ← φ(#0 → n, #4 → %5)
    %4 ← gt(%2, 0)
    goto #5 if not %4
block #2:
    %5 ← sub(%2, 1)
    goto #4 if c
block #3:
    goto #4
block #4:
    %3 ← φ(#2 → %1, #3 → ZERO)
    goto #1
block #5:
    return %1"""
    assert without_zeros(read(source).main).blocks[-1].jump == Return((Literal(ZERO),))
