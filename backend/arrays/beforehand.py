"""
What a part of an array becomes, computed from what the array was, before the array is copied.

    t = _empty(sizes of s, …)                         p = _empty((m,), _f64)
    for i in …: for j in …: t[i, j] = s[i, j]         for k in range(m): p[k] = s[a, k] + d[k]
    for k in range(m): t[a, k + 1] = s[a, k] + d[k]   t = _empty(sizes of s, …)
                                                 →    for i in …: for j in …: t[i, j] = s[i, j]
                                                      for k in range(m): t[a, k + 1] = p[k]

What else reads the old array goes before the copy, where it may (`backend.arrays.earlier`). Then nothing does after it, and
`backend.arrays.in_place` leaves it out: n updates of rows cost what the rows do, where n copies cost n times the array. The part
has memory of its own, so it does not matter which elements it is computed from, nor whether some are written twice. Where a part is
nearly all of the array, nothing is gained, and all stays.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from typing import cast

from backend.arrays.assumed import shift
from backend.arrays.earlier import read_earlier
from backend.arrays.effects import Roots, roots
from backend.arrays.hoisting import untested
from backend.arrays.in_place import Block, blocks, copied
from backend.arrays.paired import stored
from backend.arrays.walking import names_in, walk

PART = "part_"
"""How the names of parts end."""


def computed_beforehand(function: ast.FunctionDef) -> None:
    """The function with parts computed first."""
    known = roots(function)
    for block in blocks(function):
        for copy in [s for s in block if isinstance(s, ast.For) and copied(s)]:
            _before(block, copy, known)
        for copy in [s for s in block if isinstance(s, ast.For) and copied(s)]:
            read_earlier(block, copy, [copied(copy)[1]])  # type: ignore[index]


def _before(block: Block, copy: ast.For, known: Roots) -> None:
    """The same for one copy, which goes behind what stands between it and the loops that write the part."""
    new, old = copied(copy) or ("", "")
    at = block.index(copy)
    made = next((s for s in reversed(block[:at]) if new in names_in(s)), None)
    nest = next((s for s in block[at + 1 :] if new in names_in(s)), None)
    if made is None or not _makes(made, new) or not isinstance(nest, ast.For) or (store := _only_store(nest, new)) is None:
        return
    between = block[at + 1 : block.index(nest)]
    sizes, dtype = cast(ast.Call, cast(ast.Assign, made).value).args
    others = map(known.of, stored(between) | stored([nest]) - {new})
    if old not in names_in(nest) or known.of(old) in others or _is_most(nest, cast(ast.Tuple, sizes)):
        return
    part, first = f"{new}{PART}", deepcopy(nest)
    turns = [loop.target for loop in loops(nest)]
    place = ast.Tuple(turns, ast.Load()) if len(turns) > 1 else turns[0]
    _write_to(loops(first)[-1].body, new, part, place)
    _rename(first)
    _read_from(loops(nest)[-1].body, store, part, place)
    ends = [untested(deepcopy(cast(ast.Call, loop.iter).args[0])) for loop in loops(nest)]
    empty = ast.Call(ast.Name("_empty", ast.Load()), [ast.Tuple(ends, ast.Load()), dtype], [])
    block.remove(made)
    block.remove(copy)
    where = block.index(nest)
    block[where:where] = [ast.Assign([ast.Name(part, ast.Store())], empty), first, made, copy]


def _makes(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Assign([ast.Name(made)], ast.Call(ast.Name("_empty"), [ast.Tuple(), _])):
            return made == name
    return False


def loops(nest: ast.For) -> list[ast.For]:
    """The loops that stand alone in each other."""
    found = [nest]
    while len(found[-1].body) == 1 and isinstance(found[-1].body[0], ast.For):
        found.append(found[-1].body[0])
    return found


def _only_store(nest: ast.For, new: str) -> ast.Assign | None:
    """The assignment to an element that is all that the nest does with an array; it may write to others, too, and have tests."""
    found = None
    for statement in loops(nest)[-1].body:
        match statement:
            case ast.Assign([ast.Subscript(ast.Name(name))]) if name == new and found is None:
                found = statement
            case ast.Assign([ast.Name() | ast.Subscript(ast.Name())]) | ast.If(_, [ast.Return()], []):
                pass
            case _:
                return None
    times = sum(isinstance(n, ast.Name) and n.id == new for n in walk(nest))
    return found if times == 1 and all(_is_plain(loop) for loop in loops(nest)) else None


def _is_plain(loop: ast.For) -> bool:
    """Whether a loop counts turns from 0."""
    match loop:
        case ast.For(ast.Name(), ast.Call(ast.Name(), [_]), _, []):
            return True
    return False


def _is_most(nest: ast.For, sizes: ast.Tuple) -> bool:
    """Whether the loops go over all of an array of these sizes, but for so many lines at its edges."""
    over = [cast(ast.Call, loop.iter).args[0] for loop in loops(nest)]
    return [_base(size) for size in over] == [_base(size) for size in sizes.elts]


def _base(size: ast.expr) -> str:
    return shift(f"({ast.unparse(size)})")[0].removeprefix("(").removesuffix(")")


def _write_to(body: Block, new: str, part: str, place: ast.expr) -> None:
    """The values of an array go to the part."""
    for statement in body:
        match statement:
            case ast.Assign([ast.Subscript(ast.Name(name))]) if name == new:
                statement.targets = [ast.Subscript(ast.Name(part, ast.Load()), deepcopy(place), ast.Store())]


def _rename(nest: ast.For) -> None:
    """Its numbers have names of their own, which nothing else assigns."""
    own = {n.id for n in walk(nest) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in walk(nest):
        if isinstance(node, ast.Name) and node.id in own:
            node.id = f"{node.id}b"


def _read_from(body: Block, store: ast.Assign, part: str, place: ast.expr) -> None:
    """The values come from the part; numbers that only they needed, and other arrays, are left out."""
    store.value = ast.Subscript(ast.Name(part, ast.Load()), deepcopy(place), ast.Load())
    needed: set[str] = set()
    for statement in reversed([*body]):
        match statement:
            case ast.Assign([ast.Name(name)]) if name not in needed:
                body.remove(statement)
            case ast.Assign([ast.Subscript()]) if statement is not store:
                body.remove(statement)
            case _:
                needed |= names_in(statement)
