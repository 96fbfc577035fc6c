"""The entry: what was handed in decides whether a rule or a pass is judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from checkers.optimizer_audit.rules import audit_rule
from checkers.verdict import Report
from semantics.errors import Malformed
from semantics.ir import Program
from transforms.agenda_system import AgendaSystem
from transforms.system import Rewrite, RewriteSystem


def audit(
    subject: Any,
    *,
    seed: int = 0,
    examples: Sequence[Program] = (),
    skip: Iterable[str] = (),
    domain: str | None = None,
    claims: str = "",
) -> Report:
    """
    The report on a rewrite rule, a pass, or a gradient.

    subject   a rule (`rule("x + 0.0 -> x")`, or its text), a RewriteSystem, a Rewrite, the name of a shipped pass, a function from
              programs to programs, or a sequence of passes: then it is found which one is to blame
    examples  programs to judge a pass on, before our own
    skip      names of checks to leave out, as the ledger names them
    domain    the equality that a pass claims, if it does not say so itself: "BITS", "IEEE" or "REAL"
    claims    "gradient": the function makes of a program its gradient, and is judged as such (`gradient_claims`)

    The same seed gives the same report, but for the seconds. Malformed if the subject is nothing that can be judged.
    """
    from checkers.optimizer_audit.passes import audit_pass
    from checkers.optimizer_audit.rule_set import RuleSet, audit_rules

    if domain not in (None, "BITS", "IEEE", "REAL"):
        raise Malformed(f"{domain!r} is no equality domain", rule="audit", remedy="one of BITS, IEEE, REAL")
    if claims not in ("", "gradient"):
        raise Malformed(f"nobody claims {claims!r}", rule="audit", remedy='claims="gradient", or nothing')
    for example in examples:
        if not isinstance(example, Program):
            raise Malformed(f"the example {example!r} is no program", rule="audit", remedy="parse it first")
    left_out = frozenset((skip,) if isinstance(skip, str) else skip)
    if claims:
        from checkers.optimizer_audit.gradient_claims import audit_gradient

        return audit_gradient(subject, seed, examples, left_out)
    if isinstance(subject, str):
        subject = _named(subject, domain)
    if all(hasattr(subject, part) for part in ("left", "right", "condition", "domain")):
        return audit_rule(subject, seed, examples, left_out)
    if isinstance(subject, RuleSet):
        return audit_rules(subject, seed, examples, left_out)
    if isinstance(subject, Rewrite):
        subject = RewriteSystem(subject.name, (subject,), domain=subject.domain)
    examples = (*examples, *getattr(subject, "examples", ()))  # a pass may bring some
    if isinstance(subject, (RewriteSystem, AgendaSystem, list, tuple)) or callable(subject) or hasattr(subject, "run"):
        return audit_pass(subject, seed, examples, left_out, domain)
    raise Malformed(
        f"{subject!r} is neither a rule nor a pass",
        rule="audit",
        remedy='rule("x + 0.0 -> x"), a RewriteSystem, or a function from Program to Program',
    )


def _named(text: str, domain: str | None) -> Any:
    """The rule that a text states, or the shipped pass of that name."""
    if "->" in text:
        from transforms.patterns.rule import pattern_rule

        return pattern_rule(text, domain=domain or "REAL")
    from transforms.pipeline import PASSES

    if text not in PASSES:
        raise Malformed(f"no pass is called {text!r}", rule="audit", remedy=f"one of {', '.join(PASSES)}")
    return PASSES[text]
