"""
Networks that run over time: a recurrent layer, and ADBench's LSTM of two layers; each again by hand for Numba, and for JAX.

The objective of ADBench's LSTM predicts each next input. A layer has four gates, of a weight and a bias for each number alone; the
prediction is y = leaves * h + shift, its log likelihood y - log(2 + Σ e^y), and the loss the mean of these, each weighted by the
next input.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bench.arrays_by_hand import ArrayFamily, normal

LAYER = """
import numpy as np
def f(w, u, h, x, y):
    loss = 0.0
    for t in range(x.shape[0]):
        h = np.tanh(w @ h + u @ x[t])
        e = h - y[t]
        loss = loss + np.sum(e * e)
    return loss
"""


def layer(w, u, h, x, y):  # type: ignore[no-untyped-def]
    """The states are kept; the derivative of tanh is 1 - tanh²."""
    turns, width = y.shape
    states = np.empty((turns + 1, width))
    states[0] = h
    for t in range(turns):
        z = np.dot(w, states[t]) + np.dot(u, x[t])
        for i in range(width):
            states[t + 1, i] = math.tanh(z[i])
    dw, du, dh, dz = np.zeros_like(w), np.zeros_like(u), np.zeros(width), np.empty(width)
    back = np.ascontiguousarray(w.T)
    for t in range(turns - 1, -1, -1):
        for i in range(width):
            h = states[t + 1, i]
            dz[i] = (dh[i] + 2.0 * (h - y[t, i])) * (1.0 - h * h)
            for j in range(width):
                dw[i, j] += dz[i] * states[t, j]
            for j in range(x.shape[1]):
                du[i, j] += dz[i] * x[t, j]
        dh = np.dot(back, dz)
    return dw, du


def layer_jax(jax: Any, w: Any, u: Any, start: Any, x: Any, y: Any) -> Any:
    def turn(h: Any, given: Any) -> Any:
        h = jax.numpy.tanh(w @ h + u @ given[0])
        return h, jax.numpy.sum((h - given[1]) ** 2)

    return jax.numpy.sum(jax.lax.scan(turn, start, (x, y))[1])


def _layer(turns: int, width: int) -> tuple[Any, ...]:
    w, u = normal(width, width) / math.sqrt(width), normal(width, 8)
    return (w, u, np.zeros(width), normal(turns, 8), 0.5 * normal(turns, width))


LSTM = """
import numpy as np

def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))

def cell(w, b, h, c, x):
    forget = sigmoid(x * w[0] + b[0])
    enter = sigmoid(h * w[1] + b[1])
    leave = sigmoid(x * w[2] + b[2])
    new = c * forget + enter * np.tanh(h * w[3] + b[3])
    return leave * np.tanh(new), new

def f(w1, b1, w2, b2, enters, leaves, shift, h1, c1, h2, c2, x):
    total = 0.0
    for t in range(x.shape[0] - 1):
        h1, c1 = cell(w1, b1, h1, c1, enters * x[t])
        h2, c2 = cell(w2, b2, h2, c2, h1)
        y = leaves * h2 + shift
        total = total + np.sum(x[t + 1] * (y - np.log(np.sum(np.exp(y)) + 2.0)))
    return -total / ((x.shape[0] - 1) * x.shape[1])
"""


def lstm(w1, b1, w2, b2, enters, leaves, shift, h1, c1, h2, c2, x):  # type: ignore[no-untyped-def]
    """Of every turn and layer the input, the state before, the four gates and tanh of the new cell are kept; the rest is not."""
    turns, n = x.shape[0] - 1, x.shape[1]
    w, b = (w1, w2), (b1, b2)
    kept, p = np.empty((turns, 2, 8, n)), np.empty((turns, n))
    state = np.empty((2, 2, n))
    state[0, 0], state[0, 1], state[1, 0], state[1, 1] = h1, c1, h2, c2
    sums = np.empty(turns)
    for t in range(turns):
        s, weight = 2.0, 0.0
        for i in range(n):
            v = enters[i] * x[t, i]
            for k in range(2):
                of = kept[t, k]
                of[0, i], of[1, i], of[2, i] = v, state[k, 0, i], state[k, 1, i]
                of[3, i] = 1.0 / (1.0 + math.exp(-(v * w[k][0, i] + b[k][0, i])))
                of[4, i] = 1.0 / (1.0 + math.exp(-(of[1, i] * w[k][1, i] + b[k][1, i])))
                of[5, i] = 1.0 / (1.0 + math.exp(-(v * w[k][2, i] + b[k][2, i])))
                of[6, i] = math.tanh(of[1, i] * w[k][3, i] + b[k][3, i])
                state[k, 1, i] = of[2, i] * of[3, i] + of[4, i] * of[6, i]
                of[7, i] = math.tanh(state[k, 1, i])
                v = state[k, 0, i] = of[5, i] * of[7, i]
            p[t, i] = math.exp(leaves[i] * v + shift[i])
            s += p[t, i]
            weight += x[t + 1, i]
        sums[t] = weight / s
    dw, db, denters, dleaves, dshift = np.zeros((2, 4, n)), np.zeros((2, 4, n)), np.zeros(n), np.zeros(n), np.zeros(n)
    back = np.zeros((2, 2, n))
    scale = -1.0 / (turns * n)
    for t in range(turns - 1, -1, -1):
        for i in range(n):
            dy = scale * (x[t + 1, i] - sums[t] * p[t, i])
            dleaves[i] += dy * kept[t, 1, 5, i] * kept[t, 1, 7, i]
            dshift[i] += dy
            dv = dy * leaves[i]
            for k in range(1, -1, -1):
                of = kept[t, k]
                dh = dv + back[k, 0, i]
                dc = back[k, 1, i] + dh * of[5, i] * (1.0 - of[7, i] * of[7, i])
                d0 = dc * of[2, i] * of[3, i] * (1.0 - of[3, i])
                d1 = dc * of[6, i] * of[4, i] * (1.0 - of[4, i])
                d2 = dh * of[7, i] * of[5, i] * (1.0 - of[5, i])
                d3 = dc * of[4, i] * (1.0 - of[6, i] * of[6, i])
                dw[k, 0, i] += d0 * of[0, i]
                dw[k, 1, i] += d1 * of[1, i]
                dw[k, 2, i] += d2 * of[0, i]
                dw[k, 3, i] += d3 * of[1, i]
                db[k, 0, i] += d0
                db[k, 1, i] += d1
                db[k, 2, i] += d2
                db[k, 3, i] += d3
                back[k, 0, i] = d1 * w[k][1, i] + d3 * w[k][3, i]
                back[k, 1, i] = dc * of[3, i]
                dv = d0 * w[k][0, i] + d2 * w[k][2, i]
            denters[i] += dv * x[t, i]
    return dw[0], db[0], dw[1], db[1], denters, dleaves, dshift


def lstm_jax(jax: Any, *arguments: Any) -> Any:
    np = jax.numpy
    w1, b1, w2, b2, enters, leaves, shift, *start, x = arguments

    def cell(w: Any, b: Any, h: Any, c: Any, x: Any) -> Any:
        forget, enter, leave = (jax.nn.sigmoid(v * w[i] + b[i]) for i, v in enumerate((x, h, x)))
        new = c * forget + enter * np.tanh(h * w[3] + b[3])
        return leave * np.tanh(new), new

    def turn(states: Any, given: Any) -> Any:
        (h1, c1), (h2, c2) = states
        h1, c1 = cell(w1, b1, h1, c1, enters * given[0])
        h2, c2 = cell(w2, b2, h2, c2, h1)
        y = leaves * h2 + shift
        return ((h1, c1), (h2, c2)), np.sum(given[1] * (y - np.log(np.sum(np.exp(y)) + 2.0)))

    losses = jax.lax.scan(turn, (tuple(start[:2]), tuple(start[2:])), (x[:-1], x[1:]))[1]
    return -np.sum(losses) / ((x.shape[0] - 1) * x.shape[1])


def _lstm(turns: int) -> tuple[Any, ...]:
    draw, n = np.random.default_rng(turns), 14
    return (*(draw.normal(size=s) for s in ((4, n),) * 4 + ((n,),) * 7), draw.normal(size=(turns + 1, n)))


FAMILIES = {
    "RNN on arrays": ArrayFamily(
        LAYER, layer, _layer, (0, 1), {"16 turns, width 32": (16, 32), "1000 turns, width 32": (1000, 32)}, layer_jax
    ),
    "LSTM": ArrayFamily(LSTM, lstm, _lstm, (0, 1, 2, 3, 4, 5, 6), {"16 turns": (16,), "1024 turns": (1024,)}, lstm_jax),
}
