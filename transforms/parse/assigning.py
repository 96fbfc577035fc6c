"""
The rules of assignments with more than one name or inside an expression: unpacking, starred targets, `:=`.

A `:=` that may not be evaluated, in a branch of `and`, `or`, `if … else` or a chained comparison, is carried out of the thunk
beside its value: `shortcuts` does that.
"""

from __future__ import annotations

import ast

from semantics.ir import NodeId
from semantics.structured import LIST
from transforms.agenda_system import agenda_rule
from transforms.parse.cursor import Cursor
from transforms.parse.items import Eval, Keep, Put, Store, evaluating, top
from transforms.parse.state import ParseState


@agenda_rule
def walrus(state: ParseState) -> ParseState | None:
    """⟨(x := e)⟩ κ, σ  →  ⟨e⟩ (keep x) κ, σ"""
    match evaluating(state):
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            c = Cursor(state)
            c.do(Eval(value), Keep(name))
            return c.state
    return None


@agenda_rule
def keep(state: ParseState) -> ParseState | None:
    """(keep x) κ, v σ  →  κ, v σ        with ρ(x) = v from here on"""
    match top(state):
        case Keep(name):
            c = Cursor(state)
            value = c.value()
            c.bind(name, value.node)
            c.push(value.node, value.boolean)
            return c.state
    return None


@agenda_rule
def unpack(state: ParseState) -> ParseState | None:
    """(store (x, y)) κ, v σ  →  (t[0]) (store x) (t[1]) (store y) κ, σ        with t = of_length(v, 2)"""
    match top(state):
        case Store((ast.Tuple(elts=targets) | ast.List(elts=targets)) as at) if not _has_star(targets):
            c = Cursor(state)
            whole = c.apply("of_length", c.value().node, c.constant(len(targets)), at=at)
            _store_each(c, targets, [c.apply("getitem", whole, c.constant(i), at=at) for i in range(len(targets))])
            return c.state
    return None


@agenda_rule
def unpack_rest(state: ParseState) -> ParseState | None:
    """
    (store (x, *r, y)) κ, v σ  →  (t[0]) (store x) ([*t[1:-1]]) (store r) (t[-1]) (store y) κ, σ

    with t = of_length(v, n), n the greater of 2, the number of plain targets, and length(v): a shorter v traps.
    """
    match top(state):
        case Store((ast.Tuple(elts=targets) | ast.List(elts=targets)) as at) if _has_star(targets):
            c = Cursor(state)
            value = c.value().node
            place = next(i for i, t in enumerate(targets) if isinstance(t, ast.Starred))
            after = len(targets) - place - 1
            least = c.constant(len(targets) - 1)
            more = c.apply("range_length", least, c.apply("length", value, at=at), c.constant(1), at=at)
            whole = c.apply("of_length", value, c.apply("add", least, more, at=at), at=at)
            stop = c.constant(-after if after else None)
            part = c.apply("make_slice", c.constant(place), stop, c.constant(None), at=at)
            rest = c.apply("concat", c.apply("make_record", c.constant(LIST), at=at), c.apply("getitem", whole, part, at=at), at=at)
            indices = [*range(place), None, *range(-after, 0)]
            parts = [rest if i is None else c.apply("getitem", whole, c.constant(i), at=at) for i in indices]
            _store_each(c, [t.value if isinstance(t, ast.Starred) else t for t in targets], parts)
            return c.state
    return None


def _has_star(targets: list[ast.expr]) -> bool:
    return any(isinstance(t, ast.Starred) for t in targets)


def _store_each(c: Cursor, targets: list[ast.expr], parts: list[NodeId]) -> None:
    c.do(*(item for part, target in zip(parts, targets, strict=True) for item in (Put(part), Store(target))))


RULES = (walrus, keep, unpack, unpack_rest)
