"""
The policies that run forward code again, in front of the adjoint blocks that read what it assigns: `mixed` and `recompute`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from semantics.primitives.table import TABLE
from semantics.ssa.form import OUTSIDE, Alpha, Block, Branch, Goto, Instruction, Label, Literal, Name, Phi
from transforms.agenda import rule_of
from transforms.agenda_system import AgendaRule
from transforms.ssa.rewriting import decided, lead, put_in_block
from transforms.ssa_adjoint.resolution import Resolution, on_the_way, rest, stack, top, with_tape
from transforms.ssa_adjoint.turns import Turn, alpha, as_alpha

ADD, LT = TABLE["add"], TABLE["lt"]


@rule_of("pop, mixed")
def pop_and_run_turn(state: Resolution) -> Resolution:
    """as pop_turn, of what the loop carries; and then the turn that starts with it is run again"""
    first, labels = state.fresh, _labels(state)

    def way(to: Label) -> list[Block]:
        blocks = turn_again(state.forward, state.turn, labels, first, carried=False)
        blocks = [replace(b, jump=Goto(to)) if b.label == labels[state.turn.latch] else b for b in blocks]
        return [Block(first, (), (top(state), rest(state)), Goto(labels[state.turn.header])), *blocks]

    return on_the_way(state, way)


@rule_of("pop, recompute")
def run_to_turn(state: Resolution) -> Resolution:
    """as pop_turn, of a counter that was k: the loop is run again, from the values it was entered with, for k turns"""
    turn, count = state.turn, f"turn {state.turn.header}"
    first, labels = state.fresh, _labels(state)

    def way(to: Label) -> list[Block]:
        counted = Phi(count, ((first, Literal(0)), (labels[turn.latch], Name(f"{count} + 1"))))
        going_on = (
            Instruction((f"{count} is before",), LT, (Name(count), Name(alpha(stack(turn.header))))),
            Instruction((f"{count} + 1",), ADD, (Name(count), Literal(1))),
        )
        blocks = []
        for block in turn_again(state.forward, turn, labels, first, carried=True):
            if block.label == labels[turn.header]:
                block = replace(block, phis=(*block.phis, counted))
            if block.label == labels[turn.latch]:
                back = Branch(Name(f"{count} is before"), labels[turn.header], to)
                block = replace(block, instructions=(*block.instructions, *going_on), jump=back)
            blocks.append(block)
        return [Block(first, (), (rest(state),), Goto(labels[turn.header])), *blocks]

    return on_the_way(state, way)


@rule_of("tape, recompute")
def tape_of_arguments(state: Resolution) -> Resolution:
    """▶f returns (y, x…);  ◀f begins with αx… ← tape, and then all of f is run again"""
    order = sorted(state.forward, key=lambda label: (label != state.primal.entry, label))
    labels = {label: state.fresh + i for i, label in enumerate(order, 1)}
    before = again((state.forward[label] for label in order), {**labels, OUTSIDE: state.fresh})
    return with_tape(state, (p.name for p in state.primal.parameters), before, labels[state.returning.label])


def _labels(state: Resolution) -> dict[Label, Label]:
    """Labels of blocks that are run again."""
    return {label: state.fresh + i for i, label in enumerate(sorted(state.turn.body), 1)}


def again(blocks: Iterable[Block], to: Mapping[Label, Label]) -> Iterator[Block]:
    """Forward code as the adjoint runs it: names are alphas, labels as in `to`."""
    return (put_in_block(block, as_alpha, alpha, to) for block in blocks)


def turn_again(primal: Mapping[Label, Block], turn: Turn, to: Mapping[Label, Label], before: Label, carried: bool) -> list[Block]:
    """
    A whole turn of a loop: its blocks, without the ways out of it and without its push, up to the jump at its end.

    With `carried` the header has the φ nodes of the loop, so that turns can follow each other; `before` is what leads to the first.
    """
    blocks = []
    for block in (primal[label] for label in sorted(turn.body)):
        instructions = tuple(i for i in block.instructions if i.callee != Alpha(f"push {turn.header}"))
        phis = tuple(phi for phi in block.phis if block.label != turn.header or (carried and phi.target in turn.carried))
        [stays, *_] = (label for label in block.successors if label in turn.body)
        jump = decided(lead(block.jump, {label: stays for label in block.successors if label not in turn.body}))
        blocks.append(Block(block.label, phis, instructions, jump))
    return list(again(blocks, {**to, turn.outside: before}))


RULES: tuple[AgendaRule[Resolution], ...] = (pop_and_run_turn, run_to_turn, tape_of_arguments)
