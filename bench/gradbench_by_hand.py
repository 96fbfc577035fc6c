"""
Derivatives of functions of GradBench written by hand for Numba: what one would write who has the formula and thinks of memory, but
not of the order in which a program adds.

`det` keeps the minors in the order in which it meets them; `ode` the four states of each step, and adds up no array but the two
that it gives on; `kmeans` goes over the points once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def det(a, n):  # type: ignore[no-untyped-def]
    """The gradient of the expansion by minors: each product adds to one element."""
    count, products = 0, 1
    for k in range(n):
        products *= n - k
        count += products
    minors, slope = np.empty(count), np.zeros(n * n)
    column, place = np.zeros(n, np.int64), np.zeros(n, np.int64)
    sums, sign, d = np.zeros(n), np.ones(n), np.ones(n)
    depth, used, at = 0, 0, 0
    while True:
        c = column[depth]
        value = 1.0
        if c == n:
            value = sums[depth]
            depth -= 1
            if depth < 0:
                break
            c = column[depth]
            used &= ~(1 << c)
        elif used >> c & 1:
            column[depth] += 1
            continue
        else:
            place[depth] = at
            at += 1
            if depth < n - 1:
                used |= 1 << c
                depth += 1
                column[depth], sums[depth], sign[depth] = 0, 0.0, 1.0
                continue
        minors[place[depth]] = value
        sums[depth] += sign[depth] * a[depth * n + c] * value
        sign[depth] = -sign[depth]
        column[depth] += 1
    depth, at, column[0], sign[0] = 0, 0, 0, 1.0
    while depth >= 0:
        c = column[depth]
        if c == n:
            depth -= 1
            if depth >= 0:
                used &= ~(1 << column[depth])
                column[depth] += 1
            continue
        if used >> c & 1:
            column[depth] += 1
            continue
        signed = sign[depth] * d[depth]
        slope[depth * n + c] += signed * minors[at]
        at += 1
        sign[depth] = -sign[depth]
        if depth == n - 1:
            column[depth] += 1
            continue
        used |= 1 << c
        depth += 1
        column[depth], sign[depth], d[depth] = 0, 1.0, signed * a[(depth - 1) * n + c]
    return slope


def ode(x, s):  # type: ignore[no-untyped-def]
    """The gradient of the last of the y: what a step leaves are the states at which it has asked for slopes."""
    n, h = x.size, 2.0 / s
    sixth = h / 6.0
    y, states = np.zeros(n), np.empty((s, 4, n))
    k1, k2, k3, k4 = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    k1[0] = k2[0] = k3[0] = k4[0] = x[0]
    for step in range(s):
        first, second, third, fourth = states[step, 0], states[step, 1], states[step, 2], states[step, 3]
        for i in range(n - 1):
            first[i] = y[i]
            k1[i + 1] = x[i + 1] * first[i]
        for i in range(n - 1):
            second[i] = y[i] + 0.5 * h * k1[i]
            k2[i + 1] = x[i + 1] * second[i]
        for i in range(n - 1):
            third[i] = y[i] + 0.5 * h * k2[i]
            k3[i + 1] = x[i + 1] * third[i]
        for i in range(n - 1):
            fourth[i] = y[i] + h * k3[i]
            k4[i + 1] = x[i + 1] * fourth[i]
        for i in range(n):
            y[i] += sixth * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
    dx, dy = np.zeros(n), np.zeros(n)
    d1, d2, d3, d4 = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    dy[n - 1] = 1.0
    for step in range(s - 1, -1, -1):
        first, second, third, fourth = states[step, 0], states[step, 1], states[step, 2], states[step, 3]
        for i in range(n - 1):
            d = sixth * dy[i + 1]
            dx[i + 1] += d * fourth[i]
            d4[i] = x[i + 1] * d
        for i in range(n - 1):
            d = 2.0 * sixth * dy[i + 1] + h * d4[i + 1]
            dx[i + 1] += d * third[i]
            d3[i] = x[i + 1] * d
        for i in range(n - 1):
            d = 2.0 * sixth * dy[i + 1] + 0.5 * h * d3[i + 1]
            dx[i + 1] += d * second[i]
            d2[i] = x[i + 1] * d
        for i in range(n - 1):
            d = sixth * dy[i + 1] + 0.5 * h * d2[i + 1]
            dx[i + 1] += d * first[i]
            d1[i] = x[i + 1] * d
        dx[0] += h * dy[0] + h * d4[0] + 0.5 * h * (d3[0] + d2[0])
        for i in range(n):
            dy[i] += d4[i] + d3[i] + d2[i] + d1[i]
    return dx


def kmeans(points, centroids):  # type: ignore[no-untyped-def]
    """Newton's direction: the gradient over twice the number of points of which a centroid is the nearest."""
    n, m = points.shape
    slope, curvature = np.zeros(centroids.shape), np.zeros(centroids.shape)
    for p in range(n):
        best, least = 0, math.inf
        for c in range(centroids.shape[0]):
            distance = 0.0
            for i in range(m):
                distance += (points[p, i] - centroids[c, i]) ** 2
            if distance < least:
                best, least = c, distance
        for i in range(m):
            slope[best, i] -= 2.0 * (points[p, i] - centroids[best, i])
            curvature[best, i] += 2.0
    for c in range(centroids.shape[0]):
        for i in range(m):
            slope[c, i] /= curvature[c, i]
    return slope


BY_HAND: Mapping[str, Callable[..., Any]] = {"det": det, "kmeans": kmeans, "ode": ode}
