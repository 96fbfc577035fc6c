"""What a reading by sets of reals says when the set does not lie on one side of a guard, a kink or an edge of a domain."""

from __future__ import annotations

from semantics.errors import Trap


class Undecided(Trap):
    """Some reals of the enclosure go one way and some another: the point lies on, or too near to, a guard boundary."""
