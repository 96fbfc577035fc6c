"""Arguments of the rows that reduce, order and multiply arrays, and of the rows that their pullbacks need."""

from __future__ import annotations

from checkers.array_audit.row_samples_arguments import (
    PRODUCTS,
    SHAPES,
    A,
    Example,
    along,
    axes_of,
    booleans,
    dominant,
    every,
    integers,
    reducing,
    squares,
    symmetric,
)
from semantics.arrays import Array

ALGEBRA: dict[str, tuple[Example, ...]] = {
    # reductions
    "reduce_sum": reducing(*SHAPES),
    "mean": reducing(*SHAPES, empty=False),
    "reduce_prod": (
        *reducing(*SHAPES),
        *every((Array("f64", (3,), (2.0, 0.0, 3.0)), None, False), (Array("f64", (3,), (0.0, 0.0, 3.0)), 0, True)),
    ),
    "reduce_max": reducing(*SHAPES, empty=False),
    "reduce_min": reducing(*SHAPES, empty=False),
    "reduce_all": reducing((2, 3)),
    "reduce_any": reducing((2, 3)),
    "logsumexp": reducing((), (1,), (3,), (2, 3), (2, 1, 2), (0, 2), rational=False, empty=False),
    "norm": reducing((1,), (3,), (2, 3), rational=False, empty=False),
    "argmax": along((3,), (2, 3)),
    "argmin": along((3,), (2, 3)),
    "cumsum": along((3,), (2, 3), (0,), (2, 0), (1,)),
    "cumprod": (*along((3,), (2, 3), (0,), (1,)), *every((Array("f64", (4,), (2.0, 0.0, 3.0, -1.5)), 0))),
    "sort": along((3,), (2, 3), (0,), (1,), (2, 2, 2)),
    "argsort": along((3,), (2, 3)),
    # the way back through rows that move elements
    "places": every((A((2, 3)),), (1.5,), ((A((2,)), 1.5),)),
    "gathered": every(
        (A((2, 3)), integers(6, 1, 0, 1), A((2, 3))),
        (2.5, integers(1, 1, shape=(2, 1)), 1.5),
        ((A((2,)), 1.5, A((2, 2))), integers(3, 1, 0, 7, 3, 2, shape=(2, 3)), (A((2,)), 2.5, A((2, 2)))),
        (A((0,)), integers(0, 0), A((0,))),
    ),
    "returned": every(
        (A((4,)), integers(2, 2, 0, 1), A((3,))),
        (A((2, 2)), integers(0, 1, 1, 1, shape=(2, 2)), 1.5),
        (A((2,)), integers(2, 1, shape=(2, 1)), A((2,))),
        (A((2, 3)), integers(3, 1, 0, 7, 3, 2, shape=(2, 3)), (A((2,)), 2.5, A((2, 2)))),
        (A((2,)), integers(1, 1), A((2,), dtype="f32")),
        (A((0,)), integers(shape=(0,)), A((2,))),
    ),
    "keep": every((A((3,)), booleans(True, False, True)), (A((2, 2)), True), (1.5, False), ((1.5, A((2,))), True)),
    "grouped": tuple(Example((A(s, k), axis)) for s in SHAPES for k, axis in enumerate(axes_of(s))),
    "take_along": every(
        (A((2, 3)), integers(2, 0, 0, -1, shape=(2, 2)), 1),
        (A((2, 3)), integers(1, 1, 0, shape=(1, 3)), -2),
        (A((2, 2)), integers(3, 3, 0), None),
        (A((2, 0)), integers(shape=(2, 0)), -1),
    ),
    "shift": every(
        (A((3,)), 1, 0, 0),
        (A((2, 3)), -1, -1, 1),
        (A((2, 3)), 1, None, 1),
        (A((2, 2)), 2, 0, 0),
        (A((0,)), 1, 0, 0),
        (A((3,)), -2, 0, 2),
    ),
    "recurrence": every(
        *(
            (A(s), A(s, 1), axis, back)
            for s, axis in (((3,), 0), ((1,), 0), ((0,), 0), ((2, 3), -1), ((3, 2), 0))
            for back in (False, True)
        ),
        (A((2, 2)), A((2, 2), 1), None, True),
        (A((3,)), Array("f64", (3,), (2.0, 0.0, 3.0)), 0, True),
    ),
    # algebra
    "matmul": every(
        *(
            (A(a), A(b, 1))
            for a, b in (*PRODUCTS, ((2, 2, 3), (3, 2)), ((3,), (2, 3, 2)), ((2, 1, 1, 2), (2, 2, 1)), ((2, 1, 2), (2,)))
        )
    ),
    "dot": every(
        *((A(a), A(b, 1)) for a, b in (*PRODUCTS, ((), (2,)), ((2, 2), ()), ((), ()), ((2, 1, 2), (2,)), ((1, 2), (2, 2, 2))))
    ),
    "outer": every((A((2,)), A((3,), 1)), (A((2, 2)), A((2,), 1)), (1.5, A((2,))), (A((0,)), A((2,)))),
    "tensordot": every(
        *((A((2, 3)), A((3, 2), 1), axes) for axes in (1, 0, ((1,), (0,)), ((0, 1), (1, 0)), (-1, 0))),
        (A((2, 3)), A((2, 3), 1), ((0, 1), (0, 1))),
        (A((2, 0)), A((0, 2)), 1),
    ),
    "einsum": every(
        ("ij,jk->ik", A((2, 3)), A((3, 2), 1)),
        ("ij->ji", A((2, 3))),
        ("ij->", A((2, 3))),
        ("ii->i", A((2, 2))),
        ("ii", A((2, 2))),
        ("i,j->ij", A((2,)), A((3,), 1)),
        ("bij,bjk->bik", A((2, 1, 2)), A((2, 2, 1), 1)),
        ("i,i,i->", A((2,)), A((2,), 1), A((2,), 2)),
        ("ij,j", A((0, 2)), A((2,))),
    ),
    "swap_last": every((A((2, 3)),), (A((2, 1, 3)),), (A((0, 2)),)),
    "tensordot_subscripts": every((A((2, 3)), A((3, 2), 1), 1)),
    "einsum_adjoint": every(("ij,jk->ik", 1, (A((2, 3)), A((3, 2), 1)))),
    "unsum": every(
        ("ii->i", A((2,)), A((2, 2))), ("ij->", 2.5, A((2, 3))), ("ij->ji", A((3, 2)), A((2, 3))), ("iij->j", A((2,)), A((2, 2, 2)))
    ),
    "inner": every((A((2, 2)), A((2, 2), 1)), ((1.5, A((2,))), (2.5, A((2,), 1))), (1.5, -0.5), (A((0,)), A((0,)))),
    "scale": every((1.5, A((2, 2))), (2.5, (A((2,)), 0.5)), (0.5, 1.5), (1.5, A((0,)))),
    "trace": every((A((2, 2)),), (A((2, 3)),), (A((3, 2)),), (A((0, 0)),)),
    "solve": every((dominant(1), A((1,))), (dominant(2), A((2,))), (dominant(3), A((3, 2))), (dominant(2), A((2, 0)))),
    "inv": squares(1, 2, 3),
    "det": (*squares(1, 2, 3), *every((Array("f64", (2, 2), (1.0, 2.0, 2.0, 4.0)),))),
    "slogdet": squares(1, 2, 3, rational=False),
    "cholesky": every(*((symmetric(n),) for n in (1, 2, 3)), rational=False),
}
