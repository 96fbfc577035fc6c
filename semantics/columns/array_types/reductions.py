"""The types of reductions, of running sums and products, and of what sorts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.arrays import normal_axis
from semantics.columns.array_types.operands import absorbing, axes, flags, one_axis, operand, over, result
from semantics.columns.arrays.reductions import floating, summed
from semantics.errors import Trap
from semantics.shapes import count, reduced
from semantics.type_language import ArrayType


def _same(dtype: str) -> str:
    return dtype


def reduction(name: str, dtype_of: Callable[[str], str], *, keeps_zeros: bool, of_none: bool = True) -> Callable[..., Any]:
    """
    The rule of (x, axis, keepdims).

    keeps_zeros  what is made of zeros only may be a zero     of_none  what is made of no elements has a value
    """

    def rule(x: Any, axis: Any, keepdims: Any) -> Any:
        array = operand(name, x)

        def of(named: Any, kept: bool) -> Any:
            dims = reduced(array.dims, named, kept, name)
            if not of_none and count(array.dims) == 0 and count(dims) not in (0, None):
                raise Trap(f"{name} of no elements", rule=name, remedy="an axis that is not empty")
            return result(dtype_of(array.dtype), dims, array.holes and keeps_zeros)

        return over(of, axes(name, axis, len(array.dims)), flags(name, "keepdims", keepdims))

    return rule


def _boolean(_: str) -> str:
    return "bool"


def place(name: str) -> Callable[..., Any]:
    """np.argmax and np.argmin: of the elements in row-major order if axis is None."""

    def rule(x: Any, axis: Any) -> Any:
        array = operand(name, x)

        def of(named: int | None) -> Any:
            dims = reduced(array.dims, named, False, name)
            if (count(array.dims) if named is None else array.dims[named]) == 0 and count(dims) not in (0, None):
                raise Trap(f"{name} of no elements", rule=name, remedy="an axis that is not empty")
            return result("i64", dims)

        return over(of, one_axis(name, axis, len(array.dims)))

    return rule


def along(name: str, dtype_of: Callable[[str], str], *, keeps_zeros: bool = True) -> Callable[..., Any]:
    """What goes along one axis and keeps the shape; of the elements in row-major order if axis is None."""

    def rule(x: Any, axis: Any) -> Any:
        array = operand(name, x)

        def of(named: int | None) -> Any:
            if named is not None:
                normal_axis(named, len(array.dims), name)
            dims = (count(array.dims),) if named is None else array.dims
            return ArrayType(dtype_of(array.dtype), dims, array.holes and keeps_zeros)

        return over(of, one_axis(name, axis, len(array.dims)))

    return rule


RULES: dict[str, Callable[..., Any]] = {
    "reduce_sum": reduction("reduce_sum", summed, keeps_zeros=True),
    "reduce_prod": reduction("reduce_prod", summed, keeps_zeros=True),
    "mean": reduction("mean", floating, keeps_zeros=True),
    "reduce_max": reduction("reduce_max", _same, keeps_zeros=True, of_none=False),
    "reduce_min": reduction("reduce_min", _same, keeps_zeros=True, of_none=False),
    "reduce_all": reduction("reduce_all", _boolean, keeps_zeros=False),
    "reduce_any": reduction("reduce_any", _boolean, keeps_zeros=False),
    "logsumexp": reduction("logsumexp", floating, keeps_zeros=False),
    "norm": reduction("norm", floating, keeps_zeros=True),
    "argmax": place("argmax"),
    "argmin": place("argmin"),
    "cumsum": along("cumsum", summed),
    "cumprod": along("cumprod", summed),
    "sort": along("sort", _same),
    "argsort": along("argsort", lambda _: "i64", keeps_zeros=False),
}
CELLS: dict[str, Callable[..., Any]] = {name: absorbing(rule) for name, rule in RULES.items()}
