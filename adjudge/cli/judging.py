"""`adjudge check`, `audit` and `prove`: the judgments, printed."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from adjudge.cli.common import DONE, Json, Seed, console, errors, import_file, say, say_json, split, worst
from adjudge.primitives import UserPrimitive
from checkers.verdict import ORDER, Proved, Refuted, Report, Unknown, summary
from semantics.errors import Malformed
from semantics.primitives import TABLE, Primitive
from transforms.pattern import PatternRule
from transforms.system import RewriteSystem

Judged = Annotated[
    str, typer.Argument(metavar="FILE[:NAME]", help="A Python file, imported and so run; all it defines, or one name.")
]
Skip = Annotated[list[str] | None, typer.Option(help="A check not to make, by name; may be repeated.")]


def check(
    target: Annotated[
        str, typer.Argument(metavar="FILE[:NAME] | PRIMITIVE", help="A file with primitives, or a row of the table: `exp`.")
    ],
    seed: Seed = 0,
    skip: Skip = None,
    as_json: Json = False,
) -> None:
    """Judge the backpropagators of the primitives in a file."""
    from adjudge.judging import check as judge

    subjects: dict[str, Any] = (
        {target: TABLE[target]} if target in TABLE else _found(target, UserPrimitive, "primitives (@adjudge.primitive)")
    )
    _judge_all(subjects, lambda s: judge(s, seed=seed, skip=skip or ()), as_json)


def audit(target: Judged, seed: Seed = 0, skip: Skip = None, as_json: Json = False) -> None:
    """Judge the rewrite rules and the passes in a file."""
    from adjudge.judging import audit as judge

    subjects = _found(target, (PatternRule, RewriteSystem), "rules (adjudge.rule) or passes")
    _judge_all(subjects, lambda s: judge(s, seed=seed, skip=skip or ()), as_json)


def _found(target: str, kinds: Any, what: str) -> dict[str, Any]:
    """The objects of these kinds that the file defines, or the one named. A named function counts as a pass."""
    path, name = split(target)
    module = import_file(path)
    found = {k: v for k, v in vars(module).items() if isinstance(v, kinds)}
    if not name:
        if not found:
            raise Malformed(f"{path} defines no {what}", remedy=f"name one: {path}:NAME")
        return found
    if name in found or callable(getattr(module, name, None)):
        return {name: getattr(module, name)}
    raise Malformed(f"{path} defines no {name} to judge", remedy=f"one of {', '.join(found) or 'none'}")


def _judge_all(subjects: dict[str, Any], judge: Any, as_json: bool) -> None:
    reports: list[Report] = []
    with progress() as bar:
        task = bar.add_task("judging", total=len(subjects))
        for name, subject in subjects.items():
            bar.update(task, description=f"judging {name}")
            reports.append(judge(subject))
            bar.advance(task)
    if as_json:
        say_json([json.loads(r.to_json()) for r in reports])
    else:
        for report in reports:
            print_report(report)
    raise typer.Exit(worst([r.exit_code for r in reports]))


def progress() -> Progress:
    """A progress bar on standard error, gone when done."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    return Progress(*columns, console=errors, transient=True)


STYLE = {"Proved": "green", "Passed": "green", "Refuted": "red", "Unknown": "yellow", "Vacuous": "yellow", "OutOfScope": "dim"}


def print_report(report: Report, *, scripts: bool = True) -> None:
    """A report for a reader: a table of verdicts, the counterexamples, the script, and what was not judged."""
    table = Table(title=f"{report.subject}: {summary(report.verdict)}", title_justify="left", box=None, pad_edge=False)
    table.add_column("check")
    table.add_column("verdict")
    table.add_column("what", overflow="fold")
    for verdict in report.verdicts:
        kind = type(verdict).__name__
        label, _, rest = summary(verdict).partition(": ")
        table.add_row(verdict.claim or "-", f"[{STYLE[kind]}]{label}[/]", rest.replace("[", "\\["))
    console.print(table)
    for finding in report.findings:
        say(f"\n{finding.kind} in {finding.claim}\n{finding.counterexample}")
        if scripts and finding.counterexample.script and finding is report.findings[0]:
            say(
                "\n  a script that shows it alone:\n"
                + "\n".join(f"    {line}" for line in finding.counterexample.script.splitlines())
            )
    say("\n" + ", ".join(f"{n} {kind}" for kind, n in report.counts().items()))
    for entry in report.ledger:
        if entry.skipped:
            say(f"not judged: {entry.check}: {entry.skipped}")
    say("")


def prove(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME | FILE:NAME]...", help="Primitives or shipped rules; all if none.")
    ] = None,
    trusted: Annotated[bool, typer.Option("--trusted", help="Print the axioms that proofs rest on.")] = False,
    as_json: Json = False,
) -> None:
    """Discharge proof obligations and print them with their times."""
    from proofs import TRUSTED, discharge, obligations

    if trusted:
        rows = [{"name": a.name, "statement": a.statement, "source": a.source} for a in TRUSTED]
        say_json(rows) if as_json else _axioms(rows)
        return
    wanted = [o for o in obligations() if not names or any(n in (o.subject, o.name) for n in names)]
    subjects = [n for n in names or [] if not any(n in (o.subject, o.name) for o in wanted)]
    results: list[Any] = []
    with progress() as bar:
        task = bar.add_task("proving", total=len(wanted))
        for obligation in wanted:
            bar.update(task, description=f"proving {obligation.name}")
            results.append(discharge(obligation))
            bar.advance(task)
    verdicts = [r.verdict for r in results]
    for subject in subjects:
        verdicts += _prove_object(subject, results)
    if as_json:
        say_json([{"name": r.name, "method": r.method, "verdict": summary(r.verdict), "seconds": r.seconds} for r in results])
    else:
        _table(results, verdicts)
    refuted = any(isinstance(v, Refuted) for v in verdicts)
    decided = any(isinstance(v, (Proved, Refuted)) for v in verdicts)
    raise typer.Exit(1 if refuted else DONE if decided else 3)


def _prove_object(subject: str, results: list[Any]) -> list[Any]:
    """The verdicts on a primitive or rule that a file defines."""
    from adjudge.judging import prove as discharge

    verdicts: list[Any] = []
    for name, found in _found(subject, (UserPrimitive, PatternRule, Primitive), "primitives or rules").items():
        proved = discharge(found)
        verdicts += proved
        for verdict in proved:
            say(f"{name}: {verdict.claim}: {summary(verdict)}")
    return verdicts


def _axioms(rows: list[dict[str, str]]) -> None:
    table = Table("axiom", "statement", "source", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row["name"], row["statement"].replace("[", "\\["), row["source"].replace("[", "\\["))
    console.print(table)


def _table(results: list[Any], verdicts: list[Any]) -> None:
    table = Table("obligation", "method", "verdict", "ms", box=None, pad_edge=False)
    for r in results:
        kind = type(r.verdict).__name__
        table.add_row(
            r.name, r.method, f"[{STYLE[kind]}]{summary(r.verdict).replace('[', chr(92) + '[')}[/]", f"{1000 * r.seconds:.1f}"
        )
    console.print(table)
    counts = {kind.__name__: sum(isinstance(v, kind) for v in verdicts) for kind in ORDER}
    say(", ".join(f"{n} {kind}" for kind, n in counts.items()))
    for verdict in verdicts:
        if isinstance(verdict, Unknown):
            say(f"unknown: {verdict.claim}: {verdict.reason}")
