"""
The judgment on several rules used together: as a pass made of them, and as a rewriting system.

    termination   one simplification order in which every left side is above its right side (Dershowitz): no run is endless
    confluence    every critical pair of the set joins; then, if the set ends, what it leads to does not depend on the order
                  (Newman's lemma)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from checkers.optimizer_audit.critical_pairs import Pairs, pairs
from checkers.optimizer_audit.journal import Journal
from checkers.optimizer_audit.passes import audit_pass
from checkers.optimizer_audit.term_orders import fewer, folded, greater, precedences
from checkers.verdict import Counterexample, OutOfScope, Passed, Proved, Refuted, Report, Unknown, Vacuous, Verdict
from semantics.ir import Program
from transforms.patterns.rule import DOMAINS, PatternRule
from transforms.patterns.text import Call
from transforms.system import RewriteSystem

KNUTH_BENDIX = "no rule has a metavariable more often on the right, and every rule has fewer symbols there (a Knuth-Bendix order)"


@dataclass(frozen=True)
class RuleSet:
    """Rules that are used together."""

    name: str
    rules: tuple[PatternRule, ...]

    @property
    def domain(self) -> str:
        """The weakest equality that one of the rules claims."""
        return max((r.domain for r in self.rules), key=DOMAINS.index)

    @property
    def system(self) -> RewriteSystem:
        """The pass that they make."""
        return RewriteSystem(self.name, tuple(r.rewrite for r in self.rules), domain=self.domain)


def audit_rules(subject: RuleSet, seed: int, examples: Sequence[Program], skip: frozenset[str]) -> Report:
    """The report on rules together: termination and confluence of the set, and everything that a pass is asked."""
    journal = Journal(subject.name, skip)
    journal.check("termination of the set", lambda: [ends(subject.rules)])
    journal.check("confluence of the set", lambda: [confluence(subject.rules)])
    together = journal.report(seed)
    as_pass = audit_pass(subject.system, seed, examples, skip)
    return replace(
        as_pass,
        subject=f"rules {subject.name}",
        verdicts=(*together.verdicts, *as_pass.verdicts),
        ledger=(*together.ledger, *as_pass.ledger),
    )


def ends(rules: Sequence[PatternRule]) -> Verdict:
    """One order for all rules, constants being folded; Unknown if none of ours does."""
    claim = "the rules together end, on every program"
    if not all(r.is_scalar for r in rules):
        return OutOfScope("the orders are on terms without shapes and attributes", claim)
    sides = [(folded(r.left_term), folded(r.right_term)) for r in rules]
    if all(fewer(left, right) for left, right in sides):
        return Proved(KNUTH_BENDIX, claim)
    left, right = (Call(rules[0].left_term.primitive, tuple(s[i] for s in sides)) for i in (0, 1))
    for precedence in precedences(left, right):
        if all(greater(a, b, precedence) for a, b in sides):
            shown = " > ".join(p for p in precedence if isinstance(p, str))
            return Proved(f"lexicographic path order{f' with {shown}' if ' ' in shown else ''}", claim)
    return Unknown("no order that was tried has the left side of every rule above its right side", claim)


def confluence(rules: Sequence[PatternRule]) -> Verdict:
    """The critical pairs of the set."""
    claim = "what the rules lead to does not depend on their order: all critical pairs join"
    patterns = [r for r in rules if r.is_scalar]
    every = tuple(r.rewrite for r in rules)
    found = Pairs()
    for i, rule in enumerate(patterns):
        of_rule = pairs(rule, patterns[i + 1 :], every)
        found.joined += of_rule.joined
        found.apart += of_rule.apart
        found.undecided += of_rule.undecided
    total = found.joined + len(found.apart) + len(found.undecided)
    if found.apart:
        peak, one, two = min(found.apart, key=lambda a: len(a[0].program.nodes))
        outer, inner = peak.overlap.outer.name, peak.overlap.inner.name
        cause = f"found is what comes of {inner}, wanted what comes of {outer}; {len(found.apart)} of {total} pairs stay apart"
        return Refuted(Counterexample({"program": str(peak.program)}, str(two), str(one), cause), "convention", claim)
    if found.undecided:
        return Unknown(f"the rules do not end on the reducts of {len(found.undecided)} of {total} critical pairs", claim)
    if not total:
        return Vacuous("no two of the rules overlap", claim)
    return Passed(total, f"critical pairs of {len(patterns)} rules", claim)
