"""
First turns on their own, of loops of which every later turn knows what the first one has to ask: "loop peeling".

The adjoint of a loop that is left in several places begins with the turn that was not finished: where did control leave it? Later
turns were finished, all of them, and what they ask about that has one answer. In one loop, all that some way out has not computed
may be ZERO, as far as types tell, in every turn. So the first turn gets code of its own, and neither it nor the loop asks:

    #h: x ← φ(#p → a, #q → 0), … goto #t if x else #e        #q goes back to #h, a ≠ 0        ⟹

    #p: goto #h'    #h': … goto #t' if a else #e'    …    #q': goto #h        #h: … goto #e    …    #q: goto #h

A loop in a loop may so be written down four times; beyond SIZE instructions there is no further copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from semantics.ssa.dominance import Loops, loops
from semantics.ssa.form import OUTSIDE, Block, Branch, Function, Goto, Jump, Label, Literal, Name, Operand, Phi
from transforms.ssa.layout import laid_out
from transforms.ssa.rewriting import free_label, key, lead, with_arms
from transforms.ssa.single_assignment import single_assignment
from transforms.ssa.threading import joining, split
from transforms.ssa.zeros import without_zeros

SIZE = 4000


def peeled(function: Function) -> Function:
    """The function in which no loop asks in each turn what all turns but the first know, and nothing else asks what is known."""
    function = answered(function)
    while sum(len(b.instructions) for b in function.blocks) < SIZE and (header := _doubtful(function)) is not None:
        function = answered(_first_turn(function, header))
    return function


def is_peelable(function: Function) -> bool:
    """Whether there is a first turn that can be made apart."""
    return _doubtful(function) is not None


def answered(function: Function) -> Function:
    """The function in which no boolean is asked that is known, or known on some ways to the question."""
    function = _tidied(function)
    while True:
        if any(_is_known(block) for block in function.blocks):
            function = _tidied(_decided(function))
        elif found := joining(function, _asked_here):
            function = _tidied(split(function, found))
        else:
            return function


def _tidied(function: Function) -> Function:
    return laid_out(without_zeros(single_assignment(function)))


def _is_known(block: Block) -> bool:
    return isinstance(block.jump, Branch) and isinstance(block.jump.condition, Literal)


def _decided(function: Function) -> Function:
    """goto #t if True else #e  ⟹  goto #t"""
    blocks, gone = [], set()
    for block in function.blocks:
        match block.jump:
            case Branch(Literal(value), then, otherwise):
                to, other = (then, otherwise) if value else (otherwise, then)
                gone |= {(block.label, other)} if other != to else set()
                blocks.append(replace(block, jump=Goto(to)))
            case _:
                blocks.append(block)
    return replace(function, blocks=tuple(replace(b, phis=tuple(_without(b, phi, gone) for phi in b.phis)) for b in blocks))


def _without(block: Block, phi: Phi, gone: set[tuple[Label, Label]]) -> Phi:
    return replace(phi, arms=tuple((p, a) for p, a in phi.arms if (p, block.label) not in gone))


def _asked_here(block: Block) -> Iterator[str]:
    match block:
        case Block(instructions=(), jump=Branch(Name(x))):
            yield x


def _doubtful(function: Function) -> Label | None:
    """The header of a loop, an inner one first, in which something is asked that the latches know and the way in does not."""
    found = loops(function)
    for header in reversed(tuple(found.by_header)):
        if not found.by_header[header].irreducible and _is_doubtful(function, found, header):
            return header
    return None


def _is_doubtful(function: Function, found: Loops, header: Label) -> bool:
    latches, body = found.by_header[header].latches, found.body(header)
    if OUTSIDE in function.predecessors[header]:
        return False
    names = {j.condition.text for b in body if isinstance(j := function.by_label[b].jump, Branch) and isinstance(j.condition, Name)}
    for phi in function.by_label[header].phis:
        back = {key(arm) for p, arm in phi.arms if p in latches}
        known = all(isinstance(arm, Literal) for p, arm in phi.arms if p in latches) and len(back) == 1
        if phi.target in names and known and any(key(arm) not in back for p, arm in phi.arms):
            return True
    return False


def _first_turn(function: Function, header: Label) -> Function:
    """The function with a copy of a loop for its first turn. Names are assigned in both."""
    body, first = loops(function).body(header), free_label(function)
    copy = {label: first + k for k, label in enumerate(sorted(body))}
    onwards = {label: new for label, new in copy.items() if label != header}
    blocks = {}
    for label, block in function.by_label.items():
        inside = [[(p, a) for p, a in phi.arms if p in body] for phi in block.phis]
        copied = [[(copy[p], a) for p, a in arms] for arms in inside]
        outside = [[(p, a) for p, a in phi.arms if p not in body] for phi in block.phis]
        if label not in body:
            phis = [(*o, *i, *c) for i, c, o in zip(inside, copied, outside, strict=True)]
            blocks[label] = _with(block, phis, label, lead(block.jump, {header: copy[header]}))
            continue
        later = [(*i, *c) if label == header else (*i,) for i, c in zip(inside, copied, strict=True)]
        blocks[label] = _with(block, later, label, block.jump)
        blocks[copy[label]] = _with(block, outside if label == header else copied, copy[label], lead(block.jump, onwards))
    return replace(function, blocks=tuple(blocks.values()))


def _with(block: Block, arms: Sequence[Iterable[tuple[Label, Operand]]], label: Label, jump: Jump) -> Block:
    """The block with other arms of its φ nodes, under a label, with a jump."""
    return Block(label, tuple(with_arms(p, a) for p, a in zip(block.phis, arms, strict=True)), block.instructions, jump)
