"""
Static single assignment form: blocks, φ nodes and branches (Zygote, section 3.1).

A *function* is a list of blocks, of which the first is entered first. A *block* begins with φ nodes, goes on with instructions
and ends with a jump. Every name is defined once, and its definition dominates its uses. The φ nodes of a block are parallel: all
read before any is written, so two of them may exchange their values from one turn of a loop to the next. A block that is entered
from outside has the predecessor #0, besides those that jump to it.

    function pow(x, n):
    block #1:
        %1 ← φ(#0 → 1, #2 → %4)
        %2 ← φ(#0 → n, #2 → %3)
        %5 ← gt(%2, 0)
        goto #3 if not %5
    block #2:
        %3 ← sub(%2, 1)
        %4 ← mul(%1, x)
        goto #1
    block #3:
        return %1

An *alpha* (α%4) stands in an adjoint for the value that %4 had in the primal, in the turn of the loop that is being reversed.
`J(p)` as a callee gives the result of p and its pullback; both are the paper's notation, which `transforms.ssa_adjoint` resolves
before a program runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from semantics.errors import Location, Malformed
from semantics.primitives.row import Primitive

Label = int
OUTSIDE: Label = 0  # the predecessor from which a function is entered


@dataclass(frozen=True, slots=True)
class Name:
    """The value of a parameter, a φ node or an instruction."""

    text: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A value known when the program is written; never a function."""

    value: Any


@dataclass(frozen=True, slots=True)
class Alpha:
    """The value of a name of the primal, in the turn that is being reversed."""

    text: str


Operand = Name | Literal | Alpha


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """A function of the module as a callee; printed `@name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Adjoined:
    """J of a callee: its application gives the result and the pullback, as two targets. Printed `J(p, …)`."""

    callee: Primitive | FunctionRef


Callee = Primitive | FunctionRef | Adjoined | Alpha


@dataclass(frozen=True, slots=True)
class Phi:
    """target ← φ(#p → operand, …): the operand of the block that control came from."""

    target: str
    arms: tuple[tuple[Label, Operand], ...]
    location: Location | None = field(default=None, compare=False)

    def arm(self, label: Label) -> Operand:
        """What arrives from the block `label`."""
        for found, operand in self.arms:
            if found == label:
                return operand
        raise Malformed(f"{self.target} has no arm for block #{label}", rule="φ", location=self.location)


@dataclass(frozen=True, slots=True)
class Instruction:
    """
    targets ← callee(operands). One target gets the result; several take a tuple of as many elements apart, and `_` as a target
    drops what it gets.
    """

    targets: tuple[str, ...]
    callee: Callee
    operands: tuple[Operand, ...]
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Goto:
    """goto #target"""

    target: Label


@dataclass(frozen=True, slots=True)
class Branch:
    """goto #then if condition, else to #otherwise; the condition is a boolean."""

    condition: Operand
    then: Label
    otherwise: Label


@dataclass(frozen=True, slots=True)
class Return:
    """return operands: one value, or a tuple of none or several."""

    operands: tuple[Operand, ...]


Jump = Goto | Branch | Return


@dataclass(frozen=True, slots=True)
class Block:
    """A label, φ nodes, instructions in order, and the jump at the end."""

    label: Label
    phis: tuple[Phi, ...]
    instructions: tuple[Instruction, ...]
    jump: Jump

    @property
    def successors(self) -> tuple[Label, ...]:
        """The blocks that control may go to, each once."""
        match self.jump:
            case Goto(target):
                return (target,)
            case Branch(_, then, otherwise):
                return (then,) if then == otherwise else (then, otherwise)
            case _:
                return ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, with its declared type or None."""

    name: str
    type: Any = None


@dataclass(frozen=True)
class Function:
    """
    A function: parameters and blocks, the first of which is the entry.

    hidden  how many of the parameters, the first ones, are values that a closure captured ("a hidden zeroth argument",
            section 3.2); callers pass them like all others
    """

    name: str
    parameters: tuple[Parameter, ...]
    blocks: tuple[Block, ...]
    hidden: int = 0
    location: Location | None = field(default=None, compare=False)

    @property
    def entry(self) -> Label:
        return self.blocks[0].label

    @cached_property
    def by_label(self) -> dict[Label, Block]:
        return {block.label: block for block in self.blocks}

    @cached_property
    def predecessors(self) -> dict[Label, tuple[Label, ...]]:
        """For every block the blocks that jump to it, in the order of the blocks; #0 first, for the entry."""
        found: dict[Label, list[Label]] = {block.label: [] for block in self.blocks}
        if self.blocks:
            found[self.entry].append(OUTSIDE)
        for block in self.blocks:
            for successor in block.successors:
                found.setdefault(successor, []).append(block.label)
        return {label: tuple(labels) for label, labels in found.items()}

    def definitions(self) -> Iterator[tuple[str, Label]]:
        """Every name that is defined, with the block that defines it; parameters are defined in #0."""
        for parameter in self.parameters:
            yield parameter.name, OUTSIDE
        for block in self.blocks:
            for phi in block.phis:
                yield phi.target, block.label
            for instruction in block.instructions:
                for target in instruction.targets:
                    if target != "_":
                        yield target, block.label


@dataclass(frozen=True, eq=False, repr=False)
class Module:
    """Functions that call each other, one of which is the entry. A value: frozen, compared up to renaming, printed by `str`."""

    functions: tuple[Function, ...]
    entry: str

    @cached_property
    def by_name(self) -> dict[str, Function]:
        return {function.name: function for function in self.functions}

    @property
    def main(self) -> Function:
        """The function that is entered."""
        return self[self.entry]

    def __getitem__(self, name: str) -> Function:
        """The function called `name`; Malformed with the known names if there is none."""
        if name not in self.by_name:
            known = ", ".join(f"@{f.name}" for f in self.functions)
            raise Malformed(f"no function is called @{name}", rule="ssa", remedy=f"one of {known}")
        return self.by_name[name]

    @cached_property
    def canonical(self) -> str:
        """The text with every name replaced by its position: equal for two modules that differ in names only."""
        from semantics.ssa.text import canonical

        return canonical(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and (self is other or self.canonical == other.canonical)

    def __hash__(self) -> int:
        return hash(self.canonical)

    def __str__(self) -> str:
        from semantics.ssa.text import show

        return show(self)

    def __repr__(self) -> str:
        return f"<Module @{self.entry}: {len(self.functions)} functions, {sum(len(f.blocks) for f in self.functions)} blocks>"


def operands_of(jump: Jump) -> tuple[Operand, ...]:
    """The operands of a jump."""
    match jump:
        case Branch(condition):
            return (condition,)
        case Return(operands):
            return operands
        case _:
            return ()
