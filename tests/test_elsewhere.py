"""Derivatives and compiled functions in another process: what a pickle or a copy of one gives."""

from __future__ import annotations

import copy
import math
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

import adjudge as aj


def product(x: float, y: float) -> float:
    return math.sin(x) * y**3


MADE = {
    "a derivative": lambda: aj.grad(product, wrt="y"),
    "on the CPU": lambda: aj.compile(aj.grad(product)),
    "on CPython": lambda: aj.compile(product, target="python"),
    "fast": lambda: aj.compile(aj.grad(product, wrt=("x", "y")), mode="fast"),
    "of a program": lambda: aj.compile(aj.transform(product, "grad").result, target="python"),
}


@pytest.mark.parametrize("calls", [0, 1, 3])
@pytest.mark.parametrize("name", MADE)
def test_what_is_pickled_or_copied_gives_the_same(name: str, calls: int) -> None:
    """A regression: what had been called, or compiled, was not to be pickled."""
    f: Any = MADE[name]()
    for _ in range(calls):
        f(0.5, 1.25)
    for again in (pickle.loads(pickle.dumps(f)), copy.copy(f), copy.deepcopy(f)):
        assert again is not f
        assert again.__name__ == f.__name__
        assert again(0.5, 1.25) == f(0.5, 1.25)


def test_batches_keep_their_axes_and_errors() -> None:
    f = aj.vmap(aj.grad(product), (0, None), errors="return", target="python")
    xs = np.linspace(0.0, 1.0, 5)
    (values, failures), (again, none) = f(xs, 2.0), pickle.loads(pickle.dumps(f))(xs, 2.0)
    assert (values == again).all()
    assert failures == none == {}


def test_another_process_calls_what_this_one_compiled() -> None:
    f = aj.compile(aj.grad(product), target="python")
    f(0.5, 1.25)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(f, [0.5, 0.75], [1.25, 2.0])) == [f(0.5, 1.25), f(0.75, 2.0)]


def test_near_miss_what_has_no_name_is_not_found_elsewhere() -> None:
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(aj.compile(lambda x: x * x))
