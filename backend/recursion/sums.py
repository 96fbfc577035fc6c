"""
Sensitivities of arrays go through a recursion as one array, to which each call adds its elements.

    ◀f(t) = (gadd(◀f(l)[k], ◀f(r)[k]), …)    ◀f(t, s) = (◀f(r, ◀f(l, s)[k])[k], …)
    ◀f(t) = (inject(x, i, d), …)              ◀f(t, s) = (gadd(s, inject(x, i, d)), …)

A sum of all elements at every node of a tree of n leaves would take n² additions; this takes n. It is the same sum if no element is
given twice, whatever the order: ALONE tests that, and where it does not hold, the host takes code in which sums are as they were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.ssa.form import Function, FunctionRef, Instruction, Literal, Module, Name, Operand, Parameter, Return
from transforms.ssa.rewriting import names_in, operands_in
from transforms.ssa.single_assignment import NOTHING, single_assignment
from transforms.ssa.zeros import without_zeros

ALONE = Primitive(
    "alone", ("a", "x", "i"), ("any", "any", "any"), "any", columns={"meaning": lambda a, x, i: a, "type": lambda a, x, i: a}
)
GADD, GETITEM, INJECT, MAKE_TUPLE = (TABLE[name] for name in ("gadd", "getitem", "inject", "make_tuple"))


def threaded(module: Module, name: str) -> Module:
    """The module in which a function that calls itself takes and gives such sums; its other callers pass ZERO."""
    sums = _Sums(module[name])
    if not sums.fields:
        return module
    more = tuple(NOTHING for _ in sums.fields)

    def passing(instruction: Instruction) -> Instruction:
        return (
            replace(instruction, operands=(*instruction.operands, *more))
            if instruction.callee == FunctionRef(name)
            else instruction
        )

    def called(function: Function) -> Function:
        blocks = (replace(b, instructions=tuple(map(passing, b.instructions))) for b in function.blocks)
        return replace(function, blocks=tuple(blocks))

    return replace(module, functions=tuple(sums.function() if f.name == name else called(f) for f in module.functions))


def sums_of(function: Function) -> list[int]:
    """The fields of the result that such sums are in, each of which becomes a parameter more, in this order."""
    return _Sums(function).fields


class _Sums:
    """
    A function and the fields of its result that are such sums.

    made    by name, the instruction that makes it and its block      uses  how often a name is read
    calls   by what they define, the calls of itself                  given the tuples that it returns
    """

    def __init__(self, function: Function) -> None:
        self.whole = function
        self.made = {t: (i, b.label) for b in function.blocks for i in b.instructions for t in i.targets}
        self.uses = Counter(name for block in function.blocks for name in names_in(operands_in(block)))
        self.calls = {t: i for t, (i, _) in self.made.items() if i.callee == FunctionRef(function.name)}
        self.given = {
            name for block in function.blocks if isinstance(block.jump, Return) for name in self.returned(block.jump.operands)
        }
        self.fields: list[int] = []
        if self.calls and all(self.is_made_by(name, MAKE_TUPLE) for name in self.given):
            sizes = {len(self.made[name][0].operands) for name in self.given}
            self.fields = [k for k in range(*sizes) if self.is_sum(k)] if len(sizes) == 1 else []

    def returned(self, operands: tuple[Operand, ...]) -> Iterator[str]:
        """The names that a φ node or none stands for."""
        phis = {phi.target: phi for block in self.whole.blocks for phi in block.phis}
        for name in names_in(operands):
            yield from names_in(o for _, o in phis[name].arms) if name in phis else (name,)

    def is_made_by(self, name: str, primitive: Primitive) -> bool:
        return name in self.made and self.made[name][0].callee is primitive

    def leaves(self, operand: Operand, block: int) -> Iterator[Operand]:
        """What a sum is of, added in its own block for it alone."""
        todo = [operand]
        while todo:
            found = todo.pop()
            if isinstance(found, Name) and self.is_made_by(found.text, GADD) and self.is_for_one(found.text, block):
                todo += reversed(self.made[found.text][0].operands)
            else:
                yield found

    def is_for_one(self, name: str, block: int) -> bool:
        return self.uses[name] == 1 and name in self.made and self.made[name][1] == block

    def parts(self, k: int) -> dict[str, list[Operand]]:
        """Of each tuple that is returned, what field k is the sum of."""
        return {t: [o for o in self.leaves(self.made[t][0].operands[k], self.made[t][1]) if o != NOTHING] for t in self.given}

    def is_sum(self, k: int) -> bool:
        """Whether field k is a sum of field k of every call, once, where the call is made, and of injected elements."""
        found: list[str] = []
        for t, parts in self.parts(k).items():
            for part in parts:
                if not isinstance(part, Name) or not self.is_for_one(part.text, self.made[t][1]):
                    return False
                source = self.made[part.text][0]
                if source.callee is GETITEM and source.operands[1] == Literal(k) and source.operands[0] in map(Name, self.calls):  # type: ignore[operator]
                    found.append(source.operands[0].text)  # type: ignore[union-attr]
                elif source.callee is not INJECT:
                    return False
        return sorted(found) == sorted(self.calls)

    def function(self) -> Function:
        """The function with a parameter more for each sum, which is a variable that calls and elements are added to."""
        parts = {k: self.parts(k) for k in self.fields}
        gone = {name for k in self.fields for t in self.given for name in self.sums(self.made[t][0].operands[k], self.made[t][1])}
        gone |= {o.text for of in parts.values() for found in of.values() for o in found}  # type: ignore[union-attr]
        blocks = (
            replace(b, instructions=tuple(n for i in b.instructions for n in self.code(i, parts, gone))) for b in self.whole.blocks
        )
        parameters = (*self.whole.parameters, *(Parameter(_sum(k)) for k in self.fields))
        return without_zeros(single_assignment(replace(self.whole, parameters=parameters, blocks=tuple(blocks))))

    def sums(self, operand: Operand, block: int) -> Iterator[str]:
        """The additions of which a sum is made."""
        todo = [operand]
        while todo:
            found = todo.pop()
            if isinstance(found, Name) and self.is_made_by(found.text, GADD) and self.is_for_one(found.text, block):
                yield found.text
                todo += self.made[found.text][0].operands

    def code(self, i: Instruction, parts: dict[int, dict[str, list[Operand]]], gone: set[str]) -> Iterator[Instruction]:
        target = i.targets[0]
        if target in gone:
            return
        if target in self.calls:
            yield replace(i, operands=(*i.operands, *(Name(_sum(k)) for k in self.fields)))
            yield from (Instruction((_sum(k),), GETITEM, (Name(target), Literal(k))) for k in self.fields)
        elif target in self.given:
            for k in self.fields:
                for part in parts[k][target]:
                    source = self.made[part.text][0]  # type: ignore[union-attr]
                    if source.callee is INJECT:
                        x, index, _ = source.operands
                        yield Instruction((_sum(k),), ALONE, (Name(_sum(k)), x, index))
                        yield source
                        yield Instruction((_sum(k),), GADD, (Name(_sum(k)), part), source.location)
            operands = tuple(Name(_sum(k)) if k in self.fields else o for k, o in enumerate(i.operands))
            yield replace(i, operands=operands)
        else:
            yield i


def _sum(k: int) -> str:
    return f"the sum in field {k}"
