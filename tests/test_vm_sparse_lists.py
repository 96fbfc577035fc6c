"""Sensitivities of long lists of which a part has one: sums in place that leave what was there before, without the host."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from immutables import Map
from vm_runs import agrees, applying, same_value
from vm_stress import ROOMS, moves_as_it_likes

from backend.machine import Execution, execution, load
from semantics.arrays import Array
from semantics.edit import Edit, empty
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.structured import LIST, Record, Slice
from semantics.tangents import ZERO, Sparse
from transforms.parse import parse_text

BOTH = ("python", "cpu")
SIZE = 12  # more elements than are written out
LONG = Record(LIST, tuple(0.5 * k for k in range(SIZE)))
REALS, PAIRS, DEEP = (1.5, math.inf), ((1.0, ZERO), (ZERO, -0.0)), (((2.0,), 1.0), ((0.5,), ZERO))
ARRAYS = tuple(Array("f64", (3,), items) for items in ((1.0, ZERO, 3.0), (0.5, -0.0, ZERO)))
NESTED = tuple(Sparse(SIZE, Map(entries)) for entries in ({0: 1.5, 7: -2.0}, {7: 0.25}))
TWICE = tuple(Sparse(SIZE, Map(entries)) for entries in ({1: (1.0, NESTED[0])}, {1: (ZERO, NESTED[1]), 3: (2.0, ZERO)}))
PARTS = (REALS, PAIRS, DEEP, ARRAYS, NESTED, TWICE)
PLACES = (0, 1, 7, SIZE - 1, -1, -7)

Step = tuple[str, int, int]


def dense(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """A first sensitivity with many of these elements."""
    return tuple(ZERO if k % 3 == 1 else parts[k % 2] for k in range(SIZE))


def of_steps(steps: Sequence[Step]) -> Program:
    """
    A function of a list, a first sensitivity of it and those of two of its elements. Each step makes a value, by what it says of
    places or of the values before; the result is all that there is in the end, so that what has been changed is looked at too.
    """
    edit = Edit(empty())
    graph = edit.graph("f")
    x, first, *parts = (edit.parameter(graph, name) for name in ("x", "first", "p", "q"))

    def call(name: str, *operands: Any) -> Any:
        return edit.call(graph, TABLE[name], *operands)

    at, found, sizes = edit.constant, [first], [SIZE]
    for name, a, b in steps:
        base, n = found[-1 - a % len(found)], sizes[-1 - a % len(found)]
        if name == "inject":
            found.append(call("inject", x, at(PLACES[b % len(PLACES)]), parts[a % 2]))
            n = SIZE
        elif name == "gadd":
            others = [d for d, m in zip(found, sizes, strict=True) if m == n]
            found.append(call("gadd", base, others[b % len(others)]))
        elif name == "put":
            found.append(call("put", base, at(b % n), at(ZERO) if b % 2 else parts[0]))
        elif name == "back" and 0 < n < SIZE:
            found.append(call("inject", x, at((Slice(None, n), Slice(SIZE - n), Slice(n - 1, None, -1))[b % 3]), base))
            n = SIZE
        elif name == "slice" and n > 2:
            cut = (Slice(1), Slice(None, None, 2), Slice(-2, None, -1), Slice(b % 3, n - b % 2))[b % 4]
            found.append(call("getitem", base, at(cut)))
            n = len(cut.indices(n))
        elif n > 2:
            stop = n - 1 - b % 2
            cut = call("make_slice", at(0 if b % 3 else None), at(stop - n if b % 5 else stop), at(None))
            found.append(call("getitem", base, cut))
            n = stop
        else:
            continue
        sizes.append(n)
    looked = [call("getitem", d, at(k % n)) for d, n in zip(found, sizes, strict=True) for k in (0, 1, -1)]
    edit.output(graph, call("make_tuple", *found, *looked))
    return edit.program


NAMES = ("inject", "gadd", "gadd", "put", "first", "slice", "back", "back")
LATEST = st.sampled_from((0, 0, 1, 1, 2, 3, 5, 8))
STEPS = st.lists(st.tuples(st.sampled_from(NAMES), LATEST, st.integers(0, 30)), min_size=1, max_size=16)
BEGUN: list[Step] = [("inject", 0, 0), ("inject", 1, 1)]


@given(STEPS, st.booleans(), st.sampled_from(PARTS))
def test_sums_are_those_of_the_reference_whatever_is_added_to_what_before(made: list[Step], first: bool, parts: Any) -> None:
    event(", ".join(sorted({name for name, _, _ in made})))
    agrees(of_steps([*BEGUN, *made]), (LONG, dense(parts) if first else ZERO, *parts), BOTH)


@given(STEPS, st.booleans(), st.sampled_from(PARTS), ROOMS, st.sampled_from(BOTH), st.sampled_from([0, 300, 700]))
def test_sums_survive_the_collector_wherever_it_comes(
    made: Any, first: bool, parts: Any, rooms: Any, target: str, young: int
) -> None:
    program = of_steps([*BEGUN, *made])
    moves_as_it_likes(
        program, (LONG, dense(parts) if first else ZERO, *parts), target, rooms, young=young, stack=128, smallest=1 << 14
    )


def test_what_a_shorter_list_had_is_not_there_in_a_longer_one() -> None:
    made: list[Step] = [*BEGUN, ("gadd", 0, 0), ("first", 0, 0), ("back", 0, 0), ("inject", 0, 3), ("gadd", 0, 4), ("first", 0, 1)]
    for parts in PARTS:
        agrees(of_steps([*made, ("back", 0, 0), ("back", 1, 0)]), (LONG, dense(parts), *parts), BOTH)


@pytest.mark.parametrize("young", [300, 900])
def test_an_old_sum_leads_to_young_elements(young: int) -> None:
    rounds = [step for k in range(40) for step in (("inject", k % 2, k), ("gadd", 2 * k + 1, 2 * k + 2))]
    program = of_steps([("inject", 0, 0), *rounds])
    for parts in PARTS:
        arguments = (LONG, dense(parts), *parts)
        few = Execution(load(program), "cpu", patience=0, stack=64, smallest=1 << 15, young=young)
        same_value(few.run(arguments), run(program, *arguments))


LOOPS = {
    "appended": "def f(xs):\n out = []\n for x in xs:\n  out.append(x * x)\n t = 0.0\n for y in out:\n  t = t + y * y\n return t\n",
    "pairs": "def f(xs):\n out = [(x, x * x) for x in xs]\n t = 0.0\n for x, y in out:\n  t = t + x * y\n return t\n",
}


@pytest.mark.parametrize("name", LOOPS)
def test_the_gradient_of_a_loop_that_appends_needs_no_host(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from adjudge.functions import Derivative
    from semantics.type_language import type_of

    program = Derivative(parse_text(LOOPS[name], "f"), "grad", 0).program((type_of(LONG),))
    wanted, asked = run(program, LONG), list[str]()
    serve = execution.serve

    def counted(heap: Any) -> None:
        asked.append(name)
        serve(heap)

    monkeypatch.setattr(execution, "serve", counted)
    for target in BOTH:
        same_value(Execution(load(program), target, patience=0).run((LONG,)), wanted)
    assert len(asked) <= 4, "in the end, for the sensitivity as it is given out"


ROW = dense(REALS)
NEAR = [
    *[("inject", given) for given in ((LONG, SIZE, 1.0), (LONG, -SIZE - 1, 1.0), (LONG, Slice(0, 2), (1.0, 2.0)))],
    *[("gadd", given) for given in ((ROW, 1.0), (ROW, ROW[1:]), (ROW, LONG))],
    *[("make_slice", given) for given in ((0, 1, 0), (None, None, None), (0, True, None), (-1, -5, -2), (0.5, None, None))],
    *[("put", given) for given in ((LONG, SIZE, 1.0), (LONG, -SIZE, 1.0), (ROW, 3, ZERO), ((), 0, 1.0), (LONG, 0.5, 1.0))],
]


@pytest.mark.parametrize(("name", "arguments"), NEAR, ids=[f"{name}-{k}" for k, (name, _) in enumerate(NEAR)])
def test_what_has_no_place_or_another_length_ends_as_on_the_reference(name: str, arguments: Any) -> None:
    agrees(applying(name, len(arguments)), arguments, BOTH)
