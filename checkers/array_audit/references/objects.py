"""
Arrays of numbers that are not doubles: what a user's own function on NumPy arrays is run on.

`Objects` is an ndarray of dtype object. Its functions of elements (`np.exp`, `np.maximum`, …) are the methods of the numbers,
and so are their reductions and accumulations; what moves elements (indexing, sorting, stacking, products of matrices) is
NumPy's own code, which asks the elements to compare, to add and to multiply. A conversion to a floating dtype keeps the real.
What NumPy can do for doubles only raises, and nothing is rounded on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from checkers.array_audit.case import Arguments, Case, leaves, replaced
from checkers.array_audit.references.linear import FUNCTIONS as LINEAR
from checkers.array_audit.references.number import BINARY, PREDICATES, Number, refused
from semantics.errors import IllTyped

CONTRACTIONS = ("matmul", "vecdot", "matvec", "vecmat")
IDENTITIES = {"add": 0, "multiply": 1, "logical_and": True, "logical_or": False}


class Objects(np.ndarray):
    """An array of numbers of one carrier, which a subclass names."""

    numbers: type[Number]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return applied(self.numbers, ufunc, method, inputs, options)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if function in LINEAR:
            return wrapped(self.numbers, LINEAR[function](self.numbers, *args, **kwargs))
        special = SPECIAL.get(function)
        if special is not None:
            return wrapped(self.numbers, special(*args, **kwargs))
        if not hasattr(function, "_implementation"):
            raise refused(f"{getattr(function, '__name__', function)} has no meaning on arrays of objects")
        return wrapped(self.numbers, super().__array_function__(function, (type(self),), args, _floats_kept(kwargs)))

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """Itself for a floating dtype, where each number stands for the real that would be rounded."""
        if np.dtype(dtype).kind in "fO":
            return self.copy()
        if np.dtype(dtype).kind == "b":
            return plain(self != 0).astype(bool)
        raise refused(f"an array of numbers has no {np.dtype(dtype).name}")

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **_: Any) -> Any:  # type: ignore[override]
        total = np.add.reduce(self, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]
        return total / (self.size // max(np.size(total), 1))

    def var(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, **_: Any) -> Any:  # type: ignore[override]
        distance = self - self.mean(axis, keepdims=True)
        total = np.add.reduce(distance * distance, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]
        return total / (self.size // max(np.size(total), 1) - ddof)

    def std(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, **_: Any) -> Any:  # type: ignore[override]
        return np.sqrt(self.var(axis, ddof=ddof, keepdims=keepdims))


@cache
def arrays_of(numbers: type[Number]) -> type[Objects]:
    """The class of arrays of a carrier."""
    return type(f"{numbers.__name__}s", (Objects,), {"numbers": numbers})


def wrapped(numbers: type[Number], value: Any) -> Any:
    """The value with its arrays of objects as arrays of the carrier; in tuples and lists too."""
    if isinstance(value, (tuple, list)):
        return type(value)(wrapped(numbers, v) for v in value) if type(value) in (tuple, list) else value
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value.view(arrays_of(numbers))  # type: ignore[arg-type]
    return value


def plain(value: Any) -> Any:
    """An array of ours as one of NumPy; a number in an array without axes."""
    if isinstance(value, Objects):
        return value.view(np.ndarray)
    if isinstance(value, Number):
        box = np.empty((), dtype=object)
        box[()] = value
        return box
    return value


def _floats_kept(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The options without a floating dtype: the numbers are exact already."""
    dtype = kwargs.get("dtype")
    if dtype is not None and np.dtype(dtype).kind in "fO":
        return {**kwargs, "dtype": object if "like" in kwargs else None}
    return kwargs


# functions of elements


@cache
def elementwise(numbers: type[Number], name: str) -> np.ufunc:
    """NumPy's function of that name, on numbers of the carrier; what has no number of the carrier in it is lifted."""
    if name in PREDICATES:
        cell = PREDICATES[name]
    elif name in BINARY:
        cell = BINARY[name]
    else:
        found = getattr(numbers, {"fmax": "maximum", "fmin": "minimum"}.get(name, name), None)
        if found is None:
            raise refused(f"there is no {name} of a {numbers.kind}")
        cell = found

    def of_elements(*xs: Any) -> Any:
        return cell(*(_element(numbers, name, x) for x in xs))

    arity = getattr(getattr(np, name, None), "nin", None) or _arity(cell)
    options = {"identity": IDENTITIES[name]} if name in IDENTITIES else {}
    return np.frompyfunc(of_elements, arity, 1, **options)


def _arity(cell: Callable[..., Any]) -> int:
    from inspect import signature

    return len(signature(cell).parameters)


def _element(numbers: type[Number], name: str, x: Any) -> Any:
    if isinstance(x, (bool, np.bool_)) and name.startswith("logical"):
        return bool(x)
    found = numbers.lifted(x)
    if found is None:
        raise refused(f"{name} of {x!r}, which is no number of the arithmetic in use")
    return found


def applied(numbers: type[Number], ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """A function of elements, or its reduction, on arrays of which some are ours."""
    name = "divide" if ufunc.__name__ == "true_divide" else ufunc.__name__
    out = options.pop("out", None)
    for option in ("casting", "order", "subok", "dtype", "signature"):
        options.pop(option, None)
    where = options.pop("where", True)
    if where is not True:
        raise refused(f"{name} with where=", "use np.where on the result")
    arrays = [plain(x) for x in inputs]
    if name in CONTRACTIONS or set(ufunc.types) == {"O" * ufunc.nin + "->" + "O" * ufunc.nout}:
        found = getattr(ufunc, method)(*(np.asarray(a, dtype=object) for a in arrays), **options)
    elif method == "reduce":
        found = _reduced(elementwise(numbers, name), arrays[0], *arrays[1:], **options)  # type: ignore[arg-type]
    elif method in ("__call__", "accumulate", "outer"):
        arrays = [np.asarray(a, dtype=object) for a in arrays]
        found = getattr(elementwise(numbers, name), method)(*arrays, **options)  # type: ignore[arg-type]
    else:
        raise refused(f"{name}.{method} on arrays of objects")
    if name in PREDICATES:
        found = found.astype(bool) if isinstance(found, np.ndarray) else bool(found)
    if out is not None:
        target = plain(out[0])
        target[...] = found
        return out[0]
    return wrapped(numbers, found)


def _reduced(function: np.ufunc, array: Any, axis: Any = 0, keepdims: bool = False, initial: Any = None, **_: Any) -> Any:
    """The reduction along one axis after the other, the last first: any function of two elements can do that."""
    axes = tuple(range(array.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for one in sorted((a % max(array.ndim, 1) for a in axes), reverse=True):
        array = np.asarray(function.reduce(array, axis=one, keepdims=True), dtype=object)
    if initial is not None and initial is not np._NoValue:
        array = np.asarray(function(array, initial), dtype=object)
    if not keepdims:
        array = array.reshape([n for k, n in enumerate(array.shape) if k not in {a % max(array.ndim, 1) for a in axes}])
    return array if array.ndim else array[()]


# functions of NumPy that its own code does for doubles only


def _where(condition: Any, *choices: Any) -> Any:
    condition = np.asarray(plain(condition))
    if condition.dtype == object:
        condition = np.frompyfunc(bool, 1, 1)(condition).astype(bool)
    return np.where(condition, *(np.asarray(plain(c), dtype=object) for c in choices)) if choices else np.where(condition)


def _einsum(subscripts: str, *operands: Any, **options: Any) -> Any:
    """With `optimize` NumPy would call functions that objects do not have."""
    if not isinstance(subscripts, str):
        raise refused("einsum with its subscripts as lists", "write them as a string")
    return np.einsum(subscripts, *(np.asarray(plain(a), dtype=object) for a in operands))


def _array(value: Any, *_: Any, **__: Any) -> Any:
    return np.array(plain(value), dtype=object)


def _sinc(x: Any) -> Any:
    """NumPy's own code puts 1e-20 in the place of 0: a jump, where there are digits enough to see it."""
    angle = np.pi * x
    zero = angle == 0
    return np.where(zero, 1.0, np.sin(angle) / np.where(zero, 1.0, angle))


SPECIAL: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.sinc: _sinc,
    np.einsum: _einsum,
    np.real: lambda x: x,
    np.nan_to_num: lambda x, *_, **__: x,
    np.copy: _array,
}


# running a function


def run(numbers: type[Number], forward: Callable[..., Any], case: Case, coordinates: Sequence[Number]) -> list[Any]:
    """
    The reals of forward's value where the case's coordinates are these numbers, in order.

    Raises what the function raises; IllTyped where its value has another structure than the case's.
    """
    vector = np.empty(len(coordinates), dtype=object)
    vector[:] = coordinates
    arguments: Arguments = case.at(vector)
    ours = {path: _get(arguments, path) for path, _ in leaves(case.arguments, case.fixed)}
    arguments = replaced(arguments, {p: wrapped(numbers, v) for p, v in ours.items()})
    from checkers.array_audit.references.rebound import rebound

    with np.errstate(all="ignore"):
        value = rebound(numbers, forward)(*arguments)
    found: list[Any] = []
    for path, leaf in leaves((case.value,)):
        part = np.asarray(plain(_get((value,), path)), dtype=object)
        if part.shape != np.shape(leaf):
            raise IllTyped(f"the value has shape {part.shape} on objects and {np.shape(leaf)} on doubles", rule="numbers")
        found.extend(map(partial(_element, numbers, "the value"), part.ravel()))
    return found


def _get(values: Any, path: Sequence[int]) -> Any:
    for i in path:
        values = values[i]
    return values
