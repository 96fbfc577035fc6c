"""
What a loop adds to, added to in place: the sum takes the memory of what it is a sum with.

    t = _empty(sizes of s, …)                      t = s
    for k in range(…): t[k] = s[k] + d[k]    →     for k in range(…): t[k] = t[k] + d[k]
    s = t                                          s = t

The sum is written as a copy to which is added. Where `backend.arrays.in_place` finds the copy superfluous, it stays so; else that
is undone. Each element of t is computed from the same element of s, so nothing is read that has been written over. So are masks,
beside their numbers.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from backend.arrays.beforehand import PART, computed_beforehand, loops
from backend.arrays.earlier import read_earlier
from backend.arrays.handed import pairs
from backend.arrays.in_place import blocks, copied, updated
from backend.arrays.walking import walk


@dataclass(eq=False)
class Sum:
    """
    A nest of loops in which each element of a new array is computed from that of an old one, and the copy of that which stands
    before it. The copy says what the two are called: a name may become another while copies are left out.
    """

    nest: ast.For
    copy: ast.For


def accumulated(function: ast.FunctionDef, told: Callable[[str, int], str], through: int = 1) -> ast.FunctionDef:
    """The function with copies left out, and sums in place; what a name becomes is asked `through` so many other names."""
    computed_beforehand(function)
    sums = _with_copies(function, through)
    function = updated(function, told)
    left = {id(s) for block in blocks(function) for s in block}
    undone = {id(s.copy): s for s in sums if id(s.copy) in left}
    for block in blocks(function):
        block[:] = [s for s in block if id(s) not in undone]
    for found in undone.values():
        if (pair := copied(found.copy)) is not None:
            _read(found.nest, *pair)
    return function


def _with_copies(function: ast.FunctionDef, through: int) -> list[Sum]:
    """Every nest that computes what a name, or its copy, becomes from what it is: a copy is put before it, and it reads that."""
    assigned = [pair for n in walk(function) if isinstance(n, ast.Assign) for pair in pairs(n)]
    names = [(value.id, to.id) for to, value in assigned if isinstance(value, ast.Name) and isinstance(to, ast.Name)]
    copies = [pair for block in blocks(function) for s in block if (pair := copied(s))]
    names += [(old, new) for new, old in copies if not old.endswith(PART)]  # a part becomes a part, not the array
    becomes = _becomes(names, through)
    found: list[Sum] = []
    for block in blocks(function):
        made = {ast.unparse(s.targets[0]) for s in block if isinstance(s, ast.Assign) and _is_new(s.value)}
        nests = [(s, p) for s in block if isinstance(s, ast.For) and copied(s) is None and (p := _pairs(s, made, becomes))]
        for nest, sums in nests:
            read_earlier(block, nest, [old for _, old in sums])
        for nest, sums in nests:  # once all stand where they stay, so that nothing comes between a copy and its nest
            for new, old in sums:
                found.append(Sum(nest, _copy(nest, new, old)))
                _read(nest, old, new)
                block.insert(block.index(nest), found[-1].copy)
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


def _pairs(nest: ast.For, made: set[str], becomes: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """
    The new arrays that a nest writes, each with the old one that it becomes: of neither has the nest other elements, and of the old
    one it reads none after it has written the new one. Of two that it becomes, it is the first. Numbers and their mask are two.
    """
    turns, inner = _turns(nest)
    at = ", ".join(turns)
    whole = f"({at})" if len(turns) > 1 else at
    elements, mentions = Counter[str](), Counter[str]()
    stored: Counter[str] = Counter()
    last: dict[str, int] = {}  # the statement that mentions it last
    for number, statement in enumerate(inner):
        for node in walk(statement):
            match node:
                case ast.Subscript(ast.Name(name), index, context):
                    elements[name] += ast.unparse(index) in (at, whole)
                    stored[name] += isinstance(context, ast.Store)
                case ast.Name(name):
                    mentions[name] += 1
                    last[name] = number
    alike = [name for name in elements if elements[name] == mentions[name]]
    found: list[tuple[str, str]] = []
    for new in (name for name in alike if name in made and stored[name] == elements[name] == 1):
        before = last[new] + isinstance(inner[last[new]], ast.Assign)
        olds = [old for old in alike if (new, old) in becomes and not stored[old] and last[old] < before]
        if olds and olds[0] not in (old for _, old in found):
            found.append((new, olds[0]))
    return found


def _turns(nest: ast.For) -> tuple[list[str], list[ast.stmt]]:
    """The numbers of the turns of loops that stand alone in each other, and what the innermost does."""
    nests = loops(nest)
    return [ast.unparse(loop.target) for loop in nests], nests[-1].body


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
