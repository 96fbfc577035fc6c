"""
The page: title, outcome, a table of what was judged, and a section for each report. It needs no network and no script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from adjudge.html.elements import Child, Markup, element
from adjudge.html.style import SCRIPT, STYLE
from adjudge.html.subject import badge, section
from checkers.verdict import KINDS, ORDER, Report

FEW = 4
"""So many reports are shown unfolded."""
PLURAL = {"fault": "faults", "accuracy": "accuracy findings", "convention": "conventions"}
SINGULAR = {"fault": "fault", "accuracy": "accuracy finding", "convention": "convention"}


def page(reports: Sequence[Report], *, title: str, about: Mapping[str, str]) -> str:
    """The page about these reports. `about` says how they were made: the command, the versions."""
    names = [f"r{k}" for k in range(len(reports))]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{title}: {outcome(reports)}"),
        element("style", Markup(STYLE)),
    )
    facts = [element("li", f"{k} ", element("code", v)) for k, v in about.items()]
    body = element(
        "body",
        element(
            "header",
            element("p", "adjudge", class_="brand"),
            element("h1", title),
            element("p", outcome(reports), class_="outcome"),
            element("ul", facts, class_="about"),
        ),
        element(
            "main",
            _overview(reports, names) if len(reports) > 1 else None,
            [section(r, n, unfolded=len(reports) <= FEW) for r, n in zip(reports, names, strict=True)],
        ),
        element("footer", element("p", _legend(), class_="aside")),
        element("script", Markup(SCRIPT)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def outcome(reports: Sequence[Report]) -> str:
    """The whole in a sentence: what was found, and what was not decided."""
    kinds = Counter(f.kind for r in reports for f in r.findings)
    said = [f"{kinds[k]} {SINGULAR[k] if kinds[k] == 1 else PLURAL[k]}" for k in KINDS if kinds[k]]
    said = said or ["no fault found"] if reports else ["nothing was judged"]
    undecided = sum(r.exit_code == 3 for r in reports)
    said += [f"{undecided} not decided"] if undecided else []
    among = f" in {len(reports)} subjects" if len(reports) > 1 else ""
    return f"{', '.join(said)}{among}"


def _overview(reports: Sequence[Report], names: Sequence[str]) -> Markup:
    """A row per report: its verdict, how many verdicts of each kind, how many findings of each kind, the time."""
    columns = [*(kind.__name__ for kind in ORDER), *PLURAL.values(), "seconds"]
    columns = [c for c in columns if c != "Refuted"]
    heads: list[Child] = [element("th", t, scope="col") for t in ("subject", "verdict")]
    heads += [element("th", _word(c), scope="col", class_="number") for c in columns]
    rows = []
    for report, name in zip(reports, names, strict=True):
        counts, kinds = report.counts(), Counter(f.kind for f in report.findings)
        numbers = [counts[kind.__name__] for kind in ORDER if kind.__name__ != "Refuted"] + [kinds[k] for k in KINDS]
        cells = [element("td", str(n), class_="number none" if n == 0 else "number") for n in numbers]
        cells.append(element("td", f"{sum(e.seconds for e in report.ledger):.2f}", class_="number"))
        link = element("a", element("code", report.subject), href=f"#{name}")
        rows.append(element("tr", element("th", link, scope="row"), element("td", badge(report.verdict)), cells))
    caption = element(
        "caption", "How many verdicts of each kind on each subject; those that refute are faults, accuracy findings or conventions"
    )
    table = element("table", caption, element("thead", element("tr", heads)), element("tbody", rows))
    return element("div", table, class_="scroll overview", tabindex=0, role="region", aria_label="Overview")


def _word(column: str) -> str:
    """The head of a column."""
    return {"OutOfScope": "out of scope", "accuracy findings": "accuracy"}.get(column, column.lower())


def _legend() -> str:
    return (
        "Proved: for all inputs in the scope that is named. Passed: on so many inputs; nothing is claimed about the others. "
        "A fault is wrong over the reals, or not finite where the derivative is; an accuracy finding is right over the reals and "
        "loses digits in doubles; a convention is a choice among derivatives that all are right, as at a kink. "
        "Unknown is never counted as success."
    )
