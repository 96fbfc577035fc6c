"""The optimizer on programs over arrays and records: values and gradients kept, and rules that must not fire on arrays."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from claims import costly, holds, note, refuted
from hypothesis import given
from mutants.arrays import PROGRAMS, A, X, program

from checkers.generators.terms import EVERYTHING, WholeOptions
from checkers.generators.whole import Whole, wholes
from checkers.properties import rewriting
from semantics.arrays import Array
from semantics.edit import Edit
from semantics.errors import IllTyped, Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.text import read
from semantics.values import same
from transforms import cse, dce, fold, inline, simplify, tuples
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text
from transforms.patterns.rule import pattern_rule
from transforms.pipeline import optimize
from transforms.simplify.arithmetic import EXACT_RULES
from transforms.simplify.sensitivities import ZERO_RULES
from transforms.system import RewriteSystem

SYSTEMS = (inline.SYSTEM, cse.SYSTEM, dce.SYSTEM, fold.SYSTEM, simplify.SYSTEM, tuples.SYSTEM)
SYSTEM = pytest.mark.parametrize("system", SYSTEMS, ids=[s.name for s in SYSTEMS])


@given(wholes(WholeOptions(EVERYTHING, size=4)))
def test_t22_optimizing_keeps_every_bit(source: Whole) -> None:
    assert holds(rewriting.keeps_bits(optimize, source.program(), source.arguments))
    for feature in sorted(source.used):
        note(feature)


@costly(2)
@given(wholes(WholeOptions(EVERYTHING, size=2)))
def test_t22_gradients_commute_with_optimizing(source: Whole) -> None:
    holds(rewriting.gradient_commutes(optimize, *source.differentiable()))


@SYSTEM
@costly(4)
@given(source=wholes(WholeOptions(EVERYTHING, always=frozenset({"integers", "where"}), size=2)))
def test_t21_every_step_refines_and_is_well_formed(system: RewriteSystem, source: Whole) -> None:
    holds(rewriting.refines(system, source.program(), source.arguments))
    holds(rewriting.every_step_is_well_formed(system, source.program()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_t23_the_optimized_gradient_is_smaller_and_a_fixpoint(name: str) -> None:
    derivative = gradient_program(program(name), (0, 1))
    found = optimize(derivative)
    assert len(found.nodes) < len(derivative.nodes)
    assert optimize(found) == found
    assert same(run(found, A, X), run(derivative, A, X))


# every rule of simplify on every small value, in a program that speaks of arrays

NUMBERS = {
    "f64": (0.5, -0.0, float("nan"), 2.0),
    "f32": (0.5, -0.0, 2.0, 1.5),
    "i64": (1, 0, -2, 5),
    "bool": (True, False, True, True),
}
ARRAYS = [
    Array(d, s, NUMBERS[d][:n]) for d in NUMBERS for s, n in (((), 1), ((0,), 0), ((2,), 2), ((2, 1), 2), ((1, 2), 2), ((2, 2), 4))
]
SCALARS: list[Any] = [0.5, -0.0, float("nan"), 0, 1, -2, True, False]
VALUES = [*SCALARS, *ARRAYS]
RULES = (*EXACT_RULES, *ZERO_RULES)


def speaking_of_arrays(left: Program) -> Program:
    """The program, its parameters untyped, with an array among its constants."""
    edit = Edit(read(str(left).replace(": f64", "").replace(": i64", "").replace(": bool", "")))
    graph, result = edit.program.entry, edit.program.graphs[edit.program.entry].output
    axes = edit.call(graph, TABLE["ndim"], edit.constant(Array("f64", (1,), (1.0,))))
    edit.output(graph, edit.call(graph, TABLE["make_tuple"], result, axes))
    return edit.program


def outcomes(rule: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The arguments, and what the left side gives before and after the rule had its chance; only where it gives something."""
    before = speaking_of_arrays(rule.left)
    after = RewriteSystem("one", (rule.rewrite,), argument="one rule").run(before)
    for arguments in product(VALUES, repeat=len(rule.variables)):
        try:
            value = run(before, *arguments)
        except (Trap, IllTyped):
            continue
        try:
            found: Any = run(after, *arguments)
        except (Trap, IllTyped) as error:
            found = error
        yield arguments, value, found


@pytest.mark.parametrize("rule", RULES, ids=[r.text for r in RULES])
def test_no_rule_of_simplify_changes_an_array(rule: Any) -> None:
    for arguments, value, found in outcomes(rule):
        assert not isinstance(found, Exception), (arguments, found)
        assert same(value, found), (arguments, value, found)


def test_most_rules_are_tried_on_something() -> None:
    assert sum(any(True for _ in outcomes(rule)) for rule in RULES) >= len(RULES) // 2


def test_a_rule_that_takes_arrays_for_reals_would_be_found() -> None:
    """T22 on x * x: without arrays about it may be x ** 2 of anything; a rule that gives a constant for an array is refuted."""
    wrong = RewriteSystem("wrong", (pattern_rule("x: any | x * 0 -> 0", domain="BITS").rewrite,), argument="removes an application")
    text = parse_text("import numpy as np\ndef f(x):\n    return np.sum(x * 0 + np.array([1.0, 2.0]) * x)\n", "f")
    refuted(rewriting.keeps_bits(wrong.run, text, (Array("f64", (2,), (float("inf"), 1.0)),)))


# regressions


@pytest.mark.parametrize("expression", ["(m * 1) + (m * 1)", "(1 * m) + (1 * m)", "(m * -1) + m * 1", "(-1 * m) * 2"])
def test_times_one_makes_integers_of_a_mask(expression: str) -> None:
    """`x: any | x * 1 -> x` and its kind fired on boolean arrays, whose sum is no sum; `-1 * x -> -x` made a program that traps."""
    found = parse_text(f"import numpy as np\ndef f(x):\n    m = x > 0.0\n    return np.sum(({expression}) * x)\n", "f")
    for x in (X, Array("f64", (2, 2), (1.0, -2.0, 0.0, 3.0))):
        assert same(run(optimize(found), x), run(found, x))


def test_times_one_is_still_removed_from_numbers() -> None:
    found = parse_text("import numpy as np\ndef f(x):\n    return len(x) * 1 + np.sum(x)\n", "f")
    assert found.arrays
    assert not any(optimize(found).callee(n) is TABLE["mul"] for n in found.nodes if n in optimize(found).nodes)


def test_an_array_without_axes_is_not_the_number_in_it() -> None:
    """`x * 1 -> x` and `-(-x) -> x` gave the array where the product is a number."""
    for text in ("x * 1", "-(-x)"):
        found = parse_text(f"import numpy as np\ndef f(x):\n    return ({text}, np.zeros(1))\n", "f")
        x = Array("f64", (), (0.5,))
        assert same(run(optimize(found), x), run(found, x))


def test_an_inner_product_with_nothing_is_nothing() -> None:
    """The kind of `inner` was a real, so `instantiate` was taken for the identity and ZERO left the program."""
    found = read("program @f\n@f(%x: f64):\n  %i = inner(ZERO, %x)\n  %r = instantiate(%i, 1.0)\n  return %r\n")
    assert same(run(found, 2.0), 0.0)
    assert same(run(simplify.SYSTEM.run(found), 2.0), 0.0)
    assert run(found, 2.0) is not ZERO


def test_what_einsum_gives_is_not_taken_for_nothing() -> None:
    """
    Regression, `realness._primitive`: a primitive with a fixed and a variadic parameter was thought to be given the wrong number of
    arguments, so its result had no kind, which every declared kind admits: `a ** 0` of an array became the number 1.
    """
    found = parse_text(
        "import numpy as np\ndef f(x):\n    return np.sum(np.einsum('ij,jk->ik', x, np.array([[1.0], [0.5], [-1.5]])) ** 0)\n", "f"
    )
    zeros = Array("f64", (2, 3), (0.0,) * 6)
    assert run(found, zeros) == run(optimize(found), zeros) == 2.0
