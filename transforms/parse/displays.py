"""
The rules of what is written with brackets: tuples, lists, dictionaries, slices; and of forms that only desugaring makes.

A list is an immutable sequence with the label LIST, a dictionary a record whose fields are its keys. `*t` among the elements is
joined to what stands around it by `concat`.
"""

from __future__ import annotations

import ast

from semantics.ir import NodeId
from semantics.structured import ELLIPSIS, LIST, Label
from transforms.agenda_system import agenda_rule
from transforms.parse.cursor import Cursor
from transforms.parse.items import Build, Drop, Emit, Enclosed, Eval, Gather, Put, evaluating, top
from transforms.parse.known import elements_of, may_be_dictionary
from transforms.parse.nodes import Applied, Inner, Then
from transforms.parse.state import ParseState


@agenda_rule
def tuple_display(state: ParseState) -> ParseState | None:
    """⟨(a, b, …)⟩ κ, σ  →  ⟨a⟩ ⟨b⟩ … make_tuple/n κ, σ"""
    match evaluating(state):
        case ast.Tuple(elts=elements) as at if not any(isinstance(e, ast.Starred) for e in elements):
            c = Cursor(state)
            c.do(*map(Eval, elements), Emit("make_tuple", len(elements), at))
            return c.state
    return None


@agenda_rule
def list_display(state: ParseState) -> ParseState | None:
    """⟨[a, b, …]⟩ κ, σ  →  (list) ⟨a⟩ ⟨b⟩ … make_record/n+1 κ, σ"""
    match evaluating(state):
        case ast.List(elts=elements) as at if not any(isinstance(e, ast.Starred) for e in elements):
            c = Cursor(state)
            c.do(Put(c.constant(LIST)), *map(Eval, elements), Emit("make_record", len(elements) + 1, at))
            return c.state
    return None


@agenda_rule
def starred_display(state: ParseState) -> ParseState | None:
    """⟨(a, *t, b)⟩ κ, σ  →  ⟨a⟩ ⟨t⟩ ⟨b⟩ gather κ, σ        likewise [a, *t, b]"""
    match evaluating(state):
        case (ast.Tuple(elts=elements) | ast.List(elts=elements)) as at if any(isinstance(e, ast.Starred) for e in elements):
            c = Cursor(state)
            c.do(*(Eval(e.value if isinstance(e, ast.Starred) else e) for e in elements), Gather(at))
            return c.state
    return None


@agenda_rule
def gather(state: ParseState) -> ParseState | None:
    """gather κ, b t a σ  →  κ, concat(concat((a), t), (b)) σ        elements that are known stand for themselves"""
    match top(state):
        case Gather((ast.Tuple(elts=elements) | ast.List(elts=elements)) as at):
            c = Cursor(state)
            parts = list(zip(c.nodes(len(elements)), (isinstance(e, ast.Starred) for e in elements), strict=True))
            c.push(joined(c, parts, at, isinstance(at, ast.List)))
            return c.state
    return None


def expanded(c: Cursor, parts: list[tuple[NodeId, bool]]) -> list[tuple[NodeId, bool]]:
    """The parts with the elements of a starred one in its place, where they are known."""
    found: list[tuple[NodeId, bool]] = []
    for node, starred in parts:
        known = elements_of(c, node) if starred else None
        found += [(node, starred)] if known is None else [(n, False) for n in known]
    return found


def joined(c: Cursor, parts: list[tuple[NodeId, bool]], at: ast.AST, as_list: bool = False) -> NodeId:
    """The sequence of the parts, of which starred ones are sequences themselves."""
    first = (c.constant(LIST),) if as_list else ()
    make = "make_record" if as_list else "make_tuple"
    whole: NodeId | None = None
    run: list[NodeId] = []
    for node, starred in expanded(c, parts):
        if not starred:
            run.append(node)
            continue
        if run or whole is None:
            group = c.apply(make, *first, *run, at=at)
            whole, run = group if whole is None else c.apply("concat", whole, group, at=at), []
        elements = c.apply("iterated", node, at=at) if may_be_dictionary(c, node) else node
        whole = c.apply("concat", whole, elements, at=at)
    if run or whole is None:
        group = c.apply(make, *first, *run, at=at)
        whole = group if whole is None else c.apply("concat", whole, group, at=at)
    return whole


@agenda_rule
def dictionary(state: ParseState) -> ParseState | None:
    """⟨{"a": e, …}⟩ κ, σ  →  (label with a, …) ⟨e⟩ … make_record/n+1 κ, σ"""
    match evaluating(state):
        case ast.Dict(keys=keys, values=values) as at:
            c = Cursor(state)
            names = tuple(k.value for k in keys if isinstance(k, ast.Constant) and isinstance(k.value, str))
            if len(set(names)) < len(keys):
                raise c.refuse(at, "a key stands twice in this dictionary", "give each key once")
            c.do(Put(c.constant(Label("dict", "", names))), *map(Eval, values), Emit("make_record", len(keys) + 1, at))
            return c.state
    return None


@agenda_rule
def subscript(state: ParseState) -> ParseState | None:
    """⟨t[i]⟩ κ, σ  →  ⟨t⟩ ⟨i⟩ getitem/2 κ, σ"""
    match evaluating(state):
        case ast.Subscript(value=value, slice=index) as at if not _is_key(index):
            c = Cursor(state)
            c.do(Eval(value), Eval(index), Emit("getitem", 2, at))
            return c.state
    return None


@agenda_rule
def key_subscript(state: ParseState) -> ParseState | None:
    """⟨d["a"]⟩ κ, σ  →  ⟨d⟩ ("a") field/2 κ, σ"""
    match evaluating(state):
        case ast.Subscript(value=value, slice=ast.Constant(value=str() as key)) as at:
            c = Cursor(state)
            c.do(Eval(value), Put(c.constant(key)), Emit("field", 2, at))
            return c.state
    return None


def _is_key(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and isinstance(index.value, str)


@agenda_rule
def slice_expression(state: ParseState) -> ParseState | None:
    """⟨a:b:c⟩ κ, σ  →  ⟨a⟩ ⟨b⟩ ⟨c⟩ make_slice/3 κ, σ        None for what is left out"""
    match evaluating(state):
        case ast.Slice(lower=lower, upper=upper, step=step) as at:
            c = Cursor(state)
            parts = (Eval(p) if p is not None else Put(c.constant(None)) for p in (lower, upper, step))
            c.do(*parts, Emit("make_slice", 3, at))
            return c.state
    return None


@agenda_rule
def ellipsis(state: ParseState) -> ParseState | None:
    """⟨...⟩ κ, σ  →  κ, ... σ        in an index"""
    match evaluating(state):
        case ast.Constant(value=value) if value is ...:
            c = Cursor(state)
            c.push(c.constant(ELLIPSIS))
            return c.state
    return None


@agenda_rule
def generator(state: ParseState) -> ParseState | None:
    """⟨(e for x in X)⟩ κ  →  Malformed        a generator is no value: it stands where it is consumed"""
    match evaluating(state):
        case ast.GeneratorExp() as at:
            remedy = "pass it to sum, any, all, min, max, tuple or list; or write a list: [e for x in t]"
            raise Cursor(state).refuse(at, "a generator is no value here", remedy)
    return None


# what only desugaring makes


@agenda_rule
def in_turn(state: ParseState) -> ParseState | None:
    """⟨e, then v⟩ κ, σ  →  ⟨e⟩ drop ⟨v⟩ κ, σ        e for what it assigns"""
    match evaluating(state):
        case Then(first=first, value=value):
            c = Cursor(state)
            c.do(*(item for e in first for item in (Eval(e), Drop())), Eval(value))
            return c.state
    return None


@agenda_rule
def primitive_applied(state: ParseState) -> ParseState | None:
    """⟨p(a, …)⟩ κ, σ  →  ⟨a⟩ … p/n κ, σ        p a primitive that desugaring put there"""
    match evaluating(state):
        case Applied(primitive=primitive, arguments=arguments) as at:
            c = Cursor(state)
            c.do(*map(Eval, arguments), Emit(primitive, len(arguments), at))
            return c.state
    return None


@agenda_rule
def inner_function(state: ParseState) -> ParseState | None:
    """⟨(def f(x): s)(a, …)⟩ κ, σ  →  ⟨a⟩ … (build f) enclosed κ, σ        a function that is called on the spot"""
    match evaluating(state):
        case Inner(function=function, arguments=arguments) as at:
            c = Cursor(state)
            c.do(*map(Eval, arguments), Build(function, None), Enclosed(at))
            return c.state
    return None


@agenda_rule
def enclosed(state: ParseState) -> ParseState | None:
    """enclosed κ, f b … a σ  →  κ, %r σ        with %r = f(a, …)"""
    match top(state):
        case Enclosed(at):
            c = Cursor(state)
            function = c.value().node
            c.push(c.apply(function, *c.nodes(len(at.arguments)), at=at))
            return c.state
    return None


RULES = (
    *(tuple_display, list_display, starred_display, gather, dictionary, subscript, key_subscript, slice_expression, ellipsis),
    *(generator, in_turn, primitive_applied, inner_function, enclosed),
)
