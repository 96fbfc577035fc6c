"""
Loops that add up products for turns that go side by side, as calls of what does so in vectors (`backend.cpu.turn_sums`).

    for j in range(m):                        for i in range(n):
        for each turn:                            for j in range(m):
            x = x + a[.., j, ..] * p[.., j]           for each turn:
                                                          s[.., i, j] = s[.., i, j] + p[.., i] * q[.., j]

On the left each turn has a sum of its own, x or an element of its part of an array; `a` is the same for all turns. On the right the
turns add to one array, in their order. Parts of turns are p and q; what else stands in an index is the number of a loop around.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from backend.arrays.contraction import indices
from backend.arrays.turns import Block, Turns
from backend.arrays.walking import names_in


@dataclass(frozen=True)
class _Sum:
    """total + x · y, in place of the total."""

    total: ast.Name | ast.Subscript
    x: ast.Subscript
    y: ast.Subscript


@dataclass(frozen=True)
class Lanes:
    """`count` turns side by side, the arrays for the numbers that groups share, and which arrays are of reals."""

    turns: Turns
    count: str
    shared: dict[str, str]
    reals: frozenset[str]


def sums(loop: ast.For, lanes: Lanes) -> str | None:
    """The call that does what a loop inside does for all turns, if there is one."""
    assert isinstance(loop.target, ast.Name), "loops count"
    match loop.body:
        case [ast.For(ast.Name(j), ast.Call(_, [columns]), body)] if loop.target.id not in names_in(columns):
            found = _sum(body, lanes)
            return found and _outer(found, lanes, (loop.target.id, j), (_stop(loop), ast.unparse(columns)))  # type: ignore[return-value]
        case body:
            found = _sum(body, lanes)
            return found and _row(found, lanes, loop.target.id, _stop(loop))  # type: ignore[return-value]


def _stop(loop: ast.For) -> str:
    assert isinstance(loop.iter, ast.Call), "to a number"
    return ast.unparse(loop.iter.args[0])


def _sum(block: Block, lanes: Lanes) -> _Sum | None:
    """What a block adds to what, if that is all it does: no number that it sets besides is read elsewhere."""
    match block:
        case [
            ast.Assign([ast.Name(product)], ast.Call(ast.Name("_mul"), [x, y])),
            ast.Assign([ast.Name(sum)], ast.BinOp(before, ast.Add(), ast.Name(again))),
            ast.Assign([(ast.Name() | ast.Subscript()) as total], ast.Name(after)),
        ] if sum == after:
            numbers = {product, sum}
        case [
            ast.Assign([ast.Name(product)], ast.Call(ast.Name("_mul"), [x, y])),
            ast.Assign([ast.Name() as total], ast.Call(ast.Name("_any_term"), [before, ast.Name(again)])),
        ]:
            numbers = {product}
        case _:
            return None
    factors = [_element(x), _element(y)]
    goes_on = product == again and ast.unparse(_plain(before)) == ast.unparse(total) and ast.unparse(total) not in numbers
    if goes_on and not numbers & (lanes.shared.keys() | lanes.turns.carried) and None not in factors:
        return _Sum(total, *factors)  # type: ignore[arg-type]
    return None


def _plain(number: ast.expr) -> ast.expr:
    """What is read as a number."""
    match number:
        case ast.Call(ast.Name("float"), [inner]):
            return inner
        case _:
            return number


def _element(number: ast.expr) -> ast.Subscript | None:
    """The element of an array that is read."""
    match _plain(number):
        case ast.Subscript(ast.Name()) as found:
            return found
        case _:
            return None


def _row(found: _Sum, lanes: Lanes, k: str, stop: str) -> str | None:
    """The call for a sum of each turn over k."""
    match found.total:
        case ast.Name(number) if number in lanes.shared:
            at, total = [], lanes.shared[number]
        case ast.Subscript() as part if _is_part(part, lanes) and (places := _places(part, lanes, {k})) is not None:
            at, total = places, _of(part)
        case _:
            return None
    for a, b in ((found.x, found.y), (found.y, found.x)):
        at_a, at_b = _places(a, lanes, {k}), _places(b, lanes, {k})
        if at_a is None or at_b is None or _of(a) in lanes.turns.written or not _is_part(b, lanes) or _of(b) == total:
            continue
        if (at_a.count(k), at_b.count(k), at.count(k)) == (1, 1, 0):
            of_a, of_b = f"{_of(a)}, {_tuple(at_a, k)}", f"{_of(b)}, {_tuple(at_b, k)}"
            return f"_add_row({stop}, {lanes.count}, {of_a}, {of_b}, {_tuple(at)}, {total})"
    return None


def _outer(found: _Sum, lanes: Lanes, counters: tuple[str, str], stops: tuple[str, str]) -> str | None:
    """The call for sums over turns, one for each i and j."""
    if not isinstance(found.total, ast.Subscript) or _of(found.total) not in lanes.turns.added & lanes.reals:
        return None
    i, j = counters
    at = _places(found.total, lanes, {i, j})
    for p, q in ((found.x, found.y), (found.y, found.x)):
        at_p, at_q = _places(p, lanes, {i, j}), _places(q, lanes, {i, j})
        if at is None or at_p is None or at_q is None or not (_is_part(p, lanes) and _is_part(q, lanes)):
            return None
        if (at[-2:], at_p[-1:], at_q[-1:]) == ([i, j], [i], [j]) and not {i, j} & {*at[:-2], *at_p[:-1], *at_q[:-1]}:
            of_p, of_q = f"{_of(p)}, {_tuple(at_p[:-1])}", f"{_of(q)}, {_tuple(at_q[:-1])}"
            return f"_add_outer({', '.join(stops)}, {lanes.count}, {of_p}, {of_q}, {_tuple(at[:-2])}, {_of(found.total)})"
    return None


def _is_part(element: ast.Subscript, lanes: Lanes) -> bool:
    """Whether an element is one of reals of which each turn has its own."""
    return _of(element) in lanes.turns.private & lanes.reals


def _of(element: ast.Subscript) -> str:
    assert isinstance(element.value, ast.Name), "an element of an array"
    return element.value.id


def _places(element: ast.Subscript, lanes: Lanes, counters: set[str]) -> list[str] | None:
    """The indices of an element, if they are the same for all turns, and what counts stands alone."""
    turns = lanes.turns
    vary = turns.numbers | turns.carried | turns.written | {turns.turn}
    at = [i for i in indices(element) if not isinstance(i, ast.Tuple)]
    if any(names_in(i) & (vary | (set() if isinstance(i, ast.Name) else counters)) for i in at):
        return None
    return [ast.unparse(i) for i in at]


def _tuple(places: list[str], k: str = "") -> str:
    """Indices, with None for the k."""
    return f"({''.join(f'{None if i == k else i}, ' for i in places).rstrip(' ')})"
