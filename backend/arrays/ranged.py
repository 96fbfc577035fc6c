"""
Loops over cells whose turns are apart but for numbers, as loops over a range, of which LLVM makes vectors.

                                              if c >= b and c - b >= n: return SIZES
                                              turns = c - b + 1 if c >= b else 0
    while True:                               fuel = fuel - turns - 1
        fuel = fuel - 1                       if fuel < 0: return FUEL
        if fuel < 0: return FUEL              first, s = (c, s if m == 0 else -0.0)
        if c >= b:                            for k in _apart(turns):
            if c - b >= n: return SIZES           c = first - k
            x = float(reals[c])                   x = float(reals[c])
            d[c - b] = p * x             →        d[_from_zero(c - b, 0)] = p * x
            if m == 0: t = s + x
            else:      t = x
            c, m, s = (c - 1, 0, t)               s = s + x
        else:                                 c, m = (first - turns, 0 if turns > 0 else m)
            …                                 …
            break

A loop goes down by its cells (`backend.arrays.down`), so how many turns it has is known before it, and what it asks of an index is
asked for the first turn, which has the largest. Of every array that it writes to, a turn accesses one element alone, by an index
that is the same number above that of the turn in every access, and told not to be negative (`backend.cpu.turns`); or all turns
access one and the same element (`backend.arrays.steady`). From turn to turn go nothing but numbers (`backend.arrays.added`), of
which sums keep their order. What is left to do in a turn cannot fail, so the fuel of all
turns is taken at once.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise

from backend.arrays.added import Added, Turns
from backend.arrays.apart import MARK
from backend.arrays.contraction import indices
from backend.arrays.down import Down, asked_first, cell_asked, going_down, is_once
from backend.arrays.effects import Roots, assigned, roots
from backend.arrays.fills import asked
from backend.arrays.handed import pairs
from backend.arrays.in_place import blocks
from backend.arrays.steady import held, indices_first, sizes_first, stays
from backend.arrays.takes import Linear, less, linear, once
from backend.arrays.walking import walk

Block = list[ast.stmt]
Place = tuple[int | Linear | tuple[Linear], ...]


def ranged(function: ast.FunctionDef) -> None:
    """The function whose loops down, where turns are apart but for numbers, go over a range."""
    values, known, times = once(function), roots(function), assigned(function)
    mentions = Counter(n.id for n in walk(function) if isinstance(n, ast.Name))
    for block in reversed([*blocks(function)]):  # what comes after a loop goes to the block around it when it is as it will be
        for before, loop in [*pairwise(block)]:
            down = going_down(loop, values, times) if isinstance(before, ast.Assign) else None
            if down is not None and (found := _over_a_range(down, values, known, times, mentions)) is not None:
                at = block.index(loop)
                block[at : at + 1] = found


def _over_a_range(
    down: Down, values: dict[str, ast.expr], known: Roots, times: Counter[str], mentions: Counter[str]
) -> Block | None:
    """The loop over a range with what comes before and after it; None where turns are not apart, or do more than that."""
    first, rest = asked_first(down)
    *body, last, _ = [s for s in _straight(deepcopy(rest)) if cell_asked(s) != (down.counter, down.base)]
    match down.loop.body:
        case [ast.Assign([ast.Name("fuel")]), ast.If(ast.Compare(ast.Name("fuel")), [ast.Return() as spent], []), *asks]:
            asks = [s for s in asks if s is not down.choice and not isinstance(s, ast.Break)]
        case _:
            return None
    sums = Turns(body, last, values, times).sums(down.counter)
    if sums is None or not _are_own(body, down.loop, times) or not _is_asked(asks, down, values, mentions):
        return None
    if any(map(_jumps, _own(down.rest))):
        return None
    inside = {name for s in down.choice.body for name in assigned(s)}
    tests = sizes_first(body, inside, f"{down.counter}turns")
    tests += indices_first(body, inside)
    begin, end = held(body, inside, values, known, down.counter)
    if not all(map(_is_plain, body)) or not _are_apart(body, inside, down, known, bool(begin)):
        return None
    return [*first, *_written(down, body, sums, spent, [*tests, *begin], inside), *end, *down.rest]


def _written(down: Down, body: Block, sums: list[Added], spent: ast.Return, begin: Block, inside: set[str]) -> Block:
    """The loop over a range, with the fuel that it takes and what it begins with, and what names are after it."""
    c = down.counter
    turns, start = f"{c}turns", f"{c}first"
    flags = dict.fromkeys(its.flag for its in sums if its.flag)
    before = [
        f"{turns} = {c} - {down.base} + 1 if {c} >= {down.base} else 0",
        f"fuel = fuel - {turns} - 1",
        f"if fuel < 0:\n    {ast.unparse(spent)}",
        f"{start} = {c}",
        *(f"{its.name} = {its.name} if {its.flag} == 0 or {turns} < 1 else -0.0" for its in sums if its.flag),
        f"for {c}k in {MARK if _in_rows(body, down, inside) else 'range'}({turns}):\n    {c} = {start} - {c}k",
    ]
    after = [f"{c} = {start} - {turns}", *(f"{flag} = 0 if {turns} > 0 else {flag}" for flag in flags)]
    *made, loop = ast.parse("\n".join(before)).body
    assert isinstance(loop, ast.For), "the last line"
    added = {id(its.statement): its.sum for its in sums if its.sum is not None}
    numbered = _Numbered(down, inside)
    body = [numbered.visit(added.get(id(s), s)) for s in body]
    loop.body += ast.parse("\n".join(f"{name} = _from_zero({index}, 0)" for name, index in numbered.names.values())).body
    loop.body += [*body, *_next(sums)]
    return [*made, *begin, loop, *ast.parse("\n".join(after)).body]


def _in_rows(body: Block, down: Down, inside: set[str]) -> bool:
    """Whether what turns write lies side by side: LLVM would make vectors of columns, too, which take longer than the elements."""
    stored = (n for s in body for n in walk(s) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
    return all(isinstance(_index(indices(node)[-1], down, inside), int | tuple) for node in stored)


def _next(sums: list[Added]) -> Block:
    """What the next turn is given, all at once."""
    given = [(its.name, its.given) for its in sums]
    if {name for name, _ in given} & {value for _, value in given}:
        return ast.parse(f"({', '.join(name for name, _ in given)},) = ({', '.join(value for _, value in given)},)").body
    return ast.parse("\n".join(f"{name} = {value}" for name, value in given)).body


class _Numbered(ast.NodeTransformer):
    """Indices that are above that of the turn by what no turn changes, under one name for each."""

    def __init__(self, down: Down, inside: set[str]) -> None:
        self.down, self.inside = down, inside
        self.names: dict[int | tuple[Linear], tuple[str, str]] = {}

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        at = [self.index(index) for index in indices(node)]
        node.slice = ast.Tuple(at, ast.Load()) if isinstance(node.slice, ast.Tuple) else at[0]
        return node

    def index(self, index: ast.expr) -> ast.expr:
        above = _index(index, self.down, self.inside)
        if not isinstance(above, int | tuple):
            return index
        text = self.down.place(above) if isinstance(above, int) else _text(above[0], f"{self.down.counter} - {self.down.base}")
        return ast.Name(self.names.setdefault(above, (f"{self.down.counter}at{len(self.names)}", text))[0], ast.Load())

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        match node:
            case ast.If(ast.UnaryOp(ast.Not(), asked), [ast.Assign([ast.Subscript() as mask], ast.Constant(True)) as made], []):
                return made if ast.unparse(asked) == ast.unparse(mask) else node  # vectors have no use for the question
        return node


def _is_asked(asks: Block, down: Down, values: dict[str, ast.expr], mentions: Counter[str]) -> bool:
    """Whether the loop goes on where `counter >= base`, and the names that it asks by are mentioned nowhere else."""
    here = Counter(n.id for s in (*asks, down.choice.test) for n in walk(s) if isinstance(n, ast.Name))
    mine = {name.id for s in asks if isinstance(s, ast.Assign) for name, _ in pairs(s) if isinstance(name, ast.Name)}
    if any(mentions[name] != here[name] for name in mine) or not all(isinstance(s, ast.Assign) for s in asks):
        return False
    match asked(down.choice.test, values):
        case c, ast.Name(b):
            return (c, b) == (down.counter, down.base)
        case _:
            return False


def _straight(body: Block) -> Iterator[ast.stmt]:
    """A block in which what is done once stands for itself."""
    for statement in body:
        if isinstance(statement, ast.For) and is_once(statement):
            yield from _straight(statement.body)
        else:
            if isinstance(statement, ast.If):
                statement.body, statement.orelse = [*_straight(statement.body)], [*_straight(statement.orelse)]
            yield statement


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement has no loops and ends nothing."""
    return not any(isinstance(n, ast.Return | ast.For | ast.While) or _jumps(n) for n in walk(statement))


def _jumps(node: ast.AST) -> bool:
    return isinstance(node, ast.Break | ast.Continue)


def _own(block: Block) -> Iterator[ast.AST]:
    """What is in a block but not in loops in it."""
    todo: list[ast.AST] = [*block]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, ast.For | ast.While):
            todo += ast.iter_child_nodes(node)


def _are_own(body: Block, loop: ast.While, times: Counter[str]) -> bool:
    """Whether all names that a turn is said to set are set in the loop alone, so that no turn reads what another has set."""
    inside = assigned(loop)
    mine = {n.id for s in body for n in walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return all(inside[name] == times[name] for name in mine)


def _are_apart(body: Block, inside: set[str], down: Down, known: Roots, alone: bool) -> bool:
    """
    Whether every turn accesses, of each array that a turn writes to, one element alone, another in every turn; and there is such an
    array, or there need not be, `alone`.
    """
    nodes = [n for s in body for n in walk(s)]
    elements = [n for n in nodes if isinstance(n, ast.Subscript) and not isinstance(n.value, ast.Attribute)]
    if not all(isinstance(n.value, ast.Name) for n in elements):
        return False
    of = {id(n): known.of(n.value.id) for n in elements if isinstance(n.value, ast.Name)}
    written = {of[id(n)] for n in elements if isinstance(n.ctx, ast.Store)}
    places: dict[str, set[Place | None]] = {}
    for node in elements:
        places.setdefault(of[id(node)], set()).add(_place(node, down, inside))
    whole = {n for n in _whole(nodes) if known.of(n) in written}
    return (alone or bool(written)) and not whole and all(len(places[root]) == 1 and None not in places[root] for root in written)


def _place(node: ast.Subscript, down: Down, inside: set[str]) -> Place | None:
    """Which element a turn accesses: by an index that another turn does not have, and by others which it may."""
    found = [_index(index, down, inside) for index in indices(node)]
    known = [at for at in found if at is not None]
    return tuple(known) if len(known) == len(found) and any(isinstance(at, int | tuple) for at in known) else None


def _index(index: ast.expr, down: Down, inside: set[str]) -> int | Linear | tuple[Linear] | None:
    """
    An index that is so much above the number of the turn, an integer or, in a tuple, a sum with names; or the same in all turns, a
    sum. One that may be negative has a name, which the turn has chosen: it is none of these.
    """
    above, at = down.above(index), linear(index, down.turn.values)
    if above is not None or stays(at, inside):
        return at if above is None else above
    own = {name: value for name, value in down.turn.values.items() if name in inside}  # others may be made of what has changed
    more = less(linear(index, own), frozenset({(down.counter, 1), (down.base, -1)}))
    return (more,) if stays(more, inside) and any(name for name, _ in more) else None


def _text(sum: Linear, number: str) -> str:
    """The text of a sum and the number of a turn."""
    return " + ".join([number, *(f"{factor} * {name}" if name else str(factor) for name, factor in sorted(sum))])


def _whole(nodes: list[ast.AST]) -> Iterator[str]:
    """The names that a turn does more with than access an element, ask for a size, or name them again."""
    fine: set[int] = set()
    for node in nodes:
        match node:
            case ast.Subscript(value) | ast.Attribute(value, "shape"):
                fine.add(id(value))
            case ast.Assign():
                again = [pair for pair in pairs(node) if all(isinstance(part, ast.Name) for part in pair)]
                fine |= {id(part) for pair in again for part in pair}
    return (n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in fine)
