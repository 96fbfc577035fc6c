"""What a sweep stands on: the store of its verdicts, and the texts that say how functions are called."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.sweep.calls import KINDS, call, table
from adjudge.sweep.catalogue import COMMON, GUESSES
from adjudge.sweep.store import Store
from semantics.errors import Malformed

# the store


@given(st.dictionaries(st.text(), st.dictionaries(st.text(), st.integers() | st.text() | st.none() | st.floats(allow_nan=False))))
def test_a_store_gives_back_what_was_put(tmp_path_factory, records):
    path = tmp_path_factory.getbasetemp() / "given_back.sqlite"
    path.unlink(missing_ok=True)  # one file for all examples: a numbered folder for each costs as much as there are folders
    with Store(path) as store:
        for key, record in records.items():
            store.put(key, record)
    with Store(path) as store:
        assert {key: record for key, record, _ in store.items()} == records
        assert all(store.get(key) == record for key, record in records.items())


def test_a_record_replaces_the_one_before_it_and_an_unknown_key_has_none(tmp_path):
    with Store(tmp_path / "kept.sqlite") as store:
        store.put("a", {"n": 1})
        store.put("a", {"n": 2})
        assert store.get("a") == {"n": 2}
        assert store.get("b") is None


def test_two_connections_write_to_one_file(tmp_path):
    with Store(tmp_path / "kept.sqlite") as one, Store(tmp_path / "kept.sqlite") as other:
        for n in range(20):
            (one, other)[n % 2].put(str(n), {"n": n})
        assert sum(1 for _ in one.items()) == 20


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE accounts (name TEXT)")
    file.close()


def damaged(path: Path) -> None:
    with Store(path) as store:
        for n in range(200):
            store.put(f"key {n}", {"text": "x" * 200})
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"\xff" * 8192 + whole[16384:])


def of_a_later_layout(path: Path) -> None:
    Store(path).close()
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA user_version = 7")
    file.close()


@pytest.mark.parametrize("spoil", [lambda p: p.write_text("not a database " * 100), foreign, damaged, of_a_later_layout])
def test_a_file_that_is_no_store_is_malformed_and_left_as_it_was(tmp_path, spoil):
    path = tmp_path / "spoilt.sqlite"
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(Malformed) as raised:
        Store(path)
    assert raised.value.remedy
    assert path.read_bytes() == before


def test_a_store_in_no_folder_or_that_must_be_there_is_malformed(tmp_path):
    with pytest.raises(Malformed, match="there is no folder"):
        Store(tmp_path / "nowhere" / "kept.sqlite")
    with pytest.raises(Malformed, match="there is no file"):
        Store(tmp_path / "kept.sqlite", make=False)


# calls


def test_a_call_binds_letters_and_leaves_the_rest_to_python():
    made = call("x @ p34, axis=0, more=[y]")
    assert made.letters == ("x", "p34", "y")
    first, second = made.samples(3)
    assert [a.shape for a in first] == [(2, 3), (3, 4), (2, 3)]
    assert not np.array_equal(first[0], second[0])
    bound = made.bound(lambda a, axis, more: (a, axis, more), {})
    product, axis, more = bound(*first)
    assert np.array_equal(product, first[0] @ first[1])
    assert axis == 0
    assert more[0] is first[2]


@given(
    st.sampled_from(sorted({c.text for c in GUESSES} | {c.text for calls in COMMON.values() for c in calls})), st.integers(0, 2**32)
)
def test_samples_lie_in_the_domain_and_are_the_same_for_the_same_seed(text, seed):
    made = call(text)
    for sample, again in zip(made.samples(seed), made.samples(seed), strict=True):
        assert made.domain(*sample)
        assert all(np.array_equal(a, b) for a, b in zip(sample, again, strict=True))


@pytest.mark.parametrize(("letter", "inside", "outside"), [("p", 0.5, 0.0), ("s", -0.5, -1.0), ("u", 0.5, 1.0), ("g", 1.5, 1.0)])
def test_the_domain_of_a_letter_is_open(letter, inside, outside):
    assert KINDS[letter].holds(np.full(2, inside))
    assert not KINDS[letter].holds(np.array([inside, outside]))


def test_a_singular_matrix_is_not_in_the_domain_of_squares():
    assert call("A").domain(np.eye(2))
    assert not call("A").domain(np.ones((2, 2)))
    assert not call("A").domain(np.ones((2, 3)))


@pytest.mark.parametrize(
    ("text", "what"),
    [("sin : x\nsin : p", "twice"), ("sin x", "no line"), ("sin : x +", "no Python"), ("zeros : (2, 3)", "no array")],
)
def test_a_table_that_cannot_be_read_is_malformed(text, what):
    with pytest.raises(Malformed, match=what):
        table(text)


def test_lines_of_a_table_go_on_indented_and_hold_comments():
    found = table("sin cos : x  # both\n    | p3\n\n# nothing\nlog : p")
    assert [c.text for c in found["cos"]] == ["f(x)", "f(p3)"]
    assert set(found) == {"sin", "cos", "log"}
