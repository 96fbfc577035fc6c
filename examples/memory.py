"""Memory, boxes and stacks (Zygote, section 3.2; MimIrADe, section 3.3.1), and the Python that is read as such."""

from adjudge.memory import (
    alloc,
    box,
    get,
    get_pullback,
    is_empty,
    lea,
    load,
    memory,
    pop,
    push,
    put,
    put_pullback,
    stack,
    store,
)


def accumulator(x):
    """x + x**2 + x**3, in a cell."""
    m, total = alloc(memory(0), 0.0)
    power = 1.0
    for _ in range(3):
        power = power * x
        m = store(m, total, load(m, total) + power)
    return load(m, total)


def pair(x):
    """A pointer to a part of what a cell holds: the second element of (x, 2x) becomes x**2."""
    m, p = alloc(memory(0), (x, 2.0 * x))
    second = lea(p, 1)
    m = store(m, second, load(m, second) * x * 0.5)
    return load(m, lea(p, 0)) * load(m, second)


def power(x, n: int):
    """x ** n as Zygote computes it, in a box: r is multiplied in place."""
    m, r = box(memory(0), 1.0)
    while n > 0:
        m = put(m, r, get(m, r) * x)
        n = n - 1
    return get(m, r)


def power_adjoint(x, n: int):
    """
    The derivative of `power` in x, written by hand as Zygote writes it (section 3.1).

    The forward loop pushes what the adjoint loop pops; the adjoint of the box is a box of adjoints.
    """
    m, r = box(memory(0), 1.0)
    m, taken = stack(m)
    for _ in range(n):
        m = push(m, taken, get(m, r))
        m = put(m, r, get(m, r) * x)
    adjoints, r_bar = box(memory(1), 0.0)
    adjoints = get_pullback(adjoints, r_bar, 1.0)
    x_bar = 0.0
    while not is_empty(m, taken):
        m, before = pop(m, taken)
        adjoints, d = put_pullback(adjoints, r_bar)
        x_bar = x_bar + d * before
        adjoints = get_pullback(adjoints, r_bar, d * x)
    return x_bar


def appended(x):
    """A list that is appended to in a loop, and taken from: it lives in memory because it changes."""
    xs = [x]
    while len(xs) < 5:
        xs.append(xs[-1] * x)
    return xs.pop() + xs.pop(0)


def counted(x):
    """A cell that a nested function changes, and a second name for it."""
    total = [0.0]
    same = total

    def add(v):
        total[0] += v
        return total[0]

    add(x)
    add(x * x)
    return same[0] * add(1.0)
