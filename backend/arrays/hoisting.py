"""
Arrays that every turn of a loop begins as ZEROs, made once before the loop.

                                                      s_all = _empty((n,), _f64)
    while True:                                       while True:
        …                                                 …
                                                          for k in range(n): s_all[k] = -0.0
        i, s = (0, _full((n,), -0.0, _f64))      →        i, s = (0, s_all)
        while True: …s[i] = s[i] + d…                     while True: …s[i] = s[i] + d…
        …                                                 …

It is so where the size is that of an argument, and where nothing mentions the array, by whatever name, but from this statement on
to the end of its block. The turn goes through that once, so what it leaves there, the next does not read. What the caller has, and
what is given out or kept, is mentioned elsewhere.
"""

from __future__ import annotations

import ast
from collections import Counter

from backend.arrays.effects import Roots, assigned, roots
from backend.arrays.walking import walk

Block = list[ast.stmt]


def hoisted(function: ast.FunctionDef) -> None:
    """The function in which turns of loops fill such arrays, and make none."""
    known = roots(function)
    times = assigned(function)
    fixed = {a.arg for a in function.args.args if not times[a.arg]}
    _in_block(function.body, known, fixed, _mentions(function.body, known))


def _in_block(block: Block, known: Roots, fixed: set[str], everywhere: Counter[str]) -> None:
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


def _in_turn(block: Block, made: Block, known: Roots, fixed: set[str], everywhere: Counter[str]) -> None:
    """What blocks of a turn begin as ZEROs, filled there, and made before."""
    for at, statement in reversed([*enumerate(block)]):
        match statement:
            case ast.Assign([ast.Tuple(names)], ast.Tuple(values)) if len(names) == len(values):
                later = _mentions(block[at:], known)
                for k, (name, value) in enumerate(zip(names, values, strict=True)):
                    match name, value:
                        case ast.Name(array), ast.Call(ast.Name("_full"), [ast.Tuple([size]), fill, dtype]) if (
                            _is_size(size, fixed) and later[known.of(array)] == everywhere[known.of(array)]
                        ):
                            all, turn = f"{array}all", f"{array}allk"
                            made += ast.parse(f"{all} = _empty(({ast.unparse(size)},), {ast.unparse(dtype)})").body
                            filled = f"for {turn} in range({ast.unparse(size)}):\n    {all}[{turn}] = {ast.unparse(fill)}"
                            block[at:at] = ast.parse(filled).body
                            values[k] = ast.Name(all, ast.Load())
            case ast.If(_, body, orelse):
                _in_turn(body, made, known, fixed, everywhere)
                _in_turn(orelse, made, known, fixed, everywhere)


def _is_size(node: ast.expr, fixed: set[str]) -> bool:
    match node:
        case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant()):
            return name in fixed
        case _:
            return False


def _mentions(block: Block, known: Roots) -> Counter[str]:
    """How often each root is mentioned, by whatever name."""
    return Counter(known.of(n.id) for s in block for n in walk(s) if isinstance(n, ast.Name))
