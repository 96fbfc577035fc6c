"""
Axes: from numbers to places on a drawing, with ticks that people read: multiples of 1, 2 or 5, or powers of ten.

    linear(values)              over the values; about one number, from which the ticks then count, if they differ little
    symmetric(values)           logarithmic on both sides of 0
    logarithmic(least, most)    powers of ten
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NEAR = 2.0**-10
"""Values that differ by less than this share of their size are shown by their distance from one of them."""
LEAST, MOST = 1e-290, 1e290
"""Values that differ by less are one; larger ones are drawn as the largest."""


@dataclass(frozen=True, slots=True)
class Axis:
    """
    place   from a number to a share of the axis, 0 to 1; a number beyond the axis to beyond that
    ticks   (number, label)
    origin  what the labels count from, "" if from 0
    """

    place: Callable[[float], float]
    ticks: tuple[tuple[float, str], ...]
    origin: str = ""


def shown(x: float, digits: int = 6) -> str:
    """A number for people: a true minus, powers of ten as such."""
    if not math.isfinite(x):
        return "not a number" if math.isnan(x) else "∞" if x > 0 else "−∞"
    text = f"{x:.{digits}g}"
    mantissa, e, exponent = text.partition("e")
    if e:
        power = f"10{str(int(exponent)).translate(SUPERSCRIPTS)}"
        text = power if mantissa == "1" else f"−{power}" if mantissa == "-1" else f"{mantissa}·{power}"
    return text.replace("-", "−")


def linear(values: Sequence[float], about: float | None = None, wanted: int = 5) -> Axis:
    """An axis from the least to the greatest value; `about` is what ticks count from where the values differ by little."""
    low, high = _within(min(values)), _within(max(values))
    size = max(abs(low), abs(high))
    origin = 0.0
    if LEAST < high - low < NEAR * size:
        origin = about if about is not None and low <= about <= high else low / 2 + high / 2
    elif high - low <= LEAST:
        room = size / 2 if size > LEAST else 0.5
        low, high = low - room, high + room
    span = high - low
    step = _round(span / wanted)
    first, last = math.ceil((low - origin) / step), math.floor((high - origin) / step)
    ticks = tuple((origin + k * step, shown(k * step)) for k in range(first, last + 1))
    return Axis(lambda x: (_within(x) - low) / span, ticks, shown(origin, 17) if origin else "")


def _within(x: float) -> float:
    """The nearest number with room for sums and quotients."""
    return min(max(x, -MOST), MOST)


def _round(step: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is not below the step."""
    power = 10.0 ** math.floor(math.log10(step))
    return next((m * power for m in (1, 2, 5) if m * power >= step * (1 - 1e-9)), 10 * power)


def symmetric(values: Sequence[float], furthest: int = 13) -> Axis:
    """
    An axis on which powers of ten are evenly spaced to both sides of 0, from 10^-13 to 10^13 at most.

    Smaller numbers are drawn at 0 and larger ones at the end. A side on which there are no numbers is left out.
    """
    sizes = [min(max(abs(x), 10.0**-furthest), 10.0**furthest) for x in values if x] or [1.0]
    top = math.ceil(math.log10(max(sizes)))
    bottom = min(math.floor(math.log10(min(sizes))), top - 1)
    left, right = any(x < 0 for x in values), any(x > 0 for x in values) or not any(values)

    def place(x: float) -> float:
        away = min(max(0.0, (math.log10(abs(x)) - bottom) / (top - bottom)), 1.0) if x else 0.0
        return (math.copysign(away, x) + left) / (left + right)

    powers = [10.0**k for k in range(top, bottom, -max(1, math.ceil((top - bottom) / 4)))]
    marked = [0.0, *(x for x in powers if right), *(-x for x in powers if left)]
    return Axis(place, tuple((x, shown(x)) for x in sorted(marked)))


def logarithmic(least: float, most: float) -> Axis:
    """An axis of powers of ten."""
    low, high = math.log10(least), math.log10(most)
    every = max(1, math.ceil((high - low) / 6))
    ticks = tuple((10.0**k, shown(10.0**k)) for k in range(math.ceil(low), math.floor(high) + 1) if k % every == 0)
    return Axis(lambda x: (math.log10(x) - low) / (high - low) if x > 0 else -math.inf, ticks)
