"""
Types of memory: every short program of allocations, looks, stores and pointers to parts, on types of every precision.

A program that the types accept gives values below the inferred types, or traps; and what they refuse, the cells refuse.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from immutables import Map

from semantics.columns.meaning import MEANING
from semantics.columns.types import apply_type
from semantics.errors import AdjudgeError, IllTyped, Trap
from semantics.infer import infer
from semantics.machine import run
from semantics.memory import Cells, Memory, Pointer
from semantics.memory_types import CellsType, MemoryType, PointerType
from semantics.primitives.memory_rows import MEMORY
from semantics.primitives.table import TABLE
from semantics.structured import LIST, Record
from semantics.tangents import ZERO, Sparse, dense
from semantics.type_language import INTEGER, REAL, UNIT, SequenceType, TupleType, tangent, type_of
from semantics.type_lattice import NEVER, ZERO_TYPE, Literal, cells_type, is_below, join, of_constant
from semantics.type_widening import lengthless
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text

CONTENTS: tuple[Any, ...] = (1.5, (2.5, 3), Record(LIST, (0.5, 4.5)), None)
ALONE = Memory(0, 0, Map())
MEMORIES = [Memory(0, n, Map(enumerate(held))) for n in range(3) for held in product(CONTENTS[: 4 - n], repeat=n)]
POINTERS = [Pointer(0, k, path) for k in range(3) for path in ((), (0,), (1,), (-1, 0))] + [Pointer(1, 0)]
SENSITIVITIES = [
    ZERO,
    *(Cells(Map(entries)) for entries in ({}, {0: 1.5}, {1: 2.5}, {0: (1.5, ZERO), 1: 1.5}, {0: (ZERO, 2.5)})),
]
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "memory": ((0, 3, 1.5, None),),
    "alloc": ((*MEMORIES, None), (0.5, None)),
    "load": ((*MEMORIES, 1.5), (*POINTERS, 0)),
    "store": ((*MEMORIES, 1.5), (*POINTERS, 0), (0.5, None, (1.0,))),
    "lea": ((*POINTERS, 1.5), (0, -1, (0, 1), 0.5, (0.5,))),
    "cell": (SENSITIVITIES, POINTERS[:9]),
    "cell_cleared": (SENSITIVITIES, POINTERS[:9]),
    "cell_alone": ((*MEMORIES, *SENSITIVITIES), POINTERS[:6], (0.5, ZERO)),
    "gadd": (SENSITIVITIES, SENSITIVITIES),
    "instantiate": (SENSITIVITIES, MEMORIES[:9]),
}
# what a sensitivity has nothing to do with: of another structure than the memory
TOGETHER = frozenset({"cell", "cell_cleared", "cell_alone", "gadd", "instantiate"})


def type_of_any(value: Any) -> Any:
    """`type_of`, and of sensitivities of memories."""
    if isinstance(value, Cells):
        last = max(value.entries, default=-1)
        return CellsType(tuple(type_of_any(value.entries.get(k, ZERO)) for k in range(last + 1)))
    if isinstance(value, Pointer):
        return PointerType(value.home, value.address, True, tuple(map(of_constant, value.path)))
    if isinstance(value, Sparse):
        return TupleType(tuple(map(type_of_any, dense(value))))
    if isinstance(value, tuple):
        return TupleType(tuple(map(type_of_any, value)))
    return of_constant(value) if type(value) is int or value is ZERO else type_of(value)


def summarised(t: Any) -> Any:
    """A memory as one of unknown size, a pointer as one of many."""
    match t:
        case MemoryType():
            return join(t, MemoryType(t.home, ()))
        case CellsType(items, rest):
            total: Any = ZERO_TYPE if rest is None else rest
            for item in items:
                total = join(total, item)
            return cells_type((), total)
        case PointerType(home, _, _, path):
            return PointerType(home, 0, False, path)
        case _:
            return t


def judged(name: str, types: list[Any]) -> Any:
    try:
        return apply_type(TABLE[name], types)
    except AdjudgeError as error:
        return error


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("level", ["exact", "pointers", "all"])
def test_the_rule_of_a_row_of_memory_and_its_cell_agree(name: str, level: str) -> None:
    accepted = 0
    for arguments in product(*ARGUMENTS[name]):
        types = [type_of_any(a) for a in arguments]
        if level != "exact":
            types = [summarised(t) if level == "all" or isinstance(t, PointerType) else t for t in types]
        found = judged(name, types)
        try:
            value = MEANING[TABLE[name]](*arguments)
        except Trap:
            continue
        except (IllTyped, AttributeError, TypeError):
            assert name in TOGETHER or isinstance(found, IllTyped) or level != "exact", arguments
            continue
        if isinstance(found, IllTyped) and (level != "exact" or name in TOGETHER):
            continue  # another cell that the pointer may point to has no such part
        assert not isinstance(found, AdjudgeError), (arguments, found)
        assert is_below(type_of_any(value), found), (arguments, value, str(found))
        accepted += 1
    assert accepted > 0


def test_every_row_of_memory_is_judged() -> None:
    assert {p.name for p in MEMORY} - {"apart"} <= set(ARGUMENTS)


def programs() -> Iterator[tuple[str, ...]]:
    """Bodies of three statements on a memory `m` and pointers `p` and `q` into it."""
    statements = (
        *("m = store(m, p, x)", "m = store(m, q, (x, 1))", "m, q = alloc(m, x)", "m = store(m, p, load(m, q))"),
        *("x = load(m, p)", "x = load(m, lea(q, 0))", "m = store(m, lea(p, 1), 2)", "q = p", "p = q if x > 1.0 else p"),
    )
    yield from product(statements, repeat=3)


def test_every_short_program_with_memory_steps_or_traps() -> None:
    """Preservation and progress; refused ones never return. Each runs after a branch that made one more cell, or did not."""
    verdicts = {"accepted": 0, "refused": 0, "trapped": 0}
    for body in list(programs())[::5]:
        lines = "".join(f" {line}\n" for line in body)
        text = (
            "from adjudge.memory import alloc, lea, load, memory, store\n"
            f"def f(x, b: bool):\n m, p = alloc(memory(0), (x, x))\n m, q = alloc(m, x)\n{lines} return x, load(m, p), load(m, q)\n"
        )
        program = parse_text(text, "f", "f.py", {})
        try:
            result = infer(program, [REAL, type_of(True)]).result
        except IllTyped:
            verdicts["refused"] += 1
            result = None
        for x in (0.5, 1.5):
            try:
                value = run(program, x, True)
            except Trap:
                verdicts["trapped"] += 1
                continue
            except IllTyped:
                assert result is None, text
                continue
            if result is not None:
                assert is_below(type_of(value), result), (text, value, str(result))
                verdicts["accepted"] += 1
    assert verdicts["accepted"] > 20
    assert verdicts["refused"] > 20


def test_a_store_at_a_known_address_changes_the_type_and_elsewhere_it_adds_to_it() -> None:
    one = MemoryType(0, (REAL, UNIT))
    exact, some = PointerType(0, 0), PointerType(0, 0, False)
    assert apply_type(TABLE["store"], [one, exact, INTEGER]) == MemoryType(0, (INTEGER, UNIT))
    assert apply_type(TABLE["store"], [one, some, INTEGER]) == MemoryType(0, (join(REAL, INTEGER), join(UNIT, INTEGER)))
    assert apply_type(TABLE["load"], [one, PointerType(0, 1)]) == UNIT
    assert apply_type(TABLE["load"], [one, some]) == join(REAL, UNIT)
    assert apply_type(TABLE["load"], [one, PointerType(1, 0)]) == NEVER
    assert apply_type(TABLE["load"], [one, PointerType(0, 2)]) == NEVER


def test_memories_of_two_sizes_meet_in_one_of_unknown_size() -> None:
    one, two = MemoryType(0, (REAL,)), MemoryType(0, (REAL, INTEGER))
    assert join(one, two) == MemoryType(0, (REAL,), INTEGER)
    allocated = apply_type(TABLE["alloc"], [join(one, two), UNIT])
    assert allocated == TupleType((MemoryType(0, (REAL,), join(INTEGER, UNIT)), PointerType(0, 1, False)))
    assert str(join(one, two)) == "memory[0; f64, i64, ...]"
    assert str(allocated.items[1]) == "&0[1..]"
    assert lengthless(two) == MemoryType(0, (), join(REAL, INTEGER))
    assert tangent(two) == CellsType((REAL, UNIT))
    assert str(tangent(join(one, two))) == "cells[f64, unit, ...]"


def test_lists_in_a_memory_grow_to_an_end() -> None:
    text = "def f(x, n):\n xs = []\n ys = [0.0]\n for i in range(n):\n  xs.append(x * i)\n  ys[0] = ys[0] + len(xs)\n return xs, ys"
    program = parse_text(text, "f", "f.py", {})
    result = infer(program, [REAL, INTEGER]).result
    assert str(result) == "tuple[list[f64, ...], list[f64]]"
    for n in (0, 1, 5):
        assert is_below(type_of(run(program, 1.5, n)), result)


def test_cells_allocated_in_a_loop_have_a_type() -> None:
    text = (
        "from adjudge.memory import alloc, load, memory, store\n"
        "def f(x, n):\n m, p = alloc(memory(0), x)\n for i in range(n):\n  m, p = alloc(m, load(m, p) * x)\n return load(m, p)\n"
    )
    program = parse_text(text, "f", "f.py", {})
    assert infer(program, [REAL, INTEGER]).result == REAL
    assert run(program, 2.0, 3) == 16.0


def test_the_gradient_of_a_program_with_memory_has_the_type_of_the_argument() -> None:
    text = (
        "def f(p):\n xs = [p[0], p[1]]\n ys = xs\n ys.append(p[0] * p[1])\n xs[0] = xs[2] * xs[1]\n"
        " if xs[0] > 1.0:\n  xs[1] = 2.0 * xs[0]\n return xs[0] * xs[1] + xs[2]"
    )
    pair = TupleType((REAL, REAL))
    program = parse_text(text, "f", "f.py", {})
    assert infer(program, [pair]).result == REAL
    assert infer(gradient_program(program, 0, [pair]), [pair]).result == pair


def test_what_no_memory_is_is_refused_at_its_place() -> None:
    text = "from adjudge.memory import alloc, load, memory\ndef f(x):\n m, p = alloc(memory(0), x)\n return load(p, m)\n"
    with pytest.raises(IllTyped, match="load wants a memory, found &0"):
        infer(parse_text(text, "f", "f.py", {}), [REAL])
    with pytest.raises(IllTyped, match="known before running"):
        apply_type(TABLE["memory"], [INTEGER])
    assert apply_type(TABLE["memory"], [Literal(INTEGER, 2)]) == MemoryType(2, ())
    assert apply_type(TABLE["apart"], [SequenceType(LIST, REAL)]) == SequenceType(LIST, REAL)
