"""
The steps of sums in fast code. In a module of their own, since Numba's cache finds functions again by import.

No flag says that there are no NaNs, infinities or signed zeros. A sum begins with -0.0, the identity of addition, on each of the
lanes that a compiler splits it into; so it is -0.0 where all its terms are.
"""

from numba import njit


@njit(error_model="numpy", fastmath={"reassoc"})
def any_term(total, term):  # type: ignore[no-untyped-def]
    """One step of a sum, whose steps may be taken in any order."""
    return total + term


@njit(error_model="numpy", fastmath={"reassoc", "contract"})
def any_product(total, x, y):  # type: ignore[no-untyped-def]
    """One step of an inner product, in any order, the product rounded or not."""
    return total + x * y
