"""Well-formedness of SSA form: every judgment where it objects and where it must not; dominance and loops by brute force."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from types import FrameType
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from ssa_programs import BRANCH, IRREDUCIBLE, NESTED, POW, WRITTEN, modules, shapes

from semantics.errors import Malformed
from semantics.primitives.table import TABLE
from semantics.ssa.dominance import dominators, loops, postdominators, reverse_postorder, successors
from semantics.ssa.form import OUTSIDE, Block, Branch, Function, Goto, Instruction, Label, Literal, Module, Name, Return
from semantics.ssa.text import read
from semantics.ssa.wellformed import check, problems


@pytest.mark.parametrize("name", WRITTEN)
def test_the_modules_written_by_hand_are_well_formed(name: str) -> None:
    assert list(problems(read(WRITTEN[name].text))) == []


@given(modules())
def test_a_function_that_joins_every_variable_is_well_formed(module: Module) -> None:
    assert list(problems(module)) == []


CALL = "function f(x):\nblock #1:\n    y, z ← @g(x)\n    return y\nfunction g(x):\nblock #1:\n    return x, 1"

BROKEN = {
    "a name defined twice": ("single", POW.replace("%5 ← gt", "%3 ← gt").replace("if not %5", "if not %3")),
    "a parameter defined again": ("single", POW.replace("%5", "x")),
    "a name not defined": ("defined", POW.replace("mul(%1, x)", "mul(%1, y)")),
    "a use before the definition": ("dominance", POW.replace("sub(%2, 1)", "sub(%4, 1)")),
    "a definition on one path only": ("dominance", BRANCH.replace("return %3", "return %2")),
    "an arm not defined in its block": ("dominance", BRANCH.replace("#1 → x", "#1 → %2")),
    "an instruction that uses itself": ("dominance", POW.replace("sub(%2, 1)", "sub(%3, 1)")),
    "a φ node of the entry that uses a block of its own from outside": ("dominance", POW.replace("#0 → 1", "#0 → %5")),
    "an arm too few": ("φ", BRANCH.replace("#1 → x, ", "")),
    "an arm too many": ("φ", BRANCH.replace("#1 → x", "#1 → x, #3 → x")),
    "an arm twice": ("φ", BRANCH.replace("#1 → x", "#1 → x, #1 → x")),
    "no arm for the outside": ("φ", POW.replace("#0 → 1, ", "")),
    "a jump to nowhere": ("blocks", POW.replace("goto #1", "goto #7")),
    "a label twice": ("blocks", POW.replace("block #3", "block #1")),
    "a block called #0": ("blocks", BRANCH.replace("#1", "#0")),
    "two arguments for one": ("arity", BRANCH.replace("gt(x, 0)", "neg(x, 0)")),
    "one argument for two": ("arity", BRANCH.replace("gt(x, 0)", "gt(x)")),
    "a record without a label": ("arity", BRANCH.replace("gt(x, 0)", "make_record()")),
    "a call with too many arguments": ("arity", CALL.replace("@g(x)", "@g(x, x)")),
    "three parts of two": ("arity", CALL.replace("y, z", "y, z, w")),
    "a function that is not there": ("callee", CALL.replace("@g(x)", "@h(x)")),
    "an alpha that is called": ("callee", BRANCH.replace("gt(x, 0)", "α%7(x)")),
    "an alpha that is used": ("callee", BRANCH.replace("mul(0.01, x)", "mul(0.01, αx)")),
    "an alpha in a φ node": ("callee", BRANCH.replace("#1 → x", "#1 → αx")),
    "an alpha that decides": ("callee", BRANCH.replace("if %1", "if α%1")),
    "J of a primitive": ("callee", BRANCH.replace("%2 ← mul(0.01, x)", "%2, %4 ← J(mul, 0.01, x)")),
    "two functions of one name": ("functions", CALL.replace("function g", "function f")),
}


@pytest.mark.parametrize("bug", BROKEN)
def test_a_planted_bug_is_refused_by_the_judgment_that_it_violates(bug: str) -> None:
    judgment, text = BROKEN[bug]
    with pytest.raises(Malformed) as refused:
        check(read(text))
    assert refused.value.rule == judgment
    assert refused.value.location is not None
    assert refused.value.node


NEAR_MISSES = {
    "two parts of two": CALL,
    "one target for two parts": CALL.replace("y, z", "y"),
    "several parts of one value": CALL.replace("return x, 1", "return x"),
    "parts that are dropped": CALL.replace("y, z", "y, _"),
    "any number of arguments": BRANCH.replace("gt(x, 0)", "gt(x, 0)\n    %8 ← make_tuple()\n    %9 ← make_tuple(x, x, x)"),
    "a φ node that uses another of its block": POW.replace("#2 → %4", "#2 → %2"),
    "a name that dominates from far above": NESTED.replace("t' ← add(t, %2)", "t' ← add(t, %1)"),
    "a block that cannot be reached": POW
    + "\nblock #4:\n    %7 ← add(%8, 1)\n    %8 ← add(%7, 1)\n    goto #4".replace("%7, 1", "2, 1"),
}


@pytest.mark.parametrize("case", NEAR_MISSES)
def test_a_near_miss_is_well_formed(case: str) -> None:
    judgments = {problem.judgment for problem in problems(read(NEAR_MISSES[case]))}
    assert judgments <= ({"dominance"} if "cannot be reached" in case else set())


def test_alphas_and_j_are_let_through_in_listings() -> None:
    for bug, (judgment, text) in BROKEN.items():
        if judgment == "callee" and "not there" not in bug:
            check(read(text), alphas=True)


def test_what_only_a_program_can_make_is_refused_too() -> None:
    def module(*blocks: Block, hidden: int = 0, entry: str = "f") -> Module:
        return Module((Function("f", (), blocks, hidden),), entry)

    end = Return((Literal(1),))
    cases = {
        "no block": ("blocks", module()),
        "hidden parameters that are not there": ("blocks", module(Block(1, (), (), end), hidden=1)),
        "an entry that is not there": ("functions", module(Block(1, (), (), end), entry="g")),
        "no target": ("single", module(Block(1, (), (Instruction((), TABLE["make_tuple"], ()),), end))),
        "a primitive as a value": ("constants", module(Block(1, (), (), Return((Literal(TABLE["sin"]),))))),
    }
    for judgment, broken in cases.values():
        assert judgment in {problem.judgment for problem in problems(broken)}


# dominance


def reachable(function: Function, without: Label | None = None) -> set[Label]:
    """The blocks that the entry leads to by paths that do not go through `without`."""
    seen: set[Label] = set()
    todo = [function.entry]
    while todo:
        label = todo.pop()
        if label not in seen and label != without:
            seen.add(label)
            todo += function.by_label[label].successors
    return seen


@given(shapes())
def test_a_block_dominates_those_that_cannot_be_reached_without_it(function: Function) -> None:
    tree, labels = dominators(function), reachable(function)
    for a in labels:
        beyond = labels - reachable(function, a)
        assert {b for b in labels if tree.dominates(a, b)} == beyond
    assert all(tree.dominates(OUTSIDE, label) for label in labels)


@given(shapes())
def test_the_immediate_dominator_is_the_closest_of_the_strict_ones(function: Function) -> None:
    tree = dominators(function)
    for label, parent in tree.immediate.items():
        strict = {a for a in tree.immediate if a != label and tree.dominates(a, label)}
        assert all(tree.dominates(a, parent) for a in strict)
        assert parent in (strict or {OUTSIDE})


@given(shapes())
def test_a_block_postdominates_those_that_cannot_return_without_it(function: Function) -> None:
    tree = postdominators(function)

    def returning(without: Label | None = None) -> set[Label]:
        found = {b.label for b in function.blocks if not b.successors and b.label != without}
        while more := {b.label for b in function.blocks if set(b.successors) & found} - found - {without}:
            found |= more
        return found

    assert set(tree.immediate) == returning()
    for a in returning():
        assert {b for b in returning() if tree.dominates(a, b)} == returning() - returning(a)


@given(shapes())
def test_reverse_postorder_lists_each_block_before_those_that_it_dominates(function: Function) -> None:
    order, tree = reverse_postorder(function), dominators(function)
    assert set(order) == reachable(function)
    assert all(order.index(a) <= order.index(b) for a in order for b in order if tree.dominates(a, b))


# loops


def cyclic(edges: Iterable[tuple[Label, Label]]) -> bool:
    """Whether a graph has a cycle: what is left after sources without predecessors are taken away again and again."""
    rest = set(edges)
    while loose := {(a, b) for a, b in rest if a not in {target for _, target in rest}}:
        rest -= loose
    return bool(rest)


@given(shapes())
def test_a_function_is_reducible_if_every_cycle_goes_back_to_a_dominator(function: Function) -> None:
    tree = dominators(function)
    edges = {(a, b) for a, targets in successors(function).items() for b in targets}
    reducible = not cyclic(edge for edge in edges if not tree.dominates(edge[1], edge[0]))
    found = loops(function)
    event("reducible" if reducible else "irreducible")
    assert reducible == (not any(loop.irreducible for loop in found.by_header.values()))
    if reducible:
        for header, loop in found.by_header.items():
            assert set(loop.latches) == {a for a, b in edges if b == header and tree.dominates(header, a)}
            assert found.body(header) == natural_loop(function, header, loop.latches)
            around = [h for h in found.by_header if h != header and header in found.body(h)]
            assert loop.parent == min(around, key=lambda h: len(found.body(h)), default=None)


def natural_loop(function: Function, header: Label, latches: Iterable[Label]) -> set[Label]:
    """The header, and what leads to a latch without going through it."""
    found, todo = {header}, list(latches)
    while todo:
        label = todo.pop()
        if label not in found:
            found.add(label)
            todo += [p for p in function.predecessors[label] if p != OUTSIDE]
    return found


def test_the_loops_of_a_loop_in_a_loop() -> None:
    found = loops(read(NESTED).main)
    assert {h: (loop.parent, loop.latches) for h, loop in found.by_header.items()} == {1: (None, (5,)), 3: (1, (4,))}
    assert found.body(1) == {1, 2, 3, 4, 5}
    assert found.body(3) == {3, 4}
    assert [loop.header for loop in found.around(4)] == [3, 1]
    assert found.innermost == {1: 1, 2: 1, 3: 3, 4: 3, 5: 1, 6: None}


def test_a_loop_with_two_entries_is_irreducible() -> None:
    (loop,) = loops(read(IRREDUCIBLE).main).by_header.values()
    assert loop.irreducible
    assert loops(read(IRREDUCIBLE).main).body(loop.header) == {2, 3}


def ladder(n: int) -> Module:
    """n tests, each of which may end the function, in a return block that all lead to; in a loop."""
    test = Instruction(("c",), TABLE["make_tuple"], ())
    blocks = [Block(1, (), (test,), Goto(2))]
    blocks += [Block(k, (), (), Branch(Name("c"), n + 2, k + 1)) for k in range(2, n + 1)]
    blocks += [Block(n + 1, (), (), Goto(2)), Block(n + 2, (), (), Return((Name("c"),)))]
    return Module((Function("f", (), tuple(blocks)),), "f")


def nest(n: int) -> Module:
    """n loops, each in the one before."""
    test = Instruction(("c",), TABLE["make_tuple"], ())
    blocks = [Block(1, (), (test,), Goto(2))]
    blocks += [Block(k, (), (), Goto(k + 1)) for k in range(2, n + 2)]
    blocks += [Block(n + k, (), (), Branch(Name("c"), n + 3 - k, n + k + 1)) for k in range(2, n + 2)]
    blocks += [Block(2 * n + 2, (), (), Return((Name("c"),)))]
    return Module((Function("f", (), tuple(blocks)),), "f")


def lines_run(action: Callable[[], object]) -> int:
    """How many lines of Python an action runs: a measure of its cost that is the same every time."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "judge", [check, lambda m: loops(m.main), lambda m: postdominators(m.main)], ids=["check", "loops", "post"]
)
@pytest.mark.parametrize("family", [ladder, nest])
def test_the_cost_of_judging_grows_as_the_blocks_do(family: Callable[[int], Module], judge: Callable[[Module], object]) -> None:
    """Four times the blocks cost less than five times as much; a quadratic cost would be sixteen."""
    small, large = (lines_run(partial(judge, family(n))) for n in (200, 800))
    assert large < 5 * small


@given(st.data())
def test_every_block_of_a_loop_is_dominated_by_its_header_unless_it_is_irreducible(data: st.DataObject) -> None:
    function = data.draw(shapes())
    tree, found = dominators(function), loops(function)
    for header, loop in found.by_header.items():
        dominated = all(tree.dominates(header, label) for label in found.body(header))
        assert dominated == (not loop.irreducible)
