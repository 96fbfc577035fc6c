"""Running all obligations: in order, the same at one and at two processes, resumable, and within caps that say when they bind."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from adjudge.sweep.store import Store
from checkers.smt.ieee import HALF, TINY
from checkers.smt.inquiry import Judgment
from checkers.smt.solver import UNSAT, Answer
from checkers.verdict import Counterexample, Proved, Refuted, Unknown
from proofs import run as running
from proofs.families import FAMILIES, Family, by_family
from proofs.lemmas import x
from proofs.obligation import Obligation
from proofs.run import chosen, from_record, in_fork, key, named, run, to_record
from semantics.errors import Malformed

FORMATS = (TINY,)
SAMPLE = ("exp' = exp", "atan2'", "backpropagator of sqrt", "x / 2.0 -> x * 0.5", "x: i64 | x - x -> 0")


def wanted() -> list[tuple[str, Obligation]]:
    return chosen(SAMPLE, FORMATS)


def told(found: Any) -> list[tuple[str, str, int, tuple[str, ...]]]:
    """What must repeat from run to run: the verdict, the solver's steps, the text of every question."""
    return [(o.judgment.name, str(o.judgment.verdict), o.judgment.rlimit, tuple(a.smt2 for a in o.judgment.answers)) for o in found]


def test_one_and_two_processes_do_the_same() -> None:
    one, two = (list(run(wanted(), formats=FORMATS, jobs=jobs)) for jobs in (1, 2))
    assert told(one) == told(two)
    assert [o.obligation.name for o in one] == [o.name for _, o in wanted()]
    assert sum(o.judgment.rlimit for o in one) > 0


def test_what_an_obligation_costs_does_not_depend_on_what_came_before() -> None:
    family = by_family(FORMATS)["lemmas"][:3]
    forward = [to_record(from_record(in_fork(o.name, FORMATS)))["answers"] for o in family]
    backward = [to_record(from_record(in_fork(o.name, FORMATS)))["answers"] for o in reversed(family)]
    for first, second in zip(forward, reversed(backward), strict=True):
        assert [(a["smt2"], a["rlimit"]) for a in first] == [(a["smt2"], a["rlimit"]) for a in second]


def test_a_run_resumes_from_its_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = wanted()[:4]
    with Store(tmp_path / "proofs.sqlite") as store:
        stopped = run(some, formats=FORMATS, store=store)
        first = [next(stopped), next(stopped)]
        stopped.close()
        asked: list[str] = []

        def counted(name: str, *rest: Any) -> Any:
            asked.append(name)
            return in_fork(name, *rest)

        monkeypatch.setattr(running, "in_fork", counted)
        whole = list(run(some, formats=FORMATS, store=store))
    assert told(whole[:2]) == told(first)
    assert asked == [o.name for _, o in some[2:]]


def test_other_sources_or_formats_are_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key("lemma", (TINY,))
    assert key("lemma", (TINY,)) == before
    assert key("lemma", (TINY, HALF)) != before
    monkeypatch.setattr(running, "sources", lambda: "another text")
    assert key("lemma", (TINY,)) != before


def test_a_judgment_survives_its_record() -> None:
    counterexample = Counterexample({"x": -0.0, "k": 3}, 1.0, float("nan"), cause="a sign")
    for verdict in (Proved("z3", "c"), Unknown("out of steps", "c"), Refuted(counterexample, "convention", "c")):
        judgment = Judgment("c", "z3", verdict, 0.5, (Answer(UNSAT, rlimit=7, seconds=0.25, smt2="(check-sat)\n"),))
        read = from_record(to_record(judgment))
        assert str(read.verdict) == str(verdict)
        assert (read.name, read.method, read.seconds, read.answers) == (judgment.name, "z3", 0.5, judgment.answers)


# planted obligations: in a family of their own


def hangs() -> Judgment:
    time.sleep(600)
    raise AssertionError


def dies() -> Judgment:
    os._exit(1)


def eats() -> Judgment:
    return Judgment("eats", "none", Unknown(str(len(bytearray(4 << 30)))))


def refuses() -> Judgment:
    return Judgment("refuses", "executed", Refuted(Counterexample({"t": x + 1}, x, x * x), claim="refuses"))


PLANTED = tuple(Obligation(f.__name__, "planted", f) for f in (hangs, dies, eats, refuses))


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofs.families.FAMILIES", (*FAMILIES, Family("planted bugs", "planted", "planted", lambda _: PLANTED)))
    by_family.cache_clear()
    yield  # type: ignore[misc]
    by_family.cache_clear()


@pytest.mark.usefixtures("planted")
def test_an_obligation_that_hangs_is_killed_and_said_to_be() -> None:
    assert from_record(in_fork("hangs", FORMATS, 0.5)).verdict == Unknown("killed after 0.5 s", "hangs")


@pytest.mark.usefixtures("planted")
def test_an_obligation_that_kills_its_process_is_unknown() -> None:
    for record in (in_fork("dies", FORMATS), in_fork("eats", FORMATS, memory_mb=500)):
        assert from_record(record).verdict.reason == "its process died, probably of its memory cap"  # type: ignore[union-attr]


@pytest.mark.usefixtures("planted")
def test_a_counterexample_of_terms_comes_back_as_text() -> None:
    verdict = from_record(in_fork("refuses", FORMATS)).verdict
    assert isinstance(verdict, Refuted)
    assert str(verdict.counterexample.inputs["t"]) == "x + 1"


def test_a_name_twice_is_malformed(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = Family("twice", "twice", "twice", lambda _: (PLANTED[0], PLANTED[0]))
    monkeypatch.setattr("proofs.families.FAMILIES", (twice,))
    by_family.cache_clear()
    with pytest.raises(Malformed, match="two obligations are called hangs"):
        by_family(())
    by_family.cache_clear()


def test_no_processes_prove_nothing() -> None:
    with pytest.raises(Malformed, match="0 processes"):
        next(run(wanted(), jobs=0))


# the command


def test_the_command_tells_what_is_proved(adjudge) -> None:
    code, out, _ = adjudge("prove", "backpropagator of sqrt", "--jobs", "1")
    assert code == 0
    assert "backpropagator of sqrt" in out
    assert "0 Refuted, 0 Unknown" in out


def test_the_command_says_what_to_name(adjudge) -> None:
    code, _, err = adjudge("prove", "no_such_thing")
    assert code == 2
    assert "no_such_thing" in err
    assert adjudge("prove", "sqrt", "--format", "f8")[0] == 2
    assert adjudge("prove", "sqrt", "--write")[0] == 2
    assert adjudge("prove", "--page", "no/such/folder/page.md")[0] == 2


def test_a_family_is_summed_up(adjudge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.cli.proving.FEW", 2)
    for _ in range(2):
        code, out, _ = adjudge("prove", "lemmas", "--jobs", "1", "--store", str(tmp_path / "s.sqlite"))
        assert code == 0
        assert "derivatives of named functions, from the axioms" in out
        assert "atan2'" not in out
    assert "atan2'" in adjudge("prove", "lemmas", "--jobs", "1", "--store", str(tmp_path / "s.sqlite"), "--verbose")[1]


def test_names_find_their_obligations() -> None:
    assert named("backpropagator of mul", FORMATS).subject == "mul"
    assert {f for f, _ in chosen(["lemmas"], FORMATS)} == {"lemmas"}
    assert len(chosen(formats=FORMATS)) == sum(map(len, by_family(FORMATS).values()))
