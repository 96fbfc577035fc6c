"""
Products of matrices in fast code: helpers of generated code, in place of those of `backend.arrays.products`.

An inner product goes in any order, by `_any_product`; where it is not finite, it is taken again from the left. Two rows of a
product of matrices are gone over together, k ascending, by `_next_product`, which may leave out the rounding of each product. At
the sizes of `bench.array_gradients` this takes the time of BLAS, needs no library, and starts no threads.
"""

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
    "_fast_vector_matrix": """
def _fast_vector_matrix(a, b, c):
    inner, columns = b.shape
    whole = inner - inner % 4
    for j in range(columns):
        c[j] = -0.0
    for k in range(0, whole, 4):
        p = float(a[k])
        q = float(a[k + 1])
        r = float(a[k + 2])
        s = float(a[k + 3])
        for j in range(columns):
            t = _next_product(float(c[j]), p, float(b[k, j]))
            t = _next_product(t, q, float(b[k + 1, j]))
            t = _next_product(t, r, float(b[k + 2, j]))
            c[j] = _next_product(t, s, float(b[k + 3, j]))
    for k in range(whole, inner):
        p = float(a[k])
        for j in range(columns):
            c[j] = _next_product(float(c[j]), p, float(b[k, j]))
""",
    "_fast_matrix_matrix": """
def _fast_matrix_matrix(a, b, c):
    rows, columns = c.shape
    inner = b.shape[0]
    whole = inner - inner % 4
    pairs = rows - rows % 2
    for i in range(0, pairs, 2):
        for j in range(columns):
            c[i, j] = -0.0
            c[i + 1, j] = -0.0
        for k in range(0, whole, 4):
            p = float(a[i, k])
            q = float(a[i, k + 1])
            r = float(a[i, k + 2])
            s = float(a[i, k + 3])
            t = float(a[i + 1, k])
            u = float(a[i + 1, k + 1])
            v = float(a[i + 1, k + 2])
            w = float(a[i + 1, k + 3])
            for j in range(columns):
                e = float(b[k, j])
                f = float(b[k + 1, j])
                g = float(b[k + 2, j])
                h = float(b[k + 3, j])
                x = _next_product(_next_product(float(c[i, j]), p, e), q, f)
                y = _next_product(_next_product(float(c[i + 1, j]), t, e), u, f)
                c[i, j] = _next_product(_next_product(x, r, g), s, h)
                c[i + 1, j] = _next_product(_next_product(y, v, g), w, h)
        for k in range(whole, inner):
            p = float(a[i, k])
            q = float(a[i + 1, k])
            for j in range(columns):
                e = float(b[k, j])
                c[i, j] = _next_product(float(c[i, j]), p, e)
                c[i + 1, j] = _next_product(float(c[i + 1, j]), q, e)
    if pairs < rows:
        _fast_vector_matrix(a[pairs], b, c[pairs])
""",
}
USES = {"_fast_matrix_matrix": ("_fast_vector_matrix",)}
