"""
Functional updates made in place: a new array that begins as a copy of one that nothing reads again is that one.

    t = _empty(sizes of s, …)
    for k in range(…): t[k] = s[k]        →       t = s
    t[i] = …                                      t[i] = …

It is so if s is an array of the same block that nothing mentions after the copy. And it is so if s is what a loop carries, every
turn that makes the copy carries it on as s, or ends the function, and nothing reads the old s but its sizes after the copy: then
n updates of n elements cost n, not n². What the loop begins with may be an argument, or be needed later; so that is copied, once.
"""

from __future__ import annotations

import ast
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass

from backend.arrays.contraction import indices
from backend.arrays.effects import roots

Block = list[ast.stmt]
LIMIT = 16  # updates that are looked at in one function


@dataclass
class Copy:
    """A block in which `new` is made at one place, and at another filled with the elements of `old`."""

    block: Block
    made: int
    filled: int
    new: str
    old: str
    call: ast.Call


def updated(function: ast.FunctionDef) -> ast.FunctionDef:
    """The function with as many copies left out as may be."""
    seen: set[str] = set()
    for _ in range(LIMIT):
        if (copy := next((c for c in _copies(function) if c.new not in seen), None)) is None:
            break
        if _is_last_read(function, copy):
            continue  # the copy from which the old array was made, if it was, has the name of this one now
        seen.add(copy.new)
        if _carrying(copy) is not None:
            candidate = deepcopy(function)
            if _is_carried(candidate, next(c for c in _copies(candidate) if c.new == copy.new)):
                function = candidate
    return function


def _copies(function: ast.FunctionDef) -> list[Copy]:
    """The copies of a whole array, in order."""
    found: list[Copy] = []
    calls = _made_once(function)
    for block in blocks(function):
        made: dict[str, tuple[int, ast.Call]] = {}
        for at, statement in enumerate(block):
            match statement:
                case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty")) as call):
                    made[name] = at, call
                case ast.For():
                    copied = _copied(statement)
                    if copied and copied[0] in made and _same_sizes(calls, made[copied[0]][1], copied[1], statement):
                        (new, old), (where, call) = copied, made[copied[0]]
                        if not any(new in names(s) for s in block[where + 1 : at]):
                            found.append(Copy(block, where, at, new, old, call))
    return found


def blocks(function: ast.FunctionDef) -> list[Block]:
    """Every block of statements, outer ones first."""
    found, todo = [], [function.body]
    while todo:
        block = todo.pop(0)
        found.append(block)
        todo += [inner for s in block for inner in (getattr(s, "body", []), getattr(s, "orelse", [])) if inner]
    return found


def names(node: ast.AST) -> set[str]:
    """All that is mentioned."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _copied(loop: ast.stmt) -> tuple[str, str] | None:
    """The arrays t and s, if all that the nest does is t[i, j, …] = s[i, j, …] with the numbers of its turns."""
    turns: list[str] = []
    while isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and len(loop.body) == 1:
        turns.append(loop.target.id)
        loop = loop.body[0]
    match loop:
        case ast.Assign([ast.Subscript(ast.Name(new)) as to], value):
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("float", "int", "bool"):
                value = value.args[0]
            match value:
                case ast.Subscript(ast.Name(old)) if old != new:
                    at, source = (list(map(ast.unparse, indices(access))) for access in (to, value))
                    return (new, old) if at == source == turns else None
    return None


def _same_sizes(calls: dict[str, ast.Call], call: ast.Call, old: str, loop: ast.stmt) -> bool:
    """Whether the new array has the sizes of the old one, and the loops go over them."""
    wanted = list(map(ast.unparse, call.args[0].elts if isinstance(call.args[0], ast.Tuple) else []))
    gone: list[str] = []
    while isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call):
        gone.append(ast.unparse(loop.iter.args[-1]))
        loop = loop.body[0]
    if gone != wanted:
        return False
    own = all(n == f"{old}.shape[{k}]" for k, n in enumerate(wanted))
    if (made := calls.get(old)) is None:
        return own
    return ast.dump(made.args[-1]) == ast.dump(call.args[-1]) and (own or ast.dump(made.args[0]) == ast.dump(call.args[0]))


def _made_once(function: ast.FunctionDef) -> dict[str, ast.Call]:
    """The calls that make arrays, by the names to which nothing else is assigned: one walk for all."""
    times: Counter[str] = Counter()
    made: dict[str, ast.Call] = {}
    for node in ast.walk(function):
        match node:
            case ast.Name(name, ast.Store()):
                times[name] += 1
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty" | "_full")) as call):
                made[name] = call
    return {name: call for name, call in made.items() if times[name] == 1}


def _is_last_read(function: ast.FunctionDef, copy: Copy) -> bool:
    """The first case: the old array is one of the block, and the copy the last that is said of it. Then it takes the new name."""
    before = sum(_count(s, copy.old) for s in copy.block[: copy.filled + 1])
    assigned = any(isinstance(s, ast.Assign) and copy.old in map(ast.unparse, s.targets) for s in copy.block[: copy.filled])
    if not assigned or before != _count(function, copy.old) or copy.old not in _made_once(function):
        return False
    known = roots(function)
    if sum(known.of(n) == known.of(copy.old) for n in names(function)) > 1:
        return False
    del copy.block[copy.filled], copy.block[copy.made]
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == copy.old:
            node.id = copy.new
    return True


def _count(node: ast.AST, name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def _is_carried(function: ast.FunctionDef, copy: Copy) -> bool:
    """The second case: the old array is what a loop carries. Then it is made the loop's own, and takes the place of the new one."""
    rest = copy.block[copy.filled + 1 :]
    at = _carrying(copy)
    if at is None or not all(_goes_on(s, copy) for s in rest[:at]):
        return False
    mentioned = sum(_count(s, copy.new) for s in copy.block)
    if _count(rest[at], copy.old) > 1 or mentioned != _count(function, copy.new) or not _own(function, copy):
        return False
    copy.block[copy.filled] = ast.Assign([ast.Name(copy.new, ast.Store())], ast.Name(copy.old, ast.Load()))
    del copy.block[copy.made]
    known = roots(function)
    return {n for n in names(function) if known.of(n) == known.of(copy.old)} <= {copy.old, copy.new, f"{copy.old}own"}


def _goes_on(statement: ast.stmt, copy: Copy) -> bool:
    """Whether a statement leads to the next, or ends the function without either array; of the old one it reads the sizes alone."""
    nodes = list(ast.walk(statement))
    if any(isinstance(n, ast.Break | ast.Continue) for n in nodes):
        return False
    if any({copy.old, copy.new} & names(n) for n in nodes if isinstance(n, ast.Return)):
        return False
    sizes = sum(isinstance(n, ast.Attribute) and n.attr == "shape" and ast.unparse(n.value) == copy.old for n in nodes)
    return _count(statement, copy.old) == sizes


def _carrying(copy: Copy) -> int | None:
    """Where the new array becomes the old one, counted from the statement after the copy."""
    rest = copy.block[copy.filled + 1 :]
    return next((k for k, s in enumerate(rest) if _assigned(s, copy.old) == copy.new), None)


def _assigned(statement: ast.stmt, name: str) -> str:
    """The name that is assigned to a name."""
    match statement:
        case ast.Assign([ast.Name(to)], ast.Name(value)) if to == name:
            return value
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
            for target, part in zip(targets, values, strict=True):
                if ast.unparse(target) == name and isinstance(part, ast.Name):
                    return part.id
    return ""


def _own(function: ast.FunctionDef, copy: Copy) -> bool:
    """Whether the old array is assigned once before the loop that the copy is in, and else in it; the first is made a copy."""
    for block in blocks(function):
        for at, statement in enumerate(block):
            if isinstance(statement, ast.While) and _holds(statement, copy.block):
                stores = [k for k, s in enumerate(block[:at]) if _assigned(s, copy.old)]
                inside = sum(bool(_assigned(s, copy.old)) for b in blocks_of(statement) for s in b)
                total = sum(
                    isinstance(n, ast.Name) and n.id == copy.old and isinstance(n.ctx, ast.Store) for n in ast.walk(function)
                )
                if len(stores) == 1 and total == 1 + inside:
                    _copied_first(block, stores[0], copy)
                    return True
    return False


def blocks_of(statement: ast.While) -> list[Block]:
    """The blocks in a loop."""
    return blocks(ast.FunctionDef("", ast.arguments([], [], None, [], [], None, []), statement.body, []))


def _holds(loop: ast.While, block: Block) -> bool:
    return any(inner is block for inner in blocks_of(loop))


def _copied_first(block: Block, at: int, copy: Copy) -> None:
    """What the loop begins with, copied before it."""
    first, own = _assigned(block[at], copy.old), f"{copy.old}own"
    sizes = [ast.parse(f"{first}.shape[{k}]", mode="eval").body for k in range(len(copy.call.args[0].elts))]  # type: ignore[attr-defined]
    turns = [f"{own}k{k}" for k in range(len(sizes))]
    place = ", ".join(turns)
    body: ast.stmt = ast.parse(f"{own}[{place}] = {first}[{place}]").body[0]
    for turn, size in reversed([*zip(turns, sizes, strict=True)]):
        body = ast.For(ast.Name(turn, ast.Store()), ast.Call(ast.Name("range", ast.Load()), [size], []), [body], [])
    made = ast.Call(ast.Name("_empty", ast.Load()), [ast.Tuple(sizes, ast.Load()), copy.call.args[-1]], [])

    class Renamed(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Name:
            return ast.Name(own, node.ctx) if node.id == first and isinstance(node.ctx, ast.Load) else node

    match block[at]:
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) as statement:
            for k, target in enumerate(targets):
                if ast.unparse(target) == copy.old:
                    values[k] = ast.Name(own, ast.Load())
        case statement:
            Renamed().visit(statement)
    block[at:at] = [ast.Assign([ast.Name(own, ast.Store())], made), body]
