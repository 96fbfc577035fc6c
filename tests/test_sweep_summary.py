"""The page on several sweeps: whose each finding is, what is NEW, and which value is taken at a kink."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.sweep.classified import JUDGMENTS, LIMITS, NEW, OURS, THEIRS, known
from adjudge.sweep.outcomes import OUTCOMES, outcome
from adjudge.sweep.store import Store
from adjudge.sweep.summary import chosen_at, reason, summary
from adjudge.sweep.worker import NO_ARGUMENTS, NO_FLOATS, STOPPED, UNDIFFERENTIATED

PASSED = {"verdict": "Passed", "claim": "jacobian"}


def refuted(kind: str, claim: str, found: str = "0.0 (0x0.0p+0)", x: str = "1.0") -> dict[str, Any]:
    texts = {"wanted": "1.0 (0x1.0p+0)", "cause": "a term is missing", "note": "", "summary": ""}
    return {"verdict": "Refuted", "kind": kind, "claim": claim, "inputs": {"x": x}, "found": found, **texts}


def record(function: str, *verdicts: dict[str, Any], library: str = "zoo", left_out: str = "", stopped: str = "") -> dict[str, Any]:
    """A record as a sweep writes it."""
    whole = "Refuted" if any(v.get("kind") in ("fault", "accuracy") for v in verdicts) else "Passed"
    calls = [{"call": "f(x)", "report": {"verdict": whole, "verdicts": list(verdicts)}, "seconds": 1.0}] if verdicts else []
    made = {"version": "1.0", "adjudge": "0", "judge": "abc", "seed": 0, "examples": 9, "seconds": 1.0}
    return {"library": library, "function": function, "calls": calls, "left out": left_out, "stopped": stopped, **made}


def rows(text: str, title: str) -> list[list[str]]:
    """The cells of the lines of tables in a section."""
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines() if line.startswith("| ")]


def test_a_finding_that_nobody_looked_into_is_new_and_one_that_somebody_did_has_its_reason():
    text = summary(
        [
            record("autograd.numpy.prod", refuted("fault", "edges"), library="autograd"),
            record("autograd.numpy.nothing", refuted("fault", "edges"), library="autograd"),
        ]
    )
    found = {cells[0]: cells[4] for cells in rows(text, "Faults")}
    assert found["`numpy.prod`"] == THEIRS
    assert found["`numpy.nothing`"] == NEW


def test_a_judgment_is_about_its_library_its_kinds_and_its_claims_alone():
    assert known("jax", "jax.numpy.expm1", refuted("accuracy", "accuracy")) is not None
    assert known("jax", "jax.numpy.arctan2", refuted("fault", "jacobian")) is None
    assert known("torch", "torch.arctan2", refuted("accuracy", "accuracy")) is not None
    assert known("torch", "torch.numpy.arctan2", refuted("accuracy", "accuracy")) is None
    assert known("autograd", "autograd.scipy.special.logsumexp", refuted("fault", "structure")) is not None
    assert known("autograd", "autograd.scipy.special.logsumexp", refuted("fault", "jacobian")) is None
    assert known("autograd", "autograd.numpy.prod_of", refuted("fault", "edges")) is None


def test_every_judgment_says_whose_and_why():
    for judgment in JUDGMENTS:
        assert judgment.whose in (THEIRS, LIMITS, OURS), judgment
        assert judgment.why, judgment
        assert set(judgment.kinds) <= {"fault", "accuracy"}, judgment


def test_functions_of_one_judgment_share_a_line_with_the_plainest_input():
    made = [
        record("autograd.numpy.std", refuted("fault", "edges", x="[[0.0, 0.0], [0.0, 0.0]]"), library="autograd"),
        record("autograd.numpy.linalg.norm", refuted("fault", "edges", x="[[0.0]]"), library="autograd"),
    ]
    (cells,) = rows(summary(made), "Faults")[1:]
    assert cells[0] == "`numpy.linalg.norm`, `numpy.std`"
    assert cells[1:4] == ["`f(x)`, `x = [[0.0]]`", "`0.0`", "`1.0`"]


def test_every_function_is_counted_once_by_its_last_record():
    first = [record("zoo.a", refuted("fault", "jacobian")), record("zoo.b", PASSED), record("zoo.c", left_out="random")]
    last = [record("zoo.a", PASSED), record("zoo.d", refuted("accuracy", "accuracy")), record("zoo.e", PASSED, stopped="not done")]
    header, cells = rows(summary(first + last), "Counts")
    counts = dict(zip(header, cells, strict=True))
    assert counts["discovered"] == "5"
    assert [int(counts[kind]) for kind in OUTCOMES] == [0, 1, 2, 1, 1]
    assert counts["not yet tried"] == "0"


def test_what_is_not_yet_tried_is_counted():
    pytest.importorskip("autograd")
    header, cells = rows(summary([record("autograd.numpy.sin", PASSED, library="autograd")]), "Counts")
    counts = dict(zip(header, cells, strict=True))
    assert int(counts["not yet tried"]) == int(counts["discovered"]) - 1 > 100


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ("slope 0, between -1 and 1 at x[0, 2] = 0", "0 of [-1, 1]"),
        ("0.5 to each of those with a kink at x[0], y[0]", "0.5 each"),
        ("answers 0 where a slope is infinite", "0 where infinite"),
        ("answers 0, -4.8, 2, 3 where a slope is infinite", "finite values where infinite"),
        ("something else at x[0]", "something else"),
    ],
)
def test_a_convention_in_short(found, said):
    assert chosen_at(found) == said
    made = [record("zoo.f", PASSED, refuted("convention", "kinks", found)), record("zoo.g", PASSED)]
    assert [outcome(r) for r in made] == ["sound", "sound"]
    assert rows(summary(made), "Conventions")[1:] == [["`f`", said]]


@given(st.sampled_from([UNDIFFERENTIATED, NO_FLOATS, NO_ARGUMENTS]), st.text(max_size=20))
def test_a_reason_is_counted_without_the_names_in_it(mark, detail):
    assert reason(f"f(x): {mark}: {detail}") == reason(mark)


def test_a_mishap_of_the_judge_is_told_as_one():
    assert reason(f"{STOPPED}NameError: x") == "the judge stopped"
    assert reason("") == "no reason was recorded"


def test_the_command_writes_the_page_of_several_stores(adjudge, tmp_path):
    for name, function in (("a", "zoo.a"), ("b", "zoo.b")):
        with Store(tmp_path / f"{name}.sqlite") as store:
            store.put(function, record(function, PASSED))
    stores = [str(tmp_path / f"{name}.sqlite") for name in "ab"]
    assert adjudge("sweep", "summary", *stores, "--report", str(tmp_path / "page.md"))[0] == 0
    text = (tmp_path / "page.md").read_text()
    assert rows(text, "Counts")[1][:2] == ["zoo 1.0", "2"]
    code, out, _ = adjudge("sweep", "summary", stores[0])
    assert (code, rows(out, "Counts")[1][1]) == (0, "1")
    assert adjudge("sweep", "summary")[0] == 2
    assert adjudge("sweep", "summary", str(tmp_path / "nothing.sqlite"))[0] == 2
