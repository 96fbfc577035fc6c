"""
What a turn adds to some places of an array, and that array to another, added at those places alone.

                                                          s = _full((n,), -0.0, _f64)
    while True:                                           while True:
        s = _full((n,), -0.0, _f64)
        for k in range(m): s[i[k]] = s[i[k]] + d[k]           for k in range(m): s[i[k]] = s[i[k]] + d[k]
        for j in range(n): t[j] = t[j] + s[j]         →       if m < n:
                                                                  for k in range(m):
                                                                      t[i[k]] = t[i[k]] + s[i[k]]
                                                                      s[i[k]] = -0.0
                                                              else: …

So is the adjoint of elements that are gathered: n turns that gather m elements each then cost m n, where they cost n². Elements
of s are sums of their own, as two of the indices may be the same; their order stays. What has been added is -0.0 again, so adding
it once more changes nothing, and s is as new for the next turn. Where m is not less than n, all of it is added, and s filled again.
So are masks, beside their numbers. It is so where all of s is added and nothing else mentions it, and where what leads to the
indices stays as it is until the sum.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from dataclasses import dataclass
from typing import cast

from backend.arrays.assumed import settled
from backend.arrays.beforehand import loops
from backend.arrays.contraction import indices
from backend.arrays.effects import Reader, assigned, roots
from backend.arrays.fusion import Renamed
from backend.arrays.hoisting import filled, is_size, untested
from backend.arrays.in_place import Block, blocks
from backend.arrays.paired import stored
from backend.arrays.walking import mentions, names_in, walk

ZEROS = ("-0.0", "False")
"""What an array begins as: adding one of them changes no number and no mask."""
READ = frozenset({"float", "int", "bool"})
"""What an element that is read, or an index, may be given to."""


@dataclass(frozen=True)
class Array:
    """The statement that makes an array of ZEROs, or a mask that is nowhere True."""

    statement: ast.Assign
    name: str
    sizes: list[ast.expr]
    zero: ast.expr


@dataclass(frozen=True)
class Places:
    """A nest that computes an index, and the statement in it that stands for what is to be done there."""

    nest: ast.For
    mark: ast.Expr


def touched(function: ast.FunctionDef) -> None:
    """The function in which turns add what they gathered where it came from."""
    _Touched(function).in_block(function.body)


class _Touched:
    def __init__(self, function: ast.FunctionDef) -> None:
        self.times = assigned(function)
        self.fixed = settled(function)
        self.mentions = mentions([function])
        self.effects = Reader(roots(function))

    def in_block(self, block: Block) -> None:
        """The same for loops that stand in no other; what is made before one comes before what that is given."""
        for statement in [*block]:
            if isinstance(statement, ast.While):
                made = [s for turn in blocks(statement) for s in self._in_turn(turn)]  # type: ignore[arg-type]
                at = block.index(statement)
                at -= at > 0 and isinstance(block[at - 1], ast.Assign)
                block[at:at] = made
            elif isinstance(statement, ast.If):
                self.in_block(statement.body)
                self.in_block(statement.orelse)

    def _in_turn(self, block: Block) -> Block:
        """What a block of a turn makes that is made before the loop."""
        made: Block = []
        fresh = {a.name: a for s in block if (a := _begun(s)) is not None and self._may_be_before(a)}
        for nest in [s for s in block if fresh and isinstance(s, ast.For)]:
            terms = _terms(nest)
            if not terms or not terms <= fresh.keys():
                continue
            arrays = [array for name, array in fresh.items() if name in terms]
            if any([*map(ast.dump, a.sizes)] != [ast.dump(_end(loop)) for loop in loops(nest)] for a in arrays):
                continue
            if (places := self._places(block, arrays, nest)) is not None:
                block[block.index(nest)] = _choice(nest, places, arrays)
                for array in arrays:
                    block.remove(array.statement)
                    array.sizes[:] = map(untested, array.sizes)
                    made.append(array.statement)
        return made

    def _may_be_before(self, array: Array) -> bool:
        return self.times[array.name] == 1 and all(is_size(size, self.fixed) for size in array.sizes)

    def _places(self, block: Block, arrays: list[Array], total: ast.For) -> Places | None:
        """Where the one nest writes to the arrays that does, if nothing else but the sum mentions them, and it is known then."""
        names = {array.name for array in arrays}
        statements: Block = [array.statement for array in arrays]
        between = block[max(map(block.index, statements)) + 1 : block.index(total)]
        nests = [s for s in between if names & names_in(s)]
        if len(nests) != 1 or not isinstance(nest := nests[0], ast.For) or any(self.effects(s).jumps for s in between):
            return None
        mentioned = mentions([nest, total, *statements])
        if any(mentioned[name] != self.mentions[name] for name in names) or (places := _found(nest, names)) is None:
            return None
        return places if self._stays(places, block[block.index(nest) : block.index(total) + 1]) else None

    def _stays(self, places: Places, statements: Block) -> bool:
        """Whether the places are made of what none of the statements writes, but for what is computed for them anew."""
        again = self.effects(places.nest)
        names, arrays = again.reads - again.writes, {root for root, _ in again.loads}
        found = [*map(self.effects, statements)]
        return all(self.times[name] == 1 for name in again.writes) and not any(
            its.writes & names or {root for root, _ in its.stores} & arrays for its in found
        )


def _begun(statement: ast.stmt) -> Array | None:
    match statement:
        case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_full"), [ast.Tuple(sizes), zero, _])):
            return Array(statement, name, sizes, zero) if ast.unparse(zero) in ZEROS else None
    return None


def _turns(nest: ast.For) -> list[str] | None:
    """The numbers of the turns of a nest that counts."""
    found = []
    for loop in loops(nest):
        match loop:
            case ast.For(ast.Name(turn), ast.Call(ast.Name("range"), [_])):
                found.append(turn)
            case _:
                return None
    return found


def _end(loop: ast.For) -> ast.expr:
    assert isinstance(loop.iter, ast.Call), "it counts"
    return loop.iter.args[0]


def _terms(nest: ast.For) -> set[str]:
    """The arrays that a nest adds to others, element by element, if it does nothing else; none otherwise."""
    turns, values, found = _turns(nest), dict[str, ast.expr](), dict[str, str]()
    for statement in loops(nest)[-1].body:
        match statement:
            case ast.Assign([ast.Name(x)], value):
                values[x] = value
            case ast.Assign([ast.Subscript(ast.Name(total)) as to], value) if [*map(ast.unparse, indices(to))] == turns:
                term = _term(values.pop(value.id, value) if isinstance(value, ast.Name) else value, ast.unparse(to))
                if term is None or [*map(ast.unparse, indices(term))] != turns:
                    return set()
                found[ast.unparse(term.value)] = total
            case _:
                return set()
    plain = len(found) == len({*found.values()}) and not found.keys() & {*found.values()} and not values
    return {*found} if plain else set()


def _term(value: ast.expr, total: str) -> ast.Subscript | None:
    """The element that is added to one."""
    match value:
        case ast.BinOp(a, ast.Add(), b) | ast.BoolOp(ast.Or(), [a, b]):
            parts = [p.args[0] if isinstance(p, ast.Call) and ast.unparse(p.func) in READ else p for p in (a, b)]
            others = [p for p in parts if ast.unparse(p) != total]
            if len(others) == 1 and isinstance(others[0], ast.Subscript) and isinstance(others[0].value, ast.Name):
                return others[0]
    return None


def _found(nest: ast.For, names: set[str]) -> Places | None:
    """The places where a nest writes to arrays, if it writes to all of them, and reads them, at one index."""
    accesses = [n for n in walk(nest) if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id in names]
    alone = {ast.dump(ast.Tuple(indices(access))) for access in accesses}
    mentioned = mentions([nest])
    if _turns(nest) is None or len(alone) != 1 or len(accesses) != sum(mentioned[name] for name in names):
        return None
    few = deepcopy(nest)
    inner, mark = loops(few)[-1], ast.Expr(ast.Tuple(indices(accesses[0]), ast.Load()))
    path = _path(inner.body, names, mark, names_in(mark))
    if path is None:
        return None
    inner.body = path
    return Places(few, mark)


def _path(block: Block, names: set[str], mark: ast.Expr, needed: set[str]) -> Block | None:
    """The statements that lead to where a block writes to the arrays, which is marked, if all of it is done there."""
    found: Block = []
    written: set[str] = set()
    for statement in reversed(block):
        match statement:
            case ast.Assign([ast.Subscript(ast.Name(name))]) if name in names:
                found = found if written else [mark]
                written.add(name)
            case ast.Assign([ast.Name(name)], value) if name in needed:
                found.insert(0, statement)
                needed |= names_in(value)
            case ast.If(test, body, []) if names & names_in(statement) and not found:
                if (inner := _path(body, names, mark, needed)) is None:
                    return None
                found, written = [ast.If(test, inner, [])], names
                needed |= names_in(test)
            case _ if needed & stored([statement]) or names & stored([statement]):
                return None
    return found if written == names else None


def _choice(total: ast.For, places: Places, arrays: list[Array]) -> ast.stmt:
    """What is added at places, where these are fewer than there are elements; else all of it."""
    parts = cast(ast.Tuple, places.mark.value).elts
    at = ast.Tuple(parts, ast.Load()) if len(parts) > 1 else parts[0]
    found = [_At(_turns(total) or [], at).visit(deepcopy(s)) for s in loops(total)[-1].body]
    zeros = [ast.Assign([ast.Subscript(ast.Name(a.name, ast.Load()), at, ast.Store())], a.zero) for a in arrays]
    for block in blocks(places.nest):  # type: ignore[arg-type]
        block[:] = [new for s in block for new in ([*found, *zeros] if s is places.mark else [s])]
    few, again = deepcopy(places.nest), assigned(ast.Module([places.nest], []))
    for name in again.keys() - {n.id for s in found for n in walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}:
        few = Renamed(name, f"{name}at").visit(few)
    filled_again = [s for a in arrays for s in filled(a.name, a.sizes, a.zero, "range")]
    test = ast.Compare(_product([*map(_end, loops(places.nest))]), [ast.Lt()], [_product(arrays[0].sizes)])
    return ast.If(test, [few], [total, *filled_again])


def _product(sizes: list[ast.expr]) -> ast.expr:
    return ast.parse(" * ".join(f"({ast.unparse(size)})" for size in sizes), mode="eval").body


class _At(ast.NodeTransformer):
    """Elements with the numbers of turns as indices, at another index."""

    def __init__(self, turns: list[str], index: ast.expr) -> None:
        self.turns, self.index = turns, index

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if [*map(ast.unparse, indices(node))] == self.turns:
            return ast.Subscript(node.value, deepcopy(self.index), node.ctx)
        return self.generic_visit(node)
