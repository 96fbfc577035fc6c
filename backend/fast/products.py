"""
Products of matrices in fast code: helpers of generated code, in place of those of `backend.arrays.products`.

An inner product goes in any order, by `_any_product`; where it is not finite, it is taken again from the left. A product with the
rows of a matrix is that of the exact code, but for `_any_tile` and `_any_strip`, which may leave out the rounding of each product;
where one of its elements is not finite, all are those of the exact code: a product that is not rounded cannot overflow, so the sum
of two of opposite signs may be infinite where it is NaN. It needs no library, and starts no threads.
"""

from __future__ import annotations

from backend.arrays.products import matrix_matrix, vector_matrix

VECTOR = """\
    rest = 0.0
    for k in range(c.shape[0]):
        rest = _any_term(rest, c[k] - c[k])
    if not (rest == 0.0):
        _vector_matrix(a, b, c)
"""
MATRIX = """\
    rest = 0.0
    for i in range(c.shape[0]):
        for k in range(c.shape[1]):
            rest = _any_term(rest, c[i, k] - c[i, k])
    if not (rest == 0.0):
        _matrix_matrix(a, b, c)
"""
"""What makes an exact product of one that is not finite."""

SOURCES = {
    "_fast_vector_vector": """
def _fast_vector_vector(a, b):
    t = -0.0
    for k in range(a.shape[0]):
        t = _any_product(t, float(a[k]), float(b[k]))
    if not (t - t == 0.0):
        t = -0.0
        for k in range(a.shape[0]):
            t = t + _mul(float(a[k]), float(b[k]))
    return t
""",
    "_fast_matrix_vector": """
def _fast_matrix_vector(a, b, c):
    for i in range(a.shape[0]):
        t = -0.0
        for k in range(b.shape[0]):
            t = _any_product(t, float(a[i, k]), float(b[k]))
        if not (t - t == 0.0):
            t = -0.0
            for k in range(b.shape[0]):
                t = t + _mul(float(a[i, k]), float(b[k]))
        c[i] = t
""",
    "_fast_vector_matrix": vector_matrix("_fast_vector_matrix", "_any_strip") + VECTOR,
    "_fast_matrix_matrix": matrix_matrix("_fast_matrix_matrix", "_any_tile", "_fast_vector_matrix") + MATRIX,
}
USES = {"_fast_vector_matrix": ("_vector_matrix",), "_fast_matrix_matrix": ("_fast_vector_matrix", "_matrix_matrix")}
