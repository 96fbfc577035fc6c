"""
What the names of ◀f hold of what ▶f has put on its tape and its stacks.

▶f makes tuples: a tape, cells of stacks, what the cells hold. ◀f takes them apart by known indices. So of a name of ◀f it is known
which operands of ▶f it may be a value of, if it is nothing else:

    of getitem(x, i), where x may be t ← make_tuple(…, a, …), the operand a at place i        of a φ node, those of its arms

An operand of ▶f that is a φ node may be each of its arms.
"""

from __future__ import annotations

from collections.abc import Iterator

from semantics.primitives.table import TABLE
from semantics.ssa.form import Function, Instruction, Literal, Name, Operand, Phi, Return, operands_of
from transforms.ssa.rewriting import key, names_in
from transforms.ssa.zeros import Definition, operands, targets
from transforms.ssa_adjoint.stacks import TAPE

GETITEM, MAKE_TUPLE, LENGTH = TABLE["getitem"], TABLE["make_tuple"], TABLE["length"]
Held = dict[object, Operand]


def definitions(function: Function) -> dict[str, Definition]:
    """By name, the φ node or the instruction that defines it."""
    found: dict[str, Definition] = {}
    for block in function.blocks:
        whole: tuple[Definition, ...] = (*block.phis, *block.instructions)
        found |= {name: definition for definition in whole for name in targets(definition)}
    return found


class Sources:
    """
    Of ▶f and ◀f.

    held      by name of ◀f, the operands of ▶f that it may be a value of; None where it may be something else
    returned  the names of ◀f that jumps read
    """

    def __init__(self, forward: Function, backward: Function) -> None:
        self.forward, self.backward = definitions(forward), definitions(backward)
        self.held: dict[str, Held | None] = {p.name: None for p in backward.parameters}
        [returned] = (b.jump for b in forward.blocks if isinstance(b.jump, Return))
        tape = returned.operands[-1]
        self.held[TAPE] = {key(tape): tape}
        self.returned = names_in(o for block in backward.blocks for o in operands_of(block.jump))
        self._find()

    def literal(self, name: str) -> Literal | None:
        """The one value that a name of ◀f has, if all that it may be is written down as that."""
        found = {key(a): a for o in (self.held.get(name) or {}).values() for a in self.arms(o)}
        [*values] = found.values()
        return values[0] if len(values) == 1 and isinstance(values[0], Literal) else None

    def tuple_of(self, name: str) -> str | None:
        """The name of the tuple of ▶f that a name of ◀f is, if there is one only; an empty one, of which nothing is read, aside."""
        found = {key(a): a for o in (self.held.get(name) or {}).values() for a in self.arms(o) if a != Literal(())}
        match [*found.values()]:
            case [Name(text)] if self._made(text) is not None:
                return text
            case _:
                return None

    def place(self, name: str) -> tuple[str, str, int] | None:
        """The x, the tuple t of ▶f that x is, and the i, of what is getitem(x, i) in ◀f."""
        match self.backward.get(name):
            case Instruction(callee=callee, operands=(Name(x), Literal(int(i)))) if callee is GETITEM:
                made = self.tuple_of(x)
                return None if made is None or not 0 <= i < len(self.items(made)) else (x, made, i)
            case _:
                return None

    def items(self, made: str) -> tuple[Operand, ...]:
        """What is in a tuple of ▶f."""
        found = self._made(made)
        assert found is not None, "a tuple"
        return found.operands

    def arms(self, operand: Operand) -> Iterator[Operand]:
        """What an operand of ▶f may be: those that are no φ nodes."""
        todo, seen = [operand], set()
        while todo:
            operand = todo.pop()
            if key(operand) not in seen:
                seen.add(key(operand))
                definition = self.forward.get(operand.text) if isinstance(operand, Name) else None
                if isinstance(definition, Phi):
                    todo += [arm for _, arm in definition.arms]
                else:
                    yield operand

    def read_elsewhere(self) -> set[str]:
        """The tuples of ▶f that ◀f may read otherwise than by getitem(x, i) of an x that is no other tuple; those in them too."""
        todo: list[Operand] = []
        for name, definition in self.backward.items():
            for x in names_in(operands(definition)):
                if self.place(name) is None and not self._is_followed(name, definition):
                    todo += (self.held.get(x) or {}).values()
        todo += (o for x in self.returned for o in (self.held.get(x) or {}).values())
        found: set[str] = set()
        while todo:
            for operand in self.arms(todo.pop()):
                made = self._made(operand.text) if isinstance(operand, Name) else None
                if made is not None and made.targets[0] not in found:
                    found.add(made.targets[0])
                    todo += made.operands
        return found

    def _is_followed(self, name: str, definition: Definition) -> bool:
        """Whether it gives nothing of a tuple but its length, or is known to be the tuple itself."""
        return self.held.get(name) is not None if isinstance(definition, Phi) else definition.callee is LENGTH

    def _made(self, name: str) -> Instruction | None:
        match self.forward.get(name):
            case Instruction(callee=callee) as found if callee is MAKE_TUPLE and found.targets == (name,):
                return found
            case _:
                return None

    def _find(self) -> None:
        """The least that holds: what a name may be grows until nothing does."""
        users: dict[str, list[str]] = {}
        for name, definition in self.backward.items():
            for read in names_in(operands(definition)):
                users.setdefault(read, []).append(name)
        todo = [*self.backward]
        while todo:
            name = todo.pop()
            before, found = self.held.get(name, {}), self._may_be(self.backward[name])
            if before is not None and (found is None or found.keys() - before.keys()):
                self.held[name] = found
                todo += users.get(name, ())

    def _may_be(self, definition: Definition) -> Held | None:
        result: Held = {}
        match definition:
            case Phi(_, arms):
                parts = [self.held.get(a.text, {}) if isinstance(a, Name) else {key(a): a} for _, a in arms]
            case Instruction(callee=callee, operands=(Name(x), Literal(int(i)))) if callee is GETITEM:
                parts = [self._read(o, i) for o in (held or {}).values()] if (held := self.held.get(x, {})) is not None else [None]
            case _:
                return None
        for part in parts:
            if part is None:
                return None
            result |= part
        return result

    def _read(self, operand: Operand, i: int) -> Held | None:
        """What is at place i of what an operand of ▶f may be."""
        result: Held = {}
        for found in self.arms(operand):
            made = self._made(found.text) if isinstance(found, Name) else None
            if made is not None and 0 <= i < len(made.operands):
                result[key(made.operands[i])] = made.operands[i]
            elif found != Literal(()):
                return None
        return result
