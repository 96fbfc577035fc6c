"""
Integers in cells of stacks that are the number of the turn, or differ from it by a constant: told from the place of the cell.

    p, q, i = (s - 1, s, 0)                        …
    while True:                                    …
        j = i + 1                                  …
        if j < -n or j >= n: return SIZES          …
        integers[_cell(7, s, '0')] = j             …
        s = s + 1                                  …
        p, q, i = (s - 1, q, i + 1)                …
    …                                              …
        if c < b: return …                         if c < b: return …
        k = int(integers[_cell(7, c, '0')])   →    k = c - b + 1
        if k < -n or k >= n: return SIZES          d[k]
        d[k + n if k < 0 else k]

A stack begins at the counter of its cells, and every turn of the loop that pushes puts one on top, so a cell lies as far above the
base as turns had been before it. What the turn that pushed has tested of the integer and of sizes of arguments holds when it is
read; and where the constant is not negative, neither is the integer. So a compiler sees that indices differ, and by how much.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from backend.arrays.effects import assigned, unassigned
from backend.arrays.in_place import blocks
from backend.arrays.one_turn import Push, Turn
from backend.arrays.turn_values import Value
from backend.arrays.walking import names_in, walk

Block = list[ast.stmt]


@dataclass(frozen=True)
class Pushed:
    """An integer in cells: how much more than the number of the turn it is, if it counts turns, and which tests it has passed."""

    above: int | None
    passed: frozenset[str]


Known = Mapping[tuple[str, str], Pushed]


def counted(function: ast.FunctionDef, known: Known) -> None:
    """The function, which does not read from cells what is known of their integers."""
    if not known:
        return
    times = assigned(function)
    read: dict[str, Pushed] = {}
    for block in blocks(function):
        for statement, bases in with_bases(block):
            where = place_read(statement)
            if where is not None and (found := known.get(where[0])) is not None:
                assert isinstance(statement, ast.Assign)
                name, cell = ast.unparse(statement.targets[0]), where[1]
                if found.above is not None and cell in bases:
                    statement.value = ast.parse(f"{cell} - {bases[cell]} + {found.above}", mode="eval").body
                if times[name] == 1:
                    read[name] = found
    Told(read).visit(function)


def with_bases(block: Block) -> Iterator[tuple[ast.stmt, dict[str, str]]]:
    """The statements, each with the bases of the cells that have been found to lie above one."""
    bases: dict[str, str] = {}
    for statement in block:
        yield statement, bases
        match statement:
            case ast.If(ast.Compare(ast.Name(cell), [ast.Lt()], [ast.Name(base)]), [ast.Return()], []):
                bases[cell] = base
            case _ if bases:
                names = assigned(statement)
                bases = {c: b for c, b in bases.items() if not {c, b} & names.keys()}


def place_read(statement: ast.AST) -> tuple[tuple[str, str], str] | None:
    """The site and the place that are read, and the cell, if that is all that a statement does."""
    match statement:
        case ast.Assign(
            [ast.Name()],
            ast.Call(
                ast.Name("float" | "int"),
                [ast.Subscript(_, ast.Call(ast.Name("_cell"), [ast.Constant(site), ast.Name(cell), ast.Constant(place)]))],
            ),
        ):
            return (str(site), str(place)), cell
        case _:
            return None


def counts(function: ast.FunctionDef, turns: Sequence[Turn], shared: set[str]) -> dict[tuple[str, str], Pushed]:
    """What is known of integers in places of cells; nothing of the sites in `shared`, which are others' too."""
    times, fixed = assigned(function), unassigned(function)
    found: dict[tuple[str, str], Pushed] = {}
    for turn in turns:
        for site, pushes in turn.pushes.items():
            if site not in shared and times[f"s{site}"] == len(pushes) + 1:
                in_order = turn.stack(site, times) is not None and all(push.on_top for push in pushes)
                counters = turn.counters() if in_order else {}
                for place in frozenset.intersection(*(frozenset(push.places) for push in pushes)):
                    numbers = {number(push.places[place].value, counters) for push in pushes}
                    pushed = Pushed(numbers.pop() if len(numbers) == 1 else None, passed(pushes, place, fixed))
                    if pushed.above is not None or pushed.passed:
                        found[site, place] = pushed
    return found


def number(value: Value, counters: Mapping[str, int]) -> int | None:
    """By how much an integer is above the number of the turn; None if it does not count turns."""
    match value:
        case ("name", str(name)) if name in counters:
            return counters[name]
        case ("above", ("name", str(name)), int(n)) if name in counters:
            return counters[name] + n
        case _:
            return None


def passed(pushes: Sequence[Push], place: str, fixed: frozenset[str]) -> frozenset[str]:
    """The tests of what a place is given, and of sizes, that were made before any push."""
    return frozenset.intersection(*(_told(push, push.places[place].written, fixed) for push in pushes))


def _told(push: Push, written: ast.expr, fixed: frozenset[str]) -> frozenset[str]:
    if not isinstance(written, ast.Name):
        return frozenset()
    return frozenset(told for test in push.passed if "(" not in test and (told := _of_sizes(test, written.id, fixed)))


def _of_sizes(test: str, name: str, fixed: frozenset[str]) -> str:
    """A test of a name and sizes of arguments, in terms of `_`; "" for another."""
    mentioned = names_in(ast.parse(test))
    return _of(test, name) if name in mentioned and mentioned - {name} <= fixed else ""


def _of(test: str, name: str) -> str:
    node = ast.parse(test, mode="eval")
    for n in walk(node):
        if isinstance(n, ast.Name) and n.id == name:
            n.id = "_"
    return ast.unparse(node)


class Told(ast.NodeTransformer):
    """Tests that are known to pass left out, and integers that are known not to be negative."""

    def __init__(self, read: dict[str, Pushed]) -> None:
        self.read = read

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        match node:
            case ast.If(test, [ast.Return()], []):
                for name in names_in(test) & self.read.keys():
                    if _of(ast.unparse(test), name) in self.read[name].passed:
                        return ast.Pass()
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        match node.test:
            case ast.Compare(ast.Name(name), [ast.Lt()], [ast.Constant(0)]):
                least = self.read[name].above if name in self.read else None
                return node if least is None or least < 0 else node.orelse
            case _:
                return node
