"""Samples side by side: the bits of each alone, on branches where they part, and by the quick way in."""

from __future__ import annotations

import ast
import itertools
import math
from typing import Any

import numpy as np
import pytest
from claims import costly
from hypothesis import event, given
from hypothesis import strategies as st

import adjudge as aj
from adjudge.functions import parse
from backend import lowered
from backend.batches import kernels as batch_kernels
from backend.batches.batch import Batch, Column, go_over
from backend.batches.forms import whole
from backend.batches.kernels import PATIENCE, WIDE, is_wide
from backend.batches.lanes import CALLED, MANY
from backend.stacks import memory as stack_memory
from backend.status import FULL
from semantics.errors import IllTyped, OutOfFuel, Trap
from semantics.type_language import INTEGER, REAL

SPECIAL = (0.0, -0.0, 1.0, -1.5, 0.3, -720.25, -740.5, 1e-310, 5e307, math.inf, -math.inf, math.nan)
PAIRS = np.array([*itertools.product(SPECIAL, SPECIAL)])
assert len(PAIRS) >= WIDE


def everything(x, y):  # type: ignore[no-untyped-def]
    ones = (math.exp(x), math.expm1(x), math.log(x), math.log1p(x), math.log2(x), math.log10(x), math.sin(x), math.cos(x))
    more = (math.tan(x), math.asin(x), math.acos(x), math.atan(x), math.sinh(x), math.cosh(x), math.tanh(x), math.asinh(x))
    rest = (math.acosh(x), math.atanh(x), math.erf(x), math.erfc(x), math.sqrt(x), abs(x), -x, float(x), x**y)
    twos = (x + y, x - y, x * y, np.divide(x, y), math.atan2(x, y), math.copysign(x, y), x + 1, 2 - x, 3 * x)
    return ones, more, rest, twos, (x < y, x <= y, x > y, x >= y, x == y, x != y, not x < y), 7


def steps(x, y, n: int):  # type: ignore[no-untyped-def]
    total, taken = 0.0, 0
    for i in range(n):
        z = x
        while z < 4.0 and taken < 40:
            z, taken = z * 1.5 + i, taken + 1
            total = total + math.sin(z * y)
        if total > 2.0:
            total = total * y
        assert y < 50.0
    return total


def same(found: Any, wanted: Any) -> None:
    """Structure, dtypes and bits; all NaNs are one, since which of them it is no meaning says."""
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            same(a, b)
    else:
        assert found.dtype == wanted.dtype
        alike = np.isnan(wanted)
        assert np.array_equal(np.isnan(found), alike)
        assert found[~alike].tobytes() == wanted[~alike].tobytes()


def kernel_of(f: Any, types: Any, shared: Any) -> bool:
    return is_wide(whole(lowered(parse(f), types)), shared, CALLED)


def test_every_operation_and_function_gives_each_lane_the_bits_that_it_has_alone() -> None:
    columns = tuple(PAIRS.T.copy())
    assert kernel_of(everything, (REAL, REAL), (False, False))
    batch, wanted = aj.vmap(everything), aj.vmap(everything, target="python")(*columns)
    for _ in range(2):  # the long way, and the quick one
        same(batch(*columns), wanted)


GRADIENT = aj.value_and_grad(steps, wrt=(0, 1), mode="ssa")
ON_CPU = aj.vmap(GRADIENT, (0, 0, None), errors="return")
ON_PYTHON = aj.vmap(GRADIENT, (0, 0, None), target="python", errors="return")
values = st.sampled_from([0.0, 0.5, 1.0, 3.0, 5.0, math.nan, 60.0])


@costly(10)
@given(st.lists(values, min_size=1, max_size=12), st.lists(values, min_size=1, max_size=3), st.integers(0, 3))
def test_samples_that_part_at_branches_and_loops_have_the_bits_and_errors_of_each_alone(xs: Any, ys: Any, n: int) -> None:
    count = WIDE + len(xs)
    columns = np.repeat(xs, 9)[:count], np.resize(np.array(ys), count)
    columns = tuple(np.resize(c, count) for c in columns)
    found, failed = ON_CPU(*columns, n)
    wanted, failures = ON_PYTHON(*columns, n)
    event(f"{len(failures)} of {count} fail")
    same(found, wanted)
    assert {k: type(e) for k, e in failed.items()} == {k: type(e) for k, e in failures.items()}


def test_a_second_batch_of_samples_that_all_part_goes_one_by_one_and_is_the_same() -> None:
    count = MANY * (4 * PATIENCE)
    xs, ys = np.tile([0.5, 5.0], count // 2), np.linspace(0.0, 1.0, count)
    for _ in range(2):
        same(ON_CPU(xs, ys, 3)[0], ON_PYTHON(xs, ys, 3)[0])


def test_samples_are_tried_in_a_function_without_a_loop() -> None:
    """A regression: of the bytecode of CPython 3.12 and 3.13, Numba catches no error where a loop is before the `try`."""
    text = batch_kernels.wide_kernel(whole(lowered(parse(steps), (REAL, REAL, INTEGER))), (False, False, True), MANY)
    tries = {f.name: f for f in ast.parse(text).body if isinstance(f, ast.FunctionDef) and any(map(is_try, ast.walk(f)))}
    assert [*tries] == ["attempt"]
    assert not any(isinstance(n, ast.For | ast.While) for n in ast.walk(tries["attempt"]))


def is_try(node: ast.AST) -> bool:
    return isinstance(node, ast.Try)


@pytest.mark.parametrize(
    ("f", "types", "shared", "wide"),
    [
        (lambda x, n: x * n, (REAL, INTEGER), (False, True), True),
        (lambda x, n: x * n, (REAL, INTEGER), (False, False), False),  # a column of integers
        (lambda x, n: x * n, (REAL, INTEGER), (True, True), False),  # no column
        (lambda x, n: x // 2.0, (REAL, INTEGER), (False, True), False),  # a helper that asks about each number
        (lambda x, n: np.cbrt(x), (REAL, INTEGER), (False, True), False),
        (lambda x, n: math.exp(x), (REAL, INTEGER), (False, True), True),
        (lambda x, n: None, (REAL, INTEGER), (False, True), False),  # nothing to put anywhere
    ],
)
def test_lanes_are_for_columns_of_reals_and_for_what_takes_them(f: Any, types: Any, shared: Any, wide: bool) -> None:
    assert kernel_of(f, types, shared) is wide


def test_the_quick_way_in_takes_what_the_long_way_took_and_leaves_it_the_rest() -> None:
    def f(x, n: int, k):  # type: ignore[no-untyped-def]
        assert x != 9.0
        return x * k + n

    batch, xs, ns = aj.vmap(f, (0, 0, None)), np.arange(8.0), np.arange(8)
    wanted = xs * 2.5 + ns
    for _ in range(2):
        assert batch(xs, ns, 2.5).tobytes() == wanted.tobytes()
    other = np.arange(16.0)
    other[1::2] = 0.0
    other.flags.writeable = False
    assert batch(other[::2] / 2.0, ns, 2.5).tobytes() == wanted.tobytes()
    assert batch(np.repeat(xs, 2)[::2], ns, 2.5).tobytes() == wanted.tobytes()
    assert batch(xs, ns, 2).tobytes() == (xs * 2 + ns).tobytes()
    assert batch(ns, ns, 2.5).tobytes() == wanted.tobytes()
    assert batch(xs[:3], ns[:3], 2.5).tobytes() == wanted[:3].tobytes()
    for arguments, kind, words in (
        ((xs, ns[:5], 2.5), IllTyped, "8 in argument 0, 5 in argument 1"),
        ((xs[:0], ns[:0], 2.5), IllTyped, "no samples"),
        ((xs, ns), IllTyped, "axes for 2 arguments"),
        ((np.array(1.0), ns, 2.5), IllTyped, "an array without axes"),
        ((xs + 2.0, ns, 2.5), Trap, "sample 7"),
    ):
        batch(xs, ns, 2.5)
        with pytest.raises(kind, match=words):
            batch(*arguments)
    assert batch(xs, ns, 2.5).tobytes() == wanted.tobytes()


def test_threads_take_lanes_too_and_hold_no_result_when_they_are_done() -> None:
    f, xs = aj.grad(lambda x: math.sin(math.cos(x))), np.linspace(0.0, 1.0, 20_001)
    made = [Batch(parse(f), (REAL,), (False,), "cpu", threads) for threads in (1, 3)]
    one, three = (batch.run([Column(xs)], xs.size, lambda k: [xs[k]]) for batch in made)
    assert one.value.tobytes() == three.value.tobytes()
    held: list[Any] = []

    class Kernel:
        def __call__(self, first: int, last: int, piece: Any) -> None:
            held.append((first, last))

        def __del__(self) -> None:
            held.append("freed")

    go_over(Kernel(), 5000, range(3))
    assert held[-1] == "freed"
    assert sorted(held[:-1])[-1][1] == 5000


def test_memory_of_short_batches_is_kept_and_that_of_threads_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = stack_memory.Memory(lowered(parse(GRADIENT), (REAL, REAL, INTEGER)), 1000)
    kept = memory.for_batch(MANY)
    assert memory.for_batch(MANY) is kept
    assert memory.for_threads(MANY)[0] is not kept[0]
    assert memory.grow({FULL})
    assert memory.for_batch(MANY)[0].size == MANY * memory.size
    monkeypatch.setattr(stack_memory, "KEPT", memory.size)
    assert memory.for_batch(MANY)[0] is not memory.for_batch(MANY)[0]


def test_stacks_of_which_as_many_as_there_are_lanes_do_not_fit_are_those_of_one_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    def power(x, n: int):  # type: ignore[no-untyped-def]
        r = 1.0
        for _ in range(n):
            r = r * x
        return r

    xs, f = np.linspace(-1.0, 1.0, 100), aj.grad(power)
    wanted = aj.vmap(f, (0, None))(xs, 3000)
    for module in (batch_kernels, stack_memory):
        monkeypatch.setattr(module, "LIMIT", 5 * 3000)
    small = aj.vmap(f, (0, None))
    assert [small(xs, 3000).tobytes() for _ in range(2)] == [wanted.tobytes()] * 2
    with pytest.raises(OutOfFuel, match="do not fit"):
        small(xs, 30_000)
