"""The ways in: what a file has to judge, rules together, names of checks, errors, the progress of long audits, pytest items."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from mutants.rewrites import identity

import adjudge as aj
from adjudge.cli.reports import grouped
from adjudge.judged import primitives_in, rewriting_in
from checkers.optimizer_audit import checks, rule_set
from checkers.optimizer_audit.journal import Journal, watched
from checkers.optimizer_audit.rule_set import RuleSet, confluence, ends
from checkers.verdict import Counterexample, Passed, Proved, Refuted, Unknown, Vacuous, exactly
from semantics.errors import Malformed
from transforms.patterns.rule import PatternRule

ROOT = Path(__file__).resolve().parent.parent
QUICK = ("hits", "subsumption", "critical pairs", "gradients", "weakest side condition", "types")
OF_A_PASS = ("translation validation", "order", "recorded and unrecorded", "gradients", "gradients optimized", "types", "cost")


def rules(*texts: str, domain: str = "BITS") -> tuple[PatternRule, ...]:
    return tuple(aj.rule(text, domain=domain) for text in texts)


# rules together


def test_rules_end_together_if_one_order_has_every_left_side_above_its_right() -> None:
    assert isinstance(ends(rules("x * 1.0 -> x", "-(-x) -> x")), Proved)
    verdict = ends(rules("x * 2.0 -> x + x", "x * -y -> -(x * y)"))
    assert isinstance(verdict, Proved)
    assert "mul > " in verdict.by


def test_rules_that_undo_each_other_have_no_order_though_each_has_one() -> None:
    there, back = "x - y -> x + -y", "x + -y -> x - y"
    assert all(isinstance(ends(rules(text)), Proved) for text in (there, back))
    assert isinstance(ends(rules(there, back)), Unknown)


def test_overlaps_that_lead_to_two_programs_are_a_convention_and_those_that_join_are_none() -> None:
    apart = confluence(rules("x + -y -> x - y", "-x + y -> y - x"))
    assert isinstance(apart, Refuted)
    assert apart.kind == "convention"
    assert "1 of" in apart.counterexample.cause
    assert isinstance(confluence(rules("x * 2.0 -> x + x", "-(-x) -> x", "x * -y -> -(x * y)")), Passed)
    assert isinstance(confluence(rules("x * 1.0 -> x", "exp(-0.0 - x) -> exp(-x)")), Vacuous)


def test_a_list_of_rules_is_judged_as_a_pass_too_and_the_bad_rule_is_blamed() -> None:
    report = aj.audit(list(rules("x * 1.0 -> x", "x + 0.0 -> x")), skip=OF_A_PASS)
    assert report.subject == "rules x * 1.0 -> x and 1 more"
    assert any(f.counterexample.cause == "rule x + 0.0 -> x" for f in report.findings if f.kind == "fault")
    assert [e.check for e in report.ledger][:2] == list(checks.OF_SETS)


def test_a_set_claims_the_weakest_of_its_domains() -> None:
    assert RuleSet("r", (*rules("x * 1.0 -> x"), *rules("x - x -> 0.0", domain="REAL"))).domain == "REAL"
    assert RuleSet("r", (*rules("x * 1.0 -> x"), *rules("x + 0.0 -> x", domain="IEEE"))).domain == "IEEE"


# what a file has


def module(**names: object) -> ModuleType:
    made = ModuleType("planted")
    for name, value in names.items():
        setattr(made, name, value)
        if callable(value) and hasattr(value, "__module__") and not isinstance(value, type):
            value.__module__ = "planted"
    return made


def test_a_file_has_rules_systems_annotated_functions_and_its_rules_together() -> None:
    source = "from semantics.ir import Program\ndef known(p: Program) -> Program: return p\ndef helper(p): return p\n"
    planted = ModuleType("planted")
    exec(compile(source, "planted", "exec"), planted.__dict__)
    one, two = rules("x * 1.0 -> x", "-(-x) -> x")
    planted.one, planted.two, planted.number, planted.program_type = one, two, 3, RuleSet
    found = rewriting_in(planted, "planted.py")
    assert list(found) == ["known", "one", "two", "rules of planted.py"]
    assert found["rules of planted.py"].rules == (one, two)
    assert not primitives_in(planted)


def test_a_list_that_has_all_rules_is_the_set() -> None:
    one, two = rules("x * 1.0 -> x", "-(-x) -> x")
    found = rewriting_in(module(one=one, two=two, both=[one, two]), "planted.py")
    assert list(found) == ["one", "two", "both"]
    assert list(rewriting_in(module(one=one), "planted.py")) == ["one"]


# the arguments of audit


def test_a_domain_replaces_the_declared_one() -> None:
    rule = aj.rule("x + 0.0 -> x", domain="IEEE")
    assert aj.audit(rule, skip=QUICK).exit_code == 1
    assert aj.audit(rule, domain="real", skip=QUICK).exit_code == 0
    assert aj.audit("x + 0.0 -> x", domain="BITS", skip=QUICK).exit_code == 1


@pytest.mark.parametrize("skip", ["valeus", ("types", "nothing"), (3,)])
def test_a_check_that_is_none_is_refused_with_the_nearest(skip) -> None:
    with pytest.raises(Malformed, match="no check is called"):
        aj.audit("x * 1.0 -> x", skip=skip)


def test_every_check_that_is_made_has_its_name_in_the_list() -> None:
    folder = ROOT / "checkers" / "optimizer_audit"
    made = {name for file in folder.glob("*.py") for name in re.findall(r'journal\.check\(\s*"([^"]+)"', file.read_text())}
    assert len(made) > 20
    assert made <= checks.CHECKS.keys()
    ledger = {e.check for e in aj.audit(identity, skip=OF_A_PASS).ledger} | {
        e.check for e in aj.audit("x * 1.0 -> x", domain="BITS", skip=QUICK).ledger
    }
    assert {name for name in ledger if "," not in name} <= checks.CHECKS.keys()


def test_examples_may_be_functions() -> None:
    seen = []

    def spy(program):
        seen.append(program)
        return program

    def f(x):
        return x * 3.0

    aj.audit(spy, examples=[f], skip=OF_A_PASS)
    assert seen[0] == aj.parse(f)


def test_a_watcher_is_told_every_check_as_it_begins() -> None:
    told: list[str] = []
    journal = Journal("a", frozenset({"skipped"}))
    with watched(told.append):
        journal.check("one", lambda: [Proved("z3", "a")])
        journal.check("skipped", lambda: [Proved("z3", "a")])
    journal.check("two", lambda: [Proved("z3", "a")])
    assert told == ["one"]


# reports


def test_refutations_by_one_input_are_shown_once_with_what_says_most() -> None:
    short = Counterexample({"x": 1}, 1, 0, note="over the reals")
    full = Counterexample({"x": 1}, 1, 0, note="left, node by node\n  ...")
    other = Counterexample({"x": 2}, 1, 0)
    found = grouped([Refuted(short, "fault", "a"), Refuted(full, "convention", "b"), Refuted(other, "fault", "c")])
    assert found == [(["fault: a", "convention: b"], full), (["fault: c"], other)]


def test_a_program_among_the_inputs_is_shown_under_them_and_fractions_as_fractions() -> None:
    from fractions import Fraction

    shown = Counterexample({"program": "program @f\n\n@f():\n  return 1"}, "a\nb", "c", note="one\ntwo")
    assert shown.place == "by this program"
    assert str(shown).splitlines()[:3] == ["by this program", "    program @f", ""]
    assert "  found\n    a\n    b\n  wanted c" in str(shown)
    assert exactly((Fraction(-3, 4), -0.0)) == "(-3/4, -0.0 (-0x0.0p+0))"


def test_json_has_the_details_and_no_markup(adjudge) -> None:
    code, out, _ = adjudge("audit", "x + 0.0 -> x", "--domain", "ieee", "--json")
    (report,) = json.loads(out)
    assert code == 1
    assert report["details"]["summary"] == "refuted in IEEE-754, proved over the reals"
    assert report["seed"] == 0


RULES = 'import adjudge as aj\n\ndouble = aj.rule("x * 2.0 -> x + x", domain="BITS")\n'

FILES = {
    "exits.py": ("import sys\nsys.exit(3)\n", "SystemExit"),
    "bad_rule.py": (RULES + 'bad = aj.rule("x + y")\n', "has no `->`"),
    "empty.py": ("x = 1\n", "defines no rules"),
    "text.txt": ("x = 1\n", "not a Python file"),
}


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_cannot_be_judged_is_bad_input_with_a_remedy(file: str, adjudge, tmp_path: Path) -> None:
    source, says = FILES[file]
    (tmp_path / file).write_text(source)
    code, _, err = adjudge("audit", str(tmp_path / file))
    assert code == 2
    assert says in err
    assert "Traceback" not in err
    assert "Malformed: Malformed" not in err


@pytest.mark.parametrize(("name", "says"), [("double.x", "no double.x"), ("nope", "one of double"), ("aj", "is a module")])
def test_a_name_that_is_nothing_to_judge_is_bad_input(name: str, says: str, adjudge, tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(RULES)
    code, _, err = adjudge("audit", f"{tmp_path / 'rules.py'}:{name}")
    assert code == 2
    assert says in err


# pytest


def test_pytest_makes_items_of_rules_passes_and_the_set_and_skips_what_is_not_decided(tmp_path: Path) -> None:
    source = RULES + 'never = aj.rule("x / x -> 2.0", when="x > 1 and x < 0")\n'
    source += "from semantics.ir import Program\ndef mine(p: Program) -> Program:\n    return p\n"
    (tmp_path / "rules.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--adjudge", "rules.py", "--collect-only", "-q"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert [line for line in run.stdout.splitlines() if "::" in line] == [
        "rules.py::double",
        "rules.py::never",
        "rules.py::mine",
        "rules.py::rules of rules.py",
    ]


def test_pytest_says_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("x = 1\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--adjudge", "empty.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "defines no primitive, no rule and no pass" in run.stdout
    assert run.returncode == 2
    assert rule_set.__doc__
