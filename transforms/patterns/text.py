"""
The text of rewrite rules, read with Python's own parser for expressions and never evaluated. See `transforms.patterns.rule` for the
form.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat

from semantics.errors import Location, Malformed
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.tangents import ZERO
from transforms.operators import BINARY, COMPARISON
from transforms.patterns.metavariables import ATTRIBUTE_OF, ATTRIBUTES, array_type, sizes_in
from transforms.patterns.numpy_terms import known_to_numpy, numpy_term
from transforms.patterns.terms import Call, Literal, Size, Term, Variable, applied, calls

__all__ = ["Call", "Literal", "Parsed", "Size", "Term", "Variable", "parse_rule", "refuse"]

TYPES = ("f64", "i64", "bool", "number", "any")
LONGEST = 500
ARROW = re.compile(r"""->(?=(?:[^"']*["'][^"']*["'])*[^"']*$)""")  # outside strings, which einsum has
TEXTS = ("dtype", "subscripts")  # the parameters of rows that are strings

ALIASES = {"where": "switch", "float": "to_real", "int": "to_integer", "bool": "to_boolean"}
NAMED = {"ZERO": ZERO, "inf": float("inf"), "nan": float("nan")}
KNOWN = {name: p for name, p in TABLE.items() if p not in MACROS}


def refuse(text: str, column: int, what: str, remedy: str) -> Malformed:
    """The error for a rule that cannot be read, with a caret under `column`."""
    return Malformed(what, rule="pattern", location=Location("<rule>", 1, column, text), remedy=remedy)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A rule as read: its text without the side condition, the condition or nothing, the metavariables, the two sides."""

    text: str
    when: str
    variables: dict[str, str]
    left: Call
    right: Term


def parse_rule(text: str, primitives: Mapping[str, Primitive]) -> Parsed:
    """The rule that a text is: its metavariables with their types, declared ones first, and its sides. Malformed otherwise."""
    if not isinstance(text, str):
        raise refuse(str(text), 0, "a rule is written as text", "such as 'x * 1 -> x'")
    if len(text) > LONGEST or "\n" in text:
        raise refuse(text[:60], 0, f"a rule is one line of at most {LONGEST} characters", "split it into several rules")
    declared, literals, body = _declarations(text)
    arrows = [m.start() for m in ARROW.finditer(text, body)]
    if len(arrows) != 1:
        raise refuse(text, arrows[0] if arrows else body, "a rule has one arrow", "left -> right, such as 'x * 1 -> x'")
    (arrow,) = arrows
    end, when = _condition(text, arrow)
    reader = _Reader(text, declared, literals, {**KNOWN, **primitives})
    left = reader.side(body, arrow)
    bound = dict(reader.seen)
    if not isinstance(left, Call):
        raise refuse(text, body, "the left side must apply something", "a lone name or number matches everything or nothing")
    if not bound:
        raise refuse(text, body, "the left side has no metavariable", "constants are folded already; name what varies")
    right = reader.side(arrow + 2, end)
    for name in reader.seen:
        if name not in bound:
            column = reader.seen[name]
            raise refuse(text, column, f"{name} occurs on the right only", f"the left binds {', '.join(bound)}")
    for name in declared:
        if name not in bound:
            raise refuse(text, text.index(name), f"{name} is declared but does not occur on the left", "remove it")
    used = {name: kind for side in (right, left) for name, kind in _attributes(side).items()}
    variables = {**declared, **{name: used.get(name, "f64") for name in bound if name not in declared}}
    return Parsed(text[:end].rstrip() if when else text, when, variables, left, right)


def _condition(text: str, arrow: int) -> tuple[int, str]:
    """Where the right side ends, and the side condition after `when`, if there is one."""
    match = re.compile(r"\bwhen\b").search(text, arrow)
    if match is None:
        return len(text), ""
    condition = text[match.end() :].replace("#", "").strip()
    if not condition:
        raise refuse(text, match.start(), "there is no condition after `when`", "such as 'x / x -> 1.0 when x != 0'")
    return match.start(), condition


def _attributes(term: Term) -> dict[str, str]:
    """What the literal metavariables of a term are, by the parameters of the rows that they stand for."""
    found: dict[str, str] = {}
    for call in calls(term):
        for parameter, argument in zip(call.primitive.parameters, call.arguments, strict=False):
            if isinstance(argument, Variable) and argument.literal and parameter in ATTRIBUTE_OF:
                found.setdefault(argument.name, ATTRIBUTE_OF[parameter])
    return found


def _declarations(text: str) -> tuple[dict[str, str], frozenset[str], int]:
    """The declared types, the names declared as literals, and the column where the rule itself begins."""
    bar = text.find("|")
    if bar < 0:
        return {}, frozenset(), 0
    declared: dict[str, str] = {}
    literals: set[str] = set()
    column = 0
    for part in re.split(r",(?![^\[]*\])", text[:bar]):
        match = re.fullmatch(r"\s*(#?)([A-Za-z]\w*)\s*:\s*(\w+(?:\s*\[[^\]]*\])?)\s*", part)
        if match is None:
            raise refuse(text, column, f"{part.strip()!r} is no declaration", "such as 'x: i64, a: f64[m, n] | …'")
        mark, name, type = match.groups()
        arrays = array_type(type)
        if type not in (*TYPES, *ATTRIBUTES) and arrays is None:
            remedy = f"one of {', '.join(TYPES)}, arrays such as f64[m, n], or {', '.join(ATTRIBUTES)}"
            raise refuse(text, column + match.start(3), f"{type} is no type of a metavariable", remedy)
        if mark and arrays is not None:
            raise refuse(text, column + match.start(2), f"#{name} is a literal, and no array is one", f"{name}: {type}")
        declared[name] = str(arrays) if arrays is not None else type
        if mark or type in ATTRIBUTES:
            literals.add(name)
        column += len(part) + 1
    for name in sizes_in(declared):
        if name in declared:
            raise refuse(text, text.index(name), f"{name} is a size and a metavariable", "give one of them another name")
    return declared, frozenset(literals), bar + 1


class _Reader:
    """Reads the two sides of one rule. `seen` has each metavariable with the column of its first occurrence."""

    def __init__(
        self, text: str, declared: Mapping[str, str], literals: frozenset[str], primitives: Mapping[str, Primitive]
    ) -> None:
        self.text, self.declared, self.literals, self.primitives = text, declared, literals, primitives
        self.sizes = sizes_in(declared)
        self.arrays = any(array_type(t) for t in declared.values())
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
            case ast.Call(ast.Name(name), arguments, []) if not self.as_numpy(name, len(arguments)):
                return self.call(node, name, *arguments)
            case ast.Call(ast.Name(name) as function, arguments, keywords) if known_to_numpy(name):
                module = ast.copy_location(ast.Name("np", ast.Load()), function)
                return self.numpy(ast.copy_location(ast.Call(ast.Attribute(module, name), arguments, keywords), node))
            case ast.Call(ast.Attribute(ast.Name("math"), name), arguments, []):
                return self.call(node, name, *arguments)
            case ast.Call(ast.Attribute()) | ast.Attribute() | ast.Subscript():
                return self.numpy(node)
            case ast.Tuple(items):
                return applied(self.primitives["make_tuple"], tuple(self.term(i) for i in items))
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
        if name in self.sizes:
            return Size(name)
        self.seen.setdefault(name, self.start + node.col_offset)
        return Variable(name, literal or name in self.literals)

    def as_numpy(self, name: str, given: int) -> bool:
        """Whether a bare name means NumPy's function: where arrays are declared and no row of that name takes `given` arguments."""
        row = self.primitives.get(ALIASES.get(name, name))
        fits = row is not None and (row.parameters[-1:] == ("*",) or len(row.signature) == given)
        return self.arrays and not fits and known_to_numpy(name)

    def numpy(self, node: ast.expr) -> Term:
        """What the front end makes of it."""
        return numpy_term(node, self.term, lambda what, remedy: self.error(node, what, remedy))

    def call(self, node: ast.expr, name: str, *arguments: ast.expr) -> Term:
        alias = name if name == "where" and self.arrays else ALIASES.get(name, name)
        primitive = self.primitives.get(alias)
        if primitive is None:
            raise self.error(node, f"{name} is not a primitive", "see `adjudge about --primitives`")
        wanted = len(primitive.signature)
        if primitive.parameters[-1:] != ("*",) and len(arguments) != wanted:
            remedy = f"{name}({', '.join(primitive.parameters)})"
            raise self.error(node, f"{name} takes {wanted} arguments, {len(arguments)} given", remedy)
        return applied(primitive, tuple(self.argument(p, a) for p, a in zip(_parameters(primitive), arguments, strict=False)))

    def argument(self, parameter: str, node: ast.expr) -> Term:
        """A term, or a string where the row wants one."""
        match node:
            case ast.Constant(value=str() as value) if parameter in TEXTS:
                return Literal(value)
            case _:
                return self.term(node)


def _parameters(primitive: Primitive) -> Iterator[str]:
    """The names of a row's parameters, the last one again and again where it takes any number."""
    yield from primitive.parameters
    if primitive.parameters[-1:] == ("*",):
        yield from repeat("*")
