"""
Which operation of PyTorch is which row of our table: one rule per operation, from its call to calls of rows.

A rule has the operation's parameters, under PyTorch's names, after the builder `b`: `b("add", x, y)` is a call of a row. One rule
serves `torch.sum`, the method `x.sum` and `torch.ops.aten.sum.dim_IntList`, which differ in the type of the target only.

    READINGS   by the name of the operation
    an argument is a `Tensor`, or a Python value: a number, an axis, a shape, a dtype
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch

from adjudge.adapters.torch_movement import MOVEMENT, sizes, transpose
from adjudge.adapters.torch_tensors import dtype_name
from semantics.errors import Malformed

Rule = Callable[..., Any]

# arithmetic


def same(row: str, arity: int) -> Rule:
    """The rule of an operation that is a row, with the same arguments."""

    def one(b: Any, x: Any) -> Any:
        return b(row, x)

    def two(b: Any, x: Any, other: Any) -> Any:
        return b(row, x, other)

    return one if arity == 1 else two


def add(b: Any, x: Any, other: Any, *, alpha: Any = 1) -> Any:
    """x + alpha other"""
    return b("add", x, other if alpha == 1 else b("mul", other, alpha))


def sub(b: Any, x: Any, other: Any, *, alpha: Any = 1) -> Any:
    """x - alpha other"""
    return b("sub", x, other if alpha == 1 else b("mul", other, alpha))


def rsub(b: Any, x: Any, other: Any, *, alpha: Any = 1) -> Any:
    """other - alpha x"""
    return sub(b, other, x, alpha=alpha)


def div(b: Any, x: Any, other: Any, *, rounding_mode: Any = None) -> Any:
    """x / other, or its floor"""
    if rounding_mode == "trunc":
        raise Malformed("division that truncates is no row", rule="torch", remedy='rounding_mode="floor", or none')
    return b("div" if rounding_mode is None else "floordiv", x, other)


def truediv(b: Any, x: Any, other: Any) -> Any:
    """x / other; of a Python number and a tensor, as `Tensor.__rtruediv__` has it: (1 / other) x, which rounds twice"""
    return b("div", x, other) if hasattr(x, "shape") or not hasattr(other, "shape") else b("mul", reciprocal(b, other), x)


def square(b: Any, x: Any) -> Any:
    """x x"""
    return b("mul", x, x)


def reciprocal(b: Any, x: Any) -> Any:
    """1 / x"""
    return b("div", 1.0, x)


def rsqrt(b: Any, x: Any) -> Any:
    """1 / sqrt x"""
    return b("div", 1.0, b("sqrt", x))


def relu(b: Any, x: Any, inplace: bool = False) -> Any:
    """The larger of x and 0"""
    if inplace:
        raise Malformed("relu in place is no row", rule="torch", remedy="inplace=False")
    return b("maximum", x, 0.0)


def sigmoid(b: Any, x: Any) -> Any:
    """1 / (1 + exp(-x))"""
    return b("div", 1.0, b("add", 1.0, b("exp", b("neg", x))))


def clamp(b: Any, x: Any, min: Any = None, max: Any = None) -> Any:
    """x between two bounds, either of which may be None"""
    low = x if min is None else b("maximum", x, min)
    return low if max is None else b("minimum", low, max)


def where(b: Any, condition: Any, x: Any, other: Any) -> Any:
    """x where the condition holds, else other"""
    return b("where", condition, x, other)


def invert(b: Any, x: Any) -> Any:
    """not x"""
    if x.dtype != torch.bool:
        raise Malformed("bits of integers are no row", rule="torch", remedy="torch.logical_not, of booleans")
    return b("not_", x)


def cast(b: Any, x: Any, dtype: Any) -> Any:
    """x in another dtype; the same x where it has it"""
    name = dtype_name(dtype)
    if x.dtype == dtype:
        return x
    return b("to_real", x) if x.is_scalar and name == "f64" else b("astype", x, name)


def unchanged(b: Any, x: Any) -> Any:
    """x itself: a copy, or another layout in memory"""
    return b.copied(x)


# reductions


def reduction(row: str) -> Rule:
    """The rule of a reduction over all axes, one or several."""

    def rule(b: Any, x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        operand = x if dtype is None else cast(b, x, dtype)
        axes = None if dim is None or (isinstance(dim, Sequence) and not dim) else dim
        return b(row, operand, axes, keepdim)

    return rule


def placed(row: str) -> Rule:
    """The rule of the place of an extreme value."""

    def rule(b: Any, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if keepdim:
            raise Malformed(f"{row} has no keepdim", rule="torch", remedy="unsqueeze the result")
        return b(row, x, dim)

    return rule


def extreme(row: str, pairwise: str) -> Rule:
    """torch.max: of all elements, or of two tensors place by place."""

    def rule(b: Any, x: Any, other: Any = None) -> Any:
        if isinstance(other, int):
            what = "an extreme along an axis comes with its places"
            raise Malformed(what, rule="torch", remedy="amax or amin, and argmax or argmin")
        return b(row, x, None, False) if other is None else b(pairwise, x, other)

    return rule


def cumulative(row: str) -> Rule:
    """The rule of running sums and products."""

    def rule(b: Any, x: Any, dim: int) -> Any:
        return b(row, x, dim)

    return rule


def vector_norm(b: Any, x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    """The root of the sum of squares"""
    if ord != 2:
        raise Malformed(f"the norm of order {ord} is no row", rule="torch", remedy="order 2")
    return b("norm", x, dim, keepdim)


def softmax(b: Any, x: Any, dim: int, half_to_float: bool = False) -> Any:
    """exp(x - m) / Σ exp(x - m), m the largest x"""
    shifted = b("exp", b("sub", x, b("reduce_max", x, dim, True)))
    return b("div", shifted, b("reduce_sum", shifted, dim, True))


# algebra


def linear(b: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    """x wᵀ + bias"""
    product = b("matmul", x, b("transpose", weight, None))
    return product if bias is None else b("add", product, bias)


def addmm(b: Any, x: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta x + alpha mat1 mat2"""
    product = b("matmul", mat1, mat2)
    left = x if beta == 1 else b("mul", x, beta)
    return b("add", left, product if alpha == 1 else b("mul", product, alpha))


def einsum(b: Any, equation: str, *operands: Any) -> Any:
    """A sum over subscripts"""
    return b("einsum", equation.replace(" ", ""), *sizes(operands))


# creation


def full(b: Any, size: Any, fill_value: Any, *, dtype: Any = None) -> Any:
    """An array of one number; where no dtype is given, PyTorch's default for the number"""
    wanted = dtype or torch.full((), fill_value).dtype
    if not size and wanted != torch.float32 and isinstance(fill_value, (int, float)):
        return b.number(torch.full((), fill_value, dtype=wanted, device="cpu"))
    return b("full", tuple(size), fill_value, dtype_name(wanted))


def filled(number: int) -> Rule:
    """The rule of zeros and ones."""

    def rule(b: Any, *size: Any, dtype: Any = None) -> Any:
        return full(b, sizes(size), number, dtype=dtype or torch.get_default_dtype())

    return rule


def filled_like(number: int) -> Rule:
    """The rule of zeros and ones of the shape of x."""

    def rule(b: Any, x: Any, *, dtype: Any = None) -> Any:
        return full(b, tuple(x.shape), number, dtype=dtype or x.dtype)

    return rule


# what is known without running anything


def size(_: Any, x: Any, dim: Any = None) -> Any:
    """The shape, or one size of it"""
    return tuple(x.shape) if dim is None else x.shape[dim]


def attribute(b: Any, x: Any, name: str) -> Any:
    """x.shape, x.dtype, x.T"""
    found: dict[str, Callable[[], Any]] = {
        "shape": lambda: tuple(x.shape),
        "dtype": lambda: x.dtype,
        "ndim": lambda: len(x.shape),
        "T": lambda: b("transpose", x, None),
        "mT": lambda: transpose(b, x, -2, -1),
    }
    if name not in found:
        raise Malformed(f"the attribute {name} of a tensor is no row", rule="torch", remedy=f"one of {', '.join(found)}")
    return found[name]()


ELEMENTARY = ("exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "erf", "erfc")
TRIGONOMETRY = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
UNARY = ("abs", "neg", "sign", *ELEMENTARY, *TRIGONOMETRY)
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
BINARY = ("mul", "pow", "maximum", "minimum", "atan2", "hypot", "copysign", "logaddexp", "matmul", "dot", "outer", *COMPARISONS)
CALLED_OTHERWISE = MappingProxyType(
    {
        **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
        **{"negative": "neg", "absolute": "abs", "multiply": "mul", "less": "lt", "less_equal": "le", "greater": "gt"},
        **{"greater_equal": "ge", "not_equal": "ne", "mm": "matmul", "mv": "matmul", "bmm": "matmul", "ger": "outer"},
        **{
            "inner": "dot",
            "logical_and": "and_",
            "logical_or": "or_",
            "remainder": "mod",
            "mod": "mod",
            "and_": "and_",
            "or_": "or_",
        },
        **{"floor_divide": "floordiv", "floordiv": "floordiv", "power": "pow"},
    }
)
MATRICES = MappingProxyType({"det": "det", "inv": "inv", "inverse": "inv", "trace": "trace", "cholesky": "cholesky"})
REDUCTIONS = MappingProxyType(
    {
        **{"sum": "reduce_sum", "prod": "reduce_prod", "mean": "mean", "amax": "reduce_max", "amin": "reduce_min"},
        **{"all": "reduce_all", "any": "reduce_any", "logsumexp": "logsumexp"},
    }
)

READINGS: Mapping[str, Rule] = MappingProxyType(
    {
        **MOVEMENT,
        **{name: same(name, 1) for name in UNARY},
        **{name: same(name, 2) for name in BINARY},
        **{name: same(row, 2) for name, row in CALLED_OTHERWISE.items() if row not in UNARY},
        **{name: same(row, 1) for name, row in CALLED_OTHERWISE.items() if row in UNARY},
        **{name: same(row, 1) for name, row in MATRICES.items()},
        **{name: reduction(row) for name, row in REDUCTIONS.items()},
        **{
            "add": add,
            "sub": sub,
            "subtract": sub,
            "rsub": rsub,
            "div": div,
            "truediv": truediv,
            "true_divide": div,
            "divide": div,
        },
        **{"square": square, "reciprocal": reciprocal, "rsqrt": rsqrt, "relu": relu, "sigmoid": sigmoid, "clamp": clamp},
        **{
            "where": where,
            "clone": unchanged,
            "contiguous": unchanged,
            "alias": unchanged,
            "to": cast,
            "type": cast,
            "_to_copy": cast,
        },
        **{name: (lambda b, x, d=dtype: cast(b, x, d)) for name, dtype in (("double", torch.float64), ("float", torch.float32))},
        **{"long": lambda b, x: cast(b, x, torch.int64), "bool": lambda b, x: cast(b, x, torch.bool)},
        **{"argmax": placed("argmax"), "argmin": placed("argmin"), "max": extreme("reduce_max", "maximum")},
        **{"min": extreme("reduce_min", "minimum"), "cumsum": cumulative("cumsum"), "cumprod": cumulative("cumprod")},
        **{"logical_not": same("not_", 1), "invert": invert, "vector_norm": vector_norm, "softmax": softmax, "_softmax": softmax},
        **{"linear": linear, "addmm": addmm},
        **{"einsum": einsum, "solve": same("solve", 2), "full": full},
        **{"zeros": filled(0), "ones": filled(1), "zeros_like": filled_like(0), "ones_like": filled_like(1), "size": size},
        **{"dim": lambda _, x: len(x.shape), "numel": lambda _, x: x.shape.numel(), "getattr": attribute},
    }
)
