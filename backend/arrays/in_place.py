"""
Functional updates made in place: a new array that begins as a copy of one that nothing reads again is that one.

    t = _empty(sizes of s, …)
    for k in range(…): t[k] = s[k]        →       t = s
    t[i] = …                                      t[i] = …

It is so where s is the only name of its memory and not live after the copy (`backend.arrays.ownership`), through whatever branches
and turns it came: then n updates of n elements cost n, not n². What a loop begins with may be an argument, or be needed later. If
that alone is in the way, it is copied before the loop, once. An array that a cell keeps is copied where it gets another name, if
that makes other copies superfluous.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import cast

from backend.arrays.assumed import SHIFTED
from backend.arrays.contraction import indices
from backend.arrays.effects import Roots, arrays_in, roots
from backend.arrays.ownership import NOWHERE, Loop, Ownership
from backend.arrays.paired import Pairs, stored
from backend.arrays.walking import names_in, walk

Block = list[ast.stmt]
WORDS = re.compile(r"\w+")
SHAPE = re.compile(r"(\w+)\.shape\[(\d+)\]")
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
    own, found = _planned(facts, copies)
    changed: dict[int, Block] = {}
    for at, bits in facts.copied.items():
        names = [name for name in facts.number if facts.bit(name) & bits]
        changed[at] = [*(s for name in names for s in _copied_first(name, facts.makers[name])), facts.steps[at].statement]
    for copy in found:
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


def _planned(facts: Ownership, copies: list[Copy]) -> tuple[dict[Loop, int], list[Copy]]:
    """
    What is copied before loops, and what is left out. Views of the memory of stacks are copied where that leaves out more, or as
    much with less copied before loops.
    """
    own = _own(facts, copies)
    found = _moved(facts, copies, own)
    if not (kept := _kept(facts)):
        return own, found
    facts.copied = kept
    others = _own(facts, copies)
    more = _moved(facts, copies, others)
    if (len(more), -_count_of(others)) <= (len(found), -_count_of(own)):
        facts.copied = {}
        return own, found
    spared = {name for name in facts.number for loop, bits in own.items() if loop not in others and facts.bit(name) & bits}
    related = 0
    for name in spared | {copy.old for copy in {*more} - {*found}}:
        related |= facts.related(name)
    facts.copied = {at: bits & related for at, bits in kept.items() if bits & related}
    return others, _moved(facts, copies, others)


def _count_of(own: dict[Loop, int]) -> int:
    return sum(bits.bit_count() for bits in own.values())


def _kept(facts: Ownership) -> dict[int, int]:
    """The statements, by their ids, that give views of the memory of stacks other names, each with these views."""
    views = sum(step.shared & step.assigns for step in facts.steps.values() if _is_kept(step.statement))
    moved = {at: sum({s for _, sources in step.moves for s in sources if s and s & views}) for at, step in facts.steps.items()}
    return {at: bits for at, bits in moved.items() if bits}


def _is_kept(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and {*arrays_in(statement.value)} in ({"reals"}, {"integers"})


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
    calls, pairs = _made_once(function), Pairs(function)
    for block in blocks(function):
        made: dict[str, tuple[int, ast.Assign]] = {}
        same: set[tuple[str, str]] = set()
        for at, statement in enumerate(block):
            same = _shown(statement, same)
            match statement:
                case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty"))):
                    made[name] = at, statement
                case ast.For():
                    pair = copied(statement)
                    if pair and pair[0] in made:
                        (new, old), (where, maker) = pair, made[pair[0]]
                        unread = not any(new in names_in(s) for s in block[where + 1 : at])
                        known = partial(_told, told, same)
                        if (
                            unread
                            and isinstance(maker.value, ast.Call)
                            and _same_sizes(calls, known, pairs, maker.value, old, statement)
                        ):
                            found.append(Copy(block, maker, statement, new, old))
    return found


def _shown(statement: ast.stmt, same: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The sizes that are one after a statement: where they differ, it returns. What it assigns may have any."""
    match statement:
        case ast.If(test, [ast.Return()], []):
            parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]
            pairs = {
                (ast.unparse(p.left), ast.unparse(p.comparators[0])) for p in parts if isinstance(p, ast.Compare) and _differ(p)
            }
            return same | pairs | {(b, a) for a, b in pairs}
        case _ if same:
            written = stored([statement])
            return {pair for pair in same if not written & {*WORDS.findall(" ".join(pair))}}
        case _:
            return same


def _differ(test: ast.Compare) -> bool:
    return len(test.ops) == 1 and isinstance(test.ops[0], ast.NotEq)


def _told(told: Callable[[str, int], str], same: set[tuple[str, str]], name: str, axis: int) -> Collection[str]:
    """The words for the size of an array along an axis; one size more than another is told in brackets, and has none by itself."""
    own, size = f"{name}.shape[{axis}]", told(name, axis)
    plain = size.removeprefix("(").removesuffix(")") if SHIFTED.fullmatch(size) else size
    return {own, plain, *(other for shown, other in same if shown == own)}


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


def _same_sizes(
    calls: dict[str, ast.Call], told: Callable[[str, int], Collection[str]], pairs: Pairs, call: ast.Call, old: str, whole: ast.For
) -> bool:
    """Whether the new array has the sizes of the old one, and the loops go over them."""
    wanted = list(map(ast.unparse, call.args[0].elts if isinstance(call.args[0], ast.Tuple) else []))
    gone, loop = list[str](), cast(ast.stmt, whole)
    while isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call):
        gone.append(ast.unparse(loop.iter.args[-1]))
        loop = loop.body[0]
    if gone != wanted:
        return False
    own = all(n in told(old, k) or _is_paired(pairs, n, old, k, whole) for k, n in enumerate(wanted))
    if (made := calls.get(old)) is None:
        return own
    return ast.dump(made.args[-1]) == ast.dump(call.args[-1]) and (own or ast.dump(made.args[0]) == ast.dump(call.args[0]))


def _is_paired(pairs: Pairs, size: str, old: str, axis: int, at: ast.stmt) -> bool:
    """Whether a size is that of an array which is paired with the old one."""
    found = SHAPE.fullmatch(size)
    return found is not None and found[2] == str(axis) and pairs.hold(found[1], old, at)


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
    """
    Whether nothing mentions the old array after a copy, by whatever name; and nothing what the new name stood for before, once the
    old array is there.
    """
    filled = copy.block.index(copy.loop)
    before = sum(_count(s, copy.old) for s in copy.block[: filled + 1])
    assigns = [isinstance(s, ast.Assign) and copy.old in map(ast.unparse, s.targets) for s in copy.block[:filled]]
    if not any(assigns) or before != seen.mentions[copy.old] or copy.old not in seen.made_once:
        return False
    beside = [n for s in copy.block[assigns.index(True) : copy.block.index(copy.made)] for n in walk(s)]
    if any(isinstance(n, ast.Break | ast.Continue) or (isinstance(n, ast.Name) and n.id == copy.new) for n in beside):
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
