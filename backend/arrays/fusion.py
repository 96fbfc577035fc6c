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

from backend.arrays.effects import Access, Effects, Reader, conflict, shared
from backend.arrays.walking import walk

REACH = 60  # statements that are looked back over for a loop to join
LONGEST = 2000
"""Statements of a loop that no other joins: LLVM's time for one loop is of the order of its square, and registers are few."""

Block = list[ast.stmt]


def fused(block: Block, effects: Reader) -> Block:
    """The block with its loops joined, and those in its statements."""
    found: Block = []
    for statement in block:
        _add(found, statement, effects)
    for statement in found:
        for name in ("body", "orelse"):
            if inner := getattr(statement, name, None):
                setattr(statement, name, fused(inner, effects))
    return found


def _add(block: Block, statement: ast.stmt, effects: Reader) -> None:
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
            fits = isinstance(other, ast.For) and statements(other) + statements(statement) <= LONGEST
            if fits and not conflict(its, needed) and joinable(other, statement, its, mine):  # type: ignore[arg-type]
                behind = [s for s in block[at + 1 :] if s not in before]
                block[at:] = [*before, _joined(other, statement), *behind]  # type: ignore[arg-type]
                return
            stays = its.returns and (mine.returns or not its.late)
            if stays or conflict(its, mine) or conflict(its, needed):
                before.insert(0, other)
                needed |= its
    block.append(statement)


def statements(loop: ast.stmt) -> int:
    """How many there are in a loop, and in those inside it, as far as `LONGEST`."""
    found, todo = 0, [loop]
    while todo and found <= LONGEST:
        statement = todo.pop()
        found += 1
        todo += [*getattr(statement, "body", ()), *getattr(statement, "orelse", ())]
    return found


def joinable(first: ast.For, second: ast.For, its: Effects, mine: Effects) -> bool:
    """Whether turn k of the second may come right after turn k of the first."""
    if ast.dump(first.iter) != ast.dump(second.iter) or (its.returns and mine.returns):
        return False
    if its.writes & (mine.reads | mine.writes) or mine.writes & its.reads:
        return False
    if (_in_vectors(first) and _is_nest(second)) or (_is_nest(first) and _in_vectors(second)):
        return False
    arrays = shared(its, mine)
    one = {a for a in its.loads | its.stores if a[0] in arrays}
    other = {a for a in mine.loads | mine.stores if a[0] in arrays}
    return all(parts_apart(root, one, _turn(first), other, _turn(second)) for root in arrays)


def _in_vectors(loop: ast.For) -> bool:
    """
    Whether the loop calls what takes a number eight times as long as one of a vector, and has no loop inside. With a nest beside it
    in its turns it would not be vectorised.
    """
    called = {n.func.id for n in walk(loop) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return bool(called & {"_tanh", "_cosh"}) and not _is_nest(loop)


def _is_nest(loop: ast.For) -> bool:
    return any(isinstance(n, ast.For) for s in loop.body for n in walk(s))


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


def _joined(first: ast.For, second: ast.For) -> ast.For:
    """One loop with the bodies of both."""
    rename = Renamed(_turn(second), _turn(first))
    return ast.For(first.target, first.iter, [*first.body, *(rename.visit(deepcopy(s)) for s in second.body)], [])
