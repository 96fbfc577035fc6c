"""
Functions that call each other, as fewer: one that does not call itself is put in place of each of its calls.

    f: … t ← @g(a…); rest    g(x…): code, return v    ⟹    f: … code with a… for x…; rest with v for t

Two functions of which each takes a step of a recursion, `minor` by `expansion` by `minor`, are then one that calls itself: there is
no frame between the two, and what returns has one type. What is computed, and in which order, stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from semantics.ssa.form import OUTSIDE, Block, Function, FunctionRef, Goto, Module, Name, Operand, Return
from transforms.ssa.rewriting import arrive, free_label, put_in_block, with_operands
from transforms.ssa.single_assignment import NOTHING
from transforms.ssa.tidy import tidy

MOST = 160
"""Instructions and blocks that may be written anew, in a function's place, of all functions that it is put in."""


def inlined(module: Module, members: Collection[str]) -> Module:
    """The module in which no function of such a group is left but one, those that call themselves, and those too long for that."""
    while (found := _next(module, [name for name in members if name in module.by_name])) is not None:
        kept = (f for f in module.functions if f.name != found.name)
        module = replace(module, functions=tuple(_without_calls(f, found) for f in kept))
    return module


def _next(module: Module, members: Sequence[str]) -> Function | None:
    """The function to be put in place of its calls, the shortest; None if there is none, or one function is left."""
    if len(members) < 2:
        return None
    sites = {name: sum(1 for f in module.functions for _ in _calls(f, name)) for name in members}
    able = [(sites[name] * _size(module[name]), name) for name in members if name != module.entry and _is_plain(module[name])]
    cost, name = min(able, default=(MOST + 1, ""))
    return module[name] if cost <= MOST else None


def _size(function: Function) -> int:
    return sum(1 + len(block.instructions) for block in function.blocks)


def _is_plain(function: Function) -> bool:
    """Whether a function does not call itself, and returns one value in one place."""
    returns = [b.jump for b in function.blocks if isinstance(b.jump, Return)]
    return not any(_calls(function, function.name)) and len(returns) == 1 and len(returns[0].operands) == 1


def _without_calls(function: Function, callee: Function) -> Function:
    """A function with the code of another in place of its calls of it."""
    before = function
    while (at := next(_calls(function, callee.name), None)) is not None:
        function = _put(function, *at, callee)
    return function if function is before else tidy(function, pairwise=False)


def _calls(function: Function, name: str) -> Iterator[tuple[Block, int]]:
    """The calls of a function that another makes: the block of each, and the number of the instruction there."""
    for block in function.blocks:
        yield from ((block, k) for k, i in enumerate(block.instructions) if i.callee == FunctionRef(name))


def _put(function: Function, block: Block, k: int, callee: Function) -> Function:
    """The same for one call, instruction k of a block: its code goes on in a block of its own, where the callee has returned."""
    call, rest = block.instructions[k], free_label(function)
    to = {OUTSIDE: block.label} | {b.label: label for label, b in enumerate(callee.blocks, rest + 1)}
    given = dict(zip((p.name for p in callee.parameters), call.operands, strict=True))

    def name(text: str) -> str:
        return f"{text} in {rest}"

    def put(operand: Operand) -> Operand:
        return given.get(operand.text, Name(name(operand.text))) if isinstance(operand, Name) else operand

    body: list[Block] = []
    value: Operand = NOTHING
    for found in (put_in_block(b, put, name, to) for b in callee.blocks):
        if isinstance(found.jump, Return):
            (value,) = found.jump.operands
            found = replace(found, jump=Goto(rest))
        body.append(found)
    head = Block(block.label, block.phis, block.instructions[:k], Goto(to[callee.entry]))
    after = Block(rest, (), block.instructions[k + 1 :], block.jump)
    blocks = [new for b in function.blocks for new in ([head, *body, after] if b is block else [b])]
    reached = {label: {block.label: rest} for label in block.successors}
    blocks = [replace(b, phis=arrive(b.phis, reached.get(b.label, {}))) for b in blocks]
    result = Name(call.targets[0])
    return with_operands(replace(function, blocks=tuple(blocks)), lambda o: value if o == result else o)
