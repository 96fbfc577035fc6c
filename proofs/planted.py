"""
A prover that proves everything proves nothing: wrong variants of every backpropagator are put to it, and it must refute them.

The variants are made mechanically from the rule's own program (`proofs.variants`). What refutes one is a counterexample that the
machine has executed. That is the claim here; a variant that is refuted makes no certificate.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial

from checkers.smt.inquiry import Judgment
from checkers.verdict import OutOfScope, Proved, Unknown, Verdict
from proofs.cases import cases
from proofs.obligation import Obligation
from proofs.variants import ENOUGH, refuted_variants
from semantics.ir import Program
from semantics.primitives.row import Primitive
from transforms.backpropagators import backpropagator


def judge(primitive: Primitive, enough: int = ENOUGH) -> Judgment:
    """Whether `enough` wrong variants of the backpropagator are refuted."""
    name, started = f"wrong variants of {primitive.name}", time.perf_counter()
    count = len(refuted_variants(primitive, enough))
    verdict: Verdict = Proved(f"{count} refuted, each by an executed counterexample", name)
    if count < enough:
        verdict = Unknown(f"of {enough} variants {count} were refuted", name)
        if not depends(backpropagator(primitive)):
            verdict = OutOfScope("the derivative is 0, and few variants of nothing are wrong", name)
    return Judgment(name, "executed", verdict, time.perf_counter() - started)


def depends(rule: Program) -> bool:
    """Whether a backpropagator uses the cotangent of the result; where it does not, the derivative is 0."""
    *_, dout = rule.graphs[rule.entry].parameters
    return any(dout in rule.inputs(node) for node in rule.nodes)


def obligations(primitives: Iterable[Primitive]) -> list[Obligation]:
    """One obligation per primitive that is a function of reals."""
    return [Obligation(f"wrong variants of {p.name}", p.name, partial(judge, p)) for p in primitives if cases(p)]
