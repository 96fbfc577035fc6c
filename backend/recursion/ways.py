"""
Which ways through a function go by a frame, so that the loop that a recursion becomes is entered at one place.

What follows a call is reached from the dispatch on frames. Where it is reached without a call as well, as the end of a branch that
makes none is, or the head of a loop that makes some, there are two ways in. The second then pushes a frame that goes on there, and
jumps to the dispatch.
"""

from __future__ import annotations

from semantics.ssa.dominance import loops
from semantics.ssa.form import OUTSIDE, Function, Label


def ways(function: Function, calling: frozenset[Label]) -> list[tuple[Label, Label]]:
    """
    The edges to the headers of loops that hold a block of `calling`, and those from what no such block comes before to what follows
    one.
    """
    edges = [(OUTSIDE, function.entry), *((block.label, to) for block in function.blocks for to in block.successors)]
    after: set[Label] = set()
    todo = [to for source, to in edges if source in calling]
    while todo:
        if (label := todo.pop()) not in after:
            after.add(label)
            todo += function.by_label[label].successors
    found = loops(function)
    headers = {header for header in found.by_header if found.body(header) & calling}
    return sorted((a, b) for a, b in edges if b in headers or (b in after and a not in after and a not in calling))
