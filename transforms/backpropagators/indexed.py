"""
Backpropagators of making arrays, asking about them, and writing into them. Read by our parser; the names are those of the rows.

An array of integers or booleans has no sensitivity: `sum_to(dout, out)` is ZERO then.
"""


def as_array_pullback(value, dtype_, out, dout):
    return returned(sum_to(dout, out), as_array(places(value), None), value), ZERO


def full_pullback(shape_, value, dtype_, out, dout):
    return ZERO, sum_to(sum_to(dout, out), value), ZERO


def astype_pullback(x, dtype_, out, dout):
    return sum_to(sum_to(dout, out), x), ZERO


def linspace_pullback(start, stop, num, out, dout):
    """Point k is start + k·(stop - start) / (num - 1); of one point, all goes to start."""
    share = arange(0, num, 1) / (num - 1 if num > 1 else 1)
    return sum_to(dout * (1.0 - share), start), sum_to(dout * share, stop), ZERO


def arange_pullback(start, stop, step, out, dout):
    return ZERO, ZERO, ZERO


def eye_pullback(n, m, k, out, dout):
    return ZERO, ZERO, ZERO


def shape_pullback(x, out, dout):
    return (ZERO,)


def dtype_pullback(x, out, dout):
    return (ZERO,)


def array_size_pullback(x, out, dout):
    return (ZERO,)


def put_pullback(t, i, v, out, dout):
    """What is overwritten has no sensitivity; where an index is repeated, the value that stays takes it."""
    return put(dout, i, ZERO), ZERO, sum_to(keep(getitem(dout, i), final(t, i)), v)


def final_pullback(t, i, out, dout):
    return ZERO, ZERO


def scatter_add_pullback(x, i, v, out, dout):
    return sum_to(dout, x), ZERO, sum_to(getitem(dout, i), v)


def take_pullback(x, indices, axis, out, dout):
    return returned(dout, take(places(x), indices, axis), x), ZERO, ZERO
