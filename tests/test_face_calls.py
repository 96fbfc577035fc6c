"""What a call may give: keyword-only parameters, functions, what adjudge itself has made; and numbers of classes of their own."""

from __future__ import annotations

import enum
import math
from typing import Any

import numpy as np
import pytest

import adjudge as aj
from semantics.errors import AdjudgeError, IllTyped, Malformed


def scaled(x, *, k=2.0, p=1.0):
    return x * k * p


def twice(f, x):
    return f(x) * 2.0


def square(x):
    return x * x


@pytest.mark.parametrize("target", ["reference", "python"])
def test_keyword_only_parameters_of_the_entry_have_their_defaults_and_are_given_by_name(target: str) -> None:
    """`bind` left them out, so every way in ended in an IndexError."""
    assert aj.compile(scaled, target=target)(3.0) == 6.0
    assert aj.compile(scaled, target=target)(3.0, p=5.0) == 30.0
    assert aj.grad(scaled, wrt="p", target=target)(3.0, p=5.0) == 6.0
    assert aj.vmap(scaled, target=target)(np.array([1.0, 3.0])).tolist() == [2.0, 6.0]
    with pytest.raises(IllTyped, match="too many positional arguments"):
        aj.compile(scaled, target=target)(3.0, 5.0)


@pytest.mark.parametrize("target", ["reference", "python"])
def test_a_derivative_of_a_function_that_takes_one_is_compiled_and_differentiated_again(target: str) -> None:
    """The parameter of the derivative's entry was taken for a real, so J left what was passed there as it was."""
    gradient = aj.grad(twice, wrt=1)
    assert gradient(square, 3.0) == 12.0
    assert aj.compile(gradient, target=target)(square, 3.0) == 12.0
    assert aj.grad(gradient, wrt=1, target=target)(square, 3.0) == 4.0
    assert aj.compile(aj.grad(gradient, wrt="x"), target=target)(lambda t: t * t * t, 3.0) == 36.0
    assert aj.vmap(gradient, (None, 0), target=target)(square, np.arange(3.0)).tolist() == [0.0, 4.0, 8.0]


def test_a_function_has_no_direction_and_is_no_part_of_a_tuple() -> None:
    with pytest.raises(IllTyped, match="no direction for a function") as raised:
        aj.hvp(twice)(square, 3.0, square, 1.0)
    assert "lambda" in raised.value.remedy
    assert aj.hvp(lambda x: twice(square, x))(3.0, 1.0) == 4.0
    with pytest.raises(IllTyped, match="fs holds a function"):
        aj.run(lambda fs: fs[0](2.0), (square,))


COMPILED, BATCHED = aj.compile(square), aj.vmap(square)


def calls_vmap(x):
    return aj.vmap(square)(x)


def calls_compile(x):
    return aj.compile(square)(x)


def calls_compiled(x):
    return COMPILED(x)


def calls_batched(x):
    return BATCHED(x)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: aj.grad(COMPILED)(1.0), "square is made by aj.compile"),
        (lambda: aj.vmap(BATCHED)(np.ones((2, 2))), "vmap_square is made by aj.vmap"),
        (lambda: aj.run(calls_compiled, 1.0), "square is made by aj.compile"),
        (lambda: aj.run(calls_batched, 1.0), "vmap_square is made by aj.vmap"),
        (lambda: aj.run(calls_vmap, 1.0), "adjudge.vmap is not for use inside programs"),
        (lambda: aj.run(calls_compile, 1.0), "adjudge.compile is not for use inside programs"),
    ],
)
def test_what_python_alone_calls_is_refused_as_what_it_is(call: Any, words: str) -> None:
    """Their sources were read, and what was blamed stood in those."""
    with pytest.raises(Malformed, match=words):
        call()


def test_what_programs_may_use_of_adjudge_is_not_refused() -> None:
    assert aj.run(lambda xs: np.sum(aj.array_map(square, xs)), np.arange(3.0)) == 5.0
    assert aj.run(lambda x: 1.0 + aj.grad(square)(x), 3.0) == 7.0


def with_keyword(x):
    return scaled(x, wide=1.0)


def with_mode(x):
    return aj.grad(square, mode="ssa")(x)


@pytest.mark.parametrize(("f", "remedy"), [(with_keyword, "takes x, k, p"), (with_mode, "takes f, wrt")])
def test_a_keyword_that_a_function_has_not_is_met_with_those_that_it_has(f: Any, remedy: str) -> None:
    with pytest.raises(Malformed, match="has no parameter") as raised:
        aj.run(f, 1.0)
    assert remedy in raised.value.remedy


class Level(enum.IntEnum):
    LOW = 3


class Loud(float):
    def __mul__(self, other: Any) -> float:
        return math.nan


@pytest.mark.parametrize(("given", "wanted"), [(Level.LOW, 9), (Loud(2.0), 4.0)])
def test_a_number_of_a_class_of_its_own_is_the_number(given: Any, wanted: Any) -> None:
    for call in (aj.compile(square, target="reference"), aj.compile(square, target="python")):
        found = call(given)
        assert (type(found), found) == (type(wanted), wanted)


def test_vmap_takes_arguments_by_position_and_says_so() -> None:
    batch = aj.vmap(scaled, target="python")
    for _ in range(2):
        with pytest.raises(AdjudgeError, match="by position, and was given x by name"):
            batch(x=np.ones(2))
        assert batch(np.ones(2)).tolist() == [2.0, 2.0]
