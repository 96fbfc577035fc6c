"""
Rows of linear algebra that are defined by an equation: what must hold for their rules to be right, for all sizes.

    inv        A B = B A = I                 dB = -B dA B, since 0 = B (dA B + A dB) = B dA B + dB
    solve      A x = b                       A dx = db - dA x, so <w, dx> = <s, db - dA x> where Aᵀ s = w
    cholesky   L Lᵀ = sym A, L lower         dL = L Φ(S) where L S Lᵀ = sym dA; Φ keeps what is below the diagonal, and half of it

The value is a symbol, of which nothing is known but its equation, and so is what a rule is answered that asks to `solve`. Every
step is an equation between bilinear forms: associativity of the product, the identity, the adjoint of a product, and last that the
rule is what the equation says.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from checkers.smt.index_values import Indexed
from proofs.arrays.bilinear import CELLS, Answers, Question, Shape, alike, inner, named, plus, same, scaled, times
from proofs.arrays.sensitivities import sizes
from semantics.ir import Program

product, transposed, lower = CELLS["matmul"], CELLS["swap_last"], CELLS["tril"]


# inv


def identity(shape: Shape) -> Any:
    """The identity matrix of the last size of a shape."""
    (rows,) = sizes(shape[-1:])
    return CELLS["eye"](rows, rows, 0)


def of_inv(shape: Shape, rule: Program) -> Iterator[Question]:
    """A of this shape, with B for its inverse."""
    a, b, w, v, x = (named(name, shape) for name in ("a", "b", "w", "v", "x"))
    yield from same(inner(w, product(b, product(a, x))), inner(w, product(product(b, a), x)), ("w", shape), ("x", shape))
    yield from same(inner(w, product(identity(shape), x)), inner(w, x), ("w", shape), ("x", shape))
    (back,) = Answers({}).read(rule, [a, b, w])
    yield from same(inner(w, scaled(product(b, product(v, b)), -1)), inner(back, v), ("w", shape), ("v", shape))


# solve


def solution(a: Indexed, b: Indexed) -> Shape:
    """The shape of the solution of A x = b, b a matrix: the longer batch, and the last axes of b."""
    return (*max(a.shape[:-2], b.shape[:-2], key=len), *b.shape[-2:])


def of_solve(shape_a: Shape, shape_b: Shape, shape_x: Shape, rule: Program) -> Iterator[Question]:
    """A and b of these shapes, with x for the solution: a vector if b is one, else its columns are."""
    a, b, x, w = named("a", shape_a), named("b", shape_b), named("x", shape_x), named("w", shape_x)

    def columns(of: Indexed) -> Indexed:
        found: Indexed = CELLS["expand_dims"](of, -1) if len(shape_b) == 1 else of
        return found

    answers = Answers({"solve": solution})
    da, db = answers.read(rule, [a, b, x, w])
    ((matrix, right),) = answers.once(1)
    alike(matrix, transposed(a))
    alike(right, columns(w))
    shape = columns(x).shape
    s, dx = named("s0", shape), named("dx", shape)
    yield from same(inner(product(transposed(a), s), dx), inner(s, product(a, dx)), ("s0", shape), ("dx", shape))
    v, u = named("v", shape_a), named("v", shape_b)
    yield from same(inner(s, scaled(product(v, columns(x)), -1)), inner(da, v), ("s0", shape), ("v", shape_a))
    moved = CELLS["broadcast_to"](columns(u), sizes(shape))
    yield from same(inner(s, moved), inner(db, u), ("s0", shape), ("v", shape_b))


# cholesky


def halved(s: Indexed) -> Indexed:
    """Φ: what is below the diagonal, and half of the diagonal."""
    below = lower(s, 0)
    diagonal = times(below, identity(s.shape))
    return plus(below, scaled(diagonal, Fraction(-1, 2)))


def symmetric(a: Indexed) -> Indexed:
    """The symmetric matrix whose lower triangle is that of a."""
    return plus(lower(a, 0), transposed(lower(a, -1)))


def of_cholesky(shape: Shape, rule: Program) -> Iterator[Question]:
    """A of this shape, with L for its factor."""
    a, w, v, q, s = (named(name, shape) for name in ("a", "w", "v", "q", "s"))
    factor = lower(named("m", shape), 0)
    up = transposed(factor)
    answers = Answers({"solve": solution})
    (back,) = answers.read(rule, [a, factor, w])
    (first, right), (second, then) = answers.once(2)
    s0, s1 = named("s0", shape), named("s1", shape)
    alike(first, up)
    alike(second, up)
    alike(then, transposed(s0))
    # L Φ(S) is lower, and its equation L (Φ(S) + Φ(S)ᵀ) Lᵀ = L S Lᵀ holds for S = q + qᵀ
    yield from same(
        inner(w, lower(product(factor, halved(q)), 0)), inner(w, product(factor, halved(q))), ("w", shape), ("q", shape)
    )
    both = plus(q, transposed(q))
    yield from same(inner(w, plus(halved(both), transposed(halved(both)))), inner(w, both), ("w", shape), ("q", shape))
    # <w, L Φ(S)> = <right, S>, and right = Lᵀ s1ᵀ L
    yield from same(inner(w, product(factor, halved(s))), inner(right, s), ("w", shape), ("s", shape))
    solved = product(up, transposed(product(up, s1)))
    pulled = inner(transposed(s1), product(product(factor, s), up))
    yield from same(inner(solved, s), pulled, ("s1", shape), ("s", shape))
    yield from same(inner(transposed(s1), symmetric(v)), inner(back, v), ("s1", shape), ("v", shape))
