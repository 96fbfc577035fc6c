"""
Products of arrays: what they are in NumPy, what they refuse, and their derivatives to second order.

Values are compared on small whole numbers, on which every order of summation is exact, so they are equal; and on reals, where
both results of a sum of k products must lie within γ_k Σ|a||b| of the exact one, γ_k = k u / (1 - k u), u = 2^-53 (Higham 2002,
3.1), whatever the order.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from array_rules import judge, pullback_of
from hypothesis import given
from hypothesis import strategies as st

from adjudge.values import to_value
from checkers.array_audit.row_samples_arguments import Example, array, is_data
from checkers.columns.leaves import at_path, coordinates, is_discrete, map_leaves
from checkers.forward_mode import lifted
from semantics.arrays import Array
from semantics.denotation import FRACTIONS, denote
from semantics.errors import IllTyped, Malformed, Trap
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.values import same
from transforms.backpropagators import backpropagator
from transforms.backpropagators.einsums import einsum_pullback
from transforms.parse import parse_text

A = array

PRODUCTS = (
    *(
        ((3,), (3,)),
        ((0,), (0,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 4)),
        ((0, 3), (3, 2)),
        ((2, 0), (0, 3)),
        ((1, 1), (1, 1)),
    ),
    *(((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((3,), (4, 3, 2)), ((4, 2, 3), (3,)), ((2, 0, 3), (3, 2)), ((0, 2, 3), (3, 2))),
)
STACKED = (((5, 1, 2, 3), (4, 3, 2)), ((2, 2, 3), (2, 3, 1)), ((1, 2, 3), (4, 3, 2)))
TENSORDOTS: tuple[tuple[tuple[int, ...], tuple[int, ...], Any], ...] = (
    *(
        ((2, 3, 4), (3, 4, 5), 2),
        ((2,), (3,), 0),
        ((2, 3), (3,), 1),
        ((), (2,), 0),
        ((2, 0), (0, 2), 1),
        ((2, 3), (2, 3), ((0, 1), (0, 1))),
    ),
    *(((2, 3, 4), (4, 2, 5), ((0, 2), (1, 0))), ((2, 3), (3, 2), (-1, 0)), ((2, 3), (2, 2), ([0], [-1]))),
)
EINSUMS: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...] = (
    *(("ij,jk->ik", ((2, 3), (3, 4))), ("ij,jk", ((2, 3), (3, 4))), ("ba", ((2, 3),)), ("ij->", ((2, 3),)), ("ij->j", ((2, 3),))),
    *(("ii->i", ((3, 3),)), ("ii", ((3, 3),)), ("iij,jj->i", ((2, 2, 3), (3, 3))), ("ij,k->i", ((2, 3), (4,))), ("->", ((),))),
    *(
        ("...ij,...jk->...ik", ((5, 2, 3), (3, 4))),
        ("i...j,j...->i...", ((2, 4, 3), (3,))),
        ("...", ((2, 3),)),
        ("...ba", ((4, 2, 3),)),
    ),
    *(
        ("ij,...->...", ((2, 3), (4,))),
        ("i,j,k->kji", ((2,), (3,), (2,))),
        ("ij,jk,kl->il", ((2, 3), (3, 2), (2, 2))),
        ("i,i", ((1,), (3,))),
    ),
    *(
        ("ij,jk", ((2, 1), (3, 4))),
        ("...,...->...", ((2, 1, 3), (4, 1))),
        ("ij,ik->k", ((0, 3), (0, 4))),
        (" i j , j -> i ", ((2, 3), (3,))),
    ),
)


def call(text: str, *arguments: Any) -> Any:
    """The value of an expression of a, b, c, on the machine."""
    return run(program(text, len(arguments)), *map(to_value, arguments))


def program(text: str, count: int) -> Any:
    return parse_text(f"import numpy as np\n\ndef f({', '.join('abc'[:count])}):\n    return {text}\n", "f")


def numpy(text: str, *arguments: Any) -> Any:
    return eval(text, {"np": np, **dict(zip("abc", arguments, strict=False))})


def whole(shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    """Whole numbers from -9 to 9, not 0, as doubles."""
    found = np.random.default_rng([seed, *shape]).integers(1, 10, shape).astype(float)
    return found * np.where(np.indices((*shape, 1)).sum(0)[..., 0] % 3 == 0, -1.0, 1.0)


def reals(shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def exact(text: str, *arguments: Any) -> list[Fraction]:
    """The elements of the exact value."""
    found = denote(program(text, len(arguments)), [lifted(FRACTIONS, to_value(a)) for a in arguments], FRACTIONS)
    return list(found.items) if isinstance(found, Array) else [found]


def flat(value: Any) -> list[Fraction]:
    return [Fraction(x) for x in (value.items if isinstance(value, Array) else [value])]


def same_in_numpy(text: str, *shapes: tuple[int, ...]) -> None:
    """Equal on whole numbers; on reals, ours and NumPy's within the bound of any order of summation."""
    for seed in range(2):
        xs = [whole(s, seed + k) for k, s in enumerate(shapes)]
        found, wanted = call(text, *xs), to_value(numpy(text, *xs))
        assert getattr(found, "shape", ()) == getattr(wanted, "shape", ())
        assert flat(found) == flat(wanted)
    xs = [reals(s, k) for k, s in enumerate(shapes)]
    terms = max((int(np.prod(s)) for s in shapes), default=1) * len(shapes)
    unit = terms * Fraction(1, 2**53)
    bounds = [unit / (1 - unit) * b for b in exact(text, *map(np.abs, xs))]
    centre = exact(text, *xs)
    for value in (call(text, *xs), to_value(numpy(text, *xs))):
        assert all(abs(x - c) <= b for x, c, b in zip(flat(value), centre, bounds, strict=True))


@pytest.mark.parametrize(("a", "b"), [*PRODUCTS, *STACKED], ids=str)
def test_matmul_is_that_of_numpy(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    same_in_numpy("a @ b", a, b)


@pytest.mark.parametrize(("a", "b"), [*PRODUCTS, ((), ()), ((), (2, 3)), ((2, 3), ())], ids=str)
def test_dot_is_that_of_numpy(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    same_in_numpy("np.dot(a, b)", a, b)


@pytest.mark.parametrize(("a", "b", "axes"), TENSORDOTS, ids=str)
def test_tensordot_is_that_of_numpy(a: tuple[int, ...], b: tuple[int, ...], axes: Any) -> None:
    same_in_numpy(f"np.tensordot(a, b, {axes})", a, b)


@pytest.mark.parametrize(("subscripts", "shapes"), EINSUMS, ids=str)
def test_einsum_is_that_of_numpy(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    same_in_numpy(f"np.einsum({subscripts!r}, {', '.join('abc'[: len(shapes)])})", *shapes)


@st.composite
def einsums(draw: st.DrawFn) -> tuple[str, tuple[tuple[int, ...], ...]]:
    """Subscripts over four letters of sizes 0 to 3, diagonals and missing letters included, with shapes that fit them."""
    sizes = {c: draw(st.integers(0, 3)) for c in "ijkl"}
    inputs = draw(st.lists(st.text("ijkl", max_size=3), min_size=1, max_size=3))
    output = "".join(draw(st.permutations(sorted(set("".join(inputs))))))
    kept = output[: draw(st.integers(0, len(output)))]
    arrow = draw(st.booleans())
    return ",".join(inputs) + (f"->{kept}" if arrow else ""), tuple(tuple(sizes[c] for c in own) for own in inputs)


@given(einsums())
def test_any_einsum_is_that_of_numpy(case: tuple[str, tuple[tuple[int, ...], ...]]) -> None:
    subscripts, shapes = case
    xs = [whole(s, k) for k, s in enumerate(shapes)]
    text = f"np.einsum({subscripts!r}, {', '.join('abc'[: len(shapes)])})"
    found, wanted = call(text, *xs), to_value(np.einsum(subscripts, *xs))
    assert getattr(found, "shape", ()) == getattr(wanted, "shape", ())
    assert flat(found) == flat(wanted)


@given(einsums())
def test_the_derivatives_of_any_einsum_are_right(case: tuple[str, tuple[tuple[int, ...], ...]]) -> None:
    subscripts, shapes = case
    if sum(int(np.prod(s)) for s in shapes) <= 12:
        judged = judge("einsum", Example((subscripts, *(A(s, k) for k, s in enumerate(shapes)))))
        assert judged.wrong == ()


BITWISE = (
    *(("np.outer(a, b)", ((3,), (2, 2))), ("np.outer(a, b)", ((), (3,))), ("np.outer(a, b)", ((0,), (2,)))),
    *(
        ("np.trace(a)", ((3, 3),)),
        ("np.trace(a)", ((2, 4),)),
        ("np.trace(a)", ((2, 3, 4),)),
        ("np.trace(a)", ((0, 3),)),
        ("a.T", ((2, 3),)),
    ),
)


@pytest.mark.parametrize(("text", "shapes"), BITWISE, ids=str)
def test_what_adds_fewer_than_eight_numbers_is_bit_equal(text: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    """NumPy adds fewer than 8 numbers from the left."""
    xs = [reals(s, k) for k, s in enumerate(shapes)]
    assert same(call(text, *xs), to_value(numpy(text, *xs)))


@pytest.mark.parametrize("text", ["a @ b", "np.dot(a, b)", "np.einsum('ij,j', a, b)", "np.tensordot(a, b, 1)", "np.outer(a, b)"])
@pytest.mark.parametrize("left", [np.float64, np.float32, np.int64, np.bool_])
@pytest.mark.parametrize("right", [np.float64, np.float32, np.int64])
def test_dtypes_meet_as_in_numpy(text: str, left: Any, right: Any) -> None:
    a, b = np.array([[1, 2, 0], [0, 1, 1]]).astype(left), np.array([3, 1, 2]).astype(right)
    assert same(call(text, a, b), to_value(numpy(text, a, b)))


def test_sums_of_single_precision_are_rounded_after_every_operation() -> None:
    a = np.array([1.0, 2.0**-24, 2.0**-24], np.float32)
    ones = np.ones(3, np.float32)
    assert same(call("np.dot(a, b)", a, ones), Array("f32", (), (1.0,)))
    assert same(call("np.dot(a, b)", a.astype(float), ones.astype(float)), 1.0 + 2.0**-23)


REFUSED = (
    ("a @ b", (2, 3), (2, 3), "3 columns against 2 rows"),
    ("a @ b", (), (2,), "matmul of a scalar"),
    ("a @ b", (2, 2, 3), (3, 3, 2), "do not broadcast"),
    ("np.dot(a, b)", (2, 3), (2,), "differ in size"),
    ("np.dot(a, b)", (2, 1), (2, 2), "differ in size"),
    ("np.tensordot(a, b, 2)", (2,), (2,), "over 2 axes"),
    ("np.tensordot(a, b, ((0, 1), (0,)))", (2, 2), (2, 2), "does not pair"),
    ("np.tensordot(a, b, ((0, 0), (0, 1)))", (2, 2), (2, 2), "named twice"),
    ("np.tensordot(a, b, ((2,), (0,)))", (2, 2), (2, 2), "axis 2"),
    ("np.einsum('ij,jk', a, b)", (2, 3), (4, 2), "the letter j stands for axes of 3 and 4"),
    ("np.einsum('ii,i', a, b)", (1, 2), (2,), "the letter i stands for axes of 1 and 2"),
    ("np.einsum('ij,j->k', a, b)", (2, 3), (3,), "in no operand"),
    ("np.einsum('ij,j->ii', a, b)", (2, 3), (3,), "repeated"),
    ("np.einsum('ij->i', a, b)", (2, 3), (3,), "speaks of 1 operands, 2 are given"),
    ("np.einsum('i,j', a, b)", (2, 3), (3,), "does not fit an array of 2 axes"),
    ("np.einsum('ijk,j', a, b)", (2, 3), (3,), "does not fit an array of 2 axes"),
    ("np.einsum('i1,j', a, b)", (2, 3), (3,), "something else than letters"),
    ("np.einsum('...j,j->j', a, b)", (2, 3), (3,), "drops the axes of"),
)


@pytest.mark.parametrize(("text", "a", "b", "what"), REFUSED, ids=str)
def test_what_numpy_refuses_is_a_trap(text: str, a: tuple[int, ...], b: tuple[int, ...], what: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        numpy(text, np.ones(a), np.ones(b))
    with pytest.raises(Trap) as caught:
        call(text, np.ones(a), np.ones(b))
    assert what in caught.value.what
    assert caught.value.remedy


def test_near_misses_of_what_is_refused() -> None:
    assert flat(call("np.dot(a, b)", np.ones((2, 1)), np.ones((1, 2)))) == [1] * 4
    assert flat(call("np.einsum('...j,j->...j', a, b)", np.ones((2, 3)), np.ones(3))) == [1] * 6
    with pytest.raises(Trap, match="trace of an array of shape"):
        call("np.trace(a)", np.ones(3))
    with pytest.raises(IllTyped, match="booleans only"):
        call("np.dot(a, b)", np.ones(2, bool), np.ones(2, bool))
    with pytest.raises(IllTyped, match="subscripts"):
        call("np.einsum(a, b)", 1.0, np.ones(2))
    with pytest.raises(IllTyped, match="a number of axes"):
        call("np.tensordot(a, b, 0.5)", np.ones(2), np.ones(2))
    with pytest.raises(Malformed, match="einsum takes"):
        program("np.einsum('i->', a, optimize=True)", 1)


def spread_over(name: str) -> list[tuple[str, Example]]:
    """The examples at which the derivatives of a row are judged."""
    table: dict[str, tuple[Example, ...]] = {
        "matmul": tuple(Example((A(a), A(b, 1))) for a, b in (*PRODUCTS, ((3, 1, 1, 2), (2, 2, 1)), ((1, 2, 3), (2, 3, 1)))),
        "dot": tuple(Example((A(a), A(b, 1))) for a, b in (*PRODUCTS[:8], ((2, 1, 2), (3, 2, 1)), ((), (2, 2)), ((2,), ()))),
        "tensordot": tuple(Example((A(a), A(b, 1), _tuples(axes))) for a, b, axes in TENSORDOTS if len(a) + len(b) < 6),
        "einsum": tuple(Example((s, *(A(x, k) for k, x in enumerate(shapes)))) for s, shapes in EINSUMS if len(str(shapes)) < 30),
        "outer": (
            Example((A((2, 1)), A((3,), 1))),
            Example((1.5, 2.5)),
            Example((A((0,)), A((2,)))),
            Example((A((2,), dtype="f32"), A((2,)))),
        ),
        "trace": tuple(Example((A(s),)) for s in ((2, 2), (2, 3), (3, 2), (0, 0), (0, 2), (2, 3, 2))),
        "swap_last": tuple(Example((A(s),)) for s in ((2, 3), (0, 2), (2, 1, 3))),
        "unsum": (
            Example(("ii->i", A((2,)), A((2, 2)))),
            Example(("ij->i", A((2,)), A((2, 3)))),
            Example(("ij->j", A((3,)), A((2, 1)))),
            Example(("ij->ij", A((2, 1)), A((2, 3)))),
            Example(("i->", 1.5, A((2,)))),
        ),
        "tensordot_subscripts": (Example((A((2, 3)), A((3, 2), 1), 1)),),
        "einsum_adjoint": (Example(("ij,j->i", 0, (A((2, 3)), A((3,), 1)))),),
    }
    return [(name, example) for example in table[name]]


def _tuples(axes: Any) -> Any:
    return tuple(tuple(a) if isinstance(a, list) else a for a in axes) if isinstance(axes, tuple) else axes


ROWS = ("matmul", "dot", "tensordot", "einsum", "outer", "trace", "swap_last", "unsum", "tensordot_subscripts", "einsum_adjoint")
JUDGED = [case for name in ROWS for case in spread_over(name)]


@pytest.mark.parametrize(("name", "example"), JUDGED, ids=[f"{n}-{e}" for n, e in JUDGED])
def test_the_derivatives_are_exact_to_second_order(name: str, example: Example) -> None:
    assert judge(name, example).wrong == ()


def nothing_flows(name: str, example: Example) -> None:
    """J of J where the sensitivity of the result is ZERO: the backpropagators of what a backpropagator calls meet ZEROs."""
    carrier, arity = example.carrier, len(example.arguments)
    at = [lifted(carrier, a) for a in example.arguments]
    along = tuple(map_leaves(lambda _, x: None if is_discrete(x) else carrier.lift(0.75), a) if is_data(a) else ZERO for a in at)
    found = denote(pullback_of(name, arity, 2), [*at, ZERO, along], carrier)
    for path in coordinates(tuple(at)):
        assert at_path(found, path) in (ZERO, carrier.lift(0.0))


@pytest.mark.parametrize(("name", "example"), JUDGED, ids=[f"{n}-{e}" for n, e in JUDGED])
def test_nothing_flows_through_a_backpropagator_that_was_given_nothing(name: str, example: Example) -> None:
    nothing_flows(name, example)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("matmul", (A((4, 2, 3)), ZERO, ZERO, A((4, 2)))),
        ("matmul", (ZERO, A((4, 3, 2)), ZERO, A((4, 2)))),
        ("solve", (Array("f64", (3, 2, 2), (2.0, 1.0, 1.0, 3.0) * 3), ZERO, ZERO, A((3, 2)))),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_an_operand_that_is_a_zero_takes_all_sensitivity(name: str, arguments: tuple[Any, ...]) -> None:
    """A rule, the user's own too, may multiply by a vector of sensitivities that is ZERO; what shape it would have is not known."""
    found = denote(backpropagator(TABLE[name]), arguments)
    assert all(d is ZERO for d in found)


@pytest.mark.parametrize("name", ["matmul", "dot", "outer"])
def test_a_sensitivity_has_the_dtype_of_its_argument(name: str) -> None:
    """f32 meets f64 in f64; what flows back to the f32 is f32, to integers nothing."""
    single, double = A((2, 2), dtype="f32"), A((2, 2), 1)
    assert judge(name, Example((single, double))).wrong == ()
    assert judge(name, Example((Array("i64", (2, 2), (1, 2, 3, 4)), double))).wrong == ()


def test_the_backpropagator_of_einsum_has_one_text_for_each_number_of_operands() -> None:
    assert einsum_pullback(3).count("einsum(%sum") == 2
    assert "*" in TABLE["einsum"].parameters
