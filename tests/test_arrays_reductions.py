"""
Reductions, extremes, sorting and running sums: NumPy is the oracle for values, at every shape, way to name axes and dtype.

On whole numbers every order of summation is exact, and values are equal. On reals a sum of n numbers in any order lies within
γ_n Σ|x| of the exact one, γ_n = n u / (1 - n u), u = 2^-53 (Higham 2002, section 4.2); both NumPy's and ours must. Running sums and
products, extremes and sorted arrays are bit-equal: NumPy does not reorder those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from claims import costly
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from adjudge.values import to_value
from checkers.array_audit.row_samples_arguments import array, axes_of, integers
from checkers.columns.ball import BALLS, ball_column
from checkers.columns.ball_decisions import lift
from semantics.arrays import Array, size_of
from semantics.columns.exact import EXACT
from semantics.columns.meaning import MEANING
from semantics.denotation import FLOATS, denote
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError, IllTyped, Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.type_language import type_of
from semantics.values import same
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand
from transforms.parse import parse_text

Numpy = np.ndarray[Any, Any]
INF, NAN = math.inf, math.nan
SHAPES = ((), (1,), (3,), (0,), (2, 3), (3, 0), (0, 3), (2, 3, 2))
DTYPES = (np.float64, np.float32, np.int64, np.bool_)
REDUCE: dict[str, Callable[..., Any]] = {
    **{"reduce_sum": np.sum, "reduce_prod": np.prod, "mean": np.mean, "reduce_max": np.max, "reduce_min": np.min},
    **{"reduce_all": np.all, "reduce_any": np.any, "norm": np.linalg.norm},
}
ALONG: dict[str, Callable[..., Any]] = {
    **{"argmax": np.argmax, "argmin": np.argmin, "cumsum": np.cumsum, "cumprod": np.cumprod},
    **{"sort": lambda x, axis: np.sort(x, axis, kind="stable"), "argsort": lambda x, axis: np.argsort(x, axis, kind="stable")},
}


def row(name: str, *arguments: Any) -> Any:
    """The meaning of a row."""
    return MEANING[TABLE[name]](*arguments)


def whole(shape: tuple[int, ...], dtype: Any) -> Numpy:
    """Whole numbers from -3 to 3 with repetitions, as the dtype."""
    return np.array([(5 * k + 2) % 7 - 3 for k in range(size_of(shape))], dtype).reshape(shape)


def reals(shape: tuple[int, ...], seed: int = 0) -> Numpy:
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def of_numpy(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """What NumPy gives, its warnings aside; None where it refuses."""
    try:
        with np.errstate(all="ignore"):
            return to_value(function(*arguments, **keywords))
    except (ValueError, IndexError):
        return None


@pytest.mark.parametrize("name", REDUCE)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_a_reduction_of_whole_numbers_is_that_of_numpy(name: str, shape: tuple[int, ...]) -> None:
    for dtype in DTYPES:
        x = whole(shape, dtype)
        for axis in axes_of(shape):
            for keepdims in (False, True):
                if name == "norm" and (axis == () or (axis is None and keepdims)):
                    continue  # NumPy has no norm over no axes
                wanted = of_numpy(REDUCE[name], x, axis=axis, keepdims=keepdims)
                if wanted is None:
                    with pytest.raises(Trap, match="no elements"):
                        row(name, to_value(x), axis, keepdims)
                else:
                    found = row(name, to_value(x), axis, keepdims)
                    assert same(found, plain(wanted, found))


def plain(wanted: Any, found: Any) -> Any:
    """NumPy keeps an array without axes where keepdims was asked of one; we give the number."""
    return wanted.items[0] if isinstance(wanted, Array) and wanted.shape == () and not isinstance(found, Array) else wanted


@pytest.mark.parametrize("name", ["reduce_sum", "mean"])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (40,), (3, 40), (40, 3), (2, 9, 5)], ids=str)
def test_a_sum_of_reals_is_within_the_bound_of_any_order(name: str, shape: tuple[int, ...]) -> None:
    x = reals(shape)
    for axis in axes_of(shape):
        exact = exactly(name, x, axis)
        sizes = exactly("reduce_sum", np.abs(x), axis)
        n = size_of(shape) // len(sizes)
        gamma = Fraction(n + 1, 2**53) / (1 - Fraction(n + 1, 2**53))  # one operation more than the sum: the division by n
        for value in (row(name, to_value(x), axis, False), to_value(REDUCE[name](x, axis=axis))):
            for found, wanted, size in zip(flat(value), exact, sizes, strict=True):
                assert abs(found - wanted) <= gamma * size


def exactly(name: str, x: Numpy, axis: Any) -> list[Fraction]:
    found = EXACT[TABLE[name]](Array("f64", x.shape, tuple(map(Fraction, x.ravel().tolist()))), axis, False)
    return flat(found)


def flat(value: Any) -> list[Fraction]:
    return [Fraction(x) for x in (value.items if isinstance(value, Array) else [value])]


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "norm"])
def test_fewer_than_eight_numbers_are_reduced_from_the_left(name: str) -> None:
    """NumPy adds fewer than 8 numbers of a line in order; products and extremes always."""
    for seed in range(3):
        for shape in ((3,), (7,), (4, 3), (2, 7)):
            x = reals(shape, seed)
            assert same(row(name, to_value(x), -1, False), to_value(REDUCE[name](x, axis=-1)))


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_goes_along_an_axis_is_that_of_numpy(name: str, shape: tuple[int, ...]) -> None:
    for dtype in DTYPES:
        for x in (whole(shape, dtype), reals(shape).astype(dtype)):
            for axis in (None, *range(-len(shape), len(shape))):
                wanted = of_numpy(ALONG[name], x, axis=axis)
                if wanted is not None:
                    assert same(row(name, to_value(x), axis), wanted)
                elif size_of(np.delete(shape, axis or 0)):
                    with pytest.raises(Trap, match="no elements"):
                        row(name, to_value(x), axis)


@costly(1)
@given(st.lists(st.sampled_from((0.0, 1.0, -1.0, 2.5, INF, -INF, NAN)), max_size=8), st.sampled_from((np.float64, np.float32)))
def test_nan_comes_first_for_extremes_and_last_when_sorting(items: list[float], dtype: Any) -> None:
    x = np.array(items, dtype)
    for name in ("argsort", "sort"):
        assert same(row(name, to_value(x), -1), to_value(ALONG[name](x, axis=-1)))
    if items:
        for name in ("argmax", "argmin"):
            assert row(name, to_value(x), None) == ALONG[name](x, axis=None)
        for name in ("reduce_max", "reduce_min"):
            assert same(row(name, to_value(x), None, False), to_value(REDUCE[name](x)))


def test_single_precision_is_rounded_after_every_operation() -> None:
    x = Array("f32", (3,), (1.0, 2.0**-24, 2.0**-24))
    assert same(row("reduce_sum", x, None, False), Array("f32", (), (1.0,)))
    assert row("reduce_sum", Array("f64", (3,), x.items), None, False) == 1.0 + 2.0**-23
    assert row("cumsum", x, 0).items == (1.0, 1.0, 1.0)


def test_integers_trap_beyond_64_bits() -> None:
    big = Array("i64", (2,), (2**62, 2**62))
    for name, arguments in (("reduce_sum", (None, False)), ("reduce_prod", (None, False)), ("cumsum", (0,)), ("cumprod", (0,))):
        with pytest.raises(Trap, match="beyond 64 bits"):
            row(name, big, *arguments)
    assert row("reduce_sum", Array("i64", (2,), (2**62, 2**62 - 1)), None, False) == 2**63 - 1


LOGSUMEXP = ((0.0, 0.0), (1.0, 2.0, 3.0), (-1000.0, -1000.5), (1000.0, 999.0, -1000.0), (0.3,), (1e-3, -2e-3, 5.0, 4.0))


@pytest.mark.parametrize("items", LOGSUMEXP, ids=str)
def test_logsumexp_is_close_to_the_real_one(items: tuple[float, ...]) -> None:
    """
    Subtraction, exponential and sum of n terms: each x - m has an error of u|x - m|, for which exp has a relative error of as much,
    and 2u of its own (`math.exp` is faithful); the sum adds (n - 1)u. The logarithm turns relative errors into absolute ones, since
    S >= 1, and has 2u|log S| of its own; the last addition u|result|. Doubled, for what is of second order in u.
    """
    exact = ball_column(400)[TABLE["logsumexp"]](Array("f64", (len(items),), tuple(map(lift, items))), None, False)
    largest, n = max(items), len(items)
    spread = largest - min(items)
    bound = 2 * 2.0**-53 * (spread + 2 + (n - 1) + 2 * math.log(n) + abs(largest) + math.log(n))
    found = row("logsumexp", Array("f64", (n,), items), None, False)
    assert abs(arb(found) - exact) <= arb(bound)


def test_logsumexp_at_infinities_and_of_nothing() -> None:
    def of(*items: float) -> float:
        return row("logsumexp", Array("f64", (len(items),), items), None, False)  # type: ignore[no-any-return]

    assert (of(), of(-INF), of(-INF, -INF)) == (-INF, -INF, -INF)
    assert (of(INF), of(INF, INF), of(INF, -INF), of(1.0, INF)) == (INF, INF, INF, INF)
    assert of(-INF, 2.5) == 2.5
    assert math.isnan(of(NAN, 1.0))
    assert math.isnan(of(INF, NAN))
    assert same(row("logsumexp", integers(0, 0), 0, True), Array("f64", (1,), (math.log(2.0),)))


# gradients where the table of examples of fractions cannot go: infinities, NaN, ties, empties


def gradient_of(name: str, x: Array, *attributes: Any, weights: Array | None = None) -> Any:
    """The gradient of Σ w·p(x)."""
    return run(gradient_program(summed(name, *attributes), 0, [type_of(x), None]), x, 1.0 if weights is None else weights)


def summed(name: str, *attributes: Any) -> Program:
    edit = Edit(empty())
    graph = edit.graph(f"sum_of_{name}")
    x, w = edit.parameter(graph, "x"), edit.parameter(graph, "w")
    value = edit.call(graph, TABLE[name], x, *map(edit.constant, attributes))
    product = edit.call(graph, TABLE["mul"], value, w)
    edit.output(graph, edit.call(graph, TABLE["reduce_sum"], product, edit.constant(None), edit.constant(False)))
    edit.set_entry(graph)
    return edit.program


def f64(*items: float, shape: tuple[int, ...] | None = None) -> Array:
    return Array("f64", (len(items),) if shape is None else shape, items)


AT_CORNERS: tuple[tuple[str, Array, tuple[Any, ...], Array], ...] = (
    ("reduce_max", f64(1.0, 3.0, 3.0), (None, False), f64(0.0, 1.0, 0.0)),
    ("reduce_min", f64(1.0, 3.0, 1.0), (None, False), f64(1.0, 0.0, 0.0)),
    ("reduce_max", f64(1.0, NAN, 3.0, NAN), (None, False), f64(0.0, 1.0, 0.0, 0.0)),
    ("reduce_max", f64(2.0, 2.0, 1.0, 5.0, shape=(2, 2)), (1, True), f64(1.0, 0.0, 0.0, 1.0, shape=(2, 2))),
    ("sort", f64(2.0, 1.0, 1.0), (0,), f64(1.0, 1.0, 1.0)),
    ("norm", f64(0.0, 0.0), (None, False), f64(0.0, 0.0)),
    ("norm", f64(0.0, 0.0, 3.0, 4.0, shape=(2, 2)), (1, False), f64(0.0, 0.0, 0.6, 0.8, shape=(2, 2))),
    ("logsumexp", f64(-INF, -INF), (None, False), f64(0.0, 0.0)),
    ("logsumexp", f64(-INF, -INF, 0.0, -INF, shape=(2, 2)), (1, True), f64(0.0, 0.0, 1.0, 0.0, shape=(2, 2))),
    ("logsumexp", f64(1000.0, 1000.0), (0, False), f64(0.5, 0.5)),
    ("logsumexp", f64(shape=(2, 0)), (1, False), f64(shape=(2, 0))),
    ("mean", f64(shape=(0,)), (None, False), f64(shape=(0,))),
    ("mean", f64(shape=(0, 3)), (0, False), f64(shape=(0, 3))),
    ("mean", f64(shape=(0, 3)), (1, True), f64(shape=(0, 3))),
    ("reduce_prod", f64(0.0, 2.0, 3.0), (None, False), f64(6.0, 0.0, 0.0)),
    ("reduce_prod", f64(0.0, 0.0, 3.0), (None, False), f64(0.0, 0.0, 0.0)),
    ("reduce_prod", f64(1e200, 1e200, 0.0), (None, False), f64(0.0, 0.0, INF)),
    ("cumprod", f64(0.0, 2.0, 3.0), (0,), f64(9.0, 0.0, 0.0)),
    ("argmax", f64(1.0, 2.0), (None,), f64(0.0, 0.0)),
)


@pytest.mark.parametrize(("name", "x", "attributes", "gradient"), AT_CORNERS, ids=str)
def test_gradients_at_ties_zeros_infinities_and_empties(name: str, x: Array, attributes: tuple[Any, ...], gradient: Array) -> None:
    assert same(gradient_of(name, x, *attributes), gradient)


def test_a_tie_goes_whole_to_the_place_that_argmax_names() -> None:
    """Two arrays of which each is the largest in turn: no element gets a share of another's."""
    x = f64(*(4.0, 4.0, 1.0), *(0.0, 7.0, 7.0), shape=(2, 3))
    best = row("argmax", x, 1).items
    found = gradient_of("reduce_max", x, 1, False, weights=f64(10.0, 20.0))
    assert found.items == tuple((10.0, 20.0)[i] if j == best[i] else 0.0 for i in range(2) for j in range(3))


def test_a_sorted_array_sends_back_along_its_permutation() -> None:
    x = f64(3.0, 1.0, 2.0, 1.0)
    assert gradient_of("sort", x, 0, weights=f64(1.0, 2.0, 4.0, 8.0)).items == (8.0, 1.0, 4.0, 2.0)


def test_the_hessian_of_a_product_is_exact_where_two_factors_are_zero() -> None:
    source = (
        "import numpy as np\nfrom adjudge import grad\n\ndef p(x):\n    return np.prod(x)\n\n"
        "def row(x, i):\n    return grad(lambda y: grad(p)(y)[i])(x)\n\ndef f(x):\n    return row(x, 0), row(x, 1)\n"
    )
    program = expand(parse_text(source, "f"))
    x = f64(0.0, 0.0, 5.0)
    assert same(run(program, x), (f64(0.0, 5.0, 0.0), f64(5.0, 0.0, 0.0)))


REFUSED: tuple[tuple[str, type[AdjudgeError], str], ...] = (
    ("np.sum(x, 2)", Trap, "axis 2 of an array of 2 axes"),
    ("np.sum(x, (0, 0))", Trap, "named twice"),
    ("np.sum(x, (0, -2))", Trap, "named twice"),
    ("np.max(x[:, :0])", Trap, "reduce_max of no elements"),
    ("np.min(x[:0], 0)", Trap, "reduce_min of no elements"),
    ("np.argmax(x[:0], 0)", Trap, "argmax of no elements"),
    ("np.argmax(x[:, :0])", Trap, "argmax of no elements"),
    ("np.sort(x, 2)", Trap, "axis 2"),
    ("np.sort(x[0, 0])", Trap, "axis -1 of an array of 0 axes"),
    ("np.cumsum(x, (0, 1))", IllTyped, "an integer axis"),
    ("np.sum(x, 0, 1)", IllTyped, "a boolean keepdims"),
    ("np.sum((lambda t: t)((x, x)))", IllTyped, "an array"),  # the text does not show a tuple there
)


def test_near_miss_a_tuple_that_the_text_shows_is_the_array_of_it() -> None:
    program = parse_text("import numpy as np\n\ndef f(x):\n    return np.sum((x, x))\n", "f")
    assert same(run(program, to_value(np.ones((2, 3)))), 12.0)


@pytest.mark.parametrize(("text", "kind", "what"), REFUSED)
def test_what_has_no_such_axis_is_refused_with_its_place(text: str, kind: type[AdjudgeError], what: str) -> None:
    program = parse_text(f"import numpy as np\n\ndef f(x):\n    return {text}\n", "f")
    with pytest.raises(kind) as caught:
        run(program, to_value(np.ones((2, 3))))
    assert what in caught.value.what
    assert caught.value.location is not None
    assert caught.value.location.line == 4


def test_the_running_recurrence_is_the_loop_it_stands_for() -> None:
    b, c = array((2, 5)), array((2, 5), 1)
    forward, backward = row("recurrence", b, c, 1, False), row("recurrence", b, c, -1, True)
    for i in range(2):
        y = 0.0
        for k in range(5):
            y = b.items[5 * i + k] + c.items[5 * i + k] * y if k else b.items[5 * i]
            assert forward.items[5 * i + k] == y
        for k in reversed(range(5)):
            y = b.items[5 * i + k] + c.items[5 * i + k + 1] * y if k < 4 else b.items[5 * i + 4]
            assert backward.items[5 * i + k] == y
    with pytest.raises(Trap, match="recurrence of shapes"):
        row("recurrence", b, array((3,)), 1, False)


def test_shifting_fills_with_an_integer() -> None:
    assert row("shift", f64(1.0, 2.0, 3.0), 1, 0, 7).items == (7.0, 1.0, 2.0)
    assert row("shift", f64(1.0, 2.0, 3.0), -2, 0, 0).items == (3.0, 0.0, 0.0)
    with pytest.raises(IllTyped, match="an integer to fill with"):
        row("shift", f64(1.0), 1, 0, 0.5)


def along_axis() -> Iterator[tuple[tuple[int, ...], Any]]:
    return ((shape, axis) for shape in ((3,), (2, 3), (2, 3, 2)) for axis in (None, *range(-len(shape), len(shape))))


@pytest.mark.parametrize(("shape", "axis"), list(along_axis()), ids=str)
def test_taking_along_an_axis_is_that_of_numpy(shape: tuple[int, ...], axis: Any) -> None:
    x = reals(shape)
    order = np.argsort(x, axis, kind="stable")
    assert same(row("take_along", to_value(x), to_value(order), axis), to_value(np.take_along_axis(x, order, axis)))
    if axis is not None:
        first = np.take(order, [0], axis) - x.shape[axis]
        assert same(row("take_along", to_value(x), to_value(first), axis), to_value(np.take_along_axis(x, first, axis)))


@pytest.mark.parametrize(
    ("x", "indices", "what"),
    [
        (array((2, 3)), integers(0, 0), "differ off axis 1"),
        (array((2,)), integers(2), "outside an axis of 2"),
        (array((2,)), f64(1.0), "integers"),
    ],
    ids=["rank", "range", "dtype"],
)
def test_indices_along_an_axis_lie_inside_it(x: Array, indices: Array, what: str) -> None:
    with pytest.raises(AdjudgeError) as caught:
        row("take_along", x, indices, -1)
    assert what in caught.value.what


def test_reductions_of_what_nothing_flows_to() -> None:
    holes = Array("f64", (2, 2), (ZERO, 2.5, ZERO, ZERO))
    assert same(row("reduce_sum", holes, 1, False), Array("f64", (2,), (2.5, ZERO)))
    assert row("reduce_sum", ZERO, None, False) is ZERO
    assert row("cumsum", ZERO, 0) is ZERO


def test_balls_and_doubles_agree_on_every_order() -> None:
    """The same cells over balls: the comparison of two balls decides as that of the doubles they hold."""
    x = reals((3, 4))
    for name in ("argmax", "argmin", "argsort", "sort"):
        program = applied_along(name)
        found = denote(program, [to_value(x)], FLOATS)
        balls = denote(program, [BALLS.lift(to_value(x))], BALLS)
        assert all(arb(a).overlaps(arb(b)) for a, b in zip(balls.items, found.items, strict=True))


def applied_along(name: str) -> Program:
    return parse_text(f"import numpy as np\n\ndef f(x):\n    return np.{name}(x, 1)\n", "f")
