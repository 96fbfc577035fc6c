"""Gradients of loops, compiled: what a turn leaves is on stacks, and every bit is the reference's."""

from __future__ import annotations

import re
from typing import Any

import corpus
import pytest
from claims import costly
from hypothesis import event, given
from hypothesis import strategies as st

import adjudge
import backend
from backend import toolchain
from backend.cuda import numba_cuda
from backend.lowering.entry_values import without_copies
from backend.lowering.expansion import first_that_fits
from backend.stacks import memory as stack_memory
from backend.stacks.layout import laid_out
from backend.stacks.sites import stack_sites
from backend.status import error
from checkers.generators import Options, Source, points, sources
from semantics.errors import AdjudgeError, IllTyped, Malformed, OutOfFuel, Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.text import read
from semantics.type_language import INTEGER, REAL
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_file, parse_text
from transforms.pipeline import optimize

POW = """
def f(x, n: int):
    r = 1.0
    for i in range(n):
        r = r * x
    return r
"""
NESTED = """
import math
def f(x, n: int):
    s = 0.0
    for i in range(n):
        t = x
        for j in range(i):
            t = math.sin(t) * x + s
        s = s + t * t
    return s
"""
LEAVING = """
import math
def f(x, n: int):
    r = x
    k = 0
    while r < 100.0:
        r = r * r + x
        k = k + 1
        if k > n:
            break
        if r > 50.0:
            continue
        r = r * math.exp(x / r)
    return r * x
"""
RETURNING = """
def f(x, n: int):
    r = 1.0
    for i in range(n):
        r = r * x
        if r > 5.0:
            return r * x
    return r + x
"""
ONE_AFTER_ANOTHER = """
def f(x, n: int):
    r = 1.0
    for i in range(n):
        r = r * x + r
    for i in range(n):
        if r > 1.0:
            r = r * 0.5 + x * r
        else:
            r = r - x
    return r
"""
LOOPS = {"pow": POW, "nested": NESTED, "leaving": LEAVING, "returning": RETURNING, "one after another": ONE_AFTER_ANOTHER}
TYPES = (REAL, INTEGER)
POINTS = ((1.1, 5), (0.3, 0), (-0.7, 6), (3.3, 3))


def gradient(text: str) -> Program:
    """value_and_grad of f, not expanded."""
    return calling(parse_text(text, "f"), "value_and_grad", 0, TYPES)


def reference(program: Program) -> Any:
    """The value of the same program by the mode `ssa`, on the machine."""
    expanded = expand(program, "ssa")
    return lambda *arguments: run(expanded, *arguments)


@pytest.mark.parametrize("name", LOOPS)
def test_the_gradient_of_a_loop_is_the_references_in_every_bit(name: str) -> None:
    program = gradient(LOOPS[name])
    for found in backend.crosscheck(program, TYPES, POINTS, reference(program), ["python", "cuda-simulator"]):
        assert found.skipped or (found.mismatches == () and found.bitwise == len(POINTS)), found


def test_so_it_is_when_numba_compiles_it() -> None:
    program = gradient(NESTED)
    [found] = backend.crosscheck(program, TYPES, POINTS, reference(program), ["cpu"])
    assert not found.skipped
    assert found.bitwise == len(POINTS)


OF_LOOPS = [c for c in corpus.CASES if c.file == "loops"]


@pytest.mark.parametrize("case", OF_LOOPS, ids=lambda c: c.name)
def test_the_loops_of_the_corpus_do_too(case: Any) -> None:
    program = calling(parse_file(corpus.FOLDER / "loops.py", case.name), "value_and_grad", 0, (REAL,))
    samples = [(float(x),) for x in case.points]
    [found] = backend.crosscheck(program, (REAL,), samples, reference(program), ["python"])
    assert not found.skipped, found.skipped
    assert found.bitwise == len(samples)


SOME = frozenset({"math", "conditional", "branch", "integer", "augmented", "kinks", "range", "while"})
WITH_LOOPS = Options(features=SOME, always=frozenset({"while", "range"}), size=3)


@costly(8)
@given(sources(WITH_LOOPS), points(2))
def test_generated_gradients_are_the_references_in_every_bit(source: Source, x: tuple[float, ...]) -> None:
    program = calling(source.program(), "value_and_grad", 0, (REAL, REAL))
    modes: list[str] = []

    def lower(expanded: Program) -> Any:
        modes.append("one more")
        return backend.compile(expanded, (REAL, REAL), "python"), expanded

    compiled, expanded = first_that_fits(program, "J", lower)
    event(f"stacks: {compiled.code.stacks}")
    wanted, found = outcome(lambda: run(expanded, *x)), outcome(lambda: compiled(*x))
    assert (wanted == found) if isinstance(wanted, type) else same(wanted, found)


def outcome(action: Any) -> Any:
    """The value, or the kind of the error."""
    try:
        return action()
    except (Trap, OutOfFuel) as found:
        return type(found)


# memory


def test_a_stack_that_is_full_gets_more_memory_and_the_value_is_the_same() -> None:
    compiled = backend.compile(gradient(POW), TYPES, "python")
    turns = 3 * stack_memory.CELLS
    assert same(compiled(1.0, turns), (1.0, float(turns)))
    assert compiled.memory.cells == (4 * stack_memory.CELLS,)
    assert same(compiled(1.0, 3), (1.0, 3.0))


def test_a_stack_that_outgrows_its_limit_is_out_of_fuel(monkeypatch: Any) -> None:
    monkeypatch.setattr(stack_memory, "LIMIT", 2 * stack_memory.CELLS)
    compiled = backend.compile(gradient(POW), TYPES, "python")
    assert same(compiled(1.0, 2 * stack_memory.CELLS), (1.0, 2.0 * stack_memory.CELLS))
    with pytest.raises(OutOfFuel, match="the stacks of its loops do not fit"):
        compiled(1.0, 2 * stack_memory.CELLS + 1)


def test_what_the_entry_knows_is_not_pushed_and_what_nothing_reads_is_not_either() -> None:
    """Of x · r, x is the argument of the entry; of r + x nothing is read. What differs in each turn is pushed."""
    added = POW.replace("r * x", "r + x")
    assert backend.lowered(gradient(POW), TYPES).width == 1
    assert backend.lowered(gradient(added), TYPES).width == 0
    assert backend.lowered(gradient(POW.replace("r * x", "r * (x + i)")), TYPES).width == 2


def test_a_read_that_a_value_of_the_entry_itself_needs_is_left_alone() -> None:
    program = optimize(expand(gradient(RETURNING), "ssa"))
    again = without_copies(program)
    for x, n in POINTS:
        assert same(run(again, x, n), run(program, x, n))


TWO_IN_TURN = """program @f
@f(%x: f64, %n: i64):
  %r = @grow(%n, (), (), %x)
  return %r
@grow(%i, %s, %t, %a):
  %c = gt(%i, 0)
  %b = switch(%c, @more, @done)
  %q = %b()
  return %q
@more():
  %j = sub(%i, 1)
  %a2 = mul(%a, 1.5)
  %s2 = @push(%a, %s)
  %t2 = @push(%a2, %t)
  %m = @grow(%j, %s2, %t2, %a2)
  return %m
@push(%v, %rest):
  %p = make_tuple(%v, %rest)
  return %p
@done():
  %u = @total(%s, 0.0)
  %w = @total(%t, 0.0)
  %d = sub(%u, %w)
  return %d
@total(%l, %acc):
  %z = length(%l)
  %y = gt(%z, 0)
  %k = switch(%y, @one, @end)
  %e = %k()
  return %e
@one():
  %h = getitem(%l, 0)
  %o = getitem(%l, 1)
  %g = add(%acc, %h)
  %rr = @total(%o, %g)
  return %rr
@end():
  return %acc
"""


@pytest.mark.parametrize("target", ["python", "cuda-simulator"])
def test_two_stacks_that_grow_in_turn_get_links(target: str) -> None:
    if toolchain.targets()[target]:
        pytest.skip(toolchain.targets()[target])
    program = read(TWO_IN_TURN)
    compiled = backend.compile(program, None, target, optimize=False)
    before = compiled.code.source
    for x, n in ((1.25, 0), (1.25, 1), (0.5, 7)):
        assert same(compiled(x, n), run(program, x, n))
    assert compiled.code.source != before


def test_a_stack_that_is_known_to_be_empty_has_no_code_of_its_own() -> None:
    for text, places in ((POW, 1), (LOOPS["one after another"], 2)):
        assert len(re.findall(r"(s\d+) = \1 \+ 1", backend.lowered(gradient(text), TYPES).source)) == places


# which places push


SITE = {
    "a tuple that holds one made at the same place": (TWO_IN_TURN, 1),
    "a tuple of what is no tuple": (TWO_IN_TURN.replace("make_tuple(%v, %rest)", "make_tuple(%v, %v)"), 0),
    "a tree": (TWO_IN_TURN.replace("make_tuple(%v, %rest)", "make_tuple(%rest, %rest)"), 0),
}


@pytest.mark.parametrize("name", SITE)
def test_a_place_pushes_if_one_field_may_be_a_tuple_made_there(name: str) -> None:
    text, count = SITE[name]
    assert len(stack_sites(read(text))) == count


def test_a_tree_is_refused() -> None:
    with pytest.raises((Malformed, IllTyped)):
        backend.compile(read(SITE["a tree"][0]), None, "python", optimize=False)


# the way in


def test_a_program_without_a_loop_is_differentiated_by_j_and_one_with_a_loop_by_the_ssa_adjoint() -> None:
    straight = calling(parse_text("def f(x, n: int):\n    return x * x * x\n", "f"), "grad", 0, TYPES)
    assert modes_tried(straight) == ["@◀f"]
    assert modes_tried(gradient(POW))[0].startswith("tape")


def modes_tried(program: Program) -> list[str]:
    """For each expansion, what tells its mode: whether the adjoint takes a tape."""
    found: list[str] = []

    def lower(expanded: Program) -> None:
        names = {getattr(node, "name", "") for node in expanded.nodes.values()}
        found.append("tape" if "tape" in names else "@◀f")
        raise Malformed("no")

    with pytest.raises(AdjudgeError):
        first_that_fits(program, "J", lower)
    return found


def test_compiled_gradients_are_called_as_functions() -> None:
    def f(x, n):
        r = 1.0
        for _ in range(n):
            r = r * x
        return r

    compiled = adjudge.compile(adjudge.grad(f))
    assert [compiled(1.5, n) for n in (0, 1, 2, 3)] == [adjudge.grad(f)(1.5, n) for n in (0, 1, 2, 3)]
    assert compiled(x=1.5, n=2) == 3.0
    assert compiled(1.0, 5000) == 5000.0
    with pytest.raises(IllTyped, match="the derivative with respect to x"):
        compiled(1, 2)
    with pytest.raises(IllTyped, match="range"):
        compiled(1.5, 2.0)


@pytest.mark.parametrize("cc", [(7, 5), (9, 0)])
def test_stacks_are_compiled_for_gpus(cc: tuple[int, int]) -> None:
    if reason := numba_cuda.ptx_available():
        pytest.skip(reason)
    text = backend.ptx(gradient(POW), TYPES, cc)
    assert f"sm_{cc[0]}{cc[1]}" in text
    assert "fma" not in text


def test_every_status_that_is_no_answer_of_the_host_is_an_error() -> None:
    from backend import status

    for code in range(status.OVERFLOW, status.MEMORY_LIMIT + 1):
        if code not in (status.FULL, status.LINKED):
            assert isinstance(error(code, 10), AdjudgeError)


@given(st.integers(0, 40), st.floats(-2, 2))
def test_a_second_call_finds_nothing_of_the_first(n: int, x: float) -> None:
    wanted = run(expand(gradient(POW), "ssa"), x, n)
    assert same(SHARED(x, n), wanted)
    assert same(SHARED(x, n), wanted)


SHARED = backend.compile(gradient(POW), TYPES, "python")


def test_a_block_whose_only_line_is_a_store_that_nothing_reads() -> None:
    """Shrunk from generated programs: the loop never turns, and what its other branch stores is never read."""
    text = (
        "def f(x, z):\n    c1 = z\n    if x < c1:\n        i2 = 0\n        while i2 < 0:\n            i2 = i2 + 1\n"
        "            c1 = c1\n        c1 /= 2.0 + c1 * c1\n    a3 = c1\n    return ((a3 + a3) + c1) * 0.125\n"
    )
    program = calling(parse_text(text, "f"), "value_and_grad", 0, (REAL, REAL))
    compiled, expanded = first_that_fits(program, "J", lambda one: (backend.compile(one, (REAL, REAL), "python"), one))
    for x in ((0.0, 0.0), (1.0, 2.0)):
        assert same(run(expanded, *x), compiled(*x))


# where the scalars of a cell lie


@pytest.mark.parametrize(
    ("count", "view", "places"),
    [
        (1, "", {"i5"}),
        (4, "", {"i5", "1 * room0 + i5", "2 * room0 + i5", "3 * room0 + i5"}),
        (5, "", {"5 * (i5)", *(f"5 * (i5) + {k}" for k in range(1, 5))}),
        (2, "    a7_ = reals[integers[⟦1:i5:0⟧]:integers[⟦1:i5:0⟧] + 3]\n    x9 = a7_[0]", {"2 * (i5)", "2 * (i5) + 1"}),
    ],
)
def test_few_numbers_of_a_cell_lie_beside_those_of_the_next(count: int, view: str, places: set[str]) -> None:
    """More of them, or one that says where an array is, lie beside each other."""
    loads = "".join(f"    x{k} = float(reals[⟦1:i5:{k}⟧])\n    f(x{k})\n" for k in range(count))
    (text,), widths = laid_out([f"def kernel(reals, integers):\n{loads}{view}"], [1])
    assert {*re.findall(r"float\(reals\[(.*)\]\)", text)} == places
    assert widths == (count,)
