"""
The five errors. Everything that can go wrong with a program is one of them, and each says what, where, and what to try.

    Malformed   it cannot be read: the text, the Python source or the graph is not a program
    IllTyped    a primitive or a call was given something of the wrong type
    Trap        the program did what its semantics forbids (an integer divided by zero, an unbound variable)
    Crash       a typed program got stuck: a bug of ours, never of the user
    OutOfFuel   a budget (steps, nodes, solver resources) ran out

Source: DESIGN, section 4; the split of Trap and Crash follows the WebAssembly reference interpreter.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

WIDEST = 120  # characters of a line of source that an error shows
PROGRAMS_OF_OURS = str(Path(__file__).resolve().parent.parent / "transforms")


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a source file: 1-based line, 0-based column, and the text of that line."""

    file: str
    line: int
    column: int = 0
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def is_ours(self) -> bool:
        """Whether it is in a program that comes with us, such as a backpropagator, and not in one of the user's."""
        return self.file.startswith(PROGRAMS_OF_OURS)

    def excerpt(self) -> str:
        """The source line, of a long one the part around the column, and a caret under the column; nothing if it is not known."""
        if not self.text:
            return ""
        text, at = self.text.strip(), max(self.column - len(self.text) + len(self.text.lstrip()), 0)
        first = max(at - WIDEST // 2, 0) if len(text) > WIDEST else 0
        cut = "…" * bool(first) + text[first : first + WIDEST] + "…" * (len(text) > first + WIDEST)
        return f"    {cut}\n    {' ' * (at - first + bool(first))}^"


class AdjudgeError(Exception):
    """
    The common part of the five errors; raise one of its subclasses.

    what      one sentence: what is wrong
    rule      the rule of the semantics that objects, if there is one
    node      the node it objects to, as printed
    location  the line of source the node came from
    remedy    what to try
    """

    def __init__(
        self,
        what: str,
        *,
        rule: str = "",
        node: str = "",
        location: Location | None = None,
        remedy: str = "",
    ) -> None:
        self.what, self.rule, self.node = what, rule, node
        self.location, self.remedy = location, remedy
        super().__init__(what)

    def __str__(self) -> str:
        lines = [f"{type(self).__name__}: {self.what}"]
        if self.rule or self.node:
            at = f" at {self.node}" if self.node else ""
            lines.append(f"  rule {self.rule}{at}" if self.rule else f"  at {self.node}")
        if self.location is not None:
            lines.append(f"  {self.location}")
            if excerpt := self.location.excerpt():
                lines.append(excerpt)
        if self.remedy:
            lines.append(f"  try: {self.remedy}")
        return "\n".join(lines)


class Malformed(AdjudgeError):
    """The text, the Python source or the graph is not a program."""


class IllTyped(AdjudgeError):
    """A primitive, a call or a boundary was given a value of the wrong type."""


class Trap(AdjudgeError):
    """The program did something that its semantics forbids."""


class Crash(AdjudgeError):
    """A typed program got stuck. This is a bug in adjudge; please report it with the program."""


class OutOfFuel(AdjudgeError):
    """A budget ran out: steps, nodes, paths or solver resources."""


def takes(name: str, wanted: int, given: int) -> str:
    """How many arguments something takes, and how many it was given."""
    return f"{name} takes {wanted} argument{'s' * (wanted != 1)}, {given} given"


def wrong_count(name: str, wanted: int, given: int, location: Location | None = None) -> IllTyped:
    """The error of a call of a graph with too few or too many arguments."""
    remedy = "give it as many; a function that is passed takes what has no default: wrap it, lambda x: f(x)"
    return IllTyped(takes(f"@{name}", wanted, given), rule="call", location=location, remedy=remedy)
