"""
Mutation made explicit in the tree: a hidden variable, `memory'`, is the token of a memory that lists live in while they change.

    xs = [a]             →  memory', xs = alloc(memory', [a])
    xs.append(v)         →  memory' = store(memory', xs, append(load(memory', xs), v))
    xs[i] = v            →  memory' = store(memory', lea(xs, i), v)
    xs[i], xs            →  load(memory', lea(xs, i)), load(memory', xs)        where they are read
    xs.pop()             →  (p' := load(memory', xs); memory' := store(memory', xs, p'[:-1]); p'[-1])
    def g(a): xs[0] = a  →  def g(memory', a): …; return memory', None          and every call of g takes and gives the token
    x[i] = v             →  x = put(x, i, v)                                    x an array; d["k"] = v by `with_field`

Only what `mutation` finds to be changed is rewritten; `aliases` has refused what would differ. The token is a variable like others,
so branches and loops thread it. New pieces stand at the place of the text that they come from. Statements are in `cell_statements`.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from semantics.errors import Malformed
from transforms.parse.aliases import check_aliases
from transforms.parse.cell_pieces import element, getitem, is_effectful, loaded, looked_at, name, part, stored, walrus
from transforms.parse.cell_statements import begin, rewrite_statement
from transforms.parse.flow import analyse
from transforms.parse.mutation import METHODS, TOKEN, Mutations, mutates, mutations_of, own_nodes
from transforms.parse.names import Class, NameTable
from transforms.parse.nodes import Immediate, applied, placed, places, then, walk
from transforms.parse.source import Function, Source


def with_cells(source: Source, root: Function, names: NameTable) -> Function:
    """`root` with its mutations made explicit; `root` itself if it has none. Malformed where Python would show them elsewhere."""
    if not mutates(root):
        return root
    known = mutations_of(analyse(source, root), METHODS - _of_classes(root, names))
    check_calls(source, known)
    return Cells(source, known, check_aliases(known)).run(root)


def _of_classes(root: Function, names: NameTable) -> frozenset[str]:
    """The methods of lists that a class of records has too: of these, only what is made as a list is a list."""
    called = {n.func.attr for n in walk(root) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)} & METHODS
    if not called:
        return frozenset()
    classes = [found for name in names.all() if isinstance(found := names.find(name), Class)]
    return frozenset(m for m in called if any(m in c.kinds for c in classes))


def check_calls(source: Source, known: Mutations) -> None:
    """Malformed at the first reader or writer that is not simply called: a value cannot take the token."""
    found: list[tuple[ast.AST, str, str]] = []
    for function, scope in known.scopes.items():
        nodes = [node for _, node in own_nodes(function)]
        callees = {node.func for node in nodes if isinstance(node, ast.Call)}
        for node in nodes:
            if isinstance(node, ast.Name) and node not in callees and known.called(function, node.id) is not None:
                what = f"{node.id} reads or changes a list outside it, so it can only be called, not passed on"
                found.append((node, what, "pass it the elements of the list, and return what it makes of them"))
        for child in scope.children:
            if (child in known.writers or child in known.readers) and child not in scope.single.values():
                what = "this function reads or changes a list outside it, and its name stands for something else too"
                found.append((child, what, "give it a name of its own, and define it once, outside of loops if it has defaults"))
    if found:
        at, what, remedy = min(found, key=lambda f: (getattr(f[0], "lineno", 0), getattr(f[0], "col_offset", 0)))
        raise source.refuse(at, what, remedy, rule="mutation")


class Cells:
    """Rewrites one tree, from the leaves to the root, on a copy of it."""

    def __init__(self, source: Source, known: Mutations, apart: set[ast.AST]) -> None:
        self.source, self.known, self.apart = source, known, apart
        self.count = 0
        self.whole: set[ast.AST] = set()

    def run(self, root: Function) -> Function:
        """An explicit stack of places, each met before and after what is in it, the last first."""
        box: list[Any] = [root]
        todo: list[tuple[Any, Any, ast.AST, Function, bool]] = [(box, 0, root, root, False)]
        while todo:
            held, key, original, function, done = todo.pop()
            if done:
                self.rewrite(held, key, held[key], original, function)
                continue
            if isinstance(original, ast.Expr):
                self.whole.add(original.value)
            held[key] = copy.copy(original)
            inside = original if isinstance(original, (ast.FunctionDef, ast.Lambda)) else function
            todo.append((held, key, original, function, True))
            # the defaults of the whole function are values by now, and belong to no scope of it
            todo.extend((*place, inside, False) for place in places(held[key]) if place[2] is not root.args)
        result = box[0]
        assert isinstance(result, (ast.FunctionDef, ast.Lambda))
        return result

    def rewrite(self, held: Any, key: Any, node: Any, original: ast.AST, function: Function) -> None:
        """Puts what a node is rewritten to where it is held; a statement may become several."""
        if isinstance(node, ast.stmt) and isinstance(held, list):
            made = rewrite_statement(self, node, original, function)
            if made is not None:
                held[key : key + 1] = [placed(s, original) for s in made]
        elif isinstance(node, ast.expr):
            held[key] = self.expression(node, original, function)
        elif isinstance(node, ast.FunctionDef):
            begin(self, node, original)

    def expression(self, node: ast.expr, original: ast.AST, function: Function) -> ast.expr:
        """An expression whose parts are rewritten already."""
        match node:
            case ast.Name(id=text, ctx=ast.Load()) if self.known.is_list(function, text):
                return loaded(node, node)
            case ast.Subscript(value=base, slice=index, ctx=ast.Load()):
                pointer = looked_at(base)
                if pointer is not None and not any(isinstance(n, ast.Slice) for n in walk(index)):
                    first, (index,) = self.settled([index])
                    return then(first, loaded(element(pointer, index, node), node), node)
                return applied("apart", node, at=node) if original in self.apart else node
            case ast.NamedExpr(target=ast.Name(id=text)) if self.known.is_list(function, text):
                what = f"the list {text} is changed, so `:=` cannot assign it inside an expression"
                raise self.refuse(node, what, "assign it on a line of its own")
            case ast.BinOp(left=left, op=ast.Add(), right=right) if looked_at(left) or looked_at(right):
                return applied("concat", left, right, at=node)
            case ast.Call(func=ast.Attribute(value=base, attr=method)) if (pointer := looked_at(base)) is not None:
                return self.method(node, original, pointer, method, function)
            case ast.Call(func=ast.Name(id=text)) if (called := self.known.called(function, text)) is not None:
                return self.call(node, called, function)
        return node

    def method(self, node: ast.Call, original: ast.AST, pointer: ast.Name, method: str, function: Function) -> ast.expr:
        """A method of a list in an expression."""
        if method == "copy" and not node.args:
            return applied("concat", ast.List([], ast.Load()), loaded(pointer, node), at=node)
        if method in METHODS:
            self.may_change(node, function)
        if method == "pop":
            return self.pop(node, pointer)
        if method in METHODS and original not in self.whole:
            raise self.refuse(
                node, f"{method} changes a list and returns None, so its value is of no use", "put it on a line of its own"
            )
        return node

    def pop(self, node: ast.Call, pointer: ast.Name) -> ast.expr:
        """`xs.pop()`, `xs.pop(k)` with a constant k: the element, after the list has been stored without it."""
        match node.args:
            case []:
                index = -1
            case [ast.Constant(value=int() as index)]:
                pass
            case [ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as size))]:
                index = -size
            case _:
                raise self.refuse(node, "pop takes a constant index here", "xs.pop(), xs.pop(0), or a new list without the element")
        before = self.fresh("list")
        rest = part(name(before), None, index, node)
        if index != -1:
            rest = applied("concat", rest, part(name(before), index + 1, None, node), at=node)
        first = [walrus(before, loaded(pointer, node)), walrus(TOKEN, stored(pointer, rest, node))]
        return then(first, getitem(name(before), index, node), node)

    def call(self, node: ast.Call, called: Function, function: Function) -> ast.expr:
        """A call of a reader, which takes the token, or of a writer, which returns it beside its result."""
        first, given = self.settled([*node.args, *(k.value for k in node.keywords)])
        count = len(node.args)
        keywords = [ast.keyword(k.arg, value) for k, value in zip(node.keywords, given[count:], strict=True)]
        result = placed(ast.Call(node.func, [name(TOKEN), *given[:count]], keywords), node)
        if called in self.known.readers:
            return then(first, result, node)
        self.may_change(node, function)
        both = self.fresh("result")
        first += [walrus(both, result), walrus(TOKEN, getitem(name(both), 0, node))]
        return then(first, getitem(name(both), 1, node), node)

    def settled(self, values: list[ast.expr]) -> tuple[list[ast.expr], list[ast.expr]]:
        """Expressions evaluated first, in order, so that what comes after sees the memory as they leave it; and names for them."""
        if not any(map(is_effectful, values)):
            return [], values
        names = [self.fresh("value") for _ in values]
        return [walrus(n, v) for n, v in zip(names, values, strict=True)], [name(n) for n in names]

    def fresh(self, role: str) -> str:
        """A name that no Python variable has."""
        self.count += 1
        return f"{role}'{self.count}"

    def may_change(self, at: ast.AST, function: Function) -> None:
        """Malformed in a comprehension or a lambda, which give nothing back but their value."""
        if isinstance(function, Immediate):
            raise self.refuse(at, "a comprehension cannot change a list outside it", "write a for loop")
        if isinstance(function, ast.Lambda):
            raise self.refuse(at, "a lambda cannot change a list outside it", "write a def, and call it by its name")

    def refuse(self, at: ast.AST, what: str, remedy: str) -> Malformed:
        """The error, at its place."""
        return self.source.refuse(at, what, remedy, rule="mutation")
