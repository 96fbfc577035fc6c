"""
What Numba does not have on CUDA: an array at an address, its address, the same elements in other axes, and the end of a thread.

Numba lets no function of CUDA give back an array that it made. What is written here as instructions may.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.cuda.extending import intrinsic
from numba.cuda.np import arrayobj


def _made(context: Any, builder: Any, type: Any, data: Any, sizes: list[Any]) -> Any:
    """An array in row-major order."""
    item = context.get_abi_sizeof(context.get_data_type(type.dtype))
    strides, step = list[Any](), context.get_constant(types.intp, item)
    for size in reversed(sizes):
        strides.insert(0, step)
        step = builder.mul(step, size)
    array = arrayobj.make_array(type)(context, builder)
    arrayobj.populate_array(array, data=data, shape=sizes, strides=strides, itemsize=item, meminfo=None)
    return array._getvalue()


def _sizes(context: Any, builder: Any, shape: Any, type: Any) -> list[Any]:
    """The integers of a tuple."""
    parts = cgutils.unpack_tuple(builder, shape, len(type))
    return [context.cast(builder, part, of, types.intp) for part, of in zip(parts, type.types, strict=True)]


@intrinsic
def array(typing: Any, address: Any, shape: Any, dtype: Any) -> Any:
    """The array of a shape and dtype at an address."""
    result = types.Array(dtype.dtype, len(shape), "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = builder.inttoptr(arguments[0], context.get_data_type(result.dtype).as_pointer())
        return _made(context, builder, result, data, _sizes(context, builder, arguments[1], signature.args[1]))

    return result(types.int64, shape, dtype), generate


@intrinsic
def address(typing: Any, of: Any) -> Any:
    """Where the elements of an array are."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = arrayobj.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.ptrtoint(found.data, context.get_value_type(types.int64))

    return types.int64(of), generate


@intrinsic
def reshape(typing: Any, of: Any, shape: Any) -> Any:
    """The elements of an array in row-major order, in one of another shape."""
    result = types.Array(of.dtype, len(shape), "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = arrayobj.make_array(signature.args[0])(context, builder, arguments[0])
        return _made(context, builder, result, found.data, _sizes(context, builder, arguments[1], signature.args[1]))

    return result(of, shape), generate


@intrinsic
def leave(typing: Any) -> Any:
    """Ends the thread."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.call(ir.InlineAsm(ir.FunctionType(ir.VoidType(), []), "exit;", "", side_effect=True), [])
        return context.get_dummy_value()

    return types.void(), generate
