"""
Second derivatives of the rows that `bounded` judges, by the same means: J applied to their backpropagators, up to the bound.

The row and J of its shipped backpropagator are run on arrays of terms, one for every entry, on all paths that comparisons open.
With S = Σ u · ∂(Σ w · f), both derivatives of the row's own values taken by differential algebra, the sensitivity of each entry x
must be ∂S/∂x, and that of each cotangent w must be ∂S/∂w. At the boundary of a comparison nothing is claimed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import z3

from checkers.smt.inquiry import Judgment
from checkers.smt.paths import explore
from checkers.smt.real import reading
from checkers.smt.terms import real
from proofs.arrays.bounded import MOST, at_every_shape, terms
from proofs.arrays.instances import Example
from proofs.arrays.replay import applied, flattened, parts
from proofs.arrays.second_order import pullback_of_cotangents
from proofs.calculus import derivative
from semantics.arrays import Array
from semantics.edit import Edit
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from transforms.clone import link


def together(row: Primitive, rule: Program, arity: int) -> Program:
    """(x…, w, u…) -> (p(x…), the sensitivities of x… and w)"""
    edit = Edit(pullback_of_cotangents(row, rule, arity))
    edit.arrays = True
    second = edit.reference(edit.program.entry)
    graph = edit.graph("both")
    arguments = [edit.parameter(graph, f"x{k}") for k in range(arity)]
    rest = [edit.parameter(graph, name) for name in ("w", *(f"u{k}" for k in range(arity)))]
    pulled = edit.apply(graph, second, *arguments, *rest)
    out = edit.apply(graph, edit.reference(link(edit, applied(row, arity))), *arguments)
    edit.output(graph, edit.call(graph, TABLE["make_tuple"], out, pulled))
    edit.set_entry(graph)
    return edit.program


def variables(value: Any, letter: str, count: Iterator[int]) -> Any:
    """A sensitivity of a value: a variable for every real; ZERO of what has none."""
    if isinstance(value, tuple):
        return tuple(variables(v, letter, count) for v in value)
    if isinstance(value, Array):
        return value.with_items(z3.Real(f"{letter}{next(count)}") for _ in value.items) if value.dtype == "f64" else ZERO
    return z3.Real(f"{letter}{next(count)}") if z3.is_expr(value) else ZERO


def claims(row: Primitive, rule: Program, arguments: Sequence[Any]) -> Iterator[tuple[Any, Any, list[Any]]]:
    """The sensitivity of each entry and of each cotangent and what it must be, with the conditions of the path."""
    alone = applied(row, len(arguments))
    defined = [path.value for path in explore(alone, arguments, reading) if path.trap is None]
    if not defined:
        return
    w, u = variables(defined[0], "w", itertools.count()), variables(tuple(arguments), "u", itertools.count())
    entries, seeds = [x for a in arguments for x in terms(a)], list(flattened(w, w))
    directions = [x for part in u for x in terms(part)]
    for path in explore(together(row, rule, len(arguments)), [*arguments, w, *u], reading):
        if path.trap is not None:
            if any(inside.trap is None for inside in explore(alone, arguments, reading, path.all)):
                raise path.trap  # the pullback has no value where the row has one
            continue
        out, back = path.value
        moved = [along(value, entries, directions) for value in flattened(out, out)]
        found = [x for d, a in zip(back, [*arguments, w], strict=True) for x in parts(d, a, terms)]
        total: Any = sum((seed * value for seed, value in zip(seeds, moved, strict=True)), real(0))
        wanted = [derivative(total, x) for x in entries] + moved
        for sensitivity, expected in zip(found, wanted, strict=True):
            yield (real(0) if isinstance(sensitivity, int) else sensitivity), expected, path.all


def along(value: Any, entries: Sequence[Any], directions: Sequence[Any]) -> Any:
    """Σ u · ∂value/∂x"""
    if not z3.is_expr(value):
        return real(0)
    return sum((u * derivative(value, x) for x, u in zip(entries, directions, strict=True)), real(0))


def claim(row: Primitive) -> str:
    """The name of what is claimed."""
    return f"second order of {row.name} on arrays, sizes up to {MOST}"


def judge(row: Primitive, examples: Sequence[Example], rule: Program | None = None) -> Judgment:
    """Whether J of a rule, the shipped one if none is given, is the second derivative at every shape up to the bound."""
    return at_every_shape(claim(row), row, examples, rule, claims, f", all sizes up to {MOST}")
