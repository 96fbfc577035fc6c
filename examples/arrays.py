"""
A two-layer perceptron whose parameters are a record, its training loop, and a Hessian-vector product through it.

`adjudge run examples/arrays.py:trained 10` trains it on four points; the loop contains the gradient.
"""

from typing import NamedTuple

import numpy as np

from adjudge import grad, hvp, scan

POINTS = ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0))
LABELS = (0.0, 1.0, 1.0, 0.0)


class Layer(NamedTuple):
    weights: np.ndarray
    bias: np.ndarray

    def __call__(self, x):
        return x @ self.weights + self.bias


class Perceptron(NamedTuple):
    hidden: Layer
    output: Layer


def initial():
    """Small weights, no two alike: 2 inputs, 3 hidden units, 1 output."""
    hidden = Layer(np.array([[0.9, -0.6, 0.3], [-0.4, 0.8, 0.5]]), np.zeros(3))
    return Perceptron(hidden, Layer(np.array([[0.7], [0.5], [-0.9]]), np.zeros(1)))


def loss(model: Perceptron, x, y):
    """The mean of the squared errors."""
    hidden, output = model
    predicted = output(np.tanh(hidden(x)))[:, 0]
    return np.mean((predicted - y) ** 2)


def descended(layer: Layer, slope: Layer, rate):
    return Layer(layer.weights - rate * slope.weights, layer.bias - rate * slope.bias)


def trained(steps: int):
    """The loss before and after `steps` of gradient descent."""
    x, y = np.array(POINTS), np.array(LABELS)
    model = initial()
    before = loss(model, x, y)
    for _ in range(steps):
        slope = grad(loss)(model, x, y)
        model = Perceptron(descended(model.hidden, slope.hidden, 0.5), descended(model.output, slope.output, 0.5))
    return before, loss(model, x, y)


def logistic(p, x, y):
    """The mean logistic loss of the parameters {"w": …, "b": …}; the labels are 0 or 1."""
    score = x @ p["w"] + p["b"]
    return np.mean(np.logaddexp(0.0, score) - y * score)


def curvature(w, x):
    """The second derivative of a logsumexp along w, at w."""

    def energy(v):
        return np.log(np.sum(np.exp(x @ v)))

    return w @ hvp(energy)(w, w)


def recurrent(xs, w, u):
    """A recurrent network, by scan: the sum of its outputs."""

    def cell(h, x):
        h = np.tanh(w @ h + u @ x)
        return h, h @ h

    last, outputs = scan(cell, np.zeros(len(w)), xs)
    return np.sum(outputs) + np.sum(last)


def running_products(x):
    """The sum of x[0], x[0] x[1], …: each update makes a new array for the name."""
    y = np.ones(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = y[i - 1]
        y[i] *= x[i]
    return np.sum(y)
