"""Arrays: elements moved about, indexing, joining, functional updates of a name."""

import numpy as np


def reshaped(x):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25]])"""
    y = np.reshape(x, (3, -1))
    return np.sum(y[0] * y[2]) + np.sum(np.ravel(x) * np.arange(6))


def transposed(x):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25]])"""
    return np.sum(x.T * np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]) * x.T)


def transposed_by_axes(x):
    """array([[[0.5, -2.0]], [[3.0, 1.0]], [[1.5, 0.25]]])"""
    y = np.transpose(x, (2, 0, 1))
    return np.sum(y[0] * y[1] * y[1])


def sliced(x):
    """array([0.5, -2.0, 3.0, 1.0, 0.25])"""
    return np.sum(x[1:] * x[:-1]) + np.sum(x[::-1] * x) + np.sum(x[::2] ** 2) + np.sum(x[-2:1:-1])


def sliced_in_two_axes(x):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25]])"""
    return np.sum(x[:, 0] * x[:, -1]) + np.sum(x[0, 1:] * x[1, :2]) + x[1, 2] * x[0, 0]


def with_new_axes(x):
    """array([0.5, -2.0, 3.0])"""
    return np.sum((x[:, None] - x[None, :]) ** 2 * x[np.newaxis])


def with_ellipsis(x):
    """array([[[0.5, -2.0]], [[3.0, 1.0]]])"""
    return np.sum(x[..., 0] * x[..., 1]) + np.sum(x[0, ...] ** 2)


def gathered(x):
    """array([0.5, -2.0, 3.0])"""
    return np.sum(x[np.array([0, 2, 2, 1])] * np.array([1.0, 2.0, 3.0, 4.0]) * x[np.array([-1, 0, 0, 1])])


def masked(x):
    """array([0.5, -2.0, 3.0])"""
    kept = x[x > 0]
    return np.sum(kept * kept) * len(kept)


def gathered_pairs(x):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25]])"""
    return np.sum(x[np.array([0, 1, 0]), np.array([2, 0, 2])] ** 2) + np.sum(x[1:, np.array([0, 0])] * x[:1, np.array([1, 2])])


def taken(x):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25]])"""
    return np.sum(np.take(x, np.array([0, 2, 2]), axis=1) ** 2) + np.sum(np.take(x, np.array([5, 0])))


def concatenated(x, y):
    """array([0.5, -2.0]), array([3.0, 1.0, 0.25])"""
    z = np.concatenate((x, y, x))
    return np.sum(z * np.arange(7)) + np.sum(z[1:] * z[:-1])


def concatenated_columns(x, y):
    """array([[0.5], [2.0]]), array([[3.0, 1.0], [0.25, -1.0]])"""
    z = np.concatenate([x, y], axis=1)
    return np.sum(z[0] * z[1])


def stacked(x, y):
    """array([0.5, -2.0]), array([3.0, 1.0])"""
    return np.sum(np.stack([x, y, x * y], axis=1)[0] ** 2) + np.sum(np.stack((x, y))[:, 1])


def expanded_and_squeezed(x):
    """array([0.5, -2.0])"""
    return np.sum(np.expand_dims(x, 0) * np.expand_dims(x, 1)) + np.sum(np.squeeze(x[None, :, None]) ** 2)


def flipped_and_rolled(x):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25]])"""
    return np.sum(np.flip(x) * x) + np.sum(np.roll(x, 1, axis=1) * x) + np.sum(np.flip(x, 0) ** 2 * np.roll(x, -2))


def broadcasted(x):
    """array([0.5, -2.0])"""
    return np.sum(np.broadcast_to(x, (3, 2)) * np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]) * x)


def diagonals(x):
    """array([[0.5, -2.0], [3.0, 1.0]])"""
    d = np.diag(x)
    return np.sum(np.diag(d * d) * x) + np.sum(np.tril(x) * np.triu(x, 1).T) + np.trace(x) ** 2


def ordered(x):
    """array([0.5, -2.0, 3.0])"""
    return np.sum(np.sort(x) * np.array([1.0, 2.0, 3.0]) * np.sort(x)) + x[np.argsort(x)[0]]


def updated_element(x):
    """array([0.5, -2.0, 3.0])"""
    y = x * 2.0
    y[1] = x[0] * x[2]
    y[0] += x[1]
    return np.sum(y * y)


def updated_slice(x):
    """array([0.5, -2.0, 3.0])"""
    y = np.zeros(4)
    y[1:] = x
    y[::2] *= 3.0
    return np.sum(y**2 * np.arange(4))


def updated_in_a_loop(x):
    """array([0.5, -2.0, 3.0, 1.0])"""
    y = np.zeros(4)
    for i in range(4):
        y[i] = x[i] * y[i - 1] + x[i]
    return np.sum(y * y)


def updated_rows(x):
    """array([[0.5, -2.0], [3.0, 1.0]])"""
    y = np.zeros((2, 2))
    for i in range(2):
        y[i] = x[1 - i] * x[i]
        y[i, 0] = x[0, 0] ** 2
    return np.sum(y * x)


def updated_where_it_is_negative(x):
    """array([0.5, -2.0, 3.0])"""
    y = x * x
    y[x < 0] = 0.0
    return np.sum(y * x)


def prefix_by_index(x):
    """array([0.5, -2.0, 3.0])"""
    total = x[0]
    for k in range(1, x.shape[0]):
        total = total * 0.5 + x[k] * x[k - 1]
    return total


def swapped_rows(x):
    """array([[0.5, -2.0], [3.0, 1.0]])"""
    first, second = x
    return np.sum(first * second) + np.sum(second**2)
