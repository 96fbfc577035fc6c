"""
Rows and backpropagators of arrays read as index forms: the column "index" with what only sensitivities and choices need.

    a comparison       1 or 0 (`truth`); it is taken to be constant nearby, which holds away from ties
    where(c, a, b)     c·a + (1 - c)·b
    ZERO               the real 0, of any shape
    argmax, argsort    arrays of indices, known only by what they were made from; off ties they are constant nearby

Sizes are at least 1. A program is read under hypotheses, which say which reals are not 0 (`apart`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isinf
from typing import Any

from checkers.smt import index_along as along
from checkers.smt import index_form as forms
from checkers.smt import index_movement as movement
from checkers.smt import index_return as back
from checkers.smt import index_selection as selection
from checkers.smt.index_cells import cells
from checkers.smt.index_factors import NotReachedError
from checkers.smt.index_reading import decided
from proofs.arrays import choices, orders, sensitivities
from proofs.arrays.course import Course, Infinite
from proofs.arrays.whole_numbers import on_integers
from semantics.arrays import Array
from semantics.columns.meaning import MEANING
from semantics.denotation import Reading, denote
from semantics.ir import Program
from semantics.primitives.row import Column
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.tangents import ZERO


def read(program: Program, arguments: Sequence[Any], course: Course | None = None) -> Any:
    """The value of a program at symbolic arguments."""
    return denote(program, arguments, Reading(Column("index", column(course or Course())), lifted, decided))


def lifted(value: Any) -> Any:
    """A constant: a real as a form."""
    if isinstance(value, Array):
        raise NotReachedError("an array that is written out")
    if type(value) is float:
        return Infinite(value > 0) if isinf(value) else forms.constant(Fraction(value))
    return value


def column(course: Course) -> dict[str, Callable[..., Any]]:
    """The cells of one reading."""

    def noting(cell: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: cell(course, *arguments)

    base = cells(course)
    found = base | {name: noting(cell) for name, cell in OF_COURSE.items()} | PLAIN
    found |= {name: choices.comparison(course, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
    found |= {name: on_integers(name, found[name]) for name in ELEMENTWISE if name in found}
    absorbing = {name: _absorbing(cell) for name, cell in found.items() if name not in SPEAK_OF_ZERO}
    return found | absorbing | {name: MEANING[TABLE[name]] for name in AS_EVER}


AS_EVER = ("switch", "make_slice", "of_length", "length", "place_in", "J")
"""Rows of structure, which mean what they mean everywhere; J of data is the data."""
SPEAK_OF_ZERO = frozenset(
    {"instantiate", "where", "put", "make_tuple", "getitem", "keep", "inner", "gadd", "add", "concatenate", "stack", "eq"}
)


def _absorbing(cell: Callable[..., Any]) -> Callable[..., Any]:
    """Of nothing, nothing can depend."""
    return lambda *arguments: ZERO if any(a is ZERO for a in arguments) else cell(*arguments)


PLAIN: dict[str, Callable[..., Any]] = {
    "where": choices.where,
    "not_": lambda x: choices.pointwise(choices.one_minus, "bool", x),
    "and_": lambda x, y: choices.pointwise(forms.multiply, "bool", x, y),
    "or_": lambda x, y: choices.pointwise(lambda a, b: forms.add(a, b, forms.scaled(forms.multiply(a, b), -1)), "bool", x, y),
    "shape": sensitivities.shape,
    "like": sensitivities.like,
    "spread": sensitivities.spread,
    "keep": sensitivities.keep,
    "final": sensitivities.final,
    "scale": sensitivities.scale,
    "instantiate": sensitivities.instantiate,
    "einsum_adjoint": sensitivities.einsum_adjoint,
    "unsum": sensitivities.unsum,
    "arange": orders.arange,
    "astype": orders.same,
    "as_array": orders.same,
    "array_size": orders.size,
    "argmax": orders.argbest("argmax"),
    "argmin": orders.argbest("argmin"),
    "places": back.places,
    "gathered": back.gathered,
}
OF_COURSE: dict[str, Callable[..., Any]] = {
    "add": sensitivities.add,
    "gadd": sensitivities.gadd,
    "sum_to": sensitivities.sum_to,
    "inject": sensitivities.inject,
    "inner": sensitivities.inner,
    "put": sensitivities.put,
    "returned": back.returned,
    "grouped": movement.grouped,
    "shift": along.shift,
    "take_along": selection.take_along,
    "sort": orders.sort,
    "argsort": orders.argsort,
    "getitem": sensitivities.getitem,
    "neg": sensitivities.neg,
    "reduce_max": orders.best("argmax"),
    "reduce_min": orders.best("argmin"),
    "logsumexp": orders.logsumexp,
    "norm": orders.norm,
}
