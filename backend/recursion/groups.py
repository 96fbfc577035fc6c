"""
Which functions of a module come to call themselves, and the module in which none does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from backend.recursion.demanded import with_demands
from backend.recursion.inlining import inlined
from backend.recursion.levels import in_levels
from backend.recursion.loops import Loop
from backend.recursion.parts import in_parts
from backend.recursion.reads import postponed, taken_apart
from backend.recursion.results import without_unread
from backend.recursion.sums import begun, sums_of, threaded
from semantics.ssa.form import Function, FunctionRef, Module
from transforms.directed import components


def callees(function: Function) -> Iterator[str]:
    """The functions that a function calls."""
    for block in function.blocks:
        yield from (i.callee.name for i in block.instructions if isinstance(i.callee, FunctionRef))


def groups(module: Module) -> dict[str, frozenset[str]]:
    """For every function that can come to call itself, the functions that do so with it."""
    edges = {f.name: list(callees(f)) for f in module.functions}
    component = components(edges)
    members: dict[int, set[str]] = {}
    for name, number in component.items():
        members.setdefault(number, set()).add(name)
    return {name: frozenset(members[n]) for name, n in component.items() if len(members[n]) > 1 or name in edges[name]}


def without_recursion(module: Module, *, sums: bool = False, levels: bool = False, arrays: bool = True) -> Module:
    """
    The same module in which no function comes to call itself: of each group, a loop for every function called from outside. With
    `sums`, sensitivities go through it as one (`backend.recursion.sums`); with `levels`, calls that need no results of each other
    are in level order (`backend.recursion.levels`).
    """
    found = groups(module)
    if several := [*dict.fromkeys(members for members in found.values() if len(members) > 1)]:
        for members in several:
            module = inlined(module, members)
        module = in_parts(module)
        found = groups(module)
    fields: dict[str, Sequence[int]] = {}
    before: dict[str, Function] = {}
    for name in [name for name, members in found.items() if sums and len(members) == 1]:
        module = without_unread(module, name, arrays)
        before[name] = module[name]
        fields[name] = sums_of(module[name])
        module = threaded(module, name)
    module = replace(
        module, functions=tuple(postponed(taken_apart(f, found[f.name])) if f.name in found else f for f in module.functions)
    )
    ordered = {
        name: loop
        for name, members in found.items()
        if levels and len(members) == 1 and (loop := in_levels(module[name], fields.get(name, ())))
    }
    module = with_demands(module, found.keys() - ordered.keys())
    entered = {module.entry} | {c for f in module.functions for c in callees(f) if found.get(c) != found.get(f.name)}
    kept = (f for f in module.functions if f.name in entered or f.name not in found)

    def without(f: Function) -> Function:
        if f.name not in found:
            return f
        loop = ordered.get(f.name) or loop_of(module, f, found[f.name])
        return begun(loop, before[f.name]) if fields.get(f.name) else loop

    return replace(module, functions=tuple(map(without, kept)))


def loop_of(module: Module, first: Function, members: frozenset[str]) -> Function:
    """A function of a group as a loop."""
    return Loop([first, *(module[name] for name in sorted(members - {first.name}))]).function()
