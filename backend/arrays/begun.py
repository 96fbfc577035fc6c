"""
A sensitivity that a loop adds to from its first turn on begins as an array of ZEROs, not as ZERO.

    i, a, m = (1, _empty((0,), _f64), _empty((0,), _bool))      i, a, m = (0, _full((n,), -0.0, _f64), _full((n,), False, _bool))
    while True:                                                 while True:
        if i == 0: a[k] = a[k] + d; m[k] = True            →        a[k] = a[k] + d; m[k] = True
        else: b = _full((n,), -0.0, _f64); b[k] = d; …

The choice between ZERO and an array is a number and the array, two of them with its mask. ZERO adds nothing, and neither does an
array of ZEROs, so what is computed is the same. It is done where every array that the choice becomes in the loop has one shape, of
sizes of arguments, and where the turns around the loop go over such an array anyway, so that they cost what they did. That the
choice is none any more, `backend.arrays.constants` finds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from backend.arrays.assumed import Settled, settled
from backend.arrays.in_place import blocks
from backend.arrays.neutral import NEUTRAL
from backend.arrays.turns_of_nests import chosen
from backend.arrays.walking import walk

Sources = dict[str, list[ast.expr]]  # what names are assigned


@dataclass(eq=False)
class Choice:
    """A choice that is ZERO before a loop: where its three values stand in the assignment, and the dtype."""

    names: list[ast.expr]
    values: list[ast.expr]
    at: int
    dtype: str

    @property
    def name(self) -> str:
        """The array of numbers."""
        return ast.unparse(self.names[self.at + 1])


def begun(function: ast.FunctionDef) -> bool:
    """Has sensitivities begin as arrays where they may; whether there is one."""
    fixed = settled(function)
    sources = _sources(function)
    outer = [(block, loop) for loop in walk(function) if isinstance(loop, ast.While) for block in _repeated(loop)]
    found = False
    for block in blocks(function):
        around = next((loop for inner, loop in reversed(outer) if inner is block), None)
        for before, loop in pairwise(block):
            if isinstance(loop, ast.While):
                for choice in _choices(before):
                    _, shape = _known(choice.name, sources)
                    if shape and _is_fixed(shape, fixed) and (around is None or _makes(around, loop, shape, sources)):
                        _begin(choice, shape)
                        found = True
    return found


def _repeated(loop: ast.While) -> Iterator[list[ast.stmt]]:
    """The blocks of a loop, but for those that it goes through when it leaves."""
    choice = chosen(loop)
    left = {id(block) for block in blocks(ast.Module(choice.orelse, []))} if choice is not None else set()  # type: ignore[arg-type]
    return (block for block in blocks(loop) if id(block) not in left)  # type: ignore[arg-type]


def _choices(statement: ast.stmt) -> list[Choice]:
    """The choices of an array of ZEROs and numbers, or ZERO, that an assignment makes ZERO."""
    match statement:
        case ast.Assign([ast.Tuple(names)], ast.Tuple(values)):
            found = []
            for at in range(len(values) - 2):
                match values[at : at + 3]:
                    case [
                        ast.IfExp(ast.Constant(False), ast.Constant(int()), ast.Constant(int())),
                        ast.Call(ast.Name("_empty"), [ast.Tuple(sizes), ast.Name(dtype)]),
                        ast.Call(ast.Name("_empty"), [ast.Tuple(others), ast.Name("_bool")]),
                    ] if dtype != "_bool" and len(sizes) == len(others) and all(_is_none(n) for n in (*sizes, *others)):
                        found.append(Choice(names, values, at, dtype))
            return found
        case _:
            return []


def _is_none(size: ast.expr) -> bool:
    return isinstance(size, ast.Constant) and size.value == 0


def _sources(function: ast.FunctionDef) -> Sources:
    found: Sources = {}
    for node in walk(function):
        match node:
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
                for target, value in zip(targets, values, strict=True):
                    if isinstance(target, ast.Name):
                        found.setdefault(target.id, []).append(value)
            case ast.Assign([ast.Name(name)], value):
                found.setdefault(name, []).append(value)
    return found


def _known(name: str, sources: Sources) -> tuple[set[str], ast.Tuple | None]:
    """All names that a name is given, through others, and the one shape of their arrays; None if there are several, or others."""
    shapes: dict[str, ast.Tuple] = {}
    seen, todo = {name}, [name]
    while todo:
        for value in sources.get(todo.pop(), [ast.Constant(None)]):
            match value:
                case ast.Name(other):
                    todo += {other} - seen
                    seen.add(other)
                case ast.Call(ast.Name("_full" | "_empty"), [ast.Tuple(sizes) as shape, *_]):
                    if not all(map(_is_none, sizes)):
                        shapes[ast.unparse(shape)] = shape
                case _:
                    return seen, None
    return seen, next(iter(shapes.values())) if len(shapes) == 1 else None


def _is_fixed(shape: ast.Tuple, fixed: Settled) -> bool:
    return all(isinstance(n, ast.Constant) or _is_size(n, fixed) for n in shape.elts)


def _is_size(node: ast.expr, fixed: Settled) -> bool:
    match node:
        case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant()):
            return name in fixed.arguments
        case ast.Name(name):
            return name in fixed.numbers
        case ast.BinOp(size, ast.Add(), ast.Constant(int())):
            return _is_size(size, fixed)
        case _:
            return False


def _makes(around: ast.While, loop: ast.While, shape: ast.Tuple, sources: Sources) -> bool:
    """Whether a turn makes or goes over an array of this shape, but in turns of the inner loop."""
    wanted, turns = ast.unparse(shape), {id(n) for s in loop.body if isinstance(s, ast.If) for t in s.body for n in walk(t)}
    return any(_is(found, wanted, sources) for n in walk(around) if id(n) not in turns and (found := _shape(n)))


def _is(found: str, wanted: str, sources: Sources) -> bool:
    """Whether a shape is the one that is wanted, or that of a name that has it."""
    match ast.parse(found, mode="eval").body:
        case ast.Tuple([ast.Subscript(ast.Attribute(ast.Name(name), "shape"), _), *_]) if found != wanted:
            own = "".join(f"{name}.shape[{k}], " for k in range(len(ast.parse(wanted, mode="eval").body.elts)))  # type: ignore[attr-defined]
            shape = _known(name, sources)[1] if found == ast.unparse(ast.parse(f"({own})")) else None
            return shape is not None and ast.unparse(shape) == wanted
        case _:
            return found == wanted


def _shape(node: ast.AST) -> str:
    """The shape of an array that a call makes, or over which loops go; "" for anything else."""
    match node:
        case ast.Call(ast.Name("_empty" | "_full"), [shape, *_]):
            return ast.unparse(shape)
        case ast.For(_, ast.Call(_, [size])):
            sizes = [size]
            while isinstance(node, ast.For) and isinstance(node.body[0], ast.For) and len(node.body) == 1:
                node = node.body[0]
                sizes += node.iter.args if isinstance(node.iter, ast.Call) else []
            return ast.unparse(ast.Tuple(sizes, ast.Load()))
        case _:
            return ""


def _begin(choice: Choice, shape: ast.Tuple) -> None:
    text, at = ast.unparse(shape), choice.at
    flag = choice.values[at]
    assert isinstance(flag, ast.IfExp), "the number of a choice"
    choice.values[at] = flag.body
    for k, (fill, dtype) in enumerate(((NEUTRAL, choice.dtype), ("False", "_bool")), start=1):
        choice.values[at + k] = ast.parse(f"_full({text}, {fill}, {dtype})", mode="eval").body
