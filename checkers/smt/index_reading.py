"""
Two array programs compared for all shapes: read as index forms, at every index of their results.

The right side must need nothing for its definedness that the left does not. Kinds that no size changes (an array without axes or
a number) are not compared here: a run tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

from checkers.smt import index_form as forms
from checkers.smt.index_cells import cells
from checkers.smt.index_factors import Form, NotReachedError
from checkers.smt.index_places import Index
from checkers.smt.index_values import Indexed, Need, Run, as_form, implied
from semantics.arrays import Array
from semantics.denotation import Reading, denote
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.primitives.row import Column


def _lift(value: Any) -> Any:
    if isinstance(value, Array):
        raise NotReachedError("an array that is written out")
    if type(value) is float:
        if not isfinite(value):
            raise NotReachedError("a number that is no real")
        return forms.constant(Fraction(value))
    return value


def decided(condition: Any) -> Any:
    """A condition that is known, whatever the elements; a choice by an element is not reached."""
    if isinstance(condition, Form):
        raise NotReachedError("a branch on an element or a sum")
    return condition


@dataclass(frozen=True, slots=True)
class Equality:
    """Whether two programs have one form; `moves_only` if both only move entries, so that the bits are the same too."""

    same: bool
    moves_only: bool
    why: str = ""


def equal_for_all_shapes(left: Program, right: Program, arguments: Sequence[Any]) -> Equality:
    """
    Whether the two programs have the same value at these arguments, whatever their sizes, wherever the left one is defined.

    `same` is a proof; its absence proves nothing, and says why.
    """
    runs = Run(), Run()
    try:
        values = [
            denote(program, arguments, Reading(Column("index", cells(run)), _lift, decided))
            for program, run in zip((left, right), runs, strict=True)
        ]
        if not _same(values[0], values[1], runs):
            return Equality(False, False, "the normal forms differ, which proves nothing")
    except NotReachedError as error:
        return Equality(False, False, f"index forms do not reach it: {error}")
    except AdjudgeError as error:
        return Equality(False, False, f"index forms do not reach it: {error.what}")
    if not all(any(implied(r, n) for n in runs[0].needs) for r in runs[1].needs):
        return Equality(False, False, "the right side may be undefined where the left is not")
    return Equality(True, all(r.moves_only for r in runs))


def _same(a: Any, b: Any, runs: tuple[Run, Run]) -> bool:
    """Whether two values are one at every index."""
    todo = [(a, b)]
    while todo:
        x, y = todo.pop()
        if isinstance(x, tuple) and isinstance(y, tuple):
            if len(x) != len(y):
                return False
            todo.extend(zip(x, y, strict=True))
        elif isinstance(x, Indexed) and isinstance(y, Indexed):
            if (x.dtype, x.shape) != (y.dtype, y.shape):
                return False
            indices: tuple[Index, ...] = tuple(0 if n == 1 else f"r{k}" for k, n in enumerate(x.shape))
            if 0 not in x.shape and x.at(indices) != y.at(indices):
                return False
        elif isinstance(x, (Form, Indexed)) and isinstance(y, (Form, Indexed)):
            if not all(isinstance(v, Form) or v.shape == () for v in (x, y)) or as_form(x) != as_form(y):
                return False
        elif type(x) is not type(y) or x != y:
            return False
    return True


def implied_needs(need: Need, known: Iterable[Need]) -> bool:
    """Whether one of the known needs implies a need."""
    return any(implied(need, by) for by in known)
