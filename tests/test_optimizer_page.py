"""docs/optimizer.md is true: every rule and pass that we ship is in it, its rows are what our judge says; in `deep`, all rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from claims import examples

from checkers.optimizer_audit.harvest import WRITTEN
from checkers.optimizer_audit.page import HEAD, SECTIONS, page
from checkers.optimizer_audit.shipped import EXACT, FAST, PASS, SENSITIVITY, STRUCTURE, Row, Shipped, row, shipped
from checkers.optimizer_audit.shipped import examples as examples_of
from checkers.verdict import Counterexample, Passed, Proved, Refuted, Report, Vacuous
from transforms.patterns.rule import pattern_rule
from transforms.pipeline import OPTIMIZE, OPTIMIZE_FAST, PASSES
from transforms.simplify import FAST_RULES, SYSTEM

PAGE = Path(__file__).resolve().parent.parent / "docs" / "optimizer.md"
TEXT = PAGE.read_text()
SHIPPED = list(shipped())
EVERY = 16  # in the profiles that are not deep, one row of a rule in so many is made anew, and none of a pass, which takes long
CHEAP = [s for s in SHIPPED if s.section in (EXACT, SENSITIVITY, FAST)]
AGAIN = SHIPPED if examples() > 1000 else CHEAP[7::EVERY]


def written(section: str) -> list[str]:
    """The rows of a section of the page."""
    title, _ = SECTIONS[section]
    _, _, part = TEXT.partition(f"\n## {title}\n")
    lines = [line for line in part.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    return lines[1:]


def test_every_rule_and_pass_is_in_the_page_once() -> None:
    counts = Counter(s.section for s in SHIPPED)
    assert {section: len(written(section)) for section in SECTIONS} == dict(counts)
    assert counts[PASS] == len(PASSES)
    assert TEXT.startswith(HEAD)
    names = [str(s) for s in SHIPPED if s.section != PASS]
    assert len(names) == len(set(names)) > 160


@pytest.mark.parametrize("one", AGAIN, ids=str)
def test_a_row_is_what_the_judge_says(one: Shipped) -> None:
    found = row(one)
    assert not found.fault, found.fault
    assert str(found) in written(one.section)


def test_nothing_that_we_ship_differs_but_rules_under_fast_in_ieee() -> None:
    for section in (EXACT, SENSITIVITY, STRUCTURE, PASS):
        for line in written(section):
            assert "differs" not in line, line
            assert "not decided" not in line, line
    assert any("differs at `x = -0.0`" in line for line in written(FAST))
    assert all("| proved |" in line for line in written(FAST))


DEAD = {"dead_node", "dead_graphs", "unreferenced"}
"""Rules that remove what nothing uses; it is no part of a program, so no program is changed."""


def test_every_rule_has_a_program_that_it_changes_but_those_about_what_is_dead() -> None:
    lines = {line.split("|")[2].strip(" `"): line for line in written(STRUCTURE)}
    assert {name for name, line in lines.items() if "| nothing to try | nothing to try | nothing to try |" in line} == DEAD
    assert not [name for name, line in lines.items() if "—" in line]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_rule_fires_in_the_program_that_is_written_for_it(name: str) -> None:
    one = next(s for s in SHIPPED if s.section == STRUCTURE and s.name == name)
    assert any(one.subject.run(program) != program for program in examples_of(one.subject))


def test_what_ieee_does_not_keep_is_off_by_default() -> None:
    fast = {r.name for r in FAST_RULES}
    assert not fast & {r.name for r in SYSTEM.rules}
    assert not fast & {r.name for system in OPTIMIZE.systems for r in system.rules}
    assert fast <= {r.name for system in OPTIMIZE_FAST.systems for r in system.rules}
    assert {line.split("|")[1].strip(" `") for line in written(FAST)} == {r.text for r in FAST_RULES}


# the page is itself judged


def of(rule: str, **more: object) -> Row:
    return row(Shipped(EXACT, "planted", pattern_rule(rule, **more)))  # type: ignore[arg-type]


def test_an_unsound_rule_would_show_and_carry_its_fault() -> None:
    found = of("x + 0.0 -> x")
    assert found.cells["in IEEE-754"] == "differs at `x = -0.0`"
    assert found.cells["over the reals"] == "proved"
    assert "x = -0.0" in found.fault
    wrong = of("x: i64 | x // 2 * 2 -> x")
    assert wrong.cells["over the reals"] == "differs at `x = 1`"
    assert wrong.fault


def test_integers_are_exact_and_a_bar_is_no_column() -> None:
    cells = of("x: i64 | x * 0 -> 0").cells
    assert cells["in IEEE-754"] == "exact"
    assert cells["for"] == "`x: i64`"
    assert cells["rule"] == "`x * 0 -> 0`"


def test_a_page_has_a_section_for_each_kind_and_counts_the_rules() -> None:
    rule = Row(EXACT, "r", {"rule": "`r`", "over the reals": "proved", "in IEEE-754": "proved to f64"})
    text = page([rule])
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [title for title, _ in SECTIONS.values()]
    assert "| Rules that keep every bit | 1 | 1 | 0 | 1 | 0 | 0 | 0 | 0 |" in text
    assert "| `r` | proved | proved to f64 |" in text


def test_words_say_the_gravest_verdict() -> None:
    from checkers.optimizer_audit.shipped import said

    refuted = Refuted(Counterexample({"x": -0.0}, 1, 2), "convention", "values are kept")
    report = Report("r", (Proved("z3", "values are kept"), Passed(3, "points", "values are kept"), refuted))
    assert said(report, "values") == "differs at `x = -0.0`"
    assert said(Report("r", report.verdicts[:2]), "values") == "proved"
    assert said(Report("r", ()), "values") == "—"
    idle = Vacuous("the pass changed none of 9 programs", "every program is given a program")
    assert said(Report("r", (idle,)), "values") == "nothing to try"


# the command


def test_the_command_prints_and_writes_the_page(adjudge, monkeypatch, tmp_path) -> None:
    import checkers.optimizer_audit.page as module

    few = [s for s in SHIPPED if str(s) in ("x - 0.0 -> x", "x + 0.0 -> x")]
    monkeypatch.setattr(module, "shipped", lambda: iter(few))
    code, out, _ = adjudge("audit", "--shipped")
    assert code == 0
    assert "| `x - 0.0 -> x` | reals | proved | proved to f64 |" in out
    code, out, _ = adjudge("audit", "--shipped", "--json")
    assert [r["name"] for r in json.loads(out)] == [str(s) for s in few]
    assert adjudge("audit", "--shipped", "--write", str(tmp_path / "page.md"))[0] == 0
    assert "differs at `x = -0.0`" in (tmp_path / "page.md").read_text()


BAD = {
    "a target beside --shipped": (("cse", "--shipped"), "takes no target"),
    "--write alone": (("--write", "page.md"), "goes with it"),
    "no folder": (("--shipped", "--write", "no/such/folder/page.md"), "no folder"),
    "nothing": ((), "nothing to judge"),
    "no pass": (("csee",), "no file, no rule and no pass"),
    "no rule": (("x -> x",), "must apply something"),
    "no check": (("cse", "--skip", "valeus"), "one of values"),
    "no domain": (("cse", "--domain", "FLOAT"), "one of BITS, IEEE, REAL"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_exit_code_2_with_a_remedy(adjudge, what: str) -> None:
    arguments, says = BAD[what]
    code, _, err = adjudge("audit", *arguments)
    assert code == 2
    assert says in err
    assert "try:" in err
    assert "Traceback" not in err
