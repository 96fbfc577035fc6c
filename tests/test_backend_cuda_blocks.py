"""Arrays on a block of threads: the bits of the reference in every order of the threads, room, ends, and machine code."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_backend_arrays import CASES, ROWS, SPECIAL, agrees, gradient, recurrent, types_of
from test_backend_stack_arrays import LOOPS, compiled
from test_backend_stack_arrays import agrees as in_every_bit
from test_backend_stack_arrays import gradient as gradient_of_loop

import backend
from adjudge.functions import parse
from adjudge.values import to_value
from backend import toolchain
from backend.arrays.loops import shares
from backend.cuda import assembly, block, launch, numba_cuda
from backend.cuda.launch import Blocks
from backend.lowering.first_order import Lowered
from backend.run import BUDGET
from backend.status import NOT_FINITE, SIZES, error
from backend.tiers import Tiered
from semantics.errors import IllTyped, Trap
from semantics.machine import Machine
from semantics.text import read
from semantics.type_language import INTEGER, REAL, ArrayType
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand

TARGET = "cuda-sequential"
VECTOR = ArrayType("f64", (None,))


def blocks(program: Any, types: Any, target: str = TARGET, reverse: bool = False) -> Blocks:
    """The program on a target; of the sequential one, its threads in this order."""
    made = backend.compile(program, types, target)
    assert isinstance(made, Blocks)
    if target == TARGET:
        made.kernel.reverse = reverse
    return made


# the bits


@pytest.mark.parametrize("name", CASES)
def test_programs_and_gradients_have_the_references_bits_in_either_order_of_threads(name: str) -> None:
    function, arguments, _ = CASES[name]
    for program, given_ in ((parse(function), arguments), gradient(name)):
        values = tuple(map(to_value, given_))
        wanted = Machine(expand(program)).run(values).value
        for reverse in (False, True):
            assert same(blocks(program, types_of(given_), reverse=reverse)(*values), wanted)


@given(st.sampled_from(ROWS), st.booleans(), st.data())
def test_a_row_has_the_references_bits_on_special_values(row: str, reverse: bool, data: st.DataObject) -> None:
    m, n = data.draw(st.integers(1, 5)), data.draw(st.integers(2, 9))
    x = to_value(np.array(data.draw(st.lists(SPECIAL, min_size=m * n, max_size=m * n))).reshape(m, n))
    y = to_value(np.array(data.draw(st.lists(SPECIAL, min_size=n, max_size=n))))
    program = read(f"program @f\n@f(%x: f64[?, ?], %y: f64[?]):\n  %r = {row}\n  return %r")
    types = (ArrayType("f64", (None, None)), VECTOR)
    assert same(blocks(program, types, reverse=reverse)(x, y), Machine(program).run((x, y)).value)


@pytest.mark.parametrize("name", LOOPS)
def test_so_have_gradients_of_loops_whose_turns_leave_arrays(name: str) -> None:
    program, arrays = gradient_of_loop(name)
    code, reference = compiled(program, (*types_of(arrays), INTEGER), TARGET)
    for reverse in (False, True):
        code.kernel.reverse = reverse
        for n in (0, 3):
            assert in_every_bit(code, reference, *arrays, n)


SHAPES = {
    "elementwise with broadcasting": lambda x, y: x * y + 1.0,
    "reduced to lines": lambda x, y: np.sum(x * y, axis=1),
    "reduced along the first axis": lambda x, y: np.sum(x * y, axis=0),
    "reduced to a number": lambda x, y: np.sum(x * y),
    "products": lambda x, y: (x @ y, y @ (x.T @ x)),
    "transposed": lambda x, y: np.transpose(x) + 0.0,
    "reshaped": lambda x, y: np.reshape(x, (y.shape[0], x.shape[0])),
}
X, Y = np.arange(12.0).reshape(3, 4) - 5.0, np.array([0.5, -2.0, 3.0, -0.0])


@pytest.mark.parametrize("name", SHAPES)
def test_every_kind_of_kernel_runs_on_the_simulator(name: str) -> None:
    if reason := toolchain.missing("cuda-simulator"):
        pytest.skip(reason)
    agrees(parse(SHAPES[name]), (X, Y), "cuda-simulator")


def test_so_does_a_scatter_and_a_loop_of_the_program() -> None:
    if reason := toolchain.missing("cuda-simulator"):
        pytest.skip(reason)
    agrees(*gradient("logsumexp"), "cuda-simulator")
    agrees(parse(recurrent), (X[:, :3], X[0, :3], X[1, :3]), "cuda-simulator")


# who takes which turns


def test_the_turns_that_may_be_in_any_order_are_shared() -> None:
    assert shares([0], range(1)) == ["_each"]
    assert shares([0, 1, 2], range(3)) == ["_rows", "range", "_columns"]
    assert shares([0, 1], (1,)) == ["_all", "_own"]
    assert shares([0, 1], (0,)) == ["_each", "range"]
    assert shares([0, 1], ()) == ["_all", "range"]
    assert shares([0, 1], None) == ["_alone", "range"]


NETWORK = "network"


def wrong(monkeypatch: pytest.MonkeyPatch, name: str, old: str, new: str) -> bool:
    """Whether a program differs from the reference in some order of the threads, once the code for blocks is changed."""
    assert old in block.RUNTIME
    monkeypatch.setattr(block, "RUNTIME", block.RUNTIME.replace(old, new))
    program, arguments = gradient(name)
    values = tuple(map(to_value, arguments))
    wanted = Machine(expand(program)).run(values).value
    return not all(same(blocks(program, types_of(arguments), reverse=r)(*values), wanted) for r in (False, True))


MEET = "def _meet():\n    cuda.syncthreads()"
ALL = "def _all(n):\n    _meet()\n    return range(n)"


def test_threads_that_do_not_wait_for_each_other_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wrong(monkeypatch, NETWORK, MEET, "def _meet():")


def test_sums_whose_terms_are_shared_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wrong(monkeypatch, NETWORK, ALL, ALL.replace("range(n)", "range(cuda.threadIdx.x, n, cuda.blockDim.x)"))


def test_a_text_that_only_reads_otherwise_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not wrong(monkeypatch, NETWORK, ALL, ALL.replace("range(n)", "range(0, n, 1)"))


# room


def test_a_block_without_room_leaves_and_is_launched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "WORDS", 4)
    monkeypatch.setattr(launch, "EACH", 0)
    made = blocks(parse(SHAPES["reduced to lines"]), types_of((X, Y)))
    assert made.words == 4
    samples = [tuple(map(to_value, (np.full((n, 4), 0.1), Y))) for n in (1, 40, 3)]
    for sample, found in zip(samples, made.map(samples), strict=True):
        assert same(found, Machine(parse(SHAPES["reduced to lines"])).run(sample).value)
    assert made.words == 64


def test_what_has_no_room_at_all_is_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "LIMIT", 1 << 10)
    assert launch.WORDS > launch.LIMIT
    program, values = parse(SHAPES["elementwise with broadcasting"]), (to_value(np.ones((300, 4))), to_value(Y))
    (found,) = blocks(program, types_of((X, Y))).map([values])
    assert isinstance(found, Trap)
    assert found.what == error(SIZES, 0).what
    assert same(Tiered(program, types_of((X, Y)), TARGET, {})(*values), Machine(program).run(values).value)


def test_sizes_that_no_machine_has_are_no_room() -> None:
    program = read("program @f\n@f(%x: f64, %n: i64):\n  %s = make_tuple(%n, %n)\n  %r = broadcast_to(%x, %s)\n  return %r")
    made = blocks(program, None)
    assert same(made(2.0, 2), Machine(program).run((2.0, 2)).value)
    for n in (1 << 31, 1 << 62, -1, -2):
        (found,) = made.map([(2.0, n)])
        assert isinstance(found, Trap)
        made.words = launch.WORDS


# ends

ROOTS = """
@_device
def kernel(a0, fuel, one):
    a1_ = _empty((a0.shape[0],), _f64)
    for k in _each(a0.shape[0]):
        if float(a0[k]) < 0.0:
            return (a0, fuel, 3,)
        a1_[k] = _sqrt(float(a0[k]))
    a2_ = _empty((a0.shape[0],), _f64)
    for k in _each(a0.shape[0]):
        a2_[k] = float(a1_[a0.shape[0] - 1 - k])
    return (a2_, fuel, 0,)
"""


@pytest.mark.parametrize("target", ["cuda-sequential", "cuda-simulator"])
def test_where_one_thread_ends_with_a_status_all_leave_and_the_sample_has_it(target: str) -> None:
    if reason := toolchain.missing(target):
        pytest.skip(reason)
    code = Lowered(ROOTS, (VECTOR,), (VECTOR,), (VECTOR,), VECTOR)  # type: ignore[arg-type]
    made = Blocks(code, target, BUDGET, lambda: made)
    good, bad = np.arange(9.0), np.where(np.arange(9) == 4, -1.0, 1.0)
    first, second, third = made.map([(to_value(v),) for v in (good, bad, good)])
    assert same(first, to_value(np.sqrt(good)[::-1]))
    assert same(first, third)
    assert isinstance(second, Trap)
    assert second.what == error(NOT_FINITE, 0).what


def test_samples_of_many_sizes_are_launched_together() -> None:
    program = parse(SHAPES["reduced to a number"])
    samples = [tuple(map(to_value, (np.full((m, n), 0.1), np.arange(float(n))))) for m, n in ((1, 2), (3, 5), (7, 2))]
    found = blocks(program, types_of((X, Y))).map(samples)
    assert found == [Machine(program).run(s).value for s in samples]
    assert blocks(program, types_of((X, Y))).map([]) == []


# PTX and machine code

ON_ANY, ON_NEW = ("elementwise with broadcasting", "reduced to a number", "transposed"), ("products",)  # which takes seconds


@pytest.mark.parametrize(("name", "capability"), [*product(ON_ANY, [(7, 5), (9, 0)]), *product(ON_NEW, [(9, 0)])])
def test_kernels_compile_for_gpus_that_are_not_here(name: str, capability: tuple[int, int]) -> None:
    if reason := numba_cuda.ptx_available():
        pytest.skip(reason)
    text = backend.ptx(parse(SHAPES[name]), types_of((X, Y)), capability)
    assert f".target sm_{capability[0]}{capability[1]}" in text
    assert ".extern .func" not in text, "nothing is left to be linked"
    assert "bar.sync" in text
    assert not re.findall(r"fma\.rn\.f64|\bmul\.f64", text)
    if not assembly.assembler():
        pytest.skip("no machine code: ptxas is not installed")
    counted = assembly.operations(assembly.machine_code(text))
    assert counted["DFMA"] == 0
    assert (counted["DMUL"] > 0) == (name != "transposed")


def of_the_greatest(x):  # type: ignore[no-untyped-def]
    return np.max(x)


def test_the_kernel_of_an_array_without_axes_compiles() -> None:
    """The place of the greatest element is one; Numba goes over no empty tuple of sizes."""
    if reason := numba_cuda.ptx_available():
        pytest.skip(reason)
    types = types_of((X,))
    program = calling(parse(of_the_greatest), "grad", 0, types)
    assert "_empty((), _i64)" in backend.compile(program, types, "python").code.source
    assert ".target sm_90" in backend.ptx(program, types, (9, 0))


def test_a_fused_multiply_add_is_seen_in_machine_code() -> None:
    if reason := numba_cuda.ptx_available():
        pytest.skip(reason)
    if not assembly.assembler():
        pytest.skip("no machine code: ptxas is not installed")
    vectors = numba_cuda.array_types((REAL,) * 3)
    plain, rounded = (
        assembly.operations(
            assembly.machine_code(numba_cuda.ptx(f"def batch(x, y, z):\n    z[0] = {text} + z[0]\n", vectors, (9, 0)))
        )
        for text in ("x[0] * y[0]", "_mul(x[0], y[0])")
    )
    assert plain == {"DFMA": 1}
    assert rounded == {"DMUL": 1, "DADD": 1}
    with pytest.raises(IllTyped, match="ptxas refuses the kernel"):
        assembly.machine_code(".version 8.0\n.target sm_90\n.nothing")
