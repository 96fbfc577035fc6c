# ruff: noqa
"""Closures, functions as values, recursion."""

import math


def captured(x):
    def g(y):
        return x * y

    return g(3.0) + g(x)


def captured_through_a_call(x):
    a = x * x

    def g(y):
        return y * a

    def h(z):
        return g(z) + 1.0

    return h(2.0)


def captured_through_two_calls(x):
    a = x + 1.0

    def inner(y):
        return y * a

    def middle(z):
        return inner(z)

    def outer(w):
        return middle(w) * middle(w)

    return outer(x)


def aliased_arguments(x):
    def g(a, b, c):
        return a * b + c

    return g(x, x, x)


def curried(x):
    def add(a):
        return lambda b: a * b + x

    return add(x)(2.0)


def twice(x):
    def apply_twice(f, y):
        return f(f(y))

    return apply_twice(lambda y: y * x, x)


def composed(x):
    def compose(f, g):
        return lambda y: f(g(y))

    return compose(lambda y: y * y, lambda y: y + x)(x)


def church_three(x):
    def successor(n):
        return lambda f: lambda y: f(n(f)(y))

    def zero(f):
        return lambda y: y

    three = successor(successor(successor(zero)))
    return three(lambda y: y * x)(1.0)


def church_product(x):
    def two(f):
        return lambda y: f(f(y))

    def times(m, n):
        return lambda f: m(n(f))

    return times(two, two)(lambda y: y * x)(x)


def functions_in_a_tuple(x):
    fs = (lambda y: y * y, lambda y: y * x)
    return fs[0](x) + fs[1](2.0)


def chosen_function(x):
    def square(y):
        return y * y

    def cube(y):
        return y * y * y

    f = square if x > 0.0 else cube
    return f(x)


def defaults(x):
    def g(a, b=2.0, c=3.0):
        return a * b * c

    return g(x) + g(x, c=x)


def keywords(x):
    def g(a, b):
        return a / b

    return g(b=2.0, a=x * x)


def recursive_power(x):
    def power(y, n):
        if n <= 0:
            return 1.0
        return y * power(y, n - 1)

    return power(x, 5)


def recursion_through_a_closure(x):
    def go(n):
        if n <= 0:
            return x
        return go(n - 1) * x

    return go(3)


def mutual_recursion(x):
    def even(n, y):
        return y if n <= 0 else odd(n - 1, y * x)

    def odd(n, y):
        return y + 1.0 if n <= 0 else even(n - 1, y + x)

    return even(4, 1.0)


def tree_recursion(x):
    def fib(n):
        if n < 2:
            return x
        return fib(n - 1) + fib(n - 2) * x

    return fib(4)


def knot_by_self_application(x):
    def step(self, n):
        return 1.0 if n <= 0 else x * self(self, n - 1)

    return step(step, 3)


def continuation_passing(x):
    def power(n, k):
        if n <= 0:
            return k(1.0)
        return power(n - 1, lambda y: k(y * x))

    return power(3, lambda y: y + x)


def accumulated_closure(x):
    f = lambda y: y
    g = lambda y: f(y) * x
    h = lambda y: g(y) * x
    return h(x)


def closure_made_in_a_loop(x):
    total = 0.0
    for i in range(3):
        total = total + (lambda y: y * x)(x * i)
    return total


def loop_over_functions(x):
    y = x
    for f in (math.sin, lambda z: z * x):
        y = f(y)
    return y


def unused_function(x):
    def g(y):
        return y * 1e308 * 1e10

    return x * x
