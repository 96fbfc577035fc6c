"""
Plots as inline SVG: what the backpropagator answers along a line, against the reference; and its errors in ulp over the domain.

Colours come from the page and are told apart by colour-blind readers; shapes say the same without them. Each drawing has a title
and a sentence in words, which is its text alternative and stands under it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from adjudge.html.axes import Axis, linear, logarithmic, shown, symmetric
from adjudge.html.elements import Markup, element
from checkers.plots import Plot

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 78, 16, 30, 46
BINS = 120
FLOOR, CEILING = 0.25, 1e17
"""Errors below a quarter of an ulp are drawn at the bottom; 10^17 ulp are more than all digits of a double."""


def figure(plot: Plot, name: str) -> Markup:
    """The plot, its legend and its sentence; of one without points, why there is nothing to see. `name` is unique in the page."""
    if not plot.xs or not any(map(math.isfinite, (*plot.found, *plot.lo))):
        return element("p", plot.note or "There is nothing to draw.", class_="aside")
    drawn, sentence, legend = _line(plot) if plot.kind == "line" else _errors(plot)
    svg = element(
        "svg",
        element("title", plot.title, id=f"{name}-title"),
        element("desc", sentence, id=f"{name}-desc"),
        drawn,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )
    words = [element("span", _swatch(kind), text, class_="key") for kind, text in legend]
    caption = element("figcaption", element("span", words, class_="legend"), element("span", sentence), " ", plot.note)
    return element("figure", svg, caption)


def across(share: float) -> float:
    return LEFT + min(max(share, -0.01), 1.01) * (WIDTH - LEFT - RIGHT)


def upward(share: float) -> float:
    return HEIGHT - BOTTOM - min(max(share, 0.0), 1.0) * (HEIGHT - TOP - BOTTOM)


def _frame(x: Axis, y: Axis, x_label: str, y_label: str) -> Iterator[Markup]:
    """Grid lines, ticks, and the names of the axes."""
    for number, label in y.ticks:
        at = upward(y.place(number))
        yield element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=_px(at), y2=_px(at), class_="zero" if label == "0" else "grid")
        yield element("text", label, x=LEFT - 6, y=_px(at + 4), text_anchor="end")
    for number, label in x.ticks:
        at = across(x.place(number))
        yield element("line", x1=_px(at), x2=_px(at), y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM + 4, class_="tick")
        yield element("text", label, x=_px(at), y=HEIGHT - BOTTOM + 17, text_anchor="middle")
    yield element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM, class_="tick")
    name = f"{x_label}, from {x.origin}" if x.origin else x_label
    yield element("text", name, x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle", class_="name")
    name = f"{y_label}, from {y.origin}" if y.origin else y_label
    yield element("text", name, x=LEFT, y=18, class_="name")


# along a line


def _line(plot: Plot) -> tuple[list[Markup], str, list[tuple[str, str]]]:
    """The drawing, the sentence and the legend of a line."""
    x, y = linear(_known(plot), plot.at), linear(_range(plot))
    drawn = [*_frame(x, y, plot.across, plot.up)]
    gaps = list(_gaps(plot))
    for start, end in gaps:
        left, right = across(x.place(start)), across(x.place(end))
        wide = max(right - left, 7.0)
        left = (left + right - wide) / 2
        drawn.append(element("rect", x=_px(left), y=TOP, width=_px(wide), height=HEIGHT - TOP - BOTTOM, class_="gap"))
    drawn += [element("polygon", points=_points(band, x, y), class_="band") for band in _bands(plot)]
    middles = [lo / 2 + hi / 2 for lo, hi in zip(plot.lo, plot.hi, strict=True)]
    drawn += [element("polyline", points=_points(run, x, y), class_="wanted") for run in _runs(plot.xs, middles)]
    drawn += [element("polyline", points=_points(run, x, y), class_="found") for run in _runs(plot.xs, plot.found)]
    for at, value in zip(plot.xs, plot.found, strict=True):
        if math.isinf(value) or abs(y.place(value) - 0.5) > 0.501:
            drawn.append(_arrow(across(x.place(at)), upward(1.0 if value > 0 else 0.0), up=value > 0))
    if plot.at in plot.xs:
        drawn += _marked(plot, x, y)
    legend = [("wanted", "reference and its bounds"), ("found", "backpropagator")]
    legend += [("at", f"counterexample, at {plot.across} = {shown(plot.at)}")] if plot.at in plot.xs else []
    legend += [("gap", "the backpropagator gives no number")] if gaps else []
    return drawn, _sentence(plot), legend


def _marked(plot: Plot, x: Axis, y: Axis) -> Iterator[Markup]:
    """The counterexample: a rule, what was wanted as a bar, what was found as a ring."""
    at = across(x.place(plot.at))
    yield element("line", x1=_px(at), x2=_px(at), y1=TOP, y2=HEIGHT - BOTTOM, class_="at")
    found, lo, hi = _at(plot)
    if not math.isnan(lo):
        top, bottom = upward(y.place(hi)) - 3, upward(y.place(lo)) + 3
        yield element("rect", x=_px(at - 4), y=_px(top), width=8, height=_px(bottom - top), class_="mark-wanted")
    if math.isfinite(found):
        yield element("circle", cx=_px(at), cy=_px(upward(y.place(found))), r=5, class_="mark-found")


def _range(plot: Plot) -> list[float]:
    """
    Least and greatest value to show, with some air. Where a few values are far from most, as at a pole, it is what most have, and
    the counterexample unless that is far out.
    """
    values = sorted(v for v in (*plot.found, *plot.lo, *plot.hi) if math.isfinite(v))
    low, high = values[0], values[-1]
    most, least = values[-1 - len(values) // 20], values[len(values) // 20]
    spread = most - least
    if 0 < spread < (high - low) / 20:
        low, high = max(low, least - spread), min(high, most + spread)
        for v in _at(plot):
            if math.isfinite(v) and least - 20 * spread <= v <= most + 20 * spread:
                low, high = min(low, v), max(high, v)
    air = (high / 2 - low / 2) * 0.12
    return [low - air, high + air]


def _known(plot: Plot) -> list[float]:
    """Where there is anything to draw."""
    return [x for x, *values in zip(plot.xs, plot.found, plot.lo, strict=True) if not all(map(math.isnan, values))]


def _at(plot: Plot) -> tuple[float, float, float]:
    """What was found at the counterexample, and the bounds there."""
    k = plot.xs.index(plot.at) if plot.at in plot.xs else None
    return (math.nan, math.nan, math.nan) if k is None else (plot.found[k], plot.lo[k], plot.hi[k])


def _sentence(plot: Plot) -> str:
    """What there is to see, in words."""
    words = ""
    if plot.at in plot.xs:
        found, lo, hi = _at(plot)
        digits = 17 if found != lo and shown(found) in (shown(lo), shown(hi)) else 6
        wanted = "is silent" if math.isnan(lo) else f"says {shown(lo, min(digits, 15))}"
        if shown(lo, min(digits, 15)) != shown(hi, min(digits, 15)):
            wanted = f"says between {shown(lo, digits)} and {shown(hi, digits)}"
        answer = "gives no number" if math.isnan(found) else f"answers {shown(found, digits)}"
        words = f"At {plot.across} = {shown(plot.at, 17)} the backpropagator {answer}; the reference {wanted}. "
    judged = [row for row in zip(plot.found, plot.lo, plot.hi, strict=True) if not math.isnan(row[1])]
    room = 2.0**-30
    right = sum(lo - room * abs(lo) <= f <= hi + room * abs(hi) for f, lo, hi in judged)
    first, *_, last = _known(plot) * 2
    span = f"from {shown(first)} to {shown(last)}"
    if shown(first) == shown(last):
        span = f"over a width of {shown(last - first, 2)}"
    if not judged:
        return words + f"The reference knows nothing {span}."
    if words and right == len(judged):
        return words + f"Drawn {span}."
    return words + f"Drawn {span}: to nine digits they agree at {right} of {len(judged)} points."


def _runs(xs: Sequence[float], values: Sequence[float]) -> Iterator[list[tuple[float, float]]]:
    """The stretches on which values are finite; a lone point is doubled, so that it is drawn."""
    run: list[tuple[float, float]] = []
    for x, v in (*zip(xs, values, strict=True), (0.0, math.nan)):
        if math.isfinite(v):
            run.append((x, v))
        elif run:
            yield run if len(run) > 1 else run * 2
            run = []


def _bands(plot: Plot) -> Iterator[list[tuple[float, float]]]:
    """The bounds as closed outlines."""
    for low, high in zip(_runs(plot.xs, plot.lo), _runs(plot.xs, plot.hi), strict=False):
        yield [*low, *reversed(high)]


def _gaps(plot: Plot) -> Iterator[tuple[float, float]]:
    """The stretches on which the reference knows the derivative and the backpropagator gives no number."""
    start: int | None = None
    last = len(plot.xs) - 1
    for k in range(last + 2):
        gap = k <= last and math.isnan(plot.found[k]) and not math.isnan(plot.lo[k])
        if gap and start is None:
            start = k
        elif not gap and start is not None:
            yield plot.xs[start], plot.xs[k - 1]
            start = None


def _points(run: Sequence[tuple[float, float]], x: Axis, y: Axis) -> str:
    return " ".join(f"{_px(across(x.place(a)))},{_px(upward(y.place(b)))}" for a, b in run)


# errors


def _errors(plot: Plot) -> tuple[list[Markup], str, list[tuple[str, str]]]:
    """The drawing, the sentence and the legend of errors: the largest in each of `BINS` bins, and the level that is allowed."""
    finite = [e for e in plot.found if e < CEILING]
    most = CEILING if len(finite) < len(plot.found) else max([*finite, *(a for a in plot.hi if a < 1e6), 1e3])
    x, y = symmetric(plot.xs), logarithmic(FLOOR, min(4 * most, CEILING))
    bins: dict[int, list[tuple[float, float, float]]] = {}
    for row in zip(plot.xs, plot.found, plot.hi, strict=True):
        bins.setdefault(round(x.place(row[0]) * BINS), []).append(row)
    drawn = [*_frame(x, y, f"{plot.across}, logarithmic to both sides of 0", plot.up)]
    levels, worst_over, over = [], (math.nan, 0.0), 0
    for k in sorted(bins):
        rows = bins[k]
        worst = max(rows, key=lambda r: (_over(r), r[1]))
        allowed = [r[2] for r in rows if not math.isnan(r[2])]
        levels += [(k / BINS, min(allowed))] if allowed else []
        at, high = across(k / BINS), upward(y.place(min(max(worst[1], FLOOR), CEILING)))
        drawn.append(element("line", x1=_px(at), x2=_px(at), y1=HEIGHT - BOTTOM, y2=_px(high), class_="stem"))
        drawn.append(_cross(at, high) if _over(worst) else element("circle", cx=_px(at), cy=_px(high), r=2.5, class_="dot"))
        over += sum(map(_over, rows))
        worst_over = max(worst_over, (worst[0], worst[1]), key=lambda w: w[1])
    path = " ".join(f"{_px(across(u))},{_px(upward(y.place(min(a, CEILING))))}" for u, a in levels)
    drawn.append(element("polyline", points=path, class_="level"))
    legend = [("dot", "largest error in each of 120 parts of the domain"), ("level", "what rounding may cost")]
    legend += [("cross", "more than that")] if over else []
    worst_said = "a cotangent that is no number or should be 0" if worst_over[1] > CEILING else f"{shown(worst_over[1], 2)} ulp"
    place = f", at {plot.across} = {shown(worst_over[0])}" if worst_over[1] > 0 else ""
    sentence = f"{len(plot.xs)} points. The largest error is {worst_said}{place}; "
    sentence += f"{over} of the points exceed what rounding may cost." if over else "no point exceeds what rounding may cost."
    return drawn, sentence, legend


def _over(row: tuple[float, float, float]) -> bool:
    return row[1] > row[2] or math.isinf(row[1])


# marks


def _arrow(x: float, y: float, *, up: bool) -> Markup:
    tip, base = (y, y + 8) if up else (y, y - 8)
    return element("polygon", points=f"{_px(x)},{_px(tip)} {_px(x - 4)},{_px(base)} {_px(x + 4)},{_px(base)}", class_="arrow")


def _cross(x: float, y: float) -> Markup:
    a, b, c, d = _px(x - 3.5), _px(x + 3.5), _px(y - 3.5), _px(y + 3.5)
    return element("path", d=f"M{a} {c}L{b} {d}M{a} {d}L{b} {c}", class_="cross")


def _swatch(kind: str) -> Markup:
    """The sign of a legend."""
    match kind:
        case "dot":
            sign = element("circle", cx=12, cy=6, r=2.5, class_="dot")
        case "cross":
            sign = _cross(12, 6)
        case "gap":
            sign = element("rect", x=4, y=0, width=16, height=12, class_="gap")
        case "at":
            sign = Markup(
                element("line", x1=12, x2=12, y1=0, y2=12, class_="at") + element("circle", cx=12, cy=6, r=4, class_="mark-found")
            )
        case _:
            sign = element("line", x1=1, x2=23, y1=6, y2=6, class_=kind)
    return element("svg", sign, viewBox="0 0 24 12", class_="swatch", aria_hidden="true")


def _px(x: float) -> str:
    return f"{x:.1f}".removesuffix(".0")
