"""
The text of SSA form, in the notation of Zygote's listings (section 3.1), and its reader: `read(str(m)) == m`.

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

A jump to the block that is printed next is left out, as in the paper; of a branch, the side that goes there. `goto #1 if c else #3`
names both. Captured values stand before a semicolon: `function f(v; x)`. A callee is a primitive, a function `@f`, `J(p, …)`, or an
alpha; an operand a name, a constant as in `semantics.text`, or an alpha. `<-`, `->` and `phi` are read for ←, → and φ.

The entry is the function that is printed first. A name that is no token (`my x`), or that is another (`True`), gets another name
in the text. `canonical` is the text with names, labels and functions replaced by their positions: equal for equal modules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import assert_never

from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.ssa.form import (
    OUTSIDE,
    Adjoined,
    Alpha,
    Block,
    Branch,
    Callee,
    Function,
    FunctionRef,
    Goto,
    Instruction,
    Label,
    Literal,
    Module,
    Name,
    Operand,
    Phi,
    Return,
)
from semantics.ssa.reader import LETTERS, RESERVED, read
from semantics.text import cut, literal

__all__ = ["canonical", "describe", "read", "show", "show_function"]

_WORD = re.compile(rf"(?!α)(?!\d)(?!(?:inf|nan)\b){LETTERS}+")
_NAME = re.compile(rf"%{LETTERS}+|{_WORD.pattern}")


class Names:
    """
    What names, labels and functions are called in a text.

    names, functions  printed names, by the names that the module uses; a name that is not known stands for itself, after `unknown`
    labels            printed numbers of blocks
    """

    def __init__(
        self, names: Mapping[str, str], labels: Mapping[Label, int], functions: Mapping[str, str], unknown: str = ""
    ) -> None:
        self.names, self.labels, self.functions, self.unknown = names, labels, functions, unknown

    def name(self, text: str) -> str:
        return self.names.get(text, self.unknown + text)

    def label(self, label: Label) -> str:
        return f"#{self.labels.get(label, label)}"

    def function(self, name: str) -> str:
        return self.functions.get(name, name)

    def operand(self, operand: Operand) -> str:
        """A name, a constant or an alpha."""
        match operand:
            case Name(text):
                return self.name(text)
            case Alpha(text):
                return f"α{self.name(text)}"
            case Literal(value):
                return literal(value, {})
            case _:
                assert_never(operand)

    def callee(self, callee: Callee, operands: tuple[Operand, ...]) -> str:
        """A callee applied to operands."""
        arguments = [self.operand(o) for o in operands]
        match callee:
            case Adjoined(inner):
                return f"J({', '.join([self._callee(inner), *arguments])})"
            case _:
                return f"{self._callee(callee)}({', '.join(arguments)})"

    def _callee(self, callee: Primitive | FunctionRef | Alpha) -> str:
        match callee:
            case FunctionRef(name):
                return f"@{self.function(name)}"
            case Alpha():
                return self.operand(callee)
            case _:
                return callee.name

    def definition(self, found: Phi | Instruction) -> str:
        """A φ node or an instruction."""
        if isinstance(found, Phi):
            arms = sorted((self.labels.get(label, label), self.operand(operand)) for label, operand in found.arms)
            return f"{self.name(found.target)} ← φ({', '.join(f'#{label} → {operand}' for label, operand in arms)})"
        targets = ", ".join(self.name(t) for t in found.targets)
        return f"{targets} ← {self.callee(found.callee, found.operands)}"

    def jump(self, block: Block, following: Label | None) -> str:
        """The jump at the end of a block, empty if it leads to the block that follows."""
        match block.jump:
            case Goto(target):
                return "" if target == following else f"goto {self.label(target)}"
            case Branch(condition, then, otherwise) if otherwise == following:
                return f"goto {self.label(then)} if {self.operand(condition)}"
            case Branch(condition, then, otherwise) if then == following:
                return f"goto {self.label(otherwise)} if not {self.operand(condition)}"
            case Branch(condition, then, otherwise):
                return f"goto {self.label(then)} if {self.operand(condition)} else {self.label(otherwise)}"
            case Return(operands):
                return " ".join(["return", ", ".join(self.operand(o) for o in operands)]).rstrip()
            case _:
                assert_never(block.jump)

    def lines(self, function: Function) -> Iterator[str]:
        """A function, line by line."""
        parameters = [self.name(p.name) + (f": {p.type}" if p.type is not None else "") for p in function.parameters]
        hidden, others = ", ".join(parameters[: function.hidden]), ", ".join(parameters[function.hidden :])
        yield f"function {self.function(function.name)}({hidden}{';' if hidden else ''}{' ' if hidden and others else ''}{others}):"
        followers = [block.label for block in function.blocks[1:]]
        for block, following in zip(function.blocks, [*followers, None], strict=True):
            yield f"block {self.label(block.label)}:"
            yield from (f"    {self.definition(phi)}" for phi in block.phis)
            yield from (f"    {self.definition(instruction)}" for instruction in block.instructions)
            if jump := self.jump(block, following):
                yield f"    {jump}"


def _distinct(wanted: Iterable[str], fits: Callable[[str], bool], fit: Callable[[str], str]) -> dict[str, str]:
    """A printed name for each name: itself where it fits, and else one that does and that no other has."""
    names = dict.fromkeys(wanted)
    found = {name: name for name in names if fits(name)}
    used = set(found)
    counts: dict[str, int] = {}
    for name in names:
        if name not in found:
            candidate = base = fit(name)
            while candidate in used:
                counts[base] = counts.get(base, 1) + 1
                candidate = f"{base}.{counts[base]}"
            found[name] = candidate
            used.add(candidate)
    return found


def _tame(name: str) -> str:
    """The name with a character that may stand in names for each that may not."""
    return re.sub(rf"(?!{LETTERS}).", "_", name.removeprefix("%"), flags=re.DOTALL) or "_"


def _local_names(function: Function) -> dict[str, str]:
    """
    The printed names of a function. After the primitive `J` a first operand called `mul` would be read as what is adjoined.
    """
    applies_j = any(i.callee is TABLE["J"] for block in function.blocks for i in block.instructions)
    reserved = RESERVED | frozenset(TABLE) if applies_j else RESERVED
    found = _distinct(
        (name for name, _ in function.definitions()),
        lambda name: bool(_NAME.fullmatch(name)) and name not in reserved,
        lambda name: f"%{_tame(name)}",
    )
    return {**found, "_": "_"}


def _function_names(module: Module) -> dict[str, str]:
    """The printed names of the functions."""
    return _distinct((f.name for f in module.functions), lambda name: bool(_WORD.fullmatch(name)), lambda name: f"f{_tame(name)}")


def show_function(function: Function, functions: Mapping[str, str] | None = None) -> str:
    """The text of one function."""
    return "\n".join(Names(_local_names(function), {}, functions or {}).lines(function))


def show(module: Module) -> str:
    """The text of a module: the entry, then the other functions in their order."""
    functions = _function_names(module)
    ordered = sorted(module.functions, key=lambda f: f.name != module.entry)
    return "\n\n".join(show_function(f, functions) for f in ordered)


def describe(found: Phi | Instruction) -> str:
    """A φ node or an instruction for messages; a long one is cut."""
    return cut(Names({}, {}, {}).definition(found))


def describe_jump(block: Block) -> str:
    """The jump of a block for messages, both sides of a branch included."""
    return Names({}, {}, {}).jump(block, None)


def called(function: Function) -> Iterator[str]:
    """The names of the functions that a function calls or adjoins, in the order of its instructions."""
    for block in function.blocks:
        for instruction in block.instructions:
            match instruction.callee:
                case FunctionRef(name) | Adjoined(FunctionRef(name)):
                    yield name


def reached(module: Module) -> tuple[Function, ...]:
    """The functions in the order in which the entry leads to them, then those that it does not lead to."""
    found: dict[str, Function] = {}
    for root in (module.entry, *module.by_name):
        todo = [root]
        while todo:
            name = todo.pop()
            if name not in found and name in module.by_name:
                found[name] = module.by_name[name]
                todo += reversed(list(called(found[name])))
    return tuple(found.values())


def canonical(module: Module) -> str:
    """The text with names, labels and functions replaced by their positions."""
    functions = reached(module)
    names = {f.name: str(i) for i, f in enumerate(functions)}
    lines: list[str] = []
    for function in functions:
        labels = {OUTSIDE: 0} | {block.label: i for i, block in enumerate(function.blocks, 1)}
        defined = dict.fromkeys(name for name, _ in function.definitions())
        local = Names({name: f"%{i}" for i, name in enumerate(defined)} | {"_": "_"}, labels, names, "?")
        lines += local.lines(function)
    return "\n".join(lines)
