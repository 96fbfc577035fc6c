"""
The judge of backpropagators (DESIGN, section 6): is this primitive's rule right, everywhere it is defined?

    check(primitive)                          a primitive of the table, or a user's
    check_vjp(forward, pullback, samples)     a black box: forward(*xs) -> y, pullback(xs, y, dy) -> tuple

Each answers with a Report: verdicts with their claims, findings with shrunk inputs and stand-alone scripts, and a ledger of
what every check cost and of what was not judged.

A function of reals is judged here; one that reads arrays, by `checkers.array_audit`, whose checks have the same names. A function
of reals that takes arrays as well is judged on a few of them too, under the claims "shapes" and "large arrays".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checkers.judgment import judged as run_all
from checkers.plots import Plot, errors
from checkers.primitive_audit import composition, contract, jacobian, kinks, on_arrays, orders, vacuity
from checkers.primitive_audit.build import of_functions, of_row, row_in
from checkers.primitive_audit.subject import Subject
from checkers.verdict import Report, Verdict
from semantics.primitives.row import Primitive
from transforms.annotations import discrete, stated

CHECKS: tuple[tuple[str, Callable[[Subject], list[Verdict]]], ...] = (
    *contract.CHECKS,
    *jacobian.CHECKS,
    *kinks.CHECKS,
    *orders.CHECKS,
    *composition.CHECKS,
    *vacuity.CHECKS,
    *on_arrays.CHECKS,
)
NAMES = tuple(name for name, _ in CHECKS)
REALS = {"real", "number"}
PLOTS = 8

__all__ = ["CHECKS", "NAMES", "check", "check_vjp"]


def check(
    primitive: Any,
    *,
    seed: int = 0,
    examples: int | None = None,
    skip: Sequence[str] = (),
    prover: Callable[[Primitive], Sequence[Verdict]] | None = None,
) -> Report:
    """
    Judges the backpropagator of a primitive: of the table, or an object made by `@primitive`.

    examples  how many points, 200 if it is not said; of arrays how many cases, 60
    skip      names of checks to leave out (see NAMES)        seed  of every random choice
    prover    what answers the check "proof"; without one it is out of scope
    """
    row = row_in(primitive)
    if reads_arrays(row):
        return _check_arrays(row, seed, examples, skip, prover)

    def subject() -> Subject:
        made = of_row(row, seed=seed, examples=200 if examples is None else examples)
        made.prover = prover
        return made

    return judged(subject, seed, skip)


def reads_arrays(row: Primitive) -> bool:
    """Whether a row is no function from reals to a real."""
    return "array signature" in row.columns or row.result not in REALS or not set(row.signature) <= REALS


def _check_arrays(
    row: Primitive,
    seed: int,
    examples: int | None,
    skip: Sequence[str],
    prover: Callable[[Primitive], Sequence[Verdict]] | None,
) -> Report:
    from checkers import array_audit
    from checkers.array_audit import build

    def trial() -> Any:
        made = build.of_row(row, seed=seed, examples=build.EXAMPLES if examples is None else examples)
        made.prover = prover
        return made

    return array_audit.judged(trial, seed, skip)


def check_vjp(
    forward: Callable[..., Any],
    pullback: Callable[..., Any],
    samples: Sequence[Any],
    *,
    seed: int = 0,
    examples: int | None = None,
    skip: Sequence[str] = (),
    fixed: Sequence[int | str] = (),
    domain: Callable[..., bool] | None = None,
) -> Report:
    """
    Judges a pullback against a forward function: of real scalars, or of arrays if a sample holds one.

    forward(*xs) -> y; pullback(xs, y, dy) -> tuple of cotangents, or pullback(*xs, y, dy). samples: argument tuples; the inputs
    tried are these, inputs near them, random ones and the edge pool, where forward is finite.

    fixed     positions or names of arguments that are attributes: nothing is differentiated by them. So are those that forward
              annotates `int` or `bool`, if the samples have such there
    domain    (x…) -> whether arguments are meant to be tried
    """
    fixed = (*fixed, *whole(forward, samples))
    if not (holds_arrays(samples) or tuple(fixed) or domain is not None):
        points = 200 if examples is None else examples
        return judged(lambda: of_functions(forward, pullback, samples, seed=seed, examples=points), seed, skip)
    from checkers import array_audit
    from checkers.array_audit import build

    cases = build.EXAMPLES if examples is None else examples
    return array_audit.judged(
        lambda: build.of_functions(forward, pullback, samples, seed=seed, examples=cases, fixed=fixed, domain=domain), seed, skip
    )


def holds_arrays(samples: Any) -> bool:
    """Whether a sample is, or has among its arguments, anything but a number: an array with axes, a list, a flag, None."""
    if not isinstance(samples, (list, tuple)):
        return False
    flat = [value for sample in samples for value in (sample if isinstance(sample, tuple) else (sample,))]
    return any(isinstance(v, (np.ndarray, tuple, list)) and np.ndim(v) > 0 for v in flat if not isinstance(v, str)) or any(
        isinstance(v, (bool, np.bool_)) or v is None for v in flat
    )


def whole(forward: Callable[..., Any], samples: Any) -> list[int]:
    """The positions that forward annotates `int` or `bool`, and at which every sample has a whole number or a truth value."""
    rows = [s if isinstance(s, tuple) else (s,) for s in samples] if isinstance(samples, (list, tuple)) else []
    said = discrete(forward) if callable(forward) else frozenset()
    places = [i for i, name in enumerate(stated(forward)) if name in said] if said else []
    return [i for i in places if rows and all(i < len(row) and isinstance(row[i], (int, np.integer, np.bool_)) for row in rows)]


def judged(make: Callable[[], Subject], seed: int, skip: Sequence[str]) -> Report:
    """The report of every check but the skipped ones. Malformed for a name that no check bears."""
    return run_all(make, CHECKS, seed=seed, skip=skip, details=details, plots=plots)


def details(subject: Subject) -> dict[str, Any]:
    """How many points there were, and against which references."""
    return {"points": len(subject.points), "references": subject.reference.name}


def plots(subject: Subject) -> tuple[Plot, ...]:
    """The errors over the domain, by each of the first arguments."""
    return tuple(errors(subject, i) for i in range(min(subject.arity, PLOTS)))
