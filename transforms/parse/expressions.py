"""
The rules of expressions. An expression on the agenda leaves one operand.

    κ  agenda    σ  operands    ρ  environment    g  the current graph    ⟨e⟩  the expression e, to be evaluated

`p/n` on the agenda applies the primitive p to the top n operands. Short circuits become thunks: `switch(c, @a, @b)()`.
"""

from __future__ import annotations

import ast

from transforms.agenda_system import agenda_rule
from transforms.operators import BINARY, COMPARISON
from transforms.parse.cursor import Cursor
from transforms.parse.items import Emit, Enter, Eval, Truth, evaluating, top
from transforms.parse.special import has_meaning
from transforms.parse.state import ParseState


@agenda_rule
def literal(state: ParseState) -> ParseState | None:
    """⟨c⟩ κ, σ  →  κ, c σ        a number, a boolean or None; a string only as an argument of grad and its kind"""
    match evaluating(state):
        case ast.Constant(value=value) if value is not ...:
            c = Cursor(state)
            c.push(c.constant(value), isinstance(value, bool))
            return c.state
    return None


@agenda_rule
def signed_literal(state: ParseState) -> ParseState | None:
    """⟨-c⟩ κ, σ  →  κ, -c σ        likewise +c"""
    if (found := _signed(evaluating(state))) is None:
        return None
    c = Cursor(state)
    c.push(c.constant(found))
    return c.state


def _signed(expression: ast.expr | None) -> int | float | None:
    match expression:
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant(value=value)) if type(value) in (int, float):
            assert isinstance(value, (int, float))
            return -value if isinstance(sign, ast.USub) else value
    return None


@agenda_rule
def enter(state: ParseState) -> ParseState | None:
    """(go to ρ, g) κ  →  κ, in ρ and g"""
    match top(state):
        case Enter(frame):
            c = Cursor(state)
            c.frame = frame
            return c.state
    return None


@agenda_rule
def apply_primitive(state: ParseState) -> ParseState | None:
    """p/n κ, vn … v1 σ  →  κ, %new σ        with %new = p(v1, …, vn) in g"""
    match top(state):
        case Emit(primitive, count, at, boolean) as item if not has_meaning(state, item):
            c = Cursor(state)
            c.push(c.apply(primitive, *c.nodes(count), at=at), boolean)
            return c.state
    return None


@agenda_rule
def binary(state: ParseState) -> ParseState | None:
    """⟨a ⊕ b⟩ κ, σ  →  ⟨a⟩ ⟨b⟩ ⊕/2 κ, σ"""
    match evaluating(state):
        case ast.BinOp(left=left, op=op, right=right) as at:
            c = Cursor(state)
            c.do(Eval(left), Eval(right), Emit(BINARY[type(op)], 2, at, isinstance(op, ast.BitAnd | ast.BitOr)))
            return c.state
    return None


@agenda_rule
def unary(state: ParseState) -> ParseState | None:
    """⟨-a⟩ κ, σ  →  ⟨a⟩ neg/1 κ, σ        +a negates twice, so that it still demands a number"""
    match evaluating(state):
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand) as at if _signed(at) is None:
            c = Cursor(state)
            c.do(Eval(operand), *[Emit("neg", 1, at)] * (1 if isinstance(op, ast.USub) else 2))
            return c.state
    return None


@agenda_rule
def negation(state: ParseState) -> ParseState | None:
    """⟨not a⟩ κ, σ  →  ⟨a⟩ truth not_/1 κ, σ"""
    match evaluating(state):
        case ast.UnaryOp(op=ast.Not(), operand=operand) as at:
            c = Cursor(state)
            c.do(Eval(operand), Truth(operand), Emit("not_", 1, at, True))
            return c.state
    return None


@agenda_rule
def inversion(state: ParseState) -> ParseState | None:
    """⟨~a⟩ κ, σ  →  ⟨a⟩ … getitem/2 not_/1 κ, σ        a[...] is of arrays alone: Python's ~True is -2"""
    match evaluating(state):
        case ast.UnaryOp(op=ast.Invert(), operand=operand) as at:
            c = Cursor(state)
            c.do(Eval(operand), Eval(ast.copy_location(ast.Constant(...), at)), Emit("getitem", 2, at), Emit("not_", 1, at, True))
            return c.state
    return None


@agenda_rule
def truth(state: ParseState) -> ParseState | None:
    """truth κ, v σ  →  κ, to_boolean(v) σ        or v itself where its text shows a boolean"""
    match top(state):
        case Truth(at):
            c = Cursor(state)
            value = c.value()
            c.push(value.node if value.boolean else c.apply("to_boolean", value.node, at=at), True)
            return c.state
    return None


@agenda_rule
def comparison(state: ParseState) -> ParseState | None:
    """⟨a < b⟩ κ, σ  →  ⟨a⟩ ⟨b⟩ lt/2 κ, σ        likewise <= > >= == !="""
    match evaluating(state):
        case ast.Compare(left=left, ops=[op], comparators=[right]) as at if type(op) in COMPARISON:
            c = Cursor(state)
            c.do(Eval(left), Eval(right), Emit(COMPARISON[type(op)], 2, at, True))
            return c.state
    return None


RULES = (*(literal, signed_literal, enter, apply_primitive, binary, unary, negation, inversion, truth, comparison),)
