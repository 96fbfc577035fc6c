"""
Backpropagators of linear algebra. Read by our parser; the names are those of the rows.

    det        dout · adj(a)ᵀ: also of a singular matrix, by minors, exact at every order
    slogdet    dlog · inv(a)ᵀ: none of a singular matrix, where it traps
    cholesky   of the function of the lower triangle that it is: the upper triangle, which is not read, gets 0.
               d + dᵀ with the diagonal halved is the symmetric convention of others
"""


def solve_pullback(a, b, out, dout):
    d = like(dout, out)
    if ndim(b) == 1:
        db = solve(swap_last(a), expand_dims(d, -1))
        da = matmul(db, expand_dims(out, -2))
        return sum_to(-da, a), sum_to(squeeze(db, -1), b)
    db = solve(swap_last(a), d)
    return sum_to(-matmul(db, swap_last(out)), a), sum_to(db, b)


def inv_pullback(a, out, dout):
    t = swap_last(out)
    return (sum_to(-matmul(matmul(t, dout), t), a),)


def det_pullback(a, out, dout):
    if reduce_all(out != 0.0, None, False):
        cofactors = expand_dims(out, (-2, -1)) * swap_last(inv(a))
    else:
        cofactors = by_minors(a)
    return (sum_to(expand_dims(dout, (-2, -1)) * cofactors, a),)


def by_minors(a):
    n = shape(a)[-1]
    all_ = arange(0, n, 1)
    fewer = arange(0, n - 1, 1)
    without = fewer + where(fewer >= expand_dims(all_, -1), 1, 0)
    minors = a[..., expand_dims(without, (1, 3)), expand_dims(without, (0, 2))]
    signs = where((expand_dims(all_, -1) + all_) % 2 == 0, 1.0, -1.0)
    return det(minors) * signs


def slogdet_pullback(a, out, dout):
    d = expand_dims(dout[1], (-2, -1)) * eye(shape(a)[-1], shape(a)[-1], 0)
    return (sum_to(solve(swap_last(a), d), a),)


def cholesky_pullback(a, out, dout):
    halves = 1.0 - 0.5 * eye(shape(a)[-1], shape(a)[-1], 0)
    t = swap_last(out)
    inner = tril(matmul(t, tril(dout, 0)), 0) * halves
    s = swap_last(solve(t, swap_last(solve(t, inner))))
    return (sum_to(tril(s + swap_last(s), 0) * halves, a),)
