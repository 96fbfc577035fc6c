"""
How many cells a loop has pushed, told where the stack is gone over.

    p, q, k = (s - 1, s, 0)                         …
    while True:                                     …
        b = k < n                                   …
        if b: …s = s + 1…                           …
        else: …                                     …
    i = 2 if p >= q else 0                          i = 2 if n > 0 else 0
    b = i > 0                               →       b = i > 0
    if b:                                           if b:
        if p < q: return …
        c, d = (p - 1, q)                               c, d = (p - 1, p - (n - 1))
        j = 2 if p >= q else 0                          j = 2

A loop of n turns, each of which puts one cell on top, leaves a stack whose top is n - 1 above its base. Both go together from name
to name, and into cells and out of them, so what is known of two names is known of those that have been given both, wherever they
are assigned. Whether n is above 0 is asked once: behind that it is known, so what is there for a loop without turns goes.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from backend.arrays.effects import assigned, unassigned
from backend.arrays.handed import pairs
from backend.arrays.in_place import blocks
from backend.arrays.one_turn import Turn
from backend.arrays.takes import once
from backend.arrays.walking import walk

Block = list[ast.stmt]
Key = tuple[str, ...]  # (name,), or (site, place): an integer in cells of a site
Place = tuple[int, str, int]  # a statement; or a block that writes to one cell or reads from it, the cell, and which it is
Given = dict[Key, dict[Place, ast.expr]]  # for each key, what it is given where


def with_heights(function: ast.FunctionDef, turns: Sequence[Turn], shared: set[str]) -> None:
    """The function that knows how many cells loops have pushed; those of the sites in `shared` are others' too."""
    heights, exits = _pushed(function, turns)
    if not heights:
        return
    known = _handed_on(function, heights, exits, shared)
    for p, q in heights:
        for statement in exits[p, q]:
            _Told({(p, q): heights[p, q]}).visit(statement)
    rule = _Told({(p[0], q[0]): n for (p, q), n in known.items() if len(p) == len(q) == 1})
    rule.visit(function)
    rule.bases(function)
    _Behind(function).block(function.body, {})


def _pushed(function: ast.FunctionDef, turns: Sequence[Turn]) -> tuple[dict[tuple[str, str], str], dict[tuple[str, str], Block]]:
    """For the top and the base of each such loop, how many turns it has had, and the statements that come when it has had them."""
    times, heights, exits = assigned(function), dict[tuple[str, str], str](), dict[tuple[str, str], Block]()
    fixed = unassigned(function)
    for turn in turns:
        if (asked := _asked(turn, times)) is not None and _is_size(asked[1], fixed) and turn.counters().get(asked[0]) == 0:
            for site in turn.pushes:
                if (ends := turn.stack(site, times)) is not None:
                    heights[ends], exits[ends] = ast.unparse(asked[1]), asked[2]
    return heights, exits


def _asked(turn: Turn, times: Counter[str]) -> tuple[str, ast.expr, Block] | None:
    """The number that is asked whether there is another turn, what it is to be less than, and what happens where it is not."""
    match [s for s in turn.loop.body if not isinstance(s, ast.Break)]:
        case [*_, ast.Assign([ast.Name(test)], ast.Compare(ast.Name(k), [ast.Lt()], [most])), ast.If(ast.Name(b), _, rest)]:
            return (k, most, rest) if b == test and times[test] == 1 else None
        case _:
            return None


def _is_size(node: ast.expr, fixed: frozenset[str]) -> bool:
    """Whether this is the size of an argument, or a number that is none less than 0."""
    match node:
        case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant()):
            return name in fixed
        case ast.Constant(int(n)):
            return n >= 0
        case _:
            return False


def _handed_on(
    function: ast.FunctionDef, heights: dict[tuple[str, str], str], exits: dict[tuple[str, str], Block], shared: set[str]
) -> dict[tuple[Key, Key], str]:
    """The pairs of keys that are tops and bases wherever something is assigned to them, and the turns."""
    given = _given(function, shared)
    known: dict[tuple[Key, Key], str] = {}
    outside = {ends: {id(n) for s in exits[ends] for n in walk(s)} for ends in heights}

    def of(p: ast.expr, q: ast.expr) -> str | None:
        match _key(p), _key(q):
            case (str(a),), (str(b),) if (a, b) in heights:
                return heights[a, b] if id(p) in outside[a, b] else None
            case (key, other) if key is not None and other is not None:
                return known.get((key, other))
        return None

    by_place: dict[Place, list[Key]] = {}
    for key, places in given.items():
        for place in places:
            by_place.setdefault(place, []).append(key)
    grows = True
    while grows:
        grows = False
        for keys in by_place.values():
            for p, q in ((p, q) for p in keys for q in keys if p != q and (p, q) not in known):
                if given[p].keys() == given[q].keys():
                    found = {of(given[p][place], given[q][place]) for place in given[p]}
                    if len(found) == 1 and (n := found.pop()) is not None:
                        known[p, q] = n
                        grows = True
    return known


def _given(function: ast.FunctionDef, shared: set[str]) -> Given:
    """What names and cells are given, where that is a name or an integer of a cell each time."""
    found: Given = {}
    for block in blocks(function):
        numbers: Counter[str] = Counter()
        for statement in block:
            for target, value in pairs(statement) if isinstance(statement, ast.Assign) else ():
                key, source, cell = _key(target), _key(value), _cell(target) or _cell(value)
                if key is not None and source is not None and not (len(key) == 2 and key[0] in shared):
                    found.setdefault(key, {})[(id(block), cell, numbers[cell]) if cell else (id(statement), "", 0)] = value
            numbers.update(assigned(statement))
    times: Counter[str | Key] = Counter(assigned(function))
    for node in walk(function):
        if isinstance(node, ast.Assign):
            times.update(key for target, _ in pairs(node) if (key := _key(target)) is not None and len(key) == 2)
    return {key: places for key, places in found.items() if times[key[0] if len(key) == 1 else key] == len(places)}


def _key(node: ast.expr) -> Key | None:
    """A name, or an integer of a cell."""
    match node:
        case ast.Name(name):
            return (name,)
        case ast.Call(ast.Name("int"), [value]):
            return _key(value)
        case ast.Subscript(ast.Name("integers"), ast.Call(ast.Name("_cell"), [site, _, ast.Constant(place)])):
            return ast.unparse(site), str(place)
        case _:
            return None


def _cell(node: ast.expr) -> str:
    """Which cell an integer is in; "" for another expression."""
    match node:
        case ast.Call(ast.Name("int"), [value]):
            return _cell(value)
        case ast.Subscript(_, ast.Call(ast.Name("_cell"), [_, ast.Name(cell), _])):
            return cell
        case _:
            return ""


class _Told(ast.NodeTransformer):
    """What is asked of tops and bases, in terms of the turns."""

    def __init__(self, known: dict[tuple[str, str], str]) -> None:
        self.known = known
        self.tops = {q: p for p, q in known}

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        match node:
            case ast.Compare(ast.Name(p), [ast.GtE()], [ast.Name(q)]) if (p, q) in self.known:
                return _read(f"{self.known[p, q]} > 0")
            case ast.Compare(ast.Name(p), [ast.Lt()], [ast.Name(q)]) if (p, q) in self.known:
                return _read(f"{self.known[p, q]} < 1")
            case _:
                return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        match node:
            case ast.BinOp(ast.Name(p), ast.Sub(), ast.Name(q)) if (p, q) in self.known:
                return _less(self.known[p, q])
            case _:
                self.generic_visit(node)
                return node

    def bases(self, function: ast.FunctionDef) -> None:
        """What a loop is given as a base is so many below the top."""
        for block in blocks(function):
            for before, loop in pairwise(block):
                match before, loop:
                    case ast.Assign([ast.Tuple()], ast.Tuple(values)), ast.While():
                        for at, value in enumerate(values):
                            if isinstance(value, ast.Name) and (p := self.tops.get(value.id)) is not None:
                                values[at] = ast.BinOp(ast.Name(p, ast.Load()), ast.Sub(), _less(self.known[p, value.id]))


def _read(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _less(turns: str) -> ast.expr:
    return ast.Constant(int(turns) - 1) if turns.isdigit() else _read(f"{turns} - 1")


class _Behind:
    """Blocks without what does not happen, where it is known of some sizes whether they are above 0."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.values = once(function)

    def block(self, block: Block, known: dict[str, bool]) -> None:
        """Leaves out the branches of a block that are not taken, and what comes after a jump."""
        left: Block = []
        for statement in block:
            match statement:
                case ast.If(test, body, orelse):
                    asked = self.asked(test)
                    size, positive = asked if isinstance(asked, tuple) else ("", True)
                    sure = known.get(size) if isinstance(asked, tuple) else asked
                    if sure is not None:
                        chosen = body if sure == positive else orelse
                        self.block(chosen, known)
                        left += chosen
                    else:
                        self.block(body, known | ({size: positive} if size else {}))
                        self.block(orelse, known | ({size: not positive} if size else {}))
                        left.append(statement)
                case ast.While(_, body) | ast.For(_, _, body):
                    self.block(body, known)
                    left.append(statement)
                case _:
                    left.append(statement)
            if left and isinstance(left[-1], ast.Return | ast.Break | ast.Continue):
                break
        block[:] = left

    def asked(self, test: ast.expr) -> tuple[str, bool] | bool | None:
        """A size, and whether the test says that it is above 0 or that it is not; or what the test is; None for another one."""
        match test:
            case ast.Name(name) if name in self.values:
                return self.asked(self.values[name])
            case ast.Compare(ast.Name(name), [ast.Gt()], [ast.Constant(0)]):
                match self.values.get(name):
                    case ast.IfExp(inner, ast.Constant(2), ast.Constant(0)):
                        return self.asked(inner)
            case ast.Compare(ast.Constant(int(a)), [ast.Gt()], [ast.Constant(0)]):
                return a > 0
            case ast.Compare(ast.Constant(int(a)), [ast.Lt()], [ast.Constant(1)]):
                return a < 1
            case ast.Compare(ast.Subscript(ast.Attribute(_, "shape")) as size, [ast.Gt()], [ast.Constant(0)]):
                return ast.unparse(size), True
            case ast.Compare(ast.Subscript(ast.Attribute(_, "shape")) as size, [ast.Lt()], [ast.Constant(1)]):
                return ast.unparse(size), False
        return None
