"""
What a compiler need not read twice, last of all passes: sizes of arguments under names of their own, and tests that follow one
another and return the same, as one.

    if a0.shape[0] != a1.shape[0]:                n0_0 = a0.shape[0]
        return (a0, fuel, 16)                     if n0_0 != a1.shape[0] or n0_0 == 0:
    if a0.shape[0] == 0:                   →          return (a0, fuel, 16)
        return (a0, fuel, 16)                     for k in range(n0_0):
    for k in range(a0.shape[0]):

A mention of a size takes Numba some twenty instructions, from which LLVM then finds the number; a return, some for each result.
"""

from __future__ import annotations

import ast
from collections import Counter

from backend.arrays.effects import assigned
from backend.arrays.in_place import Block, blocks
from backend.arrays.walking import names_in, walk

MENTIONS = 2  # from which on a size has a name
Size = tuple[str, int]  # an argument, and an axis of it


def read_once(function: ast.FunctionDef) -> None:
    """The function with each size of an argument read at its beginning, and with fewer places where it returns."""
    for block in blocks(function):
        block[:] = _joined(block)
    times = assigned(function)
    fixed, taken = {a.arg for a in function.args.args if not times[a.arg]}, names_in(function)
    found = Counter(size for n in walk(function) if (size := _size(n)) is not None and size[0] in fixed)
    named = {size: f"n_{size[0]}_{size[1]}" for size, mentions in found.items() if mentions >= MENTIONS}
    assert taken.isdisjoint(named.values()), "no other names begin so"
    body = [_Named(named).visit(statement) for statement in function.body]
    function.body = [*(ast.parse(f"{name} = {a}.shape[{k}]").body[0] for (a, k), name in named.items()), *body]


def _size(node: ast.AST) -> Size | None:
    """The array and the axis whose size an expression is."""
    match node:
        case ast.Subscript(ast.Attribute(ast.Name(array), "shape"), ast.Constant(int(axis)), ast.Load()):
            return array, axis
        case _:
            return None


class _Named(ast.NodeTransformer):
    """Sizes by their names."""

    def __init__(self, named: dict[Size, str]) -> None:
        self.named = named

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        size = _size(node)
        return ast.Name(self.named[size], ast.Load()) if size in self.named else self.generic_visit(node)


def _joined(block: Block) -> Block:
    """The block with tests in a row that return the same made one, which asks in their order."""
    found: Block = []
    for statement in block:
        match found, statement:
            case [*_, ast.If(first, [ast.Return() as one], []) as before], ast.If(test, [ast.Return() as other], []):
                if ast.dump(one) == ast.dump(other):
                    before.test = ast.BoolOp(ast.Or(), [*_any(first), *_any(test)])
                    continue
        found.append(statement)
    return found


def _any(test: ast.expr) -> list[ast.expr]:
    """What a test asks, of which one must hold."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]
