"""
Replacing what the parts of SSA code mention: names, alphas, labels and functions. Everything else of a part stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from operator import is_

from semantics.ssa.form import (
    Alpha,
    Block,
    Branch,
    Function,
    FunctionRef,
    Goto,
    Instruction,
    Jump,
    Label,
    Literal,
    Module,
    Name,
    Operand,
    Phi,
    Return,
    operands_of,
)
from semantics.values import atom

Put = Callable[[Operand], Operand]
NOWHERE: Mapping[Label, Label] = {}


def put_in_instruction(instruction: Instruction, put: Put, name: Callable[[str], str] = str) -> Instruction:
    """`put` in place of every operand, and of a callee that is an alpha; `name` in place of every target that is kept."""
    callee = instruction.callee
    put_callee = put(callee) if isinstance(callee, Alpha) else callee
    targets = tuple(["_" if t == "_" else name(t) for t in instruction.targets])
    operands = tuple([put(o) for o in instruction.operands])
    if put_callee is callee and targets == instruction.targets and all(map(is_, operands, instruction.operands)):
        return instruction
    return Instruction(targets, put_callee, operands, instruction.location)  # type: ignore[arg-type]


def put_in_jump(jump: Jump, put: Put) -> Jump:
    """`put` in place of every operand."""
    match jump:
        case Branch(condition, then, otherwise):
            return Branch(put(condition), then, otherwise)
        case Return(operands):
            return Return(tuple(map(put, operands)))
        case _:
            return jump


def lead(jump: Jump, to: Mapping[Label, Label]) -> Jump:
    """The jump with other labels, where `to` has them."""
    match jump:
        case Goto(target):
            return Goto(to.get(target, target))
        case Branch(condition, then, otherwise):
            return Branch(condition, to.get(then, then), to.get(otherwise, otherwise))
        case _:
            return jump


def decided(jump: Jump) -> Jump:
    """goto #t if c else #t  →  goto #t"""
    return Goto(jump.then) if isinstance(jump, Branch) and jump.then == jump.otherwise else jump


def arrive(phis: Iterable[Phi], to: Mapping[Label, Label]) -> tuple[Phi, ...]:
    """The φ nodes with other labels in their arms, where `to` has them."""
    return tuple(with_arms(phi, ((to.get(p, p), a) for p, a in phi.arms)) for phi in phis) if to else tuple(phis)


def with_arms(phi: Phi, arms: Iterable[tuple[Label, Operand]], target: str | None = None) -> Phi:
    """The φ node with other arms, and another target if there is one."""
    return Phi(phi.target if target is None else target, tuple(arms), phi.location)


def with_operands(function: Function, put: Put) -> Function:
    """`put` in place of every operand of a function."""
    return replace(function, blocks=tuple(put_in_block(block, put) for block in function.blocks))


def put_in_block(block: Block, put: Put, name: Callable[[str], str] = str, to: Mapping[Label, Label] = NOWHERE) -> Block:
    """Other operands, targets and labels, in all of a block."""
    phis = (with_arms(p, [(q, put(a)) for q, a in p.arms], name(p.target)) for p in arrive(block.phis, to))
    instructions = (put_in_instruction(i, put, name) for i in block.instructions)
    return Block(to.get(block.label, block.label), tuple(phis), tuple(instructions), lead(put_in_jump(block.jump, put), to))


def operands_in(block: Block) -> Iterator[Operand]:
    """All operands of a block, in order, and callees that are alphas."""
    for phi in block.phis:
        yield from (arm for _, arm in phi.arms)
    for instruction in block.instructions:
        yield from (instruction.callee,) if isinstance(instruction.callee, Alpha) else ()
        yield from instruction.operands
    yield from operands_of(block.jump)


def names_in(operands: Iterable[Operand]) -> tuple[str, ...]:
    """The names among the operands."""
    return tuple([o.text for o in operands if isinstance(o, Name)])


def resolved(operand: Operand, value: dict[str, Operand]) -> Operand:
    """What stands for an operand in the end, where `value` says what stands for names; paths are made short on the way."""
    passed: list[str] = []
    while isinstance(operand, Name) and operand.text in value:
        passed.append(operand.text)
        operand = value[operand.text]
    for name in passed:
        value[name] = operand
    return operand


def key(operand: Operand) -> object:
    """Equal for operands that are the same value: 1, 1.0 and True are three."""
    return ("literal", atom(operand.value)) if isinstance(operand, Literal) else operand


def free_label(function: Function) -> Label:
    """A label that no block has, nor any above it."""
    return max(function.by_label, default=0) + 1


def fresh_names(function: Function) -> Iterator[str]:
    """%1, %2, …, but for those that are parameters."""
    taken = {p.name for p in function.parameters}
    return (name for name in (f"%{i}" for i in count(1)) if name not in taken)


def renamed(module: Module, name: str) -> tuple[Function, ...]:
    """The functions of a module, the entry under this name and the others under names that begin with it."""
    names = {f.name: name if f.name == module.entry else f"{name}.{f.name}" for f in module.functions}

    def call(instruction: Instruction) -> Instruction:
        callee = instruction.callee
        return replace(instruction, callee=FunctionRef(names[callee.name])) if isinstance(callee, FunctionRef) else instruction

    return tuple(
        replace(f, name=names[f.name], blocks=tuple(replace(b, instructions=tuple(map(call, b.instructions))) for b in f.blocks))
        for f in module.functions
    )
