"""No sound rule is refuted: over sixty of them, exact, conditional, real, whole and Boolean."""

from __future__ import annotations

import pytest
from mutants.rewrites import Rule
from rule_controls import CONDITIONAL, CONTROLS, EXACT, WHOLE

from checkers.optimizer_audit import audit
from checkers.verdict import Proved

QUICK = ("hits", "subsumption", "critical pairs", "weaker side condition", "proof in f16", "proof in f32", "proof in f64")


@pytest.mark.parametrize("control", CONTROLS, ids=lambda c: f"{c} when {c.when}" if c.when else str(c))
def test_a_sound_rule_is_not_refuted(control: Rule) -> None:
    report = audit(control.made(), skip=QUICK)
    assert [f for f in report.findings if f.kind != "convention"] == []
    proved = [v.claim for v in report.verdicts if isinstance(v, Proved)]
    assert "equal over the reals" in proved
    exact = control.domain == "BITS" and control.text not in [text for text, _ in WHOLE]
    assert not exact or "bit-equal in tiny" in proved


def test_there_are_as_many_as_promised_and_none_twice() -> None:
    assert len(CONTROLS) >= 60
    assert len({str(c.made()) for c in CONTROLS}) == len(CONTROLS)
    assert len(EXACT) + len(CONDITIONAL) >= 30
