"""Generated programs are what they promise: in the subset, moderate, terminating, and of every feature; so are the inputs."""

from __future__ import annotations

import ast
import math

import pytest
from claims import note
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from checkers.generators import (
    EVERYTHING,
    FEATURES,
    Options,
    Source,
    edge_points,
    exhaustive,
    graphs,
    points,
    sources,
    unreachable_mutants,
)
from checkers.generators.functions import unary
from checkers.generators.mutation import entered
from checkers.generators.writer import LIMIT, Variable, Writer
from semantics.errors import Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.text import read
from semantics.values import same
from semantics.wellformed import check

IRRATIONAL = {"math"}


@given(sources(), points(2))
def test_every_source_is_python_that_returns_a_moderate_real(source: Source, x: tuple[float, ...]) -> None:
    value = source.python()(*x)
    note(f"{len(source.used)} features")
    assert isinstance(value, float)
    assert abs(value) <= LIMIT * (1 + 1e-9)  # the bound is on reals; a few hundred roundings of 2^-53 are less than 1e-9


PASSED = frozenset({"definition", "defaults", "higher_order", "functions_in_tuples"})


@given(sources(Options(features=PASSED, always=PASSED, size=3)), points(2))
def test_programs_that_pass_functions_with_defaults_have_the_value_of_cpython(source: Source, x: tuple[float, ...]) -> None:
    assert same(run(source.program(), *x), source.python()(*x))


def test_a_function_is_passed_as_what_takes_its_required_arguments() -> None:
    """One whose only parameter has a default was passed to what calls it with an argument; as a value it takes none."""
    w = Writer(lambda _: 0, Options(), PASSED)
    for name, size, defaults in (("f", 1, 0), ("g", 1, 1), ("h", 2, 0), ("k", 2, 1)):
        w.declare(Variable(name, "function", size=size, defaults=defaults))
    assert unary(w) == ["f", "k"]


@given(sources(Options(rational_only=True)))
def test_a_rational_source_mentions_no_module_and_no_real_power(source: Source) -> None:
    names = {n.id for n in ast.walk(ast.parse(source.text)) if isinstance(n, ast.Name)}
    assert not names & IRRATIONAL


@given(sources(Options(smooth=True)))
def test_a_smooth_source_has_no_kink_and_compares_only_integers(source: Source) -> None:
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("abs", "min", "max")
        if isinstance(node, ast.Compare):
            assert not any(isinstance(n, ast.Constant) and isinstance(n.value, float) for n in ast.walk(node))


@given(sources(Options(features=EVERYTHING, size=10)))
def test_no_captured_name_is_assigned_twice(source: Source) -> None:
    tree = ast.parse(source.text)
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            continue
        stored: dict[str, int] = {}
        inner = [n for n in ast.walk(function) if isinstance(n, (ast.FunctionDef, ast.Lambda)) and n is not function]
        inside = {id(m) for n in inner for m in ast.walk(n)}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in inside:
                stored[node.id] = stored.get(node.id, 0) + 1
        captured = {m.id for n in inner for m in ast.walk(n) if isinstance(m, ast.Name) and isinstance(m.ctx, ast.Load)}
        assert not {n for n, times in stored.items() if times > 1} & captured


@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature_is_generated(feature: str) -> None:
    quiet = settings(
        max_examples=2000, database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate]
    )
    options = Options(features=EVERYTHING, always=frozenset({feature, "branch", "definition", "range"}), size=6)
    found = find(sources(options), lambda s: feature in s.used, settings=quiet)
    assert feature in found.used


@given(graphs(size=8), edge_points(2))
def test_every_drawn_graph_is_well_formed_and_ends(program: Program, x: tuple[float, ...]) -> None:
    check(program)
    assert isinstance(run(program, *x), float)


def test_small_programs_are_all_there_and_all_different() -> None:
    assert len(list(exhaustive(1))) == 3 + 69
    assert len(set(exhaustive(1))) == len(list(exhaustive(1)))
    conditional = read(
        "program @f\n@f(%x: f64):\n  %c = eq(%x, 0.0)\n  %t = switch(%c, @a, @b)\n  %r = %t()\n  return %r\n"
        "@a():\n  return 0.0\n@b():\n  return %x"
    )
    assert conditional in set(exhaustive(1))


def test_small_programs_are_well_formed() -> None:
    for program in exhaustive(2):
        if len(program.nodes) % 7 == 0:
            check(program)


@given(points(3))
def test_points_are_exact_in_a_few_bits(x: tuple[float, ...]) -> None:
    assert all((64 * v).is_integer() and abs(v) <= 4 for v in x)


def test_edge_points_reach_zeros_infinities_and_nan() -> None:
    for wanted in (lambda v: v == 0 and math.copysign(1, v) < 0, math.isinf, math.isnan, lambda v: 0 < abs(v) < 1e-300):
        assert find(edge_points(1), lambda x, w=wanted: w(x[0]), settings=settings(database=None, max_examples=5000))


@given(graphs(size=5), points(2), st.data())
def test_mutants_differ_from_the_program_and_only_where_the_run_does_not_go(
    program: Program, x: tuple[float, ...], data: st.DataObject
) -> None:
    seen = entered(program, x)
    mutants = list(unreachable_mutants(program, x))
    note(f"{min(len(mutants), 5)} mutants")
    for _, mutant in mutants:
        check(mutant)
        assert all(mutant.graphs[g].output == program.graphs[g].output for g in seen)


def test_a_mutant_of_a_branch_that_is_taken_would_change_the_value() -> None:
    program = read(
        "program @f\n@f(%x: f64):\n  %c = lt(%x, 0.0)\n  %t = switch(%c, @a, @b)\n  %r = %t()\n  return %r\n"
        "@a():\n  %s = sin(%x)\n  return %s\n@b():\n  return %x"
    )
    at_two = [m for _, m in unreachable_mutants(program, (2.0,))]
    assert len(at_two) == 3
    assert all(same(run(m, 2.0), 2.0) for m in at_two)
    assert not any(same(run(m, -2.0), run(program, -2.0)) for m in at_two)


def test_an_endless_run_does_not_hang_the_mutator() -> None:
    endless = read("program @f\n@f(%x):\n  %y = @f(%x)\n  return %y")
    assert entered(endless, (1.0,), fuel=100) == frozenset({endless.entry})


def test_a_trap_is_passed_on() -> None:
    with pytest.raises(Trap):
        entered(read("program @f\n@f(%x):\n  %y = floordiv(1, 0)\n  return %y"), (1.0,))
