"""
The column "jax": what each row is in `jax.lax` and `jax.numpy`, on tracers, for programs that become jaxprs.

A number without axes is an array without axes here. Operands are first brought to the dtype in which they meet in the IR, which is
NumPy's (NEP 50) and not always JAX's. What is known when the program is traced, such as an axis, stays a Python value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from adjudge.adapters.jax_site import dtype_of
from semantics.arrays import FLOATING, Array, promoted
from semantics.errors import Malformed
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.structured import Record, Slice
from semantics.tangents import ZERO
from transforms.array_rows import NUMPY_DTYPE, to_numpy


@dataclass(frozen=True, slots=True)
class Window:
    """
    The slice from a start that is known when the jaxpr runs, of a size that is known when it is traced.

    inside   the last start that lies inside, if `start` is to be moved between 0 and it, as XLA does by itself
    moved    the start so moved, for an axis of another size
    """

    start: Any
    size: int
    inside: int | None = None
    moved: Any = None

    def start_in(self, n: int) -> Any:
        """The start along an axis of n elements."""
        return self.start if self.inside in (None, n - self.size) else self.moved


KINDS = {"f64": "real", "i64": "integer", "bool": "boolean"}
Cell = Callable[..., Any]


def refused(name: str, what: str, remedy: str = "") -> Malformed:
    """The refusal of a row on its way into a jaxpr."""
    return Malformed(f"{name} {what}", rule="jaxpr", node=name, remedy=remedy or "judge programs without it")


def is_number(x: Any) -> bool:
    """Whether a value is numeric: a Python number, or an array of JAX or of ours."""
    return isinstance(x, (bool, int, float, Array)) or hasattr(x, "aval")


def kind(x: Any) -> str:
    """What an operand contributes to the dtype: a dtype, or "real", "integer", "boolean" for a scalar."""
    if isinstance(x, Array):
        return x.dtype
    if hasattr(x, "aval"):
        dtype = dtype_of(x.aval)
        return dtype if x.aval.shape else KINDS.get(dtype, dtype)
    return {bool: "boolean", int: "integer", float: "real"}[type(x)]


def lift(x: Any, dtype: str | None = None) -> Any:
    """A number in a dtype, by default its own."""
    if hasattr(x, "aval"):
        return x if dtype in (None, dtype_of(x.aval)) else lax.convert_element_type(x, NUMPY_DTYPE[str(dtype)])
    if not is_number(x):
        raise refused("a jaxpr", f"cannot hold {x!r}")
    found = to_numpy(x) if isinstance(x, Array) else x
    target = dtype or (x.dtype if isinstance(x, Array) else {"real": "f64", "integer": "i64", "boolean": "bool"}[kind(x)])
    try:
        return jnp.asarray(found, dtype=NUMPY_DTYPE[target])
    except OverflowError:
        raise refused("a jaxpr", f"cannot hold {x!r}, which is beyond 64 bits") from None


def static(x: Any) -> Any:
    """A value that must be known when the program is traced: an axis, a shape."""
    if isinstance(x, Record):
        return tuple(map(static, x.items))
    if isinstance(x, tuple):
        return tuple(map(static, x))
    if hasattr(x, "aval") or isinstance(x, Array):
        raise refused("a jaxpr", "needs shapes and axes that are known when it is traced", "write them as numbers")
    return x


def met(row: Primitive, arguments: Sequence[Any]) -> list[Any]:
    """Operands in the dtype in which they meet."""
    for x in arguments:
        if not is_number(x):
            raise refused(row.name, f"of {type(x).__name__}")
    dtype = promoted([kind(x) for x in arguments], row.name)
    if "real" in row.signature and dtype not in FLOATING:
        dtype = "f64"
    return broadcast([lift(x, dtype) for x in arguments])


def broadcast(arrays: Sequence[Any]) -> list[Any]:
    """The arrays in their common shape; what has no axes stays as it is."""
    shape = jnp.broadcast_shapes(*(np.shape(x) for x in arrays))
    return [x if np.shape(x) in ((), shape) else jnp.broadcast_to(x, shape) for x in arrays]


def elementwise(name: str, function: Cell) -> Cell:
    """`function` on operands that have met."""
    row = TABLE[name]

    def cell(*arguments: Any) -> Any:
        if any(x is ZERO for x in arguments):
            return _of_zero(name, arguments)
        return function(*met(row, arguments))

    return cell


def _of_zero(name: str, arguments: Sequence[Any]) -> Any:
    """Arithmetic with the symbolic ZERO: neutral for sums, absorbing in products."""
    if name == "mul" or (name == "div" and arguments[0] is ZERO) or all(x is ZERO for x in arguments):
        return ZERO
    if name == "add":
        return next(x for x in arguments if x is not ZERO)
    return CELLS[name](*(0.0 if x is ZERO else x for x in arguments))


def div(x: Any, y: Any) -> Any:
    """x / y; of integers, the quotient of reals"""
    return lax.div(*(lift(a, "f64") if is_whole(a) else a for a in (x, y)))


def select(c: Any, x: Any, y: Any) -> Any:
    """x where c, else y, in the common shape of all."""
    shape = jnp.broadcast_shapes(*map(np.shape, (c, x, y)))
    c = c if np.shape(c) in ((), shape) else jnp.broadcast_to(c, shape)
    return lax.select_n(c, *(v if np.shape(v) == shape else jnp.broadcast_to(v, shape) for v in (y, x)))


def where(c: Any, x: Any, y: Any) -> Any:
    """x where c is True, else y"""
    if x is ZERO and y is ZERO:
        return ZERO
    x, y = (0.0 if v is ZERO else v for v in (x, y))
    dtype = promoted([kind(v) for v in (x, y)], "where")
    return select(lift(c, "bool"), lift(x, dtype), lift(y, dtype))


def is_whole(x: Any) -> bool:
    """Whether an operand that is lifted has the dtype of integers."""
    return dtype_of(x.aval) == "i64"


def floordiv(x: Any, y: Any) -> Any:
    """floor(x / y) of integers, from the quotient towards 0"""
    if not is_whole(x):
        raise refused("floordiv", "of reals", "write np.floor(x / y)")
    rest = lax.rem(x, y)
    off = lax.bitwise_and(lax.ne(rest, lift(0)), lax.ne(lax.lt(rest, lift(0)), lax.lt(y, lift(0))))
    quotient = lax.div(x, y)
    return select(off, lax.sub(quotient, lift(1)), quotient)


def mod(x: Any, y: Any) -> Any:
    """The rest with the sign of y, from the rest with the sign of x, as CPython does it."""
    zero = np.zeros((), x.dtype)[()]
    rest = lax.rem(x, y)
    off = lax.bitwise_and(lax.ne(rest, zero), lax.ne(lax.lt(rest, zero), lax.lt(y, zero)))
    moved = select(off, lax.add(rest, y), rest)
    return moved if is_whole(x) else select(lax.eq(rest, zero), copysign(zero, y), moved)


def copysign(x: Any, y: Any) -> Any:
    """|x| with the sign of y, that of a zero too."""
    zero, one = np.zeros((), y.dtype)[()], np.ones((), y.dtype)[()]
    negative = lax.bitwise_or(lax.lt(y, zero), lax.lt(lax.div(one, y), zero))
    size = lax.abs(x)
    return select(negative, lax.neg(size), size)


def power(x: Any, n: Any) -> Any:
    """x ** n; of a known whole exponent, `integer_pow`"""
    if type(n) is int and (kind(x) not in ("integer", "i64") or n >= 0) and kind(x) not in ("boolean", "bool"):
        return lax.integer_pow(lift(x), n)
    operands = met(TABLE["pow"], (x, n))
    if is_whole(operands[0]):
        raise refused("pow", "of integers with an exponent that is not known", "make the base a real")
    return lax.pow(*operands)


def sign(x: Any) -> Any:
    """-1, 0 or 1, and no negative zero"""
    return lax.add(lax.sign(x), np.zeros((), x.dtype)[()])


def to_real(x: Any) -> Any:
    """An integer as a real; f32 stays"""
    return lift(x, "f32" if kind(x) == "f32" else "f64")


def whole(rounded: Cell) -> Cell:
    """A real, rounded, as an integer; an integer is itself."""

    def cell(x: Any) -> Any:
        return lift(x) if kind(x) in ("integer", "i64") else lift(rounded(lift(x)), "i64")

    return cell


def single(x: Any) -> Any:
    """The nearest f32, in the dtype of x"""
    return lax.reduce_precision(to_real(x), 8, 23)


def to_boolean(x: Any) -> Any:
    """x != 0; of a tuple, whether it has items"""
    if isinstance(x, (tuple, str)) or x is None:
        return bool(x)
    return lift(x) if kind(x) in ("boolean", "bool") else lax.ne(lift(x), np.zeros((), lift(x).dtype)[()])


def connective(name: str, function: Cell) -> Cell:
    """A connective of booleans."""

    def cell(*arguments: Any) -> Any:
        return function(*broadcast([lift(x, "bool") for x in arguments]))

    cell.__doc__ = f"{name} of booleans"
    return cell


def equal(negated: bool) -> Cell:
    """x == y or x != y; of strings and None when the program is traced."""

    def cell(x: Any, y: Any) -> Any:
        if not (is_number(x) and is_number(y)):
            return (static(x) == static(y)) is not negated
        return (lax.ne if negated else lax.eq)(*met(TABLE["eq"], (x, y)))

    return cell


def gadd(x: Any, y: Any) -> Any:
    """The sum of sensitivities, part by part."""
    if x is ZERO or y is ZERO:
        return y if x is ZERO else x
    if isinstance(x, tuple) and isinstance(y, tuple):
        return tuple(gadd(a, b) for a, b in zip(x, y, strict=True))
    return CELLS["add"](x, y)


def inject(t: Any, i: Any, d: Any) -> Any:
    """The sensitivity of a tuple of which item i has d."""
    return tuple(d if k == static(i) % len(t) else ZERO for k in range(len(t)))


def instantiate(d: Any, x: Any) -> Any:
    """The sensitivity d of x with numbers for ZERO."""
    if isinstance(x, tuple):
        return tuple(instantiate(ZERO if d is ZERO else d[k], v) for k, v in enumerate(x))
    return jnp.zeros(np.shape(lift(x)), lift(x).dtype) if d is ZERO else d


UNARY = (
    "exp expm1 log log1p sqrt cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc".split()  # noqa: SIM905
)

CELLS: dict[str, Cell] = {
    **{name: elementwise(name, getattr(lax, name)) for name in (*UNARY, "add", "sub", "mul", "neg", "abs", "atan2")},
    **{name: elementwise(name, getattr(lax, name)) for name in ("lt", "le", "gt", "ge")},
    "div": elementwise("div", div),
    "floordiv": elementwise("floordiv", floordiv),
    "mod": elementwise("mod", mod),
    "pow": power,
    "min": elementwise("min", lambda x, y: select(lax.lt(y, x), y, x)),
    "max": elementwise("max", lambda x, y: select(lax.gt(y, x), y, x)),
    "maximum": elementwise("maximum", lax.max),
    "minimum": elementwise("minimum", lax.min),
    "sign": elementwise("sign", sign),
    "copysign": elementwise("copysign", copysign),
    "log2": elementwise("log2", lambda x: lax.div(lax.log(x), np.asarray(math.log(2.0), x.dtype)[()])),
    "log10": elementwise("log10", lambda x: lax.div(lax.log(x), np.asarray(math.log(10.0), x.dtype)[()])),
    "hypot": elementwise("hypot", jnp.hypot),
    "logaddexp": elementwise("logaddexp", jnp.logaddexp),
    "where": where,
    "to_real": to_real,
    "single": single,
    "to_integer": whole(lambda x: x),
    "floor": whole(lax.floor),
    "ceil": whole(lax.ceil),
    "to_boolean": to_boolean,
    "eq": equal(False),
    "ne": equal(True),
    "not_": connective("not", lax.bitwise_not),
    "and_": connective("and", lax.bitwise_and),
    "or_": connective("or", lax.bitwise_or),
    "gadd": gadd,
    "inject": inject,
    "instantiate": instantiate,
    "seed": lambda out: lift(1.0),
    "make_tuple": lambda *items: items,
    "make_slice": Slice,
    "length": lambda t: len(t) if isinstance(t, tuple) else np.shape(t)[0],
    "of_length": lambda t, n: t,
    "range_length": lambda *bounds: len(range(*static(bounds))),
}
