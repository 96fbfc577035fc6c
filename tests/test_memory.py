"""
Memory as a value: alloc, load, store and lea on a linear token, boxes and stacks made of them (FEATURES A3, Z4).

Laws on generated values; derivatives of programs against forward mode and the reversed trace, exactly, on fractions, and against
differences in ball arithmetic; what is refused, and its near miss.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from claims import judged
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

import adjudge as aj
from adjudge import memory as boxes
from checkers import forward_mode, trace_reversal
from checkers.properties.agreement import differ
from checkers.properties.oracles import ball_differences_agree
from semantics.columns.meaning import MEANING
from semantics.denotation import FRACTIONS, denote
from semantics.errors import IllTyped, Malformed, Trap
from semantics.ir import Program
from semantics.linear import check_linear, problems, tokens
from semantics.machine import run
from semantics.memory import Cells, Memory, Pointer
from semantics.primitives.memory_rows import MEMORY
from semantics.primitives.table import TABLE
from semantics.structured import LIST, Record
from semantics.tangents import ZERO, Sparse, gadd
from semantics.text import read
from semantics.values import same
from semantics.wellformed import check
from transforms.backpropagators import find, written_in
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_file, parse_text
from transforms.pipeline import OPTIMIZE

EXAMPLES = Path(__file__).parent.parent / "examples" / "memory.py"
VALUES = st.recursive(st.floats(-9, 9) | st.integers(-9, 9), lambda v: st.lists(v, min_size=1, max_size=3).map(tuple), max_leaves=4)


def cell(name: str, *arguments: Any) -> Any:
    """What a row means."""
    return MEANING[TABLE[name]](*arguments)


# laws


@given(VALUES, VALUES, VALUES)
def test_a_cell_holds_what_was_stored_last_and_no_store_touches_another(a: Any, b: Any, c: Any) -> None:
    m, p = cell("alloc", cell("memory", 0), a)
    n, q = cell("alloc", m, b)
    assert same(cell("load", m, p), a)
    assert same(cell("load", n, q), b)
    stored = cell("store", n, p, c)
    assert same(cell("load", stored, p), c)
    assert same(cell("load", stored, q), b)
    assert same(cell("load", n, p), a), "the token before the store is the memory as it was"
    assert same(cell("store", stored, p, cell("load", stored, p)), stored)
    assert same(cell("store", cell("store", n, p, b), p, c), stored)


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=4), st.data())
def test_lea_points_to_a_part_and_a_store_there_is_a_store_of_the_whole(items: list[float], data: st.DataObject) -> None:
    i = data.draw(st.integers(-len(items), len(items) - 1))
    for whole in (tuple(items), Record(LIST, tuple(items))):
        m, p = cell("alloc", cell("memory", 0), whole)
        q = cell("lea", p, i)
        assert same(cell("load", m, q), items[i])
        changed = cell("put", whole, i, 0.5)
        assert same(cell("store", m, q, 0.5), cell("store", m, p, changed))


def test_lea_goes_into_parts_of_parts() -> None:
    m, p = cell("alloc", cell("memory", 0), ((1.0, 2.0), 3.0))
    q = cell("lea", cell("lea", p, 0), 1)
    assert q == Pointer(0, 0, (0, 1))
    assert same(cell("load", cell("store", m, q, 5.0), p), ((1.0, 5.0), 3.0))


ENTRIES = st.dictionaries(st.integers(0, 3), st.floats(-9, 9), max_size=3).map(lambda d: Cells(Map(d)))


@given(ENTRIES, ENTRIES)
def test_sensitivities_of_memories_add_address_by_address(a: Cells, b: Cells) -> None:
    total = gadd(a, b)
    for address in range(4):
        assert same(total.entries.get(address, ZERO), gadd(a.entries.get(address, ZERO), b.entries.get(address, ZERO)))
    assert gadd(a, ZERO) is a
    assert gadd(ZERO, a) is a
    assert same(gadd(a, b), gadd(b, a))


@given(ENTRIES, st.integers(0, 3))
def test_a_sensitivity_is_its_cell_and_the_rest(d: Cells, address: int) -> None:
    p = Pointer(0, address)
    alone = cell("cell_alone", d, p, cell("cell", d, p))
    assert same(gadd(alone, cell("cell_cleared", d, p)), d)
    assert cell("cell", cell("cell_cleared", d, p), p) is ZERO


def test_the_sensitivity_of_a_part_stays_sparse() -> None:
    m, p = cell("alloc", cell("memory", 0), (1.0,) * 1000)
    d = cell("cell_alone", m, cell("lea", p, 7), 2.0)
    assert isinstance(d.entries[0], Sparse)
    assert dict(d.entries[0].entries) == {7: 2.0}
    assert cell("cell_cleared", d, cell("lea", p, 7)).entries[0].entries == Map()


@given(st.integers(0, 6), st.integers(0, 6))
def test_a_part_of_a_sparse_sensitivity_is_the_part_of_the_dense_one(start: int, stop: int) -> None:
    from semantics.structured import Slice
    from semantics.tangents import dense

    whole = Sparse(5, Map({0: 1.0, 3: 2.0, 4: 3.0}))
    for part in (Slice(start, stop), Slice(None, stop), Slice(None, None, -2)):
        found = cell("getitem", whole, part)
        assert same(found, cell("getitem", dense(whole), part))
        assert same(cell("inject", (0.0,) * 5, part, found), cell("inject", (0.0,) * 5, part, dense(found)))


# traps


def test_what_memory_forbids_is_refused_and_its_near_miss_is_not() -> None:
    m, p = cell("alloc", cell("memory", 0), (1.0, 2.0))
    _, q = cell("alloc", m, 3.0)
    other, _ = cell("alloc", cell("memory", 1), 1.0)
    with pytest.raises(Trap, match="of another memory"):
        cell("load", other, p)
    with pytest.raises(Trap, match="dangles"):
        cell("load", m, q)
    with pytest.raises(Trap, match="outside"):
        cell("load", m, cell("lea", p, 2))
    with pytest.raises(Trap, match="outside"):
        cell("store", m, cell("lea", p, 2), 1.0)
    for name, arguments in (
        ("load", (1.0, p)),
        ("load", (m, 1.0)),
        ("store", (p, m, 1.0)),
        ("alloc", (p, 1.0)),
        ("lea", (m, 0)),
        ("lea", (p, 0.5)),
    ):
        with pytest.raises(IllTyped, match=name):
            cell(name, *arguments)
    assert cell("load", m, cell("lea", p, -1)) == 2.0


def test_every_row_of_memory_has_a_meaning_and_a_backpropagator_in_the_language() -> None:
    for row in MEMORY:
        assert isinstance(find(row), Program)
        assert written_in()[row.name] == "memory.py"
        check(find(row))
        used = {n.value for n in find(row).nodes.values() if getattr(n, "value", None) in TABLE.values()}
        assert all(isinstance(find(p), Program) or p is TABLE["make_tuple"] for p in used)


# programs

CASES = {"accumulator": (1.5,), "pair": (1.5,), "power": (1.5, 4), "power_adjoint": (1.5, 4), "appended": (1.5,), "counted": (1.5,)}


@pytest.mark.parametrize("name", CASES)
def test_an_example_has_cpythons_value_and_its_derivatives_are_those_of_the_oracles(name: str) -> None:
    from runpy import run_path

    program, arguments = parse_file(EXAMPLES, name), CASES[name]
    check_linear(program)
    assert same(run(program, *arguments), run_path(str(EXAMPLES))[name](*arguments))
    exact = (Fraction(arguments[0]), *arguments[1:])
    first, second = gradient_program(program), gradient_program(gradient_program(program))
    found = denote(first, exact, FRACTIONS)
    assert differ(found, forward_mode.gradient(program, exact, FRACTIONS)[0]) is None
    assert differ(found, trace_reversal.gradient(program, exact, FRACTIONS)[0]) is None
    assert differ(denote(second, exact, FRACTIONS), forward_mode.second_derivative(program, exact, carrier=FRACTIONS)) is None
    assert same(run(OPTIMIZE.run(first), *arguments), run(first, *arguments))


@pytest.mark.parametrize("name", ["accumulator", "pair", "appended"])
def test_differences_in_ball_arithmetic_enclose_the_gradient(name: str) -> None:
    judged(ball_differences_agree(parse_file(EXAMPLES, name), (1.5,)))


@pytest.mark.parametrize("n", [0, 1, 5])
def test_the_adjoint_written_by_hand_with_a_stack_is_the_gradient(n: int) -> None:
    """Zygote's pow, section 3.1: bit for bit, for both multiply in the same order."""
    by_hand, power = parse_file(EXAMPLES, "power_adjoint"), parse_file(EXAMPLES, "power")
    for x in (1.5, -0.3, 7.0):
        assert same(run(by_hand, x, n), run(gradient_program(power), x, n))


def test_live_functions_speak_of_memory_too() -> None:
    def twice(x: float) -> float:
        m, b = boxes.box(boxes.memory(0), x)
        m = boxes.put(m, b, boxes.get(m, b) * x)
        return boxes.get(m, b) + boxes.get(m, b)

    assert aj.run(twice, 3.0) == twice(3.0) == 18.0
    assert aj.grad(twice)(3.0) == 12.0
    assert aj.grad(aj.grad(aj.grad(lambda x: twice(x) * x)))(3.0) == 12.0


def test_a_closure_that_captures_a_memory_has_its_sensitivity() -> None:
    """The sensitivity of the closure holds that of the token, cell by cell."""
    text = """program @f

@f(%x):
  %m0 = memory(0)
  %a = alloc(%m0, %x)
  %m = getitem(%a, 0)
  %p = getitem(%a, 1)
  %u = @look(2.0)
  %v = @look(%x)
  %r = mul(%u, %v)
  return %r

@look(%y):
  %held = load(%m, %p)
  %w = mul(%held, %y)
  return %w
"""
    program = read(text)
    assert run(gradient_program(program), 1.5) == 6 * 1.5**2
    assert not list(problems(program))


# linearity

TWICE = """program @f

@f(%x):
  %m0 = memory(0)
  %a = alloc(%m0, %x)
  %m1 = getitem(%a, 0)
  %p = getitem(%a, 1)
  %m2 = store(%m1, %p, 1.0)
  %m3 = store({token}, %p, 2.0)
  %u = load(%m2, %p)
  %v = load(%m3, %p)
  %r = add(%u, %v)
  return %r
"""
BRANCHES = """program @f

@f(%x):
  %m0 = memory(0)
  %a = alloc(%m0, %x)
  %m1 = getitem(%a, 0)
  %p = getitem(%a, 1)
  %c = lt(%x, 0.0)
  %t = switch(%c, @then, @other)
  %m2 = %t()
  %m3 = store({token}, %p, 3.0)
  %u = load(%m2, %p)
  %v = load(%m3, %p)
  %r = add(%u, %v)
  return %r

@then():
  %one = store(%m1, %p, 1.0)
  return %one

@other():
  %two = store(%m1, %p, 2.0)
  return %two
"""
LOOP = """program @f

@f(%x):
  %m0 = memory(0)
  %a = alloc(%m0, %x)
  %m1 = getitem(%a, 0)
  %p = getitem(%a, 1)
  %r = @loop(%m1, 3)
  return %r

@loop(%m, %n):
  %k = sub(%n, 1)
  %v = load({token}, %p)
  %m2 = store({token}, %p, %v)
  %c = lt(%k, 0)
  %t = switch(%c, @end, @again)
  %s = %t()
  return %s

@end():
  %last = load(%m2, %p)
  return %last

@again():
  %next = @loop(%m2, %k)
  return %next
"""
CAPTURED = (
    LOOP.replace("@f(%x):", "@f(%x):", 1)
    .replace("%r = @loop(%m1, 3)", "%r = @loop(3)")
    .replace("@loop(%m, %n)", "@loop(%n)")
    .replace("@loop(%m2, %k)", "@loop(%k)")
)
PARTS = TWICE.replace("%m3 = store({token}, %p, 2.0)", "%again = getitem(%a, 0)\n  %m3 = store(%again, %p, 2.0)")
LOOKER = """program @f

@f(%x):
  %m0 = memory(0)
  %a = alloc(%m0, %x)
  %m1 = getitem(%a, 0)
  %p = getitem(%a, 1)
  %u = @look(%m1, %p)
  %v = @look(%m1, %p)
  %m2 = store(%m1, %p, %u)
  %w = load(%m2, %p)
  %r = add(%v, %w)
  return %r

@look(%m, %q):
  %after = {body}
  %held = load({token}, %q)
  return %held
"""
LINEAR = {
    "a chain": TWICE.format(token="%m2"),
    "two branches": BRANCHES.format(token="%m2"),
    "a loop that passes the token on": LOOP.format(token="%m"),
    "functions that look": LOOKER.format(body="mul(2.0, 3.0)", token="%m"),
}
NOT_LINEAR = {
    "two stores": TWICE.format(token="%m1"),
    "two parts of one alloc": PARTS,
    "a branch, and a store beside it": BRANCHES.format(token="%m1"),
    "a loop that captures the token": CAPTURED.format(token="%m1"),
    "a function that stores, called twice": LOOKER.format(body="store(%m, %q, 1.0)", token="%after"),
}


@pytest.mark.parametrize("name", LINEAR)
def test_a_program_that_uses_each_token_once_is_linear(name: str) -> None:
    program = read(LINEAR[name])
    check_linear(program)
    assert len(tokens(program)) >= 3
    assert run(program, 1.5) is not None


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_a_token_used_twice_is_refused_by_its_name(name: str) -> None:
    program = read(NOT_LINEAR[name])
    check(program)
    with pytest.raises(Malformed, match="the memory %m1 is used twice") as raised:
        check_linear(program)
    assert raised.value.rule == "linear"
    assert raised.value.remedy


def test_a_memory_prints_its_cells() -> None:
    m, p = cell("alloc", cell("memory", 0), 1.5)
    assert isinstance(m, Memory)
    assert repr(m) == "memory{0: 1.5}"
    assert repr(cell("lea", p, 2)) == "&0[2]"
    assert repr(cell("cell_alone", m, p, 2.0)) == "Cells({0: 2.0})"


LOOP_THAT_ONLY_LOOKS = """
def f(x):
    xs = [x, 1.0]
    ys = [2.0, x]
    for i in range(2):
        ys = xs
    xs.append(x)
    return ys[1] + len(xs)
"""
LOOP_THAT_STORES = """
program @f
@f(%x: f64, %n: i64):
  %m = memory(1)
  %a = alloc(%m, %x)
  %m1 = getitem(%a, 0)
  %p = getitem(%a, 1)
  %r = @loop(%n)
  return %r
@loop(%i):
  %c = gt(%i, 0)
  %s = switch(%c, @body, @after)
  %t = %s()
  return %t
@body():
  %m2 = store(%m1, %p, 2.0)
  %j = sub(%i, 1)
  %u = load(%m2, %p)
  %v = @loop(%j)
  %w = add(%u, %v)
  return %w
@after():
  %y = load(%m1, %p)
  return %y
"""


def test_a_token_that_is_consumed_once_after_a_loop_is_used_once() -> None:
    """Regression, `linear._uses`: what the last turn consumes was counted for every turn, where the loop captured the token."""
    found = parse_text(LOOP_THAT_ONLY_LOOKS, "f")
    check_linear(found)
    assert run(found, 1.5) == 4.0


def test_a_token_that_every_turn_of_a_loop_consumes_is_used_more_than_once() -> None:
    with pytest.raises(Malformed, match="is used twice"):
        check_linear(read(LOOP_THAT_STORES))
