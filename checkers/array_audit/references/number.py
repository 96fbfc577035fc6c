"""
Numbers that a user's own function computes with, in place of doubles: elements of arrays of objects.

A `Number` wraps a value of one carrier: a ball, a jet of rationals, a float of many digits. A double enters exactly. Its
methods have the names of NumPy's functions, since NumPy asks the elements of an array of objects for them; a carrier gives
those it has, and what is missing, or would round to a double (`math.exp(x)`, `float(x)`, `out[i] = x` into an array of
doubles), is refused, never rounded. A comparison is decided for all reals that the number may stand for, or raises `Undecided`.

Each number that is made takes one unit of fuel: `fueled` bounds what one evaluation costs.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from semantics.errors import IllTyped, OutOfFuel

FUEL = 200_000
Self = TypeVar("Self", bound="Number")
_fuel = [math.inf]  # outside of `fueled` numbers are not counted: what judges one case must not pay for another


@contextmanager
def fueled(units: int = FUEL) -> Iterator[None]:
    """Inside the block that many numbers may be made; OutOfFuel beyond."""
    before, _fuel[0] = _fuel[0], units
    try:
        yield
    finally:
        _fuel[0] = before


def refused(what: str, remedy: str = "") -> IllTyped:
    """The error at a step that has no meaning for numbers that are not doubles."""
    return IllTyped(what, rule="numbers", remedy=remedy)


def _operator(name: str, swapped: bool = False) -> Callable[[Any, Any], Any]:
    """The operator with the other operand lifted; an array takes it elementwise."""

    def apply(self: Number, other: Any) -> Any:
        other = self.lifted(other)
        if other is None:
            return NotImplemented
        return getattr(other, name)(self) if swapped else getattr(self, name)(other)

    return apply


def _comparison(decide: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def apply(self: Number, other: Any) -> Any:
        other = self.lifted(other)
        return NotImplemented if other is None else decide(self, other)

    return apply


def _to_double(what: str) -> Callable[..., Any]:
    def refuse(self: Any, *_: Any) -> Any:
        raise refused(
            f"{what} would round the number to a double", "compute with NumPy's functions on arrays made from the arguments"
        )

    return refuse


class Number:
    """A real of a carrier. Equal to another only where that is certain; so it has no hash."""

    __slots__ = ("value",)
    kind: ClassVar[str] = "number"
    shape, ndim, size, dtype = (), 0, 1, np.dtype(object)
    __hash__ = None  # type: ignore[assignment]

    if TYPE_CHECKING:  # what a carrier has of its own

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, value: Any) -> None:
        _fuel[0] -= 1
        if _fuel[0] < 0:
            raise OutOfFuel("the function needs more arithmetic than one evaluation may take", rule="numbers")
        self.value = value

    def __repr__(self) -> str:
        return f"<{self.kind} {self.value}>"

    # what a carrier gives: of, plus, minus, times, over, power, less, equal, floor, magnitude, isnan, isinf

    @classmethod
    def of(cls: type[Self], x: float) -> Self:
        """A double or an integer, exactly."""
        raise NotImplementedError

    @classmethod
    def lifted(cls: type[Self], x: Any) -> Self | None:
        """A number of this carrier; None for what is no number."""
        if type(x) is cls:
            return x
        if isinstance(x, (np.floating, np.integer, np.bool_)) and not isinstance(x, np.longdouble):
            x = x.item()
        if isinstance(x, (int, float)):
            return cls.of(int(x) if isinstance(x, bool) else x)
        return None

    # operators

    __add__, __radd__ = _operator("plus"), _operator("plus", True)
    __sub__, __rsub__ = _operator("minus"), _operator("minus", True)
    __mul__, __rmul__ = _operator("times"), _operator("times", True)
    __truediv__, __rtruediv__ = _operator("over"), _operator("over", True)
    __floordiv__, __rfloordiv__ = _operator("floor_divide"), _operator("floor_divide", True)
    __mod__, __rmod__ = _operator("remainder"), _operator("remainder", True)
    __pow__, __rpow__ = _operator("power"), _operator("power", True)
    __lt__ = _comparison(lambda a, b: a.less(b))
    __gt__ = _comparison(lambda a, b: b.less(a))
    __le__ = _comparison(lambda a, b: not b.less(a))
    __ge__ = _comparison(lambda a, b: not a.less(b))
    __eq__ = _comparison(lambda a, b: a.equal(b))
    __ne__ = _comparison(lambda a, b: not a.equal(b))
    __float__, __int__, __complex__, __index__ = map(_to_double, ("float(x)", "int(x)", "complex(x)", "x as an index"))

    def __neg__(self: Self) -> Self:
        return self.of(0).minus(self)

    def __pos__(self: Self) -> Self:
        return self

    def __abs__(self: Self) -> Self:
        return -self if self.less(self.of(0)) else self

    def __bool__(self) -> bool:
        return not self.equal(self.of(0))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from checkers.array_audit.references.objects import applied

        return applied(type(self), ufunc, method, inputs, options)

    # what follows from these, by the names that NumPy has for it

    def negative(self) -> Any:
        return -self

    def absolute(self) -> Any:
        return abs(self)

    fabs = absolute

    def positive(self) -> Any:
        return self

    conjugate = conj = copy = item = positive

    @property
    def real(self) -> Any:
        return self

    T = real

    def astype(self, dtype: Any, **_: Any) -> Any:
        """The same real for a floating dtype; others would round."""
        if np.dtype(dtype).kind in "fO":
            return self
        raise refused(f"a {self.kind} has no {np.dtype(dtype).name}")

    def square(self) -> Any:
        return self * self

    def reciprocal(self) -> Any:
        return 1 / self

    def maximum(self, other: Any) -> Any:
        return other if self < other else self

    def minimum(self, other: Any) -> Any:
        return other if other < self else self

    def clip(self, low: Any, high: Any) -> Any:
        return self.maximum(low).minimum(high)

    def sign(self) -> Any:
        return self.of((self > 0) - (self < 0))

    def signbit(self) -> bool:
        return bool(self < 0)

    def copysign(self, other: Any) -> Any:
        return -abs(self) if other < 0 else abs(self)

    def heaviside(self, middle: Any) -> Any:
        return self.of(0) if self < 0 else self.of(1) if self > 0 else middle

    def floor_divide(self, other: Any) -> Any:
        return (self / other).floor()

    def remainder(self, other: Any) -> Any:
        return self - other * self.floor_divide(other)

    def fmod(self, other: Any) -> Any:
        """The remainder with the sign of the dividend."""
        return self - other * (self / other).trunc()

    def ceil(self) -> Any:
        return -((-self).floor())

    def trunc(self) -> Any:
        return self.of(0) if self > -1 and self < 1 else self.floor() if self > 0 else self.ceil()

    def isfinite(self) -> bool:
        return not (self.isnan() or self.isinf())

    def hypot(self, other: Any) -> Any:
        return (self * self + other * other).sqrt()

    def logaddexp(self, other: Any) -> Any:
        """log(exp x + exp y) = m + log1p(exp(-|x - y|)), m the larger; either may be -inf."""
        if self.isinf() or other.isinf():
            return self.maximum(other)
        return self.maximum(other) + (-abs(self - other)).exp().log1p()

    def expit(self) -> Any:
        return 1 / (1 + (-self).exp())

    def log_expit(self) -> Any:
        return -self.of(0).logaddexp(-self)

    def logit(self) -> Any:
        return self.log() - (-self).log1p()

    def xlogy(self, y: Any) -> Any:
        return self.of(0) if self == 0 else self * y.log()

    def xlog1py(self, y: Any) -> Any:
        return self.of(0) if self == 0 else self * y.log1p()

    def ndtr(self) -> Any:
        return (-self / self.of(2).sqrt()).erfc() / 2


def _missing(name: str) -> Callable[..., Any]:
    def refuse(self: Number, *_: Any) -> Any:
        raise refused(f"there is no {name} of a {self.kind}")

    return refuse


ELEMENTARY = (
    "exp expm1 exp2 log log1p log2 log10 sqrt cbrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
    "arctan2 erf erfc gamma gammaln psi"
)
"""What only some carriers have; a carrier without it refuses."""
for _name in ELEMENTARY.split():
    setattr(Number, _name, _missing(_name))

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
    "float_power": operator.pow,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
}
PREDICATES: dict[str, Callable[..., Any]] = {
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) is not bool(b),
    "logical_not": lambda a: not a,
    **{name: operator.methodcaller(name) for name in ("isnan", "isinf", "isfinite", "signbit")},
}
"""By the names of NumPy's functions: the answer is a boolean."""
