"""
Control flow of a first-order region: what its tail calls make of its graphs.

Blocks are signatures (a graph at the types of one call), edges are tail calls. A *header* is the target of an edge from a
block it dominates: a loop. A *merge* is reached by several forward edges. Blocks are ordered in reverse postorder; every
merge is placed behind its immediate dominator, which yields structured code for every reducible region (Ramsey, 2022).

A loop that is entered at several places gets a *head*, one block more, through which every jump to one of these goes: it is told
which, and goes on there. So every region has structured code, which is no longer for it: no block is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from transforms.directed import components

Block = Any
Targets = dict[Block, tuple[Block, ...]]


@dataclass(frozen=True)
class Head:
    """The block that goes on at one of the places where a loop is entered."""

    entries: tuple[Block, ...]


@dataclass(frozen=True)
class Flow:
    """The blocks reached from the entry: loop headers, merges, the merges directly below each; the heads of those that have one."""

    order: tuple[Block, ...]
    headers: frozenset[Block]
    merges: frozenset[Block]
    below: dict[Block, tuple[Block, ...]]
    heads: dict[Block, Head] = field(default_factory=dict)


def flow(entry: Block, successors: Callable[[Block], Iterable[Block]]) -> Flow:
    """The analysis. Dominators by Cooper, Harvey and Kennedy's iteration."""
    targets = ordered(entry, successors)
    if (found := _reducible(targets)) is not None:
        return found
    heads = heads_of(entry, targets)
    through = {block: tuple(heads.get(t, t) for t in to) for block, to in targets.items()}
    through |= {head: head.entries for head in heads.values()}
    found = _reducible(ordered(entry, through.__getitem__))
    assert found is not None, "every loop has one head"
    return replace(found, heads=heads)


def heads_of(entry: Block, targets: Targets) -> dict[Block, Head]:
    """The head of every block where a loop is entered that is entered elsewhere, too."""
    heads: dict[Block, Head] = {}
    for entries in loops(entry, targets):
        heads |= dict.fromkeys(entries, Head(entries)) if len(entries) > 1 else {}
    return heads


def loops(entry: Block, targets: Targets) -> Iterator[tuple[Block, ...]]:
    """
    Where every loop of several blocks is entered.

    A loop is a strongly connected component; those in it are the ones that are left without the blocks where it is entered
    (Steensgaard, 1993).
    """
    todo = [list(targets)]
    while todo:
        inside = dict.fromkeys(todo.pop())
        component = components({block: [t for t in targets[block] if t in inside] for block in inside})
        entered = {t for block, to in targets.items() for t in to if component.get(block) != component.get(t)} | {entry}
        found: dict[int, list[Block]] = {}
        for block in inside:
            found.setdefault(component[block], []).append(block)
        for loop in found.values():
            if len(loop) > 1:
                yield tuple(block for block in loop if block in entered)
                todo.append([block for block in loop if block not in entered])


def ordered(entry: Block, successors: Callable[[Block], Iterable[Block]]) -> Targets:
    """The blocks that the entry reaches, in reverse postorder, and where each jumps to."""
    targets: Targets = {}
    order: list[Block] = []
    todo: list[tuple[Block, bool]] = [(entry, False)]
    while todo:
        block, leaving = todo.pop()
        if leaving:
            order.append(block)
        elif block not in targets:
            targets[block] = tuple(successors(block))
            todo.append((block, True))
            todo += [(t, False) for t in reversed(targets[block]) if t not in targets]
    return {block: targets[block] for block in reversed(order)}


def _reducible(targets: Targets) -> Flow | None:
    """
    The analysis of blocks in reverse postorder; None where some loop is entered at several places. Two jumps of one block to a head
    go on at different entries, so they meet there.
    """
    order = list(targets)
    number = {b: i for i, b in enumerate(order)}
    sources: dict[Block, list[Block]] = {b: [] for b in order}
    for block in order:
        for target in targets[block]:
            sources[target].append(block)
    above = _dominators(order, number, sources)

    def dominates(a: Block, b: Block) -> bool:
        while number[b] > number[a]:
            b = above[b]
        return bool(a == b)

    headers = set()
    forward = dict.fromkeys(order, 0)
    for block in order:
        for k, target in enumerate(targets[block]):
            if target in targets[block][:k] and not isinstance(target, Head):
                continue
            if number[target] > number[block]:
                forward[target] += 1
            elif dominates(target, block):
                headers.add(target)
            else:
                return None
    merges = frozenset(b for b in order if forward[b] > 1)
    below: dict[Block, tuple[Block, ...]] = dict.fromkeys(order, ())
    for block in order:
        if block in merges:
            below[above[block]] += (block,)
    return Flow(tuple(order), frozenset(headers), merges, below)


def _dominators(order: list[Block], number: dict[Block, int], sources: dict[Block, list[Block]]) -> dict[Block, Block]:
    """The immediate dominator of every block; the entry's is itself."""
    above: dict[Block, Block] = {order[0]: order[0]}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [s for s in sources[block] if s in above]
            best = known[0]
            for other in known[1:]:
                while best != other:
                    if number[best] > number[other]:
                        best = above[best]
                    else:
                        other = above[other]
            if above.get(block) != best:
                above[block] = best
                changed = True
    return above
