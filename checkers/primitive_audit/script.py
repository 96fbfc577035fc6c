"""
The stand-alone script of a finding: pure Python with the sources of the forward function and the rule, and the numbers.

It exits with 1 while the failure is there. Sources are found through the parser's index of files; names that they use are
embedded with them: modules as imports, functions with their own source, numbers as numbers. If something cannot be embedded, the
script falls back to the recorded numbers, and its first line says so.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable
from typing import Any

from checkers.inputs import Point
from checkers.primitive_audit.subject import Subject
from semantics.array_signatures import COLUMN
from semantics.errors import AdjudgeError
from semantics.primitives.row import Primitive

IMPORTED = ("import math", "import sys")
"""What every script imports for itself."""
LONGEST = 2000
"""Characters of what a rule keeps between calls, if the script is to carry it."""


class NotEmbeddable(Exception):
    """A name that the script cannot carry."""


def embedded(function: Callable[..., Any], name: str, known: dict[str, str]) -> None:
    """Adds to `known` (name -> source) the source of `function` under `name`, and of everything it uses."""
    todo: list[tuple[str, Any]] = [(name, function)]
    while todo:
        called, value = todo.pop()
        if called in known:
            continue
        if isinstance(row := getattr(value, "row", None), Primitive):
            known[called], used = primitive(row, called)
            known.setdefault("aj", "import adjudge as aj")
            todo += used
            continue
        value = getattr(value, "__wrapped__", value)
        if isinstance(value, types.ModuleType):
            known[called] = f"import {value.__name__} as {called}" if value.__name__ != called else f"import {called}"
        elif isinstance(value, (types.BuiltinFunctionType, type)) or type(value).__name__ == "ufunc":
            module = getattr(value, "__module__", None) or ("numpy" if type(value).__name__ == "ufunc" else "builtins")
            known[called] = f"from {module} import {value.__name__} as {called}"
        elif isinstance(value, float):
            known[called] = f"{called} = float.fromhex({value.hex()!r})"
        elif isinstance(value, (bool, int, str, tuple, type(None))) or (isinstance(value, (list, dict, set)) and is_literal(value)):
            known[called] = f"{called} = {value!r}"
        elif isinstance(value, types.FunctionType):
            known[called] = written(value, called)
            todo.extend(names_used(value))
        else:
            raise NotEmbeddable(f"{called} is {type(value).__name__}")


def is_literal(value: Any) -> bool:
    """Whether a value is given back by what Python writes for it; it is carried as it is now."""
    shown = repr(value)
    try:
        return len(shown) <= LONGEST and bool(ast.literal_eval(shown) == value)
    except (ValueError, SyntaxError):
        return False


def primitive(row: Primitive, name: str) -> tuple[str, list[tuple[str, Any]]]:
    """A primitive with its backpropagator, as its author wrote them, and the names that they use. NotEmbeddable without both."""
    source = row.columns.get("source", {})
    forward, rule = source.get("forward"), source.get("backpropagator")
    if not isinstance(forward, types.FunctionType) or not isinstance(rule, types.FunctionType):
        raise NotEmbeddable(f"the primitive {name} is not written in Python")
    signature = row.columns.get(COLUMN)
    made = f"@aj.primitive(signature={signature!r})" if isinstance(signature, str) else "@aj.primitive"
    parts = [f"{made}\n{written(forward, name)}", f"@{name}.backpropagator\n{written(rule, '_')}"]
    return "\n\n".join(parts), names_used(forward) + names_used(rule)


def written(function: types.FunctionType, name: str) -> str:
    """The source of a function, as a def called `name`, without decorators and annotations."""
    from transforms.parse.source import find_function

    try:
        tree = find_function(function)[1]
    except AdjudgeError as error:
        raise NotEmbeddable(error.what) from None
    body = [ast.Return(tree.body)] if isinstance(tree, ast.Lambda) else tree.body
    made = ast.parse(f"def {name}({ast.unparse(parameters(function, tree.args))}): ...").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = list(body)
    return ast.unparse(made)


def parameters(function: types.FunctionType, found: ast.arguments) -> ast.arguments:
    """Parameters without annotations, the defaults as the values that the function has. NotEmbeddable if one is no literal."""
    made = copy.deepcopy(found)
    for argument in ast.walk(made):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    keywords = function.__kwdefaults__ or {}
    made.defaults = [literal(value) for value in function.__defaults__ or ()]
    made.kw_defaults = [literal(keywords[a.arg]) if a.arg in keywords else None for a in made.kwonlyargs]
    return made


def literal(value: Any) -> ast.expr:
    """The expression that gives a value back."""
    if not is_literal(value):
        raise NotEmbeddable(f"it has a default that is {type(value).__name__}")
    return ast.parse(repr(value), mode="eval").body


def names_used(function: types.FunctionType) -> list[tuple[str, Any]]:
    """The global and captured names that a function uses, with their values."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    found = [(name, cell.cell_contents) for name, cell in cells.items()]
    todo = [function.__code__]
    seen: set[str] = set()
    while todo:
        code = todo.pop()
        seen.update(code.co_names)
        todo.extend(c for c in code.co_consts if isinstance(c, types.CodeType))
    found += [(n, function.__globals__[n]) for n in sorted(seen) if n in function.__globals__]
    return found


def sources(subject: Subject) -> str:
    """The sources of `forward` and `pullback`, ready to run. NotEmbeddable if a part has none."""
    if subject.forward_source is None or subject.pull_source is None:
        raise NotEmbeddable("it is not written in Python")
    known: dict[str, str] = {}
    embedded(subject.forward_source, "forward", known)
    embedded(subject.pull_source, "pullback", known)
    imports = [s for s in known.values() if s.startswith(("import ", "from "))]
    above = "\n".join(sorted({*imports} - {*IMPORTED}))
    return (f"{above}\n\n" if above else "") + "\n\n".join(s for s in known.values() if s not in imports)


def number(x: float) -> str:
    """A double as an expression that gives it back bit for bit."""
    return f"float.fromhex({float(x).hex()!r})"


def asked(what: str, *arguments: Any) -> str:
    """The expression by which a script asks for what `again.py` computes."""
    return f"checkers.primitive_audit.again.{what}(forward, pullback, x, {', '.join(map(repr, arguments))})"


def script(subject: Subject, claim: str, xs: Point, d: float, test: str, found: Any, wanted: Any, now: str = "pull(dout)") -> str:
    """
    The script of one failure.

    now   an expression over forward, pullback, pull, x, y and dout: what is wrong, computed anew
    test  one over these and `now`, true if nothing is wrong
    """
    imported = "\n".join(IMPORTED)
    head = f'"""{subject.name}: {claim} fails. Exits with 1 while it does."""\n\n{imported}\n\n'
    point = f"x = ({', '.join(number(v) for v in xs)},)\ndout = {number(d)}\n"
    tail = f"print('found ', {str(found)!r})\nprint('wanted', {str(wanted)!r})\n"
    try:
        body = sources(subject) if test else ""
    except NotEmbeddable as reason:
        body, test = f"# The sources are not embedded: {reason}. The verdict below is the recorded one.", ""
    if not test:
        return f"{head}{body}\n\n{point}{tail}sys.exit(1)\n"
    call = "pullback(*x, y, d)" if subject.spread_arguments else "pullback(x, y, d)"
    helpers = f"def pull(d, x=x, y=None):\n    y = forward(*x) if y is None else y\n    return {call}\n\n\n"
    verdict = f"right = {test}\nsys.exit(0 if right else 1)\n"
    judge = "import checkers.primitive_audit.again\n\n" if now.startswith("checkers.") else ""
    shown = f"now = {now}\nprint('now   ', now)\n{tail}{verdict}"
    return f"{head}{judge}{body}\n\n\n{point}y = forward(*x)\n\n\n{helpers}{shown}"
