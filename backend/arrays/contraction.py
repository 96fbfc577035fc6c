"""
Arrays of which each turn of a loop uses only its own part, made as small as one part: without axes, numbers.

    a = _empty((n, m), _f64)                      a = _empty((m,), _f64)
    for i in range(n):                            for i in range(n):
        for j in range(m):                            for j in range(m):
            a[i, j] = …                                   a[j] = …
        … a[i, 0] …                                   … a[0] …

It is so where nothing else mentions the array, every access has the number of the turn as the same index, and a turn begins by
writing all of its part, be it in both branches of a choice. What was filled at the start is filled by every turn. Arrays of one
element are numbers, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from backend.arrays.effects import assigned
from backend.arrays.walking import names_in, walk

LETTERS = {"_f64": "x", "_float32": "x", "_i64": "i", "_bool": "b"}
Path = tuple[ast.stmt, ...]
ELSE = ast.Pass()
"""In the path of what stands in the second branch of a choice, after the choice."""


@dataclass
class Array:
    """A new array: where it is made, in what statements, and in the order of the text, every access to an element, and in what."""

    name: str
    made: ast.Assign
    around: Path
    accesses: list[tuple[ast.Subscript, Path]] = field(default_factory=list)
    parted: list[ast.stmt] = field(default_factory=list)

    @property
    def call(self) -> ast.Call:
        assert isinstance(self.made.value, ast.Call)
        return self.made.value

    @property
    def sizes(self) -> list[ast.expr]:
        shape = self.call.args[0]
        assert isinstance(shape, ast.Tuple)
        return shape.elts

    @property
    def fill(self) -> ast.expr | None:
        return self.call.args[1] if len(self.call.args) == 3 else None


def contracted(function: ast.FunctionDef) -> dict[int, frozenset[str]]:
    """
    The arrays of a function made as small as they may be. What is given is, for the identity of a loop, the arrays of which a turn
    now has its part.
    """
    arrays = arrays_of(function)
    for array in arrays:
        _contract(array)
    taken = names_in(function)
    names = {a.name: _number(a, taken) for a in arrays if all(map(_is_one, a.sizes))}
    _Numbers(names).visit(function)
    own: dict[int, frozenset[str]] = {}
    for array in arrays:
        for loop in array.parted:
            own[id(loop)] = own.get(id(loop), frozenset()) | {array.name} - {*names}
    return own


def _number(array: Array, taken: set[str]) -> str:
    """A name for the number that an array has become."""
    name = LETTERS[ast.unparse(array.call.args[-1])] + array.name.strip("a_")
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def arrays_of(function: ast.FunctionDef) -> list[Array]:
    """The new arrays of which all that is mentioned are elements, and whose sizes do not change."""
    found: dict[str, Array] = {}
    bad: set[str] = set()
    times = assigned(function)
    for node, path in in_order(function.body, ()):
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty" | "_full"))):
                found[name] = Array(name, node, path)
                if any(isinstance(n, ast.Name) and times[n.id] > 1 for n in (node.targets[0], *walk(node.value))):
                    bad.add(name)
            case ast.AugAssign(ast.Subscript(ast.Name(name))):  # reads what it writes
                bad.add(name)
            case ast.Subscript(ast.Name(name)) if name in found:
                found[name].accesses.append((node, path))
            case ast.Name(name):
                bad.add(name)
    return [a for a in found.values() if a.name not in bad and a.accesses]


def in_order(block: list[ast.stmt], path: Path) -> Iterator[tuple[ast.AST, Path]]:
    """The parts of statements in the order in which they are computed, each with the statements around it."""
    for statement in block:
        match statement:
            case ast.For(_, iter, body):
                yield from _parts(iter, path)
                yield from in_order(body, (*path, statement))
            case ast.While(test, body) | ast.If(test, body):
                yield from _parts(test, path)
                yield from in_order(body, (*path, statement))
                yield from in_order(statement.orelse, (*path, statement, ELSE))
            case ast.Assign([ast.Name()], ast.Call(ast.Name("_empty" | "_full")) as call):
                yield from _parts(call, path)
                yield statement, path
            case ast.Assign([target], value):
                yield from _parts(value, path)
                yield from _parts(target, path)
            case _:
                yield from _parts(statement, path)


def _parts(node: ast.AST, path: Path) -> Iterator[tuple[ast.AST, Path]]:
    """The accesses in an expression, and other names."""
    todo = [node]
    while todo:
        part = todo.pop()
        yield part, path
        todo += [part.slice] if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name) else ast.iter_child_nodes(part)


def _contract(array: Array) -> None:
    """Without the axes along which a turn of a loop has its own part."""
    turn: ast.For | None = None
    path = array.accesses[0][1]
    inside = len(array.around)
    shared = min(_common(path, other) for _, other in array.accesses)
    for at, loop in enumerate(path[inside:shared], inside):
        axis = _axis(array, loop) if isinstance(loop, ast.For) else None
        if axis is not None and (array.fill is not None or _covers(array, axis, path[at + 1 :])):
            for access, _ in array.accesses:
                access.slice = _index([i for k, i in enumerate(indices(access)) if k != axis])
            del array.sizes[axis]
            array.parted.append(loop)
            turn = loop  # type: ignore[assignment]
        elif array.fill is not None:
            break
    if array.fill is not None and turn is not None:
        turn.body.insert(0, _filling(array))
        del array.call.args[1]
        array.call.func = ast.Name("_empty", ast.Load())


def _common(a: Path, b: Path) -> int:
    """How many statements around both are the same."""
    return next((k for k, (s, t) in enumerate(zip(a, b, strict=False)) if s is not t), min(len(a), len(b)))


def indices(access: ast.Subscript) -> list[ast.expr]:
    """The indices of an access."""
    return access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice]


def _index(parts: list[ast.expr]) -> ast.expr:
    return parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())


def _axis(array: Array, loop: ast.For) -> int | None:
    """The axis that a loop goes along, whose index is in every access its own."""
    for axis, size in enumerate(array.sizes):
        if _goes(loop, size) and all(_is(indices(access)[axis], loop) for access, _ in array.accesses):
            return axis
    return None


def _goes(loop: ast.stmt, size: ast.expr) -> bool:
    """Whether a loop goes over a size."""
    match loop:
        case ast.For(ast.Name(), ast.Call(ast.Name("range"), [stop])):
            return ast.dump(stop) == ast.dump(size)
        case _:
            return False


def _is(index: ast.expr, loop: ast.stmt) -> bool:
    match index, loop:
        case ast.Name(k), ast.For(ast.Name(turn)):
            return k == turn
        case _:
            return False


def _covers(array: Array, axis: int, inner: Path) -> bool:
    """Whether the first access, in the loops `inner` of a turn, writes every element of the turn's part."""
    access, _ = array.accesses[0]
    if inner and isinstance(inner[-1], ast.If) and _both(array, inner[-1]):
        inner = inner[:-1]
    if not isinstance(access.ctx, ast.Store) or not all(isinstance(s, ast.For) for s in inner):
        return False
    loops = [*inner]
    for k, (index, size) in enumerate(zip(indices(access), array.sizes, strict=True)):
        if k == axis or (_is_one(size) and _is_zero(index)):
            continue
        at = next((i for i, loop in enumerate(loops) if _is(index, loop) and _goes(loop, size)), None)
        if at is None:
            return False
        del loops[at]
    return True


def _both(array: Array, choice: ast.If) -> bool:
    """Whether all that the two branches of a choice do with the array is to write the same elements."""
    within = [(access, path[path.index(choice) + 1 :]) for access, path in array.accesses if choice in path]
    same = len({ast.dump(access.slice) for access, _ in within}) == 1
    return same and all(isinstance(a.ctx, ast.Store) for a, _ in within) and {path for _, path in within} == {(), (ELSE,)}


def _is_one(size: ast.expr) -> bool:
    return isinstance(size, ast.Constant) and size.value == 1


def _is_zero(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value == 0


def _filling(array: Array) -> ast.stmt:
    """Loops that fill the array."""
    assert array.fill is not None
    names: list[ast.expr] = [ast.Name(f"{array.name}k{k}", ast.Load()) for k in range(len(array.sizes))]
    element = ast.Subscript(ast.Name(array.name, ast.Load()), _index(names), ast.Store())
    array.accesses.append((element, ()))
    body: ast.stmt = ast.Assign([element], array.fill)
    for name, size in reversed([*zip(names, array.sizes, strict=True)]):
        assert isinstance(name, ast.Name)
        count = ast.Call(ast.Name("range", ast.Load()), [size], [])
        body = ast.For(ast.Name(name.id, ast.Store()), count, [body], [])
    return body


class _Numbers(ast.NodeTransformer):
    """Arrays of one element made numbers."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Assign(self, node: ast.Assign) -> ast.Assign | None:
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty"))) if name in self.names:
                return None
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_full"), [_, fill, _])) if name in self.names:
                return ast.Assign([ast.Name(self.names[name], ast.Store())], fill)
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name("float" | "int" | "bool"), [ast.Name(name) as number]) if name in self.names.values():
                return number
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id in self.names:
            return ast.Name(self.names[node.value.id], node.ctx)
        self.generic_visit(node)
        return node
