"""
Results that nothing reads are not computed by a recursion.

    ◀f(t) = (a, b, …), of which every other caller reads a alone, and each call of itself, b for b    ⟹    (a, ZERO, …)

What only these need is gone then. A field is kept where an instruction that it needs may fail, since the reference fails there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from backend.recursion.parts import given
from semantics.primitives.table import TABLE
from semantics.ssa.form import Function, FunctionRef, Instruction, Literal, Module, Name, operands_of
from transforms.ssa.rewriting import names_in
from transforms.ssa.single_assignment import NOTHING
from transforms.ssa.zeros import without_zeros

GETITEM, MAKE_TUPLE, SUM_TO = TABLE["getitem"], TABLE["make_tuple"], TABLE["sum_to"]
FREE = frozenset(TABLE[name] for name in ("getitem", "make_tuple", "gadd", "sum_to"))
"""What does not fail in an adjoint."""
ARITHMETIC = frozenset(TABLE[name] for name in ("add", "sub", "mul", "neg"))
"""What does not fail on numbers, nor on arrays of which the adjoint's `sum_to` takes the result: the primal did the same."""


def without_unread(module: Module, name: str, arrays: bool) -> Module:
    """The module in which a function that calls itself gives ZERO in every field of its result that nothing reads."""
    function, tuples = module[name], _tuples(module[name])
    read = set(_fields((f for f in module.functions if f.name != name), name))
    if not tuples or name == module.entry:
        return module
    while True:
        shorter = _with(function, tuples, read)
        more = read | set(_fields((shorter,), name))
        if more == read:
            break
        read = more
    if None in read or not _only_total(function, shorter, arrays):
        return module
    return replace(module, functions=tuple(shorter if f is function else f for f in module.functions))


def _fields(functions: Iterable[Function], name: str) -> Iterator[int | None]:
    """The fields of the results of a function that these read; None where they use one as a whole."""
    for function in functions:
        results = {Name(i.targets[0]) for b in function.blocks for i in b.instructions if i.callee == FunctionRef(name)}
        for block in function.blocks:
            for i in block.instructions:
                match i:
                    case Instruction(_, callee, (source, Literal(int() as k))) if callee is GETITEM and source in results:
                        yield k
                    case _ if results & set(i.operands):
                        yield None
            others = (*operands_of(block.jump), *(o for phi in block.phis for _, o in phi.arms))
            yield from (None for o in others if o in results)


def _tuples(function: Function) -> set[str]:
    """The tuples that are all that a function returns; none if it may return something else."""
    made = {i.targets[0] for b in function.blocks for i in b.instructions if i.callee is MAKE_TUPLE}
    found = given(function)
    names = set(names_in(found))
    return names if len(names) == len(found) and names <= made else set()


def _with(function: Function, tuples: set[str], read: set[int | None]) -> Function:
    """The function with ZERO in the fields that are not read."""

    def without(instruction: Instruction) -> Instruction:
        if instruction.targets[0] not in tuples:
            return instruction
        return replace(instruction, operands=tuple(o if k in read else NOTHING for k, o in enumerate(instruction.operands)))

    blocks = (replace(b, instructions=tuple(map(without, b.instructions))) for b in function.blocks)
    return without_zeros(replace(function, blocks=tuple(blocks)))


def _only_total(before: Function, after: Function, arrays: bool) -> bool:
    """Whether nothing that may fail is gone."""
    kept = {t for b in after.blocks for i in b.instructions for t in i.targets}
    readers: dict[str, list[Instruction]] = {}
    for instruction in (i for b in before.blocks for i in b.instructions):
        for name in names_in(instruction.operands):
            readers.setdefault(name, []).append(instruction)
    gone = [i for b in before.blocks for i in b.instructions if i.targets[0] not in kept]
    return all(
        i.callee in FREE
        or (i.callee in ARITHMETIC and (not arrays or all(r.callee is SUM_TO for r in readers.get(i.targets[0], ()))))
        for i in gone
    )
