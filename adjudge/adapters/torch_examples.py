"""
Functions of PyTorch that passes get wrong: operations that differ in an attribute only, operands in an order that matters,
matrices that are square, and memory with two names. Each comes with its example inputs, and is traced by torch.fx.
"""

from __future__ import annotations

from typing import Any

import torch

SQUARE = torch.ones(2, 2, dtype=torch.float64)
MATRIX = torch.ones(2, 3, dtype=torch.float64)
VECTOR = torch.ones(3, dtype=torch.float64)
NUMBER = torch.ones((), dtype=torch.float64)
SINGLE = torch.ones(2, 3, dtype=torch.float32)


def sums_over_two_axes(x: Any) -> Any:
    return x.sum(dim=0), x.sum(dim=1)


def sums_that_keep_axes_and_do_not(x: Any) -> Any:
    return torch.sum(x, 1), torch.sum(x, 1, keepdim=True)


def running_sums(x: Any) -> Any:
    return torch.cumsum(x, 0) - torch.cumsum(x, 1)


def order_of_operands(x: Any, y: Any) -> Any:
    return (x - y) * (y - x), x / y, y / x, x < y, y < x


def order_of_factors(x: Any, y: Any) -> Any:
    return torch.matmul(x, y), torch.matmul(y, x)


def transposes(x: Any) -> Any:
    return x.transpose(0, 1) - x, x.t().t() + x


def permutations(x: Any) -> Any:
    wide = x.unsqueeze(0)
    return wide.permute(1, 2, 0), wide.permute(2, 0, 1).permute(1, 2, 0)


def parts(x: Any) -> Any:
    return x[0], x[1], x[:, 1:], x[:, :-1], x[-1]


def joined(x: Any) -> Any:
    return torch.cat((x, x), 0), torch.cat((x, x), 1), torch.stack((x[0], x[1]), 1)


def reshapes(x: Any) -> Any:
    return x.reshape(3, 2), x.t(), x.reshape(-1)


def shortcuts(x: Any) -> Any:
    return x * 0.0, x + 0.0, x - x, x / x, torch.sqrt(x * x)


def root_of_a_square(x: Any) -> Any:
    return torch.sqrt(x * x)


def product_with_zero(x: Any) -> Any:
    return x * 0.0 + x


def quotient_of_itself(x: Any) -> Any:
    return x / x + x


def numbers_with_signs(x: Any) -> Any:
    return torch.div(x, 0.0), torch.div(x, -0.0)


def common(x: Any) -> Any:
    return torch.exp(x) + torch.exp(x), (x * 2.0) * (x * 2.0) - x * 2


def singles(x: Any) -> Any:
    return x * 0.1, x.to(torch.float64) * 0.1, x.to(torch.float64).to(torch.float32)


def choices(x: Any) -> Any:
    return torch.where(x > 0.0, x, -x), torch.maximum(x, x.flip(0)), torch.amax(x, 1), torch.amin(x, 1)


def normalized(x: Any) -> Any:
    return torch.softmax(x, 1), torch.logsumexp(x, 0), torch.mean(x, 1)


def dead(x: Any) -> Any:
    torch.sin(x)
    return x * 3.0


def written_through_a_view(x: Any) -> Any:
    y = x.clone()
    row = y[0]
    row.add_(1.0)
    return y * 2.0


def written_and_read_again(x: Any) -> Any:
    y = x.clone()
    before = y.sum()
    y.mul_(2.0)
    return before, y.sum()


def input_written(x: Any) -> Any:
    x.add_(1.0)
    return x.sum()


EXAMPLES: tuple[tuple[Any, tuple[torch.Tensor, ...]], ...] = (
    (sums_over_two_axes, (SQUARE,)),
    (sums_that_keep_axes_and_do_not, (MATRIX,)),
    (running_sums, (SQUARE,)),
    (order_of_operands, (VECTOR, VECTOR)),
    (order_of_operands, (NUMBER, NUMBER)),
    (order_of_factors, (SQUARE, SQUARE)),
    (transposes, (SQUARE,)),
    (permutations, (SQUARE,)),
    (parts, (SQUARE,)),
    (joined, (SQUARE,)),
    (reshapes, (MATRIX,)),
    (shortcuts, (VECTOR,)),
    (shortcuts, (NUMBER,)),
    (root_of_a_square, (NUMBER,)),
    (product_with_zero, (NUMBER,)),
    (quotient_of_itself, (NUMBER,)),
    (numbers_with_signs, (NUMBER,)),
    (common, (VECTOR,)),
    (singles, (SINGLE,)),
    (choices, (MATRIX,)),
    (normalized, (MATRIX,)),
    (dead, (VECTOR,)),
)

# these write in place
WRITING: tuple[tuple[Any, tuple[torch.Tensor, ...]], ...] = (
    (written_through_a_view, (MATRIX,)),
    (written_and_read_again, (VECTOR,)),
    (input_written, (VECTOR,)),
)
