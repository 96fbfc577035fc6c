"""
Arrays of integers that are arranged in order, k + c at k, and so are not read: what goes by such indices goes straight on.

    a = _empty((n + 2,), _i64)                         …
    a[0] = 1                                           …
    for k in range(n): a[1 + k] = k + 2                …
    a[n + 1] = n + 2                                   …
    for k in range(n + 2):                             for k in range(n + 2):
        i = int(a[k])                         →            i = k + 1
        if i > 0: s[i - 1] = s[i - 1] + d[k]               s[k] = s[k] + d[k]

So are the places that a concatenation or a list has in a sensitivity. All elements must be written, one after another, where the
array is made, and nowhere else.
"""

from __future__ import annotations

import ast
from collections import Counter

from backend.arrays.effects import assigned
from backend.arrays.handed import pairs
from backend.arrays.in_place import blocks
from backend.arrays.takes import SIZE, Linear, less, linear, once
from backend.arrays.walking import names_in, walk

Block = list[ast.stmt]


def arranged(function: ast.FunctionDef) -> None:
    """The function without reads of such arrays; what is then needed no more is left to others."""
    if "_i64" not in {n.id for n in walk(function) if isinstance(n, ast.Name)}:
        return
    values, times = once(function), assigned(function)
    fixed = {a.arg for a in function.args.args if not times[a.arg]}
    above: dict[str, int] = {}
    for block in blocks(function):
        for at, statement in enumerate(block):
            match statement:
                case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty"), [ast.Tuple([size]), ast.Name("_i64")])):
                    found = _above(block[at + 1 :], name, linear(size, values), values, fixed) if times[name] == 1 else None
                    if found is not None and _stays(function, name, found[1]):
                        above[name] = found[0]
    others = [n for n, value in values.items() if isinstance(value, ast.Name)]
    while more := [n for n in others if n not in above and _name(values[n]) in above and _stays(function, n, 0)]:
        above |= {n: above[_name(values[n])] for n in more}
    if above:
        _Told(above).visit(function)
        ast.fix_missing_locations(function)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _above(block: Block, name: str, size: Linear, values: dict[str, ast.expr], fixed: set[str]) -> tuple[int, int] | None:
    """
    By how much all elements are above their indices, and how many statements say so, if those behind the array write it from the
    first to the last.
    """
    place: Linear = frozenset()
    steps: list[Linear] = []
    for statement in block:
        match statement:
            case ast.For(
                ast.Name(turn), ast.Call(ast.Name("range"), [turns]), [*before, ast.Assign([ast.Subscript(to, at)], value)]
            ):
                plain = all(isinstance(s, ast.Assign) and name not in names_in(s) for s in before)
                index, single = linear(at, values), isinstance(turns, ast.Constant) and turns.value == 1
                goes = turn not in dict(index) if single else (turn, 1) in index
                if not plain or _name(to) != name or not goes or index - {(turn, 1)} != place:
                    return None
                steps.append(less(linear(value, values), index))
                place = less(place, _minus(linear(turns, values)))
            case _:
                return None
        if place == size:
            break
    known = all(SIZE.fullmatch(n) and n.partition(".")[0] in fixed for n, _ in size if n)
    one = len({*steps}) == 1 and all(not n for n, _ in steps[0])
    return (dict(steps[0]).get("", 0), len(steps)) if place == size and known and one else None


def _minus(one: Linear) -> Linear:
    return frozenset((name, -factor) for name, factor in one)


def _stays(function: ast.FunctionDef, name: str, stores: int) -> bool:
    """Whether nothing is done with an array but to read elements and sizes, to name it, and to write so many."""
    seen: Counter[str] = Counter()
    for node in walk(function):
        match node:
            case ast.Subscript(ast.Name(array), ast.Slice()) if array == name:
                return False
            case ast.Subscript(ast.Name(array), _, ast.Store()) if array == name:
                seen["store"] += 1
            case ast.Subscript(ast.Name(array)) | ast.Attribute(ast.Name(array), "shape") if array == name:
                seen["read"] += 1
            case ast.Assign():
                seen["name"] += sum(_name(value) == name for _, value in pairs(node))
            case ast.Name(array, ast.Load()) if array == name:
                seen["all"] += 1
    return seen["store"] == stores and seen["all"] == stores + seen["read"] + seen["name"]


class _Told(ast.NodeTransformer):
    """Reads of such arrays at the number of a turn, as a sum; tests of these that hold, left out."""

    def __init__(self, above: dict[str, int]) -> None:
        self.above = above

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        match node:
            case ast.For(ast.Name(turn), ast.Call(ast.Name("range")), body):
                node.body = [s for at, statement in enumerate(body) for s in self.told(turn, body[:at], statement)]
        return node

    def told(self, turn: str, before: Block, statement: ast.stmt) -> Block:
        match before[-1:], statement:
            case _, ast.Assign([ast.Name()], value) if (more := self.read(turn, value)) is not None:
                return [ast.Assign(statement.targets, _sum(turn, more))]
            case [ast.Assign([ast.Name(name)], value)], ast.If(
                ast.Compare(ast.Name(asked), [ast.Gt()], [ast.Constant(0)]), body, []
            ):
                if asked == name and (more := self.read(turn, value)) is not None and more > 0:
                    return [_Index(name, turn, more).visit(s) for s in body]
        return [statement]

    def read(self, turn: str, value: ast.expr) -> int | None:
        """By how much what is read is above the number of the turn."""
        match value:
            case ast.Call(ast.Name("int"), [ast.Subscript(ast.Name(array), ast.Name(at))]) if at == turn:
                return self.above.get(array)
        return None


class _Index(ast.NodeTransformer):
    """What is less than such an integer, as the number of the turn."""

    def __init__(self, name: str, turn: str, more: int) -> None:
        self.name, self.turn, self.more = name, turn, more

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.BinOp(ast.Name(name), ast.Sub(), ast.Constant(int(k))) if name == self.name:
                return _sum(self.turn, self.more - k)
        return node


def _sum(turn: str, more: int) -> ast.expr:
    return ast.parse(f"{turn} + {more}" if more else turn, mode="eval").body
