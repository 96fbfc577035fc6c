"""
A sensitivity that is told to be there or ZERO, element by element, and of which that is asked but once, where it is given out.

    v = _full((n, m), -0.0, _f64)                           r = _full((n, m), 0.0, _f64)
    t = _full((n, m), False, _bool)
    for k in range(m):                                      for k in range(m):
        v[2, k] = …                                             r[2, k] = …
        t[2, k] = True
    r = _empty((n, m), _f64)                         →
    for i in range(n):
        for k in range(m):
            if t[i, k]: x = float(v[i, k])
            else: x = 0.0
            r[i, k] = x

ZERO is given out as 0.0. So where each element is written together with what tells that it is there, and nothing reads the two but
the loop that gives them out, elements are written to the result, which begins as zeros; and of a matrix whose rows are written by
loops over all of them, the other rows alone are filled. What one array of parameters has been cut into so comes back as one.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from backend.arrays.in_place import blocks
from backend.arrays.walking import walk

Block = list[ast.stmt]
MOST = 64
"""Rows that are filled each by a loop of its own: more than so many, and the whole is filled."""


@dataclass(frozen=True)
class Given:
    """A result, the numbers and the mask that it is made of, the loop that does it, and the sizes of all of them."""

    result: str
    numbers: str
    mask: str
    loop: ast.For
    sizes: ast.Tuple


def unmasked(function: ast.FunctionDef) -> None:
    """The function, with elements written to results at once where they may be."""
    if not (found := [*_given(function.body)]):
        return
    made = {s.targets[0].id: s for s in function.body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}
    names = [n for n in walk(function) if isinstance(n, ast.Name)]
    mentions, sets = Counter(n.id for n in names), Counter(n.id for n in names if isinstance(n.ctx, ast.Store))
    pairs, changes = _pairs(function), Changes()
    for given in found:
        own = pairs.get((given.numbers, given.mask), [])
        fixed = all(sets[n.id] <= 1 for n in walk(given.sizes) if isinstance(n, ast.Name))
        alone = all(mentions[name] == len(own) + 2 for name in (given.numbers, given.mask))
        if fixed and alone and _are_made(given, made):
            _write(function, given, own, made, changes)
    for block in blocks(function):
        block[:] = changes.made(block)


def _given(block: Block) -> Iterator[Given]:
    """The loops that give out numbers where a mask is True, and 0.0 elsewhere."""
    for loop in block:
        indices, sizes, inner = [], [], [loop]
        while len(inner) == 1 and isinstance(inner[0], ast.For):
            match inner[0]:
                case ast.For(ast.Name(k), ast.Call(ast.Name("range"), [size])):
                    indices.append(k)
                    sizes.append(size)
            inner = inner[0].body
        at = ", ".join(indices)
        match inner:
            case [
                ast.If(
                    ast.Subscript(ast.Name(mask)),
                    [ast.Assign([ast.Name(x)], ast.Call(ast.Name("float"), [ast.Subscript(ast.Name(numbers))]))],
                    [ast.Assign([ast.Name(y)], ast.Constant(0.0))],
                ) as choice,
                ast.Assign([ast.Subscript(ast.Name(result))], ast.Name(z)),
            ] if x == y == z:
                text = f"if {mask}[{at}]:\n    {x} = float({numbers}[{at}])\nelse:\n    {x} = 0.0\n{result}[{at}] = {x}"
                if isinstance(loop, ast.For) and "\n".join(map(ast.unparse, (choice, inner[1]))) == _plain(text):
                    yield Given(result, numbers, mask, loop, ast.Tuple(sizes, ast.Load()))


def _plain(text: str) -> str:
    return ast.unparse(ast.parse(text))


Pair = tuple[Block, ast.Assign, ast.Assign]


def _pairs(function: ast.FunctionDef) -> dict[tuple[str, str], list[Pair]]:
    """Where an element of one array is written, and then True to the same one of another: by their names, block by block."""
    found: dict[tuple[str, str], list[Pair]] = {}
    for block in blocks(function):
        for a, b in pairwise(block):
            match a, b:
                case (
                    ast.Assign([ast.Subscript(ast.Name(numbers), i)]),
                    ast.Assign([ast.Subscript(ast.Name(mask), j)], ast.Constant(True)),
                ) if ast.dump(i) == ast.dump(j):
                    assert isinstance(a, ast.Assign)
                    assert isinstance(b, ast.Assign)
                    found.setdefault((numbers, mask), []).append((block, a, b))
    return found


def _are_made(given: Given, made: dict[str, ast.Assign]) -> bool:
    """Whether numbers and mask begin as ZEROs, and the result as an array of the same dtype, all of these sizes."""
    sizes = ast.unparse(given.sizes)
    texts = [ast.unparse(made[name].value) if name in made else "" for name in (given.numbers, given.mask, given.result)]
    return texts == [f"_full({sizes}, -0.0, _f64)", f"_full({sizes}, False, _bool)", f"_empty({sizes}, _f64)"]


@dataclass
class Changes:
    """What comes in the place of a statement: others, or none."""

    instead: dict[int, Block] = field(default_factory=dict)

    def made(self, block: Block) -> Block:
        return [t for s in block for t in self.instead.get(id(s), [s])]


def _write(function: ast.FunctionDef, given: Given, pairs: list[Pair], made: dict[str, ast.Assign], changes: Changes) -> None:
    """Elements go to the result, which is made where the numbers were, and gets the rest of it where it was made of them."""
    whole, sizes = _rows(function, given, pairs), ast.unparse(given.sizes)
    for _, a, b in pairs:
        assert isinstance(a.targets[0], ast.Subscript)
        a.targets[0].value = ast.Name(given.result, ast.Load())
        changes.instead[id(b)] = []
    begins = f"_full({sizes}, 0.0, _f64)" if whole is None else f"_empty({sizes}, _f64)"
    changes.instead[id(made[given.numbers])] = ast.parse(f"{given.result} = {begins}").body
    changes.instead[id(made[given.mask])] = changes.instead[id(made[given.result])] = []
    changes.instead[id(given.loop)] = [] if whole is None else ast.parse("\n".join(_filled(given, whole))).body


def _rows(function: ast.FunctionDef, given: Given, pairs: list[Pair]) -> set[int] | None:
    """The rows that loops write from end to end; None where there are not two sizes, rows are written otherwise, or are far off."""
    if len(given.sizes.elts) != 2:
        return None
    around = {id(s.body): s for s in function.body if isinstance(s, ast.For) and not _leaves(s)}
    columns, rows = ast.dump(given.sizes.elts[1]), set()
    for block, a, _ in pairs:
        match around.get(id(block)), a.targets[0]:
            case (
                ast.For(ast.Name(k), ast.Call(ast.Name("range"), [stop])),
                ast.Subscript(_, ast.Tuple([ast.Constant(int() as row), ast.Name(index)])),
            ) if k == index and ast.dump(stop) == columns and row >= 0:
                rows.add(row)
            case _:
                return None
    return rows if rows and max(rows) + 1 - len(rows) <= MOST else None


def _leaves(loop: ast.For) -> bool:
    return any(isinstance(n, ast.Break | ast.Continue) for n in walk(loop))


def _filled(given: Given, rows: set[int]) -> Iterator[str]:
    """Loops that fill the rows that are not these."""
    first, second = map(ast.unparse, given.sizes.elts)
    r, past = given.result, max(rows) + 1
    for row in sorted({*range(past)} - rows):
        yield f"for {r}j{row} in range({second}):\n    {r}[{row}, {r}j{row}] = 0.0"
    yield f"for {r}i in range({first} - {past}):\n    for {r}j in range({second}):\n        {r}[{r}i + {past}, {r}j] = 0.0"
