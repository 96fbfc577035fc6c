"""Functions that call each other as one, tuples that meet as their fields, and what calls are known not to be given."""

from __future__ import annotations

from typing import Any

import pytest

import backend
from adjudge.functions import parse
from backend.recursion import inlining
from backend.recursion.demanded import with_demands
from backend.recursion.families import families
from backend.recursion.frames import RESULT
from backend.recursion.groups import groups, without_recursion
from backend.recursion.inlining import inlined
from backend.recursion.parts import in_parts
from backend.stacks.sensitivities import with_tuples
from backend.stacks.sites import Flows, sites_of
from bench.gradbench_programs.det import determinant
from semantics.ir import Program
from semantics.ssa.form import Module
from semantics.ssa.machine import run as run_ssa
from semantics.ssa.reader import read as read_ssa
from semantics.ssa.wellformed import check
from semantics.type_language import INTEGER, ArrayType
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.pipeline import optimize
from transforms.ssa.from_graph import first_order

VECTOR = backend.general(ArrayType("f64", (None,)))

STEPS = """function f(x, n):
block #1:
    %1 ← @g(x, n)
    %2 ← getitem(%1, 0)
    return %2

function g(x, n):
block #1:
    %1 ← gt(n, 0)
    goto #3 if not %1
block #2:
    %2 ← sub(n, 1)
    %3 ← @h(x, %2)
    %4 ← getitem(%3, 0)
    %5 ← mul(%4, x)
    %6 ← make_tuple(%5, n)
    goto #4
block #3:
    %7 ← make_tuple(x, 7)
block #4:
    %8 ← φ(#2 → %6, #3 → %7)
    return %8

function h(x, n):
block #1:
    %1 ← φ(#0 → n, #2 → %3)
    %2 ← gt(%1, 3)
    goto #3 if not %2
block #2:
    %3 ← sub(%1, 1)
    goto #1
block #3:
    %4 ← @g(x, %1)
    %5 ← getitem(%4, 0)
    %6 ← add(%5, 0.25)
    %7 ← make_tuple(%6, %1)
    return %7"""


def agree(before: Module, after: Module) -> None:
    check(after)
    for n in (0, 1, 2, 9):
        assert same(run_ssa(after, (1.5, n)), run_ssa(before, (1.5, n)))


def test_of_two_functions_that_call_each_other_one_is_left() -> None:
    module = read_ssa(STEPS)
    after = inlined(module, {"g", "h"})
    assert {*groups(after)} < {"g", "h"}
    assert len(groups(after)) == 1
    agree(module, after)
    agree(module, without_recursion(module))


def itself(text: str) -> str:
    """The functions, each of which calls itself as well."""
    return text.replace("%4 ← getitem(%3, 0)", "%9 ← @g(x, %2)\n    %4 ← getitem(%3, 0)").replace(
        "%5 ← getitem(%4, 0)", "%8 ← @h(x, %1)\n    %5 ← getitem(%4, 0)"
    )


def test_near_miss_functions_that_call_themselves_are_left() -> None:
    module = read_ssa(itself(STEPS))
    assert inlined(module, {"g", "h"}) is module


def test_near_miss_what_is_too_long_to_be_written_again_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    module = read_ssa(STEPS)
    monkeypatch.setattr(inlining, "MOST", 4)
    assert inlined(module, {"g", "h"}) is module


def test_the_entry_is_left() -> None:
    module = Module(read_ssa(STEPS).functions[1:], "g")
    after = inlined(module, {"g", "h"})
    assert [f.name for f in after.functions] == ["g"]
    agree(module, after)


def empties(program: Program, whole: bool) -> int:
    """How many fields of cells have none of a kind that says the empty tuple there."""
    flows = Flows(program)
    found = families(program, flows, sites_of(program, flows), whole)
    said = (
        (family, k, kind)
        for family in {f.first: f for f in found.values()}.values()
        for k, of in family.absent.items()
        for kind in of
    )
    return sum(
        program.constant(program.inputs(family.sites[kind])[1 + k]) == () for family, k, kind in said if k < family.sizes[kind]
    )


def test_a_way_that_was_not_taken_says_nothing() -> None:
    program = first_order(optimize(expand(calling(parse(determinant), "grad", 0, (VECTOR, INTEGER)), "ssa")))
    looped = with_tuples(program)
    assert empties(looped, whole=False) == 1
    assert empties(looped, whole=True) == 0


# tuples that meet

MEETING = """function f(x, n):
block #1:
    %1 ← gt(n, 0)
    goto #3 if not %1
block #2:
    %2 ← mul(x, 2.0)
    %3 ← make_tuple(%2, n)
    goto #4
block #3:
    %4 ← make_tuple(x, 7)
block #4:
    %5 ← φ(#2 → %3, #3 → %4)
    %6 ← getitem(%5, 0)
    return %6"""


def test_tuples_that_meet_are_taken_apart() -> None:
    module = read_ssa(MEETING)
    after = in_parts(module)
    assert "make_tuple" not in str(after)
    agree(module, after)


@pytest.mark.parametrize(
    ("old", "new"),
    [("getitem(%5, 0)", "length(%5)"), ("(x, 7)", "(x, 7, n)"), ("getitem(%5, 0)", "getitem(%5, n)")],
    ids=["one is used as a whole", "they have two lengths", "which field is not known"],
)
def test_near_miss_tuples_that_are_needed_are_left(old: str, new: str) -> None:
    module = read_ssa(MEETING.replace(old, new))
    assert in_parts(module) == module


UNREAD = """function f(x, n):
block #1:
    %1 ← @g(x, n)
    %2 ← getitem(%1, 1)
    %3 ← getitem(%1, 0)
    %4 ← make_tuple(%2, x)
    return %3

function g(x, n):
block #1:
    %1 ← make_tuple(x, n)
    return %1"""


def test_a_field_that_nothing_reads_of_what_is_a_tuple_is_left_out() -> None:
    module = read_ssa(UNREAD)
    after = in_parts(module)
    assert (str(after).count("getitem"), str(after).count("make_tuple")) == (1, 1)
    agree(module, after)


@pytest.mark.parametrize("given", ["make_tuple(x)", "mul(x, 1.0)"], ids=["too short", "no tuple"])
def test_near_miss_a_field_that_may_not_be_there_is_read(given: str) -> None:
    module = read_ssa(UNREAD.replace("make_tuple(x, n)", given))
    assert str(in_parts(module)).count("getitem") == 2


# what calls are not given

ASKED = """function f(x, n):
block #1:
    %1 ← make_tuple(True, x)
    %2 ← @g(%1, n)
    return %2

function g(p, n):
block #1:
    %1 ← getitem(p, 0)
    goto #3 if not %1
block #2:
    %2 ← sub(n, 1)
    %3 ← gt(%2, 0)
    %4 ← make_tuple(%3, x)
    %5 ← @g(%4, %2)
    %6 ← add(%5, 1.0)
    goto #4
block #3:
    %7 ← getitem(p, 1)
block #4:
    %8 ← φ(#2 → %6, #3 → %7)
    return %8""".replace("(%3, x)", "(%3, 0.5)")


def demands(module: Module) -> list[Any]:
    return [i.operands for f in module.functions for b in f.blocks for i in b.instructions if i.callee is RESULT]


def test_what_is_asked_which_way_to_go_is_no_zero() -> None:
    module = read_ssa(ASKED)
    after = with_demands(module, {"g"})
    assert len(demands(after)) == 2
    agree(module, after)


@pytest.mark.parametrize(
    ("old", "new"),
    [("%1 ← getitem(p, 0)", "%9 ← getitem(p, 1)\n    %1 ← gt(n, 0)"), ("%1 ← getitem(p, 0)", "%1 ← gt(n, 0)")],
    ids=["a field that is read is no condition", "no field is read at first"],
)
def test_near_miss_what_is_read_alone_may_be_zero(old: str, new: str) -> None:
    assert demands(with_demands(read_ssa(ASKED.replace(old, new)), {"g"})) == []
