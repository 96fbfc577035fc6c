"""
What a function asks a field of which way to go is no ZERO: its calls say so, and nothing that it does asks for that again.

    f(p): t ← p[0]; goto #b if t    u ← @f(x)    ⟹    x' ← result(x); u ← @f(x')

The fields of ZERO are ZERO, which is no condition, so the reference would fail there as well. That what a sensitivity is read of is
none says nothing: it may be ZERO.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import count

from backend.recursion.frames import RESULT
from semantics.primitives.table import TABLE
from semantics.ssa.form import Branch, Function, FunctionRef, Instruction, Module, Name, Operand

GETITEM = TABLE["getitem"]


def with_demands(module: Module, names: Collection[str]) -> Module:
    """The module in which all calls of these functions say which of their arguments are no ZERO."""
    asked = {FunctionRef(name): _asked(module[name]) for name in names}
    return replace(module, functions=tuple(_demanding(f, asked) for f in module.functions))


def _asked(function: Function) -> frozenset[int]:
    """The parameters, by number, of which a field is the condition at the end of the first block."""
    block = function.blocks[0]
    condition = block.jump.condition if isinstance(block.jump, Branch) else None
    of = {i.operands[0] for i in block.instructions if i.callee is GETITEM and Name(i.targets[0]) == condition}
    return frozenset(k for k, p in enumerate(function.parameters) if Name(p.name) in of)


def _demanding(function: Function, asked: dict[FunctionRef, frozenset[int]]) -> Function:
    numbers = count(1)

    def code(i: Instruction) -> Iterator[Instruction]:
        operands: list[Operand] = [*i.operands]
        for k in sorted(asked.get(i.callee, ())) if isinstance(i.callee, FunctionRef) else ():
            name = f"demanded {next(numbers)}"
            yield Instruction((name,), RESULT, (operands[k],))
            operands[k] = Name(name)
        yield replace(i, operands=tuple(operands))

    blocks = (replace(b, instructions=tuple(n for i in b.instructions for n in code(i))) for b in function.blocks)
    return replace(function, blocks=tuple(blocks))
