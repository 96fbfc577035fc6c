"""The five errors are names of the package, so that a program which calls it can catch them."""

from __future__ import annotations

import numpy as np
import pytest

import adjudge as aj
from semantics.errors import AdjudgeError

FIVE = {"Crash", "IllTyped", "Malformed", "OutOfFuel", "Trap"}


def test_the_five_errors_and_no_others_are_public() -> None:
    errors = {n for n in aj.__all__ if isinstance(getattr(aj, n), type) and issubclass(getattr(aj, n), AdjudgeError)}
    assert errors == FIVE | {"AdjudgeError"}
    assert {e.__name__ for e in AdjudgeError.__subclasses__()} >= FIVE


def _endless(n):
    while n > 0:
        n = n + 1
    return n


def test_each_way_to_fail_is_caught_by_its_public_name() -> None:
    with pytest.raises(aj.Malformed):
        aj.run(lambda x: {x, x}, 1.0)
    with pytest.raises(aj.IllTyped):
        aj.run(lambda x: x(1.0), 1.0)
    with pytest.raises(aj.Trap):
        aj.run(lambda n: 1 // n, 0)
    with pytest.raises(aj.Trap, match="shapes"):
        aj.run(lambda a, b: a + b, np.ones(2), np.ones(3))
    with pytest.raises(aj.OutOfFuel):
        aj.run(_endless, 1, fuel=1000)


def test_all_of_them_are_caught_at_once() -> None:
    with pytest.raises(aj.AdjudgeError, match="try: "):
        aj.grad(lambda n: n)(1)
