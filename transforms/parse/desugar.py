"""
Forms that are other forms, rewritten in the tree before anything is analysed. Every new piece stands at the place of the text
that it came from, so errors and carets point there.

    [e for x in X if c]     →  a function, called on the spot, that appends e in a `for` over X with an `if c` in it
    sum(e for x in X)       →  likewise adding; any and all return early; tuple, list, min, max, and `e in X`
    sum(X)                  →  sum(x for x in X)
    assert c, "why"         →  if c: pass
                               else: raise AssertionError("why")
    f(*(a, b), **{"k": c})  →  f(a, b, k=c)
    a, b = zip(s, t)        →  a, b = tuple(zip(s, t))
    np.add.at(x, i, v)      →  x[i] = v, marked: `cells` makes it x = scatter_add(x, i, v); likewise np.put
    [a] + t, [a] * n        →  see `joining`

Iterators (`zip`, `enumerate`, `reversed`, `map`, `filter`, `range`, generators) are no values: they stand where they are consumed.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from semantics.structured import Label
from transforms.parse.consumers import CONSUMERS, IsIterator, consume, every_element, loop, view_called
from transforms.parse.joining import joined, joins
from transforms.parse.library import BUILTINS, REDUCE
from transforms.parse.names import Class, Found, Module, NameTable
from transforms.parse.nodes import Updated, applied, placed, places, walk
from transforms.parse.numpy_names import NUMPY
from transforms.parse.shape import shape_of, targets_of
from transforms.parse.source import Function

ITERATORS = frozenset({"range", "zip", "enumerate", "reversed", "map", "filter"})
KINDS = frozenset({"float", "int", "bool", "tuple", "list"})
READ = ITERATORS | CONSUMERS | {"isinstance"}
Bound = frozenset[str]


def desugared(root: Function, names: NameTable) -> Function:
    """`root` without the forms above; `root` itself if it has none."""
    return Desugarer(names).run(root) if any(map(_is_sugar, walk(root))) else root


def _is_sugar(node: ast.AST) -> bool:
    match node:
        case ast.ListComp() | ast.GeneratorExp() | ast.Assert() | ast.Starred() | ast.keyword(arg=None):
            return True
        case ast.Compare(ops=ops):
            return any(isinstance(op, (ast.In, ast.NotIn)) for op in ops)
        case ast.Call(func=ast.Name(id=name)):
            return name in READ
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="at" | "put"))):
            return True
        case ast.Assign(targets=[ast.Tuple() | ast.List()], value=value):
            return view_called(value) is not None
        case ast.BinOp():
            return joins(node)
    return False


class Desugarer:
    """Rewrites one function, from the leaves to the root, on a copy of its tree."""

    def __init__(self, names: NameTable) -> None:
        self.names = names

    def run(self, root: Function) -> Function:
        """The rewritten copy of `root`: an explicit stack of places, each met before and after what is in it, the last first."""
        box: list[Any] = [root]
        todo: list[tuple[Any, Any, Bound, bool]] = [(box, 0, frozenset(), False)]
        while todo:
            held, key, bound, done = todo.pop()
            node = held[key]
            if done:
                self.rewrite(held, key, node, bound)
                continue
            node = held[key] = copy.copy(node)
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                bound |= shape_of(node).local
            elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
                bound |= {n for g in node.generators for n in targets_of(g.target)}
            todo.append((held, key, bound, True))
            todo.extend((inside, where, bound, False) for inside, where, _ in places(node))
        result = box[0]
        assert isinstance(result, (ast.FunctionDef, ast.Lambda))
        return result

    def rewrite(self, held: Any, key: Any, node: ast.AST, bound: Bound) -> None:
        """Puts what the node is rewritten to where it is held; a statement may become several."""

        def is_iterator(expression: ast.expr) -> str | None:
            name = self.library(expression, bound)
            return name if name in ITERATORS else view_called(expression)

        match node:
            case ast.For(target=target, iter=over, body=body, orelse=orelse) if is_iterator(over) == "filter":
                held[key : key + 1] = [placed(s, node) for s in loop(target, over, body, orelse, is_iterator)]
            case ast.Expr(value=ast.Call(args=[ast.Name(id=name), index, value], keywords=[]) as call) if function := self.update(
                call.func, bound
            ):
                target = Updated(ast.Name(name, ast.Load()), index, ast.Store())
                target.function = function
                if isinstance(value, (ast.List, ast.Tuple)):
                    value = applied("as_array", value, ast.Constant(None), at=value)
                held[key] = placed(ast.Assign([target], value), node)
            case ast.Assert(test=test, msg=message):
                raised = ast.Raise(ast.Call(ast.Name("AssertionError", ast.Load()), [message] if message else [], []), None)
                held[key] = placed(ast.If(test, [ast.Pass()], [raised]), node)
            case ast.Assign(targets=[ast.Tuple() | ast.List()], value=value):
                node.value = every_element(value, is_iterator)
            case ast.Starred(value=value):
                node.value = every_element(value, is_iterator)
            case ast.ListComp():
                held[key] = consume("list", node, is_iterator, node)
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[over]) if not _is_key_test(left, over):
                found = consume("in", over, is_iterator, node, left)
                held[key] = found if isinstance(op, ast.In) else placed(ast.UnaryOp(ast.Not(), found), node)
            case ast.BinOp() if joins(node):
                held[key] = joined(node)
            case ast.Call():
                held[key] = self.call(node, bound, is_iterator)

    def call(self, node: ast.Call, bound: Bound, is_iterator: IsIterator) -> ast.expr:
        """A call without what it unpacks, or what it consumes."""
        node.args = [part for a in node.args for part in _spread(a)]
        node.keywords = [part for k in node.keywords for part in _spread_keyword(k)]
        name = self.library(node, bound)
        match name, node.args, node.keywords:
            case "isinstance", [value, kinds], [] if (names := self.kinds(kinds, bound)) is not None:
                return applied("is_instance", value, placed(constant(names), node), at=node)
            case "tuple" | "list", [], []:
                made = ast.Tuple([], ast.Load()) if name == "tuple" else ast.List([], ast.Load())
                return placed(made, node)
            case "sum", [over, start], [] if not _starred(over, start):
                return consume("sum", over, is_iterator, node, start)
            case "sum", [over], [ast.keyword(arg="start", value=start)] if not _starred(over):
                return consume("sum", over, is_iterator, node, start)
            case str(), [over], [] if name in CONSUMERS and not _starred(over):
                return consume(name, over, is_iterator, node)
        if len(node.args) > 1 and self.named(node.func, bound) is REDUCE:
            node.args[1] = every_element(node.args[1], is_iterator)
        return node

    def update(self, function: ast.expr, bound: Bound) -> str:
        """`np.add.at` or `np.put`, if a call calls one of them; else nothing."""
        match function:
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id=name), attr="add"), attr="at"):
                found = "np.add.at"
            case ast.Attribute(value=ast.Name(id=name), attr="put"):
                found = "np.put"
            case _:
                return ""
        return found if name not in bound and self.names.find(name) is NUMPY else ""

    def library(self, node: ast.expr, bound: Bound) -> str | None:
        """The name of the builtin that a call calls, if it is one and no variable hides it."""
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in READ and self.is_builtin(name, bound):
                return name
        return None

    def is_builtin(self, name: str, bound: Bound) -> bool:
        """Whether a name is that of the builtin."""
        return name not in bound and (found := BUILTINS.get(name)) is not None and self.names.find(name) is found

    def kinds(self, kinds: ast.expr, bound: Bound) -> str | Label | tuple[str | Label, ...] | None:
        """
        The types that the second argument of isinstance names: a class of records, or builtin ones joined by `|`; None if it
        names others. A tuple where both are named, or several classes.
        """
        parts = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
        names = [p.id for p in parts if isinstance(p, ast.Name) and p.id in KINDS and self.is_builtin(p.id, bound)]
        labels = [found.label for p in parts if isinstance(found := self.named(p, bound), Class)]
        if not parts or len(names) + len(labels) != len(parts):
            return None
        types: tuple[str | Label, ...] = (*labels, "|".join(names)) if names else tuple(labels)
        return types[0] if len(types) == 1 else types

    def named(self, expression: ast.expr, bound: Bound) -> Found | None:
        """What a name, or a name in a module, stands for, if no variable hides it."""
        match expression:
            case ast.Name(id=name) if name not in bound:
                return self.names.find(name)
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name not in bound:
                module = self.names.find(name)
                return module.member(attr) if isinstance(module, Module) else None
        return None


def constant(value: Any) -> ast.Constant:
    """A constant of the language as an expression."""
    return ast.Constant(value)


def _is_key_test(left: ast.expr, over: ast.expr) -> bool:
    """`"a" in d`, d not written out as a sequence."""
    return isinstance(left, ast.Constant) and isinstance(left.value, str) and not isinstance(over, (ast.Tuple, ast.List))


def _starred(*arguments: ast.expr) -> bool:
    return any(isinstance(a, ast.Starred) for a in arguments)


def _spread(argument: ast.expr) -> list[ast.expr]:
    """`*(a, b)` as the arguments a and b."""
    match argument:
        case ast.Starred(value=ast.Tuple(elts=elements) | ast.List(elts=elements)):
            return [part for e in elements for part in _spread(e)]
    return [argument]


def _spread_keyword(keyword: ast.keyword) -> list[ast.keyword]:
    """`**{"a": x}` as the keyword argument a=x."""
    match keyword:
        case ast.keyword(arg=None, value=ast.Dict(keys=keys, values=values)):
            names = [k.value for k in keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
            if len(names) == len(keys):
                return [placed(ast.keyword(name, v), v) for name, v in zip(names, values, strict=True)]
    return [keyword]
