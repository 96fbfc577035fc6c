"""
Pointers under local pullbacks (MimIrADe, section 3.3.1): a pointer to pullbacks, and the second strategy, accumulation.

Every strategy gives J's gradient and that of forward mode, exactly, on fractions; each rule where it fires and where it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from mutation_programs import MUTATIONS
from test_shadow import CHOICE, KEPT, PAIR, program, straight

from checkers import forward_mode
from checkers.properties.agreement import differ
from semantics.denotation import FRACTIONS, denote
from semantics.errors import AdjudgeError, Malformed
from semantics.ir import Program
from semantics.machine import Machine, run
from semantics.primitives.table import TABLE
from semantics.scope import scopes_from
from semantics.text import read
from semantics.wellformed import check
from transforms import modes
from transforms.agenda_system import AgendaRule, agenda_rule
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_file, parse_text
from transforms.pipeline import OPTIMIZE
from transforms.pullback import PURE, applied, begin, expand_j
from transforms.pullback.cells import Cell, cells_of
from transforms.pullback.pointers import POINTER_RULES, with_cells
from transforms.pullback.state import PullbackState

MEMORY = tuple(TABLE[name] for name in ("memory", "alloc", "load", "store", "lea"))
EXAMPLES = Path(__file__).parent.parent / "examples" / "memory.py"
STRATEGIES: dict[str, Callable[[Program, int], Program]] = {
    "structured": expand_j,
    "in memory, pure": partial(expand_j, shared=False, pointers="in_memory"),
    "in memory, shared": partial(expand_j, pointers="in_memory"),
    "accumulated": partial(expand_j, pointers="accumulated"),
}
STRUCTURED = tuple(name for name in STRATEGIES if name != "accumulated")


def by(strategy: str, p: Program, wrt: Any = 0) -> Program:
    """The gradient by local pullbacks with this strategy for pointers, which is well-formed."""
    found = gradient(p, wrt, strategy, STRATEGIES[strategy])
    check(found)
    return found


def gradient(p: Program, wrt: Any, name: str, expand: Callable[[Program, int], Program]) -> Program:
    """The gradient by what is a reverse mode as long as this takes."""
    mode = f"pointers {name}"
    modes.MODES[mode] = modes.Mode(mode, name, "MimIrADe §3.3.1", expand)
    try:
        return gradient_program(p, wrt, mode=mode)
    finally:
        del modes.MODES[mode]


def agrees(p: Program, at: tuple[Any, ...], strategies: tuple[str, ...], wrt: Any = 0) -> None:
    """The gradients are J's and forward mode's, exactly."""
    expected = denote(gradient_program(p, wrt), at, FRACTIONS)
    ahead = forward_mode.gradient(p, at, FRACTIONS)
    assert differ(expected, ahead if isinstance(wrt, tuple) else ahead[wrt]) is None
    for strategy in strategies:
        assert differ(denote(by(strategy, p, wrt), at, FRACTIONS), expected) is None, strategy


# which cells are local


def cells(p: Program, in_memory: bool = False) -> list[Cell]:
    return sorted({*cells_of(p, scopes_from(p, [p.entry]), in_memory).local.values()}, key=lambda cell: cell.alloc)


def of(*lines: str) -> Program:
    """A program that allocates a cell with x in it, does these, and returns r."""
    return program("%m0 = memory(0)", "%a = alloc(%m0, %x)", "%m = getitem(%a, 0)", "%p = getitem(%a, 1)", *lines, "return %r")


LOCAL = {
    "loaded": of("%r = load(%m, %p)"),
    "stored": of("%n = store(%m, %p, %y)", "%r = load(%n, %p)"),
    "checked to be a pair": program(
        *("%m0 = memory(0)", "%a = alloc(%m0, %x)", "%t = of_length(%a, 2)", "%m = getitem(%t, 0)", "%p = getitem(%t, 1)"),
        *("%r = load(%m, %p)", "return %r"),
    ),
}
NOT_LOCAL = {
    "chosen": CHOICE,
    "kept in memory": program(*KEPT),
    "passed on": of("%t = make_tuple(%p, %x)", "%q = getitem(%t, 0)", "%r = load(%m, %q)"),
    "a part of what is no tuple": of("%q = lea(%p, 0)", "%r = load(%m, %q)"),
}


@pytest.mark.parametrize("name", LOCAL)
def test_a_cell_that_only_its_own_graph_reads_and_writes_is_local_and_known(name: str) -> None:
    (cell,) = cells(LOCAL[name])
    assert cell.known
    assert cell.parts is None
    assert cells(LOCAL[name], in_memory=True) == [replace(cell, known=False)]


@pytest.mark.parametrize("name", NOT_LOCAL)
def test_a_cell_whose_pointer_goes_elsewhere_is_not(name: str) -> None:
    local = [c for c in cells(NOT_LOCAL[name], in_memory=True) if NOT_LOCAL[name].describe_name(c.alloc) == "%a"]
    assert not local


def test_the_parts_of_a_tuple_are_told_apart_and_one_beyond_its_end_is_not() -> None:
    (cell,) = cells(PAIR)
    assert cell.parts == 2
    assert not cells(read(str(PAIR).replace("lea(%p, 0)", "lea(%p, 2)")))


CALLED = """program @f

@f(%x: f64, %y: f64):
  %m0 = memory(0)
  %a = alloc(%m0, %x)
  %m1 = getitem(%a, 0)
  %p = getitem(%a, 1)
  %m2 = @other(%m1, %y)
  %u = load(%m2, %p)
  %r = mul(%u, %y)
  return %r

@other(%m, %v):
  %b = alloc(%m, %v)
  %n = getitem(%b, 0)
  return %n
"""
INDEXED = program(
    *("%m0 = memory(0)", "%w = make_tuple(%x, %y)", "%a = alloc(%m0, %w)", "%m1 = getitem(%a, 0)", "%p = getitem(%a, 1)"),
    *("%c = lt(%x, %y)", "%i = switch(%c, 0, 1)", "%q = lea(%p, %i)", "%u = load(%m1, %q)", "%s = mul(%u, %y)"),
    *("%m2 = store(%m1, %q, %s)", "%t = load(%m2, %p)", "%h = getitem(%t, 0)", "%l = getitem(%t, 1)", "%r = mul(%h, %l)"),
    "return %r",
)
UNKNOWN = {"a token that a call gives": read(CALLED), "an index that is computed": INDEXED}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_a_cell_holds_may_be_known_only_when_the_program_runs(name: str) -> None:
    """Then p_S* is in memory, as in figure 4, or the column's backpropagators are applied."""
    assert not [c for c in cells(UNKNOWN[name]) if UNKNOWN[name].describe_name(c.alloc) == "%a"]
    assert cells(UNKNOWN[name], in_memory=True)
    agrees(UNKNOWN[name], (Fraction(3, 2), Fraction(-2)), STRUCTURED, (0, 1))
    agrees(UNKNOWN[name], (Fraction(-3, 2), Fraction(2)), STRUCTURED, (0, 1))


# gradients


@pytest.mark.parametrize("name", [*LOCAL, *NOT_LOCAL])
def test_every_strategy_gives_js_gradient(name: str) -> None:
    p = {**LOCAL, **NOT_LOCAL}[name]
    if name == "a part of what is no tuple":
        return
    strategies = STRUCTURED if name in ("kept in memory", "passed on") else tuple(STRATEGIES)
    agrees(p, (Fraction(3, 2), Fraction(-2)), strategies, (0, 1))


@given(straight(), st.sampled_from([1.5, -0.5]), st.sampled_from([2.0, -3.0]))
def test_a_pointer_to_pullbacks_is_a_pointer_to_sensitivities(p: Program, x: float, y: float) -> None:
    event(f"local cells: {len(cells(p))}")
    agrees(p, (Fraction(x), Fraction(y)), tuple(STRATEGIES), (0, 1))


CASES = {"accumulator": (), "pair": (), "power": (4,), "appended": (), "counted": ()}


@pytest.mark.parametrize("optimized", [False, True], ids=["as parsed", "optimized"])
@pytest.mark.parametrize("name", CASES)
def test_the_examples_have_their_gradients(name: str, optimized: bool) -> None:
    p = parse_file(EXAMPLES, name)
    agrees(OPTIMIZE.run(p) if optimized else p, (Fraction(3, 2), *CASES[name]), STRUCTURED)


DEEP = ("effects in arguments", "methods", "order of evaluation")  # each load in memory calls those before it again


@pytest.mark.parametrize("name", MUTATIONS)
def test_programs_that_change_lists_and_arrays_in_place_have_their_gradients(name: str) -> None:
    p = OPTIMIZE.run(parse_text(MUTATIONS[name], "f", names={"np": np}))
    agrees(p, (Fraction(3, 2),), ("structured",) if name in DEEP else STRUCTURED)


def test_accumulation_agrees_or_refuses() -> None:
    """It reaches the programs of which inlining leaves no call."""
    reached = []
    for name, text in MUTATIONS.items():
        p = OPTIMIZE.run(parse_text(text, "f", names={"np": np}))
        refusal = None
        try:
            agrees(p, (Fraction(3, 2),), ("accumulated",))
            reached.append(name)
        except Malformed as raised:
            refusal = raised
        assert refusal is None or (refusal.rule in ("shadow", "linear") and refusal.remedy)
    assert {"methods", "second name", "parameter copied", "effects in arguments"} <= set(reached), reached


@pytest.mark.parametrize("p", [PAIR, LOCAL["stored"]], ids=["parts", "whole"])
@pytest.mark.parametrize("first", STRATEGIES)
@pytest.mark.parametrize("second", ["J", *STRUCTURED])
def test_the_gradient_by_every_strategy_can_be_differentiated_again(p: Program, first: str, second: str) -> None:
    at = (Fraction(3, 2), Fraction(-2))
    expected = denote(gradient_program(gradient_program(p), (0, 1)), at, FRACTIONS)
    once = by(first, p)
    twice = gradient_program(once, (0, 1)) if second == "J" else by(second, once, (0, 1))
    assert differ(denote(twice, at, FRACTIONS), expected) is None


# costs


def chain(n: int) -> Program:
    """The cell is squared n times: each turn looks at it twice."""
    lines = ["%m0 = memory(0)", "%a = alloc(%m0, %x)", "%n0 = getitem(%a, 0)", "%p = getitem(%a, 1)"]
    for i in range(n):
        lines += [f"%u{i} = load(%n{i}, %p)", f"%v{i} = load(%n{i}, %p)", f"%w{i} = mul(%u{i}, %v{i})"]
        lines.append(f"%n{i + 1} = store(%n{i}, %p, %w{i})")
    return program(*lines, f"%r = load(%n{n}, %p)", "return %r")


def steps(p: Program) -> int:
    return Machine(p).run((1.0, 1.0)).steps


def test_what_is_known_costs_linear_time_and_no_memory_at_all_going_back() -> None:
    """Called through the cell, a pullback would be called twice by each that follows it: 2ⁿ times."""
    a, b, c = (steps(by("structured", chain(n))) for n in (10, 20, 40))
    assert c - b == 2 * (b - a)
    assert c < steps(gradient_program(chain(40))) / 2
    assert steps(by("in memory, shared", chain(8))) > 2**8
    gradient = OPTIMIZE.run(by("structured", chain(3)))
    operations = [n for n in gradient.nodes if gradient.callee(n) in (TABLE["cell"], TABLE["cell_alone"], TABLE["cell_cleared"])]
    assert not operations


# rules


def coverage(p: Program, in_memory: bool) -> set[str]:
    """The rules of pointers that fire; every program on the way is well-formed."""
    derivation = PURE.derive(with_cells(applied(p), in_memory))
    for step in derivation.steps:
        check(step.after.program)
    return set(derivation.coverage()) & {rule.name for rule in POINTER_RULES}


def test_every_rule_fires_and_figure_4_where_the_cells_are_in_memory() -> None:
    known = {"alloc_known", "store_known", "load_known", "lea_known", "token_of_alloc", "pair_of_alloc"}
    both = {"alloc_both", "store_both", "load_both", "lea_both", "token_of_alloc", "pair_of_alloc"}
    assert coverage(PAIR, False) | coverage(LOCAL["checked to be a pair"], False) == known
    assert coverage(PAIR, True) | coverage(LOCAL["checked to be a pair"], True) == both
    assert known | both == {rule.name for rule in POINTER_RULES}


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("name", ["chosen", "passed on", "a part of what is no tuple"])
def test_no_rule_fires_where_no_cell_is_local(name: str, in_memory: bool) -> None:
    assert coverage(NOT_LOCAL[name], in_memory) == set()


def test_the_cell_of_pullbacks_holds_the_pullback_of_what_the_cell_holds() -> None:
    """Figures 4a to 4c, on the smallest program that has all three."""
    state = PURE.run(with_cells(applied(LOCAL["stored"]), in_memory=True))
    image = state.forward[state.target]
    called = [state.program.callee(n) for n in sorted(state.program.owned[image])]
    assert [c.name for c in called if c in MEMORY] == ["alloc", "alloc", "store", "store", "load", "load"]
    assert run(by("in memory, pure", LOCAL["stored"], (0, 1)), 1.5, 2.0) == (0.0, 1.0)


# refusals

CLOSING = """program @f

@f(%x: f64):
  %j = J(@h)
  return %j

@h(%y):
  %z = mul(%x, %y)
  return %z
"""


def test_accumulation_refuses_by_name_what_it_does_not_reach() -> None:
    for p, what in ((program(*KEPT), "kept in memory"), (read(CALLED), "without calls")):
        with pytest.raises(Malformed, match=what) as raised:
            by("accumulated", p)
        assert raised.value.rule == "shadow"
        agrees(p, (Fraction(3, 2), Fraction(-2)), STRUCTURED, (0, 1))
    again = by("accumulated", PAIR)
    with pytest.raises(Malformed, match="without calls"):
        by("accumulated", again)
    closing = read(CLOSING)
    with pytest.raises(Malformed, match="what closes over nothing, and this captures %x"):
        expand_j(closing, closing.graphs[closing.entry].output, pointers="accumulated")


# planted bugs


@agenda_rule
def store_known(state: PullbackState) -> PullbackState | None:
    """Wrong: the token has the pullback of the value."""
    after = RULE["store_known"].function(state)
    if after is None:
        return None
    graph, node = state.item.graph, state.item.node
    return replace(after, pullback=after.pullback.set((graph, node), after.pullback[graph, state.program.inputs(node)[3]]))


@agenda_rule
def load_known(state: PullbackState) -> PullbackState | None:
    """Wrong: what is loaded has the pullback of what the cell held first."""
    cell = state.cells.local.get(state.program.inputs(state.item.node)[2]) if state.at(TABLE["load"]) is not None else None
    if cell is None:
        return None
    first = state.cells.contents[cell.alloc]
    token = state.program.inputs(state.item.node)[1]
    stale = replace(state, cells=replace(state.cells, contents=state.cells.contents.set(token, first)))
    after = RULE["load_known"].function(stale)
    return None if after is None else replace(after, cells=state.cells)


@agenda_rule
def store_both(state: PullbackState) -> PullbackState | None:
    """Wrong: the pullback is not stored."""
    after = RULE["store_both"].function(state)
    if after is None:
        return None
    made = after.image[state.item.node]
    return replace(after, image=after.image.set(state.item.node, after.program.inputs(made)[1]))


RULE = {rule.name: rule for rule in POINTER_RULES}
BUGS = {"store_known": (store_known, False), "load_known": (load_known, False), "store_both": (store_both, True)}
TOLD = of(  # what flows to the second cell, which is not local, goes through the token of the store
    *("%n = store(%m, %p, %y)", "%u = load(%n, %p)", "%b = alloc(%n, %u)", "%o = getitem(%b, 0)", "%q = getitem(%b, 1)"),
    *("%v = load(%o, %q)", "%c = switch(True, %q, %q)", "%w = load(%o, %c)", "%s = mul(%v, %x)", "%r = mul(%s, %w)"),
)


@pytest.mark.parametrize("name", BUGS)
def test_a_wrong_rule_is_found_out(name: str) -> None:
    bug, in_memory = BUGS[name]
    wrong: AgendaRule[PullbackState] = bug
    system = replace(PURE, rules=tuple(wrong if rule.name == name else rule for rule in PURE.rules))
    wrongly = gradient_by(lambda p, place: system.run(with_cells(begin(p, place), in_memory)).program, f"{name} wrong")
    assert any(_differs(p, wrongly) for p in (LOCAL["stored"], TOLD, PAIR))


def gradient_by(expand: Callable[[Program, int], Program], name: str) -> Callable[[Program], Program]:
    return lambda p: gradient(p, (0, 1), name, expand)


def _differs(p: Program, wrongly: Callable[[Program], Program]) -> bool:
    """Whether the gradient is another one than J's, or none at all."""
    at = (Fraction(3, 2), Fraction(-2))
    try:
        found = denote(wrongly(p), at, FRACTIONS)
    except AdjudgeError:
        return True
    return differ(found, denote(gradient_program(p, (0, 1)), at, FRACTIONS)) is not None
