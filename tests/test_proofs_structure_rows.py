"""Rows of structure, sensitivities and memory are proved, wrong rules refuted by the machine; no row is without an obligation."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from checkers.verdict import OutOfScope, Proved, Refuted, Vacuous
from proofs.families import by_family
from proofs.part_by_part import Instance
from proofs.part_by_part import judge as judge_instances
from proofs.parts import WrongStructureError, entries, mapped, reals, sensitivities
from proofs.structure_examples import EXAMPLES, LISTS, MEMORY, NO_VALUE, TUPLES
from proofs.structure_rows import judge, judge_row, obligations, rule_of, second_obligations, second_order
from semantics.columns.structure import instantiate
from semantics.memory import Cells
from semantics.primitives.table import MACROS, ROWS, TABLE
from semantics.structured import Record
from semantics.tangents import ZERO, Sparse, gadd
from semantics.text import read


@pytest.mark.parametrize("obligation", obligations(ROWS), ids=lambda o: o.subject)
def test_every_row_is_proved_or_has_no_derivative(obligation: Any) -> None:
    verdict = obligation.judge().verdict
    has_none = obligation.subject in NO_VALUE or TABLE[obligation.subject] in MACROS
    assert isinstance(verdict, OutOfScope if has_none else Proved), verdict


@pytest.mark.parametrize("obligation", second_obligations(ROWS), ids=lambda o: o.subject)
def test_every_row_of_structure_is_proved_at_second_order(obligation: Any) -> None:
    verdict = obligation.judge().verdict
    assert isinstance(verdict, Proved), verdict


def test_no_row_of_the_table_is_without_an_obligation() -> None:
    subjects = {o.subject for found in by_family(()).values() for o in found}
    assert [p.name for p in ROWS if p.name not in subjects] == []


def instance(value: str, cotangent: str) -> Instance:
    """A program of one real x with this value and this cotangent."""
    body = ("%v = " + value, "%d = " + cotangent, "%b = make_tuple(%d)", "%r = make_tuple(%v, %b)", "return %r")
    text = "program @f\n@f(%x, %w):\n" + "\n".join(f"  {line}" for line in body)
    return Instance(read(text), (z3.Real("x"),), z3.Real("w"))


def test_a_program_with_its_pullback_is_judged_by_calculus() -> None:
    assert isinstance(judge_instances("wrong", [instance("mul(%x, %x)", "mul(%w, %x)")], "").verdict, Refuted)
    assert isinstance(judge_instances("right", [instance("mul(%x, 2.0)", "mul(%w, 2.0)")], "").verdict, Proved)
    assert isinstance(judge_instances("two parts", [instance("mul(%x, 2.0)", "make_tuple(%w, %w)")], "").verdict, Refuted)
    assert isinstance(judge_instances("nothing", [], "").verdict, Vacuous)


@pytest.mark.parametrize("name", ["store", "with_field", "concat", "gadd"])
def test_a_contribution_that_j_would_drop_is_seen_at_second_order(name: str) -> None:
    """The planted bug of fan-out, in the pullback that J makes of a rule: a sum is overwritten by its first term."""
    verdicts = []
    for whole in second_order(TABLE[name], EXAMPLES[name]):
        text = re.sub(r"  ; (dead|unreachable)", "", str(whole.program))
        broken = read(re.sub(r"= gadd\((%?[^,()]+), (%?[^,()]+)\)", r"= gadd(\1, ZERO)", text))
        verdicts.append(judge_instances(name, [replace(whole, program=broken)], "").verdict)
    assert any(isinstance(v, Refuted) for v in verdicts)


# wrong rules: (row, what its parameters are called, the body of the rule)
WRONG = {
    "the wrong element": ("getitem", "t i", "%dt = inject(%t, 0, %d)", "%dt, ZERO"),
    "both sides of a switch": ("switch", "c a b", "", "ZERO, %d, %d"),
    "the sides of a switch exchanged": (
        "switch",
        "c a b",
        "%x = switch(%c, ZERO, %d)\n  %y = switch(%c, %d, ZERO)",
        "ZERO, %x, %y",
    ),
    "a sum that forgets an argument": ("gadd", "a b", "", "%d, ZERO"),
    "an overwritten field that flows": (
        "with_field",
        "t n v",
        "%k = field_index(%out, %n)\n  %v2 = getitem(%d, %k)",
        "%d, ZERO, %v2",
    ),
    "a clearing that clears nothing": ("cleared", "e i", "", "%d, ZERO"),
    "the parts of a sequence exchanged": (
        "append",
        "s x",
        "%n = length(%s)\n  %cut = make_slice(None, %n, None)\n  %ds = getitem(%d, %cut)\n  %dx = getitem(%d, 0)",
        "%ds, %dx",
    ),
    "a cotangent that is too long": ("append", "s x", "%n = length(%s)\n  %dx = getitem(%d, %n)", "%d, %dx"),
    "a store that leaves what it overwrites": ("store", "m p v", "%dv = cell(%d, %p)", "%d, ZERO, %dv"),
    "a store that takes nothing": ("store", "m p v", "%dm = cell_cleared(%d, %p)", "%dm, ZERO, ZERO"),
    "a cell that was not there before": ("alloc", "m v", "%e = getitem(%d, 0)", "%e, ZERO"),
    "a look that is forgotten": ("load", "m p", "", "ZERO, ZERO"),
    "a sensitivity of a length": ("length", "t", "%u = make_tuple(1.0, 1.0)", "%u"),
    "a sensitivity of a comparison": ("eq", "x y", "", "1.0, ZERO"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_rule_is_refuted(fault: str) -> None:
    name, parameters, body, result = WRONG[fault]
    given = ", ".join(f"%{x}" for x in (*parameters.split(), "out", "d"))
    text = f"program @p\n@p({given}):\n  {body}\n  %r = make_tuple({result})\n  return %r"
    verdict = judge(TABLE[name], EXAMPLES[name], read(text)).verdict
    assert isinstance(verdict, Refuted), verdict


def test_the_counterexample_is_what_the_machine_answers() -> None:
    rule = read("program @p\n@p(%e, %i, %out, %d):\n  %r = make_tuple(%d, ZERO)\n  return %r")
    found = judge(TABLE["cleared"], EXAMPLES["cleared"], rule).verdict
    assert isinstance(found, Refuted)
    assert found.counterexample.wanted == 0.0 != found.counterexample.found


def test_without_arguments_nothing_is_proved() -> None:
    assert isinstance(judge(TABLE["switch"], []).verdict, Vacuous)


def test_a_macro_has_nothing_to_differentiate() -> None:
    assert isinstance(judge_row(TABLE["grad"]).verdict, OutOfScope)


def test_a_row_of_any_arity_has_a_rule_for_each() -> None:
    rule = rule_of(TABLE["make_tuple"], 3)
    assert len(rule.graphs[rule.entry].parameters) == 5


# values and sensitivities

VALUES = st.sampled_from([*TUPLES, *LISTS, MEMORY, *(arguments[0] for arguments in EXAMPLES["unlabelled"])])


@given(VALUES)
def test_every_representation_of_a_sensitivity_says_the_same_of_a_part_or_nothing(value: Any) -> None:
    found = sensitivities(value)
    assert entries(ZERO, value) == [0] * len(reals(value))
    for d in found[1:]:
        said = entries(d, value)
        assert len(said) == len(reals(value))
        assert all(x is ZERO or z3.is_arith(x) or x == 0 for x in said)


@given(VALUES)
def test_instantiated_sensitivities_have_the_same_entries(value: Any) -> None:
    numbers = mapped(lambda _: 1.0, value)
    for d in sensitivities(value):
        plain = mapped(lambda _: 2.0, d)
        again = entries(instantiate(plain, numbers), numbers)
        assert again == [0.0 if x is ZERO else x for x in entries(plain, numbers)]


def test_a_sensitivity_of_another_value_is_told() -> None:
    x, y = z3.Reals("x y")
    for d, value in (((x,), (x, y)), (Sparse(3, Map()), (x, y)), (x, (x, y)), ((x, x), x), (x, 7), (Cells(Map({9: x})), MEMORY)):
        with pytest.raises(WrongStructureError):
            entries(d, value)


def test_what_adds_up_has_the_entries_of_both() -> None:
    value = TUPLES[2]
    a, b = (mapped(lambda _, v=v: v, sensitivities(value)[1]) for v in (1.0, 2.0))
    assert entries(gadd(a, b), mapped(lambda _: 0.0, value)) == [3.0, 3.0]
    assert isinstance(LISTS[2], Record)
