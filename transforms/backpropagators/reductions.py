"""
Backpropagators of reductions. Read by our parser; the names are those of the rows.

Where several elements are the largest or smallest, all goes to the first of them, which is where argmax and argmin point and what
`max` of numbers does. Frameworks that follow NumPy more loosely split it evenly; both lie in the Clarke derivative.
"""

from math import exp, inf


def reduce_sum_pullback(x, axis, keepdims, out, dout):
    return sum_to(spread(dout, x, axis, keepdims), x), ZERO, ZERO


def mean_pullback(x, axis, keepdims, out, dout):
    """A mean of no elements has no element to send anything to."""
    count = array_size(x) // array_size(out) if array_size(x) > 0 else 1
    return sum_to(spread(dout / count, x, axis, keepdims), x), ZERO, ZERO


def reduce_prod_pullback(x, axis, keepdims, out, dout):
    """To each element goes the product of the others, those before it times those behind it: exact where some are 0."""
    groups = grouped(x, axis)
    before = shift(cumprod(groups, -1), 1, -1, 1)
    behind = shift(flip(cumprod(flip(groups, -1), -1), -1), -1, -1, 1)
    d = grouped(spread(dout, x, axis, keepdims), axis)
    return returned(d * (before * behind), grouped(places(x), axis), x), ZERO, ZERO


def reduce_max_pullback(x, axis, keepdims, out, dout):
    """All to the first of the largest."""
    best = argmax(grouped(x, axis), -1)
    return returned(dout, take_along(grouped(places(x), axis), expand_dims(best, -1), -1), x), ZERO, ZERO


def reduce_min_pullback(x, axis, keepdims, out, dout):
    """All to the first of the smallest."""
    best = argmin(grouped(x, axis), -1)
    return returned(dout, take_along(grouped(places(x), axis), expand_dims(best, -1), -1), x), ZERO, ZERO


def reduce_all_pullback(x, axis, keepdims, out, dout):
    return ZERO, ZERO, ZERO


def reduce_any_pullback(x, axis, keepdims, out, dout):
    return ZERO, ZERO, ZERO


def logsumexp_pullback(x, axis, keepdims, out, dout):
    """exp(x - out) over its sum, the softmax; 0 where all are -inf. The sum is 1 but for the rounding of out, which so cancels."""
    share = exp(x - spread(where(out == -inf, 0.0, out), x, axis, keepdims))
    total = reduce_sum(share, axis, True)
    softmax = share / spread(where(total == 0, 1.0, total), x, axis, True)
    return sum_to(spread(dout, x, axis, keepdims) * softmax, x), ZERO, ZERO


def norm_pullback(x, axis, keepdims, out, dout):
    """x / out; 0 where the norm is 0, the centre of its Clarke derivative."""
    length = where(out == 0, 1.0, out)
    return sum_to(spread(dout, x, axis, keepdims) * (x / spread(length, x, axis, keepdims)), x), ZERO, ZERO
