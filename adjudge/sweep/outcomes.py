"""What a record of a sweep says: its outcome in a word, its findings; and how two sweeps differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from adjudge.sweep.store import Record, Store

FAULT, ACCURACY, SOUND, UNKNOWN, LEFT_OUT = "fault", "accuracy", "sound", "unknown", "left out"
OUTCOMES = (FAULT, ACCURACY, SOUND, UNKNOWN, LEFT_OUT)


def reports(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    """The reports in a record, each with the call of its call."""
    return ((answer["call"], answer["report"]) for answer in record["calls"] if "report" in answer)


def refused(record: Record) -> list[str]:
    """The calls that were not judged, with the reasons."""
    return [f"{answer['call']}: {answer['refused']}" for answer in record["calls"] if "refused" in answer]


def findings(record: Record, *kinds: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The refutations of these kinds, or of all, each with the call of its call."""
    for call, report in reports(record):
        for verdict in report["verdicts"]:
            if verdict["verdict"] == "Refuted" and (not kinds or verdict["kind"] in kinds):
                yield call, verdict


def outcome(record: Record) -> str:
    """
    One of OUTCOMES, the gravest that is true of any call.

    Sound means that at least one call was judged, every call that was judged passed, and nothing stopped the judge.
    """
    kinds = {finding["kind"] for _, finding in findings(record)}
    if grave := [kind for kind in (FAULT, ACCURACY) if kind in kinds]:
        return grave[0]
    judged = [report["verdict"] for _, report in reports(record)]
    if record["stopped"] or any(verdict not in ("Passed", "Proved") for verdict in judged):
        return UNKNOWN
    return SOUND if judged else LEFT_OUT


def why(record: Record) -> str:
    """Why there is no verdict, or not on every call; nothing where there is."""
    unknown = [f"{call}: nothing was decided" for call, r in reports(record) if r["verdict"] not in DECIDED]
    return "; ".join(filter(None, (record["left out"], record["stopped"], *unknown, *refused(record))))


DECIDED = ("Passed", "Proved", "Refuted")


@dataclass(frozen=True, slots=True)
class Change:
    """What another sweep says of a function: the outcomes, `absent` where there is none, and which findings are new or gone."""

    function: str
    before: str
    after: str
    new: tuple[str, ...]
    gone: tuple[str, ...]


def latest(store: Store) -> dict[tuple[str, str], Record]:
    """For each library and function the record written last."""
    return latest_of([store])


def latest_of(stores: Iterable[Store]) -> dict[tuple[str, str], Record]:
    """The same of several stores together; each record says beside what it holds when it was `written`."""
    found: dict[tuple[str, str], tuple[str, Record]] = {}
    for _, record, written in chain.from_iterable(store.items() for store in stores):
        if "function" in record:
            name = (record["library"], record["function"])
            if name not in found or found[name][0] <= written:
                found[name] = (written, record | {"written": written})
    return {name: record for name, (_, record) in sorted(found.items(), key=lambda item: item[0])}


def compare(before: Store, after: Store) -> list[Change]:
    """The functions on which two sweeps differ, in outcome or in findings; of each the record written last."""
    was, now = latest(before), latest(after)
    changes = []
    for name in sorted(was.keys() | now.keys()):
        old, new = was.get(name), now.get(name)
        outcomes = [outcome(r) if r is not None else "absent" for r in (old, new)]
        marks = [_marks(r) if r is not None else frozenset() for r in (old, new)]
        if outcomes[0] != outcomes[1] or marks[0] != marks[1]:
            added, gone = (tuple(sorted(a - b)) for a, b in ((marks[1], marks[0]), (marks[0], marks[1])))
            changes.append(Change(name[1], outcomes[0], outcomes[1], added, gone))
    return changes


def _marks(record: Record) -> frozenset[str]:
    """The findings, without the inputs, which may differ for every seed."""
    return frozenset(f"{finding['kind']}: {finding['claim']}, of {call}" for call, finding in findings(record))
