"""
Masks of sensitivities that are True everywhere, known to be so: what asks them is told, and nothing is ZERO any more.

    m, s = (w, _full((n,), False, _bool))            m, s = …
    while True:                                      while True:
        if c < b: return …                               if c < b: return …
        i = c - b + 1                                    i = c - b + 1
        if m[i]: x = a[i] * 2.0                  →       x = a[i] * 2.0
        m[i] = False                                     m[i] = False
        s[i] = True                                      s[i] = True
        c = c - 1                                        c = c - 1
    for k in range(n): v[k] = m[k] or s[k]           for k in range(n): v[k] = True

An adjoint takes what is sensitive to an element, sets that to ZERO, and adds to others. Its loop takes each element once, as the
index counts its turns; so if m is whole before the loop, what it takes is there. Where in the same turn it adds to this element of
s, s has what m lost: whenever a turn ends, m or s is whole.

All this is assumed first, of all such masks; under that, branches are left out; then it is verified of what is left, or assumed of
fewer. A name means what it meant before arrays were updated in place, which `backend.arrays.in_place` changes nowhere it is read.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from dataclasses import dataclass, replace

from backend.arrays.constants import constants
from backend.arrays.effects import NEW, arrays_in, assigned
from backend.arrays.fills import Fills, Going, goings
from backend.arrays.fills_of_nests import filled_by_nests
from backend.arrays.handed import pairs
from backend.arrays.in_place import blocks
from backend.arrays.restored import restored
from backend.arrays.takes import Linear, Turn
from backend.arrays.takes_of_nests import taken_by_nests
from backend.arrays.walking import walk

TRIES = 4  # how often fewer masks are assumed to be whole
DEEPEST = 4  # loops in loops that are gone over again


@dataclass(frozen=True)
class Taking:
    """
    A loop takes each element of a mask once, and reads it before.

    given     what the mask is before the loop
    inside    all that a turn consists of: there the mask is not what it is between turns
    """

    mask: str
    given: ast.expr
    reads: tuple[ast.Subscript, ...]
    inside: frozenset[int]


def whole(function: ast.FunctionDef) -> ast.FunctionDef | None:
    """
    The function without the tests of masks that are whole; None if it finds none. What a loop in a loop takes may be seen where the
    test of what that begins with is gone.
    """
    found = None
    for _ in range(DEEPEST):
        if (more := _once_more(found or function)) is None:
            break
        found = more
    return found


def _once_more(function: ast.FunctionDef) -> ast.FunctionDef | None:
    refused: set[str] = set()
    for _ in range(TRIES):
        tried = deepcopy(function)
        loops, fills = [*goings(tried)], Fills(tried)
        taken = [one for one in _taken(tried, loops, fills)[0] if one.mask not in refused and one.reads]
        if not taken and not fills.exits(loops) and not filled_by_nests(tried, fills):
            return None
        _tell(tried, {id(node) for one in taken for node in one.reads})
        restored(tried)
        facts = _Facts(tried, {one.mask for one in taken})
        wrong = {one.mask for one in taken} - facts.begin_whole
        if not wrong:
            known = facts.known()
            _tell(tried, known)
            return tried if taken or known else None
        refused |= wrong
    return None


def _tell(function: ast.FunctionDef, nodes: set[int]) -> None:
    """The function in which these elements are True, and without what that leaves out."""
    function.body = [_Told(nodes).visit(s) for s in function.body]
    constants(function)


class _Told(ast.NodeTransformer):
    """Some elements written as True."""

    def __init__(self, nodes: set[int]) -> None:
        self.nodes = nodes

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        return ast.Constant(True) if id(node) in self.nodes else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        sure = any(isinstance(v, ast.Constant) and v.value is True for v in node.values)
        return ast.Constant(True) if sure and isinstance(node.op, ast.Or) else node


def _taken(function: ast.FunctionDef, loops: list[Going], fills: Fills) -> tuple[list[Taking], set[tuple[str, str]]]:
    """What loops take, and the pairs of masks of which one has what the other lost."""
    found, either = [Taking(*one, frozenset()) for one in taken_by_nests(function, fills)], set[tuple[str, str]]()
    for loop in loops:
        inside = frozenset(id(n) for s in loop.body for n in walk(s))
        for mask in loop.turn.carried.keys() & loop.given.keys():
            if (taking := _taking(mask, loop.given[mask], loop.turn, inside)) is None:
                continue
            one, at = taking
            if (before := fills.before(loop, mask, at)) is not None:
                found.append(replace(one, given=before[0], reads=(*one.reads, *before[1])))
            else:
                found.append(one)
                either |= {(mask, other) for other in loop.turn.carried if _gets(other, at, loop.turn)}
    return found, either


def _taking(mask: str, given: ast.expr, turn: Turn, inside: frozenset[int]) -> tuple[Taking, Linear] | None:
    """
    What a turn takes of a mask, and at which index, if it makes one element False, another in every turn. Before it does, this is
    True, and so is one that is taken in a later turn or in none; more may be made True.
    """
    events = turn.events[mask]
    kinds, places = [e.kind for e in events], {e.at for e in events if e.kind == "False"}
    if len(places) != 1 or not set(kinds) <= {"read", "True", "False"}:
        return None
    (at,) = places
    early = {id(e) for e in events[: kinds.index("False")] if e.at == at}
    there = (e for e in events if e.kind == "read" and (id(e) in early or turn.comes_later(e.at, at)))
    reads = tuple(e.node for e in there if e.node is not None)
    return (Taking(mask, given, reads, inside), at) if turn.is_own(at) else None


def _gets(mask: str, at: Linear, turn: Turn) -> bool:
    """Whether every turn makes an element of a mask True, and no turn makes one False."""
    events = turn.events[mask]
    return {e.kind for e in events} <= {"True", "read"} and any(e.kind == "True" and e.always and e.at == at for e in events)


class _Facts:
    """
    Which masks are whole, where what was assumed has been left out: what names are, by everything that is assigned to them, a loop
    being assumed to keep what it is given.
    """

    def __init__(self, function: ast.FunctionDef, assumed: set[str]) -> None:
        self.function = function
        loops, fills = [*goings(function)], Fills(function)
        taken, self.either = _taken(function, loops, fills)
        self.exits = fills.exits(loops) | filled_by_nests(function, fills)
        self.taken = {one.mask: one for one in taken}
        self.given: dict[str, list[ast.expr]] = {}
        self.stored: dict[str, list[ast.expr]] = {}
        for node in walk(function):
            match node:
                case ast.Assign():
                    for target, value in pairs(node):
                        match target:
                            case ast.Name(name):
                                self.given.setdefault(name, []).append(value)
                            case ast.Subscript(ast.Name(name)):
                                self.stored.setdefault(name, []).append(value)
                case ast.Call(ast.Name(called), arguments) if called not in NEW:
                    for a in arguments:  # it may write to them
                        self.stored.update((name, [a]) for name in arrays_in(a))
        self.filled = _filled(function)
        self.wholes: set[str] = set()
        self.begin_whole = {one.mask for one in taken if self._is_whole(one.given)}
        self.begin_whole |= {mask for mask in assumed - self.taken.keys() if self._is_whole(ast.Name(mask, ast.Load()))}

    def _is_whole(self, value: ast.expr) -> bool:
        """Whether all elements of what is assigned are True, if those of names are that are being asked about."""
        asked: set[str] = set()
        todo = [value]
        while todo:
            match todo.pop():
                case ast.Call(ast.Name("_full"), [ast.Tuple(), ast.Constant(True), ast.Name("_bool")]):
                    pass
                case ast.Call(ast.Name("_empty"), [ast.Tuple([ast.Constant(0)]), ast.Name("_bool")]):
                    pass  # it has no element
                case ast.Name() as node if id(node) in self.exits:
                    pass
                case ast.Name(name) if name in self.given:
                    demands = [self._if_true(v) for v in self.stored.get(name, [])]
                    if None in demands:
                        return False
                    if name not in asked:
                        todo += self.given[name] if name not in self.filled else []
                        todo += [d for some in demands for d in some or ()]
                    asked.add(name)
                case _:
                    return False
        self.wholes |= asked
        return True

    def _if_true(self, value: ast.expr) -> list[ast.expr] | None:
        """
        The masks that must be whole for a number to be True, None if that does not do: it is True as such, or an element of a mask
        from which a loop takes, or of one that has what that lost.
        """
        match value:
            case ast.Constant(True):
                return []
            case ast.Name(name) if len(self.given.get(name, ())) == 1:
                return self._if_true(self.given[name][0])
            case ast.BoolOp(ast.Or(), [ast.Subscript(ast.Name(a), i), ast.Subscript(ast.Name(b), j)]) if ast.dump(i) == ast.dump(j):
                for one, other in ((a, b), (b, a)):
                    if (one, other) in self.either and id(value) not in self.taken[one].inside:
                        return [self.taken[one].given]
        return None

    def known(self) -> set[int]:
        """The elements that are read of masks that are whole, or of either of two."""
        found: set[int] = set()
        not_whole: set[str] = set()
        for node in walk(self.function):
            match node:
                case ast.BoolOp(ast.Or(), values) if (demands := self._if_true(node)) is not None and all(
                    map(self._is_whole, demands)
                ):
                    found |= {id(v) for v in values}
                case ast.Subscript(ast.Name() as mask, _, ast.Load()) if id(mask) in self.exits:
                    found.add(id(node))
                case ast.Subscript(ast.Name(name) as mask, _, ast.Load()) if name not in not_whole:
                    if name in self.wholes or self._is_whole(mask):
                        found.add(id(node))
                    else:
                        not_whole.add(name)
        return found


def _filled(function: ast.FunctionDef) -> set[str]:
    """The masks that are made in one place, and filled by a loop in the same block."""
    found: set[str] = set()
    times = assigned(function)
    for block in blocks(function):
        sizes: dict[str, str] = {}
        for statement in block:
            match statement:
                case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty"), [ast.Tuple([size]), ast.Name("_bool")])):
                    sizes[name] = ast.unparse(size)
                case ast.For(ast.Name(turn), ast.Call(ast.Name("range"), [stop]), body):
                    for inner in body:
                        match inner:
                            case ast.Assign([ast.Subscript(ast.Name(name), ast.Name(at))]) if at == turn and times[name] == 1:
                                found |= {name} if sizes.get(name) == ast.unparse(stop) else set()
    return found
