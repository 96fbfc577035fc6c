"""
Functions of functions and arrays: `array_map`, `array_reduce`, `scan`; and what `functools.reduce` is in programs.

They are written in the language. Programs that name them have their text parsed with their own; CPython runs the same text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def array_map(f: Callable[..., Any], x: Any, *others: Any) -> Any:
    """
    f at every element of x, and of up to two other arrays, which are repeated to the shape of x.

    The result has the shape of x, followed by that of what f returns. Of no elements, it is an array of reals of the shape of x.
    """
    if len(others) > 2:
        raise ValueError("array_map of more than 3 arrays")
    found: list[Any] = []
    a = np.reshape(x, -1)
    if len(others) == 0:
        for k in range(len(a)):
            found.append(f(a[k]))
    elif len(others) == 1:
        b = np.reshape(np.broadcast_to(others[0], np.shape(x)), -1)
        for k in range(len(a)):
            found.append(f(a[k], b[k]))
    else:
        b = np.reshape(np.broadcast_to(others[0], np.shape(x)), -1)
        c = np.reshape(np.broadcast_to(others[1], np.shape(x)), -1)
        for k in range(len(a)):
            found.append(f(a[k], b[k], c[k]))
    if len(found) == 0:
        return np.zeros(np.shape(x))
    return np.reshape(np.stack(found), (*np.shape(x), *np.shape(found[0])))


def array_reduce(f: Callable[[Any, Any], Any], init: Any, array: Any) -> Any:
    """f(… f(f(init, array[0]), array[1]) …): from the left along the first axis; init if it is empty."""
    carry = init
    for k in range(len(array)):
        carry = f(carry, array[k])
    return carry


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """log(Σ exp(x)) along the axes. In programs it is the row of that name; here it is what NumPy makes of the same formula."""
    most = np.max(x, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(most), most, 0.0)
    total = np.log(np.sum(np.exp(x - shift), axis=axis, keepdims=True)) + shift
    return total if keepdims else np.squeeze(total, axis=axis)[()]


def reduce(f: Callable[[Any, Any], Any], xs: Any, *init: Any) -> Any:
    """`functools.reduce` of a tuple, a list or an array: from the left, beginning with init or else with the first element."""
    if len(init) == 1:
        carry = init[0]
        for x in xs:
            carry = f(carry, x)
        return carry
    if len(init) > 1:
        raise ValueError("reduce takes a function, a sequence and at most one more argument")
    if len(xs) == 0:
        raise ValueError("reduce() of empty iterable with no initial value")
    carry = xs[0]
    for k in range(1, len(xs)):
        carry = f(carry, xs[k])
    return carry


def scan(f: Callable[[Any, Any], Any], init: Any, array: Any) -> Any:
    """
    Along the first axis: (carry, y) = f(carry, array[k]), carry beginning as init.

    The result is the last carry, and all y stacked. Of no elements, it is init and an empty vector.
    """
    carry = init
    found: list[Any] = []
    for k in range(len(array)):
        carry, y = f(carry, array[k])
        found.append(y)
    if len(found) == 0:
        return carry, np.zeros(0)
    return carry, np.stack(found)
