"""Runs of the optimizer: whole runs are proved by windows, wrong steps are found, and what is not proved says why."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutants.rewrites import RULE_MUTANTS, Rule

from checkers.optimizer_audit.validation import by_terms
from checkers.smt.replay import exact
from checkers.verdict import Proved, Refuted, Vacuous
from proofs.validation import same, validated
from semantics.edit import Edit
from semantics.ir import Program
from semantics.primitives.table import TABLE
from transforms.parse import parse_text
from transforms.patterns.rule import pattern_rule
from transforms.pipeline import OPTIMIZE, optimize
from transforms.system import RewriteSystem


def program(text: str) -> Program:
    return parse_text(text, "f")


def straight_line(n: int) -> str:
    """n statements in a row, and n that are the same."""
    body = "\n".join(f"    {y} = math.sin({y}) * x + {i % 7}.0" for i in range(n // 2) for y in "yz")
    return f"import math\n\ndef f(x):\n    y = x\n    z = x\n{body}\n    return y + z\n"


def functions(n: int) -> str:
    """n functions, each calling the one before."""
    made = ["def f0(x):\n    return x * 2.0\n", *(f"def f{i}(x):\n    return f{i - 1}(x * {i % 7}.5) + 1.0\n" for i in range(1, n))]
    return "\n".join(made) + f"\ndef f(x):\n    return f{n - 1}(x)\n"


def closures(n: int) -> str:
    """n closures, each capturing the one before."""
    made = ["    c0 = lambda y: y * x", *(f"    c{i} = lambda y: c{i - 1}(y) * {i % 7}.5" for i in range(1, n))]
    return "def f(x):\n" + "\n".join(made) + f"\n    return c{n - 1}(x)\n"


def ifs(n: int) -> str:
    """n / 4 conditionals, one after another."""
    body = "\n".join(f"    if y > {i % 7}.0:\n        y = y * x\n    else:\n        y = y + {i % 5}.0" for i in range(n // 4))
    return f"def f(x):\n    y = x\n{body}\n    return y\n"


def loops(n: int) -> str:
    """n / 4 loops, one after another."""
    body = "\n".join(f"    for i in range(3):\n        y = y * x + {i % 7}.0" for i in range(n // 4))
    return f"def f(x):\n    y = x\n{body}\n    return y\n"


def calls(n: int) -> str:
    """n calls of one function; some multiply by one."""
    body = "\n".join(f"    y = g(y, {i % 7}.0)" for i in range(n))
    return f"def g(a, b):\n    return a * b + 1.0\n\ndef f(x):\n    y = x\n{body}\n    return y\n"


@pytest.mark.parametrize("family", [straight_line, functions, closures, ifs, loops], ids=lambda f: f.__name__)
def test_a_whole_run_is_proved_in_few_windows(family: Callable[[int], str]) -> None:
    """However long the program is: what is looked at is what has changed."""
    for n in (20, 60):
        steps = OPTIMIZE.record(program(family(n))).steps
        found = validated(steps).verdict
        assert isinstance(found, Proved), found
        assert f"{len(steps)} steps in 1 windows" in found.by


def test_steps_that_need_a_solver_are_windows_of_their_own() -> None:
    found = validated(OPTIMIZE.record(program(calls(40))).steps).verdict
    assert isinstance(found, Proved)
    assert "z3" in found.by


def test_a_run_without_steps_says_nothing() -> None:
    final = optimize(program("def f(x):\n    return x\n"))
    assert isinstance(validated(OPTIMIZE.record(final).steps).verdict, Vacuous)


BODY = "def f(x: float, y: float):\n    a = x - y\n    b = a * 1.0 + (x - y)\n    return b / (y * y + 2.0)\n"


@pytest.mark.parametrize("text", ["x - y -> y - x", "x / y -> x * y", "x * y -> x", "x + y -> x"])
def test_a_wrong_step_is_found_among_right_ones(text: str) -> None:
    one = program(BODY)
    first = OPTIMIZE.record(one).steps
    start = first[-1].after if first else one
    wrong = RewriteSystem("wrong", (pattern_rule(text, domain="BITS").rewrite,))
    bad = next(iter(wrong.steps_near(start, sorted(start.nodes))))
    found = validated([*first, bad]).verdict
    assert isinstance(found, Refuted), found
    assert text in found.counterexample.cause


def test_several_steps_are_one_term_or_not_shown() -> None:
    one = program(straight_line(20))
    final = optimize(one)
    assert by_terms(one, final).status == "proved"
    edit = Edit(final)
    first, second = [n for n in sorted(final.nodes) if final.callee(n) is TABLE["mul"]][:2]
    edit.replace(second, first)
    assert by_terms(one, edit.program).status == "open"


# two thousand nodes


def test_the_optimizer_on_two_thousand_nodes_is_proved_by_its_map_and_by_sweep() -> None:
    one = program(straight_line(700))
    assert len(one.nodes) > 2000
    recorded = OPTIMIZE.record(one)
    assert isinstance(validated(recorded.steps).verdict, Proved)
    assert isinstance(same(one, recorded.result).verdict, Proved)


# six wrong rules, on generated programs whose values are exact

WRONG = ("x - y -> y - x", "x * y -> x + y", "x / y -> y / x", "x + y -> x", "x * 1.0 -> 1.0", "0.0 * x -> x")
OPERATIONS = ("{u} * {v}", "{u} + {v}", "{u} - {v}", "{u} / (1.0 + {v} * {v})", "{u} * 1.0 + 0.0 * {v}")
POINTS = ((3, 5), (-2, 7), (1, -4))


def generated(choices: list[int]) -> Program:
    """A straight-line program of rational operations, each on two of the last four names."""
    names, lines = ["x", "y"], []
    for k, choice in enumerate(choices):
        recent = names[-4:]
        u, v = recent[choice % len(recent)], recent[choice // 7 % len(recent)]
        lines.append(f"    v{k} = {OPERATIONS[choice % len(OPERATIONS)].format(u=u, v=v)}")
        names.append(f"v{k}")
    return program("\n".join(["def f(x: float, y: float):", *lines, f"    return {' + '.join(names[-3:])}"]))


@given(st.sampled_from(WRONG), st.lists(st.integers(0, 300), min_size=2, max_size=8))
def test_a_wrong_rule_is_refuted_where_it_changes_a_value_and_nowhere_else(text: str, choices: list[int]) -> None:
    """Exact: at every point both values are fractions. Programs that the rule leaves the same function are proved."""
    one = generated(choices)
    system = RewriteSystem("wrong", (pattern_rule(text, domain="REAL").rewrite,))
    other = next((s.after for s in system.steps_near(one, sorted(one.nodes))), one)
    found = same(one, other).verdict
    pairs = [[exact(p, tuple(map(Fraction, point))) for p in (one, other)] for point in POINTS]
    changed = any(isinstance(a, Fraction) and a != b for a, b in pairs)
    assert isinstance(found, Refuted) if changed else isinstance(found, (Proved, Refuted)), found


def test_the_wrong_rules_do_change_values() -> None:
    """The test above cannot pass for want of cases."""
    one = generated([4, 3, 0, 2, 11, 9])
    for text in WRONG:
        system = RewriteSystem("wrong", (pattern_rule(text, domain="REAL").rewrite,))
        others = [s.after for s in itertools.islice(system.steps_near(one, sorted(one.nodes)), 3)]
        assert any(isinstance(same(one, other).verdict, Refuted) for other in others), text


ONLY_ITS_GRADIENT = "slope 2 at 0"
REAL_MUTANTS = [m for m in RULE_MUTANTS if m.domain == "REAL" and ":" not in m.text and "#" not in m.text]


@pytest.mark.parametrize("mutant", REAL_MUTANTS, ids=str)
def test_the_sides_of_a_rule_that_has_been_shipped_wrong_are_not_one_function(mutant: Rule) -> None:
    rule = mutant.made()
    found = same(rule.left, rule.right, condition=rule.condition).verdict
    assert isinstance(found, Proved) == (mutant.wrong == ONLY_ITS_GRADIENT), found
