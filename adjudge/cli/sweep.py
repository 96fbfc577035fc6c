"""`adjudge sweep`: a whole library under the judge, two sweeps compared, several told on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from adjudge.cli.common import DONE, ONLY_UNKNOWNS, REFUTED, Json, Seed, console, errors, say, say_json, writable, write_text
from semantics.errors import Malformed

COMPARE, SUMMARY = "compare", "summary"
COLOUR = {"fault": "red", "accuracy": "yellow", "sound": "green", "unknown": "yellow", "left out": "dim"}
GIB = 2**30
NOT_MADE = ("vacuity",)
"""It mutates a rule to learn whether its author's inputs would notice; here the inputs are ours."""


def sweep(
    library: Annotated[str, typer.Argument(metavar="jax|torch|autograd|MODULE:NAME | compare | summary", help="What to judge.")],
    files: Annotated[list[Path] | None, typer.Argument(metavar="[STORE…]", help="With compare: two stores.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A function, by the end of its dotted name; may be repeated.")
    ] = None,
    seed: Seed = 0,
    store: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where verdicts are kept; LIBRARY.sqlite if not said. A sweep resumes.")
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE.md", help="Where to write the report in Markdown.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write the report as a page of HTML.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one on each core.")] = 1,
    backend: Annotated[str, typer.Option(metavar="dask|ray", help="A cluster, in place of processes here.")] = "",
    timeout: Annotated[
        float, typer.Option(help="Seconds of the processor that one function may take; of the clock, four times as many.")
    ] = 60.0,
    memory: Annotated[float, typer.Option(help="GiB of address space that one process may take.")] = 8.0,
    examples: Annotated[int, typer.Option(help="Inputs to try per call.")] = 40,
    skip: Annotated[
        list[str] | None, typer.Option(help="A check not to make, by name; may be repeated. If none is said: vacuity.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep stored verdicts that an earlier judge made.")] = False,
    as_json: Json = False,
) -> None:
    """
    Judge every function of a library that has a derivative.

    Each is judged in a process of its own, within its time and memory; verdicts are stored as they are made, and a sweep that was
    interrupted goes on where it stopped. `adjudge sweep compare A.sqlite B.sqlite` says what changed from A to B;
    `adjudge sweep summary STORE… --report FILE.md` writes one page on several sweeps, with whose each finding is.
    """
    if library == COMPARE:
        _compare(files or [], as_json)
        return
    if library == SUMMARY:
        _summary(files or [], report)
        return
    if files:
        raise Malformed("a sweep takes one library and no files", remedy="adjudge sweep LIBRARY --store FILE")
    from adjudge.sweep.catalogue import library as known
    from adjudge.sweep.runner import Plan

    known(library)  # before a store is made for it
    writable(report, html)
    names, skipped = tuple(only or ()), tuple(skip or NOT_MADE)
    plan = Plan(library, names, seed, examples, timeout, int(memory * GIB), jobs, backend, skipped, keep)
    records = _swept(plan, store or Path(f"{library.replace(':', '.')}.sqlite"))
    _written(library, records, report, html)
    say_json(records) if as_json else _said(records)
    raise typer.Exit(_exit_code(records))


def _swept(plan: Any, path: Path) -> list[dict[str, Any]]:
    """The records of a sweep, made behind a bar, or a line each where there is no terminal. Ctrl-C keeps what is done."""
    from adjudge.sweep.outcomes import LEFT_OUT, outcome
    from adjudge.sweep.runner import sweep as run
    from adjudge.sweep.store import Store

    records: list[dict[str, Any]] = []
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)
    with Store(path) as store, bar:
        task = bar.add_task("judging", total=None)
        try:
            for done, whole, record in run(plan, store):
                records.append(record)
                said = outcome(record)
                bar.update(task, completed=done, total=whole, description=record["function"])
                if not errors.is_terminal and said != LEFT_OUT:
                    errors.print(f"{done}/{whole} {record['function']}: {said} ({record['seconds']:.1f} s)", markup=False)
        except KeyboardInterrupt:
            remedy = "the same command goes on from there"
            raise Malformed(f"interrupted; {len(records)} records are in {path}", remedy=remedy) from None
    return records


def _written(library: str, records: list[dict[str, Any]], report: Path | None, html: Path | None) -> None:
    """Writes the reports that were asked for."""
    if report is not None:
        from adjudge.sweep.page import page

        write_text(report, page(library, records))
    if html is not None:
        import json

        from adjudge.html import write
        from adjudge.sweep.outcomes import reports
        from checkers.verdict import Report

        found = [Report.from_json(json.dumps(r)) for record in records for _, r in reports(record)]
        write(found, html, title=f"adjudge sweep {library}")


def _said(records: list[dict[str, Any]]) -> None:
    """What is not sound, one line each, and the counts."""
    from adjudge.sweep.outcomes import ACCURACY, FAULT, OUTCOMES, UNKNOWN, findings, outcome, why

    table = Table("function", "outcome", "what", box=None, pad_edge=False)
    ordered = sorted(records, key=lambda r: (OUTCOMES.index(outcome(r)), r["function"]))
    for record in ordered:
        said = outcome(record)
        if said in (FAULT, ACCURACY, UNKNOWN):
            claims = dict.fromkeys(f"{finding['claim']}" for _, finding in findings(record, said))
            what = ", ".join(claims) or why(record)
            table.add_row(escape(record["function"]), f"[{COLOUR[said]}]{said}[/]", escape(what))
    if table.row_count:
        console.print(table)
    counts = {kind: sum(outcome(r) == kind for r in records) for kind in OUTCOMES}
    say(f"{len(records)} discovered: " + ", ".join(f"{n} {kind}" for kind, n in counts.items()))


def _exit_code(records: list[dict[str, Any]]) -> int:
    from adjudge.sweep.outcomes import ACCURACY, FAULT, SOUND, outcome

    found = {outcome(r) for r in records}
    return REFUTED if found & {FAULT, ACCURACY} else DONE if SOUND in found else ONLY_UNKNOWNS


def _summary(files: list[Path], report: Path | None) -> None:
    """The page on the sweeps in these stores, into a file or onto the terminal; of a function the record written last."""
    from adjudge.sweep.outcomes import latest_of
    from adjudge.sweep.store import Store
    from adjudge.sweep.summary import summary

    writable(report)
    if not files:
        raise Malformed("summary wants a store", remedy="adjudge sweep summary A.sqlite B.sqlite --report FILE.md")
    stores = [Store(path, make=False) for path in files]
    text = summary(list(latest_of(stores).values()))
    say(text) if report is None else write_text(report, text)


def _compare(files: list[Path], as_json: bool) -> None:
    """What changed between two stores; exit code 1 if something was lost: a fault or an accuracy finding that is new."""
    from dataclasses import asdict

    from adjudge.sweep.outcomes import compare
    from adjudge.sweep.store import Store

    if len(files) != 2:
        raise Malformed(f"compare wants two files, not {len(files)}", remedy="adjudge sweep compare A.sqlite B.sqlite")
    with Store(files[0], make=False) as before, Store(files[1], make=False) as after:
        changes = compare(before, after)
    if as_json:
        say_json([asdict(change) for change in changes])
    else:
        for change in changes:
            outcomes = dict.fromkeys((change.before, change.after))
            say(f"{change.function}: {' -> '.join(outcomes)}")
            for mark, findings in (("new ", change.new), ("gone", change.gone)):
                for finding in findings:
                    say(f"  {mark} {finding}")
        say(f"{len(changes)} functions differ")
    worse = any(finding.startswith(("fault", "accuracy")) for change in changes for finding in change.new)
    raise typer.Exit(REFUTED if worse else DONE)
