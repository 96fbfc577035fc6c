"""
Arrays that a cell keeps, written where they are kept.

                                                  if heap + n > reals.size: return FULL_ARRAYS
    t = _empty((n,), _f64)                        t = reals[heap:heap + n]
    …t[k] = …                              →      …t[k] = …
    cell[0], heap = heap, _keep(t, reals, heap)   cell[0] = heap
                                                  heap = heap + n

It is so for arrays of reals along one axis whose sizes the arguments tell, made in the block that keeps them, never given out, and
nowhere written once they are kept: by no name that may stand for more than one array. No path leaves the block with one that is not
kept, which the next would be written over. They lie behind what was kept before, in the
order in which they are made; the others follow.

What a turn got from the one before may have been kept by that one, which the address of its elements says when the code runs:

    cell[0], heap = heap, _keep(h, reals, heap)   at = _place(h, reals)
                                           →      if at < 0:
                                                      at = heap
                                                      heap = _keep(h, reals, heap)
                                                  cell[0] = at

Nothing writes to what is kept while a cell has it, and `heap` only grows, but for what no cell has (`backend.arrays.stacked`). So
two cells may have one array. Masks are kept so too.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

from backend.arrays.effects import NEW, PRODUCTS, arrays_in, assigned, roots
from backend.arrays.in_place import Block, blocks
from backend.arrays.popped import KEEPS
from backend.arrays.walking import names_in, walk
from backend.status import FULL_ARRAYS, OK


@dataclass
class Kept:
    """An array that a statement of a block makes; when another keeps it, that, and the place of the cell that says where."""

    made: ast.Assign
    size: ast.expr
    kept: ast.stmt | None = None
    cell: ast.expr | None = None


def kept_in_place(function: ast.FunctionDef) -> None:
    """The function with fewer copies of what it keeps."""
    times = assigned(function)
    arguments = {a.arg for a in function.args.args if not times[a.arg]}
    known = roots(function)
    written = Counter(name for statement in function.body for name in _written(statement))
    fresh = {name for name in written if times[name] == 1} & _fresh(function)
    left = {known.of(name) for name in (written.keys() - fresh) | {*_given_out(function)}}
    for block in blocks(function):
        made, first = _made(block, arguments, times), _first(block)
        if first is None or (full := _full(block)) is None:
            continue
        keeps = Counter(name for s in block if (name := _keeps(s)))
        before = Counter(name for s in block[:first] for name in _written(s))
        for statement in block[first:]:
            name = _keeps(statement)
            if name in made and keeps[name] == 1 and before[name] == written[name] and known.of(name) not in left:
                made[name].kept, made[name].cell = statement, statement.targets[0].elts[0]  # type: ignore[attr-defined]
        found = [k for k in made.values() if k.kept is not None]
        if found and not any(map(_leaves, block[min(block.index(k.made) for k in found) : first])):
            _place(block, found, first, full)


def kept_once(function: ast.FunctionDef) -> None:
    """The function, in which what a name stands for that is assigned in several places is kept where it lies, if it is kept."""
    times = assigned(function)
    number = 0
    for block in blocks(function):
        for at in reversed(range(len(block))):
            match _kept(block[at]):
                case (cell, keep, name, of) if times[name] > 1:
                    place, number = f"at_{number}", number + 1
                    lies = f"{place} = _place({name}, {of})\nif {place} < 0:\n"
                    found = f"{lies}    {place} = heap\n    heap = {keep}({name}, {of}, heap)"
                    block[at : at + 1] = [*ast.parse(found).body, ast.Assign([cell], ast.Name(place, ast.Load()))]


def _kept(statement: ast.stmt) -> tuple[ast.expr, str, str, str] | None:
    """Of a statement that keeps an array: the place of the cell that says where, what keeps it, its name, and the memory."""
    match statement:
        case ast.Assign(
            [ast.Tuple([cell, ast.Name("heap")])],
            ast.Tuple([_, ast.Call(ast.Name(keep), [ast.Name(name), ast.Name(memory), _])]),
        ) if keep in KEEPS:
            return cell, keep, name, memory
    return None


def _leaves(statement: ast.stmt) -> bool:
    """Whether a statement may go on elsewhere than after it, but to end the function."""
    match statement:
        case ast.Break() | ast.Continue():
            return True
        case ast.If(_, body, orelse):
            return any(map(_leaves, (*body, *orelse)))
        case _:
            return False


def _given_out(function: ast.FunctionDef) -> Iterator[str]:
    """The names that are returned, but for those beside a status."""
    for node in walk(function):
        match node:
            case ast.Return(ast.Tuple([*_, ast.Constant(status)])) if status != OK:
                pass
            case ast.Return(ast.expr() as value):
                yield from arrays_in(value)


def _fresh(function: ast.FunctionDef) -> set[str]:
    """The names that are given new arrays."""
    found = set()
    for node in walk(function):
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty" | "_full"))):
                found.add(name)
    return found


def _made(block: Block, arguments: set[str], times: Counter[str]) -> dict[str, Kept]:
    """The vectors of reals that a block makes anew, of sizes that the arguments tell, after anything else that changes `heap`."""
    made: dict[str, Kept] = {}
    for statement in block:
        match statement:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty"), [ast.Tuple([size]), ast.Name("_f64")])):
                if times[name] == 1 and names_in(size) <= arguments:
                    made[name] = Kept(statement, size)
            case _ if _keeps(statement):
                break
            case _ if any(isinstance(n, ast.Name) and n.id == "heap" and isinstance(n.ctx, ast.Store) for n in walk(statement)):
                made.clear()
    return made


def _keeps(statement: ast.stmt) -> str:
    """The array of reals that a statement keeps."""
    match _kept(statement):
        case (_, "_keep", name, "reals"):
            return name
    return ""


def _first(block: Block) -> int | None:
    return next((at for at, statement in enumerate(block) if _keeps(statement)), None)


def _full(block: Block) -> ast.If | None:
    """The test of the block whether what it keeps has a place."""
    for statement in block:
        match statement:
            case ast.If(_, [ast.Return(ast.Tuple([*_, ast.Constant(status)]))], []) if status == FULL_ARRAYS:
                return statement
    return None


def _written(statement: ast.stmt) -> Iterator[str]:
    """The names by which a statement may write to arrays."""
    for node in walk(statement):
        match node:
            case ast.Subscript(ast.Name(name), _, ast.Store()):
                yield name
            case ast.Call(ast.Name(called), arguments) if called not in NEW and called != "_reshape":
                for argument in arguments[-1:] if called in PRODUCTS else arguments:
                    yield from arrays_in(argument)


def _place(block: Block, found: list[Kept], first: int, full: ast.If) -> None:
    """The arrays made where they are kept, one behind the other."""
    before: Counter[str] = Counter()
    cells: Block = []
    for kept in found:
        begin = _sum("heap", before)
        before[ast.unparse(kept.size)] += 1
        kept.made.value = ast.parse(f"reals[{begin}:{_sum('heap', before)}]", mode="eval").body
        assert kept.cell is not None
        cells.append(ast.Assign([kept.cell], ast.parse(begin, mode="eval").body))
    cells += ast.parse(f"heap = {_sum('heap', before)}").body
    test = ast.parse(f"{_sum('heap', before)} > reals.size", mode="eval").body
    gone = {id(kept.kept) for kept in found}
    at = min(block.index(kept.made) for kept in found)
    block[at:] = [
        ast.If(test, deepcopy(full.body), []),
        *block[at:first],
        *cells,
        *(s for s in block[first:] if id(s) not in gone),
    ]


def _sum(begin: str, sizes: Counter[str]) -> str:
    """A number of words further on."""
    return " + ".join([begin, *(n if times == 1 else f"{times} * ({n})" for n, times in sizes.items())])
