"""
What the two passes of a framework's rule owe, beside what every backpropagator does (checks 1, 2 and 3).

A rule of another framework is two functions: a forward pass, which computes the value once more and saves residuals, and a
backward pass, which reads them. The first must compute the bits of the function itself; the second must leave the residuals as
they are, so that one forward pass can be pulled back two times, and take it that a result which is not used has no cotangent. Where
a trial does not tell its passes apart, nothing is asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from checkers.array_audit.case import flat, leaves
from checkers.array_audit.findings import finding
from checkers.array_audit.opinion import format_of
from checkers.array_audit.trial import Trial
from checkers.verdict import Refuted

FEW = 16


def forward_pass(trial: Trial) -> list[Refuted]:
    """
    1: the forward pass of the rule computes the value of the function, bit for bit.

    A difference that 4 ulp for each operation explain, in the coarsest format of the case, is a convention: both round, in another
    order. Any other is a fault.
    """
    small: list[Refuted] = []
    for case in trial.cases[:FEW] if trial.rule_value is not None else ():
        assert trial.rule_value is not None
        try:
            with np.errstate(all="ignore"):
                again = trial.rule_value(case.arguments)
        except Exception as error:  # the rule may raise whatever it likes; `structure` says so
            trial.lost.append(f"the forward pass of the rule raises {type(error).__name__}: its value is not compared")
            return []
        found, wanted = reals(again), reals(case.value)
        if same_bits(found, wanted):
            continue
        cause = "the forward pass of the rule computes another value than the function"
        room = 4 * trial.operations * format_of(trial, case).unit
        near = found.shape == wanted.shape and bool((np.abs(found - wanted) <= room * np.abs(wanted)).all())
        kind = "convention" if near else "fault"
        test = "np.array_equal(np.asarray(rule.rule_value(x)), np.asarray(y))" if trial.recipe else ""
        ones = np.ones(case.outputs)
        verdict = finding(trial, "primal", case, cotangent=ones, found=again, wanted=case.value, kind=kind, cause=cause, test=test)
        if not near:
            return [verdict]
        small = small or [verdict]
    return small


def backward_pass(trial: Trial) -> list[Refuted]:
    """3: pulled back two times, one forward pass answers the same bits: the residuals are not written to."""
    for case in trial.cases[:FEW] if trial.twice is not None else ():
        assert trial.twice is not None
        cotangent = np.linspace(1.0, 2.0, case.outputs)
        try:
            with np.errstate(all="ignore"):
                first, second = trial.twice(case.arguments, trial.seeded(case, cotangent))
        except Exception as error:
            alone = trial.pulled_anew(case, trial.seeded(case, cotangent))
            if alone.raised:
                continue
            found, wanted = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", alone.raw
        else:
            found, wanted = second, first
            if same_bits(reals(first), reals(second)):
                continue
        cause = "the backward pass writes to what the forward pass saved: a second one answers otherwise"
        test = "all(np.array_equal(a, b) for a, b in zip(*rule.twice(x, dout)))" if trial.recipe else ""
        return [finding(trial, "purity", case, cotangent=cotangent, found=found, wanted=wanted, cause=cause, test=test)]
    return []


def unused_results(trial: Trial) -> list[Refuted]:
    """
    2: a result that nobody uses has no cotangent, where others have one; the rule answers as to a zero.

    A zero adds nothing and rounds nothing: the answers are equal as numbers. Where the zero makes NaN, nothing is asked.
    """
    several = [case for case in trial.cases if len(leaves((case.value,))) > 1 and leaves(case.arguments, case.fixed)]
    for case in several[:FEW] if trial.alone is not None else ():
        assert trial.alone is not None
        sizes = [np.size(leaf) for _, leaf in leaves((case.value,))]
        for k, end in enumerate(np.cumsum(sizes)):
            cotangent = np.zeros(case.outputs)
            cotangent[end - sizes[k] : end] = np.linspace(1.0, 2.0, sizes[k])
            wanted = trial.pulled(case, cotangent).cotangents
            if wanted is None or not np.isfinite(wanted).all():
                continue
            said = f"where only result {k} is used, and the others have no cotangent"
            try:
                with np.errstate(all="ignore"):
                    raw = trial.alone(case.arguments, trial.seeded(case, cotangent), k)
            except Exception as error:  # whatever the rule raises where it is given None
                found: Any = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
                cause = f"the rule raises {said}"
            else:
                found = trial.read(case, raw)
                if not isinstance(found, str) and np.array_equal(found, wanted):
                    continue
                cause = f"the rule answers something else than to zeros {said}"
            flat_one = "np.concatenate([np.ravel(a) for a in {} if a is not None])"
            test = f"np.array_equal({flat_one.format(f'rule.alone(x, dout, {k})')}, {flat_one.format('pull(dout)')})"
            test = test if trial.recipe else ""
            return [finding(trial, "structure", case, cotangent=cotangent, found=found, wanted=wanted, cause=cause, test=test)]
    return []


def reals(value: Any) -> np.ndarray[Any, Any]:
    """All reals of a value."""
    return flat([leaf for _, leaf in leaves((value,))])


def same_bits(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether two vectors have the same bits; one NaN is as good as another."""
    if a.shape != b.shape:
        return False
    return bool((((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))).all())
