"""
The rows of arrays. Attributes (axis, shape, keepdims, …) are arguments like others: integers, tuples of them, booleans, or
None where Python has None. `array` stands for an array of any rank; a scalar is accepted where NumPy accepts one.

Elementwise mathematics has no rows of its own: `add`, `exp` and their kind read arrays element by element, with broadcasting.
"""

from __future__ import annotations

from semantics.primitives.row import row

CREATION = (
    row("as_array", "value dtype", "any any -> array"),
    row("full", "shape value dtype", "any number any -> array"),
    row("arange", "start stop step", "number number number -> array"),
    row("linspace", "start stop num", "real real integer -> array"),
    row("eye", "n m k", "integer integer integer -> array"),
    row("astype", "x dtype", "array any -> array"),
)

DESCRIPTION = (
    row("shape", "x", "array -> tuple"),
    row("dtype", "x", "array -> any"),
    row("array_size", "x", "array -> integer"),
)

INDEXING = (
    row("put", "t i v", "any any any -> any"),
    row("final", "t i", "any any -> any"),
    row("scatter_add", "x i v", "array any any -> array"),
    row("take", "x indices axis", "array any any -> array"),
)

MOVEMENT = (
    row("reshape", "x shape", "array any -> array"),
    row("transpose", "x axes", "array any -> array"),
    row("broadcast_to", "x shape", "array any -> array"),
    row("sum_to", "d x", "any any -> any"),
    row("like", "v x", "any any -> any"),
    row("spread", "d x axis keepdims", "any array any boolean -> array"),
    row("concatenate", "arrays axis", "any any -> array"),
    row("stack", "arrays axis", "any integer -> array"),
    row("expand_dims", "x axis", "array any -> array"),
    row("squeeze", "x axis", "array any -> array"),
    row("flip", "x axis", "array any -> array"),
    row("roll", "x shift axis", "array any any -> array"),
    row("diag", "x k", "array integer -> array"),
    row("tril", "x k", "array integer -> array"),
    row("triu", "x k", "array integer -> array"),
)

REDUCTIONS = (
    row("reduce_sum", "x axis keepdims", "array any boolean -> array"),
    row("reduce_prod", "x axis keepdims", "array any boolean -> array"),
    row("mean", "x axis keepdims", "array any boolean -> array"),
    row("reduce_max", "x axis keepdims", "array any boolean -> array"),
    row("reduce_min", "x axis keepdims", "array any boolean -> array"),
    row("reduce_all", "x axis keepdims", "array any boolean -> array"),
    row("reduce_any", "x axis keepdims", "array any boolean -> array"),
    row("logsumexp", "x axis keepdims", "array any boolean -> array"),
    row("norm", "x axis keepdims", "array any boolean -> array"),
    row("argmax", "x axis", "array any -> array"),
    row("argmin", "x axis", "array any -> array"),
    row("cumsum", "x axis", "array any -> array"),
    row("cumprod", "x axis", "array any -> array"),
    row("sort", "x axis", "array any -> array"),
    row("argsort", "x axis", "array any -> array"),
)

ALGEBRA = (
    row("dot", "a b", "array array -> array"),
    row("matmul", "a b", "array array -> array"),
    row("outer", "a b", "array array -> array"),
    row("tensordot", "a b axes", "array array any -> array"),
    row("einsum", "subscripts *", "any array -> array"),
    row("solve", "a b", "array array -> array"),
    row("inv", "a", "array -> array"),
    row("det", "a", "array -> array"),
    row("slogdet", "a", "array -> tuple"),
    row("cholesky", "a", "array -> array"),
    row("trace", "a", "array -> array"),
    row("ndim", "x", "any -> integer"),
    row("swap_last", "x", "array -> array"),
    row("tensordot_subscripts", "a b axes", "array array any -> any"),
    row("einsum_adjoint", "subscripts k operands", "any integer tuple -> tuple"),
    row("unsum", "subscripts d x", "any array array -> array"),
)

CONTRACTION = (
    row("inner", "a b", "any any -> real"),
    row("scale", "c t", "real any -> any"),
)

# how backpropagators of rows that move elements find the way back: see `semantics.columns.arrays.places`
PLACES = (
    row("places", "x", "any -> any"),
    row("gathered", "v p x", "any any any -> array"),
    row("returned", "d p x", "any any any -> any"),
    row("keep", "d c", "any any -> any"),
    row("grouped", "x axis", "array any -> array"),
    row("take_along", "x indices axis", "array array any -> array"),
    row("shift", "x by axis fill", "array integer any integer -> array"),
    row("recurrence", "b c axis reverse", "array array any boolean -> array"),
)

ARRAYS = (*CREATION, *DESCRIPTION, *INDEXING, *MOVEMENT, *REDUCTIONS, *PLACES, *ALGEBRA, *CONTRACTION)

# rows that only programs with arrays use; the others also read tuples, lists and scalars
EVIDENCE = frozenset(p.name for p in ARRAYS) - {"put", "final", "sum_to", "like", "keep", "inner", "scale"}
