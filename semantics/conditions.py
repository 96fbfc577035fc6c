"""
Side conditions as text: `x > 0`, `-1 < x < 1`, `y != 0 and x != y`.

A condition is parsed once with `ast` and never evaluated by Python. `conjuncts` reads it over any carrier whose values
have arithmetic and comparison operators: floats, fractions, balls, z3 terms. What a comparison yields is up to the carrier.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from semantics.errors import Malformed

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A conjunction of comparisons between arithmetic expressions in named variables."""

    text: str

    def __post_init__(self) -> None:
        self.parts()

    def __str__(self) -> str:
        return self.text

    def parts(self) -> list[ast.Compare]:
        """The comparisons of the conjunction; Malformed if the text is anything else."""
        try:
            body = ast.parse(self.text, mode="eval").body
        except SyntaxError as error:
            raise Malformed(f"the condition {self.text!r} is not an expression: {error.msg}", remedy="such as 'x > 0'") from None
        parts = body.values if isinstance(body, ast.BoolOp) and isinstance(body.op, ast.And) else [body]
        for part in parts:
            if not isinstance(part, ast.Compare):
                raise Malformed(f"{ast.unparse(part)!r} in {self.text!r} is not a comparison", remedy="such as 'x > 0 and y != 0'")
        return [part for part in parts if isinstance(part, ast.Compare)]

    def conjuncts(self, values: Mapping[str, Any], number: Callable[[float], Any] = lambda c: c) -> list[Any]:
        """What each comparison yields over `values`; literal numbers go through `number` first."""
        result: list[Any] = []
        for part in self.parts():
            terms = [_term(t, values, number, self.text) for t in (part.left, *part.comparators)]
            for op, left, right in zip(part.ops, terms, terms[1:], strict=False):
                if type(op) not in _COMPARE:
                    raise Malformed(f"the condition {self.text!r} uses an unknown comparison", remedy="<, <=, >, >=, == or !=")
                result.append(_COMPARE[type(op)](left, right))
        return result

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether every comparison is true, for carriers whose comparisons are booleans."""
        return all(bool(c) for c in self.conjuncts(values))


def _term(node: ast.expr, values: Mapping[str, Any], number: Callable[[float], Any], text: str) -> Any:
    """The value of an arithmetic term; terms are as deep as somebody wrote them, so recursion is bounded."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return number(value)
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.Name(id=name):
            raise Malformed(f"the condition {text!r} names {name}, which is none of {', '.join(values)}")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_term(operand, values, number, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            return _ARITHMETIC[type(op)](_term(left, values, number, text), _term(right, values, number, text))
        case ast.Call(func=ast.Name(id="abs"), args=[argument]):
            return abs(_term(argument, values, number, text))
        case ast.Call(func=ast.Name(id="floor"), args=[argument]):
            return math.floor(_term(argument, values, number, text))
        case _:
            raise Malformed(
                f"{ast.unparse(node)!r} in the condition {text!r} is not arithmetic", remedy="names, numbers, + - * /, abs, floor"
            )
