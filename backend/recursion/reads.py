"""
Fields of parameters are read where they are used, and not before; fields of results at once.

    t ← p[3]; …; u ← @f(t); …; jump to where t is used    ⟹    …; t' ← p[3]; u ← @f(t'); …, and there t'' ← p[3]

    u ← @f(…); …; t ← u[0]                                ⟹    u ← @f(…); t ← u[0]; …

A frame then keeps the number of a cell instead of all that the cell holds, and of a result what is used; and a field that only
cells of one kind have is read where the kind is known. Nothing writes to a tuple or an array, so it is the same value there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import count

from semantics.primitives.table import TABLE
from semantics.ssa.form import Block, Function, FunctionRef, Instruction, Label, Literal, Name, Operand, Phi
from transforms.ssa.rewriting import put_in_instruction, put_in_jump

GETITEM = TABLE["getitem"]


def postponed(function: Function) -> Function:
    """The function with such reads before each of its instructions and jumps that use them, once between two calls."""
    return _Postponing(function).function()


def taken_apart(function: Function, names: Collection[str]) -> Function:
    """The function in which the fields of what calls of some functions give are read there."""
    called = {FunctionRef(name) for name in names}
    calls = {i.targets[0] for b in function.blocks for i in b.instructions if i.callee in called}
    reads: dict[str, list[Instruction]] = {}
    for block in function.blocks:
        for found in block.instructions:
            match found:
                case Instruction(_, callee, (Name(text), Literal(int()))) if callee is GETITEM and text in calls:
                    reads.setdefault(text, []).append(found)
    moved = {i.targets for found in reads.values() for i in found}

    def code(block: Block) -> Iterator[Instruction]:
        for instruction in block.instructions:
            if instruction.targets not in moved:
                yield instruction
                yield from reads.get(instruction.targets[0], ())

    return replace(function, blocks=tuple(replace(b, instructions=tuple(code(b))) for b in function.blocks))


class _Postponing:
    """`reads` are the instructions to postpone, by what they define; `here` has what stands for them since the last call."""

    def __init__(self, function: Function) -> None:
        self.whole = function
        self.reads: dict[str, Instruction] = {}
        sources = {p.name for p in function.parameters}
        for block in function.blocks:
            for found in block.instructions:
                match found:
                    case Instruction((target,), callee, (Name(text), Literal(int()))) if callee is GETITEM and text in sources:
                        self.reads[target] = found
                        sources.add(target)
        self.numbers = count()
        self.here: dict[str, Name] = {}
        self.code: list[Instruction] = []
        self.arms: dict[tuple[Label, str], Operand] = {}

    def function(self) -> Function:
        blocks = [self.block(block) for block in self.whole.blocks]
        return replace(self.whole, blocks=tuple(replace(b, phis=tuple(self.phi(phi) for phi in b.phis)) for b in blocks))

    def block(self, block: Block) -> Block:
        """A block; what its jump uses, and what the φ nodes that it leads to use of it, is read at its end."""
        self.here, self.code = {}, []
        for instruction in block.instructions:
            if instruction.targets[0] not in self.reads:
                self.code.append(put_in_instruction(instruction, self.read))
                if isinstance(instruction.callee, FunctionRef):
                    self.here = {}
        for successor in block.successors:
            for phi in self.whole.by_label[successor].phis:
                self.arms[block.label, phi.target] = self.read(phi.arm(block.label))
        jump = put_in_jump(block.jump, self.read)
        return Block(block.label, block.phis, tuple(self.code), jump)

    def read(self, operand: Operand) -> Operand:
        """What stands for an operand here: of a read that is postponed, the last; if there is none, it is done now."""
        if not isinstance(operand, Name) or operand.text not in self.reads:
            return operand
        if operand.text not in self.here:
            found = self.reads[operand.text]
            operands = (self.read(found.operands[0]), found.operands[1])
            self.here[operand.text] = Name(f"{operand.text} read {next(self.numbers)}")
            self.code.append(replace(found, targets=(self.here[operand.text].text,), operands=operands))
        return self.here[operand.text]

    def phi(self, phi: Phi) -> Phi:
        return replace(phi, arms=tuple((source, self.arms.get((source, phi.target), operand)) for source, operand in phi.arms))
