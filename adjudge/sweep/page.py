"""The report of a sweep in Markdown: what was discovered, what is wrong with it, and what was not judged, with every reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from adjudge.sweep.outcomes import ACCURACY, FAULT, LEFT_OUT, OUTCOMES, SOUND, UNKNOWN, findings, outcome, refused, why
from adjudge.sweep.store import Record

SHOWN = 4
"""So many findings of a function are written out; the others are counted."""
LONGEST = 400
MEANING = {
    FAULT: "a derivative is wrong over the reals, or a contract is broken",
    ACCURACY: "right over the reals, but digits are lost in doubles",
    SOUND: "judged, and nothing wrong was found; a convention at a kink may be recorded",
    UNKNOWN: "not decided, or not wholly: time, memory, a crash, or no reference that knows",
    LEFT_OUT: "not a question, or one that we do not know how to ask",
}


def page(library: str, records: Sequence[Record]) -> str:
    """The page of the records of one library."""
    ordered = sorted(records, key=lambda r: r["function"])
    by = {kind: [r for r in ordered if outcome(r) == kind] for kind in OUTCOMES}
    conventional = [r for r in ordered if any(findings(r, "convention"))]
    parts = [
        *_head(library, ordered, by),
        *_findings("Faults", by[FAULT], "fault"),
        *_findings("Accuracy", [r for r in ordered if any(findings(r, "accuracy"))], "accuracy"),
        *_conventions(conventional),
        *_reasons("Not decided", by[UNKNOWN]),
        *_sound(by[SOUND]),
        *_left_out(by[LEFT_OUT]),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _head(library: str, records: Sequence[Record], by: dict[str, list[Record]]) -> Iterator[str]:
    yield f"# {library}, judged\n"
    yield f"Written by `adjudge sweep {library}`. Each function is called as said beside it, and its backpropagator judged by"
    yield "the checks of `adjudge check`.\n"
    for label, name in (("version", "version"), ("adjudge", "adjudge"), ("seed", "seed"), ("inputs tried per call", "examples")):
        yield f"- {label}: {', '.join(sorted({str(r[name]) for r in records}))}"
    judges = {r["judge"] for r in records}
    yield f"- sources of the judge: {', '.join(sorted(judges))}" + (" (more than one judge)" if len(judges) > 1 else "")
    yield f"- time: {sum(r['seconds'] for r in records):.0f} s of one core\n"
    lines = [(kind, len(by[kind]), MEANING[kind]) for kind in OUTCOMES]
    yield from table(("outcome", "functions", "meaning"), [*lines, ("discovered", len(records), "the sum")])


def _findings(title: str, records: Sequence[Record], kind: str) -> Iterator[str]:
    """A section with the findings of a kind, function by function."""
    if not records:
        return
    yield f"\n## {title}\n"
    for record in records:
        found = list(findings(record, kind))
        yield f"### `{record['function']}`\n"
        for call, finding in found[:SHOWN]:
            yield from _finding(call, finding)
        if len(found) > SHOWN:
            yield f"- and {len(found) - SHOWN} more: {_counted(f['claim'] for _, f in found[SHOWN:])}"
        if rest := [r for r in (record["stopped"], *refused(record)) if r]:
            yield f"- not judged: {prose('; '.join(rest))}"
        yield ""


def _finding(call: str, finding: dict[str, Any]) -> Iterator[str]:
    inputs = ", ".join(f"{name} = {value}" for name, value in finding["inputs"].items())
    yield f"- **{finding['claim']}**, called as `{call}`"
    for label, value in (("at", inputs), ("found", finding["found"]), ("wanted", finding["wanted"])):
        if value not in ("", None):
            yield f"  - {label} {code(value)}"
    for label in ("cause", "note"):
        if finding.get(label):
            yield f"  - {label}: {prose(finding[label])}"


def _conventions(records: Sequence[Record]) -> Iterator[str]:
    """Which value a function answers where it has no derivative."""
    if not records:
        return
    yield "\n## Conventions\n"
    lines = []
    for record in records:
        for call, finding in findings(record, "convention"):
            said = finding.get("note") or finding.get("cause") or finding["summary"]
            lines.append((f"`{record['function']}`", code(call), finding["claim"], prose(said)))
    yield from table(("function", "call", "check", "what"), lines)


def _reasons(title: str, records: Sequence[Record]) -> Iterator[str]:
    if records:
        yield f"\n## {title}\n"
        yield from table(("function", "why"), [(f"`{r['function']}`", prose(why(r))) for r in records])


def _sound(records: Sequence[Record]) -> Iterator[str]:
    """The functions with nothing against them, and which of their calls were judged."""
    if not records:
        return
    yield "\n## Sound\n"
    lines = []
    for record in records:
        calls = ", ".join(code(a["call"]) for a in record["calls"] if "report" in a)
        lines.append((f"`{record['function']}`", calls, prose("; ".join(refused(record)))))
    yield from table(("function", "calls", "calls not judged"), lines)


def _left_out(records: Sequence[Record]) -> Iterator[str]:
    """What was not judged, by reason; a reason that one function has alone is beside its name."""
    if not records:
        return
    yield "\n## Left out\n"
    groups: dict[str, list[str]] = defaultdict(list)
    for record in records:
        groups[why(record) or "no reason was recorded"].append(f"`{record['function']}`")
    for reason, names in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        yield f"- {prose(reason)} ({len(names)}): {', '.join(names)}"


def _counted(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {n}" for name, n in Counter(names).items())


def table(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' * len(columns)}"
    for cells in lines:
        yield f"| {' | '.join(str(c).replace('|', chr(92) + '|') for c in cells)} |"


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text)} characters)"


def prose(value: Any) -> str:
    """One line of prose; what would be markup stays as it is written."""
    return "".join(f"\\{c}" if c in "*_<>[]`#" else c for c in _short(value))


def code(value: Any) -> str:
    """One line of code, whatever is in it."""
    text = _short(value)
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"
