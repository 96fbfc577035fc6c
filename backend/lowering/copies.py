"""
Whether there are more loops than the program has, or others, since first turns have types of their own.

A sensitivity is ZERO until something is added to it, so the turn that adds first is another block, and the loop goes on where
types are the same again: in another turn, or in the middle of one, or of a loop inside. Most often that is quicker, since no turn
asks what is ZERO. But a loop that goes on in the middle is none that the passes over text know, and there may be many such loops.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from backend.arrays.apart import MARK
from backend.arrays.down import cell_asked
from backend.arrays.walking import walk
from backend.lowering.flow import Targets, loops, ordered
from semantics.infer import Inference
from semantics.ir import Program

MANY = 2
"""Loops more than the program has, from which on it is tried whether more loops have a range where types are joined."""
ROOT = ""
MEMORY = {"reals", "integers"}
RANGE = re.compile(rf"(?:{MARK}|range)\(i\w+turns\)")


def is_crowded(program: Program, inference: Inference) -> bool:
    """Whether an inferred program has many loops more than its graphs, or one that goes on elsewhere than where theirs begin."""
    blocks, graphs = _blocks(program, inference)
    found, begun = [*loops(ROOT, blocks)], [*loops(ROOT, graphs)]
    heads = {graph for entered in begun for graph in entered}
    return len(found) - len(begun) >= MANY or any(_graph(block) not in heads for entered in found for block in entered)


def _blocks(program: Program, inference: Inference) -> tuple[Targets, Targets]:
    """The blocks of an inferred program, and its graphs, where no types are told apart; where each jumps to."""
    called = ordered(inference.entry, lambda caller: [t for to in inference.calls.get(caller, {}).values() for t in to])
    blocks: Targets = {ROOT: (inference.entry,)}
    for caller in called:
        at, tail = inference.calls.get(caller, {}), program.graphs[caller.graph].output
        blocks[caller] = tuple(at.get(tail, ()))
        blocks[ROOT] += tuple(callee for node, callees in at.items() if node != tail for callee in callees)
    graphs: Targets = {}
    for block, to in blocks.items():
        graphs[_graph(block)] = (*graphs.get(_graph(block), ()), *map(_graph, to))
    return blocks, graphs


def _graph(block: Any) -> Any:
    return block if block == ROOT else block.graph


def has_left(text: str, *, around: bool = False) -> bool:
    """
    Whether a loop over cells, without loops inside, writes to elements of arrays, and goes over no range; or one does `around`
    loops, which may be the next turns of its own, where it begins in its middle.
    """
    for node in walk(ast.parse(text)):
        if isinstance(node, ast.While):
            inside = [n for s in node.body for n in walk(s)]
            loops = any(map(_is_loop, inside))
            own = [*_own(node.body)] if loops and around else inside
            stores = [n.value for n in own if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
            writes = any(isinstance(array, ast.Name) and array.id not in MEMORY for array in stores)
            if writes and any(map(cell_asked, own)) and (around or not loops):
                return True
    return False


def _own(block: list[ast.stmt]) -> Iterator[ast.AST]:
    """What is in a block but not in loops over cells in it."""
    todo: list[ast.AST] = [*block]
    while todo:
        node = todo.pop()
        if not isinstance(node, ast.While):
            yield node
            todo += ast.iter_child_nodes(node)


def _is_loop(node: ast.AST) -> bool:
    """Whether a node is a loop over cells or over a range of them."""
    return isinstance(node, ast.While) or (isinstance(node, ast.For) and RANGE.fullmatch(ast.unparse(node.iter)) is not None)


def goes_further(text: str, other: str) -> bool:
    """Whether more loops of a text go over ranges than of another with such a loop left, or as many as there are."""
    return ranges(text) > ranges(other) or (ranges(text) > 0 and not has_left(text))


def ranges(text: str) -> int:
    """How many loops over cells go over a range (`backend.arrays.ranged`)."""
    return len(RANGE.findall(text))
