"""
Rows from Python functions on arrays: the values of the language as NumPy knows them, and back.

    meaning    the function itself: arrays and numbers in, what its signature says out
    type       of the result, from the signature; without one, from the program of the function

Without a signature a primitive takes and returns numbers and arrays of f64 or f32, whatever their shapes. Its backpropagator is in
`array_cotangents`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from semantics.array_signatures import ArraySignature, Measure, bind, measure, type_of_result
from semantics.arrays import FLOATING, Array
from semantics.columns.scalar_types import from_signature
from semantics.errors import IllTyped, Location
from semantics.infer import infer
from semantics.ir import Program
from semantics.primitives.row import Hole, Primitive
from semantics.tangents import ZERO, SparseArray, dense
from semantics.type_language import ArrayType
from transforms.unboxed import source_of

NUMPY_DTYPE = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "bool": np.bool_}


def to_numpy(array: Array) -> np.ndarray[Any, Any]:
    """An array of the language as one of NumPy; where nothing flows, a sensitivity is 0."""
    if (source := source_of(array)) is not None:
        return source.astype(NUMPY_DTYPE[array.dtype]).reshape(array.shape)
    items = [0 if x is ZERO else x for x in array.items]
    return np.array(items, dtype=NUMPY_DTYPE[array.dtype]).reshape(array.shape)


def entering(value: Any) -> Any:
    """A value of the language as a function of NumPy takes it; the array is the function's own. A zero is read as the real 0."""
    if value is ZERO:
        return 0.0
    if isinstance(value, (Array, SparseArray)):
        whole = dense(value)
        try:
            return to_numpy(whole)
        except (TypeError, ValueError):
            kind = type(next(x for x in whole.items if not isinstance(x, (int, float)) and x is not ZERO)).__name__
            raise IllTyped(
                f"a function of NumPy was given an array of {kind}",
                rule="enter",
                remedy="it reads doubles only; write it in the language",
            ) from None
    return tuple(entering(item) for item in value) if type(value) is tuple else value


def leaving(name: str, value: Any, location: Location | None, remedy: str = "") -> Any:
    """What a function of NumPy returned as a value of the language. IllTyped for what the language has not."""
    from transforms.parse.numpy_names import of_numpy

    if type(value) is tuple:
        return tuple(leaving(name, item, location, remedy) for item in value)
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        return value
    found = of_numpy(value) if isinstance(value, (np.ndarray, np.generic)) else None
    if found is None:
        kind = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"{type(value).__name__} {value!r}"
        remedy = remedy or "a float, an array of float64 or float32, or a tuple of those, as the signature says"
        raise IllTyped(f"{name} returned {kind}", rule=name, location=location, remedy=remedy)
    return found.items[0] if isinstance(found, Array) and not found.shape and found.dtype != "f32" else found


# the function


def admitted(
    name: str, signature: ArraySignature | None, parameters: Sequence[str], arguments: Sequence[Any]
) -> Callable[[Any], None]:
    """Checks the arguments, and answers with a check of the result. IllTyped names what does not fit."""
    found = [Measure("f64") if a is ZERO else measure(a) for a in arguments]
    if signature is None:
        for parameter, given in zip(parameters, found, strict=True):
            if given is None or (given.dtype not in FLOATING and given != Measure("i64")):
                what = f"{name} wants reals, or arrays of them, found {given or 'something else'} for {parameter}"
                raise IllTyped(what, rule=name, remedy='x.astype(float), or say what it takes: signature="f64[n] i64 -> f64[n]"')
        return lambda value: _expect(name, value, None)
    bound = bind(name, signature, parameters, found)
    wanted = [Measure(spec.dtype, bound.dims(spec)) for spec in signature.results]

    def check(value: Any) -> None:
        parts = (value,) if len(wanted) == 1 else value
        if type(parts) is not tuple or len(parts) != len(wanted):
            raise IllTyped(f"{name} returned {measure(value) or value!r}, the signature says {len(wanted)} results", rule=name)
        for part, of in zip(parts, wanted, strict=True):
            _expect(name, part, of)

    return check


def _expect(name: str, value: Any, wanted: Measure | None) -> None:
    """IllTyped unless the value is what is wanted; where nobody said, a real or an array of reals."""
    given = measure(value)
    if given != wanted if wanted is not None else given is None or given.dtype not in FLOATING:
        said = wanted if wanted is not None else "a real, or an array of them"
        raise IllTyped(
            f"{name} returned {given or repr(value)}, not {said}", rule=name, remedy="return what the signature says, in its dtype"
        )


def on_arrays(
    name: str,
    function: Callable[..., Any],
    signature: ArraySignature | None,
    parameters: Sequence[str],
    arguments: Sequence[Any],
    location: Location | None,
) -> Any:
    """The value of a function of NumPy at values of the language."""
    check = admitted(name, signature, parameters, arguments)
    kinds = [spec.kind for spec in signature.arguments] if signature is not None else ["real"] * len(parameters)
    given = [float(a) if kind == "real" and type(a) is int else entering(a) for kind, a in zip(kinds, arguments, strict=True)]
    value = leaving(name, function(*given), location)
    if type(value) is int and signature is not None and [spec.kind for spec in signature.results] == ["real"]:
        value = float(value)
    check(value)
    return value


# types


def type_rule(name: str, signature: ArraySignature | None, parameters: Sequence[str], program: Callable[[], Program | Hole]) -> Any:
    """The rule of the column "type"."""
    scalar = from_signature(Primitive(name, tuple(parameters), ("real",) * len(parameters), "real"))

    def rule(*types: Any) -> Any:
        if signature is not None:
            return type_of_result(name, signature, parameters, types)
        if not any(isinstance(t, ArrayType) for t in types):
            return scalar(*types)
        found = program()
        if isinstance(found, Hole):
            raise IllTyped(
                f"the type of {name} of an array cannot be told: {found.reason}",
                rule="type",
                remedy='say it: @primitive(signature="f64[m, n] -> f64[m]")',
            )
        return infer(found, types).result

    return rule
