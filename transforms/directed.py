"""
Directed graphs: what leads back to itself, and what can be reached. An edge leads from a node to each of those listed under it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def components(edges: Mapping[Any, Iterable[Any]]) -> dict[Any, int]:
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
