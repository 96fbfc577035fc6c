"""Batches over samples that are small arrays: one object for each array of a result, failures, shared arrays, every way in."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from dataclasses import dataclass
from functools import cache, reduce
from operator import add
from typing import Any

import numpy as np
import pytest

import adjudge as aj
from adjudge.functions import parse
from backend import lowered
from backend.batches import batch as batches
from backend.batches import way_in as batch_way_in
from backend.batches import way_text as batch_way_text
from backend.batches.batch import Batch, Column
from backend.batches.forms import Form, flat, holders, whole
from backend.batches.kernels import WIDE, is_for_few, is_wide
from backend.batches.lanes import CALLED
from backend.small.form import taken_apart
from semantics.errors import IllTyped, Trap
from semantics.type_language import INTEGER, REAL, ArrayType
from transforms.parse import parse_text

X, M = ArrayType("f64", (3,)), ArrayType("f64", (2, 3))
COUNTS = (1, 5, batch_way_text.MOST, WIDE, 2 * WIDE + 3)


def f(x, a, s):  # type: ignore[no-untyped-def]
    return s * (a @ x), np.sum(np.exp(-x * x)), x[::-1] / s


GRADIENT = aj.grad(lambda x, a, s: np.sum(np.exp(-(a @ x) * s) / s), wrt=(0, 1, 2))


def columns(count: int, seed: int = 0) -> tuple[Any, ...]:
    draw = np.random.default_rng(seed)
    return draw.normal(size=(count, 3)), draw.normal(size=(count, 2, 3)), draw.normal(size=count)


def alone(g: Any, arguments: tuple[Any, ...], k: int) -> Any:
    return aj.run(g, *(a[k] if a.ndim > 1 else a[k].item() for a in arguments))


def equal(found: Any, wanted: Any, k: int) -> bool:
    return all(np.asarray(a[k]).tobytes() == np.asarray(b).tobytes() for a, b in zip(found, wanted, strict=True))


@cache
def made(g: Any, calls: int = batch_way_in.OFTEN + 2) -> Any:
    """The batch, after so many calls that it has a way of its own."""
    batch = aj.vmap(g)
    for _ in range(calls):
        batch(*columns(4))
    return batch


@pytest.mark.parametrize("g", [f, GRADIENT], ids=["values", "gradients"])
@pytest.mark.parametrize("count", COUNTS)
def test_every_sample_has_the_bits_of_the_reference_by_every_way(g: Any, count: int) -> None:
    arguments = columns(count, count)
    found = made(g)(*arguments)
    assert type(found) is tuple
    assert all(a.flags.carray for a in found)
    assert all(a.base is None for a in found if a.ndim > 1), "each is an array of its own"
    assert not any(np.shares_memory(a, b) for a in found for b in arguments)
    assert all(equal(found, alone(g, arguments, k), k) for k in range(0, count, 1 + count // 7))


def test_a_short_batch_is_taken_by_the_builtin_function(monkeypatch: Any) -> None:
    batch, arguments = aj.vmap(f), columns(4)
    for _ in range(batch_way_in.OFTEN + 2):
        batch(*arguments)
    monkeypatch.setattr(np, "empty", lambda *given: pytest.fail("the long way"))
    assert equal(batch(*arguments), alone(f, arguments, 3), 3)


def test_one_array_is_given_as_it_is() -> None:
    for g, dims in ((lambda x: x * 2.0, (3,)), (lambda x: x[0] * x[1], ()), (lambda x: np.outer(x, x), (3, 3))):
        batch, xs = aj.vmap(g), columns(6)[0]
        for _ in range(batch_way_in.OFTEN + 3):
            found = batch(xs)
            assert found.shape == (6, *dims)
            assert found[2].tobytes() == np.asarray(g(xs[2])).tobytes()


@pytest.mark.parametrize("target", ["python", "cuda-simulator", "cuda-sequential"])
def test_other_targets_give_the_same_bits(target: str) -> None:
    arguments = columns(3)
    for g in (f, GRADIENT):
        found = aj.vmap(g, target=target)(*arguments)
        assert all(equal(found, alone(g, arguments, k), k) for k in range(3))


def test_sizes_may_change_from_call_to_call_and_each_has_its_code() -> None:
    batch = aj.vmap(lambda x, y: x * np.sum(y))
    draw = np.random.default_rng(3)
    for n in (3, 2, 40, 3):  # 40 are not taken apart
        x, y = draw.normal(size=(5, n)), draw.normal(size=(5, 3))
        for _ in range(2):
            assert batch(x, y).tobytes() == (x * (y[:, 0] + y[:, 1] + y[:, 2])[:, None]).tobytes()
    with pytest.raises(IllTyped, match="not the same number of samples"):
        batch(x, y[:3])


def test_code_of_the_same_numbers_has_a_kernel_for_each_layout() -> None:
    """A kernel was found again by its code alone, and read a matrix of 3 rows as one of 2. `sum` of CPython 3.12 rounds once."""
    batch, draw = aj.vmap(lambda x: np.sum(x) * 1.0), np.random.default_rng(4)
    for shape in ((2, 3), (3, 2), (6,), (2, 3), (6, 1)):
        for count in (3, WIDE):
            x = draw.normal(size=(count, *shape))
            for _ in range(2):
                assert batch(x).tolist() == [reduce(add, row) for row in x.reshape(count, 6).tolist()]


def test_of_many_sizes_some_are_taken_apart(monkeypatch: Any) -> None:
    monkeypatch.setattr(batches, "SHAPES", 2)
    batch = Batch(parse(lambda x: x * 2.0), (ArrayType("f64", (None,)),), (False,), "python")
    for n in (1, 100, 2, 3, 1):
        found = batch.small([Column(np.ones((4, n)))])
        assert (found is None) is (n in (3, 100))
    assert [*batch.smalls] == [((1,),), ((2,),)]


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_arrays_of_f32_are_left_as_they_stand_and_have_columns(target: str) -> None:
    """There was no column for the result, and the batch ended in a KeyError."""
    f = parse_text("def f(x):\n    assert x[0] > 0.0\n    return x * x\n", "f")
    x = np.arange(1, 7, dtype=np.float32).reshape(3, 2)
    assert aj.vmap(f, target=target)(x).tolist() == (x * x).tolist()
    x[1] = -1.0
    found, failures = aj.vmap(f, target=target, errors="return")(x)
    assert (found.dtype, [*failures], np.isnan(found[1]).all()) == (np.float32, [1], True)


OTHERS = {
    "rows with gaps": lambda x, a, s: (np.repeat(x, 2, axis=0)[::2], a, s),
    "columns first": lambda x, a, s: (np.asfortranarray(x), a, s),
    "what may not be written": lambda x, a, s: (np.frombuffer(x.tobytes()).reshape(x.shape), a, s),
    "a list": lambda x, a, s: (x, a, np.array([*s])),
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("count", [4, WIDE])
def test_what_lies_otherwise_goes_another_way(other: str, count: int) -> None:
    plain = columns(count)
    arguments = OTHERS[other](*plain)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(made(f)(*arguments), made(f)(*plain), strict=True))


def test_views_have_the_samples_that_they_show() -> None:
    x, a, s = columns(40)
    for part in (slice(3, 9), slice(None, None, -1), slice(0, 40, 3)):
        found = made(f)(x[part], a[part], s[part])
        assert equal(found, alone(f, (x[part], a[part], s[part]), 2), 2)
    again = made(f)(x, a, s)
    again = again[0]
    assert again.base is None


FAILING = """
import numpy as np

def f(x, n):
    if x[0] > 5.0:
        raise ValueError("large")
    return x * 2.0, 7 // n[1], (n * n)[0]
"""


@pytest.mark.parametrize("target", ["cpu", "python"])
@pytest.mark.parametrize("count", [6, 100])
def test_failures_are_those_of_the_samples(target: str, count: int) -> None:
    x, n = np.ones((count, 3)), np.full((count, 2), 3)
    x[1, 0], n[2, 1], n[4, 0] = 9.0, 0, 1 << 40
    g = parse_text(FAILING, "f")
    batch = aj.vmap(g, target=target, errors="return")
    for _ in range(2):
        (doubled, quotients, _), failures = batch(x, n)
        assert {k: type(e) for k, e in failures.items()} == {1: Trap, 2: Trap, 4: Trap}
        assert np.isnan(doubled[[1, 2, 4]]).all()
        assert not quotients[[1, 2, 4]].any()
        assert (doubled[5].tolist(), quotients[5]) == ([2.0, 2.0, 2.0], 2)
    with pytest.raises(Trap, match="sample 1"):
        aj.vmap(g, target=target)(x, n)


def test_an_integer_beyond_64_bits_is_the_machines() -> None:
    def g(n, x):  # type: ignore[no-untyped-def]
        return (n * n * n)[0] > 5 and x[0] > 0.0, x * 2.0

    def h(m: int, x):  # type: ignore[no-untyped-def]
        return (m * m * m > 5) and x[0] > 0.0, x * 2.0

    x = np.ones((3, 2))
    found, failures = aj.vmap(g, errors="return")(np.full((3, 1), 1 << 40), x)
    assert {*map(type, failures.values())} == {Trap}, "elements of arrays have 64 bits"
    found = aj.vmap(h)(np.full(3, 1 << 40), x)
    assert (found[0].tolist(), found[1].tolist()) == ([True] * 3, [[2.0, 2.0]] * 3)


@pytest.mark.parametrize("count", [5, WIDE + 9])
def test_arrays_may_be_shared(count: int) -> None:
    x, a, _ = columns(count)
    g = aj.grad(lambda x, w, k: np.sum(np.tanh(w @ x)) * k, wrt=(0, 1))
    batch = aj.vmap(g, (0, None, None))
    for _ in range(batch_way_in.OFTEN + 3):
        found = batch(x, a[0], 2.5)
    for k in (0, count - 1):
        assert equal(found, aj.run(g, x[k], a[0], 2.5), k)
    found = batch(x, a[1], 0.5)
    assert equal(found, aj.run(g, x[0], a[1], 0.5), 0)
    assert aj.vmap(lambda x, w: x * w, (0, None))(x, np.ones(3)).tobytes() == x.tobytes()


@dataclass(frozen=True)
class Camera:
    """A record with arrays in it."""

    turn: Any
    focal: Any


def test_tuples_lists_records_and_dictionaries_of_arrays() -> None:
    def g(camera, points, d):  # type: ignore[no-untyped-def]
        p, q = points
        return Camera(camera.turn * camera.focal, d["k"]), [p + q[0], (q[1] * d["k"],)]

    draw = np.random.default_rng(5)
    camera = Camera(draw.normal(size=(9, 3)), draw.normal(size=9))
    points = (draw.normal(size=(9, 3)), [draw.normal(size=(9, 3)), draw.normal(size=9)])
    d = {"k": draw.normal(size=9)}
    batch = aj.vmap(g)
    for _ in range(3):
        found, (sums, (products,)) = batch(camera, points, d)
        assert type(found) is Camera
        assert found.turn.tobytes() == (camera.turn * camera.focal[:, None]).tobytes()
        assert found.focal.tobytes() == d["k"].tobytes()
        assert sums.tobytes() == (points[0] + points[1][0]).tobytes()
        assert products.tobytes() == (points[1][1] * d["k"]).tobytes()


def test_results_of_integers_and_booleans() -> None:
    x = columns(WIDE + 5)[0]
    batch = aj.vmap(lambda x: (x > 0.0, np.where(x > 0.0, 1, 2), np.sum(x) > 0.0, 3))
    for count in (4, WIDE + 5):
        for _ in range(batch_way_in.OFTEN + 3):
            signs, kinds, total, three = batch(x[:count])
        assert (signs.dtype, kinds.dtype, total.dtype, three.dtype) == (bool, np.int64, bool, np.int64)
        assert signs.tolist() == (x[:count] > 0.0).tolist()
        assert kinds.tolist() == np.where(x[:count] > 0.0, 1, 2).tolist()
        assert three.tolist() == [3] * count


def test_arrays_that_are_only_inside_are_taken_apart_too() -> None:
    g = aj.grad(lambda a, b: np.sum(np.array([a, b, a]) * np.array([b, b, 2.0])), wrt=(0, 1))
    batch = Batch(parse(g), (REAL, REAL), (False, False), "cpu")
    given = [Column(np.ones(7)), Column(np.ones(7))]
    x, y = np.linspace(0.0, 1.0, 7), np.linspace(2.0, 3.0, 7)
    found = aj.vmap(g)(x, y)
    assert equal(found, aj.run(g, x[3].item(), y[3].item()), 3)
    code, form = batch.small(given) or pytest.fail("it is taken apart")
    assert not code.code.arrays
    assert not form.apart, "no column is of arrays"


def test_a_program_of_numbers_is_not_looked_at() -> None:
    batch = Batch(parse(lambda x: x * 2.0), (REAL,), (False,), "cpu")
    assert batch.small(()) is None
    assert not batch.smalls


def test_few_samples_go_side_by_side_where_rows_are_taken_apart() -> None:
    of_rows = taken_apart(parse(lambda x, s: x * s), (X, REAL))
    assert of_rows is not None
    numbers, integers = (whole(lowered(parse(lambda x, s: x * s), (REAL, t))) for t in (REAL, INTEGER))
    assert is_for_few(of_rows, (False, False))
    assert not is_for_few(of_rows, (True, False))
    assert not is_for_few(numbers, (False, False))
    assert is_wide(of_rows, (False, False), CALLED)
    assert is_wide(of_rows, (True, False), CALLED)
    assert not is_wide(integers, (False, False), CALLED)
    whole_numbers = taken_apart(parse(lambda n, s: n * s), (ArrayType("i64", (3,)), REAL))
    assert whole_numbers is not None
    assert not any(is_wide(whole_numbers, (s, False), CALLED) for s in (False, True)), "rows of reals alone"


def test_what_holds_results_and_what_launches_take() -> None:
    form = Form(lowered(parse(lambda x: x), (REAL,)), (X, REAL), (REAL, M, INTEGER, REAL), (), None)
    assert holders(form) == {"r_f64": [0, 3], "r1": [1], "r_i64": [2]}
    rows, column = np.arange(6.0).reshape(2, 3), np.ones(2)
    parts = flat(form, form.arguments, [rows, column], (False, False))
    assert [p.tolist() for p in parts] == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0], [1.0, 1.0]]
    assert flat(form, form.arguments, [rows[0], 4.0], (True, True)) == [0.0, 1.0, 2.0, 4.0]


def test_nothing_leaks_and_results_live_on_their_own() -> None:
    batch, arguments = made(f), columns(4)
    kept = weakref.ref(batch(*arguments)[0])
    assert kept() is None
    gc.collect()
    held = [*arguments, np.dtype("float64"), np.ndarray]
    before = [*map(sys.getrefcount, held)], sys.getallocatedblocks()
    for _ in range(1000):
        part = batch(*arguments)[2]
    assert part.tobytes() == (arguments[0][:, ::-1] / arguments[2][:, None]).tobytes()
    del part
    gc.collect()
    assert [*map(sys.getrefcount, held)] == before[0]
    assert sys.getallocatedblocks() - before[1] < 1000, "less than an object for each call"


def test_a_short_batch_that_fails_gives_back_what_it_has_made() -> None:
    batch, x, n = aj.vmap(lambda x, k: (x * 2.0, x[0] / float(4 // k))), np.ones((4, 3)), np.array([1, 2, 1, 2])
    for _ in range(batch_way_in.OFTEN + 2):
        batch(x, n)
    for _ in range(3):
        with pytest.raises(Trap, match="sample 2"):
            batch(x, np.array([1, 2, 0, 2]))
    blocks = sys.getallocatedblocks()
    for _ in range(200):
        with pytest.raises(Trap):
            batch(x, np.array([1, 2, 0, 2]))
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 200
    assert batch(x, n)[0].tolist() == [[2.0] * 3] * 4


def test_threads_of_python_may_call_one_batch() -> None:
    batch, arguments, wrong = made(f), columns(8), []
    wanted = [a.tobytes() for a in batch(*arguments)]

    def many() -> None:
        for _ in range(300):
            if [a.tobytes() for a in batch(*arguments)] != wanted:
                wrong.append(1)

    threads = [threading.Thread(target=many) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
