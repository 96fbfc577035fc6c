"""How reports are printed: a progress line while judging, then for each report a table, its findings, and what was not judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from adjudge.cli.common import console, errors, say
from checkers.showing import COLUMNS, folded
from checkers.verdict import KINDS, Counterexample, Refuted, Report, Verdict, alike, summary, telling

STYLE = {"Proved": "green", "Passed": "green", "Refuted": "red", "Unknown": "yellow", "Vacuous": "yellow", "OutOfScope": "dim"}
SAID = {
    "summary": "in short",
    "holds when": "it would hold when",
    "weaker side condition": "a weaker condition would do",
    "side condition excludes": "the condition excludes",
    "defined only on the right": "defined only on the right, at",
    "subsumed by": "the same is done by",
    "instance of": "it is an instance of",
    "hits": "it fires in",
    "rules fired": "rules fired",
}


def progress() -> Progress:
    """A progress line on standard error, gone when done."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    return Progress(*columns, console=errors, transient=True)


def coloured(verdict: Verdict, text: str) -> str:
    """The text in the colour of the verdict, as markup."""
    return f"[{STYLE[type(verdict).__name__]}]{escape(text)}[/]"


def print_report(report: Report, *, scripts: bool = True) -> None:
    """A report for a reader: a table of verdicts, the counterexamples, the script, and what was not judged."""
    title = f"{escape(report.subject)}: {coloured(report.verdict, summary(report.verdict))}"
    width = min(console.width, COLUMNS)
    console.print(f"[bold]{title}[/]", width=width, soft_wrap=False)
    table = Table(box=None, pad_edge=False)
    table.add_column("check", max_width=max(24, width * 2 // 5))
    table.add_column("verdict", no_wrap=True)
    table.add_column("what", overflow="fold")
    for verdict in report.verdicts:
        label, _, rest = summary(verdict).partition(": ")
        table.add_row(escape(verdict.claim or "-"), coloured(verdict, label), escape(rest))
    console.print(table, width=width)
    for claims, counterexample in grouped(report.findings):
        say("\n" + "\n".join(claims) + f"\n{counterexample}")
        if scripts and counterexample.script:
            say("  a script that shows it alone")
            say("\n".join(f"    {line}".rstrip() for line in counterexample.script.splitlines()))
            scripts = False
    print_details(report)
    say("\n" + ", ".join(f"{n} {kind}" for kind, n in report.counts().items()))
    for entry in report.ledger:
        if entry.skipped:
            say("\n".join(folded(f"not judged: {entry.check}: {entry.skipped}")))
    say("")


def print_overview(reports: Sequence[Report]) -> None:
    """One row for each of several reports: its verdict, and how many findings of each kind."""
    table = Table(box=None, pad_edge=False)
    table.add_column("subject", overflow="fold")
    table.add_column("verdict", overflow="fold")
    for kind in (*KINDS, "undecided", "seconds"):
        table.add_column(kind, justify="right", no_wrap=True)
    for report in reports:
        kinds = Counter(f.kind for f in report.findings)
        counts = [*(kinds[kind] for kind in KINDS), report.counts()["Unknown"]]
        seconds = f"{sum(e.seconds for e in report.ledger):.2f}"
        v = report.verdict
        verdict = coloured(v, f"{v.kind}: {v.claim}" if isinstance(v, Refuted) else summary(v))
        table.add_row(escape(report.subject), verdict, *(str(n) if n else "[dim]0[/]" for n in counts), seconds)
    console.print(table, width=min(console.width, COLUMNS))


def grouped(findings: Sequence[Refuted]) -> list[tuple[list[str], Counterexample]]:
    """The refutations, those of one input, one result and one wanted result together; of each group what says most is shown."""
    return [([f"{f.kind}: {f.claim}" for f in group], telling(group)) for group in alike(findings)]


def print_details(report: Report) -> None:
    """What the report says beside its verdicts."""
    lines = []
    for name, label in SAID.items():
        found = report.details.get(name)
        match found:
            case dict():
                found = ", ".join(f"{k} {n}" for k, n in found.items())
            case list() | tuple():
                found = ", ".join(map(str, found))
        if found:
            lines.append(f"{label}: {found}")
    if lines:
        say("\n" + "\n".join(lines))
