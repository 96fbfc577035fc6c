"""Lists, tuples, dictionaries; comprehensions and the builtins that consume sequences."""

import math

import numpy as np


def list_of_reals(xs):
    """[0.5, -2.0, 3.0]"""
    return xs[0] * xs[-1] + xs[1] * len(xs)


def sum_of_list(xs):
    """[0.5, -2.0, 3.0]
    (1.0, 2.0)"""
    return sum(x * x for x in xs) + sum(xs, 1.0)


def comprehension(xs):
    """[0.5, -2.0, 3.0]"""
    ys = [x * xs[0] for x in xs if x > 0]
    return sum(ys) * len(ys) + max(ys)


def nested_comprehension(xs):
    """(0.5, -2.0, 3.0)"""
    products = [x * y for x in xs for y in xs if x < y]
    return sum(products) + products[0]


def matrix_of_lists(m):
    """[[0.5, -2.0], [3.0, 1.0]]"""
    columns = [[row[j] for row in m] for j in range(2)]
    return sum(a * b for a, b in zip(columns[0], columns[1])) + columns[0][1] ** 2


def zipped(xs, ys):
    """(0.5, -2.0, 3.0), (1.0, 2.0, -1.0)"""
    total = 0.0
    for x, y in zip(xs, ys):
        total = total + x * y * y
    return total


def enumerated(xs):
    """(0.5, -2.0, 3.0)"""
    total = 1.0
    for i, x in enumerate(xs, 1):
        total = total + x**i
    return total


def reversed_horner(coefficients, x):
    """(0.5, -2.0, 3.0), 0.75"""
    value = 0.0
    for c in reversed(coefficients):
        value = value * x + c
    return value


def mapped(xs):
    """(0.5, 2.0, 3.0)"""
    return sum(map(lambda x: math.log(x) * x, xs)) + sum(filter(lambda x: x > 1.0, xs))


def any_and_all(xs):
    """(0.5, -2.0, 3.0)
    (0.5, 2.0)"""
    if any(x < 0 for x in xs):
        return sum(x * x for x in xs)
    if all(x > 0 for x in xs):
        return sum(math.sqrt(x) for x in xs)
    return 0.0


def extremes(xs):
    """(0.5, -2.0, 3.0)"""
    return max(xs) * min(xs) + max(xs[0], xs[1], 0.25) ** 2 + min(x * x for x in xs)


def slices(xs):
    """(0.5, -2.0, 3.0, 1.0)"""
    first, *rest = xs
    return sum(xs[1:3]) * first + sum(a * b for a, b in zip(xs[::-1], rest)) + xs[-2:][0] ** 2


def spread(xs):
    """(0.5, -2.0)"""
    ys = (*xs, xs[0] * xs[1], *xs[:1])
    return ys[2] * ys[3] + len([*xs, *ys])


def star_arguments(xs):
    """(0.5, -2.0, 3.0)"""

    def product(first, *others, scale=2.0):
        result = first
        for x in others:
            result = result * x * scale
        return result

    return product(*xs) + product(xs[0], xs[1], scale=xs[2])


def dictionary(d):
    """{"a": 0.5, "b": -2.0}"""
    return d["a"] * d["b"] + sum(d.values()) ** 2 + len(d)


def dictionary_in_a_loop(x):
    """0.75"""
    state = {"position": x, "velocity": 1.0}
    for _ in range(3):
        a = -state["position"]
        state = {"position": state["position"] + 0.25 * state["velocity"], "velocity": state["velocity"] + 0.25 * a}
    return state["position"] ** 2 + state["velocity"] ** 2


def dictionary_of_parameters(p, x):
    """{"w": array([0.5, -1.0]), "b": 0.25}, array([2.0, 1.0])"""
    return math.tanh(np.sum(p["w"] * x) + p["b"]) ** 2


def dictionary_items(d):
    """{"a": 0.5, "b": -2.0}"""
    total = 0.0
    for key, value in d.items():
        total = total + value * value * (2.0 if key == "a" else value)
    return total


def tuple_of_tuples(t):
    """((0.5, (-2.0, 3.0)), 1.5)"""
    (a, (b, c)), d = t
    return a * b + c * d * a


def loop_over_pairs(points):
    """((0.0, 0.5), (1.0, -2.0), (2.5, 3.0))"""
    area = 0.0
    for i in range(len(points) - 1):
        (x0, y0), (x1, y1) = points[i], points[i + 1]
        area = area + (x1 - x0) * (y0 + y1) / 2.0
    return area


def functions_in_a_list(x):
    """0.75"""
    functions = [math.sin, math.exp, lambda t: t * t * x]
    value = x
    for f in functions:
        value = f(value)
    return value


def membership(xs, n):
    """(0.5, -2.0), 3"""
    return xs[0] * 2.0 if n in (1, 3, 5) else xs[1]
