"""
For which arguments a row's adjoint is proved: every rank up to 3 with sizes that are symbols, and every choice of attributes there.

A size of 1 is a case of its own where broadcasting treats it so. Equal names are equal sizes.
Indices at which `put` writes are such as select no element twice; where they may, the claim is up to a bound (`bounded`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from checkers.smt.index_places import Dim, Extent, Place, extent, times
from proofs.arrays.instances import A, Example, Indices, Number, Sizes
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.structured import ELLIPSIS, Slice

LETTERS = "nmk"
SHAPES: tuple[tuple[Dim, ...], ...] = tuple(tuple(LETTERS[:rank]) for rank in range(1, 4))
TWICE = Place((((Extent("n"),), 2),))


def axes(rank: int) -> list[Any]:
    """All ways to name axes of an array, up to their order: all, one from either end, several, none."""
    several = [c for size in range(2, rank + 1) for c in itertools.combinations(range(rank), size)]
    return [None, (), *range(rank), -1, *several]


def reductions(shapes: Sequence[tuple[Dim, ...]] = SHAPES) -> list[Example]:
    """x, axis, keepdims"""
    return [(A(s), axis, keep) for s in shapes for axis in axes(len(s)) for keep in (False, True)]


def along(shapes: Sequence[tuple[Dim, ...]] = SHAPES, every: bool = True) -> list[Example]:
    """x, axis: each, the last from the end, and all elements in row-major order."""
    return [(A(s), axis) for s in shapes for axis in (*range(len(s)), -1, *((None,) if every else ()))]


def broadcasts(shapes: Sequence[tuple[Dim, ...]] = SHAPES) -> list[tuple[A, A]]:
    """Two shapes that meet: equal, one lacking axes, one of size 1 on either side, outer."""
    pairs: list[tuple[tuple[Dim, ...], tuple[Dim, ...]]] = [
        *((s, s) for s in shapes),
        *((s, s[k:]) for s in shapes for k in range(1, len(s))),
        *((s[k:], s) for s in shapes for k in range(1, len(s))),
        *((s, tuple(1 if j == k else n for j, n in enumerate(s))) for s in shapes for k in range(len(s))),
        *((tuple(1 if j == k else n for j, n in enumerate(s)), s) for s in shapes[:2] for k in range(len(s))),
        (("n", 1), ("m",)),
        ((1, "m"), ("n", 1)),
        (("n", 1, "k"), ("m", 1)),
    ]
    return [(A(a), A(b)) for a, b in pairs]


MEETINGS = [
    (A(a), A(b))
    for a, b in ((("n", "m"), ("n", "m")), (("n", "m"), ("m",)), (("m",), ("n", "m")), (("n", 1), ("m",)), (("n", 1), ("n", "m")))
]
"""Where elementwise rows of two arguments are judged: equal shapes, an axis that one lacks, an axis of size 1."""


def wider(a: A, b: A) -> bool:
    """Whether b broadcasts to the shape of a."""
    own = a.shape[len(a.shape) - len(b.shape) :]
    return len(a.shape) >= len(b.shape) and all(n in (1, m) for n, m in zip(b.shape, own, strict=True))


MATRIX = A(("n", "n"))
PRODUCTS = [
    *((A(a), A(b)) for a, b in itertools.product((("k",), ("n", "k"), ("b", "n", "k")), (("k",), ("k", "m"), ("b", "k", "m")))),
    (A((1, "n", "k")), A(("b", "k", "m"))),
    (A(("b", "n", "k")), A((1, "k", "m"))),
    (A(("a", 1, "n", "k")), A(("b", "k", "m"))),
]
DOTS = [
    *((A(a), A(b)) for a, b in itertools.product((("k",), ("n", "k")), (("k",), ("k", "m")))),
    (A(("a", "n", "k")), A(("k",))),
    (A(("a", "n", "k")), A(("b", "k", "m"))),
    (Number(), A(("n", "m"))),
    (A(("n",)), Number()),
]
PAIRS = ("ij,jk->ik", "ij,ij->", "i,j->ij", "ij,j->i", "bij,bjk->bik")
SUMS = ("ij->ji", "ij->", "ii->i", "ii->", "iij->j", *PAIRS, "i,i,i->", "ij,jk,kl->il")
SUM_SIZES = {"i": "n", "j": "m", "k": "k", "l": "l", "b": "b"}


def _einsum(subscripts: str) -> Example:
    inputs = subscripts.split("->", maxsplit=1)[0].split(",")
    return (subscripts, *(A(tuple(SUM_SIZES[c] for c in own)) for own in inputs))


S = Slice
AT = Indices("i", ("k",), "n")
LAST_OF = Indices("j", ("k",), "m")
INDEXES: list[tuple[A, Any]] = [
    *((A(("n",)), i) for i in (0, -1, Indices("i", (), "n"), S(), S(1, None), S(None, -1), S(None, None, -1), None, ELLIPSIS, AT)),
    (A((TWICE,)), S(None, None, 2)),
    (A((TWICE,)), S(1, None, 2)),
    *((A(("n", "m")), i) for i in (0, (0, -1), (S(), 0), (ELLIPSIS, -1), (S(None, None, -1), S(1, None)), (None, 0), (S(), None))),
    (A(("n", "m")), AT),
    (A(("n", "m")), (S(), Indices("j", ("k",), "m"))),
    (A(("n", "m")), (AT, Indices("j", ("k",), "m"))),
    (A(("n", "m")), (Indices("i", ("k", 1), "n"), Indices("j", ("l",), "m"))),
    (A(("n", "m")), Indices("i", ("k", "l"), "n")),
    (A(("n", "m", "l")), (AT, S(), Indices("j", ("k",), "l"))),
    (A(("n", "m", "l")), (0, S(), LAST := Indices("j", ("k",), "l"))),
    (A(("n", "m", "l")), (ELLIPSIS, LAST)),
    (A(("n", "m", "l")), (S(None, -1), 0, S(None, None, -1))),
]
WRITES: list[Example] = [
    (A(("n",)), 0, Number()),
    (A(("n",)), Indices("i", (), "n"), Number()),
    (A(("n",)), S(None, None, -1), A(("n",))),
    (A((TWICE,)), S(1, None, 2), A(("n",))),
    (A(("n", "m")), 0, A(("m",))),
    (A(("n", "m")), (S(), -1), A(("n",))),
    (A(("n", "m")), (0, 0), Number()),
    (A(("n", "m")), S(), A(("m",))),
    (A(("n", "m")), S(), Number()),
    (A(("n", "m", "k")), (S(), 0), A(("n", "k"))),
]
FLAT = times(extent("n"), extent("m"))
RESHAPES: list[Example] = [
    (A(("n", "m")), Sizes((FLAT,))),  # type: ignore[arg-type]
    (A(("n", "m")), (-1,)),
    (A((FLAT,)), Sizes(("n", "m"))),  # type: ignore[arg-type]
    (A(("n", "m")), Sizes(("m", "n"))),
    (A(("n", "m", "k")), Sizes(("n", times(extent("m"), extent("k"))))),  # type: ignore[arg-type]
    (A(("n", "m", "k")), Sizes((FLAT, "k"))),  # type: ignore[arg-type]
    (A(("n", "m", "k")), (-1,)),
    (A((FLAT, "k")), Sizes(("n", "m", "k"))),  # type: ignore[arg-type]
    (A(("n",)), Sizes((1, "n", 1))),
    (A((1, "n")), Sizes(("n",))),
    (A((1, 1)), ()),
]
BY = Indices("by", (), "n")
DIAGONALS = [*range(-2, 3)]

EXAMPLES: dict[str, list[Example]] = {
    "reduce_sum": reductions(),
    "mean": reductions(),
    "reduce_max": reductions(),
    "reduce_min": reductions(),
    "logsumexp": reductions(),
    "norm": reductions(),
    "transpose": [(A(s), p) for s in SHAPES for p in (None, *itertools.permutations(range(len(s))))] + [(A(("n", "m")), (-1, 0))],
    "swap_last": [(A(s),) for s in SHAPES[1:]],
    "reshape": RESHAPES,
    "expand_dims": [(A(s), k) for s in SHAPES for k in (*range(len(s) + 1), -1, (0, -1))],
    "squeeze": [(A((1, "n")), 0), (A(("n", 1)), -1), (A((1, "n", 1)), (0, 2)), (A((1,)), 0)],
    "broadcast_to": [(b, Sizes(a.shape)) for a, b in broadcasts() if wider(a, b)] + [(Number(), Sizes(("n", "m")))],
    "sum_to": [*((a, b) for a, b in broadcasts() if wider(a, b)), (A(("n", "m")), Number())],
    "like": [*((b, a) for a, b in broadcasts() if wider(a, b)), (Number(), A(("n", "m")))],
    "spread": [
        (A(tuple(n for j, n in enumerate(s) if j != k)) if len(s) > 1 else Number(), A(s), k, False)
        for s in SHAPES
        for k in range(len(s))
    ]
    + [(A(tuple(1 if j == k else n for j, n in enumerate(s))), A(s), k, True) for s in SHAPES for k in range(len(s))],
    "concatenate": [
        ((A(("n",)), A(("m",))), 0),
        ((A(("n",)), A(("m",)), A(("k",))), 0),
        ((A(("n", "k")), A(("m", "k"))), 0),
        ((A(("n", "k")), A(("n", "m"))), 1),
        ((A(("n", "k", "l")), A(("n", "m", "l"))), -2),
        ((A(("n", "m")), A(("k",))), None),
        ((A(("n",)),), 0),
    ],
    "stack": [(tuple(A(s) for _ in range(count)), k) for s in SHAPES[:2] for count in (1, 2, 3) for k in (*range(len(s) + 1), -1)],
    "flip": [*along(), (A(("n", "m")), (0, 1))],
    "roll": [(A(s), BY, k) for s in SHAPES for k, n in enumerate(s) if n == "n"]
    + [(A(("m", "n")), BY, -1), (A(("n", "n")), (BY, Indices("to", (), "n")), (0, 1)), (A(("n",)), BY, None)],
    "diag": [(a, k) for a in (A(("n",)), MATRIX) for k in DIAGONALS],
    "tril": [(A(s), k) for s in SHAPES[1:] for k in DIAGONALS],
    "triu": [(A(s), k) for s in SHAPES[1:] for k in DIAGONALS],
    "trace": [(MATRIX,), (A(("n", "n", "m")),)],
    "cumsum": along(),
    "sort": along(),
    "getitem": list(INDEXES),
    "put": WRITES,
    "scatter_add": [
        *WRITES,
        (A(("n",)), AT, A(("k",))),
        (A(("n", "m")), (S(), Indices("j", ("k",), "m")), A(("n", "k"))),
        (A(("n",)), AT, Number()),
    ],
    "take": [
        (A(("n",)), AT, None),
        (A(("n",)), Indices("i", (), "n"), 0),
        (A(("n", "m")), AT, 0),
        (A(("m", "n")), Indices("i", ("k", "l"), "n"), -1),
    ],
    "take_along": [(A(("m", "n")), Indices("i", ("m", "k"), "n"), 1), (A(("n", "m")), Indices("i", ("k", "m"), "n"), 0)],
    "shift": [(A(s), by, k, fill) for s in SHAPES[:2] for k in (*range(len(s)), None) for by in (1, -1, 2) for fill in (0, 1)],
    "grouped": [(A(s), axis) for s in SHAPES for axis in axes(len(s))],
    "matmul": PRODUCTS,
    "dot": DOTS,
    "outer": [(A(("n",)), A(("m",))), (A(("n", "k")), A(("m",)))],
    "tensordot": [
        (A(("n", "k")), A(("k", "m")), 1),
        (A(("n", "k")), A(("n", "k")), 2),
        (A(("n", "k", "l")), A(("m", "k")), ((1,), (1,))),
        (A(("n",)), A(("m",)), 0),
    ],
    "einsum": [_einsum(s) for s in SUMS],
    "unsum": [("ii->i", A(("n",)), MATRIX), ("ij->i", A(("n",)), A(("n", "m"))), ("iij->j", A(("m",)), A(("n", "n", "m")))],
    "inner": [(A(s), A(s)) for s in SHAPES],
    "scale": [(Number(), A(s)) for s in SHAPES],
    "full": [(Sizes(s), Number(), None) for s in SHAPES],
    "astype": [(A(s), "f64") for s in SHAPES],
    "as_array": [(A(s), None) for s in SHAPES],
    "where": [(A(a.shape, "bool"), a, b) for a, b in broadcasts()] + [(A(("n",), "bool"), A(("n",)), Number())],
}


def examples(name: str) -> list[Example]:
    """The kinds of arguments at which a row is judged; none if it takes no arrays of reals."""
    if name not in ELEMENTWISE or name in EXAMPLES or not {"real", "number"} & {*TABLE[name].signature}:
        return EXAMPLES.get(name, [])
    if len(TABLE[name].parameters) == 1:
        return [(A(s),) for s in SHAPES]
    return [*MEETINGS, (A(("n", "m")), Number()), (Number(), A(("n",)))]
