"""
Control flow of a first-order region: what its tail calls make of its graphs.

Blocks are signatures (a graph at the types of one call), edges are tail calls. A *header* is the target of an edge from a
block it dominates: a loop. A *merge* is reached by several forward edges. Blocks are ordered in reverse postorder; every
merge is placed behind its immediate dominator, which yields structured code for every reducible region (Ramsey, 2022).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Block = Any


@dataclass(frozen=True)
class Flow:
    """The blocks reached from the entry: loop headers, merges, the merges directly below each; an irreducible edge or None."""

    order: tuple[Block, ...]
    headers: frozenset[Block]
    merges: frozenset[Block]
    below: dict[Block, tuple[Block, ...]]
    irreducible: tuple[Block, Block] | None


def flow(entry: Block, successors: Callable[[Block], Iterable[Block]]) -> Flow:
    """The analysis. Dominators by Cooper, Harvey and Kennedy's iteration."""
    targets = {}
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
    order.reverse()
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

    headers, bad = set(), None
    forward = dict.fromkeys(order, 0)
    for block in order:
        for target in dict.fromkeys(targets[block]):
            if number[target] > number[block]:
                forward[target] += 1
            elif dominates(target, block):
                headers.add(target)
            else:
                bad = (block, target)
    merges = frozenset(b for b in order if forward[b] > 1)
    below: dict[Block, tuple[Block, ...]] = dict.fromkeys(order, ())
    for block in order:
        if block in merges:
            below[above[block]] += (block,)
    return Flow(tuple(order), frozenset(headers), merges, below, bad)


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


def components(edges: dict[Any, list[Any]]) -> dict[Any, int]:
    """The strongly connected component of every node (Tarjan, with an explicit stack)."""
    index: dict[Any, int] = {}
    low: dict[Any, int] = {}
    component: dict[Any, int] = {}
    path: list[Any] = []
    for root, first in edges.items():
        if root in index:
            continue
        todo = [(root, iter(first))]
        index[root] = low[root] = len(index)
        path.append(root)
        while todo:
            node, rest = todo[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    path.append(target)
                    todo.append((target, iter(edges[target])))
                    break
                if target not in component:
                    low[node] = min(low[node], index[target])
            else:
                todo.pop()
                if todo:
                    low[todo[-1][0]] = min(low[todo[-1][0]], low[node])
                if low[node] == index[node]:
                    while True:
                        member = path.pop()
                        component[member] = index[node]
                        if member == node:
                            break
    return component


def closure(edges: Mapping[Any, Iterable[Any]], start: Iterable[Any]) -> set[Any]:
    """The nodes to which edges lead from these, and they themselves."""
    found: set[Any] = set()
    todo = list(start)
    while todo:
        if (node := todo.pop()) not in found:
            found.add(node)
            todo += edges.get(node, ())
    return found
