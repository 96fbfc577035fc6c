"""
Parallel moves one after the other: `(x, y) = (y, x + z)` as `y_ = y`, `y = x + z`, `x = y_`.

A tuple costs Numba's compiler several statements for each element and a type of its own, and a loop that is left at several places
has many long ones. CPython and machine code do the same either way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator


def one_by_one(source: str) -> str:
    """
    The source with every assignment of a tuple of expressions to a tuple of names written as assignments to one name each, whether
    the names are in brackets or, as in text that passes have rewritten, not.
    """
    return "\n".join(line for given in source.split("\n") for line in _lines(given))


def _lines(line: str) -> Iterator[str]:
    if " = (" not in line or "," not in line.partition(" = (")[0]:
        yield line
        return
    match ast.parse(line.strip()).body:
        case [ast.Assign([ast.Tuple(targets)], ast.Tuple(values))] if len(targets) == len(values) and _are_names(targets):
            indent = line[: len(line) - len(line.lstrip())]
            yield from (indent + text for text in _sequence([ast.unparse(t) for t in targets], values))
        case _:
            yield line


def _are_names(targets: list[ast.expr]) -> bool:
    return all(isinstance(target, ast.Name) for target in targets)


def _sequence(targets: list[str], values: list[ast.expr]) -> Iterator[str]:
    """
    The same moves in an order in which nothing is overwritten that is still to be read; where there is none, in a cycle, one value
    is kept under another name first. Each name is looked at once for every place where it is read.
    """
    pending = {t: v for t, v in zip(targets, values, strict=True) if not (isinstance(v, ast.Name) and v.id == t)}
    reads = {t: {n.id for n in ast.walk(v) if isinstance(n, ast.Name)} - {t} for t, v in pending.items()}
    readers: dict[str, set[str]] = {t: set() for t in pending}
    for target, names in reads.items():
        for name in names & readers.keys():
            readers[name].add(target)
    free = [t for t in reversed(pending) if not readers[t]]
    kept: dict[str, str] = {}
    while pending:
        if not free:
            held = next(iter(pending))
            kept[held] = f"{held}_"
            yield f"{held}_ = {held}"
            readers[held].clear()
            free.append(held)
        target = free.pop()
        yield f"{target} = {ast.unparse(_Renamed(kept).visit(pending.pop(target)))}"
        for name in reads[target] & pending.keys():
            if target in readers[name]:
                readers[name].remove(target)
                if not readers[name]:
                    free.append(name)


class _Renamed(ast.NodeTransformer):
    """Names that have been overwritten, by those that keep their values."""

    def __init__(self, kept: dict[str, str]) -> None:
        self.kept = kept

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.kept.get(node.id, node.id), node.ctx)
