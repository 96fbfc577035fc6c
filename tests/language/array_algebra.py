"""Arrays: products and linear algebra."""

import numpy as np


def quadratic_form(A, x):
    """array([[0.5, -2.0], [3.0, 1.0]]), array([1.5, -0.25])"""
    return x @ A @ x


def matrix_product(A, B):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25]]), array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]])"""
    C = A @ B
    return np.sum(C * C) + C[0, 1]


def matrix_vector(A, x):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25]]), array([1.5, -0.25, 2.0])"""
    y = np.matmul(A, x)
    return np.sum(y * y * y)


def vector_matrix(x, A):
    """array([1.5, -0.25]), array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25]])"""
    return np.sum(np.dot(x, A) ** 2)


def stacks_of_matrices(A, B):
    """array([[[0.5, -2.0]], [[3.0, 1.0]]]), array([[1.0], [2.0]])"""
    return np.sum((A @ B) ** 2)


def dot_product(x, y):
    """array([0.5, -2.0, 3.0]), array([1.0, 0.25, -1.0])"""
    return np.dot(x, y) ** 2 + np.dot(x, 2.0)[0]


def outer_product(x, y):
    """array([0.5, -2.0]), array([1.0, 0.25, -1.0])"""
    return np.sum(np.outer(x, y) ** 2 * np.outer(x, y))


def tensor_product(A, B):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25]]), array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]])"""
    return np.sum(np.tensordot(A, B, axes=1) ** 2) + np.tensordot(A, B.T, axes=2)


def einstein_product(A, B):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25]]), array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]])"""
    return np.sum(np.einsum("ij,jk->ik", A, B) ** 2) + np.einsum("ij,ji->", A, B)


def einstein_diagonal(A):
    """array([[0.5, -2.0], [3.0, 1.0]])"""
    return np.einsum("ii->", A) ** 2 + np.sum(np.einsum("ii->i", A) ** 3) + np.sum(np.einsum("ij->ji", A) * A)


def einstein_batch(A, x):
    """array([[[0.5, -2.0], [1.0, 2.0]], [[3.0, 1.0], [0.0, -1.0]]]), array([[1.0, 2.0], [0.5, -1.0]])"""
    return np.sum(np.einsum("bij,bj->bi", A, x) ** 2)


def linear_system(A, b):
    """array([[0.5, -2.0], [3.0, 1.0]]), array([1.0, 0.25])"""
    return np.sum(np.linalg.solve(A, b) ** 2)


def inverse(A):
    """array([[0.5, -2.0], [3.0, 1.0]])"""
    return np.sum(np.linalg.inv(A) * np.array([[1.0, 2.0], [3.0, 4.0]]))


def determinant(A):
    """array([[0.5, -2.0, 1.0], [3.0, 1.0, 0.25], [0.5, 0.5, 2.0]])"""
    return np.linalg.det(A) ** 2


def log_determinant(A):
    """array([[0.5, -2.0], [3.0, 1.0]])"""
    sign, logarithm = np.linalg.slogdet(A)
    return sign * logarithm


def gaussian_likelihood(A, x):
    """array([[2.0, 0.5], [0.5, 1.0]]), array([1.0, 0.25])"""
    S = A @ A.T + np.eye(2)
    L = np.linalg.cholesky(S)
    z = np.linalg.solve(L, x)
    return 0.5 * np.sum(z * z) + np.sum(np.log(np.diag(L)))


def least_squares(A, b):
    """array([[0.5, -2.0], [3.0, 1.0], [1.0, 1.0]]), array([1.0, 0.25, -1.0])"""
    w = np.linalg.solve(A.T @ A, A.T @ b)
    r = A @ w - b
    return np.sum(r * r)


def two_layers(W1, b1, W2, x):
    """array([[0.5, -0.25], [1.0, 0.75], [-0.5, 0.25]]), array([0.1, -0.2, 0.3]), array([0.5, -1.0, 0.25]), array([1.5, -0.5])"""
    hidden = np.tanh(W1 @ x + b1)
    return np.tanh(W2 @ hidden) ** 2


def attention(Q, K, V):
    """array([[0.5, -0.25], [1.0, 0.75]]), array([[0.25, 1.0], [-0.5, 0.5]]), array([[1.0, 2.0], [0.5, -1.0]])"""
    scores = Q @ K.T / np.sqrt(2.0)
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    weights = e / np.sum(e, axis=1, keepdims=True)
    return np.sum((weights @ V) ** 2)


def recurrent(W, U, xs):
    """array([[0.5, -0.25], [0.25, 0.75]]), array([[1.0], [0.5]]), array([[0.5], [-1.0], [2.0]])"""
    h = np.zeros(2)
    for x in xs:
        h = np.tanh(W @ h + U @ x)
    return np.sum(h * h)


def power_iteration(A):
    """array([[2.0, 0.5], [0.5, 1.0]])"""
    v = np.array([1.0, 0.5])
    for _ in range(3):
        v = A @ v
        v = v / np.sqrt(np.sum(v * v))
    return v @ A @ v


def newton_for_inverse(A):
    """array([[2.0, 0.5], [0.5, 1.0]])"""
    X = A.T / np.sum(A * A)
    for _ in range(3):
        X = 2.0 * X - X @ A @ X
    return np.trace(X) + X[0, 1]
