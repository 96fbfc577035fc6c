"""Paths that leave a note of where they lead: what is live and sole on them goes where the note is read, and nowhere else."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loop_texts import bits, executed
from test_backend_arrays import normal, types_of
from test_backend_stack_arrays import agrees, compiled

from backend.arrays import notes
from backend.arrays.in_place import updated
from backend.arrays.ownership import Ownership
from transforms.gradient_programs import calling
from transforms.parse import parse_text

X, Y = np.array([1.5, -0.0, 2.0, -7.25]), np.array([0.1, 3.0, -2.0, 5.0])


def turns(note: int = 4, last: str = "c", before: str = "pass") -> str:
    """
    A loop in a loop, which updates a vector in each turn. Where three turns are done it notes 4, and breaks: the loop around it
    goes on. Else, in the third turn of that, it notes 5, which leaves both.
    """
    return f"""
def kernel(a0, a1, fuel, one):
    _go = 0
    b = _full((a0.shape[0],), 2.0, _f64)
    m, x = (0, 0.0)
    while True:
        i, c = (0, b)
        while True:
            if i == 3:
                m, b = (m + 1, c)
                _go = 4
                break
            t = _empty((a0.shape[0],), _f64)
            for k in range(a0.shape[0]):
                t[k] = float(c[k])
            t[i] = t[i] * a0[i] + m
            i, c = (i + 1, t)
            if m == 2:
                {before}
                _go = 5
                break
        if _go != {note}:
            break
    return ({last}, x, fuel, 0)
"""


def in_place(text: str) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    return ast.unparse(ast.fix_missing_locations(updated(function, lambda name, axis: "a0.shape[0]")))


def same(text: str) -> bool:
    return bits(executed(in_place(text), X, Y)) == bits(executed(text, X, Y))


def test_what_only_the_path_with_another_note_reads_is_dead_on_this_one() -> None:
    """After note 5 nothing reads b, which the loop around would: so the vector is c's alone."""
    found = in_place(turns())
    assert "t = c\n" in found
    assert found.count("_empty(") == 0
    assert same(turns())


NEAR = {
    "the path with the note reads it": turns(last="b"),
    "it is read before the note": turns(before="x = b[0]"),
    "the test asks for something else": turns().replace("if _go != 4:", "if m == 9 or _go != 4:"),
    "two notes lead to it": turns().replace("_go = 5", "_go = 4 if x > 9.0 else 5"),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_it_is_copied(near: str) -> None:
    found = in_place(NEAR[near])
    assert "t = c\n" not in found or "_empty(" in found, "nowhere, or in every turn of the loop around"
    assert same(NEAR[near])


def test_a_note_taken_for_another_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    text = turns(last="b")
    monkeypatch.setattr(Ownership, "_live", lambda *_: notes.alike(0))
    assert not same(text)


sets = st.dictionaries(st.integers(0, 3), st.integers(0, 15)).map(lambda some: {notes.OTHER: 5} | some)


@given(sets, sets, st.integers(0, 5))
def test_sets_are_joined_note_by_note(a: notes.Noted, b: notes.Noted, note: int) -> None:
    assert notes.of(notes.either(a, b), note) == notes.of(a, note) | notes.of(b, note)
    assert notes.of(notes.both(a, b), note) == notes.of(a, note) & notes.of(b, note)
    assert notes.all_of(a) & ~notes.of(a, note) == 0 == notes.of(a, note) & ~notes.any_of(a)


# programs

LAYERS = """
import numpy as np
def f(w, h, xs):
    shown = h.copy()
    total = 0.0
    for t in range(xs.shape[0]):
        x = xs[t]
        for i in range(w.shape[0]):
            x = np.tanh(x * w[i, 0] + shown[i] * w[i, 1])
            shown[i] = x
        total = total + np.sum(x * x)
    return total
"""


def layers() -> tuple[Any, Any, tuple[Any, ...]]:
    arrays = (normal(2, 2, 3), normal(2, 3), normal(4, 3))
    types = types_of(arrays)
    return *compiled(calling(parse_text(LAYERS, "f"), "value_and_grad", (0, 1), types), types), arrays


def test_what_both_loops_of_an_adjoint_add_to_is_copied_in_no_turn() -> None:
    code, reference, arrays = layers()
    _, _, loops = code.code.alone.partition("while True")
    assert "own" not in loops
    assert agrees(code, reference, *arrays)
    special = [np.where(a > 0.5, -0.0, np.where(a < -0.5, np.inf, a)) for a in arrays]
    assert agrees(code, reference, *special)
