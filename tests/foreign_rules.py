"""What the tests of rules of other frameworks share: samples, checks, and what a wrong rule is caught for."""

from __future__ import annotations

import numpy as np

from adjudge.adapters.black_boxes import trial_of
from checkers.array_audit import NAMES, judged

X = np.array([0.5, -2.0, 3.0])
A = np.array([[1.0, -0.5, 2.0], [0.25, 3.0, -1.0]])
B = np.array([[0.5, 1.0], [-1.5, 2.0], [0.75, -0.25]])
FULL = ("primal", "structure", "purity", "replay", "zero", "algebra", "jacobian", "edges", "accuracy", "shapes")
EXAMPLES = 10


def report(x, samples, *claims, **options):
    """The report of some checks."""
    skip = [name for name in NAMES if name not in claims]
    return judged(lambda: trial_of(x, samples, examples=EXAMPLES, **options), 0, skip)


def assert_caught(rule, sample, claim, kind, cause):
    """A wrong rule has a finding of this check and kind, and its cause is named."""
    found = [f for f in report(rule, [sample], claim).findings if (f.claim, f.kind) == (claim, kind)]
    assert found
    assert cause.lower() in found[0].counterexample.cause.lower()
