"""
Turns of a loop side by side: sums that wait for themselves are added up for 64 turns at once.

    for k in range(n):                       for k_s in range(0, n, 64):
        x = -0.0                                 k_m = min(64, n - k_s)
        for j in range(m):                       for k_l in range(k_m):
            x = x + a[k, j] * b[j]                   x_l[k_l] = -0.0
        c[k] = x                       →         for j in range(m):
                                                     for k_l in range(k_m):
                                                         x_l[k_l] = x_l[k_l] + a[k_s + k_l, j] * b[j]
                                                 for k_l in range(k_m):
                                                     c[k_s + k_l] = x_l[k_l]

Numbers, and arrays of which a turn has its own part, get an axis for the turn. Each group of statements becomes a loop over turns,
which a compiler vectorises: in it the statements stand as they were, between what fetches and what keeps the numbers that other
groups share. `backend.arrays.turns` says for which loops no bit can tell. Loops that add up products are calls, where
`backend.arrays.turn_sums` knows them; in another innermost loop, eight of its turns go into one.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy

from backend.arrays.contraction import indices
from backend.arrays.effects import Reader, roots
from backend.arrays.nests import rearranged
from backend.arrays.turn_sums import Lanes, sums
from backend.arrays.turns import DTYPES, Block, Mentions, Turns, definitely, elements, groups, reads_first, turns
from backend.arrays.walking import names_in, walk

KINDS = {"x": "float", "i": "int", "b": "bool"}  # of numbers, as `DTYPES` has them
LANES = 64
FEWEST = 8
MEMORY = 1 << 18  # elements that the parts of all lanes may have, if there are more than the fewest lanes
JAMMED = 8  # turns of an innermost loop that go into one


def beside(function: ast.FunctionDef, parts: Mapping[int, frozenset[str]]) -> None:
    """The function with turns side by side; `parts` says, for the identity of a loop, of which arrays a turn has its part."""
    known = roots(function)
    mentions, reals = Mentions(function, known), frozenset(made_of_reals(function))
    found: list[ast.stmt] = []
    for statement in function.body:
        own = parts.get(id(statement), frozenset())
        if isinstance(statement, ast.For) and (its := turns(statement, own, mentions)) is not None:
            mentions.count(statement, -1)
            statement.body = rearranged(statement.body, Reader(known))
            mentions.count(statement, 1)
            writer = _Writer(its, reals)
            made = [s for s in found if writer.makes(s)]
            found = [*(s for s in found if not writer.makes(s)), *writer.written(made)]
        else:
            found.append(statement)
    function.body = found


class _Writer:
    """The text of one loop with its turns side by side."""

    def __init__(self, turns: Turns, reals: frozenset[str]) -> None:
        self.turns = turns
        self.lane, self.start, self.count, self.lanes = (f"{turns.turn}_{letter}" for letter in "lsmb")
        inside = Counter[str]()
        first: set[str] = set()
        for group, _ in groups(turns.loop.body, ()):
            inside.update({n.id for s in group for n in walk(s) if isinstance(n, ast.Name)} & turns.numbers)
            first |= reads_first(group, turns.numbers)
        self.shared = {name for name, count in inside.items() if count > 1} | first
        self.fresh = 0
        self.all = Lanes(turns, self.count, {name: self.array(name) for name in self.shared}, reals)

    def makes(self, statement: ast.stmt) -> bool:
        """Whether a statement makes an array of which a turn has its own part."""
        match statement:
            case ast.Assign([ast.Name(name)]):
                return name in self.turns.private
            case _:
                return False

    def written(self, made: Block) -> Block:
        """The loop, after the arrays for its numbers and those of which a turn has its part, taken from where they are `made`."""
        shapes = [s.value.args[0].elts for s in made]  # type: ignore[attr-defined]
        size = " + ".join(" * ".join(f"({ast.unparse(n)})" for n in shape) for shape in shapes) or "1"
        stop = ast.unparse(self.turns.loop.iter.args[0])  # type: ignore[attr-defined]
        lanes = f"max(1, min({LANES}, {stop}, max({FEWEST}, {MEMORY} // max(1, {size}))))"
        for shape in shapes:
            shape.append(ast.Name(self.lanes, ast.Load()))
        arrays = [_parsed(f"{self.array(name)} = _empty(({self.lanes},), {DTYPES[name[0]]})") for name in sorted(self.shared)]
        loop = _parsed(
            f"for {self.start} in range(0, {stop}, {self.lanes}):\n    {self.count} = min({self.lanes}, {stop} - {self.start})"
        )
        assert isinstance(loop, ast.For)
        loop.body += self.block(self.turns.loop.body)
        return [_parsed(f"{self.lanes} = {lanes}"), *made, *arrays, loop]

    def array(self, number: str) -> str:
        """The array for a number that several groups share."""
        return f"{number}_{self.turns.turn}"

    def block(self, block: Block) -> Block:
        """Each group a loop over turns; loops around groups stay."""
        found: Block = []
        run: Block = []
        for statement in [*block, None]:
            if statement is not None and not isinstance(statement, ast.For):
                run.append(statement)
                continue
            if run:
                found += self.group([run])
            run = []
            if statement is not None:
                found += self.loop(statement)
        return found

    def loop(self, loop: ast.For) -> Block:
        """An inner loop; of sums of products, one call; an innermost one with several of its turns in one, and those left over."""
        if (call := sums(loop, self.all)) is not None:
            return [_parsed(call)]
        if any(isinstance(s, ast.For) for s in loop.body):
            return [ast.For(loop.target, loop.iter, self.block(loop.body), [])]
        assert isinstance(loop.target, ast.Name), "loops count"
        assert isinstance(loop.iter, ast.Call), "to a number"
        count, stop = loop.target.id, ast.unparse(loop.iter.args[0])
        if stop.isdigit() or self.stores(loop.body, count):
            return [ast.For(loop.target, loop.iter, self.group([loop.body]), [])]
        copies = [[_At(count, k).visit(deepcopy(s)) for s in loop.body] for k in range(JAMMED)]
        whole = f"{count}_w"
        several = _parsed(f"for {count} in range(0, {whole}, {JAMMED}):\n    pass")
        others = _parsed(f"for {count} in range({whole}, {stop}):\n    pass")
        several.body, others.body = self.group(copies), self.group([loop.body])  # type: ignore[attr-defined]
        return [_parsed(f"{whole} = ({stop}) // {JAMMED} * {JAMMED}"), several, others]

    def stores(self, block: Block, count: str) -> bool:
        """Whether a turn of an inner loop writes to an element of its own, but for arrays that are added to."""
        nodes = [n for s in block for n in walk(s)]
        stored = ((array, node.slice) for array, _, node in elements(nodes) if isinstance(node.ctx, ast.Store))
        return any(count in names_in(index) for array, index in stored if array not in self.turns.added)

    def group(self, copies: list[Block]) -> Block:
        """A loop over turns, of statements in some turns of an inner loop."""
        statements = [deepcopy(s) for copy in copies for s in copy]
        before, first, last, after = self.held(statements)
        names = {n.id for s in statements for n in walk(s) if isinstance(n, ast.Name)}
        shared = frozenset(names & self.shared)
        stored = {n.id for s in statements for n in walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        perhaps = stored - definitely(statements, shared)
        for name in sorted(shared):
            place = f"{self.array(name)}[{self.lane}]"
            first += [f"{name} = {KINDS[name[0]]}({place})"] * (name in reads_first(statements, shared) | perhaps)
            last += [f"{place} = {name}"] * (name in stored)
        turn = [f"{self.turns.turn} = {self.start} + {self.lane}"] * (self.turns.turn in names)
        loop = _parsed(f"for {self.lane} in range({self.count}):\n    pass")
        assert isinstance(loop, ast.For)
        loop.body = [*map(_parsed, [*turn, *first]), *statements, *map(_parsed, last)]
        return [*map(_parsed, before), loop, *map(_parsed, after)]

    def held(self, statements: Block) -> tuple[list[str], list[str], list[str], list[str]]:
        """
        Elements given names, in the statements; and what stands before and after a loop over turns, and first and last in it: an
        element that is only read, or added to, is the same for all turns; what one turn writes several times is a number meanwhile.
        """
        before, first, last, after = [], [], [], []
        nodes = [n for s in statements for n in walk(s)]
        sure = {(a, i) for a, i, _ in elements(_always(statements))}
        stores = Counter((a, i) for a, i, node in elements(nodes) if isinstance(node.ctx, ast.Store))
        places: dict[str, set[str]] = {}
        fixed: dict[tuple[str, str], str] = {}
        for array, index, _ in elements(nodes):
            places.setdefault(array, set()).add(index)
        vary = self.turns.numbers | self.turns.carried | self.turns.written | {self.turns.turn}
        for array, index, node in elements(nodes):
            if (array, index) in fixed or (array, index) not in sure or vary & names_in(node.slice):
                continue
            name = f"{self.turns.turn}_{self.fresh}"
            if array not in self.turns.written or array in self.turns.added:
                before.append(f"{name} = {array}[{index}]")
                after += [f"{array}[{index}] = {name}"] * (array in self.turns.added)
            elif array in self.turns.private and stores[array, index] > 1 and len(places[array]) == 1:
                place = ast.unparse(self.part(node))
                first.append(f"{name} = {place}")
                last.append(f"{place} = {name}")
            else:
                continue
            fixed[array, index] = name
            self.fresh += 1
        rename = _Elements(self, fixed)
        statements[:] = [rename.visit(s) for s in statements]
        return before, first, last, after

    def part(self, node: ast.Subscript) -> ast.Subscript:
        """The element of the turn's own part of an array."""
        own = [i for i in indices(node) if not isinstance(i, ast.Tuple)]
        return ast.Subscript(node.value, ast.Tuple([*own, ast.Name(self.lane, ast.Load())], ast.Load()), node.ctx)


class _Elements(ast.NodeTransformer):
    """Elements under their names, or in the part of the turn."""

    def __init__(self, writer: _Writer, fixed: Mapping[tuple[str, str], str]) -> None:
        self.writer, self.fixed = writer, fixed

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if not isinstance(node.value, ast.Name):
            return node
        if (name := self.fixed.get((node.value.id, ast.unparse(node.slice)))) is not None:
            return ast.Name(name, node.ctx)
        self.generic_visit(node)
        return self.writer.part(node) if node.value.id in self.writer.turns.private else node


class _At(ast.NodeTransformer):
    """A later turn of an inner loop."""

    def __init__(self, count: str, by: int) -> None:
        self.count, self.by = count, by

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id != self.count or not self.by:
            return node
        return ast.BinOp(node, ast.Add(), ast.Constant(self.by))


def made_of_reals(function: ast.FunctionDef) -> Iterator[str]:
    """The arrays of reals that the function makes."""
    for node in walk(function):
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty" | "_full"), [*_, ast.Name("_f64")])):
                yield name


def _always(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes that are computed whatever is tested."""
    todo = [*nodes]
    while todo:
        node = todo.pop()
        yield node
        match node:
            case ast.If(test) | ast.IfExp(test) | ast.BoolOp(_, [test, *_]):
                todo.append(test)
            case ast.Compare(a, _, [b, *_]):
                todo += [a, b]
            case _:
                todo += ast.iter_child_nodes(node)


def _parsed(text: str) -> ast.stmt:
    return ast.parse(text).body[0]
