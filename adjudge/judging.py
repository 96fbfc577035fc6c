"""
The three questions (DESIGN, section 6), each answered by a `Report` or by verdicts. The checkers are imported when asked.

    check        is this backpropagator right?
    audit        is this rewrite rule, or this pass, sound?
    prove        what can be proved of it?
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checkers.verdict import Report, Verdict

SEED = 0


def check(primitive: Any, *, seed: int = SEED, skip: Sequence[str] = ()) -> Report:
    """
    Judges the backpropagator of a primitive: of one made by `@aj.primitive`, or of a row of the table (by name or as a row).

    seed  of every random choice; printed in the report        skip  names of checks not to make (see `report.ledger`)
    """
    from checkers.primitive_audit import check as judge
    from proofs import prove as prover

    return judge(primitive, seed=seed, skip=tuple(skip), prover=prover)


def check_vjp(
    forward: Callable[..., Any],
    pullback: Callable[..., Any],
    samples: Sequence[Sequence[float]],
    *,
    seed: int = SEED,
    skip: Sequence[str] = (),
) -> Report:
    """
    Judges a black box: forward(*xs) -> y and pullback(xs, y, dy) -> tuple of sensitivities, on and around `samples`.

    Everything is f64. Without columns the reference is long-double Richardson extrapolation with a derived bound.
    """
    from checkers.primitive_audit import check_vjp as judge

    return judge(forward, pullback, samples, seed=seed, skip=tuple(skip))


def audit(rule_or_pass: Any, *, seed: int = SEED, skip: Sequence[str] = ()) -> Report:
    """Judges a rewrite rule (`aj.rule`, or its text) or a pass (a RewriteSystem, or any function from Program to Program)."""
    from checkers.optimizer_audit import audit as judge

    return judge(rule_or_pass, seed=seed, skip=tuple(skip))


def prove(primitive_or_rule: Any) -> list[Verdict]:
    """What the solver says of a primitive's backpropagator, or of a rule on the float ladder and over the reals."""
    from proofs import prove as discharge

    return list(discharge(getattr(primitive_or_rule, "row", primitive_or_rule)))
