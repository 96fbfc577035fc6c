"""
Python source: text, its syntax tree, and the place of every piece of it.

`read_source` turns text into a tree or says where it is no Python. `find_function` finds the tree of a live function by the
place that its code object records. Nothing here runs any code of the source.
"""

from __future__ import annotations

import ast
import inspect
import types
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from semantics.errors import Location, Malformed
from transforms.parse.nodes import walk

Function = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A file and its lines; finds the Location of a tree node."""

    file: str
    lines: tuple[str, ...]

    def line(self, number: int) -> str:
        """The text of a 1-based line, or nothing."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def location(self, node: ast.AST) -> Location:
        """Where `node` begins. Columns of the tree count bytes; ours count characters."""
        number = getattr(node, "lineno", 1)
        text = self.line(number)
        column = len(text.encode()[: getattr(node, "col_offset", 0)].decode(errors="ignore"))
        return Location(self.file, number, column, text)

    def refuse(self, node: ast.AST, what: str, remedy: str, rule: str = "parse") -> Malformed:
        """The error that refuses `node`; the caller raises it."""
        return Malformed(what, rule=rule, location=self.location(node), remedy=remedy)


@lru_cache(maxsize=256)
def read_source(text: str, file: str) -> tuple[Source, ast.Module]:
    """The tree of `text`; Malformed with line and caret if it is not Python."""
    source = Source(file, tuple(text.split("\n")))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            # finds what parsing does not, such as a break outside a loop; runs nothing
            compile(text, file, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            return source, tree
    except SyntaxError as error:
        line = error.lineno or 1
        location = Location(file, line, max((error.offset or 1) - 1, 0), source.line(line))
        raise Malformed(f"this is not Python: {error.msg}", rule="syntax", location=location, remedy="correct the syntax") from None
    except (RecursionError, MemoryError):
        raise Malformed(
            "an expression is nested too deeply for Python's own parser",
            rule="syntax",
            location=Location(file, 1, 0, source.line(1)),
            remedy="name the intermediate results",
        ) from None
    except ValueError as error:
        raise Malformed(
            f"this is not Python: {error}", rule="syntax", location=Location(file, 1), remedy="remove the bytes that are not text"
        ) from None


def find_function(function: types.FunctionType) -> tuple[Source, Function]:
    """The tree of a live function, in the tree of its whole file, so that lines and columns are those of the file."""
    code = function.__code__
    name = function.__name__
    if hasattr(function, "__wrapped__"):
        raise Malformed(
            f"{name} is wrapped by a decorator, whose effect its source does not show",
            rule="source",
            remedy=f"pass the function itself: {name}.__wrapped__",
        )
    try:
        lines, _ = inspect.findsource(function)
    except (OSError, TypeError, IndexError):
        raise Malformed(
            f"the source of {name} cannot be found",
            rule="source",
            remedy="define it in a file, or give its text to parse_text",
        ) from None
    source, tree = read_source("".join(lines), code.co_filename)
    candidates = [n for n in _functions(tree).get(code.co_firstlineno, ()) if _is_at(n, code)]
    if len(candidates) > 1:
        candidates = _innermost([n for n in candidates if isinstance(n, ast.Lambda) and _holds(n.body, code)])
    if len(candidates) != 1:
        many = (
            "several lambdas stand on one line" if candidates else f"the file has changed since {name} was defined, or it is no def"
        )
        raise Malformed(
            f"the source of {name} cannot be told: {many}",
            rule="source",
            location=Location(code.co_filename, code.co_firstlineno, 0, source.line(code.co_firstlineno)),
            remedy="use a def on lines of its own",
        )
    return source, candidates[0]


@lru_cache(maxsize=256)
def _functions(tree: ast.Module) -> dict[int, list[Function]]:
    """The functions of a file by the line where they begin, so that to find all n of them is one walk and not n."""
    found: dict[int, list[Function]] = {}
    for node in walk(tree):
        if isinstance(node, Function):
            found.setdefault(_first_line(node), []).append(node)
    return found


def parameters_of(node: Function) -> tuple[ast.arg, ...]:
    """All parameters in order: positional-only, ordinary, keyword-only, and last the one that takes the rest, `*args`."""
    rest = (node.args.vararg,) if node.args.vararg is not None else ()
    return (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *rest)


def default_expressions(node: Function) -> dict[int, ast.expr]:
    """The default expressions by the position of their parameter."""
    positional = len(node.args.posonlyargs) + len(node.args.args)
    first = positional - len(node.args.defaults)
    found = {first + i: e for i, e in enumerate(node.args.defaults)}
    found |= {positional + i: e for i, e in enumerate(node.args.kw_defaults) if e is not None}
    return found


def name_of(node: Function) -> str:
    """The name of a def; "lambda" for a lambda."""
    return node.name if isinstance(node, ast.FunctionDef) else "lambda"


def _first_line(node: Function) -> int:
    """Where a function begins for CPython: at its first decorator, if it has one."""
    return node.lineno if isinstance(node, ast.Lambda) else min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _is_at(node: Function, code: types.CodeType) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    wanted = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)]
    return (_first_line(node), name) == (code.co_firstlineno, code.co_name) and tuple(a.arg for a in parameters_of(node)) == wanted


def _holds(body: ast.expr, code: types.CodeType) -> bool:
    """Whether all instructions of the code that have a place were made of the expression."""
    first, last = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    places = [((a, c), (b, d)) for a, b, c, d in code.co_positions() if None not in (a, b, c, d) and (a, c) != (b, d)]
    return all(first <= begin and end <= last for begin, end in places)


def _innermost(candidates: list[Any]) -> list[Any]:
    """Those that hold no other of them: the code of a lambda lies in the lambdas around it as well."""
    return [n for n in candidates if not any(n is not m and m in ast.walk(n) for m in candidates)]
