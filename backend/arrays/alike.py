"""
Names that are given one and the same value on every path, under the name of that.

    if b: …; i, j, x = (p, q, y)                if b: …; x = y
    else: …; i, j, x = (p, q, z)        →       else: …; x = z
    f(i, j, x)                                  f(p, q, x)

So it is with what the code after a choice needs, and the choice does not change. What is handed on may be assigned once, or be
what a loop carries, if it is assigned before the loop and where turns end; the other name is of one turn of that loop.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from backend.arrays.effects import assigned
from backend.arrays.handed import pairs
from backend.arrays.in_place import Block, blocks
from backend.arrays.walking import walk

Loop = ast.While | None


class Given(NamedTuple):
    """An assignment to a name: the name that it is given, if it is one, the loop, and how."""

    value: str
    loop: Loop
    ends: bool  # the turn of the loop
    beside: bool  # others


@dataclass
class _Names:
    """For each name what it is given, and in which loops it is read; around each loop, which are there."""

    given: dict[str, list[Given]] = field(default_factory=dict)
    read: dict[str, set[Loop]] = field(default_factory=dict)
    around: dict[Loop, tuple[Loop, ...]] = field(default_factory=dict)


def alike(function: ast.FunctionDef, *, copies: str = "", but: Collection[str] = ()) -> None:
    """
    The function without such names; also without those that are given something once: of `copies`, "begun" are those that are given
    it beside others, as loops begin, but some, and "all" are all.
    """
    while found := _found(function, copies, but):
        _Renamed(found).visit(function)
    for block in blocks(function):
        block[:] = [statement for statement in block if not isinstance(statement, ast.Pass)] or [ast.Pass()]


def compared(function: ast.FunctionDef) -> set[str]:
    """The names that are compared with others, such as tops and bases of stacks, and those that are given them or give them."""
    near: dict[str, set[str]] = {}
    todo: list[str] = []
    for node in walk(function):
        match node:
            case ast.Compare(ast.Name(a), [ast.Lt() | ast.GtE()], [ast.Name(b)]):
                todo += [a, b]
            case ast.Assign():
                for to, value in pairs(node):
                    if isinstance(to, ast.Name) and isinstance(value, ast.Name):
                        near.setdefault(to.id, set()).add(value.id)
                        near.setdefault(value.id, set()).add(to.id)
    found: set[str] = set()
    while todo:
        if (name := todo.pop()) not in found:
            found.add(name)
            todo += near.get(name, ())
    return found


def _found(function: ast.FunctionDef, copies: str, but: Collection[str]) -> dict[str, str]:
    """Names, and what they are."""
    times, names = assigned(function), _Names()
    times.update(argument.arg for argument in function.args.args)  # each is given something before all else
    _gathered(function.body, (None,), names, ends=(None, None))
    found: dict[str, str] = {}
    for name, all_given in names.given.items():
        given = [one for one in all_given if one.value != name]
        values, loops = {one.value for one in given}, {one.loop for one in given}
        if len(all_given) == times[name] and len(values) == len(loops) == 1:
            (value,), (loop,) = values, loops
            begun = bool(copies) and given[0].beside and not name.startswith("a")
            may = len(all_given) > 1 or begun or copies == "all"
            inside = all(loop in names.around[reader] for reader in names.read.get(name, ()))
            if value and may and name not in but and (inside or loop is None) and _stays(value, loop, times, names):
                found[name] = value
    return {name: value for name, value in found.items() if value not in found}


def _stays(name: str, loop: Loop, times: Counter[str], names: _Names) -> bool:
    """Whether a name is assigned once; or, in a turn of the loop, only as it ends."""
    if times[name] <= 1:
        return True
    given = names.given.get(name, [])
    outside = names.around[loop][:-1]
    return loop is not None and times[name] == len(given) and all(g.ends if g.loop is loop else g.loop in outside for g in given)


def _gathered(block: Block, loops: tuple[Loop, ...], names: _Names, *, ends: tuple[Loop, Loop]) -> None:
    """
    What the statements say of names. `ends` are the loops of which a turn ends behind the block, and behind the innermost loop, if
    that is left: None where it goes on.
    """
    loop = loops[-1]
    names.around[loop] = loops
    for at, statement in enumerate(block):
        next = _behind(block, at)
        behind = ends[0] if next is None else loop if isinstance(next, ast.Continue) else None
        match statement:
            case ast.Assign():
                ended = ends[1] if isinstance(next, ast.Break) else behind
                of = loop if ended is None else ended
                for to, value in pairs(statement):
                    if isinstance(to, ast.Name):
                        source = value.id if isinstance(value, ast.Name) else ""
                        beside = isinstance(statement.targets[0], ast.Tuple)
                        names.given.setdefault(to.id, []).append(Given(source, of, ended is not None, beside))
                _reads(statement, loop, names)
            case ast.While(test, body):
                _reads(test, loop, names)
                _gathered(body, (*loops, statement), names, ends=(statement, behind))
            case ast.If(test, body, orelse):
                _reads(test, loop, names)
                for arm in (body, orelse):
                    _gathered(arm, loops, names, ends=(behind, ends[1]))
            case ast.For(_, over, body):
                _reads(over, loop, names)
                _gathered(body, loops, names, ends=(None, None))
            case _:
                _reads(statement, loop, names)


def _behind(block: Block, at: int) -> ast.stmt | None:
    """The statement that comes after another, but for notes of where paths lead, and what leaves by them; None at the end."""
    for statement in block[at + 1 :]:
        match statement:
            case ast.Assign([ast.Name("_go")]) | ast.If(ast.Compare(ast.Name("_go")), [ast.Break()], []):
                pass
            case _:
                return statement
    return None


def _reads(node: ast.AST, loop: Loop, names: _Names) -> None:
    for n in walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
            names.read.setdefault(n.id, set()).add(loop)


class _Renamed(ast.NodeTransformer):
    """The names as others, and no assignments to them."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        given = [*pairs(node)]
        left = [(to, value) for to, value in given if ast.unparse(to) != ast.unparse(value)]
        if len(left) == len(given):
            return node
        if len(left) < 2:
            return ast.Assign([left[0][0]], left[0][1]) if left else ast.Pass()
        targets = ast.Tuple([to for to, _ in left], ast.Store())
        return ast.Assign([targets], ast.Tuple([value for _, value in left], ast.Load()))

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)
