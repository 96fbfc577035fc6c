"""
One place where a function ends, in the place of all that end it the same way but for the status.

    if a: return (none, 0.0, fuel, 16)           if a: status = 16; goto end
    …                                            …
    if b: return (none, 0.0, fuel, 16)     →     if b: status = 16; goto end
    …                                            …
    if c: return (none, 0.0, fuel, 4)            if c: status = 4; goto end
                                                 …
                                                 end: return (none, 0.0, fuel, status)

Wherever a function ends, Numba deletes all that lives there. A long gradient over arrays tests sizes, indices and fuel in hundreds
of places, and has a hundred arrays; so most of its code was to delete each array in each of these places. At the one place where
ways meet, what any of them leaves is deleted, as ever; what a way has not assigned counts for nothing. Where there are few such
places they stay: a loop with one way out more, to where others lead, may take a tenth longer.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir
from numba.core.compiler_machinery import FunctionPass, LoweringPass, register_pass
from numba.core.ir_utils import build_definitions

MANY = 80
"""Ways to end alike, beyond which they meet."""
Ending = tuple[tuple[str, str], ...]
"""What a function ends with, but for the status: the names of variables, and constants."""


@register_pass(mutates_CFG=True, analysis_only=False)
class OneEnding(FunctionPass):
    """The pass that has ways to end a function meet."""

    _name = "one_ending"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        found = with_one_ending(state.func_ir.blocks)
        if found:
            state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return found


@register_pass(mutates_CFG=False, analysis_only=False)
class OneDeletion(LoweringPass):
    """The pass that has what ways to end a function delete be deleted where they meet."""

    _name = "one_deletion"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        return deleted_where_ways_meet(state.func_ir.blocks)


def with_one_ending(blocks: dict[int, Any]) -> bool:
    """Whether there were many ways to end with the same values and a status, which now go on in a block of their own."""
    alike: dict[Ending, list[Any]] = {}
    for block in blocks.values():
        if ending := _ending(block):
            alike.setdefault(ending, []).append(block)
    many = [found for found in alike.values() if len(found) > MANY]
    for found in many:
        label = max(blocks) + 1
        blocks[label] = _met(label, found)
    return bool(many)


def _ending(block: Any) -> Ending:
    """What a block gives, but for the last part; nothing where it does something else."""
    match block.body[-3:]:
        case [ir.Assign(value=ir.Expr(op="build_tuple") as made), ir.Assign(value=ir.Expr(op="cast")), ir.Return()]:
            constants = _constants(block)
            parts = [("constant", repr(constants[v.name])) if v.name in constants else ("", v.name) for v in made.items[:-1]]
            return () if any(name.startswith("$") for kind, name in parts if not kind) else tuple(parts)
        case _:
            return ()


def _constants(block: Any) -> dict[str, Any]:
    """The temporary variables of a block that are constants."""
    assigned = [s for s in block.body if isinstance(s, ir.Assign) and isinstance(s.value, ir.Const)]
    return {s.target.name: s.value.value for s in assigned if s.target.name.startswith("$")}


def _met(label: int, ends: list[Any]) -> Any:
    """The block in which ways to end meet."""
    made, cast, given = ends[0].body[-3:]
    scope, loc, constants = ends[0].scope, given.loc, _constants(ends[0])
    met, status = ir.Block(scope, loc), scope.make_temp(loc)
    parts: list[Any] = []
    for part in made.value.items[:-1]:
        parts.append(scope.make_temp(loc) if part.name in constants else part)
        if part.name in constants:
            met.append(ir.Assign(ir.Const(constants[part.name], loc), parts[-1], loc))
    for end in ends:
        end.body[-3:] = [ir.Assign(end.body[-3].value.items[-1], status, loc), ir.Jump(label, loc)]
    met.body += [ir.Assign(ir.Expr.build_tuple([*parts, status], loc), made.target, loc), cast, given]
    return met


def deleted_where_ways_meet(blocks: dict[int, Any]) -> bool:
    """
    Whether something was deleted on ways that meet where a function ends, and is deleted there now. What a block has for itself
    alone, Numba keeps as a value that no other block has.
    """
    ways: dict[int, list[Any]] = {}
    for block in blocks.values():
        for target in block.terminator.get_targets():
            ways.setdefault(target, []).append(block)
    moved = False
    for label, before in ways.items():
        end = blocks[label]
        if isinstance(end.terminator, ir.Return) and all(isinstance(b.terminator, ir.Jump) for b in before):
            deleted: dict[str, Any] = {}
            for block in before:
                own = {s.target.name for s in block.find_insts(ir.Assign)}
                deleted |= {d.value: d for d in block.find_insts(ir.Del) if d.value not in own}
                block.body = [s for s in block.body if not isinstance(s, ir.Del) or s.value in own]
            end.body = [*deleted.values(), *end.body]
            moved |= bool(deleted)
    return moved
