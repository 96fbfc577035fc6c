"""
Arrays of a recursion that frames keep, made in the memory of stacks, one behind the other, and given back when they are the last.

                                                  if heap + n > reals.size: return FULL_ARRAYS
    t = _empty((n,), _f64)                        t = reals[heap:heap + n]
                                           →      heap = heap + n
    for k in range(n): v[k] = v[k] + t[k]         for k in _apart(n): v[k] = v[k] + t[k]
                                                  at = _place(t, reals)
                                                  if at >= 0 and at + n == heap: heap = at

A frame that is put on then keeps an array where it lies, and nothing is asked of the system. What is added to what a frame kept is
younger than that, so most often the last; where it is not, its memory is given back when the call of the program ends. It is done
where all that frames keep is their own (`backend.arrays.popped`): then an array that nothing reads again, and that has no other
name, is in no frame either. Loops that write to such arrays alone are marked as apart, since nothing overlaps them.

Not in the kernel, from which arrays go to the caller: what another function gives, the kernel copies.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy

from backend.arrays.apart import MARK
from backend.arrays.in_place import Block, blocks
from backend.arrays.ownership import Ownership
from backend.arrays.popped import owned
from backend.arrays.walking import names_in, walk
from backend.status import FULL_ARRAYS

MEMORY = {"_f64": "reals", "_bool": "integers"}
New = tuple[str, str, str, str]  # the name of an array, its size, what it is filled with, "" for nothing, and its dtype


def stacked(function: ast.FunctionDef) -> None:
    """The function with what frames keep made in the memory of stacks."""
    if function.name == "kernel" or (full := _full(function)) is None or (found := owned(function)) is None:
        return
    facts, kept = found
    of = _dtypes(facts, kept)
    number = 0
    for block in blocks(function):
        for at in reversed(range(len(block))):
            statement = block[at]
            if not isinstance(statement, ast.For) or id(statement) not in facts.steps:
                continue
            step = facts.steps[id(statement)]
            _mark(statement, {name for name in facts.number if facts.bit(name) & step.before})
            last = step.reads & step.before & ~step.after
            for name in sorted((name for name in of if facts.bit(name) & last), key=lambda name: (of[name] != "_f64", name)):
                number += 1
                block[at + 1 : at + 1] = _given_back(name, of[name], f"last_{number}")
    for block in blocks(function):
        _make(block, of, full)


def _full(function: ast.FunctionDef) -> ast.Return | None:
    """What the function gives where what it keeps has no place."""
    for node in walk(function):
        match node:
            case ast.Return(ast.Tuple([*_, ast.Constant(status)])) if status == FULL_ARRAYS:
                return node
    return None


def _dtypes(facts: Ownership, kept: set[str]) -> dict[str, str]:
    """Of the names of arrays that may be kept, those along one axis, with their dtypes."""
    found = {}
    for name in kept:
        match facts.makers[name].args:
            case [ast.Tuple([_]), *_, ast.Name(dtype)] if dtype in MEMORY:
                found[name] = dtype
    return found


# what is made


def _make(block: Block, of: dict[str, str], full: ast.Return) -> None:
    """The arrays that a block makes, those of one size that stand together after one test whether there is room."""
    at = 0
    while at < len(block):
        news: list[New] = []
        while at + len(news) < len(block) and (new := _new(block[at + len(news)], of)) and new[1] == (news or [new])[0][1]:
            news.append(new)
        made = [*_placed(news, full)] if news else [block[at]]
        block[at : at + max(1, len(news))] = made
        at += len(made)


def _new(statement: ast.stmt, of: dict[str, str]) -> New | None:
    match statement:
        case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty" | "_full"), [ast.Tuple([size]), *value, _])) if name in of:
            if not isinstance(size, ast.Constant):  # what has no elements has no place
                return name, ast.unparse(size), ast.unparse(value[0]) if value else "", of[name]
    return None


def _placed(news: list[New], full: ast.Return) -> Iterator[ast.stmt]:
    """Arrays of one size behind what is there, filled by one loop."""
    size = news[0][1]
    words = " + ".join(_words(size, dtype) for *_, dtype in news)
    yield ast.If(ast.parse(f"heap + {words} > reals.size", mode="eval").body, [deepcopy(full)], [])
    for name, _, _, dtype in news:
        end = f"heap + {_words(size, dtype)}"
        view = f"{MEMORY[dtype]}[heap:{end}]" + (f".view(_bool)[:{size}]" if dtype == "_bool" else "")
        yield from ast.parse(f"{name} = {view}\nheap = {end}").body
    if filled := [(name, value) for name, _, value, _ in news if value]:
        turn = f"{filled[0][0]}k"
        elements = "".join(f"    {name}[{turn}] = {value}\n" for name, value in filled)
        yield from ast.parse(f"for {turn} in {MARK}({size}):\n{elements}").body


def _words(size: str, dtype: str) -> str:
    return f"({size} + 7) // 8" if dtype == "_bool" else size


# what is given back


def _given_back(name: str, dtype: str, place: str) -> Block:
    """The memory of an array that nothing reads again, if it is the last."""
    end = f"{place} + {_words(f'{name}.shape[0]', dtype)}"
    return ast.parse(f"{place} = _place({name}, {MEMORY[dtype]})\nif {place} >= 0 and {end} == heap:\n    heap = {place}").body


# what is apart


def _mark(loop: ast.For, own: set[str]) -> None:
    """A mark on an innermost loop that writes to nothing but, in each turn, its own element of arrays that have no other name."""
    match loop:
        case ast.For(ast.Name(turn), ast.Call(ast.Name("range") as through, [_]), body):
            nodes = [n for s in body for n in walk(s)]
            written = {n.value for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)}
            names = {n.id for n in written if isinstance(n, ast.Name)}
            accesses = [n for n in nodes if isinstance(n, ast.Subscript) and names_in(n.value) & names]
            if any(isinstance(n, ast.For | ast.While | ast.Return | ast.Break | ast.Continue) for n in nodes):
                return
            if len(names) < len({ast.unparse(n) for n in written}) or not names or not names <= own:
                return
            whole = sum(isinstance(n, ast.Name) and n.id in names for n in nodes)
            if whole == len(accesses) and all(ast.unparse(n.slice) == turn for n in accesses):
                through.id = MARK
