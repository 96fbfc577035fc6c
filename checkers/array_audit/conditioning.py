"""
What solving linear equations may lose: the digits that the condition of the matrix forbids, entry by entry.

Gaussian elimination with partial pivoting answers exactly, for a matrix A + δA with |δA| <= E = γ |L| |U| and γ = 3nu / (1 - 3nu),
n the order and u the unit roundoff (Higham, Accuracy and Stability of Numerical Algorithms, theorem 9.4; it bounds inverses column
by column, and determinants as well). A rule may factor A or its transpose: E is the larger of both. With Y the inverse of A,
found in balls, and H = |Y| E, every such inverse is within

    D = (I - H)⁻¹ H |Y|        of Y, and a solution x within        (I - H)⁻¹ H |x|        of x,

and a determinant within the factor (1 - h)⁻¹ - 1 of its value, h the trace of H. The derivatives are products of these:

    solve      d/db = Y        d/da = -Y xᵀ            slogdet    d/da = Yᵀ
    inv        d/da = -Y ⊗ Y                           det        d/da = det Yᵀ

so what is allowed of an entry is what the product moves by if each factor moves by its bound: a rule may lose the digits that the
function's own value loses. Where the spectral radius of H is 1/2 or more, a matrix near A may be singular: no digits are asked for.
Only what is right over the reals is allowed anything (`opinion.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb, arb_mat

from checkers.array_audit.bounds import Reals
from checkers.array_audit.case import Case, flat, unit
from checkers.array_audit.trial import Trial
from checkers.primitive_audit.reference import with_precision
from semantics.ir import Program
from semantics.primitives.table import TABLE

BITS = 4000
"""Enough for doubles of any two exponents in one matrix."""
NAMES = ("solve", "inv", "det", "slogdet")


def conditioned(trial: Trial, case: Case, u: float) -> Reals:
    """What each entry of the Jacobian (outputs, size) may lose to elimination; 0 for functions that are none of NAMES."""
    name = eliminates(trial)
    if name is None:
        return np.zeros((case.outputs, case.size))
    with np.errstate(all="ignore"):
        return trial.once(case, lambda: _conditioned(name, trial, case, u), "conditioned")


def eliminates(trial: Trial) -> str | None:
    """Which of NAMES the function is: the row of the table, or a program that does no more than apply it to its arguments."""
    if trial.row is not None and TABLE.get(trial.row.name) is trial.row:
        return trial.row.name if trial.row.name in NAMES else None
    program = trial.program
    if not isinstance(program, Program):
        return None
    graph = program.graphs[program.entry]
    inputs = program.inputs(graph.output) if program.apply(graph.output) is not None else ()
    called = program.constant(inputs[0]) if inputs else None
    name = getattr(called, "name", "")
    return name if name in NAMES and called is TABLE[name] and tuple(inputs[1:]) == tuple(graph.parameters) else None


def _conditioned(name: str, trial: Trial, case: Case, u: float) -> Reals:
    a = np.asarray(case.arguments[0], dtype=np.float64)
    found = [moved(matrix, u) for matrix in a.reshape(-1, *a.shape[-2:])]
    if not found:
        return np.zeros((case.outputs, case.size))
    inverse, growth, relative = (np.array(each) for each in zip(*found, strict=True))
    at = inverse.reshape(a.shape), growth.reshape(a.shape), relative.reshape(a.shape[:-2])
    rows = [PRODUCTS[name](trial.seeded(case, unit(case.outputs, k)), case, at) for k in range(case.outputs)]
    allowed = np.array([flat(row) for row in rows]).reshape(case.outputs, case.size)
    return np.where(np.isnan(allowed), np.inf, allowed)  # of inf * 0


def moved(a: Any, u: float) -> tuple[Any, Any, float]:
    """|Y|, (I - H)⁻¹ H, and how far the determinant moves in proportion; infinite where elimination may meet a singular matrix."""
    n = len(a)
    y = with_precision(BITS, lambda: inverse_of(a))
    if y is None:
        return np.full((n, n), np.inf), np.full((n, n), np.inf), np.inf
    gamma = 3 * n * u / (1 - 3 * n * u)
    h = np.abs(y) @ (gamma * np.maximum(eliminated(a), eliminated(a.T).T))
    if not np.isfinite(h).all() or np.max(np.abs(np.linalg.eigvals(h)), initial=0.0) >= 1 / 2:
        return np.abs(y), np.full((n, n), np.inf), np.inf
    return np.abs(y), np.linalg.solve(np.eye(n) - h, h), 1 / (1 - np.trace(h)) - 1 if np.trace(h) < 1 else np.inf


def inverse_of(a: Any) -> Any:
    """The inverse, from balls; None of a matrix that balls do not show to be regular."""
    try:
        found = arb_mat([[arb(float(x)) for x in row] for row in a]).inv()
    except ZeroDivisionError:
        return None
    return np.array([[float(found[i, j].mid()) for j in range(len(a))] for i in range(len(a))])


def eliminated(a: Any) -> Any:
    """|L| |U| of the elimination with partial pivoting, its rows in the order of those of `a`."""
    u, order, n = np.array(a), list(range(len(a))), len(a)
    lower = np.zeros((n, n))
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(u[k:, k])))
        for rows in (u, lower):
            rows[[k, pivot]] = rows[[pivot, k]]
        order[k], order[pivot] = order[pivot], order[k]
        lower[k, k] = 1.0
        if u[k, k]:
            lower[k + 1 :, k] = u[k + 1 :, k] / u[k, k]
            u[k + 1 :, k:] -= np.outer(lower[k + 1 :, k], u[k, k:])
    found = np.zeros((n, n))
    found[order] = np.abs(lower) @ np.abs(np.triu(u))
    return found


# what the products move by, at a one-hot cotangent: (|Y|, (I - H)⁻¹ H, how far the determinant moves) -> a part for each argument

Bounds3 = tuple[Any, Any, Any]


def _swapped(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def _summed(x: Any, like: Any) -> Any:
    """Added up over what broadcasting repeated."""
    x = x.sum(axis=tuple(range(x.ndim - like.ndim))) if x.ndim > like.ndim else x
    repeated = tuple(i for i in range(like.ndim) if like.shape[i] == 1 and x.shape[i] != 1)
    return x.sum(axis=repeated, keepdims=True) if repeated else x


def _solve(d: Any, case: Case, at: Bounds3) -> list[Any]:
    y, g, _ = at
    a, b = (np.asarray(x) for x in case.arguments)
    vector = b.ndim == 1
    d, x = (np.abs(v)[..., np.newaxis] if vector else np.abs(v) for v in (d, np.asarray(case.value)))
    to_b, moves_b, moves_x = _swapped(y) @ d, _swapped(g @ y) @ d, g @ x
    moves_a = moves_b @ _swapped(x + moves_x) + to_b @ _swapped(moves_x)
    return [_summed(moves_a, a), _summed(moves_b[..., 0] if vector else moves_b, b)]


def _inv(d: Any, case: Case, at: Bounds3) -> list[Any]:
    y, moves = _swapped(at[0]), _swapped(at[1] @ at[0])
    return [moves @ np.abs(d) @ (y + moves) + y @ np.abs(d) @ moves]


def _det(d: Any, case: Case, at: Bounds3) -> list[Any]:
    y, moves, relative = _swapped(at[0]), _swapped(at[1] @ at[0]), at[2][..., np.newaxis, np.newaxis]
    size = np.abs(np.asarray(case.value) * d)[..., np.newaxis, np.newaxis]
    return [size * (moves * (1 + relative) + relative * y)]


def _slogdet(d: Any, case: Case, at: Bounds3) -> list[Any]:
    return [np.abs(np.asarray(d[1]))[..., np.newaxis, np.newaxis] * _swapped(at[1] @ at[0])]


PRODUCTS: dict[str, Callable[[Any, Case, Bounds3], list[Any]]] = {"solve": _solve, "inv": _inv, "det": _det, "slogdet": _slogdet}
