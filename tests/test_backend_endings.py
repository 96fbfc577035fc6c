"""Ways to end a function that meet, and which names live where: Numba's own results, found in less time."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import analysis, ir
from numba.core.controlflow import CFGraph
from numba.core.runtime import _nrt_python, rtsys

from backend import store, toolchain
from backend.cpu import endings
from backend.cpu.lifetimes import as_rows, living

NAMES = "abcdefgh"


# which names live where a block begins


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Any, list[int], dict[int, set[str]], dict[int, set[str]]]:
    """Blocks that are all reached, with loops, and the names that each uses and defines."""
    count = draw(st.integers(1, 9))
    blocks = [10 * n for n in range(count)]
    graph = CFGraph()
    for block in blocks:
        graph.add_node(block)
    for n, block in enumerate(blocks[1:], 1):
        graph.add_edge(blocks[draw(st.integers(0, n - 1))], block)
    for _ in range(draw(st.integers(0, 6))):
        graph.add_edge(draw(st.sampled_from(blocks)), draw(st.sampled_from(blocks)))
    graph.set_entry_point(0)
    graph.process()
    names = st.sets(st.sampled_from(NAMES), max_size=4)
    return graph, blocks, {b: draw(names) for b in blocks}, {b: draw(names) for b in blocks}


@given(graphs())
def test_rows_of_booleans_say_what_sets_of_names_say(found: Any) -> None:
    graph, blocks, used, defined = found
    assert living(graph, dict.fromkeys(blocks), used, defined) == analysis.compute_live_map(
        graph, dict.fromkeys(blocks), used, defined
    )


def test_numba_has_its_own_way_back_after_a_compilation_that_fails() -> None:
    own, found = analysis.compute_live_map, []

    def fails() -> None:
        with as_rows():
            found.append(analysis.compute_live_map)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert found == [living]
    assert analysis.compute_live_map is own


# ways to end


def text(ways: int) -> str:
    """
    A function that makes an array more before each of so many ways to end, and adds them up if it takes none. `which` says which
    way it takes; each way has an array of its own. The one that is given out is one of those made.
    """
    lines = ["@_bare", "def f(a, which):", "    none = _empty((0,), _f64)", "    total = 0.0"]
    for n in range(ways):
        lines += [
            f"    a{n} = _empty((2,), _f64)",
            f"    a{n}[0] = a[0] + {n}",
            f"    a{n}[1] = 1.0",
            f"    if which == {n}:",
            f"        own{n} = _empty((2,), _f64)",
            f"        own{n}[0] = {n + 1}",
            f"        return (none, 0.0, int(own{n}[0]))",
            f"    total = total + a{n}[0]",
        ]
    lines += [f"    return (a{ways - 1}, total, 0)"]
    entry = "@_device\ndef entry(a, which):\n    return f(a, which)\n"
    return "\n".join(lines) + "\n\n\n" + entry


def compiled(source: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[int]]:
    """The entry, and in how many blocks each function that it compiles ends."""
    ends: list[int] = []
    deleted = endings.deleted_where_ways_meet

    def noted(blocks: dict[int, Any]) -> bool:
        ends.append(sum(isinstance(block.terminator, ir.Return) for block in blocks.values()))
        return deleted(blocks)

    monkeypatch.setattr(endings, "deleted_where_ways_meet", noted)
    entry = store.load(source, "cpu", toolchain.bindings("cpu", source)).entry
    entry(np.ones(1), -1)
    return entry, ends


@pytest.mark.parametrize("ways", [1, endings.MANY, endings.MANY + 1, 2 * endings.MANY])
@pytest.mark.usefixtures("own_store")
def test_many_ways_to_end_meet_and_few_stay(ways: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _, ends = compiled(text(ways), monkeypatch)
    assert max(ends) == (2 if ways > endings.MANY else ways + 1)


@pytest.mark.parametrize("ways", [endings.MANY, endings.MANY + 1])
@pytest.mark.usefixtures("own_store")
def test_every_way_gives_its_status_and_frees_what_was_made(
    ways: int, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    entry, _ = compiled(text(ways), monkeypatch)
    a = np.full(1, 3.0)
    _nrt_python.memsys_enable_stats()
    request.addfinalizer(_nrt_python.memsys_disable_stats)
    for which in (*range(ways), -1):
        before = rtsys.get_allocation_stats()
        array, total, status = entry(a, which)
        if which < 0:
            assert (array.tolist(), total, status) == ([2.0 + ways, 1.0], sum(3.0 + n for n in range(ways)), 0)
        else:
            assert (array.size, total, status) == (0, 0.0, which + 1)
        del array
        after = rtsys.get_allocation_stats()
        assert after.alloc - before.alloc == after.free - before.free


def test_a_way_that_gives_something_else_does_not_meet_the_others() -> None:
    given_out = [("none", 0.0), ("none", -0.0), ("other", 0.0)]
    blocks = {n: ending(n, name, number) for n, (name, number) in enumerate(itertools.chain(*[given_out] * (endings.MANY + 1)))}
    count = len(blocks)
    assert endings.with_one_ending(blocks)
    assert len(blocks) == count + len(given_out)
    assert len({blocks[n].terminator.target for n in range(3)}) == 3


def ending(n: int, name: str, number: float) -> Any:
    """A block that gives a variable, a number and a status of its own."""
    loc, scope = ir.unknown_loc, ir.Scope(None, ir.unknown_loc)
    zero, status, made, cast = (scope.define(f"${part}{n}", loc) for part in ("zero", "status", "made", "cast"))
    block = ir.Block(scope, loc)
    block.append(ir.Assign(ir.Const(number, loc), zero, loc))
    block.append(ir.Assign(ir.Const(n, loc), status, loc))
    block.append(ir.Assign(ir.Expr.build_tuple([ir.Var(scope, name, loc), zero, status], loc), made, loc))
    block.append(ir.Assign(ir.Expr.cast(made, loc), cast, loc))
    block.append(ir.Return(cast, loc))
    return block
