"""
Of an array that is filled, and then written but for its edges, the edges alone are filled.

    for k in range(n): a[k] = -0.0                    if n > 0: a[0] = -0.0
    for k in range(n - 1): a[1 + k] = x[k] * y   →    for k in range(n - 1): a[1 + k] = x[k] * y

So it is with the sensitivity of x in `x[1:]`. Nothing mentions the array between the two loops, by any name that it may have, and
the second, of which no turn ends early, writes each of its elements before it reads any, by a name that it has for certain. An
array that is made full is made empty, and edges are filled; one that is written all over is not filled.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from backend.arrays.effects import Roots, assigned, roots
from backend.arrays.in_place import blocks
from backend.arrays.walking import walk

Block = list[ast.stmt]
LOOPS = ("range", "_apart")


@dataclass(frozen=True)
class Fill:
    """An array of one axis, its size, and what it is filled with."""

    array: str
    size: ast.expr
    element: ast.expr


@dataclass(frozen=True)
class Aliases:
    """
    roots    of the names that an array may have
    given    for a name that is given once, the name that it is given, if that is given once too: of one array for certain
    """

    roots: Roots
    given: dict[str, str]

    def may_be(self, name: str, other: str) -> bool:
        return self.roots.of(name) == self.roots.of(other)

    def is_certain(self, name: str, other: str) -> bool:
        return self.first(name) == self.first(other)

    def first(self, name: str) -> str:
        while name in self.given:
            name = self.given[name]
        return name


def once_given(function: ast.FunctionDef) -> dict[str, str]:
    """Each name that is given another, both once in the whole function: they are of the same array wherever both are there."""
    times, found = assigned(function), dict[str, str]()
    for node in walk(function):
        match node:
            case ast.Assign([ast.Name(name)], ast.Name(other)) if times[name] == 1 >= times[other]:
                found[name] = other
    return found


def edged(function: ast.FunctionDef) -> None:
    """The function in which only edges are filled where nothing else needs to be."""
    known = Aliases(roots(function), once_given(function))
    for block in blocks(function):
        made: Block = []
        for statement in [*block]:
            if (fill := _fill(statement)) is not None and (edges := _edges(fill, block, block.index(statement), known)) is not None:
                at, filled = block.index(statement), _filled(fill, *edges)
                block[at : at + 1] = [*_made_empty(statement), *filled]
                made += filled
        block[:] = _joined(block, {id(s) for s in made})


def _joined(block: Block, made: set[int]) -> Block:
    """The block with one test in place of two that are alike, of those that were made, one after the other."""
    found: Block = []
    for statement in block:
        match found[-1:], statement:
            case [ast.If(test, body) as before], ast.If(other, more) if {id(before), id(statement)} <= made and ast.dump(
                test
            ) == ast.dump(other):
                body += more
            case _:
                found.append(statement)
    return found


def _fill(statement: ast.stmt) -> Fill | None:
    """What a statement fills, if that is all that it does, or makes full."""
    match statement:
        case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_full"), [ast.Tuple([size]), element, _])):
            return Fill(name, size, element)
        case ast.For(
            ast.Name(k),
            ast.Call(ast.Name(by), [size]),
            [ast.Assign([ast.Subscript(ast.Name(name), ast.Name(at))], ast.expr() as element)],
        ) if by in LOOPS and at == k and _is_constant(element):
            return Fill(name, size, element)
        case _:
            return None


def _is_constant(element: ast.expr) -> bool:
    return all(isinstance(n, ast.Constant | ast.UnaryOp) for n in walk(element))


def _edges(fill: Fill, block: Block, at: int, known: Aliases) -> tuple[int, int] | None:
    """How many elements at either end the next statement that may mention the array leaves as they are; None if it reads others."""
    for statement in block[at + 1 :]:
        if any(isinstance(n, ast.Name) and known.may_be(n.id, fill.array) for n in walk(statement)):
            return _left_out(statement, fill, known)
    return None


def _left_out(loop: ast.stmt, fill: Fill, known: Aliases) -> tuple[int, int] | None:
    """How many elements a loop leaves out before and after those that it writes, each before it reads it."""
    match loop:
        case ast.For(ast.Name(k), ast.Call(ast.Name(by), [size]), body) if by in LOOPS:
            less = _less(size, fill.size)
        case _:
            return None
    if less is None or any(isinstance(n, ast.Break | ast.Continue | ast.Return) for n in walk(loop)):
        return None
    accesses = [n for s in body for n in walk(s) if isinstance(n, ast.Subscript) and _names(n, fill.array, known)]
    mentions = [n for s in body for n in walk(s) if isinstance(n, ast.Name) and known.may_be(n.id, fill.array)]
    if not accesses or len(accesses) != len(mentions) or len({ast.dump(a.slice) for a in accesses}) > 1:
        return None
    first = next(s for s in body if any(n is a for n in walk(s) for a in accesses))
    match first:
        case ast.Assign([ast.Subscript(ast.Name(), index)], value) if not any(n is a for n in walk(value) for a in accesses):
            begin = _offset(index, k)
            return (begin, less - begin) if begin is not None and begin <= less else None
        case _:
            return None


def _names(node: ast.Subscript, array: str, known: Aliases) -> bool:
    return isinstance(node.value, ast.Name) and known.is_certain(node.value.id, array)


def _less(size: ast.expr, of: ast.expr) -> int | None:
    """By how many elements one size is less than another."""
    match size:
        case _ if ast.dump(size) == ast.dump(of):
            return 0
        case ast.BinOp(whole, ast.Sub(), ast.Constant(int() as less)) if ast.dump(whole) == ast.dump(of) and less > 0:
            return less
        case _:
            return None


def _offset(index: ast.expr, turn: str) -> int | None:
    """How far behind the number of the turn an index is."""
    match index:
        case ast.Name(name) if name == turn:
            return 0
        case ast.BinOp(ast.Constant(int() as begin), ast.Add(), ast.Name(name)) if name == turn and begin > 0:
            return begin
        case _:
            return None


def _made_empty(statement: ast.stmt) -> Block:
    """The array as it is made, where the statement makes it."""
    match statement:
        case ast.Assign(targets, ast.Call(_, [shape, _, dtype])):
            return [ast.Assign(targets, ast.Call(ast.Name("_empty", ast.Load()), [shape, dtype], []))]
        case _:
            return []


def _filled(fill: Fill, before: int, after: int) -> Block:
    """The assignments to the edges, each if there is such an element."""
    size, element = ast.unparse(fill.size), ast.unparse(fill.element)
    places = [(k, str(k)) for k in range(before)] + [(k, f"{size} - {k + 1}") for k in range(after)]
    return ast.parse("\n".join(f"if {size} > {k}:\n    {fill.array}[{at}] = {element}" for k, at in places)).body
