"""
The derivatives of linear algebra, to second order: at singular matrices too, where the function has derivatives there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from array_rules import judge
from test_arrays_algebra import nothing_flows
from test_arrays_linear import call, program

from adjudge.values import to_value
from checkers import forward_mode
from checkers.array_audit.row_samples_arguments import Example, array
from checkers.columns.ball import BALLS
from checkers.forward_mode import lifted
from semantics.arrays import Array
from semantics.denotation import denote
from semantics.errors import Trap
from semantics.machine import run
from semantics.type_language import type_of
from semantics.values import same
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand


def dominant(n: int, seed: int = 0, stack: tuple[int, ...] = ()) -> Array:
    """Matrices with a dominant diagonal, not symmetric."""
    whole = array((*stack, n, n), seed)
    return whole.with_items(x / 8 + 3.0 * (k % (n * n) % (n + 1) == 0) for k, x in enumerate(whole.items))


def permuted(n: int) -> Array:
    """A matrix whose elimination must exchange rows."""
    m = dominant(n)
    return m.with_items(m.items[(i + 1) % n * n + j] for i in range(n) for j in range(n))


def of(*items: float) -> Array:
    n = int(len(items) ** 0.5)
    return Array("f64", (n, n), items)


A = array
EXAMPLES: dict[str, tuple[Example, ...]] = {
    "solve": (
        *(Example((dominant(n), A((n,), 1))) for n in (1, 2, 3)),
        *(Example((permuted(n), A((n, 2), 1))) for n in (2, 3)),
        Example((dominant(2, 0, (2,)), A((2,), 1))),
        Example((dominant(2, 0, (2,)), A((2, 1), 1))),
        Example((dominant(2), A((2, 2, 1), 1))),
        Example((dominant(1, 0, (2, 1)), A((2, 1, 1), 1))),
        *(Example((A((0, 0)), A(s))) for s in ((0,), (0, 2))),
        Example((dominant(2), A((2, 0)))),
    ),
    "inv": (*(Example((m,)) for m in (dominant(1), dominant(2), permuted(3), dominant(2, 0, (2,)), A((0, 0)), A((0, 2, 2)))),),
    "det": (
        *(Example((m,)) for m in (dominant(1), dominant(2), permuted(3), dominant(4), dominant(2, 0, (2,)))),
        *(Example((m,)) for m in (A((0, 0)), A((0, 2, 2)))),
        *(Example((of(*m),)) for m in ((0.0,), (1.0, 2.0, 2.0, 4.0), (0.0,) * 4, (0.0,) * 9, (0.0, 1.0, 0.0, 0.0))),
        Example((of(1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 0.0, 2.0),)),
        Example((of(1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0, 9.0),)),
        Example((of(0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 5.0, 3.0),)),
        Example((Array("f64", (2, 2, 2), (1.0, 2.0, 2.0, 4.0, 1.0, 2.0, 3.0, 4.0)),)),
    ),
    "slogdet": (*(Example((m,), False) for m in (dominant(1), permuted(2), permuted(3), dominant(2, 0, (2,)), A((0, 0)))),),
    "cholesky": (*(Example((m,), False) for m in (dominant(1), dominant(2), dominant(3), dominant(2, 0, (2,)), A((0, 0)))),),
}
JUDGED = [(name, example) for name, examples in EXAMPLES.items() for example in examples]


@pytest.mark.parametrize(("name", "example"), JUDGED, ids=[f"{n}-{e}" for n, e in JUDGED])
def test_the_derivatives_are_right_to_second_order(name: str, example: Example) -> None:
    """Of cholesky entry by entry, as of a function of all entries: it reads the lower triangle, so the upper one gets 0."""
    assert judge(name, example).wrong == ()


@pytest.mark.parametrize(("name", "example"), JUDGED, ids=[f"{n}-{e}" for n, e in JUDGED])
def test_nothing_flows_through_a_backpropagator_that_was_given_nothing(name: str, example: Example) -> None:
    nothing_flows(name, example)


def gradient(text: str, a: Any) -> Any:
    value = to_value(a)
    return run(gradient_program(expand(program(text)), types=[type_of(value)]), value)


def test_the_gradient_of_det_is_the_cofactors_of_singular_matrices_too() -> None:
    """Bit for bit, rank 2 and 1 of 3; of rank 1 all cofactors are 0."""
    assert gradient("np.linalg.det(a)", [[1.0, 2.0], [2.0, 4.0]] @ np.eye(2)).items == (4.0, -2.0, -2.0, 1.0)
    assert gradient("np.linalg.det(a)", np.diag([2.0, 3.0, 0.0])).items == (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0)
    assert gradient("np.linalg.det(a)", np.diag([2.0, 0.0, 0.0])).items == (0.0,) * 9


def test_slogdet_has_no_derivative_at_a_singular_matrix() -> None:
    flat = np.array([[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(Trap, match="singular"):
        gradient("np.linalg.slogdet(a)[1]", flat)
    assert gradient("np.linalg.slogdet(a)[0]", flat).items == (0.0,) * 4
    assert gradient("np.linalg.slogdet(a)[1]", np.diag([2.0, 4.0])).items == (0.5, 0.0, 0.0, 0.25)


def test_cholesky_reads_the_lower_triangle_and_agrees_with_the_symmetric_convention() -> None:
    """Along a symmetric direction s, Σ d·s is the derivative, whichever convention distributes d over the triangles."""
    a = np.array([[4.0, 2.0], [99.0, 3.0]])
    assert same(call("np.linalg.cholesky(a)", a.T), to_value(np.linalg.cholesky(a.T)))
    text = "np.sum(np.linalg.cholesky(a) * np.array([[1.0, 0.0], [3.0, 2.0]]))"
    point = (lifted(BALLS, to_value(np.array([[4.0, 2.0], [2.0, 3.0]]))),)
    d = denote(gradient_program(expand(program(text)), types=[type_of(to_value(a))]), point, BALLS)
    assert d.items[1] == 0
    s = Array("f64", (2, 2), (1.0, -3.0, -3.0, 2.0))
    wanted = forward_mode.jvp(program(text), point, (lifted(BALLS, s),), BALLS)[1]
    assert sum(x * BALLS.lift(y) for x, y in zip(d.items, s.items, strict=True)).overlaps(wanted)
    half = d.items[2] / 2
    assert (d.items[0] * 1 - half * 3 - half * 3 + d.items[3] * 2).overlaps(wanted)
