"""
The code of stacks and tapes, written when it is known which of the values that they could hold are read.

    empty    push(s, a, …)      s nonempty     a, … ← top of s      rest of s
    ()       ((a, …), s)        length(s) > 0  s[0][i]              s[1]        if something is read: a stack of tuples
    0        s + 1              s > 0                               s - 1       if nothing is: a counter

A tape is a tuple of what is read of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from semantics.primitives.table import TABLE
from semantics.ssa.form import Alpha, Function, Instruction, Literal, Name, Operand
from transforms.ssa.rewriting import put_in_block

GETITEM, MAKE_TUPLE, LENGTH, GT, ADD, SUB = (TABLE[n] for n in ("getitem", "make_tuple", "length", "gt", "add", "sub"))
TAPE = "tape"
Held = dict[str, tuple[bool, ...]]  # of each stack and of the tape, which of the values that it could hold it holds
Code = Iterator[Instruction]


def make(operation: str, key: object, targets: tuple[str, ...], *operands: Operand) -> Instruction:
    """targets ← operation(operands), on the stack `key`"""
    return Instruction(targets, Alpha(f"{operation} {key}"), operands)


def empty(key: object) -> Alpha:
    return Alpha(f"empty {key}")


def held(adjoint: Function) -> Held:
    """What is read of every stack and of the tape, once the adjoint holds nothing that is not needed."""
    tops = {}
    for block in adjoint.blocks:
        for instruction in block.instructions:
            match instruction.callee:
                case Alpha(text) if text.startswith("top "):
                    tops[text.removeprefix("top ")] = tuple(t != "_" for t in instruction.targets)
    return tops


def lower(function: Function, holds: Held) -> Function:
    """The function with the code of its stacks and of its tape."""

    def put(operand: Operand) -> Operand:
        if not isinstance(operand, Alpha):
            return operand
        return Literal(()) if any(holds.get(operand.text.removeprefix("empty "), ())) else Literal(0)

    blocks = []
    for block in function.blocks:
        instructions = tuple(new for i in block.instructions for new in _lowered(i, holds))
        blocks.append(put_in_block(replace(block, instructions=instructions), put))
    return replace(function, blocks=tuple(blocks))


def _lowered(instruction: Instruction, holds: Held) -> Code:
    if not isinstance(instruction.callee, Alpha):
        return iter([instruction])
    operation, _, key = instruction.callee.text.partition(" ")
    return OPERATIONS[operation](instruction, holds.get(key, ()))


def _keep(instruction: Instruction, holds: tuple[bool, ...]) -> Code:
    values = (value for value, is_held in zip(instruction.operands, holds, strict=False) if is_held)
    yield replace(instruction, callee=MAKE_TUPLE, operands=tuple(values))


def _push(instruction: Instruction, holds: tuple[bool, ...]) -> Code:
    [target], [stack, *values] = instruction.targets, instruction.operands
    if not any(holds):
        yield Instruction((target,), ADD, (stack, Literal(1)))
        return
    yield from _keep(Instruction((f"{target} top",), ADD, tuple(values)), holds)
    yield Instruction((target,), MAKE_TUPLE, (Name(f"{target} top"), stack))


def _top(instruction: Instruction, holds: tuple[bool, ...]) -> Code:
    [source] = instruction.operands
    if source != Name(TAPE):
        top = f"{' '.join(instruction.targets)} top"
        yield Instruction((top,), GETITEM, (source, Literal(0)))
        source = Name(top)
    kept = (target for target in instruction.targets if target != "_")
    yield from (Instruction((target,), GETITEM, (source, Literal(i))) for i, target in enumerate(kept))


def _more(instruction: Instruction, holds: tuple[bool, ...]) -> Code:
    [target], [size] = instruction.targets, instruction.operands
    if any(holds):
        yield Instruction((f"{target} size",), LENGTH, (size,))
        size = Name(f"{target} size")
    yield Instruction((target,), GT, (size, Literal(0)))


def _rest(instruction: Instruction, holds: tuple[bool, ...]) -> Code:
    yield replace(instruction, callee=GETITEM if any(holds) else SUB, operands=(*instruction.operands, Literal(1)))


OPERATIONS: dict[str, Callable[[Instruction, tuple[bool, ...]], Code]] = {
    "keep": _keep,
    "push": _push,
    "top": _top,
    "more": _more,
    "rest": _rest,
}
