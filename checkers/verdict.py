"""
Verdicts are values (DESIGN, section 6). A checker never answers with a boolean, and `bool(verdict)` raises.

    Proved(by)                    for all inputs in its scope
    Passed(n, what)               on n tried inputs; nothing is claimed about the others
    Refuted(counterexample, kind) kind is "fault", "accuracy" or "convention"
    Unknown(reason)               not decided within the budget; never success
    Vacuous(why)                  true of nothing: the hypotheses cannot be met, or the inputs would not notice a bug
    OutOfScope(why)               not a question for this check

A `Report` gathers the verdicts of one judgment, with a ledger of what was judged, at what cost, and what was not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from checkers.plots import Plot
from checkers.showing import block, exactly, folded, is_text, is_wide, labelled, shape, shortened
from semantics.errors import AdjudgeError

KINDS = ("fault", "accuracy", "convention")


class _NoTruth:
    """A verdict has no truth value: six answers do not fit into two."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a verdict is not a boolean: match on {type(self).__name__}, or call report.raise_for_faults()")


@dataclass(frozen=True, slots=True)
class Counterexample:
    """
    Where a claim fails: the inputs by name, what was found, what was wanted, and what may have gone wrong.

    script  a Python program that reproduces the failure alone and exits with 1
    note    anything else worth saying: the seed, the entry of the Jacobian, the enclosure of the reference
    plots   what there is to see around it (`checkers.plots`); no part of the finding
    """

    inputs: dict[str, Any]
    found: Any
    wanted: Any
    cause: str = ""
    script: str = ""
    note: str = ""
    plots: tuple[Plot, ...] = field(default=(), compare=False, repr=False)

    @property
    def place(self) -> str:
        """One line: the inputs, those that are programs by their names only, long arrays by their shapes."""
        shown = ", ".join(
            k if is_text(v) else f"{k} {shape(v)}" if is_wide(v) else f"{k} = {exactly(v)}" for k, v in self.inputs.items()
        )
        return "always" if not shown else f"at {shown}" if not any(map(is_text, self.inputs.values())) else f"by this {shown}"

    def __str__(self) -> str:
        lines = folded(self.place)
        lines += [line for v in self.inputs.values() if is_text(v) for line in block(v)]
        lines += [line for k, v in self.inputs.items() if is_wide(v) and v.size for line in block(shortened(v, k))]
        lines += [*labelled("found", self.found), *labelled("wanted", self.wanted)]
        lines += labelled("cause", self.cause) if self.cause else []
        lines += labelled("note", self.note) if self.note else []
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Proved(_NoTruth):
    """The claim holds for all inputs in its scope. `by` names the method and the scope."""

    by: str
    claim: str = ""


@dataclass(frozen=True, slots=True)
class Passed(_NoTruth):
    """The claim held on `n` inputs; `what` says which, and against which reference."""

    n: int
    what: str
    claim: str = ""


@dataclass(frozen=True, slots=True)
class Refuted(_NoTruth):
    """The claim is false."""

    counterexample: Counterexample
    kind: str = "fault"
    claim: str = ""

    def __post_init__(self) -> None:
        assert self.kind in KINDS


@dataclass(frozen=True, slots=True)
class Unknown(_NoTruth):
    """Not decided."""

    reason: str
    claim: str = ""


@dataclass(frozen=True, slots=True)
class Vacuous(_NoTruth):
    """True of nothing."""

    why: str
    claim: str = ""


@dataclass(frozen=True, slots=True)
class OutOfScope(_NoTruth):
    """Not a question for this check."""

    why: str
    claim: str = ""


Verdict = Proved | Passed | Refuted | Unknown | Vacuous | OutOfScope
ORDER: tuple[type, ...] = (Proved, Passed, Refuted, Unknown, Vacuous, OutOfScope)


def summary(verdict: Verdict) -> str:
    """One line: the kind of verdict and its reason."""
    match verdict:
        case Proved(by):
            return f"proved: {by}"
        case Passed(n, what):
            return f"passed on {n}: {what}"
        case Refuted(counterexample, kind):
            return f"refuted ({kind}): {counterexample.place}"
        case Unknown(reason):
            return f"unknown: {reason}"
        case Vacuous(why):
            return f"vacuous: {why}"
        case OutOfScope(why):
            return f"out of scope: {why}"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One check: what it cost, or why it was not made."""

    check: str
    seconds: float = 0.0
    skipped: str = ""


class FaultsFound(AdjudgeError):
    """Raised by `report.raise_for_faults()`."""


@dataclass(frozen=True, slots=True)
class Report:
    """
    The verdicts on one subject. `findings` are the refutations; `ledger` says what was and was not judged; `plots` show its errors
    over the domain.
    """

    subject: str
    verdicts: tuple[Verdict, ...]
    ledger: tuple[LedgerEntry, ...] = ()
    seed: int | None = None
    details: dict[str, Any] = field(default_factory=dict)
    plots: tuple[Plot, ...] = field(default=(), compare=False, repr=False)

    @property
    def findings(self) -> tuple[Refuted, ...]:
        """The refutations, faults first."""
        found = [v for v in self.verdicts if isinstance(v, Refuted)]
        return tuple(sorted(found, key=lambda v: KINDS.index(v.kind)))

    @property
    def verdict(self) -> Verdict:
        """The gravest: a fault, else an accuracy finding, else Unknown or Vacuous if nothing was decided, else Proved or Passed."""
        grave = [f for f in self.findings if f.kind != "convention"]
        if grave:
            return grave[0]
        decided = [v for v in self.verdicts if isinstance(v, (Proved, Passed))]
        if not decided:
            undecided = sorted(
                (v for v in self.verdicts if isinstance(v, (Unknown, Vacuous))), key=lambda v: isinstance(v, Vacuous)
            )
            return next(iter(undecided), Unknown("nothing was judged"))
        passed = [v for v in decided if isinstance(v, Passed)]
        if passed:
            return Passed(sum(v.n for v in passed), f"{len(decided)} checks", self.subject)
        return Proved(f"{len(decided)} proofs", self.subject)

    def counts(self) -> dict[str, int]:
        """How many verdicts of each kind, zeros included."""
        found = Counter(type(v).__name__ for v in self.verdicts)
        return {kind.__name__: found[kind.__name__] for kind in ORDER}

    @property
    def exit_code(self) -> int:
        """0 judged sound, 1 refuted, 3 only unknowns."""
        match self.verdict:
            case Refuted():
                return 1
            case Unknown() | Vacuous() | OutOfScope():
                return 3
            case _:
                return 0

    def raise_for_faults(self) -> None:
        """FaultsFound with the first fault, if there is one."""
        for finding in self.findings:
            if finding.kind == "fault":
                raise FaultsFound(f"{self.subject}: {finding.claim}: {finding.counterexample}", rule=finding.claim)

    def to_json(self) -> str:
        """The report as JSON of a documented schema (`checkers.report_json`), every number exact."""
        from checkers.report_json import to_json

        return to_json(self)

    @staticmethod
    def from_json(text: str) -> Report:
        """The report that `to_json` wrote."""
        from checkers.report_json import from_json

        return from_json(text)

    def __str__(self) -> str:
        return "\n".join(lines_of(self))


def alike(findings: Sequence[Refuted]) -> list[list[Refuted]]:
    """The refutations in groups: those of one input, one result and one wanted result together."""
    from checkers.report_json import encode

    groups: dict[str, list[Refuted]] = {}
    for finding in findings:
        c = finding.counterexample
        groups.setdefault(repr(encode((list(c.inputs.items()), c.found, c.wanted))), []).append(finding)
    return list(groups.values())


def telling(group: Sequence[Refuted]) -> Counterexample:
    """The counterexample that says most, of findings that are alike."""

    def said(c: Counterexample) -> tuple[bool, bool, bool, int]:
        return bool(c.script), "node by node" in c.note, bool(c.plots), len(c.note)

    return max((f.counterexample for f in group), key=said)


def lines_of(report: Report) -> Iterable[str]:
    """The report as plain text: every verdict, every counterexample, the counts, the ledger of what was not judged."""
    yield f"{report.subject}: {summary(report.verdict)}"
    for verdict in report.verdicts:
        yield f"  {verdict.claim or '-'}: {summary(verdict)}"
        if isinstance(verdict, Refuted):
            yield from (f"    {line}" for line in str(verdict.counterexample).splitlines())
    yield "  " + ", ".join(f"{n} {kind}" for kind, n in report.counts().items())
    skipped = [e for e in report.ledger if e.skipped]
    yield from (f"  not judged: {e.check}: {e.skipped}" for e in skipped)
