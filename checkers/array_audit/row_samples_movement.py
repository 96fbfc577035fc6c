"""Arguments of the rows that make, describe, index and move arrays."""

from __future__ import annotations

from checkers.array_audit.row_samples_arguments import SHAPES, A, Example, booleans, every, integers
from semantics.structured import ELLIPSIS, Slice

MOVEMENT: dict[str, tuple[Example, ...]] = {
    # creation
    "as_array": every(
        (2.5, None), ((1.5, 2.5), None), (((1.5, 0.25), (2.5, -1.0)), "f32"), ((A((2,)), A((2,), 1)), None), (A((2, 2)), "f64")
    ),
    "full": every(((2, 2), 1.5, None), (3, 0.5, "f32"), ((), 2.5, None), ((0,), 1.5, None), ((2,), A(()), None)),
    "linspace": every((1.5, 3.25, 4), (0.5, 2.5, 1), (0.5, 2.5, 2), (0.5, 1.5, 0)),
    "astype": every(*((A(s), "f32") for s in SHAPES), (A((2,), dtype="f32"), "f64"), (A((2,)), "i64"), (A((2,)), "bool")),
    # description
    "shape": every((A((2, 3)),), (A(()),)),
    "dtype": every((A((2, 3)),)),
    "array_size": every((A((2, 3)),), (A((0,)),)),
    "ndim": every((A((2, 3)),), (A(()),)),
    # indexing
    "getitem": every(
        *(
            (A((3,)), i)
            for i in (0, -1, Slice(1, None, None), Slice(None, None, -1), Slice(3, 0, -2), None, ELLIPSIS, integers(0, 2, 0))
        ),
        *(
            (A((2, 3)), i)
            for i in (0, -1, (1, 2), (0, -3), (Slice(None, None, None), 1), (Slice(None, None, -1), Slice(0, None, 2)))
        ),
        *((A((2, 3)), i) for i in ((ELLIPSIS, None, 0), (None, 1), booleans(True, False), integers(1, 1, 0), (1, ELLIPSIS))),
        (A((2, 3)), (integers(0, 1, 1), integers(2, 0, 0))),
        (A((2, 2)), booleans(True, False, True, True, shape=(2, 2))),
        (A((2, 3)), (integers(0, 1, shape=(2, 1)), integers(0, 2))),
        (A((2, 2, 2)), (integers(0, 1), Slice(None, None, None), integers(1, 1))),
        (A((2, 2, 2)), (0, Slice(None, None, None), integers(1, 1))),
        (A((0, 2)), (Slice(None, None, None), 1)),
        (A((3,)), Slice(2, 1, None)),
        (A((2,)), integers(shape=(0,))),
    ),
    "put": every(
        (A((3,)), 1, 2.5),
        (A((3,)), -1, A((), 3)),
        (A((2, 3)), 0, 1.5),
        (A((2, 3)), (slice_ := Slice(None, None, None), 1), A((2,), 4)),
        (A((2, 3)), (slice_, Slice(None, None, -2)), A((2,), 5)),
        (A((3,)), integers(0, 2), A((2,), 3)),
        (A((3,)), integers(1, 1, 0), A((3,), 3)),
        (A((2, 2)), booleans(True, False, True, False, shape=(2, 2)), 0.5),
        (A((0,)), Slice(None, None, None), 2.5),
        (A((2,), dtype="f32"), 0, 2.5),
    ),
    "scatter_add": every(
        (A((3,)), 1, 2.5),
        (A((3,)), integers(1, 1, 0), A((3,), 3)),
        (A((2, 3)), (Slice(None, None, None), integers(0, 0)), A((2, 2), 3)),
        (A((2, 3)), 1, A((1,), 2)),
        (A((0,)), integers(shape=(0,)), A((0,))),
    ),
    "final": every((A((3,)), integers(1, 1, 0)), (A((2, 2)), (0, 1))),
    "take": every(
        (A((3,)), integers(0, 2, 0), None),
        (A((3,)), 1, 0),
        (A((2, 3)), integers(1, 1, shape=(2, 1)), 0),
        (A((2, 3)), integers(-1, 0), -1),
        (A((2, 2)), integers(3, 0), None),
        (A((2, 0)), integers(1, 1), 0),
    ),
    # movement
    "reshape": every(*((A((2, 3)), s) for s in (6, (3, 2), (-1,), (1, -1, 2))), (A(()), (1, 1)), (A((1,)), ()), (A((0,)), (2, 0))),
    "transpose": every(*((A(s), None) for s in SHAPES), (A((2, 1, 3)), (1, 2, 0)), (A((2, 3)), (-1, 0)), (A((2, 0)), (0, 1))),
    "broadcast_to": every((A((3,)), (2, 3)), (A(()), (2, 2)), (A((2, 1)), (2, 3)), (A((1,)), (0,)), (A((3,)), (3,)), (2.5, (2,))),
    "sum_to": every(
        (A((2, 3)), A((3,))), (A((2, 3)), A((2, 1))), (A((2, 2)), 1.5), (1.5, 2.5), (A((0, 2)), A((2,))), (A((2,)), A((2,)))
    ),
    "like": every((A((3,)), A((2, 3))), (A((2, 1)), A((2, 3))), (1.5, A((2, 2))), (1.5, 2.5), (A((2,)), A((0, 2)))),
    "spread": every(
        (A((3,)), A((2, 3)), 0, False),
        (A((2, 1)), A((2, 3)), 1, True),
        (1.5, A((2, 2)), None, False),
        (A(()), A((2,)), (0,), False),
        (A((1, 1)), A((2, 2)), None, True),
        (A((2,)), A((0, 2)), 0, False),
    ),
    "concatenate": every(
        ((A((2,)), A((3,), 1)), 0),
        ((A((2, 1)), A((2, 2), 1)), 1),
        ((A((1, 2)), A((2, 2), 1), A((0, 2))), -2),
        ((A((2, 2)), A((), 1)), None),
        ((A((2,)),), 0),
    ),
    "stack": every(
        ((A((2,)), A((2,), 1)), 0), ((A((2,)), A((2,), 1), A((2,), 2)), -1), ((A(()), 1.5), 0), ((A((2, 0)), A((2, 0))), 1)
    ),
    "expand_dims": every((A((3,)), 0), (A((2, 3)), -1), (A(()), 0), (A((2,)), (0, 2)), (A((0,)), 1)),
    "squeeze": every(
        (A((1, 3, 1)), None), (A((1, 3, 1)), 0), (A((1, 3, 1)), (-1,)), (A((1,)), None), (A((0, 1)), 1), (A((2,)), None)
    ),
    "flip": every(*((A(s), None) for s in SHAPES), (A((2, 3)), 0), (A((2, 3)), -1), (A((2, 3)), (0, 1))),
    "roll": every(
        (A((3,)), 1, None),
        (A((2, 3)), -1, None),
        (A((2, 3)), 1, 0),
        (A((2, 3)), (1, -2), (0, 1)),
        (A((0,)), 3, None),
        (A((3,)), 4, -1),
    ),
    "diag": every(
        (A((3,)), 0), (A((2,)), 1), (A((2,)), -2), (A((2, 3)), 0), (A((3, 2)), 1), (A((2, 3)), -1), (A((0,)), 0), (A((2, 2)), 2)
    ),
    "tril": every((A((2, 3)), 0), (A((3, 2)), 1), (A((2, 2)), -1), (A((2, 2, 2)), 0), (A((0, 2)), 0)),
    "triu": every((A((2, 3)), 0), (A((3, 2)), 1), (A((2, 2)), -1), (A((2, 2, 2)), 0), (A((0, 2)), 0)),
}
