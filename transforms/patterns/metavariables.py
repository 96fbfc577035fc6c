"""
The types of metavariables, beyond scalars: arrays with named sizes, and attributes.

    f64[m, n]   two axes; equal names are equal sizes, `_` is any size, a number is that size     f64[]   no axes
    f64[...]    one axis or more, of any sizes; two of them need not have one shape (`*` says the same). Arithmetic on an array
                without axes gives a number and not an array, so f64[] is a type of its own
    axis        None, an integer, or integers that differ           permutation   None, or every axis once
    shape       an integer or a tuple of them                        index         an integer or a tuple of them

The element types are those of arrays: f64, f32, i64, bool. An attribute stands for a literal, written `#a` where it is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from semantics.arrays import DTYPES
from semantics.type_language import SCALARS, ArrayType

ATTRIBUTES = ("axis", "permutation", "shape", "index")
# what a metavariable is that stands where a row has a parameter of this name, if nothing is declared
ATTRIBUTE_OF = {
    "axis": "axis",
    "axes": "permutation",
    "shape": "shape",
    "i": "index",
    "keepdims": "bool",
    "k": "i64",
    "shift": "i64",
}
Dim = str | int | None


@dataclass(frozen=True, slots=True)
class Arrays:
    """The arrays of one dtype whose sizes fit `dims`, with None for `_`; of one axis or more if `dims` is None."""

    dtype: str
    dims: tuple[Dim, ...] | None

    def __str__(self) -> str:
        inside = "..." if self.dims is None else ", ".join("_" if d is None else str(d) for d in self.dims)
        return f"{self.dtype}[{inside}]"

    @property
    def type(self) -> ArrayType | None:
        """The type that a parameter has whose sizes are not known; None where not even the rank is."""
        return None if self.dims is None else ArrayType(self.dtype, tuple(d if isinstance(d, int) else None for d in self.dims))


@cache
def array_type(text: str) -> Arrays | None:
    """What a declaration such as `f64[m, 3]` says, or None if it is none."""
    match = re.fullmatch(r"(\w+)\s*\[(.*)\]", text.strip())
    if match is None or match[1] not in DTYPES:
        return None
    inside = match[2].strip()
    if inside in ("...", "*"):
        return Arrays(match[1], None)
    parts = [p.strip() for p in inside.split(",")] if inside else []
    if not all(re.fullmatch(r"[A-Za-z]\w*|\d{1,4}|_", p) for p in parts):
        return None
    return Arrays(match[1], tuple(None if p == "_" else int(p) if p.isdigit() else p for p in parts))


def sizes_in(variables: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """Each size by its name, with the metavariable and the axis that have it first."""
    found: dict[str, tuple[str, int]] = {}
    for name, text in variables.items():
        arrays = array_type(text)
        for axis, dim in enumerate((arrays.dims if arrays else None) or ()):
            if isinstance(dim, str):
                found.setdefault(dim, (name, axis))
    return found


def parameter_type(text: str) -> Any:
    """The type of the parameter that a metavariable is in a program, or None where it may be of several."""
    arrays = array_type(text)
    return arrays.type if arrays else SCALARS.get(text)


def unify(arrays: Arrays, found: Any, sizes: dict[str, int]) -> bool:
    """Whether every value of the type `found` is one of `arrays`. `sizes`, by name, grow: a size with a name must be known."""
    if not isinstance(found, ArrayType) or found.dtype != arrays.dtype or found.holes:
        return False
    if arrays.dims is None:
        return bool(found.dims)
    if len(arrays.dims) != len(found.dims):
        return False
    for dim, size in zip(arrays.dims, found.dims, strict=True):
        if dim is None:
            continue
        if size is None or (dim if isinstance(dim, int) else sizes.setdefault(dim, size)) != size:
            return False
    return True


def admissible(kind: str, value: Any) -> bool:
    """Whether a literal can be such an attribute."""
    integers = value if isinstance(value, tuple) else (value,)
    whole = all(type(i) is int for i in integers)
    match kind:
        case "axis":
            return value is None or (whole and len(set(integers)) == len(integers))
        case "permutation":
            return value is None or (isinstance(value, tuple) and whole and len(set(value)) == len(value))
        case "shape" | "index":
            return whole
        case _:
            return type(value) in {"f64": (float,), "i64": (int,), "bool": (bool,), "number": (int, float)}.get(
                kind, (int, float, bool)
            )
