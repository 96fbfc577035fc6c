"""The sweep over a library: verdicts kept as they are made, hangs and crashes recorded, nothing left out without a reason."""

from __future__ import annotations

import itertools
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import sweep_library

from adjudge.sweep import runner, worker
from adjudge.sweep.autograd_table import LIBRARY as AUTOGRAD
from adjudge.sweep.bench import merged
from adjudge.sweep.catalogue import COMMON, KNOWN, discovered, library
from adjudge.sweep.jax_table import LIBRARY as JAX
from adjudge.sweep.outcomes import LEFT_OUT, SOUND, UNKNOWN, compare, findings, outcome, why
from adjudge.sweep.page import page
from adjudge.sweep.runner import Plan, chosen, sweep
from adjudge.sweep.store import Store
from adjudge.sweep.torch_table import LIBRARY as TORCH
from checkers.verdict import LedgerEntry, Passed, Report
from semantics.errors import IllTyped, Malformed

NAME = "sweep_library:LIBRARY"
FAST = Plan(NAME, only=("square", "scaled", "cube", "counted", "save_all"), seconds=30.0)


def swept(plan: Plan, path: Path) -> dict[str, dict]:
    """The records of a sweep, by the last part of the name."""
    with Store(path) as store:
        return {record["function"].rpartition(".")[2]: record for _, _, record in sweep(plan, store)}


@pytest.fixture(scope="module")
def everything(tmp_path_factory) -> dict[str, dict]:
    """A sweep over the whole library of the tests, with a second for the function that has no end."""
    path = tmp_path_factory.mktemp("sweep") / "all.sqlite"
    short = swept(Plan(NAME, only=("endless",), seconds=1.0, memory=2**32), path)
    found = discovered(library(NAME))
    others = {*found.functions, *found.left_out} - {"sweep_library.endless"}
    return swept(Plan(NAME, only=tuple(others), memory=2**32), path) | short


# the catalogue


def test_discovered_is_tried_and_left_out_with_no_hole():
    found = discovered(library(NAME))
    exported = {n for n in dir(sweep_library) if not n.startswith("_") and callable(getattr(sweep_library, n))}
    assert {f.rpartition(".")[2] for f in found.functions} | {f.rpartition(".")[2] for f in found.left_out} == exported
    assert not set(found.functions) & set(found.left_out)
    assert all(found.left_out.values())


def test_one_object_with_two_names_is_tried_once_under_its_own():
    found = discovered(library(NAME))
    assert "sweep_library.square" in found.functions
    assert found.left_out["sweep_library.also_square"] == "the same as sweep_library.square"


def test_the_longest_end_of_a_name_finds_its_calls():
    assert AUTOGRAD.calls("autograd.scipy.linalg.solve_triangular")[0].text == "f(A, y3)"
    assert AUTOGRAD.calls("autograd.numpy.log") == COMMON["log"]
    assert AUTOGRAD.calls("autograd.numpy.nothing_of_the_kind") == ()


def test_a_name_that_nothing_bears_is_malformed():
    with pytest.raises(Malformed, match="exports no sqaure"):
        chosen(library(NAME), ["sqaure"])
    for name in ("keras", "sweep_library:NOTHING", "sweep_library:square", "no_such_module:LIBRARY"):
        with pytest.raises(Malformed) as raised:
            library(name)
        assert "jax, torch, autograd" in raised.value.remedy


@pytest.mark.parametrize("lib", [JAX, TORCH, AUTOGRAD], ids=KNOWN)
def test_a_table_names_what_the_library_exports(lib):
    pytest.importorskip(lib.package)
    found = discovered(lib)
    names = (*found.functions, *found.left_out)
    assert [n for n in lib.table if not any(f".{f}".endswith(f".{n}") for f in names)] == []


# the worker


def test_of_several_objections_the_one_that_says_most_is_told():
    assert worker.told(["TypeError: no", worker.NO_FLOATS, "no derivative: none"]) == "no derivative: none"
    assert worker.told(["TypeError: no", worker.NO_FLOATS]) == worker.NO_FLOATS
    assert worker.told(["TypeError: no", "ValueError"]).endswith("f(x): TypeError: no")


@pytest.mark.parametrize(("why", "lists"), [("no derivative: none", False), ("TypeError: no", True)])
def test_no_list_of_arrays_is_guessed_for_what_the_library_has_no_derivative_of(monkeypatch, why, lists):
    tried: list[str] = []
    monkeypatch.setattr(worker, "_trial", lambda lib, call, function, task: tried.append(call.text) or why)
    task = worker.Task(NAME, "sweep_library.stuck", 0, 3, 1.0, 2**30)
    assert [set(answer) for answer in worker.judged(task, library(NAME))] == [{"left out"}]
    assert any("[" in text for text in tried) == lists
    assert len(tried) > 1


def test_what_gives_no_reals_is_left_out_and_no_mishap():
    def trial(*_, **__):
        raise IllTyped("f returns no reals but str 'x'", rule="check")

    lib = replace(library(NAME), trial=trial)
    task = worker.Task(NAME, "sweep_library.square", 0, 3, 1.0, 2**30)
    assert [answer["refused"] for answer in worker.judged(task, lib)] == [worker.NO_FLOATS] * 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("counted", "no floats"),
        ("noise", "two calls differ"),
        ("stuck", "no derivative: NotImplementedError: stuck has no gradient"),
        ("picky", "takes none of the arguments that we guess"),
        ("save_all", "writes files"),
        ("square_", "works in place"),
        ("Thing", "a class"),
    ],
)
def test_what_is_no_question_is_left_out_with_its_reason(everything, name, said):
    assert outcome(everything[name]) == LEFT_OUT
    assert said in why(everything[name])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("endless", "not done in 1 seconds"),
        ("fatal", "the process died: signal SIGSEGV"),
        ("hungry", "more than 4 GiB wanted"),
    ],
)
def test_a_function_that_hangs_or_crashes_is_recorded_and_the_sweep_goes_on(everything, name, said):
    assert outcome(everything[name]) == UNKNOWN
    assert said in why(everything[name])
    assert outcome(everything["square"]) == SOUND


def test_every_call_of_a_function_is_judged_and_a_wrong_derivative_is_a_fault(everything):
    assert [answer["call"] for answer in everything["scaled"]["calls"]] == ["f(x, 1.0)", "f(x, 0)"]
    assert outcome(everything["cube"]) == "fault"
    (made, finding), *rest = findings(everything["cube"])
    assert (made, finding["claim"], rest) == ("f(x)", "jacobian", [])


def test_the_checks_of_one_call_become_one_report():
    parts = [
        Report("f", (Passed(3, "entries", "zero"),), (LedgerEntry("zero", 1.0),)),
        Report("f", (), (LedgerEntry("edges", 2.0),)),
    ]
    answers = [{"call": "f(x)", "report": json.loads(part.to_json()), "seconds": 1.5} for part in parts]
    whole, other = merged([*answers, {"call": "f(p)", "refused": "no derivative"}])
    assert [entry["check"] for entry in whole["report"]["ledger"]] == ["zero", "edges"]
    assert (whole["report"]["verdict"], whole["seconds"]) == ("Passed", 3.0)
    assert other == {"call": "f(p)", "refused": "no derivative"}


# the sweep


@pytest.fixture
def asked(everything, monkeypatch) -> list[str]:
    """The names of the functions that were judged, in the place of judging them: their records are there."""
    names: list[str] = []

    def answers(tasks, plan):
        for task in tasks:
            names.append(task.function.rpartition(".")[2])
            yield {k: everything[names[-1]][k] for k in ("function", "calls", "left out", "stopped", "seconds")}

    monkeypatch.setattr(runner, "_answers", answers)
    return names


def test_a_sweep_resumes_where_it_was_interrupted(tmp_path, asked):
    with Store(tmp_path / "kept.sqlite") as store:
        running = sweep(FAST, store)
        first = [record["function"].rpartition(".")[2] for _, _, record in itertools.islice(running, 3)]
        running.close()
    assert first == ["save_all", *asked]
    found = swept(FAST, tmp_path / "kept.sqlite")
    assert sorted(asked) == ["counted", "cube", "scaled", "square"]
    assert len(found) == 5
    assert swept(FAST, tmp_path / "kept.sqlite") == found
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("change", "again"), [({"seed": 1}, 2), ({"examples": 3}, 2), ({"skip": ("edges",)}, 2), ({"seconds": 60.0}, 1)]
)
def test_what_would_be_judged_otherwise_is_judged_again(tmp_path, asked, change, again):
    plan = {"library": NAME, "only": ("square",), "seconds": 30.0}
    swept(Plan(**plan), tmp_path / "kept.sqlite")
    swept(Plan(**(plan | change)), tmp_path / "kept.sqlite")
    assert asked == ["square"] * again


def test_another_judge_judges_again_unless_the_verdicts_are_kept(tmp_path, asked, monkeypatch):
    swept(FAST, tmp_path / "kept.sqlite")
    monkeypatch.setattr(runner, "sources", lambda: "another")
    swept(Plan(NAME, only=FAST.only, seconds=30.0, keep=True), tmp_path / "kept.sqlite")
    assert len(asked) == 4
    swept(FAST, tmp_path / "kept.sqlite")
    assert len(asked) == 8


@pytest.mark.parametrize("keep", [False, True])
def test_more_time_judges_again_what_was_not_done(tmp_path, asked, keep):
    for seconds, count in ((0.5, 1), (0.5, 1), (1.0, 2)):
        swept(Plan(NAME, only=("endless",), seconds=seconds, keep=keep), tmp_path / "kept.sqlite")
        assert len(asked) == count


def test_a_mishap_of_the_judge_is_never_kept(tmp_path, asked, everything, monkeypatch):
    monkeypatch.setitem(everything["cube"], "stopped", f"{worker.STOPPED}ImportError: half a file")
    for count in (1, 2):
        swept(Plan(NAME, only=("cube",), keep=True), tmp_path / "kept.sqlite")
        assert len(asked) == count


def test_processes_in_parallel_find_the_same(tmp_path, everything):
    found = swept(Plan(NAME, only=("square", "scaled"), jobs=2), tmp_path / "kept.sqlite")
    assert {n: outcome(r) for n, r in found.items()} == {n: outcome(everything[n]) for n in ("square", "scaled")}


@pytest.mark.parametrize(("name", "said"), [("slurm", "there is no backend"), ("ray", "needs ray"), ("dask", "needs distributed")])
def test_a_backend_that_is_not_there_says_what_to_install(monkeypatch, name, said):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(Malformed, match=said) as raised:
        runner._backend(name)
    assert raised.value.remedy


@pytest.mark.parametrize("bad", [{"examples": 0}, {"seconds": 0.0}, {"memory": 5}, {"jobs": 0}])
def test_a_plan_that_cannot_be_followed_is_malformed(bad):
    with pytest.raises(Malformed):
        Plan(NAME, **bad)


# reports


def test_two_sweeps_compare(tmp_path, asked):
    swept(FAST, tmp_path / "a.sqlite")
    with Store(tmp_path / "a.sqlite") as a, Store(tmp_path / "b.sqlite") as b:
        for key, record, _ in a.items():
            name = record["function"].rpartition(".")[2]
            if name == "cube":
                b.put(key, record | {"calls": []})
            elif name != "square":
                b.put(key, record)
        changes = {c.function: c for c in compare(a, b)}
        assert set(changes) == {"sweep_library.cube", "sweep_library.square"}
        assert changes["sweep_library.square"].after == "absent"
        assert changes["sweep_library.cube"].gone == ("fault: jacobian, of f(x)",)
        assert compare(a, a) == []


def test_the_page_counts_everything_once_and_escapes(everything):
    text = page(NAME, list(everything.values()))
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ")]
    counts = {row[1].strip(): int(row[2]) for row in rows if row[2].strip().isdigit()}
    assert counts.pop("discovered") == sum(counts.values()) == len(everything)
    assert "cause: a factor \\*x\\* is missing" in text
    assert "### `sweep_library.cube`" in text
    assert "not done in 1 seconds" in text
    for name in everything:
        assert f"`sweep_library.{name}`" in text


def test_the_command_judges_writes_and_compares(adjudge, tmp_path):
    store, report = str(tmp_path / "kept.sqlite"), tmp_path / "page.md"
    only = ("--only", "square", "--only", "cube")
    code, out, err = adjudge("sweep", NAME, *only, "--store", store, "--report", str(report))
    assert code == 1
    assert "2 discovered: 1 fault, 0 accuracy, 1 sound, 0 unknown, 0 left out" in out
    assert "sweep_library.cube: fault" in err
    assert report.read_text().startswith(f"# {NAME}, judged")
    code, out, _ = adjudge("sweep", NAME, *only, "--store", store, "--json")
    assert [r["function"] for r in json.loads(out)] == ["sweep_library.square", "sweep_library.cube"]
    assert adjudge("sweep", NAME, "--only", "square", "--store", store)[0] == 0
    assert adjudge("sweep", NAME, "--only", "counted", "--store", store)[0] == 3
    code, out, _ = adjudge("sweep", "compare", store, store)
    assert (code, out.strip()) == (0, "0 functions differ")


@pytest.mark.parametrize(
    "words",
    [
        ("compare",),
        ("compare", "nothing.sqlite", "nothing.sqlite"),
        ("keras",),
        (NAME, "a.sqlite"),
        (NAME, "--report", "nowhere/page.md"),
        (NAME, "--only", "sqaure"),
        (NAME, "--backend", "slurm", "--only", "square"),
    ],
)
def test_a_command_that_cannot_be_followed_is_bad_input(adjudge, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    code, _, err = adjudge("sweep", *words)
    assert code == 2
    assert "Malformed" in err
    assert "try:" in err
