"""
Tidy control flow: what a translation into SSA form does to a function once its code is there. Five passes, each its own law.

    equal_arms   %a ← φ(#p → v, #q → v)                  →  v for %a       (an arm that is %a itself does not count)
    forwarding   #p: … goto #e    #e: goto #t            →  #p: … goto #t
    chains       #p: i… goto #t   #t: j… jump            →  #p: i… j… jump        where only #p leads to #t
    pairs        a block that n > 2 blocks lead to       →  a balanced tree of joins; those of the turns of a loop apart
    numbered     blocks in reverse postorder, names %1, %2, … in order of appearance; parameters keep theirs

No pass moves or drops an instruction, so no trap is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from semantics.ssa.dominance import walk
from semantics.ssa.form import (
    OUTSIDE,
    Block,
    Function,
    Goto,
    Label,
    Name,
    Operand,
    Phi,
)
from transforms.ssa.rewriting import key, lead, put_in_block, resolved, with_arms, with_operands

Way = tuple[Label, tuple[Operand, ...]]


def tidy(function: Function, *, pairwise: bool = True) -> Function:
    """All passes. With `pairwise` at most two blocks lead to a block."""
    function = chains(forwarding(equal_arms(reachable(function))))
    if pairwise:  # in the halves of a join more arms are equal, and fewer blocks have two ways to one
        function = forwarding(equal_arms(pairs(function)))
    return numbered(function)


def in_order(function: Function) -> list[Label]:
    """The labels of the blocks that the entry leads to, in reverse postorder: `then` before `otherwise`, a loop before its exit."""
    _, left = walk({OUTSIDE: (function.entry,), **{block.label: block.successors[::-1] for block in function.blocks}})
    return left[-2::-1]


def reachable(function: Function) -> Function:
    """The blocks that the entry leads to, in reverse postorder; φ nodes lose the arms of the others."""
    order = in_order(function)
    live = {label: label for label in (OUTSIDE, *order)}
    return replace(function, blocks=tuple(_from(function.by_label[label], live) for label in order))


def _from(block: Block, labels: Mapping[Label, Label]) -> Block:
    """The block, with the arms of its φ nodes for other blocks; those for blocks that `labels` does not know are dropped."""
    if not block.phis:
        return block
    return replace(block, phis=tuple(replace(p, arms=tuple((labels[b], o) for b, o in p.arms if b in labels)) for p in block.phis))


# φ nodes that choose between one value


def equal_arms(function: Function) -> Function:
    """%a ← φ(#p → v, #q → v)  →  v for %a"""
    phis = {phi.target: phi for block in function.blocks for phi in block.phis}
    readers: dict[str, list[str]] = {}
    for phi in phis.values():
        for _, operand in phi.arms:
            if isinstance(operand, Name) and operand.text in phis:
                readers.setdefault(operand.text, []).append(phi.target)
    value: dict[str, Operand] = {}
    todo = list(reversed(phis))
    while todo:
        target = todo.pop()
        if target in value:
            continue
        found = {key(v): v for _, operand in phis[target].arms if (v := resolved(operand, value)) != Name(target)}
        if len(found) == 1:
            (value[target],) = found.values()
            todo += readers.get(target, ())
    kept = (replace(b, phis=tuple(phi for phi in b.phis if phi.target not in value)) for b in function.blocks)
    return with_operands(replace(function, blocks=tuple(kept)), lambda operand: resolved(operand, value))


# blocks that only lead on


def forwarding(function: Function) -> Function:
    """
    #p: … goto #e    #e: goto #t  →  #p: … goto #t        where only #p leads to #e

    and no φ node of #t needs #e to tell it from another way from #p to #t.
    """
    blocks = dict(function.by_label)
    before = {label: {p: p for p in labels} for label, labels in function.predecessors.items()}  # as φ nodes still call them
    entry = function.entry
    for empty in list(blocks):
        block = blocks[empty]
        if block.phis or block.instructions or not isinstance(block.jump, Goto) or len(before[empty]) > 1:
            continue
        target = block.jump.target
        (source,) = before[empty]
        ways = before[target]
        if source in ways and any(key(p.arm(ways[source])) != key(p.arm(ways[empty])) for p in blocks[target].phis):
            continue
        ways[source] = ways.pop(empty)
        del blocks[empty]
        if source == OUTSIDE:
            entry = target
        else:
            blocks[source] = replace(blocks[source], jump=lead(blocks[source].jump, {empty: target}))
    after = {label: _from(block, {old: new for new, old in before[label].items()}) for label, block in blocks.items()}
    return replace(function, blocks=(after.pop(entry), *after.values()))


def chains(function: Function) -> Function:
    """#p: i… goto #t   #t: j… jump  →  #p: i… j… jump        where only #p leads to #t, which has no φ node"""
    before = function.predecessors
    absorbed: set[Label] = set()
    renamed: dict[Label, Label] = {OUTSIDE: OUTSIDE}
    merged: list[Block] = []
    for block in (function.by_label[label] for label in in_order(function)):
        if block.label in absorbed:
            continue
        last, code = block, list(block.instructions)
        while isinstance(last.jump, Goto) and before[last.jump.target] == (last.label,):
            follower = function.by_label[last.jump.target]
            if follower.phis or follower.label == block.label:
                break
            last = follower
            absorbed.add(last.label)
            code += last.instructions
        renamed[last.label] = block.label
        merged.append(Block(block.label, block.phis, tuple(code), last.jump))
    return replace(function, blocks=tuple(_from(block, renamed) for block in merged))


# joins of more than two


@dataclass
class _Joins:
    """The blocks of a function in which the ways to one block are being joined. A way: its last block, an operand for each φ."""

    blocks: dict[Label, Block]
    fresh: Label
    target: Label

    def join(self, ways: Sequence[Way]) -> Way:
        """One way instead of several: itself if it is one, and else through a new join of two halves."""
        if len(ways) == 1:
            return ways[0]
        label, self.fresh = self.fresh, self.fresh + 1
        middle = (len(ways) + 1) // 2
        (left, ours), (right, theirs) = self.join(ways[:middle]), self.join(ways[middle:])
        phis: list[Phi] = []
        values: list[Operand] = []
        for index, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            if key(a) == key(b):
                values.append(a)
            else:
                phis.append(Phi(f"%{label}.{index}", ((left, a), (right, b)), self.blocks[self.target].phis[index].location))
                values.append(Name(phis[-1].target))
        for source in (left, right):
            self.blocks[source] = replace(self.blocks[source], jump=lead(self.blocks[source].jump, {self.target: label}))
        self.blocks[label] = Block(label, tuple(phis), (), Goto(self.target))
        return label, tuple(values)


def pairs(function: Function) -> Function:
    """
    a block that n > 2 blocks lead to  →  a balanced tree of joins of two

    What leads into a loop and what leads to its next turn are joined apart, so that a loop keeps its one entry.
    """
    position = {OUTSIDE: -1} | {label: i for i, label in enumerate(in_order(function))}
    blocks = dict(function.by_label)
    fresh = max(blocks) + 1
    for label, sources in function.predecessors.items():
        if len(sources) > 2:
            phis = blocks[label].phis
            arms = [dict(phi.arms) for phi in phis]
            ways = {source: (source, tuple(arm[source] for arm in arms)) for source in sources}
            into = [ways[s] for s in sources if position[s] < position[label]]
            again = [ways[s] for s in sources if position[s] >= position[label]]
            if not into or not again:
                middle = (len(sources) + 1) // 2
                into, again = (both := into + again)[:middle], both[middle:]
            joins = _Joins(blocks, fresh, label)
            joined = (joins.join(into), joins.join(again))
            fresh = joins.fresh
            blocks[label] = replace(
                blocks[label],
                phis=tuple(replace(phi, arms=tuple((b, values[i]) for b, values in joined)) for i, phi in enumerate(phis)),
            )
    return replace(function, blocks=tuple(blocks.values()))


# the last touch


def numbered(function: Function) -> Function:
    """Blocks #1, #2, … in reverse postorder, names %1, %2, … in order of appearance; parameters keep theirs."""
    order = in_order(function)
    labels = {OUTSIDE: OUTSIDE} | {label: i for i, label in enumerate(order, 1)}
    blocks = [function.by_label[label] for label in order]
    taken = {parameter.name for parameter in function.parameters}
    names = {name: name for name in (*taken, "_")}
    count = 0
    for target in (t for b in blocks for t in (*(p.target for p in b.phis), *(t for i in b.instructions for t in i.targets))):
        if target not in names:
            count += 1
            while f"%{count}" in taken:
                count += 1
            names[target] = f"%{count}"

    named = {name: Name(new) for name, new in names.items()}

    def operand(found: Operand) -> Operand:
        return named[found.text] if isinstance(found, Name) else found

    renamed = (put_in_block(block, operand, names.__getitem__, labels) for block in blocks)
    return replace(function, blocks=tuple(map(_arms_in_order, renamed)))


def _arms_in_order(block: Block) -> Block:
    return replace(block, phis=tuple(with_arms(p, sorted(p.arms, key=itemgetter(0))) for p in block.phis))
