"""The reader of the text that `semantics.ssa.text` prints. One pass over the lines; operands name what any line defines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from semantics.collector import at_rest
from semantics.errors import Location, Malformed
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.reader import MADE, Line, Reader
from semantics.ssa.form import (
    Adjoined,
    Alpha,
    Block,
    Branch,
    Callee,
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
    Parameter,
    Phi,
    Return,
)

LETTERS = r"[\w∇▶◀▷↑◇đ§'.\u0304]"  # the last is the bar over a sensitivity
CONSTANTS = frozenset({"True", "False", "None", "ZERO", "inf", "nan", "unbound", *MADE})
RESERVED = CONSTANTS | {"φ", "phi", "function", "block", "goto", "return", "if", "else", "not", "J", "_"}

_TOKEN = re.compile(
    rf"""\s*(?:(?P<arrow>←|<-)|(?P<to>→|->)|(?P<label>\#\d+)|(?P<alpha>α(?:%{LETTERS}+|{LETTERS}+))|(?P<node>%{LETTERS}+)
    |(?P<graph>@{LETTERS}+)|(?P<text>"(?:[^"\\]|\\.)*")
    |(?P<number>-?(?:\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+|inf|nan)(?!{LETTERS}))|(?P<mark>\.\.\.|[(),=:\[\]|?])
    |(?P<semicolon>;)|(?P<word>{LETTERS}+))""",
    re.VERBOSE,
)


class SSALine(Line):
    """A line of SSA form. A semicolon divides parameters; it begins no comment."""

    token = _TOKEN

    @staticmethod
    def body(text: str) -> str:
        return text

    def at_mark(self, mark: str) -> bool:
        """Whether this mark comes next."""
        return self.peek() == ("mark", mark)

    def at_word(self, *words: str) -> bool:
        """Whether one of these words comes next."""
        kind, text = self.peek()
        return kind == "word" and text in words


@dataclass(frozen=True, slots=True)
class OpenBranch:
    """A branch as written: a side that is None is the next block."""

    condition: Operand
    then: Label | None
    otherwise: Label | None


@dataclass(slots=True)
class OpenBlock:
    """A block that is being read. `jump` is None as long as no line says where it goes."""

    label: Label
    line: SSALine
    phis: list[Phi] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    jump: Goto | Return | OpenBranch | None = None


@dataclass(slots=True)
class OpenFunction:
    """A function that is being read."""

    name: str
    line: SSALine
    parameters: tuple[Parameter, ...]
    hidden: int
    blocks: list[OpenBlock] = field(default_factory=list)


@at_rest()
def read(text: str, primitives: Mapping[str, Primitive] = TABLE, file: str = "<text>") -> Module:
    """The module that `text` prints, well formed or not. Malformed with line and caret if it is none."""
    lines = [SSALine(raw, i, file) for i, raw in enumerate(text.splitlines(), 1)]
    lines = [line for line in lines if line.tokens]
    if not lines:
        raise Malformed("the text of a module is empty", remedy="begin with `function name(x):`")
    return ModuleReader(primitives).module(lines)


class ModuleReader:
    """Reads a module; constants and types as `semantics.reader` does."""

    def __init__(self, primitives: Mapping[str, Primitive]) -> None:
        self.primitives, self.constants = primitives, Reader(primitives)

    def module(self, lines: list[SSALine]) -> Module:
        opened: list[OpenFunction] = []
        for line in lines:
            if line.at_word("function"):
                opened.append(self.function(line))
            elif not opened:
                raise line.error("a line outside a function", 0, "begin a function with `function name(x):`")
            elif line.at_word("block"):
                opened[-1].blocks.append(self.block(line))
            elif not opened[-1].blocks:
                raise line.error("a line outside a block", 0, "begin a block with `block #1:`")
            else:
                self.line(line, opened[-1].blocks[-1])
            line.done()
        functions = tuple(closed(found) for found in opened)
        return Module(functions, functions[0].name)

    def function(self, line: SSALine) -> OpenFunction:
        """function name(hidden; parameters):"""
        line.take("word")
        name = line.take("word")
        line.take("mark", "(")
        parameters: list[Parameter] = []
        hidden = 0
        while not line.at_mark(")"):
            parameters.append(self.parameter(line))
            if line.peek()[0] == "semicolon" and not hidden:
                line.take("semicolon")
                hidden = len(parameters)
            elif not line.at_mark(")"):
                line.take("mark", ",")
        line.take("mark", ")")
        line.take("mark", ":")
        return OpenFunction(name, line, tuple(parameters), hidden)

    def parameter(self, line: SSALine) -> Parameter:
        name = self.name(line)
        if not line.at_mark(":"):
            return Parameter(name)
        line.take("mark")
        return Parameter(name, self.constants.type(line))

    def block(self, line: SSALine) -> OpenBlock:
        """block #label:"""
        line.take("word")
        label = self.label(line)
        line.take("mark", ":")
        return OpenBlock(label, line)

    def line(self, line: SSALine, block: OpenBlock) -> None:
        """A φ node, an instruction or a jump."""
        if block.jump is not None:
            raise line.error(f"block #{block.label} goes on after its jump", 0, "begin another block")
        if line.at_word("goto"):
            block.jump = self.goto(line)
        elif line.at_word("return"):
            line.take("word")
            block.jump = Return(self.operands(line) if line.peek()[0] != "end" else ())
        else:
            self.definition(line, block)

    def goto(self, line: SSALine) -> Goto | OpenBranch:
        """goto #1, goto #1 if c, goto #1 if not c, goto #1 if c else #2"""
        line.take("word")
        target = self.label(line)
        if not line.at_word("if"):
            return Goto(target)
        line.take("word")
        negated = line.at_word("not")
        if negated:
            line.take("word")
        condition = self.operand(line)
        other: Label | None = None
        if line.at_word("else"):
            line.take("word")
            other = self.label(line)
        return OpenBranch(condition, other, target) if negated else OpenBranch(condition, target, other)

    def definition(self, line: SSALine, block: OpenBlock) -> None:
        """targets ← φ(…), or targets ← callee(…)"""
        targets = [self.target(line)]
        while line.at_mark(","):
            line.take("mark")
            targets.append(self.target(line))
        line.take("arrow")
        location = Location(line.file, line.number, len(line.text) - len(line.text.lstrip()), line.text)
        if not line.at_word("φ", "phi"):
            callee, operands = self.application(line)
            block.instructions.append(Instruction(tuple(targets), callee, operands, location))
            return
        if len(targets) > 1 or targets[0] == "_":
            raise line.error("a φ node has one target", 0)
        if block.instructions:
            raise line.error("a φ node after an instruction", 0, "φ nodes begin a block: all are read before any is written")
        block.phis.append(Phi(targets[0], self.arms(line), location))

    def arms(self, line: SSALine) -> tuple[tuple[Label, Operand], ...]:
        """φ(#1 → x, #2 → %4)"""
        arms: list[tuple[Label, Operand]] = []
        line.take("word")
        line.take("mark", "(")
        while not line.at_mark(")"):
            label = self.label(line)
            line.take("to")
            arms.append((label, self.operand(line)))
            if not line.at_mark(")"):
                line.take("mark", ",")
        line.take("mark", ")")
        return tuple(arms)

    def application(self, line: SSALine) -> tuple[Callee, tuple[Operand, ...]]:
        """callee(operands), or J(callee, operands)"""
        callee: Callee
        if line.at_word("J") and self.adjoins(line):
            line.take("word")
            line.take("mark", "(")
            inner = self.callee(line)
            if isinstance(inner, Alpha):
                raise line.error("J of an alpha", remedy="J takes a primitive or a function")
            callee = Adjoined(inner)
            if line.at_mark(","):
                line.take("mark")
        else:
            callee = self.callee(line)
            line.take("mark", "(")
        operands = () if line.at_mark(")") else self.operands(line)
        line.take("mark", ")")
        return callee, operands

    def adjoins(self, line: SSALine) -> bool:
        """Whether J( is followed by what can be called: then it is the paper's J, and not the primitive."""
        kind, text, _ = line.tokens[line.at + 2] if line.at + 2 < len(line.tokens) else ("end", "", 0)
        return kind == "graph" or (kind == "word" and text in self.primitives)

    def callee(self, line: SSALine) -> Primitive | FunctionRef | Alpha:
        kind, text = line.peek()
        if kind == "graph":
            return FunctionRef(line.take("graph")[1:])
        if kind == "alpha":
            return Alpha(line.take("alpha")[1:])
        if kind != "word" or text not in self.primitives:
            raise line.error(f"{text} cannot be called", remedy="a primitive, a function @f of the module, J(…) or an alpha can")
        return self.primitives[line.take("word")]

    def operands(self, line: SSALine) -> tuple[Operand, ...]:
        operands = [self.operand(line)]
        while line.at_mark(","):
            line.take("mark")
            operands.append(self.operand(line))
        return tuple(operands)

    def operand(self, line: SSALine) -> Operand:
        """A name, an alpha or a constant."""
        kind, text = line.peek()
        if kind == "alpha":
            return Alpha(line.take("alpha")[1:])
        if kind == "node" or (kind == "word" and text not in CONSTANTS):
            return Name(self.name(line))
        return Literal(self.constants.value(line))

    def target(self, line: SSALine) -> str:
        """A name, or `_`."""
        return line.take("word") if line.at_word("_") else self.name(line)

    def name(self, line: SSALine) -> str:
        kind, text = line.peek()
        if kind not in ("node", "word") or text in RESERVED:
            raise line.error(f"expected a name, found {text}")
        return line.take(kind)

    def label(self, line: SSALine) -> Label:
        return int(line.take("label")[1:])


def closed(function: OpenFunction) -> Function:
    """The function, with the jumps to the next block that its text leaves out."""
    following = [block.label for block in function.blocks[1:]]
    blocks = tuple(
        Block(block.label, tuple(block.phis), tuple(block.instructions), _jump(block, after))
        for block, after in zip(function.blocks, [*following, None], strict=False)
    )
    if not blocks:
        raise function.line.error(f"function {function.name} has no block", 0, "begin one with `block #1:`")
    location = Location(function.line.file, function.line.number)
    return Function(function.name, function.parameters, blocks, function.hidden, location)


def _jump(block: OpenBlock, after: Label | None) -> Jump:
    """The jump of a block, given the label of the block after it."""
    match block.jump:
        case Goto() | Return():
            return block.jump
        case OpenBranch(condition, then, otherwise):
            return Branch(condition, _target(block, then, after), _target(block, otherwise, after))
        case None:
            return Goto(_target(block, None, after))


def _target(block: OpenBlock, written: Label | None, after: Label | None) -> Label:
    """Where a jump goes: to the block that is written, or to the one after."""
    target = after if written is None else written
    if target is None:
        raise block.line.error(f"block #{block.label} ends without a jump, and no block follows", 0, "end it with `return …`")
    return target
