"""
Policies for alphas: the same gradient bit for bit, the memory and the time that each promises, and code linear in the program.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ssa_adjoints import BREAKS, RECURSION, SWAP, gradient
from ssa_programs import BRANCH, POW

from semantics.ssa.form import Module
from semantics.ssa.machine import run
from semantics.ssa.meter import Peak, peak_live
from semantics.ssa.text import read
from semantics.ssa.wellformed import check
from semantics.tangents import dense
from transforms.ssa_adjoint import POLICIES, adjoint

TURNS = (10, 100, 1000)


def fat(body: int) -> str:
    """A loop with so many multiplications in its body, all of which close over their arguments."""
    chain = "\n".join(f"    %b{i} ← mul(%b{i - 1}, x)" for i in range(1, body + 1))
    return f"""function fat(x, n):
block #1:
    %1 ← φ(#0 → 1.0, #2 → %4)
    %2 ← φ(#0 → n, #2 → %3)
    %5 ← gt(%2, 0)
    goto #3 if not %5
block #2:
    %3 ← sub(%2, 1)
    %b0 ← sin(%1)
{chain}
    %4 ← cos(%b{body})
    goto #1
block #3:
    return %1"""


def measured(source: str, policy: str, turns: int) -> Peak:
    return peak_live(gradient(read(source), policy), (0.9, turns))


def test_with_a_stack_memory_grows_with_turns_times_body() -> None:
    for body in (5, 20):
        few, many = (measured(fat(body), "stack", n).live for n in (50, 100))
        assert 50 * body < many - few < 4 * 50 * body


def test_mixed_memory_grows_with_turns_and_not_with_the_body() -> None:
    growth = [measured(fat(body), "mixed", 100).live - measured(fat(body), "mixed", 50).live for body in (5, 20)]
    assert growth == [50, 50]  # one scalar a turn: what the loop carries and a pullback needs


def test_recomputed_memory_does_not_grow_with_turns() -> None:
    assert len({measured(fat(5), "recompute", n).live for n in (10, 50, 100)}) == 1


@pytest.mark.parametrize("policy", ["stack", "mixed"])
def test_a_gradient_costs_a_constant_times_its_function(policy: str) -> None:
    """A turn and its adjoint cost the same at every turn, so the ratio of steps tends to a constant from below or above."""
    ratios = [measured(fat(5), policy, n).steps / peak_live(read(fat(5)), (0.9, n)).steps for n in TURNS]
    assert max(ratios) <= min(ratios) * 1.1 + 1
    assert max(ratios) < 8


def test_a_recomputed_loop_costs_the_square_of_its_turns() -> None:
    few, many = (measured(fat(5), "recompute", n).steps for n in (20, 40))
    assert 3 * few < many < 4 * few


PROGRAMS = {
    "pow": (POW, 2),
    "branch": (BRANCH, 1),
    "swap": (SWAP, 3),
    "breaks": (BREAKS, 2),
    "recursion": (RECURSION, 2),
    "fat": (fat(3), 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
@given(x=st.floats(-2, 2), y=st.floats(-2, 2), n=st.integers(0, 5))
def test_the_policies_agree_bit_for_bit(name: str, x: float, y: float, n: int) -> None:
    _, arity = PROGRAMS[name]
    arguments: tuple[Any, ...] = {1: (x,), 2: (x, n), 3: (x, y, n)}[arity]
    found = {repr(dense(run(gradients(name, policy), arguments))) for policy in POLICIES}
    assert len(found) == 1


MADE: dict[tuple[str, str], Module] = {}


def gradients(name: str, policy: str) -> Module:
    if (name, policy) not in MADE:
        MADE[name, policy] = gradient(read(PROGRAMS[name][0]), policy)
        check(MADE[name, policy])
    return MADE[name, policy]


# size


def conditionals(count: int) -> str:
    lines, last = ["function f(x):", "block #1:"], "x"
    for i in range(count):
        a, b, c = 2 * i + 1, 2 * i + 2, 2 * i + 3
        lines += [f"    %c{i} ← gt({last}, {i})", f"    goto #{c} if not %c{i}", f"block #{b}:", f"    %w{i} ← mul({last}, x)"]
        lines += [f"block #{c}:", f"    %v{i} ← φ(#{a} → {last}, #{b} → %w{i})"]
        last = f"%v{i}"
    return "\n".join([*lines, f"    return {last}"])


def loops(count: int) -> str:
    lines, last = ["function f(x, n):", "block #1:"], "x"
    for i in range(count):
        a, b, c, d = (3 * i + k for k in (1, 2, 3, 4))
        lines += [f"    %s{i} ← mul({last}, 2)", f"block #{b}:", f"    %a{i} ← φ(#{a} → %s{i}, #{c} → %w{i})"]
        lines += [f"    %k{i} ← φ(#{a} → n, #{c} → %j{i})", f"    %c{i} ← gt(%k{i}, 0)", f"    goto #{d} if not %c{i}"]
        lines += [f"block #{c}:", f"    %w{i} ← mul(%a{i}, x)", f"    %j{i} ← sub(%k{i}, 1)", f"    goto #{b}", f"block #{d}:"]
        last = f"%a{i}"
    return "\n".join([*lines, f"    return {last}"])


def size(module: Module) -> int:
    return sum(len(b.phis) + len(b.instructions) + 1 for f in module.functions for b in f.blocks)


def calls(source: str, policy: str) -> int:
    """How many calls of Python functions it takes to make the adjoint."""
    module, count = read(source), 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        adjoint(module, policy)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("family", [conditionals, loops])
def test_the_adjoint_is_made_in_time_linear_in_the_program(policy: str, family: Any) -> None:
    small, middle, large = (calls(family(count), policy) for count in (20, 40, 80))
    assert 10 * (large - middle) < 21 * (middle - small)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("family", [conditionals, loops])
def test_the_code_is_linear_in_the_program(policy: str, family: Any) -> None:
    small, middle, large = (size(adjoint(read(family(count)), policy)) for count in (10, 20, 100))
    assert large - middle == 8 * (middle - small)
