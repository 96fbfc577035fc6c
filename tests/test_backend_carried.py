"""Sizes that loops and stacks carry: told from those of the arguments, or left alone. Bits and errors are the reference's."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from test_backend_arrays import types_of
from test_backend_stack_arrays import agrees, compiled, normal

import adjudge as aj
from adjudge.functions import parse
from backend.arrays import carried
from backend.arrays.assumed import Sizes, plus, settled
from backend.arrays.carried import with_carried_sizes
from semantics.errors import AdjudgeError
from semantics.type_language import INTEGER
from transforms.gradient_programs import calling

SIZES = "return (fuel, 16)"


def kernel(*lines: str) -> str:
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines)])


def loop(new: str, *more: str) -> str:
    """A loop that carries an array, which begins as a0 and goes on as `new`."""
    turn = [f"if h.shape[0] != a1.shape[0]: {SIZES}", *more, new, "h = t", "continue"]
    lines = ["h = a0", "while True:", "    if fuel > 0:", *(f"        {line}" for line in turn)]
    return kernel(*lines, "    else:", "        break", "return (h.shape[0], h, fuel, 0)")


def turn_of(text: str) -> str:
    """What stands in the loop."""
    (found,) = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.While))
    return ast.unparse(found)


def test_a_size_that_a_loop_carries_is_that_of_an_argument() -> None:
    found = with_carried_sizes(loop("t = _empty((h.shape[0],), _f64)"))
    assert "shape" in found[: found.index("while")]
    assert "16" not in turn_of(found)
    assert "t = _empty((a0.shape[0],), _f64)" in found
    assert "return (a0.shape[0], h, fuel, 0)" in found


@pytest.mark.parametrize("new", ["t = _empty((h.shape[0] + 1,), _f64)", "t = h[1:]", "t = _empty((fuel,), _f64)"])
def test_a_size_that_changes_is_not(new: str) -> None:
    found = with_carried_sizes(loop(new))
    assert "h.shape[0] != a1.shape[0]" in turn_of(found)
    assert "return (h.shape[0], h, fuel, 0)" in found


def begun(first: str, size: str = "a0.shape[0]") -> str:
    """A loop that carries an array, of which the first turn does not ask how large it is, since it is not there yet."""
    turn = ["if i == 0:", *(f"    {line}" for line in (f"t = _empty(({size},), _f64)", "h = t", "i = 1", "continue")), "else:"]
    turn += [f"    if h.shape[0] != a0.shape[0]: {SIZES}", "    t = _empty((h.shape[0],), _f64)", "    h = t", "    continue"]
    lines = [f"h = {first}", "i = 0", "while True:", "    if fuel == 0:", "        break", *(f"    {line}" for line in turn)]
    return kernel(*lines, "return (h, fuel, 0)")


def test_an_array_that_is_not_there_yet_is_not_taken_to_have_the_size_of_an_argument() -> None:
    """A regression: that an argument had no elements was tested before everything, so code left whatever it was given."""
    text = begun("_empty((0,), _f64)")
    assert with_carried_sizes(text) == ast.unparse(ast.parse(text))


def test_near_miss_one_that_has_this_size_from_the_first_is_not_asked_in_turns() -> None:
    found = with_carried_sizes(begun("_empty((a1.shape[0],), _f64)", "a1.shape[0]"))
    assert "a1.shape[0] != a0.shape[0]" in found[: found.index("while")]
    assert "16" not in turn_of(found)


def summed(less: int, test: str) -> str:
    """A loop in which `m`, two more than the size of a0, is asked about."""
    turn = [f"if m - {less} != {test}: {SIZES}", "fuel -= 1", "continue"]
    lines = ["m = a0.shape[0] + 2", "while True:", "    if fuel > 0:", *(f"        {line}" for line in turn)]
    return kernel(*lines, "    else:", "        break", "return (m - 2, a0, fuel, 0)")


def test_numbers_that_are_added_to_a_size_and_taken_from_it_are_one_number() -> None:
    found = with_carried_sizes(summed(2, "a0.shape[0]"))
    assert "16" not in found, "nothing is left to test"
    assert "return (a0.shape[0], a0, fuel, 0)" in found
    assert "if a0.shape[0] + 1 != a1.shape[0]:" in with_carried_sizes(summed(1, "a1.shape[0]"))


def test_a_size_that_is_less_than_nothing_stays_as_it_is_written() -> None:
    lines = ["m = a0.shape[0] - 2", "while True:", "    if fuel > 0:", f"        if a0.shape[0] != 1: {SIZES}"]
    found = with_carried_sizes(kernel(*lines, "        continue", "    else:", "        break", "return (m, a0, fuel, 0)"))
    assert "return (a0.shape[0] - 2, a0, fuel, 0)" in found


def padded(x):  # type: ignore[no-untyped-def]
    """Sizes to which as much is added as is taken away: in the Jacobian, carried by a loop over rows."""
    inside = np.concatenate((np.zeros(1), x, np.zeros(1)))
    return inside[:-2] - 2.0 * x + inside[2:]


def test_the_jacobian_of_what_is_padded_and_cut_is_generated_code() -> None:
    code, reference = compiled(parse(aj.jacobian(padded)), types_of((normal(3),)))
    for n in (1, 2, 5):
        assert agrees(code, reference, normal(n))


def test_a_test_that_not_every_run_makes_stays_where_it_is() -> None:
    found = with_carried_sizes(loop("t = _empty((h.shape[0],), _f64)", "if a0[0] > 0.0:", f"    if a0.shape[0] == 7: {SIZES}"))
    assert "a0.shape[0] == 7" in turn_of(found)
    assert "a0.shape[0] == 7" not in found[: found.index("while")]


def test_two_sizes_of_arguments_in_one_loop_are_tested_to_be_one() -> None:
    found = with_carried_sizes(loop("t = _empty((one.shape[0],), _f64)"))
    assert "if a0.shape[0] != one.shape[0]" in found[: found.index("while")]


def test_an_axis_that_the_array_has_not_is_not_tested() -> None:
    """Where a matrix has two axes, a vector that a loop carries still has one."""
    found = with_carried_sizes(loop("t = one", "n = fuel.shape[1]"))
    assert "a0.shape[0] != one.shape[0]" in found
    assert "a0.shape[1]" not in found


CELL = ("integers[⟦7:s:3⟧] = h.shape[0]", "n = int(integers[⟦7:s:3⟧])", "t = _empty((n,), _f64)")


def test_what_every_cell_of_a_stack_holds_is_read_from_the_arguments() -> None:
    found = with_carried_sizes(loop(CELL[-1], *CELL[:-1]))
    assert "t = _empty((a0.shape[0],), _f64)" in found
    assert "integers[⟦7:s:3⟧]" not in found, "what nothing reads is not written"


def test_where_another_function_writes_cells_too_or_cells_differ_they_are_read() -> None:
    assert "t = _empty((n,), _f64)" in with_carried_sizes(loop(CELL[-1], *CELL[:-1]), "integers[⟦7:s:3⟧] = 5")
    assert "t = _empty((n,), _f64)" in with_carried_sizes(loop(CELL[-1], *CELL[:-1], "integers[⟦7:s:3⟧] = fuel"))


def test_a_size_and_a_number_is_told_in_terms_of_the_arguments() -> None:
    given = "u = _empty((h.shape[0] - 1,), _f64)", "if fuel > 9: return (u, fuel, 0)", "n = 1 + u.shape[0]"
    found = with_carried_sizes(loop("t = _empty((n,), _f64)", *given))
    assert "u = _empty((a0.shape[0] - 1,), _f64)" in found
    assert "t = _empty((a0.shape[0],), _f64)" in found


COUNTED = "n = 3", "i5 = fuel // 2", f"if i5 < 0 or i5 > 268435456: {SIZES}", "t = _empty((i5,), _f64)"


def in_loop(*before: str) -> str:
    turn = ["u = _empty((t.shape[0],), _f64)", f"if u.shape[0] != i5: {SIZES}", "t = u", "continue"]
    return kernel(*before, "while True:", *(f"    {line}" for line in turn), "return (t, fuel, 0)")


def test_a_number_that_is_computed_once_is_a_size_as_those_of_arguments_are() -> None:
    found = with_carried_sizes(in_loop(*COUNTED))
    assert "u = _empty((i5,), _f64)" in turn_of(found)
    assert "16" not in turn_of(found)
    assert found.index("i5 = fuel // 2") < found.index("i5 < 0")


@pytest.mark.parametrize(
    "before",
    [
        (*COUNTED, "i5 = i5 + 1"),  # what has its value before may have another after
        (*COUNTED[:1], "if fuel > 1:", "    i5 = fuel // 2", "else:", "    i5 = 4", *COUNTED[2:]),
    ],
)
def test_near_miss_a_number_that_is_assigned_again_is_none(before: tuple[str, ...]) -> None:
    assert "t.shape[0]" in turn_of(with_carried_sizes(in_loop(*before)))


def test_a_number_is_settled_if_it_is_tested_to_be_a_size_before_anything_goes_round() -> None:
    def of(*lines: str) -> frozenset[str]:
        (function,) = ast.parse(kernel(*lines)).body
        assert isinstance(function, ast.FunctionDef)
        assert settled(function).arguments >= {"a0", "a1"}
        return settled(function).numbers

    goes_round = "while fuel > 0:", "    continue"
    assert of(*COUNTED, *goes_round) == {"i5"}
    assert of(*COUNTED[:2], *goes_round, *COUNTED[2:]) == set()
    assert of(*COUNTED[:2], f"if i5 < 0: {SIZES}", *goes_round) == set()
    assert of(*COUNTED[:2], "if i5 < 0 or i5 > 9:", "    fuel = 0", *goes_round) == set()
    assert of(f"if fuel < 0 or fuel > 268435456: {SIZES}", *goes_round) == {"fuel"}
    assert of("i5 = a0.shape[0]", *COUNTED[2:], *goes_round) == set()  # it is a size of an argument, and called that


def test_sizes_of_which_numbers_are_taken_are_one_where_these_are() -> None:
    sizes = Sizes(frozenset({"a", "b"}))
    sizes.join("(a.shape[0] - 1)", "(b.shape[0] - 1)")
    assert sizes.same("(b.shape[0] + 2)") == sizes.same("(a.shape[0] + 2)")
    sizes.join("(a.shape[0] - 3)", "c.shape[0]")
    assert sizes.same("(b.shape[0] - 3)") == "c.shape[0]"
    sizes.join("c.shape[0]", "7")
    assert sizes.same("(b.shape[0] - 3)") == "7"


@given(st.lists(st.tuples(*[st.tuples(st.sampled_from("abc"), st.integers(-2, 2))] * 2), max_size=6))
def test_whatever_sizes_are_said_to_be_one_each_has_a_name(said: list[tuple[tuple[str, int], tuple[str, int]]]) -> None:
    """Also where no sizes are so: such a test always fails."""
    sizes = Sizes(frozenset())
    for pair in said:
        sizes.join(*(plus(name, more) for name, more in pair))
    for name, more in (end for pair in said for end in pair):
        found = sizes.same(plus(name, more))
        assert sizes.same(found) == found
    event("several" if len(said) > 1 else "one")


# programs


def layers(w, b, h, n: int):  # type: ignore[no-untyped-def]
    for i in range(n):
        h = np.tanh(h * w[1] + b) + h * w[0] * i
        b = b * h
    return np.sum(h * b)


def shrinking(x, n: int):  # type: ignore[no-untyped-def]
    for _ in range(n):
        x = x[1:] * x[:-1]
    return np.sum(x)


def widening(x, w, n: int):  # type: ignore[no-untyped-def]
    for _ in range(n):
        x = w @ x
    return np.sum(x * x)


@pytest.mark.parametrize(
    ("program", "arrays", "turns"),
    [
        (layers, (normal(3, 4), normal(4), normal(4)), (0, 1, 3)),
        (shrinking, (normal(6),), (0, 1, 4)),
        (widening, (normal(3), normal(3, 3)), (0, 2)),
    ],
)
def test_gradients_have_the_references_bits(program: Any, arrays: tuple[Any, ...], turns: tuple[int, ...]) -> None:
    types = (*types_of(arrays), INTEGER)
    code, reference = compiled(calling(parse(program), "value_and_grad", tuple(range(len(arrays))), types), types)
    for n in turns:
        assert agrees(code, reference, *arrays, n)


ON_PYTHON = {f: aj.compile(aj.value_and_grad(f), target="python") for f in (layers, widening)}


def outcome(function: Any, *arguments: Any) -> Any:
    try:
        value, gradient = function(*arguments)
    except AdjudgeError as error:
        return type(error), error.what, error.location
    return np.float64(value).tobytes(), gradient.tobytes()


@given(st.sampled_from(sorted(ON_PYTHON, key=lambda f: f.__name__)), st.tuples(*[st.integers(1, 3)] * 4), st.integers(0, 2))
def test_whatever_the_sizes_are_value_and_error_are_the_references(program: Any, sizes: tuple[int, ...], n: int) -> None:
    """Also of a loop without turns, and of one turn, after which the sizes are others."""
    given = (
        (normal(*sizes[:2]), normal(sizes[2]), normal(sizes[3])) if program is layers else (normal(sizes[0]), normal(*sizes[1:3]))
    )
    found = outcome(ON_PYTHON[program], *given, n)
    assert found == outcome(aj.compile(aj.value_and_grad(program), target="reference"), *given, n)
    event("an error" if len(found) == 3 else "a value")


PLANTED = {
    "a size that changes is taken for the first": ("agree", lambda self, one: True),
    "cells hold what was written first": (
        "agree",
        lambda self, one: len(one.key) == 3 or self.value(one.source) == self.known[one.key],
    ),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_seen(bug: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(carried.Sizes, *PLANTED[bug])
    text = loop("t = _empty((h.shape[0] + 1,), _f64)" if "changes" in bug else CELL[-1], *CELL[:-1], "integers[⟦7:s:3⟧] = fuel")
    found = with_carried_sizes(text)
    assert "h.shape[0] != a1.shape[0]" not in found or "t = _empty((n,), _f64)" not in found
