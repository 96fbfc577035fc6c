"""Types of arrays: sizes that are known or not, what loops make of them, gradients of the shape of their arguments, and `infer`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from immutables import Map
from typer.testing import CliRunner

import adjudge as aj
from adjudge.cli import app
from semantics.arrays import Array, size_of
from semantics.columns.types import apply_type
from semantics.errors import IllTyped, Malformed, Trap
from semantics.infer import infer
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO, SparseArray
from semantics.type_language import BOOLEAN, INTEGER, REAL, UNIT, ArrayType, TupleType, parse_type, tangent, type_of
from semantics.type_lattice import NEVER, TEXT, ZERO_TYPE, Literal, SliceType, Union, erase, is_below, join, of_constant
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

SIZES = st.sampled_from([None, 0, 1, 2, 3])
TYPES = st.builds(
    ArrayType, st.sampled_from(["f64", "f32", "i64", "bool"]), st.lists(SIZES, max_size=3).map(tuple), st.booleans()
) | st.sampled_from([REAL, INTEGER, ZERO_TYPE, NEVER, Literal(INTEGER, 2), Literal(TEXT, "a"), Literal(TEXT, "b")])


def types(text: str) -> tuple[Any, ...]:
    whole = parse_type(f"tuple[{text}]")
    assert isinstance(whole, TupleType)
    return whole.items


def program(text: str, name: str = "f") -> Any:
    return parse_text("import numpy as np\n" + text, name, names={})


def inferred(text: str, given: str) -> Any:
    return infer(expand(program(text)), types(given)).result


@given(TYPES, TYPES, TYPES)
def test_types_of_arrays_form_a_join_semilattice(a: Any, b: Any, c: Any) -> None:
    assert join(a, b) == join(b, a)
    assert join(a, a) == a
    assert join(join(a, b), c) == join(a, join(b, c))
    assert is_below(a, join(a, b))
    assert is_below(b, join(a, b))


def test_sizes_that_differ_are_forgotten_and_ranks_are_not() -> None:
    a, b, c = types("f64[2, 3], f64[2, 4], f64[2]")
    assert join(a, b) == parse_type("f64[2, ?]")
    assert isinstance(join(a, c), Union)
    assert not is_below(join(a, b), a)
    assert join(ArrayType("f64", (2,), True), c) == ArrayType("f64", (2,), True)


@pytest.mark.parametrize("text", ["f64[2, 3]", "f32[]", "i64[?]", "bool[?, 0]", "tuple[f64[2, 3], f64]", "list[f64[1], i64[2, ?]]"])
def test_a_type_reads_back(text: str) -> None:
    assert str(parse_type(text)) == text


@pytest.mark.parametrize("text", ["f16[2]", "f64[2", "f64[-1]", "f64[a]", "(f64|zero)[2]"])
def test_what_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        parse_type(text)


def test_the_type_of_an_array_says_whether_elements_may_be_zero() -> None:
    assert type_of(Array("f32", (2, 1), (1.0, 2.0))) == parse_type("f32[2, 1]")
    assert type_of(Array("f64", (2,), (1.0, ZERO))) == ArrayType("f64", (2,), True)
    assert str(ArrayType("f64", (2, None), True)) == "(f64|zero)[2, ?]"
    assert type_of(SparseArray("f64", (3,), Map({0: 1.0}))) == ArrayType("f64", (3,), True)
    assert tangent(parse_type("f64[2]")) == parse_type("f64[2]")
    assert tangent(parse_type("i64[2]")) == UNIT


K = Literal
UNKNOWN_SIZES: list[tuple[str, str, tuple[Any, ...], str]] = [
    ("add", "f64[?], f64[3]", (), "f64[3]"),
    ("add", "f64[?], f64[1]", (), "f64[?]"),
    ("add", "f64[2, ?], f64[?]", (), "f64[2, ?]"),
    ("mul", "f32[2], f64", (), "f32[2]"),
    ("matmul", "f64[?, 3], f64[3, 4]", (), "f64[?, 4]"),
    ("matmul", "f64[2, ?], f64[?]", (), "f64[2]"),
    ("reduce_sum", "f64[2, 3]", (INTEGER, K(BOOLEAN, False)), "f64[?]"),
    ("reduce_sum", "f64[2, 3]", (K(INTEGER, 0), BOOLEAN), "f64[1, 3] | f64[3]"),
    ("reduce_sum", "f64[?]", (UNIT, K(BOOLEAN, False)), "f64"),
    ("reshape", "f64[?, 3]", (TupleType((K(INTEGER, -1), K(INTEGER, 3))),), "f64[?, 3]"),
    ("reshape", "f64[0, ?]", (TupleType((K(INTEGER, 2), K(INTEGER, 0))),), "f64[2, 0]"),
    ("squeeze", "f64[?, 3]", (UNIT,), "f64[3] | f64[?, 3]"),
    ("shape", "f64[2, ?]", (), "tuple[i64=2, i64]"),
    ("array_size", "f64[2, 3]", (), "i64=6"),
    ("length", "f64[?, 3]", (), "i64"),
    ("of_length", "f64[?]", (K(INTEGER, 2),), "f64[2]"),
    ("getitem", "f64[4, 5]", (INTEGER,), "f64[5]"),
    ("getitem", "f64[4]", (SliceType((K(INTEGER, 1), UNIT, K(INTEGER, 2))),), "f64[2]"),
    ("getitem", "f64[?]", (SliceType((UNIT, UNIT, K(INTEGER, -1))),), "f64[?]"),
    ("getitem", "f64[4], bool[4]", (), "f64[?]"),
    ("getitem", "f32[4]", (INTEGER,), "f32[]"),
    ("concatenate", "tuple[f64[2, ?], f64[?, 3]]", (K(INTEGER, 0),), "f64[?, 3]"),
    ("einsum", "f64[?, 3], f64[3, 4]", (), "f64[?, 4]"),
]


@pytest.mark.parametrize(("name", "operands", "attributes", "wanted"), UNKNOWN_SIZES)
def test_a_result_has_all_sizes_that_can_be_known(name: str, operands: str, attributes: tuple[Any, ...], wanted: str) -> None:
    first = (of_constant("ij,jk->ik"),) if name == "einsum" else ()
    assert str(apply_type(TABLE[name], (*first, *types(operands), *attributes))) == wanted


@pytest.mark.parametrize(
    ("name", "operands"), [("add", "f64[2, ?], f64[3, 3]"), ("matmul", "f64[?, 3], f64[4, ?]"), ("solve", "f64[?, 2], f64[3]")]
)
def test_what_no_size_can_mend_traps(name: str, operands: str) -> None:
    with pytest.raises(Trap):
        apply_type(TABLE[name], types(operands))


GROWS = """def f(x, n):
    y = x
    for i in range(n):
        y = np.concatenate((y, x))
    return y
"""
HALVES = """def f(x):
    n = x.shape[0]
    if n == 1:
        return x[0]
    return f(x[:n // 2]) + f(x[n // 2:])
"""
SHRINKS = """def f(x):
    while len(x) > 1:
        x = x[1:] - x[:-1]
    return x
"""
BY_INDEX = """def f(x):
    s = 0.0
    for i in range(len(x)):
        s = s + x[i] * x[i]
    return s
"""
LAYERS = """def layer(x, w):
    return np.tanh(x @ w)
def f(x, v, w):
    return layer(layer(x, v), w)
"""
SHAPES = """def f(x):
    m, n = x.shape
    return np.zeros((n * m, m + 1, len(x)))
"""
GUARDED = """def f(x):
    if len(x) > 3:
        return x[3]
    return 0.0
"""


@pytest.mark.parametrize(
    ("text", "given", "wanted"),
    [
        (GROWS, "f64[2], i64", "f64[?]"),
        (HALVES, "f64[8]", "f64"),
        (SHRINKS, "f64[5]", "f64[?]"),
        (BY_INDEX, "f64[4]", "f64"),
        (BY_INDEX, "f64[0]", "f64"),
        (LAYERS, "f64[3], f64[3, 5], f64[5, 2]", "f64[2]"),
        (SHAPES, "f64[2, 3]", "f64[6, 3, 2]"),
        (GUARDED, "f64[2]", "f64"),
        (GUARDED, "f64[?]", "f64"),
    ],
)
def test_a_fixpoint_is_reached_and_keeps_what_sizes_it_can(text: str, given: str, wanted: str) -> None:
    assert str(inferred(text, given)) == wanted


def test_a_mismatch_of_an_early_estimate_is_no_error() -> None:
    text = """def grow(n):
    if n == 0:
        return np.zeros(0)
    return np.concatenate((grow(n - 1), np.ones(1)))
def f(n):
    return grow(n) + np.ones(3)
"""
    assert str(inferred(text, "i64")) == "f64[3]"
    assert run(program(text), 3).items == (2.0, 2.0, 2.0)


def test_a_list_of_known_length_keeps_it_and_another_has_one_type_for_its_items() -> None:
    text = "def f(n):\n    t = [i * 1.0 for i in range(n)]\n    return sum(t)\n"
    assert str(inferred(text, "i64")) == "f64 | i64"
    assert inferred(text.replace("sum(t)", "t"), "i64") == parse_type("list[f64, ...]")
    assert inferred("def f(x):\n    return [v * 2.0 for v in x]\n", "f64[3]") == parse_type("list[f64, f64, f64]")


def test_an_index_that_is_outside_in_a_branch_only_is_left_to_the_run() -> None:
    text = "def f(x, n):\n    if n > 0:\n        return x[5]\n    return x[0]\n"
    assert inferred(text, "f64[2], i64") == REAL
    with pytest.raises(IllTyped, match="index 5 is outside"):
        inferred("def f(x):\n    return x[5]\n", "f64[2]")


GRADIENTS = [
    ("def f(x, w, b):\n    return np.sum(np.tanh(w @ x + b) ** 2)\n", "f64[3], f64[4, 3], f64[4]"),
    ("def f(x, y):\n    return np.sum(x * y) + np.max(x)\n", "f64[2, 1], f64[3]"),
    ("def f(x, y):\n    return np.mean(np.concatenate((x.ravel(), y)))\n", "f64[2, 3], f64[1]"),
    ("def f(x, y):\n    return x[1] * y[0, 1] + np.sum(y[:, 0])\n", "f64[3], f64[2, 2]"),
    ("def f(x, y):\n    return np.sum(np.where(x > 0.0, x * y, y))\n", "f64[2, 2], f64"),
    ("def f(a, b):\n    return np.einsum('ij,jk->', a, b)\n", "f64[2, 3], f64[3, 4]"),
    ("def f(a, b):\n    return np.sum(np.linalg.solve(a, b))\n", "f64[2, 2], f64[2]"),
    ("def g(x):\n    return x * 2.0\ndef f(x, y):\n    return np.sum(g(x)) + np.sum(g(y))\n", "f64[2], f32[3]"),
    ("def f(x, y):\n    return np.sum(x.T.reshape(-1) * y)\n", "f64[2, 3], f64[6]"),
    ("def f(x, y):\n    return np.sum(x) * len(y)\n", "f64[0], f64[2]"),
]


def array_of(t: Any) -> Any:
    """An array of a type, of elements that differ; a real for f64."""
    if t == REAL:
        return 0.5
    return Array(t.dtype, t.dims, tuple(1.0 + 0.25 * k * k for k in range(size_of(t.dims))))


@pytest.mark.parametrize(("text", "given"), GRADIENTS)
def test_cotangents_have_the_types_of_their_arguments(text: str, given: str) -> None:
    wanted = types(given)
    whole = expand(calling(program(text), "value_and_grad", tuple(range(len(wanted))), wanted))
    found = infer(whole, wanted).result
    assert found.items[1] == TupleType(wanted)
    value = run(whole, *(array_of(t) for t in wanted))
    assert is_below(erase(of_constant(value)), found)
    assert erase(of_constant(value[1])) == TupleType(wanted)


@pytest.mark.parametrize(("text", "given"), GRADIENTS[:3])
def test_so_do_cotangents_of_second_order(text: str, given: str) -> None:
    wanted = types(given)
    inner = calling(program(text), "hvp", 0, wanted)
    assert infer(expand(inner), (*wanted, *wanted)).result == TupleType(wanted)


@given(st.data())
def test_a_typed_program_of_arrays_steps_or_traps(data: st.DataObject) -> None:
    """Progress and preservation on straight lines over arrays, by the text of Python."""
    names, lines = ["x", "y", "c"], []
    forms = (
        "{} + {}", "{} * {}", "{} @ {}", "np.maximum({}, {})", "np.where(c > 0.0, {}, {})", "np.concatenate(({}, {}))",
        "np.stack(({}, {}), axis=1)", "np.sum({}, axis=0)", "{}[0]", "{}[1:]", "{}[:, None]", "{}.T", "{}.reshape(2, -1)",
        "np.cumsum({}, axis=-1)", "np.expand_dims({}, 0)", "np.exp({})", "np.outer({}, {})", "np.squeeze({})",
        "{} < {}", "np.max({})",
    )  # fmt: skip
    for k in range(data.draw(st.integers(1, 5))):
        form = data.draw(st.sampled_from(forms))
        lines.append(f"    v{k} = {form.format(*(data.draw(st.sampled_from(names)) for _ in range(form.count('{}'))))}")
        names.append(f"v{k}")
    text = "\n".join(["def f(x, y, c):", *lines, f"    return {names[-1]}", ""])
    shapes = [data.draw(st.sampled_from([(2,), (3,), (2, 2), (2, 3), (0,), (1,)])) for _ in range(2)]
    arguments = [*(Array("f64", s, tuple(0.5 + k for k in range(size_of(s)))) for s in shapes), 1.0]
    whole = program(text)
    try:
        result = infer(whole, [type_of(a) for a in arguments]).result
    except IllTyped:
        event("refused")
        with pytest.raises((IllTyped, Trap)):
            run(whole, *arguments)
        return
    event("accepted")
    above = infer(whole, [ArrayType("f64", (None,) * len(s)) for s in shapes] + [REAL]).result
    try:
        value = run(whole, *arguments)
    except Trap:
        event("trapped")
        return
    assert is_below(erase(of_constant(value)), result), text
    assert is_below(erase(of_constant(value)), above), text


def norm(x: Any) -> Any:
    return np.sqrt(np.sum(x * x))


def test_infer_prints_the_type_of_every_node_with_its_line() -> None:
    found = aj.infer(norm, np.ones((2, 3)))
    assert found.result == REAL
    assert [t.type for s in found.signatures() for t in found.nodes(s)][-3:] == ["f64[2, 3]", "f64", "f64"]
    assert "return np.sqrt(np.sum(x * x))" in str(found)
    assert aj.infer(norm, "f64[?]").result == REAL
    assert aj.infer(aj.grad(norm), "f64[2, 3]").result == parse_type("f64[2, 3]")
    with pytest.raises(IllTyped):
        aj.infer(norm, (1.0, 2.0))


def test_the_command_line_infers(tmp_path: Any) -> None:
    file = tmp_path / "m.py"
    file.write_text("import numpy as np\ndef f(a, b):\n    return np.sum(a @ b)\n")
    runner = CliRunner()
    shown = runner.invoke(app, ["infer", f"{file}:f", "f64[2, 3]", "f64[3]"])
    assert shown.exit_code == 0
    assert "f64[2]" in shown.output
    assert shown.output.rstrip().endswith("the result is f64")
    data = json.loads(runner.invoke(app, ["infer", f"{file}:f", "f64[2, 3]", "f64[3]", "--grad", "0", "--json"]).output)
    assert data["result"] == "tuple[f64, f64[2, 3]]"
    assert all(node["type"] for node in data["nodes"])
    refused = runner.invoke(app, ["infer", f"{file}:f", "f64[2, 3]", "f64[2]"])
    assert isinstance(refused.exception, IllTyped)


@pytest.mark.parametrize("joined", ["np.concatenate((y, np.squeeze(x)))", "np.stack((y, np.squeeze(x)))"])
def test_an_element_that_may_be_of_two_kinds_is_judged_as_each(joined: str) -> None:
    """Regression, `movement.concatenate`: of an unknown length, `squeeze` may leave a number; inside a tuple that was refused."""
    found = program(f"def f(x, y):\n    return {joined}\n")
    unknown = infer(found, [ArrayType("f64", (None,)), ArrayType("f64", (None,))]).result
    assert is_below(infer(found, [ArrayType("f64", (2,)), ArrayType("f64", (2,))]).result, unknown)
