"""
Affine loops: what is one, their normal form, and their cached gradient against the closures of J (MimIrADe, section 3.3.3).

Everything is compared exactly, on fractions, with J and with forward mode. Last, matrix operations: differentiated whole, they
need no loop at all (section 3.3.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import example as example_of
from hypothesis import strategies as st

from checkers import forward_mode
from checkers.properties.agreement import differ
from semantics.arrays import Array
from semantics.denotation import FRACTIONS, denote
from semantics.derivation import replay
from semantics.edit import Edit
from semantics.errors import AdjudgeError, Malformed, OutOfFuel
from semantics.ir import Program, graph_of
from semantics.machine import Machine, run
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.text import read
from semantics.values import same
from semantics.wellformed import check
from transforms import modes
from transforms.affine import NORMAL, SYSTEM, begin, expand_j, obstacle, recognise, why_not
from transforms.affine.state import CachedState
from transforms.agenda_system import AgendaRule, agenda_rule
from transforms.gradient_programs import Wrt
from transforms.gradient_programs import gradient_program as gradient_by_mode
from transforms.parse import parse_file, parse_text
from transforms.pipeline import OPTIMIZE
from transforms.recursion import acyclic

EXAMPLES = Path(__file__).parent.parent / "examples" / "for_loops.py"
SEQUENCE = (Fraction(1, 2), Fraction(-3), Fraction(5, 4))
AFFINE: dict[str, tuple[Any, ...]] = {
    "horner": (Fraction(3, 2), 5),
    "growth": (Fraction(3, 2), 4),
    "weighted": (SEQUENCE, (Fraction(2), Fraction(1, 3), Fraction(-1))),
    "nested": (Fraction(3, 2), 4),
    "piecewise": (Fraction(3, 2), 4),
    "counted": (Fraction(3, 2), 5),
}
NOT_AFFINE = {
    "branching": "does not end by calling @branching.for",
    "leaving": "does not end by calling @leaving.for",
    "moving": "its bound %n.2 changes from turn to turn",
    "real_counter": "starts at %x, which may be a real",
}


def gradient_program(program: Program, wrt: Wrt = 0, mode: str = "J", expand: Any = expand_j) -> Program:
    """The gradient by a reverse mode; "cached" and what begins so is `expand`, and is no mode when this is over."""
    if not mode.startswith("cached") or mode in modes.MODES:
        return gradient_by_mode(program, wrt, mode=mode)
    modes.MODES[mode] = modes.Mode(mode, "two loops and a cache", "MimIrADe §3.3.3", expand)
    try:
        return gradient_by_mode(program, wrt, mode=mode)
    finally:
        del modes.MODES[mode]


by_cache = partial(gradient_program, mode="cached")


def example(name: str) -> Program:
    return parse_file(EXAMPLES, name)


def header(program: Program) -> int:
    """The graph of the first loop."""
    return next(g for g in sorted(program.graphs) if program.graphs[g].name.endswith((".for", ".while")))


def exactly(first: Program, second: Program, at: tuple[Any, ...]) -> None:
    assert differ(denote(first, at, FRACTIONS), denote(second, at, FRACTIONS)) is None


# what is an affine loop


@pytest.mark.parametrize("name", sorted(AFFINE.keys() - {"nested"}))
def test_a_loop_that_counts_is_an_affine_for(name: str) -> None:
    program = example(name)
    assert why_not(program, header(program)) == ""
    found = recognise(program, header(program))
    assert found is not None
    assert found.step == {"counted": 2}.get(name, 1)
    assert len(found.calls) == 1
    assert program.graphs[found.body].output == found.again
    assert not found.invariant, "what the parser leaves free is no parameter"


def test_a_loop_in_a_loop_is_an_affine_for_first_and_then_the_outer_one() -> None:
    program = example("nested")
    outer, inner = (g for g in sorted(program.graphs) if program.graphs[g].name == "nested.for")
    assert recognise(program, outer) is None
    assert recognise(program, inner) is not None
    normal = NORMAL.run(program)
    assert obstacle(normal, outer) == obstacle(normal, inner) == ""


@pytest.mark.parametrize("name", NOT_AFFINE)
def test_what_is_no_affine_for_says_why(name: str) -> None:
    program = example(name)
    normal = NORMAL.run(program)
    assert NOT_AFFINE[name] in obstacle(normal, header(normal))
    assert not any(g.name.endswith(".write") for g in by_cache(program).graphs.values())


LOOP = """program @f

@f(%x: f64, %n: i64):
  %r = @h({start}, %x, %n)
  return %r

@h(%i, %a, %m):
  %c = {test}
  %t = switch(%c, {blocks})
  %s = %t()
  return %s

@body():
  %j = {step}
  %b = mul(%a, {factor})
  %u = @h(%j, %b, %m)
  return {result}

@after():
  return %a
"""
USUAL = {"start": "0", "test": "lt(%i, %m)", "blocks": "@body, @after", "step": "add(1, %i)", "factor": "0.5", "result": "%u"}
MISSES = {
    "its test is not of the form counter < bound": {"test": "le(%i, %m)"},
    "its body does not end by calling": {"blocks": "@after, @body"},
    "does not go up by a positive whole number": {"step": "add(%i, -1)"},
    "%i, does not go up": {"step": "add(%i, 1.0)"},
    "%i, does not go": {"step": "mul(%i, 2)"},
    "its header computes more than its test": {"factor": "%c"},
    "what follows, is not a block of its own": {"blocks": "@body, @body"},
    "it does not end in a choice": {"test": "lt(%i, %m)\n  return %c"},
}


def loop(**changes: str) -> str:
    text = LOOP.format(**{**USUAL, **changes})
    return text if "return %c" not in text else text.replace("  %t = switch(%c, @body, @after)\n  %s = %t()\n  return %s\n", "")


def test_a_loop_whose_bound_is_passed_on_is_an_affine_for() -> None:
    program = read(loop())
    found = recognise(program, graph_of(program, "h"))
    assert found is not None
    assert found.invariant == {2}
    assert obstacle(program, graph_of(program, "h")) == ""


@pytest.mark.parametrize("reason", MISSES)
def test_every_part_of_the_shape_is_demanded(reason: str) -> None:
    program = read(loop(**MISSES[reason]))
    assert reason in why_not(program, graph_of(program, "h"))


def test_a_loop_that_calls_itself_again_or_is_passed_on_is_none() -> None:
    twice = read(loop().replace("%u = @h(%j, %b, %m)", "%w = @h(%j, %b, %m)\n  %u = @h(%j, %w, %m)"))
    assert "elsewhere" in why_not(twice, graph_of(twice, "h"))
    called = "%k = make_tuple(@h)\n  %g = getitem(%k, 0)\n  %r = %g(0, %x, %n)"
    passed = read(loop().replace("%r = @h(0, %x, %n)", called))
    assert "used as a value" in why_not(passed, graph_of(passed, "h"))


def test_a_body_that_calls_or_handles_functions_has_no_cached_version() -> None:
    calling = parse_text("def f(x, g, n):\n s = x\n for i in range(n):\n  s = g(s)\n return s", "f")
    assert "calls a function" in obstacle(calling, header(calling))
    handling = parse_text("def f(x, n):\n s = x\n for i in range(n):\n  g = lambda v: v * x\n  s = (g, s * 2.0)[1]\n return s", "f")
    assert "handles a function" in obstacle(handling, header(handling))
    carrying = parse_text("def f(x, n):\n g = lambda v: v\n for k in range(n):\n  g = lambda v, g=g: g(v) * x\n return g(x)", "f")
    assert "handles a function" in obstacle(carrying, header(carrying))
    exactly(by_cache(carrying), gradient_program(carrying), (Fraction(3, 2), 3))


# normal form


@pytest.mark.parametrize("name", AFFINE)
def test_the_normal_form_has_the_value_bit_for_bit_and_is_final(name: str) -> None:
    program = example(name)
    derivation = NORMAL.derive(program)
    assert {step.rule for step in derivation.steps} == {"pass_in", "give_back"}
    assert NORMAL.final(derivation.result)
    at = tuple(float(a) if isinstance(a, Fraction) else tuple(map(float, a)) if isinstance(a, tuple) else a for a in AFFINE[name])
    assert same(run(program, *at), run(derivation.result, *at))


def test_a_loop_whose_blocks_take_parameters_comes_to_normal_form_too() -> None:
    """The loops of a gradient are such; one block that is used twice is left alone."""
    gradient = by_cache(example("horner"))
    assert "capture" in {step.rule for step in NORMAL.derive(gradient).steps}
    shared = loop(blocks="@body, @body").replace("%t()", "%t(%a)").replace("@body():", "@body(%z):")
    assert "capture" not in {step.rule for step in NORMAL.derive(read(shared)).steps}


def test_what_is_in_normal_form_already_is_left_alone() -> None:
    program = read(loop(result="%u").replace("return %a", "%v = make_tuple(%i, %a, %m)\n  return %v"))
    assert not NORMAL.derive(program).steps
    assert obstacle(program, graph_of(program, "h")) == ""


# gradients


@pytest.mark.parametrize("name", [*AFFINE, *NOT_AFFINE])
def test_the_cached_gradient_is_js_and_that_of_forward_mode(name: str) -> None:
    program, at = example(name), AFFINE.get(name, (Fraction(3, 2), 4))
    cached = by_cache(program)
    check(cached)
    assert any(g.name.endswith(".write") for g in cached.graphs.values()) == (name in AFFINE)
    exactly(cached, gradient_program(program), at)
    assert differ(denote(cached, at, FRACTIONS), forward_mode.gradient(program, at, FRACTIONS)[0]) is None
    exactly(OPTIMIZE.run(cached), cached, at)


@pytest.mark.parametrize("name", ["horner", "growth", "nested", "counted"])
@pytest.mark.parametrize("outer", ["J", "cached"])
def test_the_cached_gradient_can_be_differentiated_again(name: str, outer: str) -> None:
    """By J, and by the same transform: its two loops are affine themselves."""
    program, at = example(name), AFFINE[name]
    first = by_cache(program)
    second = gradient_program(first, mode=outer)
    check(second)
    assert differ(denote(second, at, FRACTIONS), forward_mode.second_derivative(program, at, carrier=FRACTIONS)) is None


def test_the_second_gradient_has_loops_for_the_loops_of_the_first() -> None:
    names = {g.name for g in by_cache(by_cache(example("horner"))).graphs.values()}
    assert {"horner.for.write.write", "horner.for.write.read", "horner.for.read.write", "horner.for.read.read"} <= names


@st.composite
def loops(draw: st.DrawFn) -> str:
    """A function with affine loops, one after the other or in each other, over two accumulators."""
    lines = ["def f(x, n: int):", " a, b = x, 1.0"]
    names = ["a", "b", "x", "0.5", "n"]

    def term() -> str:
        one, two = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        forms = (f"{one} * {two}", f"{one} + {two}", f"{one} - {two} * 0.25", f"max({one}, {two})", f"{one} ** 2")
        return draw(st.sampled_from(forms))

    depth = 1
    for k in range(draw(st.integers(1, 3))):
        pad, inside = " " * depth, draw(st.booleans())
        lines.append(f"{pad}for i{k} in range({draw(st.sampled_from(['n', '2', '0', 'n - 2', '1, 4, 2', '3, 0, -1']))}):")
        names.append(f"i{k}")
        for _ in range(draw(st.integers(1, 3))):
            lines.append(f"{pad} {draw(st.sampled_from(['a', 'b']))} = ({term()}) * 0.5")
        lines.append(f"{pad} a = a * 0.125")
        if inside:
            depth += 1
        else:
            names.remove(f"i{k}")
    return "\n".join([*lines, " return a * b + a"])


SQUARES = """def f(x, n: int):
 a, b = x, 1.0
 for i0 in range(n):
  a = (a * a) * 0.0625
 for i1 in range(n):
  a = (a * a) * 0.0625
  for i2 in range(n):
   a = (a * a) * 0.0625
 return a * b + a"""


@example_of(text=SQUARES, x=Fraction(3, 2))
@given(loops(), st.sampled_from([Fraction(3, 2), Fraction(-1, 2)]))
def test_two_loops_and_a_cache_are_the_closures(text: str, x: Fraction) -> None:
    program = parse_text(text, "f")
    cached = by_cache(program)
    event(f"loops: {sum(g.name.endswith('.write') for g in cached.graphs.values())}")
    try:
        wanted = denote(gradient_program(program), (x, 3), FRACTIONS)
    except OutOfFuel:  # `a = a * a` in loops that are nested squares a number more often than fractions allow
        event("a fraction of too many digits")
        return
    assert differ(denote(cached, (x, 3), FRACTIONS), wanted) is None


# closures and costs


def captures(program: Program, *arguments: Any) -> int:
    """How often a run makes a closure that captures something."""
    machine, count = Machine(program), 0
    state: Any = machine.initial(arguments)
    while state is not None:
        count += state.task.closes >= 0 and bool(state.task.arguments)
        state = machine.step(state)
    return count


@pytest.mark.parametrize("name", ["horner", "growth", "counted"])
def test_the_cached_loops_make_no_closure_and_js_make_some_in_every_turn(name: str) -> None:
    program = example(name)
    cached, closures = by_cache(program), gradient_program(program)
    assert captures(cached, 0.5, 20) == captures(cached, 0.5, 40)
    assert captures(closures, 0.5, 40) - captures(closures, 0.5, 20) >= 20 / (2 if name == "counted" else 1)


def test_a_turn_costs_the_same_however_many_there_are_and_less_than_js() -> None:
    program = example("horner")
    cached, closures = by_cache(program), OPTIMIZE.run(gradient_program(program))

    def steps(p: Program, n: int) -> int:
        return Machine(p).run((0.5, n)).steps

    a, b, c = (steps(cached, n) for n in (10, 100, 1000))
    assert (c - b) == 10 * (b - a)
    assert c < steps(closures, 1000) / 2


def before_j(program: Program) -> CachedState:
    """The state in which J is about to be applied to the entry of `program`, by a new entry that returns J of it."""
    edit = Edit(program)
    graph = edit.graph("J")
    place = edit.call(graph, TABLE["J"], edit.reference(program.entry))
    edit.output(graph, place)
    edit.set_entry(graph)
    return begin(NORMAL.run(edit.program), place)


def finished(program: Program, rules: tuple[AgendaRule[CachedState], ...] = SYSTEM.rules) -> CachedState:
    """The last state of a run by these rules."""
    state = before_j(program)
    while state.agenda is not None:
        state = next(after for rule in rules if (after := rule.function(state)) is not None)
    return state


KEPT = {"s = s * x + 1.0": 1, "s = s + x - 2.0": 0, "s = s * 3.0": 0, "s = s * s * x": 2}


@pytest.mark.parametrize(("turn", "kept"), KEPT.items())
def test_a_row_keeps_only_what_the_tangents_need(turn: str, kept: int) -> None:
    """Of s·x the s, for x is the same in every turn; of a sum, or a product with a constant, nothing."""
    state = finished(parse_text(f"def f(x, n):\n s = x\n for i in range(n): {turn}\n return s", "f"))
    (row,) = state.rows.values()
    assert len(row) == kept


def test_the_gradient_of_an_index_keeps_the_index_and_not_the_sequence() -> None:
    """Of w·x·x the w, the x, their product, and the index, through which what is read flows back."""
    (row,) = finished(example("weighted")).rows.values()
    assert len(row) == 4


# rules


def coverage(program: Program) -> set[str]:
    """The rules of a run; every program on the way is well-formed, and the recorded run replays."""
    start = before_j(program)
    derivation = SYSTEM.derive(start)
    for step in derivation.steps:
        check(step.after.program)
    assert replay(SYSTEM, start, derivation.to_json()).result.program == derivation.result.program
    return set(derivation.coverage())


def test_every_rule_fires() -> None:
    assert coverage(example("nested")) | coverage(example("growth")) == {rule.name for rule in SYSTEM.rules}


NEAR = {
    "return x * x": {"finish"},
    "s = x\n for i in range(n): s = s * 0.5\n return s": {
        *("open_loop", "unreached", "summed", "backward", "turn_back", "forward", "turn", "image", "finish")
    },
    "s = x\n for i in range(n): s = s * s\n return s": {
        *("open_loop", "meet", "unreached", "summed", "backward", "turn_back", "forward", "turn", "image", "finish")
    },
}


@pytest.mark.parametrize("body", NEAR)
def test_a_rule_fires_only_where_its_construct_is(body: str) -> None:
    assert coverage(parse_text(f"def f(x, n):\n {body}", "f")) == NEAR[body]


def test_only_j_of_a_known_graph_can_begin() -> None:
    program = read("program @f\n\n@f(%x):\n  %r = J(%x)\n  return %r\n")
    with pytest.raises(Malformed, match="a graph that is known") as raised:
        begin(program, program.graphs[program.entry].output)
    assert raised.value.rule == "cached_for"


# planted bugs


@agenda_rule
def meet(state: CachedState) -> CachedState | None:
    """Wrong: of two contributions one is lost."""
    kind, _, node = state.item
    parts = state.parts.get(node, ())
    return replace(state, parts=state.parts.set(node, parts[1:])) if kind in ("backward", "sum") and len(parts) > 1 else None


@agenda_rule
def turn_back(state: CachedState) -> CachedState | None:
    """Wrong: every turn back reads the last row."""
    after = RULE["turn_back"].function(state)
    if after is None:
        return None
    return _edited(after, state.reads[state.item.header].body, lambda call, own: (*call[:2], own[1], *call[3:]))


@agenda_rule
def image(state: CachedState) -> CachedState | None:
    """Wrong: ◀h gives the sensitivities one place too far on."""
    after = RULE["image"].function(state)
    if after is None:
        return None
    back = max(g for g, graph in after.program.graphs.items() if graph.name.startswith("◀"))
    return _edited(after, back, lambda call, _: (*call[:2], call[-1], *call[2:-1]))


def _edited(state: CachedState, graph: int, change: Callable[[Any, Any], tuple[int, ...]]) -> CachedState:
    """The state with the inputs of the output of `graph` changed; `change` is given them and the parameters."""
    edit, found = Edit(state.program), state.program.graphs[graph]
    edit.set_inputs(found.output, change(state.program.inputs(found.output), found.parameters))
    return replace(state, program=edit.program)


RULE = {rule.name: rule for rule in SYSTEM.rules}


@pytest.mark.parametrize("bug", [meet, turn_back, image], ids=lambda rule: rule.name)
def test_a_wrong_rule_is_found_out(bug: AgendaRule[CachedState]) -> None:
    rules = tuple(bug if rule.name == bug.name else rule for rule in SYSTEM.rules)
    wrong = replace(SYSTEM, rules=rules)
    expand = lambda program, place: wrong.run(begin(NORMAL.run(program), place))  # noqa: E731
    program, at = example("growth"), AFFINE["growth"]
    try:
        found = denote(gradient_program(program, mode=f"cached, {bug.name} wrong", expand=expand), at, FRACTIONS)
    except AdjudgeError:
        return
    assert differ(found, denote(gradient_program(program), at, FRACTIONS)) is not None


# matrix operations, differentiated whole

MATRICES = {
    "unit": ("f(e, s)", "np.full((2, 3), e)", "(np.sum(s),)"),
    "sum": ("f(m, s)", "np.sum(m)", "(np.full((2, 3), s),)"),
    "transpose": ("f(m, s)", "m.T", "(s.T,)"),
    "product": ("f(m, n, s)", "m @ n", "(s @ n.T, m.T @ s)"),
}
TWO_BY_THREE = Array("f64", (2, 3), tuple(Fraction(k, 3) - 1 for k in range(6)))
THREE_BY_TWO = Array("f64", (3, 2), tuple(Fraction(2 * k, 5) for k in range(6)))
TWO_BY_TWO = Array("f64", (2, 2), tuple(Fraction(k * k, 7) for k in range(4)))
POINTS: dict[str, tuple[Any, ...]] = {
    "unit": (Fraction(3, 2), TWO_BY_THREE),
    "sum": (TWO_BY_THREE, Fraction(3, 2)),
    "transpose": (TWO_BY_THREE, THREE_BY_TWO),
    "product": (TWO_BY_THREE, THREE_BY_TWO, TWO_BY_TWO),
}
MATRIX_PRIMITIVES = {"full", "reduce_sum", "spread", "transpose", "matmul", "swap_last", "mul"}
ELEMENTS = {"getitem", "put", "inject", "scatter_add", "take", "einsum"}


@pytest.mark.parametrize("name", MATRICES)
def test_a_matrix_operation_is_differentiated_whole(name: str) -> None:
    """To the table of section 3.3.2, exactly: by applications of matrix operations, without a loop and without an element."""
    head, operation, table = MATRICES[name]
    program = parse_text(f"import numpy as np\ndef {head}:\n return np.sum({operation} * s)", "f")
    expected = parse_text(f"import numpy as np\ndef {head}:\n return {table}", "f")
    wrt = tuple(range(len(POINTS[name]) - 1))
    for mode in ("pullback", "J"):
        gradient = gradient_program(program, wrt, mode=mode)
        exactly(gradient, expected, POINTS[name])
        optimized = OPTIMIZE.run(gradient)
        used = {c.name for n in optimized.nodes if isinstance(c := optimized.callee(n), Primitive)}
        assert not used & ELEMENTS
        assert used & MATRIX_PRIMITIVES
        assert set(acyclic(optimized)) == set(optimized.graphs)
        assert same(denote(optimized, POINTS[name], FRACTIONS), denote(gradient, POINTS[name], FRACTIONS))
    ahead = forward_mode.gradient(program, POINTS[name], FRACTIONS)[: len(wrt)]
    assert differ(denote(expected, POINTS[name], FRACTIONS), ahead) is None


def test_the_gradient_of_a_product_is_two_products() -> None:
    head, operation, _ = MATRICES["product"]
    program = parse_text(f"import numpy as np\ndef {head}:\n return np.sum({operation} * s)", "f")
    optimized = OPTIMIZE.run(gradient_program(program, (0, 1), mode="pullback"))
    assert sum(optimized.callee(n) is TABLE["matmul"] for n in optimized.nodes) == 3
