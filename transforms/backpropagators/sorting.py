"""
Backpropagators of sorting and of running sums and products. Read by our parser; the names are those of the rows.

Indices have no sensitivity. A sorted array is a permutation, found again by sorting the indices; ties keep their order.
"""


def argmax_pullback(x, axis, out, dout):
    return ZERO, ZERO


def argmin_pullback(x, axis, out, dout):
    return ZERO, ZERO


def argsort_pullback(x, axis, out, dout):
    return ZERO, ZERO


def sort_pullback(x, axis, out, dout):
    return returned(dout, take_along(places(x), argsort(x, axis), axis), x), ZERO


def cumsum_pullback(x, axis, out, dout):
    """Element k adds to all from k on."""
    return sum_to(reshape(flip(cumsum(flip(dout, axis), axis), axis), shape(x)), x), ZERO


def cumprod_pullback(x, axis, out, dout):
    """What arrives at product k, there and through the products behind it, times the product before it: exact where some are 0."""
    arriving = recurrence(dout, reshape(x, shape(out)), axis, True)
    return sum_to(reshape(arriving * shift(out, 1, axis, 1), shape(x)), x), ZERO


def shift_pullback(x, by, axis, fill, out, dout):
    return sum_to(reshape(shift(dout, -by, axis, 0), shape(x)), x), ZERO, ZERO, ZERO


def recurrence_pullback(b, c, axis, reverse, out, dout):
    """The transpose of the recurrence, and the outputs it met: c[k] was multiplied by y[k-1], or backwards by y[k]."""
    arriving = recurrence(dout, c, axis, not reverse)
    dc = shift(arriving, 1, axis, 0) * out if reverse else arriving * shift(out, 1, axis, 0)
    return sum_to(reshape(arriving, shape(b)), b), sum_to(reshape(dc, shape(c)), c), ZERO, ZERO
