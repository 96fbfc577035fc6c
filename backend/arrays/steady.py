"""
Elements that every turn of a loop finds at the same place: held under a name while the loop goes on.

    for k in _apart(turns):                 h = float(a[1]) if turns > 0 and 1 < a.shape[0] else 0.0
        …                                   for k in _apart(turns):
        if b: a[1] = a[1] + x          →        …
        …                                       if b: h = h + x
                                            if turns > 0 and 1 < a.shape[0]: a[1] = h

So are adjoints of parameters, to which all turns add in their order. It is done where an array is accessed at such places alone: at
one, or at several that are told apart by numbers. Tests of sizes that do not depend on the turn come before the loop, as they do
elsewhere: where they fail, another tier runs the sample.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from backend.arrays.carried import is_guard
from backend.arrays.contraction import indices
from backend.arrays.effects import Roots
from backend.arrays.takes import SIZE, Linear, linear
from backend.arrays.walking import names_in, walk

Block = list[ast.stmt]
Place = tuple[Linear, ...]


def sizes_first(body: Block, inside: set[str], turns: str) -> Block:
    """
    Tests of sizes in a body, which loses those that are the same in all turns, to be made before the loop of so many; `inside` are
    the names that turns assign.
    """
    taking = _Taking(inside)
    body[:] = [taking.visit(statement) for statement in body]
    tests = {ast.unparse(guard): guard for guard in taking.found}
    return [ast.If(ast.BoolOp(ast.And(), [_read(f"{turns} > 0"), g.test]), g.body, []) for g in tests.values()]


def indices_first(body: Block, inside: set[str]) -> Block:
    """
    Indices that a body chooses in the same way in all turns, to be chosen before the loop: those from the end of an array. The body
    loses them, and they are none of the names `inside`, that turns assign, any more.
    """
    found: Block = []
    for statement in [*body]:
        match statement:
            case ast.Assign([ast.Name(name)], ast.IfExp() as value) if not names_in(value) & inside and _is_of_numbers(value):
                found.append(statement)
                body.remove(statement)
                inside.discard(name)
    return found


def _is_of_numbers(value: ast.expr) -> bool:
    """Whether an expression is of names, sizes and numbers alone, that are compared and added; so it cannot fail."""
    plain = ast.IfExp | ast.Compare | ast.BinOp | ast.Name | ast.Constant
    for node in walk(value):
        match node:
            case (
                ast.BinOp(_, ast.Add() | ast.Sub())
                | ast.Attribute(ast.Name(), "shape")
                | ast.Subscript(ast.Attribute(), ast.Constant())
            ):
                pass
            case ast.BinOp():
                return False
            case _ if not isinstance(node, plain):
                return False
    return True


class _Taking(ast.NodeTransformer):
    def __init__(self, inside: set[str]) -> None:
        self.inside, self.found = inside, list[ast.If]()

    def visit_If(self, node: ast.If) -> ast.stmt:
        if is_guard(node) and not names_in(node.test) & self.inside:
            self.found.append(node)
            return ast.Pass()
        self.generic_visit(node)
        return node


def held(body: Block, inside: set[str], values: dict[str, ast.expr], roots: Roots, counter: str) -> tuple[Block, Block]:
    """What comes before and after a loop with this body, which has names for such elements then."""
    before, after, names = list[str](), list[str](), dict[tuple[str, Place], str]()
    for (array, place), node in _places(body, inside, values, roots).items():
        name = names[array, place] = f"{counter}held{len(names)}"
        at = [ast.unparse(index) for index in indices(node)]
        there = " and ".join([f"{counter}turns > 0", *(f"0 <= {i} < {array}.shape[{d}]" for d, i in enumerate(at))])
        element = f"{array}[{', '.join(at)}]"
        truth = any(isinstance(value, bool) for value in _given(body, array))
        before.append(f"{name} = {f'{element} if {there} else False' if truth else f'float({element}) if {there} else 0.0'}")
        after.append(f"if {there}:\n    {element} = {name}")
    if names:
        holding = _Holding(names, values)
        body[:] = [holding.visit(statement) for statement in body]
    return ast.parse("\n".join(before)).body, ast.parse("\n".join(after)).body


def _places(body: Block, inside: set[str], values: dict[str, ast.expr], roots: Roots) -> dict[tuple[str, Place], ast.Subscript]:
    """The arrays that are written to at such places alone, with the places, and an access of each."""
    nodes = [n for s in body for n in walk(s)]
    elements = [n for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)]
    written = {n.value.id for n in elements if isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name)}
    found: dict[tuple[str, Place], ast.Subscript] = {}
    for array in sorted(written - {"reals", "integers"}):
        own = [n for n in elements if isinstance(n.value, ast.Name) and n.value.id == array]
        places = [place_of(node, values, inside) for node in own]
        mentioned = sum(isinstance(n, ast.Name) and roots.of(n.id) == roots.of(array) for n in nodes)
        if mentioned == len(own) and None not in places and are_told_apart({p for p in places if p is not None}):
            found |= {(array, place): node for place, node in zip(places, own, strict=True) if place is not None}
    return found


def place_of(node: ast.Subscript, values: dict[str, ast.expr], inside: set[str]) -> Place | None:
    """Where an element is, if that is the same in all turns."""
    place = tuple(linear(index, values) for index in indices(node))
    return place if all(stays(at, inside) for at in place) else None


def stays(at: Linear, inside: set[str]) -> bool:
    """Whether an index is the same in all turns, which assign the names `inside`."""
    names = {name for name, _ in at if name}
    known = all(name.isidentifier() or SIZE.fullmatch(name) for name in names)
    return known and not {name.partition(".")[0] for name in names} & inside


def are_told_apart(places: set[Place]) -> bool:
    """Whether no two are the same, or there is one."""
    return len(places) == 1 or all(not name for place in places for at in place for name, _ in at)


def _given(body: Sequence[ast.stmt], array: str) -> Iterator[object]:
    """The constants that elements of an array are given."""
    for statement in body:
        for node in walk(statement):
            match node:
                case ast.Assign([ast.Subscript(ast.Name(name))], ast.Constant(value)) if name == array:
                    yield value


class _Holding(ast.NodeTransformer):
    """The elements by their names."""

    def __init__(self, names: dict[tuple[str, Place], str], values: dict[str, ast.expr]) -> None:
        self.names, self.values = names, values

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name):
            place = tuple(linear(index, self.values) for index in indices(node))
            if (name := self.names.get((node.value.id, place))) is not None:
                return ast.Name(name, node.ctx)
        return node


def _read(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
