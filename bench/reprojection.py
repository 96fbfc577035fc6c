"""
ADBench's bundle adjustment: the blocks of the Jacobian of the reprojection error, and the same by hand for Numba.

A camera has a rotation vector r (Rodrigues), a centre c, a focal length, a principal point p and two coefficients of distortion. It
sees a point x at q = R(r) (x - c), projected to s = (q1, q2) / q3, distorted to (1 + k1 |s|² + k2 |s|⁴) s, scaled and moved. An
observation has two errors, and a block of 2 by 15: their derivatives by its camera, its point and its weight. Observations are
independent, so the gradient of the sum of all first errors is the first row of every block.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bench.arrays_by_hand import ArrayFamily

NAMES = "r1, r2, r3, c1, c2, c3, focal, p1, p2, k1, k2, x1, x2, x3, w, seen1, seen2"
BY = tuple(range(15))

BY_CHOICE = """
    safe = np.where(square > 0.0, square, 1.0)
    angle = np.sqrt(safe)
    cosine = np.where(square > 0.0, np.cos(angle), 1.0)
    a = np.where(square > 0.0, np.sin(angle) / angle, 1.0)
    b = np.where(square > 0.0, (1.0 - np.cos(angle)) / safe, 0.5) * along
"""

BY_BRANCH = """
    cosine, a, b = 1.0, 1.0, 0.5 * along
    if square > 0.0:
        angle = np.sqrt(square)
        cosine, a, b = np.cos(angle), np.sin(angle) / angle, (1.0 - np.cos(angle)) / square * along
"""


def text(rotation: str, total: str = "") -> str:
    """The program, of numbers or of arrays: a rotation by nothing is told apart by a branch or by np.where; `total` sums errors."""
    return f"""
import numpy as np
from adjudge import grad

def errors({NAMES}):
    d1, d2, d3 = x1 - c1, x2 - c2, x3 - c3
    square = r1 * r1 + r2 * r2 + r3 * r3
    along = r1 * d1 + r2 * d2 + r3 * d3
    {rotation.strip()}
    q1 = cosine * d1 + a * (r2 * d3 - r3 * d2) + b * r1
    q2 = cosine * d2 + a * (r3 * d1 - r1 * d3) + b * r2
    q3 = cosine * d3 + a * (r1 * d2 - r2 * d1) + b * r3
    s1, s2 = q1 / q3, q2 / q3
    radius = s1 * s1 + s2 * s2
    scale = focal * (1.0 + k1 * radius + k2 * radius * radius)
    return w * (scale * s1 + p1 - seen1), w * (scale * s2 + p2 - seen2)

def first({NAMES}):
    return {total}(errors({NAMES})[0])

def second({NAMES}):
    return {total}(errors({NAMES})[1])

def f({NAMES}):
    return errors({NAMES})

def derivative({NAMES}):
    return (*grad(first, wrt={BY})({NAMES}), *grad(second, wrt={BY})({NAMES}))
"""


def by_hand(r1, r2, r3, c1, c2, c3, focal, p1, p2, k1, k2, x1, x2, x3, w, seen1, seen2):  # type: ignore[no-untyped-def]
    """One observation at a time: what both rows need is computed once, and the rows go backwards from q."""
    n = w.size
    rows = np.empty((2, 15, n))
    for i in range(n):
        r, d = (r1[i], r2[i], r3[i]), (x1[i] - c1[i], x2[i] - c2[i], x3[i] - c3[i])
        square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
        cosine, a, b, da, db = 1.0, 1.0, 0.5, 0.0, 0.0
        if square > 0.0:
            angle = math.sqrt(square)
            cosine = math.cos(angle)
            a = math.sin(angle) / angle
            b = (1.0 - cosine) / square
            da = (cosine - a) / (2.0 * square)
            db = (0.5 * a - b) / square
        along = r[0] * d[0] + r[1] * d[1] + r[2] * d[2]
        cross = (r[1] * d[2] - r[2] * d[1], r[2] * d[0] - r[0] * d[2], r[0] * d[1] - r[1] * d[0])
        q1 = cosine * d[0] + a * cross[0] + b * along * r[0]
        q2 = cosine * d[1] + a * cross[1] + b * along * r[1]
        q3 = cosine * d[2] + a * cross[2] + b * along * r[2]
        s1, s2 = q1 / q3, q2 / q3
        radius = s1 * s1 + s2 * s2
        factor = 1.0 + k1[i] * radius + k2[i] * radius * radius
        slope = 2.0 * focal[i] * (k1[i] + 2.0 * k2[i] * radius)
        for k in range(2):
            s = s1 if k == 0 else s2
            e1, e2 = (w[i], 0.0) if k == 0 else (0.0, w[i])
            row = rows[k]
            row[6, i] = w[i] * factor * s
            row[7, i], row[8, i] = e1, e2
            row[9, i] = w[i] * focal[i] * s * radius
            row[10, i] = row[9, i] * radius
            row[14, i] = focal[i] * factor * s + (p1[i] - seen1[i] if k == 0 else p2[i] - seen2[i])
            t1 = focal[i] * factor * e1 + slope * w[i] * s * s1
            t2 = focal[i] * factor * e2 + slope * w[i] * s * s2
            g1, g2, g3 = t1 / q3, t2 / q3, -(t1 * s1 + t2 * s2) / q3
            towards = r[0] * g1 + r[1] * g2 + r[2] * g3
            h1 = cosine * g1 + a * (g2 * r[2] - g3 * r[1]) + b * towards * r[0]
            h2 = cosine * g2 + a * (g3 * r[0] - g1 * r[2]) + b * towards * r[1]
            h3 = cosine * g3 + a * (g1 * r[1] - g2 * r[0]) + b * towards * r[2]
            row[11, i], row[12, i], row[13, i] = h1, h2, h3
            row[3, i], row[4, i], row[5, i] = -h1, -h2, -h3
            dsquare = (
                -0.5 * a * (g1 * d[0] + g2 * d[1] + g3 * d[2])
                + da * (g1 * cross[0] + g2 * cross[1] + g3 * cross[2])
                + db * along * towards
            )
            row[0, i] = a * (d[1] * g3 - d[2] * g2) + b * (towards * d[0] + along * g1) + 2.0 * dsquare * r[0]
            row[1, i] = a * (d[2] * g1 - d[0] * g3) + b * (towards * d[1] + along * g2) + 2.0 * dsquare * r[1]
            row[2, i] = a * (d[0] * g2 - d[1] * g1) + b * (towards * d[2] + along * g3) + 2.0 * dsquare * r[2]
    return rows


def given(n: int) -> tuple[Any, ...]:
    """Cameras that look at their points: these lie some ten units before them."""
    draw = np.random.default_rng(n)
    turned = [0.2 * draw.normal(size=n) for _ in range(3)]
    centre = [draw.normal(size=n) for _ in range(3)]
    lens = [1.0 + 0.1 * draw.normal(size=n), draw.normal(size=n), draw.normal(size=n)]
    distorted = [0.1 * draw.normal(size=n), 0.01 * draw.normal(size=n)]
    point = [draw.normal(size=n), draw.normal(size=n), 10.0 + draw.normal(size=n)]
    return (*turned, *centre, *lens, *distorted, *point, *(draw.normal(size=n) for _ in range(3)))


ON_ARRAYS = text(BY_CHOICE, "np.sum")
SIZES = {"10 observations": (10,), "10000 observations": (10_000,)}
FAMILIES = {
    "BA on arrays": ArrayFamily(ON_ARRAYS, by_hand, given, BY, SIZES, derivative="derivative"),
    "BA by samples": ArrayFamily(ON_ARRAYS, by_hand, given, BY, SIZES, derivative="derivative", sample=text(BY_BRANCH)),
}
