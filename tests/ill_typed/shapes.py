# --- sum of two lengths: f64[2], f64[3]
def f(x, y):
    return x + y  # <- add: the shapes (2,) and (3,) do not broadcast; given f64[2], f64[3]
# --- sum of a matrix and a vector of its rows: f64[2, 3], f64[2]
def f(x, y):
    z = x * 2.0
    return z + y  # <- add: the shapes (2, 3) and (2,) do not broadcast; given f64[2, 3], f64[2]
# --- comparison of two lengths: f64[2], f64[3]
def f(x, y):
    return np.all(x < y)  # <- lt: the shapes (2,) and (3,) do not broadcast; given f64[2], f64[3]
# --- where with three shapes: bool[2], f64[3], f64
def f(c, x, y):
    return np.where(c, x, y)  # <- where: the shapes (2,) and (3,) do not broadcast; given bool[2], f64[3], f64
# --- inner sizes of a product: f64[2, 3], f64[2, 3]
def f(a, b):
    return a @ b  # <- matmul: the shapes (2, 3) and (2, 3) do not match, 3 columns against 2 rows; given f64[2, 3], f64[2, 3]
# --- matrix and vector: f64[2, 3], f64[2]
def f(a, x):
    return a @ x  # <- matmul: the shapes (2, 3) and (2,) do not match, 3 columns against 2 rows; given f64[2, 3], f64[2]
# --- stacks of matrices: f64[2, 3, 3], f64[4, 3, 3]
def f(a, b):
    return np.matmul(a, b)  # <- matmul: the shapes (2,) and (4,) do not broadcast; given f64[2, 3, 3], f64[4, 3, 3]
# --- product with a scalar: f64[2, 2], f64
def f(a, c):
    return a @ c  # <- matmul of a scalar; given f64[2, 2], f64
# --- dot of two lengths: f64[2], f64[3]
def f(x, y):
    return np.dot(x, y)  # <- dot: the shapes (2,) and (3,) do not match; given f64[2], f64[3]
# --- tensordot along other sizes: f64[2, 3], f64[2, 3]
def f(a, b):
    return np.tensordot(a, b, 1)  # <- tensordot: the shapes (2, 3) and (2, 3) do not match along (1,) and (0,); given f64[2, 3], f64[2, 3]
# --- one letter, two sizes: f64[2, 3], f64[4, 3]
def f(a, b):
    return np.einsum("ij,jk->ik", a, b)  # <- einsum: the letter j stands for axes of 3 and 4; given f64[2, 3], f64[4, 3]
# --- a letter for no axis: f64[2, 3], f64[3]
def f(a, b):
    return np.einsum("ij,jk->ik", a, b)  # <- einsum: 'ij,jk->ik' 'jk' does not fit an array of 1 axes; given f64[2, 3], f64[3]
# --- subscripts for one operand: f64[2, 3], f64[3]
def f(a, b):
    return np.einsum("ij->i", a, b)  # <- einsum: 'ij->i' speaks of 1 operands, 2 are given; given f64[2, 3], f64[3]
# --- reshape loses elements: f64[2, 3]
def f(x):
    return np.reshape(x, (4,))  # <- reshape: 6 elements, shape (2, 3), do not fill the shape (4,); given f64[2, 3]
# --- reshape by an unknown side: f64[2, 3]
def f(x):
    return x.reshape(-1, 4)  # <- reshape: 6 elements, shape (2, 3), do not fill the shape (-1, 4); given f64[2, 3]
# --- reshape of a literal size: f64[6]
def f(x):
    n = len(x) // 2
    return x.reshape(n, 3)  # <- reshape: 6 elements, shape (6,), do not fill the shape (3, 3); given f64[6]
# --- broadcast to fewer axes: f64[2, 3]
def f(x):
    return np.broadcast_to(x, (3,))  # <- the shape (2, 3) does not broadcast to (3,); given f64[2, 3]
# --- concatenate other widths: f64[2, 3], f64[2, 4]
def f(x, y):
    return np.concatenate((x, y))  # <- concatenate: the shapes (2, 3), (2, 4) differ off axis 0; given tuple[f64[2, 3], f64[2, 4]]
# --- concatenate other ranks: f64[2, 3], f64[3]
def f(x, y):
    return np.concatenate((x, y), axis=0)  # <- concatenate: the shapes (2, 3), (3,) differ off axis 0; given tuple[f64[2, 3], f64[3]]
# --- concatenate scalars: f64, f64
def f(x, y):
    return np.concatenate((x, y))  # <- concatenate of arrays without axes; given tuple[f64, f64]
# --- stack other shapes: f64[2], f64[3]
def f(x, y):
    return np.stack((x, y))  # <- concatenate: the shapes (1, 2), (1, 3) differ off axis 0; given tuple[f64[2], f64[3]]
# --- rows of two lengths: f64, f64
def f(x, y):
    return np.array(((x, y), (x, y, x)))  # <- array: the rows have different lengths; given tuple[tuple[f64, f64], tuple[f64, f64, f64]]
# --- squeeze of a wide axis: f64[2, 1]
def f(x):
    return np.squeeze(x, axis=0)  # <- squeeze: an axis of (2, 1) named by 0 has not size 1; given f64[2, 1]
# --- transpose without all axes: f64[2, 3, 4]
def f(x):
    return np.transpose(x, (1, 0))  # <- transpose: (1, 0) does not name all 3 axes; given f64[2, 3, 4]
# --- determinant of no square: f64[2, 3]
def f(a):
    return np.linalg.det(a)  # <- det of an array of shape (2, 3); given f64[2, 3]
# --- inverse of a vector: f64[3]
def f(a):
    return np.linalg.inv(a)  # <- inv of an array of shape (3,); given f64[3]
# --- solve with other rows: f64[3, 3], f64[2]
def f(a, b):
    return np.linalg.solve(a, b)  # <- solve: the shapes (3, 3) and (2,) do not match; given f64[3, 3], f64[2]
# --- cholesky of no square: f64[3, 2]
def f(a):
    return np.linalg.cholesky(a)  # <- cholesky of an array of shape (3, 2); given f64[3, 2]
# --- trace of a vector: f64[3]
def f(a):
    return np.trace(a)  # <- trace of an array of shape (3,); given f64[3]
# --- diagonal of three axes: f64[2, 2, 2]
def f(a):
    return np.diag(a)  # <- diag of an array of shape (2, 2, 2); given f64[2, 2, 2]
# --- triangle of a vector: f64[3]
def f(x):
    return np.tril(x)  # <- tril of an array of shape (3,); given f64[3]
# --- maximum of nothing: f64[0]
def f(x):
    return np.max(x)  # <- reduce_max of no elements; given f64[0]
# --- place of the largest of nothing: f64[2, 0]
def f(x):
    return np.argmax(x, axis=1)  # <- argmax of no elements; given f64[2, 0]
# --- truth of several elements: f64[2]
def f(x):
    if x:  # <- the truth of an array of 2 elements; given f64[2]
        return 1.0
    return 0.0
# --- length of an array without axes: f64[]
def f(x):
    return len(x)  # <- len of an array without axes; given f64[]
# --- unpacking of three into two: f64[3]
def f(x):
    a, b = x  # <- cannot unpack an array of 3 into 2 names; given f64[3]
    return a + b
# --- the shape of another argument: f64[3, 4], f64[4]
def f(a, x):
    return np.ones(a.shape) @ np.ones(a.shape)  # <- matmul: the shapes (3, 4) and (3, 4) do not match, 4 columns against 3 rows; given f64[3, 4], f64[3, 4]
