"""Recursions in level order: the same function before it is code and after, and what is left depth first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st
from recursive_programs import expressions, wanted

import backend
from adjudge.values import to_value
from backend.recursion import levels
from backend.recursion.calls import ANSWER, CALL, IS, after, answered
from backend.recursion.groups import groups
from backend.recursion.groups import without_recursion as in_loops
from backend.recursion.reads import postponed, taken_apart
from bench.by_index import TREE
from semantics.errors import OutOfFuel
from semantics.ssa.form import Function, Module
from semantics.ssa.machine import run as run_ssa
from semantics.ssa.reader import read as read_ssa
from semantics.ssa.wellformed import check
from semantics.type_language import REAL, ArrayType, type_of
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text
from transforms.pipeline import optimize
from transforms.ssa.from_graph import first_order, to_ssa

VECTOR = backend.general(ArrayType("f64", (None,)))
TYPES = (VECTOR, REAL, REAL)


def gradient(text: str, wrt: Any, types: tuple[Any, ...]) -> Module:
    """The gradient as code of first order, its recursions as they are."""
    return to_ssa(first_order(optimize(expand(calling(parse_text(text, "f"), "grad", wrt, types), "ssa"))))


def ordered(module: Module) -> set[str]:
    """The functions that are in level order."""
    return {f.name for f in module.functions if any(i.callee is IS for b in f.blocks for i in b.instructions)}


def levels_of(module: Module) -> set[str]:
    return ordered(in_loops(module, sums=True, levels=True))


# the rule, and near misses

TWO = """
import math
def g(x, n):
    if n <= 0:
        return math.sin(x)
    a = g(x * 0.5, n - 1)
    b = g(x + 1.0, n - 2)
    return math.tanh(a * b + x)
def f(x: float, n: int):
    return g(x, n)
"""


def test_calls_that_need_no_results_are_in_level_order_forward_and_back() -> None:
    assert levels_of(gradient(TWO, 0, (REAL, type_of(1)))) == {"▶g", "◀g"}
    assert levels_of(gradient(TREE, (0, 1), TYPES)) == {"▶tree", "◀tree"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("g(x + 1.0, n - 2)", "g(x + a, n - 2)"),
        ("    b = g(", "    if a > 0.5:\n        return a\n    b = g("),
        ("    b = g(x + 1.0, n - 2)\n", "    b = x\n"),
        ("    b = g(x + 1.0, n - 2)\n", "    b = x\n    for i in range(2):\n        b = b + g(x, n - 2)\n"),
    ],
    ids=["an argument needs a result", "a branch needs one", "one call", "calls in a loop"],
)
def test_other_calls_are_made_depth_first(old: str, new: str) -> None:
    module = gradient(TWO.replace(old, new), 0, (REAL, type_of(1)))
    assert "▶g" in groups(module)
    assert "▶g" not in levels_of(module)


def test_what_keeps_nothing_for_a_call_keeps_no_queue_of_them() -> None:
    assert levels_of(to_ssa(parse_text(TWO, "f"))) == set()


def test_code_is_not_written_for_more_ways_than_some() -> None:
    lines = "".join(f"    if n > {k}:\n        x = x * 0.5\n" for k in range(6))
    module = gradient(TWO.replace("    a = g(", f"{lines}    a = g("), 0, (REAL, type_of(1)))
    assert "▶g" not in levels_of(module)


def test_sums_of_which_a_call_needs_the_result_are_depth_first() -> None:
    text = """function f(x, s):
block #1:
    %1 ← gt(x, 0)
    goto #3 if not %1
block #2:
    %2 ← getitem(x, 0)
    %3 ← @f(%2, s)
    %4 ← getitem(%3, 0)
    %5 ← getitem(%3, 1)
    %6 ← getitem(x, 1)
    %7 ← @f(%6, %4)
    %8 ← getitem(%7, 0)
    %9 ← add(%8, %5)
    %10 ← make_tuple(%8, %5)
    return %10
block #3:
    %11 ← add(s, x)
    %12 ← make_tuple(%11, x)
    return %12"""
    assert levels.in_levels(function(text), (0,)) is not None
    assert levels.in_levels(function(text.replace("make_tuple(%8,", "make_tuple(%9,")), (0,)) is None


def function(text: str) -> Function:
    found = read_ssa(text).main
    return postponed(taken_apart(found, (found.name,)))


# the same function


@st.composite
def branching(draw: st.DrawFn) -> str:
    """A function that calls itself on either of two ways, perhaps with what a call gave."""
    dependent = draw(st.booleans())
    lines: list[str] = []
    for test in (f"    if n > {draw(st.integers(1, 3))}:", "    else:"):
        names = ("x", "y")
        lines.append(test)
        for k in range(draw(st.integers(0, 3))):
            given = names if dependent else ("x", "y")
            call = f"g({draw(expressions(given))}, {draw(expressions(('x', 'y')))}, n - {draw(st.integers(1, 3))})"
            lines.append(f"        v{k} = {call}")
            names = (*names, f"v{k}")
        lines.append(f"        r = {draw(expressions(names))}")
    body = "\n".join(lines)
    return f"""import math
def g(x, y, n):
    if n <= 0:
        return {draw(expressions(("x", "y")))}
{body}
    return {draw(expressions(("x", "y", "r")))}
def f(x: float, y: float, n: int):
    return g(x, y, n)
"""


NO_CALLS = """import math
def g(x, y, n):
    if n <= 0:
        return x
    if n > 1:
        r = x
    else:
        r = math.tanh(y) + y
    return y * r
def f(x: float, y: float, n: int):
    return g(x, y, n)
"""


@given(branching(), st.integers(0, 4))
@example(NO_CALLS, 1)
def test_a_generated_gradient_in_level_order_has_the_references_bits(text: str, n: int) -> None:
    """Before it is code, and after. Where nothing calls itself, the compiler would take the derivative by J if it were not told."""
    types, arguments = (REAL, REAL, type_of(n)), (0.7, 0.3, n)
    module = gradient(text, (0, 1), types)
    found = in_loops(module, sums=True, levels=True)
    check(found)
    event(f"in level order: {len(ordered(found))} of {len(groups(module))}")
    assert not groups(found)
    value = run_ssa(module, arguments)
    assert same(run_ssa(found, arguments), value)
    program = calling(parse_text(text, "f"), "grad", (0, 1), types)
    assert same(backend.compile(program, types, "python", mode="ssa")(*arguments), value)


def test_sums_at_every_call_are_made_in_their_order() -> None:
    """Numbers that many calls add to, of sizes that tell orders apart; also in a thread of a GPU."""
    text = TWO.replace("math.tanh(a * b + x)", "(a + 1e9 * b) * p + x").replace("f(x: float", "f(x: float, p: float")
    for x in ("x", "x * 0.5", "x + 1.0"):
        text = text.replace(f"g({x}, n", f"g({x}, p, n")
    types = (REAL, REAL, type_of(1))
    program = calling(parse_text(text, "f"), "grad", (0, 1), types)
    for target in ("python", "cuda-sequential"):
        compiled = backend.compile(program, types, target)
        for n in (0, 1, 6):
            assert same(compiled(0.3, 0.1, n), wanted(program, (0.3, 0.1, n)))


# cells


def test_calls_and_answers_are_found_by_their_links() -> None:
    first = (None, None, None, 1)
    second = (first, None, None, 1)
    third = (second, None, None, 2)
    assert after(third, first) is second
    assert after(third, second) is third
    answers = (((first, second, "b"), third, "c"), first, "a")
    assert [answered(answers, q)[2] for q in (first, second, third)] == ["a", "b", "c"]
    assert CALL is not ANSWER


def test_arrays_are_no_answers() -> None:
    """What calls give is kept until all are done, so code in which that is an array is depth first."""
    text = """
import numpy as np
def g(x, n):
    if n <= 0:
        return x * x
    return np.sin(g(x, n - 1)) + g(x, n - 2)
def f(x, n: int):
    return np.sum(g(x, n))
"""
    types = (VECTOR, type_of(1))
    program = calling(parse_text(text, "f"), "grad", 0, types)
    x = to_value(np.array([0.5, 0.25]))
    assert same(backend.compile(program, types, "python")(x, 3), wanted(program, (x, 3)))


def test_calls_without_end_are_out_of_fuel() -> None:
    text = TWO.replace("if n <= 0", "if n == 0")
    types = (REAL, type_of(1))
    compiled = backend.compile(calling(parse_text(text, "f"), "grad", 0, types), types, "python", budget=2000)
    with pytest.raises(OutOfFuel):
        compiled(0.5, -1)
