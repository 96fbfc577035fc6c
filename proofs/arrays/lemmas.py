"""
The lemmas that index forms rest on, each by induction over a size: a base, and a step from n to n + 1, put to z3 one by one.

A sum is what its recursion says: Σb<0 t = 0 and Σb<n+1 t = Σb<n t + t(n). In a step the sums up to n are variables, of which the
induction hypothesis is assumed; so is a lemma that stands above. That a base and a step make a proof for all n is induction, the
only thing that is not put to z3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import z3

from proofs.obligation import Claim, Obligation, lemma

# sums up to n, summands at n
A, B, C, D, P = z3.Reals("sum_a sum_b sum_c sum_d sum_p")
c, s, t, u = z3.Reals("c s t u")
n, m, e, i, j, i2, j2 = z3.Ints("n m e i j i2 j2")
NOTHING = z3.RealVal(0)
HOLDS = z3.RealVal(1)


def _indicator(condition: Any) -> z3.ArithRef:
    return z3.If(condition, HOLDS, NOTHING)


def linearity() -> Iterable[Claim]:
    """Σ (s + t) = Σ s + Σ t and Σ c t = c Σ t"""
    yield NOTHING, NOTHING + NOTHING, []
    yield A + (s + t), (B + s) + (C + t), [A == B + C]
    yield NOTHING, c * NOTHING, []
    yield A + c * t, c * (B + t), [c * B == A]


def constant() -> Iterable[Claim]:
    """Σb<n c = n c"""
    size = z3.Real("n_as_real")
    yield NOTHING, 0 * c, []
    yield A + c, (size + 1) * c, [size * c == A]


def exchange() -> Iterable[Claim]:
    """Σa Σb t = Σb Σa t, by induction over the outer size; of no rows both sides are sums of zeros"""
    yield A + NOTHING, NOTHING, [A == 0]
    # A = Σi<n Σj t, B = Σj Σi<n t, C = Σj t(n, j); P = Σj (Σi<n t + t(n, j)) = B + C by linearity
    yield A + C, P, [A == B, P == B + C]


def one_point() -> Iterable[Claim]:
    """Σb<n [b = e] t(b) = [0 ≤ e < n] t(e)"""
    yield NOTHING, z3.If(z3.And(e >= 0, e < 0), t, NOTHING), []
    before = z3.If(z3.And(e >= 0, e < n), t, NOTHING) == A
    # u is t(n), which is t(e) where e is n
    step = [n >= 0, before, z3.Implies(e == n, u == t)]
    yield A + z3.If(n == e, u, NOTHING), z3.If(z3.And(e >= 0, e < n + 1), t, NOTHING), step


def splitting() -> Iterable[Claim]:
    """Σb<n+m t(b) = Σb<n t(b) + Σb<m t(n + b), by induction over m"""
    yield A, A + NOTHING, []
    yield P + t, A + (B + t), [P == A + B]


def part() -> Iterable[Claim]:
    """Σb<n [b < k] t(b) = Σb<k t(b) for k ≤ n: split at k, where the second part is a sum of zeros"""
    yield A + NOTHING, NOTHING, [A == 0]
    yield P, A, [P == A + B, B == 0]


def reversal() -> Iterable[Claim]:
    """Σb<n t(n - 1 - b) = Σb<n t(b): the first summand is t(n), and what is left is the same sum up to n (splitting)"""
    yield NOTHING, NOTHING, []
    yield P, B + t, [t + A == P, A == B]


def rotation() -> Iterable[Claim]:
    """Σb<n t((b - k) mod n) = Σb<n t(b) for 0 ≤ k < n: both are the same two parts (splitting), in another order"""
    yield P, D, [P == A + B, D == B + A]


def single() -> Iterable[Claim]:
    """Σb<1 t(b) = t(0)"""
    yield NOTHING + t, t, []


def row_major() -> Iterable[Claim]:
    """
    (i, j) ↦ i m + j counts 0 … n m - 1, each once: inside the range, injective, and row by row a splitting of the sum.
    """
    inside = [i >= 0, i < n, j >= 0, j < m]
    below = (n - 1 - i) * m >= 0  # a product of what is not negative, shown next
    yield _indicator((n - 1 - i) * m >= 0), HOLDS, inside
    yield _indicator(z3.And(i * m + j >= 0, i * m + j < n * m)), HOLDS, [*inside, below, i * m >= 0]
    # with d = i - i2 ≥ 1 the places differ by d m + j - j2 ≥ m + j - j2 > 0
    d = z3.Int("d")
    apart = [d >= 1, m >= 1, (d - 1) * m >= 0, j >= 0, j2 >= 0, j2 < m]
    yield _indicator((d - 1) * m >= 0), HOLDS, [d >= 1, m >= 1]
    yield _indicator(d * m + j - j2 > 0), HOLDS, apart
    # Σk<(n+1)m t = Σk<nm t + Σj<m t(n m + j), by splitting
    yield P + C, A + C, [P == A]


def kernels() -> Iterable[Claim]:
    """Σp,q w K v determines K, and is determined by it: with w and v 1 at one place and 0 elsewhere it is K there (one point)"""
    yield c * 1 * 1, c, []
    yield s * A * t + P, s * B * t + P, [A == B]


def common_factor() -> Iterable[Claim]:
    """Σb c t / Σb t = c where Σb t is not 0: linearity, and division"""
    yield A / B, c, [c * B == A, B != 0]


def locally_constant() -> Iterable[Claim]:
    """What is largest stays so nearby: x[i] - x[j] > 2 r and |h[i]|, |h[j]| < r, then x[i] + h[i] > x[j] + h[j]"""
    x, y, h, k, r = z3.Reals("x_i x_j h_i h_j r")
    near = [x - y > 2 * r, h > -r, h < r, k > -r, k < r]
    yield _indicator(x + h > y + k), HOLDS, near


def shifted() -> Iterable[Claim]:
    """log Σ exp(x - m) + m = log Σ exp x: exp(x - m) = exp x · exp(-m), so the sum is exp(-m) times that of exp x (linearity)"""
    # D = exp(-m) and B = Σ exp x, with the logarithms c and t
    exp = z3.Function("u_exp", z3.RealSort(), z3.RealSort())
    shift = z3.Real("m_real")
    yield exp(t - shift), exp(t) * exp(-shift), []
    yield exp(c + t), D * B, [exp(c) == D, exp(t) == B]


LEMMAS: tuple[Obligation, ...] = (
    lemma("sums are linear", (), linearity),
    lemma("a sum of a constant", (), constant),
    lemma("sums are exchanged", (), exchange),
    lemma("a sum with one point", (), one_point),
    lemma("a sum is split", (), splitting),
    lemma("a sum over a part of its range", (), part),
    lemma("a sum backwards", (), reversal),
    lemma("a sum rotated", (), rotation),
    lemma("a sum of one term", (), single),
    lemma("places in row-major order", (), row_major),
    lemma("a bilinear form and its kernel", (), kernels),
    lemma("a common factor", (), common_factor),
    lemma("what is largest stays so nearby", (), locally_constant),
    lemma("logsumexp and a shift by the maximum", ("exp_sum",), shifted),
)
