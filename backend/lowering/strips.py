"""
Numbers that no turn of a loop waits for are computed for 128 turns at once, in vectors.

    while True:                             while True:
        i = integers[…]                         i = integers[…]
        x = reals[…]                            if low <= i <= high:
        …                                           n = f_late(n, held, places, reals, p)
        reals[i] = _tanh(p * x)       →         x = reals[…]
        …                                       …
                                                held[n] = x; places[n] = i; n = n + 1
                                                if n == 128:
                                                    n = f_late(n, held, places, reals, p)

Of a recursion in level order most turns only write such numbers to cells, which calls of another level read. What is computed
*late* is what depends on an elementary function, and what only that needs; none of it can fail, and no test, index or later turn
may use it but by way of memory. So a turn does all else as it did, in its order, with its errors, and keeps what the late numbers
are made from. They are computed where 128 wait, before something reads or writes a cell of theirs, which may be one between the
first and the last of those that wait, and before the loop is left with a result. If a turn fails, nothing reads them. Where none
wait, no cell is between.

Where fewer than FEW wait when one is read, turns need each other, as at the root of a tree: the next ALONE compute theirs at once,
and an elementary function of one number is called by a name that is bound to what does a single one soonest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass

from backend import toolchain
from backend.arrays.walking import walk
from backend.lowering.handed_on import handed_on
from backend.lowering.strip_cells import followed
from backend.lowering.strip_groups import IN_VECTORS, Column, Group, elements, groups, is_failure, is_plain

STRIP, FEW, ALONE = 128, 8, 32
LANES = 8
"""The numbers that are computed are a multiple of this, so that vectors have no others beside them: those beyond are of zeros."""
BEYOND = 1 << 62
"""More than the number of any cell."""
LONE = {"_tanh": "_lone_tanh", "_cosh": "_lone_cosh"}
"""What there is another function for where it is called with one number."""


def in_strips(text: str) -> list[str]:
    """A function whose loops compute such numbers in strips, after the functions that do so; the text alone if there are none."""
    outside = toolchain.LOOP.sub("", text)  # loops over elements are in vectors as they stand
    if "while True" not in outside or not any(f"{name}(" in outside for name in IN_VECTORS):
        return [text]
    module = ast.parse(text)
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef), "one function"
    handed_on(function)
    names: dict[str, str] = {}  # by their text, the functions
    strips: list[_Strip] = []
    for k, group in enumerate(groups(function)):
        body = computing(group)
        strips.append(_Strip(k, group, names.setdefault(body, f"{function.name}_late{len(names)}")))
    if not strips:
        return [text]
    _Writer(strips).body(function.body, None)
    return [*(f"def {name}{body}" for body, name in names.items()), ast.unparse(ast.fix_missing_locations(module))]


def computing(group: Group) -> str:
    """
    A function, after its name, that computes all that wait, and gives 0, since nothing waits then. It has names of its own, so that
    loops which do the same with other names have one.
    """
    made = (t.id for s in group.late for t in s.targets if isinstance(t, ast.Name))
    own = {name: f"v{k}" for k, name in enumerate((*group.reals, *group.integers, *group.shared, *made))}
    renamed = _Renamed(own)
    kept = group.kept(group.places)
    given = {own[x]: f"held[{part() * k} + k]" for k, x in enumerate(group.reals)}
    given |= {own[i]: f"places[{part() * k} + k]" for k, i in enumerate(group.integers, len(kept))}
    late = [*(f"{name} = {at}" for name, at in given.items()), *(ast.unparse(renamed.visit(deepcopy(s))) for s in group.late)]
    late += [f"held[{part() * j} + k] = {ast.unparse(renamed.visit(deepcopy(s.value)))}" for j, s in enumerate(group.stores)]
    stores = [
        f"reals[places[{part() * kept.index(k)} + k]{f' + {by}' * (by != 0)}] = held[{part() * j} + k]"
        for j, (k, by) in enumerate(group.places)
    ]
    beyond = [f"{at} = {'0.0' if at.startswith('held') else '0'}" for at in given.values()]
    whole = f"whole = waiting + {LANES - 1} & {-LANES}"
    taken = ", ".join(["waiting", "held", "places", "reals", *(own[name] for name in group.shared)])
    loops = (("range(waiting, whole)", beyond), ("_strip_of(whole)", late), ("range(waiting)", stores))
    lines = [new for turns, body in loops for new in (f"for k in {turns}:", *(f"    {line}" for line in body))]
    return "\n    ".join([f"({taken}):", whole, *lines, "return 0"])


def part() -> int:
    """The elements of one part of what is held: a multiple of LANES."""
    return -(-STRIP // LANES) * LANES


@dataclass(frozen=True)
class _Strip:
    """The text for one group of late numbers, by its number and the name of the function that computes them."""

    number: int
    group: Group
    name: str

    def named(self, what: str) -> str:
        return f"{what}_{self.number}"

    @property
    def waiting(self) -> str:
        return self.named("waiting")

    @property
    def columns(self) -> list[Column]:
        """Where the late numbers are written."""
        return [*dict.fromkeys(store.column for store in self.group.stores)]

    def begun(self) -> str:
        """Before the loop: nothing waits."""
        group = self.group
        reals, places = max(len(group.reals), len(group.stores)), len(group.kept(group.places)) + len(group.integers)
        held = f"{self.named('held')} = _held({part() * reals})\n{self.named('places')} = _places({part() * places})"
        return "\n".join([held, f"{self.waiting} = 0", f"{self.named('alone')} = {ALONE}", *self.nowhere()])

    def nowhere(self) -> Iterator[str]:
        """No cell is between the first and the last of those that wait."""
        for c in range(len(self.columns)):
            yield f"{self.named(f'low{c}')} = {BEYOND}"
            yield f"{self.named(f'high{c}')} = -1"

    def computed(self, depth: int) -> str:
        """All that wait are computed, and none waits; the lines after the first are so deep."""
        given = ", ".join([self.waiting, self.named("held"), self.named("places"), "reals", *self.group.shared])
        return f"\n{'    ' * depth}".join([f"{self.waiting} = {self.name}({given})", *self.nowhere()])

    def before_access(self, column: Column, first: str, last: str) -> str:
        """Before an access to a cell of a column from the first to the last: late numbers are there if they may be in these."""
        low, high = (self.named(f"{end}{self.columns.index(column)}") for end in ("low", "high"))
        return (
            f"if {low} <= {last} and {first} <= {high}:\n"
            f"    if {self.waiting} < {FEW}:\n        {self.named('alone')} = {ALONE}\n    {self.computed(1)}"
        )

    def before_all(self) -> str:
        """Before what may read any of them."""
        return f"if {self.waiting} > 0:\n    {self.computed(1)}"

    def place(self, j: int) -> str:
        """The statement that keeps where a late number is written, instead of writing it."""
        store = self.group.stores[j]
        return f"{self.named(f'cell{j}')} = {store.cell}\n{self.named(f'place{j}')} = {ast.unparse(store.index)}"

    def end(self) -> str:
        """After the last of the group's statements: the numbers now, or what they are made from."""
        group, n = self.group, self.waiting
        now = [ast.unparse(_Renamed(LONE).visit(deepcopy(s))) for s in group.late]
        now += [f"reals[{self.named(f'place{j}')}] = {ast.unparse(s.value)}" for j, s in enumerate(group.stores)]
        kept = [f"{self.element('held', k, n)} = {x}" for k, x in enumerate(group.reals)]
        places = [self.named(f"place{j}") for j in group.kept(group.places)]
        kept += [f"{self.element('places', k, n)} = {i}" for k, i in enumerate((*places, *group.integers))]
        kept += self.ends()
        kept += [f"{n} = {n} + 1", f"if {n} == {STRIP}:\n        {self.computed(2)}"]
        alone = self.named("alone")
        first = "\n    ".join([f"if {alone} > 0:", f"{alone} = {alone} - 1", *now])
        return "\n    ".join([f"{first}\nelse:", *kept])

    def ends(self) -> Iterator[str]:
        """The first and the last cell that wait in each column; of those a known number apart, only one can be either."""
        apart: dict[tuple[Column, object], list[int]] = {}
        for j, store in enumerate(self.group.stores):
            apart.setdefault((store.column, store.at[0] if store.at else j), []).append(j)
        for (column, _), stores in apart.items():
            for end, than, which in (("low", "<", min), ("high", ">", max)):
                name = self.named(f"{end}{self.columns.index(column)}")
                cell = self.named(f"cell{which(stores, key=lambda j: self.group.stores[j].at or ('', 0))}")
                yield f"{name} = {cell} if {cell} {than} {name} else {name}"

    def element(self, what: str, k: int, at: str) -> str:
        """The place of one that waits in the part k of what is held for the strip."""
        return f"{self.named(what)}[{f'{part() * k} + ' if k else ''}{at}]"


class _Renamed(ast.NodeTransformer):
    """Other names for some."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


class _Writer:
    """Writes the strips of a function into its loops."""

    def __init__(self, strips: list[_Strip]) -> None:
        self.strips = strips
        self.late = {id(s): strip for strip in strips for s in strip.group.late}
        self.stores = {id(s.statement): (strip, j) for strip in strips for j, s in enumerate(strip.group.stores)}

    def body(self, block: list[ast.stmt], loop: ast.While | None) -> None:
        """A block; `loop` is the innermost around it."""
        found: list[ast.stmt] = []
        of_loop = [strip for strip in self.strips if strip.group.loop is loop]
        before = [self.before(block, strip) for strip in of_loop]
        for statement in block:
            texts = [strip.begun() for strip in self.strips if strip.group.loop is statement]
            texts += (text for tests in before for text in tests.get(id(statement), ()))
            found += (new for text in texts for new in ast.parse(text).body)
            if id(statement) in self.stores:
                strip, j = self.stores[id(statement)]
                found += ast.parse(strip.place(j)).body
            elif id(statement) not in self.late:
                found.append(statement)
            for strip in of_loop:
                if strip.group.end is statement:
                    found += ast.parse(strip.end()).body
            match statement:
                case ast.While(_, inside):
                    self.body(inside, statement)
                case ast.If(_, then, otherwise):
                    self.body(then, loop)
                    self.body(otherwise, loop)
        block[:] = found

    def before(self, block: list[ast.stmt], strip: _Strip) -> dict[int, list[str]]:
        """
        What stands before statements of a block, for a strip: all late numbers are there before what may read any of them, and
        before the first access to cells a known number apart, those of them all, up to where more may come to wait.
        """
        found: dict[int, list[_Test | None]] = {}
        tested: dict[object, _Test] = {}
        for statement, at in followed(block):
            own = id(statement) in self.stores and self.stores[id(statement)][0] is strip
            accesses = [] if own or id(statement) in self.late else list(_accesses(statement))
            if None in accesses:
                accesses, found[id(statement)] = [], [None]
            for access in accesses:
                column, cell = access  # type: ignore[misc]
                if column in strip.columns:
                    root, offset = at(cell) or (cell, 0)
                    if (test := tested.get((column, root))) is None:
                        test = tested[column, root] = _Test(column, cell, offset, offset, offset)
                        found.setdefault(id(statement), []).append(test)
                    test.low, test.high = min(test.low, offset), max(test.high, offset)
            if statement is strip.group.end or not is_plain(statement):
                tested = {}
        return {
            at: [strip.before_all() if t is None else strip.before_access(t.column, t.text(t.low), t.text(t.high)) for t in tests]
            for at, tests in found.items()
        }


@dataclass
class _Test:
    """Of the cells of a column from `low` to `high`, as they are numbered from a root, before an access to one at `offset`."""

    column: Column
    cell: str
    offset: int
    low: int
    high: int

    def text(self, at: int) -> str:
        by = at - self.offset
        return f"{self.cell} {'+' if by > 0 else '-'} {abs(by)}" if by else self.cell


def _accesses(statement: ast.stmt) -> Iterator[tuple[Column, str] | None]:
    """The column and the cell of each element of the memory that a statement accesses by itself; None for what is not known."""
    match statement:
        case ast.Return():
            yield from () if is_failure(statement) else (None,)
        case ast.While() | ast.Break():
            yield None
        case ast.For():
            leaves = any(isinstance(n, ast.Return) and not is_failure(n) for n in walk(statement))
            yield from [None] * bool(leaves or elements(statement))
        case ast.If(test):
            yield from elements(test)
        case _:
            yield from elements(statement)
