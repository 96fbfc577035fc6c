"""
The ways through a function that calls itself, each with what is done before its calls are and what after.

A result of a call is *late*, and so is what needs one; all else is *early*. If arguments and conditions are early, the early code
of a function makes all calls, and the late code of a path is a line. So blocks where paths meet are written once for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from backend.recursion.calls import ANSWERED, CALL, RESULT_OF
from backend.recursion.frames import ABSENT
from semantics.primitives.table import TABLE
from semantics.ssa.form import OUTSIDE, Block, Branch, Function, FunctionRef, Goto, Instruction, Label, Literal, Name, Operand
from transforms.ssa.rewriting import names_in
from transforms.ssa.single_assignment import NOTHING

GETITEM, MAKE_TUPLE = TABLE["getitem"], TABLE["make_tuple"]
LAST, ANSWERS, FOUND = "the last call", "the answers", "what it found"
PATHS = 32
"""More ways through a function than these are too much code."""


class Dependent(Exception):
    """What is called, or whether, depends on the result of a call; or there are too many ways."""


@dataclass
class Path:
    """
    A way through the function, so far: where its code is written, the block it came from, and that at which it is.

    value    what stands for names: φ nodes, and sums             late     the names that need results
    code     what is done early, in the last of its blocks        later    what is done late
    last     the last call of the queue                           calls    those made on it, by the name of the result
    sums     what is now in the parameters that go through        tuples   those made on it, by name
    found    what it gives, but for sums
    """

    label: Label
    source: Label
    block: Label
    sums: tuple[Operand, ...]
    value: dict[str, Operand] = field(default_factory=dict)
    late: frozenset[str] = frozenset()
    code: tuple[Instruction, ...] = ()
    later: tuple[Instruction, ...] = ()
    last: Operand = Name(LAST)
    calls: tuple[str, ...] = ()
    tuples: dict[str, tuple[Operand, ...]] = field(default_factory=dict)
    found: Operand = NOTHING

    def now(self, operand: Operand) -> Operand:
        return self.value.get(operand.text, operand) if isinstance(operand, Name) else operand

    def is_late(self, *operands: Operand) -> bool:
        return not self.late.isdisjoint(names_in(operands))


class Paths:
    """
    The ways through a function. `sums` are the fields of its result that its last parameters go through to; `handed` are the
    numbers of the parameters that a call in the queue need not have.

    blocks    what is written, with labels that `labels` gives; the last of each path waits for a jump
    size      the fields of a result, where it has sums              answered   whether it has more than those
    """

    def __init__(self, function: Function, sums: Sequence[int], handed: frozenset[int], labels: Iterator[Label]) -> None:
        self.function, self.sums, self.handed, self.labels = function, sums, handed, labels
        self.blocks: list[Block] = []
        self.paths: list[Path] = []
        self.size, self.answered = 0, not sums
        given = function.parameters[len(function.parameters) - len(sums) :]
        self.first = next(labels)
        todo = [Path(self.first, OUTSIDE, function.entry, tuple(Name(p.name) for p in given))]
        while todo:
            todo += self.onward(todo.pop())
            if len(todo) + len(self.paths) > PATHS:
                raise Dependent
        for path in self.paths:
            path.later = _needed(path) if self.answered else ()

    def onward(self, path: Path) -> Iterator[Path]:
        """What a path becomes at the end of the block at which it is."""
        block = self.function.by_label[path.block]
        path.value |= {phi.target: path.now(phi.arm(path.source)) for phi in block.phis}
        for instruction in block.instructions:
            self.instruction(path, replace(instruction, operands=tuple(map(path.now, instruction.operands))))
        match block.jump:
            case Goto(target):
                yield replace(path, source=path.block, block=target)
            case Branch(condition, then, otherwise):
                condition = path.now(condition)
                if path.is_late(condition):
                    raise Dependent
                sides = [next(self.labels) for _ in range(2)]
                self.blocks.append(Block(path.label, (), path.code, Branch(condition, *sides)))
                for label, target in zip(sides, (then, otherwise), strict=True):
                    begun = replace(path, value=dict(path.value), tuples=dict(path.tuples), code=())
                    yield replace(begun, label=label, source=path.block, block=target)
            case end:
                self.ended(path, path.now(end.operands[0]))

    def instruction(self, path: Path, i: Instruction) -> None:
        """One instruction more, early or late."""
        match i:
            case Instruction((target,), FunctionRef(name), operands) if name == self.function.name:
                if path.is_late(*operands):
                    raise Dependent
                own, path.sums = operands[: len(operands) - len(self.sums)], operands[len(operands) - len(self.sums) :]
                given = (o for k, o in enumerate(own) if k not in self.handed)
                call, answer = the_call(target), f"the answer {target}"
                path.code += (Instruction((call,), CALL, (path.last, ABSENT, ABSENT, *given)),)
                path.later += (
                    Instruction((answer,), ANSWERED, (Name(ANSWERS), Name(call))),
                    Instruction((target,), GETITEM, (Name(answer), Literal(RESULT_OF))),
                )
                path.last, path.late, path.calls = Name(call), path.late | {target, answer}, (*path.calls, target)
                path.value |= {f"{target} {k}": operand for k, operand in zip(self.sums, path.sums, strict=True)}
            case Instruction((target,), callee, (Name(text), Literal(k))) if callee is GETITEM and f"{text} {k}" in path.value:
                path.value[target] = path.value[f"{text} {k}"]
            case _:
                if i.callee is MAKE_TUPLE:
                    path.tuples[i.targets[0]] = i.operands
                if path.is_late(*i.operands):
                    path.later, path.late = (*path.later, i), path.late | {*i.targets}
                else:
                    path.code += (i,)

    def ended(self, path: Path, result: Operand) -> None:
        """A path that returns: sums are told from what else it gives."""
        if self.sums:
            if not isinstance(result, Name) or result.text not in path.tuples:
                raise Dependent
            fields = path.tuples[result.text]
            path.sums, self.size = tuple(fields[k] for k in self.sums), len(fields)
            if path.is_late(*path.sums):
                raise Dependent
            others = tuple(NOTHING if k in self.sums else o for k, o in enumerate(fields))
            self.instruction(path, Instruction((FOUND,), MAKE_TUPLE, others))
            result, self.answered = Name(FOUND), self.answered or any(o != NOTHING for o in others)
        path.found = result
        self.paths.append(path)


def the_call(result: str) -> str:
    """The name of the call that a result is of."""
    return f"the call {result}"


def _needed(path: Path) -> tuple[Instruction, ...]:
    """The late code that what is found needs."""
    needed, found = set(names_in((path.found,))), []
    for i in reversed(path.later):
        if needed & {*i.targets}:
            found.append(i)
            needed |= {*names_in(i.operands)}
    return tuple(reversed(found))
