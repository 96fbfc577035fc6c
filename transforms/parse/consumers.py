"""
Comprehensions and the builtins that consume a sequence, as functions with loops in them.

`consume(kind, X, …)` is the tree of a call, on the spot, of

    def kind(it…):                     its parameters are the parts of the first iterable, which is evaluated outside
        [begin]
        for x in X:                    one `for` per `for` of a generator, one `if` per `if`
            if c: [each e]
        [end]

with begin, each and end of the kind: `sum` adds, `list` and `tuple` append, `any`, `all` and `in` return early, `min` and `max`
keep the best. Names with a quote in them are no names of Python, so they hide no variable.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

from transforms.parse.nodes import Immediate, applied, inner, placed
from transforms.parse.shape import targets_of

CONSUMERS = frozenset({"sum", "any", "all", "min", "max", "tuple", "list"})
ACCUMULATED, ELEMENT, KEPT, FOUND, SOUGHT = "acc'", "x'", "keep'", "found'", "sought'"

VIEWS = frozenset({"items", "keys", "values"})
IsIterator = Callable[[ast.expr], str | None]
Body = list[ast.stmt]


class Kind(NamedTuple):
    """What happens before the loop, with each element, and after it."""

    begin: Callable[[], Body]
    each: Callable[[ast.expr], Body]
    end: Callable[[], Body]


def view_called(expression: ast.expr) -> str | None:
    """The view of a dictionary that an expression makes: `items`, `keys` or `values`."""
    match expression:
        case ast.Call(func=ast.Attribute(attr=attr), args=[], keywords=[]) if attr in VIEWS:
            return attr
    return None


def load(name: str) -> ast.Name:
    """The variable, read."""
    return ast.Name(name, ast.Load())


def assign(name: str, value: ast.expr) -> ast.stmt:
    """The variable, assigned."""
    return ast.Assign([ast.Name(name, ast.Store())], value)


def give(value: ast.expr) -> ast.stmt:
    """`return value`"""
    return ast.Return(value)


def when(test: ast.expr, *body: ast.stmt) -> ast.stmt:
    """`if test: body`"""
    return ast.If(test, list(body), [])


def _accumulating(start: ast.expr, step: Callable[[ast.expr], ast.expr]) -> Kind:
    """Assigns `step(e)` to the accumulator for each element e, and returns it."""
    return Kind(lambda: [assign(ACCUMULATED, start)], lambda e: [assign(ACCUMULATED, step(e))], lambda: [give(load(ACCUMULATED))])


def _deciding(test: Callable[[ast.expr], ast.expr], found: bool) -> Kind:
    """Returns `found` at the first element that passes the test, the opposite if none does."""
    return Kind(list, lambda e: [when(test(e), give(ast.Constant(found)))], lambda: [give(ast.Constant(not found))])


def _choosing(name: str, at: ast.AST) -> Kind:
    """The first element, then what min or max keeps of it and each other; of no element, a trap."""
    empty = ast.Call(load("ValueError"), [ast.Constant(f"{name}() arg is an empty sequence")], [])

    def each(element: ast.expr) -> Body:
        best = applied(name, load(ACCUMULATED), load(ELEMENT), at=at)
        first = [assign(ACCUMULATED, load(ELEMENT)), assign(FOUND, ast.Constant(True))]
        return [assign(ELEMENT, element), ast.If(load(FOUND), [assign(ACCUMULATED, best)], first)]

    return Kind(
        lambda: [assign(FOUND, ast.Constant(False))],
        each,
        lambda: [when(ast.UnaryOp(ast.Not(), load(FOUND)), ast.Raise(empty, None)), give(load(ACCUMULATED))],
    )


def _kind(name: str, start: ast.expr | None, at: ast.AST) -> Kind:
    match name:
        case "sum":
            return _accumulating(start or ast.Constant(0), lambda e: ast.BinOp(load(ACCUMULATED), ast.Add(), e))
        case "list" | "tuple":
            nothing: ast.expr = ast.List([], ast.Load()) if name == "list" else ast.Tuple([], ast.Load())
            return _accumulating(nothing, lambda e: applied("append", load(ACCUMULATED), e, at=at))
        case "any":
            return _deciding(lambda e: e, True)
        case "all":
            return _deciding(lambda e: ast.UnaryOp(ast.Not(), e), False)
        case "in":
            return _deciding(lambda e: ast.Compare(load(SOUGHT), [ast.Eq()], [e]), True)
        case _:
            return _choosing(name, at)


def consume(kind: str, over: ast.expr, is_iterator: IsIterator, at: ast.expr, extra: ast.expr | None = None) -> ast.expr:
    """
    What `kind` makes of the elements of `over`: a sequence, an iterator or a comprehension.

    `extra` is the start of a sum, or what `in` looks for, which is evaluated first.
    """
    if kind in ("tuple", "list") and not isinstance(over, (ast.GeneratorExp, ast.ListComp)) and is_iterator(over) is None:
        empty: ast.expr = ast.List([], ast.Load()) if kind == "list" else ast.Tuple([], ast.Load())
        elements = over if isinstance(over, (ast.Tuple, ast.List)) else applied("iterated", over, at=at)
        return placed(applied("concat", empty, elements, at=at), at)
    if isinstance(over, (ast.GeneratorExp, ast.ListComp)):
        element, generators = over.elt, over.generators
    else:
        element, generators = load(ELEMENT), [ast.comprehension(ast.Name(ELEMENT, ast.Store()), over, [], 0)]
    hidden = frozenset(n for g in generators for n in targets_of(g.target))
    parameters: list[str] = []
    arguments: list[ast.expr] = []
    if extra is not None and kind == "in":
        parameters.append(SOUGHT)
        arguments.append(extra)
    first = generators[0]
    outside, leaves = _outside(first.iter, is_iterator, hidden)
    generators = [ast.comprehension(first.target, outside, first.ifs, 0), *generators[1:]]
    parameters += [f"it'{i}" for i in range(len(leaves))]
    arguments += leaves
    start = None
    if extra is not None and kind != "in":
        parameters.append("start'")
        arguments.append(extra)
        start = load("start'")
    made = _kind(kind, start, at)
    body = made.each(element)
    for generator in reversed(generators):
        for condition in reversed(generator.ifs):
            body = [when(condition, *body)]
        body = loop(generator.target, generator.iter, body, [], is_iterator)
    name = {"in": "contains", "list": "list"}.get(kind, kind)
    declared = ast.arguments(
        posonlyargs=[], args=[ast.arg(p) for p in parameters], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )
    function = Immediate(name, declared, [*made.begin(), *body, *made.end()], [])
    return placed(inner(function, arguments, at), at)


def loop(target: ast.expr, over: ast.expr, body: Body, orelse: Body, is_iterator: IsIterator) -> Body:
    """A `for`; over `filter(p, X)` it is one over X whose body is guarded by p, or by the element itself for None."""
    if is_iterator(over) != "filter" or not isinstance(over, ast.Call) or len(over.args) != 2:
        return [ast.For(target, over, body, orelse)]
    keep, elements = over.args
    element = f"{ELEMENT}{over.lineno}.{over.col_offset}"
    kept = f"{KEPT}{over.lineno}.{over.col_offset}"
    always = isinstance(keep, ast.Constant) and keep.value is None
    test: ast.expr = load(element) if always else ast.Call(load(kept), [load(element)], [])
    guarded = ast.If(test, [ast.Assign([target], load(element)), *body], [])
    turns = loop(ast.Name(element, ast.Store()), elements, [guarded], orelse, is_iterator)
    return turns if always else [assign(kept, keep), *turns]


def _outside(over: ast.expr, is_iterator: IsIterator, hidden: frozenset[str]) -> tuple[ast.expr, list[ast.expr]]:
    """
    The first iterable with its parts replaced by parameters, and those parts, which are evaluated outside.

    Constants stay, and so do variables that no `for` of the comprehension hides: they mean the same inside.
    """
    leaves: list[ast.expr] = []
    box = [over]
    todo: list[tuple[Any, Any]] = [(box, 0)]
    while todo:
        held, index = todo.pop()
        part = held[index]
        if isinstance(part, ast.Call) and is_iterator(part) is not None:
            if isinstance(part.func, ast.Attribute):
                function = part.func = ast.Attribute(part.func.value, part.func.attr, ast.Load())
                placed(function, part)
                todo.append((function.__dict__, "value"))
            todo += [(part.args, i) for i in reversed(range(len(part.args)))]
            for keyword in part.keywords:
                if not isinstance(keyword.value, ast.Constant):
                    leaves.append(keyword.value)
                    keyword.value = placed(load(f"it'{len(leaves) - 1}"), part)
        elif isinstance(part, ast.Starred):
            todo.append((part.__dict__, "value"))  # the call that it is an argument of refuses it
        elif not isinstance(part, ast.Constant) and not (isinstance(part, ast.Name) and part.id not in hidden):
            leaves.append(part)
            held[index] = placed(load(f"it'{len(leaves) - 1}"), part)
    return box[0], leaves


def every_element(over: ast.expr, is_iterator: IsIterator) -> ast.expr:
    """An iterator as the tuple of its elements; any other expression as it is."""
    if isinstance(over, ast.GeneratorExp) or is_iterator(over) is not None:
        return consume("tuple", over, is_iterator, over)
    return over
