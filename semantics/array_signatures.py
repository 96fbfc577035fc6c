"""
What the author of a primitive says of its arguments and of its result.

    f64[m, n] f64[n, k] -> f64[m, k]     sizes: numbers, or letters that mean one size everywhere
    f64[..., n] f64[...] -> f64[...]     ... any leading axes; those of several arguments are broadcast together
    f64[n] i64 any -> f64[n] f64         an integer; an attribute of any kind; a tuple of two results

The dtypes are those of arrays. `f64` is one real, which `f64[]` says too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from semantics.arrays import DTYPES, FLOATING, Array, broadcast_shapes
from semantics.errors import IllTyped, Malformed, Trap
from semantics.tangents import SparseArray
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, TupleType, Type
from semantics.type_lattice import ZERO_TYPE, erase

COLUMN = "array signature"
Dims = tuple[int | None, ...]
SCALAR = {"f64": REAL, "i64": INTEGER, "bool": BOOLEAN}
KIND = {"f64": "real", "i64": "integer", "bool": "boolean", "any": "any"}
_PART = re.compile(r"(\w+)(?:\s*\[([^\[\]]*)\])?(?:\s+|$)")
_EXAMPLE = "write it as f64[m, n] f64[n] -> f64[m]"


@dataclass(frozen=True, slots=True)
class Spec:
    """One argument or result: its dtype, or `any`; its last axes; whether others may come before them."""

    dtype: str
    dims: tuple[int | str, ...] = ()
    leading: bool = False

    @property
    def sizes(self) -> tuple[int | str, ...]:
        """What stands in the brackets."""
        return ("...", *self.dims) if self.leading else self.dims

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.sizes))}]" if self.sizes else self.dtype

    @property
    def kind(self) -> str:
        """The kind that a row's signature has for it."""
        return "array" if self.sizes else KIND.get(self.dtype, "array")


@dataclass(frozen=True, slots=True)
class ArraySignature:
    """What goes in, and what comes out: one result, or a tuple of several."""

    arguments: tuple[Spec, ...]
    results: tuple[Spec, ...]

    @property
    def on_reals(self) -> bool:
        """Whether reals go in and a real comes out."""
        return {spec.kind for spec in (*self.arguments, *self.results)} == {"real"} and len(self.results) == 1

    def __str__(self) -> str:
        return f"{' '.join(map(str, self.arguments))} -> {' '.join(map(str, self.results))}"


@dataclass(frozen=True, slots=True)
class Measure:
    """The dtype and the sizes of a value or a type; no sizes of a number, None for a size that is not known."""

    dtype: str
    dims: Dims = ()

    def __str__(self) -> str:
        inside = ", ".join("?" if n is None else str(n) for n in self.dims)
        return f"{self.dtype}[{inside}]" if self.dims else self.dtype


def read(text: str) -> ArraySignature:
    """The signature that a text says. Malformed, or IllTyped for a type that arguments have not, with an example."""
    before, arrow, after = text.partition("->")
    if not arrow:
        raise Malformed(f"the signature {text!r} has no ->", rule="signature", remedy=_EXAMPLE)
    found = ArraySignature(_specs(before, text), _specs(after, text))
    known = {size for spec in found.arguments for size in spec.sizes}
    for size in (size for spec in found.results for size in spec.sizes):
        if isinstance(size, str) and size not in known:
            raise Malformed(f"the size {size} of the result is that of no argument", rule="signature", remedy=_EXAMPLE)
    if not found.results or any(spec.dtype == "any" for spec in found.results):
        raise Malformed(f"the signature {text!r} does not say what comes out", rule="signature", remedy=_EXAMPLE)
    return found


def _specs(text: str, whole: str) -> tuple[Spec, ...]:
    """The arguments, or the results, one after the other."""
    found, at, text = [], 0, text.strip()
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or part[1] not in (*DTYPES, "any", "real") or (part[1] == "any" and part[2] is not None):
            what = f"{text[at:]!r} of the signature {whole!r} is no type of an argument"
            raise IllTyped(what, rule="signature", remedy=f"f64, f32, i64, bool, with sizes in brackets, or any; {_EXAMPLE}")
        found.append(_spec("f64" if part[1] == "real" else part[1], part[2] or "", whole))
        at = part.end()
    return tuple(found)


def _spec(dtype: str, inside: str, whole: str) -> Spec:
    sizes = [size.strip() for size in inside.split(",") if size.strip()]
    leading = sizes[:1] == ["..."]
    dims = sizes[1:] if leading else sizes
    for size in dims:
        if not (size.isdecimal() or size.isidentifier()):
            raise Malformed(f"{size!r} in the signature {whole!r} is no size", rule="signature", remedy=_EXAMPLE)
    return Spec(dtype, tuple(int(size) if size.isdecimal() else size for size in dims), leading)


def measure(value: Any) -> Measure | None:
    """What a value is, as signatures speak of it; None for what is neither a number nor an array."""
    match value:
        case Array(dtype, shape) | SparseArray(dtype, shape):
            return Measure(dtype, shape)
        case bool():
            return Measure("bool")
        case int():
            return Measure("i64")
        case float():
            return Measure("f64")
        case _:
            return None


def measure_type(t: Any) -> Measure | None:
    """What values of a type are; None for what is neither a number nor an array. A zero is a real."""
    if isinstance(t, ArrayType):
        return Measure(t.dtype, t.dims)
    name = {REAL: "f64", ZERO_TYPE: "f64", INTEGER: "i64", BOOLEAN: "bool"}.get(erase(t))
    return None if name is None else Measure(name)


@dataclass(frozen=True, slots=True)
class Bound:
    """The size of every letter, None where it is not known, and of the leading axes."""

    sizes: dict[str, int | None]
    leading: Dims

    def dims(self, spec: Spec) -> Dims:
        """The sizes of an argument or a result."""
        last = tuple(size if isinstance(size, int) else self.sizes.get(size) for size in spec.dims)
        return (*self.leading, *last) if spec.leading else last


def bind(name: str, signature: ArraySignature, parameters: Sequence[str], found: Sequence[Measure | None]) -> Bound:
    """What the letters mean for these arguments. IllTyped, naming the argument, where one does not fit."""
    sizes: dict[str, int | None] = {}
    leading: list[Dims] = []
    for spec, parameter, given in zip(signature.arguments, parameters, found, strict=True):
        if spec.dtype == "any":
            continue
        if given is None or not _same_dtype(spec, given) or not _fits(spec, given.dims, sizes, leading):
            known = ", ".join(f"{k} = {n}" for k, n in sizes.items() if k in spec.dims and n is not None)
            raise IllTyped(
                f"{name} wants {spec} for {parameter}{f', with {known}' if known else ''}, found {given or 'no array of numbers'}",
                rule=name,
                remedy=_remedy(spec, given),
            )
    try:
        return Bound(sizes, broadcast_shapes(leading, name))
    except Trap as trap:
        raise IllTyped(trap.what, rule=name, remedy=trap.remedy) from None


def _same_dtype(spec: Spec, given: Measure) -> bool:
    """An integer is read as a real where one number is wanted; nothing else is converted."""
    return spec.dtype == given.dtype or (spec.kind == "real" and given == Measure("i64"))


def _fits(spec: Spec, dims: Dims, sizes: dict[str, int | None], leading: list[Dims]) -> bool:
    """Whether the sizes are those of the signature; what is new of them is noted."""
    before = len(dims) - len(spec.dims)
    if before < 0 or (before and not spec.leading):
        return False
    for wanted, n in zip(spec.dims, dims[before:], strict=True):
        known = wanted if isinstance(wanted, int) else sizes.get(wanted)
        if known is not None and n is not None and known != n:
            return False
        if isinstance(wanted, str) and known is None:
            sizes[wanted] = n
    if spec.leading:
        leading.append(dims[:before])
    return True


def _remedy(spec: Spec, given: Measure | None) -> str:
    if given is not None and spec.dtype != given.dtype and spec.dtype in FLOATING:
        return f"convert it: x.astype(np.{'float64' if spec.dtype == 'f64' else 'float32'})"
    return "pass what the signature says, or change the signature"


def type_of_result(name: str, signature: ArraySignature, parameters: Sequence[str], types: Sequence[Any]) -> Type:
    """The type of the result for arguments of these types."""
    bound = bind(name, signature, parameters, [measure_type(t) for t in types])
    results = [_type(spec.dtype, bound.dims(spec)) for spec in signature.results]
    return results[0] if len(results) == 1 else TupleType(tuple(results))


def _type(dtype: str, dims: Dims) -> Type:
    """A number where no axis is left, but for f32, which stays an array."""
    return SCALAR[dtype] if not dims and dtype in SCALAR else ArrayType(dtype, dims)
