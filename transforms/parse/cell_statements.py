"""
Statements that change lists, arrays and dictionaries, rewritten to assignments: the rules of statements for `cells`.
"""

from __future__ import annotations

import ast
from typing import Protocol

from semantics.errors import Malformed
from transforms.parse.cell_pieces import allocate, assign, element, is_effectful, loaded, looked_at, name, part, store
from transforms.parse.mutation import METHODS, TOKEN, Mutations, changes_lists
from transforms.parse.nodes import Updated, applied
from transforms.parse.source import Function, parameters_of


class Rewriter(Protocol):
    """What the rules of statements ask of the rewriting of a tree."""

    known: Mutations
    apart: set[ast.AST]

    def fresh(self, role: str) -> str: ...

    def may_change(self, at: ast.AST, function: Function) -> None: ...

    def refuse(self, at: ast.AST, what: str, remedy: str) -> Malformed: ...


def rewrite_statement(r: Rewriter, node: ast.stmt, original: ast.AST, function: Function) -> list[ast.stmt] | None:
    """The statements that stand for one, whose parts are rewritten already; None for those that stay."""
    match node:
        case ast.FunctionDef():
            begin(r, node, original)
            return [node]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=base, attr=method)) as call) if method in METHODS:
            pointer = looked_at(base)
            return _method(r, call, pointer, method) if pointer is not None else None
        case ast.Assign(targets=targets, value=value) if any(_concerns(r, t, function) for t in targets):
            return _assigned(r, targets, value, function)
        case ast.AnnAssign(target=target, value=ast.expr() as value) if _concerns(r, target, function):
            return _assigned(r, [target], value, function)
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
            return _augmented(r, target, op, value, function)
        case ast.AugAssign(target=ast.Name(id=text), op=op, value=value) if r.known.is_list(function, text):
            if not isinstance(op, ast.Add):
                raise r.refuse(node, "this changes a list in place, and is not in the language", f"assign it: {text} = {text} * n")
            return _method(r, ast.Call(name(text), [value], []), name(text), "extend")
        case ast.AugAssign(target=ast.Name(id=text), op=op, value=value) if original in r.apart:
            return [assign(text, ast.BinOp(applied("apart", name(text), at=node), op, value))]
        case ast.AugAssign(target=ast.Name(id=text)) if original.target in r.apart:  # type: ignore[attr-defined]
            return [_no_array(text, node), node]
        case ast.For():
            return _for(r, node, original, function)
        case ast.Return(value=value) if function in r.known.writers:
            result = r.fresh("result")
            both = ast.Tuple([name(TOKEN), name(result)], ast.Load())
            return [assign(result, value or ast.Constant(None)), ast.Return(both)]
    return None


def _no_array(text: str, at: ast.stmt) -> ast.stmt:
    """A test that a name holds no array, which Python would change for others who hold it, though nothing reads the name again."""
    why = f"{text} is changed in place, which Python would show to all who hold it; try {text} = {text}.copy() before"
    raised = ast.Raise(ast.Call(ast.Name("ValueError", ast.Load()), [ast.Constant(why)], []), None)
    return ast.If(applied("is_instance", name(text), ast.Constant("ndarray"), at=at), [raised], [])


def begin(r: Rewriter, node: ast.FunctionDef, original: ast.AST) -> None:
    """The beginning and the end of a function: where its token comes from, and its parameters that are changed."""
    assert isinstance(original, ast.FunctionDef)
    first: list[ast.stmt] = []
    if original in r.known.readers or original in r.known.writers:
        node.args.posonlyargs.insert(0, ast.arg(TOKEN))
    elif original in r.known.owners:
        first.append(assign(TOKEN, applied("memory", ast.Constant(original.lineno), at=original)))
    for argument in parameters_of(original):
        if r.known.is_list(original, argument.arg):
            first.append(allocate(argument.arg, name(argument.arg), argument))
    node.body[:0] = first
    if original in r.known.writers:
        node.body.append(ast.Return(ast.Tuple([name(TOKEN), ast.Constant(None)], ast.Load())))


def _concerns(r: Rewriter, target: ast.expr, function: Function) -> bool:
    """Whether a target changes something, or is a variable that holds a pointer."""
    todo = [target]
    while todo:
        match todo.pop():
            case ast.Subscript():
                return True
            case ast.Name(id=text) if r.known.is_list(function, text):
                return True
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                todo.extend(elements)
            case ast.Starred(value=value):
                todo.append(value)
    return False


def _assigned(r: Rewriter, targets: list[ast.expr], value: ast.expr, function: Function) -> list[ast.stmt]:
    """`target = … = value`: the value gets a name, then each target takes it, from the left."""
    match targets, value:
        case [ast.Tuple(elts=ts) | ast.List(elts=ts)], (ast.Tuple(elts=vs) | ast.List(elts=vs)) if len(ts) == len(vs) and not any(
            isinstance(e, ast.Starred) for e in (*ts, *vs)
        ):
            names = [r.fresh("value") for _ in vs]
            made = [s for n, v, t in zip(names, vs, ts, strict=True) for s in _named(r, n, v, [t], function)]
            return made + [
                s for n, v, t in zip(names, vs, ts, strict=True) for s in _bind(r, t, n, _is_pointer(r, [t], function), function)
            ]
    if len(targets) == 1 and isinstance(targets[0], ast.Name):
        return _named(r, targets[0].id, value, targets, function)
    if len(targets) == 1 and isinstance(targets[0], ast.Subscript) and isinstance(value, (ast.Constant, ast.Name)):
        return _element(r, targets[0], value, function)
    whole = r.fresh("value")
    pointer = _is_pointer(r, targets, function)
    bound = [s for t in targets for s in _bind(r, t, whole, pointer, function)]
    return [*_named(r, whole, value, targets, function), *bound]


def _is_pointer(r: Rewriter, targets: list[ast.expr], function: Function) -> bool:
    return any(isinstance(t, ast.Name) and r.known.is_list(function, t.id) for t in targets)


def _named(r: Rewriter, text: str, value: ast.expr, targets: list[ast.expr], function: Function) -> list[ast.stmt]:
    """`text = value`, a pointer if a target is one: that of the other variable for an alias, a new one for anything else."""
    if not _is_pointer(r, targets, function):
        return [assign(text, value)]
    pointers = _pointers(value)
    return [assign(text, pointers)] if pointers is not None else [allocate(text, value, value)]


def _pointers(value: ast.expr) -> ast.expr | None:
    """`x`, or `x if c else y`, as pointers where both are read as lists; None for anything else."""
    match value:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            a, b = _pointers(body), _pointers(orelse)
            return ast.IfExp(test, a, b) if a is not None and b is not None else None
    return looked_at(value)


def _bind(r: Rewriter, target: ast.expr, text: str, pointer: bool, function: Function) -> list[ast.stmt]:
    """`target = text`, where `text` is a name of ours that holds a pointer or a value."""
    made: list[ast.stmt] = []
    todo: list[tuple[ast.expr, str, bool]] = [(target, text, pointer)]
    while todo:
        here, source, points = todo.pop(0)
        match here:
            case ast.Name(id=variable):
                value = name(source)
                if r.known.is_list(function, variable):
                    made.append(assign(variable, value) if points else allocate(variable, value, here))
                else:
                    made.append(assign(variable, loaded(value, here) if points else value))
            case ast.Subscript():
                made += _element(r, here, loaded(name(source), here) if points else name(source), function)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                names = [r.fresh("value") for _ in elements]
                stars = [isinstance(e, ast.Starred) for e in elements]
                stores: list[ast.expr] = [ast.Name(n, ast.Store()) for n in names]
                parts = [ast.Starred(n, ast.Store()) if s else n for n, s in zip(stores, stars, strict=True)]
                made.append(ast.Assign([ast.Tuple(parts, ast.Store())], loaded(name(source), here) if points else name(source)))
                plain = [e.value if isinstance(e, ast.Starred) else e for e in elements]
                todo[:0] = [(e, n, False) for e, n in zip(plain, names, strict=True)]
            case _:
                made.append(ast.Assign([here], name(source)))
    return made


def _element(r: Rewriter, target: ast.Subscript, value: ast.expr, function: Function) -> list[ast.stmt]:
    """`x[i] = value`"""
    r.may_change(target, function)
    pointer = looked_at(target.value)
    made: list[ast.stmt] = []
    index = target.slice
    if is_effectful(index) or is_effectful(value):
        names = [r.fresh("value"), r.fresh("index")]
        made += [assign(names[0], value), assign(names[1], index)]
        value, index = name(names[0]), name(names[1])
    if pointer is not None:
        if isinstance(target, Updated):
            raise r.refuse(
                target, f"{target.function} changes an array, and this is a list", "np.array(xs), or assign its elements"
            )
        if any(isinstance(n, ast.Slice) for n in ast.walk(index)):
            raise r.refuse(
                target, "a part of a list cannot be assigned at once", "assign its elements one by one, or build a new list"
            )
        return [*made, store(element(pointer, index, target), value, target)]
    assert isinstance(target.value, ast.Name)
    variable = target.value.id
    if isinstance(target, Updated):
        return [*made, assign(variable, _updated(target.function, name(variable), index, value, target))]
    key = isinstance(index, ast.Constant) and isinstance(index.value, str)
    return [*made, assign(variable, applied("with_field" if key else "put", name(variable), index, value, at=target))]


def _updated(function: str, array: ast.expr, index: ast.expr, value: ast.expr, at: ast.AST) -> ast.expr:
    """What `np.add.at(array, index, value)` or `np.put(…)` makes of the array."""
    if isinstance(index, ast.List) or function == "np.put":
        index = applied("as_array", index, ast.Constant(None), at=at)
    if function == "np.add.at":
        return applied("scatter_add", array, index, value, at=at)
    flat = applied("reshape", array, ast.Constant(-1), at=at)
    return applied("reshape", applied("put", flat, index, value, at=at), applied("shape", array, at=at), at=at)


def _augmented(r: Rewriter, target: ast.Subscript, op: ast.operator, value: ast.expr, function: Function) -> list[ast.stmt]:
    """`x[i] ⊕= value`: the index once, then the element, then the value."""
    r.may_change(target, function)
    pointer = looked_at(target.value)
    index, old = target.slice, r.fresh("old")
    made: list[ast.stmt] = []
    if not isinstance(index, (ast.Constant, ast.Name, ast.Slice, ast.Tuple)):
        made.append(assign(place := r.fresh("index"), index))
        index = name(place)
    if pointer is not None:
        made.append(assign(where := r.fresh("place"), element(pointer, index, target)))
        made.append(assign(old, loaded(name(where), target)))
        new = ast.BinOp(name(old), op, value)
        if is_effectful(value):
            made.append(assign(later := r.fresh("new"), new))
            return [*made, store(name(where), name(later), target)]
        return [*made, store(name(where), new, target)]
    assert isinstance(target.value, ast.Name)
    made.append(assign(old, ast.Subscript(target.value, index, ast.Load())))
    return made + _element(r, ast.Subscript(target.value, index, ast.Store()), ast.BinOp(name(old), op, value), function)


def _method(r: Rewriter, call: ast.Call, pointer: ast.Name, method: str) -> list[ast.stmt]:
    """A method that changes a list and returns None: the list is loaded after the arguments are evaluated."""
    made: list[ast.stmt] = []
    arguments: list[ast.expr] = []
    for argument in call.args:
        if is_effectful(argument):
            made.append(assign(text := r.fresh("value"), argument))
            argument = name(text)
        arguments.append(argument)
    whole = loaded(pointer, call)
    wanted = {"append": 1, "extend": 1, "insert": 2, "clear": 0, "reverse": 0}.get(method)
    if wanted is None or len(arguments) != wanted or call.keywords:
        what = f"the method {method} of a list is not in the language" if wanted is None else f"{method} takes {wanted} arguments"
        raise r.refuse(call, what, "append, extend, insert, pop, clear and reverse are")
    new: ast.expr
    match method, arguments:
        case "append", [value]:
            new = applied("append", whole, value, at=call)
        case "extend", [more]:
            new = applied("concat", whole, more, at=call)
        case "insert", [index, value]:
            made.append(assign(place := r.fresh("index"), index))
            before, after = ast.Slice(None, name(place), None), ast.Slice(name(place), None, None)
            head = applied("append", applied("getitem", whole, before, at=call), value, at=call)
            new = applied("concat", head, applied("getitem", loaded(pointer, call), after, at=call), at=call)
        case "reverse", _:
            new = part(whole, None, None, call, -1)
        case _:
            new = ast.List([], ast.Load())
    return [*made, store(pointer, new, call)]


def _for(r: Rewriter, node: ast.For, original: ast.AST, function: Function) -> list[ast.stmt] | None:
    """
    A loop over a list that its body changes looks at the list as it is in each turn, as in CPython.

    What a target that holds a pointer takes is put into a cell; what may be a row of an array that changes must be a number.
    """
    assert isinstance(original, ast.For)
    over = looked_at(node.iter)
    live = over is not None and isinstance(original.iter, ast.Name) and changes_lists(r.known, function, original.body)
    if not live:
        apart = original in r.apart
        if not apart and not _concerns(r, node.target, function):
            return None
        item = r.fresh("item")
        value = applied("apart", name(item), at=node.target) if apart else name(item)
        body = [assign(taken := r.fresh("value"), value), *_bind(r, node.target, taken, False, function), *node.body]
        return [ast.For(ast.Name(item, ast.Store()), node.iter, body, node.orelse)]
    assert over is not None
    held, turn, item = r.fresh("over"), r.fresh("turn"), r.fresh("value")
    length = applied("length", loaded(name(held), node.iter), at=node.iter)
    taken_now = assign(item, loaded(element(name(held), name(turn), node.iter), node.iter))
    following = assign(turn, ast.BinOp(name(turn), ast.Add(), ast.Constant(1)))
    body = [taken_now, *_bind(r, node.target, item, False, function), following, *node.body]
    test = ast.Compare(name(turn), [ast.Lt()], [length])
    return [assign(held, over), assign(turn, ast.Constant(0)), ast.While(test, body, node.orelse)]
