"""Mutable idioms inside a function: lists that grow, cells that accumulate, elements assigned."""

import math


def appended(x):
    """0.75"""
    xs = []
    for k in range(4):
        xs.append(x**k)
    return sum(xs) * xs[-1]


def appended_and_popped(x):
    """0.75"""
    stack = []
    for k in range(4):
        stack.append(x + k)
    product = 1.0
    while len(stack) > 1:
        product = product * stack.pop() + x
    return product * stack[0]


def cell(x):
    """0.75"""
    total = [0.0]

    def add(y):
        total[0] = total[0] + y * y

    add(x)
    add(x * 3.0)
    return total[0] * x


def elements_assigned(x):
    """0.75"""
    xs = [x, x * x, 1.0]
    xs[2] = xs[0] * xs[1]
    xs[0] += xs[2]
    return xs[0] * xs[2]


def aliased(x):
    """0.75"""
    xs = [x]
    ys = xs
    ys.append(x * x)
    xs[0] = 2.0
    return ys[0] * xs[1]


def table_of_values(x):
    """0.75"""
    f = [0.0, x]
    for k in range(2, 6):
        f.append(f[k - 1] * x + f[k - 2])
    return f[5]


def pow_with_a_stack(x):
    """0.75"""
    trace = []
    r = 1.0
    for _ in range(3):
        trace.append(r)
        r = r * x
    total = 0.0
    for value in trace:
        total = total + value * r
    return total


def conditional_append(xs):
    """(0.5, -2.0, 3.0)"""
    positive = []
    negative = []
    for x in xs:
        if x > 0:
            positive.append(math.log(x))
        else:
            negative.append(x * x)
    return sum(positive) * len(negative) + sum(negative)


def swapped_elements(x, y):
    """0.75, 2.0"""
    xs = [x, y, x * y]
    for i in range(2):
        xs[i], xs[i + 1] = xs[i + 1], xs[i]
    return xs[0] * 3.0 + xs[2] * xs[1]


def bubble_sorted(values):
    """(0.5, -2.0, 3.0, 1.0)"""
    xs = list(values)
    for i in range(len(xs)):
        for j in range(len(xs) - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return xs[0] * xs[1] + xs[2] * xs[3] ** 2
