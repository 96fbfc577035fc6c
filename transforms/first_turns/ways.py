"""
By which way ▶f came to a block, as ◀f finds it out.

Where several ways meet, ▶f records by which it came, for all blocks in which ◀f is to turn off: φ nodes of known booleans. Those of
one block tell of the same ways. So where ◀f has asked for one, it knows some of the others, and by which ways ▶f may have come.

    record   a name of ◀f that is such a φ node of ▶f          group   (x, block): those of a block in one tuple, the x of ◀f
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from semantics.ssa.dominance import Dominators, dominators
from semantics.ssa.form import OUTSIDE, Block, Branch, Function, Goto, Label, Literal, Name, Operand, Phi
from transforms.first_turns.sources import Sources
from transforms.ssa.rewriting import arrive, free_label

Group = tuple[str, Label]
Known = Mapping[Group, frozenset[Label]]
NOTHING_KNOWN: Known = {}


class Ways:
    """
    What ◀f has found out, by block.

    joins    by name of ▶f, its φ nodes with their blocks          records  by name of ◀f, its group, and what it is on each way
    defined  by name of ◀f, the block that defines it              known    by block of ◀f and group, the ways that are left
    """

    def __init__(self, forward: Function, backward: Function) -> None:
        self.sources = Sources(forward, backward)
        self.function = backward
        self.joins = {phi.target: (phi, block.label) for block in forward.blocks for phi in block.phis}
        self.defined = dict(backward.definitions())
        self.records: dict[str, tuple[Group, dict[Label, bool]]] = {}
        for name in self.sources.backward:
            if (found := self.joined(name)) is not None and all(_is_boolean(arm) for _, arm in found[1].arms):
                self.records[name] = found[0], {p: arm.value for p, arm in found[1].arms}  # type: ignore[union-attr]
        self.tree: Dominators = dominators(backward)
        self.known: dict[Label, Known] = {}

    def joined(self, name: str) -> tuple[Group, Phi] | None:
        """Of a name of ◀f that is a φ node of ▶f, in a tuple x: (x, its block), and the node."""
        if (place := self.sources.place(name)) is None:
            return None
        x, made, i = place
        match self.sources.items(made)[i]:
            case Name(text) if text in self.joins:
                phi, label = self.joins[text]
                return (x, label), phi
            case _:
                return None

    def at(self, label: Label) -> Known:
        """The ways that are left in a block of ◀f, of each group of which something is known."""
        path: list[Label] = []
        while label != OUTSIDE and label not in self.known:
            path.append(label)
            label = self.tree.immediate[label]
        for here in reversed(path):
            above = self.tree.immediate[here]
            known = self.known.get(above, NOTHING_KNOWN)
            if self.function.predecessors[here] == (above,) and above != OUTSIDE:
                known = self.after(above, here, known)
            self.known[here] = known
        return self.known.get(path[0] if path else label, NOTHING_KNOWN)

    def after(self, label: Label, to: Label, known: Known) -> Known:
        """What is known on the way from one block to another."""
        match self.function.by_label[label].jump:
            case Branch(Name(asked), then, otherwise) if asked in self.records and then != otherwise:
                group, said = self.records[asked]
                left = frozenset(p for p, value in said.items() if value == (to == then))
                return {**known, group: known.get(group, frozenset(said)) & left}
            case _:
                return known

    def answers(self, label: Label, to: Label) -> Iterator[tuple[str, Literal]]:
        """The records that are known on the way from one block to another, and what they are."""
        known = self.after(label, to, self.at(label))
        for name, (group, said) in self.records.items():
            values = {said[p] for p in known.get(group, ())}
            if len(values) == 1 and self.tree.dominates(self.defined[name], label):
                yield name, Literal(values.pop())


def told(forward: Function, backward: Function) -> Function:
    """◀f in which a record, once it is known, is assigned that. Names are assigned more than once."""
    ways, fresh = Ways(forward, backward), free_label(backward)
    blocks = dict(backward.by_label)
    for label, block in backward.by_label.items():
        match block.jump:
            case Branch(Name(asked), then, otherwise) if asked in ways.records and then != otherwise:
                to = {then: fresh, otherwise: fresh + 1}
                for old, new in to.items():
                    phis = (Phi(name, ((label, value),)) for name, value in ways.answers(label, old))
                    blocks[new] = Block(new, tuple(phis), (), Goto(old))
                    blocks[old] = replace(blocks[old], phis=arrive(blocks[old].phis, {label: new}))
                blocks[label] = replace(blocks[label], jump=Branch(Name(asked), fresh, fresh + 1))
                fresh += 2
    return replace(backward, blocks=tuple(blocks.values()))


def _is_boolean(operand: Operand) -> bool:
    return isinstance(operand, Literal) and isinstance(operand.value, bool)
