"""
Memory of arrays that nothing reads again, given to the next array of the same sizes.

    a = _empty((n,), _f64)          a = _empty((n,), _f64)
    …a…                             …a…
    b = _empty((n,), _f64)     →    b = a
    …b…                             …b…

Both are made in the same block, and nothing after `b` is made mentions `a`, by whatever name: a view is a mention. Or what does is
one loop nest, in which every turn reads its own element of `a` before it writes the same of `b`. What the caller has is not made
here, and what is given out is mentioned where it is, so neither is ever given away.

An array that the function itself makes, not a turn of a loop, also gives its memory to one that is made in a branch after it.
"""

from __future__ import annotations

import ast
from collections import Counter

from backend.arrays.contraction import in_order
from backend.arrays.effects import Roots, assigned, roots
from backend.arrays.hoisting import filled
from backend.arrays.in_place import blocks
from backend.arrays.walking import names_in, walk

Block = list[ast.stmt]
TRIED = 20  # arrays whose memory is asked for, and statements that are looked ahead


def reused(function: ast.FunctionDef) -> None:
    """The function with fewer arrays made."""
    known = roots(function)
    stores = assigned(function)
    everywhere = _mentions(function, known)
    for block in blocks(function):
        if any(_made(s) for s in block):
            _in_block(block, known, stores, everywhere)
    kinds = {_kind(made[1]) for s in function.body if (made := _made(s)) is not None}
    inner = (made for s in function.body if isinstance(s, ast.If) for n in walk(s) if (made := _made(n)) is not None)
    if kinds and any(_kind(call) in kinds for _, call in inner):
        _into_branches(function.body, roots(function), stores)


def _in_block(block: Block, known: Roots, stores: Counter[str], everywhere: Counter[str]) -> None:
    """The same, in one block."""
    mentions = [_mentions(s, known) for s in block]
    last = {root: at for at, counted in enumerate(mentions) for root in counted}
    inside: Counter[str] = Counter()
    for counted in mentions:
        inside.update(counted)
    free: dict[str, list[str]] = {}
    for at, statement in enumerate(block):
        if (made := _made(statement)) is None or stores[made[0]] > 1:
            continue
        name, call = made
        given = free.setdefault(_kind(call), [])
        if inside[known.of(name)] != everywhere[known.of(name)]:
            continue
        if len(call.args) == 2:
            other = next((o for o in given[-TRIED:] if _is_free(block, mentions, at, name, o, last[known.of(o)], known)), None)
            if other is not None:
                given.remove(other)
                assert isinstance(statement, ast.Assign)
                statement.value = ast.Name(other, ast.Load())
        given.append(name)


def _into_branches(block: Block, known: Roots, stores: Counter[str]) -> None:
    """The same, from the block of the function itself to those of its branches, each of which is gone through once at most."""
    mentions = [_mentions(s, known) for s in block]
    last = {root: at for at, counted in enumerate(mentions) for root in counted}
    free: dict[str, list[str]] = {}
    for at, statement in enumerate(block):
        if (made := _made(statement)) is not None and stores[made[0]] == 1:
            free.setdefault(_kind(made[1]), []).append(made[0])
        elif isinstance(statement, ast.If):
            dead = {kind: [name for name in names if last[known.of(name)] < at] for kind, names in free.items()}
            for branch in (statement.body, statement.orelse):
                _from_above(branch, dead, stores)
            taken = _taken(statement)
            free = {kind: [name for name in names if name not in taken] for kind, names in free.items()}


def _from_above(block: Block, dead: dict[str, list[str]], stores: Counter[str]) -> None:
    """Each array that a branch makes has the memory of one that is dead, while there is one of its sizes."""
    for statement in [*block]:
        if isinstance(statement, ast.If):
            for branch in (statement.body, statement.orelse):
                _from_above(branch, dead, stores)
        elif (made := _made(statement)) is not None and stores[made[0]] == 1 and dead.get(_kind(made[1])):
            name, call = made
            shape = call.args[0]
            if isinstance(shape, ast.Tuple) and all(stores[n] <= 1 for n in names_in(shape)):
                assert isinstance(statement, ast.Assign)
                statement.value = ast.Name(dead[_kind(call)].pop(), ast.Load())
                after = block.index(statement) + 1
                block[after:after] = filled(name, shape.elts, call.args[1]) if len(call.args) > 2 else []


def _taken(statement: ast.stmt) -> set[str]:
    """The names that are given to others."""
    return {n.value.id for n in walk(statement) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Name)}


def _kind(call: ast.Call) -> str:
    """The sizes and the dtype of an array that is made."""
    return ast.dump(call.args[0]) + ast.dump(call.args[-1])


def _is_free(block: Block, mentions: list[Counter[str]], at: int, new: str, old: str, last: int, known: Roots) -> bool:
    """Whether the new array, made at a place of the block, may have the memory of the old one, last mentioned at another."""
    if last < at:
        return True
    mine, its = known.of(new), known.of(old)
    if last > at + TRIED or any(mine in m or its in m for m in mentions[at + 1 : last]):
        return False
    return _in_step(block[last], new, old, known)


def _in_step(nest: ast.stmt, new: str, old: str, known: Roots) -> bool:
    """Whether every turn of a nest reads its element of the old array before it writes that of the new one."""
    path: set[tuple[int, ...]] = set()
    places: set[str] = set()
    order: list[str] = []
    for node, around in in_order([nest], ()):
        match node:
            case ast.Subscript(ast.Name(name), index) if name in (new, old):
                path.add(tuple(map(id, around)))
                places.add(ast.unparse(index))
                order.append(name)
                loops = around
            case ast.Name(name) | ast.Subscript(ast.Name(name)) if known.of(name) in (known.of(new), known.of(old)):
                return False  # by another name
    if len(path) != 1 or len(places) != 1 or not all(isinstance(s, ast.For) for s in loops):
        return False
    turns = sorted(ast.unparse(s.target) for s in loops if isinstance(s, ast.For))
    return order == sorted(order, key=lambda name: name == new) and turns == sorted(places.pop().strip("()").split(", "))


def _made(statement: ast.AST) -> tuple[str, ast.Call] | None:
    """The name of an array that a statement makes, and how."""
    match statement:
        case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty" | "_full")) as call):
            return name, call
        case _:
            return None


def _mentions(node: ast.AST, known: Roots) -> Counter[str]:
    """How often each root is mentioned, by whatever name."""
    return Counter(known.of(n.id) for n in walk(node) if isinstance(n, ast.Name))
