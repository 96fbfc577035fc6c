"""
What a loop adds to, added to in place: the sum takes the memory of what it is a sum with.

    t = _empty(sizes of s, …)                      t = s
    for k in range(…): t[k] = s[k] + d[k]    →     for k in range(…): t[k] = t[k] + d[k]
    s = t                                          s = t

The sum is written as a copy to which is added. Where `backend.arrays.in_place` finds the copy superfluous, it stays so; else that
is undone. Each element of t is computed from the same element of s, so nothing is read that has been written over.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from backend.arrays.in_place import blocks, copied, updated
from backend.arrays.ownership import pairs
from backend.arrays.walking import walk


@dataclass(eq=False)
class Sum:
    """A nest of loops in which each element of `new` is computed from that of `old`, and the copy that stands before it."""

    nest: ast.For
    copy: ast.For
    new: str
    old: str


def accumulated(function: ast.FunctionDef, told: Callable[[str, int], str], through: int = 1) -> ast.FunctionDef:
    """The function with copies left out, and sums in place; what a name becomes is asked `through` so many other names."""
    sums = _with_copies(function, through)
    function = updated(function, told)
    left = {id(s) for block in blocks(function) for s in block}
    undone = {id(s.copy): s for s in sums if id(s.copy) in left}
    for block in blocks(function):
        block[:] = [s for s in block if id(s) not in undone]
    for found in undone.values():
        _read(found.nest, found.new, found.old)
    return function


def _with_copies(function: ast.FunctionDef, through: int) -> list[Sum]:
    """Every nest that computes what a name becomes from what it is: a copy is put before it, and it reads that."""
    assigned = [pair for n in walk(function) if isinstance(n, ast.Assign) for pair in pairs(n)]
    names = [(value.id, to.id) for to, value in assigned if isinstance(value, ast.Name) and isinstance(to, ast.Name)]
    becomes = _becomes(names, through)
    found: list[Sum] = []
    for block in blocks(function):
        made = {ast.unparse(s.targets[0]) for s in block if isinstance(s, ast.Assign) and _is_new(s.value)}
        for statement in [*block]:
            if not isinstance(statement, ast.For) or copied(statement) is not None:
                continue  # a copy is no sum
            if (pair := _pair(statement, made, becomes)) is not None:
                new, old = pair
                found.append(Sum(statement, _copy(statement, new, old), new, old))
                _read(statement, old, new)
                block.insert(block.index(statement), found[-1].copy)
    return found


def _becomes(given: list[tuple[str, str]], through: int) -> set[tuple[str, str]]:
    """Names with those that they are given to, and that those are given to, so many times."""
    after: dict[str, set[str]] = {}
    for old, new in given:
        after.setdefault(old, set()).add(new)
    found = {*given}
    for _ in range(through - 1):
        found |= {(old, newer) for old, new in found for newer in after.get(new, ())}
    return found


def _is_new(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "_empty"


def _pair(nest: ast.For, made: set[str], becomes: set[tuple[str, str]]) -> tuple[str, str] | None:
    """The new array that a nest writes, and the old one that it becomes, if the nest has no other elements of the two."""
    turns, inner = _turns(nest)
    at = ", ".join(turns)
    whole = f"({at})" if len(turns) > 1 else at
    nodes = [n for s in inner for n in walk(s)]
    stored = [
        n.value.id for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name)
    ]
    if len(stored) != 1 or stored[0] not in made:
        return None
    elements = [
        n.value.id
        for n in nodes
        if isinstance(n, ast.Subscript) and ast.unparse(n.slice) in (at, whole) and isinstance(n.value, ast.Name)
    ]
    mentions = [n.id for n in nodes if isinstance(n, ast.Name)]
    alike = [n for n in dict.fromkeys(elements) if elements.count(n) == mentions.count(n)]
    olds = [old for old in alike if (stored[0], old) in becomes]
    return (stored[0], olds[0]) if len(olds) == 1 and stored[0] in alike and elements.count(stored[0]) == 1 else None


def _turns(nest: ast.For) -> tuple[list[str], list[ast.stmt]]:
    """The numbers of the turns of loops that stand alone in each other, and what the innermost does."""
    turns = [ast.unparse(nest.target)]
    while len(nest.body) == 1 and isinstance(nest.body[0], ast.For):
        nest = nest.body[0]
        turns.append(ast.unparse(nest.target))
    return turns, nest.body


def _copy(nest: ast.For, new: str, old: str) -> ast.For:
    """The same loops, which copy the elements."""
    turns = [f"{turn}c" for turn in _turns(nest)[0]]
    sizes: list[ast.expr] = []
    inner: ast.stmt = nest
    for _ in turns:
        assert isinstance(inner, ast.For), "as many loops as turns"
        sizes.append(inner.iter)
        inner = inner.body[0]
    lines = [f"{' ' * k}for {turn} in {ast.unparse(size)}:" for k, (turn, size) in enumerate(zip(turns, sizes, strict=True))]
    at = ", ".join(turns)
    made = ast.parse("\n".join([*lines, f"{' ' * len(turns)}{new}[{at}] = {old}[{at}]"])).body[0]
    assert isinstance(made, ast.For)
    return made


def _read(nest: ast.For, old: str, new: str) -> None:
    """Elements that are read of one array, read of another."""
    for node in walk(nest):
        match node:
            case ast.Subscript(ast.Name(name) as array, _, ast.Load()) if name == old:
                array.id = new
