"""
What a slice selects of n elements, as Python says, in the language of generated code.
"""

from __future__ import annotations

from backend.machine.layout import INT, LONGEST, UNIT
from backend.machine.structural import Words, values


def step_of(I: Words, y: int) -> int:
    """The step of the slice at y; 0 where the host has to look."""
    s, plain = values(I, I[y + 1]), 1
    for k in range(0, 6, 2):
        plain = 0 if I[s + k] != UNIT and I[s + k] != INT else plain
    step = I[s + 5] if I[s + 4] == INT else 1
    return step if plain != 0 and -LONGEST < step < LONGEST else 0


def said(I: Words, s: int, n: int, step: int, otherwise: int) -> int:
    """The place that the value at s says, kept within n elements and what is next to them; what it means if it says none."""
    if I[s] == UNIT:
        return otherwise
    i, low, high = I[s + 1], 0 if step > 0 else -1, n if step > 0 else n - 1
    i = i + n if i < 0 else i
    return low if i < low else high if i > high else i


def first_of_slice(I: Words, y: int, n: int, step: int) -> int:
    """The first place that is selected, if there is one."""
    return said(I, values(I, I[y + 1]), n, step, 0 if step > 0 else n - 1)


def count_of_slice(I: Words, y: int, n: int, step: int) -> int:
    """How many are selected."""
    first, stop = first_of_slice(I, y, n, step), said(I, values(I, I[y + 1]) + 2, n, step, n if step > 0 else -1)
    if step > 0:
        return (stop - first + step - 1) // step if stop > first else 0
    return (first - stop - step - 1) // -step if first > stop else 0


PARTS = (step_of, said, first_of_slice, count_of_slice)
"""In an order in which each is defined before it is used."""
