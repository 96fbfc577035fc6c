"""
The loops of a function and of its adjoint, matched; and alphas as variables of the adjoint.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from semantics.ssa.dominance import loops
from semantics.ssa.form import Alpha, Block, Function, Label, Name, Operand, operands_of
from transforms.ssa.rewriting import names_in, operands_in

alpha = "α {}".format  # the variable of the adjoint that holds what a name of the primal held


@dataclass(frozen=True)
class Turn:
    """
    A loop of the primal, and the loop of the adjoint that runs it backwards.

    body    its blocks          inner  the headers of the loops inside it      carried  its φ nodes, but for the record
    asking  the block of the adjoint that asks whether the header was entered from the latch
    back    the blocks of the loop of the adjoint
    """

    header: Label
    latch: Label
    outside: Label
    body: frozenset[Label]
    inner: tuple[Label, ...]
    carried: tuple[str, ...]
    record: str
    asking: Label
    back: frozenset[Label]


def turns(primal: Function, adjoint: Function) -> tuple[Turn, ...]:
    """The loops of a listing that the adjoint runs backwards, outer ones first."""
    asking = {o.text: b.label for b in adjoint.blocks for o in operands_of(b.jump) if isinstance(o, Alpha)}
    there, here = loops(adjoint), loops(primal)
    found = []
    for header, loop in here.by_header.items():
        block, body = primal.by_label[header], here.body(header)
        record = next((phi.target for phi in block.phis if phi.target in asking), None)
        if record is not None and (around := there.innermost[asking[record]]) is not None:
            [outside] = (p for p in primal.predecessors[header] if p not in body)
            inner = tuple(h for h in sorted(body) if h in here.by_header and h != header)
            carried = tuple(phi.target for phi in block.phis if phi.target != record)
            at = asking[record]
            found.append(Turn(header, loop.latches[0], outside, body, inner, carried, record, at, there.body(around)))
    return tuple(found)


def as_alpha(operand: Operand) -> Operand:
    return Name(alpha(operand.text)) if isinstance(operand, Name) else operand


def alphas_read(blocks: Iterable[Block]) -> dict[str, None]:
    """The primal names whose alphas are read, in order."""
    names = (name for block in blocks for name in names_in(operands_in(block)))
    return dict.fromkeys(name.removeprefix("α ") for name in names if name.startswith("α "))
