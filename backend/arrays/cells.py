"""
What cells of stacks need not keep: what another place of the same cell keeps, and elements of arguments, in their order, from the
first or a later one, which are there anyway.

    for k in range(n): t[k] = w[3, k]             for k in range(n): t[k] = w[3, k]
    cell[0] = t; cell[1] = t                      cell[0] = t; cell[1] = t
    …                                      →      …
    … cell[0][i] … cell[1][i] …                   … w[3, i] … w[3, i] …

Only reading is changed. What nothing reads then is not written either (`backend.stacks.layout.laid_out`).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection
from copy import deepcopy
from typing import Any

from backend.arrays.contraction import indices
from backend.arrays.effects import KEEPING, assigned
from backend.arrays.in_place import blocks
from backend.arrays.walking import walk

Push = dict[str, ast.expr]  # what the places of a cell are given


def lean(function: ast.FunctionDef, arguments: frozenset[str], shared: set[str]) -> None:
    """The function, which reads as few places of cells as may be; those of the sites in `shared` are others' too."""
    sources = _sources(function, arguments)
    one: dict[tuple[str, str], str] = {}
    read: dict[tuple[str, str], ast.Subscript] = {}
    for site, pushes in _pushes(function).items():
        if site in shared or not pushes:
            continue
        first: dict[tuple[str, ...], str] = {}
        for place in pushes[0]:
            if all(place in push for push in pushes):
                given = tuple(ast.unparse(push[place]) for push in pushes)
                one[site, place] = first.setdefault(given, place)
                found = [sources.get(name) for name in given]
                if found[0] is not None and all(s is not None and ast.dump(s) == ast.dump(found[0]) for s in found):
                    read[site, place] = found[0]
    for node in walk(function):
        match node:
            case ast.Subscript(_, ast.Call(ast.Name("_cell"), [ast.Constant(site), _, ast.Constant() as number]), ast.Load()):  # type: ignore[misc]
                place: Any = number.value  # type: ignore[no-redef]
                number.value = one.get((str(site), place), place)
    _Read(_views(function, read)).visit(function)


def _pushes(function: ast.FunctionDef) -> dict[str, list[Push]]:
    """For each site, what every push writes, one statement after the other; nothing for a site of which that is not so."""
    found: dict[str, list[Push]] = {}
    mixed: set[str] = set()
    for block in blocks(function):
        last: dict[str, int] = {}
        for at, statement in enumerate(block):
            if (stored := _stored(statement)) is None:
                continue
            site, place, value = stored
            if last.get(site) != at - 1:
                mixed |= {site} & last.keys()
                found.setdefault(site, []).append({})
            if place in found[site][-1]:
                mixed.add(site)
            found[site][-1][place] = value
            last[site] = at
    return {site: pushes for site, pushes in found.items() if site not in mixed}


def _stored(statement: ast.stmt) -> tuple[str, Any, ast.expr] | None:
    """The site, the place and the value, if a statement writes a place of a cell: of an array, its name."""
    match statement:
        case ast.Assign([ast.Subscript(_, ast.Call(ast.Name("_cell"), [ast.Constant(site), _, ast.Constant(place)]))], value):
            return str(site), place, value
        case ast.Assign(
            [ast.Tuple([ast.Subscript(_, ast.Call(ast.Name("_cell"), [ast.Constant(site), _, ast.Constant(place)])), _])],
            ast.Tuple([_, ast.Call(ast.Name(helper), [ast.Name() as array, *_])]),
        ) if helper in KEEPING:
            return str(site), place, array
        case _:
            return None


def _sources(function: ast.FunctionDef, arguments: frozenset[str]) -> dict[str, ast.Subscript]:
    """For each array whose elements are those of an argument, which: its own indices are called 0, 1, …"""
    written = Counter(
        n.value.id
        for n in walk(function)
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and isinstance(n.ctx, ast.Store)
    )
    times = assigned(function)
    found: dict[str, ast.Subscript] = {}
    for block in blocks(function):
        for statement in block:
            nest, turns = _nest(statement)
            match nest:
                case ast.Assign(
                    [ast.Subscript(ast.Name(name)) as to],
                    ast.Call(ast.Name("float"), [ast.Subscript(ast.Name(argument)) as element]),
                ) if argument in arguments and times[name] == written[name] == 1:
                    at = {ast.unparse(index): k for k, index in enumerate(indices(to))}
                    if [*at] == turns and all(_is_told(i, at) for i in indices(element)):
                        found[name] = _Numbered({turn: f"_{k}" for turn, k in at.items()}).visit(deepcopy(element))
    return found


def _is_told(index: ast.expr, turns: Collection[str]) -> bool:
    """Whether an index is a number, the number of a turn, or so much more than that."""
    match index:
        case ast.BinOp(ast.Constant(), ast.Add(), ast.Name(turn)):
            return turn in turns
        case _:
            return isinstance(index, ast.Constant) or ast.unparse(index) in turns


def _nest(statement: ast.stmt) -> tuple[ast.stmt, list[str]]:
    """What a nest of loops does, and the numbers of its turns."""
    turns: list[str] = []
    while isinstance(statement, ast.For) and len(statement.body) == 1:
        turns.append(ast.unparse(statement.target))
        statement = statement.body[0]
    return statement, turns


def _views(function: ast.FunctionDef, read: dict[tuple[str, str], ast.Subscript]) -> dict[str, ast.Subscript]:
    """The views of places of which nothing but elements is read, with those elements."""
    found: dict[str, ast.Subscript] = {}
    mentions: Counter[str] = Counter()
    elements: Counter[str] = Counter()
    for node in walk(function):
        match node:
            case ast.Assign([ast.Name(name)], value):
                for part in walk(value):
                    match part:
                        case ast.Call(ast.Name("_cell"), [ast.Constant(site), _, ast.Constant(place)]) if (
                            str(site),
                            place,
                        ) in read:
                            found[name] = read[str(site), place]  # type: ignore[index]
            case ast.Name(name):
                mentions[name] += 1
            case ast.Subscript(ast.Name(name), _, ast.Load()):
                elements[name] += 1
    return {name: element for name, element in found.items() if mentions[name] == elements[name] + 1}


class _Numbered(ast.NodeTransformer):
    """Names put in the place of names."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


class _Read(ast.NodeTransformer):
    """Elements of views as those of arguments."""

    def __init__(self, views: dict[str, ast.Subscript]) -> None:
        self.views = views

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and (found := self.views.get(node.value.id)) is not None:
            given = {f"_{k}": ast.unparse(index) for k, index in enumerate(indices(node))}
            return ast.parse(ast.unparse(_Numbered(given).visit(deepcopy(found))), mode="eval").body
        return node
