"""
What Numba has found out of arithmetic, remembered: which types an operator gives for numbers of given types.

Numba asks all that an operator may mean, arrays, dates and texts among it, each time that it meets one, a millisecond for each
operation of a program. The answer for numbers depends on their types alone, and what Numba notes of it stays.
"""

from __future__ import annotations

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
    asked, known = context.resolve_function_type, _found.setdefault(context, {})

    def resolved(function: Any, given: Any, named: Any) -> Any:
        if named or not is_arithmetic(function) or not all(map(_is_number, given)):
            return asked(function, given, named)
        key = function, tuple(given)
        if key not in known:
            known[key] = asked(function, given, named)
        return known[key]

    context.resolve_function_type = resolved
    try:
        yield
    finally:
        del context.resolve_function_type


def is_arithmetic(function: Any) -> bool:
    """Whether a function, or Numba's type of one, is an operator or one of `math`."""
    of = getattr(function, "typing_key", None) if isinstance(function, types.Function) else function
    return getattr(of, "__module__", None) in ARITHMETIC


def _is_number(type: Any) -> bool:
    return isinstance(type, types.Number | types.Boolean)
