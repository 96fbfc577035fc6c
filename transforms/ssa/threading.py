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

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from semantics.primitives.table import TABLE
from semantics.ssa.dominance import loops
from semantics.ssa.form import Block, Branch, Function, Goto, Instruction, Label, Literal, Module, Name, Operand, Phi
from transforms.ssa.layout import laid_out
from transforms.ssa.rewriting import free_label, key, lead
from transforms.ssa.single_assignment import single_assignment
from transforms.ssa.tidy import forwarding
from transforms.ssa.zeros import without_zeros

EQ = TABLE["eq"]
Asking = Callable[[Block], Iterator[str]]  # the names of which a block does nothing but ask


def threaded(function: Function) -> Function:
    """The function in which no block, but for headers of loops, asks what the way to it tells."""
    while True:
        if any(map(_is_known, function.blocks)):
            function = without_zeros(single_assignment(_answered(function)))
        elif found := joining(function, _asked_here):
            function = forwarding(without_zeros(single_assignment(split(function, found))))
        else:
            return function


def forward_threaded(module: Module) -> Module:
    """The adjoint of a module, of which nothing differentiates the functions ▶f again: there ways out of a loop need not meet."""
    return replace(module, functions=tuple(laid_out(threaded(f)) if f.name.startswith("▶") else f for f in module.functions))


def joining(function: Function, here: Asking) -> dict[Label, str]:
    """The blocks that can be split, no headers of loops, and the φ nodes by which."""
    headers = loops(function).by_header
    found: dict[Label, str] = {}
    for block in function.blocks:
        names = _asked(function, block, headers, here) if block.phis and block.label not in headers else ()
        for phi in block.phis if names else ():
            values = {key(arm) if isinstance(arm, Literal) else None for _, arm in phi.arms}
            if len(values) > 1 and phi.target in names:
                found.setdefault(block.label, phi.target)
    return found


def _asked(function: Function, block: Block, headers: Container[Label], here: Asking) -> list[str]:
    """The names of which nothing is done but to ask `here`, in a block or after it and others that join ways."""
    path = [block]
    while not (found := [*here(path[-1])]):
        match path[-1]:
            case Block(instructions=(), jump=Goto(to)) if to not in headers and function.by_label[to] not in path:
                path.append(function.by_label[to])
            case _:
                return []
    for before, after in reversed([*pairwise(path)]):
        arms = {phi.target: phi.arm(before.label) for phi in after.phis}
        found = [a.text for x in found if isinstance(a := arms.get(x, Name(x)), Name)]
    return found


def _asked_here(block: Block) -> Iterator[str]:
    """The name of which nothing is done in a block but to ask which value it has."""
    match block:
        case Block(instructions=(Instruction((condition,), callee, (Name(x), Literal())),), jump=Branch(Name(decides))):
            if callee is EQ and condition == decides:
                yield x


def split(function: Function, found: Mapping[Label, str]) -> Function:
    """The function with a copy of each of these blocks for each value of the φ node that is named beside it."""
    for label, name in found.items():
        block = function.by_label[label]
        function = _split(function, block, next(phi for phi in block.phis if phi.target == name))
    return function


def _split(function: Function, block: Block, by: Phi) -> Function:
    """A copy of a block for each value of a φ node, which goes where the answers lead; names are assigned in each of them."""
    groups: dict[object, list[tuple[Label, Operand]]] = {}
    for label, arm in by.arms:
        groups.setdefault(key(arm) if isinstance(arm, Literal) else None, []).append((label, arm))
    blocks, fresh = dict(function.by_label), free_label(function)
    arms = [dict(phi.arms) for phi in block.phis]
    ends: list[tuple[Label, Block, Operand]] = []
    for number, group in enumerate(groups.values()):
        label, sources = fresh + number - 1 if number else block.label, [p for p, _ in group]
        phis = (replace(phi, arms=tuple((p, of[p]) for p in sources)) for phi, of in zip(block.phis, arms, strict=True))
        end = _end(function, block, by.target, group[0][1])
        ends.append((label, end, group[0][1]))
        blocks[label] = replace(end, label=label, phis=tuple(phis))
        for source in sources if number else ():
            blocks[source] = replace(blocks[source], jump=lead(blocks[source].jump, {block.label: label}))
    for label in dict.fromkeys((*block.successors, *(s for _, end, _ in ends for s in end.successors))):
        copies = [(copy, end.label, value) for copy, end, value in ends if label in end.successors]
        phis = (_from_copies(phi, block.label, copies, by.target) for phi in blocks[label].phis)
        blocks[label] = replace(blocks[label], phis=tuple(phis))
    return replace(function, blocks=tuple(blocks.values()))


def _from_copies(phi: Phi, old: Label, copies: list[tuple[Label, Label, Operand]], by: str) -> Phi:
    """
    The φ node, with what came from a block or was asked after it coming from its copies. What the block is split by is written down
    where it is known: so blocks that join ways one after another are split in one round.
    """
    before = dict(phi.arms)
    new = ((copy, before[end], value) for copy, end, value in copies)
    arms = ((copy, value if arm == Name(by) and isinstance(value, Literal) else arm) for copy, arm, value in new)
    return replace(phi, arms=(*((p, a) for p, a in phi.arms if p != old), *arms))


def _end(function: Function, block: Block, asked: str, value: Operand) -> Block:
    """A block and those after it that do nothing but ask for the same name, as one, under the label of the last; if it is known."""
    done: dict[Label, Instruction] = {}
    while isinstance(value, Literal) and block.label not in done and not (done and block.phis):
        match block:
            case Block(label, _, (question,), Branch(_, then, otherwise)) if then != otherwise and asked in _asked_here(block):
                [wanted] = (o.value for o in question.operands if isinstance(o, Literal))
                done[label] = question
                block = function.by_label[then if _holds(value.value, wanted) else otherwise]
            case _:
                break
    return Block([*done][-1], (), tuple(done.values()), Goto(block.label)) if done else block


def _answered(function: Function) -> Function:
    """goto #t if 1 = 0 else #e  ⟹  goto #e"""
    blocks = {}
    gone: set[tuple[Label, Label]] = set()
    for block in function.blocks:
        match block:
            case Block(instructions=(question,), jump=Branch(_, then, otherwise)) if _is_known(block):
                a, b = (o.value for o in question.operands if isinstance(o, Literal))
                to, other = (then, otherwise) if _holds(a, b) else (otherwise, then)
                gone |= {(block.label, other)} - {(block.label, to)}
                block = replace(block, instructions=(), jump=Goto(to))
        blocks[block.label] = block
    for label, block in blocks.items():
        phis = (replace(phi, arms=tuple((p, a) for p, a in phi.arms if (p, label) not in gone)) for phi in block.phis)
        blocks[label] = replace(block, phis=tuple(phis))
    return replace(function, blocks=tuple(blocks.values()))


def _is_known(block: Block) -> bool:
    match block:
        case Block(instructions=(Instruction(callee=callee, operands=(Literal(), Literal())),), jump=Branch()):
            return callee is EQ
        case _:
            return False


def _holds(a: Any, b: Any) -> bool:
    """1 = 1"""
    return bool(a == b)
