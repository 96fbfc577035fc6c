# --- through a helper: f64[2, 3], f64[2, 3]
def g(a, b):
    return a @ b  # <- matmul: the shapes (2, 3) and (2, 3) do not match, 3 columns against 2 rows; given f64[2, 3], f64[2, 3]
def f(a, b):
    return g(a, b)
# --- through two helpers, one call of which is right: f64[2, 3], f64[3, 2]
def h(a, b):
    return a @ b  # <- matmul: the shapes (2, 3) and (2, 3) do not match, 3 columns against 2 rows; given f64[2, 3], f64[2, 3]
def g(a, b):
    return h(a, b)
def f(a, b):
    return np.sum(g(a, b)) + np.sum(g(a, a))
# --- in one branch: f64[3], f64[2], f64
def f(x, y, c):
    if c > 0.0:
        return np.sum(x + y)  # <- add: the shapes (3,) and (2,) do not broadcast; given f64[3], f64[2]
    return 0.0
# --- in a loop: f64[3], f64[2], i64
def f(x, y, n):
    s = 0.0
    for i in range(n):
        s = s + np.sum(x * y)  # <- mul: the shapes (3,) and (2,) do not broadcast; given f64[3], f64[2]
    return s
# --- in a closure: f64[3], f64[2]
def f(x, y):
    def g(z):
        return z + x  # <- add: the shapes (2,) and (3,) do not broadcast; given f64[2], f64[3]
    return np.sum(g(y))
# --- in a lambda: f64[3], f64[2]
def f(x, y):
    g = lambda z: z * x  # <- mul: the shapes (2,) and (3,) do not broadcast; given f64[2], f64[3]
    return g(y)
# --- in a comprehension: f64[3], f64[2]
def f(x, y):
    return [np.sum(x * y) for i in range(2)]  # <- mul: the shapes (3,) and (2,) do not broadcast; given f64[3], f64[2]
# --- after a shape of known value: f64[2, 3]
def f(a):
    m, n = a.shape
    return np.ones((n, m)) + a  # <- add: the shapes (3, 2) and (2, 3) do not broadcast; given f64[3, 2], f64[2, 3]
# --- by what a loop leaves: f64[2, 3], i64
def f(a, n):
    b = a
    for i in range(n):
        b = b * 2.0
    return b @ b  # <- matmul: the shapes (2, 3) and (2, 3) do not match, 3 columns against 2 rows; given f64[2, 3], f64[2, 3]
# --- in the function under grad: f64[2], f64[3]
def g(x, y):
    return np.sum(x * y)  # <- mul: the shapes (2,) and (3,) do not broadcast; given f64[2], f64[3]
def f(x, y):
    return g(x, y) * 2.0
# --- in a recursion: f64[3], i64
def g(x, n):
    if n == 0:
        return x
    return g(x @ x, n - 1)  # <- matmul: the shapes (2, 3) and (2, 3) do not match, 3 columns against 2 rows; given f64[2, 3], f64[2, 3]
def f(x, n):
    return g(np.ones((2, 3)), n)
# --- in a gradient inside: f64[2], f64[3]
from adjudge import grad
def g(x, y):
    return np.sum(x * y)  # <- mul: the shapes (2,) and (3,) do not broadcast; given f64[2], f64[3]
def f(x, y):
    return grad(g)(x, y)
