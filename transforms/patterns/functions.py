"""
Rewrite rules written as two Python functions of the same parameters: `lambda x: x + 0.0` and `lambda x: x`.

The front end reads them; the rule is the one that their text, `x + 0.0 -> x`, states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from semantics.errors import Malformed
from semantics.ir import Program
from transforms.patterns.metavariables import ATTRIBUTE_OF, ATTRIBUTES
from transforms.patterns.rule import PatternRule, pattern_rule
from transforms.patterns.terms import Term, Variable, calls, term_of, text_of

PYTHON = {float: "f64", int: "i64", bool: "bool", "float": "f64", "int": "i64"}


def function_rule(
    left: Callable[..., Any],
    right: Callable[..., Any],
    types: Mapping[str, str],
    *,
    when: str | None = None,
    domain: str = "REAL",
    name: str = "",
) -> PatternRule:
    """
    The rule that rewrites what `left` computes to what `right` does.

    types   of the parameters, as declarations have them ("f64[m, n]", "axis", "#i64"); annotations of `left` say the rest

    Malformed if the functions have different parameters, cannot be read, or one of them is not straight-line.
    """
    from transforms.parse import parse

    sides = parse(left), parse(right)
    names, others = (_parameters(side) for side in sides)
    if names != others:
        what = f"the sides have different parameters: {', '.join(names) or 'none'}, and {', '.join(others) or 'none'}"
        raise _refuse(what, "two functions of the same parameters in the same order")
    if unknown := [n for n in types if n not in names]:
        raise _refuse(f"{unknown[0]} is typed but is no parameter", f"the parameters are {', '.join(names)}")
    declared = {**_annotated(left), **types}
    terms = [term_of(side) for side in sides]
    literals = {n for n, type in declared.items() if type.startswith("#") or type in ATTRIBUTES}
    literals |= {n for term in terms for n in _attributes(term) if n not in declared}
    holes = {n: Variable(n, n in literals) for n in names}
    texts = [text_of(term_of(side, holes)) for side in sides]
    heads = [f"{'#' if n in literals else ''}{n}: {type.lstrip('#')}" for n, type in declared.items()]
    text = (f"{', '.join(heads)} | " if heads else "") + " -> ".join(texts)
    found = pattern_rule(text, when=when, domain=domain, name=name)
    if missing := [n for n in names if n not in found.variables]:
        raise _refuse(f"the left side does not use {missing[0]}", "remove the parameter from both functions")
    return found


def _parameters(program: Program) -> list[str]:
    return [getattr(program.nodes[n], "name", "") for n in program.graphs[program.entry].parameters]


def _annotated(function: Callable[..., Any]) -> dict[str, str]:
    """The types that the annotations of a function declare."""
    found = {n: PYTHON.get(a, a) for n, a in getattr(function, "__annotations__", {}).items() if n != "return"}
    for name, annotation in found.items():
        if not isinstance(annotation, str):
            raise _refuse(f"{name} is annotated with {annotation!r}", "float, int, bool, or text such as 'f64[m, n]'")
    return {n: a.strip("'\"") for n, a in found.items()}


def _attributes(term: Term) -> set[str]:
    """The variables that stand where a row has an attribute."""
    return {
        argument.name
        for call in calls(term)
        for parameter, argument in zip(call.primitive.parameters, call.arguments, strict=False)
        if isinstance(argument, Variable) and parameter in ATTRIBUTE_OF
    }


def _refuse(what: str, remedy: str) -> Malformed:
    return Malformed(what, rule="pattern", remedy=remedy)
