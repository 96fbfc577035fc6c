"""
Which blocks of a function have their code in the order of need: that in which a graph made of them is evaluated.

A graph evaluates first what is captured by the block that its jump calls, in the order in which it was made, and then the
arguments, each after what it needs itself (`semantics.scope`). This module foretells that order without making the graph.
"""

from __future__ import annotations

from collections.abc import Iterable

from semantics.ssa.form import Block, Branch, Function, Goto, Label, Operand, operands_of
from semantics.ssa.liveness import Liveness, liveness, names_in


def in_order_of_need(function: Function) -> frozenset[Label]:
    """The blocks all of whose instructions are needed for their jump, and in the order in which they stand."""
    live = liveness(function)
    return frozenset(block.label for block in function.blocks if _is_in_order(function, block, live))


def _is_in_order(function: Function, block: Block, live: Liveness) -> bool:
    defined: dict[str, int] = {}
    needs: list[tuple[int, ...]] = []
    for instruction in block.instructions:
        needs.append(tuple([defined[name] for name in names_in(instruction.operands) if name in defined]))
        whole = len(needs) - 1
        if len(instruction.targets) == 1:
            defined[instruction.targets[0]] = whole
            continue
        for target in instruction.targets:
            if target != "_":
                defined[target] = len(needs)
                needs.append((whole,))
    return _order(needs, _roots(function, block, live, defined)) == list(range(len(needs)))


def _roots(function: Function, block: Block, live: Liveness, defined: dict[str, int]) -> list[int]:
    """The values of a block that its jump needs, in the order of need."""

    def known(names: Iterable[str]) -> list[int]:
        return [defined[name] for name in names if name in defined]

    def arms(target: Label) -> list[Operand]:
        return [phi.arm(block.label) for phi in function.by_label[target].phis]

    match block.jump:
        case Goto(target):
            return sorted(known(live.before[target])) + known(names_in(arms(target)))
        case Branch(condition, then, otherwise):
            sides = [sorted(known({*live.before[side], *names_in(arms(side))})) for side in (then, otherwise)]
            return [*known(names_in((condition,))), *sides[0], *sides[1]]
        case _:
            return known(names_in(operands_of(block.jump)))


def _order(needs: list[tuple[int, ...]], roots: list[int]) -> list[int]:
    """Depth-first, left to right, each after what it needs."""
    ordered: list[int] = []
    seen: set[int] = set()
    todo = roots[::-1]  # ~n for a value n of which all that it needs comes before
    while todo:
        at = todo.pop()
        if at < 0:
            ordered.append(~at)
        elif at not in seen:
            seen.add(at)
            todo.append(~at)
            todo += needs[at][::-1]
    return ordered
