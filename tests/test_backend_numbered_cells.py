"""Cells that have the number of their call: which do, what they then need not hold, and that the bits are the reference's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recursive_programs import wanted

import backend
from adjudge.values import to_value
from backend.lowering.scheduling import calls_first
from backend.recursion.families import families
from backend.recursion.family import Family
from backend.recursion.frames import FRAME
from backend.recursion.groups import without_recursion as in_loops
from backend.recursion.program import without_recursion
from backend.stacks import memory as stack_memory
from backend.stacks.layout import laid_out
from backend.stacks.sites import Flows, sites_of
from bench.by_index import TREE
from semantics.ir import Program
from semantics.scope import order_of_need, scopes
from semantics.ssa.reader import read as read_ssa
from semantics.type_language import REAL, ArrayType, type_of
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text
from transforms.pipeline import optimize
from transforms.ssa.to_graph import to_graph

VECTOR = backend.general(ArrayType("f64", (None,)))
TYPES = (VECTOR, REAL, REAL)
LEAVES = tuple(to_value(np.random.default_rng(n).normal(size=n)) for n in (1, 2, 13))
TARGETS = ("python", "cpu", "cuda-sequential")


def in_queues(text: str, wrt: Any, types: tuple[Any, ...]) -> Program:
    """The gradient with its recursions in level order."""
    program = optimize(expand(calling(parse_text(text, "f"), "grad", wrt, types), "ssa"))
    found = without_recursion(program, sums=True, levels=True)
    assert found is not None
    return found


def families_of(program: Program) -> list[Family]:
    flows = Flows(program)
    found = families(program, flows, sites_of(program, flows), False)
    return [*{family.first: family for family in found.values()}.values()]


def numbered(text: str, wrt: Any, types: tuple[Any, ...]) -> list[Family]:
    """The families whose cells have the numbers of calls."""
    return [family for family in families_of(in_queues(text, wrt, types)) if family.places]


def agrees(text: str, wrt: Any, types: tuple[Any, ...], *points: tuple[Any, ...], targets: tuple[str, ...] = TARGETS) -> None:
    program = calling(parse_text(text, "f"), "grad", wrt, types)
    for target in targets:
        compiled = backend.compile(program, types, target)
        for arguments in points:
            assert same(compiled(*arguments), wanted(program, arguments)), (target, arguments)


def test_the_tape_of_a_tree_has_the_numbers_of_calls_and_says_nothing_twice() -> None:
    """Its flag is its kind, its index the argument of the call; the queue has no link to it, and a frame a call and one more."""
    program = in_queues(TREE, 0, TYPES)
    (tape,) = (family for family in families_of(program) if family.places)
    (queue,) = (family for family in families_of(program) if family.first == tape.queue)
    assert queue.placed == 1
    assert len(tape.said) == len(tape.given) == 1
    frames = [len(program.inputs(n)) - 1 for n in program.nodes if program.callee(n) is FRAME]
    assert frames == [4, 4]  # the kind, the frames below, this call, the last of those that it made
    widths = backend.compile(calling(parse_text(TREE, "f"), "grad", 0, TYPES), TYPES, "python").code.widths
    assert sorted(widths) == [2, 3, 3, 4]
    agrees(TREE, (0, 1), TYPES, *((x, 0.6, 0.7) for x in LEAVES))


def test_a_kind_is_tested_once_in_a_straight_line() -> None:
    code = backend.compile(calling(parse_text(TREE, "f"), "grad", 0, TYPES), TYPES, "python").code.alone
    tests = [line for line in code.split("\n") if " == 0:" in line and line.strip().startswith("if i")]
    assert len(tests) == 1, tests  # in the loop of the adjoint


TWO_RECURSIONS = """
import math
def g(x, n):
    if n <= 0:
        return math.sin(x)
    return math.tanh(g(x * 0.5, n - 1) * g(x + 1.0, n - 2) + x)
def f(x: float, n: int):
    return g(x, n) * g(x + 0.25, n + 1)
"""
VECTORS = """
import numpy as np
def g(x, n):
    if n <= 0:
        return np.sum(x * x)
    return np.tanh(g(x * 0.5, n - 1) * g(x + 1.0, n - 2) + x[0])
def f(x, n: int):
    return g(x, n)
"""
THREE = """
import math
def g(x, y, n):
    if n <= 0:
        return x * y
    a = g(x * 0.5, y, n - 1)
    b = g(y, x, n - 2)
    c = g(x, y * 0.5, n - 2)
    return math.tanh(a * c) if n > 2 else a + b * c
def f(x: float, y: float, n: int):
    return g(x, y, n)
"""


@pytest.mark.parametrize(
    ("text", "wrt", "types", "points"),
    [
        (TWO_RECURSIONS, 0, (REAL, type_of(1)), ((0.3, 0), (0.3, 5))),
        (VECTORS, 0, (VECTOR, type_of(1)), ((LEAVES[1], 0), (LEAVES[2], 4))),
        (THREE, (0, 1), (REAL, REAL, type_of(1)), ((0.3, 0.7, 0), (0.3, 0.7, 5))),
    ],
    ids=["entered twice", "arguments that are arrays", "three calls, of which some paths use two"],
)
def test_gradients_of_numbered_cells_have_the_references_bits(text: str, wrt: Any, types: Any, points: Any) -> None:
    assert numbered(text, wrt, types)
    agrees(text, wrt, types, *points)


LEAVING = """function f(x, n):
block #1:
    %1 ← gt(n, 0)
    goto #3 if not %1
block #2:
    %2 ← sub(n, 1)
    %3 ← @f(x, %2)
    %4 ← getitem(%3, 0)
    %5 ← getitem(%3, 1)
    %6 ← @f(x, %2)
    %7 ← getitem(%6, 1)
    %8 ← make_tuple(%4, %5, %7)
    %9 ← make_tuple(%4, %8)
    return %9
block #3:
    %10 ← make_tuple(x, n, n)
    %11 ← make_tuple(x, %10)
    return %11"""


def left_by(text: str) -> list[bool]:
    """Of the families of a function in level order that are no queues and no frames, whether their cells have numbers of calls."""
    found = in_loops(read_ssa(text), levels=True)
    assert "same_call" in str(found)
    return [bool(family.places) for family in families_of(to_graph(found)) if not family.known]


def test_a_tuple_that_every_call_leaves_has_its_number() -> None:
    assert left_by(LEAVING) == [True]
    inside = LEAVING.replace("    %9 ← make_tuple(%4, %8)", "    %12 ← make_tuple(%8, n, n)\n    %9 ← make_tuple(%4, %12)")
    assert left_by(inside) == [True, False]  # what that holds has numbers of its own


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    %1 ← gt(n, 0)", "    %1 ← gt(n, 0)\n    %10 ← make_tuple(x, n, n)"),
        ("make_tuple(%4, %8)", "make_tuple(%8, %4)"),
    ],
    ids=["made before it is known which way the call goes", "in another field"],
)
def test_other_tuples_have_numbers_of_their_own(old: str, new: str) -> None:
    text = LEAVING.replace(old, new)
    if "    %10" in new:
        text = text.replace("block #3:\n    %10 ← make_tuple(x, n, n)\n", "block #3:\n")
    assert text != LEAVING
    assert left_by(text) == [False]


def test_stacks_begin_at_other_lines_of_the_cache() -> None:
    """What lies apart is not a multiple of a page apart, at first and when it has grown."""
    for by in (1, *stack_memory.GROWTH[:2]):
        assert stack_memory.CELLS * by * 8 % 4096


def test_where_arrays_of_cells_are_not_read_nothing_asks_for_their_memory() -> None:
    text = "def kernel(reals, integers):\n    x1 = float(reals[⟦1:s:0⟧])\n    if heap > ⟦1!⟧:\n        return x1"
    (found,), _ = laid_out([text], [1])
    assert "heap > _MAX" in found


def test_a_call_is_known_before_a_cell_that_has_its_number() -> None:
    program = parse_text("def f(x: float, y: float):\n    return (x * x + 1.0, y * y)", "f")
    graph = program.entry
    plan = order_of_need(program, graph, scopes(program).free)
    names = {getattr(program.callee(n), "name", ""): n for n in plan}
    first, second, product = names["add"], names["mul"], program.inputs(names["add"])[1]
    assert plan.index(first) < plan.index(second)
    found = calls_first(program, plan, {first: second})
    assert sorted(found) == sorted(plan)
    assert found.index(second) < found.index(first)
    assert all(found.index(i) < found.index(n) for n in found for i in program.inputs(n) if i in found)
    assert calls_first(program, plan, {second: product}) == plan
