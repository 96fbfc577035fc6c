"""
What LLVM is told of loops whose turns are apart, beside what Numba tells it.

Loops over `_apart(n)`, and those that the threads of a block share on a GPU, write nothing in one turn that another reads or writes
(`backend.arrays.apart`). LLVM cannot see that of arrays that may overlap: it asks when the code runs, or, where there are many of
them, leaves the loop as it is. So every access in such a loop is put into a group, and the loop says that the accesses of the group
are parallel. What one turn does stays in order, as do sums.

A loop with elementary functions also takes the last turns, too few for a vector, in one of which some lanes do nothing: one by one
they would take longer than all others. That needs a processor with stores that a mask chooses.

A loop over `_strip_of(n)` (`backend.lowering.strips`), whose turns are a multiple of what a vector has, becomes vectors, whatever
LLVM takes that to cost: where its table is not read by one instruction, it thinks too much of it. LLVM may then add up in another
order as well, so this is said of no loop that has a sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from llvmlite import binding, ir
from numba.core import ir as statements
from numba.core.analysis import compute_cfg_from_blocks

from backend.cpu.references import counted_alone
from backend.cpu.registers import Registers

STRIP = "_strip_of"
APART = frozenset({"_apart", "_each", "_rows", "_columns", "_own", STRIP})
ELEMENTARY = frozenset({"_exp", "_tanh", "_cosh"})
STEPS = 9  # from the iterator of a loop to what made it
MEMORY = ("load", "store", "call")


class Distinct(ir.MDValue):
    """A node of metadata that is like no other."""

    def __init__(self, module: Any) -> None:
        super().__init__(module, (), str(len(module.metadata)))

    def descr(self, buffer: list[str]) -> None:
        buffer += (f"distinct !{{ {', '.join(o.get_reference() for o in self.operands)} }}", "\n")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class Telling(Registers):
    """Numba's lowering, after which each loop whose turns are apart says so."""

    def lower_block(self, block: Any) -> None:
        before = len(self.function.blocks)
        super().lower_block(block)
        self.within = getattr(self, "within", {})
        self.within[id(block)] = self.function.blocks[before:]

    def lower_function_body(self) -> Any:
        entry = super().lower_function_body()
        made = _made(self.blocks)
        loops = compute_cfg_from_blocks(self.blocks).loops()
        for header, loop in loops.items():
            through = _goes_through(header, self.blocks, made) if loop.body & loops.keys() == {header} else ""
            if through in APART:
                self.tell(header, loop.body, through == STRIP)
        return entry

    def post_lower(self) -> None:
        super().post_lower()
        counted_alone(self.module)

    def tell(self, header: int, body: set[int], strip: bool) -> None:
        """What LLVM is told of one loop, and whether that is over a strip."""
        group, loop = Distinct(self.module), Distinct(self.module)
        said = [self.module.add_metadata(["llvm.loop.parallel_accesses", group])]
        if strip:
            said.append(self.module.add_metadata(["llvm.loop.vectorize.enable", _true()]))
        elif has_masks() and any(_calls_elementary(self.blocks[at]) for at in body):
            said.append(self.module.add_metadata(["llvm.loop.vectorize.predicate.enable", _true()]))
        loop.operands = (loop, *said)
        for at in body:
            for block in (self.blkmap[at], *self.within[id(self.blocks[at])]):
                for instruction in block.instructions:
                    if instruction.opname in MEMORY:
                        instruction.set_metadata("llvm.access.group", group)
                if block.terminator is not None and self.blkmap[header] in block.terminator.operands:
                    block.terminator.set_metadata("llvm.loop", loop)


def _true() -> Any:
    return ir.Constant(ir.IntType(1), 1)


@cache
def has_masks() -> bool:
    """Whether the processor stores some lanes of a vector alone."""
    features = binding.get_host_cpu_features()
    return bool(features.get("avx512f") or features.get("avx2"))


def _made(blocks: dict[int, Any]) -> dict[str, Any]:
    """What is first assigned to each name."""
    found: dict[str, Any] = {}
    for block in blocks.values():
        for statement in block.body:
            if isinstance(statement, statements.Assign):
                found.setdefault(statement.target.name, statement.value)
    return found


def _goes_through(header: int, blocks: dict[int, Any], made: dict[str, Any]) -> str:
    """The name of the function that gave what a loop goes through, "" if it is none."""
    for statement in _first(header, blocks):
        match statement:
            case statements.Assign(value=statements.Expr(op="iternext") as taken):
                value: Any = taken.value
                for _ in range(STEPS):
                    match value:
                        case statements.Global(name=name) | statements.FreeVar(name=name):
                            return str(name)
                        case statements.Var(name=name):
                            value = made.get(name)
                        case statements.Expr(op="getiter"):
                            value = value.value
                        case statements.Expr(op="call"):
                            value = value.func
    return ""


def _first(at: int, blocks: dict[int, Any]) -> list[Any]:
    """The statements of a block, or of the one that it only leads to."""
    body: list[Any] = blocks[at].body
    while len(body) == 1 and isinstance(body[0], statements.Jump):
        body = blocks[body[0].target].body
    return body


def _calls_elementary(block: Any) -> bool:
    return any(name in ELEMENTARY for name in _globals(block))


def _globals(block: Any) -> Iterator[str]:
    """The names of functions that a block reads from the module."""
    for statement in block.body:
        match statement:
            case statements.Assign(value=statements.Global(name=name) | statements.FreeVar(name=name)):
                yield name
