"""
What `aj.compile` and `aj.vmap` give. In another process, and as a copy, it is made again of what it was made of, from code that is
kept there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any


class Made(partial[Any]):
    """
    A callable, a partial so that a call of one is C's alone. `made_by` says what has made it, and `made_again` how to make another.
    """

    __name__: str
    made_by: str
    made_again: tuple[Callable[..., Any], tuple[Any, ...]]

    def lead(self, to: Callable[..., Any]) -> None:
        """From the next call on, it calls this."""
        self.__setstate__((to, (), {}, vars(self)))  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<{self.__name__}, made by {self.made_by}>"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.made_again


class Ways:
    """The ways in to code for arguments of several types, each made once; they call `at_length` for arguments of other types."""

    def __init__(self, at_length: Callable[..., Any]) -> None:
        self.at_length = at_length
        self.known: dict[Any, Callable[..., Any]] = {}

    def of(self, runner: Any) -> Callable[..., Any]:
        """What calls take from now on, of the types for which the runner is."""
        if runner not in self.known and (way := runner.way_in(self.at_length)) is not None:
            self.known[runner] = way
        return self.known.get(runner, self.at_length)


def made(at_length: Callable[..., Any], by: str, name: str, again: Callable[..., Any], *arguments: Any) -> Made:
    """A callable that `by` has made, which calls `at_length` until it is led elsewhere; again(*arguments) makes another."""
    found: Any = Made(at_length)
    found.__name__, found.made_by, found.made_again = name, by, (again, arguments)
    return found
