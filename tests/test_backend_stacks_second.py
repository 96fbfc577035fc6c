"""Second derivatives of loops, compiled: the sensitivity of a stack is a stack, and every bit is the reference's."""

from __future__ import annotations

from typing import Any

import corpus
import pytest
from claims import costly
from hypothesis import event, given
from test_backend_stacks import LOOPS, POINTS, POW, TYPES, outcome

import backend
from backend.lowering.entry_values import without_copies
from backend.lowering.expansion import first_that_fits
from backend.stacks import memory as stack_memory
from backend.stacks.sensitivities import with_tuples
from backend.stacks.sites import MAKE_TUPLE, stack_sites
from backend.stacks.stack_types import EMPTY, StackType, perhaps_empty, site_of
from checkers.generators import Options, Source, points, sources
from semantics.edit import Edit
from semantics.errors import IllTyped, OutOfFuel
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.text import read
from semantics.type_language import REAL
from semantics.type_lattice import ZERO_TYPE, join
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_file, parse_text
from transforms.pipeline import optimize


def hessian(text: str) -> Program:
    return calling(parse_text(text, "f"), "hessian", 0, TYPES)


def agrees(program: Program, types: tuple[Any, ...], samples: Any, target: str = "python") -> None:
    """The generated code gives what the reference gives of the same expansion."""
    code, expanded = first_that_fits(program, "J", lambda one: (backend.compile(one, types, target), one))
    for sample in samples:
        wanted, found = outcome(lambda x=sample: run(expanded, *x)), outcome(lambda x=sample: code.call(*x))
        assert (wanted == found) if isinstance(wanted, type) else same(wanted, found)


@pytest.mark.parametrize("name", LOOPS)
def test_the_second_derivative_of_a_loop_is_the_references_in_every_bit(name: str) -> None:
    agrees(hessian(LOOPS[name]), TYPES, POINTS)


def test_so_it_is_when_numba_compiles_it_and_in_the_simulator() -> None:
    agrees(hessian(POW), TYPES, (*POINTS, (1.0, 3000)), "cpu")
    agrees(hessian(POW), TYPES, POINTS[:2], "cuda-simulator")


LEFT_EARLY = """
def f(x, n: int):
    y = x if x > 1.0 else 1.0
    for i in range(n):
        if y < 0.5:
            return y * x
        y = y * x
    return y
"""


def test_a_call_of_many_arguments_has_no_branch_among_them() -> None:
    """Of more than 30 CPython makes a list first, which Numba does not follow through a branch: once its error came out."""
    agrees(hessian(LEFT_EARLY), TYPES, POINTS, "cpu")


@pytest.mark.parametrize("case", [c for c in corpus.CASES if c.file == "loops"], ids=lambda c: c.name)
def test_those_of_the_corpus_are_too(case: Any) -> None:
    program = calling(parse_file(corpus.FOLDER / "loops.py", case.name), "hessian", 0, (REAL,))
    agrees(program, (REAL,), [(float(x),) for x in case.points])


ONE_LOOP = Options(features=frozenset({"math", "branch", "integer", "range"}), always=frozenset({"range"}), size=1)


@costly(20)
@given(sources(ONE_LOOP), points(2))
def test_generated_second_derivatives_are_too(source: Source, x: tuple[float, ...]) -> None:
    program = calling(source.program(), "hessian", 0, (REAL, REAL))
    event(f"turns: {source.text.count('while') + source.text.count('for ')}")
    agrees(program, (REAL, REAL), [x])


# sensitivities as tuples


def second(text: str) -> Program:
    return without_copies(optimize(expand(hessian(text), "ssa")))


def test_what_is_injected_into_a_cell_is_a_tuple_and_so_one_more_place_pushes() -> None:
    program = second(POW)
    after = with_tuples(program)
    assert len(stack_sites(after)) == len(stack_sites(program)) + 1
    for x, n in POINTS:
        assert same(run(after, x, n), run(program, x, n))


def test_what_is_injected_into_another_tuple_is_left_alone() -> None:
    program = read(
        "program @f\n@f(%x: f64):\n  %t = make_tuple(%x, %x)\n  %d = inject(%t, 0, %x)\n  %r = getitem(%d, 0)\n  return %r"
    )
    assert with_tuples(program) is program or with_tuples(program).canonical == program.canonical


def test_parts_in_the_wrong_order_are_seen() -> None:
    program = second(POW)
    after = with_tuples(program)
    new = [n for n in after.nodes if n not in program.nodes and after.callee(n) is MAKE_TUPLE and len(after.inputs(n)) == 3]
    assert new
    edit = Edit(after)
    for node in new:
        function, *parts = after.inputs(node)
        edit.set_inputs(node, (function, *reversed(parts)))
    with pytest.raises(IllTyped):
        run(edit.program, 1.5, 4)


def test_sums_of_several_terms_in_one_element_are_taken_in_their_order() -> None:
    """(inject 0 a + inject 1 b) + inject 0 c is (a + c, b)."""
    text = """program @f
@f(%n: i64, %x: f64):
  %s = @grow(%n, (), %x)
  %i = inject(%s, 0, 1e16)
  %j = inject(%s, 1, 2.0)
  %k = inject(%s, 0, %x)
  %a = gadd(%i, %j)
  %b = gadd(%a, %k)
  %r0 = getitem(%b, 0)
  return %r0
@grow(%m, %t, %v):
  %c = gt(%m, 0)
  %u = switch(%c, @more, @done)
  %q = %u()
  return %q
@more():
  %l = sub(%m, 1)
  %p = make_tuple(%v, %t)
  %r = @grow(%l, %p, %v)
  return %r
@done():
  return %t
"""
    program = read(text)
    after = with_tuples(program)
    assert not any(after.callee(n) is TABLE["inject"] and after.users(n) for n in after.nodes)
    assert same(run(after, 2, 1.0), run(program, 2, 1.0))


# types


def test_a_stack_on_zero_is_another_type_than_one_on_the_empty_tuple() -> None:
    plain, sensitive = StackType(7), StackType(7, ZERO_TYPE)
    assert site_of(perhaps_empty(plain)) == site_of(perhaps_empty(sensitive)) == 7
    assert site_of(join(EMPTY, sensitive)) is None
    assert site_of(join(ZERO_TYPE, plain)) is None


def test_after_a_call_without_memory_for_its_stacks_another_finds_them_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stacks grow until a call fails; the ways in that were made before that lead to the memory that there is now."""
    program = calling(parse_text(POW, "f"), "grad", 0, TYPES)
    code = backend.compile(program, TYPES, "cpu")
    wanted = code(1.25, 3)
    way = code.way_in(code.call)
    assert way is not None
    monkeypatch.setattr(stack_memory, "LIMIT", 1 << 16)
    with pytest.raises(OutOfFuel, match="do not fit"):
        way(1.25, 1 << 17)
    assert way(1.25, 3) == wanted
