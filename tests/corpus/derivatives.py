# ruff: noqa
"""Derivatives inside programs. CPython cannot run these: `grad` belongs to the language."""

import math

from adjudge import grad


def perturbation_confusion(x):
    return x * grad(lambda y: x + y)(1.0)


def perturbation_confusion_of_products(x):
    return x * grad(lambda y: x * y)(2.0)


def nested_three_deep(x):
    return grad(lambda y: y * grad(lambda z: z * z * x * y)(3.0))(2.0)


def derivative_of_sine(x):
    return grad(math.sin)(x)


def second_derivative(x):
    return grad(grad(lambda y: y**4))(x)


def third_derivative_of_sine(x):
    return grad(grad(grad(lambda y: math.sin(y))))(x)


def grad_in_a_loop(x):
    y = x
    for i in range(2):
        y = grad(lambda z: z * z * z)(y)
    return y


def grad_of_a_loop(x):
    def power(y):
        r = 1.0
        for i in range(4):
            r = r * y
        return r

    return grad(power)(x)


def grad_of_a_recursion(x):
    def power(y, n):
        return 1.0 if n <= 0 else y * power(y, n - 1)

    return grad(lambda y: power(y, 3))(x)


def grad_passed_a_function(x):
    def slope(f, y):
        return grad(f)(y)

    return slope(lambda y: y * y * x, x)


def grad_under_a_branch(x):
    return grad(lambda y: y * y if y > 1.0 else y * y * y)(x)


def newton_step(x):
    def f(y):
        return y * y - 2.0

    return x - f(x) / grad(f)(x)


def grad_of_a_captured_closure(x):
    def g(y):
        return y * x

    return grad(lambda z: g(z) * g(z))(2.0)
