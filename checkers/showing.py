"""
How values are shown in reports: exact where that fits into a line; arrays that do not, by their shape and their corners. An array
without axes, which reads like a number, is `array(0.0)`. No line is longer than `COLUMNS`, unless one word is.
"""

from __future__ import annotations

import math
import textwrap
from fractions import Fraction
from typing import Any

import numpy as np

COLUMNS = 100
MANY = 16
"""An array of more elements is shown by its shape and its corners."""
EVERY_DIGIT: dict[str, Any] = {"formatter": {"float_kind": str}}


def is_text(value: Any) -> bool:
    """Whether a value is a text of several lines, such as a program."""
    return isinstance(value, str) and "\n" in value


def is_wide(value: Any) -> bool:
    """Whether a value is an array that does not fit into a line, or has no elements to show there."""
    return isinstance(value, np.ndarray) and (value.size > MANY or not value.size or len(exactly(value)) > 60)


def shape(array: np.ndarray[Any, Any]) -> str:
    """`of shape (2, 3)`, with the dtype if it is not f64, and the order if it is Fortran's."""
    dtype = "" if array.dtype.name == "float64" else f" and dtype {array.dtype.name}"
    fortran = ", in Fortran order" if array.flags.f_contiguous and not array.flags.c_contiguous else ""
    return f"of shape {array.shape}{dtype}{fortran}"


def shortened(array: np.ndarray[Any, Any], name: str = "") -> str:
    """`name = [...]`: the elements of an array; of a long one the corners, to six digits."""
    prefix = f"{name} = " if name else ""
    short = {"formatter": {"float_kind": lambda x: f"{x:.6g}"}} if array.size > MANY else EVERY_DIGIT
    width = COLUMNS - len(prefix) - 8
    return prefix + np.array2string(
        array, threshold=MANY, edgeitems=2, separator=", ", max_line_width=width, prefix=prefix, **short
    )


def labelled(label: str, value: Any) -> list[str]:
    """A value behind its label; the lines of a long one under it, those of a long text folded."""
    if is_wide(value) and not value.size:
        return [f"  {label:<6} {exactly(value)}"]
    if is_wide(value):
        return [f"  {label:<6} {shape(value)}", *block(shortened(value))]
    if is_text(value):
        return [f"  {label}", *block(value)]
    return folded(f"  {label:<6} {exactly(value)}", 9)


def folded(text: str, indent: int = 4) -> list[str]:
    """A text in lines, at its spaces; the second and later ones indented."""
    return textwrap.wrap(text, COLUMNS, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False) or [text]


def block(text: str) -> list[str]:
    """The lines of a text, indented."""
    return [f"    {line}".rstrip() for line in text.strip("\n").splitlines()]


def exactly(value: Any) -> str:
    """A value in decimal and, for a double, in hexadecimal, so that it can be typed back bit for bit; a long array by its shape."""
    if isinstance(value, np.ndarray):
        if value.size > MANY or not value.size:
            return f"an array {shape(value)}"
        elements = " ".join(np.array2string(value, separator=", ", max_line_width=10**6, **EVERY_DIGIT).split())
        dtype = "" if value.dtype.name == "float64" else f" in {value.dtype.name}"
        return (elements if value.ndim else f"array({elements})") + dtype
    if isinstance(value, np.float64):
        value = float(value)
    if isinstance(value, float):
        return f"{value!r} ({value.hex()})" if math.isfinite(value) else repr(value)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        return "(" + ", ".join(exactly(v) for v in value) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, list):
        return f"[{', '.join(map(exactly, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {exactly(v)}" for k, v in value.items()) + "}"
    return repr(value) if not isinstance(value, str) else value
