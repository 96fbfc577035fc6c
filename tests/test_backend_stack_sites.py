"""
Which tuples may be read at a place: what is read from the entry instead of a tuple is what the reference reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from vm_runs import outcome

import backend
from adjudge.values import to_value
from backend.lowering.conversion import as_choice
from backend.lowering.entry_values import without_copies
from backend.lowering.shape import Stack
from backend.stacks.sites import GETITEM, UNKNOWN, Flows
from backend.stacks.stack_types import StackType, perhaps_empty
from semantics.errors import AdjudgeError, Malformed, Trap
from semantics.ir import Program
from semantics.machine import Machine
from semantics.reader import read
from semantics.scope import scopes
from semantics.type_language import UNIT, type_of
from semantics.type_lattice import ZERO_TYPE, Union
from semantics.values import same
from transforms.parse import parse_text
from transforms.pipeline import optimize

TURNS = """
def f(x, y, p):
    q = (x, x)
    s = 0.0
    i = 0
    while i < 4:
        s = s + q[i % 2]
        {}
        i = i + 1
    return s
"""
ARGUMENTS = (2.0, 0.25, (0.5, 1.5))
CARRIED = {
    "an argument that is a tuple": "q = p",
    "a constant tuple": "q = (3.0, 4.0)",
    "an element from the end": "q = ((y, x)[-2], p[-1])",
    "a carried element from the end": "q = (q[-1], y)",
    "a tuple the other way round": "q = q[::-1] if s > 3.0 else p[::-1]",
    "products": "q = (q[0] * y, q[-1] * x)",
}
LAST = """
def f(x, y):
    p = (x, y)
    v = y
    s = 0.0
    i = 0
    while i < 4:
        t = (v, v)
        s = s + t[i % 2]
        v = p[-1]
        p = (p[-1], p[0])
        i = i + 1
    return s
"""


def compared(program: Program, arguments: tuple[Any, ...]) -> str:
    """The refusal, if there is one; else asserts that generated code gives the bits of the reference."""
    values = tuple(map(to_value, arguments))
    found = outcome(lambda: backend.compile(program, tuple(backend.general(type_of(v)) for v in values), "python").call(*values))
    if isinstance(found, AdjudgeError):
        return found.what
    assert same(found, Machine(program).run(values).value)
    return ""


@pytest.mark.parametrize("name", CARRIED)
def test_a_tuple_that_a_loop_carries_may_be_another_in_each_turn(name: str) -> None:
    assert compared(parse_text(TURNS.format(CARRIED[name]), "f"), ARGUMENTS) == ""


def test_a_last_element_is_one_of_the_tuple() -> None:
    assert compared(parse_text(LAST, "f"), (2.0, 0.25)) == ""


def test_an_array_in_the_place_of_a_tuple_is_read() -> None:
    assert compared(parse_text(TURNS.format("q = p * 2.0"), "f"), (2.0, 0.25, np.array([1.5, 2.5]))) == ""


@given(st.lists(st.sampled_from([*CARRIED.values(), "q = (x, x)", "q = (p[0], q[-2])"]), min_size=1, max_size=3), st.integers(0, 3))
def test_what_is_read_of_carried_tuples_is_what_the_reference_reads(turns: list[str], last: int) -> None:
    chosen = [f"{'if' if k == 0 else 'elif'} i == {(last + k) % 4}:\n            {turn}" for k, turn in enumerate(turns)]
    found = compared(parse_text(TURNS.format("\n        ".join(chosen)), "f"), ARGUMENTS)
    event(found or "generated code")
    assert found == "" or "not compiled yet" in found


# a slice of equal elements


@pytest.mark.parametrize("read_", ["sum(q[k:])", "len(q[k:])", "q[k:][0]"])
def test_a_part_of_a_tuple_is_no_element_of_it(read_: str) -> None:
    """A part of no known length is refused; tier B runs it. Before, it was taken for an element."""
    text = f"def f(x):\n    q = (x, x, x)\n    s = 0.0\n    for k in range(2):\n        s = s + {read_}\n    return s\n"
    assert "sequences of unknown length" in compared(parse_text(text, "f"), (2.0,))


def test_a_list_of_what_its_elements_and_those_of_a_part_make_is_an_array() -> None:
    turn = "s = s + sum([u - v for u in q for v in q[1:]])"
    text = f"def f(x):\n    q = (x, x, x)\n    s = 0.0\n    for k in range(2):\n        {turn}\n    return s"
    assert compared(parse_text(text, "f"), (2.0,)) == ""


def test_a_known_part_is_read() -> None:
    text = "def f(x, y):\n    q = (y, x, x)\n    s = 0.0\n    for k in range(4):\n        s = s + q[1:][k % 2]\n    return s\n"
    assert compared(parse_text(text, "f"), (2.0, 0.5)) == ""


# in the text of programs

CALLED = """program @f
@f(%x: f64, %y: f64):
  %t = {made}
  %h = getitem(%t, 0)
  %p = make_tuple(%x, %x)
  %q = make_tuple(%y, %y)
  %a = @g(%p)
  %b = %h(%q)
  %r = sub(%a, %b)
  return %r
@g(%u):
  %v = getitem(%u, 1)
  return %v
"""
EITHER = """program @f
@f(%x: f64, %z: f64[2], %c: bool):
  %p = make_tuple(%x, %x)
  %t = switch(%c, %p, {other})
  %v = getitem(%t, {index})
  return %v
"""


def is_read(program: Program) -> bool:
    """Whether the value is read of a tuple, where what is always one value is read from the entry."""
    after = without_copies(program)
    return after.callee(after.graphs[after.entry].output) is GETITEM


def test_a_function_that_is_not_followed_may_be_called_with_anything() -> None:
    """In a tuple that is appended to, it is not followed; in one that is made in place, it is."""
    gone, followed = (read(CALLED.format(made=made)) for made in ("append((), @g)", "make_tuple(@g)"))
    parameter = gone.graphs[next(g for g, graph in gone.graphs.items() if graph.name == "g")].parameters[0]
    assert UNKNOWN in Flows(gone).arguments[parameter]
    assert UNKNOWN not in Flows(followed).arguments[parameter]
    for program in (gone, followed):
        assert same(Machine(without_copies(program)).run((2.0, 0.25)).value, 1.75)


@pytest.mark.parametrize(("other", "left"), [("%p", False), ("()", True), ("ZERO", True), ("(2.0, 3.0)", True), ("%z", True)])
@pytest.mark.parametrize("index", [1, -1])
def test_a_read_is_left_where_another_value_may_be_read(other: str, index: int, left: bool) -> None:
    assert is_read(read(EITHER.format(other=other, index=index))) == left


# what is not there

LACKING = """program @f
@f(%x: f64, %k: i64, %c: bool):
  %p = make_tuple(%x, %x)
  %t = switch(%c, %p, {other})
  %v = getitem(%t, {index})
  %d = instantiate(%v, %x)
  return %d
"""
PUSHED = """
def f(x, n):
    t = ()
    for i in range(n):
        t = ({}, t)
    return t[{}]
"""
POPPED = """
def f(x, n, m):
    t = ()
    while n > 0:
        t = (x, t)
        n = n - 1
    s = 0.0
    while m > 0:
        s = s + t[0]
        t = t[1]
        m = m - 1
    return s
"""


@pytest.mark.parametrize(
    ("other", "index"), [("()", "0"), ("()", "-1"), ("ZERO", "0"), ("ZERO", "-1"), ("%p", "%k"), ("ZERO", "%k")]
)
@pytest.mark.parametrize("chosen", [True, False])
@pytest.mark.parametrize("k", [1, -3])
def test_an_element_that_is_not_there_is_none(other: str, index: str, chosen: bool, k: int) -> None:
    """Both elements are x, which was given in place of that of (), of ZERO, and of one beyond the last."""
    alike(read(LACKING.format(other=other, index=index)), (2.0, k, chosen))


@pytest.mark.parametrize("pushed", ["x", "x * i"])
@pytest.mark.parametrize("count", [0, 3])
def test_the_top_of_an_empty_stack_is_a_trap(pushed: str, count: int) -> None:
    """Before, it was x; and where it is none of the entry's values, the host took code for it without end."""
    program = parse_text(PUSHED.format(pushed, 0), "f")
    alike(program, (2.0, count))
    compiled = backend.compile(program, tuple(backend.general(type_of(v)) for v in (2.0, 0)), "python")
    assert isinstance(outcome(lambda: compiled.call(2.0, 0)), Trap)


def alike(program: Program, arguments: tuple[Any, ...]) -> None:
    """Asserts that generated code ends as the reference does."""
    compiled = backend.compile(program, tuple(backend.general(type_of(v)) for v in arguments), "python")
    found, wanted = outcome(lambda: compiled.call(*arguments)), outcome(lambda: Machine(program).run(arguments).value)
    assert type(found) is type(wanted)
    assert isinstance(wanted, Trap) or same(found, wanted)


def test_a_stack_that_is_popped_is_asked_once() -> None:
    """The near miss: what is below the top is read there as well, so the cells hold nothing, and no read is made for itself."""
    program = parse_text(POPPED, "f")
    after = without_copies(optimize(program))
    needed = set().union(*scopes(after).needed.values())
    assert len([n for n in needed if after.callee(n) is GETITEM]) == 1
    for count, popped in ((0, 0), (3, 3), (3, 2), (2, 3)):
        alike(program, (2.0, count, popped))


# what is refused, and not a fault of ours


INJECTED = """program @f
@f(%x: f64, %k: i64):
  %t = make_tuple(%x, %x)
  %s = make_slice({start}, None, None)
  %e = make_tuple(%x)
  %d = inject(%t, %s, %e)
  %r = getitem(%d, 1)
  %v = instantiate(%r, %x)
  return %v
"""


def test_the_sensitivity_of_an_unknown_part_is_refused_and_that_of_a_known_one_is_not() -> None:
    """Shrunk: the gradient of a tuple that some turns cut, `q = r[:2]`."""
    assert "not compiled yet" in compared(read(INJECTED.format(start="%k")), (2.0, 1))
    assert compared(read(INJECTED.format(start="1")), (2.0, 1)) == ""


def test_a_stack_on_bottoms_of_two_kinds_is_refused() -> None:
    """Shrunk: the gradient of a record with a tuple that every turn makes anew, in some turns twice."""
    with pytest.raises(Malformed, match="more than one stack or none"):
        as_choice(Stack(Union((UNIT, StackType(7), ZERO_TYPE)), "top", "base"))
    assert as_choice(Stack(perhaps_empty(StackType(7)), "top", "base")).tests
