"""
Backpropagators of rows that move elements about: each is the way back. Read by our parser; the names are those of the rows.

Attributes (shapes, axes, indices) have no sensitivity: ZERO. Where an element goes is told by moving the numbers of the elements
in its stead (`places`); `returned` sends every sensitivity back to the number it belongs to.
"""


def places_pullback(x, out, dout):
    return (ZERO,)


def gathered_pullback(v, p, x, out, dout):
    return returned(dout, p, x), ZERO, ZERO


def returned_pullback(d, p, x, out, dout):
    return sum_to(reshape(gathered(dout, p, x), shape(d)), d), ZERO, ZERO


def keep_pullback(d, c, out, dout):
    return keep(dout, c), ZERO


def reshape_pullback(x, shape_, out, dout):
    return sum_to(reshape(dout, shape(x)), x), ZERO


def expand_dims_pullback(x, axis, out, dout):
    return sum_to(reshape(dout, shape(x)), x), ZERO


def squeeze_pullback(x, axis, out, dout):
    return sum_to(reshape(dout, shape(x)), x), ZERO


def sum_to_pullback(d, x, out, dout):
    return like(dout, d), ZERO


def like_pullback(v, x, out, dout):
    return sum_to(dout, v), ZERO


def spread_pullback(d, x, axis, keepdims, out, dout):
    return sum_to(reduce_sum(dout, axis, keepdims), d), ZERO, ZERO, ZERO


def broadcast_to_pullback(x, shape_, out, dout):
    return sum_to(dout, x), ZERO


def transpose_pullback(x, axes, out, dout):
    return returned(dout, transpose(places(x), axes), x), ZERO


def flip_pullback(x, axis, out, dout):
    return sum_to(flip(dout, axis), x), ZERO


def roll_pullback(x, by, axis, out, dout):
    return returned(dout, roll(places(x), by, axis), x), ZERO, ZERO


def diag_pullback(x, k, out, dout):
    return returned(dout, diag(places(x), k), x), ZERO


def tril_pullback(x, k, out, dout):
    return sum_to(tril(dout, k), x), ZERO


def triu_pullback(x, k, out, dout):
    return sum_to(triu(dout, k), x), ZERO


def concatenate_pullback(arrays, axis, out, dout):
    """One pass over all parts, however many there are."""
    return returned(dout, concatenate(places(arrays), axis), arrays), ZERO


def stack_pullback(arrays, axis, out, dout):
    return returned(dout, stack(places(arrays), axis), arrays), ZERO


def grouped_pullback(x, axis, out, dout):
    return returned(dout, grouped(places(x), axis), x), ZERO


def take_along_pullback(x, indices, axis, out, dout):
    return returned(dout, take_along(places(x), indices, axis), x), ZERO, ZERO
