"""
Rules of autograd, right and wrong, for `adjudge check examples/autograd_rules.py`. What the judge should say stands beside each.
"""

import autograd.numpy as np
from autograd.extend import defvjp, primitive
from autograd.numpy.numpy_vjps import unbroadcast_f


@primitive
def hypotenuse(x, y):
    """sqrt(x**2 + y**2), broadcast. Right."""
    return np.sqrt(x * x + y * y)


defvjp(
    hypotenuse,
    lambda out, x, y: unbroadcast_f(x, lambda d: d * x / out),
    lambda out, x, y: unbroadcast_f(y, lambda d: d * y / out),
)


@primitive
def scaled(x, y):
    """A fault: where y is broadcast, its cotangent has the shape of x."""
    return x * y


defvjp(scaled, lambda out, x, y: unbroadcast_f(x, lambda d: d * y), lambda out, x, y: lambda d: d * x)


@primitive
def logsumexp(x):
    """A fault: of a matrix, only the first row has its cotangent."""
    top = np.max(x)
    return np.log(np.sum(np.exp(x - top))) + top


def first_row(out, x):
    def pullback(d):
        found = np.exp(x - out) * d
        return found if x.ndim < 2 else np.concatenate([found[:1], 0.0 * found[1:]])

    return pullback


defvjp(logsumexp, first_row)

PAIR = np.array([[3.0, 1.0, -2.0], [0.5, 4.0, 1.0]])
ADJUDGE = {
    "hypotenuse": {
        "samples": [(PAIR, PAIR + 1.0), (PAIR, np.array([1.0, 2.0, 3.0]))],
        "domain": lambda x, y: np.all(x * x + y * y > 0.0),
    },
    "scaled": {"samples": [(PAIR, np.array([1.0, 2.0, 3.0]))]},
    "logsumexp": {"samples": [(PAIR,)]},
}
