"""`docs/proofs.md` is true: all obligations and all rows of the table of primitives are on it, and a sample is proved anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import settings

from checkers.smt.ieee import LADDER
from checkers.smt.inquiry import Judgment
from checkers.verdict import Counterexample, OutOfScope, Passed, Proved, Refuted, Unknown, Vacuous, Verdict
from proofs import TRUSTED
from proofs.families import FAMILIES, by_family
from proofs.kinds import ARRAY, NONE, SCALAR, STRUCTURE, kind_of
from proofs.obligation import Obligation
from proofs.page import code, differentiable, duration, page, remarks, table, word
from proofs.run import Outcome, chosen, run
from semantics.primitives.table import ROWS, TABLE

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "proofs.md").read_text(encoding="utf-8")
LINES = PAGE.splitlines()
DEEP = settings.get_current_profile_name() == "deep"
SAMPLE = tuple(p.name for p in ROWS if kind_of(p) == SCALAR) if DEEP else ("mul", "tanh", "x: i64 | x // 1 -> x", "x - x -> 0.0")


def without_time(line: str) -> str:
    """A line of a table without its last cell."""
    return line.rstrip("| ").rpartition("|")[0] if line.startswith("|") else line


def made(subject: str, verdict: Verdict, family: str = "first_order", seconds: float = 0.0) -> Outcome:
    name = f"{family} of {subject}"
    return Outcome(Obligation(name, subject, lambda: None), family, Judgment(name, "none", verdict, seconds), ("slope",))  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("subject", SAMPLE)
def test_a_line_of_the_page_is_what_is_proved_today(subject: str) -> None:
    found = page(list(run(chosen([subject]), formats=LADDER))).splitlines()
    (line,) = [without_time(x) for x in found if x.startswith(f"| `{subject.replace('|', chr(92) + '|')}` |")]
    known = [without_time(x) for x in LINES]
    cells = [cell for cell in line.split(" | ") if cell != "—"]
    (written,) = [x for x in known if x.startswith(f"| `{subject.replace('|', chr(92) + '|')}` |")]
    assert [cell for cell in written.split(" | ") if cell != "—"] == cells
    assert all(note in LINES for note in found if note.startswith(f"- `{subject}`"))


def test_every_obligation_has_a_subject_on_the_page() -> None:
    for family in by_family(LADDER).values():
        for o in family:
            names = (f"| `{n.replace('|', chr(92) + '|')}` |" for n in (o.subject, o.name))
            assert any(name in PAGE for name in names), o.name


def test_every_primitive_is_on_the_page() -> None:
    missing = [p.name for p in ROWS if f"`{p.name}`" not in PAGE]
    assert missing == []


def test_every_axiom_is_on_the_page_as_it_is_stated() -> None:
    for axiom in TRUSTED:
        assert any(line.startswith(f"| `{axiom.name}` |") and axiom.statement.replace("|", "\\|") in line for line in LINES)


def test_the_counts_are_those_of_the_obligations() -> None:
    for family in FAMILIES:
        (line,) = [x for x in LINES if x.startswith(f"| {family.title} |")]
        *counts, whole = [int(cell) for cell in line.strip("| ").split(" | ")[1:]]
        assert sum(counts) == whole == len(by_family(LADDER)[family.name])


def test_nothing_shipped_is_refuted() -> None:
    assert "**refuted**" not in PAGE


def test_the_shares_are_as_high_as_they_were() -> None:
    """Of the rows with a derivative, of each kind and of all together: at least 95 % at first order, 85 % at second."""
    for order, least in (("first", 95), ("second", 85)):
        (line,) = [x for x in LINES if x.startswith(f"At {order} order")]
        shares = [int(share) for share in re.findall(r"\((\d+) %\)", line)]
        assert len(shares) == 4
        assert min(shares) >= least, line


# how the page is made


def test_a_row_is_of_one_kind() -> None:
    assert [kind_of(TABLE[n]) for n in ("mul", "matmul", "make_tuple", "eq")] == [SCALAR, ARRAY, STRUCTURE, NONE]


def test_what_has_no_derivative_is_not_counted() -> None:
    assert all(differentiable(TABLE[n]) for n in ("mul", "matmul", "einsum", "make_tuple", "load"))
    assert not any(differentiable(TABLE[n]) for n in ("floor", "lt", "argmax", "grad", "lea"))


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Proved("normal form; everywhere in its domain"), "proved"),
        (Proved("bit-exact to f64"), "proved to f64"),
        (Proved("safe in 64 bits"), "proved in 64 bits"),
        (Proved("3 refuted, each by an executed counterexample"), "3 refuted"),
        (Passed(3, "points"), "passed"),
        (Refuted(Counterexample({"x": 1.0}, 1.0, 2.0)), "**refuted**"),
        (Unknown("out of steps"), "unknown"),
        (Vacuous("x > 0 and x < 0"), "vacuous"),
        (OutOfScope("no reals"), "out of scope"),
        (OutOfScope("it claims the reals only; in f64 the sides differ at x = inf"), "differs in f64"),
    ],
)
def test_a_verdict_in_a_word(verdict: Verdict, said: str) -> None:
    assert word(verdict) == said


def test_what_is_not_plainly_proved_is_said_in_full() -> None:
    assert list(remarks("mul", [made("mul", Proved("slope; everywhere in its domain"))])) == []
    assert list(remarks("mul", [made("mul", Proved("slope; off its kinks"))])) == ["`mul`, first order: proved off its kinks"]
    assert list(remarks("mul", [made("mul", Unknown("out of steps"))])) == ["`mul`, first order: unknown: out of steps"]


def test_a_refutation_is_seen_on_the_page() -> None:
    text = page([made("mul", Refuted(Counterexample({"x": 1.0}, 1.0, 2.0)))])
    assert "| `mul` | **refuted** |" in text
    assert "- `mul`, first order: refuted (fault): at x = 1.0" in text


def test_a_row_without_an_obligation_is_no_silent_hole() -> None:
    assert "Without an obligation: `add`, `sub`, `div`" in page([made("mul", Proved("slope"))])


def test_no_row_of_the_table_is_without_an_obligation() -> None:
    assert "Without an obligation" not in PAGE


def test_times_are_classes() -> None:
    assert [duration(s) for s in (0.05, 0.5, 5, 50, 500)] == ["instant", "short", "10 s", "100 s", "long"]


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert table(["a"], [["x | y"]]).splitlines()[-1] == r"| x \| y |"
    assert code(["a", "b"]) == "`a`, `b`"
