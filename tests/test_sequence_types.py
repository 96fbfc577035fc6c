"""
Types of sequences whose length is not known: what they forget is sound, and inference comes to an end.

For every row and every combination of small values, with the lengths of tuples and lists forgotten: what is inferred is above the
type of the value, and what is refused the cell refuses, too.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantics.arrays import Array
from semantics.columns.meaning import MEANING
from semantics.columns.types import apply_type
from semantics.errors import AdjudgeError, IllTyped, OutOfFuel, Trap
from semantics.infer import ROUNDS, infer
from semantics.machine import run
from semantics.memory_types import MemoryType, PointerType
from semantics.primitives.table import TABLE
from semantics.structured import LIST, Record, Slice
from semantics.tangents import ZERO, dense
from semantics.type_language import (
    BOOLEAN,
    INTEGER,
    REAL,
    UNIT,
    FunctionType,
    RecordType,
    SequenceType,
    TupleType,
    parse_type,
    tangent,
    type_of,
)
from semantics.type_lattice import (
    LENGTHS,
    NEVER,
    ZERO_TYPE,
    Union,
    cells_type,
    erase,
    is_below,
    join,
    members,
    of_constant,
    over_parts,
)
from semantics.type_widening import lengthless
from transforms.parse import parse_text


def listed(*items: Any) -> Record:
    return Record(LIST, items)


SEQUENCES: tuple[Any, ...] = (
    *((), (1.5,), (1.5, 2.5), (1.5, 2), ((1.5,), (2.5,)), listed(), listed(1.5), listed(1.5, 2.5, 3.5), listed(1, 2)),
    *(listed(listed(1.5), listed(2.5)), (listed(1.5), (2.5,)), (ZERO, 1.5), (1.5, None)),
)
OTHERS: tuple[Any, ...] = (1.5, None, ZERO, Array("f64", (2,), (1.0, 2.0)), True)
VALUES = (*SEQUENCES, *OTHERS)
REALS: tuple[Any, ...] = ((), (1.5,), (1.5, 2.5), (ZERO, 1.5), listed(1.5, 2.5), ZERO, ((1.5,), ZERO))
INDICES = (0, -1, 1, 7, 0.5, Slice(0, 1, None), Slice(None, None, -1), Slice(1, None, None))
ARGUMENTS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "getitem": (VALUES, INDICES),
    "put": (VALUES, (0, -1, 7, 0.5), (0.5, None, ZERO)),
    "length": (VALUES[:-3],),
    "of_length": (SEQUENCES, (0, 1, 2, 3)),
    "concat": (VALUES, VALUES),
    "append": (VALUES, (0.5, (1.5,))),
    "to_boolean": (SEQUENCES,),
    "is_instance": (VALUES, ("list", "tuple", "float", "tuple|list", "NoneType")),
    "iterated": (SEQUENCES,),
    "unlabelled": (VALUES,),
    "inject": (((1.5,), (1.5, 2.5), listed(1.5, 2.5, 3.5), (listed(1.5), (2.5,))), (0, -1), (0.5, ZERO)),
    "gadd": (REALS, REALS),
    "instantiate": (REALS, (*SEQUENCES[:4], *SEQUENCES[5:9])),
    "cleared": (((1.5, 2.5), (ZERO, (1.5,)), ZERO), (0, 1)),
    "as_array": (SEQUENCES, (None, "f32")),
    "stack": (((Array("f64", (2,), (1.0, 2.0)),) * 2, *SEQUENCES[:3]), (0,)),
    "concatenate": (((Array("f64", (2,), (1.0, 2.0)),) * 3, *SEQUENCES[:2]), (0, None)),
    "places": (SEQUENCES,),
    "scale": ((2.0, ZERO), SEQUENCES),
    "sum_to": (((1.5, 2.5), ZERO), ((1.5, 2.5), listed(1.5, 2.5))),
    "make_tuple": (SEQUENCES, SEQUENCES),
    "J": (SEQUENCES,),
}
# what the cell makes of a value that only its length, or another value, tells
TOGETHER = {"gadd", "instantiate", "inject"}


def forgetting(t: Any) -> Any:
    """The type with the lengths of tuples and lists forgotten, and known numbers; strings stay."""
    return lengthless(erase(t))


def judged(name: str, types: list[Any]) -> Any:
    try:
        return apply_type(TABLE[name], types)
    except AdjudgeError as error:
        return error


@pytest.mark.parametrize("name", ARGUMENTS)
def test_what_is_inferred_without_lengths_is_above_the_value_and_what_is_refused_fails(name: str) -> None:
    accepted = 0
    for arguments in product(*ARGUMENTS[name]):
        exact = [of_constant(a) for a in arguments]
        found = judged(name, [forgetting(t) if isinstance(t, (TupleType, RecordType)) else t for t in exact])
        try:
            value = MEANING[TABLE[name]](*arguments)
        except Trap:
            continue
        except IllTyped:
            assert isinstance(found, IllTyped) or has_never(found) or name in TOGETHER, (arguments, str(found))
            continue
        assert not isinstance(found, AdjudgeError), (arguments, found)
        assert is_below(below(type_of_sensitivity(value)), below(found)), (arguments, value, str(found))
        accepted += 1
    assert accepted > 0


def has_never(t: Any) -> bool:
    """Whether no value of the type has an item: it tells nothing of what the items of an empty sequence would do."""
    return t == NEVER or "never" in str(t)


def type_of_sensitivity(value: Any) -> Any:
    return of_constant(dense(value))


def below(t: Any) -> Any:
    """Two types of different precision are compared without lengths and known numbers."""
    return forgetting(t)


def test_a_sequence_is_printed_and_read() -> None:
    for text in (
        "tuple[f64, ...]",
        "list[f64, ...]",
        "list[tuple[i64, f64], ...]",
        "tuple[list[f64, ...], ...]",
        "list[f64, list[f64, ...]]",
    ):
        assert str(parse_type(text)) == text
    assert parse_type("list[f64, ...]") == SequenceType(LIST, REAL)
    assert str(tangent(SequenceType(LIST, TupleType((REAL, INTEGER))))) == "list[tuple[f64, unit], ...]"


def test_lists_of_two_lengths_meet_in_one_of_unknown_length() -> None:
    one, two = type_of(listed(1.0)), type_of(listed(1.0, 2))
    assert join(one, two) == SequenceType(LIST, join(REAL, INTEGER))
    assert join(one, one) == one
    assert join(join(one, two), type_of(listed())) == join(one, two)
    assert len(members(join(one, type_of((1.0, 2.0))))) == 2


def test_tuples_of_a_few_lengths_are_told_apart() -> None:
    tuples = [TupleType((REAL,) * n) for n in range(LENGTHS + 1)]
    total: Any = NEVER
    for t in tuples[:-1]:
        total = join(total, t)
    assert isinstance(total, Union)
    assert total.members == tuple(sorted(tuples[:-1], key=str))
    assert join(total, tuples[-1]) == SequenceType(None, REAL)


@st.composite
def types(draw: st.DrawFn, depth: int = 2) -> Any:
    if depth == 0:
        return draw(st.sampled_from([REAL, INTEGER, BOOLEAN, UNIT, ZERO_TYPE, NEVER, of_constant(1), of_constant(2)]))
    inner = types(depth - 1)
    part = inner.filter(lambda t: t != NEVER)
    several = st.lists(part, max_size=LENGTHS + 2).map(tuple)
    return draw(
        st.one_of(
            inner,
            several.map(TupleType),
            several.map(lambda items: RecordType(LIST, items)),
            st.builds(SequenceType, st.sampled_from([None, LIST]), part),
            several.map(lambda items: FunctionType(len(items), items)),
            st.builds(MemoryType, st.just(0), several, st.none() | part),
            st.builds(cells_type, several, inner),
            st.builds(PointerType, st.sampled_from([0, 1]), st.integers(0, 2), st.booleans()),
        )
    )


@given(types(), types(), types())
def test_types_of_unknown_length_form_a_join_semilattice(a: Any, b: Any, c: Any) -> None:
    assert join(a, b) == join(b, a)
    assert join(a, a) == a
    assert join(join(a, b), c) == join(a, join(b, c))
    assert is_below(a, join(a, b))
    assert not any(isinstance(m, Union) for m in members(join(a, b)))


@given(types())
def test_what_is_forgotten_is_above(a: Any) -> None:
    assert lengthless(lengthless(a)) == lengthless(a)
    assert over_parts(a, lambda part: part) == a


LOOPS: dict[str, tuple[str, str]] = {
    "appended": ("def f(x, n):\n xs = []\n for i in range(n):\n  xs.append(x * i)\n return xs", "list[f64, ...]"),
    "comprehension": ("def f(x, n):\n return [x * i for i in range(n)]", "list[f64, ...]"),
    "filtered": ("def f(x, n):\n return sum([y for y in (x, 2.0 * x, 3.0) if y > 0.5])", "f64 | i64"),
    "nested": ("def f(x, n):\n return [[x * j for j in range(i)] for i in range(n)]", "list[list[f64, ...], ...]"),
    "concatenated": ("def f(x, n):\n t = ()\n for i in range(n):\n  t = t + (x, i)\n return t", "tuple[f64 | i64, ...]"),
    "result of a recursion": ("def f(x, n):\n return () if n == 0 else (x,) + f(x, n - 1)", "tuple[f64, ...]"),
    "array of integers": ("import numpy as np\ndef f(x, n):\n return np.array([i for i in range(n)])", "f64[0] | i64[?]"),
    "array of a list": ("import numpy as np\ndef f(x, n):\n return np.array([x * i for i in range(n)])", "f64[?]"),
    "unpacked": ("def f(x, n):\n a, b = [x * i for i in range(n)]\n return a * b", "f64"),
    "element": ("def f(x, n):\n return [x * i for i in range(n)][n - 1]", "f64"),
    "part": ("def f(x, n):\n return [x * i for i in range(n)][1:n]", "list[f64, ...]"),
    "part of a tuple": ("def f(x, n):\n return (x, x, x)[:n]", "tuple[f64, ...]"),
    "tail": (
        "def f(x, n):\n def g(t):\n  return 0.0 if len(t) == 0 else t[0] + g(t[1:])\n return g((x, x, 1, 2.0, x, 3, x, x))",
        "f64",
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_that_makes_sequences_longer_has_a_type_and_its_value_is_of_it(name: str) -> None:
    text, wanted = LOOPS[name]
    program = parse_text(text, "f", "f.py", {})
    result = infer(program, [REAL, INTEGER]).result
    allowed = {wanted, f"unbound | {wanted}"}
    assert str(result) in allowed
    for n in (0, 1, 2, 7):
        try:
            value = run(program, 1.5, n)
        except Trap:
            continue
        assert is_below(type_of(value), result), (n, value)


def test_few_rounds_keep_lengths_and_a_recursion_on_ever_less_does_too() -> None:
    text = "def f(x):\n xs = []\n for i in range(%d):\n  xs.append(x * i)\n return len(xs)"
    known = "def f(x):\n def g(t):\n  return () if len(t) == 0 else g(t[1:]) + (t[0],)\n return g((x, 1, True, x))"
    assert str(infer(parse_text(known, "f", "f.py", {}), [REAL]).result) == "tuple[f64, bool, i64, f64]"
    assert infer(parse_text(text % (10 * ROUNDS), "f", "f.py", {}), [REAL]).result == INTEGER


def test_ever_deeper_tuples_still_have_no_type() -> None:
    text = "def f(x, n):\n t = ()\n for i in range(n):\n  t = (t, x)\n return t"
    with pytest.raises(OutOfFuel):
        infer(parse_text(text, "f", "f.py", {}), [REAL, INTEGER])


def test_an_item_of_the_wrong_kind_is_refused_wherever_it_is() -> None:
    text = "def f(x, n):\n xs = [(x,)]\n for i in range(n):\n  xs.append(x)\n return xs[0] * x"
    with pytest.raises(IllTyped, match="mul wants numbers"):
        infer(parse_text(text, "f", "f.py", {}), [REAL, INTEGER])


@pytest.mark.parametrize(("made", "remedy"), [("[v for v in x]", "[*xs, *ys]"), ("tuple(v for v in x)", "(*s, *t)")])
def test_the_sum_of_two_sequences_is_refused_with_what_joins_them(made: str, remedy: str) -> None:
    """Before anything runs, and by the reference when it does."""
    program = parse_text(f"def f(x):\n a = {made}\n b = {made}\n return len(a + b)", "f", "f.py", {})
    with pytest.raises(IllTyped) as told:
        infer(program, [TupleType((REAL, REAL))])
    assert remedy in told.value.remedy
    with pytest.raises(IllTyped) as met:
        run(program, (1.0, 2.0))
    assert met.value.remedy == told.value.remedy
    joined = parse_text(f"def f(x):\n a = {made}\n b = {made}\n return len([*a, *b])", "f", "f.py", {})
    assert run(joined, (1.0, 2.0)) == 4
