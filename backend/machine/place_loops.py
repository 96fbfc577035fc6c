"""
Loops that choose among elements, number them and send them back, in the language of generated code (`kernels` puts them with the
others). ZERO_BITS stand for a symbolic ZERO. A loop answers 1 where the reference has to say what is wrong.
"""

from __future__ import annotations

from backend.machine.layout import ZERO_BITS
from backend.machine.structural import Doubles, Words


def place(shape: Words, strides: Words, number: int) -> int:
    """How far behind the first element the one of this number in row-major order lies."""
    at = 0
    for axis in range(len(shape) - 1, -1, -1):
        at += (number % shape[axis]) * strides[axis]
        number = number // shape[axis]
    return at


def extreme(
    F: Doubles, most: int, x: int, out: int, n: int, kept: Words, kept_strides: Words, m: int, gone: Words, gone_strides: Words
) -> int:
    """For each of n places along the kept axes, the largest (most = 1) or smallest of m elements; a NaN, if there is one."""
    for k in range(n):
        base = x + place(kept, kept_strides, k)
        found = F[base]
        for j in range(1, m):
            item = F[base + place(gone, gone_strides, j)]
            if (item > found if most == 1 else item < found) or item != item:  # noqa: PLR0124  NaN
                found = item
        F[out + k] = found
    return 0


def first(I: Words, F: Doubles, most: int, x: int, out: int, n: int, kept: Words, kept_strides: Words, m: int, stride: int) -> int:
    """The place of the first extreme on each of n lines of m elements."""
    for k in range(n):
        base, best = x + place(kept, kept_strides, k), 0
        for j in range(1, m):
            item, found = F[base + j * stride], F[base + best * stride]
            if (item > found if most == 1 else item < found) or (item != item and found == found):  # noqa: PLR0124  NaN
                best = j
        I[out + k] = best
    return 0


def numbered(I: Words, out: int, n: int) -> int:
    """1, 2, …, n."""
    for k in range(n):
        I[out + k] = k + 1
    return 0


def along(I: Words, x: int, at: int, out: int, n: int, shape: Words, own: Words, m: int, stride: int) -> int:
    """For each of n places of a shape the element that the index at `at` names on its line of m."""
    for k in range(n):
        i = I[at + k]
        if i < -m or i >= m:
            return 1
        I[out + k] = I[x + place(shape, own, k) + (i % m) * stride]
    return 0


def gathered(I: Words, v: int, p: int, out: int, n: int, count: int) -> int:
    """The elements of v, of which there are `count`, at n places; ZERO at place 0."""
    for k in range(n):
        q = I[p + k]
        if q < 0 or q > count:
            return 1
        I[out + k] = I[v + q - 1] if q > 0 else ZERO_BITS
    return 0


def returned(I: Words, F: Doubles, d: int, p: int, out: int, n: int, count: int) -> int:
    """The `count` sums of those of n elements of d that went back to each place."""
    for k in range(count):
        I[out + k] = ZERO_BITS
    for k in range(n):
        q = I[p + k]
        if q < 0 or q > count:
            return 1
        if q > 0 and I[d + k] != ZERO_BITS:
            to = out + q - 1
            F[to] = F[d + k] if I[to] == ZERO_BITS else F[to] + F[d + k]
    return 0


def both(I: Words, F: Doubles, a: int, b: int, out: int, n: int) -> int:
    """The sums of two sensitivities: a ZERO leaves the other as it is."""
    for k in range(n):
        if I[a + k] == ZERO_BITS:
            I[out + k] = I[b + k]
        elif I[b + k] == ZERO_BITS:
            I[out + k] = I[a + k]
        else:
            F[out + k] = F[a + k] + F[b + k]
    return 0


def has_zeros(I: Words, x: int, n: int) -> int:
    """Whether there is a ZERO among the elements."""
    for k in range(n):
        if I[x + k] == ZERO_BITS:
            return 1
    return 0


def compared(I: Words, F: Doubles, asked: int, x: int, y: int, out: int, n: int, s: int, t: int) -> int:
    """Whether an order is one of those asked for (1, 2, 4, 8: <, =, >, none), for n pairs s and t words apart: 1 or 0."""
    for k in range(n):
        a, b = F[x + k * s], F[y + k * t]
        found = 1 if a < b else 2 if a == b else 4 if a > b else 8
        I[out + k] = 1 if found & asked != 0 else 0
    return 0


def products(I: Words, F: Doubles, x: int, y: int, out: int, n: int, s: int, t: int) -> int:
    """The products of n pairs s and t words apart; ZERO where one of a pair is."""
    for k in range(n):
        if I[x + k * s] == ZERO_BITS or I[y + k * t] == ZERO_BITS:
            I[out + k] = ZERO_BITS
        else:
            F[out + k] = F[x + k * s] * F[y + k * t]
    return 0


def opposite(I: Words, F: Doubles, x: int, out: int, n: int) -> int:
    """n elements with the other sign; ZERO stays."""
    for k in range(n):
        if I[x + k] == ZERO_BITS:
            I[out + k] = ZERO_BITS
        else:
            F[out + k] = -F[x + k]
    return 0


def chosen(I: Words, c: int, x: int, y: int, out: int, n: int, s: int, t: int) -> int:
    """For each of n conditions the element of x, s words apart, or that of y, t words apart."""
    for k in range(n):
        I[out + k] = I[x + k * s] if I[c + k] != 0 else I[y + k * t]
    return 0


def whole(I: Words, F: Doubles, d: int, out: int, n: int, s: int) -> int:
    """The n elements of d, s words apart, 0.0 in the place of each ZERO."""
    for k in range(n):
        if I[d + k * s] == ZERO_BITS:
            F[out + k] = 0.0
        else:
            I[out + k] = I[d + k * s]
    return 0


def sum_there(I: Words, F: Doubles, x: int, out: int, n: int) -> int:
    """The sum from the left of those of n elements, of which there are some, that are not ZERO; ZERO if all are."""
    I[out] = ZERO_BITS
    for k in range(n):
        if I[x + k] != ZERO_BITS:
            F[out] = F[x + k] if I[out] == ZERO_BITS else F[out] + F[x + k]
    return 0


LOOPS = (
    extreme,
    first,
    numbered,
    along,
    gathered,
    returned,
    both,
    has_zeros,
    compared,
    products,
    opposite,
    chosen,
    whole,
    sum_there,
)
