"""What is remembered of types is what they give without it; and types that share their parts cost what they share."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import Counter
from threading import Thread
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_infer import TYPES_POOL

import adjudge as aj
from semantics.structured import Label
from semantics.type_language import REAL, RecordType, TupleType
from semantics.type_lattice import LABEL, Literal, Union, erase, join
from semantics.type_memo import LONG, Composite, ordinal, remembering
from semantics.type_widening import extent, lengthless, unsized


@given(st.lists(TYPES_POOL, min_size=2, max_size=5))
def test_functions_of_types_give_the_same_where_they_are_remembered(types: list[Any]) -> None:
    def all_of_it() -> list[Any]:
        joined = types[0]
        for t in types[1:]:
            joined = join(joined, t)
        return [f(t) for t in (*types, joined) for f in (erase, unsized, lengthless, extent, ordinal, str)]

    alone = all_of_it()
    with remembering():
        assert all_of_it() == alone == all_of_it()


@given(TYPES_POOL, TYPES_POOL)
def test_equal_types_are_one_object_inside_and_have_one_hash(a: Any, b: Any) -> None:
    with remembering():
        first, second = TupleType((a, TupleType((b, a)))), TupleType((a, TupleType((b, a))))
        assert first is second
    third = TupleType((a, TupleType((b, a))))
    assert third is not first
    assert (third, hash(third)) == (first, hash(first))
    assert pickle.loads(pickle.dumps(third)) == third


def test_the_hash_of_a_type_is_made_anew_in_another_process() -> None:
    """Those of texts are others there."""
    sent = pickle.dumps(TupleType((REAL, TupleType((REAL,))))).hex()
    asked = "from semantics.type_language import *; import pickle; "
    asked += f"print(pickle.loads(bytes.fromhex('{sent}')) == TupleType((REAL, TupleType((REAL,)))))"
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", asked], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == "True"


def test_of_equal_records_each_keeps_its_class() -> None:
    class A(NamedTuple):
        x: float

    class B(NamedTuple):
        x: float

    labels = [Label("namedtuple", "P", ("x",), python=of) for of in (A, B)]
    with remembering():
        records = [RecordType(label, (REAL,)) for label in labels]
        assert records[0] == records[1]
        assert [erase(t).label.python for t in records] == [A, B]
        known = [TupleType((Literal(LABEL, label),)) for label in labels]
        assert [t.items[0].value.python for t in known] == [A, B]


def test_members_of_a_union_are_ordered_by_their_texts() -> None:
    short, others = TupleType((REAL,)), TupleType((REAL, REAL))
    found = join(others, short)
    assert isinstance(found, Union)
    assert [*map(str, found.members)] == sorted(map(str, (short, others)))
    wide = [TupleType((TupleType((REAL,) * LONG), t)) for t in (short, others)]
    assert ordinal(wide[0]) != ordinal(wide[1])
    assert max(len(ordinal(t)) for t in wide) < LONG + 10


def nested(times: int) -> Any:
    """A type of which the text doubles with each tuple around it."""
    t: Any = TupleType((REAL,))
    for k in range(times):
        t = TupleType((t, t) if k % 2 else (t, TupleType((t,))))
    return t


def test_a_type_is_gone_through_once_for_each_part_that_is_another() -> None:
    """2^60 parts, some hundred of which are others."""
    with remembering():
        t = nested(60)
        assert extent(t) > 2**60
        assert erase(t) is t
        assert join(t, nested(61)) == join(nested(61), t)


def test_what_is_remembered_is_forgotten_and_is_that_of_a_thread() -> None:
    seen: list[bool] = []

    def other() -> None:
        seen.append(TupleType((REAL,)) is TupleType((REAL,)))

    with remembering():
        with remembering():
            inner = TupleType((REAL,))
        assert TupleType((REAL,)) is inner
        thread = Thread(target=other)
        thread.start()
        thread.join()
    assert seen == [False]
    assert TupleType((REAL,)) is not TupleType((REAL,))


def total(t):
    if t is None:
        return 0.0
    left, value, right = t
    return total(left) + value * value + total(right)


def tree(depth: int) -> Any:
    return None if depth == 0 else (tree(depth - 1), float(depth), tree(depth - 1))


def test_the_gradient_of_a_recursion_over_nested_tuples_makes_few_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one that has 30,000 parts, most of them shared. There were some millions, and 40 s before there was code."""
    made = Counter[str]()
    begin = Composite.__post_init__

    def counted(self: Composite) -> None:
        made["types"] += 1
        begin(self)

    compiled = aj.compile(aj.grad(total), target="python")
    monkeypatch.setattr(Composite, "__post_init__", counted)
    for depth in (2, 2, 3):
        assert compiled(tree(depth)) == aj.grad(total)(tree(depth))
    assert 0 < made["types"] < 400_000
