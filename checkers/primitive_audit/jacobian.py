"""
Checks 7 to 9: every entry of the Jacobian against the reference, on ordinary points and on the edge pool, infinite cotangents
included; and the digits that the rule loses. Entries are judged one by one, never by norm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from checkers.plots import scalar_line
from checkers.primitive_audit.findings import finding, shrink, suspect
from checkers.primitive_audit.kinks import is_clarke
from checkers.primitive_audit.subject import UNTOLD, Judged, Opinion, Pulled, Subject
from checkers.verdict import Passed, Refuted, Unknown, Verdict

LIMIT = 2.0**1020


def jacobian(subject: Subject) -> list[Verdict]:
    """7: the Jacobian on samples and random points."""
    return judge(subject, "jacobian", ("sample", "random"))


def edges(subject: Subject) -> list[Verdict]:
    """8: the Jacobian on the edge pool: zeros, tiny, huge and saturating numbers, the boundary of the domain."""
    return judge(subject, "edges", ("edge",))


def judge(subject: Subject, claim: str, origins: tuple[str, ...]) -> list[Verdict]:
    """
    One verdict per entry and kind of failure, shrunk; or how many entries were right, and against what.

    The kind is decided on all points, before any is shrunk: of an entry that is a fault somewhere, what could be a fault is one.
    """
    failed: dict[tuple[int, str], list[Judged]] = {}
    right = 0
    references = set()
    for point in subject.points:
        if point.origin not in origins:
            continue
        pulled = subject.pulled(point.xs, point.y, 1.0)
        for i in range(subject.arity):
            opinion = entry(subject, point, pulled, i)
            if opinion.verdict == "right":
                right += 1
                references.add(subject.slope(point.xs, i).by)
            elif opinion.verdict != "skip":
                failed.setdefault((i, opinion.verdict), []).append(point)
    for i in range(subject.arity):
        untold = [p for p in failed.get((i, "accuracy"), ()) if could_be(subject.opinion_of(p, i), "fault")]
        if untold and any(entry(subject, p, subject.pulled(p.xs, p.y, 1.0), i).verdict == "fault" for p in subject.points):
            failed.setdefault((i, "fault"), []).extend(untold)
            failed[i, "accuracy"] = [p for p in failed[i, "accuracy"] if p not in untold]
    failed = {key: where for key, where in failed.items() if where}
    tried = right + sum(map(len, failed.values()))
    verdicts: list[Verdict] = [explain(subject, claim, i, kind, where, tried) for (i, kind), where in sorted(failed.items())]
    if verdicts:
        return verdicts
    if not right:
        return [Unknown("no reference knows the derivative on these points", claim)]
    return [Passed(right, f"entries, against {' and '.join(sorted(references))}", claim)]


def entry(subject: Subject, point: Judged, pulled: Pulled, i: int) -> Opinion:
    """
    The opinion on entry i of what was pulled back.

    Where the function has a kink along another argument, an element of the Clarke derivative is no fault, though along this one
    the function be smooth: at x = lo = hi it is constant in x, and min(max(x, lo), hi) may give all to x.
    """
    opinion = subject.opinion(point, i, pulled[i])
    if opinion.verdict == "fault" and subject.arity > 1 and is_clarke(subject, point, pulled):
        return Opinion("skip", opinion.wanted, opinion.allowed, "a choice at a kink")
    return opinion


def could_be(opinion: Opinion, kind: str) -> bool:
    """Whether an opinion is of a kind, or cannot tell: at extreme arguments a black box's fault and its rounding look the same."""
    return opinion.verdict == kind or (kind == "fault" and opinion.why == UNTOLD)


def explain(subject: Subject, claim: str, i: int, kind: str, where: list[Judged], tried: int) -> Refuted:
    """The finding for entry i: the simplest point at which it still fails in this way."""

    def opinion_at(xs: tuple[float, ...]) -> tuple[Judged, float, Opinion]:
        point = Judged(xs, subject.value(xs), "shrunk")
        pulled = subject.pulled(xs, point.y, 1.0)
        return point, pulled[i], entry(subject, point, pulled, i)

    def fails(xs: tuple[float, ...]) -> bool:
        return subject.row.in_domain(*xs) and math.isfinite(subject.value(xs)) and could_be(opinion_at(xs)[2], kind)

    simple = min(where, key=lambda p: sum(abs(math.frexp(x)[1]) for x in p.xs if math.isfinite(x)))
    xs = shrink(simple.xs, fails)
    point, found, opinion = opinion_at(xs)
    if opinion.verdict == "fault" and subject.confirmed(point, i, opinion).verdict != "fault":
        opinion = Opinion("skip")
    if opinion.wanted is None or not could_be(opinion, kind):
        point, found, opinion = opinion_at(simple.xs)
    wanted = opinion.wanted
    assert wanted is not None
    pulled = subject.pulled(point.xs, point.y, 1.0)
    lo, hi = wanted.lo - opinion.allowed, wanted.hi + opinion.allowed
    slope = subject.slope(point.xs, i)
    cause = opinion.why
    if kind == "accuracy":
        cause = f"{digits_lost(found, wanted.middle)} of 15.95 digits are lost: {opinion.why}"
    elif pulled.raised:
        cause = f"the rule raised {pulled.raised}"
    elif not math.isfinite(found):
        cause = f"{found}: zero times infinity, or an intermediate overflows, in a branch that is not taken or at a special value"
    else:
        cause = suspect(subject, i) or cause
    note = f"entry {i} ({subject.parameters[i]}), wrong at {len(where)} of {tried}; "
    note += f"reference: {slope.by}, allowed {opinion.allowed:.3g}"
    test = f"{lo!r} <= pull(dout)[{i}] <= {hi!r}".replace("inf", "math.inf")
    refuted = finding(subject, claim, point, found=found, wanted=wanted.middle, kind=kind, cause=cause, note=note, test=test)
    return replace(refuted, counterexample=replace(refuted.counterexample, plots=(scalar_line(subject, point.xs, i),)))


def digits_lost(found: float, wanted: float) -> str:
    """How many decimal digits of a double are wrong, as text."""
    if not math.isfinite(found) or found == 0 or wanted == 0:
        return "all"
    relative = abs(found - wanted) / abs(wanted)
    return f"{min(max(0.0, 15.95 + math.log10(relative)), 15.95):.1f}" if relative else "none"


def infinite_cotangent(subject: Subject) -> list[Verdict]:
    """
    8, continued: an infinite cotangent keeps its infinity and sign where the slope is not zero.

    NaN is recorded as the convention of the rule: 0 * inf at a zero slope, or inf - inf between two terms.
    """
    claim = "infinite cotangent"
    judged = 0
    convention: Verdict | None = None
    for point in subject.smooth(60):
        if not all(x == 0 or 2.0**-20 <= abs(x) <= 2.0**20 for x in point.xs):
            continue
        for d in (math.inf, -math.inf):
            pulled = subject.pulled(point.xs, point.y, d)
            for i in range(subject.arity):
                value = subject.slope(point.xs, i).value
                found = pulled[i]
                if value is None or subject.opinion(point, i, subject.pulled(point.xs, point.y, 1.0)[i]).verdict != "right":
                    continue
                judged += 1
                nonzero = value.lo > 2.0**-900 or value.hi < -(2.0**-900)
                if not nonzero and value.size > 0:
                    continue
                note = f"entry {i} ({subject.parameters[i]}), slope {value}"
                if math.isnan(found):
                    if convention is None:
                        cause = "NaN of an infinite cotangent: 0 * inf, or inf - inf"
                        convention = finding(
                            subject,
                            claim,
                            point,
                            d=d,
                            found=found,
                            wanted="0 or infinite",
                            kind="convention",
                            cause=cause,
                            note=note,
                        )
                elif nonzero and found != math.copysign(math.inf, value.middle) * math.copysign(1.0, d):
                    wanted = math.copysign(math.inf, value.middle * math.copysign(1.0, d))
                    cause = "an infinite cotangent is clipped or loses its sign"
                    test = f"pull(dout)[{i}] == {'-' * (wanted < 0)}math.inf"
                    return [finding(subject, claim, point, d=d, found=found, wanted=wanted, cause=cause, note=note, test=test)]
    return [Passed(judged, "infinite cotangents stay infinite", claim) if convention is None else convention]


CHECKS: Sequence[tuple[str, Callable[[Subject], list[Verdict]]]] = (
    ("jacobian", jacobian),
    ("edges", edges),
    ("infinite cotangent", infinite_cotangent),
)
