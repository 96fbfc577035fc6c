"""
A library to be swept: functions that are right, wrong, without a derivative, that hang, that take the process down.

Its judge is a stand-in for ours: it knows the derivatives of two polynomials.
"""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjudge.sweep.calls import table
from adjudge.sweep.catalogue import Library
from checkers.array_audit.trial import Trial
from checkers.verdict import Counterexample, LedgerEntry, Passed, Refuted, Report
from semantics.errors import Malformed

calls = itertools.count()


def square(x: Any) -> Any:
    return x * x


also_square = square


def cube(x: Any) -> Any:
    return x * x * x


def scaled(x: Any, factor: float = 1.0) -> Any:
    return x * x * factor


def endless(x: Any) -> Any:
    while True:
        pass


def fatal(x: Any) -> Any:
    os.kill(os.getpid(), signal.SIGSEGV)


def hungry(x: Any) -> Any:
    return np.zeros(2**45)[: x.size] + x


def counted(x: Any) -> Any:
    return np.sign(x).astype(np.int64)


def noise(x: Any) -> Any:
    return x + next(calls)


def stuck(x: Any) -> Any:
    return x * x


def picky(x: Any, y: Any, z: Any, w: Any) -> Any:
    return x


def save_all(x: Any) -> Any:
    raise AssertionError("this is never tried")


def square_(x: Any) -> Any:
    """Works in place."""
    raise AssertionError("this is never tried")


class Thing:
    pass


FACTOR = {"square": 2.0, "scaled": 2.0, "counted": 0.0, "noise": 1.0, "cube": 3.0}
"""The derivative of each is a multiple of a power; the one that `cube` has here is that of a square."""


def pull(name: str, xs: Sequence[Any], cotangent: Any) -> tuple[Any, ...]:
    if name == "stuck":
        raise NotImplementedError("stuck has no gradient")
    return (FACTOR[name] * xs[0] * cotangent,)


def trial(function: Callable[..., Any], samples: Sequence[Any], *, seed: int, examples: int, domain: Any, name: str) -> Trial:
    bare = function.__name__
    made = Trial(name, ("x",), function, lambda xs, y, dy: pull(bare, xs, dy), (), domain=domain, seed=seed)
    try:
        function(*samples[0])
    except TypeError as error:
        raise Malformed(f"it takes other arguments: {error}") from error
    made.cases = tuple(filter(None, map(made.case, samples)))
    return made


def judge(trial: Trial, seed: int, skip: Sequence[str]) -> Report:
    """Whether the Jacobian is that of x² or, for cube, of x³."""
    case = trial.cases[0]
    found = trial.jacobian(case)
    assert found is not None
    x = case.coordinates
    wanted = np.diag(3.0 * x * x if "cube" in trial.name else 2.0 * x)
    ledger = (LedgerEntry("jacobian", 0.0),)
    if np.array_equal(found, wanted):
        return Report(trial.name, (Passed(x.size, "the derivative of a polynomial", "jacobian"),), ledger, seed)
    shown = Counterexample({"x": case.arguments[0]}, found[0, 0], wanted[0, 0], cause="a factor *x* is missing")
    return Report(trial.name, (Refuted(shown, "fault", "jacobian"),), ledger, seed)


OURS = "the tests' own"
LIBRARY = Library(
    "polynomials",
    ("sweep_library",),
    table("""
square : x | x3
scaled : x, 1.0 | x, 0
"""),
    {"save_*": "writes files", "*[a-z]_": "works in place", "trial": OURS, "judge": OURS, "pull": OURS, "table": OURS},
    trial=trial,
    judge=judge,
)
