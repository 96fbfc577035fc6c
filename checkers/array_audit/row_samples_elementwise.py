"""Arguments of the scalar rows on arrays: every rank for those of one argument, every way to broadcast for those of two."""

from __future__ import annotations

from collections.abc import Iterator

from checkers.array_audit.row_samples_arguments import A, Example, booleans, every
from semantics.arrays import Array
from semantics.primitives.table import TABLE

PAIRS = (
    ((), ()),
    ((3,), ()),
    ((), (2, 2)),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((1,), (2, 2)),
    ((0,), (1,)),
    ((2, 1), (0,)),
)

# where a function has no kink and is defined
DOMAINS: dict[str, float] = {"acosh": 1.5, "log": 0.5, "log2": 0.5, "log10": 0.5, "sqrt": 0.5, "cbrt": 0.5, "pow": 0.5}
INSIDE = frozenset({"asin", "acos", "atanh"})
IRRATIONAL = frozenset(
    [
        "exp",
        "expm1",
        "log",
        "log1p",
        "log2",
        "log10",
        "sqrt",
        "cbrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "hypot",
        "erf",
        "erfc",
        "logaddexp",
        "pow",
    ]
)


def elementwise(name: str) -> Iterator[Example]:
    """The scalar rows on arrays: every rank for those of one argument, every way to broadcast for those of two."""
    row = TABLE[name]
    if any(kind == "boolean" for kind in row.signature):
        return

    def of(shape: tuple[int, ...], seed: int) -> Array:
        found = A(shape, seed, DOMAINS.get(name, 0.25 if name == "log1p" else -2.0))
        return found.with_items(x / 8 + 0.25 for x in A(shape, seed, 0.0).items) if name in INSIDE else found

    # the density of erf has the double nearest to π in it, under a root: its relative error is below 2^-53
    constant = 2.0**-53 if name in ("erf", "erfc") else 0.0
    discrete = row.result in ("boolean", "integer")
    if len(row.signature) == 1:
        yield from (Example((of(s, k),), name not in IRRATIONAL, constant) for k, s in enumerate(((), (3,), (0,), (2, 2))))
    if len(row.signature) == 2:
        pairs = PAIRS[1:5:2] if discrete else PAIRS
        yield from (Example((of(a, k), of(b, k + 1)), name not in IRRATIONAL) for k, (a, b) in enumerate(pairs))
        yield Example((of((2,), 3), of((2,), 4).items[0]), name not in IRRATIONAL)
        yield Example((of((2,), 3).items[1], of((2, 2), 4)), name not in IRRATIONAL)


WHERE = every(
    (booleans(True, False), A((2,)), A((2,), 1)),
    (booleans(True, False), 1.5, A((2, 2), 1)),
    (booleans(True, False, shape=(2, 1)), A((3,)), 2.5),
    (True, A((2,)), A((1,), 1)),
    (booleans(shape=(0,)), A(()), 0.5),
)
