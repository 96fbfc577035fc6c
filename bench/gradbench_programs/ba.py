"""
ba: bundle adjustment. Where cameras see points, against where they were observed, and the Jacobian of it, which is sparse.

An observation depends on one camera, one point and one weight: 15 numbers. So the Jacobian is made of small ones, one for each
observation, and the program is that of one observation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import adjudge as aj
from bench.gradbench_programs.function import Function, Input, array, real, whole

CAMERA, POINT = 11, 3
PARAMETERS = CAMERA + POINT + 1


def turned(r1, r2, r3, x, y, z):  # type: ignore[no-untyped-def]
    """(x, y, z), turned about r by the length of r; where that is 0, what is linear in r is kept."""
    square = r1 * r1 + r2 * r2 + r3 * r3
    if square == 0.0:
        return x + r2 * z - r3 * y, y + r3 * x - r1 * z, z + r1 * y - r2 * x
    angle = math.sqrt(square)
    a, b, c = r1 / angle, r2 / angle, r3 / angle
    cosine, sine = math.cos(angle), math.sin(angle)
    along = (a * x + b * y + c * z) * (1.0 - cosine)
    right, up = x * cosine + (b * z - c * y) * sine + a * along, y * cosine + (c * x - a * z) * sine + b * along
    return right, up, z * cosine + (a * y - b * x) * sine + c * along


def errors(r1, r2, r3, c1, c2, c3, f, u0, v0, k1, k2, x, y, z, w, u, v):  # type: ignore[no-untyped-def]
    """
    w (p - (u, v)) and 1 - w², where p is the image of (x, y, z) in the camera that stands at c, turned by r, with focal length f,
    principal point (u0, v0) and radial distortion 1 + k1 ρ² + k2 ρ⁴
    """
    right, up, ahead = turned(r1, r2, r3, x - c1, y - c2, z - c3)
    p, q = right / ahead, up / ahead
    rho = p * p + q * q
    scale = f * (1.0 + k1 * rho + k2 * rho * rho)
    return w * (p * scale + u0 - u), w * (q * scale + v0 - v), 1.0 - w * w


def _each(batch: Callable[..., Any], columns: tuple[Any, ...], sizes: tuple[int, ...]) -> Any:
    """The program at all observations; the sizes go along, for what is written."""
    return batch(*columns), sizes


def _read(given: Input) -> tuple[Any, tuple[int, ...]]:
    """In the suite all cameras are equal, and all points, and so are all observations, p of them."""
    sizes = tuple(whole(given, name, 1) for name in "nmp")
    camera, point, feature = (array(given, *f) for f in (("cam", CAMERA), ("x", POINT), ("feat", 2)))
    one = (*camera, *point, real(given, "w"), *feature)
    return tuple(np.full(sizes[-1], x) for x in one), sizes


def _write_errors(found: tuple[Any, tuple[int, ...]]) -> Any:
    """The errors of the first observation, and the weight's; the suite asks for no others, since all are the same."""
    (u, v, w), (_, _, p) = found
    of_first, weight = [float(u[0]), float(v[0])], float(w[0])
    return {"reproj_error": {"elements": of_first, "repeated": p}, "w_err": {"element": weight, "repeated": p}}


def _write_jacobian(found: tuple[Any, tuple[int, ...]]) -> Any:
    """
    The rows of the first observation, and the last entry of all. The matrix has two rows of 15 entries for each observation, and
    below them, for each, one row of one entry. `rows` says how many entries come before a row, `cols` where an entry stands.
    """
    rows, (n, m, p) = found
    u, v = ([float(column[0]) for column in row] for row in rows[:2])
    dense = 2 * PARAMETERS
    columns = [*range(CAMERA), *range(CAMERA * n, CAMERA * n + POINT), CAMERA * n + POINT * m]
    starts = [min(i, 2 * p) * PARAMETERS + max(i - 2 * p, 0) for i in range(min(3 * p + 1, dense))]
    return {
        "rows": [*starts, *[0] * (dense - len(starts)), 2 * p * PARAMETERS + p],
        "cols": [*columns, *columns, columns[-1] + p - 1],
        "vals": [*u, *v, float(rows[2][PARAMETERS - 1][-1])],
    }


FUNCTIONS = {
    "objective": Function(errors, _read, _each, _write_errors, aj.vmap),
    "jacobian": Function(aj.jacobian(errors, wrt=tuple(range(PARAMETERS))), _read, _each, _write_jacobian, aj.vmap),
}


def sample(size: int) -> dict[str, Any]:
    """Five cameras, and as many points as there are observations."""
    draw = np.random.default_rng(size).random
    given = {"cam": draw(CAMERA).tolist(), "x": (3.0 + draw(POINT)).tolist(), "w": 0.7, "feat": draw(2).tolist()}
    return {"n": 5, "m": size, "p": size, **given}
