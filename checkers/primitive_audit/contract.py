"""
Checks 1 to 6: what every backpropagator owes whatever its function is. It is a total, pure map that answers one real cotangent per
argument, is zero at zero, and is linear in its cotangent.
"""

from __future__ import annotations

import math
import random
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checkers.inputs import COTANGENTS, moderate, random_cotangent
from checkers.primitive_audit.findings import finding
from checkers.primitive_audit.subject import Judged, Subject, roughness
from checkers.verdict import OutOfScope, Passed, Verdict
from semantics.values import same

NORMAL = 2.0**-900
FEW = 40


def primal(subject: Subject) -> list[Verdict]:
    """1: the forward value is the same, bit for bit, before and after the rule ran, and on the machine."""
    claim = "primal"
    for point in subject.points[:FEW]:
        subject.pulled(point.xs, point.y, 1.0)
        again = subject.value(point.xs)
        if not same(again, point.y):
            cause = "the forward function keeps state between calls"
            return [finding(subject, claim, point, d=None, found=again, wanted=point.y, cause=cause)]
    return [Passed(len(subject.points[:FEW]), "the forward value keeps its bits", claim)]


def structure(subject: Subject) -> list[Verdict]:
    """2: the answer is a tuple with one real per argument."""
    claim = "structure"
    judged = 0
    for point in subject.points[:FEW]:
        for d in (1.0, 0.0):
            pulled = subject.pulled(point.xs, point.y, d)
            judged += 1
            if pulled.raised:
                if pulled.raised.split(":")[0] in ("OverflowError", "ZeroDivisionError", "ValueError", "FloatingPointError"):
                    continue
                cause = "the rule raises; it must answer wherever the function does"
                return [
                    finding(subject, claim, point, d=d, found=pulled.raised, wanted="a tuple of reals", cause=cause, test="True")
                ]
            if (cause := misshapen(pulled.raw, subject.arity)) != "":
                wanted = f"a tuple of {subject.arity} real{'s' * (subject.arity != 1)}"
                kinds = "all(isinstance(v, float) for v in pull(dout))"
                test = f"isinstance(pull(dout), tuple) and len(pull(dout)) == {subject.arity} and {kinds}"
                return [finding(subject, claim, point, d=d, found=repr(pulled.raw), wanted=wanted, cause=cause, test=test)]
    return [Passed(judged, "a tuple with one real per argument", claim)]


def misshapen(raw: Any, arity: int) -> str:
    """What is wrong with the container of the cotangents, or ""."""
    if not isinstance(raw, tuple):
        return f"it answers {type(raw).__name__}, not a tuple; did you forget the comma in `return (dx,)`?"
    if len(raw) != arity:
        return f"{len(raw)} cotangent{'s' * (len(raw) != 1)} for {arity} argument{'s' * (arity != 1)}"
    for i, d in enumerate(raw):
        if isinstance(d, (bool, np.bool_)) or not isinstance(d, (float, int, np.floating)):
            return f"cotangent {i} is {type(d).__name__}, not a real"
        if isinstance(d, np.floating) and not isinstance(d, float):
            return f"cotangent {i} is {type(d).__name__}: the argument is float64"
    return ""


def purity(subject: Subject) -> list[Verdict]:
    """3: the rule writes to nothing that outlives it: captured lists and dictionaries, defaults, globals it names."""
    claim = "purity"
    if subject.pull_source is None:
        return [OutOfScope("the rule is a program, which cannot write", claim)]
    before = state_of(subject.pull_source)
    for point in subject.points[:8]:
        subject.pulled(point.xs, point.y, 1.0)
        after = state_of(subject.pull_source)
        if before != after:
            changed = ", ".join(n for n in after if after[n] != before.get(n))
            note = "a fault only if answers change; see replay"
            return [
                finding(
                    subject,
                    claim,
                    point,
                    found=f"{changed} changed",
                    wanted="no writes",
                    kind="convention",
                    cause="the rule keeps state",
                    note=note,
                )
            ]
    return [Passed(min(8, len(subject.points)), "no captured object changed", claim)]


def state_of(function: Callable[..., Any]) -> dict[str, str]:
    """The mutable objects a function can reach by name, as text."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        return {}
    reach: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars, getattr(function, "__closure__", None) or (), strict=False):
        try:
            reach[name] = cell.cell_contents
        except ValueError:
            continue
    scope = getattr(function, "__globals__", {})
    reach |= {n: scope[n] for n in code.co_names if n in scope}
    reach |= {f"default {i}": v for i, v in enumerate(getattr(function, "__defaults__", None) or ())}
    return {n: repr(v) for n, v in reach.items() if isinstance(v, (list, dict, set, bytearray, np.ndarray))}


def replay(subject: Subject) -> list[Verdict]:
    """4: the same question has the same answer, bit for bit, whatever was asked in between, forward or backward."""
    claim = "replay"
    chosen = subject.points[:FEW]
    first = []
    for point in chosen:
        subject.value(point.xs)
        first.append(subject.pulled(point.xs, point.y, 1.0))
    for k, point in reversed(list(enumerate(chosen))):
        subject.value(chosen[(k * 7 + 3) % len(chosen)].xs)
        again = subject.pulled(point.xs, point.y, 1.0)
        if not same(again.values, first[k].values) or again.raised != first[k].raised:
            cause = "it depends on earlier calls: a stale or mutated residual"
            test = "pull(dout) == (pull(2.0, tuple(v + 1 for v in x)), forward(*(v + 2 for v in x)), pull(dout))[-1]"
            return [finding(subject, claim, point, found=again.values, wanted=first[k].values, cause=cause, test=test)]
    return [Passed(2 * len(chosen), "replayed in another order, bit for bit", claim)]


def zero(subject: Subject) -> list[Verdict]:
    """5: zero in, zero out, wherever the Jacobian is finite."""
    claim = "zero"
    judged = 0
    for point in subject.smooth():
        if not moderate(v for v in point.xs if math.isfinite(v)):
            continue
        pulled = subject.pulled(point.xs, point.y, 0.0)
        judged += 1
        for i in range(subject.arity):
            if pulled[i] == 0 or subject.opinion(point, i, subject.pulled(point.xs, point.y, 1.0)[i]).verdict == "skip":
                continue
            cause = "NaN: zero times an infinite intermediate" if math.isnan(pulled[i]) else "the cotangent is not a factor of it"
            test = f"pull(0.0)[{i}] == 0"
            note = f"entry {i} ({subject.parameters[i]})"
            return [finding(subject, claim, point, d=0.0, found=pulled[i], wanted=0.0, cause=cause, note=note, test=test)]
    return [Passed(judged, "zero in, zero out", claim)]


def algebra(subject: Subject) -> list[Verdict]:
    """
    6: pb(-d) = -pb(d) and pb(2^k d) = 2^k pb(d) bit for bit; pb(d + e) = pb(d) + pb(e) within rounding.

    Scaling by powers of two commutes with every rounding but over- and underflow, so results below 2^-900 are left out, and
    arguments beyond 2^±64. A difference that rounding may make is an accuracy finding.
    """
    claim = "algebra"
    source = random.Random(subject.seed + 6)
    judged = 0
    small: Verdict | None = None
    for point in subject.points:
        if not moderate(point.xs) or not moderate((point.y,)):
            continue
        base = subject.pulled(point.xs, point.y, 1.0)
        if any(subject.opinion(point, i, base[i]).verdict == "accuracy" for i in range(subject.arity)):
            continue
        judged += 1
        for d in (*COTANGENTS[1:], random_cotangent(source)):
            verdict = _scaled(subject, point, d)
            verdict = _added(subject, point, d, random_cotangent(source)) if verdict is None else verdict
            if verdict is not None and verdict.kind == "fault":
                return [verdict]
            small = verdict if small is None else small
        if judged >= 60:
            break
    return [Passed(judged, "odd, homogeneous over powers of two, additive", claim) if small is None else small]


def _scaled(subject: Subject, point: Judged, d: float) -> Any:
    """The violation of homogeneity between d and 2^k d, or of oddness, if there is one."""
    answer = subject.pulled(point.xs, point.y, d)
    for k, sign in ((0, -1), (1, 1), (-1, 1), (9, 1), (-9, -1)):
        factor = sign * 2.0**k
        other = subject.pulled(point.xs, point.y, factor * d)
        for i in range(subject.arity):
            a, b = answer[i] * factor, other[i]
            if not _usable(answer[i], b) or a == b:
                continue
            near = abs(a - b) <= subject.budget(point.xs)[0] * max(abs(a), abs(b))
            law = f"pb({factor:g} d) = {factor:g} pb(d)"
            cause = f"not linear in the cotangent: {_nonlinearity(subject, point, i)}"
            test = f"pull({factor!r} * dout)[{i}] == {factor!r} * pull(dout)[{i}]"
            note = f"{law}, entry {i} ({subject.parameters[i]})"
            return finding(
                subject,
                "algebra",
                point,
                d=d,
                found=b,
                wanted=a,
                kind="accuracy" if near else "fault",
                cause=cause,
                note=note,
                test=test,
            )
    return None


def _added(subject: Subject, point: Judged, d: float, e: float) -> Any:
    """The violation of additivity at d and e, if rounding cannot explain it."""
    total = d + e
    parts = [subject.pulled(point.xs, point.y, v) for v in (d, e, total)]
    for i in range(subject.arity):
        a, b, c = (p[i] for p in parts)
        if not (_usable(a, c) and _usable(b, c)):
            continue
        room = subject.budget(point.xs)[0] * (abs(a) + abs(b) + abs(c))
        if abs(a + b - c) <= room:
            continue
        noise = (abs(d) + abs(e)) * max(
            subject.jitter(point, i, subject.pulled(point.xs, point.y, 1.0)[i]), roughness(subject.lines(point, i))
        )
        if abs(a + b - c) <= room + 8 * noise:
            continue
        test = f"abs(pull(dout)[{i}] + pull({e!r})[{i}] - pull(dout + {e!r})[{i}]) <= {room + 8 * noise!r}"
        note = f"pb(d + e) = pb(d) + pb(e) with e = {e!r}, entry {i}"
        cause = f"not linear in the cotangent: {_nonlinearity(subject, point, i)}"
        return finding(subject, "algebra", point, d=d, found=c, wanted=a + b, cause=cause, note=note, test=test)
    return None


def _usable(*values: float) -> bool:
    return all(v == 0 or (math.isfinite(v) and abs(v) > NORMAL) for v in values) and any(values)


def _nonlinearity(subject: Subject, point: Judged, i: int) -> str:
    """How the answer depends on the cotangent."""

    def at(d: float) -> float:
        return subject.pulled(point.xs, point.y, d)[i]

    return nonlinearity(at)


def nonlinearity(at: Callable[[float], float]) -> str:
    """How an answer depends on the factor of its cotangent, if not in proportion."""
    none, one, two, minus, big = at(0.0), at(1.0), at(2.0), at(-1.0), at(2.0**20)
    if one == two == minus:
        return "it ignores the cotangent"
    if none != 0:
        return f"a constant {none:.3g} is added"
    if minus == one:
        return "it ignores the sign of the cotangent"
    if minus == 0 or one == 0:
        return "one sign of the cotangent is dropped"
    if two == 4 * one:
        return "it is quadratic in the cotangent"
    if abs(big) < 2.0**19 * abs(one):
        return "large cotangents are clipped"
    return "it treats some cotangents differently"


CHECKS: Sequence[tuple[str, Callable[[Subject], list[Verdict]]]] = (
    ("primal", primal),
    ("structure", structure),
    ("purity", purity),
    ("replay", replay),
    ("zero", zero),
    ("algebra", algebra),
)
