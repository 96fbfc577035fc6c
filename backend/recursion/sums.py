"""
Sensitivities of arrays go through a recursion as one array, to which each call adds its elements.

    ◀f(t) = (gadd(◀f(l)[k], ◀f(r)[k]), …)    ◀f(t, s) = (◀f(r, ◀f(l, s)[k])[k], …)
    ◀f(t) = (inject(x, i, d), …)              ◀f(t, s) = (gadd(s, inject(x, i, d)), …)

A sum of all elements at every node of a tree of n leaves would take n² additions; this takes n. It is the same sum if no element is
given twice, whatever the order: ALONE tests that, and where it does not hold, the host takes code in which sums are as they were.

A sum begins as ZERO. Where every call adds to it, or a call that it makes does, there is an array in the end. So, if all elements
are of one array that each call is passed or reads before it branches, this array is passed in place of ZERO, and the loop that the
recursion becomes begins with an array of ZEROs, NOTHING_OF it: there is no other code for the calls before the first that adds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.ssa.form import Function, FunctionRef, Instruction, Literal, Module, Name, Operand, Parameter, Return
from semantics.tangents import ZERO
from semantics.type_language import ArrayType
from semantics.type_lattice import ZERO_TYPE
from transforms.ssa.rewriting import names_in, operands_in
from transforms.ssa.single_assignment import NOTHING, single_assignment
from transforms.ssa.zeros import without_zeros

ALONE = Primitive(
    "alone", ("a", "x", "i"), ("any", "any", "any"), "any", columns={"meaning": lambda a, x, i: a, "type": lambda a, x, i: a}
)
NOTHING_OF = Primitive(
    "nothing_of",
    ("x",),
    ("any",),
    "any",
    columns={"meaning": lambda x: ZERO, "type": lambda x: replace(x, holes=True) if isinstance(x, ArrayType) else ZERO_TYPE},
)
GADD, GETITEM, INJECT, MAKE_TUPLE = (TABLE[name] for name in ("gadd", "getitem", "inject", "make_tuple"))
Source = tuple[int, int | None]
"""The parameter that an array is passed in, and the field of it, unless it is the array."""
CALLED: Source = (-1, None)


def threaded(module: Module, name: str) -> Module:
    """The module in which a function that calls itself takes and gives such sums; for them its other callers pass `passed`."""
    sums = _Sums(module[name])
    if not sums.fields:
        return module
    numbers = count(1)

    def passing(instruction: Instruction) -> Iterator[Instruction]:
        if instruction.callee == FunctionRef(name):
            passed = [sums.passed(k, instruction, f"{_array(_sum(k))}, {next(numbers)}") for k in sums.fields]
            yield from (i for code, _ in passed for i in code)
            instruction = replace(instruction, operands=(*instruction.operands, *(operand for _, operand in passed)))
        yield instruction

    def called(function: Function) -> Function:
        blocks = (replace(b, instructions=tuple(n for i in b.instructions for n in passing(i))) for b in function.blocks)
        return replace(function, blocks=tuple(blocks))

    return replace(module, functions=tuple(sums.function() if f.name == name else called(f) for f in module.functions))


def sums_of(function: Function) -> list[int]:
    """The fields of the result that such sums are in, each of which becomes a parameter more, in this order."""
    return _Sums(function).fields


def begun(loop: Function, before: Function) -> Function:
    """The loop of a function with such sums, which was another before; those of a known array begin as arrays of ZEROs."""
    sums = _Sums(before)
    names = {_sum(k) for k in sums.fields if sums.source(k) is not None}
    parameters = tuple(replace(p, name=_array(p.name)) if p.name in names else p for p in loop.parameters)
    made = tuple(Instruction((name,), NOTHING_OF, (Name(_array(name)),)) for name in sorted(names))
    blocks = (replace(b, instructions=(*made, *b.instructions)) if b.label == loop.entry else b for b in loop.blocks)
    return replace(loop, parameters=parameters, blocks=tuple(blocks))


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

    def passed(self, k: int, call: Instruction, name: str) -> tuple[list[Instruction], Operand]:
        """
        What a call from outside passes for the sum in field k, the array that it is of if that is known, and the code for it; under
        this name where it is read.
        """
        if (source := self.source(k)) is None:
            return [], NOTHING
        at, field = source
        operand = call.operands[at]
        return ([], operand) if field is None else ([Instruction((name,), GETITEM, (operand, Literal(field)))], Name(name))

    def source(self, k: int) -> Source | None:
        """Where a call has the one array that the sum in field k is of; None where it may be of none, or of another."""
        found = {self.array(part) for parts in self.parts(k).values() for part in parts or [NOTHING]} - {CALLED}
        return found.pop() if len(found) == 1 else None

    def array(self, part: Operand) -> Source | None:
        """The array that a part of a sum is of, and CALLED for that of a call; None where it is not known before the call."""
        source = self.made[part.text][0] if isinstance(part, Name) else None
        if source is None or source.callee is not INJECT:
            return None if source is None else CALLED
        parameters = [Name(p.name) for p in self.whole.parameters]
        array = source.operands[0]
        if array in parameters:
            return parameters.index(array), None
        match self.made.get(array.text) if isinstance(array, Name) else None:
            case Instruction(_, callee, (of, Literal(int() as field))), block if callee is GETITEM and of in parameters:
                return (parameters.index(of), field) if block == self.whole.entry else None
        return None

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


def _array(name: str) -> str:
    return f"the array of {name}"
