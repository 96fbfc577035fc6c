"""Small arrays taken apart: what becomes numbers, what is left as it stands, and the bits of the reference in both."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from claims import costly
from hypothesis import event, given
from hypothesis import strategies as st

import adjudge as aj
from adjudge.functions import parse
from backend.batches.forms import LARGEST, Form
from backend.small import form, terms
from backend.small.form import form_of, taken_apart
from semantics.errors import AdjudgeError, IllTyped
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, TupleType
from transforms.nested_grad import expand
from transforms.parse import parse_text

SPECIAL = (0.0, -0.0, 1.0, -1.5, 0.3, 720.25, 1e-310, 5e307, math.inf, -math.inf, math.nan)
X, M, N, B = ArrayType("f64", (3,)), ArrayType("f64", (2, 3)), ArrayType("i64", (3,)), ArrayType("bool", (3,))
NUMPY = {"f64": np.float64, "i64": np.int64, "bool": np.bool_}
OF = {REAL: "f64", INTEGER: "i64", BOOLEAN: "bool"}


def program(body: str, names: str = "x, y") -> Any:
    return parse_text(f"import math\nimport numpy as np\ndef f({names}):\n    {body}\n", "f")


def apart(f: Any, *types: Any) -> Form:
    return form_of(expand(parse(f)), types)


def same(found: Any, wanted: Any) -> None:
    """Structure, shapes and bits; all NaNs are one."""
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            same(a, b)
        return
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    if wanted.dtype == np.float64:
        assert np.array_equal(np.isnan(found), np.isnan(wanted))
        found, wanted = (np.where(np.isnan(a), 1.0, a) for a in (found, wanted))
    assert found.tobytes() == wanted.tobytes()


def at(found: Any, k: int) -> Any:
    """Sample k of a batch."""
    return type(found)(at(part, k) for part in found) if isinstance(found, (tuple, list)) else found[k]


def agree(f: Any, columns: Any, *, target: str = "python", samples: int = 6) -> None:
    """Every sample has the reference's bits, or its error."""
    found, failures = aj.vmap(f, target=target, errors="return")(*columns)
    for k in range(0, len(columns[0]), max(1, len(columns[0]) // samples)):
        row = [c[k] if c.ndim > 1 else c[k].item() for c in columns]
        wanted = outcome(f, row)
        if isinstance(wanted, AdjudgeError):
            assert type(failures[k]) is type(wanted)
        else:
            assert k not in failures
            same(at(found, k), wanted)


def outcome(f: Any, row: Any) -> Any:
    """The reference's value, or its error."""
    try:
        return aj.run(f, *row)
    except AdjudgeError as error:
        return error


def drawn(type: Any, count: int, seed: int) -> Any:
    """A column of a type, of numbers and special values."""
    draw = np.random.default_rng(seed)
    dims, dtype = (type.dims, type.dtype) if isinstance(type, ArrayType) else ((), OF[type])
    if dtype != "f64":
        return draw.integers(-3, 4, (count, *dims)).astype(NUMPY[dtype])
    return np.where(draw.random((count, *dims)) < 0.2, draw.choice(SPECIAL, (count, *dims)), draw.normal(size=(count, *dims)))


# what is taken apart, and what is not

TAKEN = {
    "an element": ("return x[0] * y[-1]", (X, X)),
    "a slice": ("return x[1:] - y[:2]", (X, X)),
    "a row and a column": ("return x[1] * x[:, 2:]", (M, X)),
    "broadcasting": ("return x * y + 1.0", (M, X)),
    "sums of an axis": ("return np.sum(x, axis=0), np.sum(x, axis=1, keepdims=True), np.mean(y)", (M, X)),
    "products of matrices": ("return x @ y, np.dot(y, y), np.outer(y, y), x.T", (M, X)),
    "an array of numbers": ("return np.array([x[0], y[1], 2.0]), np.stack([x, y]), np.concatenate([x, y])", (X, X)),
    "zeros, written to": ("z = np.zeros(3)\n    z[1:] = x[:2] * y[0]\n    return z", (X, X)),
    "other shapes": ("return np.reshape(x, (3, 2)), x[None, :, :], np.broadcast_to(y, (2, 3))", (M, X)),
    "choices": ("return np.where(x > y, x, -y), np.maximum(x, y), np.abs(x)", (X, X)),
    "integers": ("return x // y, x * 2 - y, x.astype(float) / 2.0", (N, N)),
    "booleans": ("return np.where(x, y, 0.0), np.any(x), np.logical_not(x)", (B, X)),
    "a branch": ("if x[0] > y[0]:\n        return np.sum(x)\n    return y[1]", (X, X)),
    "a way that raises": ("if x[0] > y[0]:\n        raise ValueError('large')\n    return x * y", (X, X)),
    "a loop of known turns": ("s = 0.0\n    for k in range(3):\n        s = s + x[k] * y[2 - k]\n    return s", (X, X)),
    "what decides on elements": ("return np.max(x) if np.all(y > 0.0) else np.min(x)", (X, X)),
}

LEFT = {
    "an unknown index": ("return x[int(y)]", (X, REAL)),
    "an element that is the largest": ("return x[np.argmax(x)] * y", (X, REAL)),
    "an index that is given": ("return np.take_along_axis(x, y, 0)", (X, N)),
    "an unknown number of turns": ("s = 0.0\n    for k in range(y):\n        s = s + x[0]\n    return s", (X, INTEGER)),
    "a large argument": ("return x + y", (ArrayType("f64", (LARGEST + 1,)), REAL)),
    "a large array on the way": (f"return np.sum(np.zeros({LARGEST + 1}) + x[0] * y)", (X, REAL)),
    "an unknown size": ("return x + y", (ArrayType("f64", (None,)), REAL)),
    "no elements": ("return np.sum(x) + y", (ArrayType("f64", (0,)), REAL)),
    "no axes": ("return np.array(x[0] * y)", (X, REAL)),
    "f32": ("return x * y", (ArrayType("f32", (3,)), REAL)),
    "many ways": ("return np.sort(x) * y, np.sort(x + y), np.sort(x - y)", (X, REAL)),
    "nothing but a raise": ("assert False, 'never'\n    return x * y", (X, REAL)),
    "an index outside": ("return x[3] * y", (X, REAL)),
    "a division that nothing needs": ("z = x // y\n    return z[0]", (N, N)),
    "a function in the result": ("return x, lambda z: z + y", (X, REAL)),
    "sizes that do not fit": ("return x + np.zeros(2) * y", (X, REAL)),
}


@pytest.mark.parametrize("name", TAKEN)
def test_arrays_become_numbers_of_which_each_has_the_bits_of_the_reference(name: str) -> None:
    body, types = TAKEN[name]
    found = apart(f := program(body), *types)
    assert not found.code.arrays
    assert "[" not in found.code.source.split("return")[0], "no element is read"
    agree(f, [drawn(type, 12, k) for k, type in enumerate(types)])


@pytest.mark.parametrize("name", TAKEN)
def test_so_do_their_gradients(name: str) -> None:
    body, types = TAKEN[name]
    if {t.dtype for t in types} != {"f64"}:
        return
    of_sum = f"def g(x, y):\n    return total(f(x, y))\ndef total(t):\n    return {_total(name)}"
    f = aj.grad(parse_text(f"import numpy as np\ndef f(x, y):\n    {body}\n{of_sum}\n", "g"), wrt=(0, 1))
    apart(f, *types)
    agree(f, [drawn(type, 12, k) for k, type in enumerate(types)])


def _total(name: str) -> str:
    count = {"sums of an axis": 3, "products of matrices": 4, "an array of numbers": 3, "other shapes": 3, "choices": 3}.get(
        name, 0
    )
    return " + ".join(f"np.sum(t[{k}] * t[{k}])" for k in range(count)) or "np.sum(t * t)"


@pytest.mark.parametrize("name", LEFT)
def test_what_cannot_be_taken_apart_is_left_as_it_stands(name: str) -> None:
    body, types = LEFT[name]
    with pytest.raises(AdjudgeError):
        apart(program(body), *types)
    assert taken_apart(program(body), types) is None


@pytest.mark.parametrize("name", ["an unknown index", "an element that is the largest", "an unknown number of turns", "many ways"])
def test_what_is_left_runs_as_ever(name: str) -> None:
    body, types = LEFT[name]
    agree(program(body), [drawn(type, 12, k) for k, type in enumerate(types)])


def test_a_program_may_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    f = program("return x * y + x")
    assert apart(f, X, X)
    monkeypatch.setattr(terms, "MOST", 11)
    with pytest.raises(IllTyped, match="more than 11 operations"):
        apart(f, X, X)


def test_structures_are_taken_apart_too_and_numbers_are_as_they_were() -> None:
    given = apart(program("return x[0] * x[1], (y, 1)"), TupleType((X, REAL)), INTEGER)
    assert given.arguments == (X, REAL, INTEGER)
    assert given.results == (X, INTEGER, INTEGER)
    assert given.result_type == TupleType((X, TupleType((INTEGER, INTEGER))))


def test_a_form_is_remembered_and_so_is_that_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    some, none = program("return x * y * 0.625"), program("return x[int(y * 0.625)]")
    first = taken_apart(some, (X, X)), taken_apart(none, (X, REAL))
    monkeypatch.setattr(form, "form_of", lambda *given: pytest.fail("it is made again"))
    assert (taken_apart(some, (X, X)), taken_apart(none, (X, REAL))) == first
    assert first[1] is None


def test_each_operation_is_written_once() -> None:
    source = apart(program("return np.sum(np.exp(x)) * np.sum(np.exp(x)) + y"), X, REAL).code.source
    assert source.count("_exp(") == 3


# ZERO

WHERE = {
    "added": "np.sum(np.where(x > y, x * y, y) + x)",
    "chosen twice": "np.sum(np.where(x > 0.0, np.where(x > y, x * x, y), 2.0) * y)",
    "through a quotient": "np.sum(np.where(x > y, x, 1.0) / y) + np.sum(-np.where(x < y, x, 1.0))",
    "of one condition": "np.sum(x) * (np.where(x[0] > y[0], x[1] * y[1], y[2]))",
    "through sums and slices": "np.sum(np.where(x[1:] > y[0], x[:2], y[1:])) + np.where(x > y[0], x, y[1])[2]",
    "by one condition for all": "np.sum(np.where(x[0] > 0.0, x, y) * y)",
    "to the largest": "np.max(x) + np.log(np.sum(np.exp(x - np.max(x)))) * np.min(x * y)",
    "to the largest of each row": "np.sum(np.max(np.outer(x, y), axis=1, keepdims=True) * x) + np.sum(np.argmax(x) * y)",
    "through a product of matrices": "np.dot(np.where(x > y, x, y), np.outer(x, y) @ x)",
}


@pytest.mark.parametrize("name", WHERE)
def test_what_a_condition_makes_zero_is_chosen_without_a_branch(name: str) -> None:
    f = aj.grad(program(f"return {WHERE[name]}"), wrt=(0, 1))
    source = apart(f, X, X).code.source
    assert "    if " not in source
    agree(f, [drawn(X, 40, 1), drawn(X, 40, 2)], samples=40)


def test_a_row_that_does_not_take_what_is_perhaps_zero_is_refused() -> None:
    second = aj.grad(lambda x, y: np.sum(np.exp(aj.grad(lambda z: np.sum(np.where(z > y, z * z, 1.0)))(x))), wrt=0)
    agree(second, [drawn(X, 12, 1), drawn(X, 12, 2)])


# generated programs

LEAVES = (
    "x",
    "y",
    "x[::-1]",
    "np.max(x) + y",
    "s * y",
    "np.array([s, x[0], 1.5])",
    "(A @ x)[0] * y",
    "A[0]",
    "A.T[:, 1]",
    "np.zeros(3)",
)
ONCE = ("np.exp(-np.abs({0}))", "np.sqrt({0} * {0} + 1.0)", "-{0}", "np.cumsum({0})", "np.roll({0}, 1)", "np.sum({0}) * {0}")
TWICE = ("{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}", "np.where({0} > {1}, {0}, {1} * s)", "np.maximum({0}, {1})",
         "np.outer({0}, {1}) @ x", "np.concatenate([{0}[:1], {1}[1:]])", "(np.stack([{0}, {1}]) * A)[1]")  # fmt: skip
expressions = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(ONCE), inner).map(lambda t: t[0].format(f"({t[1]})")),
        st.tuples(st.sampled_from(TWICE), inner, inner).map(lambda t: t[0].format(f"({t[1]})", f"({t[2]})")),
    ),
    max_leaves=5,
)


@costly(8)
@given(expressions, st.integers(0, 2**20), st.sampled_from(["python", "python", "cpu"]))
def test_a_batch_of_a_generated_program_has_the_bits_of_each_sample(body: str, seed: int, target: str) -> None:
    f = program(f"return np.sum({body})", "x, y, s, A")
    types = (X, X, REAL, M)
    columns = [drawn(type, 70, seed + k) for k, type in enumerate(types)]
    for made in (f, aj.grad(f, wrt=(0, 1, 2, 3))):
        event("taken apart" if taken_apart(parse(made), types) is not None else "left as it stands")
        agree(made, columns, target=target, samples=4)
