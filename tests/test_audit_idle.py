"""A pass that changes none of the programs it is judged on is not judged sound; one that raises is told at its own line."""

from __future__ import annotations

import math
from pathlib import Path

import adjudge as aj
from checkers.optimizer_audit.subjects import as_pass
from checkers.optimizer_audit.trigger_formulas import formulas
from checkers.verdict import Passed, Report, Unknown, Vacuous
from semantics.edit import Edit
from semantics.ir import Program
from semantics.primitives import TABLE

CHEAP = ["gradients", "gradients optimized", "translation validation"]


def nothing(program: Program) -> Program:
    return program


def roots(program: Program) -> Program:
    """cbrt(x) => sqrt(x), of which the programs that are tried have none: wrong, and only an example tells."""
    edit = Edit(program)
    for node in program.nodes:
        if program.callee(node) is TABLE["cbrt"]:
            edit.set_inputs(node, (edit.constant(TABLE["sqrt"]), *program.inputs(node)[1:]))
    return edit.program


def halves(program: Program) -> Program:
    """x ** 0.5 => sqrt(x), which differs at -0.0 and at minus infinity."""
    edit = Edit(program)
    for node in program.nodes:
        if program.callee(node) is TABLE["pow"] and program.constant(program.inputs(node)[2]) == 0.5:
            edit.set_inputs(node, (edit.constant(TABLE["sqrt"]), program.inputs(node)[1]))
    return edit.program


def cubic(x):  # type: ignore[no-untyped-def]
    return math.cbrt(x)


def raising(program: Program) -> Program:
    raise KeyError("oops")


def test_what_changes_nothing_is_vacuous_and_no_success() -> None:
    report = aj.audit(nothing)
    assert report.exit_code == 3
    assert isinstance(report.verdict, Vacuous)
    assert "changed none of" in str(report.verdict)


def test_an_example_that_it_changes_tells() -> None:
    assert aj.audit(roots, skip=CHEAP).exit_code == 3
    report = aj.audit(roots, examples=[cubic], skip=CHEAP)
    assert report.exit_code == 1
    assert report.findings[0].claim == "values are kept bit for bit"


def test_a_root_that_stands_for_a_power_is_told_by_the_sign_of_zero() -> None:
    fault = aj.audit(halves, skip=CHEAP).findings[0]
    assert fault.claim == "values are kept bit for bit"
    assert {name: repr(value) for name, value in fault.counterexample.inputs.items()} == {"x": "-0.0"}


def test_every_formula_is_a_function_of_what_it_reads() -> None:
    for trigger in formulas():
        entry = trigger.program.graphs[trigger.program.entry]
        assert all(trigger.program.uses[p] for p in entry.parameters), trigger.name
    assert len({t.name for t in formulas()}) == len(formulas()) > 100


def test_what_a_pass_raises_is_told_with_its_line() -> None:
    broken = as_pass(raising, None)(formulas()[0].program)
    line = raising.__code__.co_firstlineno + 1
    assert str(broken).count(f"it raised KeyError: 'oops' ({Path(__file__).name}:{line})") == 1


def test_unknown_is_graver_than_vacuous_and_both_yield_to_what_is_decided() -> None:
    vacuous, unknown = Vacuous("true of nothing", "a"), Unknown("no answer", "b")
    assert Report("s", (vacuous, unknown), (), 0).verdict is unknown
    assert Report("s", (vacuous,), (), 0).verdict is vacuous
    assert isinstance(Report("s", (vacuous, Passed(1, "runs", "c")), (), 0).verdict, Passed)
