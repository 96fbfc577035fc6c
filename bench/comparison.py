"""
A gradient compared with others: the seconds of each, the ratios, and which miss their target.

The targets: the gradient by hand 1.2, of an MLP 1.5, of a GMM 0.6; three times our own forward pass, compiled, but for a Jacobian,
which has as many rows as there are functions; every library 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bench.measure import Row

BY_HAND = {"MLP": 1.5, "GMM": 0.6}
TARGETS = {"by hand, in a loop": 1.2, "by hand": 1.2, "forward pass": 3.0, "JAX": 1.0, "torch": 1.0, "autograd": 1.0}
COLUMNS = ("by hand, in a loop", "by hand", "forward pass", "interpreted forward", "JAX", "torch", "autograd")


@dataclass(frozen=True, slots=True)
class Comparison:
    """
    One gradient at one size.

    tier     the one that it runs on, and `refusal` why it is not A         first   seconds to the first gradient, ours and by hand
    others   what each other takes: our seconds and its, measured the same way; or why it is not there
    """

    label: str
    tier: str
    refusal: str
    first: tuple[float, float]
    others: dict[str, tuple[float, float] | str]

    def ratio(self, other: str) -> float | None:
        """Our time over its, if it is there."""
        found = self.others.get(other)
        return found[0] / found[1] if isinstance(found, tuple) else None

    def target(self, other: str) -> float | None:
        """What the ratio should be at most. A GMM need not be ahead of JAX; a Jacobian is not one way back."""
        if other == "by hand":
            if "by hand, in a loop" in self.others:
                return None  # for numbers, what counts is the code: a call from CPython costs as much as all of it
            return BY_HAND.get(self.label[:3], TARGETS[other])
        free = (other == "JAX" and self.label.startswith("GMM")) or (other == "forward pass" and self.label.startswith("Jacobian"))
        return None if free else TARGETS.get(other)

    def missed(self) -> tuple[str, ...]:
        """The others whose target is missed."""
        return tuple(o for o in self.others if (r := self.ratio(o)) and (t := self.target(o)) and r > t)

    def rows(self) -> Iterator[Row]:
        """A row for the first gradient, and one for each other."""
        ours, hand = self.first
        yield Row(f"{self.label}, first gradient, tier {self.tier}", f"{ours:.3f} s", f"by hand {hand:.3f} s", self.refusal)
        for other, found in self.others.items():
            if isinstance(found, str):
                yield Row(self.label, "", f"{other} cannot: {found}", "")
                continue
            mine, its = found
            note = f", target {self.target(other)} missed" if other in self.missed() else ""
            yield Row(self.label, f"{1e6 * mine:.3g} µs", f"{other} {1e6 * its:.3g} µs", f"{mine / its:.3g}{note}")


def line(comparison: Comparison) -> str:
    """The comparison as a line of a Markdown table with the columns COLUMNS; what misses its target is bold."""
    cells = [comparison.label, comparison.tier]
    for other in COLUMNS:
        ratio = comparison.ratio(other)
        text = "" if ratio is None else f"{ratio:.2g}" if ratio < 100 else f"{ratio:.0f}"
        cells.append(f"**{text}**" if other in comparison.missed() else text)
    return f"| {' | '.join(cells)} | {comparison.first[0]:.2f} |"
