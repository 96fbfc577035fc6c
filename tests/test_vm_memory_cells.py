"""Memories of few cells on the virtual machine: what is stored, and the sensitivity of it, without the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from vm_runs import agrees, applying
from vm_stress import ROOMS, moves_as_it_likes

from backend.machine import memory_cells
from backend.machine.layout import FEW_CELLS
from semantics.arrays import Array
from semantics.columns.meaning import MEANING
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.memory import Memory, Pointer
from semantics.primitives.table import TABLE
from semantics.structured import LIST, Record
from semantics.tangents import ZERO

BOTH = ("python", "cpu")
LONG = Record(LIST, tuple(0.5 * k for k in range(11)))
ROWS = Record(LIST, (Record(LIST, (1.0, 2.0)), Record(LIST, (3.0, 4.0, 5.0))))
MATRIX = Array("f64", (2, 3), (1.0, -0.0, 3.0, -4.5, 0.25, 6.0))
CONTENTS: tuple[Any, ...] = (2.5, LONG, ROWS, MATRIX, (1.0, (2.0, 3.0)), Array("f64", (3,), MATRIX.items[3:]), 7)
COTANGENTS: tuple[Any, ...] = (
    *(1.5, tuple(ZERO if k % 3 else 0.5 * k for k in range(11)), ((1.0, ZERO), (ZERO, 2.0, 3.0)), MATRIX, ZERO, (ZERO, 0.5)),
    *(Array("f64", (2, 3), (ZERO, *MATRIX.items[1:])), -0.0, (1.0, 2.0, ZERO)),
)
"""Sensitivities of these, and of parts of them."""

PATHS: tuple[tuple[Any, ...], ...] = ((), (1,), (-1,), (1, 0), (0, -1), ((1, 2),), (9,), (True,))

Step = tuple[str, int, int, int]


def of_steps(steps: Sequence[Step]) -> Program:
    """
    A function of what cells hold at first. Each step makes a memory, a pointer, a value or the sensitivity of a memory from those
    before; the result is all that there is in the end.
    """
    edit = Edit(empty())
    graph = edit.graph("f")
    given = [edit.parameter(graph, f"x{k}") for k in range(len(CONTENTS))]
    cotangents = [edit.constant(d) for d in COTANGENTS]

    def call(name: str, *operands: Any) -> Any:
        return edit.call(graph, TABLE[name], *operands)

    memories, pointers, values, sensitivities = [call("memory", edit.constant(0))], [], list(given), [edit.constant(ZERO)]

    def allocated(content: Any) -> None:
        both = call("alloc", memories[-1], content)
        memories.append(call("getitem", both, edit.constant(0)))
        pointers.append(call("getitem", both, edit.constant(1)))

    for content in given[1:4]:
        allocated(content)
    for name, a, b, c in steps:
        m, p, v, d = (some[-1 - k % len(some)] for some, k in ((memories, a), (pointers, b), (values, c), (sensitivities, a)))
        own = (p in pointers[:3] and c % 2) or c % 5 == 0
        cotangent = cotangents[1 + pointers.index(p) % 3] if own else cotangents[c % len(cotangents)]
        match name:
            case "alloc":
                allocated(v)
            case "lea":
                pointers.append(call("lea", p, edit.constant(PATHS[1 + c % (len(PATHS) - 1)][0])))
            case "load" | "cell":
                values.append(call(name, m if name == "load" else d, p))
            case "store":
                memories.append(call("store", m, p, v))
            case "cell_alone":
                sensitivities.append(call("cell_alone", m if c % 3 else d, p, cotangent))
            case "cell_cleared":
                sensitivities.append(call("cell_cleared", d, p))
            case _:
                sensitivities.append(call("gadd", d, sensitivities[-1 - b % len(sensitivities)]))
    edit.output(graph, call("make_tuple", memories[-1], *pointers, *values, *sensitivities))
    return edit.program


NAMES = ("alloc", "lea", "lea", "load", "store", "cell", "cell_alone", "cell_alone", "cell_cleared", "gadd", "gadd")
STEPS = st.lists(st.tuples(st.sampled_from(NAMES), *[st.integers(0, 20)] * 3), min_size=1, max_size=14)


def sound(made: Sequence[Step]) -> list[Step]:
    """As many of the steps as the reference takes: what only transforms write need not be refused."""
    from semantics.machine import run

    kept: list[Step] = []
    for step in made:
        try:
            run(of_steps([*kept, step]), *CONTENTS)
        except (AdjudgeError, AttributeError, TypeError, ValueError, IndexError):
            continue
        kept.append(step)
    return kept


@given(STEPS)
def test_a_memory_and_its_sensitivity_are_those_of_the_reference(made: list[Step]) -> None:
    kept = sound(made)
    event(", ".join(sorted({name for name, *_ in kept})))
    agrees(of_steps(kept), CONTENTS, BOTH)


@given(STEPS, ROOMS, st.sampled_from(BOTH), st.sampled_from([0, 300, 700]))
def test_memories_survive_the_collector_wherever_it_comes(made: list[Step], rooms: Any, target: str, young: int) -> None:
    moves_as_it_likes(of_steps(sound(made)), CONTENTS, target, rooms, young=young, stack=128, smallest=1 << 14)


@pytest.mark.parametrize("count", [FEW_CELLS - 1, FEW_CELLS, FEW_CELLS + 1, 2 * FEW_CELLS])
def test_a_memory_of_many_cells_is_the_hosts(count: int) -> None:
    made = [("alloc", 0, 0, k) for k in range(count - 3)]
    last = count - 1
    made += [("store", count, last, 2), ("load", -1, last, 0), ("cell_alone", count, last, 1), ("cell_alone", count, 1, 4)]
    made += [("gadd", 1, 2, 0), ("cell", 3, last, 0), ("cell_cleared", 3, last, 0), ("cell", 4, last, 0)]
    agrees(of_steps(sound(made)), CONTENTS, BOTH)


def known() -> tuple[Memory, Pointer]:
    """A memory of one list, and the pointer to it."""
    both: Any = MEANING[TABLE["alloc"]](MEANING[TABLE["memory"]](3), LONG)
    return both


M, P = known()
NEAR: list[tuple[str, tuple[Any, ...]]] = [
    *[("memory", (x,)) for x in (0, 1.0, True)],
    *[("alloc", (x, 1.0)) for x in (M, 2.0, ZERO)],
    *[
        ("load", (M, p))
        for p in (P, Pointer(4, 0), Pointer(3, 1), Pointer(3, 0, (11,)), Pointer(3, 0, (-11,)), Pointer(3, 0, (0, 0)), 1)
    ],
    *[("store", (M, p, 1.0)) for p in (P, Pointer(4, 0), Pointer(3, 1), Pointer(3, 0, (11,)), Pointer(3, 0, (0, 0)), 1)],
    *[("lea", (P, i)) for i in (0, True, (1, 2), (1, 0.5), 1.0, ())],
    *[("lea", (1.0, 0)), ("load", (1.0, P)), ("store", (ZERO, P, 1.0))],
]


@pytest.mark.parametrize(("name", "arguments"), NEAR, ids=[f"{name}-{k}" for k, (name, _) in enumerate(NEAR)])
def test_a_pointer_that_leads_nowhere_ends_as_on_the_reference(name: str, arguments: Any) -> None:
    agrees(applying(name, len(arguments)), arguments, BOTH)


def test_every_row_of_memory_is_an_opcode() -> None:
    rows = {*memory_cells.UNARY, *memory_cells.BINARY, *memory_cells.TERNARY}
    assert rows == {"memory", "alloc", "load", "store", "lea", "cell", "cell_alone", "cell_cleared", "put"}


def test_sensitivities_of_cells_far_apart_are_added() -> None:
    one, other = ("cell_alone", 0, 2, 1), ("cell_alone", 0, 0, 1)
    made: list[Step] = [one, other, ("gadd", 0, 1, 0), ("gadd", 2, 1, 0), one, ("gadd", 0, 1, 0), ("gadd", 1, 2, 0)]
    assert sound(made) == made
    wanted = agrees(of_steps(made), CONTENTS, BOTH)
    assert not isinstance(wanted, AdjudgeError)
    assert sorted(wanted.value[-1].entries) == [0, 2]
