"""T4, T21, T22, T23 for every pass of the optimizer, on generated and on all small programs; and on passes that are wrong."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest
from claims import costly, holds, judged, refuted
from hypothesis import given
from hypothesis import strategies as st

from checkers.generators import Options, Source, edge_points, exhaustive, points, sources
from checkers.properties import rewriting
from checkers.verdict import OutOfScope, Vacuous
from semantics.edit import Edit
from semantics.ir import Apply, Program
from semantics.primitives.table import TABLE
from semantics.text import read
from transforms.gradient_programs import gradient_program
from transforms.system import RewriteSystem, rewrite

NAMES = ("inline", "cse", "dce", "fold", "simplify", "tuples", "branches")
SYSTEMS: tuple[RewriteSystem, ...] = tuple(import_module(f"transforms.{name}").SYSTEM for name in NAMES)
BITWISE = tuple(s for s in SYSTEMS if s.domain in rewriting.BITWISE)
SYSTEM = pytest.mark.parametrize("system", SYSTEMS, ids=[s.name for s in SYSTEMS])
KEEPS_BITS = pytest.mark.parametrize("system", BITWISE, ids=[s.name for s in BITWISE])
SMALL = Options(size=2)
INLINE = next(s for s in SYSTEMS if s.name == "inline")
CALL = read("program @f\n@f(%x: f64):\n  %a = @g(%x)\n  %b = @g(%a)\n  return %b\n@g(%y):\n  %s = mul(%y, %x)\n  return %s")


@given(sources(Options(size=3)), edge_points(2))
def test_t4_inlining_is_beta(source: Source, x: tuple[float, ...]) -> None:
    holds(rewriting.substitution(source.program(), x))


def test_t4_on_every_small_program() -> None:
    for program in exhaustive(1):
        for x in (0.0, -0.0, 1.5, float("nan")):
            judged(rewriting.substitution(program, (x,)))


@SYSTEM
@costly(4)
@given(source=sources(SMALL), x=points(2))
def test_t21_every_step_refines(system: RewriteSystem, source: Source, x: tuple[float, ...]) -> None:
    holds(rewriting.refines(system, source.program(), x))


@SYSTEM
def test_t21_every_step_refines_on_every_small_program(system: RewriteSystem) -> None:
    for program in exhaustive(1):
        for x in (0.0, -0.0, 1.5, float("inf")):
            holds(rewriting.refines(system, program, (x,)))


@KEEPS_BITS
@costly(2)
@given(source=sources(SMALL), x=edge_points(2))
def test_t22_evaluation_commutes(system: RewriteSystem, source: Source, x: tuple[float, ...]) -> None:
    holds(rewriting.keeps_bits(system.run, source.program(), x))


@SYSTEM
@costly(8)
@given(source=sources(Options(size=1)), x=points(2))
def test_t22_gradients_commute(system: RewriteSystem, source: Source, x: tuple[float, ...]) -> None:
    holds(rewriting.gradient_commutes(system.run, source.program(), x, system in BITWISE))


@SYSTEM
@costly(4)
@given(source=sources(SMALL), seed=st.integers(0, 99))
def test_t23_the_measure_decreases_and_engines_agree(system: RewriteSystem, source: Source, seed: int) -> None:
    program = source.program()
    holds(rewriting.measure_decreases(system, program, seed))
    holds(rewriting.result_is_fixpoint(system, program))
    holds(rewriting.engines_agree(system, program))
    holds(rewriting.every_step_is_well_formed(system, program))


# planted bugs


@rewrite
def add_zero(program: Program, place: int) -> Program | None:
    """x + 0.0  ⟹  x, which loses the sign of -0.0"""
    found = program.nodes.get(place)
    if not isinstance(found, Apply) or program.callee(place) is not TABLE["add"] or program.constant(found.inputs[2]) != 0.0:
        return None
    edit = Edit(program)
    edit.replace(place, found.inputs[1])
    edit.remove(place)
    return edit.program


@rewrite
def swap(program: Program, place: int) -> Program | None:
    """x * y  ⟹  y * x, for ever"""
    found = program.nodes.get(place)
    if not isinstance(found, Apply) or program.callee(place) is not TABLE["mul"]:
        return None
    edit = Edit(program)
    edit.set_inputs(place, (found.inputs[0], found.inputs[2], found.inputs[1]))
    return edit.program


@rewrite
def one_for_sin(program: Program, place: int) -> Program | None:
    """sin(x)  ⟹  1.0, while more than one sin is left: the first one met stays"""
    sines = [n for n in sorted(program.nodes) if n not in program.graphs and program.callee(n) is TABLE["sin"]]
    if place not in sines or len(sines) < 2:
        return None
    edit = Edit(program)
    edit.replace(place, edit.constant(1.0))
    edit.remove(place)
    return edit.program


@rewrite
def dangle(program: Program, place: int) -> Program | None:
    """neg(x)  ⟹  a node of no graph"""
    if program.nodes.get(place) is None or program.callee(place) is not TABLE["neg"]:
        return None
    found = program.nodes[place]
    if not isinstance(found, Apply) or found.graph == 12345:
        return None
    edit = Edit(program)
    edit.nodes = edit.nodes.set(place, replace(found, graph=12345))
    return edit.program


def applications(program: Program) -> tuple[int, ...]:
    return (sum(isinstance(n, Apply) for n in program.nodes.values()),)


ADD_ZERO = RewriteSystem("add_zero", (add_zero,), measure=applications)
PLUS_ZERO = read("program @f\n@f(%x: f64):\n  %y = add(%x, 0.0)\n  %z = mul(%y, %x)\n  return %z")
RECIPROCAL = read("program @f\n@f(%x: f64):\n  %y = add(%x, 0.0)\n  %z = div(1.0, %y)\n  return %z")
TWO_SINES = read("program @f\n@f(%x: f64):\n  %y = sin(%x)\n  %z = sin(%y)\n  return %z")
NEGATION = read("program @f\n@f(%x: f64):\n  %y = neg(%x)\n  return %y")


def test_a_rule_that_loses_a_signed_zero_is_blamed_by_name() -> None:
    judged(rewriting.refines(ADD_ZERO, RECIPROCAL, (1.0,)))
    verdict = refuted(rewriting.refines(ADD_ZERO, RECIPROCAL, (-0.0,)))
    assert verdict.counterexample.note.startswith("step 1: add_zero at %y = add(%x, 0.0)")
    refuted(rewriting.keeps_bits(ADD_ZERO.run, RECIPROCAL, (-0.0,)))


def test_the_same_rule_declared_for_the_reals_is_not_refuted() -> None:
    real = replace(ADD_ZERO, rules=(replace(add_zero, domain="REAL"),), domain="REAL")
    judged(rewriting.refines(real, PLUS_ZERO, (-0.0,)))
    wrong = replace(ADD_ZERO, rules=(replace(one_for_sin, domain="REAL"),))
    refuted(rewriting.refines(wrong, TWO_SINES, (0.5,)))


def test_substitution_finds_an_inliner_that_drops_an_argument() -> None:
    judged(rewriting.substitution(CALL, (1.5,)))
    refuted(rewriting.substitution(CALL, (1.5,), lambda p: read(str(p).replace("@g(%a)", "@g(%x)"))))


def test_gradient_commutes_finds_a_pass_that_keeps_values_and_not_gradients() -> None:
    """x ⟹ the constant that x is at the point: the value stays, the gradient goes."""
    square = read("program @f\n@f(%x: f64):\n  %y = mul(%x, %x)\n  return %y")

    def frozen(program: Program) -> Program:
        return read(str(program).replace("mul(%x, %x)", "mul(%x, 1.5)"))

    judged(rewriting.keeps_bits(frozen, square, (1.5,)))
    refuted(rewriting.gradient_commutes(frozen, square, (1.5,)))


def test_a_measure_that_does_not_decrease_is_found() -> None:
    judged(rewriting.measure_decreases(ADD_ZERO, PLUS_ZERO))
    constant = replace(ADD_ZERO, measure=lambda p: (1,))
    refuted(rewriting.measure_decreases(constant, PLUS_ZERO))
    refuted(rewriting.measure_decreases(RewriteSystem("silent", (add_zero,)), PLUS_ZERO))
    assert isinstance(rewriting.measure_decreases(RewriteSystem("argued", (add_zero,), argument="because"), PLUS_ZERO), OutOfScope)


def test_engines_that_end_in_different_programs_are_found() -> None:
    system = RewriteSystem("racing", (one_for_sin,), argument="a sin less each time")
    judged(rewriting.engines_agree(ADD_ZERO, PLUS_ZERO))
    results = {rewriting.engines_agree(system, TWO_SINES, seed).__class__.__name__ for seed in range(8)}
    assert "Refuted" in results


def test_a_result_that_is_no_fixpoint_is_found() -> None:
    class Lazy(RewriteSystem):
        def run(self, state: Program, *, fuel: int = 0) -> Program:
            return state

    judged(rewriting.result_is_fixpoint(ADD_ZERO, PLUS_ZERO))
    refuted(rewriting.result_is_fixpoint(Lazy("lazy", (add_zero,)), PLUS_ZERO))


def test_a_step_to_an_ill_formed_program_is_found() -> None:
    judged(rewriting.every_step_is_well_formed(ADD_ZERO, PLUS_ZERO))
    refuted(rewriting.every_step_is_well_formed(RewriteSystem("dangling", (dangle,)), NEGATION))


def test_a_pass_without_a_step_is_vacuous_and_a_trap_out_of_scope() -> None:
    assert isinstance(rewriting.refines(ADD_ZERO, NEGATION, (1.0,)), Vacuous)
    trap = read("program @f\n@f(%x: f64):\n  %k = mod(1, 0)\n  return %k")
    assert isinstance(rewriting.keeps_bits(ADD_ZERO.run, trap, (1.0,)), OutOfScope)


def test_the_gradient_of_an_inlined_program_is_the_gradient() -> None:
    judged(rewriting.gradient_commutes(INLINE.run, CALL, (1.5,)))
    assert gradient_program(CALL) != gradient_program(INLINE.run(CALL))
