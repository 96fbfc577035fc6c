"""
What the CPU target binds to `_empty` and `_full`: new arrays, of which LLVM is told that they overlap nothing that is there.

It may then leave what it has read where it is when a new array is written to, and vectorise a loop over many arrays without asking
whether any two of them overlap. Numba takes the address of the elements out of the record of the memory, where LLVM cannot see
whence it comes. Numba's runtime has a function that does so too, and what a function gives can be declared new, as that of `malloc`
is. No element is read through that record, so nothing else in the code leads to them.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import _empty_nd_impl, _parse_shape, store_item


@intrinsic
def empty(context, shape, dtype):  # type: ignore[no-untyped-def]
    """A new array of these sizes, a tuple."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return _new(context, builder, signature, arguments)._getvalue()

    return _type(shape, dtype)(shape, dtype), generate


@intrinsic
def full(context, shape, value, dtype):  # type: ignore[no-untyped-def]
    """A new array of these sizes whose elements are all this number."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = _new(context, builder, signature, arguments)
        number = context.cast(builder, arguments[1], value, dtype.dtype)
        with cgutils.for_range(builder, array.nitems) as loop:
            store_item(context, builder, signature.return_type, number, builder.gep(array.data, [loop.index]))
        return array._getvalue()

    return _type(shape, dtype)(shape, value, dtype), generate


def _type(shape: Any, dtype: Any) -> Any:
    return types.Array(dtype.dtype, len(shape), "C")


def _new(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The array, as NumPy's `empty` makes it, with the address of its elements from a function whose result overlaps nothing."""
    sizes = _parse_shape(context, builder, signature.args[0], arguments[0])
    array = _empty_nd_impl(context, builder, signature.return_type, sizes)
    elements = ir.FunctionType(cgutils.voidptr_t, [cgutils.voidptr_t])
    function = cgutils.get_or_insert_function(builder.module, elements, "NRT_MemInfo_data")
    function.return_value.add_attribute("noalias")
    array.data = builder.bitcast(builder.call(function, [array.meminfo]), array.data.type)
    return array
