"""
How many elements slices and ranges select from sizes that are spoken of in terms of the arguments, written out:

    i1, i2 = _range_(0, a0.shape[0], 1)            i1, i2 = (a0.shape[0], 0)
    i3 = _bound(-2, a0.shape[0] + 2, 1)     →      i3 = a0.shape[0]
    i4 = _steps(2, a0.shape[0] + 2, 1)             i4 = a0.shape[0]

A size is not negative, so what is added to it is there. Where more would have to be known, the text stays.
"""

from __future__ import annotations

import ast

from backend.arrays.assumed import plus, shift
from backend.arrays.takes import SIZE

Span = tuple[str, int]  # a size, or "" for none, and what is added to it


def spans(function: ast.FunctionDef) -> bool:
    """Writes out what is known; whether there was something."""
    rule = _Spans()
    rule.visit(function)
    return rule.found


class _Spans(ast.NodeTransformer):
    """Calls of `_range_`, `_bound` and `_steps`, with the step 1, in terms of sizes."""

    found = False

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name("_range_"), [ast.Constant(0), stop, ast.Constant(1)]) if (
                one := _whole(_span(stop))
            ) is not None:
                return self.told(ast.Tuple([_read(*one), ast.Constant(0)], ast.Load()))
            case ast.Call(ast.Name("_bound"), [at, stop, ast.Constant(1)]) if (found := _bound(_span(at), _span(stop))) is not None:
                return self.told(_read(*found))
            case ast.Call(ast.Name("_steps"), [at, stop, ast.Constant(1)]) if (found := _steps(_span(at), _span(stop))) is not None:
                return self.told(_read(*found))
            case _:
                return node

    def told(self, value: ast.expr) -> ast.expr:
        self.found = True
        return value


def _span(node: ast.expr) -> Span | None:
    """A number, or a size and a number."""
    match node:
        case ast.Constant(int(k)) if not isinstance(k, bool):
            return "", k
        case ast.UnaryOp(ast.USub(), ast.Constant(int(k))):
            return "", -k
        case ast.Subscript() | ast.BinOp():
            base, more = shift(f"({ast.unparse(node)})" if isinstance(node, ast.BinOp) else ast.unparse(node))
            return (base, more) if SIZE.fullmatch(base) else None
        case _:
            return None


def _whole(span: Span | None) -> Span | None:
    """A size and nothing less; None if it is another."""
    return span if span is not None and span[0] and span[1] >= 0 else None


def _bound(at: Span | None, stop: Span | None) -> Span | None:
    """Where a slice of `stop` elements begins or ends, if that is not outside."""
    if at is None or (stop := _whole(stop)) is None:
        return None
    (base, more), (size, room) = at, stop
    if base in ("", size) and 0 <= more <= room:
        return at
    return (size, room + more) if not base and -room <= more < 0 else None


def _steps(at: Span | None, stop: Span | None) -> Span | None:
    """How many there are from one place to another, which is not before it."""
    if at is None or (stop := _whole(stop)) is None or at[1] > stop[1] or at[0] not in ("", stop[0]):
        return None
    return ("" if at[0] else stop[0]), stop[1] - at[1]


def _read(base: str, more: int) -> ast.expr:
    return ast.parse(plus(base, more) if base else str(more), mode="eval").body
