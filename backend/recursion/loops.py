"""
Recursion as a loop: a group of functions that call each other becomes one function, whose calls wait on a stack of frames.

This is continuation-passing style, defunctionalised (Reynolds, 1972): what is left to do after a call is a closure, and there are as
many kinds of them as calls in the text. A *frame* is such a closure as a tuple: its kind, the frames below it, and what is live
after the call. The function that is entered has kind 0, for its end.

    t ← @f(a…); rest       frames ← (k, frames, live…), goto @f with a… for its parameters
    return v               value ← v, goto next
    next                   goto the block of kind frames[0]
    the block of kind k    live… ← frames, frames ← frames[1], t ← value, rest
    t ← @g(a…); rest       as the first; then frames ← (start of g, frames, a…), goto next       for a function g but the first

So there is one loop, entered at one place. Parameters that every call hands on are not in frames, nor are they variables of the loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from backend.flow import components
from backend.recursion.frames import FRAME
from backend.recursion.reads import postponed
from semantics.primitives.table import TABLE
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
    Phi,
    Return,
)
from semantics.ssa.liveness import liveness
from transforms.ssa.rewriting import names_in, put_in_block
from transforms.ssa.single_assignment import NOTHING, single_assignment
from transforms.ssa.tidy import reachable
from transforms.ssa.zeros import without_zeros

EQ, GETITEM = TABLE["eq"], TABLE["getitem"]
FRAMES, VALUE, KIND = "the frames", "the value", "the kind"
END = 0  # the kind of the first frame
FIRST = 2  # of a frame, the first field that is a live value


def callees(function: Function) -> Iterator[str]:
    """The functions that a function calls."""
    for block in function.blocks:
        yield from (i.callee.name for i in block.instructions if isinstance(i.callee, FunctionRef))


def groups(module: Module) -> dict[str, frozenset[str]]:
    """For every function that can come to call itself, the functions that do so with it."""
    edges = {f.name: list(callees(f)) for f in module.functions}
    component = components(edges)
    members: dict[int, set[str]] = {}
    for name, number in component.items():
        members.setdefault(number, set()).add(name)
    return {name: frozenset(members[n]) for name, n in component.items() if len(members[n]) > 1 or name in edges[name]}


def loops_for(module: Module) -> Module:
    """The same module in which no function comes to call itself."""
    found = groups(module)
    module = Module(tuple(postponed(f) if f.name in found else f for f in module.functions), module.entry)
    entered = {module.entry} | {c for f in module.functions for c in callees(f) if found.get(c) != found.get(f.name)}
    kept = (f for f in module.functions if f.name in entered or f.name not in found)
    functions = tuple(_Loop(module, f, found[f.name]).function() if f.name in found else f for f in kept)
    return Module(functions, module.entry)


class _Loop:
    """
    One function of a group, made a loop with what the others do.

    handed   of each function the parameters that its calls hand on, as those of the first
    slots    the field of a frame for each live value
    blocks   the blocks written so far           kinds   for each kind of frame, the block that goes on from there
    """

    def __init__(self, module: Module, first: Function, members: frozenset[str]) -> None:
        self.module, self.first = module, first
        self.members = [first, *(module[name] for name in sorted(members - {first.name}))]
        self.handed = frozenset(self._handed()) if len(members) == 1 else frozenset()
        self.slots: dict[str, int] = {}
        self.blocks: dict[Label, Block] = {}
        self.kinds: list[Label] = []
        self.labels = iter(range(1, 1 << 30))
        self.entry, self.head, self.next = next(self.labels), next(self.labels), next(self.labels)
        self.starts: dict[str, int] = {}
        self.to_head: list[tuple[Label, tuple[Operand, ...]]] = []
        self.to_next: list[tuple[Label, Operand]] = []
        self.pushes: dict[Label, list[tuple[int, dict[str, Operand]]]] = {}
        self.results: dict[Label, str] = {}

    def _handed(self) -> Iterator[str]:
        """The parameters of a function that calls no other which are arguments of every call of itself, each its own."""
        calls = [i for block in self.first.blocks for i in block.instructions if i.callee == FunctionRef(self.first.name)]
        for k, parameter in enumerate(self.first.parameters):
            if all(i.operands[k] == Name(parameter.name) for i in calls):
                yield parameter.name

    def function(self) -> Function:
        """The loop."""
        self.kinds.append(self.end())
        for member in self.members[1:]:
            self.starts[member.name] = self.start(member)
        entries = {member.name: self.body(member) for member in self.members}
        arms = [(self.entry, tuple(Name(p.name) for p in self.first.parameters)), *self.to_head]
        phis = tuple(
            Phi(self.name(self.first, p.name), tuple((label, operands[k]) for label, operands in arms))
            for k, p in enumerate(self.first.parameters)
            if p.name not in self.handed
        )
        self.blocks[self.entry] = Block(self.entry, (), (self.pushed(END, {}, NOTHING),), Goto(self.head))
        self.blocks[self.head] = Block(self.head, phis, (), Goto(entries[self.first.name]))
        for name, kind in self.starts.items():
            label = self.kinds[kind]
            self.blocks[label] = replace(self.blocks[label], jump=Goto(entries[name]))
        self.dispatch()
        for label, pushes in self.pushes.items():
            block, frames = self.blocks[label], (self.pushed(kind, live, Name(FRAMES)) for kind, live in pushes)
            self.blocks[label] = replace(block, instructions=(*block.instructions, *frames))
        order = (self.blocks[self.entry], *(b for label, b in sorted(self.blocks.items()) if label != self.entry))
        return without_zeros(single_assignment(reachable(replace(self.first, blocks=order))))

    # names and places

    def name(self, member: Function, name: str) -> str:
        """The name of a value of one of the functions here."""
        return name if name in self.handed else f"{member.name} {name}"

    def slot(self, name: str) -> int:
        return self.slots.setdefault(name, FIRST + len(self.slots))

    def pushed(self, kind: int, live: dict[str, Operand], below: Operand) -> Instruction:
        """frames ← (kind, below, live…), once all slots are known"""
        held = {self.slots[name]: operand for name, operand in live.items()}
        fields = (held.get(FIRST + k, NOTHING) for k in range(len(self.slots)))
        return Instruction((FRAMES,), FRAME, (Literal(kind), below, *fields))

    def taken(self, names: list[str]) -> tuple[Instruction, ...]:
        """names ← their fields of the last frame, which is gone then"""
        fields = (Instruction((name,), GETITEM, (Name(FRAMES), Literal(self.slot(name)))) for name in names)
        return *fields, Instruction((FRAMES,), GETITEM, (Name(FRAMES), Literal(1)))

    # blocks

    def end(self) -> Label:
        label = next(self.labels)
        self.blocks[label] = Block(label, (), (), Return((Name(VALUE),)))
        return label

    def start(self, member: Function) -> int:
        """The block that takes the arguments of a function out of a frame; its kind."""
        label = next(self.labels)
        self.blocks[label] = Block(label, (), self.taken([self.name(member, p.name) for p in member.parameters]), Goto(OUTSIDE))
        self.kinds.append(label)
        return len(self.kinds) - 1

    def body(self, member: Function) -> Label:
        """The blocks of a function, cut at the calls of the group; the label of the first."""
        to = {block.label: next(self.labels) for block in member.blocks}
        outside = self.head if member is self.first else self.kinds[self.starts[member.name]]
        live = liveness(member).after
        last: dict[Label, Label] = {OUTSIDE: outside}
        written = {}
        for block in member.blocks:
            written[block.label], last[block.label] = self.cut(member, block, set(live[block.label]), to[block.label])
        for block in member.blocks:
            put = put_in_block(
                Block(block.label, block.phis, (), block.jump), lambda o: self.operand(member, o), lambda n: self.name(member, n)
            )
            arms = (replace(p, arms=tuple((last[label], o) for label, o in p.arms)) for p in put.phis)
            first, end = to[block.label], last[block.label]
            self.blocks[first] = replace(self.blocks[first], phis=tuple(arms))
            self.blocks[end] = replace(self.blocks[end], jump=self.jump(end, put.jump, to))
        return to[member.entry]

    def operand(self, member: Function, operand: Operand) -> Operand:
        return Name(self.name(member, operand.text)) if isinstance(operand, Name) else operand

    def jump(self, label: Label, jump: object, to: dict[Label, Label]) -> Goto | Branch:
        match jump:
            case Goto(target):
                return Goto(to[target])
            case Branch(condition, then, otherwise):
                return Branch(condition, to[then], to[otherwise])
            case Return((operand,)):
                self.to_next.append((label, operand))
                return Goto(self.next)
            case _:
                raise AssertionError("a function made of a graph returns one value")

    def cut(self, member: Function, block: Block, live: set[str], label: Label) -> tuple[Label, Label]:
        """The instructions of a block in one block more for each call; the labels of the first and the last of them."""
        after = []
        for instruction in reversed(block.instructions):
            after.append(frozenset(live - set(instruction.targets)))
            live = live - set(instruction.targets) | set(names_in(instruction.operands))
        first, code = label, []
        for instruction, kept in zip(block.instructions, reversed(after), strict=True):
            operands = tuple(self.operand(member, o) for o in instruction.operands)
            target = self.name(member, instruction.targets[0])
            callee = instruction.callee
            if not isinstance(callee, FunctionRef) or callee.name not in [m.name for m in self.members]:
                targets = tuple("_" if t == "_" else self.name(member, t) for t in instruction.targets)
                code.append(replace(instruction, targets=targets, operands=operands))
                continue
            names = sorted(self.name(member, n) for n in kept if n not in self.handed)
            self.blocks[label] = Block(label, (), tuple(code), Goto(self.head))
            self.pushes[label] = [(len(self.kinds), {n: Name(n) for n in names})]
            if callee.name == self.first.name:
                self.to_head.append((label, operands))
            else:
                self.by_a_frame(label, self.module[callee.name], operands)
            label, code = next(self.labels), list(self.taken(names))
            self.kinds.append(label)
            self.results[label] = target
        self.blocks[label] = Block(label, (), tuple(code), Goto(OUTSIDE))
        return first, label

    def by_a_frame(self, label: Label, callee: Function, operands: tuple[Operand, ...]) -> None:
        """A call of another function than the first: a frame in which it begins, on top of that of the call."""
        names = (self.name(callee, p.name) for p in callee.parameters)
        self.pushes[label].append((self.starts[callee.name], dict(zip(names, operands, strict=True))))
        self.blocks[label] = replace(self.blocks[label], jump=Goto(self.next))
        self.to_next.append((label, NOTHING))

    def dispatch(self) -> None:
        """The block to which values return, and one after another the tests of what kind the last frame is."""
        value = Phi(VALUE, tuple(self.to_next))
        label, phis, code = self.next, (value,), (Instruction((KIND,), GETITEM, (Name(FRAMES), Literal(0))),)
        for kind, goal in enumerate(self.kinds[:-1]):
            other = next(self.labels) if kind < len(self.kinds) - 2 else self.kinds[-1]
            test = f"{KIND} {kind}"
            code = (*code, Instruction((test,), EQ, (Name(KIND), Literal(kind))))
            self.blocks[label] = Block(label, phis, code, Branch(Name(test), goal, other))
            self.arrives(label, goal)
            before, label, phis, code = label, other, (), ()
        self.arrives(before, self.kinds[-1])

    def arrives(self, source: Label, goal: Label) -> None:
        """The value is the result of the call that the block goes on from."""
        if goal in self.results:
            block = self.blocks[goal]
            self.blocks[goal] = replace(block, phis=(Phi(self.results[goal], ((source, Name(VALUE)),)),))
