"""
The subset of Python that has a meaning here, as a list of what is refused and what to write instead.

`check_subset` looks at every piece of a function, reachable or not, before anything is built from it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

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
    ast.Raise: ("raise", "return a value that says so, such as math.nan"),
    ast.Try: ("try", "test with if before the operation that may fail"),
    ast.TryStar: ("try", "test with if before the operation that may fail"),
    ast.Assert: ("assert", "test the inputs before calling the function"),
    ast.Import: ("an import inside a function", "import at the top of the module"),
    ast.ImportFrom: ("an import inside a function", "import at the top of the module"),
    ast.Global: ("global", "pass the value as an argument and return the new one"),
    ast.Nonlocal: ("nonlocal", "pass the value as an argument and return the new one"),
    ast.NamedExpr: ("an assignment inside an expression", "assign on a line of its own, before"),
    ast.Dict: ("a dictionary", "a tuple, indexed by position"),
    ast.Set: ("a set", "a tuple"),
    ast.List: ("a list", "a tuple: (a, b, c)"),
    ast.ListComp: ("a list comprehension", "a for loop that accumulates its result"),
    ast.SetComp: ("a set comprehension", "a for loop that accumulates its result"),
    ast.DictComp: ("a dictionary comprehension", "a for loop that accumulates its result"),
    ast.GeneratorExp: ("a generator expression", "a for loop that accumulates its result"),
    ast.Yield: ("yield", "return a tuple"),
    ast.YieldFrom: ("yield from", "return a tuple"),
    ast.JoinedStr: ("a formatted string", "numbers, booleans and tuples only"),
    ast.FormattedValue: ("a formatted string", "numbers, booleans and tuples only"),
    ast.Starred: ("a starred expression", "name the elements one by one"),
    ast.Slice: ("a slice", "build the tuple from its elements: (t[0], t[1])"),
}
OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.MatMult: ("@", "sums of products, element by element"),
    ast.LShift: ("<<", "x * 2**n"),
    ast.RShift: (">>", "x // 2**n"),
    ast.BitOr: ("|", "`or` for booleans, arithmetic for integers"),
    ast.BitXor: ("^", "`!=` for booleans, `**` for powers"),
    ast.BitAnd: ("&", "`and` for booleans, `%` for integers"),
    ast.Invert: ("~", "`not` for booleans, `-x - 1` for integers"),
    ast.Is: ("is", "`==` between numbers"),
    ast.IsNot: ("is not", "`!=` between numbers"),
    ast.In: ("in", "comparisons joined by `or`"),
    ast.NotIn: ("not in", "comparisons joined by `and`"),
}
ALLOWED: tuple[type[ast.AST], ...] = (
    *(ast.FunctionDef, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Expr, ast.Pass),
    *(ast.Break, ast.Continue, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Lambda, ast.IfExp, ast.Compare, ast.Call, ast.Constant),
    *(ast.Attribute, ast.Subscript, ast.Name, ast.Tuple, ast.arguments, ast.arg, ast.keyword, ast.expr_context),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)


def check_subset(source: Source, root: Function) -> None:
    """Malformed at the first piece of `root`, in the order of the text, that the language does not have."""
    strings = _permitted_strings(root)
    found = [(at, why) for node, at in _pieces(root) if node is not root and (why := _objection(node, strings)) is not None]
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
        for field, value in ast.iter_fields(node):
            if field not in ("annotation", "returns", "ctx", "type_comment"):
                todo.extend((v, at) for v in (value if isinstance(value, list) else [value]) if isinstance(v, ast.AST))


def _permitted_strings(root: Function) -> set[int]:
    """The strings that may stand: docstrings, arguments of calls, and elements of a tuple that is one."""
    found: set[int] = set()
    for node, _ in _pieces(root):
        if isinstance(node, ast.Expr):
            found.add(id(node.value))
        elif isinstance(node, ast.Call):
            for argument in (*node.args, *(k.value for k in node.keywords)):
                found.add(id(argument))
                found |= {id(e) for e in argument.elts} if isinstance(argument, ast.Tuple) else set()
    return found


def _objection(node: ast.AST, strings: set[int]) -> tuple[str, str] | None:
    """What is wrong with this node by itself, and what to write instead; None if nothing is."""
    match node:
        case ast.FunctionDef(name=name, decorator_list=[_, *_]):
            return f"the nested function {name} has a decorator", "remove it, or apply it outside"
        case ast.List(ctx=ast.Store()):
            return None
        case ast.arguments(vararg=ast.arg(arg=name)):
            return f"*{name} takes any number of arguments", f"name each one, or pass a tuple: {name}"
        case ast.arguments(kwarg=ast.arg(arg=name)):
            return f"**{name} takes any keyword arguments", "name each one"
        case ast.keyword(arg=None):
            return "** in a call hides the names of the arguments", "write each keyword out"
        case ast.BinOp(op=op) | ast.UnaryOp(op=op) | ast.AugAssign(op=op) if type(op) in OPERATORS:
            what, remedy = OPERATORS[type(op)]
            return f"the operator {what} is not in the language", f"write {remedy}"
        case ast.Compare(ops=ops) if bad := [o for o in ops if type(o) in OPERATORS]:
            what, remedy = OPERATORS[type(bad[0])]
            return f"the operator {what} is not in the language", f"write {remedy}"
        case ast.Assign(targets=targets) if (why := _target(targets)) is not None:
            return why
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target) if (
            w := _target([target])
        ) is not None:
            return w
        case ast.Constant(value=value):
            return _constant(value, id(node) in strings)
        case ast.Subscript(slice=ast.Tuple()):
            return "an index with a comma is for arrays", "index twice: t[i][j]"
    if (refused := REFUSED.get(type(node))) is not None:
        what, remedy = refused
        return f"{what} is not in the language", f"write {remedy}"
    if not isinstance(node, ALLOWED):
        return f"{type(node).__name__} is not in the language", "write it with assignments, if, while and for"
    return None


def _constant(value: object, string_permitted: bool) -> tuple[str, str] | None:
    match value:
        case None | bool() | int() | float():
            return None
        case str() if string_permitted:
            return None
        case str():
            return (
                "a string is no value here",
                "numbers, booleans and tuples are values; a string only names an argument: grad(f, 'x')",
            )
        case complex():
            return "complex numbers are not in the language", "a tuple of the real and the imaginary part"
        case x if x is ... and string_permitted:
            return None
        case _:
            return f"{value!r} is not in the language", "numbers, booleans, None and tuples are values"


def _target(targets: list[ast.expr]) -> tuple[str, str] | None:
    """Whether something other than names is assigned to."""
    todo = list(targets)
    while todo:
        match todo.pop():
            case ast.Name():
                pass
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                todo.extend(elements)
            case ast.Subscript():
                return "an element of a tuple cannot be assigned", "build a new tuple: t = (t[0], new)"
            case ast.Attribute():
                return "an attribute cannot be assigned", "a variable, or a tuple that is rebuilt"
            case ast.Starred():
                return "a starred name takes any number of elements", "name each element"
    return None
