"""
Integers as words: two's complement of a width, where an operation whose result does not fit traps, as compiled code has it.

Programs are read in two ways, which mean the same. As bit-vectors (`Words`), that a result fits is said in bit-vectors twice as
wide, so that the question is plain SMT-LIB. As integers (`Ranged`), that it fits is that it lies within the range: products of
variables are then polynomials, which solvers multiply out. Division is read as bit-vectors only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

from checkers.smt.terms import bound_to
from semantics.columns.arrays import with_arrays
from semantics.columns.kinds import wrong
from semantics.columns.meaning import CELLS as NUMBERS
from semantics.columns.structure import CELLS as STRUCTURE
from semantics.denotation import Reading
from semantics.errors import Trap
from semantics.primitives.row import Column, Hole

MOST_POWER = 8


class Words:
    """One reading at a width, as bit-vectors; `needs` are the conditions under which nothing trapped."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.needs: list[Any] = []
        self.reading = Reading(
            Column("z3_words", with_arrays(bound_to(self, CELLS), self.decided)), truth=lambda condition: condition
        )

    def decided(self, condition: Any) -> Any:
        if z3.is_expr(condition):
            raise Trap("a branch on words is not read", rule="z3_words")
        return condition

    def word(self, name: str, x: Any) -> Any:
        """x as a word. Trap if it does not fit."""
        if z3.is_bv(x) or (z3.is_arith(x) and x.is_int()):
            return x
        if type(x) is not int:
            raise wrong(name, "integers", x)
        if not self.least <= x <= self.most:
            raise Trap(f"{x} does not fit into {self.width} bits", rule=name)
        return self.literal(x)

    @property
    def least(self) -> int:
        return -(1 << self.width - 1)

    @property
    def most(self) -> int:
        return (1 << self.width - 1) - 1

    def variable(self, name: str) -> Any:
        return z3.BitVec(name, self.width)

    def literal(self, x: int) -> Any:
        return z3.BitVecVal(x, self.width)

    def fit(self, wide: Any) -> Any:
        """The word that a wider one is; that it fits is noted."""
        word = z3.Extract(self.width - 1, 0, wide)
        self.needs.append(z3.SignExt(wide.size() - self.width, word) == wide)
        return word

    def twice(self, x: Any) -> Any:
        return z3.SignExt(self.width, x)


class Ranged(Words):
    """The same reading, as integers within the range of the width."""

    def variable(self, name: str) -> Any:
        x = z3.Int(name)
        return self.fit(x)

    def literal(self, x: int) -> Any:
        return z3.IntVal(x)

    def fit(self, wide: Any) -> Any:
        self.needs.append(z3.And(wide >= self.least, wide <= self.most))
        return wide

    def twice(self, x: Any) -> Any:
        return x


def _of_bits(cell: Callable[..., Any]) -> Callable[..., Any]:
    """A cell that only bit-vectors have."""

    def read(run: Words, *arguments: Any) -> Any:
        if isinstance(run, Ranged):
            raise Trap("division is read as bit-vectors", rule="z3_words")
        return cell(run, *arguments)

    return read


def _wide(name: str, operation: Callable[..., Any]) -> Callable[..., Any]:
    """An operation in words twice as wide, in which + - * cannot overflow, and then made to fit."""

    def cell(run: Words, *arguments: Any) -> Any:
        return run.fit(operation(*(run.twice(run.word(name, x)) for x in arguments)))

    return cell


@_of_bits
def floordiv(run: Words, a: Any, b: Any) -> Any:
    """The quotient rounded down; there is none by 0, and the least number by -1 does not fit."""
    x, y = (run.twice(run.word("floordiv", v)) for v in (a, b))
    run.needs.append(y != 0)
    down = z3.And(z3.SRem(x, y) != 0, (x < 0) != (y < 0))
    return run.fit(x / y - z3.If(down, z3.BitVecVal(1, 2 * run.width), z3.BitVecVal(0, 2 * run.width)))


@_of_bits
def mod(run: Words, a: Any, b: Any) -> Any:
    """The remainder with the sign of the divisor."""
    x, y = (run.word("mod", v) for v in (a, b))
    run.needs.append(y != 0)
    return x % y


def power(run: Words, a: Any, b: Any) -> Any:
    """A small known power, as a product from left to right."""
    if type(b) is not int or not 0 <= b <= MOST_POWER:
        raise wrong("pow", f"a literal exponent of at most {MOST_POWER}", b)
    result = run.word("pow", 1)
    for _ in range(b):
        result = CELLS["mul"](run, result, a)  # type: ignore[operator]
    return result


def absolute(run: Words, a: Any) -> Any:
    x = run.twice(run.word("abs", a))
    return run.fit(z3.If(x < 0, -x, x))


def _compare(name: str, operation: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Words compare with words, booleans with booleans."""

    def cell(run: Words, a: Any, b: Any) -> Any:
        if all(isinstance(x, bool) or z3.is_bool(x) for x in (a, b)) and name in ("eq", "ne"):
            return operation(*(z3.BoolVal(x) if isinstance(x, bool) else x for x in (a, b)))
        return operation(run.word(name, a), run.word(name, b))

    return cell


def where(run: Words, c: Any, a: Any, b: Any) -> Any:
    if isinstance(c, bool):
        return a if c else b
    if not z3.is_bool(c):
        raise wrong("where", "a condition", c)
    return z3.If(c, *(z3.BoolVal(x) if isinstance(x, bool) else x if z3.is_bool(x) else run.word("where", x) for x in (a, b)))


def switch(run: Words, c: Any, a: Any, b: Any) -> Any:
    """The side that a condition chooses; between two functions it must be known."""
    if z3.is_bool(c) and not any(z3.is_expr(x) or isinstance(x, (bool, int)) for x in (a, b)):
        c = run.decided(c)
    return where(run, c, a, b)


def _choice(name: str, second: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def cell(run: Words, a: Any, b: Any) -> Any:
        x, y = run.word(name, a), run.word(name, b)
        return z3.If(second(x, y), y, x)

    return cell


def not_(_: Words, a: Any) -> Any:
    if isinstance(a, bool):
        return not a
    if not z3.is_bool(a):
        raise wrong("not", "a condition", a)
    return z3.Not(a)


def _itself(name: str) -> Callable[..., Any]:
    return lambda run, a: run.word(name, a)


def _structural(cell: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _, *arguments: cell(*arguments)


NOT_READ = Hole("it is not arithmetic on words")
CELLS: dict[str, Callable[..., Any] | Hole] = {
    **dict.fromkeys(NUMBERS, NOT_READ),
    **{name: _structural(cell) for name, cell in STRUCTURE.items()},
    "add": _wide("add", lambda a, b: a + b),
    "sub": _wide("sub", lambda a, b: a - b),
    "mul": _wide("mul", lambda a, b: a * b),
    "neg": _wide("neg", lambda a: -a),
    "floordiv": floordiv,
    "mod": mod,
    "pow": power,
    "abs": absolute,
    "where": where,
    "switch": switch,
    "not_": not_,
    **{name: _choice(name, lambda x, y: y < x) for name in ("min", "minimum")},
    **{name: _choice(name, lambda x, y: y > x) for name in ("max", "maximum")},
    **{name: _itself(name) for name in ("to_integer", "floor", "ceil")},
    "lt": _compare("lt", lambda a, b: a < b),
    "le": _compare("le", lambda a, b: a <= b),
    "gt": _compare("gt", lambda a, b: a > b),
    "ge": _compare("ge", lambda a, b: a >= b),
    "eq": _compare("eq", lambda a, b: a == b),
    "ne": _compare("ne", lambda a, b: a != b),
}
