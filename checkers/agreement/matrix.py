"""
Every program of a corpus by every mode: what `docs/agreement.md` shows.

    ✓ ✓      agrees with the reference at first and at second order
    ✓ 3      agrees at first order; not at second, for reason 3
    3        gives no answer at either order, for reason 3
    ✗        disagrees: a fault

The reference is the first oracle that answers. The reasons are those of `checkers.agreement.reasons`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from checkers.agreement.answers import Answer
from checkers.agreement.judgement import ALL, Judged, judge
from checkers.agreement.question import question
from checkers.agreement.reasons import REASONS, reason_of
from checkers.verdict import Passed, Refuted
from semantics.ir import Program

FUEL = 2_000_000
AGREES, DISAGREES, UNLISTED = "✓", "✗", "unlisted"
SHORT = {"ssa-recompute": "recompute", "ssa-mixed": "mixed", "pullback": "pullbacks", "pullback-shadow": "shadow"}


@dataclass(frozen=True, slots=True)
class Subject:
    """A program of a corpus, in its file, with the arguments that it is judged at. It is parsed when it is judged."""

    group: str
    name: str
    program: Callable[[], Program]
    arguments: Callable[[], Sequence[Any]]

    def __str__(self) -> str:
        return f"{self.group}:{self.name}"


@dataclass(frozen=True, slots=True)
class Row:
    """A subject and what each mode says of it; `notes` are the texts of errors that fit no reason, and of faults."""

    subject: str
    cells: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = self.subject.rpartition(":")[2]
        return f"| {name} | {' | '.join(self.cells)} |"


def row(subject: Subject, modes: Sequence[str] = ALL) -> Row:
    """What the modes say of a subject, at first and second order."""
    asked = question(subject.program(), subject.arguments(), fuel=FUEL)
    orders = [judge(asked.of_order(order), modes, counted=False) for order in (1, 2)]
    notes: list[str] = []
    cells = []
    for mode in modes:
        first, second = (_sign(judged, judged.found.by(mode), notes) for judged in orders)
        cells.append(first if first == second and first != AGREES else f"{first} {second}")
    return Row(str(subject), tuple(cells), tuple(notes))


def _sign(judged: Judged, answer: Answer, notes: list[str]) -> str:
    """One order of one mode."""
    verdict = judged.verdicts.get(answer.mode)
    if (verdict is None and answer.answered) or isinstance(verdict, Passed):
        return AGREES
    if isinstance(verdict, Refuted):
        notes.append(f"{verdict.claim}: {verdict.counterexample}")
        return DISAGREES
    reason = reason_of(answer.error) if answer.error is not None else None
    if reason is None:
        notes.append(f"{answer.mode}: {answer.error or verdict}")
        return UNLISTED
    return str(reason.number)


def page(rows: Iterable[Row], modes: Sequence[str] = ALL) -> str:
    """The rows as a page: counts first, then the reasons, then one table for each file."""
    found = list(rows)
    groups = dict.fromkeys(r.subject.rpartition(":")[0] for r in found)
    lines = [HEAD.format(programs=len(found), files=len(groups)), *_counts(found, modes), "", "## Reasons", ""]
    lines += [f"{r.number}. {r.text}" for r in REASONS]
    for group in groups:
        lines += ["", f"## {group}", "", _header(("program", *(SHORT.get(m, m) for m in modes)))]
        lines += [str(r) for r in found if r.subject.rpartition(":")[0] == group]
    return "\n".join(lines) + "\n"


def _counts(rows: Sequence[Row], modes: Sequence[str]) -> list[str]:
    lines = [_header(("mode", "agrees at both orders", "at first order only", "gives no answer", "disagrees"))]
    for k, mode in enumerate(modes):
        kinds = Counter(_kind(r.cells[k]) for r in rows)
        lines.append(f"| {SHORT.get(mode, mode)} | " + " | ".join(str(kinds[kind]) for kind in KINDS) + " |")
    return lines


KINDS = ("both", "first", "none", "wrong")


def _kind(cell: str) -> str:
    signs = cell.split()
    if DISAGREES in signs:
        return "wrong"
    if signs[0] != AGREES:
        return "none"
    return "both" if signs[1] == AGREES else "first"


def _header(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n|{'---|' * len(cells)}"


HEAD = """# Agreement

Every program of the corpora, differentiated by every reverse mode, by forward mode and by reversal of the trace, at one point,
by all arguments that hold reals. Values are equal in bits; derivatives are equal fractions if the program is rational, else
enclosures of 400 bits that intersect. `adjudge agree FILE:FUNCTION ARGS` shows one program in full. This page is written by
`python tests/agreement_page.py` and checked by `tests/test_agreement_matrix.py`.

`✓ ✓` agrees at first and at second order · `✓ 3` at first order only, for reason 3 · `3` gives no answer, for reason 3 ·
`✗` disagrees

{programs} programs in {files} files.
"""
