"""
Elements that several turns of a loop add to, carried from turn to turn until the last of these has.

                                                   if c >= b and c - b + 1 >= n: return SIZES
                                                   s2 = s[c - b + 2] if 0 <= c - b + 2 < n else -0.0
                                                   s1 = s[c - b + 1] if 0 <= c - b + 1 < n else -0.0
    while True:                                    while True:
        if c < b: return …                             if c < b: return …
        i = c - b + 1
        if i < -n or i >= n: return SIZES
        s[i + 1] = s[i + 1] + p                        t0 = s[c - b] + r
        s[i] = s[i] + q                        →       t1 = s1 + q
        s[i - 1] = s[i - 1] + r                        s[c - b + 2] = s2 + p
        c = c - 1                                      s2, s1, c = t1, t0, c - 1
                                                   if 0 <= c - b + 2 < n: s[c - b + 2] = s2
                                                   if 0 <= c - b + 1 < n: s[c - b + 1] = s1

So is the adjoint of what computes a place from its neighbours: it adds to these, and its turns go down. An element is read when the
first turn adds to it, and written when the last has; in between nothing else may mention the array. The order of what is added to
an element stays. Sums then wait no more for memory, and LLVM takes several turns at once. For that a turn asks whether there is one
before it takes fuel, and does not ask whether an index that goes down is inside: that of the first turn is the largest. Where there
are no turns, what is read before the loop is what is written after it.
"""

from __future__ import annotations

import ast
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise

from backend.arrays.down import Down, asked_first, going_down, is_once
from backend.arrays.effects import Roots, assigned, roots
from backend.arrays.in_place import blocks
from backend.arrays.takes import once
from backend.arrays.walking import walk

Block = list[ast.stmt]
WIDEST = 8  # elements that are carried, for each array


@dataclass(frozen=True)
class Sum:
    """A statement that adds a number to an element: `above` says how far its index is above that of the turn."""

    statement: ast.stmt
    array: str
    above: int
    term: ast.expr


def windowed(function: ast.FunctionDef) -> None:
    """The function whose loops carry what several of their turns add to."""
    values, known, times = once(function), roots(function), assigned(function)
    mentions = Counter(n.id for n in walk(function) if isinstance(n, ast.Name))
    for block in blocks(function):
        for before, loop in [*pairwise(block)]:
            if isinstance(before, ast.Assign) and (down := going_down(loop, values, times)) is not None:
                sums = [s for statement in down.choice.body if (s := _sum(statement, down, mentions, times)) is not None]
                found = {array: [s for s in sums if s.array == array] for array in {s.array: None for s in sums}}
                windows = {array: its for array, its in found.items() if _is_window(array, its, down, known)}
                if windows:
                    at = block.index(loop)
                    first, down.choice.body = asked_first(down)
                    block[at:at] = [*first, *_carry(down, windows)]
                    _ask_first(down)


def _sum(statement: ast.stmt, down: Down, mentions: Counter[str], times: Counter[str]) -> Sum | None:
    """What a statement adds to an element of an array that the loop carries, if the sum is needed for nothing else."""
    match statement:
        case ast.For(
            body=[
                ast.Assign(
                    [ast.Name(sum)],
                    ast.BinOp(ast.Call(ast.Name("float"), [ast.Subscript(ast.Name(read), i)]), ast.Add(), ast.Name(term) as added),
                ),
                ast.Assign([ast.Subscript(ast.Name(written), j)], ast.Name(stored)),
            ]
        ) if is_once(statement) and read == written and sum == stored and ast.dump(i) == ast.dump(j):
            above = down.above(i)
            if above is not None and read in down.turn.stands and mentions[sum] == 2 and times[term] == 1:
                return Sum(statement, down.turn.stands[read], above, added)
    return None


def _is_window(array: str, sums: list[Sum], down: Down, known: Roots) -> bool:
    """Whether neighbours are added to, a few of them, and nothing else in a turn mentions the array, by whatever name."""
    events = down.turn.events[array]
    above = [s.above for s in sums]
    names = {n.id for s in down.choice.body for n in walk(s) if isinstance(n, ast.Name) and n.id != array}
    return (
        0 < max(above) - min(above) <= WIDEST
        and [e.kind for e in events] == ["read", "store"] * len(sums)
        and all(down.turn.stands.get(name) == array for name in names if known.of(name) == known.of(array))
    )


def _carry(down: Down, windows: dict[str, list[Sum]]) -> Block:
    """The loop with windows; what is to come before it."""
    first: list[str] = []
    sums: list[str] = []
    stores: list[str] = []
    last: list[str] = []
    for array, its in windows.items():
        low, high = min(s.above for s in its), max(s.above for s in its)
        for k in range(low, high + 1):
            terms = " + ".join(["", *(ast.unparse(s.term) for s in its if s.above == k)])
            read = f"float({array}[{down.place(k)}])"
            inside = f"0 <= {down.place(k)} < {array}.shape[0]"
            if k > low:
                first.append(f"x{array}{k} = {read} if {inside} else -0.0")
                last.append(f"if {inside}:\n    {array}[{down.place(k)}] = x{array}{k}")
            sums.append(f"x{array}{k}new = {read if k == low else f'x{array}{k}'}{terms}")
        stores.append(f"{array}[{down.place(high)}] = x{array}{high}new")
        stores += [f"x{array}{k + 1} = x{array}{k}new" for k in range(low, high)]
    taken = {id(s.statement) for its in windows.values() for s in its}
    body = [s for s in down.choice.body if id(s) not in taken]
    down.choice.body = [*body[:-2], *_parsed([*sums, *stores]), *body[-2:]]
    down.choice.orelse = [*_parsed(last), *down.choice.orelse]
    return _parsed(first)


def _ask_first(down: Down) -> None:
    """The loop asks whether there is a turn before it takes fuel for it, or for the end."""
    match down.loop.body:
        case [ast.Assign([ast.Name("fuel")]) as take, ast.If(ast.Compare(ast.Name("fuel"))) as test, *rest]:
            if not any(isinstance(n, ast.Name) and n.id == "fuel" for s in rest if s is not down.choice for n in walk(s)):
                down.loop.body = rest
                down.choice.body[:0] = [take, test]
                down.choice.orelse[:0] = deepcopy([take, test])


def _parsed(lines: list[str]) -> Block:
    return ast.parse("\n".join(lines)).body
