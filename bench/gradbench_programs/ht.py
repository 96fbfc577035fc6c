"""
ht: hand tracking. A skeleton bends a mesh; how far points of it are from where they were observed, and the Jacobian of that.

Of a hand with fingers of four bones the first three bend, the first of them in two directions. A point is a vertex, or, where
there are `us`, lies in a triangle: then the Jacobian has two columns more, since the coordinates in a triangle matter for no
other point.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjudge import jvp
from bench.gradbench_programs.function import Function, Input, array, field
from semantics.errors import Malformed

FINGERS, ANGLES = 5, 26
STILL = 1e-4


def rotation(v):  # type: ignore[no-untyped-def]
    """The matrix that turns about v by the length of v; none for a very short one."""
    angle = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    if angle < STILL:
        return np.eye(3)
    x, y, z = v[0] / angle, v[1] / angle, v[2] / angle
    c, s = math.cos(angle), math.sin(angle)
    d = 1.0 - c
    entries = [x * x * d + c, x * y * d - z * s, x * z * d + y * s, x * y * d + z * s, y * y * d + c, y * z * d - x * s]
    return np.array([*entries, x * z * d - y * s, y * z * d + x * s, z * z * d + c]).reshape(3, 3)


def bend(theta, which):  # type: ignore[no-untyped-def]
    """
    For each bone the matrix that turns about the x axis and then the z axis, by the angles that `which` names; there is 0 too.
    """
    angles = np.concatenate((theta, np.zeros(1)))[which]
    cx, sx, cz, sz = np.cos(angles[:, 0]), np.sin(angles[:, 0]), np.cos(angles[:, 1]), np.sin(angles[:, 1])
    none, one = np.zeros_like(cx), np.ones_like(cx)
    rows = (cz, -sz * cx, sz * sx, none, sz, cz * cx, -cz * sx, none, none, sx, cx, none, none, none, none, one)
    return np.stack(rows, axis=1).reshape(which.shape[0], 4, 4)


def vertices(theta, hand):  # type: ignore[no-untyped-def]
    """Where the vertices of the mesh are: each follows the bones by its weights, and all the hand."""
    which, parents, relatives, inverses, base, weights, side = hand
    absolute = relatives @ bend(theta, which)
    for i in range(parents.shape[0]):
        if parents[i] >= 0:
            absolute[i] = absolute[parents[i]] @ absolute[i]
    placed = base @ np.transpose(absolute @ inverses, (0, 2, 1))
    skinned = np.sum(placed * np.expand_dims(np.transpose(weights), 2), axis=0)
    return (skinned[:, :3] * side) @ np.transpose(rotation(theta[:3])) + theta[3:6]


def errors(theta, us, points, corners, hand):  # type: ignore[no-untyped-def]
    """
    How far the points are from vertices, the only `corners`; or from u a + v b + (1 - u - v) c in triangles of three, (u, v) being
    rows of `us`.
    """
    mesh = vertices(theta, hand)
    if us.shape[1] == 0:
        return (points - mesh[corners[:, 0]]).ravel()
    a, b, c = mesh[corners[:, 0]], mesh[corners[:, 1]], mesh[corners[:, 2]]
    u, v = np.expand_dims(us[:, 0], 1), np.expand_dims(us[:, 1], 1)
    return (points - (u * a + v * b + (1.0 - u - v) * c)).ravel()


def sparse_jacobian(theta, us, points, corners, hand):  # type: ignore[no-untyped-def]
    """
    A row for each error: its derivatives by (u, v) of its own point, if there is one, and by theta. A forward pass a column: along
    u of all points at once, along v of all, and along each entry of theta.
    """

    def along(dtheta, dus):  # type: ignore[no-untyped-def]
        return jvp(lambda theta, us: errors(theta, us, points, corners, hand), (theta, us), (dtheta, dus))[1]

    entries, sides = np.arange(theta.shape[0]), np.arange(us.shape[1])
    still, fixed = np.zeros_like(theta), np.zeros_like(us)
    local = [along(still, fixed + (sides == k).astype(np.float64)) for k in range(us.shape[1])]
    whole = [along((entries == k).astype(np.float64), fixed) for k in range(theta.shape[0])]
    return np.stack([*local, *whole], axis=1)


def _bends(bones: int) -> Any:
    """Which entries of theta bend a bone: about the x axis and about the z axis; ANGLES is the 0 after the last."""
    found = np.full((bones, 2), ANGLES)
    for finger in range(FINGERS):
        bone, entry = 2 + 4 * finger, 6 + 4 * finger
        found[bone], found[bone + 1, 0], found[bone + 2, 0] = (entry, entry + 1), entry + 2, entry + 3
    return found


def _hand(model: Input) -> tuple[Any, ...]:
    """The skeleton and the mesh. A bone that has a parent comes after it."""
    parents = array(model, "parents", None, dtype="int64")
    bones = len(parents)
    if bones < 5 + 4 * (FINGERS - 1) or any(p >= i for i, p in enumerate(parents)):
        raise Malformed(f"{bones} bones are no hand, or one comes before its parent")
    side = np.array([-1.0 if field(model, "is_mirrored") else 1.0, 1.0, 1.0])
    base = array(model, "base_positions", None, 4)
    matrices = [array(model, name, bones, 4, 4) for name in ("base_relatives", "inverse_base_absolutes")]
    return _bends(bones), parents, *matrices, base, array(model, "weights", len(base), bones), side


def _read(given: Input) -> tuple[Any, ...]:
    data = field(given, "data")
    model = field(data, "model")
    corners = array(data, "correspondences", None, dtype="int64")
    count = len(corners)
    theta, points = array(given, "theta", ANGLES), array(data, "points", count, 3)
    if not field(given, "us"):
        return theta, np.zeros((count, 0)), points, corners.reshape(count, 1), _hand(model)
    return theta, array(given, "us", count, 2), points, array(model, "triangles", None, 3, dtype="int64")[corners], _hand(model)


FUNCTIONS = {"objective": Function(errors, _read), "jacobian": Function(sparse_jacobian, _read)}


def sample(size: int, complicated: bool = True) -> dict[str, Any]:
    """A hand of 22 bones, in five chains, with twice as many vertices as there are points."""
    random = np.random.default_rng(size)
    bones, count = 22, 2 * size
    weights = random.random((count, bones))
    model = {
        "bone_count": bones,
        "bone_names": [f"bone {i}" for i in range(bones)],
        "parents": [-1, 0, *(0 if i % 4 == 0 else i + 1 for i in range(bones - 2))],
        "base_relatives": (np.eye(4) + 0.1 * random.normal(size=(bones, 4, 4))).tolist(),
        "inverse_base_absolutes": (np.eye(4) + 0.1 * random.normal(size=(bones, 4, 4))).tolist(),
        "base_positions": np.hstack((random.normal(size=(count, 3)), np.ones((count, 1)))).tolist(),
        "weights": (weights / weights.sum(axis=1, keepdims=True)).tolist(),
        "triangles": random.integers(0, count, (size, 3)).tolist(),
        "is_mirrored": False,
    }
    data = {
        "model": model,
        "correspondences": random.integers(0, size, size).tolist(),
        "points": random.normal(size=(size, 3)).tolist(),
    }
    us = random.random((size, 2)) if complicated else np.zeros(0)
    return {"theta": random.normal(size=ANGLES).tolist(), "data": data, "us": us.tolist()}
