"""Second derivatives of recursions, compiled: the sensitivity of a tree of tuples is one too, and every bit is the reference's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from claims import costly
from hypothesis import event, given
from hypothesis import strategies as st
from recursive_programs import RECURSIVE
from test_backend_recursion import recursions

import adjudge as aj
import backend
from adjudge.values import to_value
from backend.boundary import flatten_arguments
from backend.lowering.expansion import first_that_fits
from backend.recursion.families import made_apart
from backend.run import Compiled
from backend.stacks.sensitivities import INJECT, with_tuples
from backend.stacks.sites import MAKE_TUPLE
from backend.status import LINKED, SIZES
from semantics.errors import Malformed
from semantics.ir import Program
from semantics.machine import run
from semantics.text import read
from semantics.type_language import INTEGER, REAL, ArrayType, type_of
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text
from transforms.pipeline import optimize

BY_REALS = {
    name: (text, points, wrt[0] if isinstance(wrt, tuple) else wrt)
    for name, (text, points, wrt) in RECURSIVE.items()
    if wrt is not None and type_of(points[0][wrt[0] if isinstance(wrt, tuple) else wrt]) == REAL
}


def second(of: str | Program, wrt: int, types: tuple[Any, ...]) -> Program:
    return calling(parse_text(of, "f") if isinstance(of, str) else of, "hessian", wrt, types)


def compiled(program: Program, types: tuple[Any, ...], target: str = "python") -> tuple[Compiled, Program]:
    """The code, and the expansion that it is of."""
    return first_that_fits(program, "J", lambda one: (backend.compile(one, types, target), one))


@pytest.mark.parametrize("name", sorted(BY_REALS))
def test_the_second_derivative_of_a_recursion_is_the_references_in_every_bit(name: str) -> None:
    text, points, wrt = BY_REALS[name]
    types = tuple(map(type_of, points[0]))
    code, expanded = compiled(second(text, wrt, types), types)
    for arguments in points:
        assert same(code.call(*arguments), run(expanded, *arguments))


def test_near_miss_a_third_derivative_is_refused_and_the_machine_has_it() -> None:
    text, points, wrt = BY_REALS["in a loop of its own"]
    types = tuple(map(type_of, points[0]))
    once = calling(parse_text(text, "f"), "grad", wrt, types)
    tiered = backend.runnable(second(once, wrt, types), types, "python")
    tiered.map(points)
    assert tiered.refusal is not None


TREE = """
import numpy as np
def tree(x, lo, hi):
    if hi - lo == 1:
        return x[lo] ** 2
    mid = (lo + hi) // 2
    return np.tanh(tree(x, lo, mid)) * tree(x, mid, hi)
def f(x):
    return tree(x, 0, x.shape[0])
"""


def test_a_tree_over_an_array_is_too() -> None:
    vector = backend.general(ArrayType("f64", (None,)))
    program = calling(parse_text(TREE, "f"), "hvp", 0, (vector,))
    given = [tuple(to_value(np.random.default_rng(n + k).normal(size=n)) for k in (0, 1)) for n in (1, 2, 5)]
    code, expanded = compiled(program, (vector, vector))
    for arguments in given:
        assert same(code.call(*arguments), run(expanded, *arguments))


def test_so_it_is_when_numba_compiles_it_and_in_the_simulator() -> None:
    text, points, wrt = BY_REALS["power"]
    for target in ("cpu", "cuda-simulator"):
        code, expanded = compiled(second(text, wrt, (REAL, INTEGER)), (REAL, INTEGER), target)
        for arguments in points:
            assert same(code.call(*arguments), run(expanded, *arguments))


@costly(10)
@given(recursions().filter(lambda text: "for " not in text), st.integers(0, 3))
def test_those_of_generated_recursions_are_too(text: str, n: int) -> None:
    event(f"calls: {text.count('g(') - 2}")
    code, expanded = compiled(second(text, 0, (REAL, INTEGER)), (REAL, INTEGER))
    assert same(code.call(0.7, n), run(expanded, 0.7, n))


# sensitivities of trees


def test_what_is_injected_into_any_tuple_is_one_where_some_are_trees() -> None:
    text, points, wrt = BY_REALS["each the other"]
    program = optimize(expand(second(text, wrt, (REAL, INTEGER)), "ssa"))
    after = with_tuples(program)
    assert [n for n in program.nodes if program.callee(n) is INJECT and program.users(n)]
    assert not [n for n in after.nodes if after.callee(n) is INJECT and after.users(n)]
    for arguments in points:
        assert same(run(after, *arguments), run(program, *arguments))


def test_near_miss_a_tuple_that_holds_none_of_its_own_is_no_tree() -> None:
    text = "program @f\n@f(%x: f64):\n  %t = make_tuple(%x, %x)\n  %u = make_tuple(%t, %x)\n  %d = inject(%u, 1, %x)\n"
    program = read(f"{text}  %r = getitem(%d, 1)\n  return %r")
    assert with_tuples(program).canonical == program.canonical


ENDS_ALIKE = """
def g(x, y, n):
    if n <= 0:
        return x
    return x - g(x, (x + x) * 0.5, n - 1)
def f(x, n):
    return g(x, 0.5, n)
"""
ONE_END = """program @f
@f(%x: f64):
  %end = make_tuple(False, ZERO)
  %a = make_tuple(%x, %end)
  %b = make_tuple(%x, {})
  %r = make_tuple(%a, %b)
  return %r"""


def test_two_trees_whose_ends_are_alike_are_apart() -> None:
    """A regression: an end of the tape of g and one of its adjoint's tape were one expression, and so all cells one family."""
    types = (REAL, INTEGER)
    code, expanded = compiled(second(ENDS_ALIKE, 0, types), types)
    for n in (0, 1, 4):
        assert same(code.call(0.7, n), run(expanded, 0.7, n))


def test_a_tuple_that_is_put_into_two_others_is_made_for_each() -> None:
    shared = read(ONE_END.format("%end"))
    after = made_apart(shared)
    assert [len(program.users(program.interned[MAKE_TUPLE])) for program in (shared, after)] == [4, 5]
    assert same(run(after, 2.0), run(shared, 2.0))


def test_near_miss_a_tuple_that_is_put_into_one_stays_the_same() -> None:
    program = read(ONE_END.format("0"))
    assert made_apart(program) is program


# code in which every cell knows the one below


def test_where_that_is_refused_the_machine_runs_what_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text, points, wrt = BY_REALS["two calls"]
    types = tuple(map(type_of, points[0]))
    program = second(text, wrt, types)
    code, expanded = compiled(program, types)
    statuses: list[int] = []
    monkeypatch.setattr(code, "general", lambda: _refused(statuses))
    for _ in range(2):
        row = code.one(flatten_arguments(points[1], types))
        assert row[-1] == SIZES
        assert statuses == [LINKED], "asked once"
    monkeypatch.setattr(Compiled, "replace", lambda self: False)
    assert same(backend.runnable(expanded, types, "python").map([points[1]])[0], run(expanded, *points[1]))


def _refused(statuses: list[int]) -> Compiled:
    statuses.append(LINKED)
    raise Malformed("general recursion", rule="lower/recursion")


def test_a_batch_runs_on_the_machine_what_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Compiled, "replace", lambda self: False)

    def fib(x, k):
        return x if k < 2 else fib(x, k - 1) * fib(x, k - 2)

    gradient = aj.grad(aj.grad(lambda x: fib(x, 4)))
    xs = np.array([0.5, 1.1, 2.0])
    assert aj.vmap(gradient, target="python")(xs).tolist() == [gradient(float(x)) for x in xs]
