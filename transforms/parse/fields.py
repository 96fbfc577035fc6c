"""
`r.a = v` on a dataclass that is not frozen: rewritten in the tree to `r["a"] = v`, a functional update of the name r.

The rules of mutation (`aliases`) then refuse it where another name would see the change. In a closed world a field can be
assigned if some class that the program can name has it and is not frozen. The call of a class is marked: what it makes is new.
"""

from __future__ import annotations

import ast
from typing import Any

from semantics.errors import Malformed
from transforms.parse.classes import classes_of
from transforms.parse.desugar import Bound, Desugarer
from transforms.parse.library import Update
from transforms.parse.names import Class, NameTable
from transforms.parse.nodes import Made, placed, walk
from transforms.parse.source import Function, Source


def with_fields(source: Source, root: Function, names: NameTable) -> Function:
    """`root` without assignments to attributes; `root` itself if it has none."""
    stores = any(isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) for node in walk(root))
    return FieldStores(source, names).run(root) if stores else root


class FieldStores(Desugarer):
    """The rewriting of one function."""

    def __init__(self, source: Source, names: NameTable) -> None:
        super().__init__(names)
        self.source = source

    def rewrite(self, held: Any, key: Any, node: ast.AST, bound: Bound) -> None:
        """An attribute that is assigned, as an element; a call of a class, or of `replace`, marked as such."""
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Store()):
                self.check(node, name, attr)
                element = ast.Subscript(ast.Name(name, ast.Load()), ast.Constant(attr), ast.Store())
                held[key] = placed(element, node)
            case ast.Call(func=function, args=arguments, keywords=keywords) if isinstance(
                self.named(function, bound), (Class, Update)
            ):
                held[key] = placed(Made(function, arguments, keywords), node)

    def check(self, at: ast.Attribute, name: str, attr: str) -> None:
        """Malformed unless a class that is not frozen has the field."""
        having = [cls for cls in classes_of(self.names) if attr in cls.label.fields]
        if any(not cls.frozen for cls in having):
            return
        if not having:
            raise self.refuse(at, f"no class of records that the program can name has a field {attr}", "a variable of its own")
        cls = having[0].label
        if cls.kind == "namedtuple":
            raise self.refuse(
                at, f"{cls.name} is a NamedTuple, whose fields cannot be assigned", f"{name} = {name}._replace({attr}=…)"
            )
        raise self.refuse(at, f"{cls.name} is frozen", f"{name} = dataclasses.replace({name}, {attr}=…)")

    def refuse(self, at: ast.AST, what: str, remedy: str) -> Malformed:
        """The error, at its place."""
        return self.source.refuse(at, what, remedy, rule="field")
