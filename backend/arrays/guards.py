"""
Tests of sizes, put first: what they say then holds in the whole function, and every size has one name.

A test of the sizes of arguments may come before everything else, since after the status SIZES another tier runs the sample anew.
The sizes of an array that is made of sizes of arguments are these (`sized`); where that is what a test asks, there is none.
"""

from __future__ import annotations

import ast
from copy import deepcopy

from backend.arrays.assumed import settled
from backend.arrays.effects import Effects, Reader, assigned
from backend.arrays.hoisting import is_size
from backend.arrays.walking import walk

Block = list[ast.stmt]


def guarded(function: ast.FunctionDef, effects: Reader) -> None:
    """The tests of the sizes of arguments before everything else, each once; sizes that they show to be the same have one name."""
    times = assigned(function)
    fixed = {a.arg for a in function.args.args if not times[a.arg]}
    front: list[ast.If] = []
    rest: Block = []
    for at, statement in enumerate(function.body):
        its = effects(statement)
        if isinstance(statement, ast.If) and its.guard and _of_sizes(effects.expression(statement.test), fixed):
            front.append(statement)
        elif its.returns and not its.guard:
            rest += function.body[at:]
            break
        else:
            rest.append(statement)
    names = _Names()
    kept: dict[str, ast.stmt] = {}
    for test in front:
        test.test = names.visit(test.test)  # type: ignore[assignment]
        match test.test:
            case ast.Compare(a, [ast.NotEq()], [b]) if ast.dump(a) == ast.dump(b):
                continue
            case ast.Compare(a, [ast.NotEq()], [b]):
                names.join(a, b)
        kept.setdefault(ast.dump(test.test), test)
    function.body = [*kept.values(), *(names.visit(s) for s in rest)]  # type: ignore[list-item]


def _of_sizes(test: Effects, fixed: set[str]) -> bool:
    return not test.loads and test.reads <= fixed


class _Names(ast.NodeTransformer):
    """Every size under its one name: the number, if it is known."""

    def __init__(self) -> None:
        self.one: dict[str, ast.expr] = {}

    def join(self, a: ast.expr, b: ast.expr) -> None:
        if isinstance(b, ast.Constant):
            a, b = b, a
        self.one[ast.dump(b)] = a

    def visit(self, node: ast.AST) -> ast.AST:
        while (found := self.one.get(ast.dump(node)) if isinstance(node, (ast.Subscript, ast.BinOp)) else None) is not None:
            node = found
        return self.generic_visit(node)


def sized(function: ast.FunctionDef) -> None:
    """The function in which arrays that it makes are not asked for the sizes that it gave them."""
    times = assigned(function)
    fixed = settled(function)
    made: dict[str, list[ast.expr]] = {}
    for node in walk(function):
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty" | "_full"), [ast.Tuple(sizes), *_])) if times[name] == 1:
                if all(is_size(size, fixed) for size in sizes):
                    made[name] = sizes
    _Sized(made).visit(function)


class _Sized(ast.NodeTransformer):
    """Sizes as arrays were given them; and no tests of whether they are these."""

    def __init__(self, made: dict[str, list[ast.expr]]) -> None:
        self.made = made

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        match node:
            case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant(int(axis))) if name in self.made:
                return deepcopy(self.made[name][axis])
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        self.generic_visit(node)
        match node:
            case ast.If(ast.Compare(a, [ast.NotEq()], [b]), [ast.Return()], []) if ast.dump(a) == ast.dump(b):
                return None
        node.body = node.body or [ast.Pass()]
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node
