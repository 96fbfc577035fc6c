"""
Checks 3 and 4 on arrays: a rule writes to nothing that belongs to others, and the same question has the same answer.

Whether something was written is seen twice: in copies that may be written to, compared bit for bit, and in read-only ones.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from checkers.array_audit.case import Case, leaves, replaced
from checkers.array_audit.findings import finding
from checkers.array_audit.opinion import format_of
from checkers.array_audit.passes import backward_pass
from checkers.array_audit.trial import Trial
from checkers.primitive_audit.contract import state_of
from checkers.verdict import Passed, Refuted, Verdict

FEW = 24


def few(trial: Trial, most: int = FEW) -> list[Case]:
    """Cases of every origin, in turns."""
    by_origin: dict[str, list[Case]] = {}
    for case in trial.cases:
        by_origin.setdefault(case.origin, []).append(case)
    turns = [group[i] for i in range(most) for group in by_origin.values() if i < len(group)]
    return turns[:most]


def ones(trial: Trial, case: Case) -> Any:
    return trial.seeded(case, np.ones(case.outputs))


def same(a: Any, b: Any) -> bool:
    """Whether two values have the same structure, shapes, dtypes and bits; one NaN is as good as another."""
    one, two = leaves((a,)), leaves((b,))
    return len(one) == len(two) and all(
        p == q and _same(np.asarray(x), np.asarray(y)) for (p, x), (q, y) in zip(one, two, strict=True)
    )


def _same(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    return bool(((x == y) & (np.signbit(x) == np.signbit(y)) | (np.isnan(x) & np.isnan(y))).all())


def own(value: Any, order: str = "K") -> Any:
    """A copy that shares no memory."""
    return replaced((value,), {p: np.array(v, order=order) for p, v in _arrays((value,))})[0]  # type: ignore[call-overload]


def _arrays(values: tuple[Any, ...]) -> list[tuple[tuple[int, ...], np.ndarray[Any, Any]]]:
    """All arrays within, integers too."""
    found = []
    todo: list[tuple[tuple[int, ...], Any]] = [((i,), v) for i, v in enumerate(values)]
    while todo:
        path, value = todo.pop()
        if isinstance(value, (tuple, list)):
            todo += [((*path, i), v) for i, v in enumerate(value)]
        elif isinstance(value, np.ndarray):
            found.append((path, value))
    return found


# 3


def purity(trial: Trial) -> list[Verdict]:
    """
    3: the rule writes to no argument, value, cotangent or captured object. That an answer shares memory with one of these is a
    convention: harmless until somebody writes to it. A rule that writes is judged on copies from here on.
    """
    claim = "purity"
    before = state_of(trial.pull_source) if trial.pull_source is not None else {}
    shared: Verdict | None = None
    chosen = few(trial)
    for case in chosen:
        cotangent = np.linspace(1.0, 2.0, case.outputs)
        mine = Case(tuple(own(a) for a in case.arguments), own(case.value), case.origin, case.note, case.fixed)
        dout = trial.seeded(mine, cotangent)
        kept = copy.deepcopy((mine.arguments, mine.value, dout))
        answer = trial.pulled_anew(mine, dout)
        for what, now, then in zip(
            ("an argument", "the value", "the cotangent"), (mine.arguments, mine.value, dout), kept, strict=True
        ):
            if not all(_alike(x, y) for (_, x), (_, y) in zip(_arrays((now,)), _arrays((then,)), strict=True)):
                trial.pull = on_copies(trial.pull)
                return [_written(trial, claim, case, cotangent, what)]
        frozen = Case(mine.arguments, mine.value, case.origin, case.note, case.fixed)
        with _Frozen((mine.arguments, mine.value, dout)):
            again = trial.pulled_anew(frozen, dout)
        if again.raised and not answer.raised and "read-only" in again.raised:
            return [_written(trial, claim, case, cotangent, "a read-only input")]
        shared = _sharing(trial, claim, case, mine, dout, answer.raw) if shared is None else shared
    if written := backward_pass(trial):
        return [*written]
    after = state_of(trial.pull_source) if trial.pull_source is not None else {}
    if before != after:
        changed = ", ".join(n for n in after if after[n] != before.get(n))
        note = "a fault only if answers change; see replay"
        return [
            finding(
                trial,
                claim,
                chosen[-1],
                found=f"{changed} changed",
                wanted="no writes",
                kind="convention",
                cause="the rule keeps state",
                note=note,
            )
        ]
    if shared is not None:
        return [shared]
    return [Passed(len(chosen), "frozen arguments, values and cotangents; nothing written", claim)]


def on_copies(pull: Callable[..., Any]) -> Callable[..., Any]:
    """The rule given copies to write to."""
    return lambda arguments, value, cotangent: pull(tuple(own(a) for a in arguments), own(value), own(cotangent))


class _Frozen:
    """A context in which arrays are read-only."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.flags = [(array, array.flags.writeable) for _, array in _arrays(values)]

    def __enter__(self) -> None:
        for array, _ in self.flags:
            array.flags.writeable = False

    def __exit__(self, *_: object) -> None:
        for array, was in self.flags:
            array.flags.writeable = was


def _alike(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    return x.shape == y.shape and (_same(x, y) if x.dtype.kind == "f" else bool((x == y).all()))


def _written(trial: Trial, claim: str, case: Case, cotangent: Any, what: str) -> Refuted:
    test = "(lambda d, a, b: (pull(d), np.array_equal(d, a) and all(np.array_equal(u, v) for u, v in zip(x, b)))[1])"
    test += "(np.array(dout), np.array(dout), tuple(np.array(v) for v in x))"
    cause = "it writes in place: work on a copy"
    return finding(
        trial, claim, case, cotangent=cotangent, found=f"{what} is written to", wanted="no writes", cause=cause, test=test
    )


def _sharing(trial: Trial, claim: str, case: Case, mine: Case, dout: Any, raw: Any) -> Verdict | None:
    """The convention that an answer is a view of what was given, or that two cotangents are one buffer."""
    answers = _arrays((raw,))
    given = [("dout", a) for _, a in _arrays((dout,))] + [("out", a) for _, a in _arrays((mine.value,))]
    given += [(trial.parameters[p[0]], a) for p, a in _arrays(mine.arguments)]
    pairs: Iterator[tuple[str, Any, Any]] = ((f"a cotangent is a view of {n}", b, a) for n, a in given for _, b in answers)
    twins = (("two cotangents are one buffer", b, c) for i, (_, b) in enumerate(answers) for _, c in answers[i + 1 :])
    for what, one, two in (*pairs, *twins):
        if one.size and np.shares_memory(one, two):
            note = "harmless until somebody adds to it in place"
            cause = "no copy is made"
            return finding(trial, claim, case, found=what, wanted="memory of its own", kind="convention", cause=cause, note=note)
    return None


# 4


def replay(trial: Trial) -> list[Verdict]:
    """4: the same question has the same answer, bit for bit, whatever was asked in between; an answer outlives the next call."""
    claim = "replay"
    chosen = few(trial)
    first = []
    for case in chosen:
        trial.value(case.arguments)
        answer = trial.pulled_anew(case, ones(trial, case))
        first.append((answer.raw, copy.deepcopy(answer.raw), answer))
    for k, case in reversed(list(enumerate(chosen))):
        kept, copied, answer = first[k]
        trial.value(chosen[(k * 7 + 3) % len(chosen)].arguments)
        if not same(kept, copied):
            cause = "an answer is overwritten by a later call: it must not be a buffer that the rule keeps"
            test = "(lambda a: (lambda b: (pull(2 * dout), all(np.array_equal(u, v) for u, v in zip(a, b)))[1])"
            test += "(tuple(np.array(v) for v in a)))(pull(dout))"
            return [finding(trial, claim, case, cotangent=np.ones(case.outputs), found=kept, wanted=copied, cause=cause, test=test)]
        again = trial.pulled_anew(case, ones(trial, case))
        if answer.cotangents is None and again.cotangents is None:
            continue
        if again.cotangents is None or answer.cotangents is None or not _same(again.cotangents, answer.cotangents):
            return [_changed(trial, claim, case, again.cotangents, answer.cotangents)]
    return [Passed(2 * len(chosen), "replayed in another order, bit for bit", claim)]


def _changed(trial: Trial, claim: str, case: Case, found: Any, wanted: Any) -> Refuted:
    """The finding of an answer that changed: rounding that is not reproducible is a convention, anything else a fault."""
    gap = np.inf if found is None or wanted is None else np.abs(found - wanted)
    size = 0.0 if wanted is None else np.max(np.abs(wanted), initial=0.0)
    if np.max(gap, initial=0.0) <= 4 * trial.operations * format_of(trial, case).unit * size:
        cause = "rounding differs from call to call"
        return finding(trial, claim, case, found=found, wanted=wanted, kind="convention", cause=cause)
    cause = "it depends on earlier calls: a stale or mutated residual"
    test = "(lambda a, b, c: np.array_equal(a[0], c[0]))"
    test += "(pull(dout), pull(2 * dout, tuple(v + 1 if np.asarray(v).dtype.kind == 'f' else v for v in x)), pull(dout))"
    return finding(trial, claim, case, cotangent=np.ones(case.outputs), found=found, wanted=wanted, cause=cause, test=test)


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (("purity", purity), ("replay", replay))
