"""Wherever objects move, or a run is refused more memory, generated programs end on the virtual machine as on the reference."""

from __future__ import annotations

from typing import Any

from held_programs import SHAPES, STEPS, held
from hypothesis import event, given
from hypothesis import strategies as st
from test_vm_deferred import array
from test_vm_sparse_arrays import of_steps
from test_vm_sparse_arrays import steps as sums
from vm_stress import ROOMS, as_if_large, is_refused_or_right, moves_as_it_likes

from adjudge.functions import Derivative
from backend.machine import deferred
from checkers.generators import Whole, graphs, points, wholes
from semantics.arrays import Array
from semantics.ir import Program
from semantics.tangents import ZERO

TARGETS = st.sampled_from(["python", "cpu"])
YOUNG = st.sampled_from([0, 300, 700, 1500])
SIZES = st.tuples(st.sampled_from([1, 8, deferred.LEAST]), st.sampled_from([0, 4, 1 << 10]))
"""From how many elements on an array is large, and how many are few."""


@given(graphs(), points(2), ROOMS, TARGETS, YOUNG)
def test_a_drawn_graph(program: Program, x: tuple[float, ...], rooms: Any, target: str, young: int) -> None:
    moves_as_it_likes(program, x, target, rooms, young=young, stack=64, smallest=1 << 14)


@given(wholes(), ROOMS, TARGETS, YOUNG, SIZES)
def test_a_program(whole: Whole, rooms: Any, target: str, young: int, sizes: Any) -> None:
    with as_if_large(*sizes):
        moving = moves_as_it_likes(whole.program(), whole.arguments, target, rooms, young=young, stack=64, smallest=1 << 15)
    event(f"{'no' if not moving.moves else 'few' if moving.moves < 10 else 'many'} moves")


@given(wholes(), ROOMS, TARGETS, YOUNG, SIZES)
def test_a_gradient(whole: Whole, rooms: Any, target: str, young: int, sizes: Any) -> None:
    program = Derivative(whole.program(), "grad", whole.real).program(whole.types)
    with as_if_large(*sizes):
        moving = moves_as_it_likes(program, whole.arguments, target, rooms, young=young, stack=64, smallest=1 << 15)
    event(f"{'no' if not moving.moves else 'few' if moving.moves < 10 else 'many'} moves")


@given(wholes(), st.integers(100, 3000), TARGETS, SIZES)
def test_a_program_of_little_memory(whole: Whole, memory: int, target: str, sizes: Any) -> None:
    with as_if_large(*sizes):
        refused = is_refused_or_right(whole.program(), whole.arguments, target, memory)
    event("refused" if refused else "not refused")


@given(STEPS, st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3), ROOMS, YOUNG, SIZES)
def test_arrays_that_are_held(steps: Any, shapes: Any, rooms: Any, young: int, sizes: Any) -> None:
    arguments = [array(shape, k) for k, shape in enumerate(shapes)]
    with as_if_large(*sizes):
        moving = moves_as_it_likes(held(steps, arguments), arguments, "cpu", rooms, young=young, stack=64, smallest=1 << 15)
    event(f"{'no' if not moving.moves else 'few' if moving.moves < 10 else 'many'} moves")


@given(sums("part", "gadd", "gadd"), st.booleans(), ROOMS, TARGETS, YOUNG)
def test_sums_that_are_changed_in_place(made: Any, dense: bool, rooms: Any, target: str, young: int) -> None:
    x, row, other = array((3, 8), 0), array((8,), 1), Array("f64", (8,), (ZERO, 2.0, ZERO, -0.0, *[0.1 * k for k in range(4)]))
    first = x if dense else Array("f64", x.shape, (ZERO, *x.items[1:]))
    program = of_steps([("part", 0, 0), ("part", 1, 1), *made], lambda k: k % 3 - (3 if k > 6 else 0))
    with as_if_large(deferred.LEAST, 4):
        moves_as_it_likes(program, (x, first, row, other), target, rooms, young=young, stack=128, smallest=1 << 14)
