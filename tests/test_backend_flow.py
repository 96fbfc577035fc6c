"""Heads of loops that are entered at several places: where there are any, for which blocks; and every flow is reducible then."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from backend.lowering import flow as analysis
from backend.lowering.flow import Block, Head, Targets, flow

Graph = dict[Block, tuple[Block, ...]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """At most nine blocks, each with at most three targets."""
    count = draw(st.integers(1, 9))
    targets = st.lists(st.integers(0, count - 1), max_size=3).map(tuple)
    return {block: draw(targets) for block in range(count)}


def reached(graph: Graph, without: Block | None = None) -> set[Block]:
    """The blocks that block 0 reaches, not going through one of them."""
    found: set[Block] = set()
    todo = [0]
    while todo:
        block = todo.pop()
        if block not in found and block != without:
            found.add(block)
            todo += graph[block]
    return found


def reducible(graph: Graph) -> bool:
    """Whether each cycle goes back to a block without which none of it is reached: by taking away blocks that nothing jumps to."""
    blocks = reached(graph)
    dominates = {a: blocks - reached(graph, a) for a in blocks}
    rest = {(a, b) for a in blocks for b in graph[a] if a not in dominates[b]}
    while loose := {(a, b) for a, b in rest if a not in {target for _, target in rest}}:
        rest -= loose
    return not rest


def headed(graph: Graph, heads: dict[Block, Head]) -> Graph:
    """The graph in which every jump to a block that has a head goes there."""
    through: Graph = {block: tuple(heads.get(t, t) for t in targets) for block, targets in graph.items()}
    return through | {head: head.entries for head in heads.values()}


@given(graphs())
def test_a_flow_has_heads_if_it_is_not_reducible_and_is_reducible_with_them(graph: Graph) -> None:
    found = flow(0, graph.__getitem__)
    event(f"heads: {len(set(found.heads.values()))}")
    assert bool(found.heads) == (not reducible(graph))
    assert reducible(headed(graph, found.heads))


@given(graphs())
def test_a_head_costs_a_block_and_no_block_is_copied(graph: Graph) -> None:
    """A block has one head, and a head two blocks or more; so there are half as many, at most."""
    found = flow(0, graph.__getitem__)
    assert {b for b in found.order if not isinstance(b, Head)} == reached(graph)
    assert len(found.order) == len(set(found.order)) <= 1.5 * len(reached(graph))
    assert all(found.heads[entry] == head for head in found.heads.values() for entry in head.entries)


ONE: Graph = {0: (1,), 1: (2, 3), 2: (1,), 3: ()}
TWO: Graph = {0: (1, 2), 1: (2, 3), 2: (1,), 3: ()}
NESTED: Graph = {0: (1, 2), 1: (3, 4), 2: (1, 5), 3: (4,), 4: (3, 2), 5: ()}


@pytest.mark.parametrize(
    ("graph", "entries"), [(ONE, []), (TWO, [{1, 2}]), (NESTED, [{1, 2}, {3, 4}])], ids=["one", "two", "in a loop"]
)
def test_the_places_where_a_loop_is_entered(graph: Graph, entries: list[set[Block]]) -> None:
    heads = dict.fromkeys(flow(0, graph.__getitem__).heads.values())
    assert [set(head.entries) for head in heads] == entries


def test_the_head_of_an_inner_loop_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    def outermost(entry: Block, targets: Targets) -> dict[Block, Head]:
        heads = heads_of(entry, targets)
        return {block: head for block, head in heads.items() if 1 in head.entries}

    heads_of = analysis.heads_of
    monkeypatch.setattr(analysis, "heads_of", outermost)
    with pytest.raises(AssertionError, match="every loop has one head"):
        flow(0, NESTED.__getitem__)
    assert flow(0, TWO.__getitem__).heads


def ladder(rungs: int) -> Iterator[tuple[Block, tuple[Block, ...]]]:
    """Two rows of blocks; each jumps on in its row, to the other, and back."""
    for k in range(1, 2 * rungs + 1):
        yield k, tuple(t for t in (k + 2, k + 1 if k % 2 else k - 1, k - 2) if 0 < t <= 2 * rungs)


@pytest.mark.parametrize("rungs", [2, 40])
def test_many_loops_entered_at_two_places(rungs: int) -> None:
    """Copies of blocks would be as many as there are ways through them."""
    graph: Graph = {0: (1, 2), **dict(ladder(rungs))}
    found = flow(0, graph.__getitem__)
    assert len(found.order) <= 3 * rungs + 1


def test_two_jumps_of_one_block_to_a_head_meet_there() -> None:
    """The head was placed where the first of them goes, and the other led nowhere."""
    graph: Graph = {0: (1, 2), 1: (2, 3), 2: (1, 3), 3: ()}
    found = flow(0, graph.__getitem__)
    (head,) = set(found.heads.values())
    assert head in found.merges
    assert found.below[0] == (head,)
    assert found.below[head] == (3,)
