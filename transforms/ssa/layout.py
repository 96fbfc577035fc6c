"""
The order in which code is written down: nothing empty, blocks that only follow each other made one, loops before what follows them,
and names %1, %2, … and labels #1, #2, … in the order of appearance.
"""

from __future__ import annotations

from dataclasses import replace

from semantics.ssa.form import Function
from transforms.ssa.rewriting import decided
from transforms.ssa.tidy import chains, forwarding, numbered, reachable


def laid_out(function: Function) -> Function:
    """The function as it is written down."""
    forwarded = forwarding(function)
    one_sided = (replace(block, jump=decided(block.jump)) for block in forwarded.blocks)
    return numbered(chains(replace(forwarded, blocks=tuple(one_sided))))


def numbered_with_names(function: Function) -> tuple[Function, dict[str, str]]:
    """The function with names and labels in the order of appearance, and its new names by the old ones."""
    ordered = reachable(function)
    after = numbered(ordered)
    return after, {old: new for (old, _), (new, _) in zip(ordered.definitions(), after.definitions(), strict=True)}
