"""
What is certain about a ball: on which side of a number all of its reals lie, and which integer they all round to.

Every question is answered when all reals of the ball agree, and raises `Undecided` when some differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flint import arb

from checkers.columns.undecided import Undecided
from semantics.arrays import Array
from semantics.columns.meaning import MEANING
from semantics.columns.structure import wrong
from semantics.errors import Trap
from semantics.tangents import ZERO


def lift(value: Any) -> Any:
    """A constant as balls read it: a double is the real it stands for, exactly."""
    if isinstance(value, Array):
        return value.with_items(map(lift, value.items))
    if type(value) is not float:
        return value
    if math.isnan(value):
        raise Trap("NaN is no real", rule="ball")
    if math.isinf(value):
        return arb.pos_inf() if value > 0 else arb.neg_inf()
    return arb(value)


def interval(center: arb, radius: arb) -> arb:
    """The ball around `center`."""
    return arb(center, radius)


def _short(x: Any) -> str:
    """A ball to the digits of a double, with its radius."""
    return x.str(17) if isinstance(x, arb) else str(x)


def straddles(name: str, x: Any, at: str) -> Undecided:
    """The verdict on a ball with reals on both sides."""
    return Undecided(
        f"{name} at {_short(x)} is not decided: the ball reaches {at}", rule=name, remedy="move the inputs off the guard boundary"
    )


def outside(name: str, x: Any) -> Trap:
    """The error at a ball that holds no real of the domain."""
    return Trap(f"{name} is not defined over the reals at {_short(x)}", rule=name, remedy="keep its argument inside the domain")


def ball_of(name: str, x: Any) -> arb:
    """A number as a ball; an integer exactly. IllTyped if it is no number."""
    if isinstance(x, arb):
        return x
    if x is ZERO:
        return arb(0)
    if isinstance(x, int) and not isinstance(x, bool):
        return arb(x)
    raise wrong(name, "numbers", x)


def whole(*arguments: Any) -> bool:
    """Whether all arguments are integers (and not booleans)."""
    return all(type(x) is int for x in arguments)


def finite(name: str, x: arb) -> arb:
    """x itself; Undecided if it is unbounded."""
    if not x.is_finite():
        raise Undecided(f"the enclosure of {name} is unbounded", rule=name, remedy="raise the precision, or move away")
    return x


def less(name: str, a: Any, b: Any) -> bool:
    """Whether a < b, when that is certain."""
    a, b = (arb(0) if x is ZERO else x for x in (a, b))
    if a < b:
        return True
    if a >= b:
        return False
    raise straddles(name, a, "the other argument" if isinstance(b, arb) else f"{b}")


def equal(name: str, a: Any, b: Any) -> bool:
    """Whether a = b, when that is certain."""
    if isinstance(a, bool) and isinstance(b, bool):
        return a == b
    a, b = (ball_of(name, x) for x in (a, b))
    if a is b or a == b:  # one and the same ball stands for one real
        return True
    if a != b:
        return False
    raise straddles(name, a, str(b))


def check_numbers(name: str, *arguments: Any) -> None:
    """IllTyped unless all arguments are numbers."""
    for x in arguments:
        if type(x) is not int:
            ball_of(name, x)


def comparison(name: str, answer: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """`answer` for numbers only."""

    def cell(a: Any, b: Any) -> bool:
        check_numbers(name, a, b)
        return answer(a, b)

    return cell


def sign_of(name: str, x: Any) -> int:
    """-1, 0 or 1, when that is certain."""
    if x > 0:
        return 1
    if x < 0:
        return -1
    if x == 0:
        return 0
    raise straddles(name, x, "0")


def floor_of(name: str, x: arb) -> int:
    """The integer that all reals of x round down to."""
    found = x.floor().unique_fmpz()
    if found is None:
        raise straddles(name, x, "an integer")
    return int(found)


def to_whole(name: str, rounded: Callable[[arb], int]) -> Callable[[Any], int]:
    """`rounded` for reals; an integer is itself."""

    def cell(x: Any) -> int:
        return x if type(x) is int else rounded(finite(name, ball_of(name, x)))

    return cell


def truncate(x: arb) -> int:
    """The integer part towards 0: smooth at 0, where `floor` is not."""
    if x > -1 and x < 1:
        return 0
    return floor_of("int", x) if sign_of("int", x) > 0 else -floor_of("int", -x)


def to_boolean(x: Any) -> Any:
    """Python's truth, when that is certain."""
    if isinstance(x, Array) and len(x.items) == 1:
        x = x.items[0]
    return sign_of("bool", x) != 0 if isinstance(x, arb) else MEANING.cells["to_boolean"](x)  # type: ignore[operator]
