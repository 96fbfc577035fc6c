"""
Statements whose values nothing needs, left out.

Needed is what is returned, jumps or counts turns, and what is needed to compute a name or the elements of an array that is needed,
with the tests and the loops around it; in fast code the test of a total is needed where the total is. What a function that the
kernel calls keeps in the memory of stacks may be read elsewhere. So a value from which only
its own next value is computed goes, too. An array of which the sizes alone are needed is made, and not filled: the sensitivity of
an argument that nobody asked for costs no pass over it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from backend.arrays.effects import Effects, Reader
from backend.arrays.walking import walk
from backend.fast.sums import tested

Block = list[ast.stmt]
Fact = tuple[str, str]  # ("name", a name), or ("elements", the root of an array)
Totals = Mapping[str, str]  # what `tested` says


@dataclass(frozen=True)
class Part:
    """
    What is kept or left out as a whole: a statement, one of assignments made in parallel, or what a statement tests or counts to.

    made    the facts that it gives; none if it is needed for another reason
    used    the facts that it needs
    around  what must be kept with it: what the statements around it test and count to
    """

    made: frozenset[Fact]
    used: frozenset[Fact]
    around: tuple[Part, ...] = ()


def needed(function: ast.FunctionDef, effects: Reader) -> None:
    """The function without what is not needed."""
    totals = tested(function)
    parts = [*_parts(function.body, (), effects, totals)]
    makers: dict[Fact, list[Part]] = {}
    for part in parts:
        for fact in part.made:
            makers.setdefault(fact, []).append(part)
    facts: set[Fact] = set()
    todo = [part for part in parts if not part.made]
    if function.name != "kernel":
        facts |= {("elements", effects.roots.of(memory)) for memory in ("reals", "integers")}
        todo += [part for fact in facts for part in makers.get(fact, ())]
    while todo:
        part = todo.pop()
        for fact in frozenset[Fact]().union(part.used, *(p.used for p in part.around)) - facts:
            facts.add(fact)
            todo += makers.get(fact, ())
    function.body = _kept(function.body, facts, effects, totals)


def _parts(block: Block, around: tuple[Part, ...], effects: Reader, totals: Totals) -> Iterator[Part]:
    """The parts of all statements that have no others inside, but for tests of totals, each of which is one."""
    for statement in block:
        match statement:
            case ast.For(_, test, body):
                yield from _parts(body, (*around, _part(test, effects.expression(test), effects)), effects, totals)
            case ast.If() if effects(statement).late:
                yield replace(_part(statement, effects(statement), effects, around), made=_of_totals(statement, totals))
            case ast.If(test, body, orelse):
                inside = (*around, _part(test, effects.expression(test), effects))
                yield from _parts(body, inside, effects, totals)
                yield from _parts(orelse, inside, effects, totals)
            case ast.While(test, body, orelse):
                inside = (*around, _part(test, effects.expression(test), effects))
                yield from inside[-1:]
                yield from _parts([*body, *orelse], inside, effects, totals)
            case ast.Pass():
                pass
            case _:
                for single in _singles(statement) or [statement]:
                    yield _part(single, effects(single), effects, around)


def _part(node: ast.stmt | ast.expr, its: Effects, effects: Reader, around: tuple[Part, ...] = ()) -> Part:
    of = effects.roots.of
    written = {of(name) for name in its.writes} if _is_view(node) else set()
    used = {("name", name) for name in its.reads} | {("elements", root) for root, _ in its.loads if root not in written}
    return Part(_made(node, its), frozenset(used), around)


def _made(node: ast.stmt | ast.expr, its: Effects) -> frozenset[Fact]:
    if not isinstance(node, ast.Assign | ast.AugAssign | ast.Expr):
        return frozenset()
    return frozenset([*(("name", name) for name in its.writes), *(("elements", root) for root, _ in its.stores)])


def _of_totals(guard: ast.If, totals: Totals) -> frozenset[Fact]:
    """The totals that a test tells of: it is needed as they are."""
    return frozenset(("name", totals.get(n.id, n.id)) for n in walk(guard.test) if isinstance(n, ast.Name))


def _is_view(node: ast.AST) -> bool:
    """Whether a statement gives an array a name more, and reads no element."""
    match node:
        case ast.Assign([ast.Name()], ast.Name() | ast.Attribute(ast.Name(), "T")):
            return True
        case ast.Assign([ast.Name()], ast.Call(ast.Name("_reshape"), [ast.Name(), *_])):
            return True
        case _:
            return False


def _singles(statement: ast.stmt) -> list[ast.stmt]:
    """Assignments to names that are made in parallel, each for itself."""
    match statement:
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
            if all(isinstance(target, ast.Name) for target in targets):
                return [ast.Assign([target], value) for target, value in zip(targets, values, strict=True)]
    return []


def _kept(block: Block, facts: set[Fact], effects: Reader, totals: Totals) -> Block:
    """What is left of a block."""
    kept: Block = []
    for statement in block:
        match statement:
            case ast.For(_, _, body):
                statement.body = _kept(body, facts, effects, totals)
                kept += [statement] if statement.body else []
            case ast.If() if effects(statement).late:
                kept += [statement] if _of_totals(statement, totals) & facts else []
            case ast.If(_, body, orelse):
                statement.body, statement.orelse = _kept(body, facts, effects, totals), _kept(orelse, facts, effects, totals)
                kept += [statement] if statement.body or statement.orelse else []
                statement.body = statement.body or [ast.Pass()]
            case ast.While(_, body, orelse):
                statement.body = _kept(body, facts, effects, totals) or [ast.Pass()]
                statement.orelse = _kept(orelse, facts, effects, totals)
                kept.append(statement)
            case ast.Pass():
                pass
            case _:
                kept += _left(statement, facts, effects)
    return kept


def _left(statement: ast.stmt, facts: set[Fact], effects: Reader) -> Block:
    """What is left of a statement that has no others inside: of assignments in parallel, those that are needed."""
    if singles := _singles(statement):
        left = [s for s in singles if _made(s, effects(s)) & facts]
        if len(left) in (0, len(singles)):
            return [statement] if left else []
        pairs = [(s.targets[0], s.value) for s in left if isinstance(s, ast.Assign)]
        targets, values = map(list, zip(*pairs, strict=True))
        return left if len(left) == 1 else [ast.Assign([ast.Tuple(targets, ast.Store())], ast.Tuple(values, ast.Load()))]
    if (made := _made(statement, effects(statement))) and not made & facts:
        return []
    match statement:
        case ast.Assign([ast.Name(name) as target], ast.Call(ast.Name("_full"), [sizes, _, dtype])):
            if ("elements", effects.roots.of(name)) not in facts:
                return [ast.Assign([target], ast.Call(ast.Name("_empty", ast.Load()), [sizes, dtype], []))]
    return [statement]
