"""A loop that ends when it has converged, and a recursion: control flow that depends on data."""


def square_root(a):
    x = a
    for _ in range(20):
        better = 0.5 * (x + a / x)
        if abs(better - x) <= 1e-15 * x:
            return better
        x = better
    return x


def factorial(x, n: int):
    if n == 0:
        return 1.0
    return x * n * factorial(x, n - 1)
