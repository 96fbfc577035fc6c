"""
The sweeps over several libraries on one page: the counts, every fault and every lost digit with whose it is, and which value each
library takes at a kink. `page` writes out the findings of one library; here those that one judgment is about are one line.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from adjudge.sweep.catalogue import KNOWN as LIBRARIES
from adjudge.sweep.catalogue import discovered, library
from adjudge.sweep.classified import NEW, known
from adjudge.sweep.outcomes import ACCURACY, FAULT, LEFT_OUT, OUTCOMES, UNKNOWN, findings, outcome, reports, why
from adjudge.sweep.page import code, prose, table
from adjudge.sweep.store import Record
from adjudge.sweep.worker import NO_ARGUMENTS, NO_FLOATS, RANDOM, STOPPED, UNDIFFERENTIATED

INTRODUCTION = """# Whole libraries under the judge

The functions that autograd, JAX and PyTorch export are called as the tables in `adjudge/sweep/` say, and their derivatives judged
by the checks of `adjudge check`. What a sweep finds stays in its store; whose a finding is, is told by
`adjudge/sweep/classified.py`, and one that nobody looked into is NEW. This page is made of both, and not by hand:

    adjudge sweep autograd --store autograd.sqlite
    adjudge sweep summary autograd.sqlite jax.sqlite torch.sqlite --report docs/sweep.md
"""
REASONS: Mapping[str, str] = {
    UNDIFFERENTIATED: "the library has no derivative of it",
    NO_FLOATS: NO_FLOATS,
    RANDOM: "random",
    NO_ARGUMENTS: NO_ARGUMENTS,
    "has a finite value at none": "the call in our table has no finite value, or raises",
    "the same as": "another name of a function that is tried",
}
LONGEST = 90


def summary(records: Sequence[Record]) -> str:
    """The page of the records of all libraries; of a function that is there more than once, the last."""
    by: dict[str, dict[str, Record]] = {}
    for record in records:
        by.setdefault(record["library"], {})[record["function"]] = record
    of = {name: sorted(by[name].values(), key=lambda r: r["function"]) for name in sorted(by)}
    parts = [
        INTRODUCTION,
        *_counts(of),
        *_made(of),
        *_judged("Faults", of, FAULT, "a derivative is wrong over the reals, or a contract is broken"),
        *_judged("Accuracy", of, ACCURACY, "right over the reals, and digits are lost in doubles"),
        *_kinks(of),
        *_undecided(of),
        *_left_out(of),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _counts(of: Mapping[str, Sequence[Record]]) -> Iterator[str]:
    yield "## Counts\n"
    lines = []
    for name, found in of.items():
        counts = Counter(map(outcome, found))
        whole = _discovered(name, found)
        seconds = [r["seconds"] for r in found if any(reports(r))] or [0.0]
        numbers = [whole, *(counts[kind] for kind in OUTCOMES), whole - len(found)]
        lines.append((f"{name} {found[0]['version']}", *numbers, f"{median(seconds):.1f} / {max(seconds):.0f}"))
    yield from table(("library", "discovered", *OUTCOMES, "not yet tried", "seconds by the clock, median / worst"), lines)
    yield "\nSound: judged, and nothing wrong was found. Unknown: not decided, or not wholly.\n"


def _discovered(name: str, found: Sequence[Record]) -> int:
    """How many functions the library exports, as the catalogue counts; those of the records if it is not one of ours."""
    if name not in LIBRARIES:
        return len(found)
    whole = discovered(library(name))
    return len({*whole.functions, *whole.left_out, *(r["function"] for r in found)})


def _made(of: Mapping[str, Sequence[Record]]) -> Iterator[str]:
    """How the verdicts were made, and which checks were left out of how many functions."""
    for name, found in of.items():
        seeds, examples, judges = (sorted({str(r[key]) for r in found}) for key in HOW)
        dates = sorted({r["written"][:DATE] for r in found if "written" in r})
        said = f"seed {', '.join(seeds)}; {' or '.join(examples)} inputs tried per call; {' and '.join(dates)}"
        yield f"- {name}: {said}; sources of the judge {', '.join(judges)}"
        left = Counter(check for r in found for check in unmade(r))
        if left:
            yield f"  - not made: {', '.join(f'{check} (on {n})' for check, n in sorted(left.items()))}"
    yield ""


SKIPPED = "asked to be skipped"
"""What the ledger says of a check that the user left out."""
HOW = ("seed", "examples", "judge")
DATE = len("2000-01-01")


def unmade(record: Record) -> set[str]:
    """The checks that the user of the sweep left out."""
    return {entry["check"] for _, report in reports(record) for entry in report.get("ledger", ()) if entry["skipped"] == SKIPPED}


def _judged(title: str, of: Mapping[str, Sequence[Record]], kind: str, meaning: str) -> Iterator[str]:
    """The findings of a kind, those that one judgment is about in one line."""
    yield f"## {title}\n"
    yield f"{meaning[0].upper()}{meaning[1:]}.\n"
    for name, found in of.items():
        groups: dict[Any, list[tuple[str, str, dict[str, Any]]]] = defaultdict(list)
        for record in found:
            if outcome(record) != kind:
                continue  # what has a fault is told once
            for call, finding in findings(record, kind):
                judgment = known(name, record["function"], finding)
                groups[judgment or record["function"]].append((record["function"], call, finding))
        if groups:
            yield f"### {name}\n"
            lines = [_line(name, judgment, group) for judgment, group in groups.items()]
            yield from table(("function", "called as, at", "found", "wanted", "whose", "why"), lines)
            yield ""


def _line(name: str, judgment: Any, group: Sequence[tuple[str, str, dict[str, Any]]]) -> tuple[str, ...]:
    """The functions, the plainest finding among theirs, and the judgment."""
    _, call, finding = min(group, key=lambda item: len(str(item[2]["inputs"])))
    functions = ", ".join(dict.fromkeys(code(function.removeprefix(f"{name}.")) for function, _, _ in group))
    inputs = ", ".join(f"{at} = {value}" for at, value in finding["inputs"].items())
    whose, said = (NEW, finding["cause"]) if isinstance(judgment, str) else (judgment.whose, judgment.why)
    at = f"{code(call)}, {code(_short(inputs))}"
    return functions, at, code(_short(finding["found"])), code(_short(finding["wanted"])), whose, prose(said)


def _short(value: Any) -> str:
    """The beginning of a text; of a number its decimals alone."""
    text = re.sub(r" \(-?0x[^)]*\)", "", " ".join(str(value).split()))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def _kinks(of: Mapping[str, Sequence[Record]]) -> Iterator[str]:
    """Which value each library takes at the kinks of each function."""
    rows: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    others: Counter[tuple[str, str]] = Counter()
    for name, found in of.items():
        for record in found:
            told = {f["claim"] for _, f in findings(record, "convention")} - {"kinks"}
            others.update((claim, name) for claim in told)
            for _, finding in findings(record, "convention"):
                if finding["claim"] == "kinks":
                    chosen = rows[record["function"].rpartition(".")[2]][name]
                    if (said := chosen_at(finding["found"])) not in chosen:
                        chosen.append(said)
    yield "## Conventions\n"
    yield "Where there is no derivative: the value that is taken, of the one-sided ones; `each`: to each of those that tie.\n"
    lines = [(code(function), *("; ".join(row[name][:TOLD]) for name in of)) for function, row in sorted(rows.items())]
    yield from table(("at a kink of", *of), lines)
    yield ""
    for claim, meaning in OTHER.items():
        if said := ", ".join(f"{name} {others[claim, name]}" for name in of if others[claim, name]):
            yield f"- {meaning}: {said} functions"
    yield ""


TOLD = 3
OTHER = {
    "purity": "a cotangent is a view of the one that was given, harmless until somebody adds to it in place",
    "infinite cotangent": "an infinite cotangent comes out as NaN",
}


def chosen_at(found: str) -> str:
    """A convention in short: `0 of [-1, 1]`, `0.5 each`, `0 where infinite`."""
    if slope := re.match(r"slope (\S+), between (\S+) and (\S+)", found):
        return f"{slope[1]} of [{slope[2]}, {slope[3]}]"
    if each := re.match(r"(\S+) to each", found):
        return f"{each[1]} each"
    if endless := re.match(r"answers (.*) where a slope is infinite", found):
        values = endless[1].split(", ")
        return f"{endless[1] if len(values) < TOLD else 'finite values'} where infinite"
    return found.partition(" at ")[0]


def _undecided(of: Mapping[str, Sequence[Record]]) -> Iterator[str]:
    lines = [(code(r["function"]), prose(_short(why(r)))) for found in of.values() for r in found if outcome(r) == UNKNOWN]
    if lines:
        yield "## Not decided\n"
        yield from table(("function", "why"), lines)
        yield ""


def _left_out(of: Mapping[str, Sequence[Record]]) -> Iterator[str]:
    yield "## Left out\n"
    counts: dict[str, Counter[str]] = {
        name: Counter(reason(why(r)) for r in found if outcome(r) == LEFT_OUT) for name, found in of.items()
    }
    reasons = sorted(set().union(*counts.values()), key=lambda said: (-sum(c[said] for c in counts.values()), said))
    yield from table(("reason", *of), [(prose(said), *(counts[name][said] for name in of)) for said in reasons])


def reason(said: str) -> str:
    """A reason without the names that are in it."""
    if STOPPED in said:
        return "the judge stopped"
    return next((short for mark, short in REASONS.items() if mark in said), said or "no reason was recorded")
