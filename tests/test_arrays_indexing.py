"""
Indexing: what an index selects, what is written where, and the way back; NumPy is the oracle, on indices of every kind.

Elements are whole numbers, so that sums of repeated places are exact and everything is compared by equality.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from array_rules import judge
from claims import costly, note
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from adjudge.values import to_value
from checkers.array_audit.row_samples_arguments import Example, array, booleans, integers
from semantics.arrays import Array, size_of
from semantics.columns.meaning import MEANING
from semantics.columns.types import apply_type
from semantics.errors import AdjudgeError, IllTyped, Trap
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.structured import ELLIPSIS, LIST, Record, Slice
from semantics.tangents import ZERO, SparseArray, dense, inject
from semantics.type_lattice import erase, is_below, of_constant
from semantics.values import same
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand
from transforms.parse import parse_text

Shape = tuple[int, ...]


def row(name: str, *arguments: Any) -> Any:
    """The meaning of a row."""
    return MEANING[TABLE[name]](*arguments)


def ours(index: Any) -> Any:
    """An index of NumPy as one of the language."""
    if isinstance(index, tuple):
        return tuple(map(ours, index))
    if isinstance(index, slice):
        return Slice(index.start, index.stop, index.step)
    if index is Ellipsis:
        return ELLIPSIS
    return to_value(index)


def numbered(shape: Shape) -> np.ndarray[Any, Any]:
    return np.arange(1.0, size_of(shape) + 1).reshape(shape)


BOUND = st.none() | st.integers(-5, 5)


@st.composite
def indexed(draw: st.DrawFn) -> tuple[Shape, Any]:
    """A shape and an index for it: integers, slices, new axes, `...`, index arrays that broadcast, masks; a few lie outside."""
    shape = tuple(draw(st.lists(st.sampled_from((0, 1, 2, 3, 3)), max_size=4)))
    common = draw(st.sampled_from(((), (1,), (2,), (2, 1), (0,))))
    parts: list[Any] = []
    axis = 0
    for kind in draw(st.lists(st.sampled_from("iisssnabe"), max_size=5)):
        n = shape[axis] if axis < len(shape) else 1
        if kind == "i":
            parts.append(draw(st.integers(-n, n)))
        elif kind == "s":
            parts.append(slice(draw(BOUND), draw(BOUND), draw(st.sampled_from((None, 1, 2, -1, -2)))))
        elif kind == "a" and (n or 0 in common):
            own = draw(st.sampled_from((common, common[1:], (1,) * len(common)))) if n else common
            parts.append(draw(array_of(own, st.integers(-n, max(n - 1, -n)))))
        elif kind == "b" and axis < len(shape):
            parts.append(draw(array_of(shape[axis : axis + draw(st.integers(1, 2))], st.booleans())))
        elif kind == "e" and not any(p is Ellipsis for p in parts):
            parts.append(Ellipsis)
        elif kind == "n":
            parts.append(None)
        axis += {"i": 1, "s": 1, "a": 1, "b": 1}.get(kind, 0)
    return shape, tuple(parts) if len(parts) != 1 or draw(st.booleans()) else parts[0]


def array_of(shape: Shape, elements: st.SearchStrategy[Any]) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    items = st.lists(elements, min_size=size_of(shape), max_size=size_of(shape))
    return items.map(lambda found: np.array(found, dtype=bool if found and type(found[0]) is bool else np.int64).reshape(shape))


def selection(shape: Shape, index: Any) -> Any:
    """What NumPy selects from the numbered array of the shape; None where it refuses."""
    try:
        return numbered(shape)[index]
    except IndexError:
        return None


def refused(compute: Callable[[], Any]) -> bool:
    try:
        compute()
    except AdjudgeError as error:
        return bool(error.rule and error.remedy)
    return False


@costly(1)
@given(indexed())
def test_an_index_selects_what_it_selects_in_numpy(case: tuple[Shape, Any]) -> None:
    shape, index = case
    x, wanted = to_value(numbered(shape)), selection(shape, index)
    note("selected" if wanted is not None else "refused")
    if wanted is None:
        assert refused(lambda: row("getitem", x, ours(index)))
    elif not mask_is_empty(index):
        found = row("getitem", x, ours(index))
        if isinstance(found, Array) and np.isscalar(wanted):
            assert found.shape == ()  # by an index array without axes; NumPy makes a number of it
            found = found.items[0]
        assert same(found, to_value(wanted))


@given(indexed(), st.data())
def test_what_is_written_is_what_numpy_writes(case: tuple[Shape, Any], data: st.DataObject) -> None:
    shape, index = case
    part = selection(shape, index)
    if part is None or mask_is_empty(index):
        return
    own = np.shape(part)[data.draw(st.integers(0, np.ndim(part))) :]
    value = -numbered(tuple(n if data.draw(st.booleans()) else 1 for n in own))
    replaced, added = numbered(shape), numbered(shape)
    replaced[index] = value
    np.add.at(added, index, value)
    x, v = to_value(numbered(shape)), to_value(value)
    assert same(row("put", x, ours(index), v), to_value(replaced))
    assert same(row("scatter_add", x, ours(index), v), to_value(added))
    stays = row("final", x, ours(index))
    again = row("scatter_add", row("put", x, ours(index), 0.0), ours(index), row("where", stays, v, 0.0))
    assert same(again, to_value(replaced)), "the values that stay, each added once"


@costly(1)
@given(indexed())
def test_the_shape_of_what_an_index_selects_is_known_before_running(case: tuple[Shape, Any]) -> None:
    """What the type rule infers from the index is above what is selected; what it refuses is refused."""
    shape, index = case
    arguments = [to_value(numbered(shape)), ours(index)]
    try:
        inferred = apply_type(TABLE["getitem"], [of_constant(a) for a in arguments])
    except AdjudgeError:
        assert refused(lambda: row("getitem", *arguments))
        return
    if selection(shape, index) is not None and not mask_is_empty(index):
        assert is_below(erase(of_constant(row("getitem", *arguments))), erase(inferred))


def mask_is_empty(index: Any) -> bool:
    """Where NumPy is laxer than its own documentation: it does not compare the sizes of an empty mask with those of the axes."""
    return any(isinstance(p, np.ndarray) and p.dtype == bool and not p.size for p in (index if type(index) is tuple else (index,)))


@given(indexed(), st.data())
def test_inject_is_the_adjoint_of_indexing(case: tuple[Shape, Any], data: st.DataObject) -> None:
    """<x[i], d> = <x, inject(x, i, d)>, on whole numbers exactly."""
    shape, index = case
    part = selection(shape, index)
    if part is None or mask_is_empty(index):
        return
    d = numbered(np.shape(part)) * data.draw(st.sampled_from((1.0, -3.0)))
    sent = dense(inject(to_value(numbered(shape)), ours(index), to_value(d)))
    back = np.array([0.0 if item is ZERO else item for item in sent.items]).reshape(shape)
    assert np.sum(part * d) == np.sum(numbered(shape) * back)


@costly(4)
@given(indexed())
def test_the_derivatives_of_indexing_are_exact(case: tuple[Shape, Any]) -> None:
    shape, index = case
    part = selection(shape, index)
    if part is None or mask_is_empty(index) or size_of(shape) > 6 or np.size(part) > 8:
        return
    assert judge("getitem", Example((array(shape), ours(index)))).wrong == ()
    assert judge("put", Example((array(shape), ours(index), array(np.shape(part), 1)))).wrong == ()


TAKES: tuple[tuple[Shape, Any, Any], ...] = (
    *(((2, 3), 4, None), ((2, 3), -1, 1), ((2, 3), np.array([0, 0, -2]), 0), ((2, 3), np.array([[1, 2], [0, 0]]), -1)),
    *(
        ((2, 3), np.array([5, 0]), None),
        ((3,), np.zeros((0,), np.int64), 0),
        ((2, 0), np.array([1]), 0),
        ((2, 2, 2), np.array([1]), 1),
    ),
)


@pytest.mark.parametrize(("shape", "indices", "axis"), TAKES, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_])
def test_take_is_that_of_numpy(shape: Shape, indices: Any, axis: Any, dtype: Any) -> None:
    x = numbered(shape).astype(dtype)
    assert same(row("take", to_value(x), to_value(indices), axis), to_value(np.take(x, indices, axis)))


def test_a_list_indexes_as_the_array_it_is() -> None:
    x = to_value(numbered((3, 2)))
    assert same(row("getitem", x, Record(LIST, (2, 0))), row("getitem", x, integers(2, 0)))
    assert same(row("getitem", x, Record(LIST, (True, False, True))), row("getitem", x, booleans(True, False, True)))


def test_an_element_is_a_number_and_a_part_is_an_array() -> None:
    x = Array("f64", (2, 2), (1.0, 2.0, 3.0, 4.0))
    assert row("getitem", x, (1, 0)) == 3.0
    assert same(row("getitem", x, (1, 0, ELLIPSIS)), Array("f64", (), (3.0,)))
    assert same(row("getitem", Array("f32", (1,), (2.0,)), 0), Array("f32", (), (2.0,)))


def test_a_gap_of_no_axes_between_index_arrays_puts_their_axes_first() -> None:
    """As in NumPy, `...` separates index arrays even where it stands for no axis at all."""
    x = numbered((2, 3, 2))
    index = (slice(None), np.array([0, 2, 1]), Ellipsis, 1)
    assert np.shape(x[index]) == (3, 2)
    assert same(row("getitem", to_value(x), ours(index)), to_value(x[index]))


REFUSED: tuple[tuple[str, type[AdjudgeError], str], ...] = (
    ("x[2]", Trap, "index 2 is outside an axis of 2"),
    ("x[0, -4]", Trap, "index -4 is outside an axis of 3"),
    ("x[0, 0, 0]", Trap, "3 indices for an array of 2 axes"),
    ("x[..., ...]", IllTyped, "two ..."),
    ("x[0.5]", IllTyped, "no index of an array"),
    ("x[x]", IllTyped, "no index of an array"),
    ("x[np.array([0, 5])]", Trap, "index 5 is outside"),
    ("x[np.array([True, False, True])]", Trap, "a boolean index of shape (3,) on axes of shape (2,)"),
    ("x[..., np.array([True, False])]", Trap, "a boolean index of shape (2,) on axes of shape (3,)"),
    ("x[np.array([0, 1]), np.array([0, 1, 2])]", Trap, "do not broadcast"),
    ("np.take(x, 3, 1)", Trap, "index 3 is outside an axis of 3"),
    ("np.take(x, 0, 2)", Trap, "axis 2 of an array of 2 axes"),
)


@pytest.mark.parametrize(("text", "kind", "what"), REFUSED)
def test_what_is_outside_is_refused_with_its_place(text: str, kind: type[AdjudgeError], what: str) -> None:
    program = parse_text(f"import numpy as np\n\ndef f(x):\n    return {text}\n", "f")
    with pytest.raises(kind) as caught:
        run(program, to_value(numbered((2, 3))))
    assert what in caught.value.what
    assert caught.value.location is not None
    assert caught.value.location.line == 4


@pytest.mark.parametrize(
    ("t", "i", "v", "what"),
    [
        (array((3,)), Slice(0, 2), array((3,)), "does not fit"),
        (array((2, 3)), 0, array((2, 1)), "does not fit"),
        (integers(1, 2), 0, 0.5, "wants i64 values"),
        (array((3,)), 3, 0.5, "outside an axis of 3"),
    ],
    ids=lambda x: str(x)[:20],
)
def test_what_does_not_fit_is_not_written(t: Any, i: Any, v: Any, what: str) -> None:
    with pytest.raises(AdjudgeError) as caught:
        row("put", t, i, v)
    assert what in caught.value.what


WIDE = """
import numpy as np
def written(x, n: int):
    x = x.copy()
    x[0] = n
    return x
def added(x, n: int):
    x = x.copy()
    x[:] += n
    return x
def shaped(x, n: int):
    return np.reshape(n, (1,))
def repeated(x, n: int):
    return np.broadcast_to(n, (2,))
def running(x, n: int):
    return np.cumsum(n)
def stacked(x, n: int):
    return np.stack([n, 1])
def counted(x, n: int):
    return np.arange(n - 1, n + 1)
"""


@pytest.mark.parametrize("target", ["reference", "cpu"])
@pytest.mark.parametrize("name", ["written", "added", "shaped", "repeated", "running", "stacked", "counted"])
def test_an_integer_beyond_64_bits_gets_into_no_array_of_integers(name: str, target: str) -> None:
    """Once an OverflowError of Python's, raised where the array was given out."""
    function = aj.compile(parse_text(WIDE, name), target=target)
    for n in (3, 1 << 62, (1 << 63) - 2, 3):
        assert function(np.array([0, 1]), n).dtype == np.int64
    for n in (1 << 63, 1 << 70):
        with pytest.raises(Trap, match="beyond 64 bits"):
            function(np.array([0, 1]), n)


def test_an_integer_of_any_size_gets_into_an_array_of_reals() -> None:
    assert aj.run(parse_text(WIDE, "written"), np.zeros(2), 1 << 70).tolist() == [float(1 << 70), 0.0]


def test_the_cotangent_of_one_element_stays_sparse() -> None:
    """The cheap gradient of a loop over elements: each sends back one entry, not a whole array."""
    sent = inject(to_value(numbered((100,))), 7, 2.0)
    assert isinstance(sent, SparseArray)
    assert dict(sent.entries) == {7: 2.0}
    assert row("sum_to", sent, to_value(numbered((100,)))) is sent
    assert dict(row("put", sent, 7, ZERO).entries) == {}


def test_the_cotangent_of_a_small_part_stays_sparse_and_of_a_large_one_does_not() -> None:
    """A loop over the rows of a matrix sends back each row in time of the row."""
    x = to_value(numbered((10, 3)))
    row_sent = inject(x, 4, to_value(np.ones(3)))
    assert isinstance(row_sent, SparseArray)
    assert sorted(row_sent.entries) == [12, 13, 14]
    assert isinstance(inject(x, Slice(0, 4), to_value(np.ones((4, 3)))), Array)


def test_repeated_places_in_single_precision_are_rounded_sums() -> None:
    x = Array("f32", (2,), (1.0, 1.0))
    sent = inject(x, integers(0, 0, 0), Array("f32", (3,), (1.0, 2.0**-24, 2.0**-24)))
    assert sent.items == (1.0, ZERO)


def test_writing_into_a_tuple_sends_any_structure_back() -> None:
    """Also functions and tuples: `keep` and `sum_to` pass them on whole."""
    source = "def f(x, y):\n    t = [(x, x), y]\n    t[0] = (x * y, y)\n    t[-1] = x * x\n    return t[0][0] + t[0][1] * t[1]\n"
    program = expand(parse_text(source, "f"))
    assert run(gradient_program(program, (0, 1)), 3.0, 5.0) == (5.0 + 2 * 3.0 * 5.0, 3.0 + 9.0)


@pytest.mark.parametrize(
    ("place", "shape"), [(Slice(0, 2, None), (1, 2)), (Slice(0, 2, None), (1, 1, 1)), (integers(0, 2), (1, 2))]
)
def test_a_value_with_further_axes_of_length_1_has_the_right_derivatives(place: Any, shape: Shape) -> None:
    for name in ("put", "scatter_add"):
        judged = judge(name, Example((array((3,)), place, array(shape, 1))))
        assert judged.wrong == ()
        assert judged.compared > 0


def test_a_sensitivity_has_no_further_axes_of_another_length() -> None:
    with pytest.raises(Trap, match="does not broadcast"):
        row("sum_to", array((2,)), array((2, 2)))
