"""
The other reverse modes over the reals: the adjoint programs of every construct, and of loops for any number of turns.

    constructs  as for J: the gradient program of a mode is the derivative of the value, for unknown g, h and k. J's is too, so on
                these programs all modes are equal
    induction   local pullbacks keep J's calling convention, so recursion, duality and closed forms are judged as J's are
    tape        the adjoint of SSA code reverses a loop by a loop of its own. One turn forwards, from any state, pushes on the tape
                what one turn backwards takes off it, and the sensitivities of that turn satisfy <G', t> = <G, t'>. What stands
                before and after a loop is judged with 0, 1 and 2 turns
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import z3

from checkers.smt.inquiry import Inquiry, Judgment
from checkers.verdict import OutOfScope, Proved, Unknown, Verdict
from proofs.induction import Back, Opened, Turn, captured_by, moving, named, symbols, total
from proofs.loops import CLOSED_FORMS, LOOPS, judge_closed_form, judge_duality, tangent
from proofs.normal_form import equal
from proofs.obligation import Obligation
from proofs.recursion import EXAMPLES, Gradient, Recursive, guarded, judge
from proofs.structural import CONSTRUCTS, PRIMITIVES, construct, judge_j
from semantics.ir import GraphId, Program
from semantics.primitives.table import TABLE
from semantics.scope import scopes
from semantics.tangents import ZERO
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text

OF_CONSTRUCTS = ("ssa", "ssa-recompute", "ssa-mixed", "pullback", "cached")
BY_INDUCTION = ("pullback",)
BY_TAPE = ("ssa",)
TAPE = "what is on the tape"
MOST_ORDERS = 720


def judge_construct(mode: str, name: str) -> Judgment:
    """`judge_j` of a construct, its gradient by another mode."""
    program = construct(name)
    return judge_j(name, program, gradient=gradient_program(program, mode=mode), claim=f"{mode}: {name}")


def judge_turns(claim: str, turns: int, mode: str) -> Judgment:
    """A loop of a known number of turns with code before and after it."""
    text = f"def f(x):\n y, z = g(x), x\n for i in range({turns}):\n  y, z = k(y, z), h(y) * x\n return k(z, y) * x\n"
    program = parse_text(text, "f", "f.py", PRIMITIVES)
    return judge_j(claim, program, gradient=gradient_program(program, mode=mode), claim=claim)


# one turn of a loop, forwards and back


def header(program: Program, mark: str) -> str:
    """The name of the graph at which the loop of the ▶ or the ◀ code begins: it can reach itself, and is called from outside."""
    found = scopes(program)
    reached: dict[GraphId, set[GraphId]] = {}
    for graph in found.free:
        todo, seen = list(found.references[graph]), set[GraphId]()
        while todo:
            if (other := todo.pop()) not in seen:
                seen.add(other)
                todo.extend(found.references[other])
        reached[graph] = seen
    cyclic = [g for g in found.free if g in reached[g] and program.graphs[g].name.startswith(mark)]
    entered = [g for g in cyclic if any(g in found.references[h] for h in found.free if h not in cyclic)]
    return program.graphs[entered[0]].name if len(entered) == 1 else ""


def nothing(_: Mapping[str, Any], arguments: Sequence[Any]) -> tuple[Any, Back]:
    """The hypothesis that says nothing: the calls are what is looked at."""
    return (ZERO, ZERO), lambda d: ({}, ())


def forwards(program: Program, example: Recursive) -> tuple[list[Turn], list[z3.ArithRef]]:
    """
    One turn of the ▶ loop from any state, on any tape; and the reals that it was given, captured ones last.

    What the loop captures only to put it on the tape after its last turn is of no matter to a turn.
    """
    opened = Opened(program, header(program, "▶f"))
    kinds = dict(zip(captured_by(example.program(), _graph(example)), example.captured, strict=True))
    rest = [value for name, value in kinds.items() if name not in opened.captured]
    template = {name: kinds[name] if name in kinds else (rest.pop(0) if rest else TAPE) for name in opened.captured}
    captured = {name: symbols(value, f"c_{name}") for name, value in template.items()}
    state = symbols(tuple(example.states[0]), "a")
    return opened.turns(nothing, captured, (TAPE, *state)), moving((*state, *captured.values()))


def _graph(example: Recursive) -> GraphId:
    program = example.program()
    return next(g for g in program.graphs if program.graphs[g].name == example.function)


def backwards(program: Program, tape: Any) -> tuple[list[Turn], int, list[z3.ArithRef]]:
    """One turn of the ◀ loop with this tape; which argument the tape is, and the sensitivities that the others are."""
    opened = Opened(program, header(program, "◀f"))
    graph = next(g for g in program.graphs if program.graphs[g].name == header(program, "◀f"))
    parameters = program.graphs[graph].parameters
    taken = [i for i, p in enumerate(parameters) if any(program.callee(u.user) is TABLE["length"] for u in program.users(p))]
    given: list[Any] = [z3.Real(f"G{i}") for i in range(len(parameters))]
    sensitivities = [g for i, g in enumerate(given) if i not in taken]
    given[taken[0]] = tape
    return opened.turns(nothing, dict.fromkeys(opened.captured, ZERO), given), taken[0], sensitivities


@guarded
def judge_tape(claim: str, example: Recursive, gradient: Gradient) -> Judgment:
    """One turn forwards and one back: the tape is as before, and <G', t> = <G, t'>."""
    inquiry = Inquiry()
    program = named(gradient(example.program()))
    if not header(program, "▶f") or not header(program, "◀f"):
        return inquiry.judged(claim, "tape", OutOfScope("the code has no single loop", claim))
    turns, reals = forwards(program, example)
    steps = [turn for turn in turns if turn.calls]
    verdict: Verdict = Unknown("no turn was made", claim)
    for turn in steps:
        tape, *after = turn.calls[0].arguments
        back, place, given = backwards(program, tape)
        if len(back) != 1 or len(back[0].calls) != 1:
            return inquiry.judged(claim, "tape", Unknown("a turn back does not call for one more", claim))
        (call,) = back[0].calls
        passed = [z3.RealVal(0) if x is ZERO else x for i, x in enumerate(call.arguments) if i != place]
        if call.arguments[place] is not TAPE:
            return inquiry.judged(claim, "tape", Unknown("a turn back does not leave the tape as it was", claim))
        moved = [*moving(tuple(after)), *reals[len(moving(tuple(after))) :]]
        verdict = _dual(inquiry, claim, reals, moved, given, passed)
        if not isinstance(verdict, Proved):
            break
    return inquiry.judged(claim, "tape", verdict)


def _dual(
    inquiry: Inquiry,
    claim: str,
    reals: Sequence[Any],
    moved: Sequence[Any],
    given: Sequence[Any],
    passed: Sequence[Any],
) -> Verdict:
    """<G', t> = <G, t'>, where some order of the sensitivities is that of the reals: any that does is a proof."""
    if len(given) != len(reals):
        return Unknown(f"{len(given)} sensitivities go round for {len(reals)} reals", claim)
    tangents = [z3.Real(f"t{i}") for i in range(len(reals))]
    after = [tangent(x, reals, tangents) for x in moved]
    for order in itertools.islice(itertools.permutations(range(len(reals))), MOST_ORDERS):
        left = total([passed[order[i]] * t for i, t in enumerate(tangents)])
        right = total([given[order[i]] * t for i, t in enumerate(after)])
        if equal(left, right):
            inquiry.settled([left != right], "normal form")
            return Proved("one turn on the tape, for all g, h and k", claim)
    return Unknown("no order of the sensitivities was found that makes the turn dual", claim)


TAPED = {
    name: LOOPS[name]
    for name in ("a for loop", "a while loop that carries three values", "a recurrent cell that carries 2 numbers")
}


def _by_mode(mode: str) -> list[Obligation]:
    """What is claimed of local pullbacks by induction."""
    gradient = partial(gradient_program, mode=mode)
    return [
        Obligation(f"{mode}, {what}: {name}", mode, partial(judging, f"{mode}, {what}: {name}", example, gradient), ("slope",))
        for what, judging, examples in (
            ("by induction", judge, EXAMPLES),
            ("loop duality", judge_duality, LOOPS),
            ("closed form", judge_closed_form, CLOSED_FORMS),
        )
        for name, example in examples.items()
    ]


OBLIGATIONS: tuple[Obligation, ...] = (
    *(
        Obligation(f"{mode}: {name}", mode, partial(judge_construct, mode, name), ("slope",))
        for mode in OF_CONSTRUCTS
        for name in CONSTRUCTS
    ),
    *(
        Obligation(f"{mode}: {n} turns", mode, partial(judge_turns, f"{mode}: {n} turns", n, mode), ("slope",))
        for mode in BY_TAPE
        for n in (0, 1, 2)
    ),
    *(
        Obligation(
            f"{mode}, one turn on the tape: {name}",
            mode,
            partial(judge_tape, f"{mode}, one turn on the tape: {name}", loop, partial(gradient_program, mode=mode)),
            ("slope",),
        )
        for mode in BY_TAPE
        for name, loop in TAPED.items()
    ),
    *(obligation for mode in BY_INDUCTION for obligation in _by_mode(mode)),
)
