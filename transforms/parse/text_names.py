"""
The names that a function in the text of a module sees, found without running the module.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transforms.parse.names import Expression, Found, Known, Literal, Module, Refused, found_builtin, found_value
from transforms.parse.source import Function, Source, default_expressions


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
        from transforms.parse.classes import class_of_text
        from transforms.parse.library import imported

        if self.before is not None and statement.lineno >= self.before:
            return Refused(f"{name} is assigned below its use", f"assign {name} above")
        match statement:
            case ast.FunctionDef(decorator_list=[_, *_]) if name not in self.extra:
                return Refused(
                    f"{name} has a decorator, which only running the module could tell the meaning of", "remove the decorator"
                )
            case ast.AsyncFunctionDef() if name not in self.extra:
                return Refused(f"{name} is an async def, which is not in the language", "write a plain def")
            case ast.ClassDef() if name not in self.extra:
                return class_of_text(self, statement)
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
        """A default value that needs no evaluation: a number, a number with a sign, a name, or a tuple or record of such."""
        from transforms.parse.classes import constant_structure

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
        if (found := constant_structure(self, expression)) is not None:
            return found
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
