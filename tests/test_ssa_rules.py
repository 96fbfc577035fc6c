"""The rules of both translations and of the alphas: each fires, each has a near miss, and planted bugs are caught."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ssa_adjoints import BREAKS, RECURSION, SWAP
from ssa_programs import BRANCH, POW
from test_ssa_translation import CHOSEN, EXCHANGE, INSIDE, LAST, TWICE, agree, of_graph, of_ssa, parsed

from semantics.ir import Program
from semantics.ssa.form import Label, Name, Operand, Phi
from semantics.ssa.text import read
from semantics.tangents import ZERO
from transforms.ssa import from_graph, to_graph
from transforms.ssa.from_graph import first_order, to_ssa
from transforms.ssa.graph_state import SsaState
from transforms.ssa.to_graph import GraphState
from transforms.ssa_adjoint import POLICIES, alphas, listing

# a call of several values, a return of several, code in another order than that of need, and a branch to φ nodes
DISORDER = """function f(x, y):
block #1:
    %1 ← div(x, y)
    %2 ← mul(x, x)
    %3, _ ← @g(%2, y)
    %4 ← lt(%3, %1)
    goto #3 if %4
block #2:
    %5 ← sub(%3, y)
block #3:
    %6 ← φ(#1 → x, #2 → %5)
    return %6

function g(x, y):
block #1:
    return x, y"""

PROGRAMS = [TWICE, LAST, CHOSEN, INSIDE, first_order(parsed(EXCHANGE))]
MODULES = [read(text) for text in (POW, SWAP, BREAKS, RECURSION, BRANCH, DISORDER)]
BEGINNINGS: dict[Any, list[Any]] = {
    from_graph: [from_graph.begin(program) for program in PROGRAMS],
    to_graph: [to_graph.begin(module) for module in MODULES],
    alphas: [alphas.begin(listing(module), policy) for module in MODULES[:-1] for policy in POLICIES],
}


def steps(stage: Any) -> Iterator[tuple[Any, str]]:
    """The states of the runs of a system, and the one rule that is enabled in each."""
    for state in BEGINNINGS[stage]:
        while not stage.SYSTEM.final(state):
            [step] = stage.SYSTEM.enabled(state)
            yield state, step.rule
            state = step.after


@pytest.mark.parametrize("stage", BEGINNINGS, ids=lambda s: s.SYSTEM.name)
def test_every_rule_fires_and_no_two_at_once(stage: Any) -> None:
    assert {rule for _, rule in steps(stage)} == {rule.name for rule in stage.SYSTEM.rules}


# near misses, rule by rule


def fired(stage: Any, state: Any) -> set[str]:
    return {step.rule for step in stage.SYSTEM.derive(state).steps}


def graphs(text: str) -> set[str]:
    return {graph.name for graph in to_graph.to_graph(read(text)).graphs.values()}


def test_an_entry_is_the_graph_of_its_function_unless_a_jump_leads_back_to_it() -> None:
    assert graphs("function f(x):\nblock #1:\n  return x") == {"f"}
    assert graphs(POW) > {"pow", "pow.block_1", "pow.block_2", "pow.block_3"}


def test_a_side_of_a_branch_has_a_graph_of_its_own_only_for_phi_nodes() -> None:
    assert graphs(BRANCH) == {"f", "f.block_2", "f.block_3", "f.edge_1_3"}
    assert not any("edge" in name for name in graphs(POW))


def test_code_is_put_in_order_only_where_the_order_of_need_is_another() -> None:
    assert "in_order" in fired(to_graph, to_graph.begin(read(DISORDER)))
    assert "in_order" not in fired(to_graph, to_graph.begin(read(BRANCH)))


@pytest.mark.parametrize(("returned", "wanted"), [("x", 2), ("x, x", (2, 2))])
def test_one_value_is_returned_as_it_is_and_several_as_a_tuple(returned: str, wanted: Any) -> None:
    assert of_graph(to_graph.to_graph(read(f"function f(x):\nblock #1:\n  return {returned}")), (2,)) == wanted


def test_only_what_was_adjoined_is_called_without_its_pullback_and_only_a_function_gives_a_tape() -> None:
    before = listing(read(RECURSION))["▶power"]
    [state] = [s for s, rule in steps(alphas) if rule == "primal_call" and s.primal == before and s.policy == "stack"]
    [step] = alphas.SYSTEM.enabled(state)
    for old in before.blocks:
        for was, now in zip(old.instructions, step.after.forward[old.label].instructions, strict=True):
            assert len(now.targets) == (2 if "@" in repr(now.callee) or "▶" in repr(now.callee) else 1)
            assert (now == was) == (len(was.targets) == 1)


def test_a_call_in_the_adjoint_that_is_no_pullback_stays() -> None:
    for state, rule in steps(alphas):
        if rule == "pullback_call":
            [step] = alphas.SYSTEM.enabled(state)
            kept = [i for b in step.after.backward.values() for i in b.instructions]
            sums = [i for b in state.adjoint.blocks for i in b.instructions if str(i.callee) == "gadd"]
            assert all(i in kept for i in sums)


def test_what_is_kept_of_a_turn_is_for_the_policy_to_say() -> None:
    last = ((s, rule) for s, rule in steps(alphas) if s.item.function == "pow" and rule.startswith("tape"))
    kept = {state.policy: state.kept for state, _ in last}
    assert dict(kept["stack"]) == {1: ("%1", "%2", "x")}
    assert dict(kept["mixed"]) == {1: ("%2", "%3")}
    assert dict(kept["recompute"]) == {1: ()}


def test_without_a_loop_nothing_is_pushed_and_nothing_popped() -> None:
    for policy in POLICIES:
        found = fired(alphas, alphas.begin(listing(read(BRANCH)), policy))
        assert not found & {"push_turn", "pop_turn", "pop_and_run_turn", "run_to_turn"}


def test_the_tape_holds_what_is_read_and_nothing_else() -> None:
    line = "function f(x, y):\nblock #1:\n  %1 ← {}(x, y)\n  return %1"
    assert of_ssa(alphas.adjoint(read(line.format("mul"))), (2, 3)) == (6, (2, 3))
    assert of_ssa(alphas.adjoint(read(line.format("add"))), (2, 3)) == (5, ZERO)


# planted bugs: a wrong translation is caught by the agreement of the two machines


def phis_of(state: GraphState, target: Label) -> tuple[Phi, ...]:
    return state.function.by_label[target].phis


def exchanged(state: GraphState, edit: Any, owner: int, target: Label, source: Label) -> int:
    """call_of, but each φ node gets its other arm."""
    arms = [state.node(edit, phi.arms[phi.arms[0][0] == source][1]) for phi in phis_of(state, target)]
    return edit.apply(owner, edit.reference(state.blocks[state.item.function, target]), *arms)


def sequential(state: GraphState, edit: Any, owner: int, target: Label, source: Label) -> int:
    """call_of, but each φ node is done before the next is read."""
    now: dict[Operand, Operand] = {}
    for phi in phis_of(state, target):
        now[Name(phi.target)] = now.get(phi.arm(source), phi.arm(source))
    arms = [state.node(edit, operand) for operand in now.values()]
    return edit.apply(owner, edit.reference(state.blocks[state.item.function, target]), *arms)


def graph_differs(text: str, arguments: tuple[Any, ...]) -> bool:
    """Whether the graph of a module does something else than the module."""
    module = read(text)
    try:
        graph = to_graph.to_graph(module)
    except KeyError:  # an arm that does not dominate the jump has no node there
        return True
    return not agree(of_graph(graph, arguments, 10_000), of_ssa(module, arguments, 10_000))


ROTATED = """function f(x, y, n):
block #1:
    %1 ← φ(#0 → x, #2 → %2)
    %2 ← φ(#0 → y, #2 → %1)
    %3 ← φ(#0 → n, #2 → %4)
    %5 ← gt(%3, 0)
    goto #3 if not %5
block #2:
    %4 ← sub(%3, 1)
    goto #1
block #3:
    %6 ← sub(%1, %2)
    return %6"""
CHOICE = """function f(x, y, n):
block #1:
    %1 ← gt(n, 0)
    goto #3 if %1
block #2:
    goto #3
block #3:
    %2 ← φ(#1 → x, #2 → y)
    return %2"""


@pytest.mark.parametrize(("wrong", "text"), [(exchanged, CHOICE), (sequential, ROTATED)])
def test_wrong_phi_nodes_in_a_graph_are_caught(wrong: Any, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not graph_differs(text, (2, 5, 1))
    monkeypatch.setattr(GraphState, "call_of", wrong)
    assert graph_differs(text, (2, 5, 1))


def reversed_arms(state: SsaState, label: Label, target: Label, operands: tuple[Operand, ...]) -> SsaState:
    """going, but what arrives at the first φ node is what is for the last."""
    return GOING(state, label, target, operands[::-1])


GOING = SsaState.going


def ssa_differs(program: Program, arguments: tuple[Any, ...]) -> bool:
    """Whether the SSA form of a program does something else than the program."""
    return not agree(of_ssa(to_ssa(program), arguments, 10_000), of_graph(program, arguments, 10_000))


def test_wrong_phi_nodes_in_ssa_form_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    program = first_order(parsed(EXCHANGE))
    assert not ssa_differs(program, (1, 1.0, 3.0))
    monkeypatch.setattr(SsaState, "going", reversed_arms)
    assert ssa_differs(program, (1, 1.0, 3.0))
