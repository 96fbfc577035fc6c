"""
Functional updates made in place: a new array that begins as a copy of one that nothing reads again is that one.

    t = _empty(sizes of s, …)
    for k in range(…): t[k] = s[k]        →       t = s
    t[i] = …                                      t[i] = …

It is so where s is the only name of its memory and not live after the copy (`backend.arrays.ownership`), through whatever branches
and turns it came: then n updates of n elements cost n, not n². What a loop begins with may be an argument, or be needed later. If
that alone is in the way, it is copied before the loop, once.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from backend.arrays.contraction import indices
from backend.arrays.effects import Roots, roots
from backend.arrays.ownership import NOWHERE, Loop, Ownership
from backend.arrays.walking import names_in, walk

Block = list[ast.stmt]
RENAMED = 16  # copies that are looked at for whether one name will do
TRIED = 40  # names of which it is asked whether they must be copied before a loop


@dataclass(eq=False)
class Copy:
    """In a block, `new` is made, and then filled with the elements of `old` by a loop."""

    block: Block
    made: ast.Assign
    loop: ast.For
    new: str
    old: str


def updated(function: ast.FunctionDef, told: Callable[[str, int], str] = lambda name, axis: "") -> ast.FunctionDef:
    """The function with as many copies left out as may be; `told` says the size of an array along an axis, "" if it knows none."""
    _renamed(function, told)
    if not (copies := _copies(function, told)):
        return function
    facts = Ownership(function, {id(c.loop): (c.new, c.old) for c in copies})
    own = _own(facts, copies)
    changed: dict[int, Block] = {}
    for copy in _moved(facts, copies, own):
        changed[id(copy.made)] = []
        changed[id(copy.loop)] = [ast.Assign([ast.Name(copy.new, ast.Store())], ast.Name(copy.old, ast.Load()))]
    for loop, bits in own.items():
        names = [name for name in facts.number if facts.bit(name) & bits]
        changed[id(loop.statement)] = [s for name in names for s in _copied_first(name, facts.makers[name])] + [loop.statement]
    for block in blocks(function):
        block[:] = [new for s in block for new in changed.get(id(s), [s])]
    return function


def _moved(facts: Ownership, copies: list[Copy], own: dict[Loop, int]) -> list[Copy]:
    """The copies that may be left out, if `own` are made sole before the loops."""
    facts.sole(own)
    return [c for c in copies if facts.bit(c.old) & facts.steps[id(c.loop)].before & ~facts.steps[id(c.loop)].after]


def _own(facts: Ownership, copies: list[Copy]) -> dict[Loop, int]:
    """The least that is copied before loops so that all copies may be left out which that makes superfluous in them."""
    at_once = set(_moved(facts, copies, {}))
    own = {loop: loop.live & loop.assigned & ~loop.entered for loop in facts.loops if loop.entered != NOWHERE}
    found: list[Copy] = []
    while any(own.values()):
        found = _moved(facts, copies, own)
        kept = {loop: bits & loop.repeated for loop, bits in own.items()}
        if kept == own:
            break
        own = kept
    gained = [c for c in found if c not in at_once]
    related = 0
    for copy in gained:
        related |= facts.related(copy.old)
    own = {loop: bits & related for loop, bits in own.items() if bits & related}
    tried = 0
    for loop, bits in [*own.items()]:
        for bit in (1 << k for k in facts.number.values() if bits >> k & 1):
            tried += 1
            less = {**own, loop: own[loop] & ~bit}
            if tried <= TRIED and {*gained} <= {*_moved(facts, copies, less)}:
                own = less
    return {loop: bits for loop, bits in own.items() if bits}


def _copies(function: ast.FunctionDef, told: Callable[[str, int], str]) -> list[Copy]:
    """The copies of a whole array, in order."""
    found: list[Copy] = []
    calls = _made_once(function)
    for block in blocks(function):
        made: dict[str, tuple[int, ast.Assign]] = {}
        for at, statement in enumerate(block):
            match statement:
                case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty"))):
                    made[name] = at, statement
                case ast.For():
                    pair = copied(statement)
                    if pair and pair[0] in made:
                        (new, old), (where, maker) = pair, made[pair[0]]
                        unread = not any(new in names_in(s) for s in block[where + 1 : at])
                        if unread and isinstance(maker.value, ast.Call) and _same_sizes(calls, told, maker.value, old, statement):
                            found.append(Copy(block, maker, statement, new, old))
    return found


def blocks(function: ast.FunctionDef) -> list[Block]:
    """Every block of statements, outer ones first."""
    found, todo = [], [function.body]
    while todo:
        block = todo.pop(0)
        found.append(block)
        todo += [inner for s in block for inner in (getattr(s, "body", []), getattr(s, "orelse", [])) if inner]
    return found


def copied(loop: ast.stmt) -> tuple[str, str] | None:
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


def _same_sizes(calls: dict[str, ast.Call], told: Callable[[str, int], str], call: ast.Call, old: str, loop: ast.stmt) -> bool:
    """Whether the new array has the sizes of the old one, and the loops go over them."""
    wanted = list(map(ast.unparse, call.args[0].elts if isinstance(call.args[0], ast.Tuple) else []))
    gone: list[str] = []
    while isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call):
        gone.append(ast.unparse(loop.iter.args[-1]))
        loop = loop.body[0]
    if gone != wanted:
        return False
    own = all(n in (f"{old}.shape[{k}]", told(old, k)) for k, n in enumerate(wanted))
    if (made := calls.get(old)) is None:
        return own
    return ast.dump(made.args[-1]) == ast.dump(call.args[-1]) and (own or ast.dump(made.args[0]) == ast.dump(call.args[0]))


def _made_once(function: ast.FunctionDef) -> dict[str, ast.Call]:
    """The calls that make arrays, by the names to which nothing else is assigned: one walk for all."""
    times: Counter[str] = Counter()
    made: dict[str, ast.Call] = {}
    for node in walk(function):
        match node:
            case ast.Name(name, ast.Store()):
                times[name] += 1
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty" | "_full")) as call):
                made[name] = call
    return {name: call for name, call in made.items() if times[name] == 1}


def _renamed(function: ast.FunctionDef, told: Callable[[str, int], str]) -> None:
    """Copies of an array of the same block that nothing mentions after it: the old array then has the new one's name."""
    kept: set[str] = set()
    seen: _Seen | None = None
    for _ in range(RENAMED):
        seen = seen or _Seen.of(function, told)
        if (copy := next((c for c in seen.copies if c.new not in kept), None)) is None:
            break
        if _is_last_read(copy, seen):
            _given_the_name(function, copy)
            seen = None
        else:
            kept.add(copy.new)


@dataclass(frozen=True)
class _Seen:
    """What is to be seen of a function: its copies, how often names are mentioned, and which stand for the same memory."""

    copies: list[Copy]
    mentions: Counter[str]
    made_once: dict[str, ast.Call]
    roots: Roots

    @classmethod
    def of(cls, function: ast.FunctionDef, told: Callable[[str, int], str]) -> _Seen:
        mentions = Counter(n.id for n in walk(function) if isinstance(n, ast.Name))
        return cls(_copies(function, told), mentions, _made_once(function), roots(function))


def _is_last_read(copy: Copy, seen: _Seen) -> bool:
    """Whether nothing mentions the old array after a copy, by whatever name."""
    filled = copy.block.index(copy.loop)
    before = sum(_count(s, copy.old) for s in copy.block[: filled + 1])
    assigned = any(isinstance(s, ast.Assign) and copy.old in map(ast.unparse, s.targets) for s in copy.block[:filled])
    if not assigned or before != seen.mentions[copy.old] or copy.old not in seen.made_once:
        return False
    return sum(seen.roots.of(n) == seen.roots.of(copy.old) for n in seen.mentions) <= 1


def _given_the_name(function: ast.FunctionDef, copy: Copy) -> None:
    """The copy left out, the old array with the name of the new one."""
    copy.block.remove(copy.loop)
    copy.block.remove(copy.made)
    for node in walk(function):
        if isinstance(node, ast.Name) and node.id == copy.old:
            node.id = copy.new


def _count(node: ast.AST, name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name for n in walk(node))


def _copied_first(name: str, call: ast.Call) -> Block:
    """The array that a name stands for, copied; `call` makes one of its kind."""
    own, sizes = f"{name}own", [f"{name}.shape[{k}]" for k in range(len(_elements(call.args[0])))]  # type: ignore[arg-type]
    turns = [f"{own}k{k}" for k in range(len(sizes))]
    lines = [f"{own} = _empty(({', '.join(sizes)},), {ast.unparse(call.args[-1])})"]
    lines += [f"{' ' * k}for {turn} in range({size}):" for k, (turn, size) in enumerate(zip(turns, sizes, strict=True))]
    lines += [f"{' ' * len(sizes)}{own}[{', '.join(turns)}] = {name}[{', '.join(turns)}]", f"{name} = {own}"]
    return ast.parse("\n".join(lines)).body


def _elements(shape: ast.expr) -> Iterable[ast.expr]:
    return shape.elts if isinstance(shape, ast.Tuple) else (shape,)
