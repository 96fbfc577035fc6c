"""
ADBench's bundle adjustment: the blocks of the Jacobian of the reprojection error, and the same by hand for Numba.

A camera has a rotation vector r (Rodrigues), a centre c, a focal length, a principal point p and two coefficients of distortion. It
sees a point x at q = R(r) (x - c), projected to s = (q1, q2) / q3, distorted to (1 + k1 |s|² + k2 |s|⁴) s, scaled and moved. An
observation has two errors, and a block of 2 by 15: their derivatives by its camera, its point and its weight. Observations are
independent, so the gradient of the sum of all first errors is the first row of every block.

On arrays the arguments are those of ADBench: a matrix of 11 rows for cameras, one of three for points, the weights, and one of two
for what is seen; both gradients are such arrays again, six of them, for every library and by hand. As a batch each observation has
a row of these matrices, and ours is written for one of them, whose camera is a vector of 11 numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.arrays_by_hand import ArrayFamily

NUMBERS = "r1, r2, r3, c1, c2, c3, focal, p1, p2, k1, k2, x1, x2, x3, w, seen1, seen2"
BY = (0, 1, 2)

ROWS = """
    r1, r2, r3, c1, c2, c3 = cams[0], cams[1], cams[2], cams[3], cams[4], cams[5]
    focal, p1, p2, k1, k2 = cams[6], cams[7], cams[8], cams[9], cams[10]
    x1, x2, x3, seen1, seen2 = points[0], points[1], points[2], seen[0], seen[1]
"""
COLUMNS = re.sub(r"(cams|points|seen)\[", r"\1[:, ", ROWS)

BY_CHOICE = """
    safe = np.where(square > 0.0, square, 1.0)
    angle = np.sqrt(safe)
    cosine = np.where(square > 0.0, np.cos(angle), 1.0)
    a = np.where(square > 0.0, np.sin(angle) / angle, 1.0)
    b = np.where(square > 0.0, (1.0 - np.cos(angle)) / safe, 0.5) * along
"""


def text(parts: str) -> str:
    """The program on arrays of observations, of which `parts` makes the numbers."""
    return f"""
import numpy as np
from adjudge import grad

def errors(cams, points, w, seen):
    {parts.strip()}
    d1, d2, d3 = x1 - c1, x2 - c2, x3 - c3
    square = r1 * r1 + r2 * r2 + r3 * r3
    along = r1 * d1 + r2 * d2 + r3 * d3
    {BY_CHOICE.strip()}
    q1 = cosine * d1 + a * (r2 * d3 - r3 * d2) + b * r1
    q2 = cosine * d2 + a * (r3 * d1 - r1 * d3) + b * r2
    q3 = cosine * d3 + a * (r1 * d2 - r2 * d1) + b * r3
    s1, s2 = q1 / q3, q2 / q3
    radius = s1 * s1 + s2 * s2
    scale = focal * (1.0 + k1 * radius + k2 * radius * radius)
    return w * (scale * s1 + p1 - seen1), w * (scale * s2 + p2 - seen2)

def first(cams, points, w, seen):
    return np.sum(errors(cams, points, w, seen)[0])

def second(cams, points, w, seen):
    return np.sum(errors(cams, points, w, seen)[1])

def f(cams, points, w, seen):
    return errors(cams, points, w, seen)

def derivative(cams, points, w, seen):
    return (*grad(first, wrt={BY})(cams, points, w, seen), *grad(second, wrt={BY})(cams, points, w, seen))
"""


SAMPLE = f"""
import numpy as np
from adjudge import grad

def f(cam, point, w, seen):
    r, d = cam[:3], point - cam[3:6]
    square, along = np.sum(r * r), np.sum(r * d)
    cosine, a, b = 1.0, 1.0, 0.5 * along
    if square > 0.0:
        angle = np.sqrt(square)
        cosine, a, b = np.cos(angle), np.sin(angle) / angle, (1.0 - np.cos(angle)) / square * along
    cross = np.array([r[1] * d[2] - r[2] * d[1], r[2] * d[0] - r[0] * d[2], r[0] * d[1] - r[1] * d[0]])
    q = cosine * d + a * cross + b * r
    s = q[:2] / q[2]
    radius = np.sum(s * s)
    scale = cam[6] * (1.0 + cam[9] * radius + cam[10] * radius * radius)
    return w * (scale * s + cam[7:9] - seen)

def first(cam, point, w, seen):
    return f(cam, point, w, seen)[0]

def second(cam, point, w, seen):
    return f(cam, point, w, seen)[1]

def derivative(cam, point, w, seen):
    return (*grad(first, wrt={BY})(cam, point, w, seen), *grad(second, wrt={BY})(cam, point, w, seen))
"""


def by_hand(body: str, numbers: str, given: str) -> Callable[..., Any]:
    """
    One observation at a time, of numbers that are read from the arguments: what both rows of its block need is computed once, and
    the rows go backwards from q. What is given are parts of an array of all blocks.
    """
    names: dict[str, Any] = {"np": np, "math": math}
    exec(body.format(names=NUMBERS, numbers=numbers, given=given), names)  # a text of this module
    function: Callable[..., Any] = names["by_hand"]
    return function


BY_HAND = """
def by_hand(cams, points, weights, seen):
    rows = np.empty((2, 15, weights.size))
    for i in range(weights.size):
        {names} = {numbers}
        r, d = (r1, r2, r3), (x1 - c1, x2 - c2, x3 - c3)
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
        factor = 1.0 + k1 * radius + k2 * radius * radius
        slope = 2.0 * focal * (k1 + 2.0 * k2 * radius)
        for k in range(2):
            s = s1 if k == 0 else s2
            e1, e2 = (w, 0.0) if k == 0 else (0.0, w)
            row = rows[k]
            row[6, i] = w * factor * s
            row[7, i], row[8, i] = e1, e2
            row[9, i] = w * focal * s * radius
            row[10, i] = row[9, i] * radius
            row[14, i] = focal * factor * s + (p1 - seen1 if k == 0 else p2 - seen2)
            t1 = focal * factor * e1 + slope * w * s * s1
            t2 = focal * factor * e2 + slope * w * s * s2
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
    return {given}
"""


def arrays(n: int) -> tuple[Any, ...]:
    """Cameras that look at their points: these lie some ten units before them. An observation has a column of each matrix."""
    draw = np.random.default_rng(n)
    turned = [0.2 * draw.normal(size=n) for _ in range(3)]
    centre = [draw.normal(size=n) for _ in range(3)]
    lens = [1.0 + 0.1 * draw.normal(size=n), draw.normal(size=n), draw.normal(size=n)]
    distorted = [0.1 * draw.normal(size=n), 0.01 * draw.normal(size=n)]
    point = [draw.normal(size=n), draw.normal(size=n), 10.0 + draw.normal(size=n)]
    rest = [draw.normal(size=n) for _ in range(3)]
    return np.array([*turned, *centre, *lens, *distorted]), np.array(point), rest[0], np.array(rest[1:])


def samples(n: int) -> tuple[Any, ...]:
    """The same; an observation has a row of each matrix."""
    return tuple(np.ascontiguousarray(a.T) for a in arrays(n))


READ = ["cams[{k}]"] * 11, ["points[{k}]"] * 3, ["weights[i]"], ["seen[{k}]"] * 2
IN_ROWS = ", ".join(text.format(k=f"{k}, i") for part in READ for k, text in enumerate(part))
IN_COLUMNS = ", ".join(text.format(k=f"i, {k}") for part in READ for k, text in enumerate(part))
PARTS = ":11", "11:14", "14"
OF_ARRAYS = by_hand(BY_HAND, IN_ROWS, f"({', '.join(f'rows[{k}, {part}]' for k in range(2) for part in PARTS)})")
OF_SAMPLES = by_hand(
    re.sub(r"row\[(\d+), i\]", r"row[i, \1]", BY_HAND).replace("(2, 15, weights.size)", "(2, weights.size, 15)"),
    IN_COLUMNS,
    f"({', '.join(f'rows[{k}, :, {part}]' for k in range(2) for part in PARTS)})",
)

SIZES: dict[str, tuple[int, ...]] = {"10 observations": (10,), "10000 observations": (10_000,)}
FAMILIES = {
    "BA on arrays": ArrayFamily(text(ROWS), OF_ARRAYS, arrays, BY, SIZES, derivative="derivative"),
    "BA by samples": ArrayFamily(text(COLUMNS), OF_SAMPLES, samples, BY, SIZES, derivative="derivative", sample=SAMPLE),
}
