"""Sums in fast code: steps whose order is left open, and a test of the total. If it is not finite, the exact code runs again."""

from __future__ import annotations

import ast
from typing import Any

from backend.status import ORDER


def next_term(emit: Any, total: str, term: Any) -> None:
    """One term more."""
    emit.line(f"{total} = _any_term({total}, {term.text})")


def demand_finite(emit: Any, total: str) -> None:
    """The status ORDER where the total is not finite: in the order of the reference it may be, or be another infinity or NaN."""
    emit.trap(f"not ({total} - {total} == 0.0)", ORDER)


def next_total(emit: Any, many: str, total: str) -> None:
    """Of many totals, one number that is 0 while all are finite, and NaN from then on."""
    emit.line(f"{many} = _any_term({many}, {total} - {total})")


def demand_all_finite(emit: Any, many: str) -> None:
    """The status ORDER where one of the totals is not finite: one test, after the loop over them, which so has none."""
    emit.trap(f"not ({many} == 0.0)", ORDER)


def tested(function: ast.AST) -> dict[str, str]:
    """For a number into which all of many totals go, the name of these; any other total has its own test."""
    found: dict[str, str] = {}
    for node in ast.walk(function):
        match node:
            case ast.Call(ast.Name("_any_term"), [ast.Name(many), ast.BinOp(ast.Name(total), ast.Sub(), ast.Name(other))]):
                if total == other:
                    found[many] = total
    return found
