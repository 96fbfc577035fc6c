"""Certificates: written, read back, put to solvers from the files alone; a lie in a file is found, and so is a changed text."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from checkers.smt.ieee import LADDER
from checkers.smt.inquiry import Judgment
from checkers.smt.solver import SAT, UNSAT
from proofs import certify
from proofs import recheck as rechecking
from proofs.certify import FOLDER, MANIFEST, Certificate, certificate, read, write
from proofs.obligation import discharge
from proofs.recheck import rechecked, solvers, unanswered
from proofs.run import chosen, from_record, in_fork, outcome
from semantics.errors import Malformed

SAMPLE = ("exp' = exp", "atan2'", "backpropagator of mul", "rule x * 1.0 -> x", "words of x: i64 | x - x -> 0")
SMALL = 80  # questions


@cache
def judged() -> tuple[tuple[Judgment, str, tuple[str, ...]], ...]:
    """A sample of judgments, each with its family and its axioms."""
    found = [outcome(family, o, discharge(o)) for family, o in chosen(SAMPLE)]
    return tuple((o.judgment, o.family, o.axioms) for o in found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(judged(), tmp_path)
    return tmp_path


def test_what_is_written_is_read(folder: Path) -> None:
    certificates, texts = read(folder)
    assert certificates == [certificate(*found) for found in judged()]
    asked = {q.sha256 for c in certificates for q in c.questions}
    assert asked == set(texts)
    assert 5 < len(asked) < SMALL


def test_the_files_are_the_same_whoever_writes_them(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    again = tmp_path_factory.mktemp("again")
    write(judged(), again)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == {p.name: p.read_bytes() for p in again.iterdir()}


def test_every_file_is_one_script_that_a_solver_reads(folder: Path) -> None:
    for path in folder.glob("*.smt2"):
        text = path.read_text()
        assert text.count("(check-sat)") == text.count("(set-logic") == text.count("(reset)") + 1


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_solvers_agree_on_a_sample(folder: Path, solver: str) -> None:
    if solver == "cvc5":
        pytest.importorskip("cvc5")
    found = rechecked(solver, folder)
    assert found.conflicts == []
    assert found.agreed >= 0.8 * found.asked  # a busy machine may cost an answer, never bring a contradiction
    assert f"{found.agreed} of {found.asked} questions answered as expected" in str(found)


def lie(folder: Path) -> str:
    """The manifest with the expected answer of its first decided question turned round; the obligation that it is of."""
    path = folder / MANIFEST
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    of = next(line for line in lines if line["questions"])
    told = of["questions"][0]
    wrong = {SAT: UNSAT, UNSAT: SAT}[told["expected"]]
    for line in lines:
        for question in line["questions"]:
            if question["sha256"] == told["sha256"]:
                question["expected"] = wrong
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(of["obligation"])


def test_a_lie_in_the_manifest_is_a_conflict(folder: Path, adjudge) -> None:
    obligation = lie(folder)
    found = rechecked("z3", folder)
    assert [name for name, _ in found.conflicts] == [obligation]
    code, out, _ = adjudge("prove", "--recheck", "--solver", "z3", "--folder", str(folder), "--jobs", "1")
    assert code == 1
    assert f"CONTRADICTED: {obligation}" in out


def test_the_command_prints_the_share(folder: Path, adjudge) -> None:
    code, out, _ = adjudge("prove", "--recheck", "--solver", "z3", "--folder", str(folder), "--jobs", "1")
    assert code == 0
    assert "questions answered as expected (" in out


def test_other_questions_are_not_removed(tmp_path: Path, adjudge) -> None:
    """Writing certificates replaces those of a folder, and removed every other file of SMT-LIB in it."""
    (tmp_path / "mine.smt2").write_text("(check-sat)")
    assert adjudge("prove", "--write", "--folder", str(tmp_path))[0] == 2
    with pytest.raises(Malformed, match=r"mine\.smt2 is no certificate"):
        certify.write([], tmp_path)
    assert (tmp_path / "mine.smt2").read_text() == "(check-sat)"


def test_a_changed_question_is_no_certificate(folder: Path) -> None:
    path = folder / "first_order.smt2"
    path.write_text(path.read_text().replace("(assert", "(assert ", 1))
    with pytest.raises(Malformed, match="is missing or was changed"):
        read(folder)


def test_a_missing_file_is_no_certificate(folder: Path) -> None:
    (folder / "lemmas.smt2").unlink()
    with pytest.raises(Malformed, match="is missing or was changed"):
        read(folder)


def test_a_folder_without_certificates_is_malformed(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match="has no manifest"):
        rechecked("z3", tmp_path)


def test_a_line_that_is_no_certificate_is_named(folder: Path) -> None:
    path = folder / MANIFEST
    path.write_text(path.read_text() + '{"obligation": "nothing"}\n')
    with pytest.raises(Malformed, match=f"{MANIFEST}, line {len(judged()) + 1}, is no certificate"):
        read(folder)


def test_what_a_solver_does_not_answer_is_counted_and_said(folder: Path) -> None:
    found = rechecked("z3", folder, seconds=0.0)
    assert found.agreed == 0
    assert len(found.unknown) == found.asked > 0
    (line,) = unanswered(found)
    assert line.startswith(f"{found.asked} not answered by z3: killed after 0 s")


def test_a_question_that_no_proof_rests_on_is_no_agreement() -> None:
    one = certificate(*judged()[0])
    (question, *_) = one.questions
    unsure = replace(one, questions=(replace(question, expected="unknown"),))
    answers = [(question.sha256, judged()[0][0].answers[0])]
    found = certify.recheck([unsure], {question.sha256: ""}, "z3", answers)
    assert (found.agreed, len(found.unknown), found.conflicts) == (0, 1, [])


def test_a_solver_that_is_not_there_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rechecking, "find_spec", lambda name: None)
    with pytest.raises(Malformed, match="cvc5 is not installed") as error:
        solvers("cvc5")
    assert "adjudge[proofs]" in error.value.remedy
    with pytest.raises(Malformed, match="'boolector' is no solver"):
        solvers("boolector")


# what is shipped


def test_the_shipped_certificates_are_of_all_obligations_there_are() -> None:
    certificates, texts = read()
    assert [(c.obligation, c.family) for c in certificates] == [(o.name, family) for family, o in chosen()]
    assert {q.sha256 for c in certificates for q in c.questions} == set(texts)
    assert all(path.suffix == ".smt2" or path.name == MANIFEST for path in FOLDER.iterdir())


@pytest.mark.parametrize("name", ["backpropagator of tanh", "J: closure", "rule x * 1.0 -> x", "words of x: i64 | x // 1 -> x"])
def test_the_shipped_certificate_is_what_is_proved_today(name: str) -> None:
    ((family, obligation),) = chosen([name])
    found = outcome(family, obligation, from_record(in_fork(name, LADDER)))
    written = next(c for c in read()[0] if c.obligation == name)
    today = certificate(found.judgment, family, found.axioms)
    if {q.by for q in written.questions} != {q.by for q in today.questions}:
        written, today = of_any_version(written), of_any_version(today)
    assert written == today


def of_any_version(one: Certificate) -> Certificate:
    """The certificate without what another version of a solver changes: its number, and what an answer takes."""
    return replace(one, questions=tuple(replace(q, by=q.by.split()[0], rlimit=0) for q in one.questions))


def test_bitwuzla_is_asked_about_bits_in_formats_that_it_reads() -> None:
    floats = "(set-logic QF_FP)\n(declare-const x (_ FloatingPoint {} {}))\n"
    assert certify.suits("bitwuzla", floats.format(5, 11))
    assert not certify.suits("bitwuzla", floats.format(3, 4))
    assert not certify.suits("bitwuzla", "(set-logic ALL)\n")
    assert certify.suits("cvc5", floats.format(3, 4))
