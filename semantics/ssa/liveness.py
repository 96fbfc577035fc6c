"""
Which names are live, and where they die.

A name is *live* at a place if a use of it can be reached from there without coming by its definition. What a φ node uses is used on
the edge from the block that its arm names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from semantics.ssa.form import OUTSIDE, Block, Function, Label, Name, Operand, operands_of


def names_in(operands: Iterable[Operand]) -> tuple[str, ...]:
    """The names among operands."""
    return tuple([operand.text for operand in operands if isinstance(operand, Name)])


@dataclass(frozen=True, slots=True)
class Liveness:
    """
    What is live in a function.

    before  the names live where a block begins, after the moves of its φ nodes, of which a target is live if it is used
    after   the names live at the end of a block: those that its jump uses, that its successors' φ nodes use on the edge from it,
            and those live where its successors begin, but for the targets of their φ nodes
    """

    before: dict[Label, frozenset[str]]
    after: dict[Label, frozenset[str]]


def liveness(function: Function) -> Liveness:
    """From each use backwards to the definition, block by block: linear in what it finds."""
    home = dict(function.definitions())
    before: dict[Label, set[str]] = {block.label: set() for block in function.blocks}
    after: dict[Label, set[str]] = {block.label: set() for block in function.blocks}
    phis = {block.label: {phi.target for phi in block.phis} for block in function.blocks}
    todo: list[tuple[str, Label, bool]] = []  # a name, a block, and whether it is live at the beginning or at the end of it
    for block in function.blocks:
        todo += [(name, block.label, False) for name in names_in(operands_of(block.jump))]
        todo += [(n, block.label, True) for i in block.instructions for n in names_in(i.operands) if home.get(n) != block.label]
        todo += [(n, block.label, True) for i in block.instructions for n in names_in(i.operands) if n in phis[block.label]]
        todo += [(name, label, False) for phi in block.phis for label, o in phi.arms if label for name in names_in((o,))]
    while todo:
        name, label, begins = todo.pop()
        found = before if begins else after
        if name in found[label]:
            continue
        found[label].add(name)
        if not begins:
            if home.get(name) != label or name in phis[label]:
                todo.append((name, label, True))
        elif name not in phis[label]:
            todo += [(name, source, False) for source in function.predecessors[label] if source != OUTSIDE]
    return Liveness(*({label: frozenset(names) for label, names in found.items()} for found in (before, after)))


class Deaths(NamedTuple):
    """Where names die: at an instruction, the last to use them or their own definition if nothing does; and along an edge."""

    at: dict[int, tuple[str, ...]]
    along: dict[tuple[Label, Label], tuple[str, ...]]
    entering: tuple[str, ...]


def deaths(function: Function) -> Deaths:
    """Where the names of a function die, by the positions that `semantics.ssa.code` gives its instructions."""
    live = liveness(function)
    at: dict[int, tuple[str, ...]] = {}
    position = 0
    for block in function.blocks:
        alive = set(live.after[block.label])
        for i in reversed(range(len(block.instructions))):
            instruction = block.instructions[i]
            held = dict.fromkeys((*names_in(instruction.operands), *instruction.targets))
            at[position + i] = tuple(name for name in held if name not in alive and name != "_")
            alive -= set(instruction.targets)
            alive |= set(names_in(instruction.operands))
        position += len(block.instructions) + 1
    along = {
        (block.label, target): _along(live.after[block.label], function.by_label[target], live)
        for block in function.blocks
        for target in block.successors
    }
    return Deaths(at, along, _along([p.name for p in function.parameters], function.blocks[0], live))


def _along(held: Iterable[str], block: Block, live: Liveness) -> tuple[str, ...]:
    """Of the names that are held at the source of an edge or bound on it, those that are dead where it ends."""
    bound = dict.fromkeys((*held, *(phi.target for phi in block.phis)))
    return tuple(name for name in bound if name not in live.before[block.label])
