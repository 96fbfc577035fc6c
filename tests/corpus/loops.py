# ruff: noqa
"""Loops of no, one and several turns."""

import math


def power_by_loop(x):
    y = 1.0
    i = 0
    while i < 4:
        y = y * x
        i = i + 1
    return y


def zero_trips(x):
    y = x * x
    while y < -1.0:
        y = y * 2.0
    for i in range(0):
        y = y * i
    return y


def one_trip(x):
    y = x
    for i in range(1):
        y = y * x + i
    return y


def swapped(x):
    a = x
    b = 1.0
    for i in range(4):
        a, b = b, a * x
    return a * 2.0 + b


def fibonacci(x):
    a, b = 0.0, x
    for i in range(5):
        a, b = b, a + b
    return a * b


def doubling_until(x):
    y = x
    while y < 10.0:
        y = y * 2.0
    return y * y


def with_break(x):
    y = 1.0
    for i in range(10):
        if i == 3:
            break
        y = y * x
    return y


def with_continue(x):
    y = 0.0
    for i in range(6):
        if i % 2 == 1:
            continue
        y = y + i * x**2
    return y


def return_from_loop(x):
    y = x
    for i in range(10):
        y = y * x
        if i >= 2:
            return y
    return 0.0


def stepped(x):
    y = 0.0
    for i in range(6, 0, -2):
        y = y * x + i
    return y


def over_a_tuple(x):
    total = 0.0
    for c in (1.0, x, x * x):
        total = total + c * x
    return total


def nested_loops(x):
    total = 0.0
    for i in range(3):
        for j in range(i):
            total = total + i * x**2 + j * x
    return total


def carried_tuple(x):
    state = (x, 1.0)
    for i in range(3):
        state = (state[0] * state[1], state[1] + x)
    return state[0]


def break_in_inner(x):
    y = 1.0
    for i in range(3):
        for j in range(5):
            if j > i:
                break
            y = y * x
    return y


def loop_with_branch(x):
    y = 0.0
    for i in range(4):
        if i % 2 == 0:
            y = y + x**2
        else:
            y = y * 2.0
    return y


def series_of_exp(x):
    term, total = 1.0, 1.0
    for i in range(1, 5):
        term = term * x / i
        total = total + term
    return total


def sine_twice(x):
    y = x
    for i in range(2):
        y = math.sin(y)
    return y


def while_true(x):
    y, i = x, 0
    while True:
        i += 1
        if i > 3:
            break
        if i == 2:
            continue
        y *= x
    return y
