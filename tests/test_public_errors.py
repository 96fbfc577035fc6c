"""The five errors are names of the package, so that a program which calls it can catch them."""

from __future__ import annotations

from functools import partial
from typing import Any

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


def _square(x: float) -> float:
    return x * x


BATCHED, COMPILED = aj.vmap(_square), aj.compile(_square)


def _of_a_batch(x):
    return np.sum(BATCHED(x))


@pytest.mark.parametrize(("made", "by"), [(BATCHED, "vmap"), (COMPILED, "compile")])
def test_what_compile_and_vmap_made_is_no_program_and_every_way_in_says_so(made: Any, by: str) -> None:
    x = np.ones(3)
    ways = (aj.grad, aj.value_and_grad, aj.jacobian, aj.hessian, aj.compile, aj.vmap, partial(aj.grad, wrt="q"))
    calls = (*(partial(lambda way: way(made)(x), way) for way in ways), lambda: aj.hvp(made)(x, x), lambda: aj.run(made, x))
    for call in calls:
        with pytest.raises(aj.Malformed, match=f"is made by aj.{by}, and is called from Python alone") as raised:
            call()
        assert raised.value.remedy.startswith(f"aj.{by} comes last")
    assert repr(made) == f"<{made.__name__}, made by aj.{by}>"


def test_a_batch_inside_a_program_is_refused_at_its_place() -> None:
    with pytest.raises(aj.Malformed, match=r"is made by aj\.vmap") as raised:
        aj.grad(_of_a_batch)(np.ones(3))
    assert raised.value.location is not None
    assert "BATCHED(x)" in raised.value.location.text
    assert aj.vmap(aj.grad(_square))(np.ones(3)).tolist() == [2.0, 2.0, 2.0]
