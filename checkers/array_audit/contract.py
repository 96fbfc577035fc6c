"""
Checks 1, 2 and 5 on arrays: what every backpropagator owes whatever its function is. The value keeps its bits; one cotangent per
argument, of its shape, dtype and container; zero in, zero out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checkers.array_audit.case import Case, leaves
from checkers.array_audit.findings import entry_name, finding, picked, shrunk
from checkers.array_audit.opinion import ARITHMETIC, entries
from checkers.array_audit.passes import forward_pass, unused_results
from checkers.array_audit.purity import few, ones, same
from checkers.array_audit.trial import Trial
from checkers.verdict import OutOfScope, Passed, Refuted, Verdict

# 1


def primal(trial: Trial) -> list[Verdict]:
    """1: the forward value is the same, bit for bit, after the rule ran."""
    claim = "primal"
    for case in few(trial):
        trial.pulled_anew(case, ones(trial, case))
        again = trial.case(case.arguments)
        if again is None or not same(again.value, case.value):
            found = "no value" if again is None else again.value
            cause = "the forward function keeps state between calls, or the rule writes to its arguments"
            test = "(pull(dout), np.array_equal(np.asarray(forward(*x)), np.asarray(y), equal_nan=True))[1]"
            return [
                finding(trial, claim, case, cotangent=np.ones(case.outputs), found=found, wanted=case.value, cause=cause, test=test)
            ]
    return [*forward_pass(trial)] or [Passed(len(few(trial)), "the forward value keeps its bits", claim)]


# 2


def structure(trial: Trial) -> list[Verdict]:
    """2: one cotangent per argument, of its shape, dtype and container; the rule answers wherever the function does."""
    claim = "structure"
    judged = 0
    wider: Verdict | None = None
    for case in trial.cases:
        for d in (1.0, 0.0):
            kind, cause = misshapen(trial, case, d)
            judged += 1
            if not cause:
                continue
            if kind == "fault":
                case = shrunk(trial, case, lambda c, d=d: misshapen(trial, c, d)[0] == "fault")  # type: ignore[misc]
                kind, cause = misshapen(trial, case, d)
            verdict = _structural(trial, claim, case, d, kind, cause)
            if kind == "fault":
                return [verdict]
            wider = verdict if wider is None else wider
    if wider is not None:
        return [wider]
    if unused := unused_results(trial):
        return [*unused]
    return [Passed(judged, "one cotangent per argument, of its shape and dtype", claim)]


def _structural(trial: Trial, claim: str, case: Case, d: float, kind: str, cause: str) -> Refuted:
    floats = leaves(case.arguments, case.fixed - trial.silent)
    wanted = ", ".join(
        f"{trial.parameters[p[0]]}{''.join(f'[{i}]' for i in p[1:])}: {np.asarray(v).dtype}{list(np.shape(v))}" for p, v in floats
    )
    found = trial.pulled_anew(case, trial.seeded(case, np.full(case.outputs, d)))
    answer = found.raised or _shown(found.raw)
    tests = [f"np.asarray(a{''.join(f'[{i}]' for i in p)}).shape == {np.shape(v)}" for p, v in floats]
    tests += [f"np.asarray(a{''.join(f'[{i}]' for i in p)}).dtype == np.{np.asarray(v).dtype.name}" for p, v in floats]
    single = "a if isinstance(a, (tuple, list)) else (a,)" if len(case.arguments) == 1 else "a"
    test = f"(lambda a: isinstance(a, (tuple, list)) and len(a) == {len(case.arguments)} and {' and '.join(tests) or 'True'})"
    test += f"((lambda a: {single})(pull(dout)))"
    cotangent = np.full(case.outputs, d)
    return finding(trial, claim, case, cotangent=cotangent, found=answer, wanted=wanted, kind=kind, cause=cause, test=test)


def _shown(raw: Any) -> str:
    """An answer by its types and shapes."""
    if isinstance(raw, (tuple, list)):
        return f"({', '.join(map(_shown, raw))})"
    return f"{raw.dtype}{list(raw.shape)}" if isinstance(raw, np.ndarray) else type(raw).__name__


def misshapen(trial: Trial, case: Case, d: float) -> tuple[str, str]:
    """
    (kind, cause) of what is wrong with the container of the cotangents; ("", "") if nothing is.

    Nothing is asked where this value has no reals, as np.bincount of no weights is one of integers: it has no cotangent.
    """
    if not leaves((case.value,)):
        return "", ""
    pulled = trial.pulled(case, np.full(case.outputs, d))
    if pulled.raised:
        if pulled.raised.startswith(ARITHMETIC):
            return "", ""
        return "fault", f"the rule raised {pulled.raised}; it must answer wherever the function does"
    if pulled.cotangents is None:
        return "fault", pulled.why + _shaped(case, pulled.raw)
    raw = pulled.raw if isinstance(pulled.raw, (tuple, list)) else (pulled.raw,)
    if unanswered := [trial.parameters[i] for i in sorted(trial.silent) if raw[i] is None]:
        fixed = "" if trial.row is not None else f", or fixed={unanswered!r} if it is held fixed"
        cause = f"the cotangent of {' and '.join(unanswered)} is None, and it is real: zeros if nothing flows to it{fixed}"
        return "fault", cause
    worst = ("", "")
    for path, leaf in leaves(case.arguments, case.fixed):
        kind, cause = _unlike(_below(raw, path), leaf)
        if cause:
            cause = f"the cotangent of {trial.parameters[path[0]]} {cause}"
            if kind == "fault":
                return kind, cause
            worst = (kind, cause)
    return worst


def _shaped(case: Case, raw: Any) -> str:
    """The suspicion that a wrong shape raises: the transposed one, or that of the value."""
    answers = raw if isinstance(raw, (tuple, list)) else (raw,)
    values = {np.shape(v) for _, v in leaves((case.value,))}
    for path, leaf in leaves(case.arguments, case.fixed):
        try:
            got = np.shape(_below(answers, path))
        except (IndexError, KeyError, TypeError, ValueError):
            return ""
        if got != np.shape(leaf):
            if got in values:
                return ": a broadcast axis is not summed"
            return ": it is transposed" if got == np.shape(leaf)[::-1] else ""
    return ""


def _below(raw: Any, path: tuple[int, ...]) -> Any:
    for i in path:
        raw = raw[i]
    return raw


def _unlike(found: Any, leaf: Any) -> tuple[str, str]:
    """How a cotangent differs from its argument in container or dtype."""
    dtype = np.asarray(leaf).dtype
    if isinstance(found, np.ndarray):
        if isinstance(found, (np.matrix, np.ma.MaskedArray)):
            return "fault", f"is a {type(found).__name__}, not an array"
    elif isinstance(found, (list, tuple)) or np.ndim(leaf):
        return "fault", f"is a {type(found).__name__}, not an array"
    got = np.asarray(found).dtype
    if isinstance(found, float) or got == dtype:
        return "", ""
    if got.kind != "f" and not (isinstance(found, int) and not isinstance(found, bool) and not np.ndim(leaf)):
        return "fault", f"is {got}: the argument is {dtype}"
    if got.kind == "f" and np.finfo(got).eps > np.finfo(dtype).eps:
        return "fault", f"is {got}: the argument is {dtype}, and digits are lost"
    if got.kind == "f":
        return "convention", f"is {got}: the argument is {dtype}"
    return "", ""


# 5


def zero(trial: Trial) -> list[Verdict]:
    """5: zero in, zero out, wherever the column of the Jacobian is known."""
    claim = "zero"
    judged = 0
    for case in trial.cases:
        bad = _not_zero(trial, case)
        judged += case.size
        if bad is None:
            continue
        case = shrunk(trial, case, lambda c: _not_zero(trial, c) is not None)
        bad = _not_zero(trial, case)
        assert bad is not None
        cotangents = trial.pulled(case, np.zeros(case.outputs)).cotangents
        assert cotangents is not None
        found = float(cotangents[bad])
        cause = "NaN: zero times an infinite intermediate" if np.isnan(found) else "the cotangent is not a factor of it"
        note = entry_name(trial, case, 0, bad).split(" / d ")[1]
        test = f"{picked(case, bad)} == 0"
        return [
            finding(
                trial,
                claim,
                case,
                cotangent=np.zeros(case.outputs),
                found=found,
                wanted=0.0,
                cause=cause,
                note=f"the cotangent of {note}",
                test=test,
            )
        ]
    if not judged:
        return [OutOfScope("no case has a coordinate that varies", claim)]
    return [Passed(judged, "coordinates: zero in, zero out", claim)]


def _not_zero(trial: Trial, case: Case) -> int | None:
    """The first coordinate whose cotangent is not zero at cotangent zero though all of its derivatives are known and judged."""
    if not case.size or not case.outputs:
        return None
    answer = trial.pulled(case, np.zeros(case.outputs)).cotangents
    if answer is None or not (answer != 0).any():
        return None
    opinions = entries(trial, case)
    where = (answer != 0) & (opinions.right | opinions.fault).all(axis=0)
    return int(np.flatnonzero(where)[0]) if where.any() else None


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = (
    ("primal", primal),
    ("structure", structure),
    ("zero", zero),
)
