"""
What a global name stands for. Two resolvers with one interface: `LiveNames` looks into a live function's globals and cells,
`TextNames` into the text of a module, of which it runs nothing.

    Literal      a number, a boolean or None
    Row          a primitive of the table, or a user's
    Operation    a function of `math` or a builtin that expands to primitives (see `library`)
    Known        a function with source, parsed when it is first used
    Expression   a module-level assignment, read as its right-hand side at each use
    Group        a live tuple
    Derived      a live derivative: grad(f, wrt) and its kind, made outside the program
    Module       a module, whose attributes are looked up in turn
    Refused      a name that cannot be followed: what it is, and what to do instead
"""

from __future__ import annotations

import ast
import builtins
import difflib
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from transforms.parse.source import Function, Source, default_expressions, find_function

MACRO_NAMES = frozenset(p.name for p in MACROS)


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any


@dataclass(frozen=True, slots=True)
class Row:
    primitive: Primitive


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """
    A library function that is not one primitive. `build(cursor, arguments, at)` emits it and answers with a node.

    value   the primitive that stands for it where it is passed as a value, if one does
    """

    name: str
    least: int
    most: int | None
    build: Callable[..., Any]
    value: Primitive | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A function with source. `key` tells it from others; `defaults` are by position of the parameter."""

    key: Any
    name: str
    open: Callable[[], tuple[Source, Function]]
    names: NameTable
    defaults: Mapping[int, Found]


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    source: Source
    expression: ast.expr
    names: NameTable


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    macro: str
    function: Found
    wrt: Any


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    name: str
    member: Callable[[str], Found | None]
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    what: str
    remedy: str


Found = Literal | Row | Operation | Known | Expression | Group | Derived | Module | Refused


class NameTable(Protocol):
    """Resolves global names. `find` answers None for a name that nothing defines; `all` lists the names it could find."""

    def find(self, name: str) -> Found | None: ...

    def all(self) -> list[str]: ...


def suggestion(name: str, known: list[str]) -> str:
    """What to try for an unknown name: the nearest known ones."""
    close = difflib.get_close_matches(name, sorted(set(known)), 3, 0.6)
    return f"did you mean {' or '.join(close)}?" if close else f"define {name}, or pass it as an argument"


def found_builtin(name: str) -> Found | None:
    """A builtin function by its name, refused if the language has no meaning for it."""
    from transforms.parse.library import BUILTINS, REFUSED_BUILTINS

    if name in BUILTINS:
        return BUILTINS[name]
    if hasattr(builtins, name):
        return Refused(
            f"the builtin {name} is not in the language", REFUSED_BUILTINS.get(name, "write it with arithmetic and loops")
        )
    return None


def found_value(value: Any) -> Found:
    """What a live object stands for. No attribute of it is called."""
    from transforms.parse.library import ADJUDGE, BY_IDENTITY, MATH

    if isinstance(value, bool) or value is None:
        return Literal(value)
    if isinstance(value, (int, float)):
        return Literal(int(value) if isinstance(value, int) else float(value))
    if isinstance(value, tuple):
        return Group(value)
    if isinstance(value, Primitive):
        return Row(value)
    if isinstance(value, types.ModuleType):
        if value.__name__ == "math":
            return MATH
        if value.__name__ == "adjudge":
            return Module("adjudge", lambda name: ADJUDGE.member(name) or _member(value, name), tuple(vars(value)))
        return Module(value.__name__, lambda name: _member(value, name), tuple(vars(value)))
    if (operation := BY_IDENTITY.get(id(value))) is not None:
        return operation
    row = _attribute(value, "row")
    if isinstance(row, Primitive):
        return Row(row)
    if isinstance(value, types.FunctionType):
        if str(value.__module__).split(".")[0] == "adjudge" and value.__name__ in MACRO_NAMES:
            return Row(TABLE[value.__name__])
        return known_function(value)
    macro = _attribute(value, "macro")
    if isinstance(macro, str) and macro in ("grad", "value_and_grad", "jacobian", "hessian", "hvp"):
        return Derived(macro, found_value(_attribute(value, "f")), None if macro == "hvp" else _attribute(value, "wrt"))
    return Refused(f"a value of the Python type {type(value).__name__} is not in the language", _remedy_for(value))


def _attribute(value: Any, name: str) -> Any:
    """An attribute of any object whatever, or None if asking for it fails."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def _remedy_for(value: Any) -> str:
    match value:
        case str():
            return "strings only name arguments: grad(f, 'x')"
        case list():
            return "use a tuple"
        case type():
            return "use tuples for data and functions for methods"
        case types.BuiltinFunctionType() | types.MethodType():
            return "write it in Python, or declare it with adjudge.primitive"
        case _:
            return "numbers, tuples and functions are; pass it as one of those"


def _member(module: types.ModuleType, name: str) -> Found | None:
    return found_value(vars(module)[name]) if name in vars(module) else None


def known_function(function: types.FunctionType) -> Known:
    """A live function, opened when it is parsed."""
    count = function.__code__.co_argcount
    names = function.__code__.co_varnames[: count + function.__code__.co_kwonlyargcount]
    defaults = dict(enumerate(function.__defaults__ or (), count - len(function.__defaults__ or ())))
    defaults |= {names.index(n): v for n, v in (function.__kwdefaults__ or {}).items()}
    found = {i: found_value(v) for i, v in defaults.items()}
    return Known(function, function.__name__.strip("<>"), lambda: find_function(function), LiveNames(function), found)


@dataclass(frozen=True, slots=True, eq=False)
class LiveNames:
    """The names that a live function sees: its cells, its globals, the builtins."""

    function: types.FunctionType

    def find(self, name: str) -> Found | None:
        free = self.function.__code__.co_freevars
        if name in free:
            cell = (self.function.__closure__ or ())[free.index(name)]
            try:
                return found_value(cell.cell_contents)
            except ValueError:
                return Refused(f"the enclosing function has not assigned {name} yet", f"assign {name} before this function is used")
        if name in self.function.__globals__:
            return found_value(self.function.__globals__[name])
        return found_builtin(name)

    def all(self) -> list[str]:
        return [*self.function.__code__.co_freevars, *self.function.__globals__, *dir(builtins)]


@dataclass(frozen=True, slots=True, eq=False)
class TextNames:
    """
    The names that a function in the text of a module sees, found without running it: its top-level defs, assignments and
    imports of math and adjudge, then `extra`, then the builtins. With `before`, only what is bound above that line.
    """

    source: Source
    bound: Mapping[str, tuple[ast.stmt, ...]]
    extra: Mapping[str, Any]
    before: int | None = None

    def find(self, name: str) -> Found | None:
        from transforms.parse.library import starred

        if name in self.bound:
            return self._bound(name, self.bound[name][-1])
        for statement in self.bound.get("*", ()):
            if (found := starred(statement, name)) is not None:
                return found
        if name in self.extra:
            return found_value(self.extra[name])
        return found_builtin(name)

    def all(self) -> list[str]:
        return [*self.bound, *self.extra, *dir(builtins)]

    def _bound(self, name: str, statement: ast.stmt) -> Found | None:
        from transforms.parse.library import imported

        if self.before is not None and statement.lineno >= self.before:
            return Refused(f"{name} is assigned below its use", f"assign {name} above")
        match statement:
            case ast.FunctionDef(decorator_list=[_, *_]) if name not in self.extra:
                return Refused(
                    f"{name} has a decorator, which only running the module could tell the meaning of", "remove the decorator"
                )
            case ast.AsyncFunctionDef() | ast.ClassDef() if name not in self.extra:
                kind = "a class" if isinstance(statement, ast.ClassDef) else "an async def"
                return Refused(f"{name} is {kind}, which is not in the language", "write a plain def, and tuples for data")
            case ast.FunctionDef(decorator_list=[]):
                return self.known(name, statement)
            case ast.Assign(targets=[ast.Name()], value=ast.Lambda() as function):
                return self.known(name, function)
            case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(target=ast.Name(), value=ast.expr() as value):
                return Expression(self.source, value, TextNames(self.source, self.bound, self.extra, statement.lineno))
            case ast.Import() | ast.ImportFrom() if (found := imported(statement, name)) is not None:
                return found
        if name in self.extra:
            return found_value(self.extra[name])
        what = f"what {name} is (line {statement.lineno}) cannot be told without running the module"
        return Refused(what, f"bind {name} once, at the top level, to a number or by a def, or parse the imported function")

    def known(self, name: str, node: Function) -> Known:
        """A function of this module."""
        defaults = {i: self.constant(e) for i, e in default_expressions(node).items()}
        return Known((self.source, node), name, lambda: (self.source, node), self, defaults)

    def constant(self, expression: ast.expr) -> Found:
        """A default value that needs no evaluation: a number, a number with a sign, or a name."""
        match expression:
            case ast.Constant(value=(bool() | int() | float() | None) as value):
                return Literal(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=(int() | float()) as value)) if not isinstance(value, bool):
                return Literal(-value)
            case ast.Name(id=name) if (found := self.find(name)) is not None:
                if isinstance(found, Expression) and not isinstance(found.expression, ast.Name):
                    return self.constant(found.expression)
                return found
            case ast.Attribute(value=ast.Name(id=name), attr=attr):
                base = self.find(name)
                if isinstance(base, Module) and (member := base.member(attr)) is not None:
                    return member
        return Refused("this default value is no constant", "pass the argument, or make the default a number")


def text_names(source: Source, tree: ast.Module, extra: Mapping[str, Any]) -> TextNames:
    """The resolver of a module's text. A name bound inside an `if`, `for` or `try` at top level is bound there last."""
    bound: dict[str, tuple[ast.stmt, ...]] = {}
    for statement in tree.body:
        for name in _names_bound(statement):
            bound[name] = (*bound.get(name, ()), statement)
    return TextNames(source, bound, extra)


def _names_bound(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [a.asname or a.name.split(".")[0] for a in names]
        case _:
            inside = [n for n in ast.walk(statement) if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
            stored = [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
            imports = [n for n in ast.walk(statement) if isinstance(n, (ast.Import, ast.ImportFrom)) and n is not statement]
            return [*stored, *(n.name for n in inside), *(a.asname or a.name for i in imports for a in i.names)]
