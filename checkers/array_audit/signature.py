"""
Signatures of arrays (`semantics.array_signatures`) as a judge needs them: whether arguments of NumPy fit, and which shapes do.

    f64[m, n] f64[n, k] -> f64[m, k]     f64[...] f64[...] -> f64[...]     f64[..., n] i64 any -> f64
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from semantics import array_signatures
from semantics.array_signatures import ArraySignature, Measure, Spec, bind, read
from semantics.arrays import broadcast_shapes
from semantics.errors import AdjudgeError, Malformed

Shape: TypeAlias = tuple[int, ...]
Shapes: TypeAlias = tuple[Shape | None, ...]
"""One shape for each argument, None for what is no array."""

NUMPY = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "bool": np.bool_}
DTYPES = {np.dtype(dtype): name for name, dtype in NUMPY.items()}


def read_signature(text: str) -> ArraySignature:
    """The signature that a text says. Malformed or IllTyped, with an example, if it says none."""
    if not isinstance(text, str):
        raise Malformed(f"the signature {text!r} is no text", rule="signature", remedy="such as 'f64[m, n] f64[n] -> f64[m]'")
    found = read(text)
    if not found.arguments:
        raise Malformed(f"the signature {text!r} has no arguments", rule="signature", remedy="such as 'f64[n] -> f64'")
    return found


def elementwise(arity: int) -> ArraySignature:
    """That of a function that says nothing: arrays of any shapes that broadcast."""
    return read_signature(f"{'f64[...] ' * arity}-> f64[...]")


def is_real(spec: Spec) -> bool:
    """Whether a cotangent flows to it."""
    return spec.dtype in ("f64", "f32")


def names(signature: ArraySignature) -> tuple[str, ...]:
    """The letters for sizes, in order of their first use."""
    return tuple(dict.fromkeys(n for spec in signature.arguments for n in spec.dims if isinstance(n, str)))


def leading(signature: ArraySignature) -> tuple[int, ...]:
    """The arguments that may have any axes in front."""
    return tuple(i for i, spec in enumerate(signature.arguments) if spec.leading)


def shaped(signature: ArraySignature, sizes: Mapping[str, int], fronts: Mapping[int, Shape]) -> Shapes:
    """The shapes of the arguments for these sizes, with these axes in front of those that may have them."""
    found: list[Shape | None] = []
    for i, spec in enumerate(signature.arguments):
        own = tuple(n if isinstance(n, int) else sizes[n] for n in spec.dims)
        found.append((*fronts.get(i, ()), *own) if spec.sizes or spec.dtype == "f32" else None)
    return tuple(found)


def fronts_of(signature: ArraySignature, shapes: Shapes) -> tuple[Shape, ...]:
    """The axes in front of the arguments that may have them."""
    pairs = zip(signature.arguments, shapes, strict=True)
    return tuple(shape[: len(shape) - len(spec.dims)] for spec, shape in pairs if spec.leading and shape is not None)


def result_sizes(signature: ArraySignature, shapes: Shapes) -> tuple[Shape, ...]:
    """The shapes of the results for arguments of these shapes."""
    sizes = {
        name: n
        for spec, shape in zip(signature.arguments, shapes, strict=True)
        if shape is not None
        for name, n in zip(spec.dims, shape[len(shape) - len(spec.dims) :], strict=True)
        if isinstance(name, str)
    }
    front = broadcast_shapes(fronts_of(signature, shapes), "signature")
    own = (tuple(n if isinstance(n, int) else sizes[n] for n in spec.dims) for spec in signature.results)
    return tuple((*front, *dims) if spec.leading else dims for spec, dims in zip(signature.results, own, strict=True))


def constant_axes(signature: ArraySignature, shapes: Shapes) -> frozenset[tuple[tuple[int], int]]:
    """The axes whose size the signature says as a number, each with the path of its argument."""
    return frozenset(
        ((i,), len(shape) - len(spec.dims) + axis)
        for i, (spec, shape) in enumerate(zip(signature.arguments, shapes, strict=True))
        for axis, size in enumerate(spec.dims)
        if shape is not None and isinstance(size, int)
    )


def misfit(signature: ArraySignature, arguments: Sequence[Any]) -> str:
    """Why these arguments do not fit the signature; "" if they do."""
    if len(arguments) != len(signature.arguments):
        return f"{len(arguments)} arguments for {len(signature.arguments)}"
    try:
        bind("the function", signature, [f"argument {i}" for i in range(len(arguments))], [measure(a) for a in arguments])
    except AdjudgeError as error:
        return error.what
    return ""


def measure(value: Any) -> Measure | None:
    """What a value of NumPy is, as signatures speak of it; None for what is neither a number nor an array."""
    if isinstance(value, (np.ndarray, np.generic)):
        dtype: Any = value.dtype
        name = DTYPES.get(dtype)
        return None if name is None else Measure(name, value.shape)
    return array_signatures.measure(value)
