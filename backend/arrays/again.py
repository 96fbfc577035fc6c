"""
What cells of stacks need not keep: numbers that are computed again, of arguments, of the number of the turn, and of what else the
cell keeps.

    while True:                                              while True:
        x = float(a1[i])                                         x = float(a1[i])
        y = _mul(a0, x)                                          y = _mul(a0, x)
        reals[_cell(7, s, '0')] = x                              …
        reals[_cell(7, s, '1')] = y                    →
    …                                                        …
        if c < b: return …                                       if c < b: return …
        u = float(reals[_cell(7, c, '0')])                       u = float(a1[c - b + 0])
        v = float(reals[_cell(7, c, '1')])                       v = _mul(a0, u)

Nothing writes to arguments, and what is computed of the same numbers in the same way has the same bits. Where one choice has made
a truth value and a number, the number is computed in each arm of an `if` that asks the truth value, as that path did. Only reading
is changed. What nothing reads then is not written either (`backend.stacks.layout.laid_out`).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from backend.arrays.counted import Known, place_read, with_bases
from backend.arrays.effects import assigned, unassigned
from backend.arrays.in_place import blocks
from backend.arrays.one_turn import Push, Turn
from backend.arrays.recipes import Place, Recipe
from backend.arrays.turn_values import Value
from backend.arrays.walking import unused_numbers, walk

Tree = str | tuple[str, "Tree", "Tree"] | None  # an expression, or one of two by a truth value; None where it is not known
REAL = ("neg", "add", "sub", "mul", "element")


def computed_again(function: ast.FunctionDef, turns: Sequence[Turn], known: Known, outside: Set[Place], shared: set[str]) -> None:
    """
    The function, which reads fewer places of cells; those of the sites in `shared` are others' too. What is in the places `outside`
    may be read from other cells.
    """
    times, fixed = assigned(function), unassigned(function)
    read = {where[0] for n in walk(function) if (where := place_read(n)) is not None}
    values: dict[Place, Value] = {}
    for site, pushes in _all_pushes(turns, times).items():
        for place in frozenset.intersection(*(frozenset(push.places) for push, _ in pushes)):
            counts = (site, place) in known and known[site, place].above is not None
            if site not in shared and (site, place) in read and (site, place) not in outside and not counts:
                found = {Recipe(site, place, push, turn, known, read | outside, fixed).found() for push, turn in pushes}
                if len(found) == 1 and (value := found.pop()) is not None:
                    values[site, place] = value
    if values:
        _Rewriting(function, values, times).run(function)


def _all_pushes(turns: Sequence[Turn], times: Counter[str]) -> dict[str, list[tuple[Push, Turn]]]:
    """For each site, all of its pushes, if all are followed, with the turns of which they are part."""
    found: dict[str, list[tuple[Push, Turn]]] = {}
    for turn in turns:
        for site, pushes in turn.pushes.items():
            found.setdefault(site, []).extend((push, turn) for push in pushes)
    return {site: pushes for site, pushes in found.items() if times[f"s{site}"] == len(pushes) + 1}


class _Rewriting:
    """Reads of places written as what is computed."""

    def __init__(self, function: ast.FunctionDef, values: Mapping[Place, Value], times: Counter[str]) -> None:
        self.values, self.times, self.fresh = values, times, unused_numbers(function)
        self.trees: dict[str, Tree] = {}

    def run(self, function: ast.FunctionDef) -> None:
        for block in blocks(function):
            block[:] = self.block(block)
        if self.trees:
            _InArms(self.trees).visit(function)

    def block(self, block: list[ast.stmt]) -> Iterator[ast.stmt]:
        cells: dict[Place, _Cell] = {}
        for statement, bases in with_bases(block):
            match statement:
                case ast.Assign(
                    [ast.Name(truth)], ast.Compare(ast.Subscript(_, ast.Call(ast.Name("_cell"), [site, ast.Name(c), at])))
                ):
                    self.cell(cells, ast.unparse(site), c, bases).truths[ast.literal_eval(at)] = truth
            found = place_read(statement)
            value = None if found is None else self.values.get(found[0])
            if found is not None and value is not None and (cell := self.cell(cells, found[0][0], found[1], bases)).has(value):
                assert isinstance(statement, ast.Assign)
                name = ast.unparse(statement.targets[0])
                yield from ast.parse("\n".join([*cell.lines(value), f"{name} = {cell.text(value)}"])).body
                if value[0] == "arm" and self.times[name] == 1:
                    self.trees[name] = self.tree(value, cell)
            else:
                yield statement
            if cells:
                names = assigned(statement)
                cells = {key: cell for key, cell in cells.items() if not names.keys() & {cell.name, cell.base}}

    def tree(self, value: Value, cell: _Cell) -> Tree:
        """The truth values that decide a number, as they are called."""
        if value[0] != "arm":
            return cell.inline(value)
        truth = cell.truths[value[1]]
        return (truth, self.tree(value[2], cell), self.tree(value[3], cell)) if self.times[truth] == 1 else None

    def cell(self, cells: dict[Place, _Cell], site: str, name: str, bases: Mapping[str, str]) -> _Cell:
        """What is known of a cell where its base is."""
        base, old = bases.get(name, ""), cells.get((site, name))
        if old is None or old.base != base:
            cells[site, name] = _Cell(site, name, base, self.fresh, old.truths if old else {})
        return cells[site, name]


@dataclass
class _Cell:
    """The text of values at one cell, each part computed once, but in arms, of which one is taken."""

    site: str
    name: str
    base: str
    fresh: Iterator[int]
    truths: dict[str, str] = field(default_factory=dict)
    names: dict[Value, str] = field(default_factory=dict)

    def has(self, value: Value) -> bool:
        """Whether all is there that a value needs: the base to count from, and truth values that have been read."""
        here = self.base if value[0] == "count" else value[1] in self.truths if value[0] == "arm" else True
        return bool(here) and all(self.has(part) for part in value[1:] if isinstance(part, tuple))

    def lines(self, value: Value) -> Iterator[str]:
        """What is to be written before the text of a value."""
        for part in value[1:] if value[0] != "arm" else ():
            if isinstance(part, tuple) and part not in self.names and part[0] not in ("number", "size", "name"):
                yield from self.lines(part)
                text = self.text(part)
                self.names[part] = f"{'x' if part[0] in REAL or part[-1] == 'reals' else 'i'}{next(self.fresh)}"
                yield f"{self.names[part]} = {text}"

    def text(self, value: Value) -> str:
        """The text of a value by the names that its parts have."""
        if value[0] == "arm":
            return self.inline(value)
        return self.written(value, [self.names.get(part) or self.text(part) for part in value[1:] if isinstance(part, tuple)])

    def inline(self, value: Value) -> str:
        """The text of a value without names for parts: what is not asked for is not computed."""
        return f"({self.written(value, [self.inline(part) for part in value[1:] if isinstance(part, tuple)])})"

    def written(self, value: Value, of: list[str]) -> str:
        match value:
            case (("number" | "name" | "size"), str(text)):
                return text
            case "count", n:
                return f"{self.name} - {self.base} + {n}"
            case "place", place, memory:
                return f"{'float' if memory == 'reals' else 'int'}({memory}[_cell({self.site}, {self.name}, {place!r})])"
            case "arm", place, *_:
                return f"{of[0]} if {self.truths[place]} else {of[1]}"
            case "above", _, n:
                return f"{of[0]} + {n}"
            case "neg", _:
                return f"-{of[0]}"
            case ("add" | "sub") as operation, *_:
                return f"{of[0]} {'+' if operation == 'add' else '-'} {of[1]}"
            case "mul", *_:
                return f"_mul({', '.join(of)})"
            case "wrapped", *_:
                return f"{of[0]} + {of[1]} if {of[0]} < 0 else {of[0]}"
            case _:
                return f"float({value[1]}[{', '.join(of)}])"


class _InArms(ast.NodeTransformer):
    """Numbers written out in the arms of an `if` that asks what they go with."""

    def __init__(self, trees: Mapping[str, Tree]) -> None:
        self.trees = trees

    def visit_If(self, node: ast.If) -> ast.stmt:
        if not isinstance(node.test, ast.Name):
            self.generic_visit(node)
            return node
        for k, arm in enumerate((node.body, node.orelse)):
            inside = _InArms({name: _known(tree, node.test.id, k) for name, tree in self.trees.items()})
            arm[:] = [inside.visit(statement) for statement in arm]
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        text = self.trees.get(node.id)
        return ast.parse(text, mode="eval").body if isinstance(text, str) and isinstance(node.ctx, ast.Load) else node


def _known(tree: Tree, truth: str, arm: int) -> Tree:
    """What is known of a number in an arm of the `if` that asks a truth value."""
    return tree[1 + arm] if isinstance(tree, tuple) and tree[0] == truth else tree
