"""What lets the optimizer look less: operands that tell whether a rule can match, and kinds that are found in one sweep."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from checkers.generators import Options, Source, sources
from checkers.generators.options import FIRST_ORDER
from semantics.ir import NodeId, Program
from semantics.text import read
from semantics.type_language import REAL, FunctionType
from transforms import pipeline, realness
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.patterns.rule import PatternRule
from transforms.pipeline import Rounds
from transforms.places import CONSTANT, shape_of
from transforms.realness import A_REAL, ANYTHING, kinds
from transforms.simplify import EXACT_RULES, FAST_RULES
from transforms.system import RewriteSystem

RULES: tuple[PatternRule, ...] = (*EXACT_RULES, *FAST_RULES)
SOURCES = sources(Options(features=FIRST_ORDER, size=5))


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_rule_is_tried_where_its_left_side_stands(rule: PatternRule) -> None:
    left = rule.left
    place = left.graphs[left.entry].output
    system = RewriteSystem("one", (rule.rewrite,))
    assert system._candidates(left, place) == system.rules


def test_a_rule_is_not_tried_where_an_operand_is_another() -> None:
    rule = next(r for r in EXACT_RULES if r.name == "x * 1.0 -> x")
    system = RewriteSystem("one", (rule.rewrite,))
    program = read("program @f\n@f(%x: f64, %y: f64):\n  %a = mul(%x, %y)\n  %b = mul(%a, 1.0)\n  return %b")
    a, b = sorted(program.owned[program.entry])
    assert system._candidates(program, a) == ()
    assert system._candidates(program, b) == system.rules
    assert [shape_of(program, n) for n in program.inputs(b)[1:]] == [program.callee(a), CONSTANT]


def without_operands(rounds: Rounds) -> Rounds:
    """The same, each rule tried wherever its head stands."""
    systems = (replace(s, rules=tuple(replace(r, operands=None) for r in s.rules)) for s in rounds.systems)
    return replace(rounds, systems=tuple(systems))


@given(SOURCES)
def test_every_step_is_taken_as_if_all_rules_were_tried(source: Source) -> None:
    program = expand(calling(source.program(), "grad", (0,)), "J")
    steps, others = (r.record(program).steps for r in (pipeline.OPTIMIZE, without_operands(pipeline.OPTIMIZE)))
    event(f"steps of simplify: {any(s.rule.startswith('simplify') for s in steps)}")
    assert [s.rule for s in steps] == [s.rule for s in others]
    assert not steps or str(steps[-1].after) == str(others[-1].after)


def swept(program: Program, node: NodeId) -> int:
    """The kinds of a node by sweeps over everything that it depends on, until nothing changes."""
    equations: dict[NodeId, Any] = {}
    todo = [node]
    while todo:
        current = todo.pop()
        if current not in equations:
            equations[current] = realness._equation(program, current)
            todo += equations[current].sources
    before: dict[NodeId, int] = {}
    values = dict.fromkeys(equations, 0)
    while values != before:
        before = dict(values)
        for n in sorted(equations):
            values[n] |= equations[n].combine([values[s] for s in equations[n].sources])
    return values[node]


@given(SOURCES, st.sampled_from(["J", "ssa"]))
def test_kinds_are_the_least_fixpoint(source: Source, mode: str) -> None:
    program = expand(calling(source.program(), "grad", (0,)), mode)
    for node in list(program.nodes)[:: max(1, len(program.nodes) // 4)]:
        assert kinds(program, node, budget=10**6) == swept(program, node)


LOOP = """program @f
@f(%x: f64, %n: i64):
  %r = @loop(%x, %n, {first})
  return %r
@loop(%a, %k, %b):
  %c = gt(%k, 0)
  %s = switch(%c, @turn, @done)
  %t = %s()
  return %t
@turn():
  %m = mul(%a, %b)
  %j = sub(%k, 1)
  %u = @loop(%m, %j, %a)
  return %u
@done():
  return %a"""


@pytest.mark.parametrize(("first", "real"), [("2.0", True), ("ZERO", False)])
def test_what_a_loop_carries_is_swept_more_than_once(first: str, real: bool) -> None:
    program = read(LOOP.format(first=first))
    place = program.graphs[program.entry].output
    assert (kinds(program, place) == A_REAL) is real
    assert kinds(program, place) == swept(program, place) != ANYTHING


def test_the_hash_of_a_function_that_captures_functions_is_computed_once() -> None:
    type: Any = FunctionType(0, (REAL,))
    for k in range(1, 20_000):
        type = FunctionType(k % 3, (type,))
    assert hash(type) == hash(FunctionType(type.function, type.captured))
    assert hash(type) != hash(type.captured[0])


def test_a_function_type_is_pickled_without_its_hash() -> None:
    type = FunctionType(1, (REAL, FunctionType(2)))
    again = pickle.loads(pickle.dumps(type))
    assert again == type
    assert hash(again) == hash(type)
    assert b"hashed" not in pickle.dumps(type)
