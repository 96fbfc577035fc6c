"""Cells that pointers name at every load and store are values: the program without them has the value that it had with them."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from mutation_programs import MUTATIONS

from backend.lists import promotion
from backend.lists.followed_cells import Cells
from backend.lists.promotion import Place, promoted
from checkers.generators import Whole, WholeOptions, wholes
from semantics.errors import Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.type_language import REAL
from semantics.values import same
from semantics.wellformed import check
from transforms.dce import SYSTEM as DCE
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

POINTS = (1.5, -0.5, 3.0)
PROMOTED = {
    "append in a loop": MUTATIONS["append in a loop"],
    "a branch": "def f(x):\n xs = [x]\n if x > 1.0:\n  xs.append(2.0)\n xs[0] = 3.0 * x\n return xs[0] * len(xs)",
    "two lists": (
        "def f(x):\n xs, ys = [], [x]\n for i in range(3):\n  xs.append(ys[0] * i)\n  ys[0] += xs[-1]\n return xs[2] * ys[0]"
    ),
    "a list of a turn": (
        "def f(x):\n rows = []\n for i in range(3):\n  row = []\n"
        "  for j in range(2):\n   row.append(x * i + j)\n  rows.append(row)\n"
        " return rows[2][1] * len(rows)"
    ),
    "an element from an element": (
        "def f(x):\n xs = [x, 2.0, 3.0]\n for i in range(2):\n  xs[i + 1] = xs[i] * xs[i + 1]\n return xs[2]"
    ),
    "a list that no turn changes": "def f(x):\n xs = [x]\n s = 0.0\n for i in range(3):\n  s += xs[0]\n xs[0] = s\n return xs[0]",
    "what was loaded is stored": (
        "def f(x):\n xs, ys = [x], [0.0]\n for i in range(3):\n  ys[0] = xs[0]\n  xs[0] = ys[0] * x\n return ys[0]"
    ),
}
KEPT = {
    "a choice of two lists": MUTATIONS["one of two lists"],
    "a function that changes the list": MUTATIONS["cell changed by a nested function"],
}


def has_memory(program: Program) -> bool:
    """Whether memory is left where the entry leads."""
    clean = DCE.run(program)
    return any(p in clean.interned and clean.users(clean.interned[p]) for p in (TABLE["memory"], TABLE["load"], TABLE["store"]))


@pytest.mark.parametrize("name", PROMOTED)
def test_cells_that_are_known_become_values(name: str) -> None:
    program = parse_text(PROMOTED[name], "f")
    found = promoted(program)
    check(found)
    assert has_memory(program)
    assert not has_memory(found)
    for x in POINTS:
        assert same(run(found, x), run(program, x))


@pytest.mark.parametrize("name", KEPT)
def test_memory_whose_pointers_may_be_any_stays(name: str) -> None:
    program = parse_text(KEPT[name], "f")
    assert promoted(program) is program
    assert has_memory(program)


@pytest.mark.parametrize("name", MUTATIONS)
def test_no_value_of_the_corpus_changes(name: str) -> None:
    program = parse_text(MUTATIONS[name], "f", names={})
    found = promoted(program)
    check(found)
    for x in POINTS:
        assert same(run(found, x), run(program, x))


@pytest.mark.parametrize("mode", ["J", "ssa"])
@pytest.mark.parametrize("name", [*PROMOTED, *MUTATIONS])
def test_no_gradient_of_the_corpus_changes(name: str, mode: str) -> None:
    program = parse_text((PROMOTED | MUTATIONS)[name], "f", names={})
    if (found := promoted(program)) is program:
        pytest.skip("its memory stays")
    before, after = (expand(calling(p, "grad", 0, (REAL,)), mode) for p in (program, found))
    for x in POINTS:
        assert same(run(after, x), run(before, x))


def test_an_index_outside_traps_as_before() -> None:
    program = parse_text("def f(x, i):\n xs = [x]\n xs.append(2.0)\n xs[i] = x\n return xs[0]", "f")
    assert same(run(promoted(program), 1.5, 1), run(program, 1.5, 1))
    for subject in (program, promoted(program)):
        with pytest.raises(Trap, match="outside"):
            run(subject, 1.5, 2)


@given(wholes(WholeOptions(always=frozenset({"memory", "lists"}))))
def test_promotion_preserves_values(whole: Whole) -> None:
    program = whole.program()
    found = promoted(program)
    event("promoted" if found is not program else "left")
    check(found)
    assert same(run(found, *whole.arguments), run(program, *whole.arguments))


def test_a_store_that_is_overlooked_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: what a cell has is looked for before the last store, not at it."""
    origin = promotion._origin

    def earlier(found: Cells, same_: dict[Place, Place], place: Place) -> Place:
        state, cell = origin(found, same_, place)
        known = found.before.get(state, ())
        return origin(found, same_, (known[0], cell)) if len(known) == 1 and cell in found.held[known[0]] else (state, cell)

    monkeypatch.setattr(promotion, "_origin", earlier)
    program = parse_text("def f(x):\n xs = [x]\n xs.append(2.0)\n xs[0] = 3.0 * x\n return xs[0]", "f")
    assert not same(run(promoted(program), 1.5), run(program, 1.5))


def beside_one_another(n: int) -> Program:
    """A loop that changes n lists, each by the one before it."""
    lists = "".join(f" a{k} = [x]\n" for k in range(n))
    turns = "".join(f"  a{k}[0] = {k}.5 * a{max(k - 1, 0)}[0]\n" for k in range(n))
    return parse_text(f"def f(x):\n{lists} for i in range(3):\n{turns} return a{n - 1}[0]", "f")


def test_what_a_cell_has_is_found_without_a_walk_over_all_that_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1000 lists in a loop, each was looked for behind the writes of all others."""
    cell_at, asked = Cells.cell_at, []
    monkeypatch.setattr(Cells, "cell_at", lambda self, state: asked.append(state) or cell_at(self, state))
    counts = []
    for n in (20, 40):
        asked.clear()
        program = beside_one_another(n)
        found = promoted(program)
        assert not has_memory(found)
        assert same(run(found, 1.5), run(program, 1.5))
        counts.append(len(asked))
    assert counts[1] <= 2 * counts[0] + 2
