"""
What Numba has found out of arithmetic, remembered: which types an operator gives for numbers of given types, and what an element
of an array is, that is read or written.

Numba asks all that an operator may mean, arrays, dates and texts among it, each time that it meets one, a millisecond for each
operation of a program, three for an element that is written. The answer for numbers, and for an array and numbers, depends on their
types alone, and what Numba notes of it stays.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from numba.core import types

ARITHMETIC = ("_operator", "math")  # modules
_found: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()


@contextmanager
def remembered(context: Any) -> Iterator[None]:
    """Inside, what is found out of arithmetic is found out once. Numba holds its lock."""
    if "resolve_function_type" in vars(context):  # one is compiled for another
        yield
        return
    asked, stored, known = context.resolve_function_type, context.resolve_setitem, _found.setdefault(context, {})

    def resolved(function: Any, given: Any, named: Any) -> Any:
        if named or not is_arithmetic(function) or not all(map(_is_number, _element(function, given))):
            return asked(function, given, named)
        key = function, tuple(given)
        if key not in known:
            known[key] = asked(function, given, named)
        return known[key]

    def written(target: Any, index: Any, value: Any) -> Any:
        given = target, index, value
        if not all(map(_is_number, _element(operator.setitem, given))):
            return stored(*given)
        if given not in known:
            known[given] = stored(*given)
        return known[given]

    context.resolve_function_type, context.resolve_setitem = resolved, written
    try:
        yield
    finally:
        del context.resolve_function_type, context.resolve_setitem


def is_arithmetic(function: Any) -> bool:
    """Whether a function, or Numba's type of one, is an operator or one of `math`."""
    of = getattr(function, "typing_key", None) if isinstance(function, types.Function) else function
    return getattr(of, "__module__", None) in ARITHMETIC


def _element(function: Any, given: Any) -> Any:
    """What there is besides the array, if an element of one is read or written; else all that is given."""
    of = getattr(function, "typing_key", function)
    return given[1:] if of in (operator.getitem, operator.setitem) and isinstance(given[0], types.Array) else given


def _is_number(type: Any) -> bool:
    return isinstance(type, types.Number | types.Boolean)
