"""
The SSA adjoint: the listings of Zygote, its rules, and gradients against closed forms, J, and the transform applied twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from claims import examples
from corpus import BITS, CASES, FOLDER, Case, ball
from hypothesis import event, given
from ssa_adjoints import BREAKS, RECURSION, SWAP, gradient, gradient_at, second_at
from ssa_programs import BRANCH, POW

import adjudge.memory
from checkers.columns.ball import balls
from checkers.generators import Options, Source, points, sources
from checkers.generators.options import FIRST_ORDER
from checkers.properties.agreement import differ, is_rational
from semantics.denotation import FRACTIONS, Reading, denote
from semantics.errors import AdjudgeError, Malformed
from semantics.ir import Program
from semantics.primitives.table import TABLE
from semantics.ssa.form import Branch, Instruction, Literal, Name, Phi
from semantics.ssa.text import read
from semantics.ssa.wellformed import check
from semantics.tangents import ZERO
from semantics.text import read as read_graph
from transforms.agenda_system import AgendaRule
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse, parse_file, parse_text
from transforms.pipeline import optimize
from transforms.realness import fits
from transforms.ssa_adjoint import SYSTEM, adjoint, begin, listing, stacks
from transforms.ssa_adjoint.alphas import SYSTEM as ALPHAS
from transforms.ssa_adjoint.alphas import begin as begin_alphas
from transforms.ssa_adjoint.listing import Inversion, add, part, reset
from transforms.ssa_adjoint.listing import gradient as nabla

BRANCH_LISTING = """\
function ▶f(x):
block #1:
    %1 ← gt(x, 0)
    goto #3 if %1
block #2:
    %2, %3 ← J(mul, 0.01, x)
block #3:
    %4 ← φ(#1 → False, #2 → True)
    %5 ← φ(#1 → x, #2 → %2)
    return %5

function ◀f(∇y):
block #1:
    goto #3 if not α%4
block #2:
    _, %1 ← α%3(∇y)
block #3:
    %2 ← φ(#1 → ∇y, #2 → %1)
    return %2"""

POW_LISTING = """\
function ▶pow(x, n):
block #1:
    %1 ← φ(#0 → False, #2 → True)
    %2 ← φ(#0 → 1, #2 → %6)
    %3 ← φ(#0 → n, #2 → %5)
    %4 ← gt(%3, 0)
    goto #3 if not %4
block #2:
    %5 ← sub(%3, 1)
    %6, %7 ← J(mul, %2, x)
    goto #1
block #3:
    return %2

function ◀pow(∇y):
block #1:
    %1 ← φ(#0 → ∇y, #2 → %3)
    %2 ← φ(#0 → ZERO, #2 → %5)
    goto #3 if not α%1
block #2:
    %3, %4 ← α%7(%1)
    %5 ← gadd(%2, %4)
    goto #1
block #3:
    return %2, ZERO"""


@pytest.mark.parametrize(("source", "wanted"), [(BRANCH, BRANCH_LISTING), (POW, POW_LISTING)])
def test_the_listings_are_the_papers(source: str, wanted: str) -> None:
    """
    Zygote, section 3.1, block for block and instruction for instruction. The paper writes 0 for ZERO, and in the adjoint of pow has
    three labels and a name wrong: `goto #4`, `goto #2` and `return %2` for #3, #1 and the φ node that tracks the gradient of x.
    """
    found = listing(read(source))
    assert str(found) == wanted
    check(found, alphas=True)


def test_the_adjoint_of_pow_has_two_loops_and_one_stack_of_pairs() -> None:
    """Zygote, section 4.2: push!(Bs, (r, x)), and then dx += dr * r; dr = dr * x."""
    text = str(adjoint(read(POW)))
    primal, pullback, back = text.split("\n\n")
    assert "%7 ← make_tuple(%2, x)\n    %8 ← make_tuple(%7, %1)" in primal
    assert primal.count("goto #1") == back.count("goto #2") == 1
    assert "%11, %12 ← @◀mul(%8, %9, %2)\n    %13 ← gadd(%3, %12)" in back
    assert "%1 ← mul(dout, y)\n    %2 ← mul(dout, x)" in pullback


def test_a_loop_whose_pullbacks_close_over_nothing_has_a_counter_for_a_stack() -> None:
    """Section 4.1: "if * had instead been +, … the compiler could elide the allocation of the stack entirely"."""
    module = adjoint(read(POW.replace("mul", "add")))
    assert "make_tuple(%" not in str(module["▶pow"].by_label[2])
    assert gradient_at(POW.replace("mul", "add"), 3, 5) == (5, ZERO)


# rules


def states(source: str, kind: str) -> list[Inversion]:
    """The states in which an item of this kind is next."""
    found, state = [], begin(read(source))
    while state.agenda is not None:
        if state.item.kind == kind:
            found.append(state)
        [step] = SYSTEM.enabled(state)
        state = step.after
    return found


RULE = {rule.name: rule for rule in SYSTEM.rules}
KIND = {"adjoint_phi": "phi", "seed": "seed", "adjoint_application": "application", "fan_out": "fan out"}
KIND |= {"invert_jump": "jump", "reach": "reach", "adjoin": "adjoin"}


@pytest.mark.parametrize("name", [rule.name for rule in SYSTEM.rules])
def test_each_rule_takes_its_own_items_and_no_other(name: str) -> None:
    for kind in KIND.values():
        for state in states(POW, kind):
            assert (RULE[name].function(state) is not None) == (kind == KIND[name])


def written(source: str, kind: str, block: int, position: int = -1) -> list[Any]:
    """What a rule adds to the adjoint of a block."""
    [state] = [s for s in states(source, kind) if (s.item.block, s.item.position) == (block, position)]
    return written_by(state, SYSTEM.enabled(state)[0].after)


def written_by(state: Inversion, after: Inversion) -> list[Any]:
    """What a step has added to the adjoint of the block of a state."""
    key = state.item.function, state.item.block
    parts, now = [], after.code.get(key)
    while now is not state.code.get(key):
        head, now = now
        parts.append(head)
    return parts[::-1]


def test_adjoint_phi_reads_all_gradients_before_it_resets_any() -> None:
    phis, rest = written(SWAP, "phi", 2)[:3], written(SWAP, "phi", 2)[3:]
    assert all(isinstance(p, Phi) for p in phis)
    assert rest[:3] == [reset("%1"), reset("%2"), reset("%3")]
    assert rest[3:] == [add("%2", part("%1", 0)), add("%1", part("%2", 0)), add("%4", part("%3", 0))]


def test_adjoint_phi_sends_nothing_to_a_constant() -> None:
    assert written(POW.replace("#2 → %4", "#2 → 2"), "phi", 2)[-1] == add("%3", part("%2", 0))


def test_seed_adds_to_what_is_returned_and_to_no_constant() -> None:
    assert written(POW, "seed", 3) == [add("%1", "∇y")]
    assert written(POW.replace("return %1", "return 2"), "seed", 3) == []


def test_adjoint_application_calls_no_pullback_that_sends_nothing() -> None:
    assert [type(p) for p in written(POW, "application", 2, 1)] == [Instruction, Instruction]
    assert written(POW, "application", 1, 0) == [reset("%5")]


def test_fan_out_adds_to_every_operand_but_constants() -> None:
    assert written(POW, "fan out", 2, 1) == [add("%1", part("%4", 0)), add("x", part("%4", 1))]
    assert written(POW, "fan out", 2, 0) == [add("%2", part("%3", 0))]


TWICE = POW.replace("%4 ← mul(%1, x)", "%6 ← add(%1, x)\n    %4 ← mul(%6, x)")


def test_the_uses_of_a_turn_are_added_up_before_they_are_added_to_those_of_others() -> None:
    """∇x + (∂x + ∂x'): one addition a turn waits for the turn before."""
    subtotals = (Instruction(("Σ x",), TABLE["gadd"], (Name("Σ x"), Name(part(*at)))) for at in (("%4", 1), ("%6", 1)))
    assert [w for k in (2, 1) for w in written(TWICE, "fan out", 2, k) if w.targets == ("Σ x",)] == [*subtotals]
    *sums, _ = written(TWICE, "jump", 2)
    assert sums == [add("x", "Σ x"), Instruction(("Σ x",), TABLE["gadd"], (Literal(ZERO), Literal(ZERO)))]
    assert "%7 ← gadd(%4, %6)\n    %8 ← gadd(%2, %7)" in str(listing(read(TWICE)))


@pytest.mark.parametrize("source", [POW, TWICE.replace("%4 ← mul(%6, x)", "%4 ← mul(%6, %6)"), RECURSION])
def test_what_is_used_once_or_made_there_is_added_as_it_comes(source: str) -> None:
    assert "Σ" not in str([written(source, "jump", state.item.block) for state in states(source, "jump") if state.item.block >= 0])


def test_what_an_index_reads_is_added_to_its_place() -> None:
    """A sum of two such would be an array for every turn."""
    indexed = TWICE.replace("add(%1, x)", "getitem(x, 0)").replace("mul(%6, x)", "getitem(x, 1)")
    assert "Σ" not in str(written(indexed, "jump", 2))


def test_invert_jump_asks_only_where_two_blocks_meet() -> None:
    def jump(block: int) -> Any:
        [state] = [s for s in states(POW, "jump") if s.item.block == block]
        return written_by(state, SYSTEM.enabled(state)[0].after)[-1]

    assert isinstance(jump(1), Branch)
    assert not isinstance(jump(2), Branch)


def test_adjoin_wraps_what_the_adjoint_calls_and_nothing_else() -> None:
    primal = str(listing(read(POW))["▶pow"].by_label[2].instructions)
    assert primal.count("Adjoined") == 1


@pytest.mark.parametrize(
    ("policy", "fires"),
    [("stack", {"pop_turn", "tape"}), ("mixed", {"pop_and_run_turn", "tape"}), ("recompute", {"run_to_turn", "tape_of_arguments"})],
)
def test_each_policy_has_its_rules(policy: str, fires: set[str]) -> None:
    derivation = ALPHAS.derive(begin_alphas(listing(read(POW)), policy))
    common = {"primal_call", "pullback_call", "push_turn", "reach", "write_stacks"}
    assert {step.rule for step in derivation.steps} == common | fires


# gradients


@pytest.mark.parametrize("policy", ["stack", "mixed", "recompute"])
@pytest.mark.parametrize(
    ("source", "arguments", "first", "second"),
    [
        (POW, (3, 4), (108, ZERO), 108),
        (POW, (3, 1), (1, ZERO), ZERO),
        (POW, (3, 0), (ZERO, ZERO), ZERO),
        (BRANCH.replace("0.01", "5"), (-3,), (5,), ZERO),
        (BRANCH, (3,), (1,), ZERO),
        (SWAP, (2, 3, 0), (12, 4, ZERO), 6),
        (SWAP, (2, 3, 3), (9, 12, ZERO), 0),
        (BREAKS, (Fraction(3, 2), 3), (Fraction(2187, 16), ZERO), Fraction(5103, 8)),
        (BREAKS, (3, 6), (199752, ZERO), 595352),
        (BREAKS, (3, 0), (6, ZERO), 2),
        (RECURSION, (3, 4), (108, ZERO), 108),
        (RECURSION, (3, 0), (ZERO, ZERO), ZERO),
    ],
)
def test_gradients_and_second_derivatives_are_exact(
    policy: str, source: str, arguments: tuple[Any, ...], first: tuple[Any, ...], second: Any
) -> None:
    assert gradient_at(source, *arguments, policy=policy) == first
    assert second_at(source, *arguments, policy=policy) == second


REFUSED = ("knot_by_self_application", "continuation_passing", "loop_over_functions")
CASE = pytest.mark.parametrize("case", [c for c in CASES if c.name not in REFUSED], ids=lambda c: c.name)


@cache
def program_of(case: Case) -> Program:
    return expand(parse_file(FOLDER / f"{case.file}.py", case.name), "ssa")


@cache
def derivative_of(case: Case, order: int) -> Program:
    return expand(calling(program_of(case) if order == 1 else derivative_of(case, order - 1), "grad"), "ssa")


def agrees(case: Case, order: int, expression: str) -> None:
    reading: Reading = FRACTIONS if case.rational and is_rational(derivative_of(case, 1)) else balls(BITS)
    for x in case.points:
        found = denote(derivative_of(case, order), (x if reading is FRACTIONS else ball(x),), reading)
        wanted = case.exact(expression, x)
        wanted = ball(wanted) if isinstance(wanted, Fraction) and not isinstance(found, Fraction) else wanted
        assert differ(found, wanted) is None


@CASE
def test_the_first_derivative_is_the_closed_form(case: Case) -> None:
    agrees(case, 1, case.first)


@CASE
def test_the_second_derivative_is_the_closed_form(case: Case) -> None:
    """By the adjoint of the adjoint, in graph form and back. In the shallow profile only of every fourth program."""
    if examples() > 1000 or CASES.index(case) % 4 == 0:
        agrees(case, 2, case.second)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_of_first_order_is_refused(name: str) -> None:
    [case] = [c for c in CASES if c.name == name]
    with pytest.raises(Malformed) as error:
        derivative_of(case, 1)
    assert error.value.rule == "first_order"
    assert error.value.location is not None


def line(x: Any) -> Any:
    return 5 * x + 3


def test_the_derivative_of_a_line_is_its_slope() -> None:
    """Zygote, section 4.2: of 5x + 3 there remains `ret i64 5`."""
    program = optimize(expand(calling(parse(line), "grad"), "ssa"))
    assert program.constant(program.graphs[program.entry].output) == 5


def test_an_irreducible_loop_is_refused() -> None:
    source = """function f(x):
block #1:
    %1 ← gt(x, 0)
    goto #3 if %1
block #2:
    %2 ← φ(#1 → x, #3 → %4)
    %3 ← mul(%2, x)
block #3:
    %4 ← φ(#1 → x, #2 → %3)
    %5 ← gt(%4, 9)
    goto #2 if not %5
block #4:
    return %4"""
    with pytest.raises(Malformed) as error:
        adjoint(read(source))
    assert error.value.rule == "irreducible"


def test_two_returns_and_no_return_are_refused() -> None:
    with pytest.raises(Malformed, match="returns in 2 blocks"):
        adjoint(
            read(
                "function f(x):\nblock #1:\n    %1 ← gt(x, 0)\n    goto #3 if %1\nblock #2:\n    return x\nblock #3:\n    return 1"
            )
        )
    with pytest.raises(Malformed, match="never returns"):
        adjoint(read("function f(x):\nblock #1:\n    goto #1"))


def test_a_policy_that_is_none_is_refused() -> None:
    with pytest.raises(Malformed, match="no policy"):
        adjoint(read(POW), "forget")


# planted bugs


def with_rule(name: str, function: Callable[[Inversion], Inversion | None]) -> Any:
    """The first stage with another function for one of its rules."""
    rules = tuple(AgendaRule(r.name, r.law, function) if r.name == name else r for r in SYSTEM.rules)
    return replace(SYSTEM, rules=rules)


def sequential(state: Inversion) -> Inversion | None:
    """adjoint_phi, but each φ node is done before the next is read."""
    after = RULE["adjoint_phi"].function(state)
    if after is None or state.item.block == 0 or len(state.block.successors) > 1:
        return after
    parts: list[Any] = []
    for phi in (phi for s in state.block.successors for phi in state.function.by_label[s].phis):
        arm, one = phi.arm(state.item.block), part(phi.target, 0)
        parts += [replace(reset(phi.target), targets=(one,), operands=(Literal(ZERO), Name(nabla(phi.target)))), reset(phi.target)]
        parts += [add(arm.text, one)] if isinstance(arm, Name) else []
    return state.writing(*parts)


def never_reset(state: Inversion) -> Inversion | None:
    """adjoint_application, but ∇x is not reset where x is defined."""
    after = RULE["adjoint_application"].function(state)
    if after is None:
        return None
    kept = [p for p in written_by(state, after) if p.targets != (nabla(state.instruction.targets[0]),)]
    return state.writing(*kept)


def inverted_record(state: Inversion) -> Inversion | None:
    """invert_jump, but the record is read the wrong way round."""
    after = RULE["invert_jump"].function(state)
    if after is None:
        return None
    [jump] = written_by(state, after)
    return state.writing(Branch(jump.condition, jump.otherwise, jump.then) if isinstance(jump, Branch) else jump)


WITNESSES = [
    (POW, (3, 4), (108, ZERO)),
    (SWAP, (2, 3, 3), (9, 12, ZERO)),
    (BREAKS, (3, 6), (199752, ZERO)),
    (BRANCH.replace("0.01", "5"), (-3,), (5,)),
    (POW, (3, 0), (ZERO, ZERO)),
]


def caught() -> bool:
    """Whether some witness has another gradient than the closed form, or none."""
    for source, arguments, wanted in WITNESSES:
        try:
            if gradient_at(source, *arguments) != wanted:
                return True
        except AdjudgeError:
            return True
    return False


def test_without_a_planted_bug_nothing_is_caught() -> None:
    assert not caught()


@pytest.mark.parametrize(
    ("name", "function"),
    [("adjoint_phi", sequential), ("adjoint_application", never_reset), ("invert_jump", inverted_record)],
)
def test_a_wrong_rule_is_caught(name: str, function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = with_rule(name, function)
    monkeypatch.setattr("transforms.ssa_adjoint.alphas.listing", lambda module: wrong.run(begin(module)))
    assert caught()


def at_least_once(instruction: Instruction, holds: tuple[bool, ...]) -> Any:
    """more, but of a loop that has run no turn as well."""
    *before, asked = stacks._more(instruction, holds)
    yield from before
    yield replace(asked, callee=stacks.TABLE["ge"])


def misplaced(instruction: Instruction, holds: tuple[bool, ...]) -> Any:
    """top, but what lies on the stack is taken off in the wrong order."""
    yield from stacks._top(replace(instruction, targets=instruction.targets[::-1]), holds)


@pytest.mark.parametrize(("operation", "function"), [("more", at_least_once), ("top", misplaced)])
def test_a_wrong_stack_is_caught(operation: str, function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(stacks.OPERATIONS, operation, function)
    assert caught()


def test_gradient_modules_are_well_formed_and_read_back() -> None:
    for source in (POW, SWAP, BREAKS, RECURSION):
        module = gradient(read(source))
        check(module)
        assert read(str(module)) == module


# a program that shows what was wrong in the optimizer: a record of two items was taken to have no value at all, and so the sum of
# two sensitivities of it to be one of reals, `add` in place of `gadd`
RECORD_CARRIED = """
def f(x):
    s = {"p": x, "q": 1.0}
    for _ in range(2):
        s = {"p": s["p"] * s["q"], "q": s["q"] * s["p"]}
    return s["p"] ** 2 + s["q"] ** 2
"""


@pytest.mark.parametrize("mode", ["ssa", "ssa-mixed", "ssa-recompute"])
def test_a_record_that_a_loop_carries_is_differentiated_twice(mode: str) -> None:
    hessian = expand(calling(parse_text(RECORD_CARRIED, "f"), "hessian"), mode)
    assert denote(hessian, (Fraction(3, 4),), FRACTIONS) == Fraction(27, 2)


@pytest.mark.parametrize("count", range(4))
def test_of_a_record_of_any_number_of_items_nothing_is_promised(count: int) -> None:
    items = "".join(f", {i}.0" for i in range(count))
    program = read_graph(f"program @f\n@f(%l):\n  %r = make_record(%l{items})\n  return %r")
    [record] = [n for n in program.nodes if program.apply(n) is not None]
    assert not fits(program, record, "number")


# mutation


@pytest.mark.parametrize("mode", ["ssa", "ssa-mixed", "ssa-recompute"])
@pytest.mark.parametrize("name", ["accumulator", "pair", "power", "power_adjoint", "appended", "counted"])
def test_mutation_through_boxes_is_differentiated_twice(name: str, mode: str) -> None:
    """Zygote, section 3.2: the derivatives are those of J, exactly, though tokens lie on tapes and turns are run again."""
    arguments = (Fraction(3, 2), 3) if name.startswith("power") else (Fraction(3, 2),)
    ours = theirs = parse_file(Path(__file__).parent.parent / "examples" / "memory.py", name, vars(adjudge.memory))
    for _ in range(2):
        theirs = expand(calling(expand(theirs), "grad"))
        ours = expand(calling(expand(ours, mode), "grad"), mode)
        found, wanted = (denote(program, arguments, FRACTIONS) for program in (ours, theirs))
        assert found == wanted != 0


# generated programs


RATIONAL_SOURCES = sources(Options(features=FIRST_ORDER, rational_only=True, size=10))


@given(RATIONAL_SOURCES, points(2))
def test_the_ssa_adjoint_is_j_on_generated_programs(source: Source, x: tuple[float, ...]) -> None:
    """On fractions, so that sums in another order are the same; where one of the two has no value the other has none."""
    wrt = tuple(range(len(x)))
    program = source.program()
    found, wanted = (gradient_or_error(expand(calling(program, "grad", wrt), mode), x) for mode in ("ssa", "J"))
    event(wanted if isinstance(wanted, str) else "has a gradient")
    assert found == wanted


def gradient_or_error(program: Program, x: tuple[float, ...]) -> Any:
    try:
        return denote(program, tuple(map(Fraction, x)), FRACTIONS)
    except AdjudgeError as error:
        return type(error).__name__
