"""Arguments with parts go straight into compiled code, and their values come back as what they are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from adjudge.values import to_value
from backend.ways_in.structured import PARTS, is_structured, structured
from semantics.errors import Trap
from semantics.type_language import BOOLEAN, INTEGER, REAL, TupleType, type_of
from semantics.type_lattice import UNBOUND, Union, join


class Layer(NamedTuple):
    w: Any
    b: Any


@dataclass(frozen=True)
class Model:
    layer: Any
    scale: Any


def namesake() -> Any:
    class Layer(NamedTuple):
        w: Any
        b: Any

    return Layer


parts = st.recursive(
    st.floats() | st.integers() | st.booleans() | st.none() | st.just(np.arange(3.0)),
    lambda part: (
        st.lists(part, max_size=3)
        | st.lists(part, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), part, max_size=3)
        | st.builds(Layer, part, part)
        | st.builds(Model, part, part)
    ),
    max_leaves=8,
)


def shown(value: Any) -> str:
    """What a value is, with the types of its parts."""
    return repr(value)


def skeleton(value: Any) -> Any:
    """The structure of a value, whatever its numbers and arrays, which have none."""
    match value:
        case dict():
            return ("dict", *((key, skeleton(item)) for key, item in value.items()))
        case Model(layer, scale):
            return ("Model", skeleton(layer), skeleton(scale))
        case list() | tuple():
            return (type(value).__name__, *map(skeleton, value))
        case _:
            return value is None


def around(*values: Any) -> Callable[..., Any]:
    """The way in to code that gives back the parts of its arguments, any numbers and arrays; else its arguments are told."""
    types = [type_of(to_value(value)) for value in values]
    result = type_of(to_value(values))
    assert is_structured(types, result)

    def way(otherwise: Callable[..., Any]) -> Callable[..., Any]:
        back = lambda *leaves: leaves[0] if len(leaves) == 1 else leaves  # noqa: E731
        return lambda *leaves: otherwise() if any(map(skeleton, leaves)) else back(*leaves)

    found = structured(types, result, way, lambda *given: ("elsewhere", *given))
    assert found is not None
    return found


@given(parts, parts)
def test_what_is_taken_apart_and_put_together_is_the_same(one: Any, other: Any) -> None:
    assert shown(around(one, other)(one, other)) == shown((one, other))


@given(parts, parts)
def test_what_has_another_structure_goes_elsewhere_as_it_came(one: Any, other: Any) -> None:
    found = around(one)(other)
    if skeleton(one) == skeleton(other):
        assert shown(found) == shown((other,))
    else:
        assert found[0] == "elsewhere"
        assert found[1] is other


@pytest.mark.parametrize(
    ("of", "given_"),
    [
        ([1.0, 2.0], [1.0]),
        ([1.0, 2.0], (1.0, 2.0)),
        ((1.0, 2.0), Layer(1.0, 2.0)),
        ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}),
        ({"a": 1.0}, {"b": 1.0}),
        (Layer(1.0, 2.0), namesake()(1.0, 2.0)),
        (Layer(1.0, [2.0]), Layer(1.0, [2.0, 3.0])),
        (None, 0),
    ],
)
def test_near_misses(of: Any, given_: Any) -> None:
    found = around(of)(given_)
    assert found[0] == "elsewhere"
    assert found[1] is given_


def test_parts_that_do_not_go_in_lead_the_whole_argument_elsewhere() -> None:
    def none_goes_in(otherwise: Any) -> Any:
        return otherwise

    types = [type_of(to_value([1.0]))]
    argument = [2]
    found = structured(types, types[0], none_goes_in, lambda *given: given)
    assert found is not None
    assert found(argument)[0] is argument


@given(st.integers(0, 2), st.integers(), st.floats(), st.booleans())
def test_of_a_result_that_may_be_of_several_types_the_code_says_which(which: int, i: int, x: float, b: bool) -> None:
    of = join(INTEGER, join(REAL, TupleType((BOOLEAN, REAL))))
    assert isinstance(of, Union)
    options = {str(INTEGER): (i,), str(REAL): (x,), str(TupleType((BOOLEAN, REAL))): (b, x)}
    flat = (which, *(leaf for member in of.members for leaf in options[str(member)]))
    found = structured([REAL], TupleType((REAL, of)), lambda _: lambda given: (given, *flat), pytest.fail)
    assert found is not None
    wanted = options[str(of.members[which])]
    assert shown(found(0.5)) == shown((0.5, wanted[0] if len(wanted) == 1 else wanted))


def test_near_miss_what_may_be_unassigned_has_no_such_way() -> None:
    assert is_structured([REAL], join(INTEGER, REAL))
    assert not is_structured([REAL], join(UNBOUND, REAL))


def test_what_has_too_many_parts_or_is_nested_too_deep_has_no_such_way() -> None:
    deep: Any = 1.0
    for _ in range(30):
        deep = (deep,)
    for value, wanted in (([1.0] * PARTS, False), ([1.0] * 9, True), (deep, False)):
        type = type_of(to_value(value))
        assert is_structured([type], type) is wanted


def test_a_gradient_by_records_of_arrays_is_that_of_the_reference_by_every_call() -> None:
    def loss(model, x):
        return model.scale["s"] * np.sum(np.tanh(x @ model.layer.w + model.layer.b) ** 2)

    model = Model(Layer(np.ones((2, 3)), np.arange(3.0)), {"s": 2.0})
    x = np.array([[0.5, -1.0]])
    wanted = shown(aj.grad(loss)(model, x))
    call: Any = aj.compile(aj.grad(loss))
    for _ in range(2):
        assert shown(call(model, x)) == wanted
    assert call.func.__name__ == "call"  # the way in, not the long way
    for _ in range(2):
        assert shown(call(model, x)) == wanted
    layer = Layer(np.ones((2, 3), order="F"), np.arange(6.0)[::2] / 2)
    assert shown(call(Model(layer, {"s": 2.0}), x)) == wanted


def test_stacks_grow_and_traps_have_their_line_behind_the_way_in() -> None:
    def root(xs, n):
        r = xs[0]
        for _ in range(n):
            r = r / xs[1]
        assert r > 1e-300, "it is gone"
        return r

    call = aj.compile(aj.grad(root))
    for n in (1, 2, 3, 5000, 3):
        assert call([2.0, 1.0], n) == aj.grad(root, mode="ssa")([2.0, 1.0], n)
    with pytest.raises(Trap, match=r"gone[\s\S]*test_backend_structured_way_in.py"):
        call([2.0, 10.0], 400)
