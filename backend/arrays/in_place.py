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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import cast

from backend.arrays.assumed import SHIFTED
from backend.arrays.contraction import indices
from backend.arrays.effects import arrays_in
from backend.arrays.mentioned import Copy, Seen
from backend.arrays.ownership import NOWHERE, Loop, Ownership
from backend.arrays.paired import Pairs, stored
from backend.arrays.walking import names_in

Block = list[ast.stmt]
WORDS = re.compile(r"\w+")
SHAPE = re.compile(r"(\w+)\.shape\[(\d+)\]")
RENAMED = 16  # copies that are looked at for whether one name will do
TRIED = 40  # names of which it is asked whether they must be copied before a loop


def updated(function: ast.FunctionDef, told: Callable[[str, int], str] = lambda name, axis: "") -> ast.FunctionDef:
    """The function with as many copies left out as may be; `told` says the size of an array along an axis, "" if it knows none."""
    _renamed(function, told)
    if not (copies := [*_copies(function, told, Seen(function).made_once)]):
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


def _copies(function: ast.FunctionDef, told: Callable[[str, int], str], calls: Mapping[str, ast.Call]) -> Iterator[Copy]:
    """The copies of a whole array, in order; `calls` make arrays, by the names to which nothing else is assigned."""
    pairs = Pairs(function)
    for block in blocks(function):
        made: dict[str, tuple[int, ast.Assign]] = {}
        same = _Same()
        for at, statement in enumerate(block):
            same.after(statement)
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
                            yield Copy(block, maker, statement, new, old)


class _Same:
    """The sizes that are one after the statements gone through: `others` has, for each, those that it is."""

    def __init__(self) -> None:
        self.others: dict[str, set[str]] = {}
        self.mentioning: dict[str, set[tuple[str, str]]] = {}

    def after(self, statement: ast.stmt) -> None:
        """Where sizes differ, a test returns. What a statement assigns may have any."""
        match statement:
            case ast.If(test, [ast.Return()], []):
                parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]
                for part in parts:
                    if isinstance(part, ast.Compare) and _differ(part):
                        self.are_one(ast.unparse(part.left), ast.unparse(part.comparators[0]))
            case _ if self.others:
                for name in stored([statement]):
                    for one, other in self.mentioning.pop(name, ()):
                        self.others.get(one, set()).discard(other)

    def are_one(self, one: str, other: str) -> None:
        for pair in ((one, other), (other, one)):
            self.others.setdefault(pair[0], set()).add(pair[1])
            for word in WORDS.findall(" ".join(pair)):
                self.mentioning.setdefault(word, set()).add(pair)


def _differ(test: ast.Compare) -> bool:
    return len(test.ops) == 1 and isinstance(test.ops[0], ast.NotEq)


def _told(told: Callable[[str, int], str], same: _Same, name: str, axis: int) -> Collection[str]:
    """The words for the size of an array along an axis; one size more than another is told in brackets, and has none by itself."""
    own, size = f"{name}.shape[{axis}]", told(name, axis)
    plain = size.removeprefix("(").removesuffix(")") if SHIFTED.fullmatch(size) else size
    return {own, plain, *same.others.get(own, ())}


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
    calls: Mapping[str, ast.Call],
    told: Callable[[str, int], Collection[str]],
    pairs: Pairs,
    call: ast.Call,
    old: str,
    whole: ast.For,
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


def _renamed(function: ast.FunctionDef, told: Callable[[str, int], str]) -> None:
    """Copies of an array of the same block that nothing mentions after it: the old array then has the new one's name."""
    kept: set[str] = set()
    seen = Seen(function)
    copies: Iterator[Copy] | None = None
    for _ in range(RENAMED):
        copies = copies or _copies(function, told, seen.made_once)
        if (copy := next((c for c in copies if c.new not in kept), None)) is None:
            break
        if seen.is_last_read(copy):
            seen.give_the_name(copy)
            copies = None
        else:
            kept.add(copy.new)


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
