"""
Sharing: the pullbacks of a graph become its reversed program. Each rule fires and keeps the gradient; the result is J's.

That J and shared local pullbacks are one program is compared up to renaming; the rules for tuples and arrays, which J has not, are
left out for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from claims import judged
from corpus import CASES, FOLDER, Case
from hypothesis import assume, given
from test_properties_cost import FAMILIES, X, straight

from checkers.generators import EVERYTHING, Options, Source, sources
from checkers.properties import cost
from semantics.denotation import FRACTIONS, denote
from semantics.edit import Edit
from semantics.ir import GraphRef, Program
from semantics.machine import Machine, run
from semantics.text import read
from semantics.wellformed import check
from transforms import modes, nested_grad
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_file, parse_text
from transforms.pullback import PURE, SHARING, applied, begin, begin_sharing, expand_j, rules, sharing
from transforms.pullback.state import PullbackState

by_pullback = partial(gradient_program, mode="pullback")
FIGURE_3 = parse_text("def f(a, b):\n    x = a + b\n    y = x * b\n    return y\n", "f")


def gradient_by(expand: Callable[[Program, int], Program]) -> Callable[..., Program]:
    """The gradient by another expansion of J(@f)."""

    def gradient(program: Program, wrt: Any = 0) -> Program:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(modes.MODES, "other", modes.Mode("other", "another expansion", "", expand))
            nested_grad.system_by.cache_clear()
            return gradient_program(program, wrt, mode="other")

    return gradient


def compose(program: Program, place: int) -> Program:
    """Composition and sharing alone: tuples and arrays are built by applications like every other, as they are for J."""
    core = tuple(rule for rule in rules.RULES if rule not in rules.SPECIAL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "SPECIAL", ())
        return SHARING.run(begin_sharing(replace(PURE, rules=core).run(begin(program, place))))


pure = gradient_by(partial(expand_j, shared=False))
composed = gradient_by(compose)


# each rule


def finished(program: Program) -> PullbackState:
    return PURE.run(applied(program))


def gradient_at(program: Program, arguments: tuple[Fraction, ...]) -> Any:
    """What the pullback of the function that `program` returns gives back at 1."""
    edit = Edit(program)
    graph = edit.graph("gradient")
    made = edit.apply(graph, edit.apply(graph, edit.reference(program.entry)), *(edit.constant(a) for a in arguments))
    back = edit.call(graph, rules.GETITEM, made, edit.constant(1))
    edit.output(graph, edit.apply(graph, back, edit.constant(Fraction(1))))
    edit.set_entry(graph)
    return denote(edit.program, (), FRACTIONS)


STEPS = """
def f(a, b):
    t = (a * b, 2.0)
    def g(y):
        return y * a - t[0]
    c = t[1] * t[0]
    return g(c) * c + t[0] * a
"""


def test_every_step_of_sharing_keeps_the_gradient_and_one_rule_is_enabled() -> None:
    wanted = None
    for step in SHARING.derive(begin_sharing(finished(parse_text(STEPS, "f")))).steps:
        check(step.after.program)
        for state in (step.before, step.after):
            found = gradient_at(state.program, (Fraction(3), Fraction(5)))
            assert [found[1], found[2]] == (wanted or [found[1], found[2]])
            wanted = [found[1], found[2]]


def rules_of(state: PullbackState) -> list[str]:
    return [step.rule for step in SHARING.derive(begin_sharing(state)).steps]


def also_used(state: PullbackState, name: str) -> PullbackState:
    """The same, with another use of a pullback as a value: in a tuple that ▶f makes."""
    edit = Edit(state.program)
    body = next(g for g, graph in state.program.graphs.items() if graph.name == name)
    edit.call(state.forward[state.target], rules.MAKE_TUPLE, edit.reference(body))
    return replace(state, program=edit.program)


def test_the_rules_of_figure_3() -> None:
    """y*, its arguments, x*, its arguments, each once unfolded; b has two terms."""
    assert rules_of(finished(FIGURE_3)) == [
        *("eta", "meet", "unfold", "meet", "unfold", "meet", "meet", "unfold", "meet", "unfold", "meet", "factor", "gather")
    ]


def test_every_rule_fires() -> None:
    literal = parse_text("def f(x):\n    return 1.0\n", "f")
    element = parse_text("def f(x):\n    return (x * x, x)[1]\n", "f")
    assert "drop" in rules_of(finished(literal))
    assert "forget" in rules_of(finished(element))
    assert "hold" in rules_of(also_used(finished(FIGURE_3), "x*"))
    fired = {*rules_of(finished(literal)), *rules_of(finished(element)), *rules_of(also_used(finished(FIGURE_3), "x*"))}
    assert fired | {"factor", "unfold"} == {rule.name for rule in sharing.RULES}


@pytest.mark.parametrize("name", ["b*", "x*", "x.e*", "y*"])
def test_a_pullback_that_is_used_as_a_value_too_stays_and_the_gradient_is_kept(name: str) -> None:
    """Near misses of unfold and forget; of variables, of gather's cleaning up."""
    held = also_used(finished(FIGURE_3), name)
    program = SHARING.run(begin_sharing(held))
    check(program)
    assert name in {g.name for g in program.graphs.values()}
    value = gradient_at(program, (Fraction(2), Fraction(3)))
    assert (value[1], value[2]) == (3, 8)


def test_different_pullbacks_are_not_factored() -> None:
    """a and b have one term each: meet, not factor."""
    assert "factor" not in rules_of(finished(parse_text("def f(a, b):\n    return a * b\n", "f")))


def test_sharing_leaves_no_pullback_behind() -> None:
    program = SHARING.run(begin_sharing(finished(parse_text(STEPS, "f"))))
    assert not [g.name for g in program.graphs.values() if g.name.endswith("*")]


# the theorem: what sharing makes is J's backward pass


@pytest.mark.parametrize("case", [c for c in CASES if c.file != "derivatives"], ids=lambda c: c.name)
def test_shared_compositions_are_j(case: Case) -> None:
    program = parse_file(FOLDER / f"{case.file}.py", case.name)
    assert composed(program) == gradient_program(program)


@given(sources(Options(size=4)))
def test_shared_compositions_of_generated_programs_are_j(source: Source) -> None:
    program = source.program()
    assert composed(program, (0, 1)) == gradient_program(program, (0, 1))


@given(sources(Options(features=EVERYTHING - {"tuple", "over_tuple", "functions_in_tuples", "nested_grad", "numpy"}, size=4)))
def test_shared_pullbacks_are_j_where_nothing_is_taken_out_of_a_tuple(source: Source) -> None:
    program = source.program()
    assume("getitem" not in str(program))
    assert by_pullback(program, (0, 1)) == gradient_program(program, (0, 1))


@pytest.mark.parametrize("case", [c for c in CASES if c.rational and c.file in ("straight", "tuples")], ids=lambda c: c.name)
def test_the_pure_rules_and_the_shared_ones_give_one_gradient(case: Case) -> None:
    program = parse_file(FOLDER / f"{case.file}.py", case.name)
    for x in case.points:
        assert denote(pure(program), (x,), FRACTIONS) == denote(by_pullback(program), (x,), FRACTIONS)


# cost

SQUARES = {n: parse_text("def f(x):\n" + "    x = x * x\n" * n + "    return x\n", "f") for n in (4, 5, 6, 7, 10, 100, 1000)}


def steps(program: Program, x: float = 1.0) -> int:
    return Machine(program).run((x,)).steps


def test_a_chain_of_squares_costs_the_pure_rules_twice_as_much_with_every_link_and_shared_ones_the_same() -> None:
    a, b, c, d = (steps(pure(SQUARES[n])) for n in (4, 5, 6, 7))
    assert (d - c) - (c - b) == 2 * ((c - b) - (b - a)) > 0
    small, medium, large = (steps(by_pullback(SQUARES[n])) for n in (10, 100, 1000))
    assert Fraction(large - medium, 900) == Fraction(medium - small, 90) <= cost.STEPS_FACTOR


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_the_gradient_is_cheap_and_its_slope_does_not_grow(family: Callable[[int], Program]) -> None:
    judged(cost.cheap_gradient(family, X, gradient=by_pullback))
    assert abs(cost.slope(family, X, (40, 160), gradient=by_pullback) - cost.slope(family, X, (10, 40), gradient=by_pullback)) < 1.0


USES_ITS_STATE_TWICE = "def f(x):\n    y = x\n    for i in range(N):\n        y = y * y * 0.5 + x\n    return y\n"
RECURSION = (
    "import math\n\ndef f(x):\n    def p(n):\n        if n == 0:\n            return x\n"
    "        r = p(n - 1)\n        return r * math.sin(r)\n    return p(N)\n"
)


@pytest.mark.parametrize("text", [USES_ITS_STATE_TWICE, RECURSION], ids=["loop", "recursion"])
def test_a_state_that_is_used_twice_in_a_turn_is_gone_back_through_once(text: str) -> None:
    family = [steps(by_pullback(parse_text(text.replace("N", str(n)), "f")), 0.25) for n in (10, 100, 1000)]
    first, second = ((b - a) for a, b in pairwise(family))
    assert second == 10 * first


def steps_of(state: sharing.SharingState) -> int:
    count = 0
    while state.agenda is not None:
        state = next(after for rule in sharing.RULES if (after := rule.function(state)) is not None)
        count += 1
    return count


def test_the_transform_takes_steps_and_makes_nodes_in_proportion_to_the_program() -> None:
    for measure in (lambda p: len(by_pullback(p).nodes), lambda p: steps_of(begin_sharing(finished(p)))):
        small, medium, large = (measure(straight(n)) for n in (10, 100, 1000))
        assert large - medium == 10 * (medium - small)


def test_many_captured_variables_cost_their_number() -> None:
    """A closure that captures n values: every unit is an injection, not a tuple of n zeros."""

    def nodes(n: int) -> int:
        lines = "".join(f"    y{i} = x * {i}.5\n" for i in range(n))
        total = " + ".join(f"y{i}" for i in range(n))
        program = parse_text(f"def f(x):\n{lines}    def g(z):\n        return z * ({total})\n    return g(x)\n", "f")
        state = finished(program)
        assert run(by_pullback(program), 1.0) == run(gradient_program(program), 1.0)
        return sum(len(state.program.inputs(n)) for n in state.program.nodes)

    small, medium, large = (nodes(n) for n in (20, 40, 80))
    assert large - medium == 2 * (medium - small)


def test_a_sum_of_what_is_called_through_a_value_is_added_to_the_gathered_tuple() -> None:
    """As a pullback that a memory holds: its call stays a term, e of `gather`."""
    state = finished(FIGURE_3)
    edit = Edit(state.program)
    forward = state.forward[state.target]
    reference = state.pullback[state.target, next(iter(state.program.graphs[state.target].parameters))]
    through = edit.call(forward, rules.GETITEM, edit.call(forward, rules.MAKE_TUPLE, reference), edit.constant(0))
    for use in sorted(state.program.users(reference)):
        edit.set_inputs(use.user, (through, *edit.nodes[use.user].inputs[1:]))  # type: ignore[union-attr]
    program = SHARING.run(begin_sharing(replace(state, program=edit.program)))
    check(program)
    value = gradient_at(program, (Fraction(2), Fraction(3)))
    assert (value[1], value[2]) == (3, 8)
    assert isinstance(program.constant(reference), GraphRef)


def test_the_text_of_the_reversed_program_reads_back() -> None:
    program = by_pullback(parse_text(STEPS, "f"), (0, 1))
    assert read(str(program)) == program
