"""
Integers in cells of stacks that are the number of the turn, or differ from it by a constant: told from the place of the cell.

    p, q, i = (s - 1, s, 0)                        …
    while True:                                    …
        j = i + 1                                  …
        if j < -n or j >= n: return SIZES          …
        integers[_cell(7, s, '0')] = j             …
        s = s + 1                                  …
        p, q, i = (s - 1, q, i + 1)                …
    …                                              …
        if c < b: return …                         if c < b: return …
        k = int(integers[_cell(7, c, '0')])   →    k = c - b + 1
        if k < -n or k >= n: return SIZES          d[k]
        d[k + n if k < 0 else k]

A stack begins at the counter of its cells, and every turn of the loop that pushes puts one on top, so a cell lies as far above the
base as turns had been before it. What the turn that pushed has tested of the integer and of sizes of arguments holds when it is
read; and where the constant is not negative, neither is the integer. So a compiler sees that indices differ, and by how much.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from backend.arrays.handed import pairs
from backend.arrays.in_place import blocks
from backend.arrays.walking import names_in, walk
from backend.status import LINKED

Block = list[ast.stmt]


@dataclass(frozen=True)
class Pushed:
    """An integer in the cells of a site: what it is above the number of the cell over the base, and the tests that it passed."""

    above: int
    passed: frozenset[str]


@dataclass
class _Names:
    """The names that are assigned once, with what they are assigned, and the counts of all."""

    values: dict[str, ast.expr]
    times: Counter[str]
    fixed: frozenset[str]

    def offset(self, name: str, counter: str) -> int | None:
        """By how much a name is above a counter."""
        total = 0
        while name != counter:
            match self.values.get(name):
                case ast.BinOp(ast.Name(other), ast.Add(), ast.Constant(int(n))) | ast.BinOp(
                    ast.Constant(int(n)), ast.Add(), ast.Name(other)
                ):
                    name, total = other, total + n
                case ast.BinOp(ast.Name(other), ast.Sub(), ast.Constant(int(n))):
                    name, total = other, total - n
                case _:
                    return None
        return total


def counted(function: ast.FunctionDef, shared: set[str]) -> None:
    """The function, which reads no integers that count turns from cells; those of the sites in `shared` are others' too."""
    names = _names(function)
    known = {key: found for key, found in _pushed(function, names).items() if key[0] not in shared}
    if not known:
        return
    read: dict[str, Pushed] = {}
    for block in blocks(function):
        bases: dict[str, str] = {}
        for at, statement in enumerate(block):
            match statement:
                case ast.If(ast.Compare(ast.Name(cell), [ast.Lt()], [ast.Name(base)]), [ast.Return()], []):
                    bases[cell] = base
                case ast.Assign(
                    [ast.Name(name)],
                    ast.Call(ast.Name("int"), [ast.Subscript(_, ast.Call(ast.Name("_cell"), [site, ast.Name(cell), place]))]),
                ) if (found := known.get((ast.unparse(site), _text(place)))) is not None and cell in bases:
                    statement.value = ast.parse(f"{cell} - {bases[cell]} + {found.above}", mode="eval").body
                    if names.times[name] == 1:
                        read[name] = found
                case _:
                    for name in _stored(block[at : at + 1]):
                        bases = {c: b for c, b in bases.items() if name not in (c, b)}
    _Told(read).visit(function)


def _text(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _stored(block: Block) -> Iterator[str]:
    return (n.id for s in block for n in walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _names(function: ast.FunctionDef) -> _Names:
    times = Counter(_stored(function.body))
    given = (pair for n in walk(function) if isinstance(n, ast.Assign) for pair in pairs(n))
    values = {to.id: value for to, value in given if isinstance(to, ast.Name) and times[to.id] == 1}
    return _Names(values, times, frozenset(a.arg for a in function.args.args if not times[a.arg]))


def _pushed(function: ast.FunctionDef, names: _Names) -> dict[tuple[str, str], Pushed]:
    """For each site and place that counts, what it holds."""
    found: dict[tuple[str, str], Pushed] = {}
    written = Counter(site for n in walk(function) if (site := _written(n)) is not None)
    for block in blocks(function):
        for before, loop in pairwise(block):
            match before, loop:
                case ast.Assign([ast.Tuple()], ast.Tuple()), ast.While(
                    _, [*_, ast.If(_, body)] | [*_, ast.If(_, body), ast.Break()]
                ):
                    for site, count in Counter(filter(None, map(_written, body))).items():
                        if count == written[site] and (start := _start(before, loop, body, site, names)) is not None:
                            found |= _places(body, site, *start, names)
    return found


def _written(node: ast.AST) -> str | None:
    """The site of the cell to which a statement writes, or to which it writes where an array begins."""
    match node:
        case ast.Assign([ast.Subscript(_, ast.Call(ast.Name("_cell"), [ast.Constant(site), *_]))]):
            return str(site)
        case ast.Assign([ast.Tuple([ast.Subscript(_, ast.Call(ast.Name("_cell"), [ast.Constant(site), *_])), _])]):
            return str(site)
        case _:
            return None


def _start(before: ast.Assign, loop: ast.While, body: Block, site: str, names: _Names) -> tuple[str, int] | None:
    """The counter of a loop that puts one cell on top in each turn, and what it begins with."""
    top, first = f"s{site}", {ast.unparse(to): value for to, value in pairs(before)}
    inside = Counter(_stored(loop.body))
    if names.times[top] != 2 or inside[top] != 1 or f"{top} = {top} + 1" not in map(ast.unparse, body):
        return None
    demands = {ast.unparse(s.test) for s in body if isinstance(s, ast.If) and _status(s) == LINKED}
    for last in body:
        match last:
            case ast.Assign([ast.Tuple()], ast.Tuple()):
                after = {ast.unparse(to): value for to, value in pairs(last)}
                if any(_is(first.get(q), top) for q in after):
                    stacked = [p for p in after if _is(first.get(p), f"{top} - 1")]
                    bases = [q for q in after if _is(first.get(q), top) and inside[q] == 1 and _follows(after[q], q, body)]
                    if len(stacked) == len(bases) == 1 and any(d.endswith(f" != {top} - 1") for d in demands):
                        return _counter(first, after, inside, names)
    return None


def _is(node: ast.expr | None, text: str) -> bool:
    return node is not None and ast.unparse(node) == text


def _status(guard: ast.If) -> int | None:
    match guard.body:
        case [ast.Return(ast.Tuple([*_, ast.Constant(int(status))]))]:
            return status
        case _:
            return None


def _follows(value: ast.expr, name: str, body: Block) -> bool:
    """Whether a value is what a name was when the turn began."""
    given = {ast.unparse(to): ast.unparse(v) for s in body if isinstance(s, ast.Assign) for to, v in pairs(s)}
    return ast.unparse(value) == name or given.get(ast.unparse(value)) == name


def _counter(first: dict[str, ast.expr], after: dict[str, ast.expr], inside: Counter[str], names: _Names) -> tuple[str, int] | None:
    """The number that each turn makes one more."""
    for name, value in after.items():
        match first.get(name), value:
            case ast.Constant(int(begin)), ast.Name(new) if inside[name] == 1 and names.offset(new, name) == 1:
                return name, begin
    return None


def _places(body: Block, site: str, counter: str, begin: int, names: _Names) -> dict[tuple[str, str], Pushed]:
    """The places of a cell that hold the counter, or what is above it."""
    found: dict[tuple[str, str], Pushed] = {}
    passed: set[str] = set()
    for statement in body:
        match statement:
            case ast.If(test, [ast.Return()], []) if not any(isinstance(n, ast.Call) for n in walk(test)):
                passed.add(ast.unparse(test))
            case ast.Assign([ast.Subscript(_, ast.Call(ast.Name("_cell"), [ast.Constant(of), _, place]))], ast.Name(name)):
                if str(of) == site and (offset := names.offset(name, counter)) is not None:
                    told = frozenset(t for p in passed if (t := _of_sizes(p, name, names)))
                    found[site, _text(place)] = Pushed(begin + offset, told)
    return found


def _of_sizes(test: str, name: str, names: _Names) -> str:
    """A test of a name and sizes of arguments, in terms of `_`; "" for another."""
    mentioned = names_in(ast.parse(test))
    return _of(test, name) if name in mentioned and mentioned - {name} <= names.fixed else ""


def _of(test: str, name: str) -> str:
    node = ast.parse(test, mode="eval")
    for n in walk(node):
        if isinstance(n, ast.Name) and n.id == name:
            n.id = "_"
    return ast.unparse(node)


class _Told(ast.NodeTransformer):
    """Tests that are known to pass left out, and integers that are known not to be negative."""

    def __init__(self, read: dict[str, Pushed]) -> None:
        self.read = read

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        match node:
            case ast.If(test, [ast.Return()], []):
                for name in names_in(test) & self.read.keys():
                    if _of(ast.unparse(test), name) in self.read[name].passed:
                        return ast.Pass()
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        match node.test:
            case ast.Compare(ast.Name(name), [ast.Lt()], [ast.Constant(0)]) if name in self.read and self.read[name].above >= 0:
                return node.orelse
            case _:
                return node
