"""
What the CPU target binds to `_empty`, `_full` and `_row_of`: new arrays, of which LLVM is told that they overlap nothing; and to
`_reshape`: arrays that are there, in other sizes.

It may then leave what it has read where it is when a new array is written to, and vectorise a loop over many arrays without asking
whether any two of them overlap. Numba takes the address of the elements out of the record of the memory, where LLVM cannot see
whence it comes. Numba's runtime has a function that does so too, and what a function gives can be declared new, as that of `malloc`
is. No element is read through that record, so nothing else in the code leads to them. A row of a block of memory is declared so by
a function that gives back what it is given, and that LLVM is told to leave as it is.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np.arrayobj import _parse_shape, populate_array, store_item

ALIGNED = 64
"""The bytes of the largest vector, and of a line of the cache: a vector that lies across two lines takes two writes."""


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
    """
    The array, whose elements' address is from a function whose result overlaps nothing; ValueError if its bytes cannot be counted,
    MemoryError if there are none.
    """
    type = signature.return_type
    sizes = _parse_shape(context, builder, signature.args[0], arguments[0])
    item = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(type.dtype)))
    strides, bytes, beyond = list[Any](), item, cgutils.false_bit
    for size in reversed(sizes):
        strides.insert(0, bytes)
        product = builder.smul_with_overflow(bytes, size)
        bytes, beyond = builder.extract_value(product, 0), builder.or_(beyond, builder.extract_value(product, 1))
    with builder.if_then(beyond, likely=False):
        context.call_conv.return_user_exc(builder, MemoryError, ("an array is larger than the address space",))
    memory = context.nrt.meminfo_alloc_aligned(builder, bytes, ALIGNED)
    cgutils.guard_memory_error(context, builder, memory)
    elements = ir.FunctionType(cgutils.voidptr_t, [cgutils.voidptr_t])
    function = cgutils.get_or_insert_function(builder.module, elements, "NRT_MemInfo_data")
    function.return_value.add_attribute("noalias")
    array = context.make_array(type)(context, builder)
    _fill_in(builder, array, builder.call(function, [memory]), sizes, strides, item, memory)
    return array


def _fill_in(builder: Any, array: Any, first: Any, sizes: Any, strides: Any, item: Any, memory: Any) -> None:
    """What an array is: where its first element is, its sizes and strides, the bytes of an element, and who owns its memory."""
    shape, steps = (cgutils.pack_array(builder, numbers, ty=cgutils.intp_t) for numbers in (sizes, strides))
    first = builder.bitcast(first, array.data.type)
    populate_array(array, data=first, shape=shape, strides=steps, itemsize=item, meminfo=memory)


@intrinsic
def reshape(context, array, shape):  # type: ignore[no-untyped-def]
    """The elements of an orderly array, in their order, in one of these sizes, which have been found to be of as many."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        whole = context.make_array(array)(context, builder, arguments[0])
        view = context.make_array(signature.return_type)(context, builder)
        given = cgutils.unpack_tuple(builder, arguments[1])
        sizes = [context.cast(builder, size, of, types.intp) for size, of in zip(given, shape, strict=True)]
        strides, bytes = list[Any](), whole.itemsize
        for size in reversed(sizes):
            strides.insert(0, bytes)
            bytes = builder.mul(bytes, size)
        _fill_in(builder, view, whole.data, sizes, strides, whole.itemsize, whole.meminfo)
        return impl_ret_borrowed(context, builder, signature.return_type, view._getvalue())

    if array.layout != "C":
        return None
    of = types.Array(array.dtype, len(shape), "C", readonly=not array.mutable, aligned=array.aligned)
    return of(array, shape), generate


@intrinsic
def row_of(context, block, number):  # type: ignore[no-untyped-def]
    """
    A row of a block whose elements nothing reads or writes but through this. It does not own its memory: the block is to live on.
    """

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        whole = context.make_array(block)(context, builder, arguments[0])
        array = context.make_array(signature.return_type)(context, builder)
        shape, strides = (cgutils.unpack_tuple(builder, part) for part in (whole.shape, whole.strides))
        offset = builder.mul(context.cast(builder, arguments[1], number, types.intp), strides[0])
        first = builder.call(_apart(builder.module), [cgutils.pointer_add(builder, whole.data, offset, cgutils.voidptr_t)])
        _noted(builder, first)
        _fill_in(builder, array, first, shape[1:], strides[1:], whole.itemsize, None)
        return array._getvalue()

    return types.Array(block.dtype, block.ndim - 1, "C")(block, number), generate


def _apart(module: Any) -> Any:
    """The address that it is given, declared to be new. Were LLVM to look into it, it would see that it is not."""
    function = cgutils.get_or_insert_function(module, ir.FunctionType(cgutils.voidptr_t, [cgutils.voidptr_t]), "adjudge_apart")
    if function.is_declaration:
        function.linkage = "linkonce_odr"
        function.attributes.add("noinline")
        function.attributes.add("optnone")
        function.return_value.add_attribute("noalias")
        ir.IRBuilder(function.append_basic_block()).ret(function.args[0])
    return function


def _noted(builder: Any, address: Any) -> None:
    """No instruction, but one that has the address, for all that LLVM knows: so what is written there is written for somebody."""
    nothing = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t])
    builder.asm(nothing, "", "r", [address], side_effect=True)
