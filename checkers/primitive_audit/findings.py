"""
From a failure to a finding: shrink the inputs, name the suspected cause, and write a script that fails alone (check 20).

Shrinking is greedy and deterministic: each number is tried at simpler values, from 0 to fewer significant bits, for as long as
the failure of the same kind persists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from checkers.inputs import Point
from checkers.primitive_audit.reference import Enclosure
from checkers.primitive_audit.script import script
from checkers.primitive_audit.subject import Judged, Subject
from checkers.verdict import Counterexample, Refuted

TRIES = 160


def simpler(x: float) -> Iterator[float]:
    """Simpler numbers than x, the simplest first."""
    if not math.isfinite(x):
        return
    for candidate in (0.0, 1.0, 2.0, 0.5, -1.0, -2.0):
        if candidate == x and math.copysign(1.0, candidate) == math.copysign(1.0, x):
            return
        yield candidate
    if x != math.trunc(x):
        yield float(math.trunc(x))
        yield math.copysign(math.ceil(abs(x)), x)
    mantissa, exponent = math.frexp(x)
    if exponent < 1024:
        yield math.copysign(math.ldexp(1.0, exponent), x)
    for kept in (2, 4, 8, 16):
        candidate = math.ldexp(math.trunc(math.ldexp(mantissa, kept)), exponent - kept)
        if candidate != x:
            yield candidate
    if abs(x) > 4:
        yield x / 2


def complexity(x: float) -> tuple[float, int, float, int]:
    """Orders numbers by how hard they are to read: significant bits, exponent, size, sign."""
    if x == 0 or not math.isfinite(x):
        return (0.0 if x == 0 else 99.0, 0, 0.0, int(math.copysign(1.0, x) < 0))
    bits = len(f"{x.hex().split('p')[0].split('.')[1].rstrip('0')}") * 4.0
    return (bits, abs(math.frexp(x)[1] - 1), abs(x), int(x < 0))


def shrink(xs: Point, fails: Callable[[Point], bool]) -> Point:
    """A point at which `fails` still holds and no single simplification of a coordinate does, within `TRIES` attempts."""
    tries = 0
    moved = True
    while moved and tries < TRIES:
        moved = False
        for i, x in enumerate(xs):
            for candidate in simpler(x):
                if complexity(candidate) >= complexity(x):
                    continue
                tries += 1
                shrunk = (*xs[:i], candidate, *xs[i + 1 :])
                if fails(shrunk):
                    xs, moved = shrunk, True
                    break
                if tries >= TRIES:
                    break
    return xs


def named(subject: Subject, xs: Point, d: float | None = None) -> dict[str, Any]:
    """The inputs by name, with the cotangent if there is one."""
    inputs: dict[str, Any] = dict(zip(subject.parameters, xs, strict=True))
    return inputs if d is None else inputs | {"dout": d}


def finding(
    subject: Subject,
    claim: str,
    point: Judged,
    *,
    d: float | None = 1.0,
    found: Any,
    wanted: Any,
    kind: str = "fault",
    cause: str = "",
    note: str = "",
    test: str = "",
    now: str = "pull(dout)",
) -> Refuted:
    """
    A refutation.

    test  a Python expression over forward, pull, x, y, dout and `now`, true when the rule is right
    now   what the script shows and tests; where one call of the rule does not show the failure, by `script.asked`
    """
    written = script(subject, claim, point.xs, 1.0 if d is None else d, test, found, wanted, now) if kind != "convention" else ""
    note = "; ".join(n for n in (note, f"seed {subject.seed}") if n)
    return Refuted(Counterexample(named(subject, point.xs, d), found, wanted, cause, written, note), kind, claim)


# suspected causes


def evidence(subject: Subject, i: int, most: int = 24) -> list[tuple[Judged, float, Enclosure]]:
    """(point, found, wanted) at ordinary points where the answer is finite."""
    rows = []
    for point in subject.smooth(most, ("sample", "random")):
        value = subject.slope(point.xs, i).value
        found = subject.pulled(point.xs, point.y, 1.0)[i]
        if value is not None and math.isfinite(found):
            rows.append((point, found, value))
    return rows


def suspect(subject: Subject, i: int) -> str:
    """The suspected cause of a wrong derivative by argument i, from what the rule answers elsewhere; "" if nothing fits."""
    rows = evidence(subject, i)
    if not rows:
        return ""
    near = [abs(f - w.middle) <= 2.0**-30 * max(abs(w.middle), 2.0**-200) + 2 * (w.hi - w.lo) for _, f, w in rows]
    if all(near):
        return "wrong at isolated points only: a special case is missing (0, a tie, a saturated value, the edge of the domain)"
    for test in (_ignores_cotangent, _wrong_sign, _swapped, _constant_ratio, _offset, _factor, _zero):
        if reason := test(subject, i, rows):
            return reason
    share = 1 - sum(near) / len(near)
    return f"wrong at {share:.0%} of ordinary points" + (": a branch is wrong" if share < 0.9 else "")


Rows = list[tuple[Judged, float, Enclosure]]


def _ignores_cotangent(subject: Subject, i: int, rows: Rows) -> str:
    point, found, _ = rows[0]
    other = subject.pulled(point.xs, point.y, 3.0)[i]
    return "it ignores the cotangent" if found != 0 and other == found else ""


def _wrong_sign(subject: Subject, i: int, rows: Rows) -> str:
    return "wrong sign" if all(_close(-f, w.middle) for _, f, w in rows) and any(f for _, f, _ in rows) else ""


def _swapped(subject: Subject, i: int, rows: Rows) -> str:
    for j in range(subject.arity):
        others = [subject.slope(p.xs, j).value for p, _, _ in rows]
        if j != i and all(o is not None and _close(f, o.middle) for o, (_, f, _) in zip(others, rows, strict=True)):
            return f"swapped arguments: this is the cotangent of {subject.parameters[j]}"
    return ""


def _constant_ratio(subject: Subject, i: int, rows: Rows) -> str:
    ratios = [f / w.middle for _, f, w in rows if w.middle]
    if any(f and not w.middle for _, f, w in rows):
        return ""  # no multiple of 0
    if len(ratios) > 2 and ratios[0] and all(_close(r, ratios[0], 2.0**-26) for r in ratios):
        return constant_factor(ratios[0])
    return ""


def constant_factor(ratio: float) -> str:
    """What is missing by a constant ratio; one that shows as 1 is told by how far it is from it, and 1 itself says nothing."""
    if ratio == 1:
        return ""
    if (shown := f"{ratio:.9g}") == "1":
        return f"constant ratio 1 {'+' if ratio > 1 else '-'} {abs(ratio - 1):.1e}: a constant has too few digits"
    return f"constant ratio {shown}: a factor {1 / ratio:.9g} is missing"


def _offset(subject: Subject, i: int, rows: Rows) -> str:
    offsets = [f - w.middle for _, f, w in rows if abs(w.middle) < 1e3]
    if len(offsets) > 2 and offsets[0] and all(_close(o, offsets[0], 2.0**-10) for o in offsets):
        return f"off by the additive constant {offsets[0]:.3g}"
    return ""


def _factor(subject: Subject, i: int, rows: Rows) -> str:
    for k, name in enumerate((*subject.parameters, "out")):
        usable = [(f, w.middle, v) for p, f, w in rows if (v := (*p.xs, p.y)[k]) and w.middle]
        if len(usable) > 2 and all(_close(f * v, w) for f, w, v in usable):
            return f"missing factor {name}"
        if len(usable) > 2 and all(_close(f, w * v) for f, w, v in usable):
            return f"a factor {name} too many"
    return ""


def _zero(subject: Subject, i: int, rows: Rows) -> str:
    return "a term is missing: it answers 0" if all(f == 0 for _, f, _ in rows) else ""


def _close(a: float, b: float, relative: float = 2.0**-24) -> bool:
    return abs(a - b) <= relative * max(abs(a), abs(b))
