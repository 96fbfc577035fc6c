"""
What the CPU target binds to `_mul`, `_div`, `_reals`, `_integers`, `_from_zero`, `_sum_overflows`, `_difference_overflows` and
`_product_overflows`. In a module of their own, since Numba's cache finds functions again by import. All are intrinsics, compiled
where they stand: a function costs its compiler some 20 ms.
"""

from typing import Any

from numba import boolean, float64, int64, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array


@intrinsic
def mul(context, a, b):  # type: ignore[no-untyped-def]
    """The product; nothing contracts it, since nothing asks LLVM to."""
    return float64(float64, float64), lambda context, builder, signature, arguments: builder.fmul(*arguments)


@intrinsic
def div(context, a, b):  # type: ignore[no-untyped-def]
    """The IEEE quotient, total."""
    return float64(float64, float64), lambda context, builder, signature, arguments: builder.fdiv(*arguments)


def _overflowing(operation: str) -> Any:
    @intrinsic
    def overflows(context, a, b):  # type: ignore[no-untyped-def]
        """Whether 64 bits do not hold the result: what the processor says of the operation, which LLVM joins to that itself."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return builder.extract_value(getattr(builder, f"s{operation}_with_overflow")(*arguments), 1)

        return boolean(int64, int64), generate

    return overflows


sum_overflows, difference_overflows, product_overflows = map(_overflowing, ("add", "sub", "mul"))


@intrinsic
def from_zero(context, index, size):  # type: ignore[no-untyped-def]
    """An index that has been found to be inside, from the beginning: it is not negative (`backend.cpu.turns`)."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        index, size = arguments
        return builder.select(builder.icmp_signed("<", index, index.type(0)), builder.add(index, size), index)

    return int64(int64, int64), generate


def _array_of(of: Any) -> Any:
    @intrinsic
    def array_at(context, address, size):  # type: ignore[no-untyped-def]
        """The memory at an address, an integer or a real, as an array that does not own it. Compiled where it stands."""
        given = types.float64 if isinstance(address, types.Float) else types.int64

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            address, size = arguments
            address = builder.fptosi(address, cgutils.intp_t) if given is types.float64 else address
            array = context.make_array(signature.return_type)(context, builder)
            item = context.get_constant(types.intp, 8)
            shape, strides = cgutils.pack_array(builder, [size]), cgutils.pack_array(builder, [item])
            data = builder.inttoptr(address, array.data.type)
            populate_array(array, data=data, shape=shape, strides=strides, itemsize=item, meminfo=None)
            return array._getvalue()

        return types.Array(of, 1, "C")(given, types.int64), generate

    return array_at


reals, integers = _array_of(float64), _array_of(int64)
