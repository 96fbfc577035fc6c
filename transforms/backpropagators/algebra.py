"""
Backpropagators of products of arrays. Read by our parser; the names are those of the rows. That of `einsum` is in `einsums.py`.

Where broadcasting repeated an operand, `sum_to` adds up; it also answers ZERO for an operand that is no array of reals. An operand
may be a sensitivity, and ZERO: then so is `out`, and `like(dout, out)`, from which nothing flows back.
"""


def matmul_pullback(a, b, out, dout):
    x = expand_dims(a, 0) if ndim(a) == 1 else a
    y = expand_dims(b, -1) if ndim(b) == 1 else b
    flowing = like(dout, out)
    columns = expand_dims(flowing, -1) if ndim(b) == 1 else flowing
    d = expand_dims(columns, -2) if ndim(a) == 1 else columns
    dx = sum_to(matmul(d, swap_last(y)), x)
    dy = sum_to(matmul(swap_last(x), d), y)
    return reshape(dx, shape(a)), reshape(dy, shape(b))


def tensordot_pullback(a, b, axes, out, dout):
    subscripts = tensordot_subscripts(a, b, axes)
    da = einsum(einsum_adjoint(subscripts, 0, (a, b))[0], dout, b)
    db = einsum(einsum_adjoint(subscripts, 1, (a, b))[0], dout, a)
    return sum_to(da, a), sum_to(db, b), ZERO


def dot_pullback(a, b, out, dout):
    if ndim(a) == 0 or ndim(b) == 0:
        return sum_to(dout * b, a), sum_to(a * dout, b)
    if ndim(b) == 1:
        return tensordot_pullback(a, b, ((-1,), (-1,)), out, dout)[:2]
    return tensordot_pullback(a, b, ((-1,), (-2,)), out, dout)[:2]


def outer_pullback(a, b, out, dout):
    da = matmul(dout, reshape(b, -1))
    db = matmul(reshape(a, -1), dout)
    return sum_to(reshape(da, shape(a)), a), sum_to(reshape(db, shape(b)), b)


def trace_pullback(a, out, dout):
    i = arange(0, min(shape(a)[0], shape(a)[1]), 1)
    return (sum_to(inject(a, (i, i), spread(dout, a[i, i], 0, False)), a),)


def ndim_pullback(x, out, dout):
    return (ZERO,)


def swap_last_pullback(x, out, dout):
    return (swap_last(dout),)


def tensordot_subscripts_pullback(a, b, axes, out, dout):
    return ZERO, ZERO, ZERO


def einsum_adjoint_pullback(subscripts, k, operands, out, dout):
    return ZERO, ZERO, ZERO


def unsum_pullback(subscripts, d, x, out, dout):
    return ZERO, sum_to(einsum(subscripts, dout), d), ZERO
