"""
Joining and repeating sequences with `+` and `*`, where the text shows that a side is one: what desugaring makes of them.

    [a, b] + t      →  concat([a, b], t)           likewise a tuple, a comprehension, and a sum of such
    [e] * n         →  a function, called on the spot, that appends e n times; likewise (e,) * n and n * [e]

A side that is only a name may be a number: it is added, and adding two lists traps with `[*s, *t]` as remedy.
"""

from __future__ import annotations

import ast

from transforms.parse.nodes import Applied, Immediate, Inner, applied, inner, placed

REPEATED, TIMES, JOINED, COUNT = "it'0", "it'1", "acc'", "k'"


def is_sequence(node: ast.expr) -> bool:
    """Whether the text alone shows that an expression is a list or a tuple."""
    match node:
        case ast.List() | ast.Tuple() | ast.ListComp() | Inner(function=Immediate(name="list" | "tuple")):
            return True
    return isinstance(node, Applied) and node.primitive in ("concat", "append")


def joins(node: ast.AST) -> bool:
    """Whether an operation joins or repeats sequences."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return is_sequence(left) or is_sequence(right)
    return False


def joined(node: ast.BinOp) -> ast.expr:
    """The operation on primitives of sequences."""
    if isinstance(node.op, ast.Add):
        return applied("concat", node.left, node.right, at=node)
    sequence, times = (node.left, node.right) if is_sequence(node.left) else (node.right, node.left)
    empty: ast.expr = ast.List([], ast.Load()) if not isinstance(sequence, ast.Tuple) else ast.Tuple([], ast.Load())
    single = (
        isinstance(sequence, (ast.List, ast.Tuple)) and len(sequence.elts) == 1 and not isinstance(sequence.elts[0], ast.Starred)
    )
    whole = sequence.elts[0] if isinstance(sequence, (ast.List, ast.Tuple)) and single else sequence
    more = applied("append" if single else "concat", _load(JOINED), _load(REPEATED), at=node)
    turn = [_assign(JOINED, more), _assign(COUNT, ast.BinOp(_load(COUNT), ast.Add(), ast.Constant(1)))]
    loop = ast.While(ast.Compare(_load(COUNT), [ast.Lt()], [_load(TIMES)]), turn, [])
    body = [_assign(JOINED, empty), _assign(COUNT, ast.Constant(0)), loop, ast.Return(_load(JOINED))]
    parameters = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(REPEATED), ast.arg(TIMES)],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )
    name = "tuple" if isinstance(empty, ast.Tuple) else "list"
    return placed(inner(Immediate(name, parameters, body, []), [whole, times], node), node)


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())
