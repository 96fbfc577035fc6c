"""Scalarised tuples: a function that only takes a tuple apart is given its elements, at every call or at none."""

from __future__ import annotations

import pytest
from claims import costly, holds
from hypothesis import given

from checkers.generators import Options, Source, edge_points, points, sources
from checkers.optimizer_audit import audit
from checkers.properties import rewriting
from checkers.verdict import Refuted
from semantics.ir import Program
from semantics.machine import run
from semantics.text import read
from semantics.values import same
from transforms import inline, scalarize
from transforms.failures import keeping
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text
from transforms.pipeline import ORDER, Rounds
from transforms.scalarize import SYSTEM, Shape

CALLS = """
program @f
@f(%x: f64, %y: f64):
  %t = make_tuple(%x, %y)
  %s = {second}
  %p = @g(%t, 1.0)
  %q = @g(%s, 2.0)
  %r = {result}
  return %r
@g(%pair, %c):
  %a = {element}
  %b = mul(%a, %c)
  return %b
"""


def calls(second: str = "make_tuple(%y, %x)", result: str = "sub(%p, %q)", element: str = "getitem(%pair, -1)") -> Program:
    return read(CALLS.format(second=second, result=result, element=element))


# a loop that carries a pair; {whole} is what it does at the end
LOOP = """
program @f
@f(%x: f64, %y: f64):
  %start = make_tuple(%x, %y)
  %r = @loop(%start, 3)
  return %r
@loop(%t, %n):
  %c = gt(%n, 0)
  %s = switch(%c, @more, @done)
  %v = %s()
  return %v
@more():
  %a = getitem(%t, 0)
  %b = getitem(%t, 1)
  %p = mul(%a, %b)
  %next = {turn}
  %m = sub(%n, 1)
  %u = @loop(%next, %m)
  return %u
@done():
  %w = {done}
  return %w
"""
CARRIED = read(LOOP.format(turn="make_tuple(%b, %p)", done="getitem(%t, 1)"))
PASSED_ON = read(LOOP.format(turn="make_tuple(%b, %p)", done="getitem(%t, 0)").replace("%u = @loop(%next", "%u = @loop(%t"))
WHOLE = read(LOOP.format(turn="make_tuple(%b, %p)", done="make_tuple(%t)"))
OPAQUE = read(LOOP.format(turn="switch(%c, %t, %t)", done="getitem(%t, 1)"))

HITS = {
    "two calls": calls(),
    "the length": calls(element="length(%pair)"),
    "a constant index from the end": calls(element="getitem(%pair, -2)"),
    "a loop": CARRIED,
    "a loop that passes it on": PASSED_ON,
}
MISSES = {
    "another length": calls(second="make_tuple(%y, %x, 1.0)"),
    "a length not known": calls(second="switch(True, %t, %t)"),
    "only its length known": calls(second="of_length(%t, 2)"),
    "an index outside": calls(element="getitem(%pair, 2)"),
    "an index not known": calls(element="getitem(%pair, %c)"),
    "kept whole": calls(element="make_tuple(%pair)"),
    "used as a value": calls(result="make_tuple(%p, %q, @g)"),
    "a loop that returns it": WHOLE,
    "a turn that chooses": OPAQUE,
}

RECORDS = """
from dataclasses import dataclass
from typing import NamedTuple
@dataclass(frozen=True)
class Point:
    a: float
    b: float
class Pair(NamedTuple):
    a: float
    b: float
def g(p, n):
    if n > 0:
        return g({made}, n - 1)
    return {taken}
def f(x, y):
    return g({kind}(x, y), 3)
"""


@pytest.mark.parametrize("name", HITS)
def test_a_tuple_that_is_only_taken_apart_is_no_parameter(name: str) -> None:
    assert [step.rule for step in SYSTEM.enabled(HITS[name])] == ["scalar_parameter"]
    assert "%pair" not in str(SYSTEM.run(HITS[name])).replace("%pair0", "").replace("%pair1", "")


@pytest.mark.parametrize("name", MISSES)
def test_any_other_use_or_any_other_argument_keeps_the_tuple(name: str) -> None:
    assert SYSTEM.final(MISSES[name])


@pytest.mark.parametrize("name", HITS)
@pytest.mark.parametrize("point", [(0.5, 2.0), (-0.0, 0.0), (-1.25, 3.0)])
def test_values_and_gradients_are_kept(name: str, point: tuple[float, float]) -> None:
    program = HITS[name]
    holds(rewriting.refines(SYSTEM, program, point))
    holds(rewriting.keeps_bits(SYSTEM.run, gradient_program(program), point))
    if name != "the length":
        holds(rewriting.gradient_commutes(SYSTEM.run, program, point))
    holds(rewriting.measure_decreases(SYSTEM, program))
    holds(rewriting.engines_agree(SYSTEM, program))
    holds(rewriting.every_step_is_well_formed(SYSTEM, program))


@pytest.mark.parametrize(
    ("kind", "made", "taken", "fits"),
    [
        ("Point", "Point(p.b, p.a * p.b)", "p.a - p.b", True),
        ("Pair", "Pair(p.b, p.a * p.b)", "p.a - p[1]", True),
        ("Pair", "(p[1], p[0] * p[1])", "p[0] - p[1]", False),
    ],
)
def test_records_of_one_class_are_taken_apart_like_tuples(kind: str, made: str, taken: str, fits: bool) -> None:
    """Making one is a call of its class, which inlining unfolds."""
    program = inline.SYSTEM.run(parse_text(RECORDS.format(kind=kind, made=made, taken=taken), "f"))
    assert SYSTEM.final(program) is not fits
    after = SYSTEM.run(program)
    assert same(run(after, 0.5, 3.0), run(program, 0.5, 3.0))


def test_constant_tuples_have_constant_elements() -> None:
    text = "program @f\n@f(%x: f64):\n  %r = @g((0.0, -0.0), %x)\n  return %r\n"
    program = read(text + "@g(%t, %y):\n  %a = getitem(%t, 1)\n  %b = mul(%a, %y)\n  return %b")
    assert same(run(SYSTEM.run(program), 2.0), -0.0)
    assert not SYSTEM.final(program)


def test_a_tuple_in_a_tuple_takes_two_steps() -> None:
    nested = read(
        "program @f\n@f(%x: f64):\n  %t = make_tuple(%x, 2.0)\n  %u = make_tuple(%t)\n  %r = @g(%u)\n  return %r\n"
        "@g(%p):\n  %a = getitem(%p, 0)\n  %b = getitem(%a, 0)\n  %c = getitem(%a, 1)\n  %d = mul(%b, %c)\n  return %d"
    )
    recorded = SYSTEM.record(nested)
    assert len(recorded.steps) == 2
    assert "getitem" not in str(recorded.result)


def test_no_turn_of_a_loop_allocates_its_tuple() -> None:
    after = Rounds("rounds", (keeping(SYSTEM), *ORDER)).run(CARRIED)
    assert "make_tuple" not in str(after)
    assert same(run(after, 0.5, 3.0), run(CARRIED, 0.5, 3.0))


# on generated programs

TUPLES = Options(size=3, always=frozenset({"tuple", "definition", "recursion"}))


@costly(2)
@given(source=sources(TUPLES), x=edge_points(2))
def test_t22_evaluation_commutes(source: Source, x: tuple[float, ...]) -> None:
    holds(rewriting.keeps_bits(SYSTEM.run, source.program(), x))


@costly(4)
@given(source=sources(TUPLES), x=points(2))
def test_t23_every_step_refines_and_both_engines_agree(source: Source, x: tuple[float, ...]) -> None:
    program = source.program()
    holds(rewriting.refines(SYSTEM, program, x))
    holds(rewriting.measure_decreases(SYSTEM, program))
    holds(rewriting.engines_agree(SYSTEM, program))
    holds(rewriting.every_step_is_well_formed(SYSTEM, program))


@costly(4)
@given(source=sources(Options(size=1, always=frozenset({"tuple", "definition"}))), x=points(2))
def test_t22_gradients_commute(source: Source, x: tuple[float, ...]) -> None:
    holds(rewriting.gradient_commutes(SYSTEM.run, source.program(), x))


# the audit

QUICK = ("translation validation", "order")


def test_the_audit_finds_no_fault_and_the_rule_fires() -> None:
    report = audit(SYSTEM, examples=(*HITS.values(), *MISSES.values()), skip=QUICK)
    assert [f for f in report.findings if f.kind == "fault"] == []
    assert report.details["rules that never fired"] == []


def test_the_audit_finds_a_caller_that_passes_another_length(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(program: Program, node: int) -> Shape | None:
        return None if scalarize.application(program, node, scalarize.MAKE_TUPLE) is None else Shape(2, None)

    monkeypatch.setattr(scalarize, "shape_of", careless)
    report = audit(SYSTEM, examples=(MISSES["another length"],), skip=(*QUICK, "gradients", "gradients optimized"))
    assert isinstance(report.verdict, Refuted)


def test_the_audit_finds_elements_that_are_taken_from_the_wrong_place(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = scalarize.element_at

    def careless(program: Program, shape: Shape, place: int) -> int | None:
        return None if sound(program, shape, place) is None else 0

    monkeypatch.setattr(scalarize, "element_at", careless)
    report = audit(SYSTEM, examples=(calls(), CARRIED), skip=(*QUICK, "gradients", "gradients optimized"))
    assert isinstance(report.verdict, Refuted)


@pytest.mark.parametrize("count", [10, 100, 1000])
def test_steps_grow_with_the_program_and_no_faster(count: int) -> None:
    """As many functions, each called with a pair."""
    lines = "".join(f"  %t{i} = make_tuple(%v{i - 1}, %x)\n  %v{i} = @g{i}(%t{i})\n" for i in range(1, count + 1))
    graphs = "".join(f"@g{i}(%p{i}):\n  %a{i} = getitem(%p{i}, 0)\n  return %a{i}\n" for i in range(1, count + 1))
    program = read(f"program @f\n@f(%x: f64, %v0: f64):\n{lines}  return %v{count}\n{graphs}")
    recorded = SYSTEM.record(program)
    assert len(recorded.steps) == count
    assert "getitem" not in str(recorded.result)
