"""
What our optimizer ships, and the row of `docs/optimizer.md` on each rule and each pass: its verdicts in a word or two.

    proved to f64    for all inputs, in this format and the narrower ones
    tested           at points, among them the edges of the format, kinks and ties; nothing is claimed about others
    exact            proved of integers or booleans, which have no rounding
    differs at …     the smallest input found at which the two sides differ
    —                no question for this rule
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from checkers.optimizer_audit.entry import audit
from checkers.optimizer_audit.harvest import harvested
from checkers.verdict import Passed, Proved, Refuted, Report, Unknown, Vacuous, Verdict, summary
from semantics.ir import Program
from transforms.patterns.rule import PatternRule
from transforms.pipeline import PASSES
from transforms.simplify import EXACT_RULES, FAST_RULES, ZERO_RULES
from transforms.system import Rewrite, RewriteSystem

PASS, EXACT, SENSITIVITY, FAST, STRUCTURE = "passes", "exact", "sensitivities", "fast", "structure"
NONE = "—"
FORMATS = ("f64", "f32", "f16")


@dataclass(frozen=True)
class Shipped:
    """A rule or a pass of ours: its section of the page, its name there, and what is audited."""

    section: str
    name: str
    subject: Any
    owner: str = ""

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}" if self.owner else self.name


@dataclass(frozen=True)
class Row:
    """One line of the page: its cells by column. `fault` is what our own judge holds against it, if anything."""

    section: str
    name: str
    cells: dict[str, str]
    fault: str = ""

    def __str__(self) -> str:
        return f"| {' | '.join(self.cells.values())} |"

    def as_dict(self) -> dict[str, str]:
        return {"section": self.section, "name": self.name, **self.cells, "fault": self.fault}


def shipped() -> Iterator[Shipped]:
    """Every pass and every rule, in the order of the page; a rule that several passes use, with the first."""
    for name, found in PASSES.items():
        yield Shipped(PASS, name, found)
    patterns = {EXACT: EXACT_RULES, SENSITIVITY: ZERO_RULES, FAST: FAST_RULES}
    for section, rules in patterns.items():
        for rule in rules:
            yield Shipped(section, rule.name, rule)
    listed = {rule.name for rules in patterns.values() for rule in rules}
    for name, found in PASSES.items():
        for rule in getattr(found, "rules", ()):
            if isinstance(found, RewriteSystem) and isinstance(rule, Rewrite) and rule.name not in listed:
                listed.add(rule.name)
                yield Shipped(STRUCTURE, rule.name, replace(found, name=rule.name, rules=(rule,)), name)


def row(one: Shipped) -> Row:
    """The row on a rule or a pass."""
    report = audit(one.subject, seed=0, examples=examples(one.subject))
    fault = next((f"{f.claim}: {f.counterexample.place}" for f in report.findings if f.kind != "convention"), "")
    match one.section:
        case "passes":
            cells = _of_pass(one, report)
        case "structure":
            cells = _of_structure(one, report)
        case _:
            cells = _of_pattern(one.subject, report)
    return Row(one.section, str(one), cells, fault)


def examples(subject: Any) -> tuple[Program, ...]:
    """Programs in which runs of the optimizer used the rules of a system."""
    if not isinstance(subject, RewriteSystem):
        return ()
    return tuple(p for rule in subject.rules if "->" not in rule.name for p in harvested().get(rule.name, ()))


def _of_pattern(rule: PatternRule, report: Report) -> dict[str, str]:
    declared, _, text = rule.text.rpartition("|")
    cells = {"rule": code(text.strip()), "for": code(declared.strip()) if declared else "reals"}
    if any(r.condition for r in FAST_RULES) and rule.domain == "REAL":
        cells["when"] = code(str(rule.condition)) if rule.condition else ""
    return {
        **cells,
        "over the reals": said(report, "equal over the reals"),
        "in IEEE-754": in_ieee(report, exact=set(rule.variables.values()) <= {"i64", "bool"}),
        "gradient": said(report, "the gradient is kept", yes="kept"),
        "ends": said(report, "ends"),
        "overlaps": said(report, "critical pairs", yes="join", no="do not all join"),
    }


def _of_structure(one: Shipped, report: Report) -> dict[str, str]:
    (rule,) = one.subject.rules
    return {
        "pass": one.owner,
        "rule": code(rule.name),
        "law": " ".join(rule.law.split()).replace("|", "\\|"),
        **_on_programs(report),
        "steps": steps(report),
    }


def _of_pass(one: Shipped, report: Report) -> dict[str, str]:
    count = len(one.subject.rules) if hasattr(one.subject, "rules") else sum(len(s.rules) for s in one.subject.systems)
    return {
        "pass": code(one.name),
        "rules": str(count),
        "keeps": "every bit" if one.subject.domain == "BITS" else "reals",
        **_on_programs(report),
        "cost": said(report, "no more machine steps", yes="not raised", no="may rise"),
        "twice is once": said(report, "idempotent", yes="tested", no="no"),
        "ends": _ends(one.subject, report),
        "any order": said(report, "the order of steps", yes="tested", no="no"),
        "steps": steps(report),
    }


def _ends(subject: Any, report: Report) -> str:
    if _has(report, "the measure decreases", Passed):
        return "by its measure"
    return "argued" if getattr(subject, "argument", "") else "tested"


def _on_programs(report: Report) -> dict[str, str]:
    return {
        "values": said(report, "values are kept"),
        "gradients": said(report, "gradients are kept"),
    }


def _found(report: Report, claim: str) -> list[Verdict]:
    return [v for v in report.verdicts if v.claim.startswith(claim)]


def _has(report: Report, claim: str, kind: type) -> bool:
    return any(isinstance(v, kind) for v in _found(report, claim))


def said(report: Report, claim: str, *, yes: str = "", no: str = "differs") -> str:
    """What the verdicts on claims that begin so come to: the refutation, else the proof, else the tests."""
    found = _found(report, claim)
    for verdict in found:
        if isinstance(verdict, Refuted):
            return f"{no} {place(verdict)}".strip() if no == "differs" else no
    if any(isinstance(v, Proved) for v in found):
        return yes or "proved"
    if any(isinstance(v, Passed) for v in found):
        return yes or "tested"
    if any(isinstance(v, Unknown) for v in found):
        return "not decided"
    idle = _has(report, "every program is given a program", Vacuous)
    return "nothing to try" if idle or any(isinstance(v, Vacuous) for v in found) else NONE


def in_ieee(report: Report, *, exact: bool) -> str:
    """The widest format in which the rule is proved, or what the machine says of it; without a real there is no rounding."""
    tested = said(report, "equal in IEEE-754, bit for bit")
    if tested.startswith("differs"):
        return tested
    if exact and said(report, "equal over the reals") == "proved":
        return "exact"
    widest = next((f for f in FORMATS if _has(report, f"bit-equal in {f}", Proved)), None)
    return f"proved to {widest}" if widest else tested


def steps(report: Report) -> str:
    """How many of the recorded steps translation validation proves."""
    for verdict in _found(report, "translation validation"):
        counted = re.match(r".*: (\d+ of \d+) steps", summary(verdict))
        if counted:
            return counted[1]
    return said(report, "translation validation")


def place(verdict: Refuted) -> str:
    """The counterexample in a few words."""
    inputs = verdict.counterexample.inputs
    if any(isinstance(v, str) and "\n" in v for v in inputs.values()):
        return "on a program"
    return "at " + code(", ".join(f"{k} = {v!r}" for k, v in inputs.items()))


def code(text: str) -> str:
    """Text as code in a table."""
    return f"`{text.replace('|', chr(92) + '|')}`"
