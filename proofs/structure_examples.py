"""
At which arguments the rows of structure, sensitivities and memory are judged: sequences of every length up to the bound and records
of every kind, their elements reals and pairs; every place in them; memories of up to two cells, and pointers to all of their parts.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import z3
from immutables import Map

from semantics.arrays import Array
from semantics.memory import Cells, Memory, Pointer
from semantics.structured import LIST, Label, Record, Slice
from semantics.tangents import ZERO, Sparse

LONGEST = 3
A, B, C, D, E, F = z3.Reals("x0 x1 x2 y0 y1 y2")

# sequences, records and sensitivities of them

ITEMS = (A, (B, 7), C)
TUPLES = tuple(ITEMS[:n] for n in range(LONGEST + 1))
OTHERS = ((), (D,), (D, (E, F)))
LISTS = tuple(Record(LIST, items) for items in TUPLES)
POINT, DATA = Label("namedtuple", "Point", ("a", "b")), Label("dataclass", "Data", ("a", "b"))
KEYED, EMPTY = Label("dict", "", ("a", "b")), Label("dict")
RECORDS = tuple(Record(label, (A, (B, C))) for label in (POINT, DATA, KEYED))
TABLE = RECORDS[-1]
NESTED = Record(LIST, (Record(POINT, (A, B)), Record(KEYED, (C, D))))
CUTS = (Slice(), Slice(1), Slice(None, -1), Slice(None, None, -1), Slice(None, None, 2), Slice(2, 1))
DEEP = Sparse(2, Map({1: B}))
PARTIAL = (ZERO, (A, DEEP), Sparse(2, Map({0: A})), Sparse(2, Map({1: (B, C)})), Sparse(2, Map({0: A, 1: DEEP})))
"""Sensitivities of a pair of a real and a pair: a rule is differentiated again, and then these are its arguments."""


def _places(n: int) -> range:
    return range(-n, n)


def _representations(a: Any, b: Any, c: Any) -> tuple[Any, ...]:
    """A sensitivity of a pair of a real and a pair in every representation."""
    deep = Sparse(2, Map({1: c}))
    return ZERO, (a, (b, c)), (a, deep), (ZERO, (b, ZERO)), Sparse(2, Map({0: a})), Sparse(2, Map({1: deep}))


SUMS = [*product(_representations(A, B, C), _representations(D, E, F)), (A, D), (ZERO, D), (A, ZERO)]
PROJECTIONS = [
    *((t, i) for t in (*TUPLES, *LISTS) for i in _places(len(t if isinstance(t, tuple) else t.items))),  # type: ignore[attr-defined]
    *((t, cut) for t in (*TUPLES, *LISTS) for cut in CUTS),
    *((t, i) for t in PARTIAL for i in (0, 1, -1, Slice(1), Slice(None, -1))),
    *((RECORDS[0], i) for i in (0, 1, -1)),
    *((TABLE, key) for key in KEYED.fields),
]
INJECTIONS = [
    *((t, i, D) for t in (*TUPLES[1:], *LISTS[1:], *PARTIAL) for i in (0, -1)),
    *((t, Slice(1), (D, E)) for t in (TUPLES[3], LISTS[3])),
    *((t, Slice(1), Sparse(2, Map({1: D}))) for t in (TUPLES[3], LISTS[3])),
    *((TABLE, key, d) for key in KEYED.fields for d in (D, ZERO)),
]
FIELDS = [(r, name) for r in RECORDS for name in ("a", "b")]

# memories, pointers and sensitivities of memories

EMPTY_MEMORY = Memory(0, 0, Map())
MEMORY = Memory(0, 2, Map({0: A, 1: ((B, 7), C)}))
CELLS = (ZERO, Cells(Map()), Cells(Map({0: A})), Cells(Map({1: ((B, ZERO), C)})), Cells(Map({1: Sparse(2, Map({1: C}))})))
REAL, WHOLE = Pointer(0, 0), Pointer(0, 1)
PARTS = (REAL, Pointer(0, 1, (1,)), Pointer(0, 1, (0, 0)))
"""Pointers to reals: a cell, an element of one, an element of an element."""
CONTENT = ((D, 7), E)

# arrays, of which only sizes or an order is asked

VECTOR, TABLE_OF = Array("f64", (3,), (A, B, C)), Array("f64", (2, 2), (A, B, C, D))
OTHER_TABLE = Array("f64", (2, 2), (E, F, *z3.Reals("z0 z1")))
ROW_OF = Array("f64", (1, 2), (A, B))
TRUTHS = Array("bool", (2, 2), (True, False, False, True))
REPEATED = Array("i64", (3,), (1, 1, 0))
AXES = (0, 1, -1, None)

EXAMPLES: dict[str, list[tuple[Any, ...]]] = {
    "switch": [(c, a, b) for c in (True, False) for a, b in ((A, D), ((A, (B, C)), (D, (E, F))), (ZERO, D), (A, ZERO))],
    "make_tuple": list(TUPLES),
    "make_record": [(label, A, (B, C)) for label in (POINT, DATA, KEYED)] + [(LIST, *items) for items in TUPLES] + [(EMPTY,)],
    "getitem": PROJECTIONS,
    "length": [(t,) for t in (*TUPLES, *LISTS, RECORDS[0], TABLE)],
    "of_length": [(t, len(t if isinstance(t, tuple) else t.items)) for t in (*TUPLES, *LISTS)],  # type: ignore[attr-defined]
    "make_slice": [(None, 1, 2), (0, -1, None), (None, None, None)],
    "field": FIELDS,
    "field_index": FIELDS,
    "has_field": [*FIELDS, (TABLE, "c")],
    "with_field": [*((r, name, v) for r, name in FIELDS for v in (D, (D, E))), (TABLE, "c", D), (Record(EMPTY, ()), "c", D)],
    "cleared": [((A, (B, C)), i) for i in (0, 1)] + [(d, i) for d in PARTIAL for i in (0, 1)],
    "keys_of": [(TABLE,), (Record(EMPTY, ()),)],
    "values_of": [(TABLE,), (Record(EMPTY, ()),)],
    "iterated": [(t,) for t in (*TUPLES, *LISTS, TABLE)],
    "place_in": [((A, B), 1), (LISTS[2], -1), (TABLE, "b")],
    "of_class": [(r, r.label) for r in RECORDS],
    "unlabelled": [
        (t,) for t in (A, *TUPLES, *LISTS, *RECORDS, Record(LIST, (Record(POINT, (A, B)), Record(KEYED, (C, D)))), ZERO)
    ],
    "concat": [(s, t) for s, t in product(TUPLES[:3], OTHERS)]
    + [(Record(LIST, s), Record(LIST, t)) for s, t in product(TUPLES[:3], OTHERS)],
    "append": [(s, x) for s in (*TUPLES[:3], *LISTS[:3]) for x in (D, (D, E))],
    "is_instance": [(A, "float"), ((A, B), "tuple|list"), (RECORDS[0], POINT), (RECORDS[0], DATA)],
    "range_length": [(0, 3, 1), (3, 0, -2), (0, 0, 1)],
    "gadd": SUMS,
    "inject": INJECTIONS,
    "instantiate": [
        *((d, (D, (E, F))) for d in _representations(A, B, C)),
        *((A, D), (ZERO, D), (ZERO, (D, 7)), ((A, (B, C)), Record(POINT, (D, (E, F))))),
    ],
    "J": [(t,) for t in (A, *TUPLES, *RECORDS, MEMORY)],
    "to_boolean": [(A,), (3,), (True,)],
    "eq": [(A, B), (1, 2), (True, False)],
    "ne": [(A, B), (1, 2), (True, False)],
    "not_": [(True,)],
    "and_": [(True, False)],
    "or_": [(True, False)],
    "memory": [(0,)],
    "alloc": [(m, v) for m in (EMPTY_MEMORY, MEMORY) for v in (D, CONTENT)],
    "load": [(MEMORY, p) for p in (*PARTS, WHOLE)],
    "store": [*((MEMORY, p, D) for p in PARTS), (MEMORY, WHOLE, CONTENT)],
    "lea": [(WHOLE, 0), (WHOLE, 1)],
    "apart": [(A,), ((A, B),)],
    "cell": [(d, p) for d in CELLS for p in (*PARTS, WHOLE)],
    "cell_alone": [*((m, p, d) for m in (MEMORY, *CELLS) for p in PARTS for d in (D, ZERO)), (MEMORY, WHOLE, CONTENT)],
    "cell_cleared": [(d, p) for d in CELLS for p in (*PARTS, WHOLE)],
    "arange": [(0, 3, 1), (3, 0, -1)],
    "eye": [(2, 3, 0), (2, 2, 1)],
    "shape": [(VECTOR,), (TABLE_OF,)],
    "dtype": [(VECTOR,), (TABLE_OF,)],
    "ndim": [(A,), (VECTOR,), (TABLE_OF,)],
    "array_size": [(VECTOR,), (TABLE_OF,)],
    "reduce_all": [(TRUTHS, axis, keep) for axis in AXES for keep in (False, True)],
    "reduce_any": [(TRUTHS, axis, keep) for axis in AXES for keep in (False, True)],
    **{name: [(ROW_OF, 0), (ROW_OF, 1), (ROW_OF, None)] for name in ("argmax", "argmin", "argsort")},
    "final": [(VECTOR, 1), (VECTOR, REPEATED), (TABLE_OF, REPEATED)],
    "places": [(A,), (VECTOR,), ((A, OTHER_TABLE),)],
    "tensordot_subscripts": [(TABLE_OF, OTHER_TABLE, 1), (OTHER_TABLE, Array("f64", (1,), (A,)), 0)],
    "einsum_adjoint": [("ij,jk->ik", k, (TABLE_OF, OTHER_TABLE)) for k in (0, 1)] + [("ii->i", 0, (TABLE_OF,))],
}
"""Row by row, the arguments."""
NO_VALUE = {"fail": "it has no value: it always traps"}
"""Rows at which there is nothing to differentiate, and why."""
