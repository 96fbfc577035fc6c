"""
Recursion as a loop: a group of functions that call each other becomes one function, whose calls wait on a stack of frames.

This is continuation-passing style, defunctionalised (Reynolds, 1972): what is left to do after a call is a closure, there are as
many kinds of them as calls in the text, and a *frame* is such a closure as a tuple (`backend.recursion.frames`).

    t ← @f(a…); rest       frames ← (k, frames, live…), goto f with a… for its parameters
    return v               value ← v, goto next
    next                   goto the block of kind frames[0]
    the block of kind k    live… ← frames, frames ← frames[1], t ← value, rest
    t ← @g(a…); rest       as the first, then frames ← (start of g, frames, a…), goto next      for a function g but the first

The frame at the bottom has kind 0, and leads out. Parameters that every call hands on are neither in frames nor variables of the
loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from backend.recursion.frames import ABSENT, FRAMES, GETITEM, RESULT, Frames
from semantics.primitives.table import TABLE
from semantics.ssa.form import (
    OUTSIDE,
    Block,
    Branch,
    Function,
    FunctionRef,
    Goto,
    Instruction,
    Jump,
    Label,
    Literal,
    Name,
    Operand,
    Phi,
    Return,
)
from semantics.ssa.liveness import liveness
from transforms.ssa.rewriting import lead, names_in, put_in_block
from transforms.ssa.single_assignment import NOTHING, single_assignment
from transforms.ssa.tidy import reachable
from transforms.ssa.zeros import without_zeros

EQ, KIND, FOUND = TABLE["eq"], "the kind", "what is found"
Pushes = list[tuple[int, dict[str, Operand]]]  # kinds of frames, with what is live


class Loop:
    """
    The first of some functions, with what the others do; each returns one value.

    handed    the parameters that all calls hand on            blocks   what is written so far; a name may be assigned twice
    pushes    by block, the frames that it ends with           starts   of the other functions, the kind of frame that begins them
    to_first, to_next    what is passed to the first function and to the dispatch, by the block that it comes from
    """

    def __init__(self, functions: Sequence[Function]) -> None:
        self.first, self.functions = functions[0], {f.name: f for f in functions}
        self.handed = handed(functions)
        self.labels = count(1)
        self.entry, self.head, self.next, self.end = (next(self.labels) for _ in range(4))
        self.frames = Frames()
        self.frames.kind(self.end)
        self.blocks: dict[Label, Block] = {}
        self.pushes: dict[Label, Pushes] = {}
        self.starts: dict[str, int] = {}
        self.to_first: list[tuple[Label, tuple[Operand, ...]]] = [(self.entry, tuple(Name(p.name) for p in self.first.parameters))]
        self.to_next: list[tuple[Label, str, Operand]] = []

    def function(self) -> Function:
        """The loop."""
        self.write(self.end, (Instruction((FOUND,), RESULT, (Name(value(self.first.name)),)),), Return((Name(FOUND),)))
        self.write(self.head, (), Goto(OUTSIDE))
        for function in self.functions.values():
            if function is not self.first:
                names = [self.name(function, p.name) for p in function.parameters if not self.is_handed(function, p.name)]
                self.starts[function.name] = self.resumed(names, (), Goto(OUTSIDE))
        for function in self.functions.values():
            self.body(function)
        self.dispatch()
        self.write(self.entry, (self.frames.push(0, {}, ABSENT),), Goto(self.head))
        for label, pushes in self.pushes.items():
            block = self.blocks[label]
            self.write(label, (*block.instructions, *(self.frames.push(*found) for found in pushes)), block.jump, block.phis)
        parameters = [(k, p.name) for k, p in enumerate(self.first.parameters) if not self.is_handed(self.first, p.name)]
        phis = (Phi(self.name(self.first, p), tuple((label, given[k]) for label, given in self.to_first)) for k, p in parameters)
        self.blocks[self.head] = replace(self.blocks[self.head], phis=tuple(phis))
        blocks = tuple(block for _, block in sorted(self.blocks.items()))
        return without_zeros(single_assignment(reachable(replace(self.first, blocks=blocks))))

    # names

    def name(self, function: Function, name: str) -> str:
        """The name of a value of one of the functions here."""
        return self.handed.get((function.name, name), f"{function.name} {name}")

    def is_handed(self, function: Function, name: str) -> bool:
        return (function.name, name) in self.handed

    def operand(self, function: Function, operand: Operand) -> Operand:
        return Name(self.name(function, operand.text)) if isinstance(operand, Name) else operand

    def called(self, instruction: Instruction) -> Function | None:
        """The function here that an instruction calls."""
        return self.functions.get(instruction.callee.name) if isinstance(instruction.callee, FunctionRef) else None

    # blocks

    def write(self, label: Label, code: Sequence[Instruction], jump: Jump, phis: tuple[Phi, ...] = ()) -> None:
        self.blocks[label] = Block(label, phis, tuple(code), jump)

    def resumed(self, names: Sequence[str], code: Sequence[Instruction], jump: Jump) -> int:
        """A block that begins with a frame taken off; the kind of that frame."""
        label = next(self.labels)
        self.write(label, (*self.frames.pop(names), *code), jump)
        return self.frames.kind(label)

    def body(self, function: Function) -> None:
        """The blocks of a function, cut at its calls of those here."""
        live, to = liveness(function), {block.label: next(self.labels) for block in function.blocks}
        outside = self.head if function is self.first else self.frames.kinds[self.starts[function.name]]
        self.blocks[outside] = replace(self.blocks[outside], jump=Goto(to[function.entry]))
        last = {OUTSIDE: outside}
        for block in function.blocks:
            last[block.label] = self.cut(function, block, live.after[block.label], to)
        for block in function.blocks:
            put = put_in_block(block, lambda o: self.operand(function, o), lambda name: self.name(function, name))
            phis = tuple(replace(phi, arms=tuple((last[label], operand) for label, operand in phi.arms)) for phi in put.phis)
            self.blocks[to[block.label]] = replace(self.blocks[to[block.label]], phis=phis)

    def cut(self, function: Function, block: Block, live: frozenset[str], to: dict[Label, Label]) -> Label:
        """A block, and one more for what follows each call; the label of the last."""
        after = []
        for instruction in reversed(block.instructions):
            after.append(live - set(instruction.targets))
            live = after[-1] | set(names_in(instruction.operands))
        label, code = to[block.label], []
        for instruction, kept in zip(block.instructions, reversed(after), strict=True):
            operands = tuple(self.operand(function, o) for o in instruction.operands)
            targets = tuple(t if t == "_" else self.name(function, t) for t in instruction.targets)
            if (callee := self.called(instruction)) is None:
                code.append(replace(instruction, targets=targets, operands=operands))
                continue
            names = sorted(self.name(function, n) for n in kept if not self.is_handed(function, n))
            kind = self.resumed(names, (Instruction(targets, RESULT, (Name(value(callee.name)),)),), Goto(OUTSIDE))
            self.pushes[label] = [(kind, {n: Name(n) for n in names})]
            self.write(label, code, Goto(self.begin(label, callee, operands)))
            label = self.frames.kinds[kind]
            code = list(self.blocks[label].instructions)
        self.write(label, code, self.jump(function, label, block.jump, to))
        return label

    def begin(self, label: Label, callee: Function, operands: tuple[Operand, ...]) -> Label:
        """Where a call leads: to the first function; to another by a frame, on top of that of the call."""
        if callee is self.first:
            self.to_first.append((label, operands))
            return self.head
        given = zip(callee.parameters, operands, strict=True)
        passed = {self.name(callee, p.name): operand for p, operand in given if not self.is_handed(callee, p.name)}
        self.pushes[label].append((self.starts[callee.name], passed))
        self.to_next.append((label, "", NOTHING))
        return self.next

    def jump(self, function: Function, label: Label, jump: Jump, to: dict[Label, Label]) -> Jump:
        """The jump at the end of a function's block; a return passes its value on."""
        match jump:
            case Return((operand,)):
                self.to_next.append((label, function.name, self.operand(function, operand)))
                return Goto(self.next)
            case Branch(condition, then, otherwise):
                return Branch(self.operand(function, condition), to[then], to[otherwise])
            case _:
                return lead(jump, to)

    def dispatch(self) -> None:
        """The block to which values return, and one after another the tests of what kind the last frame is."""
        kinds, label, code = self.frames.kinds, self.next, [Instruction((KIND,), GETITEM, (Name(FRAMES), Literal(0)))]
        phis = tuple(
            Phi(value(name), tuple((source, operand if name == of else NOTHING) for source, of, operand in self.to_next))
            for name in self.functions
        )
        for kind, goal in enumerate(kinds[:-1]):
            other = next(self.labels) if kind < len(kinds) - 2 else kinds[-1]
            test = f"{KIND} is {kind}"
            self.write(label, [*code, Instruction((test,), EQ, (Name(KIND), Literal(kind)))], Branch(Name(test), goal, other), phis)
            label, phis, code = other, (), []


def value(name: str) -> str:
    """The variable that holds what a function returns."""
    return f"the value of {name}"


def handed(functions: Sequence[Function]) -> dict[tuple[str, str], str]:
    """
    The parameters that all calls hand on, by function and name, and which parameter of the first function each of them is: what
    is known of one goes along calls, as constants are propagated; what two calls do not agree on is none.
    """
    first, by_name = functions[0], {f.name: f for f in functions}
    found: dict[tuple[str, str], str | None] = {(first.name, p.name): p.name for p in first.parameters}
    passed = [
        ((caller.name, operand.text) if isinstance(operand, Name) else None, (callee.name, parameter.name))
        for caller in functions
        for instruction in (i for block in caller.blocks for i in block.instructions)
        if isinstance(instruction.callee, FunctionRef) and (callee := by_name.get(instruction.callee.name)) is not None
        for operand, parameter in zip(instruction.operands, callee.parameters, strict=True)
    ]
    parameters, before = {(f.name, p.name) for f in functions for p in f.parameters}, None
    while before != found:
        before = dict(found)
        for given, taken in passed:
            if given not in parameters:
                found[taken] = None
            elif given in found:
                found[taken] = found[given] if found.get(taken, found[given]) == found[given] else None
    return {taken: name for taken, name in found.items() if name is not None}
