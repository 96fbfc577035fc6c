"""
The state in which alphas are resolved, and the two ways in which code gets between the blocks of an adjoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from immutables import Map

from semantics.ssa.form import OUTSIDE, Block, Branch, Function, Goto, Instruction, Label, Literal, Module, Name, Parameter, Return
from transforms.agenda import AtWork
from transforms.ssa.rewriting import arrive
from transforms.ssa_adjoint.stacks import TAPE, make
from transforms.ssa_adjoint.turns import Turn, alpha

stack = "stack {}".format  # the variable that holds the stack of the loop with this header


class Item(NamedTuple):
    """What is done next: a kind, the function, and one of its loops."""

    kind: str
    function: str
    turn: Turn | None = None


@dataclass(frozen=True)
class Resolution(AtWork[Item]):
    """
    The resolution at work.

    forward    the blocks of ▶f, f the current function, which may assign a name more than once     backward   likewise of ◀f
    kept       by header, what is pushed at the end of a turn, if it is read         fresh  a label that no block has
    entry      the block in which ◀f begins
    pullbacks  by primitive, arity, and whole exponent: the name of ◀p, and which of its arguments and result it takes
    done       the functions that are finished
    """

    listing: Module
    policy: str
    arrays: bool
    forward: Map[Label, Block] = Map()
    backward: Map[Label, Block] = Map()
    kept: Map[Label, tuple[str, ...]] = Map()
    fresh: Label = 1
    entry: Label = 1
    pullbacks: Map[Any, tuple[str, tuple[int, ...]]] = Map()
    done: tuple[Function, ...] = ()

    @property
    def primal(self) -> Function:
        return self.listing[f"▶{self.item.function}"]

    @property
    def adjoint(self) -> Function:
        return self.listing[f"◀{self.item.function}"]

    @property
    def turn(self) -> Turn:
        assert self.item.turn is not None
        return self.item.turn

    @property
    def returning(self) -> Block:
        """The block of ▶f that returns."""
        [found] = (block for block in self.forward.values() if isinstance(block.jump, Return))
        return found


def by_label(blocks: Iterable[Block]) -> Map[Label, Block]:
    return Map({block.label: block for block in blocks})


def top(state: Resolution) -> Instruction:
    """αa, … ← top of s"""
    kept, s = state.kept[state.turn.header], alpha(stack(state.turn.header))
    return make("top", state.turn.header, tuple(map(alpha, kept)), Name(s))


def rest(state: Resolution) -> Instruction:
    """s ← rest of s"""
    s = alpha(stack(state.turn.header))
    return make("rest", state.turn.header, (s,), Name(s))


def on_the_way(state: Resolution, way: Callable[[Label], list[Block]]) -> Resolution:
    """The jump that asks for a record asks for the stack; where it says yes, the blocks `way(target)` lead to the target."""
    turn, first, more = state.turn, state.fresh, f"more {state.turn.header}"
    block = state.backward[turn.asking]
    assert isinstance(block.jump, Branch)
    record = next(phi for phi in state.primal.by_label[turn.header].phis if phi.target == turn.record)
    targets = block.jump.then, block.jump.otherwise
    to, out = targets if record.arm(turn.latch) == Literal(True) else targets[::-1]
    asked = make("more", turn.header, (more,), Name(alpha(stack(turn.header))))
    added = way(to)
    [last] = (b.label for b in added if to in b.successors)
    blocks = state.backward.update({b.label: b for b in added})
    blocks = blocks.set(block.label, replace(block, instructions=(*block.instructions, asked), jump=Branch(Name(more), first, out)))
    blocks = blocks.set(to, replace(blocks[to], phis=arrive(blocks[to].phis, {block.label: last})))
    return state.then(backward=blocks, fresh=1 + max(b.label for b in added))


def with_tape(state: Resolution, names: Iterable[str], before: Iterable[Block] = (), end: Label | None = None) -> Resolution:
    """The tape holds `names`. Between the block that takes it apart and the adjoint blocks come those `before`, up to `end`."""
    names, before, first, entry = tuple(names), tuple(before), state.fresh, state.adjoint.entry
    blocks = state.backward.update({b.label: replace(b, jump=Goto(entry)) if b.label == end else b for b in before})
    blocks = blocks.set(entry, replace(blocks[entry], phis=arrive(blocks[entry].phis, {OUTSIDE: end or first})))
    taken = make("top", TAPE, tuple(map(alpha, names)), Name(TAPE))
    blocks = blocks.set(first, Block(first, (), (taken,), Goto(before[0].label if before else entry)))
    last = state.returning
    assert isinstance(last.jump, Return)
    kept = make("keep", TAPE, ("the tape",), *map(Name, names))
    last = replace(last, instructions=(*last.instructions, kept), jump=Return((*last.jump.operands, Name("the tape"))))
    return state.then(forward=state.forward.set(last.label, last), backward=blocks, entry=first)


def functions(state: Resolution) -> tuple[Function, Function]:
    """▶f and ◀f, as they stand."""
    parameters = (Parameter(TAPE), *state.adjoint.parameters)
    forward = replace(state.primal, blocks=_first(state.forward, state.primal.entry))
    return forward, replace(state.adjoint, parameters=parameters, blocks=_first(state.backward, state.entry))


def _first(blocks: Map[Label, Block], entry: Label) -> tuple[Block, ...]:
    """The blocks in order, the entry first."""
    return (blocks[entry], *(blocks[label] for label in sorted(blocks) if label != entry))
