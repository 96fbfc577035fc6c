"""
The two ways to write a pullback of reals, and which one somebody has chosen; on arrays, see `checkers.array_audit.pullback_form`.

    (xs, y, dy)      the arguments as one tuple: the documented form of black boxes
    (x…, y, dy)      the arguments one by one, as primitives have it
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from checkers.inputs import Point
from semantics.edit import Edit, empty
from semantics.errors import IllTyped
from semantics.ir import Program
from semantics.primitives.row import Hole
from semantics.primitives.table import TABLE
from transforms.clone import link
from transforms.python_rows import program_of


def spreads(
    pullback: Callable[..., Any], parameters: tuple[str, ...], points: Sequence[Point], value: Callable[[Point], float]
) -> bool:
    """
    Whether the pullback is written (x…, y, dy) rather than (xs, y, dy). Parameters with a default are not counted.

    With several arguments their number tells. With one, both forms are tried on the samples, and it is the form that the rule can
    take; if both, it is spread where its first parameter bears the name of the argument, and if neither, it is spread.
    """
    names = required(pullback)
    if len(names) != len(parameters) + 2:
        return False
    if len(parameters) > 1:
        return True
    whole = any(refuses(lambda xs=xs: pullback(xs, value(xs), 1.0)) for xs in points)  # type: ignore[misc]
    alone = any(refuses(lambda xs=xs: pullback(*xs, value(xs), 1.0)) for xs in points)  # type: ignore[misc]
    return whole if whole != alone else whole or names[0] in parameters


def refuses(call: Callable[[], Any]) -> bool:
    """Whether a rule cannot take a tuple, or a number, where it is given one."""
    try:
        call()
    except (TypeError, IllTyped):  # the latter from primitives that it calls
        return True
    except Exception:
        return False
    return False


def required(function: Callable[..., Any]) -> tuple[str, ...]:
    """The positional parameters without a default, in order; none if Python cannot tell."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty)


def rule_of(pullback: Callable[..., Any], spreads: bool, parameters: tuple[str, ...]) -> tuple[Program | None, str]:
    """The pullback as a program (x…, out, dout), or None and why it is not one."""
    found = program_of(pullback)
    if isinstance(found, Hole):
        return None, found.reason
    form, count = ("(x…, y, dy)", len(parameters) + 2) if spreads else ("(xs, y, dy)", 3)
    if len(found.graphs[found.entry].parameters) != count:
        return None, f"it takes more than {form}" if len(required(pullback)) == count else f"it does not take {form}"
    if spreads:
        return found, ""
    edit = Edit(empty())
    graph = edit.graph("pullback")
    arguments = [edit.parameter(graph, p) for p in (*parameters, "out", "dout")]
    rule = edit.reference(link(edit, found))
    xs = edit.call(graph, TABLE["make_tuple"], *arguments[:-2])
    edit.output(graph, edit.apply(graph, rule, xs, *arguments[-2:]))
    return edit.program, ""
