"""Figure 1 of the 2018 paper: `adjudge show examples/figure_1.py:f --after grad --after optimize` gives its gradient."""

from adjudge import grad


def f(x, y):
    a = x**3
    b = y**4
    c = a * b
    return c


def main(x, y):
    dfdx = grad(f, "x")
    return dfdx(x, y)
