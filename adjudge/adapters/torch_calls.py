"""
Which operation of PyTorch computes a row of our table: one rule per row, from its operands to a call; see `torch_writer`.

A rule is given the writer `w` and the operands: nodes of torch.fx, tuples of them, or Python values. `w(torch.exp, x)` is a call.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import torch
import torch.fx

from adjudge.adapters.torch_tensors import TORCH_DTYPE
from semantics.arrays import FLOATING
from semantics.structured import ELLIPSIS, Slice
from semantics.type_language import INTEGER, REAL, ArrayType

Rule = Callable[..., Any]

OPERATORS: Mapping[str, Any] = MappingProxyType(
    {
        **{
            name: getattr(operator, name) for name in ("add", "sub", "mul", "neg", "mod", "pow", "lt", "le", "gt", "ge", "eq", "ne")
        },
        **{"div": operator.truediv, "floordiv": operator.floordiv, "matmul": operator.matmul},
    }
)
# rows that PyTorch computes of the same arguments; numbers may stand beside a tensor in those of ARITHMETIC
ARITHMETIC: Mapping[str, Any] = MappingProxyType(
    {
        **{name: getattr(torch, name) for name in ("add", "sub", "mul", "div", "pow", "lt", "le", "gt", "ge", "eq", "ne")},
        **{"neg": torch.neg, "floordiv": torch.floor_divide, "mod": torch.remainder},
    }
)
UNARY = (
    *("abs", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh"),
    *("tanh", "asinh", "acosh", "atanh", "erf", "erfc", "sign", "trace"),
)
TENSORS: Mapping[str, Any] = MappingProxyType(
    {
        **{name: getattr(torch, name) for name in UNARY},
        **{name: getattr(torch, name) for name in ("maximum", "minimum", "atan2", "hypot", "copysign", "logaddexp", "where")},
        **{name: getattr(torch, name) for name in ("matmul", "outer")},
        **{name: getattr(torch.linalg, name) for name in ("solve", "inv", "det", "cholesky")},
        **{"not_": torch.logical_not, "and_": torch.logical_and, "or_": torch.logical_or, "switch": torch.where},
    }
)


def arithmetic(name: str) -> Rule:
    """An operator, or the function of PyTorch of that name. One operand at least is a tensor."""

    def rule(w: Any, *operands: Any) -> Any:
        # a number over a tensor is rounded twice by PyTorch, and torch.fx prints a negative base without parentheses
        number_first = name in ("div", "pow") and isinstance(operands[0], (int, float))
        by_operator = w.style in ("operator", "method") and not number_first
        first = operands[0] if by_operator and any(isinstance(x, torch.fx.Node) for x in operands) else w.tensor(operands[0])
        rest = [x if isinstance(x, (int, float)) else w.tensor(x) for x in operands[1:]]
        return w((OPERATORS if by_operator else ARITHMETIC)[name], first, *rest)

    return rule


def of_tensors(name: str) -> Rule:
    """A function of tensors alone."""

    def rule(w: Any, *operands: Any) -> Any:
        return w(TENSORS[name], *map(w.tensor, operands))

    return rule


def reduction(target: Any, several: bool = True) -> Rule:
    """A reduction over axes; `several` says whether PyTorch takes more than one."""

    def rule(w: Any, x: Any, axis: Any, keepdims: Any) -> Any:
        if axis is None and (keepdims or target in (torch.amax, torch.amin, torch.logsumexp)):
            axis = tuple(range(len(getattr(w.type(0), "dims", ()))))
        if isinstance(axis, tuple) and not several:
            raise w.refuse("PyTorch reduces along one axis only")
        return w(target, w.tensor(x)) if axis is None else w(target, w.tensor(x), dim=axis, keepdim=keepdims)

    return rule


def along(target: Any) -> Rule:
    """A function of a tensor and an axis."""

    def rule(w: Any, x: Any, axis: Any) -> Any:
        return w(target, w.tensor(x), dim=axis)

    return rule


def norm(w: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """The root of the sum of squares"""
    return w(torch.linalg.vector_norm, w.tensor(x), 2, axis, keepdims)


def transpose(w: Any, x: Any, axes: Any) -> Any:
    """torch.permute, all axes reversed if none are given"""
    rank = len(getattr(w.type(0), "dims", ()))
    return w(torch.permute, w.tensor(x), tuple(range(rank))[::-1] if axes is None else axes)


def plain(target: Any) -> Rule:
    """A function of a tensor and attributes, in the same order."""

    def rule(w: Any, x: Any, *attributes: Any) -> Any:
        return w(target, w.tensor(x), *((a,) if isinstance(a, int) and target in SIZED else a for a in attributes))

    return rule


def joined(target: Any) -> Rule:
    """A function of several tensors and an axis."""

    def rule(w: Any, parts: Any, axis: Any) -> Any:
        return w(target, tuple(map(w.tensor, parts)), axis)

    return rule


def getitem(w: Any, x: Any, i: Any) -> Any:
    """A part: of a tuple at once, of a tensor by an index."""
    if isinstance(x, tuple):
        return x[i]
    return w(operator.getitem, w.tensor(x), _index(w, i))


def _index(w: Any, i: Any) -> Any:
    match i:
        case tuple():
            return tuple(_index(w, part) for part in i)
        case Slice(start, stop, step):
            return slice(start, stop, step)
        case _ if i is ELLIPSIS:
            return ...
        case None | int() | torch.fx.Node():
            return i
        case _:
            return w.tensor(i)


def put(accumulate: bool) -> Rule:
    """x with values put, or added, at the places that an array of integers names."""

    def rule(w: Any, x: Any, i: Any, v: Any) -> Any:
        return w(torch.index_put, w.tensor(x), tuple(map(w.tensor, i if isinstance(i, tuple) else (i,))), w.tensor(v), accumulate)

    return rule


def to_real(w: Any, x: Any) -> Any:
    """A real is one already; an integer is converted."""
    return w.method("to", w.tensor(x), torch.float64) if w.type(0) == INTEGER else x


def astype(w: Any, x: Any, dtype: str) -> Any:
    """Another dtype"""
    return w.method("to", w.tensor(x), TORCH_DTYPE[dtype])


def take(w: Any, x: Any, indices: Any, axis: Any) -> Any:
    """The elements at several places of an axis"""
    return w(torch.index_select, w.tensor(x), axis, w.tensor(indices))


def einsum(w: Any, subscripts: str, *operands: Any) -> Any:
    """A sum over subscripts"""
    return w(torch.einsum, subscripts, *map(w.tensor, operands))


def full(w: Any, shape: Any, value: Any, dtype: Any) -> Any:
    """An array of one number"""
    name = dtype or {float: "f64", int: "i64", bool: "bool"}.get(type(value), "f64")
    return w(torch.full, (shape,) if isinstance(shape, int) else shape, value, dtype=TORCH_DTYPE[name])


def shape(w: Any, _: Any) -> Any:
    """The sizes, which are known"""
    found = w.type(0)
    return found.dims if isinstance(found, ArrayType) else ()


def gadd(w: Any, a: Any, b: Any) -> Any:
    """The sum of two sensitivities that are numbers or arrays"""
    if w.type(0) != w.type(1) or not is_dense(w.type(0)):
        raise w.refuse("a sum of sensitivities that are no tensors")
    return arithmetic("add")(w, a, b)


def instantiate(w: Any, d: Any, _: Any) -> Any:
    """A sensitivity that is of the type of its value already"""
    if w.type(0) != w.type(1) or not is_dense(w.type(0)):
        raise w.refuse("a sensitivity that is no tensor")
    return d


def seed(w: Any, _: Any) -> Any:
    """1, where a gradient begins"""
    return 1.0


def is_dense(type: Any) -> bool:
    """Whether values of a type are reals or arrays of reals, with no symbolic zeros"""
    return type == REAL or (isinstance(type, ArrayType) and type.dtype in FLOATING and not type.holes)


SIZED = (torch.reshape, torch.broadcast_to, torch.flip)
WRITINGS: Mapping[str, Rule] = MappingProxyType(
    {
        **{name: arithmetic(name) for name in ARITHMETIC},
        **{name: of_tensors(name) for name in TENSORS},
        **{"make_tuple": lambda _, *parts: parts, "getitem": getitem, "shape": shape},
        **{"reduce_sum": reduction(torch.sum), "mean": reduction(torch.mean), "reduce_prod": reduction(torch.prod, several=False)},
        **{"reduce_max": reduction(torch.amax), "reduce_min": reduction(torch.amin), "logsumexp": reduction(torch.logsumexp)},
        **{"reduce_all": reduction(torch.all), "reduce_any": reduction(torch.any), "norm": norm},
        **{
            "argmax": along(torch.argmax),
            "argmin": along(torch.argmin),
            "cumsum": along(torch.cumsum),
            "cumprod": along(torch.cumprod),
        },
        **{"reshape": plain(torch.reshape), "broadcast_to": plain(torch.broadcast_to), "flip": plain(torch.flip)},
        **{"expand_dims": plain(torch.unsqueeze), "squeeze": plain(torch.squeeze), "roll": plain(torch.roll)},
        **{"tril": plain(torch.tril), "triu": plain(torch.triu), "diag": plain(torch.diag), "transpose": transpose},
        **{"concatenate": joined(torch.cat), "stack": joined(torch.stack), "take": take, "einsum": einsum, "full": full},
        **{"put": put(False), "scatter_add": put(True), "to_real": to_real, "astype": astype},
        **{"gadd": gadd, "instantiate": instantiate, "seed": seed},
    }
)
