"""
The writer of generated Python: lines, indentation, and for every name what is known of it.

Each real carries a bound on its size. An expression whose bound grows past the limit is damped before it is used, so that
neither values nor gradients of generated programs overflow. A name is captured by a closure only if it is never assigned again.

    w  writer    e  expression (text and bound)    v  variable
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from hypothesis import strategies as st

from checkers.generators.options import Options

T = TypeVar("T")
LIMIT = 8.0
FUNCTION_BOUND = 4.0  # of every real argument and result of a generated function
CARRIED_BOUND = 4.0  # of every variable that is assigned more than once


class Expression(NamedTuple):
    """Text in Python that can stand anywhere as an operand, and a bound on the size of its value."""

    text: str
    bound: float


@dataclass(frozen=True, slots=True)
class Variable:
    """
    kind      real, integer, tuple (of reals), function (reals to real) or functions (a tuple of those)
    bound     of the value, or of every element
    size      the length of a tuple, the number of parameters of a function
    assigned  whether it is assigned more than once; such a one is never captured
    local     whether it belongs to a loop's turn; not captured either
    defaults  how many last parameters of the function may be left out; `keyword` names the last one
    """

    name: str
    kind: str
    bound: float = FUNCTION_BOUND
    size: int = 0
    assigned: bool = False
    local: bool = False
    defaults: int = 0
    keyword: str = ""


class Writer:
    """What has been written so far. `scope` are the names that can be used here, all of them surely bound."""

    def __init__(self, draw: Callable[[Any], Any], options: Options, features: frozenset[str]) -> None:
        self.draw, self.options, self.features = draw, options, features
        self.lines: list[str] = []
        self.scope: list[Variable] = []
        self.indent, self.loops, self.budget, self.names = 0, 0, options.size, 0
        self.nesting = 0
        self.used: set[str] = set()
        self.result_bound = LIMIT

    # choices

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices; examples shrink towards the first."""
        if len(choices) == 1:
            return choices[0]
        index: int = self.draw(st.integers(0, len(choices) - 1))
        return choices[index]

    def flip(self) -> bool:
        """Either answer; examples shrink towards False."""
        return bool(self.draw(st.booleans()))

    def number(self, low: int, high: int) -> int:
        """An integer in a closed range."""
        return int(self.draw(st.integers(low, high)))

    def may(self, feature: str) -> bool:
        """Whether this program's mask has the feature."""
        return feature in self.features

    def mark(self, feature: str) -> None:
        """Remembers that the program uses the feature."""
        self.used.add(feature)

    # names

    def fresh(self, stem: str) -> str:
        """A name not used before in this program."""
        self.names += 1
        return f"{stem}{self.names}"

    def known(self, kind: str) -> list[Variable]:
        """The usable variables of a kind, oldest first."""
        return [v for v in self.scope if v.kind == kind]

    def declare(self, variable: Variable) -> Variable:
        """Makes a variable usable from here on."""
        local = self.loops > 0
        variable = replace(variable, local=local)
        self.scope.append(variable)
        return variable

    # lines

    def line(self, text: str) -> None:
        """Writes one line at the current depth."""
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def block(self) -> Iterator[None]:
        """A block of its own: what is declared inside is not usable after it."""
        before = len(self.scope)
        self.indent += 1
        yield
        self.indent -= 1
        del self.scope[before:]

    @contextmanager
    def function(self, parameters: Sequence[Variable]) -> Iterator[None]:
        """The body of a function: its parameters, and of the names outside those that can be captured."""
        outside, loops, bound = self.scope, self.loops, self.result_bound
        self.scope = [v for v in outside if not v.assigned and not v.local] + list(parameters)
        self.loops, self.result_bound = 0, FUNCTION_BOUND
        self.nesting += 1
        self.indent += 1
        yield
        self.indent -= 1
        self.nesting -= 1
        self.scope, self.loops, self.result_bound = outside, loops, bound
