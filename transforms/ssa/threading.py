"""
Ways past a question whose answer is known: "jump threading".

`normal` has the ways out of a loop meet in one block, which asks where each is to go. That is for code that is to be inverted. In
the code itself, what one way has assigned and another has not would be ZERO on that other, as far as types tell, in every turn;
so there each way goes at once to where the answer leads.

    #p: goto #a    #q: goto #a    #a: x ← φ(#p → 0, #q → 1), goto #t if x = 0 else #e   ⟹   #p: goto #t    #q: goto #e

The block that asks is split: a copy for each value that x is known to have, and one for the ways on which it is not. So is a block
that does nothing but join ways to one that asks. The header of a loop stays one block, so a loop is entered in one place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from semantics.primitives.table import TABLE
from semantics.ssa.dominance import loops
from semantics.ssa.form import Block, Branch, Function, Goto, Instruction, Label, Literal, Module, Name, Phi
from transforms.ssa.layout import laid_out
from transforms.ssa.rewriting import free_label, key, lead
from transforms.ssa.single_assignment import single_assignment
from transforms.ssa.zeros import without_zeros

EQ = TABLE["eq"]


def threaded(function: Function) -> Function:
    """The function in which no block, but for headers of loops, asks what the way to it tells."""
    while (found := _known(function)) is not None:
        function = without_zeros(single_assignment(_answered(without_zeros(single_assignment(split(function, *found))))))
    return function


def forward_threaded(module: Module) -> Module:
    """The adjoint of a module, of which nothing differentiates the functions ▶f again: there ways out of a loop need not meet."""
    return replace(module, functions=tuple(laid_out(threaded(f)) if f.name.startswith("▶") else f for f in module.functions))


def _known(function: Function) -> tuple[Block, Phi] | None:
    """A block that can be split, and by what."""
    headers = loops(function).by_header
    for block in function.blocks:
        if block.label in headers:
            continue
        for phi in block.phis:
            values = {key(arm) if isinstance(arm, Literal) else None for _, arm in phi.arms}
            if len(values) > 1 and phi.target in _asked(function, block):
                return block, phi
    return None


def _asked(function: Function, block: Block) -> Iterator[str]:
    """The name of which nothing is done in a block but to ask which value it has, there or in the block after it."""
    match block:
        case Block(instructions=(), jump=Goto(to)):
            after = function.by_label[to]
            arms = {phi.target: phi.arm(block.label) for phi in after.phis}
            yield from (a.text for x in _asked_here(after) if isinstance(a := arms.get(x, Name(x)), Name))
        case _:
            yield from _asked_here(block)


def _asked_here(block: Block) -> Iterator[str]:
    match block:
        case Block(instructions=(Instruction((condition,), callee, (Name(x), Literal())),), jump=Branch(Name(decides))):
            if callee is EQ and condition == decides:
                yield x


def split(function: Function, block: Block, by: Phi) -> Function:
    """A copy of a block for each value of a φ node; names are assigned in each of them."""
    groups: dict[object, list[Label]] = {}
    for label, arm in by.arms:
        groups.setdefault(key(arm) if isinstance(arm, Literal) else None, []).append(label)
    blocks, fresh = dict(function.by_label), free_label(function)
    copies: list[Label] = []
    for sources in groups.values():
        copies.append(block.label if not copies else fresh)
        phis = (replace(phi, arms=tuple((p, a) for p, a in phi.arms if p in sources)) for phi in block.phis)
        blocks[copies[-1]] = replace(block, label=copies[-1], phis=tuple(phis))
        for source in sources if copies[-1] == fresh else ():
            blocks[source] = replace(blocks[source], jump=lead(blocks[source].jump, {block.label: fresh}))
        fresh += len(copies) > 1
    for label in block.successors:
        arms = ((phi, [(p, a) for p, a in phi.arms if p != block.label], phi.arm(block.label)) for phi in blocks[label].phis)
        phis = (replace(phi, arms=(*others, *((copy, arm) for copy in copies))) for phi, others, arm in arms)
        blocks[label] = replace(blocks[label], phis=tuple(phis))
    return replace(function, blocks=tuple(blocks.values()))


def _answered(function: Function) -> Function:
    """goto #t if 1 = 0 else #e  ⟹  goto #e"""
    blocks = {}
    gone: set[tuple[Label, Label]] = set()
    for block in function.blocks:
        match block:
            case Block(instructions=(Instruction(_, callee, (Literal(a), Literal(b))),), jump=Branch(_, then, otherwise)):
                if callee is EQ and then != otherwise:
                    to, other = (then, otherwise) if _holds(a, b) else (otherwise, then)
                    gone.add((block.label, other))
                    block = replace(block, instructions=(), jump=Goto(to))
        blocks[block.label] = block
    for label, block in blocks.items():
        phis = (replace(phi, arms=tuple((p, a) for p, a in phi.arms if (p, label) not in gone)) for phi in block.phis)
        blocks[label] = replace(block, phis=tuple(phis))
    return replace(function, blocks=tuple(blocks.values()))


def _holds(a: Any, b: Any) -> bool:
    """1 = 1"""
    return bool(a == b)
