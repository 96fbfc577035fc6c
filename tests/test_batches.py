"""Batches: the bits of a call for each sample, the error of the first that fails, on every target and for any number of workers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from backend_programs import PROGRAMS, samples
from claims import costly
from hypothesis import event, given
from hypothesis import strategies as st

import adjudge as aj
from adjudge.functions import Derivative, parse
from adjudge.values import to_value
from backend.batches import batch as batches
from backend.batches.batch import FEW, Batch, Column
from checkers.generators import Options, Source, sources
from semantics.errors import AdjudgeError, IllTyped, Malformed, OutOfFuel, Trap
from semantics.machine import run
from semantics.text import read
from semantics.type_language import REAL, type_of
from semantics.values import same

TARGETS = ("reference", "python")
WITH_LOOPS = Options(features=frozenset({"math", "branch", "augmented", "while"}), always=frozenset({"while"}), size=3)


def power(x, n):  # type: ignore[no-untyped-def]
    r = 1.0
    for _ in range(n):
        r = r * x
    return r


def norm(w, x):  # type: ignore[no-untyped-def]
    return np.sum(np.tanh(w * x) ** 2)


def quotient(n, m):  # type: ignore[no-untyped-def]
    return n // m


def recursive(x, n):  # type: ignore[no-untyped-def]
    if n <= 0:
        return x
    return recursive(x * 0.5, n - 1) + recursive(x + 1.0, n - 2)


class Pair(NamedTuple):
    a: Any
    b: Any


XS = np.array([0.5, -0.0, 1.5, np.inf, -2.0, np.nan, 3.0])
NS = np.array([0, 3, 7, 2, 40, 1, 5])


def agrees(found: Any, wanted: list[Any], failures: dict[int, AdjudgeError]) -> None:
    """Every sample has the value or the kind of error that it has alone; a Trap for an integer that no column has."""
    for k, want in enumerate(wanted):
        if isinstance(want, AdjudgeError) or is_wide(want):
            assert type(failures[k]) is (type(want) if isinstance(want, AdjudgeError) else Trap)
        else:
            assert k not in failures
            assert same(to_value(found, atom=lambda x, _, k=k: to_value(x[k])), want)


def is_wide(value: Any) -> bool:
    """Whether an integer in it needs more than 64 bits."""
    return any(type(i) is int and not -(1 << 63) <= i < 1 << 63 for i in (value if type(value) is tuple else (value,)))


def agrees_or_is_refused(found: Any, wanted: list[Any]) -> None:
    """The same, unless values of several types cannot be put together."""
    if not isinstance(found, AdjudgeError):
        agrees(found[0], wanted, found[1])
        return
    values = [w for w in wanted if not isinstance(w, AdjudgeError)]
    assert len({str(type_of(v)) for v in values}) > 1


def alone(call: Callable[..., Any], arguments: Any, keep: bool = False) -> Any:
    """The value, of the language unless it is to be kept as it is, or the error."""
    try:
        return call(*arguments) if keep else to_value(call(*arguments))
    except AdjudgeError as error:
        return error


@costly(8)
@given(sources(WITH_LOOPS), st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=1, max_size=5))
def test_a_batch_of_a_generated_program_and_of_its_gradient_is_a_call_for_each_sample(source: Source, points: list[Any]) -> None:
    columns = [np.array([p[i] for p in points]) for i in range(source.parameters)]
    for f in (source.program(), aj.value_and_grad(source.program(), mode="ssa")):
        each = aj.vmap(f, target="python", errors="return")
        call = f if isinstance(f, Derivative) else lambda *x, f=f: run(f, *x)
        wanted = [alone(call, [float(c[k]) for c in columns]) for k in range(len(points))]
        found = alone(lambda each=each: each(*columns), (), keep=True)
        event("several types" if isinstance(found, AdjudgeError) else f"errors: {len(found[1])}")
        agrees_or_is_refused(found, wanted)


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "tuples"])
def test_a_batch_of_every_shape_of_control_flow(name: str) -> None:
    program, points = read(PROGRAMS[name]), samples(name)
    columns = [np.array([p[i] for p in points]) for i in range(2)]
    wanted = [alone(lambda *x: run(program, *x), p) for p in points]
    found = alone(aj.vmap(program, target="python", errors="return"), columns, keep=True)
    assert not isinstance(found, AdjudgeError) or name in ("zeros", "conversions")
    agrees_or_is_refused(found, wanted)


@given(st.integers(1, 4), st.integers(1, 30))
def test_any_number_of_threads_goes_over_every_sample_once(threads: int, count: int) -> None:
    xs, ns = np.linspace(-2.0, 2.0, count), np.arange(count)
    kept, batches.FEW = batches.FEW, 3
    try:
        found = BATCHES[threads](xs, ns)
    finally:
        batches.FEW = kept
    agrees(found, [GRADIENT(float(x), k) for k, x in enumerate(xs)], {})


@given(st.integers(1, 4), st.integers(0, 50), st.integers(1, 9))
def test_stretches_are_all_samples_and_each_thread_has_its_own_memory(threads: int, size: int, few: int) -> None:
    kept, batches.FEW = batches.FEW, few
    seen: list[tuple[Any, int]] = []
    try:
        batches.go_over(lambda first, last, piece: seen.extend((piece, k) for k in range(first, last)), size, range(threads))
    finally:
        batches.FEW = kept
    assert sorted(k for _, k in seen) == [*range(size)]
    assert {piece for piece, _ in seen} <= {*range(threads)}


GRADIENT = aj.grad(power, mode="ssa")
BATCHES = {threads: aj.vmap(GRADIENT, target="python", threads=threads) for threads in range(1, 5)}


def test_native_kernels_and_threads_have_the_same_bits_and_grow_their_stacks_while_samples_need_it() -> None:
    wanted = aj.vmap(aj.grad(power, mode="ssa"), target="reference")(XS, NS)
    for target in ("cpu", "cuda-simulator"):
        assert aj.vmap(aj.grad(power), target=target)(XS, NS).tobytes() == wanted.tobytes()
    assert (np.repeat(wanted, FEW).tobytes()) == aj.vmap(aj.grad(power))(np.repeat(XS, FEW), np.repeat(NS, FEW)).tobytes()
    long = aj.vmap(aj.grad(power))(XS, np.where(NS == 40, 5000, NS))  # beyond the cells that there are at first
    single = aj.compile(aj.grad(power))
    assert (
        long.tobytes() == np.array([single(float(x), 5000 if n == 40 else int(n)) for x, n in zip(XS, NS, strict=True)]).tobytes()
    )


def test_arrays_have_an_axis_more_and_so_do_the_gradients_by_them() -> None:
    w, x = np.linspace(0.0, 1.0, 4), np.linspace(-1.0, 1.0, 12).reshape(3, 4)
    wanted = [aj.grad(norm, wrt=(0, 1))(w, row) for row in x]
    another = np.asfortranarray(x)
    another.flags.writeable = False
    for target in ("reference", "python", "cpu"):
        batch = aj.vmap(aj.grad(norm, wrt=(0, 1)), (None, 0), target=target)
        for rows in (x, another):
            left, right = batch(w, rows)
            assert left.tobytes() == np.stack([a for a, _ in wanted]).tobytes()
            assert right.tobytes() == np.stack([b for _, b in wanted]).tobytes()


def test_records_lists_and_shared_arguments() -> None:
    def f(p, q, k):  # type: ignore[no-untyped-def]
        return Pair(p.a * q[0] + k, (p.b, q[1]))

    for target in TARGETS:
        found = aj.vmap(f, (0, 0, None), target=target)(Pair(XS, NS), [XS + 1.0, NS > 2], 2.5)
        assert isinstance(found, Pair)
        assert found.a.tobytes() == (XS * (XS + 1.0) + 2.5).tobytes()
        assert found.b[0].tolist() == NS.tolist()
        assert found.b[1].tolist() == (NS > 2).tolist()
    assert aj.vmap(lambda g, x: g(x), target="python")(lambda x: x + 1.0, XS).tobytes() == (XS + 1.0).tobytes()


# errors


@pytest.mark.parametrize("target", ["reference", "python", "cuda-simulator"])
def test_the_first_sample_that_fails_is_named_with_the_words_of_the_reference(target: str) -> None:
    with pytest.raises(Trap, match="sample 2: integer division by zero") as raised:
        aj.vmap(quotient, target=target)(np.array([4, 5, 6, 7]), np.array([1, 2, 0, 0]))
    assert raised.value.location is not None
    assert aj.vmap(quotient, target=target)(np.array([4, 5]), np.array([1, 2])).tolist() == [4, 2]


@pytest.mark.parametrize("target", ["reference", "python"])
def test_errors_may_be_returned_beside_the_values(target: str) -> None:
    found, failures = aj.vmap(quotient, target=target, errors="return")(np.array([4, 5, 6, 7]), np.array([1, 0, 2, 0]))
    assert found.tolist() == [4, 0, 3, 0]
    assert {k: type(e) for k, e in failures.items()} == {1: Trap, 3: Trap}
    assert all("division" in e.what for e in failures.values())
    found, failures = aj.vmap(quotient, target=target, errors="return")(np.array([4]), np.array([3]))
    assert (found.tolist(), failures) == ([1], {})


def test_where_64_bits_do_not_do_the_machine_runs_the_sample() -> None:
    def f(n):  # type: ignore[no-untyped-def]
        return n * n * n % 1000

    def g(n):  # type: ignore[no-untyped-def]
        return n * n * n

    large = np.array([3, 10**15, 12])
    assert aj.vmap(f, target="python")(large).tolist() == [27, 0, 728]
    with pytest.raises(Trap, match="64 bits"):
        aj.vmap(g, target="python")(large)
    assert aj.vmap(g, target="python")(large[::2]).tolist() == [27, 1728]


@pytest.mark.parametrize("target", ["reference", "python", "cuda-sequential"])
def test_what_samples_share_may_be_an_integer_of_any_size(target: str) -> None:
    """Once it was a trap, as if the batch had 64 bits for it."""

    def f(x, n):  # type: ignore[no-untyped-def]
        return x * (n % 7)

    batch = aj.vmap(f, (0, None), target=target)
    for n in (5, 2**80, -(2**63) - 1, 6, 2**63 - 1):
        assert batch(XS[:3], n).tolist() == [x * (n % 7) for x in XS[:3].tolist()]
    with pytest.raises(Trap, match="sample 1: integer division by zero"):
        aj.vmap(quotient, (None, 0), target=target)(2**80, np.array([2**40, 0]))


def test_the_sample_that_tells_the_shapes_of_results_has_numbers_as_cpython_has_them() -> None:
    """Shrunk from a generated program: NumPy's are no numbers of the language, so the code was thought to be at fault."""

    def f(x, n, v):  # type: ignore[no-untyped-def]
        return math.log(abs(x) + 0.5) * v, n * n % 7

    given_ = np.array([0.5, -2.0]), np.array([2**33, 3]), np.array([[1.0, 2.0], [3.0, 4.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        v, n = aj.vmap(f, target="python")(*given_)
    samples = [aj.run(f, *(c[k] if c.ndim > 1 else c[k].item() for c in given_)) for k in (0, 1)]
    assert v.tobytes() == np.stack([found for found, _ in samples]).tobytes()
    assert n.tolist() == [found for _, found in samples]


def test_what_has_no_generated_code_goes_sample_by_sample_to_the_machine() -> None:
    wanted = [float(recursive(float(x), int(n % 6))) for x, n in zip(XS, NS, strict=True)]
    assert aj.vmap(recursive, target="python")(XS, NS % 6).tobytes() == np.array(wanted).tobytes()


@pytest.mark.parametrize("target", [*TARGETS, "cpu"])
def test_a_sample_whose_result_no_column_has_fails_alone(target: str) -> None:
    def both(n, x):  # type: ignore[no-untyped-def]
        return n * n, x

    ns, xs = np.array([2, 2**40, 2**31]), np.array([0.5, 1.5, 2.5])
    (squares, same_), failures = aj.vmap(both, target=target, errors="return")(ns, xs)
    assert squares.tolist() == [4, 0, 2**62]
    assert np.isnan(same_).tolist() == [False, True, False]
    assert [(k, type(e)) for k, e in failures.items()] == [(1, Trap)]
    with pytest.raises(Trap, match="sample 1: an integer in a result needs more than 64 bits"):
        aj.vmap(both, target=target)(ns, xs)


@pytest.mark.parametrize("given_", [np.arange(6.0).astype(">f8"), np.arange(6).astype(">i8")[::-1]])
def test_columns_of_the_other_byte_order_and_of_any_stride(given_: Any) -> None:
    """Numba was given them as they were, and its refusal was told as a fault."""
    batch = aj.vmap(lambda x: x * 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            assert batch(given_).tolist() == (given_ * 3).tolist()
    with pytest.raises(IllTyped, match="holds a value of type MaskedArray"):
        batch(np.ma.array([1.0]))


def test_results_of_one_structure_and_shape_only() -> None:
    def shape(x, n):  # type: ignore[no-untyped-def]
        return x[:n]

    x = np.ones((2, 3))
    assert aj.vmap(shape, target="python")(x, np.array([2, 2])).shape == (2, 2)
    with pytest.raises(IllTyped, match="cannot be put together: arrays of other shapes"):
        aj.vmap(shape, target="python")(x, np.array([2, 1]))
    with pytest.raises(IllTyped, match="cannot be put together: float and int"):
        aj.vmap(lambda x, n: x if n > 1 else n, target="python")(XS, NS)


@pytest.mark.parametrize(
    ("make", "arguments", "kind", "words"),
    [
        (lambda: aj.vmap(power, 1), (XS, NS), Malformed, "in_axes is 1"),
        (lambda: aj.vmap(power, target="tpu"), (XS, NS), Malformed, "not a target"),
        (lambda: aj.vmap(power, threads=-1), (XS, NS), Malformed, "threads is -1"),
        (lambda: aj.vmap(power, errors="ignore"), (XS, NS), Malformed, "errors is"),
        (lambda: aj.vmap(power, (0,)), (XS, NS), IllTyped, "1 axes for 2 arguments"),
        (lambda: aj.vmap(power), (XS, NS[:3]), IllTyped, "7 in argument 0, 3 in argument 1"),
        (lambda: aj.vmap(power), (XS, 3), IllTyped, "argument 1 holds a value of type int, which has no axis"),
        (lambda: aj.vmap(power), (XS[:0], NS[:0]), IllTyped, "no samples"),
        (lambda: aj.vmap(power, None), (1.0, 3), IllTyped, "no argument has an axis"),
        (lambda: aj.vmap(power), (XS.astype(complex), NS), IllTyped, "complex128"),
        (lambda: aj.vmap(aj.grad(power, wrt=1), target="python"), (XS, NS), IllTyped, "differentiate"),
    ],
)
def test_bad_input_is_refused_with_its_place(make: Any, arguments: Any, kind: type[AdjudgeError], words: str) -> None:
    with pytest.raises(kind, match=words) as raised:
        make()(*arguments)
    assert raised.value.remedy


def test_a_budget_that_is_spent_is_the_error_of_its_sample() -> None:
    def endless(x):  # type: ignore[no-untyped-def]
        while x < 1.0:
            x = x * 1.0
        return x

    batch = Batch(parse(endless), (REAL,), (False,), "python", budget=1000)
    outcome = batch.run([Column(np.array([2.0, 0.5]))], 2, lambda k: [[2.0, 0.5][k]])
    assert isinstance(outcome.failures[1], OutOfFuel)
    assert outcome.value[0] == 2.0
    assert np.isnan(outcome.value[1])


def test_fast_code_adds_in_any_order_and_a_sample_that_is_not_finite_is_the_reference_s() -> None:
    def total(x):  # type: ignore[no-untyped-def]
        return np.sum(np.exp(x))

    xs = np.linspace(-1.0, 1.0, 3 * 1000).reshape(3, 1000)
    exact, fast = (aj.vmap(total, mode=mode) for mode in ("exact", "fast"))
    assert exact(xs).tobytes() == np.array([aj.run(total, x) for x in xs]).tobytes()
    # a term is within 5 ulp of the C library's and of its rounding, a sum of n positive terms within n roundings of any other
    assert np.all(np.abs(fast(xs) - exact(xs)) <= (1000 + 6) * 2.0**-52 * exact(xs))
    assert fast(xs).tobytes() != exact(xs).tobytes()
    xs[1, 500] = np.inf
    assert fast(xs)[1] == exact(xs)[1] == np.inf
    with pytest.raises(Malformed, match="not a mode"):
        aj.vmap(total, mode="quick")
