"""
What a frame of a recursion kept is the loop's own once the frame is taken off, and may be updated in place.

    a = reals[integers[9 * i + 5]:…]; s = i        the frame i is taken off, with the array that it kept
    integers[9 * s + 5], heap = heap, _keep(b, reals, heap); …; s = s + 1            a frame is put on

An array that a cell keeps is otherwise never written again, since others may read it. A frame is taken off once, and what it kept
is nobody else's if it was so when the frame was put on: the only name of its memory then, and not live afterwards
(`backend.arrays.ownership`). So it is asked of every frame, in a function that keeps nothing else.

While the two analyses look at the function, such a view is a call of TAKEN, which makes an array of these sizes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from backend.arrays.accumulating import accumulated
from backend.arrays.handed import TAKEN
from backend.arrays.in_place import Block, blocks
from backend.arrays.ownership import Ownership
from backend.arrays.walking import names_in, walk

KEEPS = frozenset({"_keep", "_keep_flags"})
COUNT = re.compile(r"s\d+")


def summed(function: ast.FunctionDef, told: Callable[[str, int], str], through: int) -> ast.FunctionDef:
    """The function with copies left out, and sums in place, also in what was taken off a stack of frames."""
    _take(function)
    return _Views().visit(accumulated(function, told, through))


def owned(function: ast.FunctionDef) -> tuple[Ownership, set[str]] | None:
    """
    Which names are the only ones of their memory, before every statement, if what frames keep is their own; and the names that may
    stand for an array that they keep. None where something else keeps arrays, or what it keeps is not its own.
    """
    facts = _take(function)
    _Views().visit(function)
    if facts is None:
        return None
    kept = sum({facts.related(name) for keep in _keeps(function) for name in names_in(keep) if facts.bit(name)})
    return facts, {name for name in facts.number if facts.bit(name) & kept}


def _take(function: ast.FunctionDef) -> Ownership | None:
    """Has each view of what a frame kept stand for an array that was taken off, if all that frames keep is their own."""
    views = [s for block in blocks(function) for s in _views(block)] if _keeps_in_frames(function) else []
    for view in views:
        view.value = _taken(view.value)
    if views and (facts := _are_own(function)) is not None:
        return facts
    for view in views:
        view.value = view.value.args[1]  # type: ignore[attr-defined]
    return None


class _Views(ast.NodeTransformer):
    """What is TAKEN, as it was."""

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        match node.value:
            case ast.Call(ast.Name(called), [_, view, _]) if called == TAKEN:
                node.value = view
        return node


def _taken(view: ast.expr) -> ast.expr:
    """An array of the sizes of a view, as a call that makes one."""
    names = names_in(view)
    dtype = "_bool" if "_bool" in names else "_f64" if "reals" in names else "_i64"
    shape = view.args[1] if isinstance(view, ast.Call) else ast.Tuple([_size(view)], ast.Load())
    return ast.Call(ast.Name(TAKEN, ast.Load()), [shape, view, ast.Name(dtype, ast.Load())], [])


def _size(view: ast.expr) -> ast.expr:
    """That of a view along one axis: reals[begin:begin + n], or of flags […][:n]."""
    assert isinstance(view, ast.Subscript), "a view"
    assert isinstance(view.slice, ast.Slice), "of a part"
    match view.slice:
        case ast.Slice(lower=ast.expr(), upper=ast.BinOp(right=size)):
            return size
        case ast.Slice(upper=ast.expr() as size):
            return size
    raise AssertionError("a part that ends somewhere")


def _views(block: Block) -> Iterator[ast.Assign]:
    """The views of what a frame kept that a block takes off: it sets the number of frames back to that of this one."""
    off = {top for _, top in _set_back(block)}
    for statement in block:
        match statement:
            case ast.Assign([ast.Name()], ast.Subscript() | ast.Call(ast.Name("_reshape")) as view) if names_in(view) & off:
                if {"reals", "integers"} & names_in(view) and any(isinstance(n, ast.Slice) for n in walk(view)):
                    yield statement


def _set_back(block: Block) -> Iterator[tuple[str, str]]:
    """s44 = i20: the number of frames, and that to which a block sets it back."""
    for statement in block:
        match statement:
            case ast.Assign([ast.Name(count)], ast.Name(top)) if COUNT.fullmatch(count) and not COUNT.fullmatch(top):
                yield count, top


def _keeps(function: ast.FunctionDef) -> list[ast.Assign]:
    """The statements that keep arrays."""
    calls = ((s, s.value) for block in blocks(function) for s in block if isinstance(s, ast.Assign))
    return [s for s, value in calls if any(isinstance(n, ast.Name) and n.id in KEEPS for n in walk(value))]


def _keeps_in_frames(function: ast.FunctionDef) -> bool:
    """Whether it keeps arrays, and in frames alone: in cells of which the number is set back."""
    counts = {count for block in blocks(function) for count, _ in _set_back(block)}
    keeps = _keeps(function)
    return bool(keeps) and all(names_in(keep.targets[0]) & counts for keep in keeps)


def _are_own(function: ast.FunctionDef) -> Ownership | None:
    """Who owns what, if each array that is kept is the only name of its memory, and nothing reads it afterwards."""
    facts = Ownership(function, {})
    facts.sole({})
    for keep in _keeps(function):
        call = next(n for n in walk(keep.value) if isinstance(n, ast.Call))
        bit, step = facts.bit(call.args[0].id) if isinstance(call.args[0], ast.Name) else 0, facts.steps[id(keep)]
        if not bit & step.before & ~step.after:
            return None
    return facts
