"""
The terms of rewrite rules, and the two ways between them and programs that do not depend on a place: reading a straight-line
program back as a term, and writing a term as text that reads back as itself.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from semantics.errors import Malformed
from semantics.ir import Apply, Constant, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.tangents import ZERO
from transforms.operators import BINARY, COMPARISON

LARGEST = 400  # nodes of a term: sharing in a program is repetition in a term


@dataclass(frozen=True, slots=True)
class Variable:
    """A metavariable; `literal` if it stands for constants only."""

    name: str
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    """A size of the declared arrays, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    value: Any


@dataclass(frozen=True, slots=True)
class Call:
    """A primitive applied to terms."""

    primitive: Primitive
    arguments: tuple[Term, ...]


Term = Variable | Size | Literal | Call


def applied(primitive: Primitive, arguments: tuple[Term, ...]) -> Term:
    """The application; a tuple of literals is a literal, however it is written."""
    if primitive.name == "make_tuple" and all(isinstance(a, Literal) for a in arguments):
        return Literal(tuple(a.value for a in arguments if isinstance(a, Literal)))
    return Call(primitive, arguments)


def calls(term: Term) -> Iterator[Call]:
    """Every application in a term, outermost first."""
    todo = [term]
    while todo:
        found = todo.pop()
        if isinstance(found, Call):
            yield found
            todo.extend(reversed(found.arguments))


def term_of(program: Program, holes: Mapping[str, Term] | None = None) -> Term:
    """
    The value of a straight-line program as a term of its parameters, or of what `holes` puts in their places.

    Malformed if it calls anything but primitives, or is too large to be a rule.
    """
    graph = program.graphs[program.entry]
    terms: dict[NodeId, Term] = {}
    weights: dict[NodeId, int] = {}
    for node in graph.parameters:
        name = getattr(program.nodes[node], "name", "")
        terms[node], weights[node] = (holes or {}).get(name, Variable(name)), 1
    todo = [graph.output]
    while todo:
        node = todo[-1]
        if node in terms:
            todo.pop()
            continue
        match program.nodes[node]:
            case Constant(value) if not isinstance(value, (GraphRef, Primitive)):
                terms[node], weights[node] = Literal(value), 1
            case Apply(_, (function, *arguments)) if isinstance(primitive := program.constant(function), Primitive):
                missing = [n for n in arguments if n not in terms]
                if missing:
                    todo.extend(missing)
                    continue
                terms[node] = applied(primitive, tuple(terms[n] for n in arguments))
                weights[node] = 1 + sum(weights[n] for n in arguments)
            case _:
                raise _no_term("a side of a rule calls a function or branches", "apply primitives only; np.where for a choice")
        if weights[node] > LARGEST:
            raise _no_term(f"a side of a rule has more than {LARGEST} parts", "write a smaller rule")
    return terms[graph.output]


def _no_term(what: str, remedy: str) -> Malformed:
    return Malformed(what, rule="pattern", remedy=remedy)


_OPERATORS = {name: op for op, name in BINARY.items()}
_COMPARISONS = {name: op for op, name in COMPARISON.items()}


def text_of(term: Term) -> str:
    """The term as `text` reads it: operators where there are some, rows by their names elsewhere."""
    return re.sub(r"\b_(?=[A-Za-z])", "#", ast.unparse(ast.fix_missing_locations(_tree(term))))


def _tree(term: Term) -> ast.expr:
    """The syntax tree of a term. Recursion is bounded: LARGEST bounds the term."""
    match term:
        case Variable(name, literal):
            return ast.Name(f"_{name}" if literal else name)
        case Size(name):
            return ast.Name(name)
        case Literal(value):
            return _literal(value)
        case Call(primitive, arguments):
            name, parts = primitive.name, [_tree(a) for a in arguments]
            match parts:
                case [a, b] if name in _OPERATORS:
                    return ast.BinOp(a, _OPERATORS[name](), b)
                case [a, b] if name in _COMPARISONS:
                    return ast.Compare(a, [_COMPARISONS[name]()], [b])
                case [a] if name in ("neg", "not_") and not isinstance(arguments[0], Literal):
                    return ast.UnaryOp(ast.USub() if name == "neg" else ast.Not(), a)
                case [c, a, b] if name == "switch":
                    return ast.IfExp(c, a, b)
                case _:
                    # a bare `where` of scalars is the row `switch`
                    function = ast.Attribute(ast.Name("np"), name) if name == "where" else ast.Name(name)
                    return ast.Call(function, parts, [])


def _literal(value: Any) -> ast.expr:
    if value is ZERO:
        return ast.Name("ZERO")
    if isinstance(value, tuple):
        return ast.Tuple([_literal(v) for v in value])
    if isinstance(value, float) and not math.isfinite(value):
        return ast.Name("nan") if math.isnan(value) else ast.parse("-inf" if value < 0 else "inf", mode="eval").body
    if value is None or isinstance(value, (bool, int, float, str)):
        return ast.Constant(value)
    raise _no_term(f"{value!r} cannot be written in a rule", "numbers, booleans, None, and tuples of them")
