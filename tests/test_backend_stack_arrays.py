"""Gradients of loops over arrays, compiled: what a turn leaves is in cells of stacks, and every bit is the reference's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_backend_arrays import normal, types_of

import backend
from adjudge.functions import parse
from adjudge.values import to_value
from backend.lowering.expansion import first_that_fits
from backend.run import BUDGET, Compiled, on_target
from backend.stacks import memory as stack_memory
from semantics.errors import Crash, OutOfFuel
from semantics.ir import Program
from semantics.machine import Machine
from semantics.type_language import INTEGER
from semantics.values import same
from transforms.gradient_programs import calling


def recurrent(w, u, x, n: int):  # type: ignore[no-untyped-def]
    h = u
    for _ in range(n):
        h = np.tanh(w @ h + x)
    return np.sum(h * h)


def logistic_growth(y, k, n: int):  # type: ignore[no-untyped-def]
    for _ in range(n):
        y = y + 0.1 * (k @ y) * (1.0 - y)
    return np.sum(y)


def branching(x, w, n: int):  # type: ignore[no-untyped-def]
    h = x
    for i in range(n):
        if np.sum(h) > 0.0:
            h = h - w * i
        else:
            h = h * w
    return np.sum(h)


def powers(a, n: int):  # type: ignore[no-untyped-def]
    r = a
    for _ in range(n):
        r = r @ a
    return np.sum(r)


def nested(x, w, n: int):  # type: ignore[no-untyped-def]
    s = 0.0
    h = x
    for i in range(n):
        for _ in range(i):
            h = np.tanh(h * w)
        s = s + np.sum(h)
    return s


def growing(x, n: int):  # type: ignore[no-untyped-def]
    y = x
    for _ in range(n):
        y = np.outer(y, y) @ x * y
    return np.sum(y)


def filtered(a, p, n: int):  # type: ignore[no-untyped-def]
    """A turn leaves the transpose of an argument, in a tuple."""
    state = (p, 0.0)
    for _ in range(n):
        q, s = state
        q = 0.5 * a @ q @ a.T
        state = (q, s + np.trace(q))
    return state[1]


V, W = normal(3), normal(3, 3)
LOOPS: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "recurrent": (recurrent, (W, V, V + 1.0), (0, 1, 2)),
    "logistic growth": (logistic_growth, (V, W), (0, 1)),
    "branching": (branching, (V, V - 1.0), (0, 1)),
    "powers": (powers, (W,), 0),
    "nested": (nested, (V, V + 1.0), (0, 1)),
    "growing": (growing, (0.5 * V,), 0),
    "filtered": (filtered, (W, W + 1.0), (0, 1)),
}


def gradient(name: str) -> tuple[Program, tuple[Any, ...]]:
    function, arrays, wrt = LOOPS[name]
    return calling(parse(function), "value_and_grad", wrt, (*types_of(arrays), INTEGER)), arrays


def compiled(program: Program, types: tuple[Any, ...], target: str = "python") -> tuple[Compiled, Machine]:
    """The program in generated code, and on the reference in the same expansion."""
    return first_that_fits(program, "J", lambda one: (backend.compile(one, types, target), Machine(one)))


def agrees(code: Compiled, reference: Machine, *arguments: Any) -> bool:
    """Whether both give the same bits."""
    values = tuple(map(to_value, arguments))
    return same(code.call(*values), reference.run(values).value)


@pytest.mark.parametrize("name", LOOPS)
def test_the_gradient_of_a_loop_over_arrays_is_the_references_in_every_bit(name: str) -> None:
    program, arrays = gradient(name)
    code, reference = compiled(program, (*types_of(arrays), INTEGER))
    assert code.code.heap
    for n in (0, 1, 4):
        assert agrees(code, reference, *arrays, n)


def test_a_transpose_that_a_turn_leaves_is_kept_row_by_row() -> None:
    """Numba has no vector of the elements of a transpose, as NumPy makes one."""
    program, arrays = gradient("filtered")
    code, reference = compiled(program, (*types_of(arrays), INTEGER), "cpu")
    assert agrees(code, reference, *arrays, 3)


def test_so_it_is_when_numba_compiles_it_and_when_memory_grows() -> None:
    program, arrays = gradient("branching")
    code, reference = compiled(program, (*types_of(arrays), INTEGER), "cpu")
    for n in (3, 3 * stack_memory.CELLS, 0):
        assert agrees(code, reference, *arrays, n)
    assert code.memory.cells == (4 * stack_memory.CELLS,)


def test_what_is_zero_on_one_path_and_an_array_on_another() -> None:
    """The cotangent of w is ZERO until a turn takes the second branch; that of h is where the last turn overwrites it."""

    def paths(x, w, n: int):  # type: ignore[no-untyped-def]
        h = x
        c = w
        for i in range(n):
            if i > 1:
                h = h * c
                c = h / (2.0 + c * c)
            else:
                h = x
        return np.sum(h)

    types = (*types_of((V, V)), INTEGER)
    code, reference = compiled(calling(parse(paths), "value_and_grad", (0, 1), types), types)
    for n in range(5):
        assert agrees(code, reference, V, V + 1.0, n)


# memory


def test_arrays_that_do_not_fit_get_twice_the_memory_and_the_value_is_the_same(monkeypatch: Any) -> None:
    monkeypatch.setattr(stack_memory, "WORDS", 4)
    program, arrays = gradient("recurrent")
    code, reference = compiled(program, (*types_of(arrays), INTEGER))
    assert agrees(code, reference, *arrays, 7)
    words, cells = code.memory.words, code.memory.cells
    assert words > 4
    assert cells == (stack_memory.CELLS,)
    monkeypatch.setattr(stack_memory, "LIMIT", code.memory.size)
    with pytest.raises(OutOfFuel, match="the stacks of its loops do not fit"):
        code.call(*map(to_value, arrays), 50)
    assert (code.memory.words, code.memory.cells) == (words, cells)


def test_of_an_array_whose_sizes_alone_are_read_the_elements_are_not_kept() -> None:
    """
    The adjoint of w @ h + x reads w, h and the sum; of the product it reads how long it is, to sum its sensitivity to that, and the
    arguments say that.
    """
    program, arrays = gradient("recurrent")
    source = compiled(program, (*types_of(arrays), INTEGER))[0].code.source
    turn = source[source.index("while True:") : source.index("continue")]
    assert turn.count("_keep(") == 2
    assert turn.count(".shape[0]\n") == 0


# planted bugs

PLANTED = {
    "the next array begins inside this one": ("return end", "return begin + 1"),
    "an element is left out": ("for i in _each(count):", "for i in _each(count - 1):"),
    "every view is of the first array": ("heap = (heap, _keep(", "heap = (2 * capacity, _keep("),
    "a view is one element late": ("_ = reals[integers[", "_ = reals[1 + integers["),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_seen(bug: str) -> None:
    program, arrays = gradient("recurrent")
    code, reference = compiled(program, (*types_of(arrays), INTEGER))
    wrong, planted = PLANTED[bug]
    source = code.code.source.replace(wrong, planted)
    assert source != code.code.source
    mutant = on_target(replace(code.code, alone=source), "python", BUDGET, lambda: mutant)
    try:
        seen = not agrees(mutant, reference, *arrays, 4)
    except Crash:  # the view has not as many elements as its shape
        seen = True
    assert seen
