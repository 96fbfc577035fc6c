"""
What the annotations of a Python function say of its parameters: `int` and `bool` are read, and hold what is not differentiated.

`float` says what every parameter is that nobody speaks of. Other annotations say nothing here: of arrays a signature speaks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

DTYPES = {"float": "f64", "int": "i64", "bool": "bool"}


def stated(function: Callable[..., Any]) -> dict[str, str]:
    """The annotation of each parameter by its name, "" of one that has none; nothing of a function whose parameters are unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: _word(p.annotation) for p in parameters}


def discrete(function: Callable[..., Any]) -> frozenset[str]:
    """The parameters that are whole numbers or truth values, of which nothing is differentiated."""
    return frozenset(name for name, word in stated(function).items() if word in ("int", "bool"))


def scalar_signature(function: Callable[..., Any]) -> str:
    """
    "f64 i64 -> f64" for `(x, n: int)`: the signature of a function of numbers, some of them whole or truth values.

    "" where none is, or where an annotation speaks of anything but a number.
    """
    words = [word or "float" for word in stated(function).values()]
    if not discrete(function) or "float" not in words or not all(word in DTYPES for word in words):
        return ""
    return f"{' '.join(DTYPES[word] for word in words)} -> f64"


def _word(annotation: Any) -> str:
    """An annotation as it is written; evaluated or not, as `from __future__ import annotations` leaves it."""
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else str(getattr(annotation, "__name__", annotation))
