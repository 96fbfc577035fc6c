"""
What the report says of the side condition of a rule.

    a rule that fails          the weakest condition of the vocabulary under which it holds, with its proof
    a rule that has one        whether it is needed, whether the vocabulary has a weaker one, and how far the solver follows
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from checkers.optimizer_audit.condition_proofs import Weakest, proved_under, weakest_proved
from checkers.optimizer_audit.journal import Journal
from checkers.optimizer_audit.rule_conditions import Atom, Comparison, all_hold, as_text, in_words, vocabulary, weakest
from checkers.optimizer_audit.rule_values import Rule, Sides, points_of, types_in
from checkers.optimizer_audit.samples import Point, names_of
from checkers.verdict import Proved, Verdict
from semantics.conditions import Condition
from semantics.type_language import BOOLEAN, INTEGER

EXACT_WORDS = ("nonzero", "at least 0", "at most 0", "positive", "negative")
BIT_POINTS, REAL_POINTS = 300, 80


class Bare:
    """A rule without its side condition."""

    def __init__(self, rule: Any) -> None:
        self.name, self.left, self.right, self.domain = rule.name, rule.left, rule.right, rule.domain
        self.condition = None
        self.variables = getattr(rule, "variables", None)


class Question:
    """A rule at its points: those where it fails, those where it holds, and what can be said of them."""

    def __init__(self, rule: Any, seed: int, words: Iterable[str] | None) -> None:
        bits = rule.domain in ("BITS", "IEEE")
        self.rule, self.names = rule, names_of(rule.left)
        self.exact = not bits or all(t in (INTEGER, BOOLEAN) for t in types_in(rule))
        sides = Sides(rule)
        self.differs = sides.bits_differ if bits else sides.reals_differ
        tried = points_of(rule, seed, finite=not bits, most=BIT_POINTS if bits else REAL_POINTS)
        parted = [(p, self.differs(p)) for p in tried]
        self.failing, self.holding = ([p for p, apart in parted if apart is wanted] for wanted in (True, False))
        self.further = points_of(rule, seed + 1, finite=not bits, most=2 * len(tried))[len(tried) :]
        if words is None and self.exact:
            words = (*EXACT_WORDS, *(a.text for a in vocabulary(self.names) if isinstance(a, Comparison)))
        self.atoms = vocabulary(self.names, words)

    def weakest(self, rlimit: int, given: tuple[Atom, ...] = (), further: Iterable[Atom] = ()) -> Weakest | None:
        """The weakest condition of the vocabulary and `further` atoms, on top of what is `given`."""
        return weakest_proved(
            self.rule.left,
            self.rule.right,
            self.names,
            self.failing,
            self.holding,
            atoms=(*further, *self.atoms),
            given=given,
            differs=self.differs,
            further=self.further,
            exact=self.exact,
            rlimit=rlimit,
        )

    def declared(self, condition: Any) -> tuple[Atom, ...]:
        """The side condition as an atom."""
        known = Condition(condition) if isinstance(condition, str) else condition
        return (Comparison(self.names, known),) if known is not None else ()


def what_would_save(journal: Journal, rule: Rule, seed: int, words: Iterable[str] | None, rlimit: int) -> None:
    """For a rule that failed: the weakest condition that would save it, beyond the one that it has."""
    question = Question(rule, seed, words)

    def judge() -> list[Verdict]:
        found = question.weakest(rlimit, question.declared(rule.condition))
        if found is None:
            return []
        journal.details["holds when"] = in_words(found.atoms)
        journal.details["holds when, as a condition"] = as_text(found.atoms)
        journal.details["holds when, proved"] = found.extent
        return [found.verdict]

    if not journal.check("weakest side condition", judge) and "weakest side condition" not in journal.skip:
        journal.not_judged(
            "weakest side condition", "no conjunction of three atoms of the vocabulary makes it hold at the points tried"
        )


def of_the_declared(journal: Journal, rule: Rule, seed: int, words: Iterable[str] | None, rlimit: int) -> None:
    """For a rule that holds under its condition: is it needed, and is there a weaker one?"""
    question = Question(Bare(rule), seed, words)
    journal.details["side condition needed"] = bool(question.failing)
    if not question.failing:

        def unneeded() -> list[Verdict]:
            verdict, extent = proved_under(rule.left, rule.right, None, exact=question.exact, rlimit=rlimit)
            why = "no point was found where the rule fails without it"
            journal.not_judged("necessity of the side condition", why + (f"; it holds without it, {extent}" if extent else ""))
            return [Proved(verdict.by, "holds without the side condition")] if isinstance(verdict, Proved) else []

        journal.check("necessity of the side condition", unneeded)
        return
    own = question.declared(rule.condition)

    def gained(atoms: Sequence[Atom] | None) -> list[Point]:
        """Where the rule holds, the atoms do, and its own condition does not."""
        return [p for p in question.holding if atoms and all_hold(atoms, p) and not all_hold(own, p)]

    def weaker() -> list[Verdict]:
        tested = weakest(question.names, question.failing, question.holding, (*own, *question.atoms))
        found = question.weakest(rlimit, further=own) if gained(tested) else None
        more = gained(found.atoms if found else None)
        journal.details["side condition weakest"] = not more
        if found is None or not more:
            return []
        journal.details["weaker side condition"] = in_words(found.atoms)
        journal.details["side condition excludes"] = str(dict(zip(question.names, simplest(more), strict=True)))
        return [found.verdict]

    journal.check("weaker side condition", weaker)


def simplest(points: list[Point]) -> Point:
    """One of the points to show."""
    return min(points, key=lambda p: len(repr(p)))
