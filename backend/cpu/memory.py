"""
The memory of stacks as Numba's code reads and writes it: an array whose indices are never negative, and are not asked whether they
are.

For an array Numba adds its size to a negative index, which is three instructions for each read and write of a stack. Places in the
memory count from its beginning (`backend.stacks.cells`). A slice of it is an array like others. Its ends are not asked either
whether they lie in the memory: where an array is written, the code has tested that there is room, and where one is read, it was
written. Numba's own slices take two hundred instructions each, of which LLVM then has to see that most do nothing.

What waits for a strip of turns (`backend.lowering.strips`) is in such memory too.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, lower_builtin, models, register_model
from numba.np.arrayobj import populate_array

ITEM = 8  # bytes


class Cells(types.Array):
    """The type of such an array."""

    def __init__(self, of: Any) -> None:
        super().__init__(of, 1, "C", name=f"cells({of})")


register_model(Cells)(models.ArrayModel)


@intrinsic
def cells(context, array):  # type: ignore[no-untyped-def]
    """A contiguous array, as the memory of stacks."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return impl_ret_borrowed(context, builder, signature.return_type, arguments[0])

    return Cells(array.dtype)(array), generate


@intrinsic
def place(context, array, memory):  # type: ignore[no-untyped-def]
    """The place of an orderly array that lies in the memory, where of booleans eight are to a word; -1 of another."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        flags = (array.dtype, memory.dtype) == (types.boolean, types.int64)
        if array.layout != "C" or not (flags or array.dtype == memory.dtype):
            return context.get_constant(types.int64, -1)
        lies, whole = (
            context.make_array(type)(context, builder, given) for type, given in zip(signature.args, arguments, strict=True)
        )
        words = [builder.ptrtoint(held.data, cgutils.intp_t) for held in (lies, whole)]
        bytes = builder.sub(*words)
        item = context.get_constant(types.intp, ITEM)  # a constant, so nothing is divided by it
        inside = builder.icmp_unsigned("<", bytes, builder.mul(whole.nitems, item))
        if flags:
            inside = builder.and_(
                inside, builder.icmp_unsigned("==", builder.urem(bytes, item), context.get_constant(types.intp, 0))
            )
        return builder.select(inside, builder.udiv(bytes, item), context.get_constant(types.int64, -1))

    return types.int64(array, memory), generate


@intrinsic
def flags(context, memory, begin, count):  # type: ignore[no-untyped-def]
    """So many booleans from a place of the memory on, eight to a word. The host owns their memory."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        cells = context.make_array(memory)(context, builder, arguments[0])
        array = context.make_array(signature.return_type)(context, builder)
        data = builder.bitcast(builder.gep(cells.data, [arguments[1]]), array.data.type)
        item, shape = context.get_constant(types.intp, 1), cgutils.pack_array(builder, [arguments[2]])
        populate_array(array, data=data, shape=shape, strides=cgutils.pack_array(builder, [item]), itemsize=item, meminfo=None)
        return array._getvalue()

    return types.Array(types.boolean, 1, "C")(memory, types.int64, types.int64), generate


def _strip_of(of: Any) -> Any:
    @intrinsic(prefer_literal=True)
    def strip(context, count):  # type: ignore[no-untyped-def]
        """Memory of a known size for as long as the function runs, on the stack of the processor."""
        if not isinstance(count, types.IntegerLiteral):
            return None
        size = count.literal_value

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            data = cgutils.alloca_once(builder, context.get_data_type(of), size=size)
            array = context.make_array(signature.return_type)(context, builder)
            shape, strides = (cgutils.pack_array(builder, [context.get_constant(types.intp, k)]) for k in (size, ITEM))
            item = context.get_constant(types.intp, ITEM)
            populate_array(array, data=data, shape=shape, strides=strides, itemsize=item, meminfo=None)
            return array._getvalue()

        return Cells(of)(count), generate

    return strip


held, places = _strip_of(types.float64), _strip_of(types.int64)


@lower_builtin(operator.getitem, Cells, types.Integer)
def read(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
    memory, of = signature.args
    return context.unpack_value(builder, memory.dtype, _place(context, builder, memory, *arguments, of))  # type: ignore[call-arg]


@lower_builtin(operator.getitem, Cells, types.SliceType)
def part(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
    """The array from one place to before another. The host owns its memory."""
    memory, of = signature.args
    cells = context.make_array(memory)(context, builder, arguments[0])
    ends = context.make_helper(builder, of, arguments[1])
    array = context.make_array(signature.return_type)(context, builder)
    populate_array(
        array,
        data=builder.gep(cells.data, [ends.start]),
        shape=cgutils.pack_array(builder, [builder.sub(ends.stop, ends.start)]),
        strides=cells.strides,
        itemsize=cells.itemsize,
        meminfo=None,
    )
    return array._getvalue()


@lower_builtin(operator.setitem, Cells, types.Integer, types.Any)
def write(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
    (memory, of, given), (cells, index, value) = signature.args, arguments
    value = context.cast(builder, value, given, memory.dtype)
    context.pack_value(builder, memory.dtype, value, _place(context, builder, memory, cells, index, of))
    return context.get_dummy_value()


def _place(context: Any, builder: Any, memory: Cells, cells: Any, index: Any, of: Any) -> Any:
    """Where the element is that an index of some type of integers stands for."""
    at = context.cast(builder, index, of, types.intp)
    return cgutils.get_item_pointer(context, builder, memory, context.make_array(memory)(context, builder, cells), [at])
