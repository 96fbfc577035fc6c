"""
Progress and preservation for primitives of arrays, exhaustive at small sizes: the type rules and the cells judge each other.

For every row, all arrays of at most two axes of at most two elements, all dtypes, sensitivities with zeros among them, and all
attributes of a pool:

    accepted     the cell gives a value of the inferred type, or traps
    refused      the cell raises
    known        where sizes and attributes are known, what they forbid is refused, and so are the sizes of the result
    unknown      with sizes and attributes forgotten, what is inferred is above the type of the value too
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest

from semantics.arrays import DTYPES, FLOATING, Array, indices_of, size_of
from semantics.columns.meaning import MEANING
from semantics.columns.types import TYPES, apply_type
from semantics.errors import IllTyped, Trap
from semantics.primitives.array_rows import ARRAYS as ROWS_OF_ARRAYS
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.structured import ELLIPSIS, LIST, Record, Slice
from semantics.tangents import ZERO, SparseArray, inject
from semantics.type_language import ArrayType, RecordType, TupleType
from semantics.type_lattice import NEVER, SliceType, erase, is_below, members, of_constant

SHAPES = ((), *((n,) for n in range(3)), *product(range(3), repeat=2))
FEW = ((), (0,), (2,), (1, 2), (2, 2))
NUMBERS = {"f64": (0.5, -2.0, 3.0, 1.5), "f32": (0.5, -2.0, 3.0, 1.5), "i64": (1, 0, -2, 5), "bool": (True, False, True, True)}


def array(dtype: str, shape: tuple[int, ...]) -> Array:
    return Array(dtype, shape, NUMBERS[dtype][: size_of(shape)])


def with_zeros(dtype: str, shape: tuple[int, ...]) -> Array:
    """A sensitivity: every second element is ZERO."""
    return Array(dtype, shape, tuple(ZERO if k % 2 == 0 else x for k, x in enumerate(NUMBERS[dtype][: size_of(shape)])))


def sparse(shape: tuple[int, ...]) -> Iterator[SparseArray]:
    if size_of(shape):
        found = inject(array("f64", shape), next(iter(indices_of(shape))), 2.0)
        assert isinstance(found, SparseArray)
        yield found


ARRAYS = [array(d, s) for d in DTYPES for s in SHAPES]
SOME = [array(d, s) for d in ("f64", "i64") for s in FEW] + [array("f32", ()), array("bool", (2,))]
REALS = [array("f64", s) for s in SHAPES]
SENSITIVITIES = [ZERO, 2.5, *(with_zeros(d, s) for d in FLOATING for s in FEW), *(x for s in FEW for x in sparse(s))]
SCALARS = [2.5, 1, True]
NOT_ARRAYS = [None, "f64", (1.0, 2.0), Record(LIST, (1.0,))]
OPERANDS = [*ARRAYS, *SENSITIVITIES, *SCALARS, *NOT_ARRAYS]
PAIRED = [*SOME, with_zeros("f64", (2,)), with_zeros("f32", (2,)), ZERO, *SCALARS, *NOT_ARRAYS]
INTEGERS = [-2, -1, 0, 1, 2]
ONE_AXIS = [None, *INTEGERS, -3, True, 0.0, "0"]
AXES = [*ONE_AXIS, (), (0,), (1, 0), (0, -1), (0, 0), (1.0,)]
FLAGS = [False, True, 0, None]
NAMES = [None, *DTYPES, "f16", 1]
SIZES = [0, 2, -1, (), (2,), (-1,), (2, -1), (1, 2), (2, 0), (-1, -1), (-2, 1), (1.0,), "2", None, Record(LIST, (2, 1))]
INDICES = [
    *(0, -1, 1, 2, None, ELLIPSIS, True, 0.5, "0"),
    *(Slice(), Slice(1), Slice(None, 1), Slice(None, None, -1), Slice(-5, 5, 2)),
    *((), (0,), (0, 1), (1, -2), (0, 0, 0), (Slice(), 0), (0, ELLIPSIS), (ELLIPSIS, None, 0), (None, 1), (ELLIPSIS, ELLIPSIS)),
    *(Array("i64", s, (0, 1, 0, 1)[: size_of(s)]) for s in FEW),
    *(array("bool", s) for s in SHAPES),
    *((Array("i64", (2,), (0, -1)), 0), (0, Slice(), Array("i64", (2,), (0, 1))), (array("bool", (2,)), 0)),
    *((Array("i64", (2,), (0, 1)), Array("i64", (3,), (0, 1, 0))), (Array("i64", (1,), (0,)), Array("i64", (3,), (0, 1, 0)))),
    *(Record(LIST, (0, 1)), Record(LIST, (0.5,)), array("f64", (2,)), array("i64", (2,))),
]
ROWS_OF_ROWS = [
    *(1.0, 2, True, (), (1.0, 2), (1, True), ((1.0, 2.0), (3.0, 4.0)), ((1,), (1, 2)), (1.0, (2.0,)), ((), ()), ("a",), None, ZERO),
    *((ZERO, 1.0), Record(LIST, (1, 2.5)), Record(LIST, ((1, 2), Record(LIST, (3, 4))))),
    *ARRAYS,
    *((a, b) for a in SOME for b in SOME),
]
SEQUENCES = [
    *((a, b) for a in (*SOME, with_zeros("f64", (2,))) for b in SOME),
    (),
    (1.0, 2.0),
    Record(LIST, (array("f64", (2,)),) * 3),
]
SEQUENCES += [*ARRAYS, 1.0, None, ("a",), (ZERO, array("f64", (2,)))]
TARGETS = [*(array("f64", s) for s in ((), (2,), (2, 2), (0, 2))), array("i64", (2,)), array("bool", (2,)), ZERO, *sparse((2,))]
WRITTEN = [ZERO, 2.5, 1, True, None, (1.0, 2.0), *(array("f64", s) for s in FEW), array("i64", (2,)), with_zeros("f64", (2,))]
SUBSCRIPTS = ["ij,jk->ik", "ij,jk", "i,i->", "ii,i", "...i,i->...", "ij,ij->", "i->i", "ij->ik", "i,j,k", "i1,j", "...,...", 2]

ARGUMENTS: dict[str, tuple[Sequence[Any], ...]] = {
    "as_array": (ROWS_OF_ROWS, NAMES),
    "full": (
        SIZES,
        [*SCALARS, "a", ZERO, None, array("f64", ()), array("f32", ()), with_zeros("f64", ()), array("f64", (1,))],
        NAMES,
    ),
    "arange": ([0, 3, 1.0, True, None], [0, 2, -2, 2.0, ZERO], [1, -1, 2, 0, 1.0]),
    "linspace": ([0.0, 1, True, ZERO, None, array("f64", (1,))], [1.0, 2, "a"], [0, 1, 3, -1, 2.0, None]),
    "eye": ([0, 2, -1, 1.0], [0, 3, -1, None], [0, 1, -4, True]),
    "astype": (OPERANDS, NAMES),
    "shape": (OPERANDS,),
    "dtype": (OPERANDS,),
    "array_size": (OPERANDS,),
    "ndim": (OPERANDS,),
    "getitem": ([*REALS, array("f32", (2,)), array("i64", (2, 2)), *SENSITIVITIES], INDICES),
    "put": ([*TARGETS, array("f32", (2,)), with_zeros("f64", (2, 2))], INDICES, WRITTEN),
    "final": ([*SOME, *SENSITIVITIES], INDICES),
    "scatter_add": ([*TARGETS, None, 2.5], INDICES, WRITTEN),
    "inject": ([*SOME, ZERO, *sparse((2, 2))], INDICES, [ZERO]),
    "take": (OPERANDS, [0, -1, 3, None, (0, 1), Slice(), Record(LIST, (0, 1)), Record(LIST, (0.5,)), *SOME], ONE_AXIS),
    "length": ([*ARRAYS],),
    "of_length": (ARRAYS, [0, 1, 2]),
    "reshape": (OPERANDS, SIZES),
    "transpose": (OPERANDS, AXES),
    "broadcast_to": (OPERANDS, SIZES),
    "sum_to": (OPERANDS, PAIRED),
    "like": (OPERANDS, PAIRED),
    "spread": (PAIRED, SOME, AXES, FLAGS),
    "concatenate": (SEQUENCES, ONE_AXIS),
    "stack": (SEQUENCES, ONE_AXIS),
    "expand_dims": (OPERANDS, AXES),
    "squeeze": (OPERANDS, AXES),
    "flip": (OPERANDS, AXES),
    "roll": (OPERANDS, [0, 1, -5, (1,), (1, 2), 1.0, None], AXES),
    "diag": (OPERANDS, [0, 1, -1, 3, -4, 0.0]),
    "tril": (OPERANDS, [0, 1, -1, 0.0]),
    "triu": (OPERANDS, [0, 1, -1, 0.0]),
    **dict.fromkeys(
        ("reduce_sum", "reduce_prod", "mean", "reduce_max", "reduce_min", "reduce_all", "reduce_any", "logsumexp", "norm"),
        (OPERANDS, AXES, FLAGS),
    ),
    **dict.fromkeys(("argmax", "argmin", "cumsum", "cumprod", "sort", "argsort"), (OPERANDS, ONE_AXIS)),
    **dict.fromkeys(("dot", "matmul", "outer", "solve"), (OPERANDS, PAIRED)),
    "tensordot": (PAIRED, PAIRED, [0, 1, 2, -1, None, (0, 0), ((0,), (0,)), ((0, 1), (0,)), ((0, 1), (1, 0)), ((1.0,), (0,)), 1.0]),
    "einsum": (SUBSCRIPTS, PAIRED, PAIRED),
    **dict.fromkeys(("inv", "det", "slogdet", "cholesky", "trace", "swap_last"), (OPERANDS,)),
    "gadd": ([*SENSITIVITIES, *REALS], [*SENSITIVITIES, *REALS]),
    "instantiate": ([*SENSITIVITIES, *REALS], [*ARRAYS, 1.0]),
    "seed": (ARRAYS,),
    "to_boolean": (ARRAYS,),
}
ARGUMENTS |= {
    "grouped": (OPERANDS, AXES),
    "take_along": (PAIRED, [*SOME, array("i64", (2, 2)), array("i64", (2, 1))], ONE_AXIS),
    "shift": (OPERANDS, [0, 1, -3, 1.0], ONE_AXIS, [0.5, None]),
    "recurrence": (PAIRED, PAIRED, ONE_AXIS, [False, True, 0]),
    "places": ([*OPERANDS, *SEQUENCES],),
    "tensordot_subscripts": (SOME, SOME, [0, 1, 2, -1, ((0,), (0,)), ((0, 1), (1, 0)), ((0, 1), (0,))]),
    "einsum_adjoint": (SUBSCRIPTS[:-1], [0, 1], [(a, b) for a in SOME for b in SOME]),
    "scale": ([0.5, 2, ZERO], [*OPERANDS, *SEQUENCES[:40]]),
}
MATHEMATICS = [p for p in TABLE.values() if p.name in ELEMENTWISE]
ARGUMENTS |= {p.name: (OPERANDS,) if len(p.signature) == 1 else (PAIRED, PAIRED) for p in MATHEMATICS if p.name != "where"}
ARGUMENTS["where"] = ([*(array("bool", s) for s in FEW), True, array("f64", (2,)), 1, ZERO], PAIRED, PAIRED)


def numbered(x: Any) -> Any:
    return MEANING[TABLE["places"]](x)


# rows that are only ever given what belongs together
SQUARES = [(d, array("f64", s), array(e, s)) for s in FEW for e in DTYPES for d in (array("f64", s), with_zeros("f64", s))]
FITTING: dict[str, list[tuple[Any, ...]]] = {
    "gathered": [
        *((with_zeros("f64", s), numbered(array("f64", s)), array("f64", s)) for s in SHAPES),
        ((ZERO, 2.0), numbered(array("f32", (2,))), (array("f32", (2,)), 1.0)),
        (ZERO, array("i64", ()), 1.0),
    ],
    "returned": [
        *((d, numbered(x), y) for d, x, y in SQUARES),
        (with_zeros("f64", (2,)), Array("i64", (2,), (1, 3)), (array("f32", (2,)), 1.0)),
        (array("f64", (2,)), Array("i64", (2,), (0, 2)), Record(LIST, (1.0, True, 2.0))),
        (array("f64", ()), array("i64", ()), 1.0),
        (ZERO, array("i64", ()), 1.0),
    ],
    "keep": [
        *((d, c) for d in (*SENSITIVITIES, 1.0, (1.0, ZERO)) for c in (True, False, ZERO, 1)),
        *((array("f64", s), array(e, s)) for s in SHAPES for e in ("bool", "i64")),
    ],
    "inner": [*((a, b) for a in (*REALS, *SENSITIVITIES) for b in (ZERO, a)), ((1.0, 2), (2.0, 3)), (1.0, None), (ZERO, 1.0)],
    "unsum": [
        ("ij->ji", array("f64", (2, 1)), array("f64", (1, 2))),
        ("ii->i", with_zeros("f64", (2,)), array("f64", (2, 2))),
        ("ij->i", array("f32", (2,)), array("f32", (1, 2))),
        ("i->", 1.0, array("f64", (2,))),
        ("i->i", ZERO, array("f64", (2,))),
    ],
}

# what has no type unless its attributes are known
NEEDS_KNOWN = frozenset({"tensordot_subscripts", "einsum_adjoint"})
# what a cell refuses because of values that no type tells
BY_VALUE = {"getitem", "put", "final", "scatter_add", "inject", "take", "take_along", "to_boolean", "astype", "as_array"}
BY_VALUE |= {"solve", "inv", "det", "slogdet", "cholesky", "div", "floordiv", "mod", "pow", "to_integer", "floor", "ceil"}


def exact(value: Any) -> Any:
    """The type with all that can be known before running."""
    return of_constant(value)


def forgotten(t: Any) -> Any:
    """The type with sizes, integers and booleans unknown."""
    match t:
        case ArrayType(dtype, dims, holes):
            return ArrayType(dtype, (None,) * len(dims), holes)
        case TupleType(items):
            return TupleType(tuple(map(forgotten, items)))
        case RecordType(label, items):
            return RecordType(label, tuple(map(forgotten, items)))
        case SliceType(items):
            return SliceType(tuple(map(forgotten, items)))
        case _:
            return erase(t)


def judged(name: str, types: Sequence[Any]) -> Any:
    """The inferred type, or the refusal."""
    try:
        return apply_type(TABLE[name], types)
    except (IllTyped, Trap) as refusal:
        return refusal


def has_unknown(t: Any) -> bool:
    return any(isinstance(m, ArrayType) and None in m.dims for m in members(t)) or len(members(t)) > 2


def contradiction(name: str, arguments: Sequence[Any]) -> str | None:
    """What the rule and the cell of a row say that cannot both be true; None if they agree."""
    types = [exact(a) for a in arguments]
    known, unknown = judged(name, types), judged(name, [forgotten(t) for t in types])
    try:
        value = MEANING[TABLE[name]](*arguments)
    except (IllTyped, Trap) as refusal:
        if known != NEVER and not isinstance(known, Exception) and name not in BY_VALUE:
            return f"inferred {known}, but {refusal}"
        return None
    found = erase(exact(value))
    for what, judgment in (("known", known), ("unknown", known if name in NEEDS_KNOWN else unknown)):
        if isinstance(judgment, Exception):
            return f"{what}: value {value!r}, but refused: {judgment}"
        if not is_below(found, erase(judgment)):
            return f"{what}: value {value!r} of type {found}, inferred {judgment}"
    if name not in ("getitem", "take", "final") and has_unknown(known):
        return f"of known sizes {', '.join(map(str, types))}, inferred {known}"
    return None


def cases(name: str) -> Iterator[tuple[Any, ...]]:
    yield from product(*ARGUMENTS[name]) if name in ARGUMENTS else FITTING[name]


@pytest.mark.parametrize("name", [*ARGUMENTS, *FITTING])
def test_the_rule_of_a_row_and_its_cell_agree(name: str) -> None:
    for arguments in cases(name):
        found = contradiction(name, arguments)
        assert found is None, (name, arguments, found)


def test_every_row_of_arrays_is_judged_and_every_verdict_occurs() -> None:
    assert {p.name for p in (*ROWS_OF_ARRAYS, *MATHEMATICS)} <= {*ARGUMENTS, *FITTING}
    for name in ("matmul", "reshape", "reduce_sum", "concatenate", "add", "getitem"):
        verdicts = [judged(name, [exact(a) for a in arguments]) for arguments in cases(name)]
        assert sum(isinstance(v, IllTyped) for v in verdicts) > 10
        assert sum(isinstance(v, Trap) for v in verdicts) > 10
        assert sum(not isinstance(v, Exception) for v in verdicts) > 10


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("matmul", lambda a, b: ArrayType("f64", a.dims[:-1] + b.dims[-1:])),
        ("transpose", lambda x, axes: x),
        ("reduce_sum", lambda x, axis, keepdims: ArrayType(x.dtype, x.dims[1:])),
        ("mul", lambda a, b: ArrayType(a.dtype, a.dims)),
    ],
)
def test_a_wrong_rule_is_found(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(*arguments: Any) -> Any:
        return wrong(*arguments) if all(isinstance(t, ArrayType) for t in arguments[: 1 + (name in ("matmul", "mul"))]) else NEVER

    monkeypatch.setitem(TYPES.cells, name, planted)  # type: ignore[arg-type]
    assert any(contradiction(name, arguments) for arguments in cases(name) if all(isinstance(a, Array) for a in arguments[:1]))
