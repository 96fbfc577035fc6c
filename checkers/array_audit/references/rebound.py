"""
A user's function with `np` and `math` that know numbers: what makes arrays makes them of numbers, and `math.exp` asks its argument.

`np.asarray(x, dtype=float)`, `np.zeros(n)` and assignment into it, `np.array([f(v) for v in x])`, `float(v)` and `math.exp(v)`
would round every number to a double, and so be refused. They are no part of the mathematics: the function is made again, from
its own code, with globals in which the modules NumPy and math are replaced, and so are the other functions of its module. The
user's function is not touched.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from checkers.array_audit.references.number import Number
from checkers.array_audit.references.objects import plain, wrapped

ALIKE = (
    "exp expm1 exp2 log log1p log2 log10 sqrt cbrt sin cos tan sinh cosh tanh erf erfc gamma fabs fmod copysign hypot "
    "isnan isinf isfinite"
)
OTHERWISE = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")}
OTHERWISE |= {"lgamma": "gammaln", "pow": "power"}
"""Functions of math: those that NumPy calls alike, and those that it calls otherwise."""


class _Kind(type):
    """Instances are those of float, as they were."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, (float, Number))


class Real(float, metaclass=_Kind):
    """`float` in the function made again: a number stays what it is."""

    def __new__(cls, value: Any = 0.0) -> Any:
        held = value[()] if isinstance(value, np.ndarray) and value.shape == () else value
        return held if isinstance(held, Number) else float(value)


class Stand(ModuleType):
    """A module in place of another: its own names first, then the other's."""

    def __init__(self, module: ModuleType, names: dict[str, Any]) -> None:
        super().__init__(module.__name__)
        self.__dict__.update(names)
        self.__dict__["_module"] = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_module"], name)


def _floats(dtype: Any) -> bool:
    """Whether an array of that dtype is meant to hold reals."""
    return dtype is None or dtype is Real or np.dtype(dtype).kind in "fO"


def _makers(numbers: type[Number]) -> dict[str, Any]:
    """The functions of NumPy that make arrays of doubles; with another dtype, or of no numbers, they are NumPy's own."""

    def filled(name: str, shape: Any, value: Any, dtype: Any, rest: Any) -> Any:
        if not _floats(dtype):
            return getattr(np, name)(shape, dtype=dtype, **rest)
        array = np.empty(shape, dtype=object)
        array[...] = plain(numbers.lifted(value)) if not isinstance(value, np.ndarray) else value
        return wrapped(numbers, array)

    def full(shape: Any, fill_value: Any, dtype: Any = None, **rest: Any) -> Any:
        if dtype is None and isinstance(fill_value, (bool, int)):
            return np.full(shape, fill_value, **rest)
        return filled("full", shape, fill_value, dtype, rest) if _floats(dtype) else np.full(shape, fill_value, dtype, **rest)

    def converting(name: str) -> Callable[..., Any]:
        def convert(value: Any, dtype: Any = None, **rest: Any) -> Any:
            held = _held(value)
            if held is None:
                return getattr(np, name)(value, dtype=dtype, **rest)
            copied = np.array(plain(held), dtype=object, copy=True if name == "array" else None)
            return wrapped(numbers, copied) if _floats(dtype) else wrapped(numbers, copied).astype(dtype)

        return convert

    return {
        "zeros": lambda shape, dtype=None, **rest: filled("zeros", shape, 0.0, dtype, rest),
        "empty": lambda shape, dtype=None, **rest: filled("zeros", shape, 0.0, dtype, rest),
        "ones": lambda shape, dtype=None, **rest: filled("ones", shape, 1.0, dtype, rest),
        "full": full,
        **{
            name: converting(name)
            for name in ("array", "asarray", "asanyarray", "ascontiguousarray", "asfarray", "asarray_chkfinite")
        },
    }


def _held(value: Any) -> Any:
    """The value, as something NumPy can make an array of objects of, if there are numbers in it; None if there are none."""
    if isinstance(value, (Number, np.ndarray)):
        return value if isinstance(value, Number) or value.dtype == object else None
    if isinstance(value, (list, tuple)):
        parts = [_held(v) for v in value]
        if any(p is not None for p in parts):
            rows = [plain(v if p is None else p) for v, p in zip(value, parts, strict=True)]
            return np.array([r.tolist() if isinstance(r, np.ndarray) else r for r in rows], dtype=object)
    return None


def _mathematics() -> dict[str, Any]:
    """The functions of math: of a number its method of the same meaning."""

    def asking(name: str) -> Callable[..., Any]:
        own, method = getattr(math, name), OTHERWISE.get(name, name)

        def function(*xs: Any) -> Any:
            found = next((x for x in xs if isinstance(x, Number)), None)
            if found is None:
                return own(*xs)
            first, *rest = (type(found).lifted(x) for x in xs)
            if name == "log" and rest:
                return first.log() / rest[0].log()  # type: ignore[union-attr]
            return operator.methodcaller(method, *rest)(first)

        return function

    return {name: asking(name) for name in (*ALIKE.split(), *OTHERWISE)}


def rebound(numbers: type[Number], function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with globals in which NumPy and math know these numbers; itself if it is not written in Python."""
    if isinstance(function, MethodType) and isinstance(function.__func__, FunctionType):
        return MethodType(_made(numbers, function.__func__), function.__self__)  # type: ignore[arg-type]
    return _made(numbers, function) if isinstance(function, FunctionType) else function  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def _made(numbers: type[Number], function: FunctionType) -> FunctionType:
    makers, mathematics = _makers(numbers), _mathematics()
    stands: dict[int, Any] = {id(np): Stand(np, makers), id(math): Stand(math, mathematics)}
    stands |= {id(getattr(np, n)): maker for n, maker in makers.items() if hasattr(np, n)}
    stands |= {id(getattr(math, n)): f for n, f in mathematics.items()}
    world: dict[str, Any] = {"float": Real}
    for name, value in function.__globals__.items():
        same = isinstance(value, FunctionType) and value.__globals__ is function.__globals__
        world[name] = _again(value, world) if same else stands.get(id(value), value)
    return _again(function, world)


def _again(function: FunctionType, world: dict[str, Any]) -> FunctionType:
    found = FunctionType(function.__code__, world, function.__name__, function.__defaults__, function.__closure__)
    found.__kwdefaults__ = function.__kwdefaults__
    return found
