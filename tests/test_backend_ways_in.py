"""The ways into compiled code: the value of the code for its types, and `otherwise` for all else, whatever comes; nothing leaks."""

from __future__ import annotations

import copy
import gc
import sys
import weakref
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from numba import njit, types

import adjudge as aj
import backend
from backend import run
from backend.status import OK, SIZES
from backend.ways_in import c_objects
from backend.ways_in import entrance as ways_in
from semantics.errors import IllTyped
from semantics.machine import run as on_reference
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType
from semantics.values import same
from transforms.parse import parse_text

NUMBERS = """
def f(x, n: int, b: bool):
    if b:
        return x * 2.0, n + 1, b
    return x, n, b
"""
LOOP = """
def f(x, n: int):
    r = 1.0
    for i in range(n):
        r = r * x
    return r
"""
ARRAYS = """
import numpy as np
def f(x, y, k: int):
    return x * 2.0, np.sum(x + y) + float(k), y
"""
FOUR = """
import numpy as np
def f(x):
    return x * 1.0, np.sum(x), x * 2.0, x * 3.0, x * 4.0
"""
SUM = """
def f(x, y):
    return x + y
"""
OTHERWISE = "otherwise"


class Real(float):
    """A float that is none to the exact type."""


class Odd(np.ndarray):  # type: ignore[type-arg]
    """An array that is none to the exact type."""


@cache
def made(text: str, *types: Any) -> run.Compiled:
    return backend.compile(parse_text(text, "f"), types, "cpu")


def told(*arguments: Any, **named: Any) -> Any:
    return OTHERWISE, arguments, named


# numbers

SCALARS = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-(2**63), 2**63 - 2),
    st.integers(2**63),
    st.booleans(),
    st.sampled_from([Real(1.5), np.float64(2.5), np.int64(3), np.bool_(True), None, "x", (1.0,), 1j]),
)


@given(
    st.tuples(st.floats(allow_nan=False), st.integers(-(2**70), 2**70), st.booleans()) | st.lists(SCALARS, max_size=4), st.data()
)
def test_numbers_of_the_exact_types_go_in_and_all_else_goes_otherwise(arguments: Any, data: Any) -> None:
    """Two's complement wraps nothing: n + 1 that does not fit is a status, and so goes otherwise."""
    way = made(NUMBERS, REAL, INTEGER, BOOLEAN).way_in(told)
    assert way is not None
    named = data.draw(st.booleans()) and len(arguments) > 0
    exact = [*map(type, arguments)] == [float, int, bool] and -(2**63) <= arguments[1] < 2**63 - arguments[2] and not named
    event(f"goes in: {exact}")
    if named:
        assert way(*arguments[:-1], b=arguments[-1]) == (OTHERWISE, tuple(arguments[:-1]), {"b": arguments[-1]})
        return
    x, n, b = arguments if exact else (0.0, 0, False)
    wanted = ((x * 2.0, n + 1, b) if b else (x, n, b)) if exact else (OTHERWISE, tuple(arguments), {})
    found = way(*arguments)
    assert found == wanted
    assert [*map(type, found)] == [*map(type, wanted)]
    if not exact:
        assert all(a is b for a, b in zip(found[1], arguments, strict=True))


@given(st.floats(), st.integers(0, 3000))
def test_the_bits_are_the_references_with_a_stack_of_any_size(x: float, n: int) -> None:
    program = parse_text(LOOP, "f")
    assert same(made(LOOP, REAL, INTEGER)(x, n), on_reference(program, x, n))


def test_a_program_without_a_result_has_a_status_alone() -> None:
    """Once a status alone was taken for the one result, which is no tuple."""
    nothing = made("def f(x):\n    return None\n", REAL)
    assert nothing.entrance is not None
    assert nothing.entrance.status(1.0) == (0,)
    assert nothing.map([(1.0,), (2.0,)]) == [None, None]


# arrays

VECTOR, ROW = ArrayType("f64", (None,)), ArrayType("f64", (1,))
LAID_OUT = {
    "orderly": lambda a: a.copy(),
    "reversed": lambda a: a.copy()[::-1],
    "with steps": lambda a: np.repeat(a, 2)[::2],
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype),
    "of a subclass": lambda a: a.copy().view(Odd),
    "of other bytes": lambda a: a.astype(a.dtype.newbyteorder()),
    "with an axis more": lambda a: a[None].copy(),
    "of one less": lambda a: a[:-1].copy(),
    "a list": lambda a: a.tolist(),
}
ORDERED = ("reversed", "with steps", "read-only")


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=5),
    st.sampled_from(["float64", "float32", "int64", "bool"]),
    st.sampled_from([*LAID_OUT]),
    st.sampled_from([*LAID_OUT]),
)
def test_orderly_arrays_go_in_copies_of_others_do_and_all_else_goes_otherwise(items: Any, dtype: str, one: str, other: str) -> None:
    way = made(ARRAYS, VECTOR, ROW, INTEGER).way_in(told)
    assert way is not None
    x, y = LAID_OUT[one](np.array(items).astype(dtype)), LAID_OUT[other](np.array([0.5]))
    fits = {one, other} <= {"orderly", *ORDERED} and dtype == "float64"
    fits = fits or (dtype == "float64" and one == "of one less" and len(items) > 1 and other in ("orderly", *ORDERED))
    event(f"{one}, {other}: {fits}")
    found = way(x, y, 3)
    if not fits:
        assert found[0] == OTHERWISE
        return
    doubled, total, again = found
    assert np.array_equal(doubled, x * 2.0)
    assert np.array_equal(again, y)
    assert type(total) is float
    assert abs(total - (float(np.sum(x + y)) + 3)) <= 6 * 2.0**-53 * (np.sum(np.abs(x + y)) + 3), "six sums, each rounded once"
    assert doubled.flags.owndata is False
    assert doubled.flags.carray
    assert not any(np.shares_memory(a, b) for a, b in ((doubled, x), (again, y)))


# what is held


def blocks() -> int:
    """Blocks of Numba's runtime that nobody has freed."""
    from numba.core.runtime import rtsys

    stats = rtsys.get_allocation_stats()
    return int(stats.alloc - stats.free + stats.mi_alloc - stats.mi_free)


def test_nothing_leaks_whichever_way_a_call_goes() -> None:
    from numba.core.runtime import _nrt_python

    _nrt_python.memsys_enable_stats()
    compiled = made(ARRAYS, VECTOR, ROW, INTEGER)
    way = compiled.way_in(lambda *given: None)
    assert way is not None
    x, y, read_only = np.arange(3.0), np.ones(1), np.frombuffer(np.ones(1).tobytes())
    calls = [
        (x, y, 2),
        (x, y, 1 << 80),
        (x[::2], y, 2),
        (x, read_only, 2),
        (x, x, 2),
        (x.astype(int), y, 2),
        (x, y),
        (np.ones(0), y, 1),
    ]
    numbers = made(NUMBERS, REAL, INTEGER, BOOLEAN).way_in(lambda *given: None)
    assert numbers is not None
    rows = made(FOUR, VECTOR).way_in(lambda *given: None)
    assert rows is not None
    big, real = 2**63 - 1, 1.25

    def all_ways() -> None:
        for given_ in calls:
            way(*given_)
        numbers(real, big, True)
        numbers(real, big, False)
        rows(x)

    all_ways()
    gc.collect()
    held = [x, y, read_only, np.dtype("float64"), np.ndarray, big, real, way]
    before = [*map(sys.getrefcount, held)], blocks(), sys.getallocatedblocks()
    for _ in range(1000):
        all_ways()
    gc.collect()
    assert ([*map(sys.getrefcount, held)], blocks()) == before[:2]
    assert sys.getallocatedblocks() - before[2] < 1000, "less than an object for each call"


def test_the_rows_of_a_block_hold_it_each_for_itself() -> None:
    compiled = made(FOUR, VECTOR)
    assert compiled.code.blocked[1] == (0, 2, 3, 4), "all but the number are rows of one block"
    way = compiled.way_in(told)
    assert way is not None
    x = np.arange(3.0)
    first, total, *others = way(x)
    assert total == 3.0
    assert all(a.base is first.base for a in others)
    assert all(a.flags.carray and not a.flags.owndata and a.shape == (3,) for a in (first, *others))
    kept = others[1]
    del first, others
    gc.collect()
    assert [way(x + k)[4].tolist() for k in range(3)] == [[4.0 * (v + k) for v in range(3)] for k in range(3)]
    assert kept.tolist() == [0.0, 3.0, 6.0]


def test_an_array_that_nobody_owns_has_no_owner() -> None:
    """What a call that fails gives is one of its arguments, which are lent."""
    compiled = made(SUM, VECTOR, VECTOR)
    assert compiled.entrance is not None
    x, y = np.arange(3.0), np.ones(2)
    lent, status = compiled.entrance.status(x, y)
    assert status == SIZES
    assert lent.base is None
    assert lent.ctypes.data in (x.ctypes.data, y.ctypes.data)
    total, status = compiled.entrance.status(x, x)
    assert status == OK
    assert total.base is not None
    assert total.tolist() == [0.0, 2.0, 4.0]


def test_what_otherwise_may_do_is_call_again_or_raise() -> None:
    def again(x: Any, n: Any) -> Any:
        if n is None:
            raise KeyError(n)
        return way(float(x), int(n)) + 1.0

    found = made(LOOP, REAL, INTEGER).way_in(again)
    assert found is not None
    way = found
    assert way("3", "2") == 10.0
    with pytest.raises(KeyError):
        way(1.0, None)


def test_a_way_is_collected_with_what_it_leads_to() -> None:
    class Owner:
        def otherwise(self, *given: Any) -> Any:
            return self.way

        way: Any

    owner = Owner()
    owner.way = made(LOOP, REAL, INTEGER).way_in(owner.otherwise)
    assert owner.way(2.0, 3) == 8.0
    seen = weakref.ref(owner)
    del owner
    gc.collect()
    assert seen() is None


def test_a_way_is_one_thing_however_it_is_copied() -> None:
    way = made(LOOP, REAL, INTEGER).way_in(told)
    assert copy.deepcopy(way) is way


def test_a_way_follows_the_memory_whoever_makes_it_larger() -> None:
    compiled = run.compile(parse_text(LOOP, "f"), (REAL, INTEGER), "cpu")
    way = compiled.way_in(told)
    assert way is not None
    assert way(2.0, 3) == 8.0
    compiled.memory.budget = 2
    compiled.memory.make()
    assert way(2.0, 3) == (OTHERWISE, (2.0, 3), {}), "the budget of two turns is read where the block is now"


# where objects lie


@pytest.mark.parametrize("place", ["TYPE", "DATA", "AXES", "SHAPE", "STRIDES", "DTYPE", "FLAGS", "OWNED"])
def test_an_object_that_lies_otherwise_is_seen(place: str, monkeypatch: Any) -> None:
    assert c_objects.is_known.__wrapped__(True)
    elsewhere = {"TYPE": c_objects.DATA, "DATA": c_objects.TYPE, "OWNED": c_objects.AXES}
    monkeypatch.setattr(c_objects, place, elsewhere.get(place, c_objects.DATA))
    assert not c_objects.is_known.__wrapped__(True)
    assert c_objects.is_known.__wrapped__(False) is (place != "TYPE")


def test_without_ways_of_our_own_numba_leads_in(monkeypatch: Any) -> None:
    monkeypatch.setattr(c_objects, "is_known", lambda arrays: False)
    compiled = run.compile(parse_text(LOOP, "f"), (REAL, INTEGER), "cpu")
    assert isinstance(compiled.entrance, ways_in.Dispatched)
    assert compiled.quick is None
    assert same(compiled(1.1, 2000), on_reference(parse_text(LOOP, "f"), 1.1, 2000)), "the memory has grown meanwhile"


# what `aj.compile` gives


def test_what_is_compiled_leads_to_the_types_that_came_last_and_has_the_name_of_the_function() -> None:
    def cube(x, n: int = 3):  # type: ignore[no-untyped-def]
        r = 1.0
        for _ in range(n):
            r = r * x
        return r

    compiled: Any = aj.compile(cube)
    assert compiled.__name__ == "cube"
    assert [compiled(2.0, 3), compiled(2.0, n=2), compiled(2.0), compiled(2.0, 4), compiled(np.float64(2.0), 1)] == [
        8.0,
        4.0,
        8.0,
        16.0,
        2.0,
    ]
    way = compiled.func
    assert type(way) is type(len)
    assert [compiled(2, 3), compiled(x=2, n=1), compiled(2.0, 5)] == [8, 2, 32.0]
    assert compiled.func is way, "made once for each of the types"
    with pytest.raises(IllTyped, match="missing a required argument"):
        compiled()


# batches


def test_a_kernel_of_batches_takes_its_signature_at_once_and_all_else_by_way_of_numba() -> None:
    """In columns of a batch, and where one of them has other elements, may not be written, or is not as long."""
    batch = aj.vmap(parse_text(LOOP, "f"), (0, None))
    for x in (np.linspace(0.0, 2.0, 70), np.ones(3), np.frombuffer(np.ones(3).tobytes()), np.ones(6)[::2], np.arange(3)):
        for _ in range(3):
            assert np.array_equal(batch(x, 3), x * 1.0 * x * x)
    kernel = _summed()
    way = ways_in.of_kernel(kernel)
    x, flags = np.arange(4.0), np.zeros(4, np.int8)
    assert way(1, x, flags) == (7,)
    assert flags.tolist() == [0, 1, 1, 1]
    with pytest.raises(TypeError, match="No matching definition"):
        way(1, x, np.zeros(4))
    with pytest.raises(TypeError):
        way(1, x)


def _summed() -> Any:
    from numba import float64, int8, int64, njit

    @njit([int64(int64, float64[::1], int8[::1])])
    def kernel(first, x, flags):  # type: ignore[no-untyped-def]
        total = 0
        for i in range(first, x.size):
            flags[i] = 1
            total += int(x[i]) + 1 - first
        return total + 1

    return kernel


@njit(error_model="numpy")
def demanded(x):  # type: ignore[no-untyped-def]
    if x < 0.0:
        raise ValueError("below zero")
    return x


@njit(error_model="numpy")
def fails(x):  # type: ignore[no-untyped-def]
    try:
        demanded(x)
    except Exception:
        return 1
    return 0


def test_code_with_a_try_finds_nothing_raised_before_it_began() -> None:
    fails.compile((types.float64,))
    way = ways_in.of_kernel(fails)
    assert [way(x) for x in (1.0, -1.0, 2.0)] == [(0,), (1,), (0,)]
