"""Arrays in generated code: the bits of the reference, loops fused, sizes tested, nothing shared with the caller."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
import backend
from adjudge.functions import parse
from adjudge.values import to_value
from backend import tiers
from backend.status import SIZES, error
from backend.tiers import Tiered
from semantics.errors import IllTyped, Malformed, Trap
from semantics.ir import Program
from semantics.machine import Machine
from semantics.type_language import REAL, ArrayType, parse_type
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand


def logsumexp(x):  # type: ignore[no-untyped-def]
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def logistic(w, b, x, y):  # type: ignore[no-untyped-def]
    z = x @ w + b
    return np.sum(np.log1p(np.exp(-y * z)))


def network(w1, b1, w2, b2, x, y):  # type: ignore[no-untyped-def]
    h = np.tanh(x @ w1 + b1)
    z = h @ w2 + b2
    m = np.max(z, axis=1, keepdims=True)
    return np.sum((m + np.log(np.sum(np.exp(z - m), axis=1, keepdims=True)) - z) * y)


def mixture(a, means, q, below, x, lower):  # type: ignore[no-untyped-def]
    c = np.expand_dims(x, 1) - means
    y = np.exp(q) * c + np.sum((below * lower) * np.expand_dims(c, 2), axis=3)
    logs = a + np.sum(q, axis=1) - 0.5 * np.sum(y * y, axis=2)
    m = np.max(logs, axis=1, keepdims=True)
    return np.sum(m + np.log(np.sum(np.exp(logs - m), axis=1, keepdims=True)))


def recurrent(w, u, x):  # type: ignore[no-untyped-def]
    h = u
    for _ in range(4):
        h = np.tanh(w @ h + x)
    return np.sum(h * h)


def normal(*shape: int) -> Any:
    return np.random.default_rng(sum(shape) + len(shape)).normal(size=shape)


CASES: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "logsumexp": (logsumexp, (normal(7),), 0),
    "logistic": (logistic, (normal(5), 0.3, normal(9, 5), np.sign(normal(9))), (0, 1)),
    "network": (network, (normal(6, 4), normal(4), normal(4, 3), normal(3), normal(5, 6), normal(5, 3)), (0, 1, 2, 3)),
    "network, one row": (network, (normal(6, 4), normal(4), normal(4, 3), normal(3), normal(1, 6), normal(1, 3)), (0, 1, 2, 3)),
    "mixture": (mixture, (normal(4), normal(4, 3), normal(4, 3), normal(4, 3, 3), normal(6, 3), np.tri(3, 3, -1)), (0, 1, 2, 3)),
}


def types_of(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(backend.general(ArrayType("f64", a.shape)) if isinstance(a, np.ndarray) else REAL for a in arguments)


def agrees(program: Program, arguments: tuple[Any, ...], target: str = "python") -> None:
    """The generated code gives the reference's bits."""
    values = tuple(map(to_value, arguments))
    found = backend.compile(program, types_of(arguments), target)(*values)
    wanted = Machine(expand(program)).run(values).value
    assert same(found if target == "python" else to_value(found) if isinstance(found, np.ndarray) else _values(found), wanted)


def _values(found: Any) -> Any:
    return tuple(map(_values, found)) if isinstance(found, tuple) else to_value(found) if isinstance(found, np.ndarray) else found


def gradient(name: str) -> tuple[Program, tuple[Any, ...]]:
    function, arguments, wrt = CASES[name]
    return calling(parse(function), "grad", wrt, types_of(arguments)), arguments


@pytest.mark.parametrize("name", CASES)
def test_a_program_and_its_gradient_have_the_bits_of_the_reference(name: str) -> None:
    function, arguments, _ = CASES[name]
    agrees(parse(function), arguments)
    agrees(*gradient(name))


def test_so_has_native_code_which_takes_and_gives_the_arrays_of_numpy() -> None:
    x = normal(40)
    compiled = aj.compile(aj.grad(logsumexp))
    wanted = aj.grad(logsumexp)(x)
    for _ in range(3):
        found = compiled(x)
        assert isinstance(found, np.ndarray)
        assert found.tobytes() == wanted.tobytes()
    backwards = np.ascontiguousarray(x[::-1])[::-1]
    fixed = x.copy()
    fixed.flags.writeable = False
    for other in (backwards, fixed):  # another layout, and one that may not be written to, are copied
        assert compiled(other).tobytes() == wanted.tobytes()
    assert compiled(x.reshape(5, 8)).shape == (5, 8)  # another type has code of its own
    with pytest.raises(IllTyped, match="an array of int64"):
        compiled(np.arange(4))
    longer = normal(300)
    assert compiled(longer).tobytes() == aj.grad(logsumexp)(longer).tobytes()


def test_large_arrays_wait_for_the_compiler_if_there_is_something_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    vector = (parse_type("f64[?]"),)
    tiered = Tiered(parse(logsumexp), vector, "cpu", {})
    assert not tiered.is_long((to_value(normal(5)),))
    monkeypatch.setattr(tiers, "MANY", 4)
    assert tiered.is_long((to_value(normal(5)),))
    refused = Tiered(parse(lambda x: np.sum(np.linalg.inv(x))), (parse_type("f32[?, ?]"),), "cpu", {})
    assert not refused.is_long((to_value(normal(5, 5).astype(np.float32)),))


# fusion


def source(text_of: Any, *arguments: Any) -> str:
    return backend.lowered(parse(text_of), types_of(arguments)).alone


def test_a_chain_of_rows_and_its_sum_are_one_loop_without_arrays() -> None:
    def chain(x, y):  # type: ignore[no-untyped-def]
        return np.sum(np.sin(x * y + 1.0) - x)

    text = source(chain, normal(3, 4), normal(4))
    assert text.count("for ") == 2
    assert "_empty" not in text


def test_what_is_read_twice_and_is_not_cheap_is_computed_once() -> None:
    def twice(x):  # type: ignore[no-untyped-def]
        e = np.exp(x)
        return np.sum(e) + np.sum(e * e)

    text = source(twice, normal(5))
    assert text.count("_exp(") == 1
    assert text.count("for ") == 1

    def cheap(x):  # type: ignore[no-untyped-def]
        e = x + 1.0
        return np.sum(e) + np.sum(e * e)

    assert "_empty" not in source(cheap, normal(5))


def test_a_row_that_broadcasting_repeats_is_computed_once_for_each_element() -> None:
    def repeated(x, y):  # type: ignore[no-untyped-def]
        return np.sum(np.exp(x) * y)

    text = source(repeated, normal(4), normal(3, 4))
    before, _, after = text.partition("_exp(")
    assert before.count("for ") == 1
    assert after.count("for ") == 2


# sizes


def test_sizes_that_do_not_fit_are_found_when_it_runs_and_the_machine_has_the_error() -> None:
    def product(x, y):  # type: ignore[no-untyped-def]
        return np.sum(x * y)

    types = (ArrayType("f64", (None,)),) * 2
    code = backend.compile(parse(product), types, "python")
    good, bad, one = to_value(normal(3)), to_value(normal(4)), to_value(normal(1))
    assert isinstance(code(good, good), float)
    for other in (bad, one):  # of one element, y is repeated, which this code does not do
        with pytest.raises(Trap) as caught:
            code(good, other)
        assert caught.value.what == error(SIZES, 0).what
    tiered = Tiered(parse(product), types, "python", {})
    assert tiered.best is not tiered.machined
    tiered.calls = 1
    assert tiered(good, one) == Machine(parse(product)).run((good, one)).value
    with pytest.raises(Trap, match="do not broadcast"):
        tiered(good, bad)


def test_of_no_elements_the_machine_decides() -> None:
    def total(x):  # type: ignore[no-untyped-def]
        return np.sum(x)

    empty = to_value(np.zeros(0))
    tiered = Tiered(parse(total), (ArrayType("f64", (None,)),), "python", {})
    tiered.calls = 1
    assert tiered.best is not tiered.machined
    assert tiered(empty) == 0.0


# what is given out


def test_results_share_no_memory_with_arguments_or_with_each_other() -> None:
    def both(x):  # type: ignore[no-untyped-def]
        y = x + 1.0
        return x, y, np.reshape(y, (2, 3))

    x = normal(6)
    quick = backend.compile(parse(both), types_of((x,)), "cpu").quick
    assert quick is not None
    first, second, third = quick(x)
    assert not any(np.shares_memory(a, b) for a, b in ((first, x), (second, x), (second, third)))


# one row at a time

SPECIAL = st.sampled_from((0.0, -0.0, 1.0, -2.5, float("inf"), float("-inf"), float("nan"), 1e308, 5e-324))
ROWS = [
    *("reduce_sum(%x, 0, False)", "reduce_sum(%x, 1, True)", "reduce_sum(%x, None, False)", "reduce_prod(%x, 0, True)"),
    *("reduce_max(%x, 1, False)", "reduce_min(%x, 0, False)", "mean(%x, 0, False)", "mean(%x, None, True)"),
    *("transpose(%x, None)", "swap_last(%x)", "expand_dims(%x, 1)", "neg(%x)", "maximum(%x, %y)", "div(%y, %x)"),
    *("sum_to(%x, %y)", "like(%y, %x)", "add(%x, %y)", "mul(%y, 2)", "outer(%y, %y)", "spread(%y, %x, 0, False)", "gadd(%x, %x)"),
    *("matmul(%x, %y)", "dot(%y, %y)"),
]


@pytest.mark.parametrize("row", ROWS)
@given(st.data())
def test_a_row_has_the_bits_of_the_reference_on_special_values(row: str, data: st.DataObject) -> None:
    from semantics.text import read

    m, n = data.draw(st.integers(1, 5)), data.draw(st.integers(2, 9))
    x = np.array(data.draw(st.lists(SPECIAL, min_size=m * n, max_size=m * n))).reshape(m, n)
    y = np.array(data.draw(st.lists(SPECIAL, min_size=n, max_size=n)))
    program = read(f"program @f\n@f(%x: f64[?, ?], %y: f64[?]):\n  %r = {row}\n  return %r")
    agrees(program, (x, y))


def test_products_go_by_twos_fours_and_eights_and_by_what_is_left() -> None:
    def product(x, y, v):  # type: ignore[no-untyped-def]
        return x @ y, y @ v, v @ y.T, x.T @ x, v @ v

    for rows, inner, columns in ((1, 1, 2), (9, 5, 17), (8, 8, 8), (17, 12, 3)):
        agrees(parse(product), (normal(rows, inner), normal(inner, columns), normal(columns)))


def test_the_gradient_of_a_maximum_goes_to_the_first_of_equals() -> None:
    def top(x, y):  # type: ignore[no-untyped-def]
        return np.sum(np.max(x, axis=1) * y + np.sum(x, axis=1))

    x = np.array([[1.0, 3.0, 3.0], [np.nan, 2.0, np.nan], [-np.inf] * 3])
    program = calling(parse(top), "grad", 0, types_of((x, x[0])))
    agrees(program, (x, normal(3)))


# refusals


def test_what_has_no_loops_is_left_to_the_machine_with_a_reason() -> None:
    with pytest.raises(Malformed, match="linear algebra of other than matrices of f64") as caught:
        backend.compile(parse(lambda x: np.linalg.inv(x) + x), (parse_type("f32[?, ?]"),), "python")
    assert caught.value.rule == "lower"


def test_arrays_go_through_loops_of_the_program() -> None:
    w, u, x = normal(3, 3), normal(3), normal(3)
    agrees(parse(recurrent), (w, u, x))
