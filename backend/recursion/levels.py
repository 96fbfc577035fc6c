"""
Level order: a recursion whose calls are known before any of their results becomes two loops, breadth first and back.

    descending    calls wait in a queue (`backend.recursion.calls`), and each puts those that it makes at its end
    ascending     the last call first, so what it needs of results is there: late code (`backend.recursion.paths`), to which a
                  frame leads; a call of which nothing is late gave its result when it was made

No call waits for a result but of those that it made, so a processor has many at a time; depth first (`backend.recursion.loops`)
each waits for the one before. What goes through all calls, a sum (`backend.recursion.sums`), is a variable of the loops.

The calls are those of the reference, but all of them are held, and what one adds to a sum comes before what an earlier one adds. So
this is for what leaves a tuple for each call anyway, as a forward pass does, or goes over such tuples, as an adjoint does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import count, pairwise

from backend.recursion.calls import AFTER, ANSWER, ANSWERED, ARGUMENTS, CALL, IS, LINK, RESULT_OF
from backend.recursion.frames import ABSENT, FRAMES, Frames
from backend.recursion.loops import KIND, handed
from backend.recursion.paths import ANSWERS, LAST, Dependent, Path, Paths, the_call
from semantics.primitives.table import TABLE
from semantics.ssa.dominance import loops
from semantics.ssa.form import Block, Branch, Function, FunctionRef, Goto, Instruction, Label, Literal, Name, Operand, Phi, Return
from transforms.ssa.rewriting import names_in
from transforms.ssa.single_assignment import NOTHING, single_assignment
from transforms.ssa.tidy import reachable
from transforms.ssa.zeros import without_zeros

EQ, GETITEM, MAKE_TUPLE = TABLE["eq"], TABLE["getitem"], TABLE["make_tuple"]
FIRST, NOW, IS_LAST = "the first call", "this call", "this is the last"


def in_levels(function: Function, sums: Sequence[int]) -> Function | None:
    """
    A function that calls itself as such loops, its last parameters being the sums that its result has in the fields `sums`; None
    where it has no such form, makes one call at a time, or needs no memory for each.
    """
    if loops(function).by_header:
        return None
    try:
        levels = _Levels(function, sums)
    except Dependent:
        return None
    several = any(len(path.calls) > 1 for path in levels.paths)
    return levels.function() if several and (_takes_tuples(function) or all(map(_leaves_tuple, levels.paths))) else None


class _Levels:
    """
    The loops of a function.

    own       the parameters that calls in the queue have           labels   of blocks that are not written yet
    through   those that are sums                                   answered  whether a result has more than these
    """

    def __init__(self, function: Function, sums: Sequence[int]) -> None:
        self.whole, self.sums, self.labels = function, sums, count(1)
        names = [p.name for p in function.parameters]
        alike, ending = frozenset(name for _, name in handed([function])), len(names) - len(sums)
        self.through, self.own = names[ending:], [name for name in names[:ending] if name not in alike]
        self.entry, self.head, self.next, self.again, self.back = (next(self.labels) for _ in range(5))
        ways = Paths(function, sums, frozenset(k for k, name in enumerate(names) if name in alike), self.labels)
        self.first, self.blocks, self.paths = ways.first, ways.blocks, ways.paths
        self.size, self.answered = ways.size, ways.answered
        self.frames = Frames()

    def write(self, label: Label, code: Sequence[Instruction], jump: Goto | Branch | Return, phis: Sequence[Phi] = ()) -> None:
        self.blocks.append(Block(label, tuple(phis), tuple(code), jump))

    def function(self) -> Function:
        """The loops."""
        end = next(self.labels)
        self.frames.kind(end)
        late = {path.label: self.late(path) for path in self.paths if path.later}
        self.descending(late)
        self.ascending()
        self.result(end)
        blocks = tuple(sorted(self.blocks, key=lambda block: block.label))
        return without_zeros(single_assignment(reachable(replace(self.whole, blocks=blocks))))

    def descending(self, late: dict[Label, tuple[int, list[str]]]) -> None:
        """The queue, from the first call on: its arguments, its early code, and what that leaves."""
        arguments = [Name(name) for name in self.own]
        begun = (Instruction((FIRST,), CALL, (ABSENT, ABSENT, ABSENT, *arguments)), self.frames.push(0, {}, ABSENT))
        self.write(self.entry, begun, Goto(self.head))
        first = {NOW: Name(FIRST), LAST: Name(FIRST), ANSWERS: Name(FIRST)} | {name: Name(name) for name in self.through}
        phis = (Phi(name, ((self.entry, operand), (self.again, Name(name)))) for name, operand in first.items())
        reads = (self.argument(name, name) for name in self.own)
        self.write(self.head, tuple(reads), Goto(self.first), tuple(phis))
        left: dict[str, list[tuple[Label, Operand]]] = {name: [] for name in (LAST, *self.through)}
        for path in self.paths:
            code = tuple(self.told(path.code))
            if path.label in late:
                kind, live = late[path.label]
                code += (self.frames.push(kind, {name: Name(name) for name in live}),)
            elif self.answered:
                code += (Instruction((ANSWERS,), ANSWER, (Name(ANSWERS), Name(NOW), path.found)),)
            self.write(path.label, code, Goto(self.next))
            for name, operand in zip(left, (path.last, *path.sums), strict=True):
                left[name].append((path.label, operand))
        ended = Instruction((IS_LAST,), IS, (Name(NOW), Name(LAST)))
        self.write(self.next, (ended,), Branch(Name(IS_LAST), self.back, self.again), [Phi(n, tuple(a)) for n, a in left.items()])
        self.write(self.again, (Instruction((NOW,), AFTER, (Name(LAST), Name(NOW))),), Goto(self.head))

    def argument(self, name: str, target: str) -> Instruction:
        """The read of what this call was passed for a parameter."""
        return Instruction((target,), GETITEM, (Name(NOW), Literal(ARGUMENTS + self.own.index(name))))

    def told(self, code: Sequence[Instruction]) -> Iterator[Instruction]:
        """Code in which a tuple that holds a parameter reads it from the queue, so that one in the place of its call need not."""
        for i in code:
            if i.callee is MAKE_TUPLE:
                own = {name: f"{name} passed" for name in names_in(i.operands) if name in self.own}
                yield from (self.argument(name, target) for name, target in own.items())
                i = replace(i, operands=tuple(Name(own.get(o.text, o.text)) if isinstance(o, Name) else o for o in i.operands))
            yield i

    def late(self, path: Path) -> tuple[int, list[str]]:
        """
        The late code of a path, and its result; the kind of the frame that leads there, and what that holds: neither what the call
        was passed, which is in the queue, nor more than one of the calls made, which stand one after another there.
        """
        held, made = {NOW}, set()
        for i in path.later:
            held |= {name for name in names_in(i.operands) if name not in made}
            made |= {*i.targets}
        others = _before([*map(the_call, path.calls)], held)
        found = {*self.own, *(i.targets[0] for i in others)}
        live = sorted(held - {ANSWERS} - found - {p.name for p in self.whole.parameters})
        label = next(self.labels)
        answer = Instruction((ANSWERS,), ANSWER, (Name(ANSWERS), Name(NOW), path.found))
        arguments = (self.argument(name, name) for name in self.own if name in held)
        self.write(label, (*self.frames.pop(live), *arguments, *others, *path.later, answer), Goto(self.back))
        return self.frames.kind(label), live

    def ascending(self) -> None:
        """What is late, the last call first: tests of what kind the last frame is, one after another."""
        kinds, label, code = self.frames.kinds, self.back, [Instruction((KIND,), GETITEM, (Name(FRAMES), Literal(0)))]
        for kind, goal in enumerate(kinds[:-1]):
            other = next(self.labels) if kind < len(kinds) - 2 else kinds[-1]
            test = f"{KIND} is {kind}"
            self.write(label, [*code, Instruction((test,), EQ, (Name(KIND), Literal(kind)))], Branch(Name(test), goal, other))
            label, code = other, []
        if len(kinds) == 1:
            self.write(label, (), Goto(kinds[0]))

    def result(self, label: Label) -> None:
        """That of the first call, with the sums in their fields."""
        answer, found = "the answer", "what the first call found"
        code = [
            Instruction((answer,), ANSWERED, (Name(ANSWERS), Name(FIRST))),
            Instruction((found,), GETITEM, (Name(answer), Literal(RESULT_OF))),
        ]
        if self.sums:
            through = dict(zip(self.sums, map(Name, self.through), strict=True))
            rest = [f"{found} in {k}" for k in range(self.size)]
            code += (Instruction((name,), GETITEM, (Name(found), Literal(k))) for k, name in enumerate(rest) if self.answered)
            others = [Name(name) if self.answered else NOTHING for name in rest]
            found = "the whole"
            code.append(Instruction((found,), MAKE_TUPLE, tuple(through.get(k, o) for k, o in enumerate(others))))
        self.write(label, code, Return((Name(found),)))


def _before(calls: Sequence[str], held: Collection[str]) -> list[Instruction]:
    """The calls that are held but for the last of these, each read from the one that stands after it."""
    while calls and calls[-1] not in held:
        calls = calls[:-1]
    while calls and calls[0] not in held:
        calls = calls[1:]
    return [Instruction((a,), GETITEM, (Name(b), Literal(LINK))) for a, b in reversed([*pairwise(calls)])]


def _takes_tuples(function: Function) -> bool:
    """Whether each call is passed, for some parameter, a field of it: there are no more calls than tuples in what it has."""
    fields = {i.targets[0]: i.operands[0] for b in function.blocks for i in b.instructions if i.callee is GETITEM}
    calls = [i for b in function.blocks for i in b.instructions if i.callee == FunctionRef(function.name)]

    def is_field(operand: Operand, of: str) -> bool:
        return isinstance(operand, Name) and fields.get(operand.text) == Name(of)

    return any(all(is_field(i.operands[k], p.name) for i in calls) for k, p in enumerate(function.parameters))


def _leaves_tuple(path: Path) -> bool:
    """Whether a path without calls, or one that leaves a tuple with something of each of them, inside what it gives."""
    fields = {i.targets[0]: i.operands[0] for i in path.later if i.callee is GETITEM}
    inside = {name for operands in path.tuples.values() for name in names_in(operands)}

    def holds(operands: tuple[Operand, ...]) -> bool:
        return {*path.calls} <= {names_in((fields.get(name, Name(name)),))[0] for name in names_in(operands)}

    return not path.calls or any(name in inside and holds(operands) for name, operands in path.tuples.items())
