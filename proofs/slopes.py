"""
Carathéodory slopes of the algebraic primitives: the witness φ with f(x + h) - f(x) = h·φ(x, h).

The equation is checked, so a wrong witness proves nothing; φ is rational with a denominator that the hypotheses keep from 0, or
an `if` that the hypotheses hold on one side, so it is continuous at h = 0. That step is the axiom `slope`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from checkers.smt.terms import product, real, uninterpreted

Terms = Sequence[Any]
h = z3.Real("h")


@dataclass(frozen=True)
class Slope:
    """
    witness(x, h)  φ for the argument that moves; `x` are all arguments at the start
    near(x, h)     hypotheses: how small h has to be, and which pieces are meant
    """

    witness: Callable[[Terms, Any], Any]
    near: Callable[[Terms, Any], list[Any]] = lambda x, h: []


def _root(name: str, x: Any) -> Any:
    return uninterpreted(f"u_{name}", x)


def _sign(x: Any) -> Any:
    return z3.If(x > 0, real(1), real(-1))


def _size(x: Any) -> Any:
    return z3.If(x < 0, -x, x)


def _less(h: Any, x: Any) -> list[Any]:
    """|h| < |x|: the step does not reach 0 from x."""
    return [_size(h) < _size(x)]


def _gap(x: Terms, h: Any) -> list[Any]:
    """The step does not make the two arguments meet."""
    return [_size(h) < _size(x[0] - x[1])]


def power_slope(n: int) -> Slope:
    """x ** n: Σ (x + h)^k x^(n-1-k), and for negative n the same over the two powers, with the other sign."""
    m = abs(n)

    def total(x: Any, step: Any) -> Any:
        terms = [product(x + step, k) * product(x, m - 1 - k) for k in range(m)]
        result = terms[0] if terms else real(0)
        for t in terms[1:]:
            result = result + t
        return result

    if n >= 0:
        return Slope(lambda x, h: total(x[0], h))
    return Slope(lambda x, h: -total(x[0], h) / (product(x[0] + h, m) * product(x[0], m)), lambda x, h: [x[0] + h != 0])


def _moved(x: Terms, i: int, h: Any) -> Any:
    """x² + y² where argument i has moved by h; written as the column reads hypot."""
    a, b = (v + h if j == i else v for j, v in enumerate(x))
    return a * a + b * b


def _hypot_slope(i: int) -> Slope:
    """hypot in its argument i: (2x + h) over the sum of the two roots."""
    return Slope(lambda x, h: (2 * x[i] + h) / (_root("sqrt", _moved(x, i, h)) + _root("sqrt", _moved(x, i, real(0)))))


_LARGER = (
    Slope(lambda x, h: z3.If(x[0] > x[1], real(1), real(0)), _gap),
    Slope(lambda x, h: z3.If(x[1] > x[0], real(1), real(0)), _gap),
)
_SMALLER = (
    Slope(lambda x, h: z3.If(x[0] < x[1], real(1), real(0)), _gap),
    Slope(lambda x, h: z3.If(x[1] < x[0], real(1), real(0)), _gap),
)

SLOPES: dict[str, tuple[Slope, ...]] = {
    "add": (Slope(lambda x, h: real(1)), Slope(lambda x, h: real(1))),
    "sub": (Slope(lambda x, h: real(1)), Slope(lambda x, h: real(-1))),
    "mul": (Slope(lambda x, h: x[1]), Slope(lambda x, h: x[0])),
    "div": (
        Slope(lambda x, h: real(1) / x[1]),
        Slope(lambda x, h: -x[0] / (x[1] * (x[1] + h)), lambda x, h: [x[1] + h != 0]),
    ),
    "neg": (Slope(lambda x, h: real(-1)),),
    "to_real": (Slope(lambda x, h: real(1)),),
    "single": (Slope(lambda x, h: real(1)),),
    "abs": (Slope(lambda x, h: _sign(x[0]), lambda x, h: _less(h, x[0])),),
    "sign": (Slope(lambda x, h: real(0), lambda x, h: _less(h, x[0])),),
    **dict.fromkeys(("max", "maximum"), _LARGER),
    **dict.fromkeys(("min", "minimum"), _SMALLER),
    "copysign": (
        Slope(lambda x, h: _sign(x[0]) * _sign(x[1]), lambda x, h: _less(h, x[0])),
        Slope(lambda x, h: real(0), lambda x, h: _less(h, x[1])),
    ),
    "sqrt": (Slope(lambda x, h: real(1) / (_root("sqrt", x[0] + h) + _root("sqrt", x[0])), lambda x, h: [x[0] > 0, x[0] + h > 0]),),
    "cbrt": (
        Slope(
            lambda x, h: (
                real(1)
                / (
                    _root("cbrt", x[0] + h) * _root("cbrt", x[0] + h)
                    + _root("cbrt", x[0] + h) * _root("cbrt", x[0])
                    + _root("cbrt", x[0]) * _root("cbrt", x[0])
                )
            ),
            lambda x, h: _less(h, x[0]),
        ),
    ),
    "hypot": (_hypot_slope(0), _hypot_slope(1)),
}
