"""
The complex step: f'(x)·d = Im f(x + i h d) / h at h = 2^-100, without subtraction. It is a derivative only of a holomorphic
function.

So it is asked only where holomorphy is verified, at the case and in the direction:

    the operations   a run on arrays that watch themselves meets no abs, conjugate, real, imag, comparison, sign, maximum or where
    Cauchy-Riemann   ∂f/∂s = -i ∂f/∂t at x + (s + it) d: central quotients agree within eight times their change from r to r/2
    Richardson       the answer lies within the bound of the differences of doubles, which must know it

The answer is as exact as the function's own arithmetic on complex numbers. An algorithm that is backward stable answers what is
right at a point a few ulps away: coordinate by coordinate, or, as in linear algebra, by the norm of the matrix. So its error
is estimated by `ULPS` units, and by four times the spread of the answers over steps of three different mantissas, which round
differently, and at `SHAKEN` points nearby: moved by `NEARBY` units of each coordinate, of the largest of its array where that has
two axes. Rounding is another at each of them, and what a condition number makes of it is in the spread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from checkers.array_audit.bounds import Bounds, Mask, Reals, Sides
from checkers.array_audit.case import Arguments, Case, Vector, flat, leaves, replaced
from checkers.array_audit.references.quotients import step_exponent
from checkers.array_audit.references.richardson import ULPS, Richardson
from checkers.array_audit.references.structural import Attempts
from semantics.errors import IllTyped

STEPS = (2.0**-100, 3 * 2.0**-102, 5 * 2.0**-103)
RADIUS = 2.0**-10
SHAKEN, NEARBY = 6, 16.0
NOT_HOLOMORPHIC = (
    "absolute fabs conjugate sign signbit maximum minimum fmax fmin clip less less_equal greater greater_equal equal not_equal "
    "heaviside copysign floor ceil rint trunc fmod remainder floor_divide hypot arctan2 isnan isinf isfinite logical_not "
    "logical_and logical_or"
)
NO_FUNCTIONS = frozenset(
    (np.where, np.real, np.imag, np.angle, np.sort, np.argsort, np.argmax, np.argmin, np.select, np.piecewise, np.iscomplexobj)
)


class Watched(np.ndarray):
    """An array of complex numbers that refuses what is not holomorphic."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc.__name__ in NOT_HOLOMORPHIC.split():
            raise IllTyped(f"{ufunc.__name__} is not holomorphic", rule="complex step")
        if "out" in options:
            options["out"] = tuple(_bare(o) for o in options["out"])
        found = getattr(ufunc, method)(*map(_bare, inputs), **options)
        return _watched(found)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if function in NO_FUNCTIONS:
            raise IllTyped(f"{getattr(function, '__name__', function)} is not holomorphic", rule="complex step")
        return super().__array_function__(function, types, args, kwargs)

    @property  # type: ignore[misc]
    def real(self) -> Any:
        raise IllTyped("the real part is not holomorphic", rule="complex step")

    @property  # type: ignore[misc]
    def imag(self) -> Any:
        raise IllTyped("the imaginary part is not holomorphic", rule="complex step")

    conj = conjugate = real


def _bare(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Watched) else value


def _watched(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.complexfloating)) and np.iscomplexobj(value):
        return np.asarray(value).view(Watched)
    return tuple(map(_watched, value)) if type(value) is tuple else value


@dataclass(eq=False)
class ComplexStep:
    """The reference; `richardson` is what it must agree with."""

    forward: Callable[..., Any]
    richardson: Richardson

    def __post_init__(self) -> None:
        self.attempts = Attempts()

    @property
    def name(self) -> str:
        return "the complex step"

    def sides(self, case: Case, direction: Vector) -> Sides | None:
        """The derivatives along `direction` where all three conditions hold; NaN elsewhere."""
        found: Sides | None = self.attempts(case, lambda: self._sides(case, direction))
        return found

    def _sides(self, case: Case, direction: Vector) -> Sides | None:
        if self.richardson.unit != 2.0**-53:
            return None
        self._value(case, 1j * STEPS[0] * direction, watched=True)
        others = self.richardson.sides(case, direction)
        if others is None:
            return None
        scale = 2.0 ** step_exponent(case.coordinates, direction)
        steps = [1j * h * scale * direction for h in STEPS]
        answers = [self._value(case, step).imag / (h * scale) for h, step in zip(STEPS, steps, strict=True)]
        answers += [self._value(case, steps[0] + moved).imag / (STEPS[0] * scale) for moved in self._moves(case)]
        middle = answers[0]
        size = np.abs(self._value(case, 0j * direction).real)
        bound = 4 * np.ptp(answers, axis=0) + ULPS * 2 * self.richardson.unit * (np.abs(middle) + 2.0**-30 * size)
        known = others.value
        good = self._holomorphic(case, direction, scale) & (known.distance(middle) <= bound) & np.isfinite(middle)
        ends = Bounds(np.where(good, middle - bound, np.nan), np.where(good, middle + bound, np.nan))
        return Sides(ends, ends, np.zeros(case.outputs, dtype=bool), self.name)

    def _moves(self, case: Case) -> Reals:
        """Moves to the points nearby, of random signs: where algorithms that are backward stable answer what is right."""
        units = [
            np.full(np.shape(x), np.max(np.abs(x), initial=0)) if np.ndim(x) > 1 else np.abs(x)
            for _, x in leaves(case.arguments, case.fixed)
        ]
        sizes = NEARBY * 2 * self.richardson.unit * flat(units)
        return np.random.default_rng(0).choice((-1.0, 1.0), (SHAKEN, case.size)) * sizes

    def _holomorphic(self, case: Case, direction: Vector, scale: float) -> Mask:
        """Where the quotients along both axes agree: within eight times their change from r to r/2, and rounding."""
        quotients: list[Any] = []
        size = np.zeros(case.outputs)
        for r in (RADIUS * scale, RADIUS * scale / 2):
            for turn in (1.0, 1j):
                forth, back = (self._value(case, s * r * turn * direction) for s in (1, -1))
                quotients.append((forth - back) / (2 * r * turn))
                size = np.maximum(size, np.abs(forth))
        along, up, near, near_up = quotients
        rounding = 2 * ULPS * self.richardson.unit * size / (RADIUS * scale)
        room = 8 * np.maximum(np.abs(along - near), np.abs(up - near_up)) + rounding
        coarse = room > 2.0**-6 * np.maximum(np.abs(near), 2.0**-20)
        return np.asarray((np.abs(near - near_up) <= room) & ~coarse)

    def _value(self, case: Case, step: Any, watched: bool = False) -> Any:
        """The outputs at x + step, as complex numbers; IllTyped if the function's value has another structure."""
        arguments = _complex_arguments(case, case.coordinates + step, watched)
        with np.errstate(all="ignore"), catch_warnings():
            simplefilter("error", np.exceptions.ComplexWarning)
            value = self.forward(*arguments)
        parts = [np.asarray(_bare(_get((value,), path)), dtype=np.complex128) for path, _ in leaves((case.value,))]
        found = np.concatenate([p.ravel() for p in parts]) if parts else np.zeros(0, dtype=np.complex128)
        if found.size != case.outputs:
            raise IllTyped("the value has another structure on complex numbers", rule="complex step")
        return found

    def second(self, case: Case, first: Vector, second: Vector) -> Bounds | None:
        """Not known."""
        return None


def _complex_arguments(case: Case, coordinates: Any, watched: bool) -> Arguments:
    new: dict[Any, Any] = {}
    start = 0
    for path, leaf in leaves(case.arguments, case.fixed):
        part = coordinates[start : start + np.size(leaf)].reshape(np.shape(leaf))
        start += np.size(leaf)
        new[path] = part.view(Watched) if watched else part if isinstance(leaf, np.ndarray) else part[()]
    return replaced(case.arguments, new)


def _get(values: Any, path: Sequence[int]) -> Any:
    for i in path:
        values = values[i]
    return values
