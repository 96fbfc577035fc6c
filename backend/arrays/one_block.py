"""
Results of the same sizes as the rows of one block of memory.

    a = _empty((n,), _f64)                  block_ = _empty((4, n), _f64)
    b = _empty((n,), _f64)                  a = _row_of(block_, 0)
    c = _empty((n,), _f64)                  b = _row_of(block_, 1)
    d = _empty((n,), _f64)                  c = _row_of(block_, 2)
    …                                       d = _row_of(block_, 3)
    return (a, b, x, c, d, fuel, 0)         …
                                       →    return (x, block_, fuel, 0)

To make an array, and then the object that CPython has for it, takes a third of a microsecond, which is more than a gradient of ten
elements takes to compute; that a block has rows, NumPy knows. Rows overlap nothing, as new arrays do; who keeps one of them keeps
the memory of all.

A row may stand for an array that is made once, outside loops, and of which all that is mentioned but the result are elements and
sizes: then nothing else holds its memory when the function is left.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from backend.arrays.walking import walk
from backend.status import OK

BLOCK = "block_"
FEWEST = 4


def in_one_block(source: str, results: int) -> tuple[str, tuple[int, ...]]:
    """
    The source, and the numbers of those `results` of its kernel that are now rows of a block, which comes after the others; as it
    was, and none, where too few are alike. A failure gives rows without elements.
    """
    if min(source.count("_empty("), results) < FEWEST:
        return source, ()
    module = ast.parse(source)
    kernel = next(f for f in module.body if isinstance(f, ast.FunctionDef) and f.name == "kernel")
    if (given := _returns(kernel)) is None:
        return source, ()
    names = [r.id if isinstance(r, ast.Name) else "" for r in given[-1][:results]]
    made = [s for s in kernel.body if isinstance(s, ast.Assign) and _is_made(s)]
    groups: dict[str, list[ast.Assign]] = {}
    facts = _Facts(kernel, names)
    for statement in made:
        if not facts.may_be_row(statement):
            continue
        groups.setdefault(ast.dump(statement.value), []).append(statement)
    rows = max(groups.values(), key=len, default=[])
    if len(rows) < FEWEST:
        return source, ()
    of = {_name(s): k for k, s in enumerate(rows)}
    numbers = tuple(sorted((k for k, name in enumerate(names) if name in of), key=lambda k: of[names[k]]))
    sizes, dtype = rows[0].value.args  # type: ignore[attr-defined]
    for row in rows:
        row.value = ast.parse(f"_row_of({BLOCK}, {of[_name(row)]})", mode="eval").body
    whole = f"{BLOCK} = _empty(({', '.join([str(len(rows)), *map(ast.unparse, sizes.elts)])}), {ast.unparse(dtype)})"
    kernel.body.insert(kernel.body.index(rows[0]), ast.parse(whole).body[0])
    nothing = f"_empty(({len(rows)}, {'0, ' * len(sizes.elts)}), {ast.unparse(dtype)})"
    for values in given:
        block = ast.parse(BLOCK if values is given[-1] else nothing, mode="eval").body
        values[:results] = [*(v for k, v in enumerate(values[:results]) if k not in numbers), block]
    return ast.unparse(ast.fix_missing_locations(module)), numbers


def spread(given: Sequence[Any], rows: Sequence[int]) -> tuple[Any, ...]:
    """The results, each in its place, and the status, of what an entry gives: the other results, a block of `rows`, the status."""
    if not rows:
        return tuple(given)
    *others, block, status = given
    place, left = dict(zip(rows, block, strict=True)), iter(others)
    return (*(place[k] if k in place else next(left) for k in range(len(others) + len(rows))), status)


def _is_made(statement: ast.stmt) -> bool:
    """Whether a statement makes an array with axes and without elements."""
    match statement:
        case ast.Assign([ast.Name()], ast.Call(ast.Name("_empty"), [ast.Tuple([_, *_]), ast.Name()])):
            return True
        case _:
            return False


def _name(statement: ast.Assign) -> str:
    assert isinstance(statement.targets[0], ast.Name)
    return statement.targets[0].id


def _returns(kernel: ast.FunctionDef) -> list[list[ast.expr]] | None:
    """What the function gives wherever it ends, if that is a result in the last place alone, and a failure elsewhere."""
    found: list[list[ast.expr]] = []
    for node in walk(kernel):
        match node:
            case ast.Return(ast.Tuple([*_, _, ast.Constant(status)] as values)) if (status == OK) == (node is kernel.body[-1]):
                found.append(values)
            case ast.Return():
                return None
    found.sort(key=lambda values: isinstance(values[-1], ast.Constant) and values[-1].value == OK)
    return found if isinstance(kernel.body[-1], ast.Return) else None


class _Facts:
    """What is known of the names of a function."""

    def __init__(self, kernel: ast.FunctionDef, results: list[str]) -> None:
        names = [n for n in walk(kernel) if isinstance(n, ast.Name)]
        self.results = Counter(results)
        self.sets = Counter(n.id for n in names if isinstance(n.ctx, ast.Store)) + Counter(a.arg for a in kernel.args.args)
        self.mentions = Counter(n.id for n in names)
        self.plain = Counter(n.id for n in _plain(kernel))
        self.axes: dict[str, set[int]] = {}
        for node in walk(kernel):
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                own = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                part = any(isinstance(i, ast.Slice) for i in own)
                self.axes.setdefault(node.value.id, set()).add(-1 if part else len(own))

    def may_be_row(self, statement: ast.Assign) -> bool:
        """Whether a result may be a row, and the sizes of it are the same wherever it is made."""
        name = _name(statement)
        sizes, _ = statement.value.args  # type: ignore[attr-defined]
        others = self.mentions[name] - self.plain[name]
        return (
            self.results[name] == 1
            and others == 2  # where it is made, and the result
            and self.sets[name] == 1
            and self.axes.get(name, set()) <= {len(sizes.elts)}
            and all(self.sets[n.id] <= 1 for n in walk(sizes) if isinstance(n, ast.Name))
        )


def _plain(kernel: ast.FunctionDef) -> Iterator[ast.Name]:
    """The names of which an element or the sizes are mentioned."""
    for node in walk(kernel):
        match node:
            case ast.Subscript(ast.Name() as name) | ast.Attribute(ast.Name() as name, "shape"):
                yield name
