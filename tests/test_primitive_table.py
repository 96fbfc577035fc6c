"""docs/primitives.md is true: every primitive is in it, its rows are what our judge says; in `deep`, all rows."""

from __future__ import annotations

import json
import re
from math import expm1
from pathlib import Path

import pytest
from claims import examples

from adjudge import shipped_primitives, structural_programs
from adjudge.primitives import primitive
from adjudge.shipped_primitives import ARRAYS, HEAD, REALS, SECTIONS, STRUCTURE, Row, page, row, section, shipped
from checkers.verdict import Passed
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE

PAGE = Path(__file__).resolve().parent.parent / "docs" / "primitives.md"
TEXT = PAGE.read_text()
SHIPPED = list(shipped())
SAMPLE = ("exp", "max", "mod", "floor", "reshape", "store")
AGAIN = SHIPPED if examples() > 1000 else [TABLE[name] for name in SAMPLE]


def written(name: str) -> list[str]:
    """The rows of a section of the page."""
    title, _ = SECTIONS[name]
    _, _, part = TEXT.partition(f"\n## {title}\n")
    return [line for line in part.partition("\n## ")[0].splitlines() if line.startswith("| `")]


def test_every_primitive_is_in_the_page_once() -> None:
    assert sorted(p.name for p in SHIPPED) == sorted(TABLE)
    for name in SECTIONS:
        found = [re.match(r"\| `(\w+)` \|", line)[1] for line in written(name)]  # type: ignore[index]
        assert found == [p.name for p in SHIPPED if section(p) == name]
    assert TEXT.startswith(HEAD)
    assert f"{len(TABLE)} primitives" in TEXT
    assert "; no fault." in TEXT


@pytest.mark.parametrize("one", AGAIN, ids=lambda p: p.name)
def test_a_row_is_what_the_judge_says(one: Primitive) -> None:
    found = row(one)
    assert not found.fault, found.fault
    assert str(found) in written(found.section)


@pytest.mark.parametrize("name", structural_programs.SOURCES if examples() > 1000 else ("tuples", "cells", "branches"))
def test_the_programs_of_structure_have_the_right_derivatives(name: str) -> None:
    found = structural_programs.verdicts(name)
    assert len(found) == 6
    assert all(isinstance(v, Passed) for v in found), found


def test_every_primitive_of_structure_occurs_in_a_program() -> None:
    names = [p.name for p in SHIPPED if section(p) == STRUCTURE]
    assert {name for name in names if f"| `{name}` | — |" in TEXT} == set()
    assert "tuples" in structural_programs.using("make_tuple")
    assert structural_programs.using("cholesky") == ()


@primitive
def twice(x):
    return x * 2.0


@twice.backpropagator
def _(x, out, dout):
    return (dout,)


def test_a_wrong_rule_shows_as_a_fault() -> None:
    found = row(twice.row)
    assert found.section == REALS
    assert "jacobian" in found.fault


@primitive(domain="x < 0")
def grown(x):
    return expm1(x)


@grown.backpropagator
def _(x, out, dout):
    return (dout * (out + 1.0),)


def test_a_digit_lost_that_could_be_kept_shows_as_a_fault_too() -> None:
    """exp(x) as expm1(x) + 1: at -30 no digit is left."""
    assert row(grown.row).fault


def test_a_page_counts_its_rows_and_faults() -> None:
    right = Row(ARRAYS, "p", {"primitive": "`p`", "passed": "3"})
    wrong = Row(STRUCTURE, "q", {"primitive": "`q`", "programs": "—"}, "no program has it")
    text = page([right, wrong])
    assert "2 primitives: 1 of functions of arrays, 1 of structure; 1 fault." in text
    assert "| primitive | passed |\n|---|---|\n| `p` | 3 |\n" in text


def test_the_command_prints_and_writes_the_page(adjudge, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(shipped_primitives, "shipped", lambda: iter([TABLE["neg"]]))
    code, out, _ = adjudge("check", "--shipped")
    assert code == 0
    assert "| `neg` |" in out
    code, out, _ = adjudge("check", "--shipped", "--json")
    assert [r["name"] for r in json.loads(out)] == ["neg"]
    assert adjudge("check", "--shipped", "--write", str(tmp_path / "page.md"))[0] == 0
    assert "| `neg` |" in (tmp_path / "page.md").read_text()


BAD = {
    "a target beside --shipped": (("exp", "--shipped"), "takes no target"),
    "--write alone": (("--write", "page.md"), "goes with it"),
    "no folder": (("--shipped", "--write", "no/such/folder/page.md"), "no folder"),
    "nothing": ((), "nothing to judge"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_exit_code_2_with_a_remedy(adjudge, what: str) -> None:
    arguments, says = BAD[what]
    code, _, err = adjudge("check", *arguments)
    assert code == 2
    assert says in err
    assert "try:" in err
