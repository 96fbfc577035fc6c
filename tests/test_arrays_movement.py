"""
Making arrays and moving their elements about: the same elements as in NumPy, bit for bit, at every shape, attribute and dtype; and
the way back for what the table of examples (`array_examples`) leaves out: scalars, single precision, sparse cotangents.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from array_rules import applied, judge, pullback_of
from immutables import Map

from adjudge.values import to_value
from checkers import forward_mode
from checkers.array_audit.row_samples import EXAMPLES, array_examples
from checkers.array_audit.row_samples_arguments import Example, array, integers, is_data
from checkers.columns.leaves import map_leaves
from semantics.arrays import FLOATING, Array, single, size_of
from semantics.columns.meaning import MEANING
from semantics.denotation import FLOATS, FRACTIONS, denote
from semantics.errors import AdjudgeError, IllTyped, Trap
from semantics.machine import run
from semantics.primitives.array_rows import CREATION, INDEXING, MOVEMENT, PLACES, REDUCTIONS
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO, SparseArray
from semantics.type_language import type_of
from semantics.values import same
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand
from transforms.parse import parse_text

A = array
DTYPES = (np.float64, np.float32, np.int64, np.bool_)
ROWS = tuple(p.name for p in (*CREATION, *INDEXING, *MOVEMENT, *REDUCTIONS, *PLACES))

MOVES: tuple[tuple[str, tuple[int, ...]], ...] = (
    *((f"np.reshape(x, {s})", (2, 3)) for s in ("6", "(3, 2)", "-1", "(1, -1, 2)", "(3, 1, 2)")),
    *(("np.reshape(x, (0, 5))", (2, 0)), ("np.reshape(x, ())", (1, 1)), ("np.reshape(x, (1, 1))", ()), ("x.ravel()", (2, 3))),
    *((f"np.transpose(x, {a})", (2, 3, 4)) for a in ("None", "(1, 2, 0)", "(-1, 0, 1)", "(0, 1, 2)")),
    *(("np.transpose(x)", s) for s in ((), (3,), (2, 0), (2, 3))),
    *(
        (f"np.broadcast_to(x, {t})", s)
        for t, s in (("(2, 3)", (3,)), ("(2, 3)", (2, 1)), ("4", ()), ("(0, 3)", (3,)), ("(2, 0)", (1,)))
    ),
    *((f"np.expand_dims(x, {a})", (2, 3)) for a in ("0", "-1", "1", "(0, 2)", "(-1, 0)")),
    *((f"np.squeeze(x, {a})", (1, 3, 1)) for a in ("None", "0", "-1", "(0, 2)", "()")),
    *((f"np.flip(x, {a})", (2, 3)) for a in ("None", "0", "-1", "(0, 1)", "()")),
    *(("np.flip(x, ())", (2,)), ("np.flip(x, 1)", (2, 0)), ("np.squeeze(x)", (1,)), ("np.squeeze(x)", (0, 1))),
    *((f"np.roll(x, {a})", (2, 3)) for a in ("1", "-1", "7", "1, 0", "-2, -1", "(1, 1), (0, 1)", "(1, 2), (1, 1)")),
    *(("np.roll(x, 2)", (0,)), ("np.roll(x, 1, 1)", (2, 0)), ("np.roll(x, 1)", ())),
    *((f"np.diag(x, {k})", s) for s in ((3,), (0,), (2, 3), (3, 2), (0, 2)) for k in (0, 1, -1, -3)),
    *((f"np.{t}(x, {k})", s) for t in ("tril", "triu") for s in ((2, 3), (3, 2), (2, 2, 2), (0, 2)) for k in (0, 1, -1, 5)),
    *(
        (f"np.concatenate({a})", (2, 3))
        for a in ("(x, x)", "[x, x], 1", "(x, x[:1], x), 0", "(x, x[:, :0]), -1", "(x, x[0]), None")
    ),
    *(("np.concatenate(x)", (3, 2)), ("np.concatenate(x, 1)", (2, 2, 3)), ("np.concatenate(x)", (3, 0)), ("np.stack(x)", (2, 3))),
    *((f"np.stack({a})", (2, 3)) for a in ("(x, x)", "[x, x, x], -1", "(x,), 1", "(x, x), 2", "(x[0, 0], x[1, 1])")),
    *(("np.array([x, x])", (2,)), ("np.array([[x[0], x[1]], [x[2], x[0]]])", (3,)), ("np.array(x)", (2, 2)), ("np.array([])", ())),
    *((f"np.full({a})", ()) for a in ("(2, 3), x", "3, x", "(), x", "(0, 2), x")),
    *((f"x.astype({d})", (2, 2)) for d in ("float", "int", "bool", "np.float32")),
    *((f"np.eye({a})", ()) for a in ("3", "2, 3", "3, 2, 1", "2, 2, -1", "0")),
    *((f"np.arange({a})", ()) for a in ("4", "1, 5", "5, 1, -2", "3, 3")),
    *((f"np.linspace({a})", ()) for a in ("0.0, 1.0, 5", "2.0, -1.0, 4", "1.5, 2.5, 1", "1.5, 2.5, 2", "0.0, 1.0, 0")),
)


@pytest.mark.parametrize(("text", "shape"), MOVES, ids=[f"{t} {s}" for t, s in MOVES])
def test_elements_move_as_in_numpy(text: str, shape: tuple[int, ...]) -> None:
    program = parse_text(f"import numpy as np\n\ndef f(x):\n    return {text}\n", "f")
    for dtype in DTYPES:
        x = np.array(np.arange(size_of(shape)) % 4, dtype).reshape(shape)
        assert same(run(program, to_value(x)), to_value(eval(text, {"np": np, "x": x})))


def test_arrays_of_several_dtypes_meet_as_in_numpy() -> None:
    program = parse_text(
        "import numpy as np\n\ndef f(x, y):\n    return np.concatenate((x, y)), np.stack((x, y)), np.array([x[0], y[0]])\n", "f"
    )
    for left in DTYPES:
        for right in DTYPES:
            x, y = np.array([1, 0]).astype(left), np.array([1, 2]).astype(right)
            wanted = np.concatenate((x, y)), np.stack((x, y)), np.array([x[0], y[0]])
            assert same(run(program, to_value(x), to_value(y)), tuple(map(to_value, wanted)))


REFUSED: tuple[tuple[str, type[AdjudgeError], str], ...] = (
    ("np.reshape(x, (4, 2))", Trap, "6 elements"),
    ("np.reshape(x, (-1, 4))", Trap, "6 elements"),
    ("np.reshape(x, (-1, -1))", Trap, "6 elements"),
    ("np.transpose(x, (0, 0))", Trap, "named twice"),
    ("np.transpose(x, (0,))", Trap, "does not name all 2 axes"),
    ("np.broadcast_to(x, (3, 2))", Trap, "broadcast"),
    ("np.broadcast_to(x, 3)", Trap, "broadcast"),
    ("np.expand_dims(x, 4)", Trap, "axis 4"),
    ("np.squeeze(x, 0)", Trap, "has not size 1"),
    ("np.flip(x, 2)", Trap, "axis 2 of an array of 2 axes"),
    ("np.concatenate((x, x[0]))", Trap, "differ off axis 0"),
    ("np.concatenate((x, x[:, :2]))", Trap, "differ off axis 0"),
    ("np.concatenate(())", Trap, "of no arrays"),
    ("np.concatenate((1.0, 2.0))", Trap, "without axes"),
    ("np.stack((x, x[0]))", Trap, "differ"),
    ("np.diag(x[None])", Trap, "diag of an array of shape (1, 2, 3)"),
    ("np.tril(x[0])", Trap, "tril of an array of shape (3,)"),
    ("np.array([x, x[0]])", Trap, "different lengths"),
    ("np.full((2, -1), 1.0)", Trap, "negative size"),
    ("np.full(2, x)", AdjudgeError, "full"),
    ("np.arange(0.5)", IllTyped, "an integer bound"),
    ("np.linspace(0.0, 1.0, -1)", Trap, "-1 points"),
    ("np.roll(x, 0.5)", IllTyped, "an integer shift"),
)


@pytest.mark.parametrize(("text", "kind", "what"), REFUSED)
def test_what_has_no_such_shape_is_refused_with_its_place(text: str, kind: type[AdjudgeError], what: str) -> None:
    program = parse_text(f"import numpy as np\n\ndef f(x):\n    return {text}\n", "f")
    with pytest.raises(kind) as caught:
        run(program, to_value(np.ones((2, 3))))
    assert what in str(caught.value)
    assert caught.value.location is not None
    assert caught.value.location.line == 4


SCALARS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    *(
        ("reshape", (1.5, (1, 1))),
        ("transpose", (1.5, None)),
        ("broadcast_to", (1.5, (2, 2))),
        ("expand_dims", (1.5, 0)),
        ("flip", (1.5, None)),
    ),
    *(("roll", (1.5, 1, None)), ("squeeze", (1.5, None)), ("astype", (1.5, "f32")), ("as_array", ((1.5, 2.5), None))),
    *(
        ("stack", ((1.5, A(())), 0)),
        ("take", (1.5, integers(0, 0), None)),
        ("concatenate", (A((2, 2)), 0)),
        ("stack", (A((2, 2)), 1)),
    ),
    *((r, (1.5, None, False)) for r in ("reduce_sum", "reduce_prod", "mean", "reduce_max", "reduce_min")),
    *(("cumsum", (1.5, None)), ("cumprod", (1.5, None)), ("sort", (1.5, None)), ("grouped", (1.5, None))),
)


@pytest.mark.parametrize(("name", "arguments"), SCALARS, ids=[f"{n} {a}" for n, a in SCALARS])
def test_a_scalar_for_an_array_gets_a_scalar_back(name: str, arguments: tuple[Any, ...]) -> None:
    assert judge(name, Example(arguments)).wrong == ()


@pytest.mark.parametrize("name", [n for n in ROWS if n in EXAMPLES])
def test_the_cotangent_of_an_array_in_single_precision_is_one(name: str) -> None:
    for example in array_examples(name):
        arguments = tuple(map(in_single, example.arguments))
        out = denote(applied(name, len(arguments)), arguments, FLOATS)
        weights = in_single(map_leaves(lambda _, x: 0.7 if type(x) is float else x, out))
        found = denote(pullback_of(name, len(arguments)), [*arguments, weights], FLOATS)
        for x, d in zip(arguments, found, strict=True):
            if isinstance(x, Array) and is_data(x):
                assert (d.dtype, d.shape) == (x.dtype, x.shape)
                assert all(math.isnan(i) or single(i) == i for i in d.items)


def in_single(value: Any) -> Any:
    """The value with every array of doubles rounded to single precision."""
    if isinstance(value, tuple):
        return tuple(map(in_single, value))
    if not isinstance(value, Array) or value.dtype not in FLOATING:
        return value
    return Array("f32", value.shape, tuple(0.0 if x is ZERO else single(x) for x in value.items))


@pytest.mark.parametrize("name", [n for n in ROWS if n in EXAMPLES])
def test_a_sparse_cotangent_is_the_array_it_stands_for(name: str) -> None:
    """On fractions, by equality; also where it is of no element at all."""
    for example in array_examples(name)[:6]:
        if not example.rational:
            continue
        count = len(example.arguments)
        point = tuple(forward_mode.lifted(FRACTIONS, a) for a in example.arguments)
        out = denote(applied(name, count), point, FRACTIONS)
        if not isinstance(out, Array) or out.dtype not in FLOATING:
            continue
        for entries in ({}, *({k: FRACTIONS.lift(2.5)} for k in range(min(2, len(out.items))))):
            sparse = SparseArray(out.dtype, out.shape, Map(entries))
            whole = out.with_items(entries.get(k, ZERO) for k in range(len(out.items)))
            found, wanted = (denote(pullback_of(name, count), [*point, w], FRACTIONS) for w in (sparse, whole))
            assert same(found, wanted)


@pytest.mark.parametrize(
    ("text", "gradient"),
    [
        ("np.sum(np.concatenate([x, 2.0 * x, x[:1]]) * np.arange(5))", (0 + 2 * 2.0 + 4, 1 + 3 * 2.0)),
        ("np.sum(np.array([[x[0], 1], [x[1], x[0]]]) * np.array([[1.0, 2.0], [3.0, 4.0]]))", (5.0, 3.0)),
        ("np.sum(np.stack([x, np.arange(2)]) ** 2)", (3.0, 7.0)),
        ("np.sum(np.diag(x) @ x)", (3.0, 7.0)),
        ("np.sum(np.full((2, 2), x[1]))", (0.0, 4.0)),
        ("np.linspace(x[0], x[1], 3) @ np.array([1.0, 2.0, 4.0])", (2.0, 5.0)),
        ("np.sum(x.astype(int) * 2.0)", (0.0, 0.0)),
        ("np.take(x, np.array([0, 0, 1])) @ np.array([1.0, 2.0, 4.0])", (3.0, 4.0)),
    ],
)
def test_gradients_of_programs_that_move_elements(text: str, gradient: tuple[float, ...]) -> None:
    """Worked out by hand at (1.5, 3.5)."""
    program = expand(parse_text(f"import numpy as np\n\ndef f(x):\n    return {text}\n", "f"))
    x = Array("f64", (2,), (1.5, 3.5))
    assert same(run(gradient_program(program, types=[type_of(x)]), x), Array("f64", (2,), gradient))


def test_the_places_of_nested_parts_are_numbered_through() -> None:
    found = MEANING[TABLE["places"]]((A((2,)), 0.5, (1, A((1, 2)))))
    assert same(found, (integers(1, 2), 3, (4, integers(5, 6, shape=(1, 2)))))


def test_what_several_elements_came_from_gets_their_sum_and_integers_get_nothing() -> None:
    returned = MEANING[TABLE["returned"]]
    d = Array("f64", (4,), (1.0, 2.0, 4.0, 8.0))
    assert same(returned(d, integers(1, 3, 1, 0), (A((2,)), 7)), (Array("f64", (2,), (5.0, ZERO)), ZERO))
    with pytest.raises(Trap, match="a place beyond the 2"):
        returned(d, integers(1, 3, 1, 0), A((2,)))
    with pytest.raises(Trap, match="4 sensitivities for 1 places"):
        returned(d, integers(1), A((2,)))
    assert MEANING[TABLE["keep"]](d, False) is ZERO
    with pytest.raises(IllTyped, match="booleans"):
        MEANING[TABLE["keep"]](d, 1)
