"""What cells of stacks keep: once, not what arguments have, and without a copy where nothing is written there again."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import bits

from backend import toolchain
from backend.arrays import keeping
from backend.arrays.carried import with_carried_sizes
from backend.arrays.keeping import kept_in_place, kept_once
from backend.stacks.arrays import SOURCES

# places


def pushing(*keeps: str, made: str = "t", source: str = "w[3, k]", more: tuple[str, ...] = ()) -> str:
    """A loop that keeps arrays, and reads the cells when it has kept some."""
    keep = [f"integers[⟦7:s:{place}⟧], heap = (heap, _keep({name}, reals, heap))" for name, place in map(str.split, keeps)]
    lines = ["while s < 3:", f"    {made} = _empty((w.shape[1],), _f64)"]
    lines += [
        "    for k in range(w.shape[1]):",
        f"        {made}[k] = float({source})",
        *(f"    {line}" for line in (*keep, *more)),
    ]
    lines += ["    s = s + 1", *reading("0"), *reading("1"), "x = 0.0", "for i in range(w.shape[1]):", "    x = x + v0[i] * v1[i]"]
    return "\n".join(
        ["def kernel(w, reals, integers, fuel):", "    heap = 9", "    s = 0", *(f"    {line}" for line in lines), "    return x"]
    )


def reading(place: str) -> list[str]:
    return [f"v{place} = reals[integers[⟦7:0:{place}⟧]:integers[⟦7:0:{place}⟧] + w.shape[1]]"]


def test_elements_of_an_argument_are_read_from_it() -> None:
    assert "x + w[3, i] * w[3, i]" in with_carried_sizes(pushing("t 0", "t 1"))


def test_so_are_those_of_a_part_of_it() -> None:
    assert "x + w[3, 1 + i] * w[3, 1 + i]" in with_carried_sizes(pushing("t 0", "t 1", source="w[3, 1 + k]"))


def test_what_is_read_for_nothing_is_not_read() -> None:
    """A sum that nothing needs, as the sensitivity of what nobody asked for: the cell then has no place for the array."""
    found = with_carried_sizes(pushing("t 0", "u 1", source="u[k]").replace("x + v0[i] * v1[i]", "x + v0[i]"))
    assert "v0 = reals[" in found
    assert "v1 = reals[" not in found


@pytest.mark.parametrize("source", ["w[s, k]", "w[3, k] + 1.0", "w[k, k + 1]", "w[3, s + k]", "u[k]"])
def test_elements_that_are_no_arguments_or_change_are_kept_once(source: str) -> None:
    found = with_carried_sizes(pushing("t 0", "t 1", source=source))
    assert "x + v0[i] * v1[i]" in found
    assert "v1 = reals[integers[⟦7:0:0⟧]:integers[⟦7:0:0⟧] + w.shape[1]]" in found


def test_places_of_which_one_push_gives_two_arrays_stay_two() -> None:
    other = "integers[⟦7:s:0⟧], heap = (heap, _keep(t, reals, heap))", "integers[⟦7:s:1⟧], heap = (heap, _keep(w, reals, heap))"
    found = with_carried_sizes(pushing("t 0", "t 1", source="w[s, k]", more=("s = s + 1", *other)))
    assert "v1 = reals[integers[⟦7:0:1⟧]" in found


def test_a_view_that_is_read_as_a_whole_stays() -> None:
    text = pushing("t 0", "t 1").replace("return x", "return f(v0, x)")
    assert "x + v0[i] * w[3, i]" in with_carried_sizes(text)


def test_of_a_site_that_another_function_has_too_nothing_is_changed() -> None:
    assert "x + v0[i] * v1[i]" in with_carried_sizes(pushing("t 0", "t 1"), "integers[⟦7:s:1⟧] = 5")


# arrays in place

FULL = "if heap > reals.size: return (fuel, 17)"
UPDATES = {
    "nothing": ("", ""),
    "written when it is kept": ("", "t[0] = 5.0"),
    "its next turn writes to it": ("h[0] = 3.0", ""),
    "given out": ("if s > 90: return (t, 0)", ""),
    "kept twice": ("", "(integers[9], heap) = (heap, _keep(t, reals, heap))"),
}


def keeping_text(before: str = "", after: str = "", second: str = "h[k] + t[k]") -> str:
    """A loop that keeps a new array, and one made from it."""
    turn = ["pass", "t = _empty((a0.shape[0],), _f64)", "for k in range(a0.shape[0]):", "    t[k] = h[k] * 2.0 + a0[k]"]
    turn += ["u = _empty((a0.shape[0],), _f64)", "for k in range(a0.shape[0]):", f"    u[k] = {second}"]
    turn += [f"integers[s + {k}], heap = (heap, _keep({name}, reals, heap))" for k, name in ((0, "u"), (1, "h"), (2, "t"))]
    turn.insert(4 if "return" in before else 0, before or "pass")
    turn += [FULL, after or "pass", "s, h = (s + 3, t)"]
    start = ["heap = 30", "s = 0", "g = _empty((a0.shape[0],), _f64)", "for k in range(a0.shape[0]):", "    g[k] = a0[k]", "h = g"]
    lines = [*start, "while s < 9:", *(f"    {line}" for line in turn), "return (s, 0)"]
    return "\n".join(["def kernel(a0, reals, integers, fuel):", *(f"    {line}" for line in lines)])


def in_place(text: str) -> str:
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    kept_in_place(function)
    return ast.unparse(ast.fix_missing_locations(function))


def once(text: str) -> str:
    """The same, and what is kept already is not kept again."""
    function = ast.parse(in_place(text)).body[0]
    assert isinstance(function, ast.FunctionDef)
    kept_once(function)
    return ast.unparse(ast.fix_missing_locations(function))


def nowhere(array: Any, memory: Any) -> int:
    """What a target would say that does not know where arrays lie."""
    return -1


def cells(text: str, size: int, n: int = 3, place: Any = toolchain._place) -> Any:
    """The status, and for each place of a cell what it keeps, when CPython has run the text."""
    names: dict[str, Any] = {**toolchain.bindings("python", ""), "_empty": lambda shape, dtype: np.full(shape, np.nan, dtype)}
    names["_place"] = place
    exec(SOURCES["_keep"] + "\n" + text, names)  # a text of the tests
    reals = np.zeros(size)
    integers = reals.view(np.int64)
    status = names["kernel"](np.arange(1.0, 1.0 + n), reals, integers, 100)[-1]
    return status if status else bits(tuple(reals[at : at + n] for at in integers[:9]))


def test_a_new_array_is_written_where_it_is_kept() -> None:
    found = in_place(keeping_text())
    assert "u = reals[heap + a0.shape[0]:heap + 2 * a0.shape[0]]" in found
    assert found.count("_keep(") == 1  # what came from the turn before is copied
    assert found.index("heap + 2 * a0.shape[0] > reals.size") < found.index("t[k] =")


@pytest.mark.parametrize("update", [u for u in UPDATES if u != "nothing"])
def test_what_is_written_to_again_is_copied(update: str) -> None:
    found = in_place(keeping_text(*UPDATES[update]))
    assert "t = _empty(" in found
    assert "u = reals[" in found


@pytest.mark.parametrize("way", ["break", "continue"])
def test_what_a_path_leaves_with_before_it_is_kept_is_not_written_there(way: str) -> None:
    """A regression: the next that was kept was written over it, since no count said that it was there."""
    filled, ends = "        t[k] = h[k] * 2.0 + a0[k]\n", "    return (s, 0)"
    inner = "        for j in range(9):\n            if j == s:\n                break\n"
    more = ["u = _empty((a0.shape[0],), _f64)", "for k in range(a0.shape[0]):", "    u[k] = h[k] + 1.0", FULL]
    more += [f"integers[s + {k}], heap = (heap, _keep({name}, reals, heap))" for k, name in ((0, "u"), (1, "h"))]
    text = keeping_text().replace(ends, "\n".join([*(f"    {line}" for line in more), ends]))
    left = text.replace(filled, f"{filled}        if s == 3:\n            h = t\n            s = s + 3\n            {way}\n")
    assert "t = reals[" not in in_place(left)
    found, wanted = cells(in_place(left), 99), cells(left, 99)
    assert [found[k] for k in (0, 1, 2, 6, 7)] == [wanted[k] for k in (0, 1, 2, 6, 7)], "of the turns that keep"
    assert "t = reals[" in in_place(text.replace(filled, filled + inner)), "a near miss: a loop in the turn ends"


@given(
    st.sampled_from([*UPDATES.values()]),
    st.sampled_from(["h[k] + t[k]", "t[a0.shape[0] - 1 - k]", "u[0] if k > 0 else t[k]"]),
    st.integers(48, 70),
)
def test_every_cell_keeps_what_it_would_or_the_memory_is_full(update: tuple[str, str], second: str, size: int) -> None:
    text = keeping_text(*update, second)
    found = cells(in_place(text), size)
    assert found == cells(text, size)
    event("full" if found == 17 else "kept")


@given(st.sampled_from([*UPDATES.values()]), st.integers(48, 70))
def test_what_lies_in_the_memory_already_is_kept_there(update: tuple[str, str], size: int) -> None:
    text = keeping_text(*update)
    found, wanted = cells(once(text), size), cells(text, size)
    assert cells(once(text), size, place=nowhere) == wanted
    assert found == wanted if found == 17 or wanted != 17 else update == UPDATES["nothing"], "it may go on where there was no room"


def test_what_a_turn_gets_from_the_one_before_is_asked_where_it_lies() -> None:
    found = once(keeping_text())
    assert found.count("_place(h, reals)") == found.count("_place(") == found.count("_keep(") == 1
    assert cells(found, 30 + 6 * 3 + 3) != 17 == cells(in_place(keeping_text()), 30 + 6 * 3 + 3), "two cells have one array"


def test_a_mask_is_asked_where_it_lies_too() -> None:
    text = keeping_text().replace("_keep(h, reals", "_keep_flags(h, integers")
    found = once(text)
    assert found.count("_place(h, integers)") == found.count("_place(") == found.count("_keep_flags(") == 1
    assert once(text.replace("_keep_flags(h", "_kept(h")).count("_place(") == 0


@pytest.mark.parametrize("update", ["written when it is kept", "its next turn writes to it"])
def test_a_planted_bug_is_seen(update: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(keeping, "_written", lambda statement: iter(()))
    text = keeping_text(*UPDATES[update])
    assert cells(in_place(text), 70) != cells(text, 70)
