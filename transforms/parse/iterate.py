"""
The rules of what a `for` goes over. An iterable leaves a *walk*: how many elements it has, and how to make element k.

    ⟨e⟩ₛ    the iterable e, to be walked        walk n, λk. …    n its number of elements, λk. … what makes element k

    range(a, b, s)      n = range_length(a, b, s)          a + k * s
    zip(X, Y)           the smaller number                 (xₖ, yₖ)
    enumerate(X, a)     that of X                          (a + k, xₖ)
    reversed(X)         that of X                          xₙ₋₁₋ₖ
    map(f, X, Y)        the smaller number                 f(xₖ, yₖ)
    d.items()           the number of keys                 (key, value); likewise keys and values, and d itself for its keys
    any other           n = length(t)                      t[k], t = iterated(e) where e may be a dictionary

Iterators are walked where they stand and are never values: what a loop reads of them is the same, and nothing can be half consumed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from semantics.ir import NodeId
from transforms.agenda_system import agenda_rule
from transforms.parse.consumers import VIEWS, view_called
from transforms.parse.cursor import Cursor
from transforms.parse.items import Eval, Over, Walked, top
from transforms.parse.known import keys_of, may_be_dictionary
from transforms.parse.library import BUILTINS
from transforms.parse.names import Operation
from transforms.parse.state import ParseState, Walk

COUNTED = ("enumerate takes an iterable and a start", "enumerate(t, 1)")
WALKS = frozenset({"range", "zip", "enumerate", "reversed", "map"})


def walking(state: ParseState) -> ast.expr | None:
    """The iterable on top of the agenda, if that is what is there."""
    found = top(state)
    return found.expression if isinstance(found, Walked) else None


def iterator_called(state: ParseState, expression: ast.expr | None) -> str | None:
    """The builtin that an expression calls, if it makes an iterator; `items` and its kind for a method without arguments."""
    match expression:
        case ast.Call(func=ast.Name(id=name)) if state.frame.scope.owner(name) is None:
            found = state.frame.names.find(name)
            if isinstance(found, Operation) and BUILTINS.get(found.name) is found and found.name in (*WALKS, "filter"):
                return found.name
    return view_called(expression) if expression is not None else None


@agenda_rule
def walk_range(state: ParseState) -> ParseState | None:
    """⟨range(a, b, s)⟩ₛ κ, σ  →  ⟨a⟩ ⟨b⟩ ⟨s⟩ (over range) κ, σ        likewise range(b) and range(a, b)"""
    match walking(state):
        case ast.Call() as at if iterator_called(state, at) == "range":
            c = Cursor(state)
            if at.keywords or not 1 <= len(at.args) <= 3 or _starred(at):
                raise c.refuse(at, "range takes one, two or three arguments by position", "range(start, stop, step)")
            c.do(*map(Eval, at.args), Over("range", len(at.args), at))
            return c.state
    return None


@agenda_rule
def walk_together(state: ParseState) -> ParseState | None:
    """⟨zip(X, Y)⟩ₛ κ, σ  →  ⟨X⟩ₛ ⟨Y⟩ₛ (over zip) κ, σ"""
    match walking(state):
        case ast.Call(args=parts) as at if iterator_called(state, at) == "zip":
            c = Cursor(state)
            _plain(c, at, bool(parts), "zip takes iterables by position", "zip(s, t); test len(s) == len(t) for strict=True")
            c.do(*map(Walked, parts), Over("zip", len(parts), at))
            return c.state
    return None


@agenda_rule
def walk_counted(state: ParseState) -> ParseState | None:
    """⟨enumerate(X, a)⟩ₛ κ, σ  →  ⟨X⟩ₛ ⟨a⟩ (over enumerate) κ, σ        a is 0 if left out"""
    match walking(state):
        case ast.Call(args=[over, *first], keywords=keywords) as at if iterator_called(state, at) == "enumerate":
            c = Cursor(state)
            start = [*first, *(k.value for k in keywords if k.arg == "start")]
            if not len(start) == len(first) + len(keywords) <= 1 or _starred(at):
                raise c.refuse(at, *COUNTED)
            c.do(Walked(over), *map(Eval, start or [ast.copy_location(ast.Constant(0), at)]), Over("enumerate", 2, at))
            return c.state
        case ast.Call(args=[]) as at if iterator_called(state, at) == "enumerate":
            raise Cursor(state).refuse(at, *COUNTED)
    return None


@agenda_rule
def walk_backwards(state: ParseState) -> ParseState | None:
    """⟨reversed(X)⟩ₛ κ, σ  →  ⟨X⟩ₛ (over reversed) κ, σ        X a sequence or a range, which know how long they are"""
    match walking(state):
        case ast.Call(args=parts) as at if iterator_called(state, at) == "reversed":
            c = Cursor(state)
            fits = len(parts) == 1 and iterator_called(state, parts[0]) in (None, "range", "items", "keys", "values")
            _plain(c, at, fits, "reversed takes one sequence or range", "make a tuple of the iterator first: reversed(tuple(…))")
            c.do(Walked(parts[0]), Over("reversed", 1, at))
            return c.state
    return None


@agenda_rule
def walk_mapped(state: ParseState) -> ParseState | None:
    """⟨map(f, X, …)⟩ₛ κ, σ  →  ⟨f⟩ ⟨X⟩ₛ … (over map) κ, σ"""
    match walking(state):
        case ast.Call(args=parts) as at if iterator_called(state, at) == "map":
            c = Cursor(state)
            _plain(c, at, len(parts) > 1, "map takes a function and iterables by position", "map(f, t)")
            c.do(Eval(parts[0]), *map(Walked, parts[1:]), Over("map", len(parts), at))
            return c.state
    return None


@agenda_rule
def walk_filtered(state: ParseState) -> ParseState | None:
    """⟨filter(p, X)⟩ₛ κ  →  Malformed        how many elements pass is known only when they have all been seen"""
    match walking(state):
        case ast.Call() as at if iterator_called(state, at) == "filter":
            remedy = "make a tuple of it first: tuple(filter(p, X))"
            raise Cursor(state).refuse(at, "filter(p, X) cannot stand inside another iterator", remedy)
    return None


@agenda_rule
def walk_view(state: ParseState) -> ParseState | None:
    """⟨d.items()⟩ₛ κ, σ  →  ⟨d⟩ (over items) κ, σ        likewise keys and values"""
    match walking(state):
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) as at if iterator_called(state, at) in VIEWS:
            c = Cursor(state)
            c.do(Eval(value), Over(attr, 1, at))
            return c.state
    return None


@agenda_rule
def walk_value(state: ParseState) -> ParseState | None:
    """⟨e⟩ₛ κ, σ  →  ⟨e⟩ (over value) κ, σ        e any other expression"""
    match walking(state):
        case ast.expr() as at if iterator_called(state, at) is None:
            c = Cursor(state)
            c.do(Eval(at), Over("value", 1, at))
            return c.state
    return None


@agenda_rule
def walk(state: ParseState) -> ParseState | None:
    """(over …) κ, parts σ  →  κ, walk n, λk. … σ        as the table above says"""
    match top(state):
        case Over(kind, count, at):
            c = Cursor(state)
            parts = [c.part() for _ in range(count)][::-1]
            c.push_walk(MAKERS[kind](c, at, *parts))
            return c.state
    return None


def _plain(c: Cursor, at: ast.Call, fits: bool, what: str, remedy: str) -> None:
    if not fits or at.keywords or _starred(at):
        raise c.refuse(at, what, remedy)


def _starred(at: ast.Call) -> bool:
    return any(isinstance(a, ast.Starred) for a in at.args)


# walks


def _range(c: Cursor, at: ast.expr, *given: NodeId) -> Walk:
    zero, one = c.constant(0), c.constant(1)
    start, stop, step = {1: (zero, *given, one), 2: (*given, one), 3: given}[len(given)]

    def element(c: Cursor, k: NodeId, place: ast.AST) -> NodeId:
        scaled = k if step == one else c.apply("mul", k, step, at=place)
        return scaled if start == zero else c.apply("add", start, scaled, at=place)

    return Walk(c.apply("range_length", start, stop, step, at=at), element)


def _smallest(c: Cursor, at: ast.expr, walks: tuple[Walk, ...]) -> NodeId:
    size = walks[0].size
    for other in walks[1:]:
        size = c.apply("switch", c.apply("lt", other.size, size, at=at), other.size, size, at=at)
    return size


def _zip(c: Cursor, at: ast.expr, *walks: Walk) -> Walk:
    def element(c: Cursor, k: NodeId, place: ast.AST) -> NodeId:
        return c.apply("make_tuple", *(w.element(c, k, place) for w in walks), at=place)

    return Walk(_smallest(c, at, walks), element)


def _enumerate(c: Cursor, at: ast.expr, walk: Walk, start: NodeId) -> Walk:
    def element(c: Cursor, k: NodeId, place: ast.AST) -> NodeId:
        number = k if start == c.constant(0) else c.apply("add", start, k, at=place)
        return c.apply("make_tuple", number, walk.element(c, k, place), at=place)

    return Walk(walk.size, element)


def _reversed(c: Cursor, at: ast.expr, walk: Walk) -> Walk:
    last = c.apply("sub", walk.size, c.constant(1), at=at)
    return Walk(walk.size, lambda c, k, place: walk.element(c, c.apply("sub", last, k, at=place), place))


def _map(c: Cursor, at: ast.expr, function: NodeId, *walks: Walk) -> Walk:
    def element(c: Cursor, k: NodeId, place: ast.AST) -> NodeId:
        return c.apply(c.as_value(function), *(w.element(c, k, place) for w in walks), at=at)

    return Walk(_smallest(c, at, walks), element)


def _value(c: Cursor, at: ast.expr, whole: NodeId) -> Walk:
    sequence = whole
    if (keys := keys_of(c, whole)) is not None:
        sequence = c.apply("make_tuple", *map(c.constant, keys), at=at)
    elif may_be_dictionary(c, whole):
        sequence = c.apply("iterated", whole, at=at)
    return Walk(c.apply("length", sequence, at=at), lambda c, k, place: c.apply("getitem", sequence, k, at=place))


def _view(kind: str) -> Callable[..., Walk]:
    def make(c: Cursor, at: ast.Call, whole: NodeId) -> Walk:
        keys = keys_of(c, whole)
        if keys is None:
            return _view_at_run_time(c, at, kind, whole)
        names = [c.constant(k) for k in keys]
        values = [c.apply("field", whole, name, at=at) for name in names]
        pairs = zip(names, values, strict=True)
        elements = {"keys": names, "values": values}.get(kind, [c.apply("make_tuple", *pair, at=at) for pair in pairs])
        return _value(c, at, c.apply("make_tuple", *elements, at=at))

    return make


def _view_at_run_time(c: Cursor, at: ast.Call, kind: str, whole: NodeId) -> Walk:
    """The view of a dictionary whose keys only the run knows."""
    parts = [c.apply(row, whole, at=at) for row in (("keys_of", "values_of") if kind == "items" else (f"{kind}_of",))]

    def element(c: Cursor, k: NodeId, place: ast.AST) -> NodeId:
        found = [c.apply("getitem", part, k, at=place) for part in parts]
        return found[0] if len(found) == 1 else c.apply("make_tuple", *found, at=place)

    return Walk(c.apply("length", parts[-1], at=at), element)


MAKERS: dict[str, Callable[..., Walk]] = {
    "range": _range,
    "zip": _zip,
    "enumerate": _enumerate,
    "reversed": _reversed,
    "map": _map,
    "value": _value,
    **{name: _view(name) for name in VIEWS},
}

RULES = (*(walk_range, walk_together, walk_counted, walk_backwards, walk_mapped, walk_filtered, walk_view, walk_value, walk),)
