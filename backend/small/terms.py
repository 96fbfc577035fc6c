"""
The numbers of a run whose arguments are names: what is computed of them, written down, each once.

A run is evaluated by the denotation, over terms in the place of numbers. Where it asks whether a term is True, it goes both ways,
one after the other: what follows is written down for each way by itself. So a run through known loops, calls and closures leaves a
tree of straight lines. What would leave more than PATHS ways or MOST terms is refused, and so is whatever asks for the number that
a term stands for: an index, a size, the number of turns of a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from semantics.columns.types import apply_type
from semantics.errors import IllTyped, Trap
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.type_language import BOOLEAN, INTEGER, REAL
from semantics.type_lattice import erase, of_constant
from semantics.values import atom

MOST = 1000
"""Terms of a program: what is compiled in some ten seconds at most."""
PATHS = 16
"""Ways through the branches of a program, each of which is written out."""
NUMBERS = (REAL, INTEGER, BOOLEAN)


def refused(why: str) -> IllTyped:
    """What a program ends in that is not taken apart; it is compiled as it stands."""
    return IllTyped(f"it is not taken apart: {why}", rule="small")


class Term:
    """A number that is known when the program runs: an argument, or a primitive applied to terms and numbers."""

    __slots__ = ("arguments", "number", "primitive", "record", "type")

    def __init__(
        self, record: Record, number: int, type: Any, primitive: Primitive | None = None, arguments: Sequence[Any] = ()
    ) -> None:
        self.record, self.number, self.type = record, number, type
        self.primitive, self.arguments = primitive, tuple(arguments)

    def __repr__(self) -> str:
        return f"t{self.number}"

    def __bool__(self) -> bool:
        return self.record.truth(self)

    def __add__(self, other: Any) -> Any:
        if other is ZERO:
            return self
        return self.record.apply(TABLE["add"], self, other) if isinstance(other, (Term, float, int)) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return self.record.apply(TABLE["add"], other, self)

    def __neg__(self) -> Any:
        return self.record.apply(TABLE["neg"], self)

    def _asked(self, *_: Any) -> NoReturn:
        raise refused("it asks for a number that is known when it runs")

    __index__ = __int__ = __float__ = __lt__ = __le__ = __gt__ = __ge__ = __mod__ = __rmod__ = __mul__ = __rmul__ = _asked
    __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _asked


@dataclass(eq=False)
class Block:
    """
    Terms in their order, and then the value of the run, or the message with which it is ended; or a condition, and what follows
    where it is True, and where not.
    """

    terms: dict[Any, Term] = field(default_factory=dict)
    value: Any = None
    raised: str | None = None
    condition: Term | None = None
    then: dict[bool, Block] = field(default_factory=dict)


class Record:
    """
    The tree of blocks that the runs leave, of which one is under way.

    below   of a term that is an index, the number that it is below, and it is not negative
    among   of a term that is a place, the places that it may be
    """

    def __init__(self) -> None:
        self.root, self.count, self.paths = Block(), 0, 0
        self.below, self.among = dict[int, int](), dict[int, frozenset[int]]()
        self.path, self.decided = [self.root], dict[int, bool]()

    def argument(self, type: Any) -> Term:
        """A new term for a number of the arguments."""
        self.count += 1
        return Term(self, self.count, type)

    def apply(self, primitive: Primitive, *arguments: Any) -> Term:
        """The term of a primitive at numbers and terms: the one that is there, if there is one on the way to here."""
        key = (primitive.name, *map(_key, arguments))
        for block in self.path:
            if (found := block.terms.get(key)) is not None:
                return found
        type = erase(apply_type(primitive, [type_of_number(a) for a in arguments]))
        if type not in NUMBERS:
            raise refused(f"{primitive.name} of these is no number of one type")
        if self.count >= MOST:
            raise refused(f"it is more than {MOST} operations on numbers")
        self.count += 1
        found = self.path[-1].terms[key] = Term(self, self.count, type, primitive, arguments)
        return found

    def truth(self, condition: Any) -> Any:
        """What a condition is on this way; of one that is new, True before False."""
        if not isinstance(condition, Term):
            return condition
        if condition.type != BOOLEAN:
            raise refused("a condition is no boolean")
        if condition.number not in self.decided:
            self.descend(condition)
        return self.decided[condition.number]

    def descend(self, condition: Term) -> None:
        """Goes on behind a condition: where not all has been seen."""
        block = self.path[-1]
        if block.condition is None:
            block.condition, self.paths = condition, self.paths + 1
        assert block.condition is condition, "a run that is made again comes to the same conditions"
        if self.paths >= PATHS:
            raise refused(f"there are more than {PATHS} ways through its branches")
        chosen = True not in block.then or not is_seen(block.then[True])
        self.path.append(block.then.setdefault(chosen, Block()))
        self.decided[condition.number] = chosen

    def explored(self, run: Callable[[], Any]) -> Block:
        """The tree of all ways of a run, with the value at the end of each."""
        while not is_seen(self.root):
            self.path, self.decided = [self.root], {}
            try:
                self.path[-1].value = (run(),)
            except Trap as trap:
                if trap.rule != "fail" or len(self.path) == 1:
                    raise
                self.path[-1].raised, self.path[-1].terms = trap.what, {}
        return self.root


def is_seen(block: Block) -> bool:
    """Whether all ways from a block have been gone. A tree has few of them, so recursion is bounded."""
    if block.condition is None:
        return block.value is not None or block.raised is not None
    return len(block.then) == 2 and all(map(is_seen, block.then.values()))


def type_of_number(x: Any) -> Any:
    """The type of a term or a number."""
    return x.type if isinstance(x, Term) else of_constant(x)


def _key(x: Any) -> Any:
    return x.number if isinstance(x, Term) else ("a number", atom(x))
