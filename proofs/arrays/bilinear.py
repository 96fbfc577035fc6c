"""
Equations between bilinear forms of arrays of any size, and readings of rules in which some rows are answered by symbols.

    inner(a, b)       Σ a b over all entries
    same(l, r, x, y)  what must be contradictory for the forms l and r, bilinear in the arrays x and y, to be one
    Answers(rows)     a reading in which these rows are not computed: what each was asked is noted, and a symbol is the answer
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from checkers.smt import index_form as forms
from checkers.smt.index_factors import Form, NotReachedError
from checkers.smt.index_places import Dim
from checkers.smt.index_reading import decided
from checkers.smt.index_values import Indexed, array, as_array
from proofs.arrays.course import Course
from proofs.arrays.kernel import Comparison, kernel, ranges, settled
from proofs.arrays.reading import column, lifted
from semantics.columns.meaning import MEANING
from semantics.denotation import Reading, denote
from semantics.ir import Program
from semantics.primitives.row import Column
from semantics.primitives.table import TABLE

Question = list[Any]
Shape = tuple[Dim, ...]
CELLS = column(Course())


def named(name: str, shape: Shape) -> Indexed:
    """An array of reals that is a symbol."""
    return array(name, "f64", shape)


def indices(letter: str, a: Indexed) -> tuple[Any, ...]:
    return tuple(0 if n == 1 else f"{letter}{k}" for k, n in enumerate(a.shape))


def inner(x: Indexed | Form, y: Indexed | Form) -> Form:
    """Σ x y over all entries of two arrays of one shape."""
    a, b = as_array(x), as_array(y)
    if a.shape != b.shape:
        raise NotReachedError(f"the inner product of arrays of shapes {a.shape} and {b.shape}")
    at = indices("o", a)
    found = forms.multiply(a.at(at), b.at(at))
    for index, n in zip(at, a.shape, strict=True):
        found = forms.summed(found, str(index), n) if n != 1 else found
    return found


def same(left: Form, right: Form, x: tuple[str, Shape], y: tuple[str, Shape]) -> Iterator[Question]:
    """What must be contradictory for two forms, bilinear in the arrays x and y, to be one."""
    (of_x, shape_x), (of_y, shape_y) = x, y
    within = ranges("p", shape_x) | ranges("q", shape_y)
    sides = [settled(kernel(form, {"p": of_x, "q": of_y}, within)) for form in (left, right)]
    yield from Comparison(within).questions(*sides)


def alike(a: Indexed, b: Indexed) -> None:
    """NotReachedError unless two arrays are the same form."""
    at = indices("e", a)
    if a.shape != b.shape or a.at(at) != b.at(at):
        raise NotReachedError("the rule is not seen to use the same equation")


def plus(*arrays: Indexed) -> Indexed:
    """The sum of arrays of one shape."""
    return Indexed("f64", arrays[0].shape, lambda at: forms.add(*(a.at(at) for a in arrays)))


def scaled(a: Indexed, by: Fraction | int) -> Indexed:
    return Indexed("f64", a.shape, lambda at: forms.scaled(a.at(at), by))


def times(a: Indexed, b: Indexed) -> Indexed:
    """The product entry by entry."""
    found: Indexed = CELLS["mul"](a, b)
    return found


class Answers:
    """A reading that answers some rows by symbols s0, s1, …; `rows` says of what shape, `asked` what the arguments were."""

    def __init__(self, rows: Mapping[str, Callable[..., Shape]]) -> None:
        self.rows = rows
        self.asked: list[tuple[Any, ...]] = []

    def cell(self, shape: Callable[..., Shape]) -> Callable[..., Indexed]:
        def answered(*arguments: Any) -> Indexed:
            self.asked.append(arguments)
            return named(f"s{len(self.asked) - 1}", shape(*arguments))

        return answered

    def once(self, count: int) -> list[tuple[Any, ...]]:
        """What was asked, so many times. NotReachedError if it was more or less."""
        if len(self.asked) != count:
            raise NotReachedError("the rule is not seen to use the same equation")
        return self.asked

    def read(self, rule: Program, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """The cotangents that a rule answers, one for each argument."""
        cells = column(Course()) | {"to_boolean": MEANING[TABLE["to_boolean"]]}
        cells |= {name: self.cell(shape) for name, shape in self.rows.items()}
        found: tuple[Any, ...] = denote(rule, arguments, Reading(Column("index", cells), lifted, decided))
        if len(found) != len(arguments) - 2:
            raise NotReachedError("a cotangent is missing, or there is one too many")
        return found
