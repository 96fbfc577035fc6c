"""
Loops of two depths taken apart, and their order changed where a sum so ends up innermost.

    for i in range(n):                    for i in range(n):
        d[i] = f(i)                           d[i] = f(i)
        for j in range(m):          →     for j in range(m):
            c[j] = c[j] + d[i] * a[i, j]      for i_2 in range(n):
                                                  c[j] = c[j] + d[i_2] * a[i_2, j]

A loop is taken apart where its halves could be joined (`backend.arrays.fusion`). Two loops around one group of statements change
places if every array that is written to there has one place in it, with the number of the inner loop as an index and without that
of the outer: then each element goes through the turns of the outer in order, as before.
"""

from __future__ import annotations

import ast
from copy import deepcopy

from backend.arrays.contraction import indices
from backend.arrays.effects import Reader
from backend.arrays.fusion import Renamed, joinable
from backend.arrays.turns import reads_first, set_in
from backend.arrays.walking import names_in, walk

Block = list[ast.stmt]


def rearranged(block: Block, effects: Reader) -> Block:
    """The block with its loops of two depths taken apart and in the order that suits sums."""
    found: Block = []
    for statement in block:
        if isinstance(statement, ast.For) and any(isinstance(s, ast.For) for s in statement.body):
            if _depth(statement) > 2:
                statement.body = rearranged(statement.body, effects)
            else:
                found += map(_turned, _apart(statement, effects))
                continue
        found.append(statement)
    return found


def _depth(statement: ast.stmt) -> int:
    return 1 + max(map(_depth, statement.body), default=0) if isinstance(statement, ast.For) else 0


def _apart(loop: ast.For, effects: Reader) -> list[ast.For]:
    """The loop as several, each from a place on where its halves could be joined."""
    assert isinstance(loop.target, ast.Name)
    for at in range(1, len(loop.body)):
        if isinstance(loop.body[at - 1], ast.For) == isinstance(loop.body[at], ast.For):
            continue
        new = f"{loop.target.id}_{at + 1}"
        first = ast.For(loop.target, loop.iter, loop.body[:at], [])
        rename = Renamed(loop.target.id, new)
        rest = [rename.visit(deepcopy(s)) for s in loop.body[at:]]
        second = ast.For(ast.Name(new, ast.Store()), loop.iter, rest, [])
        if joinable(first, second, effects(first), effects(second)):
            return [first, *_apart(second, effects)]
    return [loop]


def _turned(loop: ast.For) -> ast.For:
    """Two loops around one group, the other way round, if that may be."""
    match loop.body:
        case [ast.For(ast.Name(inner), iter, body) as other] if not any(isinstance(s, ast.For) for s in body):
            outer = loop.target
            assert isinstance(outer, ast.Name)
            stores = _stores(body)
            if stores and outer.id not in names_in(iter) and _keeps_order(body, stores, outer.id, inner) and not _carries(body):
                return ast.For(other.target, iter, [ast.For(outer, loop.iter, body, [])], [])
    return loop


def _stores(body: Block) -> set[str]:
    """The arrays that are written to."""
    nodes = (n for s in body for n in walk(s) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
    return {n.value.id for n in nodes if isinstance(n.value, ast.Name)}


def _keeps_order(body: Block, stores: set[str], outer: str, inner: str) -> bool:
    places: dict[str, set[str]] = {}
    for node in (n for s in body for n in walk(s)):
        match node:
            case ast.Subscript(ast.Name(array), index) if array in stores:
                names = [i.id for i in indices(node) if isinstance(i, ast.Name)]
                if inner not in names or any(isinstance(n, ast.Name) and n.id == outer for n in walk(index)):
                    return False
                places.setdefault(array, set()).add(ast.unparse(index))
    return all(len(found) == 1 for found in places.values())


def _carries(body: Block) -> bool:
    """Whether a turn may read what another has set."""
    return bool(reads_first(body, set_in(body)))
