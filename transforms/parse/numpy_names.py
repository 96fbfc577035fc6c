"""
`numpy`, as the language reads it: which function is which row, with its parameters and defaults.

    np.sum(x, axis=0)   is   reduce_sum(x, 0, False)

A few are small expansions (np.var, np.ravel, …). Attributes and methods of arrays (`x.shape`, `x.sum(axis=0)`) are the same
functions with the array as their first argument.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

from semantics.arrays import Array
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from transforms.parse import numpy_expansions as expansions
from transforms.parse.cursor import Cursor
from transforms.parse.names import Found, Literal, Module, Operation, Refused
from transforms.unboxed import unboxed

REQUIRED = object()


@dataclass(frozen=True, slots=True, eq=False)
class Function(Operation):
    """
    A function with named parameters.

    parameters  in order; a first "*" stands for any number of operands
    defaults    by name; what has none must be given
    """

    parameters: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)


def function(name: str, text: str, build: Callable[..., Any], value: Primitive | None = None) -> Function:
    """A function from its parameters as text: "x axis=None keepdims=False"."""
    parameters, defaults = [], {}
    for part in text.split():
        parameter, _, default = part.partition("=")
        parameters.append(parameter)
        if default:
            defaults[parameter] = ast.literal_eval(default)
    least = len(parameters) - len(defaults)
    return Function(name, least, len(parameters), build, value, tuple(parameters), MappingProxyType(defaults))


def row(name: str, primitive: str, text: str) -> Function:
    """A function that is one row, its parameters in the order of the row's."""

    def build(c: Cursor, args: list[int], at: ast.AST) -> int:
        return c.apply(primitive, *args, at=at)

    plain = "=" not in text and len(text.split()) == len(TABLE[primitive].signature)
    return function(name, text, build, TABLE[primitive] if plain else None)


def _typed(name: str, primitive: str, text: str, before: int) -> Function:
    """A row whose argument number `before` is a dtype: None, a NumPy type, a Python type or a name."""

    def build(c: Cursor, args: list[int], at: ast.AST) -> int:
        args[before] = expansions.dtype(c, args[before], at)
        return c.apply(primitive, *args, at=at)

    return function(name, text, build)


def _filled(name: str, number: float) -> Function:
    def build(c: Cursor, args: list[int], at: ast.AST) -> int:
        return c.apply("full", args[0], c.constant(number), expansions.dtype(c, args[1], at), at=at)

    return function(name, "shape dtype='f64'", build)


def _filled_like(name: str, number: float) -> Function:
    def build(c: Cursor, args: list[int], at: ast.AST) -> int:
        dtype = expansions.dtype(c, args[1], at)
        dtype = c.apply("dtype", args[0], at=at) if c.constant_value(dtype) is None else dtype
        return c.apply("full", c.apply("shape", args[0], at=at), c.constant(number), dtype, at=at)

    return function(name, "x dtype=None", build)


def _scaled(factor: float) -> Callable[[Cursor, list[int], ast.AST], int]:
    return lambda c, args, at: c.apply("mul", args[0], c.constant(factor), at=at)


def _table(text: str) -> dict[str, str]:
    """NumPy's names and their rows: "name=row", or "name" where both are called alike."""
    pairs = (part.partition("=") for part in text.split())
    return {name: row or name for name, _, row in pairs}


_UNARY = _table(
    "exp expm1 log log1p log2 log10 sqrt cbrt sin cos tan sinh cosh tanh sign abs absolute=abs negative=neg "
    "logical_not=not_ arcsin=asin arccos=acos arctan=atan arcsinh=asinh arccosh=acosh arctanh=atanh"
)
_BINARY = _table(
    "add subtract=sub multiply=mul divide=div true_divide=div floor_divide=floordiv mod remainder=mod power=pow "
    "maximum minimum hypot arctan2=atan2 copysign logaddexp logical_and=and_ logical_or=or_ dot matmul outer "
    "less=lt less_equal=le greater=gt greater_equal=ge equal=eq not_equal=ne"
)
_REDUCE = _table(
    "sum=reduce_sum prod=reduce_prod mean max=reduce_max min=reduce_min amax=reduce_max amin=reduce_min "
    "all=reduce_all any=reduce_any"
)
_FUNCTIONS: dict[str, Function] = {
    **{name: row(name, primitive, "x") for name, primitive in _UNARY.items()},
    **{name: row(name, primitive, "x y") for name, primitive in _BINARY.items()},
    **{name: row(name, primitive, "x axis=None keepdims=False") for name, primitive in _REDUCE.items()},
    **{name: row(name, name, "x axis=None") for name in ("argmax", "argmin", "cumsum", "cumprod")},
    **{name: row(name, name, "x axis=-1") for name in ("sort", "argsort")},
    **{name: row(name, name, "x k=0") for name in ("diag", "tril", "triu")},
    "var": function("var", "x axis=None keepdims=False", expansions.variance),
    "std": function("std", "x axis=None keepdims=False", expansions.deviation),
    "square": function("square", "x", expansions.square),
    "reciprocal": function("reciprocal", "x", expansions.reciprocal),
    "fabs": function("fabs", "x", expansions.fabs),
    "float_power": function("float_power", "x y", expansions.float_power),
    "where": row("where", "where", "c x y"),
    "clip": function("clip", "x low=None high=None", expansions.clip),
    "array": _typed("array", "as_array", "value dtype=None", 1),
    "asarray": _typed("asarray", "as_array", "value dtype=None", 1),
    "full": _typed("full", "full", "shape value dtype=None", 2),
    "zeros": _filled("zeros", 0.0),
    "ones": _filled("ones", 1.0),
    "zeros_like": _filled_like("zeros_like", 0.0),
    "ones_like": _filled_like("ones_like", 1.0),
    "full_like": function("full_like", "x value", expansions.full_like),
    "arange": function("arange", "start stop=None step=None", expansions.arange),
    "linspace": row("linspace", "linspace", "start stop num=50"),
    "eye": function("eye", "N M=None k=0", expansions.eye),
    "identity": function("identity", "n", lambda c, args, at: c.apply("eye", args[0], args[0], c.constant(0), at=at)),
    "shape": row("shape", "shape", "x"),
    "ndim": function("ndim", "x", expansions.ndim),
    "size": row("size", "array_size", "x"),
    "reshape": row("reshape", "reshape", "x shape"),
    "ravel": function("ravel", "x", expansions.flat),
    "transpose": row("transpose", "transpose", "x axes=None"),
    "broadcast_to": row("broadcast_to", "broadcast_to", "x shape"),
    "concatenate": row("concatenate", "concatenate", "arrays axis=0"),
    "stack": row("stack", "stack", "arrays axis=0"),
    "expand_dims": row("expand_dims", "expand_dims", "x axis"),
    "squeeze": row("squeeze", "squeeze", "x axis=None"),
    "flip": row("flip", "flip", "x axis=None"),
    "roll": row("roll", "roll", "x shift axis=None"),
    "take": row("take", "take", "x indices axis=None"),
    "take_along_axis": row("take_along_axis", "take_along", "x indices axis"),
    "tensordot": row("tensordot", "tensordot", "a b axes=2"),
    "trace": row("trace", "trace", "x"),
    "einsum": function("einsum", "subscripts *", lambda c, args, at: c.apply("einsum", *args, at=at)),
    "copy": function("copy", "x", expansions.copy),
    "isnan": function("isnan", "x", expansions.isnan),
    "degrees": function("degrees", "x", _scaled(180.0 / math.pi)),
    "radians": function("radians", "x", _scaled(math.pi / 180.0)),
}
_LINALG: dict[str, Found] = {
    "norm": function("norm", "x ord=None axis=None keepdims=False", expansions.norm),
    "solve": row("solve", "solve", "a b"),
    **{name: row(name, name, "a") for name in ("inv", "det", "slogdet", "cholesky")},
}


def _type(name: str) -> Function:
    """A type of NumPy: called, it converts; elsewhere it is a dtype."""
    dtype = expansions.DTYPE_NAMES[name]
    conversion = next(row for row, found in expansions.BY_CONVERSION.items() if found == dtype)
    return function(name, "x", expansions.converted(dtype), TABLE[conversion])


_TYPES: dict[str, Found] = {name: _type(name) for name in ("float64", "float32", "int64", "bool_", "double", "single")}
_CONSTANTS: dict[str, Found] = {
    "pi": Literal(math.pi),
    "e": Literal(math.e),
    "inf": Literal(math.inf),
    "nan": Literal(math.nan),
    "newaxis": Literal(None),
}

METHODS: Mapping[str, Function] = MappingProxyType(
    {
        name: _FUNCTIONS[name]
        for name in (
            *("sum", "prod", "mean", "max", "min", "all", "any", "argmax", "argmin", "cumsum", "cumprod", "var", "std"),
            *("reshape", "ravel", "transpose", "squeeze", "take", "dot", "clip", "trace"),
        )
    }
    | {"astype": _typed("astype", "astype", "x dtype", 1), "flatten": _FUNCTIONS["ravel"]}
    | {"copy": function("copy", "x", lambda c, args, at: args[0])}  # of a list and of a dictionary too: all are values
)
ATTRIBUTES: Mapping[str, Function] = MappingProxyType(
    {
        "shape": _FUNCTIONS["shape"],
        "ndim": _FUNCTIONS["ndim"],
        "size": _FUNCTIONS["size"],
        "dtype": row("dtype", "dtype", "x"),
        "T": function("T", "x", lambda c, args, at: c.apply("transpose", args[0], c.constant(None), at=at)),
    }
)


LOGSUMEXP = row("logsumexp", "logsumexp", "x axis=None keepdims=False")
SCIPY_LOGSUMEXP = function("logsumexp", "x axis=None b=None keepdims=False return_sign=False", expansions.scipy_logsumexp)
SPECIAL = Module("scipy.special", lambda name: SCIPY_LOGSUMEXP if name == "logsumexp" else None, ("logsumexp",))
SCIPY = Module("scipy", lambda name: SPECIAL if name == "special" else None, ("special",))
REFUSED_METHODS = {
    "item": "float(x), int(x) or bool(x)",
    "tolist": "[v for v in x], or the array itself",
    "fill": "x[...] = v",
    "get": 'd["a"] if "a" in d else v',
    "update": 'd["a"] = v, a line for each key',
    "round": "np.floor(x + 0.5), which rounds halves up",
    "repeat": "np.take(x, i, axis), i the places in order",
    "swapaxes": "x.transpose(axes), axes the places of the axes with the two exchanged",
}
REFUSED = {
    "moveaxis": "np.transpose(x, axes), axes the places of the old axes in their new order",
    "swapaxes": "np.transpose(x, axes), axes the places of the axes with the two exchanged",
    "put": "a line of its own, np.put(x, i, v), x the name of an array",
}


def _linalg_member(name: str) -> Found | None:
    return _LINALG.get(name) or _unknown(f"linalg.{name}", name, tuple(_LINALG))


LINALG = Module("numpy.linalg", _linalg_member, tuple(_LINALG))


def _member(name: str) -> Found | None:
    if name == "linalg":
        return LINALG
    found = _FUNCTIONS.get(name) or _TYPES.get(name) or _CONSTANTS.get(name)
    return found or _unknown(name, name, (*_FUNCTIONS, *_TYPES, *_CONSTANTS))


def _unknown(shown: str, name: str, known: tuple[str, ...]) -> Found | None:
    """A name of NumPy that has no row is refused, with what to write instead or the nearest that has."""
    import difflib

    if shown in REFUSED:
        return Refused(f"np.{shown} is not in the language here", f"write {REFUSED[shown]}")

    close = difflib.get_close_matches(name, known, 2, 0.5)
    remedy = (
        f"the nearest names that are: {', '.join('np.' + c for c in close)}" if close else "write it with the functions that are"
    )
    return Refused(f"np.{shown} is not in the language", remedy)


NUMPY = Module("numpy", _member, (*_FUNCTIONS, *_TYPES, *_CONSTANTS, "linalg"))


def of_numpy(value: Any, lazily: bool = False) -> Any:
    """
    A live array or scalar of NumPy as a value of the language; None for what is neither, or has a dtype it has not. `lazily`, its
    elements are NumPy's until somebody asks for one.
    """
    import numpy

    if isinstance(value, numpy.generic) and value.dtype.name in NUMPY_DTYPES and value.dtype != numpy.float32:
        return value.item()
    if isinstance(value, (numpy.ndarray, numpy.float32)) and value.dtype.name in NUMPY_DTYPES:
        whole = numpy.asarray(value)
        if lazily:
            return unboxed(NUMPY_DTYPES[value.dtype.name], whole.shape, whole.flatten())
        return Array(NUMPY_DTYPES[value.dtype.name], whole.shape, tuple(whole.ravel().tolist()))
    return None


NUMPY_DTYPES = {"float64": "f64", "float32": "f32", "int64": "i64", "bool": "bool"}


@cache
def by_identity() -> dict[int, Found]:
    """Functions of NumPy that a program may have imported by name, by their identity."""
    import numpy

    found: dict[int, Found] = {id(getattr(numpy, n)): f for n, f in _FUNCTIONS.items() if hasattr(numpy, n)}
    found |= {id(getattr(numpy.linalg, n)): f for n, f in _LINALG.items()}
    found |= {id(getattr(numpy, n)): f for n, f in _TYPES.items()}
    plain = {id(value) for value in vars(builtins).values()}
    return {key: value for key, value in found.items() if key not in plain}
