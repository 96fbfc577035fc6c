"""
What the CPU target binds to `_mul` and `_div`. In a module of their own, since Numba's cache finds functions again by import.
"""

from numba import njit


@njit(error_model="numpy")
def mul(a, b):  # type: ignore[no-untyped-def]
    """The product; nothing contracts it, since nothing asks Numba to."""
    return a * b


@njit(error_model="numpy")
def div(a, b):  # type: ignore[no-untyped-def]
    """The IEEE quotient, total."""
    return a / b
