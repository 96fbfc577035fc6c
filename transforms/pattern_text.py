"""
The text of rewrite rules, read with Python's own parser for expressions and never evaluated. See `transforms.pattern` for the form.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semantics.errors import Location, Malformed
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.tangents import ZERO
from transforms.operators import BINARY, COMPARISON

TYPES = ("f64", "i64", "bool", "number", "any")
LONGEST = 500


@dataclass(frozen=True, slots=True)
class Variable:
    """A metavariable; `literal` if it stands for constants only."""

    name: str
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    value: Any


@dataclass(frozen=True, slots=True)
class Call:
    """A primitive applied to terms."""

    primitive: Primitive
    arguments: tuple[Term, ...]


Term = Variable | Literal | Call

ALIASES = {"where": "switch", "float": "to_real", "int": "to_integer", "bool": "to_boolean"}
NAMED = {"ZERO": ZERO, "inf": float("inf"), "nan": float("nan")}
KNOWN = {name: p for name, p in TABLE.items() if p not in MACROS}


def refuse(text: str, column: int, what: str, remedy: str) -> Malformed:
    """The error for a rule that cannot be read, with a caret under `column`."""
    return Malformed(what, rule="pattern", location=Location("<rule>", 1, column, text), remedy=remedy)


def parse_rule(text: str, primitives: Mapping[str, Primitive]) -> tuple[dict[str, str], Call, Term]:
    """The metavariables with their types, declared ones first, and the two sides. Malformed otherwise."""
    if not isinstance(text, str):
        raise refuse(str(text), 0, "a rule is written as text", "such as 'x * 1 -> x'")
    if len(text) > LONGEST or "\n" in text:
        raise refuse(text[:60], 0, f"a rule is one line of at most {LONGEST} characters", "split it into several rules")
    declared, body = _declarations(text)
    arrow = text.find("->", body)
    if arrow < 0 or "->" in text[arrow + 2 :]:
        raise refuse(text, max(arrow, body), "a rule has one arrow", "left -> right, such as 'x * 1 -> x'")
    reader = _Reader(text, declared, {**KNOWN, **primitives})
    left = reader.side(body, arrow)
    bound = dict(reader.seen)
    if not isinstance(left, Call):
        raise refuse(text, body, "the left side must apply something", "a lone name or number matches everything or nothing")
    if not bound:
        raise refuse(text, body, "the left side has no metavariable", "constants are folded already; name what varies")
    right = reader.side(arrow + 2, len(text))
    for name in reader.seen:
        if name not in bound:
            column = reader.seen[name]
            raise refuse(text, column, f"{name} occurs on the right only", f"the left binds {', '.join(bound)}")
    for name in declared:
        if name not in bound:
            raise refuse(text, text.index(name), f"{name} is declared but does not occur on the left", "remove it")
    return {**declared, **{name: "f64" for name in bound if name not in declared}}, left, right


def _declarations(text: str) -> tuple[dict[str, str], int]:
    """The declared types, and the column where the rule itself begins."""
    bar = text.find("|")
    if bar < 0:
        return {}, 0
    declared: dict[str, str] = {}
    column = 0
    for part in text[:bar].split(","):
        match = re.fullmatch(r"\s*#?([A-Za-z]\w*)\s*:\s*(\w+)\s*", part)
        if match is None:
            raise refuse(text, column, f"{part.strip()!r} is no declaration", "such as 'x: i64, b: bool | …'")
        name, type = match.groups()
        if type not in TYPES:
            raise refuse(text, column + match.start(2), f"{type} is no type of a metavariable", f"one of {', '.join(TYPES)}")
        declared[name] = type
        column += len(part) + 1
    return declared, bar + 1


class _Reader:
    """Reads the two sides of one rule. `seen` has each metavariable with the column of its first occurrence."""

    def __init__(self, text: str, declared: Mapping[str, str], primitives: Mapping[str, Primitive]) -> None:
        self.text, self.declared, self.primitives = text, declared, primitives
        self.seen: dict[str, int] = {}
        self.start = 0

    def side(self, start: int, end: int) -> Term:
        """The term between two columns."""
        source = self.text[start:end]
        self.start = start + len(source) - len(source.lstrip())
        stripped = re.sub(r"#(?=[A-Za-z])", "_", source.strip())
        if not stripped:
            raise refuse(self.text, start, "a side of the rule is empty", "left -> right, such as 'x * 1 -> x'")
        try:
            tree = ast.parse(stripped, mode="eval").body
        except SyntaxError as error:
            column = self.start + max((error.offset or 1) - 1, 0)
            raise refuse(self.text, column, f"this is not an expression: {error.msg}", "write terms as in Python") from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise refuse(self.text, self.start, f"this cannot be read: {error}", "write a shorter rule") from None
        return self.term(tree)

    def error(self, node: ast.expr, what: str, remedy: str) -> Malformed:
        return refuse(self.text, self.start + node.col_offset, what, remedy)

    def term(self, node: ast.expr) -> Term:
        """The term of a syntax tree, whose depth the length of the rule bounds."""
        match node:
            case ast.Constant(value=bool() | int() | float() | None as value):
                return Literal(value)
            case ast.UnaryOp(ast.USub(), ast.Constant(value=int() | float() as value)) if not isinstance(value, bool):
                return Literal(-value)
            case ast.UnaryOp(ast.USub(), ast.Name(id="inf")) if "inf" not in self.declared:
                return Literal(float("-inf"))
            case ast.UnaryOp(ast.USub(), operand):
                return self.call(node, "neg", operand)
            case ast.UnaryOp(ast.Not(), operand):
                return self.call(node, "not_", operand)
            case ast.BinOp(left, op, right) if type(op) in BINARY:
                return self.call(node, BINARY[type(op)], left, right)
            case ast.Compare(left, [op], [right]) if type(op) in COMPARISON:
                return self.call(node, COMPARISON[type(op)], left, right)
            case ast.IfExp(test, body, orelse):
                return self.call(node, "switch", test, body, orelse)
            case ast.Call(ast.Name(name), arguments, []):
                return self.call(node, name, *arguments)
            case ast.Call(ast.Attribute(ast.Name("math"), name), arguments, []):
                return self.call(node, name, *arguments)
            case ast.Name(name):
                return self.name(node, name)
            case _:
                remedy = "arithmetic, single comparisons, `not`, conditional expressions, calls of primitives"
                raise self.error(node, f"{type(node).__name__} has no place in a rule", remedy)

    def name(self, node: ast.expr, name: str) -> Term:
        if name in NAMED and name not in self.declared:
            return Literal(NAMED[name])
        literal = name.startswith("_")
        name = name[1:] if literal else name
        if not re.fullmatch(r"[A-Za-z]\w*", name):
            raise self.error(node, f"{name!r} cannot name a metavariable", "start it with a letter")
        self.seen.setdefault(name, self.start + node.col_offset)
        return Variable(name, literal)

    def call(self, node: ast.expr, name: str, *arguments: ast.expr) -> Term:
        primitive = self.primitives.get(ALIASES.get(name, name))
        if primitive is None:
            raise self.error(node, f"{name} is not a primitive", "see `adjudge about --primitives`")
        wanted = len(primitive.signature)
        if primitive.parameters != ("*",) and len(arguments) != wanted:
            remedy = f"{name}({', '.join(primitive.parameters)})"
            raise self.error(node, f"{name} takes {wanted} arguments, {len(arguments)} given", remedy)
        return Call(primitive, tuple(self.term(a) for a in arguments))
