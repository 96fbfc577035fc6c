"""
Tuples that meet are taken apart where their fields alone are read, and what nothing reads then is left out.

    %a ← make_tuple(u, v)   %b ← make_tuple(w, x)   %c ← φ(#p → %a, #q → %b)   %d ← getitem(%c, 1)    ⟹    %d ← φ(#p → v, #q → x)

So a function that gives a tuple, written in the place of its call, gives its fields. Nothing that may fail is left out: tuples, and
fields of those that are made here or are all that a function can return.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from semantics.primitives.table import TABLE
from semantics.ssa.form import Block, Function, FunctionRef, Instruction, Literal, Module, Name, Operand, Phi, Return
from transforms.ssa.rewriting import names_in, operands_in, resolved, with_operands

GETITEM, MAKE_TUPLE = TABLE["getitem"], TABLE["make_tuple"]


def in_parts(module: Module) -> Module:
    """The module of which every function is so taken apart, again and again."""
    sizes = {FunctionRef(f.name): size for f in module.functions if (size := _length(f))}
    return replace(module, functions=tuple(_apart(f, sizes) for f in module.functions))


def _apart(function: Function, sizes: Mapping[FunctionRef, int]) -> Function:
    before = None
    while before is not function:
        before = function
        function = _read_at_once(_without_unread(_without_meeting(function), sizes))
    return function


def _made(function: Function) -> dict[str, tuple[Operand, ...]]:
    """The tuples that are made in a function, by name."""
    return {i.targets[0]: i.operands for b in function.blocks for i in b.instructions if i.callee is MAKE_TUPLE}


def given(function: Function) -> set[Operand]:
    """What a function may return: what φ nodes choose from, and not these."""
    phis = {phi.target: phi for block in function.blocks for phi in block.phis}
    todo = [o for b in function.blocks if isinstance(b.jump, Return) for o in b.jump.operands]
    found: set[Operand] = set()
    while todo:
        if (operand := todo.pop()) not in found:
            found.add(operand)
            todo += (a for _, a in phis[operand.text].arms) if isinstance(operand, Name) and operand.text in phis else ()
    return {o for o in found if not isinstance(o, Name) or o.text not in phis}


def _length(function: Function) -> int:
    """The length of the tuples that are all that a function returns; 0 where it may return something else, or another length."""
    made = _made(function)
    lengths = {len(made[o.text]) if isinstance(o, Name) and o.text in made else 0 for o in given(function)}
    return lengths.pop() if len(lengths) == 1 else 0


def _fields(function: Function) -> Iterator[tuple[str, str, int]]:
    """The reads of fields: what is read, of what, and which."""
    for block in function.blocks:
        for found in block.instructions:
            match found:
                case Instruction((target,), callee, (Name(text), Literal(int() as k))) if (
                    callee is GETITEM and type(k) is int and k >= 0
                ):
                    yield target, text, k


def _read_at_once(function: Function) -> Function:
    """getitem(make_tuple(u, v), 1)  ⟹  v"""
    made = _made(function)
    value = {target: made[of][k] for target, of, k in _fields(function) if of in made and 0 <= k < len(made[of])}
    if not value:
        return function
    blocks = (replace(b, instructions=tuple(i for i in b.instructions if i.targets[0] not in value)) for b in function.blocks)
    return with_operands(replace(function, blocks=tuple(blocks)), lambda o: resolved(o, value))


def _without_meeting(function: Function) -> Function:
    """φ nodes of tuples of one length of which nothing but fields is read, as φ nodes of those."""
    made, reads = _made(function), dict[str, list[tuple[str, int]]]()
    for target, of, k in _fields(function):
        reads.setdefault(of, []).append((target, k))
    used: dict[str, int] = {}
    for name in (n for b in function.blocks for n in names_in(operands_in(b))):
        used[name] = used.get(name, 0) + 1

    def fields(phi: Phi) -> int:
        found = {len(made.get(o.text, ())) if isinstance(o, Name) else 0 for _, o in phi.arms}
        whole = used.get(phi.target, 0) == len(reads.get(phi.target, ()))
        least = max((k for _, k in reads.get(phi.target, ())), default=-1)
        return next(iter(found)) if len(found) == 1 and whole and -1 < least < next(iter(found)) else 0

    gone = {phi.target for b in function.blocks for phi in b.phis if fields(phi)}
    if not gone:
        return function
    value: dict[str, Operand] = {t: Name(f"{of} in {k}") for of in gone for t, k in reads[of]}

    def parts(phi: Phi) -> Iterator[Phi]:
        if phi.target not in gone:
            yield phi
            return
        for k in sorted({k for _, k in reads[phi.target]}):
            arms = tuple((label, made[o.text][k]) for label, o in phi.arms if isinstance(o, Name))
            yield replace(phi, target=f"{phi.target} in {k}", arms=arms)

    def block(b: Block) -> Block:
        kept = tuple(i for i in b.instructions if i.targets[0] not in value)
        return replace(b, phis=tuple(p for phi in b.phis for p in parts(phi)), instructions=kept)

    return with_operands(replace(function, blocks=tuple(map(block, function.blocks))), lambda o: resolved(o, value))


def _without_unread(function: Function, sizes: Mapping[FunctionRef, int]) -> Function:
    """The function without tuples and fields that no instruction and no jump comes to need."""
    calls = {
        i.targets[0]: sizes.get(i.callee, 0) for b in function.blocks for i in b.instructions if isinstance(i.callee, FunctionRef)
    }
    free = {*_made(function), *(target for target, of, k in _fields(function) if 0 <= k < calls.get(of, 0))}
    free |= {phi.target for b in function.blocks for phi in b.phis}
    needs: dict[str, tuple[str, ...]] = {phi.target: names_in(o for _, o in phi.arms) for b in function.blocks for phi in b.phis}
    todo = [n for b in function.blocks for n in names_in(operands_in(replace(b, phis=(), instructions=())))]
    for i in (i for b in function.blocks for i in b.instructions):
        if i.targets[0] in free:
            needs[i.targets[0]] = names_in(i.operands)
        else:
            todo += names_in(i.operands)
    found: set[str] = set()
    while todo:
        if (name := todo.pop()) not in found:
            found.add(name)
            todo += needs.get(name, ())
    gone = free - found
    if not gone:
        return function
    return replace(
        function,
        blocks=tuple(
            replace(
                b,
                phis=tuple(phi for phi in b.phis if phi.target not in gone),
                instructions=tuple(i for i in b.instructions if i.targets[0] not in gone),
            )
            for b in function.blocks
        ),
    )
