"""
Faults planted in the rewrite rules that we ship: none is proved, and each is refuted by an input at which the machine finds the two
sides different, from Python and from the command line. The rules as they are shipped are the controls.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

import adjudge as aj
from checkers.verdict import Proved, Refuted, Verdict
from proofs import judge, prove
from proofs.rewrites import QUICK
from semantics.errors import AdjudgeError
from semantics.machine import run
from semantics.values import same
from transforms.patterns.rule import PatternRule
from transforms.simplify import EXACT_RULES, FAST_RULES

SHIPPED = {rule.name: rule for rule in (*EXACT_RULES, *FAST_RULES)}
# the shipped rule -> the same with a fault, and what it claims
FAULTS: dict[str, tuple[str, str]] = {
    "-x + y -> y - x": ("-x + y -> x - y", "BITS"),  # the operands in another order
    "x / 4.0 -> x * 0.25": ("x / 4.0 -> x * 0.5", "BITS"),  # another constant
    "x - x -> 0.0": ("x - x -> x", "REAL"),  # the wrong operand
    "x / x -> 1.0": ("x / y -> 1.0", "REAL"),  # too general a left side
    "exp(log(x)) -> x": ("log(exp(x)) -> abs(x)", "REAL"),  # the inverse of another branch
    "x: i64 | x % 1 -> 0": ("x: i64 | x % 2 -> 0", "BITS"),  # a special case taken for the rule
    "x / #a / #b -> x / (#a * #b)": ("x / #a / #b -> x / (#a + #b)", "REAL"),  # another operation
    "-(-x) -> x": ("x: f64 | 0.0 - (0.0 - x) -> x", "BITS"),  # right over the reals, and not of -0.0
    "sqrt(x) * sqrt(x) -> x": ("sqrt(x * x) -> x", "REAL"),  # without its condition
}


def value(program: Any, point: Iterable[Any]) -> Any:
    """The value on the machine, or the name of its error."""
    try:
        return run(program, *point)
    except AdjudgeError as error:
        return type(error).__name__


def refuted(found: Iterable[Verdict]) -> list[Refuted]:
    return [v for v in found if isinstance(v, Refuted) and v.kind == "fault"]


def tells_apart(rule: PatternRule, inputs: Iterable[Any]) -> bool:
    """Whether the machine finds the sides different, on integers as they are and on reals as doubles."""
    reals = [name != "i64" for name in rule.variables.values()]
    point = [float(x) if real else x for x, real in zip(inputs, reals, strict=True)]
    return not same(value(rule.left, point), value(rule.right, point))


@pytest.mark.parametrize("shipped", FAULTS)
def test_a_planted_fault_is_refuted_by_an_input_that_the_machine_tells_apart(shipped: str) -> None:
    text, domain = FAULTS[shipped]
    rule = aj.rule(text, domain=domain)
    found = refuted(prove(rule))
    assert found
    assert any(tells_apart(rule, v.counterexample.inputs.values()) for v in found)


@pytest.mark.parametrize("shipped", [name for name in FAULTS if name in SHIPPED])
def test_the_rule_as_it_is_shipped_is_not_refuted(shipped: str) -> None:
    found = [j.verdict for j in judge(SHIPPED[shipped], QUICK)]
    assert refuted(found) == []
    assert any(isinstance(v, Proved) for v in found)


def test_most_faults_are_planted_in_rules_that_we_ship() -> None:
    assert sum(name in SHIPPED for name in FAULTS) >= 6


def test_the_command_line_refutes_them_with_the_input(adjudge, tmp_path) -> None:
    lines = [f"rule_{k} = aj.rule({text!r}, domain={domain!r})" for k, (text, domain) in enumerate(FAULTS.values())]
    file = tmp_path / "planted.py"
    file.write_text("import adjudge as aj\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    code, out, _ = adjudge("prove", str(file))
    assert code == 1
    for k, (text, _) in enumerate(FAULTS.values()):
        assert any(line.startswith(f"rule_{k}: {text} ") and "refuted (fault): at " in line for line in out.splitlines()), text
