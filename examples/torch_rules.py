"""
Rules of PyTorch, right and wrong, for `adjudge check examples/torch_rules.py`. What the judge should say of each stands beside it.
"""

import numpy as np
import torch
from torch.autograd import Function


class Blend(Function):
    """t * x + (1 - t) * y. Right."""

    @staticmethod
    def forward(ctx, x, y, t):
        ctx.save_for_backward(x, y, t)
        return t * x + (1 - t) * y

    @staticmethod
    def backward(ctx, d):
        x, y, t = ctx.saved_tensors
        return d * t, d * (1 - t), d * (x - y)


class SwappedBlend(Function):
    """A fault: the weights of x and y are exchanged. At t = 1/2 nobody notices."""

    @staticmethod
    def forward(ctx, x, y, t):
        ctx.save_for_backward(x, y, t)
        return t * x + (1 - t) * y

    @staticmethod
    def backward(ctx, d):
        x, y, t = ctx.saved_tensors
        return d * (1 - t), d * t, d * (x - y)


class Consuming(Function):
    """A fault: the backward pass writes to its residual, so that a second one answers otherwise."""

    @staticmethod
    def forward(ctx, x):
        ctx.kept = torch.exp(x)
        return torch.exp(x)

    @staticmethod
    def backward(ctx, d):
        return ctx.kept.mul_(d)


class Cube(Function):
    """A fault at second order only: the residual is cut off from the graph, so the derivative of x * x is lost."""

    @staticmethod
    def forward(ctx, x):
        ctx.square = x.detach() * x.detach()
        return x * x * x

    @staticmethod
    def backward(ctx, d):
        return 3 * ctx.square * d


ADJUDGE = {
    "Blend": {"samples": [(np.array([1.0, 2.0, -0.5]), np.array([0.5, -3.0, 4.0]), np.array([0.25, 0.75, 0.125]))]},
    "Consuming": {"samples": [(np.array([0.5, -1.0]),)]},
    "Cube": {"samples": [(np.array([0.5, -2.0]),)]},
}
