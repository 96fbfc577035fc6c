# --- arithmetic of booleans: bool[2], bool[2]
def f(x, y):
    return x + y  # <- add of booleans only
# --- a boolean among numbers: f64[2], bool
def f(x, b):
    return x * b  # <- mul wants numbers, found bool
# --- not of reals: f64[2]
def f(x):
    return np.logical_not(x)  # <- not_ wants an array of booleans, found f64[2]
# --- and of integers: i64[2], bool[2]
def f(x, y):
    return np.logical_and(x, y)  # <- and_ wants an array of booleans, found i64[2]
# --- not by an operator of reals: f64[2]
def f(x):
    return ~x  # <- not_ wants an array of booleans, found f64[2]
# --- of one boolean, which Python takes for an integer: bool
def f(b):
    return ~b  # <- getitem wants a tuple, a list or an array, found bool
# --- and the bits of integers: i64[2], i64[2]
def f(x, y):
    return x & y  # <- and_ wants an array of booleans, found i64[2]
# --- of a tested number: f64
def f(x):
    return x > 0 & (x < 1)  # <- and_ wants boolean arguments, found i64
# --- where on reals: f64[2], f64[2]
def f(c, x):
    return np.where(c, x, 0.0)  # <- where wants an array of booleans, found f64[2]
# --- a tuple in mathematics: tuple[f64, f64]
def f(t):
    return np.exp(t)  # <- exp wants numbers, found tuple[f64, f64]
# --- None in mathematics: f64[2]
def f(x):
    return x + None  # <- add wants numbers or arrays, found unit
# --- a product of booleans: bool[2, 2], bool[2, 2]
def f(a, b):
    return a @ b  # <- matmul of booleans only
# --- an array of None: f64
def f(x):
    return np.array((x, None))  # <- array wants numbers in equally long rows, found unit
# --- an array of rows and numbers: f64
def f(x):
    return np.array((x, (x, x)))  # <- array wants numbers in equally long rows, found tuple[f64, tuple[f64, f64]]
# --- full of a vector: f64[2]
def f(x):
    return np.full(3, x)  # <- full wants a number to fill with, found f64[2]
# --- a real size: f64
def f(x):
    return np.zeros(x)  # <- full wants a shape: an integer or a tuple of integers, found f64
# --- a negative size: f64
def f(x):
    return np.zeros((2, -1)) * x  # <- full: the shape (2, -1) has a negative size; given f64
# --- a real number of points: f64
def f(x):
    return np.linspace(0.0, x, 2.5)  # <- linspace wants an integer number of points, found f64
# --- a range of reals: f64
def f(x):
    return np.arange(0.0, x, 1)  # <- arange wants an integer bound, found f64
# --- a range of step 0: i64
def f(n):
    return np.arange(0, n, 0)  # <- arange with step 0; given i64
# --- keepdims is a number: f64[2]
def f(x):
    return np.sum(x, axis=0, keepdims=1)  # <- reduce_sum wants a boolean keepdims, found i64
# --- roll by a real: f64[3], f64
def f(x, s):
    return np.roll(x, s)  # <- roll wants an integer shift, found f64
# --- unequal shifts and axes: f64[3, 3]
def f(x):
    return np.roll(x, (1, 2), 0)  # <- roll wants as many shifts as axes, found tuple[i64, i64]
# --- subscripts that are no string: f64[2]
def f(x):
    return np.einsum(x, x)  # <- einsum wants subscripts, found f64[2]
# --- solve of a tuple: f64[2, 2], tuple[f64, f64]
def f(a, b):
    return np.linalg.solve(a, b)  # <- solve wants an array, found tuple[f64, f64]
# --- an array is no function: f64[2]
def f(x):
    return x(0)  # <- f64[2] is not a function
# --- an array and a record: f64[2], list[f64]
def f(x, t):
    return x * t  # <- mul wants numbers or arrays, found list[f64]
