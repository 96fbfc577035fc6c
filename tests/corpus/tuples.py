# ruff: noqa
"""Tuples, unpacking, indices."""


def packed(x):
    t = (x, x * x, 2.0)
    return t[0] * t[1] + t[-1]


def unpacked(x):
    a, b = (x * 2.0, x * x)
    return a * b


def nested_tuple(x):
    t = ((x, 1.0), (x * x, (x, 3.0)))
    (a, b), (c, (d, e)) = t
    return a * b + c * d + e * x


def returned_tuple(x):
    def both(y):
        return y * y, y + 1.0

    a, b = both(x)
    return a * b


def tuple_argument(x):
    def dot(u, v):
        return u[0] * v[0] + u[1] * v[1]

    u = (x, 2.0)
    return dot(u, u)


def exchanged(x):
    a, b = x, 1.0 + x
    a, b = b, a
    return a - b * b


def unused_element(x):
    t = (x, x * 1e308 * 1e10)
    return t[0] ** 2


def tuple_of_a_branch(x):
    t = (x, 1.0) if x > 0.0 else (1.0, x)
    return t[0] * 3.0 + t[1] * x


def sum_of_elements(x):
    total = 0.0
    for y in (x, 2.0 * x, x * x):
        total += y
    return total
