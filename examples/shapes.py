"""Programs to infer: `adjudge infer examples/shapes.py:network 'f64[3]' 'f64[3, 5]' 'f64[5]'`."""

import numpy as np


def network(x, w, b):
    return np.sum(np.tanh(x @ w + b))


def halves(x):
    n = x.shape[0]
    if n == 1:
        return x[0]
    return halves(x[: n // 2]) + halves(x[n // 2 :])


def grows(x, n):
    y = x
    for _ in range(n):
        y = np.concatenate((y, x))
    return y
