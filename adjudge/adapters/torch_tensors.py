"""
Tensors of PyTorch and values of the language: types, values, and what stands for a tensor while a graph is read.

    f64, i64, bool        a tensor without axes of float64, int64, bool
    f32[], f64[2, 3], …   a tensor of that dtype and shape
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch

from semantics.arrays import Array
from semantics.errors import Malformed
from semantics.ir import NodeId
from semantics.type_language import BOOLEAN, INTEGER, REAL, SCALARS, ArrayType

DTYPE = MappingProxyType({torch.float64: "f64", torch.float32: "f32", torch.int64: "i64", torch.bool: "bool"})
TORCH_DTYPE = MappingProxyType({name: dtype for dtype, name in DTYPE.items()})


def dtype_name(dtype: Any) -> str:
    """The name of a dtype; Malformed for one that the language does not have."""
    if dtype not in DTYPE:
        raise Malformed(f"{dtype} is not among the dtypes", rule="torch", remedy=f"one of {', '.join(map(str, DTYPE))}")
    return DTYPE[dtype]


def type_of_tensor(t: torch.Tensor) -> Any:
    """Our type of a tensor: a scalar where there are no axes, but for f32."""
    dtype = dtype_name(t.dtype)
    return SCALARS[dtype] if not t.shape and dtype in SCALARS else ArrayType(dtype, tuple(t.shape))


def tensor_of_type(type: Any) -> torch.Tensor:
    """A tensor without data of our type; Malformed if no tensor has it."""
    for scalar, dtype in ((REAL, torch.float64), (INTEGER, torch.int64), (BOOLEAN, torch.bool)):
        if type == scalar:
            return torch.empty((), dtype=dtype, device="meta")
    if isinstance(type, ArrayType) and None not in type.dims and not type.holes:
        return torch.empty(type.dims, dtype=TORCH_DTYPE[type.dtype], device="meta")
    raise Malformed(f"a value of type {type} is no tensor", rule="torch", remedy="numbers, booleans and arrays of known shape")


def value_of_tensor(t: torch.Tensor) -> Any:
    """The value of the language that a tensor holds."""
    type, items = type_of_tensor(t), t.detach().cpu().reshape(-1).tolist()
    return Array(type.dtype, tuple(t.shape), tuple(items)) if isinstance(type, ArrayType) else items[0]


def tensor_of_value(value: Any) -> torch.Tensor:
    """The tensor that holds a value; Malformed for what is no number, boolean or array of those."""
    if isinstance(value, Array):
        return torch.tensor(value.items, dtype=TORCH_DTYPE[value.dtype]).reshape(value.shape)
    dtype = {float: torch.float64, int: torch.int64, bool: torch.bool}.get(type(value))
    if dtype is None or (type(value) is int and not -(1 << 63) <= value < 1 << 63):
        raise Malformed(f"{value!r} is no tensor", rule="torch", remedy="reals, integers of 64 bits, booleans and arrays of them")
    return torch.tensor(value, dtype=dtype)


def agree(type: Any, val: torch.Tensor) -> bool:
    """Whether an inferred type is that of a tensor; an array without axes is as good as a scalar."""
    if isinstance(type, ArrayType):
        same = len(type.dims) == val.dim() and all(n in (None, m) for n, m in zip(type.dims, val.shape, strict=True))
        return same and type.dtype == DTYPE.get(val.dtype)
    return type == type_of_tensor(val)


@dataclass(eq=False, slots=True)
class Tensor:
    """
    A value of the graph: the node that computes it, and a tensor without data of its shape and dtype.

    of    where it lies: an input by name, or "the module" for its constants; nothing for what the graph computes
    view  if it is a view: the tensor that it looks at, how its node is had from that one's, and how that one is written through it
    seen  the node of the viewed tensor that `node` was had from
    """

    node: NodeId
    val: Any = None
    of: str = ""
    view: tuple[Tensor, Callable[[Tensor], Tensor], Callable[[Tensor, Tensor], Tensor]] | None = None
    seen: NodeId = -1

    @property
    def shape(self) -> torch.Size:
        return self.val.shape

    @property
    def dtype(self) -> torch.dtype:
        return self.val.dtype

    @property
    def is_scalar(self) -> bool:
        """Whether it is a number to us, and no array."""
        return not isinstance(type_of_tensor(self.val), ArrayType)

    def chain(self) -> list[Tensor]:
        """The tensor that owns the memory, the view of it, …, and this one."""
        found = [self]
        while found[-1].view is not None:
            found.append(found[-1].view[0])
        return found[::-1]
