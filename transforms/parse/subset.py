"""
The subset of Python that has a meaning here, as a list of what is refused and what to write instead.

`check_subset` looks at every piece of a function, reachable or not, before anything is built from it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from transforms.parse.nodes import held_by
from transforms.parse.source import Function, Source

# syntactic form: (what it is called, what to write instead)
REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.AsyncFunctionDef: ("async def", "a plain def"),
    ast.AsyncFor: ("async for", "a plain for over range(…)"),
    ast.AsyncWith: ("async with", "the statements of the block alone"),
    ast.Await: ("await", "a plain call"),
    ast.ClassDef: ("a class", "a tuple for the data and functions for the methods"),
    ast.Delete: ("del", "leave the name alone; it goes when the function returns"),
    ast.With: ("with", "the statements of the block alone"),
    ast.Match: ("match", "if and elif"),
    ast.Try: ("try", "test with if before the operation that may fail"),
    ast.TryStar: ("try", "test with if before the operation that may fail"),
    ast.Import: ("an import inside a function", "import at the top of the module"),
    ast.ImportFrom: ("an import inside a function", "import at the top of the module"),
    ast.Global: ("global", "pass the value as an argument and return the new one"),
    ast.Nonlocal: ("nonlocal", "pass the value as an argument and return the new one"),
    ast.Set: ("a set", "a tuple"),
    ast.SetComp: ("a set comprehension", "a for loop that accumulates its result"),
    ast.DictComp: ("a dictionary comprehension", "a dictionary with constant keys, or a list of pairs"),
    ast.Yield: ("yield", "return a tuple"),
    ast.YieldFrom: ("yield from", "return a tuple"),
    ast.JoinedStr: ("a formatted string", "compute with numbers; print outside of programs"),
    ast.FormattedValue: ("a formatted string", "compute with numbers; print outside of programs"),
}
OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.LShift: ("<<", "x * 2**n"),
    ast.RShift: (">>", "x // 2**n"),
    ast.BitXor: ("^", "`!=` for booleans, `**` for powers"),
    ast.Is: ("is", "`==` between numbers, `x is None` alone for None"),
    ast.IsNot: ("is not", "`!=` between numbers, `x is not None` alone for None"),
    ast.In: ("in", "`x in t` alone, joined to other comparisons by `and`"),
    ast.NotIn: ("not in", "`x not in t` alone, joined to other comparisons by `and`"),
}
ALLOWED: tuple[type[ast.AST], ...] = (
    *(ast.FunctionDef, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Expr, ast.Pass),
    *(ast.Break, ast.Continue, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Lambda, ast.IfExp, ast.Compare, ast.Call, ast.Constant),
    *(ast.Attribute, ast.Subscript, ast.Name, ast.Tuple, ast.arguments, ast.arg, ast.keyword, ast.expr_context),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Raise, ast.Assert, ast.NamedExpr, ast.List, ast.Dict, ast.Starred),
    *(ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.Slice),
)


PERMITTING = (ast.Expr, ast.Call, ast.Dict, ast.Subscript, ast.Compare, ast.For, ast.comprehension, ast.Assert)
"""Where a string may stand (`_permitted_strings`)."""


def check_subset(source: Source, root: Function) -> None:
    """Malformed at the first piece of `root`, in the order of the text, that the language does not have."""
    pieces = list(_pieces(root))
    strings = _permitted_strings(pieces)
    found = [(at, why) for node, at in pieces if node is not root and (why := _objection(node, strings)) is not None]
    if found:
        at, (what, remedy) = min(found, key=lambda f: (f[0].lineno, f[0].col_offset))
        raise source.refuse(at, what, remedy, rule="subset")


def _pieces(root: Function) -> Iterator[tuple[ast.AST, ast.expr | ast.stmt | ast.arg]]:
    """Every node below `root` but annotations, parents first, each with itself or its nearest ancestor that has a place."""
    todo: list[tuple[ast.AST, ast.expr | ast.stmt | ast.arg]] = [(root, root)]
    while todo:
        node, at = todo.pop()
        if isinstance(node, (ast.expr, ast.stmt, ast.arg)):
            at = node
        elif isinstance(node, ast.arguments):
            at = node.vararg or node.kwarg or at
        yield node, at
        for field in node._fields:
            if field not in ("annotation", "returns", "ctx", "type_comment"):
                value = getattr(node, field, None)
                if isinstance(value, ast.AST):
                    todo.append((value, at))
                elif isinstance(value, list):
                    todo += [(v, at) for v in value if isinstance(v, ast.AST)]


def _permitted_strings(pieces: Iterable[tuple[ast.AST, ast.AST]]) -> set[int]:
    """
    The strings, and the `...`, that may stand: docstrings, arguments of calls and elements of a tuple that is one, keys, indices,
    messages of assertions, what keys are compared with, and the keys that a loop goes over.
    """
    found: set[int] = set()
    for node, _ in pieces:
        if not isinstance(node, PERMITTING):
            continue
        if isinstance(node, ast.Expr):
            found.add(id(node.value))
        elif isinstance(node, ast.Call):
            for argument in (*node.args, *(k.value for k in node.keywords)):
                found.add(id(argument))
                found |= {id(e) for e in argument.elts} if isinstance(argument, ast.Tuple) else set()
        elif isinstance(node, ast.Dict):
            found |= {id(k) for k in node.keys}
        elif isinstance(node, ast.Subscript):
            found |= {id(node.slice)} | ({id(e) for e in node.slice.elts} if isinstance(node.slice, ast.Tuple) else set())
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            found.add(id(node.left))
            found |= {id(e) for over in node.comparators for e in _elements(over)}
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            found |= {id(e) for e in (node.left, *node.comparators)}
        elif isinstance(node, (ast.For, ast.comprehension)):
            found |= {id(e) for e in _elements(node.iter)}
        elif isinstance(node, ast.Assert):
            found.add(id(node.msg))
    return found


def _elements(display: ast.expr) -> list[ast.expr]:
    """The elements of a tuple or list that is written out."""
    return display.elts if isinstance(display, (ast.Tuple, ast.List)) else []


def _objection(node: ast.AST, strings: set[int]) -> tuple[str, str] | None:
    """What is wrong with this node by itself, and what to write instead; None if nothing is."""
    match node:
        case ast.FunctionDef(name=name, decorator_list=[_, *_]):
            return f"the nested function {name} has a decorator", "remove it, or apply it outside"
        case ast.List(ctx=ast.Store()):
            return None
        case ast.arguments(kwarg=ast.arg(arg=name)):
            return f"**{name} takes any keyword arguments", "name each one"
        case ast.keyword(arg=None, value=value) if not (isinstance(value, ast.Dict) and _constant_keys(value)):
            return "** in a call hides the names of the arguments", 'write each keyword out, or a dictionary: **{"a": x}'
        case ast.Raise() | ast.Assert():
            return _raising(node)
        case ast.Dict() if not _constant_keys(node):
            return "a dictionary has constant strings as keys here", '{"a": x, "b": y}, or a list of pairs'
        case ast.ListComp() | ast.GeneratorExp() if _has_walrus(node):
            what = "an assignment inside a comprehension is not in the language"
            return what, "write the loop out: it would bind the name outside"
        case ast.comprehension(is_async=1):
            return "an asynchronous comprehension is not in the language", "write a plain for"
        case ast.comprehension(target=target) if (found := _target([target], False)) is not None:
            return found
        case ast.BinOp(op=op) | ast.UnaryOp(op=op) | ast.AugAssign(op=op) if type(op) in OPERATORS:
            what, remedy = OPERATORS[type(op)]
            return f"the operator {what} is not in the language", f"write {remedy}"
        case ast.Compare(ops=ops) if (bad := [o for o in ops if type(o) in OPERATORS]) and not _is_test(node):
            what, remedy = OPERATORS[type(bad[0])]
            return f"the operator {what} is not in the language", f"write {remedy}"
        case ast.Assign(targets=targets) if (why := _target(targets)) is not None:
            return why
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) if (w := _target([target])) is not None:
            return w
        case ast.For(target=target) if (w := _target([target], False)) is not None:
            return w
        case ast.Constant(value=value):
            return _constant(value, id(node) in strings)
    if (refused := REFUSED.get(type(node))) is not None:
        what, remedy = refused
        return f"{what} is not in the language", f"write {remedy}"
    if not isinstance(node, ALLOWED):
        return f"{type(node).__name__} is not in the language", "write it with assignments, if, while and for"
    return None


def _constant_keys(node: ast.Dict) -> bool:
    return all(isinstance(k, ast.Constant) and isinstance(k.value, str) for k in node.keys)


def _is_test(node: ast.Compare) -> bool:
    """`x is None` and `x in t`, each alone."""
    match node:
        case ast.Compare(ops=[ast.In() | ast.NotIn()]):
            return True
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[right]):
            return any(isinstance(e, ast.Constant) and e.value is None for e in (left, right))
    return False


def _has_walrus(comprehension: ast.AST) -> bool:
    """Whether a `:=` stands in a comprehension, outside the functions in it."""
    todo: list[ast.AST] = [comprehension]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.NamedExpr):
            return True
        if not isinstance(node, ast.Lambda):
            todo.extend(held_by(node))
    return False


def _raising(node: ast.Raise | ast.Assert) -> tuple[str, str] | None:
    """A raised exception is a class, or a call of it with one constant message."""
    if isinstance(node, ast.Assert):
        fits = node.msg is None or isinstance(node.msg, ast.Constant)
        return None if fits else ("the message of an assertion must be a constant", 'assert x > 0, "x must be positive"')
    if node.cause is not None and not (isinstance(node.cause, ast.Constant) and node.cause.value is None):
        return "`raise … from` names a cause, and nothing is caught here", "leave out the cause"
    match node.exc:
        case None:
            return "`raise` alone raises again what was caught, and nothing is caught here", 'raise ValueError("what is wrong")'
        case ast.Name() | ast.Attribute() | ast.Call(func=ast.Name() | ast.Attribute(), args=[] | [ast.Constant()], keywords=[]):
            return None
    return "an exception is raised by its class and a constant message", 'raise ValueError("what is wrong")'


def _constant(value: object, string_permitted: bool) -> tuple[str, str] | None:
    match value:
        case None | bool() | int() | float():
            return None
        case str() if string_permitted:
            return None
        case str():
            return (
                "a string is no value here",
                "strings only name things, as in d['a'] and grad(f, 'x')",
            )
        case complex():
            return "complex numbers are not in the language", "a tuple of the real and the imaginary part"
        case x if x is ... and string_permitted:
            return None
        case _:
            return f"{value!r} is not in the language", "numbers, booleans, None and tuples are values"


def _target(targets: list[ast.expr], fields: bool = True) -> tuple[str, str] | None:
    """Whether something other than names, their elements and, if `fields`, their fields is assigned to."""
    todo = list(targets)
    while todo:
        match todo.pop():
            case ast.Name():
                pass
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                todo.extend(elements)
            case ast.Subscript(value=ast.Name()):
                pass
            case ast.Subscript():
                return "an element of what has no name cannot be assigned", "name it: row = list(t[i]); row[j] = x; t[i] = row"
            case ast.Attribute(value=ast.Name()) if fields:
                pass
            case ast.Attribute():
                return "an attribute of what has no name cannot be assigned", "a variable, or a record that is replaced"
            case ast.Starred(value=value):
                todo.append(value)
    return None
