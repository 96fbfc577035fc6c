"""
The part of the page about one report: its verdict, its findings with faults first, its checks with their times, what was not
judged, and its errors over the domain.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from adjudge.html.elements import Child, Markup, element
from adjudge.html.plots import figure
from checkers.showing import exactly, is_text, is_wide, shape, shortened
from checkers.verdict import LedgerEntry, Passed, Refuted, Report, Verdict, alike, summary, telling

LOOKS = {
    "Proved": ("good", "⊢ proved"),
    "Passed": ("good", "✓ passed"),
    "Unknown": ("warn", "? unknown"),
    "Vacuous": ("warn", "∅ vacuous"),
    "OutOfScope": ("", "– out of scope"),
    "fault": ("bad", "✗ fault"),
    "accuracy": ("warn", "≈ accuracy"),
    "convention": ("note", "◇ convention"),
}
"""Of a verdict or the kind of a refutation: the colour, and the words with a sign for those who see no colours."""


def badge(verdict: Verdict) -> Markup:
    """The verdict in a word."""
    look, words = LOOKS[verdict.kind if isinstance(verdict, Refuted) else type(verdict).__name__]
    return element("span", words, class_=f"badge {look}".strip())


def section(report: Report, name: str, *, unfolded: bool) -> Markup:
    """All that a report says. `name` is its anchor; its checks are in a fold, open if so asked."""
    _, _, rest = summary(report.verdict).partition(": ")
    findings = [finding(group, f"{name}-{k}") for k, group in enumerate(alike(report.findings))]
    return element(
        "section",
        element("header", element("h2", element("code", report.subject), id=f"{name}-name"), badge(report.verdict)),
        element("p", _about(report, rest), class_="aside"),
        findings,
        _checks(report, unfolded),
        _not_judged(report),
        _domain(report, name, unfolded),
        id=name,
        class_="subject",
        aria_labelledby=f"{name}-name",
    )


def _about(report: Report, rest: str) -> str:
    """One paragraph: why, on what, against which references, from which seed."""
    said = [rest] if rest and not isinstance(report.verdict, Refuted) else []
    said += [f"{k}: {_listed(v)}" for k, v in report.details.items() if isinstance(v, (str, int, list, tuple, dict)) and _listed(v)]
    said += [f"seed: {report.seed}"] if report.seed is not None else []
    return " · ".join(said)


def _listed(value: Any) -> str:
    match value:
        case dict():
            return ", ".join(f"{k} {v}" for k, v in value.items() if isinstance(v, (str, int, float)))
        case list() | tuple():
            return ", ".join(map(str, value))
        case bool():
            return "yes" if value else "no"
    return str(value)


def finding(group: Sequence[Refuted], name: str) -> Markup:
    """
    Findings that are alike, the gravest first: where, what was found and wanted, why it may be, what it looks like, and how to see
    it again.
    """
    c, first = telling(group), group[0]
    claims = dict.fromkeys(f.claim if f.kind == first.kind else f"{f.claim} ({f.kind})" for f in group)
    rows: list[Child] = []
    for parameter, value in c.inputs.items():
        rows += [element("dt", parameter), element("dd", _value(value), class_="exact")]
    rows += [element("dt", "found"), element("dd", _value(c.found), class_="found exact")]
    rows += [element("dt", "wanted"), element("dd", _value(c.wanted), class_="wanted exact")]
    rows += [element("dt", "note"), element("dd", element("pre", c.note) if is_text(c.note) else c.note)] if c.note else []
    script = element(
        "details",
        element("summary", "A script that shows it alone"),
        element("div", element("pre", element("code", c.script), tabindex=0), class_="code"),
    )
    return element(
        "article",
        element("h3", badge(first), ", ".join(claims), id=name),
        element("p", c.cause, class_="cause") if c.cause else None,
        element("div", element("dl", rows), [figure(p, f"{name}-plot-{k}") for k, p in enumerate(c.plots)], class_="body"),
        script if c.script else None,
        class_=LOOKS[first.kind][0],
        aria_labelledby=name,
    )


def _value(value: Any) -> Child:
    """A value as text: the decimal first and its bits after it, long ones under each other."""
    if is_wide(value):
        return [shape(value), element("pre", shortened(value)) if value.size else None]
    if is_text(value):
        return element("pre", value.strip("\n"))
    if isinstance(value, float) and math.isfinite(value):
        bits = re.sub(r"\.?0*p", "p", value.hex())
        return [repr(float(value)), " ", element("small", bits)]
    return exactly(value)


def _checks(report: Report, unfolded: bool) -> Markup:
    """Every verdict with its sentence and, at the first of a check, what the check cost."""
    seconds = {e.check: e.seconds for e in report.ledger if e.seconds}
    rows = []
    for verdict in report.verdicts:
        _, _, rest = summary(verdict).partition(": ")
        what = f"on {verdict.n}: {rest}" if isinstance(verdict, Passed) else rest
        rows.append(_row(verdict.claim or "–", badge(verdict), what, seconds.pop(verdict.claim, None)))
    rows += [_row(check, None, "", spent) for check, spent in seconds.items()]
    head = [element("th", t, scope="col") for t in ("check", "verdict", "what")]
    table = element(
        "table",
        element("caption", f"Verdicts on {report.subject}, with the milliseconds of each check", class_="aside"),
        element("thead", element("tr", head, element("th", "ms", scope="col", class_="number"))),
        element("tbody", rows),
        class_="checks",
    )
    said = ", ".join(f"{n} {kind}" for kind, n in report.counts().items())
    total = sum(e.seconds for e in report.ledger)
    return element("details", element("summary", f"{len(report.verdicts)} verdicts in {total:.2f} s: {said}"), table, open=unfolded)


def _row(check: str, verdict: Markup | None, what: str, seconds: float | None) -> Markup:
    spent = "" if seconds is None else f"{1000 * seconds:.1f}" if seconds < 0.01 else f"{1000 * seconds:.0f}"
    cells = [element("td", verdict), element("td", what, class_="what"), element("td", spent, class_="number")]
    return element("tr", element("th", check, scope="row"), cells)


def _not_judged(report: Report) -> Markup | None:
    """What was not judged, and why."""
    skipped = [e for e in report.ledger if e.skipped]
    if not skipped:
        return None

    def entry(e: LedgerEntry) -> Child:
        return [element("dt", e.check), element("dd", e.skipped)]

    return element("details", element("summary", f"Not judged: {len(skipped)}"), element("dl", map(entry, skipped)))


def _domain(report: Report, name: str, unfolded: bool) -> Markup | None:
    """The errors over the domain."""
    if not report.plots:
        return None
    figures = [figure(plot, f"{name}-errors-{k}") for k, plot in enumerate(report.plots)]
    return element(
        "details", element("summary", "Errors over the domain"), element("div", figures, class_="figures"), open=unfolded
    )
