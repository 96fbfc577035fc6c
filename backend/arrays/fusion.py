"""
Loops over the same sizes made one.

A loop joins an earlier one where, of every array that one of them writes and the other accesses, each turn of either accesses the
part with its own number alone: then turn k of the second needs nothing but turns up to k of the first. What stands between them
stays behind if it does not matter to the second, and goes before the first if it does. Within the body of a loop that has been
joined, the same is done again. A loop whose elementary functions take vectors is not joined with a nest of loops, and none becomes
longer than `LONGEST`.

Every number is computed as before, and every sum keeps its order, since the turns of each loop do.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from dataclasses import dataclass, field

from backend.arrays.effects import Access, Effects, Reader, conflict, shared
from backend.arrays.walking import walk

REACH = 60  # statements that are looked back over for a loop to join
LONGEST = 2000
"""Statements of a loop that no other joins: LLVM's time for one loop is of the order of its square, and registers are few."""

VECTORS = frozenset({"_tanh", "_cosh"})

Block = list[ast.stmt]


@dataclass
class Loops:
    """
    What is asked of loops, each time one is to be joined: of one that many others have joined it is known from these.

    whole     how many statements there are in a loop, itself among them
    calling   whether it calls what takes a number eight times as long as one of a vector
    nested    whether it has a loop inside
    """

    found: dict[int, tuple[ast.stmt, int, bool, bool]] = field(default_factory=dict)

    def whole(self, loop: ast.stmt) -> int:
        return self._of(loop)[1]

    def in_vectors(self, loop: ast.stmt) -> bool:
        """Whether it calls one, and has no loop inside. With a nest beside it in its turns it would not be vectorised."""
        _, _, calling, nested = self._of(loop)
        return calling and not nested

    def nested(self, loop: ast.stmt) -> bool:
        return self._of(loop)[3]

    def join(self, joined: ast.For, first: ast.For, second: ast.For) -> None:
        """What is known of two loops is known of that which has the bodies of both."""
        (_, one, calls, inside), (_, other, others, within) = self._of(first), self._of(second)
        self.found[id(joined)] = joined, one + other - 1, calls or others, inside or within

    def _of(self, loop: ast.stmt) -> tuple[ast.stmt, int, bool, bool]:
        if id(loop) not in self.found:
            nodes = [*walk(loop)]
            calling = any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in VECTORS for n in nodes)
            count = sum(isinstance(n, ast.stmt) for n in nodes)
            self.found[id(loop)] = loop, count, calling, any(isinstance(n, ast.For) for n in nodes[1:])
        return self.found[id(loop)]


def fused(block: Block, effects: Reader) -> Block:
    """The block with its loops joined, and those in its statements."""
    return _fused(block, effects, Loops())


def _fused(block: Block, effects: Reader, loops: Loops) -> Block:
    found: Block = []
    for statement in block:
        _add(found, statement, effects, loops)
    for statement in found:
        for name in ("body", "orelse"):
            if inner := getattr(statement, name, None):
                setattr(statement, name, _fused(inner, effects, loops))
    return found


def _add(block: Block, statement: ast.stmt, effects: Reader, loops: Loops) -> None:
    """The statement at the end of the block, or, if it is a loop, in an earlier one."""
    before: Block = []
    needed = Effects()  # of what must come before the statement, and so before the loop that it joins
    mine = effects(statement)
    if isinstance(statement, ast.For) and not mine.jumps:
        for at in range(len(block) - 1, max(-1, len(block) - 1 - REACH), -1):
            other = block[at]
            its = effects(other)
            if its.jumps:
                break
            fits = isinstance(other, ast.For) and loops.whole(other) + loops.whole(statement) <= LONGEST
            if fits and not conflict(its, needed) and joinable(other, statement, its, mine, loops):  # type: ignore[arg-type]
                behind = [s for s in block[at + 1 :] if s not in before]
                joined, added = _joined(other, statement)  # type: ignore[arg-type]
                loops.join(joined, other, statement)  # type: ignore[arg-type]
                effects.join(joined, its, added)
                block[at:] = [*before, joined, *behind]
                return
            stays = its.returns and (mine.returns or not its.late)
            if stays or conflict(its, mine) or conflict(its, needed):
                before.insert(0, other)
                needed |= its
    block.append(statement)


def joinable(first: ast.For, second: ast.For, its: Effects, mine: Effects, loops: Loops | None = None) -> bool:
    """Whether turn k of the second may come right after turn k of the first."""
    if ast.dump(first.iter) != ast.dump(second.iter) or (its.returns and mine.returns):
        return False
    if its.writes & (mine.reads | mine.writes) or mine.writes & its.reads:
        return False
    loops = loops or Loops()
    if (loops.in_vectors(first) and loops.nested(second)) or (loops.nested(first) and loops.in_vectors(second)):
        return False
    arrays = shared(its, mine)
    one = {a for a in its.loads | its.stores if a[0] in arrays}
    other = {a for a in mine.loads | mine.stores if a[0] in arrays}
    return all(parts_apart(root, one, _turn(first), other, _turn(second)) for root in arrays)


def _turn(loop: ast.For) -> str:
    """The name of the number of the turn."""
    assert isinstance(loop.target, ast.Name), "loops count"
    return loop.target.id


def parts_apart(root: str, one: set[Access], turn: str, other: set[Access], its: str) -> bool:
    """Whether an axis of the array has the number of the turn as its index in every access."""
    mine, others = ([indices for name, indices in found if name == root] for found in (one, other))
    axes = range(min(map(len, [*mine, *others])))
    return any(all(at[axis] == turn for at in mine) and all(at[axis] == its for at in others) for axis in axes)


class Renamed(ast.NodeTransformer):
    """A name replaced by another."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.new, node.ctx) if node.id == self.old else node


def _joined(first: ast.For, second: ast.For) -> tuple[ast.For, Block]:
    """One loop with the bodies of both; and what it has from the second."""
    rename = Renamed(_turn(second), _turn(first))
    added: Block = [rename.visit(deepcopy(s)) for s in second.body]
    return ast.For(first.target, first.iter, [*first.body, *added], []), added
