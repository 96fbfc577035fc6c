"""
Derivatives of black boxes that speak only float64: difference quotients in long double, extrapolated by Richardson.

Points are doubles, steps are (nearly) powers of two, and the distance of two points is exact in long double. Points are
symmetric about x to within 2^-52 h, which costs at most |f''| h 2^-52, less than the floor below: |f''| h² is at most four
values of f. Let each value of f be wrong by at most η. Then, with s = h² for central quotients, s = h for one-sided,

    D(h) = f'(x) + c₁s + c₂s² + …        | error of D from η |  <=  η / h   (central),  2η / h   (one-sided)

Neville's scheme combines two members of order j - 1, the finer F at s₀ and the coarser C at s₁, to
T = (s₁F - s₀C) / (s₁ - s₀), which cancels one more cᵢ. Rounding noise combines by the sums of the absolute weights:
N = (s₁N_F + s₀N_C) / (s₁ - s₀). Where the expansion converges T is better than F and C, so |T - F| and |T - C| are their
errors up to a smaller term, and the bound of T is

    4 max(|T - F|, |T - C|) + 2N + 2^-52 |T|

a truncation estimate that is one order too pessimistic, plus a floor. The factor 4 is for functions such as x ** 1.5 whose
expansion has a term h^a that the scheme does not know: then T gains little, and is wrong by at most 1 / (2^a - 1)
times |T - C|, which is below 4 for a >= 1/3. η is the largest of: `ulps` units of the largest value
at this step; the grain of f, its smallest change seen (a value that cancelled inside f lies on a coarse grid); and the second
differences at a few ulps from x, which are all noise. Every level gives an interval; ascending in h, the first that is
disjoint from those before it ends the search: a kink or a pole came into reach. One-sided derivatives that differ make the
answer `Unknown`. A staircase whose steps are as fine as the doubles looks like a slope: nobody can see it from outside.

The bound is an estimate, not a proof: `checkers.ball_differences` proves. It knows no other oracle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from checkers.verdict import Counterexample, Passed, Refuted, Unknown, Verdict

Function = Callable[..., float]
LongDouble = np.longdouble
ULPS = 8.0
ENOUGH = 2.0**-10
ORDER = 4
EPSILON = 2.0**-52
RESOLVED = 2.0**-20
CAUTION = 4.0


class Estimate(NamedTuple):
    """A derivative: `value`, wrong by at most `bound`."""

    value: float
    bound: float

    def contains(self, x: float) -> bool:
        """Whether x is within the bound."""
        return abs(x - self.value) <= self.bound

    def overlaps(self, other: Estimate) -> bool:
        """Whether some number is within both bounds."""
        return abs(self.value - other.value) <= self.bound + other.bound


@dataclass(frozen=True, slots=True)
class _Level:
    """One step: h, the exact distance of the two points of the quotient, and the values there."""

    step: float
    width: Any
    low: float
    high: float


class _Line:
    """f along coordinate i through x, in doubles; remembers what it saw."""

    def __init__(self, function: Function, x: Sequence[float], i: int) -> None:
        self.function, self.x, self.i = function, tuple(float(c) for c in x), i
        self.seen: dict[float, float] = {}

    @property
    def center(self) -> float:
        return self.x[self.i]

    def __call__(self, at: float) -> float:
        if at not in self.seen:
            try:
                self.seen[at] = float(self.function(*self.x[: self.i], at, *self.x[self.i + 1 :]))
            except (ArithmeticError, ValueError):
                self.seen[at] = math.nan
        return self.seen[at]

    def noise(self) -> float | None:
        """η without its rounding: grain and jitter; None if f jumps about from one double to the next."""
        x, value = self.center, self(self.center)
        grain = math.ulp(x) if x else EPSILON
        probes = [(self(x - k * grain), self(x + k * grain)) for k in range(1, 5)]
        jitter = max((abs(a - 2.0 * value + b) for a, b in probes if math.isfinite(a) and math.isfinite(b)), default=0.0)
        near = [v for v in self.seen.values() if math.isfinite(v)]
        if jitter > RESOLVED * max(map(abs, near)):
            return None
        return max(jitter, min((abs(v - value) for v in near if v != value), default=0.0))


def _steps(x: float) -> Iterator[list[float]]:
    """Powers of two, ascending: relative to x, then, if x is small, absolute. Each list is extrapolated by itself."""
    exponent = math.frexp(x)[1] if x else 1
    low = max(exponent - 50, -1070)
    yield [math.ldexp(1.0, m) for m in range(low, exponent - 2)]
    if x and exponent < -2:
        yield [math.ldexp(1.0, m) for m in range(max(exponent - 2, -40), -3)]


def _points(x: float, h: float) -> tuple[float, float] | None:
    """Doubles on both sides of x, at most 2^-52 h off symmetry: at a change of binade an odd x needs an odd step."""
    for step in (h, h + math.ulp(x)):
        low, high = x - step, x + step
        below, above = LongDouble(x) - LongDouble(low), LongDouble(high) - LongDouble(x)
        if abs(above - below) <= EPSILON * h:
            return low, high
    return None


def _levels(line: _Line, steps: Iterable[float], side: int) -> list[_Level]:
    """The values at every step, until one of them is not finite."""
    found: list[_Level] = []
    x = line.center
    for h in steps:
        points = _points(x, h)
        if points is None:
            continue
        low, high = points[0] if side <= 0 else x, points[1] if side >= 0 else x
        width = LongDouble(high) - LongDouble(low)
        level = _Level(float(width if side else width / 2), width, line(low), line(high))
        if not (math.isfinite(level.low) and math.isfinite(level.high)):
            break
        found.append(level)
    return found


def _extrapolations(levels: Sequence[_Level], side: int, noise: float, ulps: float) -> Iterator[Estimate]:
    """For every level its sharpest member of the scheme, with the bound of the module's docstring."""
    members: list[tuple[Any, float]] = []
    nodes: list[Any] = []
    largest = 0.0
    for level in levels:
        largest = max(largest, abs(level.low), abs(level.high))
        eta = max(noise, 0.5 * ulps * EPSILON * largest)
        h = LongDouble(level.step)
        quotient = (LongDouble(level.high) - LongDouble(level.low)) / level.width
        member: tuple[Any, float] = (quotient, 2.0 * eta / float(level.width))
        nodes.append(h if side else h * h)
        row, best = [member], None
        for j, finer in enumerate(members[:ORDER]):
            s0, s1 = nodes[-2 - j], nodes[-1]
            value = (s1 * finer[0] - s0 * member[0]) / (s1 - s0)
            floor = float((s1 * finer[1] + s0 * member[1]) / (s1 - s0))
            truncation = float(max(abs(value - finer[0]), abs(value - member[0])))
            bound = CAUTION * truncation + 2.0 * floor + EPSILON * float(abs(value))
            if j and (best is None or bound < best.bound):
                best = Estimate(float(value), bound)
            member = (value, floor)
            row.append(member)
        members = row
        if best is not None and math.isfinite(best.value) and math.isfinite(best.bound):
            yield best


def _search(line: _Line, side: int, ulps: float) -> Estimate | None:
    """Ascent in h: the sharpest estimate among those that agree with all before them."""
    batches = [_levels(line, steps, side) for steps in _steps(line.center)]
    noise = line.noise()
    if noise is None:
        return None
    best: Estimate | None = None
    low, high = -math.inf, math.inf
    for estimate in (e for levels in batches for e in _extrapolations(levels, side, noise, ulps)):
        if estimate.value - estimate.bound > high or estimate.value + estimate.bound < low:
            break
        low, high = max(low, estimate.value - estimate.bound), min(high, estimate.value + estimate.bound)
        if best is None or estimate.bound < best.bound:
            best = estimate
    return best


def _answer(found: Estimate | None, enough: float) -> Estimate | Unknown:
    if found is None:
        return Unknown("the function is not finite around the point, or not resolved by the doubles there")
    if found.bound > enough * max(1.0, abs(found.value)):
        return Unknown(f"rounding hides the derivative: {found.value!r} ± {found.bound:.2g}")
    return found


def _checked(function: Function, x: Sequence[float], i: int) -> _Line | Unknown:
    line = _Line(function, x, i)
    if not math.isfinite(line.center) or not math.isfinite(line(line.center)):
        return Unknown("the point or the value there is not finite")
    return line


def one_sided(
    function: Function, x: Sequence[float], i: int = 0, side: int = 1, *, ulps: float = ULPS, enough: float = ENOUGH
) -> Estimate | Unknown:
    """
    The derivative of `function(*x)` to x[i] from the right (side = 1) or from the left (side = -1), with its bound.

    `ulps`: how many units in the last place a value may be wrong. Unknown if the bound exceeds `enough` times max(1, |derivative|).
    """
    line = _checked(function, x, i)
    return line if isinstance(line, Unknown) else _answer(_search(line, 1 if side > 0 else -1, ulps), enough)


def derivative(
    function: Function, x: Sequence[float], i: int = 0, *, ulps: float = ULPS, enough: float = ENOUGH
) -> Estimate | Unknown:
    """The derivative of `function(*x)` to x[i], with its bound; Unknown at a kink, at an edge, or where rounding hides it."""
    line = _checked(function, x, i)
    if isinstance(line, Unknown):
        return line
    found = _answer(_search(line, 0, ulps), enough)
    if isinstance(found, Unknown):
        return found
    sides = [_search(line, side, ulps) for side in (-1, 1)]
    for estimate in sides:
        if estimate is None or not estimate.overlaps(found):
            left, right = (f"{e.value!r} ± {e.bound:.2g}" if e else "nothing" for e in sides)
            return Unknown(f"no derivative, or none that can be seen: {left} from the left, {right} from the right")
    return found


def gradient(function: Function, x: Sequence[float], *, ulps: float = ULPS, enough: float = ENOUGH) -> list[Estimate | Unknown]:
    """The derivatives to all arguments."""
    return [derivative(function, x, i, ulps=ulps, enough=enough) for i in range(len(x))]


def agrees(
    function: Function, x: Sequence[float], i: int, candidate: float, *, ulps: float = ULPS, candidate_ulps: float = 64.0
) -> Verdict:
    """
    Whether `candidate`, itself computed with an error of at most `candidate_ulps`, is the derivative of `function` to x[i].

    Refuted only if it is outside the bound by more than its own error.
    """
    claim = f"finite differences, argument {i}"
    found = derivative(function, x, i, ulps=ulps)
    if isinstance(found, Unknown):
        return Unknown(found.reason, claim)
    if abs(candidate - found.value) <= found.bound + candidate_ulps * math.ulp(found.value):
        return Passed(1, f"within {found.bound:.2g} of a Richardson extrapolation", claim)
    inputs = {f"argument {k}": c for k, c in enumerate(x)}
    return Refuted(
        Counterexample(inputs, candidate, found.value, note=f"the reference is wrong by at most {found.bound:.2g}"), claim=claim
    )
