"""Recursion that is no loop, in generated code: values and gradients have every bit of the reference, on every target."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from recursive_programs import BISECTION, RECURSIVE, expressions, wanted

import backend
from adjudge.values import to_value
from backend.boundary import flatten_arguments
from backend.cuda import numba_cuda
from backend.recursion.families import families
from backend.recursion.groups import groups
from backend.recursion.groups import without_recursion as in_loops
from backend.recursion.loops import handed
from backend.recursion.program import without_recursion
from backend.recursion.reads import postponed
from backend.recursion.results import without_unread
from backend.recursion.sums import threaded
from backend.stacks import memory as stack_memory
from backend.stacks.sites import Flows, sites_of
from backend.status import LINKED
from bench.by_index import TREE
from semantics.errors import OutOfFuel
from semantics.ir import Program
from semantics.ssa.form import Module
from semantics.ssa.machine import run as run_ssa
from semantics.ssa.reader import read as read_ssa
from semantics.ssa.wellformed import check
from semantics.type_language import INTEGER, REAL, ArrayType, type_of
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text
from transforms.pipeline import optimize
from transforms.ssa.from_graph import to_ssa

VECTOR = backend.general(ArrayType("f64", (None,)))
LEAVES = tuple(to_value(np.random.default_rng(n).normal(size=n)) for n in (1, 2, 13))


def of(name: str, derivative: str | None) -> tuple[Program, tuple[Any, ...], tuple[tuple[Any, ...], ...]]:
    text, points, wrt = RECURSIVE[name]
    types = tuple(map(type_of, points[0]))
    return calling(parse_text(text, "f"), derivative, wrt or 0, types), types, points


@pytest.mark.parametrize("name", RECURSIVE)
def test_a_value_is_the_references(name: str) -> None:
    program, types, points = of(name, None)
    compiled = backend.compile(program, types, "python")
    for arguments in points:
        assert same(compiled(*arguments), wanted(program, arguments))


@pytest.mark.parametrize("name", [name for name, (_, _, wrt) in RECURSIVE.items() if wrt is not None])
def test_a_gradient_is_the_ssa_adjoints(name: str) -> None:
    program, types, points = of(name, "grad")
    compiled = backend.compile(program, types, "python")
    for arguments in points:
        assert same(compiled(*arguments), wanted(program, arguments))


def test_a_tree_over_an_array_and_its_gradients_run_on_every_target() -> None:
    types = (VECTOR, REAL, REAL)
    for derivative, wrt, targets in (("value", 0, ("python",)), ("grad", (0, 1), ("python", "cpu"))):
        program = calling(parse_text(TREE, "f"), None if derivative == "value" else derivative, wrt, types)
        for target in targets:
            compiled = backend.compile(program, types, target)
            for x in LEAVES:
                assert same(compiled(x, 0.6, 0.7), wanted(program, (x, 0.6, 0.7)))


def test_frames_hold_arrays() -> None:
    for derivative in (None, "grad"):
        program = calling(parse_text(BISECTION, "f"), derivative, 0, (VECTOR,))
        compiled = backend.compile(program, (VECTOR,), "python")
        for x in LEAVES:
            assert same(compiled(x), wanted(program, (x,)))


def test_threads_of_a_gpu_have_stacks_of_their_own() -> None:
    program, types, points = of("two calls", "grad")
    compiled = backend.compile(program, types, "cuda-sequential")
    for found, arguments in zip(compiled.map(points), points, strict=True):
        assert same(found, wanted(program, arguments))
    if not numba_cuda.ptx_available():
        assert ".visible .entry" in backend.run.ptx(program, types)


def test_threads_of_a_block_share_frames_and_arrays() -> None:
    types = (VECTOR, REAL, REAL)
    program = calling(parse_text(TREE, "f"), "grad", (0, 1), types)
    compiled = backend.compile(program, types, "cuda-sequential")
    for reverse in (False, True):
        compiled.kernel.reverse = reverse
        for x in LEAVES:
            assert same(compiled(x, 0.6, 0.7), wanted(program, (x, 0.6, 0.7)))


@st.composite
def recursions(draw: st.DrawFn) -> str:
    """A function that calls itself from one to three times, perhaps only in some turns of a loop."""
    names, lines = ("x", "y"), []
    for k in range(draw(st.integers(1, 3))):
        call = f"g({draw(expressions(names))}, {draw(expressions(names))}, n - {draw(st.integers(1, 3))})"
        lines.append(f"    v{k} = {call}")
        names = (*names, f"v{k}")
    if draw(st.booleans()):
        lines += [
            "    for i in range(2):",
            f"        if n > i + {draw(st.integers(1, 3))}:",
            f"            x = g(x, {names[-1]}, n - 2)",
        ]
    body = "\n".join(lines)
    return f"""import math
def g(x, y, n):
    if n <= 0:
        return {draw(expressions(("x", "y")))}
{body}
    return {draw(expressions(names))}
def f(x: float, n: int):
    return g(x, 0.5, n)
"""


@given(recursions(), st.integers(0, 4), st.booleans())
def test_a_generated_recursion_runs_as_on_the_reference(text: str, n: int, differentiated: bool) -> None:
    types = tuple(map(type_of, (0.5, n)))
    program = calling(parse_text(text, "f"), "grad" if differentiated else None, 0, types)
    compiled = backend.compile(program, types, "python")
    event(f"loops: {compiled.code.source.count('while True')}")
    assert same(compiled(0.7, n), wanted(program, (0.7, n)))


@given(recursions(), st.integers(0, 4))
def test_the_loop_is_the_same_function_before_it_is_code(text: str, n: int) -> None:
    module = to_ssa(parse_text(text, "f"))
    looped = in_loops(module)
    check(looped)
    event(f"recursive: {bool(groups(module))}")
    assert not groups(looped)
    assert same(run_ssa(looped, (0.7, n)), run_ssa(module, (0.7, n)))


# rules that fire, and near misses

CALLS = """function f(p):
block #1:
    %1 ← getitem(p, 0)
    %2 ← getitem(p, 1)
    %3 ← gt(%1, 0)
    goto #3 if not %3
block #2:
    %4 ← make_tuple(0, %2)
    %5 ← @f(%4)
    %6 ← add(%5, %2)
    return %6
block #3:
    return %1"""


def test_a_field_of_a_parameter_is_read_again_after_a_call() -> None:
    module = read_ssa(CALLS)
    after = postponed(module.main)
    assert [i.callee.name for i in after.by_label[2].instructions[:1]] == ["getitem"]  # type: ignore[union-attr]
    assert str(Module((after,), "f")).count("getitem") == 1 + 1 + 1 + 1  # %1 for the test and for block 3, %2 before and after
    assert same(run_ssa(Module((after,), "f"), ((1, 2.5),)), run_ssa(module, ((1, 2.5),)))


def test_a_field_of_what_is_made_here_stays_where_it_is() -> None:
    module = read_ssa(CALLS.replace("getitem(p, 1)", "add(p, 1)").replace("getitem(p, 0)", "mul(p, 2)"))
    assert str(Module((postponed(module.main),), "f")) == str(module)


LOOPS = ("    while n > 0:\n        n = n - 1\n    return x", "    return f(x, n - 1) if n > 0 else x")


def test_a_loop_is_no_recursion() -> None:
    for body in LOOPS:
        assert without_recursion(parse_text(f"def f(x, n):\n{body}", "f")) is None
    assert without_recursion(parse_text("def f(x, n):\n    return x * f(x, n - 1) if n > 0 else x", "f")) is not None


def families_of(program: Program) -> set[int]:
    flows = Flows(program)
    return {len(family.sites) for family in families(program, flows, sites_of(program, flows), False).values()}


def test_the_tapes_of_calls_are_a_family_and_tuples_that_hold_none_are_not() -> None:
    program, _, _ = of("two calls", "grad")
    assert families_of(optimize(expand(program, "ssa"))) == {2}
    program, _, _ = of("tuples", None)
    assert families_of(expand(program)) == set()


# sums that go through a recursion

TWICE = """
import numpy as np
def g(x, i):
    if i <= 0:
        return x[0]
    return x[i] * g(x, i - 1) + g(x, i - 2)
def f(x):
    return g(x, x.shape[0] - 1)
"""


def test_a_sum_of_elements_given_once_goes_through_and_another_does_not() -> None:
    for text, wrt, statuses in ((TREE, (REAL, REAL), {0}), (TWICE, (), {0, LINKED})):
        types, given = (VECTOR, *wrt), (0.6, 0.7)[: len(wrt)]
        program = calling(parse_text(text, "f"), "grad", 0, types)
        compiled = backend.compile(program, types, "python")
        assert "_full(" in compiled.code.alone
        found = {compiled.kernel(*flatten_arguments((x, *given), types), *compiled.memory.given)[-1] for x in LEAVES}
        assert found == statuses
        for x in LEAVES:
            assert same(compiled(x, *given), wanted(program, (x, *given)))


def test_each_element_is_added_where_it_is() -> None:
    """Nothing goes over the whole sensitivity but what gives it out, in the end."""
    program = calling(parse_text(TREE, "f"), "grad", 0, (VECTOR, REAL, REAL))
    code = backend.compile(program, (VECTOR, REAL, REAL), "python").code.alone
    recursions, kernel = code.split("def kernel")
    assert not (over_all := re.compile(r"for \w+ in (range|_apart)\(\w+\.shape\[0\]\)")).search(recursions)
    assert over_all.search(kernel)


def test_a_field_that_is_no_sum_of_all_calls_stays_as_it_is() -> None:
    module = to_ssa(optimize(expand(calling(parse_text(TREE, "f"), "grad", 0, (VECTOR, REAL, REAL)), "ssa")))
    after = threaded(module, "◀tree")
    assert len(after["◀tree"].parameters) == len(module["◀tree"].parameters) + 1  # of x; those of p and q are of products
    assert threaded(module, "▶tree") == module


# results that nothing reads

HALVES = """function f(x, n):
block #1:
    %1 ← @g(x, n)
    %2 ← getitem(%1, 0)
    return %2

function g(x, n):
block #1:
    %1 ← gt(n, 0)
    goto #3 if not %1
block #2:
    %2 ← sub(n, 1)
    %3 ← @g(x, %2)
    %4 ← getitem(%3, 0)
    %5 ← mul(%4, x)
    %6 ← getitem(%3, 1)
    %7 ← mul(%6, %6)
    %8 ← make_tuple(%5, %7)
    return %8
block #3:
    %9 ← make_tuple(x, x)
    return %9"""


def test_a_result_that_only_itself_is_computed_from_is_not_computed() -> None:
    module = read_ssa(HALVES)
    after = without_unread(module, "g", arrays=False)
    assert str(after).count("mul") == 1
    assert same(run_ssa(after, (1.5, 3)), run_ssa(module, (1.5, 3)))


@pytest.mark.parametrize(
    ("old", "new"),
    [("mul(%4, x)", "mul(%4, %6)"), ("getitem(%1, 0)", "length(%1)"), ("mul(%6, %6)", "div(%6, %6)")],
    ids=["read by another", "used as a whole", "it may fail"],
)
def test_a_result_that_is_read_or_may_fail_is_computed(old: str, new: str) -> None:
    module = read_ssa(HALVES.replace(old, new))
    assert without_unread(module, "g", arrays=False) == module


def test_products_of_arrays_may_fail() -> None:
    module = read_ssa(HALVES)
    assert without_unread(module, "g", arrays=True) == module


# budgets


def test_a_recursion_without_end_is_out_of_fuel() -> None:
    program = parse_text("def f(n: int):\n    return 0 if n < 0 else 1 + f(n + 1)", "f")
    compiled = backend.compile(program, None, "python", budget=2000)
    with pytest.raises(OutOfFuel):
        compiled(0)


def test_frames_that_do_not_fit_are_out_of_fuel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_memory, "LIMIT", 1 << 13)
    compiled = backend.compile(parse_text("def f(n: int):\n    return 0 if n == 0 else 1 + f(n - 1)", "f"), None, "python")
    assert compiled(1500) == 1500  # one doubling
    with pytest.raises(OutOfFuel):
        compiled(1 << 13)


def test_frames_are_taken_off_again() -> None:
    """Of 2^n calls, n wait at a time: the memory at the beginning is enough for all of them."""
    program, types, _ = of("fib", None)
    compiled = backend.compile(program, types, "python")
    cells = compiled.memory.cells
    assert compiled(17) == 1597
    assert compiled.memory.cells == cells


# parameters that all calls hand on

BACK_AND_FORTH = """function f(x, y, n):
block #1:
    %1 ← sub(n, 1)
    %2 ← @g(x, %1, y)
    %3 ← add(%2, x)
    return %3

function g(a, m, b):
block #1:
    %1 ← gt(m, 0)
    goto #3 if not %1
block #2:
    %2 ← @f(a, b, m)
    return %2
block #3:
    return b"""


def test_what_functions_hand_on_to_each_other_is_what_the_first_has() -> None:
    module = read_ssa(BACK_AND_FORTH)
    functions = [module.by_name[name] for name in ("f", "g")]
    assert handed(functions) == {("f", "x"): "x", ("f", "y"): "y", ("g", "a"): "x", ("g", "b"): "y"}


@pytest.mark.parametrize("call", ["@f(b, a, m)", "@f(a, m, m)"], ids=["exchanged", "another"])
def test_near_miss_a_parameter_that_one_call_gives_something_else_is_not_handed_on(call: str) -> None:
    module = read_ssa(BACK_AND_FORTH.replace("@f(a, b, m)", call))
    found = handed([module.by_name[name] for name in ("f", "g")])
    assert found == ({("f", "x"): "x", ("g", "a"): "x"} if call == "@f(a, m, m)" else {})


ALTERNATING = """
def f(a, n: int):
    def left(k):
        return 1.0 if k == 0 else a[k] * right(k - 1) + left(k - 1)
    def right(k):
        return 2.0 if k == 0 else a[k] * left(k - 1) - right(k - 1)
    return left(n)
"""


def test_an_array_that_functions_hand_on_to_each_other_is_not_in_their_frames() -> None:
    """Shrunk, from an expansion by minors: frames were taken off again, the memory of their arrays was not."""
    program, x = parse_text(ALTERNATING, "f"), np.linspace(0.5, 1.5, 9)
    compiled = backend.compile(program, (VECTOR, INTEGER), "python")
    words = compiled.memory.words
    for n in (0, 1, 8):
        assert same(compiled(to_value(x), n), wanted(program, (to_value(x), n)))
    assert compiled.memory.words == words
    assert "_keep(" not in compiled.code.source
