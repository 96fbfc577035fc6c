"""
Why a mode does not answer: the reasons that are known, by number. `docs/agreement.md` lists them; no error is to fit none.

A reason is recognised by the kind of the error, the rule that objects, and words of its message.
"""

from __future__ import annotations

from dataclasses import dataclass

from semantics.errors import AdjudgeError


@dataclass(frozen=True, slots=True)
class Reason:
    """Errors of `kind`, raised by one of `rules` (any, if there are none), whose message holds one of `words` (likewise)."""

    number: int
    text: str
    kind: str = "Malformed"
    rules: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def fits(self, error: AdjudgeError) -> bool:
        """Whether this is why the error was raised."""
        named = not self.rules or error.rule in self.rules
        return type(error).__name__ == self.kind and named and (not self.words or any(w in error.what for w in self.words))


REASONS: tuple[Reason, ...] = (
    Reason(
        1,
        "SSA form has no functions as values, and the program passes, stores or returns one that the optimizer does not resolve.",
        "Malformed",
        ("first_order",),
    ),
    Reason(
        2,
        "Accumulation in a shadow memory is for one straight sweep: programs without calls, that capture nothing and keep no "
        "pointer in memory. What it makes is not of this kind, so it has no second order.",
        "Malformed",
        ("shadow", "linear"),
    ),
)


def reason_of(error: AdjudgeError) -> Reason | None:
    """The first known reason that fits an error."""
    return next((r for r in REASONS if r.fits(error)), None)
