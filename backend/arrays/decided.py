"""
Choices that an earlier choice has decided, made with it.

    if b: …; i, s = (0, t)                       …
    else: i, s = (1, _empty((0,), _f64))         if b: …; f(t)
    …                                       →    else: g
    if i == 0: f(s)
    else: g

So are sensitivities that may be ZERO: one choice says whether there is one, and another asks that. Where nothing else asks, and
where what stands between does not matter to what the first choice does, that is done where the second stands. Then what makes an
array and what reads it are one block, which other passes look at.
"""

from __future__ import annotations

import ast
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, replace

from backend.arrays.effects import Reader, assigned, conflict, roots
from backend.arrays.handed import pairs
from backend.arrays.in_place import Block
from backend.arrays.walking import mentions, names_in, walk
from backend.status import SIZES

REACH = 40  # statements that are looked ahead for what a choice has decided


@dataclass(frozen=True)
class Choice:
    """A choice whose branches end in giving a number, another in each, and others: what they do before, and what they give."""

    statement: ast.If
    flag: str
    bodies: tuple[Block, Block]
    given: tuple[dict[str, ast.expr], dict[str, ast.expr]]
    numbers: tuple[int, int]


def decided(function: ast.FunctionDef) -> bool:
    """Makes such choices of a function one; whether there were any."""
    found = _Decided(function)
    found.in_block(function.body)
    return found.any


class _Decided:
    def __init__(self, function: ast.FunctionDef) -> None:
        self.times, self.mentions, self.effects = assigned(function), mentions([function]), Reader(roots(function))
        self.mentioned: dict[int, tuple[ast.stmt, set[str]]] = {}  # by statements, each found once
        self.any = False

    def in_block(self, block: Block) -> None:
        """The same in a block, and then in its statements."""
        at = 0
        while at < len(block):
            joined = self._joined(block, at)
            at += not joined  # what comes next has moved here
            self.any |= joined
        for statement in block:
            for inner in (getattr(statement, "body", []), getattr(statement, "orelse", [])):
                self.in_block(inner)

    def _joined(self, block: Block, at: int) -> bool:
        """Whether the statement there went to a later choice, with which it is one now."""
        first = _choice(block[at])
        if first is None or any(self.times[name] != 2 for name in first.given[0]):
            return False
        targets, its = {*first.given[0]}, self.effects(first.statement)
        its = replace(its, guard=all(map(_runs_again, walk(first.statement))))
        for later in block[at + 1 : at + 1 + REACH]:
            if targets & self._names(later):
                break
            if conflict(its, self.effects(later)):
                return False
        else:
            return False
        both = mentions([first.statement, later])
        if not isinstance(later, ast.If) or any(both[name] != self.mentions[name] for name in targets):
            return False
        match later.test:
            case ast.Compare(ast.Name(flag), [ast.Eq()], [ast.Constant(int() as number)]) if flag == first.flag:
                bodies = _bodies(first, later, number, self.times) if number in first.numbers else None
            case _:
                return False
        if bodies is None:
            return False
        block[block.index(later)] = ast.If(first.statement.test, bodies[0] or [ast.Pass()], bodies[1])
        del block[at]
        return True

    def _names(self, statement: ast.stmt) -> set[str]:
        if id(statement) not in self.mentioned:
            self.mentioned[id(statement)] = statement, names_in(statement)
        return self.mentioned[id(statement)][1]


def _bodies(first: Choice, later: ast.If, number: int, times: Counter[str]) -> tuple[Block, Block] | None:
    """What the branches of the first choice do, and then of the later one."""
    found: list[Block] = []
    for body, given, own in zip(first.bodies, first.given, first.numbers, strict=True):
        more = later.body if own == number else later.orelse
        names = {name: value.id for name, value in given.items() if isinstance(value, ast.Name)}
        if any(times[value] > 1 for value in names.values()):
            return None
        read = names_in(ast.Module(more, []))
        others = [ast.Assign([ast.Name(name, ast.Store())], given[name]) for name in given if name in read and name not in names]
        rename = _Renamed(names)
        found.append([*body, *others, *(rename.visit(deepcopy(s)) for s in more)])
    return found[0], found[1]


class _Renamed(ast.NodeTransformer):
    """Names replaced by others."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def _choice(statement: ast.stmt) -> Choice | None:
    match statement:
        case ast.If(_, [*one, ast.Assign() as a], [*other, ast.Assign() as b]):
            given, others = _given(a), _given(b)
            if given and [*given] == [*others]:
                flag = next(iter(given))
                numbers = (_number(given[flag]), _number(others[flag]))
                if numbers[0] is not None and numbers[1] is not None and numbers[0] != numbers[1]:
                    return Choice(statement, flag, (one, other), (given, others), (numbers[0], numbers[1]))
    return None


def _runs_again(node: ast.AST) -> bool:
    """Whether a node is no return of another status than that after which the machine runs everything."""
    match node:
        case ast.Return(ast.Tuple([*_, ast.Constant(status)])):
            return bool(status == SIZES)
    return not isinstance(node, ast.Return)


def _given(statement: ast.Assign) -> dict[str, ast.expr]:
    """What an assignment gives to names, if it gives something to nothing else."""
    found = [*pairs(statement)]
    given = {to.id: value for to, value in found if isinstance(to, ast.Name)}
    return given if len(given) == len(found) else {}


def _number(value: ast.expr) -> int | None:
    match value:
        case ast.Constant(bool()):
            return None
        case ast.Constant(int(number)):
            return number
        case ast.IfExp(ast.Constant(bool(test)), a, b):
            return _number(a if test else b)
    return None
