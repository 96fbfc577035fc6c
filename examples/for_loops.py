"""Affine loops, whose gradient is two loops and a cache (MimIrADe, section 3.3.3), and loops that are none."""


def horner(x, n: int):
    """1 + x + x**2 + … + x**n: a row of the cache keeps s."""
    s = 1.0
    for _ in range(n):
        s = s * x + 1.0
    return s


def growth(x, n: int):
    """Two accumulators, and a loop that counts by threes; what is linear in them is not kept."""
    a, b = x, 1.0
    for i in range(1, 3 * n, 3):
        a, b = a * b, b + 0.125 * x - i
    return a + b


def weighted(xs, ws):
    """A sum of squares over two sequences: what an index reads is kept, and flows back to its place alone."""
    total = 0.0
    for x, w in zip(xs, ws):
        total = total + w * x * x
    return total


def nested(x, n: int):
    """A loop in a loop, whose turns keep the cache of the inner one."""
    s = x
    for i in range(n):
        t = 1.0
        for j in range(i):
            t = t * x + s * j
        s = s * 0.5 + t * t * 0.0625
    return s


def piecewise(x, n: int):
    """A choice between two values is arithmetic, where no block is entered for it."""
    s = x
    for _ in range(n):
        s = max(s * 0.5, abs(x) ** 3) + s**2 / 8.0
    return s


def counted(x, n: int):
    """A `while` that counts is a `for`."""
    i, s = 0, x
    while i < n:
        s = s * s * 0.5 + x
        i += 2
    return s * i


def branching(x, n: int):
    """Not affine: the body branches. Every turn makes closures."""
    s = x
    for i in range(n):
        if s > 2.0:
            s = s * 0.5
        s = s * x + i
    return s


def leaving(x, n: int):
    """Not affine: `break` leaves before the end."""
    s = x
    for _ in range(n):
        s = s * x
        if s > 9.0:
            break
    return s


def moving(x, n: int):
    """Not affine: the bound moves."""
    i, s = 0, x
    while i < n:
        s = s * x
        n = n - 1
        i += 1
    return s


def real_counter(x, n: int):
    """Affine, but the counter starts at a real, through which a derivative flows."""
    s = 1.0
    while x < n:
        s = s * x
        x += 1
    return s
