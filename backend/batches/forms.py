"""
The form of a batch: generated code, and the numbers and arrays of which a batch has columns.

Of a program over small arrays that is taken apart (`backend.small`), the code is of numbers: it takes the elements of each array,
and gives them, in row-major order. The column of such an array has a row for each sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.lowering.first_order import Lowered
from semantics.arrays import indices_of, size_of
from semantics.shapes import known
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType

OF_ELEMENTS = {"f64": REAL, "i64": INTEGER, "bool": BOOLEAN}
DTYPE: dict[Any, Any] = {REAL: np.float64, INTEGER: np.int64, BOOLEAN: np.bool_}
OF_ARRAYS: dict[str, Any] = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "bool": np.bool_}


LARGEST = 36
"""Elements of an array that is taken apart. Of more, the first call waits longer for the code of the numbers than for loops."""


@dataclass(frozen=True)
class Form:
    """Generated code; the numbers and arrays of the arguments, and of the result; the types of all arguments and of the result."""

    code: Lowered
    arguments: tuple[Any, ...]
    results: tuple[Any, ...]
    argument_types: tuple[Any, ...]
    result_type: Any

    def layout(self, code: Lowered) -> tuple[Any, ...]:
        """What kernels around code of this form are made from: of one code there may be several, whose arrays lie otherwise."""
        return code.source, self.arguments, self.results

    @property
    def apart(self) -> bool:
        """Whether the code takes and gives the elements of arrays, not the arrays."""
        return (self.arguments, self.results) != (self.code.arguments, self.code.results)


def whole(code: Lowered) -> Form:
    """The form of code that takes arrays as they are."""
    return Form(code, code.arguments, code.results, code.argument_types, code.result_type)


def numbers_of(leaf: Any) -> list[Any]:
    """The types of the numbers that a number or an array of known sizes is."""
    return [OF_ELEMENTS[leaf.dtype]] * size_of(known(leaf.dims)) if isinstance(leaf, ArrayType) else [leaf]


def places(form: Form, leaves: Sequence[Any], name: str) -> Iterator[list[tuple[str, str]]]:
    """For each leaf, the names of what the code has of it, and the index in an array that is taken apart; else there is none."""
    number = 0
    for leaf in leaves:
        apart = form.apart and isinstance(leaf, ArrayType)
        indices = [", ".join(map(str, i)) for i in indices_of(known(leaf.dims))] if apart else [""]
        yield [(f"{name}{number + k}", index) for k, index in enumerate(indices)]
        number += len(indices)


def holders(form: Form) -> dict[str, list[int]]:
    """The arrays that hold the results, in the order in which kernels take them, with the numbers of the results in each."""
    found: dict[str, list[int]] = {}
    for number, type in enumerate(form.results):
        found.setdefault(f"r{number}" if isinstance(type, ArrayType) else f"r_{type.name}", []).append(number)
    return found


def rooms(form: Form, shapes: Sequence[tuple[int, ...]] = ()) -> list[tuple[tuple[int, ...], tuple[int, ...], Any]]:
    """
    The arrays for the results of some samples: the axes before and behind that of the samples, and the dtype. Numbers of one dtype
    are rows of one. `shapes` are those of the results, where the types do not say them.
    """
    found: list[tuple[tuple[int, ...], tuple[int, ...], Any]] = []
    for at in holders(form).values():
        match form.results[at[0]]:
            case ArrayType(dtype, dims):
                found.append(((), known(dims) if form.apart else shapes[at[0]], OF_ARRAYS[dtype]))
            case type:
                found.append(((len(at),), (), DTYPE[type]))
    return found


def held_for(form: Form, count: int, shapes: Sequence[tuple[int, ...]] = ()) -> list[Any]:
    """The arrays for the results of so many samples."""
    return [np.empty((*before, count, *behind), dtype) for before, behind, dtype in rooms(form, shapes)]


def columns_of(form: Form, held: Sequence[Any]) -> list[Any]:
    """A column for each result, in their order."""
    found: dict[int, Any] = {}
    for array, at in zip(held, holders(form).values(), strict=True):
        found |= {at[0]: array} if isinstance(form.results[at[0]], ArrayType) else dict(zip(at, array, strict=True))
    return [found[number] for number in range(len(form.results))]


def flat(form: Form, leaves: Sequence[Any], values: Sequence[Any], shared: Sequence[bool]) -> list[Any]:
    """A column, or a number that all share, for each number that the code takes or gives."""
    found: list[Any] = []
    for leaf, value, s in zip(leaves, values, shared, strict=True):
        if form.apart and isinstance(leaf, ArrayType):
            rows = value.reshape(1 if s else len(value), -1)
            found += [rows[0, k].item() if s else rows[:, k] for k in range(rows.shape[1])]
        else:
            found.append(value)
    return found
