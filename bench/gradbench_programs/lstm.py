"""lstm: a recurrent network of long short-term memory, whose weights are diagonal matrices, guessing the next of a sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjudge as aj
from bench.gradbench_programs.function import Function, Input, array
from semantics.errors import Malformed


def sigmoid(x):  # type: ignore[no-untyped-def]
    """1 / (1 + e⁻ˣ)"""
    return 1.0 / (1.0 + np.exp(-x))


def loss(main, extra, state, sequence):  # type: ignore[no-untyped-def]
    """
    The mean of -xₜ₊₁ · (y - log(2 + Σ exp y)) over the sequence x and its entries, where y is what the network makes of xₜ.

    main[layer]    weights and biases (the first index) of the gates that forget, let in, let out, and change, in that order
    extra          the weights of what comes in, and the weights and biases of what goes out
    state[layer]   what is shown and what is remembered, in the beginning
    """
    shown, kept = state[:, 0].copy(), state[:, 1].copy()
    total = 0.0
    for t in range(sequence.shape[0] - 1):
        x = sequence[t] * extra[0]
        for i in range(main.shape[0]):
            weight, bias = main[i, 0], main[i, 1]
            forget = sigmoid(x * weight[0] + bias[0])
            admit = sigmoid(shown[i] * weight[1] + bias[1])
            show = sigmoid(x * weight[2] + bias[2])
            change = np.tanh(shown[i] * weight[3] + bias[3])
            memory = kept[i] * forget + admit * change
            x = show * np.tanh(memory)
            kept[i] = memory
            shown[i] = x
        y = x * extra[1] + extra[2]
        total = total + np.sum(sequence[t + 1] * (y - np.log(2.0 + np.sum(np.exp(y)))))
    return -total / (extra.shape[1] * (sequence.shape[0] - 1))


def _read(given: Input) -> tuple[Any, ...]:
    extra = array(given, "extra_params", 3, None)
    b = extra.shape[1]
    main, state = array(given, "main_params", None, 4 * b), array(given, "state", None, b)
    layers = len(main) // 2
    if len(main) != 2 * layers or len(state) != 2 * layers:
        raise Malformed("main_params and state do not have two rows for each layer")
    return main.reshape(layers, 2, 4, b), extra, state.reshape(layers, 2, b), array(given, "sequence", None, b)


def _write(gradient: tuple[Any, Any]) -> Any:
    """Both arrays, row by row, in one list."""
    return [entry for part in gradient for entry in part.ravel().tolist()]


FUNCTIONS = {"objective": Function(loss, _read), "jacobian": Function(aj.grad(loss, wrt=(0, 1)), _read, write=_write)}


def sample(size: int) -> dict[str, Any]:
    """Two layers of 14 entries."""
    draw = np.random.default_rng(size).normal
    shapes = {"main_params": (4, 56), "extra_params": (3, 14), "state": (4, 14), "sequence": (size, 14)}
    return {name: draw(size=shape).tolist() for name, shape in shapes.items()}
