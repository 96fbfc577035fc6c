"""Records: NamedTuples, frozen dataclasses, methods, trees."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np


class Point(NamedTuple):
    x: float
    y: float = 1.5

    def norm2(self):
        return self.x * self.x + self.y * self.y

    def plus(self, other):
        return Point(self.x + other.x, self.y + other.y)


@dataclass(frozen=True)
class Complex:
    re: float
    im: float

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def __mul__(self, other):
        return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    @property
    def square_modulus(self):
        return self.re * self.re + self.im * self.im


@dataclass(frozen=True)
class Layer:
    weight: object
    bias: object

    def __call__(self, x):
        return np.tanh(self.weight @ x + self.bias)


@dataclass(frozen=True)
class Leaf:
    value: float


@dataclass(frozen=True)
class Node:
    left: object
    right: object
    weight: float


def fields(p):
    """Point(2.0, -0.5)"""
    return p.x * p.y + p.x**3


def default_field(x):
    """2.0"""
    p = Point(x)
    return p.x * p.y * p.y + p.norm2()


def by_position(p):
    """Point(2.0, -0.5)"""
    x, y = p
    return x * y + p[0] * p[1] * p[-1]


def keyword_fields(x, y):
    """2.0, -0.5"""
    p = Point(y=x, x=y * y)
    return p.norm2() * p.x


def method_calls_method(p, q):
    """Point(2.0, -0.5), Point(0.25, 3.0)"""
    return p.plus(q).norm2() * p.norm2()


def replaced(c):
    """Complex(2.0, -0.5)"""
    d = replace(c, im=c.re * c.im)
    return d.re * d.im + c.im


def replaced_named(p):
    """Point(2.0, -0.5)"""
    return p._replace(x=p.y * 3.0).norm2() + p.x


def operators_of_class(a, b):
    """Complex(2.0, -0.5), Complex(0.25, 1.0)"""
    c = a * b + a
    return c.square_modulus + (c * c).re


def power_of_complex(a):
    """Complex(0.75, -0.5)"""
    z = Complex(1.0, 0.0)
    for _ in range(4):
        z = z * a + a
    return z.square_modulus


def mandelbrot_escape(c):
    """Complex(0.5, 0.75)"""
    z = Complex(0.0, 0.0)
    n = 0
    while z.square_modulus < 4.0 and n < 6:
        z = z * z + c
        n = n + 1
    return z.re * z.im + n


def record_of_arrays(layer, x):
    """Layer(array([[0.5, -0.25], [1.0, 0.75]]), array([0.1, -0.2])), array([1.5, -0.5])"""
    return np.sum(layer(x) ** 2)


def network_of_records(first, second, x):
    """Layer(array([[0.5, -2.0], [1.0, 3.0]]), array([0.1, -0.2])), Layer(array([[0.5, 1.0]]), array([0.3])), array([1.5, 1.0])"""
    for layer in (first, second):
        x = layer(x)
    return np.sum(x * x)


def record_in_tuple(pair):
    """(Point(2.0, -0.5), 3.0)"""
    p, s = pair
    return p.x * s + p.y * s * s


def captured_record(p, x):
    """Point(2.0, -0.5), 0.75"""

    def line(t):
        return p.x * t + p.y

    return line(line(x)) * line(0.0)


def record_of_functions(x):
    """0.75"""
    pair = Node(lambda t: t * t, lambda t: t + x, x)
    return pair.left(pair.right(2.0)) * pair.weight


def tree_sum(t):
    """Node(Leaf(2.0), Node(Leaf(-0.5), Leaf(3.0), 0.25), 1.5)
    Leaf(2.0)"""
    if isinstance(t, Leaf):
        return t.value * t.value
    return t.weight * (tree_sum(t.left) + tree_sum(t.right))


def tree_depth_weighted(t, scale):
    """Node(Node(Leaf(2.0), Leaf(1.0), 0.5), Leaf(3.0), 1.5), 0.75"""

    def fold(node, factor):
        if isinstance(node, Leaf):
            return factor * node.value**2
        return fold(node.left, factor * scale) * node.weight + fold(node.right, factor * scale)

    return fold(t, 1.0)


def built_tree(x, n):
    """0.75, 3"""

    def build(k):
        return Leaf(x * k) if k < 2 else Node(build(k - 1), build(k - 2), x)

    def total(t):
        return t.value if isinstance(t, Leaf) else total(t.left) * t.weight + total(t.right)

    return total(build(n))


def record_in_a_loop(x):
    """0.75"""
    p = Point(x, 1.0)
    for k in range(3):
        p = Point(p.x * p.y, p.y + p.x / (k + 1))
    return p.norm2()


def record_chosen(x):
    """0.75
    -0.75"""
    p = Point(x, 2.0) if x > 0 else Point(2.0, x * x)
    return p.x * p.y


def dual_number_by_hand(x):
    """0.75"""

    def times(a, b):
        return Complex(a.re * b.re, a.re * b.im + a.im * b.re)

    t = Complex(x, 1.0)
    return times(times(t, t), t).im
