# --- index beyond the end: f64[3]
def f(x):
    return x[3]  # <- index 3 is outside an axis of 3 in an array of shape (3,); given f64[3]
# --- index before the start: f64[3]
def f(x):
    return x[-4] * 2.0  # <- index -4 is outside an axis of 3 in an array of shape (3,); given f64[3]
# --- index of a matrix: f64[2, 3]
def f(x):
    return x[1, 3]  # <- index 3 is outside an axis of 3 in an array of shape (2, 3); given f64[2, 3]
# --- row beyond the end: f64[2, 3]
def f(x):
    return np.sum(x[2])  # <- index 2 is outside an axis of 2 in an array of shape (2, 3); given f64[2, 3]
# --- index of an empty array: f64[0]
def f(x):
    return x[0]  # <- index 0 is outside an axis of 0 in an array of shape (0,); given f64[0]
# --- too many indices: f64[3]
def f(x):
    return x[0, 0]  # <- 2 indices for an array of 1 axes, shape (3,); given f64[3]
# --- two ellipses: f64[2, 2]
def f(x):
    return x[..., 0, ...]  # <- an index has two ...
# --- a real as index: f64[3], f64
def f(x, i):
    return x[i]  # <- f64 is no index of an array
# --- reals as indices: f64[3], f64[2]
def f(x, i):
    return x[i]  # <- f64[2] is no index of an array
# --- a mask of another length: f64[3], bool[2]
def f(x, m):
    return x[m]  # <- a boolean index of shape (2,) on axes of shape (3,); given f64[3], bool[2]
# --- a mask of more axes: f64[3], bool[3, 3]
def f(x, m):
    return x[m]  # <- a boolean index of shape (3, 3) on axes of shape (3,); given f64[3], bool[3, 3]
# --- indices that do not broadcast: f64[4, 4], i64[2], i64[3]
def f(x, i, j):
    return x[i, j]  # <- getitem: the shapes (2,) and (3,) do not broadcast; given f64[4, 4], tuple[i64[2], i64[3]]
# --- an axis that is not there: f64[2, 3]
def f(x):
    return np.sum(x, axis=2)  # <- reduce_sum: axis 2 of an array of 2 axes; given f64[2, 3]
# --- an axis named twice: f64[2, 3]
def f(x):
    return np.sum(x, axis=(0, -2))  # <- reduce_sum: an axis is named twice in (0, -2); given f64[2, 3]
# --- an axis of a scalar: f64
def f(x):
    return np.cumsum(x, axis=1)  # <- cumsum: axis 1 of an array of 0 axes; given f64
# --- an axis that is a real: f64[2, 3]
def f(x):
    return np.mean(x, axis=0.0)  # <- mean wants an axis: an integer, a tuple of integers or None, found f64
# --- expand beyond the rank: f64[2]
def f(x):
    return np.expand_dims(x, 3)  # <- expand_dims: axis 3 of an array of 2 axes; given f64[2]
# --- flip along no axis of it: f64[2]
def f(x):
    return np.flip(x, 1)  # <- flip: axis 1 of an array of 1 axes; given f64[2]
# --- concatenate along no axis of them: f64[2], f64[2]
def f(x, y):
    return np.concatenate((x, y), axis=1)  # <- concatenate: axis 1 of an array of 1 axes; given tuple[f64[2], f64[2]]
# --- take along no axis of it: f64[2], i64[1]
def f(x, i):
    return np.take(x, i, axis=1)  # <- take: axis 1 of an array of 1 axes; given f64[2], i64[1]
# --- take by reals: f64[2], f64[1]
def f(x, i):
    return np.take(x, i)  # <- take wants an integer, or an array or a list of integers, found f64[1]
