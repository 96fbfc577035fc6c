"""
What the CPU target binds to `_mul`, `_div`, `_reals` and `_integers`. In a module of their own, since Numba's cache finds functions
again by import.
"""

from typing import Any

from numba import carray, float64, int64, njit, types
from numba.extending import intrinsic


@njit(error_model="numpy")
def mul(a, b):  # type: ignore[no-untyped-def]
    """The product; nothing contracts it, since nothing asks Numba to."""
    return a * b


@njit(error_model="numpy")
def div(a, b):  # type: ignore[no-untyped-def]
    """The IEEE quotient, total."""
    return a / b


def _pointer(of: Any) -> Any:
    @intrinsic
    def pointer(context, address):  # type: ignore[no-untyped-def]
        """An address as a pointer."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(of)(types.int64), generate

    return pointer


_to_real, _to_integer = _pointer(float64), _pointer(int64)


@njit
def reals(address, size):  # type: ignore[no-untyped-def]
    """The memory at an address, as reals."""
    return carray(_to_real(address), size)


@njit
def integers(address, size):  # type: ignore[no-untyped-def]
    """The same memory, as integers."""
    return carray(_to_integer(address), size)
