"""Programs that are refused, each with its place and what to write instead: `adjudge show examples/refused.py:shared`."""

import numpy as np


def shared(x):
    """In Python the update would show in `row`, which is a view; here it would not."""
    y = x * 1.0
    row = y[0:1]
    y[0] = 2.0
    return np.sum(row) + np.sum(y)


def misspelt(x):
    return np.sums(x)


def caught(x):
    try:
        return 1 // x
    except ZeroDivisionError:
        return 0
