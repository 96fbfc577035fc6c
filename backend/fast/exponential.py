"""
The exponential in fast code: without a branch or a call, so that a loop over it is vectorised. It is compiled into its
callers: in a large function LLVM would call it, and no loop over it would be.

    k = the integer nearest to x / ln 2      r = x − k ln 2      e^x = 2^k e^r      e^r by its Taylor polynomial of degree 13

It is less than 4 ulp from the exact value. In units u = 2^-53 of the result, with |r| ≤ 0.3467:

    r     k HIGH is exact, since HIGH has 41 bits and k has 11, and so is x − k HIGH, but for a rounding where x is near to half of
          ln 2; k LOW < 2^-30, so its rounding, and that of LOW, is nothing beside it. r is off by at most 2 × 0.35 u   0.7
    e^r   what Taylor leaves out, r^14 / 14! < 4.2e-18 against e^r > 0.7                                                0.1
          the coefficients 1/k!, each rounded: Σ r^k / k! u from k = 3 on                                               0.1
          Horner, from its end: the last sum 1; its product, and the sum before it, |e^r − 1| / e^r ≤ 0.42 each; what
          comes before is multiplied by r², and adds up to less than 0.3                                                2.2

in all 3.1 u of the result, which is at most 3.1 ulp, and less than 4 with half an ulp where it is subnormal. The C library's is
within one ulp: hence ULPS. The powers of 2 are bits moved into place, in two factors, so that only the last product rounds.
"""

from numba import njit, types
from numba.extending import intrinsic

ULPS = 5.0
"""How far the value may be from the reference's, in ulp."""
WHOLE = 1.5 * 2.0**52  # in doubles of this size the last bits are an integer, to which a sum with it is rounded
PER_BIT = 1.4426950408889634  # 1 / ln 2
HIGH, LOW = float.fromhex("0x1.62e42fefa2000p-1"), float.fromhex("0x1.9ef35793c7673p-41")  # together ln 2
LEAST, MOST = -746.0, 710.0  # beyond these the result is 0 or infinite


@intrinsic
def bits(context, x):  # type: ignore[no-untyped-def]
    """The bits of a double, as an integer."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), generate


@intrinsic
def of_bits(context, n):  # type: ignore[no-untyped-def]
    """The double with these bits."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


@njit(error_model="numpy", forceinline=True)
def two_to(k):  # type: ignore[no-untyped-def]
    """2^k, of an integer to which WHOLE has been added."""
    return of_bits((bits(k) + 1023) << 52)


@njit(error_model="numpy", fastmath={"contract"}, forceinline=True)
def exp(x):  # type: ignore[no-untyped-def]
    """e^x; NaN, infinity and 0 where the C library has them."""
    x = LEAST if x < LEAST else x
    x = MOST if x > MOST else x
    k = (x * PER_BIT + WHOLE) - WHOLE
    r = (x - k * HIGH) - k * LOW
    p = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0)
    p = 1.0 / 39916800.0 + r * p
    p = 1.0 / 3628800.0 + r * p
    p = 1.0 / 362880.0 + r * p
    p = 1.0 / 40320.0 + r * p
    p = 1.0 / 5040.0 + r * p
    p = 1.0 / 720.0 + r * p
    p = 1.0 / 120.0 + r * p
    p = 1.0 / 24.0 + r * p
    p = 1.0 / 6.0 + r * p
    p = 0.5 + r * p
    p = 1.0 + r * p
    p = 1.0 + r * p
    half = k * 0.5 + WHOLE
    rest = (k - (half - WHOLE)) + WHOLE
    return p * two_to(half) * two_to(rest)
