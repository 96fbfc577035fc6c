"""
Functions of SSA form made ready to run: one row of tasks, in which edges lead to positions.

The operands of a task are keys of the environment. A name is its own key; a constant has a number, under which the environment
that a function begins with holds it. So an operand is looked up in one way, whatever it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from immutables import Map

from semantics.errors import Location
from semantics.primitives.row import Primitive
from semantics.ssa.form import (
    OUTSIDE,
    Block,
    Branch,
    Function,
    FunctionRef,
    Goto,
    Instruction,
    Label,
    Literal,
    Module,
    Name,
    Operand,
    Return,
)
from semantics.ssa.text import describe, describe_jump
from semantics.values import over_leaves

Key = str | int


class Edge(NamedTuple):
    """Where a jump leads, and the moves that it makes, for the φ nodes of the block there: operands to targets, in parallel."""

    position: int
    targets: tuple[str, ...]
    operands: tuple[Key, ...]


class PrimitiveTask(NamedTuple):
    """targets ← primitive(operands)"""

    callee: Primitive
    targets: tuple[str, ...]
    operands: tuple[Key, ...]
    block: Block
    instruction: Instruction


class CallTask(NamedTuple):
    """targets ← @callee(operands); `last` says that what is left after it is to return its result."""

    callee: str
    targets: tuple[str, ...]
    operands: tuple[Key, ...]
    last: bool
    block: Block
    instruction: Instruction


class GotoTask(NamedTuple):
    """goto edge"""

    edge: Edge
    block: Block


class BranchTask(NamedTuple):
    """goto then if condition else otherwise"""

    condition: Key
    then: Edge
    otherwise: Edge
    block: Block


class ReturnTask(NamedTuple):
    """return operands"""

    operands: tuple[Key, ...]
    block: Block


Task = PrimitiveTask | CallTask | GotoTask | BranchTask | ReturnTask


def text_of(task: Task) -> str:
    """The instruction or the jump, and its block."""
    text = describe(task.instruction) if isinstance(task, PrimitiveTask | CallTask) else describe_jump(task.block)
    return f"{text} in block #{task.block.label}"


def location_of(task: Task) -> Location | None:
    """The line of source of an instruction; jumps have none."""
    return task.instruction.location if isinstance(task, PrimitiveTask | CallTask) else None


class Code(NamedTuple):
    """A function, ready to run: its tasks, the environment of its constants, and the edge by which it is entered."""

    function: Function
    parameters: tuple[str, ...]
    names: tuple[str, ...]
    constants: Map[Key, Any]
    tasks: tuple[Task, ...]
    entry: Edge


class _Compiler:
    """Collects the constants of one function."""

    def __init__(self, function: Function, lift: Callable[[Any], Any]) -> None:
        self.function, self.lift = function, lift
        self.constants: list[Any] = []
        self.positions: dict[Label, int] = {}
        position = 0
        for block in function.blocks:
            self.positions[block.label] = position
            position += len(block.instructions) + 1

    def key(self, operand: Operand) -> Key:
        match operand:
            case Name(text):
                return text
            case Literal(value):
                self.constants.append(over_leaves(self.lift, value))
                return len(self.constants) - 1
            case _:
                raise AssertionError("an alpha is refused before a module runs")

    def keys(self, operands: tuple[Operand, ...]) -> tuple[Key, ...]:
        return tuple(self.key(operand) for operand in operands)

    def edge(self, source: Label, target: Label) -> Edge:
        phis = self.function.by_label[target].phis
        return Edge(self.positions[target], tuple(phi.target for phi in phis), self.keys(tuple(phi.arm(source) for phi in phis)))

    def application(self, block: Block, instruction: Instruction) -> Task:
        targets, operands = instruction.targets, self.keys(instruction.operands)
        match instruction.callee:
            case Primitive():
                return PrimitiveTask(instruction.callee, targets, operands, block, instruction)
            case FunctionRef(name):
                ends = instruction is block.instructions[-1] and len(targets) == 1
                last = ends and returns_at_once(self.function, block, targets[0])
                return CallTask(name, targets, operands, last, block, instruction)
            case _:
                raise AssertionError("alphas and J are refused before a module runs")

    def jump(self, block: Block) -> Task:
        match block.jump:
            case Goto(target):
                return GotoTask(self.edge(block.label, target), block)
            case Branch(condition, then, otherwise):
                sides = self.edge(block.label, then), self.edge(block.label, otherwise)
                return BranchTask(self.key(condition), *sides, block)
            case Return(operands):
                return ReturnTask(self.keys(operands), block)


def returns_at_once(function: Function, block: Block, result: str) -> bool:
    """Whether the jump of a block leads, through blocks without instructions, to the return of the one value `result`."""
    results: set[Operand] = {Name(result)}
    seen: set[Label] = set()
    while isinstance(block.jump, Goto) and block.label not in seen:
        seen.add(block.label)
        source, block = block.label, function.by_label[block.jump.target]
        if block.instructions:
            return False
        results |= {Name(phi.target) for phi in block.phis if phi.arm(source) in results}
    match block.jump:
        case Return((returned,)):
            return returned in results
        case _:
            return False


def compiled(module: Module, name: str, lift: Callable[[Any], Any]) -> Code:
    """The code of a function of a well-formed module."""
    function = module[name]
    compiler = _Compiler(function, lift)
    tasks: list[Task] = []
    for block in function.blocks:
        tasks += [compiler.application(block, instruction) for instruction in block.instructions]
        tasks.append(compiler.jump(block))
    entry = compiler.edge(OUTSIDE, function.entry)
    parameters = tuple(p.name for p in function.parameters)
    names = tuple(n for n, _ in function.definitions())
    return Code(function, parameters, names, Map(enumerate(compiler.constants)), tuple(tasks), entry)
