"""
The adjoint of a loop that is left in several places, with a first turn for each way out.

Which way out was taken is recorded by ▶f and asked by ◀f, in every turn, though all turns but the last, which is the first to be
reversed, went to the end. Here the questions are answered as early as they can be:

    what ▶f keeps is known      αx ← top of s, where x is 1 in all cells  ⟹  1 for αx
    records of one block        asked for one, ◀f knows others (`transforms.first_turns.ways`)
    first turns                 have code of their own (`transforms.ssa.peeling`)
    parcels                     what one way out alone has computed is one tuple (`transforms.first_turns.parcels`)

Every number is computed from the same numbers. This is for code that nothing differentiates again.
"""

from __future__ import annotations

from dataclasses import replace

from semantics.ssa.form import Function, Literal, Module, Name, Operand
from transforms.first_turns.parcels import parcelled
from transforms.first_turns.sources import Sources
from transforms.first_turns.ways import told
from transforms.ssa.layout import laid_out
from transforms.ssa.peeling import is_peelable, peeled
from transforms.ssa.rewriting import with_operands
from transforms.ssa.single_assignment import single_assignment
from transforms.ssa.zeros import without_zeros

BLOCKS = 64
"""Blocks of a function whose loops have first turns of their own: with as many ways out as blocks, these take as many rounds."""


def with_first_turns(module: Module) -> Module:
    """The same pairs of ▶f and ◀f; those without such a loop as they are."""
    by_name = dict(module.by_name)
    for name, forward in module.by_name.items():
        back = "◀" + name.removeprefix("▶")
        if name.startswith("▶") and back in by_name:
            by_name[name], by_name[back] = _apart(forward, by_name[back])
    return replace(module, functions=tuple(by_name.values()))


def _apart(forward: Function, backward: Function) -> tuple[Function, Function]:
    if len(backward.blocks) > BLOCKS:
        return forward, backward
    literals = _literals(forward, backward)
    if not literals and not is_peelable(backward):  # as it is, without the names that it would have
        return forward, backward
    if not is_peelable(known := _known(backward, literals)):
        return forward, backward
    for _ in range(2):  # before the first turns are apart, and in these
        known = peeled(told(forward, known))
    forward, known = parcelled(forward, known)
    return laid_out(forward), laid_out(known)


def _literals(forward: Function, backward: Function) -> dict[str, Literal]:
    """By name of ◀f, the values that all tuples of ▶f have in one place."""
    sources = Sources(forward, backward)
    return {name: value for name in sources.backward if (value := sources.literal(name)) is not None}


def _known(backward: Function, literals: dict[str, Literal]) -> Function:
    """◀f with these values."""

    def put(operand: Operand) -> Operand:
        return literals.get(operand.text, operand) if isinstance(operand, Name) else operand

    return without_zeros(single_assignment(with_operands(backward, put)))
