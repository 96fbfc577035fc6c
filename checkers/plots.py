"""
What there is to draw of a judgment, as plain data; `adjudge.html` draws it.

    line(trial, case, output, coordinate)   an entry of the Jacobian along its own coordinate, through the counterexample: what the
                                            backpropagator answers, and the bounds of the reference; of a primitive on arrays
    scalar_line(subject, xs, i)             the same of a primitive of reals
    errors(subject), errors_of(trial)       by how many units in the last place the answers are off, over the domain

Drawing never changes a verdict, and has a budget: so many points, and no new one after `SECONDS`. A plot that cannot be drawn has
no points, and its note says why.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from checkers.array_audit.case import Case
    from checkers.array_audit.trial import Trial
    from checkers.primitive_audit.subject import Subject

SECONDS = 0.3
POINTS = 128
LARGEST = 4096
"""So many coordinates or outputs at most has a case whose lines are drawn: each point of a line is a run of the function."""

Seen: TypeAlias = tuple[float, float, float]
Probe: TypeAlias = Callable[[float], Seen]
NOTHING: Seen = (math.nan, math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Plot:
    """
    Points (xs[k], found[k]) with bounds lo[k] <= wanted <= hi[k]; NaN where nothing is known.

    kind    "line": the entry of a Jacobian along a coordinate; "errors": errors in ulp, with hi the allowed ones and lo unused
    across  what runs along the x axis       up   what is found
    at      the x of the counterexample, NaN if there is none
    note    what else to say under the plot; of a plot without points, why it has none
    """

    kind: str
    title: str
    across: str
    up: str
    xs: tuple[float, ...] = ()
    found: tuple[float, ...] = ()
    lo: tuple[float, ...] = ()
    hi: tuple[float, ...] = ()
    at: float = math.nan
    note: str = ""


# lines


def line(trial: Trial, case: Case, output: int, coordinate: int) -> Plot:
    """Entry (output, coordinate) of the Jacobian along that coordinate, through the case; without points where it is too large."""
    from checkers.array_audit.case import named, unit

    across = named(case, trial.parameters, coordinate)
    if max(case.size, case.outputs) > LARGEST:
        return Plot("line", *_titles(trial.name, across, output), note=f"not drawn: more than {LARGEST} coordinates or outputs")
    start = case.coordinates
    along, back = unit(case.size, coordinate), unit(case.outputs, output)

    def probe(x: float) -> Seen:
        moved = start.copy()
        moved[coordinate] = x
        there = trial.case(case.at(moved))
        if there is None or there.outputs != case.outputs:
            return NOTHING
        answer = trial.pulled(there, back).cotangents
        sides = trial.sides(there, along)
        wanted = sides.clarke if sides.kink[output] else sides.value
        found = math.nan if answer is None else float(answer[coordinate])
        return found, float(wanted.lo[output]), float(wanted.hi[output])

    return _line(probe, float(start[coordinate]), _titles(trial.name, across, output if case.outputs > 1 else None))


def scalar_line(subject: Subject, xs: Sequence[float], i: int) -> Plot:
    """The derivative by argument i along that argument, through xs."""

    def probe(x: float) -> Seen:
        there = (*xs[:i], x, *xs[i + 1 :])
        value = subject.value(there) if subject.row.in_domain(*there) else math.nan
        if not math.isfinite(value):
            return NOTHING
        slope = subject.slope(there, i)
        wanted = slope.clarke if slope.note == "kink" else slope.value
        found = subject.pulled(there, value, 1.0)[i]
        return (found, math.nan, math.nan) if wanted is None else (found, wanted.lo, wanted.hi)

    return _line(probe, xs[i], _titles(subject.name, subject.parameters[i], None))


def _titles(name: str, across: str, output: int | None) -> tuple[str, str, str]:
    """Title, x label and y label."""
    of = "" if output is None else f", output {output}"
    return f"{name}: derivative by {across}{of}", across, f"derivative by {across}"


def _line(probe: Probe, at: float, titles: tuple[str, str, str]) -> Plot:
    """The probe at evenly spaced points of a window around `at`, at it, and close by it on both sides."""
    if not math.isfinite(at):
        return Plot("line", *titles, at=at, note=f"not drawn: {titles[1]} is {at} there")
    deadline = time.perf_counter() + SECONDS
    width = _window(probe, at, deadline)
    seen: dict[float, Seen] = {}
    for x in _spread(at, width):
        if time.perf_counter() > deadline and x != at:
            break
        if math.isfinite(x) and x not in seen:
            seen[x] = probe(x)
    xs = sorted(seen)
    found, lo, hi = zip(*(seen[x] for x in xs), strict=True)
    return Plot("line", *titles, tuple(xs), found, lo, hi, at)


def _window(probe: Probe, at: float, deadline: float) -> float:
    """Half the widest window, of size |at| or smaller by powers of 8, in which the error at `at` is a twelfth of what is seen."""
    widest = abs(at) or 1.0
    found, lo, hi = probe(at)
    error = max(lo - found, found - hi)
    if not 0 < error < math.inf:
        return widest
    width = widest
    while width > widest * 2.0**-49 and time.perf_counter() < deadline - SECONDS / 2:
        ends = [v for share in (-1, -0.5, 0.5, 1) for v in probe(at + share * width) if math.isfinite(v)]
        if not ends or error >= (max(ends) - min(ends)) / 12:
            return width
        width /= 8
    return widest


def _spread(at: float, width: float) -> Iterator[float]:
    """The point, two close by, then evenly spaced ones: every 16th first, so that a line which stops early spans the window."""
    yield at
    for near in (2.0**-14, 2.0**-8):
        yield from (at - width * near, at + width * near)
    for stride in (16, 4, 1):
        yield from (at + width * (2 * k / POINTS - 1) for k in range(0, POINTS + 1, stride))


# errors in units of the last place


GRID = 150
LOWEST, HIGHEST = -40, 40
FEW = 64
"""Cases of more coordinates or outputs are left out of the errors of a trial."""
TINY = 2.0**-960
"""Below this, derivatives have lost digits to underflow, or are 0; an error is small or not, but no number of ulp."""


def errors(subject: Subject, i: int = 0) -> Plot:
    """
    The error of the derivative by argument i, in ulp of it, and the error that rounding is allowed; over 2^-40 <= |x| <= 2^40 and
    the points that were judged. Other arguments are as in those points. An error is infinite where the cotangent is no number, or
    where it should be 0, whose ulp says nothing.
    """
    name = subject.parameters[i]
    plot = Plot("errors", f"{subject.name}: error of the derivative by {name}", name, "error in ulp")
    if not subject.points:
        return plot
    deadline = time.perf_counter() + SECONDS
    rows = []
    for k, x in enumerate(_grid()):
        if time.perf_counter() > deadline:
            break
        others = subject.points[k % len(subject.points)].xs
        rows.append(_error(subject, (*others[:i], x, *others[i + 1 :]), i))
    rows += [_error(subject, p.xs, i) for p in subject.points if time.perf_counter() < 2 * SECONDS + deadline]
    return _errors(plot, [row for row in rows if row is not None])


def _grid() -> Iterator[float]:
    """Numbers of both signs whose exponents are spread evenly, in an order in which every beginning is spread evenly."""
    golden = (math.sqrt(5) - 1) / 2
    for k in range(1, GRID + 1):
        x = 2.0 ** (LOWEST + (HIGHEST - LOWEST) * (k * golden % 1.0))
        yield from (x, -x)


def _error(subject: Subject, xs: tuple[float, ...], i: int) -> tuple[float, float, float] | None:
    """(x, error, allowed error), in ulp; None where there is no derivative, or no reference for it."""
    value = subject.value(xs) if subject.row.in_domain(*xs) else math.nan
    wanted = subject.slope(xs, i).value if math.isfinite(value) and math.isfinite(xs[i]) else None
    if wanted is None or not wanted.finite:
        return None
    found = subject.pulled(xs, value, 1.0)[i]
    error, (relative, absolute) = wanted.distance(found), subject.budget(xs)
    if wanted.size < TINY:
        return xs[i], 0.0 if error <= absolute else math.inf, math.nan
    allowed, ulp = relative * wanted.size, math.ulp(wanted.middle)
    if error > allowed:
        wider, _ = subject.conditioned(xs, i, wanted, allowed)
        allowed += max(wider.hi - wanted.hi, wanted.lo - wider.lo)
    if wanted.hi - wanted.lo <= 4 * ulp and math.isfinite(found):
        error = abs(found - wanted.middle)  # the enclosure is rounded outwards to doubles; its middle is what it means
    return xs[i], error / ulp, allowed / ulp


def errors_of(trial: Trial) -> Plot:
    """
    The errors of the entries of the Jacobian on the cases of a trial, in ulp of the entry, over the coordinate they belong to: the
    largest of each coordinate, where the judge has an opinion. What is not known yet is asked for until the time is over.
    """
    import numpy as np

    from checkers.array_audit.opinion import entries, format_of

    plot = Plot("errors", f"{trial.name}: errors of the entries of the Jacobian", "the coordinate", "error in ulp")
    deadline = time.perf_counter() + SECONDS
    rows: list[tuple[float, float, float]] = []
    for case in trial.cases:
        if time.perf_counter() > deadline:
            break
        if not (0 < case.size <= FEW and 0 < case.outputs <= FEW):
            continue
        opinions, unit = entries(trial, case), format_of(trial, case).unit
        wanted, normal = opinions.wanted, opinions.wanted.size >= TINY
        with np.errstate(all="ignore"):
            ulp = 2 * unit * 2.0 ** np.floor(np.log2(wanted.size))
            narrow = (wanted.hi - wanted.lo <= 4 * ulp) & np.isfinite(opinions.found)
            distance = np.where(narrow, np.abs(opinions.found - wanted.middle), wanted.distance(opinions.found))
            error = np.where(normal, distance / ulp, np.where(distance <= opinions.allowed, 0.0, np.inf))
            error = np.where(opinions.skip, -1.0, error)
            allowed = np.where(normal, opinions.allowed / ulp, np.nan)
        for j, x in enumerate(case.coordinates):
            k = int(np.argmax(error[:, j]))
            if error[k, j] >= 0 and math.isfinite(x):
                rows.append((float(x), float(error[k, j]), float(allowed[k, j])))
    return _errors(plot, rows)


def _errors(plot: Plot, rows: list[tuple[float, float, float]]) -> Plot:
    """The plot with these rows (x, error, allowed), by x."""
    if not rows:
        return Plot(
            plot.kind, plot.title, plot.across, plot.up, note="not drawn: no reference knows the derivative on these points"
        )
    xs, found, allowed = zip(*sorted(rows), strict=True)
    return Plot(plot.kind, plot.title, plot.across, plot.up, xs, found, tuple(0.0 for _ in xs), allowed)
