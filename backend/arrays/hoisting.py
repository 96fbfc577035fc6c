"""
Arrays that every turn of a loop makes for itself, made once before the loop. Those that it begins as ZEROs are first:

                                                      s_all = _empty((n,), _f64)
    while True:                                       while True:
        …                                                 …
                                                          for k in range(n): s_all[k] = -0.0
        i, s = (0, _full((n,), -0.0, _f64))      →        i, s = (0, s_all)
        while True: …s[i] = s[i] + d…                     while True: …s[i] = s[i] + d…
        …                                                 …

It is so where the size is that of an argument, or a number that is computed once, and where nothing mentions the array, by whatever
name, but from this statement on to the end of its block. The turn goes through that once, so what it leaves there, the next does
not read. What the caller has, and what is given out or kept, is mentioned elsewhere. When memory has been given to all others,
those that are not carried are made before the loop by the same rule (`lent`); what a turn needs filled, it fills.

A turn has tested that n is at least 1 where it makes an array of n - 1. Before the loop, of which there may be no turn, nobody has,
so the array has max(n - 1, 0) elements there.
"""

from __future__ import annotations

import ast
from collections import Counter

from backend.arrays.assumed import Settled, settled
from backend.arrays.effects import Roots, assigned, roots
from backend.arrays.walking import walk

Block = list[ast.stmt]


def hoisted(function: ast.FunctionDef) -> None:
    """The function in which turns of loops fill such arrays, and make none."""
    known = roots(function)
    fixed = settled(function)
    _in_block(function.body, known, fixed, _mentions(function.body, known))


def _in_block(block: Block, known: Roots, fixed: Settled, everywhere: Counter[str]) -> None:
    """The same for loops of a block; what is made before one comes right before it, and before what that is given."""
    for loop in [s for s in block if isinstance(s, ast.While)]:
        made: Block = []
        _in_turn(loop.body, made, known, fixed, everywhere)
        at = block.index(loop)
        at -= at > 0 and isinstance(block[at - 1], ast.Assign)
        block[at:at] = made
    for statement in block:
        for inner in (getattr(statement, "body", []), getattr(statement, "orelse", [])):
            _in_block(inner, known, fixed, everywhere)


def _in_turn(block: Block, made: Block, known: Roots, fixed: Settled, everywhere: Counter[str]) -> None:
    """What blocks of a turn begin as ZEROs, filled there, and made before."""
    for at, statement in reversed([*enumerate(block)]):
        match statement:
            case ast.Assign([ast.Tuple(names)], ast.Tuple(values)) if len(names) == len(values):
                later = _mentions(block[at:], known)
                for k, (name, value) in enumerate(zip(names, values, strict=True)):
                    match name, value:
                        case ast.Name(array), ast.Call(ast.Name("_full"), [ast.Tuple([size]), fill, dtype]) if (
                            is_size(size, fixed) and later[known.of(array)] == everywhere[known.of(array)]
                        ):
                            all, turn = f"{array}all", f"{array}allk"
                            made += ast.parse(f"{all} = _empty(({ast.unparse(untested(size))},), {ast.unparse(dtype)})").body
                            filled = f"for {turn} in range({ast.unparse(size)}):\n    {all}[{turn}] = {ast.unparse(fill)}"
                            block[at:at] = ast.parse(filled).body
                            values[k] = ast.Name(all, ast.Load())
            case ast.If(_, body, orelse):
                _in_turn(body, made, known, fixed, everywhere)
                _in_turn(orelse, made, known, fixed, everywhere)


def lent(function: ast.FunctionDef) -> None:
    """The function in which turns of loops have the memory of the turn before for arrays that no other turn mentions."""
    known = roots(function)
    times = assigned(function)
    fixed = settled(function)
    _lent_in(function.body, known, fixed, _mentions(function.body, known), times)


def _lent_in(block: Block, known: Roots, fixed: Settled, everywhere: Counter[str], times: Counter[str]) -> None:
    """The same for loops in a block, the inner ones first; what is made before one comes before what that is given."""
    for statement in block:
        for inner in (getattr(statement, "body", []), getattr(statement, "orelse", [])):
            _lent_in(inner, known, fixed, everywhere, times)
    for loop in [s for s in block if isinstance(s, ast.While)]:
        made: Block = []
        _of_turn(loop.body, made, known, fixed, everywhere, times)
        at = block.index(loop)
        at -= at > 0 and isinstance(block[at - 1], ast.Assign)
        block[at:at] = made


def _of_turn(block: Block, made: Block, known: Roots, fixed: Settled, everywhere: Counter[str], times: Counter[str]) -> None:
    """What blocks of a turn make, made before; where it is to be filled, it is filled there."""
    later: Counter[str] = Counter()
    for at, statement in reversed([*enumerate(block)]):
        later += _mentions([statement], known)
        match statement:
            case ast.Assign([ast.Name(name) as target], ast.Call(ast.Name("_empty" | "_full"), [ast.Tuple(sizes), *fill, dtype])):
                if times[name] > 1 or not all(is_size(size, fixed) for size in sizes):
                    continue
                if later[known.of(name)] == everywhere[known.of(name)]:
                    before = ast.Tuple([*map(untested, sizes)], ast.Load())
                    new = ast.Call(ast.Name("_empty", ast.Load()), [before, dtype], [])
                    made.insert(0, ast.Assign([target], new))
                    block[at : at + 1] = filled(name, sizes, fill[0]) if fill else []
                    everywhere[known.of(name)] += len(fill)  # a loop around this one asks too
            case ast.If(_, body, orelse):
                _of_turn(body, made, known, fixed, everywhere, times)
                _of_turn(orelse, made, known, fixed, everywhere, times)
                statement.body = body or [ast.Pass()]


def filled(name: str, sizes: list[ast.expr], fill: ast.expr, innermost: str = "_apart") -> Block:
    """Loops that fill an array."""
    turns = [f"{name}l{k}" for k in range(len(sizes))]
    nests = [*zip(turns, map(ast.unparse, sizes), strict=True)]
    through = ["range"] * (len(nests) - 1) + [innermost]
    lines = [f"{' ' * k}for {turn} in {by}({size}):" for k, ((turn, size), by) in enumerate(zip(nests, through, strict=True))]
    return ast.parse("\n".join([*lines, f"{' ' * len(nests)}{name}[{', '.join(turns)}] = {ast.unparse(fill)}"])).body


def untested(size: ast.expr) -> ast.expr:
    """A size where no test has been made yet."""
    match size:
        case ast.BinOp(_, ast.Sub()):
            return ast.Call(ast.Name("max", ast.Load()), [size, ast.Constant(0)], [])
        case _:
            return size


def is_size(node: ast.expr, fixed: Settled) -> bool:
    """Whether a size is that of an argument, or a number, which `fixed` has, or is known."""
    match node:
        case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant()):
            return name in fixed.arguments
        case ast.Name(name):
            return name in fixed.numbers
        case ast.BinOp(size, ast.Add() | ast.Sub(), ast.Constant(int())):
            return is_size(size, fixed)
        case ast.Call(ast.Name("max"), [size, ast.Constant(0)]):  # of an array of an inner loop
            return is_size(size, fixed)
        case ast.Constant(int()):
            return True
        case _:
            return False


def _mentions(block: Block, known: Roots) -> Counter[str]:
    """How often each root is mentioned, by whatever name."""
    return Counter(known.of(n.id) for s in block for n in walk(s) if isinstance(n, ast.Name))
