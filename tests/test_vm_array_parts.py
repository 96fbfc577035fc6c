"""Parts of arrays that an index names, read, written and given sensitivities on the virtual machine, in place or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st
from vm_runs import agrees, applying, same_value
from vm_stress import ROOMS, as_if_large, moves_as_it_likes

from backend.machine import Execution, deferred, execution, load
from semantics.arrays import Array
from semantics.columns.meaning import MEANING
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.structured import Slice
from semantics.tangents import ZERO

BOTH = ("python", "cpu")
FEW = 10
"""Elements of an array that is copied: of those below, only the shortest."""

SHAPES = ((7,), (12,), (4, 3), (2, 3, 4), (3, 0))

INTEGERS = st.integers(-5, 5)
SLICES = st.builds(Slice, *[st.one_of(st.none(), st.integers(-6, 13))] * 2, st.sampled_from([None, None, 1, 1, 2, -1]))
INDICES = st.one_of(INTEGERS, SLICES, st.lists(st.one_of(INTEGERS, INTEGERS, SLICES), max_size=3).map(tuple))

Step = tuple[str, int, Any, int]


def ramp(shape: Sequence[int], begin: float, dtype: str = "f64") -> Array:
    """An array whose elements all differ."""
    count = 1
    for n in shape:
        count *= n
    kinds: dict[str, Any] = {
        "f64": lambda k: begin + 0.5 * k,
        "i64": lambda k: int(begin) + k,
        "bool": lambda k: k % 3 == begin % 2,
    }
    return Array(dtype, tuple(shape), tuple(kinds[dtype](k) for k in range(count)))


def of_steps(steps: Sequence[Step], x: Any, d: Any, given: Sequence[Any]) -> Program:
    """
    A function of an array x and a sensitivity d of it: each step makes one of these of those before, or reads a part, which later
    steps may write elsewhere. The result is all of this, in the order in which it is made. Of the steps that end in an error the
    first is left, if none comes behind it; values are told by the reference.
    """
    edit = Edit(empty())
    graph = edit.graph("f")
    arrays, sensitivities = [(edit.parameter(graph, "x"), x)], [(edit.parameter(graph, "d"), d)]
    parts, results = [(edit.constant(s), s) for s in given], []

    def call(name: str, *operands: Any) -> Any:
        try:
            value = MEANING[TABLE[name]](*(v for _, v in operands))
        except AdjudgeError:
            if steps[-1] != step:
                return None
            value = ZERO
        results.append((edit.call(graph, TABLE[name], *(node for node, _ in operands)), value))
        return results[-1]

    for step in steps:
        name, a, index, b = step
        i, array, d = (edit.constant(index), index), arrays[a % len(arrays)], sensitivities[a % len(sensitivities)]
        if name == "write":
            arrays.append(call("put", array, i, parts[b % len(parts)]))
        elif name == "whole":
            parts.append(call("add" if b % 2 else "ne", array, arrays[b % len(arrays)]))
        elif name == "read":
            parts.append(call("getitem", array if b % 2 else d, i))
        elif name == "inject":
            sensitivities.append(call("inject", array, i, parts[b % len(parts)]))
        elif name == "clear":
            sensitivities.append(call("put", d, i, (edit.constant(ZERO), ZERO)))
            parts.append(call("final", array, i))
            if parts[-1]:
                parts.append(call("keep", parts[b % (len(parts) - 1)], parts[-1]))
        elif name == "J":
            arrays.append(call("J", array))
        elif name == "gadd":
            sensitivities.append(call("gadd", d, sensitivities[b % len(sensitivities)]))
        else:
            parts.append(call(name, array) if b % 2 else call("instantiate", d, array))
        for made in (arrays, sensitivities, parts):
            made[:] = [x for x in made if x is not None]
    edit.output(graph, edit.call(graph, TABLE["make_tuple"], *(node for node, _ in results)))
    return edit.program


def steps(*names: str, most: int = 12) -> Any:
    return st.lists(st.tuples(st.sampled_from(names), st.integers(0, 9), INDICES, st.integers(0, 9)), min_size=1, max_size=most)


def values_for(shape: tuple[int, ...]) -> tuple[Any, ...]:
    """What may be written to elements, to a row and to two rows."""
    return 2.5, -0.0, 3, ramp(shape[1:], 50.0), ramp((2, *shape[1:]), 70.0)


NAMES = ("write", "write", "write", "read", "read", "whole", "inject", "gadd", "clear", "shape", "length", "ndim", "J")


@given(steps(*NAMES), st.sampled_from(SHAPES), st.booleans())
def test_parts_are_as_on_the_reference_whatever_is_written_where(made: list[Step], shape: tuple[int, ...], gaps: bool) -> None:
    x = ramp(shape, 1.0)
    d = x.with_items(ZERO if k % 3 else -0.0 for k in range(len(x.items))) if gaps else x
    with as_if_large(deferred.LEAST, FEW):
        agrees(of_steps(made, x, d, values_for(shape)), (x, d), BOTH)
    event(", ".join(sorted({name for name, *_ in made})))


@given(
    steps("write", "write", "write", "read", "whole", "length"), st.sampled_from(["i64", "bool", "f32"]), st.sampled_from(SHAPES)
)
def test_so_are_those_of_integers_and_booleans(made: list[Step], dtype: str, shape: tuple[int, ...]) -> None:
    x = ramp(shape, 1.0, "f64" if dtype == "f32" else dtype)
    x = Array("f32", x.shape, x.items) if dtype == "f32" else x
    with as_if_large(deferred.LEAST, FEW):
        agrees(of_steps(made, x, x, (2, True, 1.5, ramp(shape[1:], 1.0, "i64"))), (x, x), BOTH)


GIVEN_AWAY = [("write", 0, 0, 0), ("J", 1, 0, 0), ("whole", 1, 0, 0), ("write", 2, 1, 0)]
NAMED = st.sampled_from(("write", "J", "whole"))
FEWEST = st.lists(st.tuples(NAMED, st.integers(0, 3), st.integers(0, 3), st.just(0)), max_size=12)


@example(GIVEN_AWAY, [None], "cpu", 0)
@given(FEWEST, ROOMS, st.sampled_from(BOTH), st.sampled_from([0, 300, 700]))
def test_what_was_given_away_as_an_array_does_not_change(made: list[Step], rooms: Any, target: str, young: int) -> None:
    x = ramp((12,), 1.0)
    with as_if_large(deferred.LEAST, FEW):
        moves_as_it_likes(of_steps(made, x, x, (2.5,)), (x, x), target, rooms, young=young, stack=128, smallest=1 << 14)


@given(steps(*NAMES), st.sampled_from(SHAPES), ROOMS, st.sampled_from(BOTH), st.sampled_from([0, 300, 700]))
def test_and_wherever_the_collector_comes(made: list[Step], shape: tuple[int, ...], rooms: Any, target: str, young: int) -> None:
    x = ramp(shape, 1.0)
    program = of_steps(made, x, x, values_for(shape))
    with as_if_large(deferred.LEAST, FEW):
        moves_as_it_likes(program, (x, x), target, rooms, young=young, stack=128, smallest=1 << 14)


LONG = ramp((60, 40), 0.0)
"""More elements than compiled code copies."""


def test_an_array_is_what_it_was_after_all_that_was_made_of_it() -> None:
    made: list[Step] = []
    for k in range(30):
        made += [("write", k, (k, Slice(k, k + 3)), 0), ("read", k // 2, (k - 1, Slice()), 1), ("whole", k, 0, k)]
    agrees(of_steps(made, LONG, LONG, (2.5,)), (LONG, LONG), BOTH)


def test_the_host_is_not_asked_for_parts(monkeypatch: Any) -> None:
    made: list[Step] = [("write", k, (k, 3), 0) for k in range(8)] + [("write", k, Slice(k, k + 2), 1) for k in range(8)]
    made += [("read", k, (k, Slice(2, 5)), 1) for k in range(8)] + [("clear", k, (k, Slice(4)), 2 + k) for k in range(3)]
    made += [
        ("inject", 9, (1, 2), 0),
        ("inject", 3, (3, Slice(2, 5)), 3),
        ("gadd", 0, 0, 4),
        ("read", 5, (1, 2), 2),
        ("J", 5, 0, 1),
    ]
    program = of_steps(made, LONG, LONG, (2.5, ramp((2, 40), 70.0)))
    wanted = run(program, LONG, LONG)
    monkeypatch.setattr(execution, "serve", None)
    for target in BOTH:
        same_value(Execution(load(program), target, patience=0).run((LONG, LONG)), wanted)


X, ROW, GAPS = ramp((3, 4), 0.0), ramp((4,), 9.0), Array("f64", (4,), (ZERO, 1.0, ZERO, 2.0))
OTHERS = ((), (0, 0, 0), (3, 0), (0, -5), (True, 0), (None, 1), Slice(0, 2, 2), (Slice(), 1), 1.0, (0, GAPS))
INSIDE = (1, (1, 1), Slice(1, 3), (1, Slice(1, 3)), (3,), (0, 4), Slice(2, 1), Slice(None, None, -1), (Slice(), 0), None)
COUNTS, FLAGS = ramp((3, 4), 0.0, "i64"), ramp((4,), 0.0, "bool")
VALUES = (ROW, GAPS, ramp((3,), 0.0), ramp((1, 4), 0.0), ramp((4,), 0.0, "i64"), 1 << 60, 2, 2.0, True, None, ZERO, (1.0,))
NEAR: list[tuple[str, tuple[Any, ...]]] = [
    *[("getitem", (X, i)) for i in (*OTHERS, *INSIDE)],
    *[("put", (X, i, v)) for i in INSIDE for v in (1.0, ROW)],
    *[("put", (x, 1, v)) for x in (X, COUNTS) for v in VALUES],
    *[("inject", (X, i, v)) for i in INSIDE for v in (2.0, GAPS, ramp((2,), 0.0))],
    *[("inject", (COUNTS, 1, ROW)), ("inject", (X, (1, 1), 2)), ("inject", (GAPS, 1, 2.0))],
    *[("final", (X, i)) for i in (*OTHERS, *INSIDE)],
    *[("keep", (GAPS, c)) for c in (FLAGS, Array("bool", (4,), (True,) * 4), ramp((3,), 0.0, "bool"), True, False, ROW)],
    *[("keep", (COUNTS, FLAGS)), ("keep", (ZERO, FLAGS)), ("keep", (ramp((2, 2), 0.0), FLAGS))],
]


@pytest.mark.parametrize("few", [2, 100], ids=["in place", "copied"])
@pytest.mark.parametrize(("name", "arguments"), NEAR, ids=[f"{name}-{k}" for k, (name, _) in enumerate(NEAR)])
def test_other_indices_and_values_end_as_on_the_reference(name: str, arguments: tuple[Any, ...], few: int) -> None:
    with as_if_large(deferred.LEAST, few):
        agrees(applying(name, len(arguments)), arguments, BOTH)
